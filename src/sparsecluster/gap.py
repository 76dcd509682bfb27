"""The permutation reference, the gap curve and the choice of s (Algorithm 2 and its relatives)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .climb import Problem
from .features.base import Floats, Labels, Subset
from .parallel import ONE_THREAD, Workers
from .search import Envelope, NInit, refine, search_size, search_sizes
from .starts import ladder

if TYPE_CHECKING:
    import pandas as pd

Search = Literal["path", "grid", "golden"]
Null = Literal["refit", "fixed"]
GapKind = Literal["between", "within"]
Rule = Literal["max", "1se"]

# Sizes on the grid where no step is given: as many as in the paper's experiments.
GRID_SIZES = 50
# Starts where n_init="auto": climbs at one size of the data (the chosen size gets more later) and of a permuted copy,
# and paths through all sizes of a permuted copy.
DATA_STARTS, COPY_STARTS, COPY_PATHS = 10, 2, 1
# K-means runs on a permuted copy with a fixed subset, as in the authors' code; and the ratio of the sizes at which they
# are made, finer than that of climbs because nothing else improves what lies between.
FIXED_STARTS, FIXED_RATIO = 2, 1.15


@dataclass(frozen=True)
class GapCurve:
    """gap(s) with what it was made from.

    With B_s the objective sum_{a in S} (1 - Delta_a[C] / T_a) found at size s,

    - between: gap(s) = log B_s - mean_b log B_s^(b),
    - within:  gap(s) = mean_b log (s - B_s^(b)) - log (s - B_s),

    where b runs over the permuted copies. A large gap says that the data cluster better than copies without clusters.

    Attributes
    ----------
    sizes : the sizes s that were tried, ascending.
    observed : log B_s (or log (s - B_s)) of the data.
    reference, spread : mean and standard deviation of the same over the permuted copies.
    gap : the gap, larger is better.
    error : standard error of the gap, spread * sqrt(1 + 1/B).
    chosen : the size that the rule takes.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> curve = SASClustering(n_clusters=3).fit(X).gap_curve_
    >>> curve.chosen, curve.sizes.size, float(curve.gap.argmax() + 1)
    (5, 30, 5.0)
    """

    sizes: npt.NDArray[np.intp]
    observed: Floats
    reference: Floats
    spread: Floats
    gap: Floats
    error: Floats
    chosen: int
    kind: GapKind
    rule: Rule

    def frame(self) -> pd.DataFrame:
        """The curve as a pandas table, one row a size."""
        import pandas as pd

        columns = ("sizes", "observed", "reference", "spread", "gap", "error")
        table = pd.DataFrame({name: getattr(self, name) for name in columns})
        return table.rename(columns={"sizes": "s"}).set_index("s")

    def plot(self, ax: Any = None) -> Any:
        """The gap with a band of one standard error and the chosen size; returns the matplotlib axes."""
        import matplotlib.pyplot as plt

        ax = ax or plt.subplots(figsize=(6, 3.6), layout="constrained")[1]
        ax.fill_between(self.sizes, self.gap - self.error, self.gap + self.error, color="#0072B2", alpha=0.2, lw=0)
        ax.plot(self.sizes, self.gap, color="#0072B2", marker="o" if self.sizes.size < 3 else None)
        ax.axvline(self.chosen, color="#D55E00", ls="--", label=f"chosen: s = {self.chosen}")
        ax.set(xscale="log", xlabel="number of features s", ylabel="gap statistic")
        ax.legend(frameon=False)
        return ax


def gap_curve(
    sizes: npt.ArrayLike, observed: Floats, reference: Iterable[Floats], kind: GapKind = "between", rule: Rule = "max"
) -> GapCurve:
    """Gap curve from the objectives of the data, one a size, and those of each permuted copy."""
    s = np.asarray(sizes, dtype=np.intp)

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
    return GapCurve(s, log_observed, mean, spread, gap, error, int(s[at]), kind, rule)


class Effort(NamedTuple):
    """How hard to look, on the data and on every permuted copy.

    `n_init` fresh starts of kind `init`, and the `known` labellings; 0 fresh starts is an answer.
    """

    init: str = "auto"
    n_init: NInit = "auto"
    known: Sequence[Labels] = ()
    n_permutations: int = 25
    null: Null = "refit"

    def starts(self, auto: int) -> int:
        """Number of fresh starts: `auto` where none is given."""
        return auto if self.n_init == "auto" else self.n_init


USUAL_EFFORT = Effort()


class Choice(NamedTuple):
    """The gap curve and the labellings that were found on the way to the chosen size."""

    curve: GapCurve
    known: list[Labels]


def choose_size(
    problem: Problem,
    rng: np.random.Generator,
    *,
    search: Search = "path",
    kind: GapKind = "between",
    rule: Rule = "max",
    step: int | None = None,
    effort: Effort = USUAL_EFFORT,
    workers: Workers = ONE_THREAD,
) -> Choice:
    """Choose s by the gap statistic: over all s ("path"), every `step`-th ("grid") or by golden section ("golden")."""
    seeds = rng.integers(2**63, size=effort.n_permutations, dtype=np.uint64).tolist()
    p = problem.features.n_features
    if search == "path":
        envelope = search_sizes(
            problem, rng, init=effort.init, n_init=effort.n_init, known=effort.known, workers=workers
        )
        refine(problem, envelope, rng)
        reference = path_reference(problem, envelope, seeds, rng, effort, workers)
        curve = gap_curve(np.arange(1, p + 1), envelope.objective, reference, kind, rule)
        return Choice(curve, [envelope.labels(curve.chosen)])
    tried = SizesTried(problem, rng, seeds, effort, workers)
    if search == "grid":
        tried.add(list(range(1, p + 1, step or max(1, p // GRID_SIZES))))
    else:
        golden_section(lambda size: tried.gap(size, kind), 1, p)
    curve = tried.curve(kind, rule)
    return Choice(curve, [tried.labels[curve.chosen]])


# ---------------------------------------------------------------- all sizes


def path_reference(
    problem: Problem,
    envelope: Envelope,
    seeds: list[int],
    rng: np.random.Generator,
    effort: Effort,
    workers: Workers,
) -> Iterator[Floats]:
    """Objective of every size, for one permuted copy after another."""
    subsets = None if effort.null == "refit" else NestedSubsets(problem, envelope)
    problem.features.release()

    def one_copy(task: tuple[int, np.random.Generator]) -> Floats:
        seed, own_rng = task
        copy = problem._replace(features=problem.features.permuted(seed))
        if subsets is None:
            init = "shrinking" if effort.init == "auto" else effort.init
            return search_sizes(copy, own_rng, init=init, n_init=max(1, effort.starts(COPY_PATHS))).objective
        return subsets.best_objective(copy, own_rng)

    tasks = list(zip(seeds, rng.spawn(len(seeds)), strict=True))
    return workers.map(one_copy, tasks, "permuted copies")


class NestedSubsets:
    """The subsets that the data chose at every size, for a reference that keeps them (null="fixed").

    Within a stretch of sizes that one clustering owns, the subsets are the beginnings of one order of the features.
    """

    def __init__(self, problem: Problem, envelope: Envelope) -> None:
        self.n_features = problem.features.n_features
        self.stretches = [
            (first, last, np.argsort(-problem.scores(envelope.labels(first)), kind="stable"))
            for first, last in envelope.stretches()
        ]

    def subset(self, size: int) -> Subset:
        order = next(order for first, last, order in self.stretches if first <= size <= last)
        return np.sort(order[:size])

    def best_objective(self, copy: Problem, rng: np.random.Generator) -> Floats:
        """At every size, the objective of the best of some clusterings of the copy on the data's own subset."""
        best = np.zeros(self.n_features)
        for size in ladder(self.n_features, ratio=FIXED_RATIO):
            scores = copy.scores(copy.cluster(self.subset(size), rng, n_starts=FIXED_STARTS))
            for first, last, order in self.stretches:
                running = np.cumsum(scores[order[:last]])[first - 1 :]
                np.maximum(best[first - 1 : last], running, out=best[first - 1 : last])
        return best


