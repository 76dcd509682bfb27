"""From features to a solution: at a given or a chosen size, and through a subsample if there are many samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._clusterers.clusterer import Clusterer
from .._data.profiles import profiles_of
from .._data.source import SampleSource
from .._features.features import Features
from .._utils.arrays import Labels, Subset
from .._utils.parallel import Workers, workers_for
from .._utils.progress import Verbosity
from .alternatives import Alternative, alternatives, still_different
from .climb import Climb, Problem, climb
from .clusters import Candidates, search_clusters
from .consensus import consensus
from .curve import GapKind, Rule, TuningCurve
from .search import Compare, NInit, search_size
from .sizes import Criterion, Effort, Null, Search, choose_size
from .subsample import Subsample, draw_subsample, spread

# Number of clusterings on a subset given by the user; the climb starts from the best of them.
GIVEN_STARTS = 10
# The cost of a clusterer on pairs grows with the square of the number of samples. It therefore gets only this share of
# `subsample`, and with more samples than the limit it cannot look at all pairs even once.
PAIRS_SHARE, MOST_PAIRED = 0.25, 10_000


class Plan(NamedTuple):
    """How to search for a solution; see the parameters of the same names in `SASClustering`.

    `size` is None if it is to be chosen. `labels` or `subset` are the labels of the samples or the features to start
    from, in the order of the source. If both are None, the starts are of kind `init`, besides `known` labels.
    """

    size: int | None
    criterion: Criterion = "gap"
    search: Search = "path"
    step: int | None = None
    gap: GapKind = "between"
    null: Null = "refit"
    rule: Rule = "max"
    n_permutations: int = 25
    init: str = "auto"
    n_init: NInit = "auto"
    labels: Labels | None = None
    subset: Subset | None = None
    known: Sequence[Labels] = ()
    compare: Compare = "chosen"
    consensus: bool = True
    n_alternatives: int = 3
    subsample: int | None = 2000
    max_iter: int = 100
    n_jobs: int | None = None
    verbose: Verbosity = "auto"


class Solution(NamedTuple):
    """The best climb, the curve by which its size was chosen, or None if it was given, and other solutions."""

    climb: Climb
    curve: TuningCurve | None
    others: list[Alternative]


def solve(
    source: SampleSource, features: Features, clusterer: Clusterer, k: int, plan: Plan, rng: np.random.Generator
) -> Solution:
    """Search for k clusters, on a subsample first if there are many samples, and then climb on all of them."""
    problem = Problem(features, clusterer, k, plan.max_iter)
    on_pairs = clusterer.needs == "pairs"
    pairs_fit = features.n_samples <= MOST_PAIRED or not on_pairs
    part = _subsample(source, problem, plan, on_pairs, rng)
    if part is not None:
        return _by_subsample(source, problem, plan, part, pairs_fit, rng)
    if not pairs_fit:
        raise ValueError(
            f"This clusterer looks at all pairs of samples, which is possible for at most {MOST_PAIRED} samples; "
            f'got {features.n_samples}. Use subsample=2000 together with a named init, such as init="auto".'
        )
    return search(source, problem, plan, rng)


def _subsample(
    source: SampleSource, problem: Problem, plan: Plan, on_pairs: bool, rng: np.random.Generator
) -> Subsample | None:
    """A subsample; None if there are few samples, or if the user gave the start, which refers to all samples."""
    if plan.subsample is None or plan.labels is not None or plan.subset is not None:
        return None
    n_samples = max(round(plan.subsample * PAIRS_SHARE), 1) if on_pairs else plan.subsample
    if problem.features.n_samples <= n_samples:
        return None
    return draw_subsample(source, n_samples, problem.n_clusters, plan.size or 1, rng)


def _by_subsample(
    source: SampleSource, problem: Problem, plan: Plan, part: Subsample, pairs_fit: bool, rng: np.random.Generator
) -> Solution:
    """Search on the subsample, assign all samples to the nearest of its clusters, and climb from there."""
    on_part = problem._replace(features=problem.features.like_this(part.source.features()))
    known = (labels[part.places] for labels in plan.known)
    plan = plan._replace(known=[labels for labels in known if np.unique(labels).size == problem.n_clusters])
    found, curve, others = search(part.source, on_part, plan, rng)
    # One iteration scores the features on all samples; more would need all pairs of samples.
    problem = problem if pairs_fit else problem._replace(max_iter=1)

    def on_all(found: Climb) -> Climb:
        profiles = profiles_of(part.source, on_part.features, found.labels, problem.n_clusters, found.subset)
        return climb(problem, spread(source, part, found, profiles), found.subset.size, rng)

    found = on_all(found)
    return Solution(found, curve, still_different(found, [each._replace(climb=on_all(each.climb)) for each in others]))


def search(source: SampleSource, problem: Problem, plan: Plan, rng: np.random.Generator) -> Solution:
    """The best climb at the given size, or at the size that the gap statistic chooses."""
    workers = _workers(source, problem, plan)
    init, n_init, known = _starts(problem, plan, rng)
    size, curve, others = plan.size, None, list(known)
    if size is None:
        curve, known, others = choose_size(
            problem,
            rng,
            criterion=plan.criterion,
            search=plan.search,
            kind=plan.gap,
            rule=plan.rule,
            step=plan.step,
            effort=Effort(init, n_init, known, plan.n_permutations, plan.null),
            workers=workers,
        )
        size = int(curve.chosen)
    pool = search_size(problem, size, rng, init=init, n_init=n_init, known=known, compare=plan.compare, workers=workers)
    found = consensus(problem, pool, rng) if plan.consensus else pool.best
    others = [*(each.labels for each in sorted(pool.fresh, key=lambda each: -each.merit)), *others]
    return Solution(found, curve, alternatives(problem, found, others, curve, plan.n_alternatives, rng, workers))


def try_clusters(
    source: SampleSource, problem: Problem, ks: Sequence[int], plan: Plan, rng: np.random.Generator
) -> Candidates:
    """Clusterings for several numbers of clusters, of a subsample if there are many samples."""
    part = _subsample(source, problem._replace(n_clusters=ks[-1]), plan, problem.clusterer.needs == "pairs", rng)
    if part is not None:
        source = part.source
        problem = problem._replace(features=problem.features.like_this(source.features()))
    return search_clusters(problem, ks, rng, _workers(source, problem, plan))


def _workers(source: SampleSource, problem: Problem, plan: Plan) -> Workers:
    # Without coordinates, all pairs of samples are looked at in every column.
    n = source.samples.size
    return workers_for(plan.n_jobs, plan.verbose, n * source.columns.size * (1 if problem.features.has_rows else n))


def _starts(problem: Problem, plan: Plan, rng: np.random.Generator) -> tuple[str, NInit, list[Labels]]:
    """Kind and number of fresh starts, and the labels to start from if a start is given."""
    if plan.labels is not None:
        return "auto", 0, [plan.labels]
    if plan.subset is not None:
        return "auto", 0, [problem.cluster(plan.subset, rng, n_starts=GIVEN_STARTS)]
    return plan.init, plan.n_init, list(plan.known)
