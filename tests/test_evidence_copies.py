"""Copies without clusters: they keep what each column is alone, and only the correlation that is not by chance."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import norm, rankdata

from sparsecluster import SASClustering
from sparsecluster.evidence import _copies
from sparsecluster.evidence._copies import by_frequency, one_group, permuted, shuffle_of
from sparsecluster.evidence._copula import (
    drawn_scores,
    factors_of,
    mp_median,
    normal_scores,
    spikes_and_noise,
    unbiased,
)
from sparsecluster.methods.registry import METHODS
from tests.helpers.blocks import counts, numbers, with_gaps, words
from tests.helpers.cases import in_turn
from tests.helpers.kinds import EXACT_ALONE, KINDS, apart_of, make
from tests.helpers.methods import CORNERS, quick, those

pytestmark = pytest.mark.usefixtures("less_work", "one_thread")

N = 80


def matrices(table):
    return np.abs(table.T[:, :, None] - table.T[:, None, :])


# The table, and how it is read. Some columns are constant and left out, and rows are arranged by their contents.
TABLES = {
    "numbers": (numbers(n=N)[0], {}),
    "single precision": (numbers(n=N)[0].astype(np.float32), {}),
    "missing values": (with_gaps(numbers(n=N)[0], share=0.3), {}),
    "groups of columns": (with_gaps(numbers(n=N)[0]), {"feature_groups": {"a": [0, 1], "b": [2, 5]}}),
    "levels": (numbers(n=N)[0].round(), {"metric": "hamming"}),
    "words": (words(n=N), {}),
    "words with missing values": (words(n=N, missing=0.3), {}),
    "sparse": (counts(n=N), {}),
    "sparse with groups": (counts(n=N), {"feature_groups": {"a": [0, 1], "b": [2, 5]}}),
    "matrices": (matrices(numbers(n=N, p=6)[0]), {"metric": "precomputed"}),
}
EVERY_TABLE = pytest.mark.parametrize("name", TABLES)
WITH_MARGINS = pytest.mark.parametrize("name", [name for name in TABLES if name != "matrices"])
COPIES = [permuted, one_group]


def reading_of(name):
    table, parameters = TABLES[name]
    return SASClustering(**parameters).read(table)


def rng(seed=0):
    return np.random.default_rng(seed)


def columns_of(reading, samples=None):
    """The values of the used samples in the used columns; those of a matrix are its entries, row by row."""
    source = reading.source
    samples = source.samples if samples is None else samples
    looks = [source.look(a, samples, samples) for a in source.columns.tolist()]
    return np.column_stack([np.asarray(look, dtype=float).ravel() for look in looks])


def factor_table(n, p, loading, seed=0):
    """Columns that have the correlation loading^2 with each other."""
    draw = rng(seed)
    return loading * draw.standard_normal((n, 1)) + np.sqrt(1 - loading**2) * draw.standard_normal((n, p))


def read(table):
    return SASClustering().read(table)


def off_diagonal(table):
    corr = np.corrcoef(table.T)
    return corr[np.triu_indices(len(corr), 1)]


# ---------------------------------------------------------------- every kind of table


@EVERY_TABLE
def test_a_permuted_copy_has_the_samples_columns_and_values_of_the_data(name):
    reading = reading_of(name)
    copy = permuted(reading, rng())
    np.testing.assert_array_equal(copy.source.samples, reading.source.samples)
    np.testing.assert_array_equal(copy.source.columns, reading.source.columns)
    np.testing.assert_array_equal(copy.source.owners, reading.source.owners)
    mine, theirs = columns_of(copy), columns_of(reading)
    np.testing.assert_array_equal(np.sort(mine, axis=0), np.sort(theirs, axis=0))
    assert all((mine[:, j] != theirs[:, j]).any() for j in range(mine.shape[1]))


@WITH_MARGINS
def test_a_copy_with_one_group_keeps_the_values_of_every_column_and_the_places_of_missing_ones(name):
    reading = reading_of(name)
    mine, theirs = columns_of(one_group(reading, rng())), columns_of(reading)
    np.testing.assert_array_equal(np.sort(mine, axis=0), np.sort(theirs, axis=0))
    np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
    assert all((mine[:, j] != theirs[:, j]).any() for j in range(mine.shape[1]))


@pytest.mark.parametrize("make_copy", COPIES)
@WITH_MARGINS
def test_a_generator_decides_on_the_copy_and_the_data_stay_as_they_were(name, make_copy):
    reading = reading_of(name)
    before = columns_of(reading)
    first, again, other = (columns_of(make_copy(reading, rng(seed))) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)
    np.testing.assert_array_equal(columns_of(reading), before)


@pytest.mark.parametrize("make_copy", COPIES)
@EVERY_TABLE
def test_a_copy_can_be_clustered_and_a_part_of_it_taken(name, make_copy):
    reading = reading_of(name)
    copy = make_copy(reading, rng())
    if name == "matrices" and make_copy is one_group:
        assert copy is None
        return
    found = quick("sas", n_features_to_select=2)._solve(copy.for_clusters(3), 3)
    assert set(found.labels) == {0, 1, 2}
    part = copy.source.take(np.arange(0, N, 2), 2)
    np.testing.assert_array_equal(part.samples, copy.source.samples[::2])


@pytest.mark.filterwarnings("ignore:By the BIC, a single cluster")
@in_turn(name=METHODS, make_copy=COPIES)
def test_every_method_can_be_fitted_to_a_copy(name, make_copy):
    method = quick(name)
    copy = make_copy(method.read(CORNERS), rng())
    found = method._solve(copy, 3)
    assert found.labels.shape == (len(CORNERS),)


@pytest.mark.parametrize("name", those(takes="anything"))
def test_methods_for_any_data_are_fitted_to_copies_of_mixed_tables(name):
    method = quick(name)
    reading = method.read(words(n=20, missing=0.2))
    for make_copy in COPIES:
        assert method._solve(make_copy(reading, rng()), 3).labels.shape == (20,)


@pytest.mark.parametrize("make_copy", COPIES)
@pytest.mark.parametrize("name", ["numbers", "missing values", "sparse"])
def test_samples_that_are_not_used_have_no_part_in_a_copy(name, make_copy):
    reading = reading_of(name)
    part = reading.of_samples(reading.source.take(np.arange(40), 2))
    copy = make_copy(part, rng())
    np.testing.assert_array_equal(copy.source.samples, part.source.samples)
    np.testing.assert_array_equal(np.sort(columns_of(copy), axis=0), np.sort(columns_of(part), axis=0))


def test_matrices_that_are_permuted_are_read_one_by_one():
    asked = []

    def read_matrix(a):
        if a >= 3:
            raise IndexError
        asked.append(a)
        return np.abs(np.subtract.outer(*[rng(a).standard_normal(12)] * 2))

    reading = SASClustering(metric="precomputed").read(read_matrix)
    asked.clear()
    reading = replace(reading, source=replace(reading.source, matrices=reading.source.matrices.arranged(np.arange(12))))
    copy = permuted(reading, rng())
    assert asked == []
    assert not np.array_equal(copy.source.matrices[0], reading.source.matrices[0])


# ---------------------------------------------------------------- permuted copies


@pytest.mark.parametrize("kind", KINDS)
def test_permuting_keeps_what_each_feature_explains_alone(kind):
    case = make(kind)
    reading = replace(read(numbers(n=20)[0]), source=case.source)
    copy, features = permuted(reading, rng()).source.features(), case.source.features()
    np.testing.assert_allclose(copy.total, features.total, rtol=1e-12)
    for a in range(features.n_features):
        mine, theirs = (np.sort(apart_of(each.seen_pairs(np.array([a]))[0]).ravel()) for each in (copy, features))
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    if kind in EXACT_ALONE:
        np.testing.assert_allclose(copy.univariate(2), features.univariate(2), rtol=1e-9)


def test_the_columns_of_a_group_are_permuted_together_and_no_others():
    table = np.column_stack([np.arange(N), np.arange(N), np.arange(N)]) * [1.0, 2.0, 3.0]
    reading = SASClustering(feature_groups={"a": [0, 1]}).read(table)
    copy = permuted(reading, rng()).source.table.values
    np.testing.assert_array_equal(copy[:, 1], 2 * copy[:, 0])
    assert (copy[:, 2] != 3 * copy[:, 0]).sum() > N / 2


def test_permuting_breaks_the_association_of_features():
    reading = read(factor_table(N, 30, 0.9))
    assert off_diagonal(reading.source.table.values).mean() > 0.7
    assert abs(off_diagonal(permuted(reading, rng()).source.table.values).mean()) < 0.05


def test_nobody_loses_all_values_however_many_are_missing():
    """With one observed value for each sample, permutations alone would leave a third of the samples without any."""
    seen = np.eye(3, dtype=bool)[np.arange(60) % 3]
    table = np.where(seen, rng().standard_normal(seen.shape), np.nan)
    reading = read(table)
    for seed in range(20):
        copy = permuted(reading, rng(seed)).source
        assert copy.blank().size == 0
        np.testing.assert_array_equal(np.sort(copy.table.values, axis=0), np.sort(table, axis=0))
        assert shuffle_of(seen, rng(seed)).exchanges


def test_nobody_loses_all_pairs_of_incomplete_matrices():
    table = rng().standard_normal((20, 3))
    table[np.arange(20), np.arange(20) % 3] = np.nan
    table[:6, 0] = np.nan
    table[:6, 1] = np.nan
    table[:6, 2] = np.arange(6)
    every = [np.where(np.eye(20) > 0, 0.0, matrix) for matrix in matrices(table)]
    reading = SASClustering(metric="precomputed").read(every)
    for seed in range(20):
        copy = permuted(reading, rng(seed)).source
        assert np.any([~np.isnan(np.diag(copy.matrices[a])) for a in range(3)], axis=0).all()


# ---------------------------------------------------------------- normal scores


@pytest.mark.parametrize("table", [numbers(n=N)[0], with_gaps(numbers(n=N)[0].round(), share=0.3)])
def test_normal_scores_are_those_of_the_ranks_of_observed_values(table):
    mid = normal_scores(table)
    random = normal_scores(table, rng())
    np.testing.assert_array_equal(np.isnan(random), np.isnan(table))
    for x, score, other in zip(table.T, mid.T, random.T, strict=True):
        known = ~np.isnan(x)
        m = known.sum()
        np.testing.assert_allclose(score[known], norm.ppf((rankdata(x[known]) - 0.5) / m), atol=1e-12)
        # With ties broken, every rank is there once, and larger values have larger scores.
        np.testing.assert_allclose(np.sort(other[known]), ndtri((np.arange(m) + 0.5) / m))
        np.testing.assert_array_equal(x[known][np.argsort(other[known])], np.sort(x[known]))


def test_drawn_scores_are_ordered_as_the_values():
    table = rng().standard_normal((50, 4))
    table[::7, 1] = np.nan
    drawn = drawn_scores(table, rng(1))
    np.testing.assert_array_equal(np.isnan(drawn), np.isnan(table))
    for own, scores in zip(table.T, drawn.T, strict=True):
        seen = ~np.isnan(own)
        np.testing.assert_array_equal(np.argsort(own[seen]), np.argsort(scores[seen]))


def test_drawn_scores_are_a_normal_sample_where_normal_scores_are_too_regular():
    column = rng().random((30, 1))
    drawn = [drawn_scores(column, rng(seed)).var(ddof=1) for seed in range(2000)]
    # The variance of a normal sample has the mean 1 and the variance 2 / (n - 1).
    assert np.mean(drawn) == pytest.approx(1, abs=0.03)
    assert np.var(drawn) == pytest.approx(2 / 29, rel=0.15)
    assert len({normal_scores(rng(seed).random((30, 1))).var().round(12) for seed in range(5)}) == 1


def test_all_columns_are_scored_by_the_same_sample():
    drawn = drawn_scores(rng().random((30, 3)), rng(1))
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(drawn[:, :1], axis=0) * np.ones(3))


def test_ties_are_broken_independently_in_every_column():
    table = np.repeat([[0.0], [1.0]], 500, axis=0) * np.ones(40)
    within = normal_scores(table, rng())[:500]
    assert np.abs(off_diagonal(within)).max() < 0.2


# ---------------------------------------------------------------- correlation


@pytest.mark.parametrize("ratio", [0.01, 0.3, 1.0])
def test_half_of_the_eigenvalues_of_noise_lie_below_their_median(ratio):
    n = 500
    eigenvalues = np.linalg.svd(rng().standard_normal((n, round(ratio * n))), compute_uv=False) ** 2 / n
    assert np.median(eigenvalues) == pytest.approx(mp_median(ratio), rel=0.03)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 12.0])
def test_what_sampling_adds_to_a_spike_is_taken_away(ratio):
    spikes = (1 + np.sqrt(ratio)) * np.array([1.0, 1.5, 10.0])
    np.testing.assert_allclose(unbiased(spikes + ratio * spikes / (spikes - 1), ratio), spikes, rtol=1e-6)
    # By brute force: the spike whose expected sample eigenvalue is nearest.
    grid = np.linspace(1 + np.sqrt(ratio), 100, 10**6)
    nearest = grid[np.abs(grid + ratio * grid / (grid - 1) - 60.0).argmin()]
    assert unbiased(np.array([60.0]), ratio)[0] == pytest.approx(nearest, abs=1e-3)


def test_spikes_and_noise_add_up_to_the_variance_of_all_columns():
    for shape, loading in (((50, 300), 0.6), ((400, 12), 0.8), ((200, 2), 0.9), ((60, 20), 0.0)):
        table = factor_table(*shape, loading)
        eigenvalues = np.linalg.eigvalsh(np.corrcoef(table.T))[::-1][: min(shape[0] - 1, shape[1])]
        spikes, noise = spikes_and_noise(eigenvalues, *shape)
        assert (spikes.size > 0) == (loading > 0)
        assert spikes.sum() + (shape[1] - spikes.size) * noise == pytest.approx(shape[1], rel=1e-5)
        if loading:
            truth = 1 + (shape[1] - 1) * loading**2
            assert spikes[0] == pytest.approx(truth, rel=0.35)


@pytest.mark.parametrize("shape", [(60, 400), (300, 15), (200, 2)])
def test_columns_keep_their_variance_and_what_they_share(shape):
    loadings, noise = factors_of(normal_scores(factor_table(*shape, 0.8)))
    np.testing.assert_allclose((loadings**2).sum(axis=1) + noise, 1.0)
    shared = (loadings @ loadings.T)[np.triu_indices(shape[1], 1)]
    assert shared.mean() == pytest.approx(0.64, abs=0.12)


def test_missing_values_do_not_weaken_what_columns_share():
    table = with_gaps(factor_table(500, 20, 0.8), share=0.4)
    loadings, _ = factors_of(normal_scores(table))
    assert (loadings @ loadings.T)[np.triu_indices(20, 1)].mean() == pytest.approx(0.64, abs=0.06)


# ---------------------------------------------------------------- one correlated group


@pytest.mark.parametrize("shape", [(60, 300), (300, 10)])
def test_one_group_keeps_the_correlation_of_a_strong_factor(shape):
    reading = read(np.exp(factor_table(*shape, 0.8)))
    copies = [normal_scores(one_group(reading, rng(seed)).source.table.values) for seed in range(5)]
    data = off_diagonal(normal_scores(reading.source.table.values)).mean()
    assert np.mean([off_diagonal(copy).mean() for copy in copies]) == pytest.approx(data, abs=0.1)


def test_one_group_does_not_keep_correlation_by_chance():
    """Copies of noise are as far from the data as other noise is, and not like a table that has the data's own."""
    reading = read(rng(1).standard_normal((40, 200)))
    data = off_diagonal(reading.source.table.values)
    for seed in range(5):
        copy = off_diagonal(one_group(reading, rng(seed)).source.table.values)
        fresh = off_diagonal(rng(100 + seed).standard_normal((40, 200)))
        assert np.abs(copy).mean() == pytest.approx(np.abs(fresh).mean(), rel=0.05)
        assert abs(np.corrcoef(copy, data)[0, 1]) < 0.05


