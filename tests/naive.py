"""Short, slow, obviously right twins of the kernels, straight from the paper's formulas over pairs of samples.

Words as in the package: with delta_a(i, j) = (x_ia - x_ja)^2, total T_a = (1/n) sum_{i<j} delta_a(i, j), within
Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j), score 1 - Delta_a[C] / T_a.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

# ---------------------------------------------------------------- inputs


def random_table(rng: np.random.Generator, n: int, p: int, whole: bool = False) -> np.ndarray:
    """Gaussian numbers, or whole numbers 0..3 with many ties and equal rows; no column is constant."""
    if not whole:
        return rng.standard_normal((n, p))
    table = rng.integers(0, 4, (n, p)).astype(float)
    table[0, np.ptp(table, axis=0) == 0] += 1
    return table


def random_labels(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """A labeling that uses all k clusters."""
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)])).astype(np.int32)


# ---------------------------------------------------------------- formulas


def members(labels: np.ndarray) -> list[np.ndarray]:
    """The samples of every cluster that has some."""
    return [np.flatnonzero(labels == c) for c in np.unique(labels)]


def within(x: np.ndarray, labels: np.ndarray) -> float:
    """Delta_a[C] of one column."""
    return sum(
        sum((x[i] - x[j]) ** 2 for i, j in combinations(samples, 2)) / len(samples) for samples in members(labels)
    )


def total(x: np.ndarray) -> float:
    """T_a of one column: all samples in one cluster."""
    return within(x, np.zeros(len(x)))


def scores(table: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.array([1 - within(x, labels) / total(x) for x in np.asarray(table, dtype=float).T])


def cluster_sums(table: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """The sum of every column over every cluster, rounded only once."""
    return np.array([table[labels == c].sum(axis=0, dtype=np.longdouble) for c in range(k)]).astype(float)


def standardized(table: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and total 1."""
    return (table - table.mean(axis=0)) / np.sqrt(((table - table.mean(axis=0)) ** 2).sum(axis=0))


