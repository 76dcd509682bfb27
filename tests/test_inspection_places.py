"""Places of the samples in the principal components, against NumPy's decomposition, and the coordinates behind them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsecluster import SASClustering
from sparsecluster._data.kinds.dissimilarity import indicators
from sparsecluster.inspection import Projection, _components
from sparsecluster.inspection._components import dense_plane, sparse_plane
from sparsecluster.inspection._scaling import centered, standardized
from tests.helpers.inspection import far_apart, mixed_table, named, sparse_table

# ---------------------------------------------------------------- projection


def by_numpy(table):
    """Places and shares from the singular value decomposition, with signs as they come."""
    left, values, _ = np.linalg.svd(table, full_matrices=False)
    return (left * values)[:, :2], (values**2 / (values**2).sum())[:2]


def check_plane(plane, table):
    places, shares = by_numpy(table)
    np.testing.assert_allclose(plane.shares, shares, rtol=1e-7)
    np.testing.assert_allclose(np.abs(plane.places), np.abs(places), atol=1e-6 * np.abs(places).max())
    # Signs do not depend on the algorithm: the outermost sample is on the positive side.
    outermost = np.abs(plane.places).argmax(axis=0)
    assert (plane.places[outermost, [0, 1]] > 0).all()


# A truncated decomposition needs more than two columns.
@pytest.mark.parametrize(
    ("shape", "most"), [((40, 7), 3000), ((12, 60), 3000), ((9, 2), 3000), ((40, 7), 1), ((12, 60), 1), ((30, 30), 1)]
)
def test_the_plane_is_that_of_numpy(shape, most, monkeypatch):
    monkeypatch.setattr(_components, "MOST_PRODUCTS", most)
    table = centered(np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1))
    check_plane(dense_plane(table), table)


@pytest.mark.parametrize("standardize", [True, False])
def test_the_plane_of_a_sparse_matrix_is_that_of_numpy(standardize):
    X = sparse_table().tocsc()
    # A column that is constant and not zero, and one that is empty.
    X = sparse.hstack([X, sparse.csc_array(np.full((42, 1), 0.1)), sparse.csc_array((42, 1))], format="csc")
    dense = X.toarray()
    varies = dense.std(axis=0) > 1e-12
    table = dense[:, varies] - dense[:, varies].mean(axis=0)
    check_plane(sparse_plane(X, standardize, np.zeros(42, bool)), table / table.std(axis=0) if standardize else table)


def test_one_column_has_one_component():
    plane = dense_plane(np.array([[-1.0], [1.0], [-3.0], [3.0]]))
    # Two samples are outermost; the first of them is made positive.
    assert plane.places.tolist() == [[1.0, 0.0], [-1.0, 0.0], [3.0, 0.0], [-3.0, 0.0]]
    assert plane.shares.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("standardize", [True, False])
def test_the_projection_of_numbers(standardize):
    X = far_apart() * np.arange(1, 11)
    estimator = SASClustering(n_clusters=3, n_features_to_select=4, standardize=standardize).fit(X)
    shown = Projection.from_estimator(estimator, X)
    table = X - X.mean(axis=0)
    table = table / table.std(axis=0) if standardize else table
    for view, own in ((shown.chosen, table[:, estimator.support_]), (shown.every, table)):
        check_plane(view, own)
    frame = shown.frame()
    np.testing.assert_array_equal(frame["cluster"], estimator.labels_)
    np.testing.assert_array_equal(frame[["all 1", "all 2"]], shown.every.places)
    assert (shown.chosen.n_features, shown.every.n_features, shown.every.n_missing) == (4, 10, 0)


def test_the_projection_of_sparse_and_dense_is_the_same(monkeypatch):
    X = sparse_table()
    estimator = SASClustering(n_clusters=3, n_features_to_select=9).fit(X)
    dense = Projection.from_estimator(estimator, X)
    monkeypatch.setattr(_components, "DENSE_VALUES", 0)
    kept = Projection.from_estimator(estimator, X)
    np.testing.assert_allclose(kept.frame(), dense.frame(), atol=1e-6)
    np.testing.assert_allclose(kept.every.shares, dense.every.shares)
    pd.testing.assert_frame_equal(kept.frame(), Projection.from_estimator(estimator, X).frame())


def test_the_projection_fills_in_missing_values_and_has_an_indicator_for_each_level():
    X = mixed_table()[["number 0", "color"]]
    labels = np.repeat([0, 1, 2], [20, 14, 8])
    shown = Projection.from_estimator(named(X, labels, [True, False]), X)
    numbers = X["number 0"].to_numpy()
    z = np.nan_to_num((numbers - np.nanmean(numbers)) / np.nanstd(numbers))
    colors = X["color"].to_numpy()
    seen = np.array([color is not None for color in colors])
    dummies = np.column_stack([colors == level for level in ("blue", "green", "red")]).astype(float)
    dummies = np.where(seen[:, None], dummies - dummies[seen].mean(axis=0), 0.0)
    dummies /= np.sqrt((dummies[seen] ** 2).sum(axis=1).mean())
    check_plane(shown.every, np.column_stack([z, dummies]))
    assert shown.chosen.n_missing == np.isnan(numbers).sum()
    assert shown.every.n_missing == np.isnan(numbers).sum() + (~seen).sum()


# ---------------------------------------------------------------- coordinates


def test_standardized_columns_have_mean_zero_and_variance_one(strict):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 5)) * [1.0, 1e-200, 1e200, 1e300, 0.0] + [0.0, 0.0, 0.0, 0.0, 7.0]
    table[:, 0] += 1e12
    table[3:9, 1] = np.nan
    z = standardized(table)
    np.testing.assert_allclose(np.nanmean(z, axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.nanmean(z**2, axis=0), [1.0, 1.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(np.isnan(z), np.isnan(table))
    assert np.isnan(standardized(np.full((3, 1), np.nan))).all()


def test_indicators_give_the_hamming_dissimilarity():
    table = indicators(np.array([0.0, 1.0, 1.0, 2.0, np.nan]))
    squares = ((table[:4, None] - table[None, :4]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squares, [[0, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0]], atol=1e-12)
    assert np.isnan(table[4]).all()
