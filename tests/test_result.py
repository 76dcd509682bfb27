"""What a method finds is put back in the user's order of samples, columns and clusters, whatever its axes follow."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster.methods._result import Array, Order, Result

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(9, 6))
TABLE[:, 2] = 1.0  # constant, so left out


@pytest.fixture
def order():
    reading = SASClustering(feature_groups={"g": ["x0", "x5"]}).read(TABLE)
    labels = np.array([1, 1, 1, 1, 2, 2, 2, 0, 0], dtype=np.int32)[np.argsort(RNG.permutation(9))]
    found = Result(reading.source.features(), labels, np.array([0, 2]), 3)
    return Order.of(reading, found), labels


def test_clusters_are_named_from_the_largest_to_the_smallest(order):
    order, labels = order
    assert order.clusters.tolist() == [2, 0, 1]
    assert np.bincount(order.clusters[labels]).tolist() == [4, 3, 2]


def test_soft_memberships_follow_samples_and_clusters(order):
    order, labels = order
    memberships = np.eye(3)[labels] * 0.8 + 0.1
    restored = order.restore(Array(memberships, ("sample", "cluster")))
    hard = np.empty(9, int)
    hard[order.reading.source.samples] = order.clusters[labels]
    np.testing.assert_array_equal(restored.argmax(axis=1), hard)
    np.testing.assert_allclose(restored.sum(axis=1), memberships.sum(axis=1)[0])


def test_features_of_single_clusters_follow_clusters_and_columns(order):
    order, _ = order
    source = order.reading.source
    values = np.arange(3)[:, None] * 10.0 + np.arange(source.owners.max() + 1)
    restored = order.restore(Array(values, ("cluster", "feature"), np.nan))
    assert restored.shape == (3, 6)
    assert np.isnan(restored[:, 2]).all()
    np.testing.assert_array_equal(restored[:, 0], restored[:, 5])
    for place, column in enumerate(source.columns.tolist()):
        np.testing.assert_array_equal(restored[order.clusters, column], values[:, source.owners[place]])


def test_pairs_of_samples_and_axes_of_their_own_are_kept(order):
    order, _ = order
    samples = order.reading.source.samples
    apart = RNG.random((9, 9))
    restored = order.restore(Array(apart, ("sample", "sample")))
    np.testing.assert_array_equal(restored[np.ix_(samples, samples)], apart)
    embedding = RNG.random((9, 2))
    np.testing.assert_array_equal(order.restore(Array(embedding, ("sample", None)))[samples], embedding)


def test_attributes_of_an_earlier_fit_do_not_stay():
    from sparsecluster import COSA

    cosa = COSA(2, weights="samples").fit(TABLE)
    assert cosa.sample_weights_.shape == TABLE.shape
    assert not hasattr(cosa.set_params(weights="common", penalty=0.3).fit(TABLE), "sample_weights_")
