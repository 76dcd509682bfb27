"""The designs: what is drawn follows the model that is written down."""

import sys

import numpy as np
import pytest

from sparsecluster.datasets import (
    bernoulli_groups,
    correlated_groups,
    diagonal_groups,
    many_groups,
    mixed_groups,
    shifted_groups,
)
from sparsecluster.datasets.designs import CENTER_VARIANCE, DIFFERENT_COVARIANCES, ONE_ROTATION, THREE_ROTATIONS

# Samples in a group that is large enough to show its mean and covariance.
MANY = 20_000


def group_means(design):
    return np.array([design.X[design.truth == group].mean(axis=0) for group in range(3)])


def covariances(design):
    """Covariance matrix of each group."""
    return np.array([np.cov(design.X[design.truth == group].T) for group in range(3)])


def spectra(design):
    """Eigenvalues of the covariance of each group, ascending."""
    return np.linalg.eigvalsh(covariances(design))


@pytest.mark.parametrize("make", [shifted_groups, diagonal_groups, correlated_groups])
def test_as_in_the_paper_there_are_three_groups_of_30_and_50_useful_features_of_500(make):
    X, truth, useful = make()
    assert X.shape == (90, 500)
    assert np.bincount(truth).tolist() == [30, 30, 30]
    np.testing.assert_array_equal(useful, np.arange(500) < 50)


@pytest.mark.parametrize("make", [shifted_groups, diagonal_groups, correlated_groups])
def test_sizes_are_as_asked_for(make):
    X, truth, useful = make(n_features=70, group_size=4)
    assert X.shape == (12, 70)
    assert truth.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert useful.sum() == 50


