"""Whatever kind a feature is of, a weight is how many times it counts."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._clusterers.kmeans import KMeans
from sparsecluster._data.source import ColumnTable, MatrixSource, TableSource
from sparsecluster._features.features import Rows, SparseRows
from sparsecluster._features.numeric import COPY_SHARE
from sparsecluster._features.weighted import WeightedFeatures
from tests import naive
from tests.helpers.kinds import (
    COORDINATES,
    GROUPS,
    INCOMPLETE,
    KINDS,
    K,
    N,
    P,
    apart_of,
    make,
    matrix_case,
    others,
    some_labels,
    table_case,
)
from tests.helpers.sparse import coordinates, sparse_of

# Some of the features, not in their order; few, where columns are copied, and many, where others get weight zero.
SUBSETS = [np.array([5]), np.array([4, 0, 2]), np.array([7, 1, 2, 0, 5, 3])]
EVERYTHING = np.arange(P)
WEIGHTS = np.random.default_rng(3).gamma(0.5, size=P)


def assert_same_pairs(mine, theirs):
    """The same dissimilarities, with the same share of them seen."""
    np.testing.assert_allclose(apart_of(mine[0]), apart_of(theirs[0]), rtol=1e-12, atol=1e-12)
    assert (mine[1] is None) == (theirs[1] is None)
    if mine[1] is not None:
        np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-12, atol=1e-12)


def alone(features, a):
    """Dissimilarities that one feature gives, and how much is seen of them."""
    similarity, seen = features.seen_pairs(np.array([a]))
    return apart_of(similarity), 1.0 if seen is None else seen


def squared_distances(rows):
    """Sums over coordinates that both samples have."""
    if isinstance(rows, SparseRows):
        at, seen = coordinates(rows), np.ones((N, rows.means.size))
    else:
        at = rows.table * np.sqrt(rows.weights)
        seen = np.ones_like(at) if isinstance(rows, Rows) else rows.seen
    return (seen[:, None] * seen * (at[:, None] - at) ** 2).sum(axis=2)


def repeated(case, counts):
    """The features themselves, not standardized, each so many times."""
    copies = np.repeat(np.arange(case.owners.size), counts[case.owners])
    if isinstance(case.source, MatrixSource):
        given = [case.source.matrices[j] for j in copies]
        return matrix_case(given).features(standardize=False)
    if not isinstance(case.source, TableSource):
        return sparse_of(case.source.values.toarray()[:, copies], standardize=False)
    table = case.source.table
    chosen = ColumnTable(table.values[:, copies], tuple(table.kinds[j] for j in copies))
    # The first copies of the members of a feature are one feature, the second ones another.
    which = np.concatenate([np.arange(counts[owner]) for owner in case.owners])
    made = table_case(chosen.values, chosen.kinds, case.owners[copies] * N + which)
    return made.features(standardize=False)


# ---------------------------------------------------------------- weights given to pairs and rows


@pytest.mark.parametrize("subset", SUBSETS, ids=len)
@pytest.mark.parametrize("kind", KINDS)
def test_features_that_all_count_once_are_the_features_themselves(kind, subset):
    features = make(kind).features()
    assert_same_pairs(features.seen_pairs(subset, np.ones(subset.size)), features.seen_pairs(subset))
    mine, theirs = features.pairs(subset, np.ones(subset.size)), features.pairs(subset)
    np.testing.assert_allclose(mine.similarity, theirs.similarity, rtol=1e-12, atol=1e-12)
    if features.has_rows:
        mine, theirs = features.rows(subset, np.ones(subset.size)), features.rows(subset)
        assert type(mine) is type(theirs)
        for left, right in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("copy", [False, True], ids=["data", "copy"])
@pytest.mark.parametrize("subset", SUBSETS, ids=len)
@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_multiplies_what_the_feature_says_of_every_pair(kind, subset, copy):
    features = make(kind).features()
    features = features.permuted(5) if copy else features
    similarity, seen = features.seen_pairs(subset, WEIGHTS[subset])
    each = [(WEIGHTS[a], *alone(features, a)) for a in subset]
    expected = sum(weight * apart for weight, apart, _ in each)
    np.testing.assert_allclose(apart_of(similarity), expected, rtol=1e-11, atol=1e-12)
    if features.has_missing:
        np.testing.assert_allclose(seen, sum(weight * known for weight, _, known in each), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("counts", [[1, 2, 3, 1, 2, 3, 1, 2], [3, 0, 0, 1, 2, 0, 0, 5]], ids=["all", "some"])
@pytest.mark.parametrize("kind", KINDS)
def test_whole_weights_are_a_feature_given_so_many_times(kind, counts):
    case, counts = make(kind), np.array(counts)
    mine, theirs = case.features(standardize=False), repeated(case, counts)
    assert theirs.n_features == counts.sum()
    found = mine.pairs(EVERYTHING, counts.astype(float)).similarity
    expected = theirs.pairs(np.arange(counts.sum())).similarity
    np.testing.assert_allclose(apart_of(found), apart_of(expected), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_weight_zero_are_left_out(kind):
    features = make(kind).features()
    weights = np.where(np.arange(P) % 3 == 1, 0.0, WEIGHTS)
    left = np.flatnonzero(weights)
    assert_same_pairs(features.seen_pairs(EVERYTHING, weights), features.seen_pairs(left, weights[left]))
    mine, theirs = features.pairs(EVERYTHING, weights), features.pairs(left, weights[left])
    np.testing.assert_allclose(apart_of(mine.similarity), apart_of(theirs.similarity), rtol=1e-11, atol=1e-12)
    if features.has_rows:
        mine, theirs = features.rows(EVERYTHING, weights), features.rows(left, weights[left])
        np.testing.assert_allclose(squared_distances(mine), squared_distances(theirs), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("subset", SUBSETS, ids=len)
@pytest.mark.parametrize("kind", COORDINATES)
def test_rows_and_pairs_are_as_far_apart_as_each_other_with_weights(kind, subset):
    features = WeightedFeatures(make(kind).features(), WEIGHTS)
    assert features.has_rows
    found = squared_distances(features.rows(subset))
    np.testing.assert_allclose(found, apart_of(features.seen_pairs(subset)[0]), rtol=1e-11, atol=1e-12)
    assert found.max() > 0


def test_few_columns_are_copied_and_of_many_the_others_get_weight_zero(features_of):
    """Both forms of weighted rows are met by the subsets above."""
    features = features_of(np.random.default_rng(0).standard_normal((N, P)))
    widths = [features.rows(subset, WEIGHTS[subset]).table.shape[1] for subset in SUBSETS]
    assert widths == [1, 3, P]
    assert SUBSETS[1].size <= COPY_SHARE * P < SUBSETS[2].size


def test_weights_of_many_columns_are_those_of_the_columns(features_of, monkeypatch):
    """Where columns are taken in several blocks, each block has its own weights."""
    features = features_of(np.random.default_rng(0).standard_normal((N, P)))
    expected = features.seen_pairs(SUBSETS[2], WEIGHTS[SUBSETS[2]])[0]
    monkeypatch.setattr("sparsecluster._features.numeric.BLOCK_VALUES", 2 * N)
    found = features.seen_pairs(SUBSETS[2], WEIGHTS[SUBSETS[2]])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert not np.allclose(found, features.seen_pairs(SUBSETS[2])[0])


def test_a_table_of_single_precision_is_weighed_to_single_precision_and_not_changed(features_of):
    table = np.random.default_rng(0).standard_normal((N, P))
    single, double = features_of(table.astype(np.float32)), features_of(table)
    before = single.table.copy()
    found, expected = (each.seen_pairs(EVERYTHING, WEIGHTS)[0] for each in (single, double))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_array_equal(single.table, before)


@pytest.mark.parametrize("kind", KINDS)
def test_weighing_leaves_the_features_as_they_were(kind):
    features = make(kind).features()
    before = features.pairs(EVERYTHING).similarity.copy()
    features.pairs(EVERYTHING, WEIGHTS)
    if features.has_rows:
        features.rows(EVERYTHING, WEIGHTS)
    np.testing.assert_array_equal(features.pairs(EVERYTHING).similarity, before)


# ---------------------------------------------------------------- sums over pairs


def random_counts(seed=0):
    """A symmetric U of either sign, with something on the diagonal, which is no pair."""
    half = np.random.default_rng(seed).standard_normal((N, N))
    return half + half.T


def double_sum(counts, apart):
    """sum_{i<j} U_ij delta(i, j), pair by pair."""
    return sum(counts[i, j] * apart[i, j] for j in range(N) for i in range(j))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", others(INCOMPLETE))
def test_sums_over_pairs_are_those_of_the_dissimilarities(kind, standardize):
    case, counts = make(kind), random_counts()
    features = case.features(standardize)
    units = case.weights(features)
    of_columns = [unit * double_sum(counts, delta) for unit, delta in zip(units, case.deltas, strict=True)]
    expected = np.bincount(case.owners, weights=of_columns)
    np.testing.assert_allclose(features.pair_sums(counts), expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("copy", [False, True], ids=["data", "copy"])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_pairs_are_those_of_each_feature_alone(kind, copy):
    """With missing values as if all were seen; of a permuted copy, those of the copy."""
    data, counts = make(kind).features(), random_counts()
    features = data.permuted(9) if copy else data
    apart = [apart_of(features.pairs(np.array([a])).similarity) for a in range(P)]
    expected = [double_sum(counts, each) for each in apart]
    found = features.pair_sums(counts)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)
    assert np.allclose(found, data.pair_sums(counts)) != copy


@pytest.mark.parametrize("kind", others(INCOMPLETE))
def test_every_pair_once_is_n_times_the_total(kind):
    """T_a = (1/n) sum_{i<j} delta_a(i, j); with missing values totals are over the pairs seen, these sums over all."""
    case = make(kind)
    features = case.features()
    expected = N * np.bincount(case.owners, weights=features.total)
    np.testing.assert_allclose(features.pair_sums(np.ones((N, N))), expected, rtol=1e-11)


# ---------------------------------------------------------------- WeightedFeatures


@pytest.mark.parametrize("kind", KINDS)
def test_weighted_features_count_as_the_weights_say_in_all_that_they_give(kind):
    plain, counts = make(kind).features(), random_counts()
    weighted = WeightedFeatures(plain, WEIGHTS)
    assert (weighted.n_samples, weighted.n_features) == (N, P)
    assert (weighted.has_rows, weighted.has_missing) == (plain.has_rows, plain.has_missing)
    for subset in SUBSETS:
        assert_same_pairs(weighted.seen_pairs(subset), plain.seen_pairs(subset, WEIGHTS[subset]))
        twice = np.arange(1.0, subset.size + 1)
        assert_same_pairs(weighted.seen_pairs(subset, twice), plain.seen_pairs(subset, WEIGHTS[subset] * twice))
    np.testing.assert_allclose(weighted.pair_sums(counts), WEIGHTS * plain.pair_sums(counts), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weighted_total_is_the_weight_times_the_total(kind):
    """Of every member of a feature, where it has several, as `Features.total` says."""
    case = make(kind)
    plain = case.features()
    expected = plain.total * WEIGHTS[case.owners]
    np.testing.assert_allclose(WeightedFeatures(plain, WEIGHTS).total, expected, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_is_a_share_of_the_features_own_total_so_weights_do_not_change_it(kind):
    plain, labels = make(kind).features(), some_labels()
    weighted = WeightedFeatures(plain, WEIGHTS)
    np.testing.assert_array_equal(weighted.scores(labels, K), plain.scores(labels, K))
    np.testing.assert_array_equal(weighted.univariate(K), plain.univariate(K))
    np.testing.assert_array_equal(weighted.univariate_labels(2, K), plain.univariate_labels(2, K))


@pytest.mark.parametrize("kind", [kind for kind in others(INCOMPLETE) if kind not in GROUPS])
def test_what_clusters_leave_of_weighted_pairs_is_the_weighted_sum_of_what_they_leave_of_features(kind):
    """sum_a w_a Delta_a[C] = trace(A) - J, and Delta_a = T_a (1 - score): what weighted K-means lowers."""
    weighted, labels = WeightedFeatures(make(kind).features(), WEIGHTS), some_labels()
    similarity = weighted.pairs(weighted.used).similarity
    left = np.trace(similarity) - naive.similarity_objective(similarity, labels)
    assert left == pytest.approx(weighted.total @ (1 - weighted.scores(labels, K)), rel=1e-10)


def test_only_features_of_weight_are_used():
    features = make("numbers").features()
    weights = np.array([0.0, 0.5, 0.0, 0.0, 2.0, 0.0, 1e-300, 0.0])
    assert WeightedFeatures(features, weights).used.tolist() == [1, 4, 6]


@pytest.mark.parametrize("kind", KINDS)
def test_a_permuted_copy_keeps_the_weights(kind):
    plain = make(kind).features()
    mine, theirs = WeightedFeatures(plain, WEIGHTS).permuted(7), plain.permuted(7)
    assert_same_pairs(mine.seen_pairs(EVERYTHING), theirs.seen_pairs(EVERYTHING, WEIGHTS))


@pytest.mark.parametrize("kind", [kind for kind in COORDINATES if kind not in INCOMPLETE])
def test_k_means_on_weighted_rows_and_on_weighted_pairs_is_the_same(kind):
    for seed in range(5):
        weighted = WeightedFeatures(make(kind, seed=seed).features(), WEIGHTS)
        rows, pairs = (
            KMeans(form).cluster(weighted, weighted.used, K, np.random.default_rng(seed)) for form in ("rows", "pairs")
        )
        np.testing.assert_array_equal(rows, pairs)
