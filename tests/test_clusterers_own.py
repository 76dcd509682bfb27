"""A user's own clusterer, and the choice of one by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from sparsecluster._clusterers.hierarchical import Hierarchical
from sparsecluster._clusterers.kmeans import HillClimb, KMeans
from sparsecluster._clusterers.own import Own, dense
from sparsecluster._clusterers.partition import Partition
from sparsecluster._clusterers.registry import CLUSTERERS, ON_ROWS, make_clusterer
from sparsecluster._clusterers.spectral import Spectral, gaussian_affinity
from sparsecluster._features.features import Rows, SeenRows, SparseRows
from tests import naive
from tests.helpers.clusterers import LINKAGES, NAMES, OnlyPairs, clear_groups, make, random_dissimilarities, run
from tests.helpers.common import same_groups

# ---------------------------------------------------------------- a user's own


class Written:
    """Written by hand: cuts the first column, or the first row of pairs, at its quantiles, and tells what it saw."""

    seen: list = []  # noqa: RUF012  (copies are made of the object, and all write here)

    def __init__(self, **options):
        self.n_clusters = 2
        self.random_state = None
        vars(self).update(options)

    def fit_predict(self, X):
        self.seen.append((X, vars(self)))
        ranks = (rankdata(X[:, 0], method="ordinal") - 1) * self.n_clusters // len(X)
        return [f"group {number:g}" for number in ranks]


@pytest.fixture
def seen():
    Written.seen.clear()
    return Written.seen


def test_an_own_object_needs_nothing_but_fit_predict(features_of, seen):
    table = np.random.default_rng(0).standard_normal((12, 3))
    method = Written()
    labels = run(Own(method), features_of(table), 4)
    np.testing.assert_array_equal(labels, (rankdata(table[:, 0]) - 1) * 4 // 12)
    assert labels.dtype == np.int32
    assert vars(method) == {"n_clusters": 2, "random_state": None}
    assert seen[0][1]["n_clusters"] == 4


def test_an_own_object_gets_new_seeds_from_the_generator(features_of, seen):
    features = features_of(np.random.default_rng(0).standard_normal((12, 3)))
    for seed in (0, 1, 0):
        run(Own(Written()), features, 2, seed)
    seeds = [options["random_state"] for _, options in seen]
    assert seeds[0] == seeds[2] != seeds[1]


def test_an_own_object_of_sklearn_is_not_changed(features_of):
    features = features_of(np.random.default_rng(0).standard_normal((12, 3)))
    for method in (SklearnKMeans(5, random_state=7), GaussianMixture(5, random_state=7)):
        before = repr(method.get_params())
        assert set(run(Own(method), features, 2)) == {0, 1}
        assert repr(method.get_params()) == before
        assert not hasattr(method, "n_iter_")


@pytest.mark.parametrize("name", ["metric", "dissimilarity"])
def test_an_own_object_that_asks_for_dissimilarities_gets_them(seen, name):
    features = OnlyPairs(random_dissimilarities(np.random.default_rng(0), 3, 10))
    own = Own(Written(**{name: "precomputed"}))
    assert own.needs == "pairs"
    own.cluster(features, np.array([0, 2]), 2, np.random.default_rng(0))
    np.testing.assert_allclose(seen[0][0], features.apart[[0, 2]].sum(axis=0))


@pytest.mark.parametrize("name", ["affinity", "kernel"])
def test_an_own_object_that_asks_for_affinities_gets_them(seen, name):
    features = OnlyPairs(random_dissimilarities(np.random.default_rng(0), 3, 10))
    own = Own(Written(**{name: "precomputed"}))
    assert own.needs == "pairs"
    run(own, features, 2)
    np.testing.assert_allclose(seen[0][0], gaussian_affinity(features.apart.sum(axis=0)))


def test_an_own_object_that_asks_for_no_pairs_gets_coordinates(features_of, seen):
    table = np.random.default_rng(0).standard_normal((9, 8))
    features = features_of(table)
    own = Own(Written(metric="euclidean", kernel=lambda: "precomputed"))
    assert own.needs == "rows"
    for subset in (np.array([2, 5]), np.array([0, 1, 2, 3, 4, 6, 7])):
        own.cluster(features, subset, 2, np.random.default_rng(0))
        np.testing.assert_allclose(seen[-1][0], naive.standardized(table)[:, subset])


def test_all_kinds_of_rows_become_one_table():
    values = np.array([[0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0], [0.0, 5.0, 7.0, 0.0]])
    means, weights = values.mean(axis=0), np.array([1.0, 4.0, 0.0, 0.25])
    expected = ((values - means) * np.sqrt(weights))[:, [0, 1, 3]]
    samples, columns = np.nonzero(values)
    starts = np.searchsorted(samples, np.arange(4))
    sparse = SparseRows(values[samples, columns], columns, starts, means, weights)
    for rows in (
        Rows(values - means, weights),
        Rows((values - means).astype(np.float32), weights),
        SeenRows(values - means, weights, np.ones(values.shape, np.uint8)),
        sparse,
    ):
        table = dense(rows)
        assert type(table) is np.ndarray
        assert table.dtype == np.float64
        np.testing.assert_allclose(table, expected, rtol=1e-6)


def test_an_own_object_agrees_with_ours(features_of):
    for seed in range(3):
        features = features_of(np.random.default_rng(seed).standard_normal((30, 4)))
        for kind in LINKAGES:
            metric = "euclidean" if kind == "ward" else "precomputed"
            own = Own(AgglomerativeClustering(metric=metric, linkage=kind))
            assert same_groups(run(own, features, 5), run(kind, features, 5))


@pytest.mark.parametrize("what", [None, 3, [1, 2], object(), SklearnKMeans, StandardScaler()])
def test_what_has_no_fit_predict_is_refused(what):
    with pytest.raises(TypeError, match=r"clusterer must be a name or an object with a method fit_predict.*; got "):
        make_clusterer(what, has_rows=True)


def test_the_wrong_number_of_labels_is_refused(features_of):
    features = features_of(clear_groups()[0])
    with pytest.raises(ValueError, match=r"DBSCAN.fit_predict must return n_clusters=3 different labels; got 1\. Use"):
        run(Own(DBSCAN(eps=1e-9)), features, 3)
    with pytest.raises(
        ValueError, match=r"Pipeline.fit_predict must return n_clusters=4 different labels; got 3\. Use"
    ):
        run("own pipeline", features, 4)


@pytest.mark.parametrize(("labels", "shape"), [([0, 1], r"\(2,\)"), (np.zeros((60, 1)), r"\(60, 1\)"), (1, r"\(\)")])
def test_labels_that_are_not_one_per_sample_are_refused(features_of, labels, shape):
    class Odd:
        def fit_predict(self, X):
            return labels

    with pytest.raises(
        ValueError, match=rf"Odd.fit_predict must return one label for each of the 60 samples; got.*{shape}"
    ):
        run(Own(Odd()), features_of(clear_groups()[0]), 2)


# ---------------------------------------------------------------- by name


def test_auto_is_the_clusterer_of_the_papers_objective():
    assert type(make_clusterer("auto", has_rows=True)) is KMeans
    assert type(make_clusterer("auto", has_rows=False)) is HillClimb


def test_a_clusterer_stands_for_itself_and_other_objects_are_wrapped():
    ours, theirs = Spectral(), SklearnKMeans()
    assert make_clusterer(ours, has_rows=False) is ours
    assert make_clusterer(theirs, has_rows=True).method is theirs


def test_the_names_that_need_coordinates_are_known():
    pytest.importorskip("kmedoids")
    assert [name for name in CLUSTERERS if CLUSTERERS[name]().needs == "rows"] == list(ON_ROWS)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r'one of "auto", "kmeans", .*; got \'kmean\'\. Did you mean "kmeans"\?$'):
        make_clusterer("kmean", has_rows=True)
    with pytest.raises(ValueError, match=r"got 'xyz'\.$"):
        make_clusterer("xyz", has_rows=True)


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        ("kmeans", '"kmeans"'),
        ("ward", '"ward"'),
        (Hierarchical("ward"), "Hierarchical"),
        (SklearnKMeans(), "KMeans"),
        (AgglomerativeClustering(), "AgglomerativeClustering"),
    ],
)
def test_what_needs_coordinates_is_refused_where_there_are_none(choice, shown):
    message = rf'clusterer={shown} needs coordinates of the samples.*Use "hillclimb", "kmedoids", .*"precomputed"\.$'
    with pytest.raises(ValueError, match=message):
        make_clusterer(choice, has_rows=False)
    make_clusterer(choice, has_rows=True)


def test_what_works_on_pairs_needs_no_coordinates():
    for name in set(NAMES) - set(ON_ROWS):
        assert make(name, has_rows=False).needs == "pairs"
    assert isinstance(make(Partition(), has_rows=False), Partition)
