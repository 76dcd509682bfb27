"""Clusterers by name, and the choice of one that suits the features."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import partial

from .._utils.text import brief
from .clusterer import Clusterer
from .hierarchical import Hierarchical
from .kmeans import HillClimb, KMeans
from .kmedoids import KMedoids
from .own import Own
from .partition import Partition
from .spectral import Spectral

CLUSTERERS: dict[str, Callable[[], Clusterer]] = {
    "kmeans": KMeans,
    "hillclimb": HillClimb,
    "kmedoids": KMedoids,
    "spectral": Spectral,
    "average": partial(Hierarchical, "average"),
    "complete": partial(Hierarchical, "complete"),
    "ward": partial(Hierarchical, "ward"),
    "hierarchical": Hierarchical,
    "partition": Partition,
}
AUTO = "auto"
# The clusterers that need coordinates. They are listed because one that is not installed cannot be created and asked.
ON_ROWS = ("kmeans", "ward")


def make_clusterer(choice: object, has_rows: bool) -> Clusterer:
    """The clusterer for a name or an object; an error if it needs coordinates and there are none.

    "auto" is k-means for samples with coordinates and hill climbing for samples without: both improve the paper's
    objective.
    """
    if isinstance(choice, str):
        clusterer = named(choice, has_rows)
    else:
        clusterer = choice if isinstance(choice, Clusterer) else Own(choice)
    if clusterer.needs == "rows" and not has_rows:
        shown = f'"{choice}"' if isinstance(choice, str) else type(choice).__name__
        raise ValueError(
            f"clusterer={shown} needs coordinates of the samples, but these features have only dissimilarities. "
            f'Use {quoted(name for name in CLUSTERERS if name not in ON_ROWS)} or an object with metric="precomputed".'
        )
    return clusterer


def named(word: str, has_rows: bool) -> Clusterer:
    """The clusterer for a name in `CLUSTERERS`, or for "auto"."""
    if word == AUTO:
        return KMeans() if has_rows else HillClimb()
    if word in CLUSTERERS:
        return CLUSTERERS[word]()
    allowed = [AUTO, *CLUSTERERS]
    near = difflib.get_close_matches(word, allowed, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    raise ValueError(
        f"clusterer must be one of {quoted(allowed)}, or an object with fit_predict; got {brief(word)}.{hint}"
    )


def quoted(words: Iterable[str]) -> str:
    """The words in quotes, separated by commas."""
    return ", ".join(f'"{word}"' for word in words)
