"""New samples after every clusterer, and clusterers that do not fit the data."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans

import sparsecluster.methods.sas
from tests.helpers.cases import in_turn
from tests.helpers.new_samples import KINDS, TRUTH, fit, numbers, random_numbers

# ---------------------------------------------------------------- clusterers


@in_turn(
    kind=[kind for kind in KINDS if kind != "sparse"],
    clusterer=["hillclimb", "kmedoids", "spectral", "average", "complete"],
)
def test_every_clusterer_finds_clear_groups_in_every_kind(kind, clusterer):
    if clusterer == "kmedoids":
        pytest.importorskip("kmedoids")
    table, _, parameters = KINDS[kind]()
    found = fit(table, clusterer=clusterer, **parameters)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(table), TRUTH)


class Halves:
    """The groups of the first column it is given: below and above the middle."""

    def fit_predict(self, rows):
        return rows[:, 0] > np.median(rows[:, 0])


@pytest.mark.parametrize(
    ("kind", "clusterer"),
    [
        ("sqeuclidean", SklearnKMeans(n_init=1)),
        ("hamming", SklearnKMeans(n_init=1)),
        ("manhattan", AgglomerativeClustering(metric="precomputed", linkage="average")),
        ("mixed", AgglomerativeClustering(metric="precomputed", linkage="average")),
        ("precomputed", AgglomerativeClustering(metric="precomputed", linkage="average")),
    ],
)
def test_new_samples_can_be_placed_after_a_users_own_clusterer(kind, clusterer):
    table, new, parameters = KINDS[kind]()
    found = fit(table, clusterer=clusterer, n_init=3, **parameters)
    np.testing.assert_array_equal(found.predict(table), TRUTH)
    np.testing.assert_array_equal(found.predict(new), fit(table, **parameters).predict(new))


def test_an_object_with_nothing_but_fit_predict_is_a_clusterer():
    found = fit(numbers(0), n_clusters=2, clusterer=Halves())
    assert np.bincount(found.labels_).tolist() == [18, 18]
    assert set(found.predict(random_numbers(1))) == {0, 1}


@pytest.mark.parametrize(("word", "meant"), [("kmean", "kmeans"), ("k-medoids", "kmedoids"), ("zzz", None)])
def test_unknown_clusterers_are_answered_by_the_known_and_the_nearest(word, meant):
    with pytest.raises(ValueError, match=f"clusterer must be one of .*fit_predict; got '{word}'") as refused:
        fit(numbers(0), clusterer=word)
    assert str(refused.value).endswith(f'Did you mean "{meant}"?') == (meant is not None)


@pytest.mark.parametrize("clusterer", [None, 3, object(), SklearnKMeans])
def test_a_clusterer_has_fit_predict(clusterer):
    with pytest.raises(TypeError, match=r"an object with a method fit_predict.*got"):
        fit(numbers(0), clusterer=clusterer)


@pytest.mark.parametrize("kind", ["manhattan", "ordinal", "function", "mixed", "precomputed"])
@pytest.mark.parametrize("clusterer", ["kmeans", "ward", SklearnKMeans()])
def test_clusterers_of_coordinates_refuse_what_has_none_before_any_work(monkeypatch, clusterer, kind):
    monkeypatch.setattr(sparsecluster._search.solve, "search_size", None)
    table, _, parameters = KINDS[kind]()
    shown = f'"{clusterer}"' if isinstance(clusterer, str) else "KMeans"
    with pytest.raises(ValueError, match=f'{shown} needs coordinates.*Use "hillclimb".*metric="precomputed"'):
        fit(table, clusterer=clusterer, **parameters)
