"""An assessment says what is there, for every method and kind of table, and depends on nothing but data and seed."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import sparsecluster._utils.parallel
from sparsecluster import SASClustering, SparseKMeans, assess
from sparsecluster._utils import journal
from sparsecluster.datasets import shifted_groups
from sparsecluster.evidence import _assess
from sparsecluster.inspection import inspect
from sparsecluster.methods.registry import METHODS
from tests.helpers.blocks import words
from tests.helpers.cases import some
from tests.helpers.methods import CORNERS, TRUTH, quick

GROUPS = shifted_groups(mu=1.2, n_features=60, n_useful=15, group_size=20, seed=1)
NOISE = np.random.default_rng(0).standard_normal((60, 60))
# No more than is needed to see what is tested.
FEW = {"n_copies": 19, "n_paths": 1, "n_repeats": 1, "n_splits": 3}


def told(table, k=3, **parameters):
    return assess(SASClustering(k, n_permutations=3, **parameters), table, **FEW)


def same(one, other):
    """Whether two assessments say the same to the last bit."""
    parts = []
    for each in (one, other):
        frames = each.features.frame().sort_index(), each.clusters.frame().drop(columns="verdict")
        values = [np.nan_to_num(frame.to_numpy(float), nan=-9.0).tobytes() for frame in frames]
        parts.append((each.p_independent, each.p_one_group, each.agreement, values))
    return parts[0] == parts[1]


@pytest.fixture(scope="module")
def groups():
    return assess(SASClustering(3), GROUPS.X, n_copies=39)


@pytest.fixture(scope="module")
def noise():
    return assess(SASClustering(3), NOISE, n_copies=39)


# ---------------------------------------------------------------- what it says


def test_groups_are_shown_with_their_features(groups):
    assert groups.verdict == "groups"
    assert groups.n_clusters == 3
    assert groups.clusters.words == ("solid",) * 3
    assert groups.agreement > 0.5 > groups.agreement_null.max()
    assert groups.features.listed[GROUPS.useful].mean() > 0.9
    assert groups.features.listed[~GROUPS.useful].mean() < 0.1
    assert groups.features.frequency[GROUPS.useful].min() > groups.features.frequency[~GROUPS.useful].mean()
    assert groups.summary().startswith("There are groups")


def test_nothing_is_shown_in_noise(noise):
    assert noise.verdict == "nothing"
    assert noise.n_clusters == 1
    assert not noise.features.listed.any()
    assert (noise.pairs.q == 1.0).all()
    assert "solid" not in noise.clusters.words
    assert noise.summary().startswith("There is no evidence of groups")


def test_a_trend_is_no_groups():
    rng = np.random.default_rng(1)
    table = rng.standard_normal((90, 1)) @ rng.standard_normal((1, 80)) + rng.standard_normal((90, 80))
    found = assess(SASClustering(3), table, n_copies=39)
    assert found.p_independent < 0.05 < found.p_one_group
    assert found.verdict == "trend"
    assert found.n_clusters == 1
    assert not found.features.listed.any()
    assert "solid" not in found.clusters.words


def test_samples_in_a_wrong_cluster_are_less_sure():
    X, truth, _ = shifted_groups(mu=0.8, n_features=60, n_useful=15, seed=2)
    found = assess(SASClustering(3), X, **{**FEW, "n_repeats": 5})
    # The groups are in a row, and the clusters are numbered by size.
    names = {c: np.bincount(truth[found.samples.labels == c]).argmax() for c in range(3)}
    wrong = np.array([names[c] for c in found.samples.labels.tolist()]) != truth
    assert 3 < wrong.sum() < 30
    assert found.samples.confidence[wrong].mean() < found.samples.confidence[~wrong].mean() - 0.05
    assert (found.samples.second[found.samples.confidence < 1] >= 0).all()


def test_pairs_have_the_differences_of_their_clusters(groups):
    frame = groups.pairs.frame().set_index(["feature", "first", "second"])
    name = groups.pairs.features[0]
    column = GROUPS.X[:, int(name[1:])]
    for (_, c, d), row in frame.loc[[name]].iterrows():
        expected = column[groups.samples.labels == c].mean() - column[groups.samples.labels == d].mean()
        # Held-out samples may be in other clusters, but few are.
        assert row["difference"] == pytest.approx(expected, abs=0.5)
        assert row["low"] < row["difference"] < row["high"]


def test_every_part_has_a_table_and_a_picture(groups, noise):
    import matplotlib.pyplot as plt

    for each in (groups, noise):
        assert list(each.frame().columns) == ["p", "rejected"]
        assert len(each.samples.frame()) == 60
        assert len(each.features.frame()) == 60
        assert len(each.clusters.frame()) == 3
        assert len(each.pairs.frame()) == 3 * len(each.pairs.features)
        for part in (each.clusters, each.samples, each.features, each.pairs):
            assert part.plot() is not None
        assert len(each.plot().axes) >= 3
        plt.close("all")


def test_stable_features_come_with_bounds(groups):
    stable, general, unimodal = groups.features.stable(0.8)
    assert stable[GROUPS.useful].mean() > 0.5
    assert 0 < unimodal < general


# ---------------------------------------------------------------- for everything


@pytest.mark.parametrize("name", some(METHODS))
@pytest.mark.usefixtures("less_work")
def test_every_method_can_be_assessed(name):
    # A stepwise search through all features takes long.
    table = CORNERS[:, ::4] if name == "raftery-dean" else CORNERS
    found = assess(quick(name).fit(table), table, **FEW)
    assert found.p_independent <= 0.05
    assert 0 < found.p_one_group <= 1
    assert found.clusters.stability.shape == (3,)
    assert found.samples.confidence.shape == TRUTH.shape
    assert found.features.q.shape == (table.shape[1],)


def levels(n=90):
    rng = np.random.default_rng(3)
    truth = np.arange(n) % 3
    noise = rng.integers(0, 3, (n, 30))
    noise[:, :8] = np.where(rng.random((n, 8)) < 0.85, truth[:, None], noise[:, :8])
    return pd.DataFrame(noise).map(lambda value: "abc"[value])


TABLES = {
    "missing values": (np.where(np.random.default_rng(1).random((60, 60)) < 0.1, np.nan, GROUPS.X), {}),
    "sparse": (scipy.sparse.csr_array(np.maximum(GROUPS.X, 0)), {}),
    "words": (words(n=90), {}),
    "words and missing values": (words(n=90, missing=0.05), {}),
    "levels": (levels(), {}),
    "numbers as levels": (GROUPS.X.round(), {"metric": "hamming"}),
    "manhattan": (GROUPS.X, {"metric": "manhattan"}),
    "groups of columns": (GROUPS.X, {"feature_groups": {"a": [0, 1, 2], "b": [20, 21]}}),
    "own units": (GROUPS.X, {"standardize": False}),
    "size given": (GROUPS.X, {"n_features_to_select": 10}),
    "core": (GROUPS.X, {"n_features_to_select": "core"}),
    "trimmed": (GROUPS.X, {"trim": 0.1}),
    "size by the BIC": (GROUPS.X, {"criterion": "bic"}),
}


@pytest.mark.parametrize(("table", "parameters"), TABLES.values(), ids=TABLES)
def test_every_kind_of_table_can_be_assessed(table, parameters):
    found = told(table, **parameters)
    # The groups are hard to find in rounded numbers that are only equal or not.
    assert found.p_independent <= (0.3 if parameters.get("metric") == "hamming" else 0.05)
    assert 0 < found.p_one_group <= 1
    assert np.isfinite(found.agreement)
    usable = ~np.isnan(found.features.q)
    assert ((found.features.q[usable] >= 0) & (found.features.q[usable] <= 1)).all()
    assert (found.features.low[usable] <= found.features.effect[usable]).all()
    assert (found.features.effect[usable] <= found.features.high[usable]).all()


def test_levels_are_listed_if_they_differ():
    found = told(levels())
    assert found.verdict == "groups"
    assert found.features.listed[:8].all()
    assert found.features.listed[8:].mean() < 0.2


def test_matrices_have_stability_but_no_values():
    apart = np.array([(column[:, None] - column) ** 2 for column in GROUPS.X.T[:25]])
    found = told(apart, metric="precomputed", n_features_to_select=10)
    assert found.p_one_group is None
    assert found.verdict == "dependence"
    assert np.isnan(found.features.q).all()
    assert found.clusters.stability.min() > 0.5
    assert len(found.pairs.frame()) == 0
    assert "was not tested" in found.summary()


def test_samples_in_no_cluster_are_not_assessed():
    table = np.vstack([GROUPS.X, np.full((2, 60), 30.0)])
    found = assess(SASClustering(3, trim=0.1, n_permutations=3), table, **FEW)
    assert np.isnan(found.samples.confidence[found.samples.labels == -1]).all()
    assert found.n_assessed == int((found.samples.labels >= 0).sum()) <= 60


def test_of_many_samples_a_part_is_assessed(monkeypatch):
    monkeypatch.setattr(_assess, "MOST_SAMPLES", 40)
    found = told(GROUPS.X)
    assert found.n_assessed == 40
    assert np.isfinite(found.samples.confidence).sum() <= 40
    assert found.clusters.sizes.sum() == 60


# ---------------------------------------------------------------- it depends on data, parameters and seed only


def test_a_fitted_estimator_is_assessed_as_it_is():
    estimator = SASClustering(3, n_permutations=3)
    alone = assess(estimator, GROUPS.X, **FEW)
    assert not hasattr(estimator, "labels_")
    fitted = estimator.fit(GROUPS.X)
    labels = fitted.labels_
    assert same(alone, assess(fitted, GROUPS.X, **FEW))
    assert same(alone, assess(fitted, fitted.read(GROUPS.X), **FEW))
    assert fitted.labels_ is labels


@pytest.mark.parametrize("make", [SASClustering, SparseKMeans])
def test_threads_do_not_change_it(make, monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    one, two = (assess(make(3, n_permutations=3, n_jobs=n_jobs), GROUPS.X, **FEW) for n_jobs in (1, 2))
    assert same(one, two)


def test_the_order_of_samples_and_features_does_not_change_it():
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(60), rng.permutation(60)
    frame = pd.DataFrame(GROUPS.X, columns=[f"g{j:02}" for j in range(60)])
    one, other = told(frame), told(frame.iloc[rows, columns])
    assert same(one, other)
    np.testing.assert_array_equal(one.samples.confidence[rows], other.samples.confidence)


def test_the_seed_changes_it_and_nothing_else_does():
    estimator = SASClustering(3, n_permutations=3).fit(GROUPS.X)
    first, again, other = (assess(estimator, GROUPS.X, random_state=seed, **FEW) for seed in (3, 3, 4))
    assert same(first, again)
    assert not same(first, other)


def test_an_interrupted_assessment_is_continued(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path))
    expected = told(GROUPS.X)
    real, calls = _assess.null_agreement, []

    def interrupted(*given):
        calls.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(_assess, "null_agreement", interrupted)
    with pytest.raises(KeyboardInterrupt):
        told(GROUPS.X)
    assert len(list(tmp_path.rglob("assess-*.jsonl"))) == 1
    monkeypatch.setattr(_assess, "null_agreement", real)
    searched = []
    monkeypatch.setattr(_assess, "fit_parts", recording(_assess.fit_parts, searched))
    assert same(expected, told(GROUPS.X))
    assert not list(tmp_path.rglob("assess-*.jsonl"))


def recording(function, calls):
    def run(*given, **options):
        calls.append(given)
        return function(*given, **options)

    return run


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_copies": 0}, "n_copies must be"),
        ({"n_folds": 1}, "n_folds must be"),
        ({"n_repeats": 0}, "n_repeats must be"),
        ({"n_splits": 2.5}, "n_splits must be"),
        ({"alpha": 0.0}, "alpha must be a number above 0 and below 1"),
        ({"fdr": "low"}, "fdr must be a number above 0 and below 1"),
    ],
)
def test_bad_parameters_are_refused_before_work_starts(parameters, message, monkeypatch):
    monkeypatch.setattr(_assess, "fitted", lambda *given: pytest.fail("work has started"))
    with pytest.raises((ValueError, TypeError), match=message):
        assess(SASClustering(3), GROUPS.X, **parameters)


def test_an_estimator_of_another_table_is_refused():
    fitted = SASClustering(3, n_permutations=3).fit(GROUPS.X)
    with pytest.raises(ValueError, match="fitted to 60 samples, but X has 50 rows"):
        assess(fitted, GROUPS.X[:50])


def test_a_collection_is_refused():
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="needs a table in memory"):
        assess(SASClustering(3), dask.from_array(GROUPS.X, chunks=30))


def test_views_and_assessments_number_samples_alike(groups):
    view = inspect(SASClustering(3).fit(GROUPS.X), GROUPS.X)
    np.testing.assert_array_equal(view.labels, groups.samples.labels)
