"""Outliers are left out of tables of every kind, and by every method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsecluster import SASClustering
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import some
from tests.helpers.methods import CORNERS, EVERY, quick
from tests.helpers.methods import TRUTH as CORNERS_OF

pytestmark = [
    pytest.mark.usefixtures("less_work", "one_thread"),
    pytest.mark.filterwarnings("ignore:A cluster is made"),
]

N, P, S = 50, 16, 6
TRUTH = np.repeat([0, 1, 2], [22, 16, 12])
RNG = np.random.default_rng(0)
# Each group is shifted in two features of its own.
NUMBERS = RNG.normal(size=(N, P)) * 0.5 + 4.0 * (np.arange(P) // 2 == TRUTH[:, None])
# One sample that is far from all others in most features, and how it is in the other tables.
OUTLIER = 30.0 * np.where(np.arange(P) % 2, 1.0, -1.0)
TABLE = np.vstack([NUMBERS, OUTLIER])
LABELS = np.append(TRUTH, -1)
LEVELS = np.array(["low", "middle", "high", "odd"], dtype=object)


def levels(p=30, own=6, likely=0.8):
    """Three levels, of which one is likely in the features that a group owns; an outlier has a fourth one throughout.

    Levels that are all alike or unlike tell less than numbers do, so that an outlier shows only in more of them.
    """
    rng = np.random.default_rng(0)
    codes = np.where(np.arange(p) // own == TRUTH[:, None], 2, rng.integers(2, size=(N, p)))
    codes = np.where(rng.random((N, p)) < likely, codes, rng.integers(3, size=(N, p)))
    return LEVELS[np.vstack([codes, np.full(p, 3)])]


def with_missing(table):
    table = table.copy()
    gone = np.random.default_rng(3).random(table.shape) < 0.05
    gone[-1] = np.arange(table.shape[1]) == 5
    table[gone] = None if table.dtype == object else np.nan
    return table


def distances(left, right):
    return np.abs(left.T[:, :, None] - right.T[:, None, :])


def mixed():
    frame = pd.DataFrame(TABLE[:, :8]).add_prefix("x")
    words = levels()
    return frame.assign(**{f"c{a}": words[:, a] for a in range(18, 26)})


def root(x, y):
    return np.sqrt(np.abs(x - y))


KINDS = {
    "numbers": lambda: (TABLE, {}),
    "numbers with missing values": lambda: (with_missing(TABLE), {}),
    "distances": lambda: (TABLE, {"metric": "manhattan"}),
    "distances with missing values": lambda: (with_missing(TABLE), {"metric": "manhattan"}),
    "function": lambda: (TABLE, {"metric": root}),
    "levels": lambda: (levels(), {"n_features_to_select": 18}),
    "levels with missing values": lambda: (with_missing(levels()), {"n_features_to_select": 18}),
    "mixed": lambda: (mixed(), {}),
    "sparse": lambda: (sparse.csr_array(np.where(np.abs(TABLE) > 1.0, TABLE, 0.0)), {}),
    "matrices": lambda: (distances(TABLE, TABLE), {"metric": "precomputed"}),
    "groups": lambda: (TABLE, {"feature_groups": [a // 2 for a in range(P)], "n_features_to_select": 3}),
    "not standardized": lambda: (TABLE, {"standardize": False}),
}


def fit(table, **parameters):
    return SASClustering(**{"n_features_to_select": S, "n_init": 5, "trim": 0.05, **parameters}).fit(table)


@pytest.fixture(scope="module")
def fits():
    return {kind: fit(table, **parameters) for kind, (table, parameters) in ((each, KINDS[each]()) for each in KINDS)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_outlier_is_left_out_and_the_groups_are_found(fits, kind):
    """Three of the 51 samples may be left out. On so few features, one that is not quite ordinary may be among them."""
    found = fits[kind]
    kept = found.labels_ >= 0
    assert not kept[N]
    assert kept.sum() >= N - 2
    np.testing.assert_array_equal(found.labels_[kept], LABELS[kept])
    np.testing.assert_array_equal(np.flatnonzero(found.support_), np.arange(18 if "levels" in kind else S))
    assert found.outlier_scores_.argmax() == N


@pytest.mark.parametrize("kind", KINDS)
def test_new_samples_go_to_the_clusters_of_the_samples_that_were_kept(fits, kind):
    table, _ = KINDS[kind]()
    predicted = fits[kind].predict(table)
    np.testing.assert_array_equal(predicted[:N], TRUTH)
    assert predicted[N] in (0, 1, 2)
    assert np.isfinite(fits[kind].score(table))


def test_new_samples_are_compared_with_all_samples_of_fit_by_matrices(fits):
    """Of their dissimilarities to the samples that were left out, nothing is used."""
    found = fits["matrices"]
    new = NUMBERS[::5] + 0.3
    cross = distances(new, TABLE)
    np.testing.assert_array_equal(found.predict(cross), TRUTH[::5])
    cross[:, :, N] = np.random.default_rng(0).random((P, new.shape[0])) * 1e6
    np.testing.assert_array_equal(found.predict(cross), TRUTH[::5])
    with pytest.raises(ValueError, match="51"):
        found.predict(distances(new, NUMBERS))


def test_a_level_that_only_outliers_have_is_no_level_of_a_cluster(fits):
    assert not (fits["levels"].cluster_centers_ == "odd").any()


def test_centers_of_a_sparse_table_are_means_of_the_samples_that_were_kept(fits):
    dense, found = KINDS["sparse"]()[0].toarray(), fits["sparse"]
    means = [dense[found.labels_ == c].mean(axis=0) for c in range(3)]
    np.testing.assert_allclose(found.cluster_centers_, means, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- every method

WILD = np.vstack([CORNERS, 40.0 * np.where(np.arange(40) % 2, 1.0, -1.0)])
# Fits in which nothing is tuned; COSA has no clusters of its own to speak of here.
GIVEN = {
    "sas": {"n_features_to_select": 24},
    "sparse-kmeans": {"l1_bound": 4.0},
    "rskc": {"l1_bound": 4.0},
    "sparse-hierarchical": {"l1_bound": 4.0},
    "sparse-kmedoids": {"l1_bound": 4.0},
    "cosa-common": {"penalty": 0.3},
    "regularized-kmeans": {"penalty": 0.1},
    "proclus": {"n_dimensions": 16},
}
FINDS = [name for name in METHODS if name not in ("cosa", "screened-moments", "screened-mode", "screened-ks", "if-pca")]


@pytest.mark.parametrize("name", some(METHODS, first=2))
def test_every_method_leaves_outliers_out(name):
    found = quick(name, trim=0.05, **GIVEN.get(name, {})).fit(WILD)
    assert set(found.labels_) == {-1, 0, 1, 2}
    assert found.labels_[45] == -1
    assert (found.labels_ == -1).sum() <= 3
    assert found.outlier_scores_.shape == (46,)
    assert found.outlier_scores_.argmax() == 45
    if name in FINDS:
        kept = found.labels_ >= 0
        np.testing.assert_array_equal(found.labels_[kept], CORNERS_OF[kept[:45]])
    if METHODS[name].predicts:
        assert set(found.predict(WILD)) <= {0, 1, 2}


@EVERY
def test_every_method_checks_the_share_before_the_table_is_looked_at(name):
    with pytest.raises(ValueError, match=r"trim must be a share of the samples in \[0, 0.5\); got 0.5"):
        quick(name, trim=0.5).fit(None)
