"""The outcome of a criterion for the number of clusters, and what criteria say when the data have no clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._data.reading import Reading
from ..._search.curve import TuningCurve
from ..._utils.arrays import Floats, Labels
from ..._utils.checks import frames_in_package


class Choice(NamedTuple):
    """The number of clusters and, if it was chosen, the curve and labels that may serve as a start."""

    k: int
    curve: TuningCurve | None = None
    labels: Labels | None = None


# A function of an estimator, the data that it has read, and the candidates in ascending order, each at least 2.
Criterion = Callable[[Any, Reading, Sequence[int]], Choice]


def warn(text: str) -> None:
    """Warn the user, pointing to the line that called the package."""
    warnings.warn(text, UserWarning, stacklevel=frames_in_package())


def at_least_two(title: str, ks: Sequence[int], score: Floats, best: int) -> int:
    """Return the best number of clusters or, if it is 1, the one with the highest score among the others.

    `ks` starts with 1, and `score` has shape (n_ks,).
    """
    if best > 1:
        return best
    others = int(ks[1 + int(np.argmax(score[1:]))])
    warn(
        f"{title} prefers a single cluster. The best number of at least two clusters, {others}, is used. The data may "
        "have no clusters."
    )
    return others
