"""RSKC: trimmed K-means on weighted features, the two kinds of outliers, the weights without them, and R's design."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest

from sparsecluster import RobustSparseKMeans, SparseKMeans, adjusted_rand_index
from sparsecluster._clusterers.trimmed import Partition, farthest, seeded, settled
from sparsecluster._kernels.trimmed import center_distances, kept_means
from sparsecluster._kernels.weights import bounded_weights
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.robust_sparse_kmeans import Problem, between, judged, number_out, weighted_rows
from tests import naive
from tests.helpers.common import refuses

HARD = shifted_groups(mu=0.9, n_features=40, n_useful=8, group_size=12, seed=1).X


def fit(table, k=3, **parameters):
    return RobustSparseKMeans(k, **{"n_init": 10, "l1_bound": 3.0, **parameters}).fit(table)


def best_trimmed(rows, k, n_out, n_starts=20, seed=0):
    """Trimmed K-means: the best of several starts."""
    rng = np.random.default_rng(seed)
    found = [settled(rows, seeded(rows, k, n_out, rng), k, rng) for _ in range(n_starts)]
    return min(found, key=lambda each: each.within)


def trimmed_optimum(rows, k, n_out):
    """The smallest within-cluster sum of squares over all ways to leave samples out and to cluster the others."""
    n_kept = len(rows) - n_out
    labelings = [np.array(each) for each in product(range(k), repeat=n_kept) if each[0] == 0 and len(set(each)) == k]
    kept = [rows[list(chosen)].T for chosen in combinations(range(len(rows)), n_kept)]
    return min(sum(naive.within(x, labels) for x in columns) for columns in kept for labels in labelings)


def design(seed=0, n_features=100, n_useful=50):
    """The design of the paper: three groups of twenty, shifted by 1, -1 and 0 in fifty features."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    table = rng.standard_normal((60, n_features))
    table[:, :n_useful] += np.array([1.0, -1.0, 0.0])[truth][:, None]
    return table, truth, rng


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("whole", [False, True])
def test_kernels_agree_with_their_twins(whole):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows, labels, is_out = (
            naive.random_table(rng, 12, 5, whole),
            naive.random_labels(rng, 12, 3),
            rng.random(12) < 0.4,
        )
        centers, sizes = kept_means(rows, labels, is_out, 4)
        expected, counted = naive.kept_means(rows, labels, is_out, 4)
        np.testing.assert_allclose(centers, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(sizes, counted)
        np.testing.assert_allclose(center_distances(rows, centers), naive.center_distances(rows, centers), rtol=1e-12)
        rest = ~is_out
        gains = [naive.total(x[rest]) - naive.within(x[rest], labels[rest]) for x in rows.T]
        np.testing.assert_allclose(between(rows, labels, is_out, 4), gains, rtol=0, atol=1e-12)


def test_a_small_spread_about_a_far_center_keeps_its_digits():
    rows = 1e8 + np.array([[0.0, 1.0], [0.5, 1.0]])
    np.testing.assert_allclose(center_distances(rows, rows), [[0.0, 0.25], [0.25, 0.0]])


@pytest.mark.parametrize("n_features", [5, 40])
def test_rows_have_the_weighted_distances_however_many_features_there_are(n_features):
    rng = np.random.default_rng(0)
    table, weights = rng.standard_normal((12, n_features)), rng.random(n_features)
    weights[2] = 0.0
    rows = weighted_rows(table, weights)
    assert rows.shape == (12, min(12, n_features - 1))
    expected = naive.center_distances(table * np.sqrt(weights), table * np.sqrt(weights))
    np.testing.assert_allclose(center_distances(rows, rows), expected, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- trimming


def test_the_farthest_are_left_out_but_never_the_nearest_of_a_cluster():
    apart, labels = np.array([5.0, 1.0, 4.0, 2.0, 9.0, 8.0]), np.array([0, 0, 0, 0, 1, 1])
    assert np.flatnonzero(farthest(apart, labels, 2)).tolist() == [0, 4]
    # Sample 5 is the nearest of its cluster, although both are farther than all others.
    assert np.flatnonzero(farthest(apart, labels, 4)).tolist() == [0, 2, 3, 4]
    # It was left out already, so sample 4 has to stay.
    is_out = np.arange(6) == 5
    assert np.flatnonzero(farthest(apart, labels, 2, is_out)).tolist() == [0, 5]
    assert not farthest(apart, labels, 0).any()


@pytest.mark.parametrize(
    ("share", "n", "k", "out"), [(0.1, 45, 3, 4), (0.29, 100, 3, 29), (0.4, 10, 8, 2), (0, 9, 2, 0)]
)
def test_a_share_is_rounded_down_and_leaves_a_sample_for_every_cluster(share, n, k, out):
    assert number_out(share, n, k) == out


@pytest.mark.parametrize(("n_out", "k"), [(0, 2), (1, 2), (2, 2), (1, 3), (2, 3)])
def test_small_tables_are_solved_as_well_as_by_trying_everything(n_out, k):
    for seed in range(3):
        rows = naive.random_table(np.random.default_rng(seed), 8, 2)
        rows[0] *= 20
        found = best_trimmed(rows, k, n_out)
        assert found.within == pytest.approx(trimmed_optimum(rows, k, n_out), rel=1e-9)
        assert found.is_out.sum() == n_out


@pytest.mark.parametrize("n_out", [0, 3, 9])
def test_at_a_solution_samples_are_nearest_to_their_centers_and_no_sample_left_out_is_nearer_than_one_kept(n_out):
    for seed in range(5):
        found = best_trimmed(HARD, 3, n_out, n_starts=1, seed=seed)
        apart = center_distances(HARD, kept_means(HARD, found.labels, found.is_out, 3)[0])
        np.testing.assert_array_equal(found.labels, apart.argmin(axis=1))
        own = apart.min(axis=1)
        assert found.within == pytest.approx(own[~found.is_out].sum())
        np.testing.assert_array_equal(found.is_out, farthest(own, found.labels, n_out))


def test_seeds_are_rarely_outliers():
    # K-means++ draws the outlier among its three seeds in nearly every start.
    rows = np.vstack([HARD, np.full(40, 1e3)])
    starts = [seeded(rows, 3, 2, np.random.default_rng(seed)) for seed in range(50)]
    assert np.mean([start.is_out[36] for start in starts]) > 0.8


def test_equal_rows_fill_all_clusters():
    rng = np.random.default_rng(0)
    rows = np.repeat(HARD[:3], [10, 1, 1], axis=0)
    for k in (3, 5):
        found = settled(rows, seeded(rows, k, 2, rng), k, rng)
        assert set(found.labels[~found.is_out]) == set(range(k))


# ---------------------------------------------------------------- the alternation


def test_the_objective_is_the_weighted_between_sum_of_squares_of_the_samples_in_neither_mask():
    for share in (0.0, 0.1, 0.3, 0.49):
        found = fit(HARD, contamination=share, standardize=False)
        kept = ~found.is_outlier_
        np.testing.assert_array_equal(found.is_outlier_, found.weighted_outliers_ | found.unweighted_outliers_)
        squares = [naive.total(x[kept]) - naive.within(x[kept], found.labels_[kept]) for x in HARD.T]
        assert found.objective_ == pytest.approx(found.feature_weights_ @ squares, rel=1e-9)
        out = number_out(share, 36, 3)
        assert found.weighted_outliers_.sum() == found.unweighted_outliers_.sum() == out
        # By their definition: the farthest from the centers of the samples that trimmed K-means keeps.
        inside = ~found.weighted_outliers_
        centers = np.array([HARD[inside & (found.labels_ == c)].mean(axis=0) for c in range(3)])
        np.testing.assert_allclose(found.trimmed_centers_, centers, rtol=0, atol=1e-12)
        apart = (HARD - centers[found.labels_]) ** 2
        for mask, far in (
            (found.weighted_outliers_, apart @ found.feature_weights_),
            (found.unweighted_outliers_, apart.sum(axis=1)),
        ):
            assert not mask.any() or far[mask].min() >= far[~mask].max() - 1e-9


def test_weights_never_fall_behind_and_end_where_trimmed_kmeans_has_nothing_to_change():
    for share in (0.0, 0.1, 0.2):
        for seed in range(5):
            problem = Problem(HARD, 3, number_out(share, 36, 3), 3.0, 100)
            rng = np.random.default_rng(seed)
            found = problem.alternate(problem.starts(rng, 1)[0], rng)
            assert (np.diff(found.history) > 0).all()
            assert found.weights.sum() <= 3.0 + 1e-9
            again = settled(weighted_rows(HARD, found.weights), found.clusters, 3, rng)
            np.testing.assert_array_equal(again.labels, found.clusters.labels)
            is_far, gains = judged(HARD, found.clusters, 3)
            np.testing.assert_array_equal(is_far, found.is_far)
            # Another update would not raise the objective, whatever the trimming has done to it.
            best = bounded_weights(gains, 3.0) @ gains
            assert found.objective <= best * (1 + 1e-12)
            assert best <= found.history[-1] * (1 + 1e-9)
            if share == 0.0:
                assert found.objective == pytest.approx(found.history[-1], rel=1e-9)


def test_a_limit_on_the_alternations_is_kept():
    assert len(fit(HARD, contamination=0.2, max_iter=1).history_) == 1


@pytest.mark.parametrize("bound", [1.5, 3.0, 5.0])
@pytest.mark.parametrize("k", [2, 3])
def test_without_contamination_it_is_sparse_kmeans(k, bound):
    plain = SparseKMeans(k, l1_bound=bound, n_init=50).fit(HARD)
    found = fit(HARD, k, l1_bound=bound, contamination=0.0, n_init=50)
    assert found.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_allclose(found.feature_weights_, plain.feature_weights_, rtol=0, atol=1e-9)
    assert not found.is_outlier_.any()


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_without_contamination_the_sum_is_at_least_that_of_r(reference, data):
    for theirs in reference.results(data, "KMeansSparseCluster"):
        bound = max(theirs["wbound"], sum(theirs["weights"]))
        mine = RobustSparseKMeans(theirs["k"], contamination=0.0, l1_bound=bound, standardize=False)
        assert mine.fit(reference.table(data)).objective_ >= theirs["criterion"] * (1 - 1e-6)


def test_an_outlier_that_is_a_cluster_of_its_own_does_not_win_by_its_distance():
    table = np.vstack([HARD, np.full(40, 50.0)])
    problem, rng = Problem(table, 3, 2, 3.0, 100), np.random.default_rng(0)
    clean = problem.alternate(
        Partition(np.append(np.repeat([0, 1, 2], 12), 0).astype(np.int32), np.arange(37) > 34), rng
    )
    alone = problem.alternate(Partition(np.append(np.repeat([0, 1], 18), 2).astype(np.int32), np.arange(37) < 2), rng)
    assert clean.is_left_out[36]
    assert not alone.is_left_out[36]
    assert alone.objective > clean.objective
    assert problem.is_better(clean, alone)
    assert not problem.is_better(alone, clean)


# ---------------------------------------------------------------- the design of the paper


@pytest.mark.parametrize("seed", range(3))
def test_a_few_wild_values_ruin_sparse_kmeans_but_not_this(seed):
    """R's example, with the columns as they are: single values are drawn with a standard deviation of 15."""
    table, truth, rng = design(seed, n_features=500)
    table[rng.choice(60, 8, replace=False), rng.integers(50, 500, 8)] = rng.choice([-1, 1], 8) * rng.uniform(15, 40, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = SparseKMeans(3, l1_bound=6.0, standardize=False, n_init=10).fit(table)
    found = fit(table, l1_bound=6.0, contamination=10 / 60, standardize=False)
    assert adjusted_rand_index(truth, plain.labels_) < 0.6
    assert adjusted_rand_index(truth, found.labels_) > 0.9
    assert plain.support_[50:].mean() > 0.5
    assert found.support_[:50].mean() > 0.8
    assert found.support_[50:].mean() < 0.02
    # These values are in features without weight, where only the unweighted distance sees them.
    wild = (np.abs(table[:, 50:]) > 10).any(axis=1)
    assert found.unweighted_outliers_[wild].all()


@pytest.mark.parametrize("standardize", [True, False])
def test_a_few_wild_samples_ruin_sparse_kmeans_but_not_this(standardize):
    table, truth, rng = design(n_features=200)
    wild = np.isin(np.arange(60), [3, 25, 47, 59])
    table[wild] += rng.normal(0, 6, (4, 200))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = SparseKMeans(3, l1_bound=6.0, standardize=standardize, n_init=10).fit(table)
    found = fit(table, l1_bound=6.0, standardize=standardize)
    assert adjusted_rand_index(truth[~wild], plain.labels_[~wild]) < 0.6
    assert adjusted_rand_index(truth[~wild], found.labels_[~wild]) > 0.85
    assert found.is_outlier_[wild].all()
    assert found.support_[:50].mean() > 0.8


def test_the_bound_is_tuned_by_the_gap_statistic():
    table, truth, _ = design()
    found = fit(table, l1_bound="auto", bounds=[1.2, 3.0, 6.0], n_permutations=4, n_init=5)
    assert found.gap_curve_.values.tolist() == [1.2, 3.0, 6.0]
    assert found.l1_bound_ == found.gap_curve_.chosen == 6.0
    assert adjusted_rand_index(truth, found.labels_) > 0.9


# ---------------------------------------------------------------- new samples


@pytest.mark.parametrize("standardize", [True, False])
def test_new_samples_go_to_the_nearest_trimmed_center_in_weighted_distance(standardize):
    table = HARD * np.linspace(1, 5, 40) + 100.0
    found = fit(table, contamination=0.2, standardize=standardize)
    np.testing.assert_array_equal(found.predict(table), found.labels_)
    new = np.random.default_rng(0).normal(size=(200, 40)) * np.linspace(1, 5, 40) * 2 + 100.0
    factors = found.feature_weights_ / (((table - table.mean(axis=0)) ** 2).sum(axis=0) if standardize else 1.0)
    apart = ((new[:, None, :] - found.trimmed_centers_) ** 2) @ factors
    np.testing.assert_array_equal(found.predict(new), apart.argmin(axis=1))
    spread = (((new - table.mean(axis=0)) ** 2) @ factors).sum()
    assert found.score(new) == pytest.approx(1 - apart.min(axis=1).sum() / spread, rel=1e-9)


def test_masks_follow_the_samples():
    rows = np.random.default_rng(0).permutation(36)
    one, other = fit(HARD, contamination=0.2), fit(HARD[rows], contamination=0.2)
    for name in ("weighted_outliers_", "unweighted_outliers_", "is_outlier_"):
        assert getattr(one, name).dtype == bool
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name)[rows])


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize("share", [-0.1, 0.5, "a", None, np.nan])
def test_contamination_is_a_share_of_less_than_half(share):
    with refuses(r"contamination must be a share of the samples in \[0, 0.5\)"):
        fit(None, contamination=share)


@pytest.mark.parametrize("bound", [0.5, np.inf, "x"])
def test_the_bound_is_at_least_one(bound):
    with refuses('l1_bound must be "auto" or a number of at least 1'):
        fit(HARD, l1_bound=bound)
