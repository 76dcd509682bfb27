"""Where two kinds of features say the same of the samples, the search says the same of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sparsecluster import SASClustering
from sparsecluster._features.coordinates import CoordinateFeatures
from sparsecluster._features.numeric import NumericFeatures
from sparsecluster._search.climb import climb
from sparsecluster._search.search import search_size, search_sizes
from sparsecluster._search.sizes import Effort, choose_size
from tests import naive
from tests.helpers.common import same_groups
from tests.helpers.kinds import (
    K,
    N,
    P,
    apart_of,
    codes,
    matrix_case,
    numbers,
    read_numbers,
    some_labels,
    table_case,
    with_missing,
)

SIZES = range(1, P + 1)
TRUTH = np.repeat(np.arange(3), 10)


def distance(x, y):
    return abs(x - y)


def clear_numbers(seed=0):
    """Thirty samples in three groups that differ in the first three of eight columns."""
    table = np.random.default_rng(seed).standard_normal((30, P))
    table[:, :3] += 5 * np.random.default_rng(seed).permuted(np.tile(np.arange(3), (3, 1)), axis=1).T[TRUTH]
    return table


def clear_bits(seed=0):
    """The same with zeros and ones: in each of the first four columns one group or two are nearly all ones."""
    rng = np.random.default_rng(seed)
    likely = np.full((30, P), 0.5)
    likely[:, :4] = np.where(np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]])[TRUTH] == 1, 0.97, 0.03)
    return (rng.random((30, P)) < likely).astype(float)


def squared_distances(table):
    return [(x[:, None] - x) ** 2 for x in table.T]


# ---------------------------------------------------------------- zeros and ones


def kinds_of_bits(table):
    """What zeros and ones can be read as."""
    p = table.shape[1]
    kinds = {kind: table_case(table, [kind] * p) for kind in ("sqeuclidean", "hamming", "manhattan")}
    # Without missing values two levels are read as numbers; as if there were some, as levels.
    kinds["levels"] = table_case(table, ["hamming"] * p)
    kinds["levels"] = kinds["levels"]._replace(source=replace(kinds["levels"].source, has_missing=True))
    kinds["function"] = table_case(table, [distance] * p)
    kinds["matrices"] = matrix_case([np.abs(x[:, None] - x) for x in table.T])
    return kinds


def test_zeros_and_ones_have_the_same_scores_and_pairs_in_every_kind():
    table = codes(np.random.default_rng(0), N, P) % 2
    every = {kind: case.features() for kind, case in kinds_of_bits(table).items()}
    assert len({type(features) for features in every.values()}) == 4
    first = every["sqeuclidean"]
    for features in every.values():
        np.testing.assert_allclose(features.scores(some_labels(), K), first.scores(some_labels(), K), atol=1e-13)
        np.testing.assert_allclose(features.total, first.total, rtol=1e-12)
        for subset in (np.array([3]), np.arange(P)):
            mine, theirs = (each.pairs(subset).similarity for each in (features, first))
            np.testing.assert_allclose(apart_of(mine), apart_of(theirs), atol=1e-13)
            # Similarities differ by something that is the same whatever the clusters are.
            values = [naive.similarity_objective(mine - theirs, some_labels(seed=seed)) for seed in range(5)]
            assert np.ptp(values) < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_zeros_and_ones_are_climbed_and_searched_alike_in_every_kind(seed):
    """Up to ties: of two moves that gain the same, rounding may choose."""
    every = [case.problem(K) for case in kinds_of_bits(clear_bits(seed)).values()]
    for size in (2, 4, P):
        climbs = [climb(problem, some_labels(30), size, np.random.default_rng(0)) for problem in every]
        np.testing.assert_allclose([found.objective for found in climbs], climbs[0].objective, rtol=1e-12)
        best = [search_size(problem, size, np.random.default_rng(0), n_init=10).best for problem in every]
        np.testing.assert_allclose([found.objective for found in best], best[0].objective, rtol=1e-12)
        if size == 4:
            assert all(found.subset.tolist() == [0, 1, 2, 3] for found in best)


def test_two_levels_of_an_ordered_category_are_one_apart_however_many_it_could_have():
    totals = []
    for levels in ("ac", "abc"):
        column = pd.Categorical(list("acacaccaca"), categories=list(levels), ordered=True)
        reading = SASClustering(metric="hamming", standardize=False).read(pd.DataFrame({"x": column}))
        totals.append(reading.source.features().total[0])
    assert totals == pytest.approx([5 * 5 / 10] * 2)


# ---------------------------------------------------------------- squared distances


@pytest.fixture(params=range(3))
def both(request):
    """Numbers, and their squared distances as matrices, in the same order."""
    table = clear_numbers(request.param)
    return table_case(table, ["sqeuclidean"] * P).problem(K), matrix_case(squared_distances(table)).problem(K)


def test_climbs_on_squared_distances_are_those_on_numbers(both):
    for size in SIZES:
        mine, theirs = (climb(problem, some_labels(30), size, np.random.default_rng(0)) for problem in both)
        np.testing.assert_array_equal(mine.labels, theirs.labels)
        np.testing.assert_array_equal(mine.subset, theirs.subset)
        np.testing.assert_allclose(mine.history, theirs.history, rtol=1e-11)


def test_searches_on_squared_distances_are_those_on_numbers(both):
    """But for the names of clusters where the paper's start at size one, exact for numbers only, finds the best."""
    for size in SIZES:
        mine, theirs = (search_size(problem, size, np.random.default_rng(0)).best for problem in both)
        assert same_groups(mine.labels, theirs.labels)
        np.testing.assert_array_equal(mine.subset, theirs.subset)
        assert mine.objective == pytest.approx(theirs.objective, rel=1e-12)
    mine, theirs = (search_sizes(problem, np.random.default_rng(0)) for problem in both)
    np.testing.assert_allclose(mine.objective, theirs.objective, rtol=1e-12)
    assert all(same_groups(mine.labels(size), theirs.labels(size)) for size in SIZES)


