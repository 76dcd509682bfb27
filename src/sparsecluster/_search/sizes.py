"""The choice of s by the gap statistic (Algorithm 2 and variants): over all sizes, a grid, or by golden section."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from .._features.features import Features
from .._utils.arrays import Floats, Labels, Subset
from .._utils.parallel import ONE_THREAD, Workers
from .bic import bic_values
from .climb import Problem
from .curve import GapKind, Rule, TuningCurve, copy_seeds, gap_curve, on_copies
from .search import Envelope, NInit, refine, search_size, search_sizes, shrinking_objective
from .starts import ladder

Search = Literal["path", "grid", "golden"]
Null = Literal["refit", "fixed"]
Criterion = Literal["gap", "bic"]

# Number of sizes on the grid if no step is given, as in the paper's experiments.
GRID_SIZES = 50
# Fresh starts if n_init="auto": climbs at one size on the data (the chosen size gets more later), climbs at one size on
# a permuted copy, and paths through all sizes on a permuted copy.
DATA_STARTS, COPY_STARTS, COPY_PATHS = 10, 2, 1
# Clusterings of a permuted copy on a fixed subset if n_init="auto" (the authors' code has one); and the ratio of the
# sizes at which they are computed, which is finer than that of climbs because nothing else improves the sizes between.
FIXED_STARTS, FIXED_RATIO = 2, 1.15
# Up to this many samples per cluster, they are clustered by their inner products, which change with the subset.
PAIRED = 200


class Effort(NamedTuple):
    """How much to search, on the data and on every permuted copy.

    There are `n_init` fresh starts of kind `init`, and the `known` labels. `n_init` may be 0 if there are known labels.
    """

    init: str = "auto"
    n_init: NInit = "auto"
    known: Sequence[Labels] = ()
    n_permutations: int = 25
    null: Null = "refit"

    def starts(self, auto: int) -> int:
        """Number of fresh starts on the data: `auto` if n_init="auto"."""
        return auto if self.n_init == "auto" else self.n_init

    def copy_starts(self, auto: int) -> int:
        """Number of fresh starts on a permuted copy, which has no known labels."""
        return max(1, self.starts(auto))


USUAL_EFFORT = Effort()


class Choice(NamedTuple):
    """The tuning curve, the labels found at the chosen size, and the labels found at other sizes."""

    curve: TuningCurve
    known: list[Labels]
    others: list[Labels]


def choose_size(
    problem: Problem,
    rng: np.random.Generator,
    *,
    criterion: Criterion = "gap",
    search: Search = "path",
    kind: GapKind = "between",
    rule: Rule = "max",
    step: int | None = None,
    effort: Effort = USUAL_EFFORT,
    workers: Workers = ONE_THREAD,
) -> Choice:
    """Choose s by the gap statistic: over all s ("path"), every `step`-th ("grid"), or by golden section ("golden").

    With criterion="bic", s is chosen by the BIC over all s, without permuted copies. If the signal is so weak that the
    BIC prefers a single cluster at every s, it chooses far too few features, and the gap statistic decides instead.
    """
    seeds = copy_seeds(rng, effort.n_permutations)
    p = problem.features.n_features
    if search == "path" or criterion == "bic":
        envelope = search_sizes(
            problem, rng, init=effort.init, n_init=effort.n_init, known=effort.known, workers=workers
        )
        refine(problem, envelope, rng)
        if criterion == "bic":
            chosen = by_bic(problem, envelope.all_labels())
            if chosen.curve.score.max() > 0:
                return chosen
        reference = path_reference(problem, envelope, seeds, rng, effort, workers)
        curve = gap_curve(np.arange(1, p + 1), envelope.objective, reference, kind, rule)
        return Choice(curve, [envelope.labels(curve.chosen)], envelope.all_labels())
    tried = SizesTried(problem, rng, seeds, effort, workers)
    if search == "grid":
        tried.add(list(range(1, p + 1, step or max(1, p // GRID_SIZES))))
    else:
        golden_section(lambda size: tried.gap(size, kind), 1, p)
    curve = tried.curve(kind, rule)
    return Choice(curve, [tried.labels[curve.chosen]], list(tried.labels.values()))


def by_bic(problem: Problem, candidates: list[Labels]) -> Choice:
    """Choose s by the BIC of the clusterings that are best at some size."""
    values = np.array([bic_values(problem.features, labels, problem.n_clusters) for labels in candidates])
    owners, score = values.argmax(axis=0), values.max(axis=0)
    best = int(np.argmax(score))
    curve = TuningCurve("s", np.arange(1, score.size + 1), "bic", score, best + 1)
    return Choice(curve, [candidates[int(owners[best])]], candidates)


# ---------------------------------------------------------------- all sizes


def path_reference(
    problem: Problem,
    envelope: Envelope,
    seeds: list[int],
    rng: np.random.Generator,
    effort: Effort,
    workers: Workers,
) -> Iterator[Floats]:
    """Yield the objective of every size for each permuted copy."""
    subsets = None if effort.null == "refit" else NestedSubsets(problem, envelope, effort.copy_starts(FIXED_STARTS))

    def one_copy(features: Features, own_rng: np.random.Generator) -> Floats:
        copy = problem._replace(features=features)
        return path_objective(copy, own_rng, effort) if subsets is None else subsets.best_objective(copy, own_rng)

    return on_copies(problem.features, seeds, rng, one_copy, workers)


def path_objective(problem: Problem, rng: np.random.Generator, effort: Effort = USUAL_EFFORT) -> Floats:
    """The best objective of every size, with the effort that is made for a permuted copy."""
    init = "shrinking" if effort.init == "auto" else effort.init
    n_init = effort.copy_starts(COPY_PATHS)
    if (init, n_init) == ("shrinking", 1):
        return shrinking_objective(problem, rng)
    return search_sizes(problem, rng, init=init, n_init=n_init).objective


class NestedSubsets:
    """The subsets chosen on the data at every size, for a reference that keeps them (null="fixed").

    On an interval of sizes with the same best clustering, the subset of size s is the first s features in one order.
    """

    def __init__(self, problem: Problem, envelope: Envelope, n_starts: int = FIXED_STARTS) -> None:
        self.n_features, self.n_starts = problem.features.n_features, n_starts
        self.stretches = [
            (first, last, np.argsort(-problem.scores(envelope.labels(first)), kind="stable"))
            for first, last in envelope.stretches()
        ]

    def subset(self, size: int) -> Subset:
        order = next(order for first, last, order in self.stretches if first <= size <= last)
        return np.sort(order[:size])

    def best_objective(self, copy: Problem, rng: np.random.Generator) -> Floats:
        """At every size, the best objective of several clusterings of the copy on the subset chosen on the data."""
        best = np.zeros(self.n_features)
        for size in ladder(self.n_features, ratio=FIXED_RATIO):
            scores = copy.scores(copy.cluster(self.subset(size), rng, n_starts=self.n_starts))
            for first, last, order in self.stretches:
                running = np.cumsum(scores[order[:last]])[first - 1 :]
                np.maximum(best[first - 1 : last], running, out=best[first - 1 : last])
        return best


# ---------------------------------------------------------------- some sizes


class SizesTried:
    """Observed and reference objectives of the sizes that have been tried, each computed once."""

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

        columns = np.array(list(self._on_copies([subsets[size] for size in sizes]))).T
        self.reference.update(zip(sizes, columns, strict=True))

    def _on_copies(self, subsets: list[Subset]) -> Iterator[Floats]:
        """Yield the objectives of the sizes of some subsets for each permuted copy."""
        problem, effort, k = self.problem, self.effort, self.problem.n_clusters
        plain = problem.plain(max(subset.size for subset in subsets)) if effort.null == "fixed" else None
        if plain is None:

            def one_copy(features: Features, own_rng: np.random.Generator) -> Floats:
                copy = problem._replace(features=features)
                return np.array([null_objective(copy, subset, effort, own_rng) for subset in subsets])

            return on_copies(problem.features, self.seeds, self.rng, one_copy, self.workers)
        of_copy = plain.null_objectives(subsets, on_pairs=plain.n_samples <= PAIRED * k)
        n_starts = effort.copy_starts(FIXED_STARTS)

        def at_once(task: tuple[int, np.random.Generator]) -> Floats:
            seed, own_rng = task
            return of_copy(seed, own_rng.random((len(subsets), n_starts, k)))

        tasks = list(zip(self.seeds, self.rng.spawn(len(self.seeds)), strict=True))
        return self.workers.map(at_once, tasks, "permuted copies")

    def gap(self, size: int, kind: GapKind) -> float:
        if size not in self.observed:
            self.add([size])
        return float(gap_curve([size], np.array([self.observed[size]]), self.reference[size][:, None], kind).score[0])

    def curve(self, kind: GapKind, rule: Rule) -> TuningCurve:
        sizes = sorted(self.observed)
        observed = np.array([self.observed[size] for size in sizes])
        return gap_curve(sizes, observed, np.array([self.reference[size] for size in sizes]).T, kind, rule)


def null_objective(copy: Problem, subset: Subset, effort: Effort, rng: np.random.Generator) -> float:
    """The objective of a permuted copy on a subset that was chosen on the data, or on the best one of its size."""
    if effort.null == "fixed":
        labels = copy.cluster(subset, rng, n_starts=effort.copy_starts(FIXED_STARTS))
        return float(copy.scores(labels)[subset].sum())
    n_init = effort.copy_starts(COPY_STARTS)
    init = "random" if effort.init == "auto" else effort.init
    return search_size(copy, subset.size, rng, init=init, n_init=n_init).best.objective


def golden_section(value: Callable[[int], float], low: int, high: int) -> int:
    """Integer in [low, high] at which a unimodal function `value` is largest."""
    ratio = (5**0.5 - 1) / 2
    while high - low > 3:
        left = round(high - ratio * (high - low))
        right = max(left + 1, round(low + ratio * (high - low)))
        if value(left) >= value(right):
            high = right
        else:
            low = left
    return max(range(low, high + 1), key=value)
