"""Where new samples are among the clusters, and probabilities, which only mixtures have."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sparsecluster import COSA, SASClustering, SparseHierarchical
from sparsecluster.inspection import Places, inspect, place_samples
from sparsecluster.methods.registry import METHODS
from tests.helpers.common import refuses
from tests.helpers.methods import CORNERS, EVERY, GROUPS, corners, fitted, quick, those
from tests.helpers.new_samples import KINDS, fit

pytestmark = pytest.mark.usefixtures("less_work")

SOFT = pytest.mark.parametrize("name", those(soft=True))
# More samples of the groups in CORNERS, and samples that are nowhere.
NEW = np.vstack([corners(seed=1)[0], np.random.default_rng(2).normal(scale=5.0, size=(30, CORNERS.shape[1]))])

# ---------------------------------------------------------------- probabilities


@EVERY
def test_a_method_has_probabilities_if_and_only_if_the_registry_says_so(name):
    made = quick(name)
    assert hasattr(made, "predict_proba") == METHODS[name].soft
    assert hasattr(fitted(name), "predict_proba") == METHODS[name].soft


@SOFT
@pytest.mark.parametrize("groups", ["clear", "hard"])
def test_samples_of_fit_have_the_probabilities_of_fit(name, groups):
    found = fitted(name, groups)
    np.testing.assert_allclose(found.predict_proba(GROUPS[groups]), found.memberships_, atol=1e-8)


@SOFT
@pytest.mark.parametrize("groups", ["clear", "hard"])
def test_the_most_probable_cluster_is_the_one_that_is_predicted(name, groups):
    found = fitted(name, groups)
    new = NEW[:, : found.n_features_in_]
    memberships = found.predict_proba(new)
    assert memberships.shape == (len(new), 3)
    assert (memberships >= 0).all()
    np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(memberships.argmax(axis=1), found.predict(new))


def test_a_mixture_of_levels_has_probabilities_for_new_samples_with_missing_values():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    table = pd.DataFrame({f"x{a}": np.where(rng.random(60) < 0.9, truth, 1 - truth) for a in range(4)}).astype(str)
    found = quick("varsel", 2).fit(table)
    new = table.iloc[[0, 30, 0]].copy()
    new.iloc[2, :3] = None
    memberships = found.predict_proba(new)
    np.testing.assert_allclose(memberships.sum(axis=1), 1.0)
    # One value says less than four.
    assert memberships[2].max() < memberships[0].max()


# ---------------------------------------------------------------- places


def places_by_hand(X, found, new):
    """Root mean square differences from the centers of the clusters, in standard deviations of the chosen columns."""
    chosen = found.support_
    scale = X[:, chosen].std(axis=0)
    apart = (new[:, None, chosen] - found.cluster_centers_[None][:, :, chosen]) / scale
    return np.sqrt((apart**2).mean(axis=2))


def test_distances_are_those_to_the_centers_in_standard_deviations():
    found = SASClustering(3, n_features_to_select=24).fit(CORNERS)
    by_hand = places_by_hand(CORNERS, found, NEW)
    places, ranked = place_samples(found, NEW), np.argsort(by_hand, axis=1)
    a, b = np.sort(by_hand, axis=1)[:, :2].T
    np.testing.assert_array_equal(places.labels, ranked[:, 0])
    np.testing.assert_array_equal(places.second, ranked[:, 1])
    np.testing.assert_allclose(places.distance, a)
    np.testing.assert_allclose(places.silhouette, (b - a) / b)
    assert places.memberships is None


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_fit_are_where_the_view_of_the_fit_has_them(kind):
    table, _, parameters = KINDS[kind]()
    found = fit(table, **parameters)
    places, known = place_samples(found, table), inspect(found, table).places_of_samples()
    np.testing.assert_array_equal(places.labels, found.labels_)
    np.testing.assert_array_equal(places.distance, known.distance)
    np.testing.assert_array_equal(places.second, known.second)
    np.testing.assert_array_equal(places.silhouette, known.silhouette)


@pytest.mark.parametrize("name", those(predicts=True))
def test_every_method_that_predicts_places_samples_where_it_predicts_them(name):
    found = fitted(name)
    places = place_samples(found, NEW)
    np.testing.assert_array_equal(places.labels, found.predict(NEW))
    assert (places.memberships is not None) == METHODS[name].soft
    if places.second is not None:
        assert not (places.second == places.labels).any()
        assert set(places.second.tolist()) <= {0, 1, 2}
    if METHODS[name].soft:
        np.testing.assert_array_equal(places.memberships, found.predict_proba(NEW))
        assert list(places.columns()) == ["cluster", "probability", "second_cluster"]
        by_probability = np.argsort(-places.memberships, axis=1, kind="stable")
        np.testing.assert_array_equal(places.second, by_probability[:, 1])
    for values in places.columns().values():
        assert values.shape == (len(NEW),)


def test_columns_have_the_names_and_decimals_of_labels_csv():
    columns = Places(np.array([1]), np.array([0.123456789]), np.array([0]), np.array([1 / 3])).columns()
    assert {name: values.tolist() for name, values in columns.items()} == {
        "cluster": [1],
        "distance": [0.123457],
        "second_cluster": [0],
        "silhouette": [0.333333],
    }


def test_a_sample_without_values_is_in_no_cluster_and_has_no_second_one():
    found = SASClustering(3, n_features_to_select=24).fit(CORNERS)
    new = NEW[:3].copy()
    new[1, found.support_] = np.nan
    with pytest.warns(UserWarning, match="1 of 3 samples have no observed value") as warned:
        places = place_samples(found, new)
    assert len(warned) == 1
    assert (places.labels[1], places.second[1]) == (-1, -1)
    assert np.isnan([places.distance[1], places.silhouette[1]]).all()
    np.testing.assert_array_equal(places.labels[[0, 2]], found.predict(new[[0, 2]]))


@pytest.mark.parametrize("far", [1e160, 1e300])
@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
def test_samples_very_far_away_have_finite_places(metric, far):
    found = SASClustering(3, n_features_to_select=24, metric=metric).fit(CORNERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        places = place_samples(found, np.vstack([CORNERS[:1] * far, CORNERS[:1]]))
    assert np.isfinite(places.distance).all()
    assert ((places.silhouette >= 0) & (places.silhouette <= 1)).all()
    assert places.distance[0] > places.distance[1]


@pytest.mark.parametrize("method", [COSA(3), SparseHierarchical(3, n_permutations=2)])
def test_methods_that_do_not_predict_cannot_place_samples(method):
    with refuses(f"{type(method).__name__} cannot assign new samples", "SASClustering", error=TypeError):
        place_samples(method.fit(CORNERS), CORNERS)


def test_dask_collections_are_placed_block_by_block():
    da = pytest.importorskip("dask.array")
    found = SASClustering(3, n_features_to_select=24).fit(CORNERS)
    with refuses("takes a table in memory", "map_partitions", error=TypeError):
        place_samples(found, da.from_array(CORNERS, chunks=(10, -1)))