def test_the_number_of_useful_features_is_as_asked_for():
    np.testing.assert_array_equal(shifted_groups(n_features=9, n_useful=4).useful, [1, 1, 1, 1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("make", [shifted_groups, diagonal_groups, correlated_groups])
def test_a_seed_is_a_table(make):
    np.testing.assert_array_equal(make(seed=3).X, make(seed=3).X)
    assert (make(seed=3).X != make(seed=4).X).all()


def test_shifted_groups_lie_at_mu_zero_and_minus_mu():
    design = shifted_groups(mu=0.7, n_features=6, n_useful=3, group_size=MANY)
    expected = np.outer([0.7, 0.0, -0.7], design.useful)
    np.testing.assert_allclose(group_means(design), expected, atol=0.03)


def test_shifted_groups_have_independent_noise_of_variance_one():
    np.testing.assert_allclose(spectra(shifted_groups(n_features=6, n_useful=3, group_size=MANY)), 1.0, atol=0.06)


@pytest.mark.parametrize("make", [diagonal_groups, correlated_groups])
def test_consecutive_groups_lie_one_shift_apart(make):
    design = make(shift=0.6, n_features=55, group_size=MANY, seed=2)
    first = np.r_[1.0 + 0.02 * np.arange(1, 51), np.zeros(5)]
    expected = first + 0.6 * np.outer(np.arange(3), design.useful)
    np.testing.assert_allclose(group_means(design), expected, atol=0.08)


def test_the_first_useful_mean_is_1_02_and_the_last_2():
    quiet = correlated_groups(eigenvalues=[(1e-12, 1e-12)], n_features=50, group_size=1)
    np.testing.assert_allclose(quiet.X[0, [0, 49]], [1.02, 2.00], atol=1e-4)


def test_a_diagonal_covariance_has_zeros_beside_its_variances_and_is_the_same_in_all_groups():
    found = covariances(diagonal_groups(n_features=60, group_size=MANY, seed=5))
    variances = found.diagonal(axis1=1, axis2=2)
    apart = found / np.sqrt(variances[:, :, None] * variances[:, None, :]) - np.eye(60)
    assert np.abs(apart).max() < 0.04
    np.testing.assert_allclose(variances[1:], np.tile(variances[0], (2, 1)), rtol=0.06)


def test_diagonal_variances_are_uniform_from_1_to_5_in_useful_and_other_features():
    design = diagonal_groups(n_features=2000, group_size=2000, seed=1)
    within = np.mean([design.X[design.truth == group].var(axis=0) for group in range(3)], axis=0)
    for variances in (within[design.useful], within[~design.useful]):
        assert 0.9 < variances.min() < 1.5
        assert 4.5 < variances.max() < 5.3
    shares = np.histogram(within, [0, 2, 3, 4, 6])[0] / 2000
    np.testing.assert_allclose(shares, 0.25, atol=0.04)


def test_each_seed_has_diagonal_variances_of_its_own():
    first, second = (covariances(diagonal_groups(n_features=50, group_size=MANY, seed=seed))[0] for seed in (0, 1))
    assert abs(np.corrcoef(first.diagonal(), second.diagonal())[0, 1]) < 0.5


@pytest.mark.parametrize("make", [diagonal_groups, correlated_groups])
def test_there_has_to_be_room_for_50_useful_features(make):
    with pytest.raises(ValueError, match="at least 50"):
        make(n_features=49)


def test_one_rotation_is_one_covariance_with_eigenvalues_from_1_to_5():
    design = correlated_groups(eigenvalues=ONE_ROTATION, n_features=50, group_size=MANY, seed=5)
    np.testing.assert_allclose(spectra(design), np.tile(np.linspace(1, 5, 50), (3, 1)), rtol=0.12)
    first, second, third = covariances(design)
    np.testing.assert_allclose(second, first, atol=0.3)
    np.testing.assert_allclose(third, first, atol=0.3)


def test_three_rotations_are_three_covariances_with_the_same_eigenvalues():
    design = correlated_groups(eigenvalues=THREE_ROTATIONS, n_features=50, group_size=MANY, seed=5)
    np.testing.assert_allclose(spectra(design), np.tile(np.linspace(1, 5, 50), (3, 1)), rtol=0.12)
    first, second, third = covariances(design)
    assert all(np.abs(one - other).max() > 0.5 for one, other in ((first, second), (first, third), (second, third)))


def test_different_covariances_have_their_own_eigenvalues_and_directions():
    design = correlated_groups(eigenvalues=DIFFERENT_COVARIANCES, n_features=50, group_size=MANY, seed=5)
    expected = [np.linspace(low, low + 1, 50) for low in (1, 2, 3)]
    np.testing.assert_allclose(spectra(design), expected, rtol=0.12)
    # The largest direction of one group is nothing special in another.
    leading = [np.linalg.eigh(np.cov(design.X[design.truth == group].T))[1][:, -1] for group in range(3)]
    assert abs(leading[0] @ leading[1]) < 0.9
    assert abs(leading[1] @ leading[2]) < 0.9


def test_noise_is_correlated():
    X = correlated_groups(n_features=50, group_size=MANY, seed=5).X[:MANY]
    apart = np.corrcoef(X.T)[np.triu_indices(50, 1)]
    assert np.abs(apart).max() > 0.1


def test_bernoulli_groups_are_as_in_the_paper():
    X, truth, useful = bernoulli_groups()
    assert X.shape == (90, 30)
    assert X.dtype == float
    assert set(np.unique(X)) == {0.0, 1.0}
    assert np.bincount(truth).tolist() == [30, 30, 30]
    np.testing.assert_array_equal(useful, np.arange(30) < 15)


def test_each_bernoulli_group_owns_five_features():
    design = bernoulli_groups(q=0.7, n_features=18, group_size=MANY)
    expected = np.full((3, 18), 0.1)
    for group in range(3):
        expected[group, 5 * group : 5 * group + 5] = 0.7
    np.testing.assert_allclose(group_means(design), expected, atol=0.02)


def test_bernoulli_features_are_independent_within_a_group():
    X, truth, _ = bernoulli_groups(q=0.6, n_features=16, group_size=MANY)
    apart = np.corrcoef(X[truth == 1].T)[np.triu_indices(16, 1)]
    assert np.abs(apart).max() < 0.03


def test_bernoulli_groups_need_room_for_their_15_useful_features():
    with pytest.raises(ValueError, match="at least 15"):
        bernoulli_groups(n_features=14)


@pytest.mark.parametrize("kappa", [2, 3, 10])
@pytest.mark.parametrize("size", [20, 30])
def test_many_groups_are_as_many_as_asked_for_with_50_useful_features_of_500(kappa, size):
    X, truth, useful = many_groups(kappa, group_size=size)
    assert X.shape == (kappa * size, 500)
    np.testing.assert_array_equal(truth, np.repeat(np.arange(kappa), size))
    np.testing.assert_array_equal(useful, np.arange(500) < 50)


def test_many_groups_have_the_sizes_asked_for():
    X, truth, useful = many_groups(4, n_features=12, n_useful=5, group_size=3)
    assert X.shape == (12, 12)
    assert np.bincount(truth).tolist() == [3, 3, 3, 3]
    np.testing.assert_array_equal(useful, np.arange(12) < 5)


def test_a_seed_is_a_table_of_many_groups():
    np.testing.assert_array_equal(many_groups(4, seed=3).X, many_groups(4, seed=3).X)
    assert (many_groups(4, seed=3).X != many_groups(4, seed=4).X).all()


def test_centers_of_many_groups_have_variance_0_4_in_useful_features_and_lie_at_zero_in_others():
    X, truth, useful = many_groups(200, n_features=60, n_useful=50, group_size=100, seed=1)
    centers = np.array([X[truth == group].mean(axis=0) for group in range(200)])
    # The mean of 100 samples adds 1/100 to the variance of a center.
    assert centers[:, useful].var() == pytest.approx(CENTER_VARIANCE + 0.01, rel=0.04)
    assert CENTER_VARIANCE == 0.4
    assert centers[:, useful].mean() == pytest.approx(0.0, abs=0.03)
    assert centers[:, ~useful].var() == pytest.approx(0.01, rel=0.1)


def test_centers_of_many_groups_are_independent():
    X, truth, _ = many_groups(400, n_features=8, n_useful=8, group_size=50, seed=2)
    centers = np.array([X[truth == group].mean(axis=0) for group in range(400)])
    assert np.abs(np.corrcoef(centers.T)[np.triu_indices(8, 1)]).max() < 0.2


def test_many_groups_have_independent_noise_of_variance_one():
    design = many_groups(3, n_features=6, n_useful=3, group_size=MANY)
    np.testing.assert_allclose(spectra(design), 1.0, atol=0.06)


def shares(design, column, group):
    """Share of each level among the values seen in one group."""
    return design.X[column][design.truth == group].value_counts(normalize=True, sort=False).to_numpy()


def test_mixed_groups_are_half_numbers_and_half_categories_of_2_to_6_levels():
    pd = pytest.importorskip("pandas")
    X, truth, useful = mixed_groups()
    assert X.shape == (90, 100)
    assert np.bincount(truth).tolist() == [30, 30, 30]
    assert set(X.dtypes.iloc[:50]) == {np.dtype(float)}
    assert all(isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes.iloc[50:])
    assert {kind.categories.size for kind in X.dtypes.iloc[50:]} == {2, 3, 4, 5, 6}
    assert all(isinstance(level, str) for kind in X.dtypes.iloc[50:] for level in kind.categories)
    assert useful[:5].all()
    assert useful[50:55].all()
    assert useful.sum() == 10


def test_mixed_groups_miss_the_share_of_values_asked_for():
    pytest.importorskip("pandas")
    missing = mixed_groups(n_features=8, n_useful=4, group_size=MANY, missing=0.2).X.isna().mean()
    np.testing.assert_allclose(missing, 0.2, atol=0.01)
    assert not mixed_groups(missing=0.0).X.isna().any(axis=None)


def test_useful_numbers_lie_at_minus_shift_zero_and_shift_and_others_at_zero():
    pytest.importorskip("pandas")
    design = mixed_groups(n_features=12, n_useful=6, group_size=MANY, shift=0.8)
    numbers = design.X.filter(like="number").groupby(design.truth)
    means = np.sort(numbers.mean().to_numpy(), axis=0)
    np.testing.assert_allclose(means, np.outer([-0.8, 0.0, 0.8], design.useful[:6]), atol=0.03)
    np.testing.assert_allclose(numbers.std().to_numpy(), 1.0, atol=0.03)


def test_a_category_takes_the_favorite_of_the_group_and_useless_ones_have_one_favorite():
    pytest.importorskip("pandas")
    design = mixed_groups(n_features=40, n_useful=20, group_size=MANY, likely=0.7)
    for column, useful in zip(design.X.columns[20:], design.useful[20:], strict=True):
        by_group = np.array([shares(design, column, group) for group in range(3)])
        n_levels = by_group.shape[1]
        rest = 0.3 / (n_levels - 1)
        np.testing.assert_allclose(np.sort(by_group, axis=1)[:, -1], 0.7, atol=0.02)
        np.testing.assert_allclose(np.sort(by_group, axis=1)[:, :-1], rest, atol=0.02)
        assert np.unique(by_group.argmax(axis=1)).size == (min(n_levels, 3) if useful else 1)


def test_a_seed_is_a_mixed_table():
    pytest.importorskip("pandas")
    assert mixed_groups(seed=3).X.equals(mixed_groups(seed=3).X)
    assert not mixed_groups(seed=3).X.equals(mixed_groups(seed=4).X)


@pytest.mark.parametrize("n_useful", [-1, 11])
def test_mixed_groups_have_room_for_the_useful_features(n_useful):
    pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"n_useful must be in \[0, 10\]"):
        mixed_groups(n_features=10, n_useful=n_useful)


def test_without_pandas_mixed_groups_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        mixed_groups()
