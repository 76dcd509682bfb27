"""Regularized K-means: shrunken centers, the alternation, the choice of the penalty, and what it predicts."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.optimize import minimize

import sparsecluster._utils.parallel
from sparsecluster import PlainClustering, RegularizedKMeans, rand_index
from sparsecluster._clusterers.kmeans import kmeans
from sparsecluster._features.features import Rows
from sparsecluster._kernels.shrink import shrunken_centers
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods import regularized
from sparsecluster.methods.regularized import PENALTIES, disagreement, instability, penalized, steadiest
from tests import naive
from tests.helpers.common import refuses, three_groups

# Three groups far apart in 8 of 20 features.
X, TRUTH, USEFUL = three_groups(mu=6.0, n_features=20, n_useful=8)
# Groups that overlap, so that the alternation takes several steps.
HARD = shifted_groups(mu=0.8, n_features=30, n_useful=10, group_size=15, seed=1).X


def fit(table, **parameters):
    return RegularizedKMeans(**{"penalty": 0.4, "n_bootstraps": 5, "n_init": 5, **parameters}).fit(table)


def units_of(table):
    """Columns with mean 0 and variance 1."""
    return (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)


def means_of(table, labels):
    return np.array([table[labels == c].mean(axis=0) for c in range(labels.max() + 1)])


def shares_of(labels):
    return np.bincount(labels) / labels.size


def length(centers):
    """|m_a|_2 of every feature."""
    return np.sqrt((centers**2).sum(axis=0))


def bars(table, labels):
    """The penalty from which on the centers of a feature are zero: 2 |s c_a|_2 |c_a|_2, as long as labels stay."""
    centers = means_of(table, labels)
    return 2 * length(shares_of(labels)[:, None] * centers) * length(centers)


# ---------------------------------------------------------------- shrunken centers


def lasso(centers, means, shares, penalty):
    """What the centers of one feature minimize."""
    return float(shares @ (means - centers) ** 2 + penalty * np.sqrt((centers**2).sum()))


def shrink(means, shares, penalty):
    return shrunken_centers(means[:, None], shares, np.array([penalty]))[:, 0]


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("share_of_bar", [1e-6, 0.1, 0.5, 0.9, 0.999])
def test_no_other_centers_have_a_smaller_objective(k, share_of_bar):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        means, shares = rng.normal(size=k), rng.dirichlet(np.ones(k))
        penalty = share_of_bar * 2 * np.linalg.norm(shares * means)
        ours = shrink(means, shares, penalty)
        found = minimize(lasso, means, (means, shares, penalty), tol=1e-14, options={"gtol": 1e-10})
        assert ours.any()
        assert lasso(ours, means, shares, penalty) <= found.fun + 1e-12
        np.testing.assert_allclose(ours, found.x, rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_centers_satisfy_the_condition_of_a_minimum_to_the_last_digits(k):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        means, shares = rng.normal(size=k) * 10.0 ** rng.integers(-5, 5), rng.dirichlet(np.ones(k))
        penalty = rng.random() * 2 * np.linalg.norm(shares * means)
        ours = shrink(means, shares, penalty)
        slope = 2 * shares * (ours - means) + penalty * ours / np.linalg.norm(ours)
        np.testing.assert_allclose(slope, 0.0, rtol=0, atol=1e-12 * penalty)


def test_clusters_of_equal_size_are_shrunk_alike():
    # |m| = |x| - l / (2 s) then has a closed form.
    means = np.random.default_rng(0).normal(size=(4, 50))
    penalties = np.linspace(0.01, 1.5, 50)
    factors = np.maximum(1 - penalties / (2 * 0.25 * length(means)), 0.0)
    assert 0 < np.count_nonzero(factors) < 50
    centers = shrunken_centers(means, np.full(4, 0.25), penalties)
    np.testing.assert_allclose(centers, means * factors, rtol=0, atol=1e-13)


def test_centers_are_zero_exactly_from_the_bar_on():
    means, shares = np.array([3.0, 4.0]), np.array([0.5, 0.5])
    assert not shrink(means, shares, 5.0).any()
    assert shrink(means, shares, 5.0 * (1 - 1e-12)).all()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        means, shares = rng.normal(size=3), rng.dirichlet(np.ones(3))
        bar = 2 * np.linalg.norm(shares * means)
        assert shrink(means, shares, 0.9999 * bar).all()
        assert not shrink(means, shares, 1.0001 * bar).any()


def test_without_a_penalty_centers_are_the_means():
    means = np.random.default_rng(0).normal(size=(3, 7))
    np.testing.assert_array_equal(shrunken_centers(means, np.array([0.5, 0.3, 0.2]), np.zeros(7)), means)


# ---------------------------------------------------------------- the alternation


def objective(table, labels, centers, penalties):
    """(1/n) sum |x - m|^2 + sum_a l_a |m_a|_2."""
    return ((table - centers[labels]) ** 2).sum() / len(table) + penalties @ length(centers)


@pytest.mark.parametrize("penalty", [0.0, 0.005, 0.02, 0.1])
def test_no_step_of_the_alternation_raises_the_objective(penalty):
    table = units_of(HARD)
    begin = np.random.default_rng(0).permutation(np.arange(45) % 3).astype(np.int32)
    penalties = penalty / length(means_of(table, begin))
    values, labels = [], begin
    for most in range(1, 30):
        found = penalized(table, begin, 3, penalty, most)
        if found.n_iter < most:
            break
        # New centers for the old labels, then new labels for the new centers.
        values += [objective(table, each, found.centers, penalties) for each in (labels, found.labels)]
        labels = found.labels
    assert len(values) > 4
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < values[0]


def test_the_alternation_ends_where_labels_and_centers_agree():
    table = units_of(HARD)
    begin = regularized.start(table, 3, np.random.default_rng(0), 5)
    found = penalized(table, begin, 3, 0.1, 100)
    np.testing.assert_array_equal(regularized.nearest_center(table, found.centers), found.labels)
    penalties = 0.1 / length(means_of(table, begin))
    again = shrunken_centers(means_of(table, found.labels), shares_of(found.labels), penalties)
    np.testing.assert_allclose(again, found.centers, rtol=0, atol=1e-12)


def test_a_cluster_never_loses_its_last_sample():
    # A strong penalty pulls the centers of small groups together, until none of their samples is nearest to them.
    lost = 0
    for seed in range(10):
        table = np.random.default_rng(seed).normal(size=(12, 4))
        most = bars(units_of(table), fit(table, n_clusters=4, penalty=0).labels_).max()
        found = fit(table, n_clusters=4, penalty=0.95 * most)
        assert set(found.labels_) == {0, 1, 2, 3}
        lost += len(set(found.predict(table))) < 4
    assert lost > 0


# ---------------------------------------------------------------- the penalty


@pytest.mark.parametrize("standardize", [True, False])
def test_without_a_penalty_it_is_kmeans_on_all_features(standardize):
    table = shifted_groups(mu=1.5, n_features=20, n_useful=15, group_size=15, seed=3).X
    found = fit(table, penalty=0, standardize=standardize, n_init=20)
    plain = PlainClustering(algorithm="kmeans++", standardize=standardize).fit(table)
    assert rand_index(plain.labels_, found.labels_) == 1.0
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-12)
    centered = units_of(table) if standardize else table - table.mean(axis=0)
    own = kmeans(Rows(centered, np.ones(20)), 3, np.random.default_rng(5), n_starts=20)
    assert rand_index(own, found.labels_) == 1.0
    assert found.support_.all()
    np.testing.assert_allclose(found.feature_weights_, length(means_of(centered, found.labels_)), rtol=1e-12)


def test_features_are_selected_as_long_as_the_penalty_is_below_their_bar():
    heights = bars(units_of(X), TRUTH)
    for penalty in (0.0, 0.01, 0.05, 0.1, 0.2, 0.5):
        found = fit(X, penalty=penalty)
        np.testing.assert_array_equal(found.labels_, TRUTH)
        np.testing.assert_array_equal(found.support_, heights > penalty)
        np.testing.assert_array_equal(found.support_, found.feature_weights_ > 0)


def test_a_larger_penalty_selects_fewer_features_and_shrinks_their_centers():
    fits = [fit(X, penalty=penalty) for penalty in (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)]
    numbers = [int(found.support_.sum()) for found in fits]
    assert (np.diff(numbers) < 0).all()
    assert (numbers[0], numbers[-1]) == (20, 8)
    weights = np.array([found.feature_weights_ for found in fits])
    assert (np.diff(weights, axis=0) <= 1e-12).all()


def test_a_penalty_that_leaves_nothing_is_refused_with_the_largest_useful_one():
    with refuses("penalty=50 leaves no feature", "Use one below", '"auto"') as refused:
        fit(X, penalty=50)
    told = float(re.search(r"below about ([\d.e+-]+),", str(refused.value)).group(1))
    most = bars(units_of(X), TRUTH).max()
    assert told == pytest.approx(most, rel=1e-3)
    assert fit(X, penalty=most * (1 - 1e-6)).support_.sum() == 1
    with refuses("leaves no feature"):
        fit(X, penalty=most * (1 + 1e-6))


@pytest.mark.parametrize("seed", range(5))
def test_below_the_largest_useful_penalty_something_is_left_whatever_the_table(seed):
    table = np.random.default_rng(seed).normal(size=(15, 4))
    most = bars(units_of(table), fit(table, penalty=0).labels_).max()
    for share in (0.5, 0.9, 0.999):
        assert fit(table, penalty=share * most).support_.any()
    with refuses("leaves no feature"):
        fit(table, penalty=1.001 * most)


# ---------------------------------------------------------------- stability


@pytest.mark.parametrize(
    ("rows", "best"),
    [
        ([[0.3, 0.1, 0.2]], 1),
        ([[0.3, 0.1, 0.2], [0.1, 0.2, 0.3], [0.2, 0.0, 0.1]], 1),
        # The smallest of one sample counts once, however small it is.
        ([[0.0, 0.9, 0.9], [0.3, 0.2, 0.3], [0.3, 0.2, 0.3]], 1),
        # Equal within a sample: the last.
        ([[0.1, 0.1, 0.2]], 1),
        ([[0.5, 0.5, 0.5]], 2),
        # Equal votes: the last.
        ([[0.0, 0.1, 0.2], [0.2, 0.1, 0.0]], 2),
        ([[0.0, 0.1, 0.2], [0.2, 0.0, 0.1], [0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.3, 0.2, 0.1]], 1),
    ],
)
def test_the_steadiest_is_the_one_that_wins_most_samples(rows, best):
    assert steadiest(np.array(rows)) == best


def test_disagreement_is_the_share_of_pairs_that_one_joins_and_the_other_does_not():
    assert disagreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])) == 0.0
    # Of six pairs, 01 and 23 are joined by the one only, 02 and 13 by the other only.
    assert disagreement(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == pytest.approx(4 / 6)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        one, other = naive.random_labels(rng, 25, 4), naive.random_labels(rng, 25, 3)
        assert disagreement(one, other) == pytest.approx(1 - rand_index(one, other), abs=1e-12)


def centers_at(*values):
    """Two centers on a line."""
    return regularized.Penalized(np.zeros(0, np.int32), np.array(values, dtype=float)[:, None], 1)


def test_instability_compares_what_two_sets_of_centers_make_of_the_same_samples():
    samples = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])[:, None]
    halves, uneven = centers_at(-1, 1), centers_at(-1, 4)
    assert instability(samples, halves, centers_at(-5, 5)) == 0.0
    # Split at 0 and at 1.5: sample 3 leaves two others and joins three, of fifteen pairs.
    assert instability(samples, halves, uneven) == pytest.approx(5 / 15)
    assert instability(samples, uneven, halves) == instability(samples, halves, uneven)


def test_centers_that_say_nothing_are_as_unstable_as_can_be():
    samples = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])[:, None]
    halves = centers_at(-1, 1)
    assert instability(samples, halves, centers_at(0, 0)) == 1.0
    # A cluster of one sample, and of none; of two it counts.
    assert instability(samples, halves, centers_at(-1, 6)) == 1.0
    assert instability(samples, halves, centers_at(-1, 9)) == 1.0


def test_by_stability_it_finds_the_useful_features():
    found = fit(X, penalty="auto")
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


def test_instability_has_a_row_a_sample_and_a_column_a_penalty_that_leaves_something():
    found = fit(X, penalty="auto", n_bootstraps=4)
    usable = PENALTIES[bars(units_of(X), TRUTH).max() > PENALTIES]
    assert 1 < usable.size < PENALTIES.size
    assert found.instability_.shape == (4, usable.size)
    assert ((found.instability_ >= 0) & (found.instability_ <= 1)).all()
    assert found.penalty_ == usable[steadiest(found.instability_)]
    assert found.set_params(penalty=0.3).fit(X).instability_ is None


# ---------------------------------------------------------------- new samples


@pytest.mark.parametrize("standardize", [True, False])
def test_new_samples_go_to_the_nearest_shrunken_center_in_the_users_units(standardize):
    scales = np.linspace(1, 5, 20) if standardize else np.ones(20)
    table = X * scales + 100.0
    found = fit(table, standardize=standardize)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    units = table.std(axis=0, ddof=1) if standardize else np.ones(20)
    centers = means_of((table - table.mean(axis=0)) / units, TRUTH)
    shrunken = shrunken_centers(centers, shares_of(TRUTH), 0.4 / length(centers))
    np.testing.assert_allclose(found.feature_weights_, length(shrunken), rtol=1e-10, atol=1e-14)
    new = np.random.default_rng(3).normal(size=(300, 20)) * 8 * scales + 100.0
    apart = (((new - table.mean(axis=0)) / units)[:, None, :] - shrunken) ** 2
    np.testing.assert_array_equal(found.predict(new), apart.sum(axis=2).argmin(axis=1))
    chosen = apart[:, :, found.support_].sum(axis=2).min(axis=1).sum()
    spread = ((((new - table.mean(axis=0)) / units)[:, found.support_]) ** 2).sum()
    assert found.score(new) == pytest.approx(1 - chosen / spread, rel=1e-10)


def test_samples_of_fit_get_their_labels():
    for table in (X, HARD):
        for penalty in (0.0, 0.1, "auto"):
            found = fit(table, penalty=penalty)
            np.testing.assert_array_equal(found.predict(table), found.labels_)


# ---------------------------------------------------------------- what must not matter


@pytest.mark.parametrize("penalty", [0.1, "auto"])
def test_order_of_rows_and_columns_does_not_matter(penalty):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(45), rng.permutation(30)
    one, other = fit(HARD, penalty=penalty), fit(HARD[np.ix_(rows, columns)], penalty=penalty)
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.feature_weights_, one.feature_weights_[columns])
    assert other.penalty_ == one.penalty_
    new = rng.normal(size=(50, 30))
    np.testing.assert_array_equal(other.predict(new[:, columns]), one.predict(new))


def test_threads_do_not_change_the_answer(monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    one, two = (fit(HARD, penalty="auto", n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.instability_, two.instability_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_in_other_units_without_standardizing_the_penalty_has_their_square():
    one, other = fit(X, standardize=False), fit(10 * X, standardize=False, penalty=40)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.support_, one.support_)
    np.testing.assert_allclose(other.feature_weights_, 10 * one.feature_weights_, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_large_and_very_small_numbers_are_numbers(strict, scale):
    found = fit(X * scale)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(X * scale), TRUTH)


def test_a_column_that_is_the_same_in_all_clusters_is_left_out_without_a_sound(strict):
    # K-means finds halves by three columns that agree; the fourth has mean zero in both.
    table = np.column_stack([np.repeat([[-1.0], [1.0]], 8, axis=0)] * 3 + [np.tile([-1.0, 1.0], 8)])
    found = fit(table, n_clusters=2, penalty="auto")
    assert found.support_.tolist() == [True, True, True, False]


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("penalty", [-1, -1e-9, "x", np.nan, np.inf, True, None, [0.1]])
def test_a_penalty_is_a_number_from_zero_on(penalty):
    with refuses('penalty must be "auto" or a number of at least 0', "got", 'Use "auto"'):
        fit(X, penalty=penalty)


def test_missing_values_are_refused_by_name_in_fit_and_in_new_samples():
    table = X.copy()
    table[3, 5] = np.nan
    with refuses("NaN in 1 of 20 columns: 'x5'", "RegularizedKMeans does not accept missing values", "Impute"):
        fit(table)
    for ask in (fit(X).predict, fit(X).score):
        with refuses("NaN", "RegularizedKMeans", "does not accept missing values", "Impute"):
            ask(table)


def test_sparse_matrices_are_refused_in_fit_and_in_new_samples():
    for ask in (fit, fit(X).predict):
        with refuses("sparse matrix", "RegularizedKMeans takes dense tables", r"toarray\(\)", error=TypeError):
            ask(scipy.sparse.csr_array(X))


def test_text_is_refused_by_name():
    with refuses("takes numbers only, but column 'tissue'"):
        fit(pd.DataFrame(X).add_prefix("gene").assign(tissue=np.array(["a", "b", "c"])[TRUTH]))
