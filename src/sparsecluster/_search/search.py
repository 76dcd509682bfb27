"""Searches made of many climbs: for the best solution of one size, or for the best solutions of all sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

import numpy as np

from .._kernels.climbs import Sweep, sweep_on
from .._kernels.select import raise_envelope
from .._kernels.sort import sort_rows
from .._utils.arrays import Floats, Labels, Subset
from .._utils.parallel import ONE_THREAD, Workers
from .climb import LEAST_GAIN, NO_FEATURES, Climb, Problem, climb, climb_all, in_shares, labels_at
from .starts import STARTS, Start, coordinate_start, kick, ladder, random_start

# One size, n_init="auto": batches of fresh starts, each followed by kicks of the best climb, until enough starts have
# found the best objective or the largest number of batches is reached.
FRESH, KICKS, MOST_BATCHES, ENOUGH_HITS = 10, 4, 12, 5
# Tiny tables often have many local optima, and starts cost very little there, so more starts have to agree.
TINY_VALUES, TINY_HITS = 2**10, 15
# All sizes, n_init="auto": rounds of paths until a round gains less than this share at every size.
LEAST_ROUND_GAIN, MOST_ROUNDS = 0.01, 3
# On a path, kicks are worthwhile up to this share of all features, and at sizes so small that they cost very little.
KICK_SHARE, KICK_ALWAYS = 0.25, 20
# Number of clusterings kept before those that are no longer best at any size are dropped.
MOST_LABELS = 100
# Number of scores that are kept at a time while the climbs of a sweep or path are looked at.
MOST_SCORES = 2**18
# Two climbs whose objectives differ by less than this share count as equally good.
SAME = 1e-9

NInit = int | Literal["auto"]
Compare = Literal["chosen", "all"]


class Found(NamedTuple):
    """A clustering, of shape (n_samples,), and the scores of all features, of shape (n_features,)."""

    labels: Labels
    scores: Floats


class Ending(NamedTuple):
    """The part of a climb that is kept. With many features, keeping all scores would take too much memory."""

    labels: Labels
    merit: float


class Pool:
    """The climbs at one size: the best of all, and the endings of those from independent starts.

    Climbs are compared by their objective or, if compare="all", by the sum of the scores of all features.
    """

    def __init__(self, compare: Compare = "chosen") -> None:
        self.compare = compare
        self.fresh: list[Ending] = []
        self._best: Climb | None = None

    def merit(self, found: Climb) -> float:
        """What climbs are compared by."""
        return found.objective if self.compare == "chosen" else float(found.scores.sum())

    def add(self, found: Climb, fresh: bool = False) -> None:
        """Keep the climb if it is the best so far, and its ending if its start was independent of the other climbs."""
        # The first of equally good climbs is kept: a rounding error must not decide between them.
        if self._best is None or self.merit(found) > self.merit(self._best) * (1 + SAME):
            self._best = found
        if fresh:
            self.fresh.append(Ending(found.labels, self.merit(found)))

    @property
    def best(self) -> Climb:
        """The climb with the largest objective."""
        assert self._best is not None, "an empty pool has no best climb"
        return self._best

    @property
    def hits(self) -> int:
        """Number of independent starts that are as good as the best climb."""
        return sum(ending.merit >= self.merit(self.best) * (1 - SAME) for ending in self.fresh)


def search_size(
    problem: Problem,
    size: int,
    rng: np.random.Generator,
    *,
    init: str = "auto",
    n_init: NInit = "auto",
    known: Sequence[Labels] = (),
    compare: Compare = "chosen",
    workers: Workers = ONE_THREAD,
) -> Pool:
    """Climb at one size from fresh starts, from `known` labels and, if n_init="auto", from kicks of the best climb."""
    features = problem.features
    enough = TINY_HITS if features.n_samples * features.n_features <= TINY_VALUES else ENOUGH_HITS
    pool = Pool(compare)
    for labels in known:
        pool.add(climb(problem, labels, size, rng))

    def run(tasks: list[tuple[Start, np.random.Generator]]) -> list[Climb]:
        rngs = [own_rng for _, own_rng in tasks]
        starts = [start(problem, size, own_rng) for start, own_rng in tasks]
        return climb_all(problem, starts, [size] * len(tasks), rngs)

    for starts in start_batches(init, n_init):
        tasks = list(zip(starts, rng.spawn(len(starts)), strict=True))
        done = workers.map(run, in_shares(problem, tasks), f"starts at {size} features")
        for found in chain.from_iterable(done):
            pool.add(found, fresh=True)
        if n_init == "auto":
            if pool.hits >= enough:
                break
            for own_rng in rng.spawn(KICKS):
                pool.add(climb(problem, kick(pool.best, own_rng), size, own_rng))
    return pool


def start_batches(init: str, n_init: NInit) -> list[list[Start]]:
    """Starts in batches. init="auto" uses one start of each kind, then random ones, which are the most successful."""
    count = FRESH * MOST_BATCHES if n_init == "auto" else n_init
    if count == 0:
        return []
    kinds = ["coordinate", "shrinking", *["random"] * count][:count] if init == "auto" else [init] * count
    width = FRESH if n_init == "auto" else count
    return [[STARTS[kind] for kind in kinds[first : first + width]] for first in range(0, count, width)]


# ---------------------------------------------------------------- every size


@dataclass
class Envelope:
    """The best known solution of every size s = 1, ..., p.

    For one clustering, a single sort gives the best subset of every size: its objective is the running sum of the
    sorted scores. The best objective over several clusterings is the upper envelope of their running sums.
    """

    objective: Floats
    _owner: Subset
    _labels: dict[int, Labels] = field(default_factory=dict)
    _added: int = 0

    def __post_init__(self) -> None:
        # The clusterings that were added. No part of the value: it only saves work.
        self._seen: set[int] = set()

    @classmethod
    def of_none(cls, n_features: int) -> Envelope:
        """The envelope of no clusterings."""
        return cls(np.zeros(n_features), np.zeros(n_features, np.intp))

    def add(self, found: Iterable[Climb | Found]) -> float:
        """Add clusterings; returns the largest relative gain over all sizes."""
        rest, gain = iter(found), 0.0
        while part := list(islice(rest, max(1, MOST_SCORES // self.objective.size))):
            gain = max(gain, self._add_part(part))
        return gain

    def _add_part(self, found: Sequence[Climb | Found]) -> float:
        # The same labels have the same scores. Climbs at neighboring sizes often end with the same ones.
        new = {hash(each.labels.tobytes()): each for each in found}
        new = {key: each for key, each in new.items() if key not in self._seen}
        if not new:
            return 0.0
        self._seen |= new.keys()
        ranked = np.array([each.scores for each in new.values()])
        sort_rows(ranked)
        gains = raise_envelope(self.objective, self._owner, ranked, self._added, SAME).tolist()
        names = range(self._added, self._added + len(gains))
        self._keep({name: each.labels for name, each, gain in zip(names, new.values(), gains, strict=True) if gain > 0})
        self._added += len(gains)
        return max(gains)

    def merge(self, other: Envelope) -> float:
        """Add the clusterings of another envelope; returns the largest relative gain over all sizes."""
        is_better = other.objective > self.objective * (1.0 + SAME)
        if not is_better.any():
            return 0.0
        gain = 1.0 - self.objective[is_better] / other.objective[is_better]
        self.objective[is_better] = other.objective[is_better]
        self._owner[is_better] = other._owner[is_better] + self._added
        self._keep({name + self._added: labels for name, labels in other._labels.items()})
        self._added += other._added
        return float(gain.max())

    def _keep(self, labels: dict[int, Labels]) -> None:
        self._labels |= labels
        if len(self._labels) > MOST_LABELS:
            self._labels = {name: self._labels[name] for name in np.unique(self._owner).tolist()}

    def labels(self, size: int) -> Labels:
        """Labels of the clustering that is best at `size`."""
        return self._labels[int(self._owner[size - 1])]

    def all_labels(self) -> list[Labels]:
        """Labels of the clusterings that are best at some size."""
        return [self._labels[owner] for owner in np.unique(self._owner).tolist()]

    def stretches(self) -> list[tuple[int, int]]:
        """Intervals of sizes, as (first, last), on which the same clustering is best."""
        cuts = np.flatnonzero(np.diff(self._owner)) + 1
        first = np.concatenate([[0], cuts]) + 1
        last = np.concatenate([cuts, [self._owner.size]])
        return list(zip(first.tolist(), last.tolist(), strict=True))


def sweep(problem: Problem, labels: Labels, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Found]:
    """Climb at each of `sizes` in turn, from the best labels of the previous size, with a kick at the smaller sizes."""
    most_kicked = largest_kicked(problem)
    for part in parts(problem, sizes):
        data = problem.compiled(max(part))
        if data is not None:
            labels = labels.astype(np.int32)
            yield from map(Found, *sweep_at_once(problem, data, labels, part, most_kicked, rng))
            continue
        for size in part:
            found = [climb(problem, labels, size, rng)]
            if size <= most_kicked:
                found.append(climb(problem, kick(found[0], rng), size, rng))
            yield from (Found(each.labels, each.scores) for each in found)
            is_better = found[-1].objective > found[0].objective * (1 + LEAST_GAIN)
            labels = found[-1 if is_better else 0].labels


def sweep_at_once(
    problem: Problem,
    data: Any,
    labels: Labels,
    sizes: Sequence[int],
    most_kicked: int,
    rng: np.random.Generator,
) -> tuple[Labels, Floats]:
    """The labels and scores of the climbs of a sweep, in one call. `labels` become those from which to go on."""
    k = problem.n_clusters
    at, uniforms = np.array(sizes), rng.random(kick_numbers(sizes, most_kicked, k))
    course = Sweep(at, at <= most_kicked, np.zeros(at.size, np.intp), NO_FEATURES, uniforms)
    all_labels, all_scores, *_ = sweep_on(data, labels, course, k, problem.max_iter)
    return all_labels, all_scores


def largest_kicked(problem: Problem) -> int:
    """The largest size at which a sweep kicks."""
    return max(KICK_ALWAYS, int(KICK_SHARE * problem.features.n_features))


def kick_numbers(sizes: Sequence[int], most_kicked: int, n_clusters: int) -> int:
    """How many random numbers the kicks of a sweep use."""
    return sum(size + n_clusters for size in sizes if size <= most_kicked)


def parts(problem: Problem, sizes: Sequence[int]) -> Iterator[Sequence[int]]:
    """The sizes in parts that are swept together: few enough to keep the scores of all their climbs."""
    step = max(1, MOST_SCORES // problem.features.n_features)
    return (sizes[first : first + step] for first in range(0, len(sizes), step))


def shrinking_path(problem: Problem, rng: np.random.Generator) -> Iterator[Climb | Found]:
    """Climbs from all features down to one."""
    p = problem.features.n_features
    yield from sweep(problem, problem.cluster(np.arange(p), rng), ladder(p), rng)


def random_path(problem: Problem, rng: np.random.Generator) -> Iterator[Climb | Found]:
    """Climbs from a random start at a random size, first down to one feature and then up to all."""
    sizes = ladder(problem.features.n_features)
    at = int(rng.integers(len(sizes)))
    first = climb(problem, random_start(problem, sizes[at], rng), sizes[at], rng)
    yield first
    yield from sweep(problem, first.labels, sizes[at + 1 :], rng)
    yield from sweep(problem, first.labels, sizes[:at][::-1], rng)


def coordinate_path(problem: Problem, rng: np.random.Generator) -> Iterator[Climb | Found]:
    """Climbs from the paper's own start at each size; exact at size 1."""
    for part in parts(problem, ladder(problem.features.n_features)):
        starts = [coordinate_start(problem, size, rng) for size in part]
        yield from climb_all(problem, starts, part, [rng] * len(part))


