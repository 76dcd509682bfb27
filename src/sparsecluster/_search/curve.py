"""Tuning curves: a criterion over the values of a tuning parameter, such as the gap statistic over the sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._features.features import Features
from .._utils.arrays import Floats
from .._utils.parallel import Workers

if TYPE_CHECKING:
    import pandas as pd

GapKind = Literal["between", "within"]
Rule = Literal["max", "1se", "core"]

# Titles of axes; other parameters and criteria are shown by name.
PARAMETERS = {
    "s": "number of features s",
    "m": "number of features m",
    "k": "number of clusters k",
    "n_dimensions": "number of features per cluster",
}
CRITERIA = {
    "gap": "gap statistic",
    "bic": "Bayesian information criterion",
    "micl": "integrated complete-data likelihood",
    "agreement": "agreement (adjusted Rand index)",
}
# Up to this many values, each of them is marked.
MOST_MARKED = 30


@dataclass(frozen=True)
class TuningCurve:
    """A criterion over the values of a tuning parameter, and the value that was chosen.

    Let B_v be the objective found at value v; for SAS clustering, v is the number of features s, and B_s is
    sum_{a in S} (1 - Delta_a[C] / T_a). The gap statistic is

    - between: gap(v) = log B_v - mean_b log B_v^(b), or
    - within:  gap(s) = mean_b log (s - B_s^(b)) - log (s - B_s),

    where b runs over the permuted copies of the data. A large gap means that the data cluster better than copies
    without clusters.

    Attributes
    ----------
    parameter : str
        What was tuned: "s" for the number of features, "m" for the number of core features, "k" for the number of
        clusters, or the name of a parameter.
    values : ndarray of shape (n_values,)
        The values that were tried, in ascending order.
    criterion : str
        The criterion by which they were compared: "gap", "bic", "agreement", "instability", ...
    score : ndarray of shape (n_values,)
        The criterion at every value.
    error : ndarray of shape (n_values,) or None
        Its standard error; for the gap, spread * sqrt(1 + 1/B).
    chosen : int or float
        The chosen value.
    details : dict of str to ndarray of shape (n_values,)
        What the criterion was computed from. For the gap, `observed` is log B_v of the data (log (s - B_s) for
        "within"), and `reference` and `spread` are its mean and standard deviation over the permuted copies. For the
        agreement, `required` is the smallest one that is enough.
    kind : {"between", "within"}
        What a gap compares.
    unusable : tuple
        Values that were tried in vain, in ascending order: numbers of clusters for which there is no clustering, or
        only one with outliers as clusters.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> curve = SASClustering(n_clusters=3).fit(X).gap_curve_
    >>> curve.parameter, curve.chosen, curve.values.size, int(curve.values[curve.score.argmax()])
    ('s', 5, 30, 5)
    >>> curve.frame().columns.tolist()
    ['observed', 'reference', 'spread', 'gap', 'error']
    """

    parameter: str
    values: npt.NDArray[Any]
    criterion: str
    score: Floats
    chosen: Any
    error: Floats | None = None
    details: Mapping[str, Floats] = field(default_factory=dict)

    # Whether a gap compares what lies between or within the clusters.
    kind: GapKind = "between"
    unusable: tuple[float, ...] = ()

    @property
    def place(self) -> int:
        """Index of the chosen value in `values`."""
        return int(np.flatnonzero(self.values == self.chosen)[0])

    @property
    def titles(self) -> tuple[str, str]:
        """Titles of the axes: the parameter and the criterion in words."""
        return PARAMETERS.get(self.parameter, self.parameter), CRITERIA.get(self.criterion, self.criterion)

    @property
    def required(self) -> float | None:
        """The smallest value of the criterion that is enough; None if the best value is chosen."""
        required = self.details.get("required")
        return None if required is None else float(required[0])

    @property
    def is_log(self) -> bool:
        """Whether the parameter is shown on a log scale."""
        return self.parameter != "k"

    def gap_of(self, objective: Floats) -> Floats:
        """The gap that other objectives, one per value, would have had."""
        sign = 1.0 if self.kind == "between" else -1.0
        return sign * (log_objective(objective, self.values, self.kind) - self.details["reference"])

    def where_finite(self) -> TuningCurve:
        """The curve in which values at which there was nothing to evaluate are `unusable`, not infinite."""
        kept = np.isfinite(self.score)
        if kept.all():
            return self
        details = {name: each[kept] for name, each in self.details.items()}
        error = None if self.error is None else self.error[kept]
        values, score, unusable = self.values[kept], self.score[kept], tuple(self.values[~kept].tolist())
        return replace(self, values=values, score=score, error=error, details=details, unusable=unusable)

    def frame(self) -> pd.DataFrame:
        """The curve as a table.

        Returns
        -------
        pandas.DataFrame
            One row per value of the parameter.
        """
        import pandas as pd

        columns = {**self.details, self.criterion: self.score}
        if self.error is not None:
            columns["error"] = self.error
        return pd.DataFrame(columns, index=pd.Index(self.values, name=self.parameter))

    def plot(self, ax: Any = None) -> Any:
        """Draw the criterion with a band of one standard error, the chosen value, and what is required if anything is.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        ax = ax or plt.subplots(figsize=(6, 3.6), layout="constrained")[1]
        if self.error is not None:
            low, high = self.score - self.error, self.score + self.error
            ax.fill_between(self.values, low, high, color="#0072B2", alpha=0.2, lw=0)
        marker = "o" if self.values.size <= MOST_MARKED else None
        ax.plot(self.values, self.score, color="#0072B2", marker=marker, ms=4)
        ax.axvline(self.chosen, color="#D55E00", ls="--", label=f"chosen: {self.parameter} = {self.chosen:.4g}")
        if self.required is not None:
            ax.axhline(self.required, color="0.4", ls=":", label=f"required: {self.required:.4g}")
        parameter, criterion = self.titles
        ax.set(xscale="log" if self.is_log else "linear", xlabel=parameter, ylabel=criterion)
        if not self.is_log:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.legend(frameon=False)
        return ax


