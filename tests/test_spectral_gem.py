"""Spectral-GEM is the spectrum of a graph of similar samples: eigenvalues by brute force, limits and groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans

from sparsecluster import SpectralGem, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.spectral_gem import eigengap_dimension, graph_spectrum
from tests import naive
from tests.helpers.common import refuses, three_groups

# Three groups that overlap, in columns of different units; their graph is connected.
HARD = shifted_groups(mu=0.7, n_features=60, n_useful=20, group_size=10, seed=3).X * np.linspace(0.5, 2.0, 60)
# Three groups of 14, 10 and 6 samples in all of 30 features.
X, TRUTH, _ = three_groups(mu=3.0, n_features=30, n_useful=30)


def fit(table, n_clusters=3, **parameters):
    return SpectralGem(n_clusters, **parameters).fit(table)


def weights(table, standardize=True):
    """sqrt(max(x_i' x_j, 0)), pair by pair."""
    centered = table - table.mean(axis=0)
    if standardize:
        centered = centered / centered.std(axis=0)
    return np.array([[np.sqrt(max(float(x @ y), 0.0)) for y in centered] for x in centered])


def laplacian(table, standardize=True):
    """I - D^(-1/2) W D^(-1/2), entry by entry."""
    w = weights(table, standardize)
    degrees = w.sum(axis=1)
    n = len(w)
    return np.array([[(i == j) - w[i, j] / np.sqrt(degrees[i] * degrees[j]) for j in range(n)] for i in range(n)])


def far_groups(seed, sizes=(6, 6, 6), noise=0.8):
    """Groups each of which has columns of its own: so far apart that no sample is like one of another group."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    means = np.repeat(np.eye(len(sizes)), 4, axis=1) * 4.0
    return means[truth] + np.random.default_rng(seed).normal(size=(truth.size, 4 * len(sizes))) * noise, truth


def assert_apart(table, truth):
    """Without an edge between groups, so that what the graph says of them is beyond doubt."""
    assert (weights(table)[truth[:, None] != truth] == 0).all()


# ---------------------------------------------------------------- the spectrum


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("table", [HARD, X], ids=["overlapping", "far"])
def test_eigenvalues_are_those_of_the_laplacian(table, standardize):
    found = fit(table, standardize=standardize)
    np.testing.assert_allclose(found.eigenvalues_, np.linalg.eigvalsh(laplacian(table, standardize)), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_eigenvalue_is_zero_and_none_is_above_two(seed):
    values = fit(np.random.default_rng(seed).normal(size=(25, 40))).eigenvalues_
    assert values[0] == pytest.approx(0.0, abs=1e-12)
    assert values[1] > 1e-6
    assert (np.diff(values) >= 0).all()
    assert values[-1] <= 2.0


def test_a_sample_is_placed_by_the_next_eigenvectors_shrunk_by_their_eigenvalues():
    found = fit(HARD, n_components=3)
    values, vectors = np.linalg.eigh(laplacian(HARD))
    expected = vectors[:, 1:4] * np.sqrt(1 - values[1:4])
    signs = np.sign((found.embedding_ * expected).sum(axis=0))
    np.testing.assert_allclose(found.embedding_ * signs, expected, atol=1e-6)
    assert (found.embedding_[np.abs(found.embedding_).argmax(axis=0), np.arange(3)] > 0).all()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_groups_are_k_means_of_the_places(k):
    found = fit(HARD, k, n_components=3)

    places = found.embedding_

    def value(labels):
        return -sum(((places[group] - places[group].mean(axis=0)) ** 2).sum() for group in naive.members(labels))

    assert value(found.labels_) >= -KMeans(k, n_init=30, random_state=0).fit(places).inertia_ - 1e-12
    assert naive.best_after_one_move(value, found.labels_, k) <= value(found.labels_) + 1e-12


def test_groups_that_are_clear_in_all_features_are_found():
    found = fit(X)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    assert found.support_.all()


# ---------------------------------------------------------------- groups without an edge between them


@pytest.mark.parametrize("sizes", [(9, 7), (6, 6, 6), (8, 5, 3), (7, 6, 5, 4)])
def test_there_are_as_many_zero_eigenvalues_as_groups_without_an_edge_between_them(sizes):
    for seed in range(5):
        table, truth = far_groups(seed, sizes, noise=0.3)
        assert_apart(table, truth)
        found = fit(table, len(sizes))
        assert (np.abs(found.eigenvalues_) < 1e-12).sum() == len(sizes)
        assert found.eigenvalues_[len(sizes)] > 0.1
        assert found.n_components_ == len(sizes) - 1
        assert rand_index(truth, found.labels_) == 1.0


@pytest.mark.parametrize("seed", [360, 689, 1592, 2150, 2544])
def test_groups_without_an_edge_between_them_are_found_whatever_basis_of_the_zero_eigenvectors_comes(seed):
    table, truth = far_groups(seed)
    assert_apart(table, truth)
    found = fit(table)
    assert (np.abs(found.eigenvalues_) < 1e-12).sum() == 3
    assert rand_index(truth, found.labels_) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_vector_that_is_left_out_is_the_one_that_says_only_how_many_neighbors_a_sample_has(seed):
    """u_0 = D^(1/2) 1, also where other eigenvalues are zero: what is kept is orthogonal to it."""
    table, truth = far_groups(seed, noise=0.3)
    assert_apart(table, truth)
    root = np.sqrt(weights(table).sum(axis=1))
    found = fit(table, n_components=2)
    np.testing.assert_allclose(found.embedding_.T @ root / np.linalg.norm(root), 0.0, atol=1e-8)


def test_groups_with_nothing_in_common_are_found():
    """Rings of samples in planes of their own: orthogonal, and centered each for itself."""
    angles = 2 * np.pi * np.arange(8) / 8 + 0.1
    ring, zeros = np.column_stack([np.cos(angles), np.sin(angles)]), np.zeros((8, 2))
    table = np.block([[ring, zeros], [zeros, 3 * ring]])
    values, vectors = graph_spectrum(table @ table.T)
    assert (np.abs(values) < 1e-12).sum() == 2
    assert rand_index(fit(table, 2, standardize=False, n_components=1).labels_, np.repeat([0, 1], 8)) == 1.0
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(16), atol=1e-12)


# ---------------------------------------------------------------- the dimension


def dimension_by_hand(values, n, p):
    """One less than the last i with nu_i - nu_{i-1} > -0.00016 + 2.7 / n + 2.3 / p; at least 1."""
    last = 0
    for i in range(1, n):
        if values[i] - values[i - 1] > -0.00016 + 2.7 / n + 2.3 / p:
            last = i
    return max(last - 1, 1)


@pytest.mark.parametrize("table", [HARD, X, *(far_groups(s, (9, 8, 7), 0.3)[0] for s in range(3))])
def test_the_dimension_is_that_of_the_eigengap(table):
    found = fit(table)
    assert found.n_components_ == dimension_by_hand(found.eigenvalues_, *table.shape)
    assert found.embedding_.shape == (len(table), found.n_components_)


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([], 1),
        ([1], 1),
        ([2], 1),
        ([3], 2),
        ([1, 3], 2),
        ([3, 7], 6),
    ],
)
def test_the_last_large_gap_counts(gaps, expected):
    """100 samples and 100 features: gaps above 0.04984 are large."""
    steps = np.zeros(100)
    steps[gaps] = 0.0499
    assert eigengap_dimension(np.cumsum(steps), 100) == expected
    assert eigengap_dimension(np.cumsum(steps * 0.998), 100) == 1
    assert eigengap_dimension(np.cumsum(steps), 90) == 1


@pytest.mark.parametrize("d", [1, 2, 7, 29])
def test_the_dimension_may_be_given(d):
    found = fit(HARD, n_components=d)
    assert found.n_components_ == d
    assert found.embedding_.shape == (30, d)
    more = fit(HARD, n_components=29).embedding_
    np.testing.assert_array_equal(found.embedding_, more[:, :d])


# ---------------------------------------------------------------- order, units, seeds


def test_the_order_of_rows_and_columns_does_not_matter():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(30), rng.permutation(60)
    one, other = fit(HARD, n_components=3), fit(HARD[np.ix_(rows, columns)], n_components=3)
    np.testing.assert_array_equal(other.eigenvalues_, one.eigenvalues_)
    np.testing.assert_array_equal(other.embedding_, one.embedding_[rows])
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.feature_scores_, one.feature_scores_[columns])


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_units_matter_only_where_columns_are_not_standardized(strict, scale):
    units = np.random.default_rng(0).uniform(0.01, 100.0, 60) * scale
    one, other = fit(HARD), fit(HARD * units + 3.0 * scale)
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, atol=1e-6)
    assert rand_index(one.labels_, other.labels_) == 1.0
    raw, scaled = fit(HARD, standardize=False), fit(HARD * 8.0, standardize=False)
    np.testing.assert_allclose(raw.eigenvalues_, scaled.eigenvalues_, atol=1e-9)
    assert not np.allclose(raw.eigenvalues_, one.eigenvalues_, atol=1e-4)


def test_a_seed_decides_everything():
    many = {}
    for seed in range(12):
        many[seed] = fit(HARD, 6, n_init=1, n_components=3, random_state=seed).labels_
        again = fit(HARD, 6, n_init=1, n_components=3, random_state=np.random.RandomState(seed))
        np.testing.assert_array_equal(again.labels_, many[seed])
    assert len({labels.tobytes() for labels in many.values()}) > 1


# ---------------------------------------------------------------- odd samples


@pytest.mark.parametrize("times", [2, 3])
def test_copies_of_a_sample_are_at_the_same_place_and_in_the_same_group(strict, times):
    """The graph of copies has the eigenvectors of the graph of one each, and eigenvalues of 1 besides."""
    alone, found = fit(HARD, n_components=3), fit(np.repeat(HARD, times, axis=0), n_components=3)
    np.testing.assert_allclose(found.embedding_, np.repeat(alone.embedding_, times, axis=0) / times**0.5, atol=1e-7)
    np.testing.assert_array_equal(found.labels_[::times], alone.labels_)
    np.testing.assert_array_equal(found.labels_, np.repeat(found.labels_[::times], times))
    expected = np.sort(np.append(alone.eigenvalues_, np.ones(30 * (times - 1))))
    np.testing.assert_allclose(found.eigenvalues_, expected, atol=1e-7)


def test_a_sample_at_the_very_mean_stays_alone_and_changes_nothing_for_the_others(strict):
    """Whole numbers and their mirror images: the mean is exactly zero."""
    half = np.random.default_rng(0).integers(-8, 9, (12, 20)).astype(float)
    others = np.concatenate([half, -half])
    alone, found = fit(others, 2), fit(np.concatenate([others[:5], np.zeros((1, 20)), others[5:]]), 2)
    expected = np.sort(np.append(alone.eigenvalues_, 1.0))
    np.testing.assert_allclose(found.eigenvalues_, expected, atol=1e-6)
    np.testing.assert_allclose(found.embedding_[5], 0.0, atol=1e-12)
    assert np.isfinite(found.embedding_).all()
    assert rand_index(np.delete(found.labels_, 5), alone.labels_) == 1.0


def test_constant_columns_count_for_nothing():
    table = np.insert(HARD, 7, 2.5, axis=1)
    with pytest.warns(UserWarning, match="1 column is constant"):
        found = fit(table)
    assert np.flatnonzero(~found.support_).tolist() == [7]
    np.testing.assert_allclose(found.eigenvalues_, fit(HARD).eigenvalues_, atol=1e-7)
    assert found.n_components_ == fit(HARD).n_components_


@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (4, 1), (2, 9)])
def test_the_smallest_tables_work(strict, shape):
    found = fit(np.random.default_rng(0).normal(size=shape), 2)
    assert set(found.labels_) == {0, 1}
    assert np.isfinite(found.embedding_).all()


# ---------------------------------------------------------------- refusals


def test_tables_that_have_no_meaning_here_are_refused():
    table = X.copy()
    table[1:3, 5] = np.nan
    with refuses("NaN", "1 of 30 columns", "'x5'", "SpectralGem"):
        fit(table)
    with refuses("sparse", "SpectralGem", "toarray", error=TypeError):
        fit(scipy.sparse.csr_array(X))
    frame = pd.DataFrame(X).add_prefix("gene")
    with refuses("'gene7'", "number"):
        fit(frame.assign(gene7=np.array(["red", "blue"])[TRUTH // 2]))
    with refuses("infinity", "'gene7'"):
        fit(frame.assign(gene7=np.where(TRUTH == 0, np.inf, 0.0)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("n_components", 30),
        ("n_components", 1.5),
        ("n_components", "all"),
        ("n_components", None),
        ("n_clusters", 1),
        ("n_clusters", 31),
        ("n_init", 0),
        ("standardize", 1),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name, value):
    with refuses(f"{name} must be", f"got {value!r}"):
        fit(X, **{name: value})


def test_more_samples_than_pairs_can_be_looked_at_are_refused(monkeypatch):
    monkeypatch.setattr("sparsecluster.methods._bounded.MOST_PAIRED", 29)
    with refuses("number of samples", r"\[2, 29\]", "got 30", "SpectralGem", "sample"):
        fit(X)


def test_there_is_no_place_for_new_samples():
    assert not hasattr(fit(X), "predict")
