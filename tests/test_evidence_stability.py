"""The stability of clusters and samples is what is counted, and that of other programs."""

import json
from pathlib import Path

import numpy as np
import pytest

from sparsecluster._clusterers.kmeans import kmeans
from sparsecluster._features.features import Pairs
from sparsecluster.evidence._columns import standardized
from sparsecluster.evidence._parts import folds, halves, matched
from sparsecluster.evidence._stability import agreement_of_halves, best_jaccard, jaccard, kept
from tests.helpers.evidence import RNG, columns, part

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference" / "evidence_reference.json").read_text())


def test_jaccard_is_intersection_over_union():
    rng = RNG(16)
    labels, others = rng.integers(0, 3, 30), rng.integers(0, 3, 30)
    sets = [set(np.flatnonzero(labels == c)) for c in range(3)]
    expected = [max(len(own & one) / len(own | one) for one in sets)
                for own in (set(np.flatnonzero(others == c)) for c in range(3))]  # fmt: skip
    np.testing.assert_allclose(best_jaccard(labels, others, 3), expected)


@pytest.mark.parametrize("case", REFERENCE["clusterboot"], ids=lambda case: f"{case['data']}-{len(case['jaccard'])}")
def test_stability_in_bootstrap_samples_is_that_of_clusterboot(reference, case):
    X, labels = reference.table(case["data"])[:, : case["columns"]], np.array(case["labels"]) - 1
    k, rng, parts = len(case["jaccard"]), RNG(0), []
    for _ in range(100):
        # As in clusterboot, samples that are drawn several times are clustered once. R's K-means moves single samples
        # (Hartigan and Wong), as ours does; Lloyd's algorithm ends in worse clusters, which are less stable.
        places = np.unique(rng.integers(0, len(X), len(X)))
        centered = X[places] - X[places].mean(axis=0)
        found = kmeans(Pairs(centered @ centered.T), k, rng, n_starts=20)
        parts.append(part(places, found, [0]))
    np.testing.assert_allclose(jaccard(parts, labels, k).mean, case["jaccard"], atol=0.1)


def test_samples_keep_their_cluster_as_often_as_counted():
    labels = np.array([0, 0, 1, 1], np.int32)
    parts = [part([0, 1, 2], [0, 1, 1], [0]), part([0, 1, 3], [0, 0, 1], [0]), None]
    found = kept(parts, labels, 2)
    assert found.share.tolist() == [1.0, 0.5, 1.0, 1.0]
    assert found.second.tolist() == [-1, 1, -1, -1]
    assert found.together[0, 1] == 0.5
    assert found.together[1, 2] == 1.0
    assert np.isnan(found.together[2, 3])


def test_halves_that_agree_have_an_agreement_of_one():
    table = columns(np.array([[0.0], [9.0], [1.0], [8.0], [0.5], [9.5], [0.2], [8.8], [4.0]]))
    one, other = part([0, 1, 2, 3], [0, 1, 0, 1], [0]), part([4, 5, 6, 7], [1, 0, 1, 0], [0])
    assert agreement_of_halves([one, other], table, 2).tolist() == [1.0]
    assert agreement_of_halves([one, None], table, 2).tolist() == [0.0]


def test_clusters_are_matched_one_to_one():
    assert matched(np.array([0, 0, 1, 1]), np.array([1, 1, 1, 1]), 2).tolist() in ([1, 0], [0, 1])


def test_folds_and_halves_divide_the_samples():
    assert sorted(np.concatenate(folds(23, 5, RNG(0))).tolist()) == list(range(23))
    one, other, *_ = halves(23, 2, RNG(0))
    assert one.size == other.size == 11
    assert not set(one) & set(other)


def test_standardized_columns_have_variance_one():
    made = standardized(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]]))
    np.testing.assert_allclose(made, [[-1, 0], [1, 0], [np.nan, 0]])