# ---------------------------------------------------------------- the gap statistic


def gap_curve(
    values: npt.ArrayLike,
    observed: Floats,
    reference: Iterable[Floats],
    kind: GapKind = "between",
    rule: Rule = "max",
    parameter: str = "s",
) -> TuningCurve:
    """The gap statistic, from the objectives of the data, one per value, and those of each permuted copy.

    With rule="max" the value with the largest gap is chosen. With rule="1se" it is the smallest value whose gap is
    within one standard error of the largest.
    """
    at = np.asarray(values)
    log = partial(log_objective, values=at, kind=kind)
    # Mean and sum of squares are updated copy by copy (Welford), so that the copies need not be kept.
    n_copies, mean, squares = 0, np.zeros(at.size), np.zeros(at.size)
    for n_copies, copy in enumerate(map(log, reference), 1):
        change = copy - mean
        mean += change / n_copies
        squares += change * (copy - mean)
    spread = np.sqrt(squares / max(n_copies - 1, 1))
    error = spread * np.sqrt(1 + 1 / n_copies)
    log_observed = log(observed)
    gap = log_observed - mean if kind == "between" else mean - log_observed
    top = int(np.argmax(gap))
    best = top if rule != "1se" else int(np.argmax(gap >= gap[top] - error[top]))
    details = {"observed": log_observed, "reference": mean, "spread": spread}
    return TuningCurve(parameter, at, "gap", gap, at[best].item(), error, details, kind)


def log_objective(objective: Floats, values: npt.NDArray[Any], kind: GapKind) -> Floats:
    """The logarithm of what a gap statistic compares."""
    # A subset that is explained completely has a within of 0, but its logarithm must still be finite.
    return np.log(objective if kind == "between" else np.maximum(values - objective, np.finfo(float).eps * values))


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
    """Yield the value of a function for each permuted copy of the data."""

    def one_copy(task: tuple[int, np.random.Generator]) -> Floats:
        seed, own_rng = task
        return function(features.permuted(seed), own_rng)

    features.release()
    return workers.map(one_copy, list(zip(seeds, rng.spawn(len(seeds)), strict=True)), "permuted copies")
