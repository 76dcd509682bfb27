"""Plain methods are scikit-learn's on the standardized table, and no worse than R's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

from sparsecluster import PlainClustering, rand_index
from sparsecluster.datasets import shifted_groups
from tests.helpers.common import refuses, three_groups, within

pytestmark = pytest.mark.usefixtures("one_thread")

ALGORITHMS = ["kmeans", "kmeans++", "complete", "ward", "spectral", "kmedoids"]
ON_ROWS = ["kmeans", "kmeans++", "ward"]
# Three groups far apart in most of 12 features.
X, TRUTH, _ = three_groups(mu=8.0, n_features=12, n_useful=9)
# Groups that overlap, and columns of different units.
HARD = shifted_groups(mu=1.2, n_features=20, n_useful=10, group_size=12, seed=1).X * np.linspace(0.5, 3.0, 20)


def fit(table=X, algorithm="kmeans++", **parameters):
    if algorithm == "kmedoids":
        pytest.importorskip("kmedoids")
    return PlainClustering(**{"n_clusters": 3, "algorithm": algorithm, **parameters}).fit(table)


def coordinates(table, standardize=True):
    """Centered; where standardized, every column with a sum of squares of 1."""
    centered = table - table.mean(axis=0)
    return centered / np.sqrt((centered**2).sum(axis=0)) if standardize else centered


def squared_distances(table):
    return ((table[:, None] - table) ** 2).sum(axis=2)


def medoids_cost(apart, labels):
    """Sum of the dissimilarities of all samples to the best medoid of their group."""
    return sum(apart[np.ix_(labels == c, labels == c)].sum(axis=0).min() for c in np.unique(labels))


# ---------------------------------------------------------------- scikit-learn called directly


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_clear_groups_are_found_by_every_method(algorithm):
    found = fit(algorithm=algorithm)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(X), TRUTH)
    assert found.support_.all()


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(("algorithm", "init"), [("kmeans", "random"), ("kmeans++", "k-means++")])
def test_k_means_is_that_of_scikit_learn(algorithm, init, standardize):
    """Where groups are clear enough for thirty starts to find the best value there is."""
    some = np.column_stack([X, HARD[:30, 12:]])
    table = coordinates(some, standardize)
    direct = KMeans(3, init=init, n_init=100, random_state=0).fit(table)
    found = fit(some, algorithm, standardize=standardize)
    assert within(table, found.labels_).sum() == pytest.approx(direct.inertia_, rel=1e-9)
    assert rand_index(found.labels_, direct.labels_) == 1.0


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(("algorithm", "init"), [("kmeans", "random"), ("kmeans++", "k-means++")])
def test_k_means_is_asked_for_thirty_starts_on_the_standardized_table(monkeypatch, algorithm, init, standardize):
    given = []

    def watched(self, table):
        given.append((self.init, self.n_init, self.n_clusters, table.copy()))
        return fit_predict(self, table)

    fit_predict = KMeans.fit_predict
    monkeypatch.setattr(KMeans, "fit_predict", watched)
    fit(HARD, algorithm, standardize=standardize)
    [(*settings, table)] = given
    assert settings == [init, 30, 3]
    expected = coordinates(HARD, standardize)
    # Rows and columns come in an order of their own.
    for values in (lambda rows: rows, squared_distances):
        found = np.sort(values(table).ravel())
        np.testing.assert_allclose(found, np.sort(values(expected).ravel()), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_ward_is_that_of_scikit_learn(k, standardize):
    direct = AgglomerativeClustering(k, linkage="ward").fit(coordinates(HARD, standardize))
    assert rand_index(fit(HARD, "ward", n_clusters=k, standardize=standardize).labels_, direct.labels_) == 1.0


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_complete_linkage_is_that_of_scikit_learn(k, standardize):
    """The order of merges is the same for distances and for their squares."""
    direct = AgglomerativeClustering(k, linkage="complete").fit(coordinates(HARD, standardize))
    assert rand_index(fit(HARD, "complete", n_clusters=k, standardize=standardize).labels_, direct.labels_) == 1.0


@pytest.mark.parametrize("standardize", [True, False])
def test_spectral_clustering_is_that_of_scikit_learn_with_the_documented_affinity(standardize):
    apart = squared_distances(coordinates(HARD, standardize))
    affinity = np.exp(-apart / (2 * np.median(apart[np.triu_indices_from(apart, 1)])))
    direct = SpectralClustering(3, affinity="precomputed", n_init=30, random_state=0).fit_predict(affinity)
    assert rand_index(fit(HARD, "spectral", standardize=standardize).labels_, direct) == 1.0


@pytest.mark.parametrize("standardize", [True, False])
def test_k_medoids_cannot_be_improved_by_swapping_a_medoid(standardize):
    """The medoids of its groups: no other choice of two of them and any sample is cheaper."""
    apart = squared_distances(coordinates(HARD, standardize))
    labels = fit(HARD, "kmedoids", standardize=standardize).labels_
    members = [np.flatnonzero(labels == c) for c in range(3)]
    medoids = [group[apart[np.ix_(group, group)].sum(axis=0).argmin()] for group in members]
    cost = apart[:, medoids].min(axis=1).sum()
    assert cost == pytest.approx(medoids_cost(apart, labels), rel=1e-12)
    for place in range(3):
        others = [medoids[c] for c in range(3) if c != place]
        assert min(apart[:, [*others, i]].min(axis=1).sum() for i in range(36)) >= cost * (1 - 1e-12)


def test_k_medoids_has_no_chance_in_it_but_the_seed():
    one, other = (fit(HARD, "kmedoids") for _ in range(2))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    apart = squared_distances(coordinates(HARD))
    costs = [medoids_cost(apart, fit(HARD, "kmedoids", random_state=seed).labels_) for seed in range(4)]
    assert max(costs) == pytest.approx(min(costs), rel=1e-9)


# ---------------------------------------------------------------- R


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_complete_linkage_gives_the_groups_of_r(reference, data):
    result = reference.result(data, "hclust-complete")
    found = fit(reference.table(data), "complete", n_clusters=result["k"], standardize=False)
    assert rand_index(found.labels_, result["labels"]) == 1.0


def test_k_medoids_of_words_costs_no_more_than_pam_of_r(reference):
    result = reference.result("binary", "pam-hamming")
    table = reference.table("binary")
    apart = (table[:, None] != table).sum(axis=2).astype(float)
    assert apart[:, np.array(result["medoids"]) - 1].min(axis=1).sum() == result["objective"]
    found = fit(table, "kmedoids", n_clusters=3, metric="hamming", standardize=False)
    assert medoids_cost(apart, found.labels_) <= result["objective"]


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_order_of_rows_and_columns_does_not_matter(algorithm):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(36), rng.permutation(20)
    one, other = fit(HARD, algorithm), fit(HARD[np.ix_(rows, columns)], algorithm)
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.feature_scores_, one.feature_scores_[columns])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_units_matter_only_where_columns_are_not_standardized(algorithm):
    table = X * np.where(np.arange(12) == 11, 1e4, 1.0)
    np.testing.assert_array_equal(fit(table, algorithm).labels_, TRUTH)
    raw, on_one = (fit(each, algorithm, standardize=False).labels_ for each in (table, table[:, [11]]))
    assert rand_index(raw, on_one) == 1.0
    assert rand_index(raw, TRUTH) < 1.0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_sparse_matrix_is_the_same_table(algorithm):
    table = np.where(np.abs(X) > 1.0, X, 0.0)
    one, other = fit(table, algorithm), fit(scipy.sparse.csr_array(table), algorithm)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.feature_scores_, one.feature_scores_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_few_missing_values_do_not_hide_clear_groups(algorithm):
    """Each group has columns of its own in which it is far from the others."""
    rng = np.random.default_rng(0)
    table = 6.0 * np.eye(3)[TRUTH][:, np.arange(12) % 3] + rng.normal(size=X.shape)
    table[rng.random(X.shape) < 0.1] = np.nan
    found = fit(table, algorithm)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(table), TRUTH)


@pytest.mark.parametrize("algorithm", ["complete", "spectral", "kmedoids"])
def test_methods_on_pairs_take_any_dissimilarity(algorithm):
    apart = np.abs(X.T[:, :, None] - X.T[:, None, :])
    for found in (fit(X, algorithm, metric="manhattan"), fit(apart, algorithm, metric="precomputed")):
        np.testing.assert_array_equal(found.labels_, TRUTH)


def test_the_dissimilarity_of_all_features_is_the_sum_of_theirs():
    """Complete linkage of given matrices is that of scikit-learn on their sum, each with a total of 1."""
    apart = np.abs(HARD.T[:, :, None] - HARD.T[:, None, :])
    summed = (apart / apart.sum(axis=(1, 2), keepdims=True)).sum(axis=0)
    direct = AgglomerativeClustering(3, metric="precomputed", linkage="complete").fit(summed)
    for found in (fit(HARD, "complete", metric="manhattan"), fit(apart, "complete", metric="precomputed")):
        assert rand_index(found.labels_, direct.labels_) == 1.0


def test_tables_with_names_keep_them():
    frame = pd.DataFrame(X).add_prefix("gene").assign(group=np.array(["a", "b", "c"])[TRUTH])
    found = fit(frame, "ward")
    assert found.get_feature_names_out().tolist() == list(frame.columns)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    assert found.feature_scores_[-1] == pytest.approx(1.0)


def test_constant_columns_are_kept_out():
    with pytest.warns(UserWarning, match="1 column is constant"):
        found = fit(np.insert(X, 4, 7.0, axis=1))
    assert np.flatnonzero(~found.support_).tolist() == [4]
    np.testing.assert_array_equal(found.labels_, TRUTH)


# ---------------------------------------------------------------- new samples, seeds


@pytest.mark.parametrize("standardize", [True, False])
def test_new_samples_join_the_nearest_center(standardize):
    found, new = fit(HARD, standardize=standardize), np.random.default_rng(0).normal(0.0, 2.0, (100, 20))
    units = HARD.std(axis=0) if standardize else np.ones(20)
    centers = np.array([HARD[found.labels_ == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(found.cluster_centers_, centers, rtol=1e-12)
    apart = (((new[:, None] - centers) / units) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.predict(new), apart.argmin(axis=1))
    left = (new - centers[apart.argmin(axis=1)]) ** 2
    assert found.score(new) == pytest.approx(1 - (left.mean(axis=0) / HARD.var(axis=0)).mean(), rel=1e-9)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_seed_decides_everything(algorithm):
    noise = np.random.default_rng(0).normal(size=(40, 15))
    one, other = (fit(noise, algorithm, random_state=seed).labels_ for seed in (5, np.random.RandomState(5)))
    np.testing.assert_array_equal(one, other)


def test_a_seed_does_not_disturb_the_global_one():
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for algorithm in ALGORITHMS:
        fit(algorithm=algorithm)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize("algorithm", ON_ROWS)
def test_methods_on_coordinates_refuse_dissimilarities(algorithm):
    for table, metric in ((X, "manhattan"), (np.abs(X.T[:, :, None] - X.T[:, None, :]), "precomputed")):
        with refuses("needs coordinates"):
            fit(table, algorithm, metric=metric)


@pytest.mark.parametrize("algorithm", ON_ROWS)
def test_the_refusal_of_dissimilarities_speaks_of_the_parameter_that_is_there_and_of_its_values(algorithm):
    with refuses("algorithm", algorithm.replace("+", r"\+"), "coordinates", "complete") as seen:
        fit(X, algorithm, metric="manhattan")
    assert "kmedoids" in str(seen.value)
    assert "hillclimb" not in str(seen.value)


@pytest.mark.parametrize("algorithm", ["x", None, 3, "k-means"])
def test_methods_that_are_not_there_are_refused(algorithm):
    with refuses("algorithm must be one of", "kmeans", "spectral", f"got {algorithm!r}"):
        fit(algorithm=algorithm)


@pytest.mark.parametrize(("name", "value"), [("n_clusters", 1), ("n_clusters", 31), ("standardize", "no")])
def test_parameters_that_make_no_sense_are_refused(name, value):
    with refuses(f"{name} must be", f"got {value!r}"):
        fit(**{name: value})


@pytest.mark.parametrize("algorithm", ["complete", "spectral", "kmedoids"])
def test_more_samples_than_pairs_can_be_looked_at_are_refused(monkeypatch, algorithm):
    monkeypatch.setattr("sparsecluster.methods._bounded.MOST_PAIRED", 29)
    with refuses("number of samples", r"\[2, 29\]", "got 30", "PlainClustering"):
        fit(algorithm=algorithm)
    np.testing.assert_array_equal(fit(algorithm="kmeans").labels_, TRUTH)