Path = Callable[[Problem, np.random.Generator], Iterator[Climb | Found]]

# The paths of one round over all sizes, by `init`; the first round of "auto" also has the coordinate path.
ROUNDS: dict[str, list[Path]] = {
    "auto": [shrinking_path, random_path],
    "coordinate": [coordinate_path],
    "random": [random_path],
    "shrinking": [shrinking_path],
}


def search_sizes(
    problem: Problem,
    rng: np.random.Generator,
    *,
    init: str = "auto",
    n_init: NInit = "auto",
    known: Sequence[Labels] = (),
    workers: Workers = ONE_THREAD,
) -> Envelope:
    """The best known solution of every size, from rounds of paths through all sizes and from `known` labels."""
    p = problem.features.n_features
    envelope = Envelope.of_none(p)
    # Exact at size 1, where the data and the permuted copies have the same optimum, so that the gap must be zero.
    envelope.add([climb(problem, coordinate_start(problem, 1, rng), 1, rng)])
    for labels in known:
        envelope.add([climb(problem._replace(max_iter=1), labels, 1, rng)])
        envelope.add(sweep(problem, labels, ladder(p), rng))

    def run(task: tuple[Path, np.random.Generator]) -> Envelope:
        path, own_rng = task
        along = Envelope.of_none(p)
        along.add(path(problem, own_rng))
        return along

    for number in range(MOST_ROUNDS if n_init == "auto" else n_init):
        paths = ROUNDS[init] + ([coordinate_path] if init == "auto" and number == 0 else [])
        tasks = list(zip(paths, rng.spawn(len(paths)), strict=True))
        gain = max(map(envelope.merge, workers.map(run, tasks, "paths through all sizes")))
        if n_init == "auto" and gain < LEAST_ROUND_GAIN:
            break
    return envelope


