"""What a method finds is put back in the user's order of samples, columns and clusters, whatever its axes follow."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster.methods._base import SparseClusterer
from sparsecluster.methods._result import Array, Order, Result
from tests.helpers.common import plain_scores

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


# ---------------------------------------------------------------- samples that a method itself leaves out

# Two groups of 6 and 5 samples, and 4 samples in none, which alone vary in the last column.
GROUPS = np.repeat([0, 1, -1], [6, 5, 4])
NEAR = RNG.normal(size=(15, 5)) + 8.0 * (GROUPS == 1)[:, None] * np.array([1, 1, 0, 0, 0])
WITH_OUTSIDE = np.column_stack([NEAR, np.where(GROUPS < 0, np.arange(15.0), 3.0)])


class LeavesOut(SparseClusterer):
    """Knows the groups, and would put the samples in none into the smaller one."""

    def __init__(self, n_clusters=2, trim=0.0, core_agreement=0.9):
        self.n_clusters, self.trim, self.core_agreement = n_clusters, trim, core_agreement

    def _solve(self, reading, k):
        groups = GROUPS[reading.source.samples]
        subset, labels = np.arange(reading.n_usable), np.where(groups == 0, 1, 0).astype(np.int32)
        arrays = {"twice_": Array(groups * 2.0, ("sample",), np.nan)}
        return Result(reading.source.features(), labels, subset, k, None, arrays, outside=groups < 0)


@pytest.mark.parametrize("core_agreement", [0.9, None])
def test_samples_that_a_method_leaves_out_are_in_no_cluster_score_or_center(core_agreement):
    found = LeavesOut(core_agreement=core_agreement).fit(WITH_OUTSIDE)
    np.testing.assert_array_equal(found.labels_, GROUPS)
    inside = GROUPS >= 0
    scores = np.append(plain_scores(NEAR[inside], GROUPS[inside]), 0.0)
    np.testing.assert_allclose(found.feature_scores_, scores, rtol=0, atol=1e-12)
    means = [WITH_OUTSIDE[c == GROUPS].mean(axis=0) for c in range(2)]
    np.testing.assert_allclose(found.cluster_centers_, means)
    np.testing.assert_array_equal(found.twice_, GROUPS * 2.0)
    assert "2 clusters of 6, 5 samples; 4 samples in no cluster" in found.summary()
    if core_agreement is not None:
        # The groups are 8 apart in each of the first two features, while the four samples are anywhere.
        assert found.core_size_ == 1
        assert found.core_support_[:2].any()


def test_clusters_are_numbered_by_the_samples_that_are_not_left_out():
    # Together with the four samples, the second group would be the largest.
    assert np.bincount(LeavesOut().fit(WITH_OUTSIDE).labels_ + 1).tolist() == [4, 6, 5]
