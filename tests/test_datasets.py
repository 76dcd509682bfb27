"""The paper's designs: what is drawn follows the model that is written down."""

import numpy as np
import pytest

from sparsecluster.datasets import correlated_groups, shifted_groups
from sparsecluster.datasets.designs import DIFFERENT_COVARIANCES, SAME_COVARIANCE

# Items in a group that is large enough to show its mean and covariance.
MANY = 20_000


def group_means(design):
    return np.array([design.X[design.truth == group].mean(axis=0) for group in range(3)])


def spectra(design):
    """Eigenvalues of the covariance of each group, ascending."""
    return np.array([np.linalg.eigvalsh(np.cov(design.X[design.truth == group].T)) for group in range(3)])


@pytest.mark.parametrize("make", [shifted_groups, correlated_groups])
def test_as_in_the_paper_there_are_three_groups_of_30_and_50_useful_features_of_500(make):
    X, truth, useful = make()
    assert X.shape == (90, 500)
    assert np.bincount(truth).tolist() == [30, 30, 30]
    np.testing.assert_array_equal(useful, np.arange(500) < 50)


@pytest.mark.parametrize("make", [shifted_groups, correlated_groups])
def test_sizes_are_as_asked_for(make):
    X, truth, useful = make(n_features=70, group_size=4)
    assert X.shape == (12, 70)
    assert truth.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert useful.sum() == 50


def test_the_number_of_useful_features_is_as_asked_for():
    np.testing.assert_array_equal(shifted_groups(n_features=9, n_useful=4).useful, [1, 1, 1, 1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("make", [shifted_groups, correlated_groups])
def test_a_seed_is_a_table(make):
    np.testing.assert_array_equal(make(seed=3).X, make(seed=3).X)
    assert (make(seed=3).X != make(seed=4).X).all()


def test_shifted_groups_lie_at_mu_zero_and_minus_mu():
    design = shifted_groups(mu=0.7, n_features=6, n_useful=3, group_size=MANY)
    expected = np.outer([0.7, 0.0, -0.7], design.useful)
    np.testing.assert_allclose(group_means(design), expected, atol=0.03)


def test_shifted_groups_have_independent_noise_of_variance_one():
    np.testing.assert_allclose(spectra(shifted_groups(n_features=6, n_useful=3, group_size=MANY)), 1.0, atol=0.06)


def test_correlated_groups_lie_one_shift_apart():
    design = correlated_groups(shift=0.6, n_features=55, group_size=MANY, seed=2)
    first = np.r_[1.0 + 0.02 * np.arange(1, 51), np.zeros(5)]
    expected = first + 0.6 * np.outer(np.arange(3), design.useful)
    np.testing.assert_allclose(group_means(design), expected, atol=0.08)


def test_the_first_useful_mean_is_1_02_and_the_last_2():
    quiet = correlated_groups(eigenvalues=[(1e-12, 1e-12)], n_features=50, group_size=1)
    np.testing.assert_allclose(quiet.X[0, [0, 49]], [1.02, 2.00], atol=1e-4)


def test_one_covariance_for_all_has_eigenvalues_from_1_to_5():
    design = correlated_groups(eigenvalues=SAME_COVARIANCE, n_features=50, group_size=MANY, seed=5)
    np.testing.assert_allclose(spectra(design), np.tile(np.linspace(1, 5, 50), (3, 1)), rtol=0.12)
    first, second, third = (np.cov(design.X[design.truth == group].T) for group in range(3))
    np.testing.assert_allclose(second, first, atol=0.3)
    np.testing.assert_allclose(third, first, atol=0.3)


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