@pytest.mark.parametrize("null", ["refit", "fixed"])
@pytest.mark.parametrize("search", ["path", "grid"])
def test_gap_curves_of_squared_distances_are_those_of_numbers(both, search, null):
    effort = Effort(n_permutations=4, null=null)
    mine, theirs = (choose_size(problem, np.random.default_rng(0), search=search, effort=effort) for problem in both)
    assert mine.curve.chosen == theirs.curve.chosen
    for name in ("observed", "reference", "spread"):
        np.testing.assert_allclose(mine.curve.details[name], theirs.curve.details[name], rtol=1e-9, atol=1e-12)
    assert same_groups(mine.known[0], theirs.known[0])


def test_fits_on_squared_distances_are_those_on_numbers():
    table = clear_numbers()
    mine = SASClustering(3, n_permutations=5).fit(table)
    theirs = SASClustering(3, n_permutations=5, metric="precomputed").fit(squared_distances(table))
    assert same_groups(mine.labels_, TRUTH)
    assert same_groups(mine.labels_, theirs.labels_)
    np.testing.assert_array_equal(mine.support_, theirs.support_)
    assert mine.support_.nonzero()[0].tolist() == [0, 1, 2]
    assert mine.objective_ == pytest.approx(theirs.objective_, rel=1e-12)
    np.testing.assert_allclose(mine.feature_scores_, theirs.feature_scores_, rtol=1e-11)
    np.testing.assert_allclose(
        mine.gap_curve_.details["observed"], theirs.gap_curve_.details["observed"], rtol=1e-9, atol=1e-12
    )


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["sqeuclidean", "manhattan", "hamming"])
def test_a_column_its_function_and_its_matrix_are_the_same(kind, missing):
    rng = np.random.default_rng(0)
    table = codes(rng, N, P) if kind == "hamming" else rng.standard_normal((N, P))
    table = with_missing(rng, table) if missing else table
    function = {"sqeuclidean": lambda x, y: (x - y) ** 2, "manhattan": distance, "hamming": lambda x, y: float(x != y)}
    named, given = table_case(table, [kind] * P), table_case(table, [function[kind]] * P)
    every = [case.features() for case in (named, given, matrix_case(named.deltas))]
    for features in every:
        np.testing.assert_allclose(features.scores(some_labels(), K), every[0].scores(some_labels(), K), atol=1e-13)
        np.testing.assert_allclose(features.total, every[0].total, rtol=1e-12)
        for mine, theirs in zip(
            features.permuted(3).seen_pairs(np.arange(P)), every[0].permuted(3).seen_pairs(np.arange(P)), strict=True
        ):
            if theirs is not None:
                np.testing.assert_allclose(apart_of(mine), apart_of(theirs), atol=1e-12)


def test_a_function_that_means_something_else_for_arrays_is_asked_pair_by_pair():
    def saturating(x, y):
        return np.abs(x - y) / (1 + np.max(np.abs(x - y)))

    x = np.random.default_rng(0).standard_normal((N, 1))
    features = table_case(x, [saturating]).features(standardize=False)
    apart = apart_of(features.pairs(np.array([0])).similarity)
    np.testing.assert_allclose(apart, np.abs(x - x.T) / (1 + np.abs(x - x.T)), atol=1e-13)