def test_one_group_has_no_clusters_where_the_data_have():
    reading = read(CORNERS)
    found = [SASClustering(3, n_features_to_select=24)._solve(each, 3) for each in (reading, one_group(reading, rng()))]
    data, copy = (np.sort(each.features.scores(each.labels, 3))[-24:].mean() for each in found)
    assert data > copy + 0.1


def test_levels_are_ordered_by_their_frequency():
    codes = np.array([2.0, 0.0, 2.0, 1.0, np.nan, 2.0, 1.0])
    np.testing.assert_array_equal(by_frequency(codes), [0, 2, 0, 1, np.nan, 0, 1])


@pytest.mark.parametrize("share", [0.5, 0.85])
@pytest.mark.parametrize("loading", [0.5, 0.65, 0.8])
def test_one_group_keeps_the_association_of_levels(share, loading):
    """Ties are broken at random, which hides much of the association of columns with two values."""
    table = (factor_table(1000, 20, loading) > norm.ppf(share)).astype(float)
    frame = pd.DataFrame(table).replace({0.0: "no", 1.0: "yes"})
    for form in (table, frame):
        reading = read(form)
        data, *copies = (
            np.abs(off_diagonal(each.source.table.values)).mean()
            for each in (reading, *(one_group(reading, rng(seed)) for seed in range(5)))
        )
        assert np.mean(copies) == pytest.approx(data, rel=0.25)


def test_tables_that_are_too_large_have_no_copy_with_one_group(monkeypatch):
    reading = read(numbers(n=N)[0])
    monkeypatch.setattr(_copies, "MOST_VALUES", N * 10 - 1)
    assert one_group(reading, rng()) is None
