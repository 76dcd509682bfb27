"""Clusterers besides k-means: each keeps its own promise, and all keep those of the contract."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from sparsecluster._clusterers.hierarchical import Hierarchical, cut
from sparsecluster._clusterers.kmedoids import medoids_of
from sparsecluster._clusterers.registry import ON_ROWS, make_clusterer
from sparsecluster._clusterers.spectral import gaussian_affinity, spectral_rows
from sparsecluster._search.climb import Problem, climb
from tests import naive
from tests.helpers.clusterers import (
    LINKAGES,
    NAMES,
    OWN,
    OnlyPairs,
    clear_groups,
    dissimilarities_of,
    make,
    random_dissimilarities,
    run,
)
from tests.helpers.common import same_groups

# ---------------------------------------------------------------- what all promise


@pytest.mark.parametrize("name", [*NAMES, *OWN])
def test_clear_groups_are_found(features_of, name):
    for seed in range(3):
        table, truth = clear_groups(seed)
        assert same_groups(run(name, features_of(table), 3, n_starts=5), truth)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ON_ROWS])
def test_clear_groups_are_found_from_pairs_alone(name):
    for seed in range(3):
        truth = clear_groups(seed)[1]
        apart = random_dissimilarities(np.random.default_rng(seed), 4, 60) + 3 * (truth[:, None] != truth)
        assert same_groups(run(name, OnlyPairs(apart), 3, n_starts=5), truth)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 3, 7, 12])
def test_there_are_always_k_clusters(features_of, name, k):
    rng = np.random.default_rng(k)
    tables = [
        *(naive.random_table(rng, 12, 3, whole) for whole in (False, True)),
        np.repeat([[0.0, 1.0, 5.0], [2.0, 3.0, 1.0]], 6, axis=0),
        np.array([[0.0] * 11 + [1.0]]).T,
        np.array([[0.0] * 10 + [1e6, 2e9]]).T,
    ]
    for table in tables:
        for warm in (None, naive.random_labels(rng, 12, k)):
            labels = run(name, features_of(table), k, warm=warm)
            assert labels.dtype == np.int32
            assert sorted(set(labels.tolist())) == list(range(k))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ON_ROWS])
def test_there_are_k_clusters_of_samples_that_are_all_the_same(name):
    for k in (2, 6):
        assert set(run(name, OnlyPairs(np.zeros((2, 6, 6))), k)) == set(range(k))


@pytest.mark.parametrize("name", [*NAMES, *OWN])
def test_the_same_seed_gives_the_same_labels(features_of, name):
    features = features_of(np.random.default_rng(0).standard_normal((40, 6)))
    warm = naive.random_labels(np.random.default_rng(1), 40, 3)
    for seed in range(3):
        for options in ({}, {"n_starts": 3}, {"warm": warm}):
            np.testing.assert_array_equal(*(run(name, features, 3, seed, **options) for _ in range(2)))


@pytest.mark.parametrize("name", ["kmedoids", "spectral", "partition", "own KMeans"])
def test_another_seed_may_give_other_labels(features_of, name):
    features = features_of(np.random.default_rng(0).standard_normal((60, 6)))
    clusterings = [run(name, features, 6, seed) for seed in range(20)]
    assert not all(same_groups(clusterings[0], other) for other in clusterings)


@pytest.mark.parametrize("name", NAMES)
def test_warm_labels_are_not_changed_in_place(features_of, name):
    rng = np.random.default_rng(0)
    warm = naive.random_labels(rng, 30, 3)
    before = warm.copy()
    labels = run(name, features_of(rng.standard_normal((30, 4))), 3, warm=warm)
    np.testing.assert_array_equal(warm, before)
    assert not np.array_equal(labels, before)


@pytest.mark.parametrize("name", NAMES)
def test_a_climb_never_ends_below_its_start(features_of, name):
    rng = np.random.default_rng(0)
    rose = 0
    for size in (1, 3, 6):
        for _ in range(5):
            features, start = features_of(rng.standard_normal((25, 6))), naive.random_labels(rng, 25, 3)
            found = climb(Problem(features, make(name), 3), start, size, rng)
            least = naive.objective(features.source.values, start, size)
            assert found.objective >= least - 1e-12
            assert found.objective == pytest.approx(naive.objective(features.source.values, found.labels, size))
            rose += found.objective > least + 1e-6
    assert rose > 0


# ---------------------------------------------------------------- k-medoids


def medoid_loss(apart, labels):
    """Sum over clusters of the dissimilarities to the best of its samples."""
    return sum(apart[np.ix_(samples, samples)].sum(axis=1).min() for samples in naive.members(labels))


def test_medoids_are_at_least_as_good_as_pam_in_r(reference, features_of):
    given = reference.result("binary", "pam-hamming")
    features = features_of(reference.table("binary"), standardize=False)
    labels = run("kmedoids", features, given["k"], n_starts=20)
    assert medoid_loss(dissimilarities_of(features), labels) <= given["objective"] + 1e-6


def test_medoids_are_the_best_there_are_where_all_can_be_tried():
    rng = np.random.default_rng(0)
    for n, k in ((6, 2), (8, 3), (9, 4), (5, 5)):
        apart = random_dissimilarities(rng, 1, n)
        best = min(apart[0][:, list(medoids)].min(axis=1).sum() for medoids in combinations(range(n), k))
        assert medoid_loss(apart[0], run("kmedoids", OnlyPairs(apart), k, n_starts=50)) == pytest.approx(best)


def test_a_medoid_has_the_smallest_sum_in_its_cluster():
    rng = np.random.default_rng(0)
    for n, k in ((5, 5), (12, 2), (20, 6)):
        apart, labels = random_dissimilarities(rng, 1, n)[0], naive.random_labels(rng, n, k)
        best = [min(samples, key=lambda i: apart[i, samples].sum()) for samples in naive.members(labels)]
        assert medoids_of(apart, labels, k).tolist() == best


def test_medoids_start_from_warm_labels_and_only_get_better(features_of):
    rng = np.random.default_rng(0)
    stayed = []
    for _ in range(20):
        features = features_of(rng.standard_normal((30, 5)))
        warm = naive.random_labels(rng, 30, 4)
        first, other = (run("kmedoids", features, 4, seed, warm=warm) for seed in (0, 1))
        np.testing.assert_array_equal(first, other)
        assert medoid_loss(dissimilarities_of(features), first) <= medoid_loss(dissimilarities_of(features), warm)
        stayed.append(np.array_equal(run("kmedoids", features, 4, warm=first), first))
    # Where a sample of the cluster is a better medoid than the one it was made with, there may be one more step.
    assert np.mean(stayed) > 0.5


def test_the_best_of_several_starts_of_medoids_is_kept(features_of):
    gained = 0
    for seed in range(20):
        features = features_of(np.random.default_rng(seed).standard_normal((50, 3)))
        few, many = (
            medoid_loss(dissimilarities_of(features), run("kmedoids", features, 5, seed, n_starts=m)) for m in (1, 20)
        )
        assert many <= few + 1e-9
        gained += many < few - 1e-9
    assert gained > 0


def test_medoids_without_their_package_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "kmedoids", None)
    with pytest.raises(ImportError, match=r"needs the package kmedoids.*pip install sparsecluster\[kmedoids\]"):
        make_clusterer("kmedoids", has_rows=True)


# ---------------------------------------------------------------- spectral


def test_affinity_is_gaussian_with_the_median_of_pairs_that_differ():
    apart = np.array([[0, 0, 2, 8], [0, 0, 4, 6], [2, 4, 0, 0], [8, 6, 0, 0]], dtype=float)
    np.testing.assert_allclose(gaussian_affinity(apart), np.exp(-apart / (2 * 5)))
    np.testing.assert_array_equal(gaussian_affinity(np.zeros((3, 3))), np.ones((3, 3)))


@pytest.mark.parametrize("k", [1, 3, 10])
def test_spectral_rows_span_the_leading_eigenvectors_and_have_length_one(k):
    affinity = gaussian_affinity(random_dissimilarities(np.random.default_rng(k), 1, 10)[0])
    degrees = affinity.sum(axis=1)
    vectors = np.linalg.eigh(np.diag(degrees**-0.5) @ affinity @ np.diag(degrees**-0.5))[1][:, -k:]
    cosines = vectors @ vectors.T
    lengths = np.sqrt(np.diag(cosines))
    rows = spectral_rows(affinity, k)
    np.testing.assert_allclose(rows @ rows.T, cosines / np.outer(lengths, lengths), atol=1e-9)


@pytest.mark.parametrize(("spread", "least"), [(0.5, 1.0), (1.5, 0.8)])
def test_spectral_agrees_with_sklearn(features_of, spread, least):
    """Wholly where groups are clear, and but for a few samples where they touch: the scaling of the rows differs."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.permutation(np.arange(60) % 3)
        features = features_of(np.array([[0, 0], [6, 0], [0, 6]])[truth] + spread * rng.standard_normal((60, 2)))
        theirs = SpectralClustering(3, affinity="precomputed", random_state=seed)
        theirs.fit(gaussian_affinity(dissimilarities_of(features)))
        assert adjusted_rand_score(theirs.labels_, run("spectral", features, 3)) >= least