@pytest.mark.parametrize("change", [np.exp, np.sqrt, lambda x: 3 * x + 5])
def test_ranks_do_not_change_where_the_order_stays(change):
    table = codes(np.random.default_rng(0), N, P)
    for mine, theirs in ((change(table), table), (-change(table), -table)):
        first, second = (read_numbers(values, "ordinal") for values in (mine, theirs))
        np.testing.assert_array_equal(first.values, second.values)
    ranks = [np.unique(x, return_inverse=True)[1] for x in table.T]
    np.testing.assert_array_equal(read_numbers(table, "ordinal").values, np.column_stack(ranks))


# ---------------------------------------------------------------- missing values


def test_where_nothing_is_missing_the_way_through_missing_values_changes_nothing():
    """A column without any value that is kept out sends the others on another way, to the same end."""
    table = clear_numbers()
    plain = table_case(table, ["sqeuclidean"] * P)
    other = plain._replace(source=replace(plain.source, has_missing=True))
    first, second = plain.problem(K), other.problem(K)
    assert (type(first.features), type(second.features)) == (NumericFeatures, CoordinateFeatures)
    for size in SIZES:
        mine, theirs = (search_size(each, size, np.random.default_rng(0)).best for each in (first, second))
        assert same_groups(mine.labels, theirs.labels)
        np.testing.assert_allclose(mine.scores, theirs.scores, rtol=1e-11)
    with pytest.warns(UserWarning, match="missing too often"):
        fitted = SASClustering(3).fit(np.column_stack([table, np.full(30, np.nan)]))
    expected = SASClustering(3).fit(table)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    np.testing.assert_array_equal(fitted.support_[:-1], expected.support_)
    assert not fitted.support_[-1]


@pytest.mark.parametrize("kind", ["sqeuclidean", "hamming", "manhattan"])
def test_a_column_with_missing_values_is_that_of_the_samples_that_have_it_times_their_share(kind):
    rng = np.random.default_rng(0)
    table = with_missing(rng, codes(rng, N, P) if kind == "hamming" else numbers(rng, N, P))
    features = table_case(table, [kind] * P).features()
    for a in range(P):
        have = np.flatnonzero(~np.isnan(table[:, a]))
        alone = table_case(table[have][:, [a]], [kind]).features()
        for labels in (some_labels(seed=1), some_labels(seed=2)):
            expected = have.size / N * alone.scores(labels[have], K)[0]
            assert features.scores(labels, K)[a] == pytest.approx(expected, abs=1e-13)
        assert features.univariate(K)[a] == pytest.approx(have.size / N * alone.univariate(K)[0], rel=1e-12)


# ---------------------------------------------------------------- groups


def test_columns_that_say_the_same_are_together_what_each_is_alone():
    table = np.random.default_rng(0).standard_normal((N, 3))
    one = table_case(table, ["sqeuclidean", "manhattan", distance]).features()
    groups = np.repeat([0, 1, 2], 3)
    three = table_case(
        np.repeat(table, 3, axis=1), np.repeat(["sqeuclidean", "manhattan", distance], 3), groups
    ).features()
    np.testing.assert_allclose(three.scores(some_labels(), K), one.scores(some_labels(), K), atol=1e-13)
    for subset in ([0], [1], [2], [0, 1, 2]):
        mine, theirs = (apart_of(each.pairs(np.array(subset)).similarity) for each in (three, one))
        np.testing.assert_allclose(mine, theirs, atol=1e-13)


def test_without_standardizing_a_group_is_the_mean_of_its_columns_too():
    table = np.random.default_rng(0).standard_normal((N, 4))
    features = table_case(table, ["sqeuclidean"] * 4, np.array([0, 0, 0, 1])).features(standardize=False)
    mean = np.mean(squared_distances(table[:, :3]), axis=0)
    np.testing.assert_allclose(apart_of(features.pairs(np.array([0])).similarity), mean, atol=1e-12)


# ---------------------------------------------------------------- digits


@pytest.mark.parametrize("kind", ["sqeuclidean", "manhattan", distance])
def test_a_large_offset_costs_no_digits(kind):
    # Multiples of 2^-10 of size about 1, so that adding 1e12 is exact.
    small = np.round(np.random.default_rng(0).standard_normal((N, P)) * 1024) / 1024
    near, far = (table_case(table, [kind] * P).features() for table in (small, small + 1e12))
    np.testing.assert_allclose(far.scores(some_labels(), K), near.scores(some_labels(), K), rtol=1e-11)
    np.testing.assert_allclose(far.univariate(K), near.univariate(K), rtol=1e-11)