def measured(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every column: the largest centered value, the total in its units, and the squared distance if two values."""
    centered = table - table.mean(axis=0)
    largest = np.abs(centered).max(axis=0)
    is_few = np.array([np.unique(column).size <= 2 for column in table.T])
    return largest, (centered**2).sum(axis=0) / largest**2, np.where(is_few, (np.ptp(table, axis=0) / largest) ** 2, 0)


def objective(table: np.ndarray, labels: np.ndarray, size: int) -> float:
    """Sum of the `size` largest scores."""
    return float(np.sort(scores(table, labels))[::-1][:size].sum())


def cluster_sum(similarity: np.ndarray, samples: Sequence[int] | np.ndarray) -> float:
    """What one cluster adds to J: (1/|C|) sum_{i,j in C} A_ij."""
    return similarity[np.ix_(samples, samples)].sum() / len(samples)


def similarity_objective(similarity: np.ndarray, labels: np.ndarray) -> float:
    """J = sum_k (1/|C_k|) sum_{i,j in C_k} A_ij."""
    return sum(cluster_sum(similarity, samples) for samples in members(labels))


def best_after_one_move(value: Callable[[np.ndarray], float], labels: np.ndarray, k: int) -> float:
    """Largest value that moving a single sample gives; a sample alone in its cluster has to stay."""
    best = -np.inf
    for i in range(len(labels)):
        if np.sum(labels == labels[i]) > 1:
            for c in set(range(k)) - {labels[i]}:
                moved = labels.copy()
                moved[i] = c
                best = max(best, value(moved))
    return best


# ---------------------------------------------------------------- brute force


@cache
def partitions(n: int, k: int) -> np.ndarray:
    """All groupings of n samples into exactly k groups that are not empty, one a row."""

    def grow(prefix: list[int]) -> Iterator[list[int]]:
        if len(prefix) == n:
            if len(set(prefix)) == k:
                yield prefix
            return
        for c in range(min(max(prefix, default=-1) + 2, k)):
            yield from grow([*prefix, c])

    return np.array(list(grow([])), dtype=np.int32)


@cache
def pair_weights(n: int, k: int) -> np.ndarray:
    """For every grouping, 1/|C| where i < j are both in C and 0 elsewhere: Delta_a[C] = sum_ij w_ij delta_a(i, j)."""
    weights = np.zeros((len(partitions(n, k)), n, n))
    for weight, labels in zip(weights, partitions(n, k), strict=True):
        for samples in members(labels):
            for i, j in combinations(samples, 2):
                weight[i, j] = 1 / len(samples)
    return weights


def all_scores(table: np.ndarray, k: int) -> np.ndarray:
    """Scores of every column for every grouping."""
    delta = (table[:, None, :] - table[None, :, :]) ** 2
    return 1 - np.einsum("mij,ija->ma", pair_weights(len(table), k), delta) / np.array([total(x) for x in table.T])


def optimum(table: np.ndarray, k: int, size: int) -> float:
    """Largest sum of scores over all groupings and all subsets of `size` columns."""
    every = all_scores(table, k)
    return max(every[:, list(subset)].sum(axis=1).max() for subset in combinations(range(table.shape[1]), size))


def univariate_over_partitions(x: np.ndarray, k: int) -> float:
    """Smallest within sum of squares of one column over all groupings."""
    return min(within(x, labels) for labels in partitions(len(x), k))


def univariate_over_splits(x: np.ndarray, k: int) -> float:
    """The same over groupings that cut the sorted values into runs."""
    x = np.sort(x)
    cuts = combinations(range(1, len(x)), k - 1)
    return min(sum(np.var(run) * len(run) for run in np.split(x, cut)) for cut in cuts)


# ---------------------------------------------------------------- k-means


def draw(weights: np.ndarray, uniform: float, taken: np.ndarray) -> int:
    """First sample whose running sum of weights passes `uniform` of their sum; the first one left if all are zero."""
    left = [i for i in range(len(weights)) if not taken[i]]
    if not any(weights[i] for i in left):
        return left[0]
    return next(i for i in left if sum(weights[: i + 1]) > uniform * sum(weights))


def seed(similarity: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """k-means++: each seed drawn in proportion to the squared distance to those before; samples join the nearest."""
    n = len(similarity)
    own = np.diag(similarity)
    apart = own[:, None] + own[None, :] - 2 * similarity
    seeds: list[int] = []
    for uniform in uniforms:
        taken = np.isin(np.arange(n), seeds)
        weights = apart[:, seeds].min(axis=1) if seeds else np.ones(n)
        seeds.append(draw(weights, uniform, taken))
    nearest = np.argmin(apart[:, seeds], axis=1)
    nearest[seeds] = np.arange(len(seeds))
    return nearest


def improve(similarity: np.ndarray, labels: np.ndarray, k: int, lloyd_passes: int) -> np.ndarray:
    """Lloyd passes, then the best move of every sample in turn until none raises J; no cluster is emptied."""
    labels = labels.copy()
    for _ in range(lloyd_passes):
        groups = [np.flatnonzero(labels == c) for c in range(k)]
        distance = [similarity[np.ix_(g, g)].mean() - 2 * similarity[:, g].mean(axis=1) for g in groups]
        for i, c in enumerate(np.argmin(distance, axis=0)):
            if np.sum(labels == labels[i]) > 1:
                labels[i] = c
    moved = True
    while moved:
        moved = False
        for i in range(len(labels)):
            if np.sum(labels == labels[i]) > 1:
                # With sample i in a cluster, J is larger by this than without sample i.
                others = [np.flatnonzero((labels == c) & (np.arange(len(labels)) != i)) for c in range(k)]
                values = [cluster_sum(similarity, [*each, i]) - cluster_sum(similarity, each) for each in others]
                if max(values) > values[labels[i]] + 1e-11:
                    labels[i], moved = np.argmax(values), True
    return labels


# ---------------------------------------------------------------- order

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """The finalizer of splitmix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def bits(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def row_fingerprints(table: np.ndarray, column_salts: np.ndarray) -> list[int]:
    """Of every row, the sum of mix(bits ^ salt)."""
    salts = column_salts.tolist()
    return [sum(mix(bits(x) ^ s) for x, s in zip(row, salts, strict=True)) % WORD for row in table]


def shuffled(table: np.ndarray, seed: int) -> np.ndarray:
    """Fisher-Yates on every column, with the stream of splitmix64."""
    table = table.copy()
    for a in range(table.shape[1]):
        state = mix((seed + GOLDEN * (a + 1)) % WORD)
        for i in range(len(table) - 1, 0, -1):
            state = (state + GOLDEN) % WORD
            j = (mix(state) >> 32) * (i + 1) >> 32
            table[[i, j], a] = table[[j, i], a]
    return table


# ---------------------------------------------------------------- any dissimilarity
#
# delta is n x n: the dissimilarity of every pair of samples, NaN for pairs that are not seen, and NaN on the diagonal
# for samples that are not seen at all. A feature is a list of such matrices, one for each of its members.


def column_delta(values: np.ndarray, function: Callable[[Any, Any], Any]) -> np.ndarray:
    """function(x, y) of all pairs of samples; NaN where one of them is missing."""
    return np.array([[np.nan if np.isnan(x) or np.isnan(y) else float(function(x, y)) for y in values] for x in values])


def samples_seen(delta: np.ndarray) -> float:
    """Number of samples: the root of the number of ordered pairs that are seen, each sample with itself among them."""
    return float(np.sqrt(np.sum(~np.isnan(delta))))


def delta_within(delta: np.ndarray, labels: np.ndarray) -> float:
    """sum_k (1/n_k) sum_{i<j in C_k} delta(i, j), where n_k counts the samples that are seen."""
    blocks = [delta[np.ix_(samples, samples)] for samples in members(labels)]
    return sum(float(np.nansum(np.tril(block, -1))) / max(samples_seen(block), 1.0) for block in blocks)


def delta_total(delta: np.ndarray) -> float:
    """The same with all samples in one cluster."""
    return delta_within(delta, np.zeros(len(delta)))


def delta_share(delta: np.ndarray) -> float:
    """The share of the samples that is seen."""
    return samples_seen(delta) / len(delta)


def delta_score(delta: np.ndarray, labels: np.ndarray) -> float:
    """1 - within / total where that is not negative, times the share of the samples that is seen."""
    return max(1 - delta_within(delta, labels) / delta_total(delta), 0.0) * delta_share(delta)


def feature_scores(features: list[list[np.ndarray]], labels: np.ndarray) -> np.ndarray:
    """Of every feature, the mean of the scores of its members."""
    return np.array([np.mean([delta_score(delta, labels) for delta in feature]) for feature in features])


def delta_sum(deltas: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Weighted sum of dissimilarities; a pair that is not seen adds nothing."""
    return sum((np.nan_to_num(weight * delta) for delta, weight in zip(deltas, weights, strict=True)), np.array(0.0))


def all_delta_scores(delta: np.ndarray, k: int) -> np.ndarray:
    """`delta_score` for every grouping."""
    together = partitions(len(delta), k)[:, :, None] == np.arange(k)
    sums = np.einsum("mik,ij,mjk->mk", together, np.nan_to_num(np.tril(delta, -1)), together)
    pairs = np.einsum("mik,ij,mjk->mk", together, (~np.isnan(delta)).astype(float), together)
    within = (sums / np.sqrt(np.maximum(pairs, 1))).sum(axis=1)
    return np.maximum(1 - within / delta_total(delta), 0.0) * delta_share(delta)


def all_feature_scores(features: list[list[np.ndarray]], k: int) -> np.ndarray:
    """Scores of every feature for every grouping."""
    return np.column_stack([np.mean([all_delta_scores(delta, k) for delta in feature], axis=0) for feature in features])


def feature_optimum(features: list[list[np.ndarray]], k: int, size: int) -> float:
    """Largest sum of scores over all groupings and all subsets of `size` features."""
    every = all_feature_scores(features, k)
    return max(every[:, list(subset)].sum(axis=1).max() for subset in combinations(range(len(features)), size))


def delta_over_splits(x: np.ndarray, k: int, function: Callable[[Any, Any], Any]) -> float:
    """Smallest within of one column over groupings that cut the sorted values into runs."""
    x = np.sort(x)
    delta = column_delta(x, function)
    cuts = combinations(range(1, len(x)), k - 1)
    return min(delta_within(delta, np.searchsorted(cut, np.arange(len(x)), side="right")) for cut in cuts)


# ---------------------------------------------------------------- k-means over what is seen


def seen_within(table: np.ndarray, weights: np.ndarray, seen: np.ndarray, labels: np.ndarray) -> float:
    """Weighted sum of squares of what is seen about its mean in each cluster, coordinate by coordinate."""
    value = 0.0
    for samples in members(labels):
        known = np.where(seen[samples] == 1, table[samples], 0.0)
        count = np.maximum((seen[samples] == 1).sum(axis=0), 1)
        apart = np.where(seen[samples] == 1, known - known.sum(axis=0) / count, 0.0)
        value += float(np.sum(weights * apart**2))
    return value


def seed_of_seen(table: np.ndarray, weights: np.ndarray, seen: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """k-means++ on distances over what both samples have, as if all were seen; 0 where they share nothing."""
    both = weights * seen[:, None, :] * seen[None, :, :]
    apart = (both * (table[:, None, :] - table[None, :, :]) ** 2).sum(axis=2)
    shared = both.sum(axis=2)
    apart = np.where(shared > 0, apart * weights.sum() / np.where(shared > 0, shared, 1.0), 0.0)
    return seed(-apart / 2, uniforms)


def improve_of_seen(
    table: np.ndarray, weights: np.ndarray, seen: np.ndarray, labels: np.ndarray, k: int, lloyd_passes: int
) -> np.ndarray:
    """Lloyd passes, then the best move of every sample in turn until none lowers the within; no cluster is emptied.

    A coordinate that no sample of a cluster has is 0 in its center.
    """
    labels = labels.copy()
    for _ in range(lloyd_passes):
        counts = np.array([seen[labels == c].sum(axis=0) for c in range(k)])
        centers = np.array([(table * seen)[labels == c].sum(axis=0) for c in range(k)]) / np.maximum(counts, 1)
        distance = np.array([(weights * seen * (table - center) ** 2).sum(axis=1) for center in centers])
        for i, c in enumerate(np.argmin(distance, axis=0)):
            if np.sum(labels == labels[i]) > 1 and distance[c, i] < distance[labels[i], i]:
                labels[i] = c
    moved = True
    while moved:
        moved = False
        for i in range(len(labels)):
            if np.sum(labels == labels[i]) > 1:
                tries = [np.where(np.arange(len(labels)) == i, c, labels) for c in range(k)]
                withins = [seen_within(table, weights, seen, each) for each in tries]
                if min(withins) < withins[labels[i]] - 1e-11:
                    labels, moved = tries[int(np.argmin(withins))], True
    return labels


# ---------------------------------------------------------------- order of matrices


def triangle(matrix: np.ndarray) -> list[float]:
    """The entries below the diagonal, row by row."""
    return [float(matrix[i, j]) for i in range(len(matrix)) for j in range(i)]


def matrix_fingerprints(matrix: np.ndarray, salts: list[int], feature_salt: int) -> tuple[list[int], int]:
    """A hash of the sum of what each sample is to the others; and the sum of the samples' hashes for the matrix."""
    sums = [sum(mix(bits(x) ^ s) for x, s in zip(row, salts, strict=True)) % WORD for row in matrix]
    return [mix(each ^ feature_salt) for each in sums], sum(mix(x ^ s) for x, s in zip(sums, salts, strict=True)) % WORD


def shuffled_samples(n: int, stream: int, seed: int) -> np.ndarray:
    """Where each place of a permuted feature takes its sample from."""
    return shuffled(np.tile(np.arange(n)[:, None], stream + 1), seed)[:, stream]


# ---------------------------------------------------------------- trimmed K-means


def kept_means(rows: np.ndarray, labels: np.ndarray, is_out: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and number of the samples of every cluster that are not left out; zeros for a cluster without any."""
    groups = [rows[(labels == c) & ~is_out] for c in range(k)]
    means = [group.mean(axis=0) if len(group) else np.zeros(rows.shape[1]) for group in groups]
    return np.array(means), np.array([len(group) for group in groups])


def center_distances(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """|x_i - c_k|^2 of every sample and center."""
    return np.array([[sum((x - c) ** 2) for c in centers] for x in rows])
