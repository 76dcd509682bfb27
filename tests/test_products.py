"""Products D'D w of pairs by features, and the climb of sparse hierarchical clustering that is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from sparsecluster._features import products
from sparsecluster._kernels.products import combined_rows
from sparsecluster._kernels.weights import bounded_weights
from sparsecluster._search.climb import LEAST_GAIN
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.sparse_hierarchical import path, sparse_weights

TABLE = shifted_groups(mu=1.0, n_features=60, n_useful=8, group_size=10, seed=3).X


def pairs_by_features(features):
    """D: the squared difference of every pair in every column."""
    return np.column_stack([pdist(x[:, None], "sqeuclidean") for x in features.table.T.astype(np.float64)])


def plain_steps(d, weights, bound, most=20_000):
    """The twin: best U for the weights, best weights for U, until |D w| stops rising; weights, |D w| and steps."""
    objective = 0.0
    for step in range(most):
        spread = d @ weights
        new = bounded_weights(d.T @ spread, bound)
        length = np.linalg.norm(d @ new)
        if length <= objective * (1 + LEAST_GAIN):
            return weights, objective, step
        weights, objective = new, length
    return weights, objective, most


def random_weights(seed, p):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(p) < rng.uniform(0.02, 0.9), rng.random(p), 0.0)


# ---------------------------------------------------------------- products


def test_combined_rows_are_a_sum_of_rows():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((7, 11))
    for count in range(8):
        places, weights = rng.permutation(7)[:count], rng.standard_normal(count)
        np.testing.assert_allclose(combined_rows(rows, places, weights), weights @ rows[places], atol=1e-13)


@pytest.mark.parametrize("most", [0, 20, 59, 60])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_those_of_the_matrix_whatever_number_of_its_rows_is_kept(features_of, monkeypatch, dtype, most):
    """Also over several blocks of rows, and where no row is left for a feature, so that the pairs are looked at."""
    monkeypatch.setattr(products, "MOST_VALUES", most * TABLE.shape[1])
    monkeypatch.setattr(products, "BLOCK", 16)
    features = features_of(TABLE.astype(dtype))
    product, d = products.products(features), pairs_by_features(features)
    for seed in range(20):
        weights = random_weights(seed, TABLE.shape[1])
        exact = 1e-12 if dtype is np.float64 else 1e-6
        np.testing.assert_allclose(product(weights), d.T @ (d @ weights), rtol=exact)


def test_products_of_columns_far_from_zero_keep_their_digits(features_of):
    features = features_of(TABLE + 1e6, standardize=False)
    d, weights = pairs_by_features(features), random_weights(0, TABLE.shape[1])
    np.testing.assert_allclose(products.products(features)(weights), d.T @ (d @ weights), rtol=1e-11)


# ---------------------------------------------------------------- the climb


@pytest.mark.parametrize("bound", [1.2, 2.0, 4.0, 6.0])
def test_momentum_ends_where_plain_steps_end_and_is_there_sooner(features_of, bound):
    """The same maximum, although there are several, and at least a third of the steps saved when they are many."""
    taken = np.zeros(2)
    for seed in range(12):
        table = shifted_groups(mu=0.8, n_features=60, n_useful=8, group_size=10, seed=seed).X
        features = features_of(table)
        d = pairs_by_features(features)
        weights, objective, steps = plain_steps(d, np.ones(60), bound)
        found = sparse_weights(features, bound, 1000)
        assert found.objective == pytest.approx(np.linalg.norm(d @ found.weights), rel=1e-12)
        assert found.objective == pytest.approx(objective, rel=1e-8)
        np.testing.assert_allclose(found.weights, weights, rtol=0, atol=3e-4)
        taken += len(found.history), steps
    assert taken[0] < 2 / 3 * taken[1] or taken[1] < 12 * 10


def test_a_path_ends_where_plain_steps_from_bound_to_bound_end(features_of):
    features = features_of(TABLE)
    d, weights = pairs_by_features(features), np.ones(60)
    bounds = np.linspace(1.1, 5.4, 10)
    for bound, found in zip(bounds[::-1], path(features, bounds, 1000)[::-1], strict=True):
        weights, objective, _ = plain_steps(d, weights, bound)
        assert found.objective == pytest.approx(objective, rel=1e-8)
        np.testing.assert_allclose(found.weights, weights, rtol=0, atol=3e-4)
