"""The gap statistic: how much better the data cluster than copies of which every feature is permuted on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._features.base import Features, Floats
from .._utils.parallel import Workers

if TYPE_CHECKING:
    import pandas as pd

GapKind = Literal["between", "within"]
Rule = Literal["max", "1se"]


@dataclass(frozen=True)
class GapCurve:
    """gap(s) with what it was made from.

    With B_s the objective found at size s, for SAS sum_{a in S} (1 - Delta_a[C] / T_a),

    - between: gap(s) = log B_s - mean_b log B_s^(b),
    - within:  gap(s) = mean_b log (s - B_s^(b)) - log (s - B_s),

    where b runs over the permuted copies. A large gap says that the data cluster better than copies without clusters.

    Attributes
    ----------
    sizes : the sizes s that were tried, ascending: numbers of features, or values of another tuning parameter.
    observed : log B_s (or log (s - B_s)) of the data.
    reference, spread : mean and standard deviation of the same over the permuted copies.
    gap : the gap, larger is better.
    error : standard error of the gap, spread * sqrt(1 + 1/B).
    chosen : the size that the rule takes.
    parameter : what a size is: "s", or the name of the tuning parameter.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> curve = SASClustering(n_clusters=3).fit(X).gap_curve_
    >>> curve.chosen, curve.sizes.size, float(curve.gap.argmax() + 1)
    (5, 30, 5.0)
    """

    sizes: npt.NDArray[Any]
    observed: Floats
    reference: Floats
    spread: Floats
    gap: Floats
    error: Floats
    chosen: Any
    kind: GapKind
    rule: Rule
    parameter: str = "s"

    def frame(self) -> pd.DataFrame:
        """The curve as a pandas table, one row a size."""
        import pandas as pd

        columns = ("sizes", "observed", "reference", "spread", "gap", "error")
        table = pd.DataFrame({name: getattr(self, name) for name in columns})
        return table.rename(columns={"sizes": self.parameter}).set_index(self.parameter)

    def plot(self, ax: Any = None) -> Any:
        """The gap with a band of one standard error and the chosen size; returns the matplotlib axes."""
        import matplotlib.pyplot as plt

        ax = ax or plt.subplots(figsize=(6, 3.6), layout="constrained")[1]
        ax.fill_between(self.sizes, self.gap - self.error, self.gap + self.error, color="#0072B2", alpha=0.2, lw=0)
        ax.plot(self.sizes, self.gap, color="#0072B2", marker="o" if self.sizes.size < 3 else None)
        ax.axvline(self.chosen, color="#D55E00", ls="--", label=f"chosen: {self.parameter} = {self.chosen:.4g}")
        label = "number of features s" if self.parameter == "s" else self.parameter
        ax.set(xscale="log", xlabel=label, ylabel="gap statistic")
        ax.legend(frameon=False)
        return ax


def gap_curve(
    sizes: npt.ArrayLike,
    observed: Floats,
    reference: Iterable[Floats],
    kind: GapKind = "between",
    rule: Rule = "max",
    parameter: str = "s",
) -> GapCurve:
    """Gap curve from the objectives of the data, one a size, and those of each permuted copy."""
    s = np.asarray(sizes)

    def log(objective: Floats) -> Floats:
        # A subset that is explained completely has no within left; its logarithm must still be a number.
        return np.log(objective if kind == "between" else np.maximum(s - objective, np.finfo(float).eps * s))

    # Mean and sum of squares are updated copy by copy (Welford), so that the copies need not be kept.
    n_copies, mean, squares = 0, np.zeros(s.size), np.zeros(s.size)
    for n_copies, copy in enumerate(reference, 1):
        change = log(copy) - mean
        mean += change / n_copies
        squares += change * (log(copy) - mean)
    spread = np.sqrt(squares / max(n_copies - 1, 1))
    error = spread * np.sqrt(1 + 1 / n_copies)
    log_observed = log(observed)
    gap = log_observed - mean if kind == "between" else mean - log_observed
    top = int(np.argmax(gap))
    at = top if rule == "max" else int(np.argmax(gap >= gap[top] - error[top]))
    return GapCurve(s, log_observed, mean, spread, gap, error, s[at].item(), kind, rule, parameter)


def copy_seeds(rng: np.random.Generator, n_copies: int) -> list[int]:
    """One seed for each permuted copy."""
    return rng.integers(2**63, size=n_copies, dtype=np.uint64).tolist()


def on_copies(
    features: Features,
    seeds: list[int],
    rng: np.random.Generator,
    function: Callable[[Features, np.random.Generator], Floats],
    workers: Workers,
) -> Iterator[Floats]:
    """What a function says of one permuted copy of the data after another."""

    def one_copy(task: tuple[int, np.random.Generator]) -> Floats:
        seed, own_rng = task
        return function(features.permuted(seed), own_rng)

    features.release()
    return workers.map(one_copy, list(zip(seeds, rng.spawn(len(seeds)), strict=True)), "permuted copies")