# ---------------------------------------------------------------- some sizes


class SizesTried:
    """Observed and reference objectives of the sizes asked for, each computed once."""

    def __init__(
        self, problem: Problem, rng: np.random.Generator, seeds: list[int], effort: Effort, workers: Workers
    ) -> None:
        self.problem, self.rng, self.seeds, self.effort, self.workers = problem, rng, seeds, effort, workers
        self.observed: dict[int, float] = {}
        self.reference: dict[int, Floats] = {}
        self.labels: dict[int, Labels] = {}

    def add(self, sizes: list[int]) -> None:
        effort = self.effort
        subsets = {}
        for size in self.workers.progress.track(sizes, "sizes", len(sizes)):
            n_init = effort.starts(DATA_STARTS)
            best = search_size(self.problem, size, self.rng, init=effort.init, n_init=n_init, known=effort.known).best
            self.observed[size], self.labels[size], subsets[size] = best.objective, best.labels, best.subset
        self.problem.features.release()

        def one_copy(task: tuple[int, np.random.Generator]) -> list[float]:
            seed, own_rng = task
            copy = self.problem._replace(features=self.problem.features.permuted(seed))
            return [self._null_objective(copy, subsets[size], own_rng) for size in sizes]

        tasks = list(zip(self.seeds, self.rng.spawn(len(self.seeds)), strict=True))
        columns = np.array(list(self.workers.map(one_copy, tasks, "permuted copies"))).T
        self.reference.update(zip(sizes, columns, strict=True))

    def _null_objective(self, copy: Problem, subset: Subset, rng: np.random.Generator) -> float:
        if self.effort.null == "fixed":
            labels = copy.cluster(subset, rng, n_starts=FIXED_STARTS)
            return float(copy.scores(labels)[subset].sum())
        n_init = max(1, self.effort.starts(COPY_STARTS))
        init = "random" if self.effort.init == "auto" else self.effort.init
        return search_size(copy, subset.size, rng, init=init, n_init=n_init).best.objective

    def gap(self, size: int, kind: GapKind) -> float:
        if size not in self.observed:
            self.add([size])
        return float(gap_curve([size], np.array([self.observed[size]]), self.reference[size][:, None], kind).gap[0])

    def curve(self, kind: GapKind, rule: Rule) -> GapCurve:
        sizes = sorted(self.observed)
        observed = np.array([self.observed[size] for size in sizes])
        return gap_curve(sizes, observed, np.array([self.reference[size] for size in sizes]).T, kind, rule)


def golden_section(value: Callable[[int], float], low: int, high: int) -> int:
    """Whole number in [low, high] at which a unimodal `value` is largest."""
    ratio = (5**0.5 - 1) / 2
    while high - low > 3:
        left = round(high - ratio * (high - low))
        right = max(left + 1, round(low + ratio * (high - low)))
        if value(left) >= value(right):
            high = right
        else:
            low = left
    return max(range(low, high + 1), key=value)
