"""COSA on tables of every kind: how samples are compared, what must not matter, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.spatial.distance import squareform

import sparsecluster._utils.parallel
import sparsecluster.methods._bounded
import sparsecluster.methods.cosa
from sparsecluster import COSA
from sparsecluster.datasets import mixed_groups, shifted_groups
from tests.helpers.common import refuses
from tests.helpers.cosa import BOTH, EASY, HARD, TRUTH, by_pair, differences, fit

RNG = np.random.default_rng(7)
NUMBERS = RNG.normal(size=(20, 4))
LETTERS = np.array(["a", "b", "c", "d"], dtype=object)[RNG.integers(0, 4, (20, 3))]
RANKS = RNG.integers(0, 5, (20, 2))
# Compared by the plain sum of dissimilarities, each with mean 1, over the number of features.
ALL_ALIKE = {"penalty": 1e6, "max_iter": 1}


def unlike(column):
    return (np.asarray(column)[:, None] != np.asarray(column)).astype(float)


def with_missing(table, share=0.1):
    return np.where(np.random.default_rng(0).random(table.shape) < share, np.nan, table)


# ---------------------------------------------------------------- how samples are compared


def frame_of_all_kinds():
    ordered = pd.CategoricalDtype(["none", "some", "more", "much", "most"], ordered=True)
    columns = {f"number{a}": NUMBERS[:, a] for a in range(4)}
    columns |= {f"letter{a}": pd.Categorical(LETTERS[:, a]) for a in range(3)}
    columns |= {f"rank{a}": pd.Categorical.from_codes(RANKS[:, a], dtype=ordered) for a in range(2)}
    return pd.DataFrame(columns)


NUMBER_MATRICES = [differences(column) for column in NUMBERS.T]
LEVEL_MATRICES = [*map(unlike, LETTERS.T), *(differences(column.astype(float)) for column in RANKS.T)]


@pytest.mark.parametrize(
    ("table", "metric", "matrices"),
    [
        (NUMBERS, "auto", NUMBER_MATRICES),
        (NUMBERS, "sqeuclidean", NUMBER_MATRICES),
        (NUMBERS, "manhattan", NUMBER_MATRICES),
        (scipy.sparse.csr_array(NUMBERS), "auto", NUMBER_MATRICES),
        (NUMBERS, lambda x, y: abs(x - y) ** 3, [matrix**3 for matrix in NUMBER_MATRICES]),
        (LETTERS, "auto", LEVEL_MATRICES[:3]),
        (frame_of_all_kinds(), "auto", NUMBER_MATRICES + LEVEL_MATRICES),
        (np.array(NUMBER_MATRICES) ** 2, "precomputed", [matrix**2 for matrix in NUMBER_MATRICES]),
        (NUMBERS > 0, "auto", [unlike(column) for column in (NUMBERS > 0).T]),
    ],
    ids=["numbers", "sqeuclidean", "manhattan", "sparse", "function", "text", "mixed", "precomputed", "truth values"],
)
def test_features_of_every_kind_have_the_same_mean_and_count_alike(table, metric, matrices):
    found = fit(table, metric=metric, **ALL_ALIKE)
    expected = squareform(by_pair(*matrices).mean(axis=1))
    np.testing.assert_allclose(found.dissimilarity_, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("table", [EASY, HARD, HARD.round(), 1e6 + HARD], ids=["easy", "hard", "rounded", "large"])
def test_numbers_are_compared_by_their_distance(table):
    auto, manhattan = fit(table), fit(table, metric="manhattan")
    np.testing.assert_allclose(auto.dissimilarity_, manhattan.dissimilarity_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(auto.sample_weights_, manhattan.sample_weights_, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(auto.labels_, manhattan.labels_)


def test_numbers_with_missing_values_are_compared_by_their_distance_too():
    table = with_missing(HARD)
    auto, manhattan = fit(table, **ALL_ALIKE), fit(table, metric="manhattan", **ALL_ALIKE)
    np.testing.assert_allclose(auto.dissimilarity_, manhattan.dissimilarity_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("metric", ["manhattan", "hamming"])
def test_a_pair_that_is_not_seen_is_an_average_pair(metric):
    table = with_missing(HARD if metric == "manhattan" else RNG.integers(0, 3, (36, 8)).astype(float))
    matrices = []
    for column in table.T:
        seen = ~np.isnan(column)
        both = np.outer(seen, seen) & ~np.eye(36, dtype=bool)
        matrix = differences(column) if metric == "manhattan" else unlike(column)
        matrices.append(np.where(np.eye(36, dtype=bool), 0.0, np.where(both, matrix, matrix[both].mean())))
    found = fit(table, metric=metric, **ALL_ALIKE)
    np.testing.assert_allclose(found.dissimilarity_, squareform(by_pair(*matrices).mean(axis=1)), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- clear groups in every kind of table


def clear_categories():
    own = (TRUTH[:, None] + np.arange(8)) % 3
    other = np.random.default_rng(0).integers(0, 3, (30, 4))
    return pd.DataFrame(np.array(list("abc"), dtype=object)[np.column_stack([own, other])]).add_prefix("c")


def clear_mixture():
    design = mixed_groups(n_features=24, n_useful=18, group_size=14, shift=5.0, likely=0.9, missing=0.05, seed=1)
    return design.X.iloc[np.r_[0:14, 14:24, 28:34]].reset_index(drop=True)


@BOTH
@pytest.mark.parametrize(
    ("make", "metric"),
    [
        (lambda: with_missing(EASY, 0.05), "auto"),
        (lambda: EASY, "manhattan"),
        (lambda: [differences(column) for column in EASY.T], "precomputed"),
        (clear_categories, "auto"),
        (clear_mixture, "auto"),
        (lambda: scipy.sparse.csr_array(EASY), "auto"),
        (lambda: EASY.astype(np.float32), "auto"),
    ],
    ids=["missing values", "manhattan", "precomputed", "categories", "mixed", "sparse", "float32"],
)
def test_clear_groups_are_found_in_every_kind_of_table(weights, make, metric):
    found = fit(make(), weights=weights, metric=metric)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    assert found.feature_weights_.sum() == pytest.approx(1.0)
    assert found.support_.all()


# ---------------------------------------------------------------- what must not matter


@BOTH
@pytest.mark.parametrize("kind", ["numbers", "missing values", "mixed", "precomputed"])
def test_order_of_rows_and_columns_does_not_matter(weights, kind):
    if kind == "mixed":
        table = mixed_groups(n_features=12, n_useful=6, group_size=12, seed=2).X
    else:
        table = with_missing(HARD) if kind == "missing values" else HARD
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(table.shape[0]), rng.permutation(table.shape[1])
    other = table.iloc[rows, columns] if kind == "mixed" else table[np.ix_(rows, columns)]
    if kind == "precomputed":
        table, other = (np.array([differences(column) for column in each.T]) for each in (table, other))
    metric = "precomputed" if kind == "precomputed" else "auto"
    one, two = (fit(each, weights=weights, metric=metric) for each in (table, other))
    np.testing.assert_array_equal(two.labels_, one.labels_[rows])
    np.testing.assert_array_equal(two.feature_weights_, one.feature_weights_[columns])
    np.testing.assert_array_equal(two.feature_scores_, one.feature_scores_[columns])
    if weights == "samples":
        np.testing.assert_array_equal(two.sample_weights_, one.sample_weights_[np.ix_(rows, columns)])
        np.testing.assert_array_equal(two.dissimilarity_, one.dissimilarity_[np.ix_(rows, rows)])
    assert two.penalty_ == one.penalty_


@BOTH
def test_threads_do_not_change_the_answer(monkeypatch, weights):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    one, two = (fit(HARD, weights=weights, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(two.labels_, one.labels_)
    np.testing.assert_array_equal(two.feature_weights_, one.feature_weights_)
    if weights == "common":
        np.testing.assert_array_equal(two.gap_curve_.score, one.gap_curve_.score)


@BOTH
def test_units_and_origins_do_not_matter(weights):
    factors = 10.0 ** np.random.default_rng(0).integers(-4, 5, 12)
    one, other = (fit(table, weights=weights, penalty=0.2) for table in (EASY, EASY * factors + factors))
    np.testing.assert_allclose(other.feature_weights_, one.feature_weights_, rtol=1e-6)
    np.testing.assert_array_equal(other.labels_, one.labels_)


# ---------------------------------------------------------------- errors


@BOTH
@pytest.mark.parametrize("penalty", [0, -1, "x", np.nan, np.inf, True, None])
def test_a_penalty_is_a_number_above_zero(weights, penalty):
    with refuses('penalty must be "auto" or a number above 0', "got"):
        fit(EASY, weights=weights, penalty=penalty)


@pytest.mark.parametrize("near", [0, -1, 30, 31, 2.5, "x", None, True])
def test_neighbors_are_a_number_of_other_samples(near):
    with refuses("n_neighbors must be", f"got {near!r}"):
        fit(EASY, n_neighbors=near)


def test_all_other_samples_may_be_neighbors():
    assert fit(EASY, n_neighbors=29).sample_weights_.shape == (30, 12)
    assert fit(EASY[:2], n_clusters=2).sample_weights_.shape == (2, 12)


@pytest.mark.parametrize("clusterer", ["kmeans", "ward"])
def test_weights_of_samples_leave_no_coordinates_to_cluster_by(monkeypatch, clusterer):
    monkeypatch.setattr(sparsecluster.methods.cosa, "original", None)
    with refuses(f'clusterer="{clusterer}" needs coordinates', '"average"'):
        fit(EASY, clusterer=clusterer)
    # In common they do.
    np.testing.assert_array_equal(fit(EASY, weights="common", clusterer=clusterer).labels_, TRUTH)


def test_weights_are_for_samples_or_in_common():
    with refuses('weights must be one of "samples", "common"', "got 'sample'", 'Did you mean "samples"'):
        fit(EASY, weights="sample")
    with refuses('weights must be one of "samples", "common"; got 3'):
        fit(EASY, weights=3)


def test_too_many_pairs_and_features_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(sparsecluster.methods.cosa, "MOST_VALUES", 435 * 12 - 1)
    monkeypatch.setattr(sparsecluster.methods.cosa, "dissimilarity", None)
    with refuses("435 pairs of samples in all 12 features", "more than 4 GiB", "fewer", 'weights="common"'):
        fit(EASY)
    np.testing.assert_array_equal(fit(EASY, weights="common").labels_, TRUTH)


def test_as_many_pairs_and_features_as_fit_are_taken(monkeypatch):
    monkeypatch.setattr(sparsecluster.methods.cosa, "MOST_VALUES", 435 * 12)
    np.testing.assert_array_equal(fit(EASY).labels_, TRUTH)


def test_too_many_samples_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(sparsecluster.methods._bounded, "MOST_PAIRED", 29)
    monkeypatch.setattr(sparsecluster.methods.cosa, "by_pair", None)
    with refuses("number of samples", r"\[2, 29\]", "got 30", "COSA looks at all pairs"):
        fit(EASY)
    np.testing.assert_array_equal(fit(EASY, weights="common").labels_, TRUTH)


def test_the_usual_parameters_are_those_of_the_authors():
    found = COSA().fit(shifted_groups(mu=4.0, n_features=6, n_useful=6, group_size=6).X)
    assert found.penalty_ == 0.2
    assert found.gap_curve_ is None