def shrinking_objective(problem: Problem, rng: np.random.Generator) -> Floats:
    """The best objective of every size that `search_sizes` finds with init="shrinking" and n_init=1.

    The result is the same, but where there are climbs in compiled code, it takes a few calls instead of many.
    """
    p = problem.features.n_features
    sizes, most_kicked, data = ladder(p), largest_kicked(problem), problem.compiled(p)
    if data is None or len(list(parts(problem, sizes))) > 1:
        return search_sizes(problem, rng, init="shrinking", n_init=1).objective
    alone = labels_at(problem, coordinate_start(problem, 1, rng), rng).astype(np.int32)
    own_rng = rng.spawn(1)[0]
    of_all = problem.cluster(np.arange(p), own_rng)
    # A climb at size p ends where it starts, with the clustering by all features, unless it is followed by a kick.
    rest = sizes if p <= most_kicked else sizes[1:]
    found = [problem.scores(of_all)[None], sweep_at_once(problem, data, alone, [1], 0, rng)[1]]
    ranked = np.concatenate([*found, sweep_at_once(problem, data, of_all, rest, most_kicked, own_rng)[1]])
    sort_rows(ranked)
    objective, owner = np.zeros(p), np.zeros(p, np.intp)
    raise_envelope(objective, owner, ranked, 0, SAME)
    return objective


def refine(problem: Problem, envelope: Envelope, rng: np.random.Generator) -> None:
    """Climb once inside every interval of sizes that has the same best clustering, which was found at another size."""
    for first, last in envelope.stretches():
        size = round((first * last) ** 0.5)
        envelope.add([climb(problem, envelope.labels(size), size, rng)])