def test_spectral_groups_do_not_depend_on_units(features_of):
    table = np.random.default_rng(0).standard_normal((40, 5))
    small, large = (run("spectral", features_of(factor * table, standardize=False), 3) for factor in (1e-3, 1e3))
    assert same_groups(small, large)


def test_a_sample_in_none_of_the_leading_eigenvectors_has_finite_rows():
    rows = spectral_rows(np.eye(5), 2)
    assert np.isfinite(rows).all()
    assert sorted((rows**2).sum(axis=1)) == pytest.approx([0, 0, 0, 1, 1])


def test_spectral_leaves_a_sample_far_from_all_others_alone():
    places = np.append(np.random.default_rng(0).standard_normal(12), 1e4)
    labels = run("spectral", OnlyPairs(((places[:, None] - places) ** 2)[None]), 2)
    assert same_groups(labels, np.arange(13) == 12)


# ---------------------------------------------------------------- hierarchical


def agglomerated(features, k, kind):
    """What scikit-learn finds."""
    if kind == "ward":
        return AgglomerativeClustering(k, linkage=kind).fit_predict(features.table)
    return AgglomerativeClustering(k, metric="precomputed", linkage=kind).fit_predict(dissimilarities_of(features))


@pytest.mark.parametrize("kind", LINKAGES)
def test_hierarchies_are_those_of_sklearn(features_of, kind):
    rng = np.random.default_rng(0)
    for n, k in ((2, 2), (9, 3), (30, 2), (40, 7), (40, 40)):
        features = features_of(rng.standard_normal((n, 5)))
        assert same_groups(run(kind, features, k), agglomerated(features, k, kind))
        assert same_groups(run(Hierarchical(kind), features, k), run(kind, features, k))


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_complete_linkage_is_that_of_r(reference, features_of, data):
    given = reference.result(data, "hclust-complete")
    features = features_of(reference.table(data), standardize=False)
    assert same_groups(run("complete", features, given["k"]), given["labels"])


def test_a_tree_is_cut_as_scipy_does_where_there_are_no_ties():
    for seed in range(10):
        merges = linkage(squareform(random_dissimilarities(np.random.default_rng(seed), 1, 20)[0]), "average")
        for k in range(1, 21):
            assert same_groups(cut(merges, k), fcluster(merges, k, "maxclust"))


def test_a_tree_with_ties_is_cut_into_exactly_k_where_scipy_gives_fewer():
    merges = linkage(np.ones(15), "average")
    assert set(fcluster(merges, 4, "maxclust")) == {1}
    assert [len(set(cut(merges, k))) for k in range(1, 7)] == list(range(1, 7))


def test_average_is_the_default_and_needs_no_coordinates():
    rng = np.random.default_rng(0)
    features = OnlyPairs(random_dissimilarities(rng, 2, 25))
    for name in ("hierarchical", Hierarchical()):
        np.testing.assert_array_equal(run(name, features, 4), run("average", features, 4))
    assert not same_groups(run("average", features, 4), run("complete", features, 4))


def test_an_unknown_linkage_is_refused():
    with pytest.raises(ValueError, match=r'linkage must be one of "average", "complete", .*"ward"; got \'wards\''):
        Hierarchical("wards")
