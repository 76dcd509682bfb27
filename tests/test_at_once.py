"""What compiled code does at once is what is written out step by step: climbs, sweeps, and the fixed reference."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster._clusterers.kmeans import HillClimb, KMeans
from sparsecluster._features.coordinates import CoordinateFeatures, level_blocks, number_block
from sparsecluster._features.manhattan import ManhattanFeatures
from sparsecluster._features.matrices import Matrices, MatrixFeatures
from sparsecluster._features.numeric import LARGE_VALUES
from sparsecluster._kernels.climbs import exchange
from sparsecluster._kernels.kinds import Categories, Distances, Incomplete, Numbers, Triangular, scores_of
from sparsecluster._kernels.moves import LLOYD_PASSES, MOVE_PASSES
from sparsecluster._kernels.nulls import NARROW, change_subset, follow_columns, null_objectives_pairs
from sparsecluster._kernels.pairs import improve_pairs, seed_pairs
from sparsecluster._kernels.rows import BLOCK, WIDE, improve_rows
from sparsecluster._kernels.select import largest, raise_envelope
from sparsecluster._search.climb import By, Problem, climb
from sparsecluster._search.search import search_sizes, shrinking_objective, sweep
from sparsecluster._search.sizes import Effort, SizesTried
from sparsecluster._search.starts import ladder
from sparsecluster._utils.parallel import ONE_THREAD
from sparsecluster.datasets import shifted_groups
from tests import naive
from tests.helpers.cases import in_turn

PLAIN = "sparsecluster._search.climb.Problem.plain"
COMPILED = "sparsecluster._search.climb.Problem.compiled"


def table_of(seed, n=60, p=40):
    return shifted_groups(mu=0.5, n_features=p, n_useful=10, group_size=n // 3, seed=seed).X


# What compiled climbs need of each kind of table.
KINDS = {
    "numbers": Numbers,
    "single precision": Numbers,
    "missing": Incomplete,
    "levels": Categories,
    "levels beside numbers": Categories,
    "distances": Distances,
    "ranks": Distances,
    "matrices": Triangular,
}


def kind_of(features_of, kind, seed):
    """A table as the features of a kind."""
    X, rng = table_of(seed), np.random.default_rng(seed)
    shares, streams = np.ones(X.shape[1]), np.arange(X.shape[1])
    # Two to seven levels.
    levels = np.floor(np.clip(X * (1 + streams % 3 / 2), -2.9, 2.9))
    if KINDS[kind] is Numbers:
        return features_of(X if kind == "numbers" else X.astype(np.float32))
    if kind == "matrices":
        matrices = Matrices(lambda a: np.abs(X[:, a, None] - X[None, :, a]), X.shape[1], len(X), frozenset(), True)
        return MatrixFeatures(matrices, streams, True, shares, streams)
    if KINDS[kind] is Distances:
        return ManhattanFeatures(X if kind == "distances" else levels, True, shares, streams)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
        return CoordinateFeatures([number_block(x) for x in X.T], True, (~np.isnan(X)).mean(axis=0), streams)
    blocks = level_blocks(levels)
    if kind == "levels beside numbers":
        blocks[::3] = [number_block(x) for x in X.T[::3]]
    return CoordinateFeatures(blocks, True, shares, streams)


def clusterer_of(features):
    return KMeans() if features.has_rows else HillClimb()


def test_a_kind_without_a_version_is_refused_by_name():
    with pytest.raises(TypeError, match="scores_of has no version for tuple"):
        scores_of((), np.zeros(3, np.int32), 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_climb_makes_the_same_steps(features_of, monkeypatch, k, kind):
    steps = 0
    for seed in range(6):
        features = kind_of(features_of, kind, seed)
        assert type(Problem(features, clusterer_of(features), k).compiled(40)) is KINDS[kind]
        labels = naive.random_labels(np.random.default_rng(seed), features.n_samples, k)
        before = labels.copy()
        for size in (1, 2, 7, 25, 40):
            for max_iter in (1, 2, 100):
                problem = Problem(features, clusterer_of(features), k, max_iter)
                at_once = climb(problem, labels, size, np.random.default_rng(0))
                with monkeypatch.context() as patch:
                    patch.setattr(COMPILED, lambda *_: None)
                    written_out = climb(problem, labels, size, np.random.default_rng(0))
                np.testing.assert_array_equal(labels, before)
                np.testing.assert_array_equal(at_once.labels, written_out.labels)
                np.testing.assert_array_equal(at_once.scores, written_out.scores)
                np.testing.assert_array_equal(at_once.subset, written_out.subset)
                np.testing.assert_allclose(np.array(at_once.history), np.array(written_out.history), rtol=1e-14)
                steps = max(steps, len(at_once.history))
    assert steps > 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_climb_from_features_starts_from_the_clustering_by_them(features_of, monkeypatch, kind):
    for seed in range(6):
        features, rng = kind_of(features_of, kind, seed), np.random.default_rng(seed)
        problem = Problem(features, clusterer_of(features), 3)
        for count, size in ((1, 7), (25, 7), (40, 40)):
            start = By(np.sort(rng.choice(40, count, replace=False)))
            rngs = np.random.default_rng(seed), np.random.default_rng(seed)
            at_once = climb(problem, start, size, rngs[0])
            with monkeypatch.context() as patch:
                patch.setattr(COMPILED, lambda *_: None)
                written_out = climb(problem, start, size, rngs[1])
            np.testing.assert_array_equal(at_once.labels, written_out.labels)
            np.testing.assert_array_equal(at_once.subset, written_out.subset)
            assert len(at_once.history) == len(written_out.history)
            assert rngs[0].random() == rngs[1].random()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("upwards", [False, True])
def test_a_sweep_makes_the_same_climbs_and_draws_the_same_random_numbers(features_of, monkeypatch, upwards, kind):
    for seed in range(4):
        features = kind_of(features_of, kind, seed)
        problem = Problem(features, clusterer_of(features), 3)
        labels = naive.random_labels(np.random.default_rng(seed), 60, 3)
        sizes = ladder(40)[::-1] if upwards else ladder(40)
        rngs = np.random.default_rng(seed), np.random.default_rng(seed)
        at_once = list(sweep(problem, labels, sizes, rngs[0]))
        with monkeypatch.context() as patch:
            patch.setattr(COMPILED, lambda *_: None)
            written_out = list(sweep(problem, labels, sizes, rngs[1]))
        assert len(at_once) == len(written_out) == 2 * len(sizes) - 1
        for one, other in zip(at_once, written_out, strict=True):
            np.testing.assert_array_equal(one.labels, other.labels)
            np.testing.assert_array_equal(one.scores, other.scores)
        assert rngs[0].random() == rngs[1].random()


@pytest.mark.parametrize("kind", KINDS)
def test_the_path_of_a_permuted_copy_is_a_search_with_a_single_path(features_of, monkeypatch, kind):
    for seed in range(4):
        features = kind_of(features_of, kind, seed).permuted(seed)
        problem = Problem(features, clusterer_of(features), 3)
        rngs = np.random.default_rng(seed), np.random.default_rng(seed)
        at_once = shrinking_objective(problem, rngs[0])
        with monkeypatch.context() as patch:
            patch.setattr(COMPILED, lambda *_: None)
            written_out = search_sizes(problem, rngs[1], init="shrinking", n_init=1).objective
        np.testing.assert_allclose(at_once, written_out, rtol=1e-12)
        assert rngs[0].random() == rngs[1].random()


def test_a_sweep_in_parts_is_the_same(features_of, monkeypatch):
    problem = Problem(features_of(table_of(1)), KMeans(), 3)
    labels = naive.random_labels(np.random.default_rng(1), 60, 3)
    whole = list(sweep(problem, labels, ladder(40), np.random.default_rng(0)))
    monkeypatch.setattr("sparsecluster._search.search.MOST_SCORES", 80)
    parts = list(sweep(problem, labels, ladder(40), np.random.default_rng(0)))
    assert [found.labels.tolist() for found in whole] == [found.labels.tolist() for found in parts]


@pytest.mark.parametrize("two_valued", [False, True])
@pytest.mark.parametrize("n", [60, 600])
def test_the_fixed_reference_is_the_same(features_of, monkeypatch, n, two_valued):
    table = table_of(2, n)
    if two_valued:
        # Totals of columns with two values differ.
        table[:, ::2] = table[:, ::2] > np.linspace(-1, 1, 20)
    problem = Problem(features_of(table), KMeans(), 3)
    subsets = [np.array([4]), np.arange(10), np.arange(5, 30), np.arange(40)]
    effort = Effort("coordinate", 1, (), 3, "fixed")

    def reference():
        tried = SizesTried(problem, np.random.default_rng(5), [3, 8, 2**63], effort, ONE_THREAD)
        return np.array(list(tried._on_copies(subsets)))

    at_once = reference()
    monkeypatch.setattr(PLAIN, lambda *_: None)
    np.testing.assert_allclose(at_once, reference(), rtol=1e-12)


@pytest.mark.parametrize("search", ["path", "grid", "golden"])
@pytest.mark.parametrize("null", ["refit", "fixed"])
def test_a_fit_is_the_same(monkeypatch, search, null):
    X = shifted_groups(mu=0.9, n_features=30, n_useful=8, group_size=20, seed=4).X
    parameters = {"search": search, "null": null, "n_permutations": 4}
    at_once = SASClustering(3, **parameters).fit(X)
    monkeypatch.setattr(PLAIN, lambda *_: None)
    monkeypatch.setattr(COMPILED, lambda *_: None)
    written_out = SASClustering(3, **parameters).fit(X)
    np.testing.assert_array_equal(at_once.labels_, written_out.labels_)
    np.testing.assert_array_equal(at_once.support_, written_out.support_)
    np.testing.assert_allclose(at_once.gap_curve_.score, written_out.gap_curve_.score, atol=1e-12)


def test_what_is_not_plain_numbers_and_k_means_goes_step_by_step(features_of):
    features = features_of(table_of(0))
    assert Problem(features, KMeans(), 3).plain(40) is features
    assert Problem(features, HillClimb(), 3).plain(40) is None
    assert Problem(features, KMeans("pairs"), 3).plain(40) is None
    # So many clusters that their sums are not kept.
    assert Problem(features, KMeans(), 20).plain(40) is None
    for clusterer, k in ((HillClimb(), 3), (KMeans("pairs"), 3), (KMeans(), 20)):
        assert Problem(features, clusterer, k).compiled(40) is None
    # So large a subset that its copy would be.
    assert Problem(features, KMeans(), 3).compiled(LARGE_VALUES) is None


# ---------------------------------------------------------------- kernels


@in_turn(n=[BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3], k=[2, 4, 5], p=[6, WIDE, WIDE + 3])
def test_samples_that_are_not_looked_at_would_not_move(n, k, p):
    rng = np.random.default_rng(n)
    # The twin takes a second for the most samples.
    for _ in range(2 if n < 2 * BLOCK else 1):
        table, weights, labels = rng.standard_normal((n, p)), rng.random(p), naive.random_labels(rng, n, k)
        expected = naive.improve((table * weights) @ table.T, labels, k, 2)
        improve_rows(table, weights, labels, k, 2, 1000)
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("order", ["sorted", "turned", "periodic", "equal", "shuffled"])
@pytest.mark.parametrize("size", [5, 300, 20_000])
def test_the_largest_are_found_in_any_order_of_the_values(order, size):
    values = np.arange(float(size))
    if order == "turned":
        values = values[::-1].copy()
    elif order == "periodic":
        values = values % 7
        values[:: max(size // 64, 1)] = 9.0
    elif order == "equal":
        values[:] = 1.0
    elif order == "shuffled":
        np.random.default_rng(0).shuffle(values)
    for count in {1, 2, size // 3, size - 1, size}:
        expected = np.sort(np.argsort(-values, kind="stable")[:count])
        np.testing.assert_array_equal(largest(values, count), expected)


def test_features_are_exchanged_one_for_one():
    held = np.empty(4, np.intp)
    assert exchange(np.array([1, 4, 6, 9]), 12, held, False).tolist() == [0, 1, 2, 3]
    for chosen in ([1, 4, 6, 9], [0, 4, 6, 11], [2, 3, 5, 7], [2, 3, 4, 7]):
        before = held.copy()
        places = exchange(np.array(chosen), 12, held, True)
        assert places.size == len(set(chosen) - set(before.tolist()))
        assert sorted(held.tolist()) == chosen
        np.testing.assert_array_equal(np.flatnonzero(held != before), np.sort(places))


@pytest.mark.parametrize("width", [1, 4, 7, NARROW, NARROW + 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 11])
def test_inner_products_follow_the_columns(n, width):
    table, gram = np.random.default_rng(n).standard_normal((n, width + 3)), np.zeros((n, n))
    follow_columns(table, np.arange(width), width, gram)
    np.testing.assert_allclose(gram, table[:, :width] @ table[:, :width].T, atol=1e-13)
    joining, leaving = [width, width + 1, width + 2], range(width)
    follow_columns(table, np.array([*joining, *leaving]), len(joining), gram)
    np.testing.assert_allclose(gram, table[:, joining] @ table[:, joining].T, atol=1e-13)
    follow_columns(table, np.array(joining), 0, gram)
    np.testing.assert_allclose(gram, 0.0, atol=1e-13)


@pytest.mark.parametrize("changed", [3, NARROW, 30])
def test_objectives_on_a_copy_are_those_of_k_means_on_each_subset(changed):
    rng = np.random.default_rng(changed)
    n, p, k = 20, 60, 3
    table = rng.standard_normal((n, p))
    table /= np.sqrt((table**2).sum(axis=0))
    first = np.sort(rng.choice(p, 31, replace=False))
    left = np.setdiff1d(first, rng.choice(first, changed, replace=False))
    subsets = [first, left, np.arange(p)]
    uniforms = rng.random((len(subsets), 2, k))
    starts = np.cumsum([0, *map(len, subsets)])
    found = null_objectives_pairs(table, np.ones(p), np.concatenate(subsets), starts, uniforms)
    for subset, own, objective in zip(subsets, uniforms, found, strict=True):
        gram = table[:, subset] @ table[:, subset].T
        expected = []
        for each in own:
            labels = seed_pairs(gram, each)
            expected.append(improve_pairs(gram, labels, k, LLOYD_PASSES, MOVE_PASSES))
        assert objective == pytest.approx(max(expected), rel=1e-12)


def test_columns_that_join_and_leave_a_subset():
    is_in, changed = np.zeros(8, np.int8), np.empty(8, np.intp)
    before: set[int] = set()
    for subset in ([1, 2, 3], [2, 3, 5, 7], [0], [0, 1, 2, 3, 4, 5, 6, 7], [6]):
        joined, count = change_subset(is_in, np.array(subset), changed)
        assert set(changed[:joined].tolist()) == set(subset) - before
        assert set(changed[joined:count].tolist()) == before - set(subset)
        before = set(subset)


def test_an_envelope_is_raised_to_the_running_sums_that_are_higher():
    objective, owner = np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])
    ranked = np.array([[0.0, 0.0, 2.0], [1.1, 1.1, 1.1], [0.0, 0.5, 1.0]])
    gains = raise_envelope(objective, owner, ranked, 5, 1e-9)
    np.testing.assert_allclose(objective, [2.0, 2.2, 3.3])
    assert owner.tolist() == [5, 6, 6]
    np.testing.assert_allclose(gains, [0.5, 1 / 11, 0.0])
    again = np.diff(objective, prepend=0.0)[::-1][None] * (1 + 1e-12)
    assert raise_envelope(objective, owner, again, 8, 1e-9).tolist() == [0.0]
    assert owner.tolist() == [5, 6, 6]
