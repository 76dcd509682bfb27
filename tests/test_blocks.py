"""A table with many samples gives the same answer in one block, in many, in memory, and on Dask."""

from functools import cache, reduce
from math import fsum

import numpy as np
import pytest
from helpers.blocks import TABLES, N, in_dask, numbers, with_gaps, words
from helpers.cases import in_turn

from sparsecluster import SASClustering, rand_index
from sparsecluster._blocks.collections import Collection
from sparsecluster._blocks.sums import Scale, added, moments_of, sums_of
from sparsecluster._features.numeric import NumericFeatures, Source

pytest.importorskip("dask.dataframe", reason="Dask is not installed")


def fitted(table, **parameters):
    usual = {"n_clusters": 3, "subsample": 400, "n_permutations": 3}
    return SASClustering(**{**usual, **parameters}).fit(table)


@cache
def in_memory(name):
    """The fit of a table in memory, at which many tests look and which none changes."""
    table, parameters = TABLES[name]
    return fitted(table, **parameters)


def scale_of(table, is_sparse=False):
    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    return Scale.of(low, high, np.zeros(table.shape[1], np.int64), is_sparse)


# ---------------------------------------------------------------- sums


WILD = np.random.default_rng(0).standard_cauchy((700, 6)) * 10.0 ** np.array([-100, -3, 0, 1, 100, 250])


@pytest.mark.parametrize("table", [WILD, with_gaps(WILD), 1e15 + np.random.default_rng(1).random((700, 3))])
@pytest.mark.parametrize("seed", range(5))
def test_sums_are_bit_for_bit_the_same_however_a_table_is_cut(table, seed):
    rng = np.random.default_rng(seed)
    labels, scale = rng.integers(0, 3, len(table)).astype(np.int32), scale_of(table)
    cuts = np.sort(rng.choice(len(table), 9, replace=False))
    parts = rng.permutation(np.arange(10))
    rows, own = np.split(table, cuts), np.split(labels, cuts)
    pieces = reduce(added, (sums_of(rows[i], scale, own[i], 3) for i in parts))
    whole = sums_of(table, scale, labels, 3)
    for left, right in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(left, right)


def test_sums_agree_with_exact_ones():
    table, labels = with_gaps(WILD), np.arange(700).astype(np.int32) % 3
    scale = scale_of(table)
    sums, moments = sums_of(table, scale, labels, 3), moments_of(table, scale)
    units = (table - scale.origin) * scale.unit
    assert (np.nanmax(np.abs(units), axis=0) <= 1).all()
    for c in range(3):
        for a in range(6):
            own = units[labels == c, a]
            own = own[~np.isnan(own)]
            assert sums.seen[c, a] == own.size
            assert sums.means[c, a] == pytest.approx(fsum(own) / own.size, abs=1e-15)
    np.testing.assert_allclose(moments.squares, [fsum(u[~np.isnan(u)] ** 2) for u in units.T], rtol=1e-13)


# ---------------------------------------------------------------- the same answer


def assert_same(one, other):
    np.testing.assert_array_equal(np.asarray(one.labels_), np.asarray(other.labels_))
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.feature_scores_, other.feature_scores_)
    np.testing.assert_array_equal(one.core_support_, other.core_support_)
    np.testing.assert_array_equal(one.cluster_centers_.astype(str), other.cluster_centers_.astype(str))
    assert (one.objective_, one.history_) == (other.objective_, other.history_)
    assert len(one.alternatives_) == len(other.alternatives_)


@pytest.mark.filterwarnings("ignore:1 column is constant")
@in_turn(name=TABLES, rows=[N, 333])
def test_a_dask_collection_is_fitted_as_the_table_in_memory(name, rows):
    table, parameters = TABLES[name]
    assert_same(in_memory(name), fitted(in_dask(table, rows), **parameters))


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("name", ["numbers", "words with missing values", "many equal rows", "sparse"])
def test_the_order_of_the_rows_makes_no_difference_in_blocks(name):
    table, parameters = TABLES[name]
    order = np.random.default_rng(3).permutation(N)
    shuffled = table.iloc[order].reset_index(drop=True) if hasattr(table, "iloc") else table[order]
    one, other = in_memory(name), fitted(in_dask(shuffled, 251), **parameters)
    np.testing.assert_array_equal(one.labels_[order], np.asarray(other.labels_))
    np.testing.assert_array_equal(one.feature_scores_, other.feature_scores_)


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_the_scheduler_makes_no_difference(scheduler):
    dask = pytest.importorskip("dask")
    table, _ = TABLES["words with missing values"]
    with dask.config.set(scheduler=scheduler), pytest.warns(UserWarning, match="constant"):
        found = fitted(in_dask(table, 900))
    assert_same(in_memory("words with missing values"), found)


def test_the_number_of_threads_makes_no_difference():
    table = numbers(n=40_000)[0]
    alone = fitted(table)
    for jobs in (2, 3):
        assert_same(alone, fitted(table, n_jobs=jobs))


# ---------------------------------------------------------------- what the answer is


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("name", [name for name in TABLES if name != "the core"])
def test_every_sample_gets_the_label_that_predict_gives_it(name):
    found = in_memory(name)
    np.testing.assert_array_equal(found.labels_, found.predict(TABLES[name][0]))
    assert np.bincount(found.labels_).tolist() == sorted(np.bincount(found.labels_).tolist(), reverse=True)


def test_new_samples_are_assigned_by_the_core_if_it_is_chosen():
    table, found = TABLES["the core"][0], in_memory("the core")
    assert found.support_.sum() < found.full_support_.sum()
    assert rand_index(found.predict(table), found.labels_) > 0.8


def test_scores_are_those_of_the_labels_on_all_samples():
    table, _ = numbers()
    found = fitted(table)
    features = NumericFeatures(Source(table, np.arange(N), np.arange(10), True))
    expected = features.scores(found.labels_.astype(np.int32), 3)
    np.testing.assert_allclose(found.feature_scores_, expected, atol=1e-14)
    np.testing.assert_allclose(
        found.cluster_centers_, [table[found.labels_ == c].mean(axis=0) for c in range(3)], rtol=1e-12
    )
    assert found.objective_ == pytest.approx(expected[found.support_].sum())


def test_groups_are_found_in_blocks():
    table, groups = numbers(n=20_000, shift=3.0)
    found = fitted(in_dask(table, 3000))
    assert rand_index(groups, np.asarray(found.labels_)) > 0.99
    assert np.flatnonzero(found.support_).tolist() == [0, 1, 2]
    assert found.summary().startswith("3 clusters of ")


def test_the_climb_on_all_samples_never_lowers_the_objective():
    found = fitted(numbers(shift=1.0)[0])
    objectives = [step.objective for step in found.history_]
    assert objectives == sorted(objectives)


def test_labels_are_computed_block_by_block_when_they_are_needed():
    import dask.array as da

    found = fitted(in_dask(numbers()[0], 700))
    assert isinstance(found.labels_, da.Array)
    assert found.labels_.chunks == ((700, 700, 700, 400),)


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("name", ["numbers", "words", "sparse"])
def test_predict_and_transform_of_a_collection_are_collections(name):
    table, found = TABLES[name][0], in_memory(name)
    blocks = in_dask(table, 611)
    labels, chosen = found.predict(blocks), found.transform(blocks)
    assert hasattr(labels, "to_delayed")
    assert hasattr(chosen, "to_delayed")
    np.testing.assert_array_equal(labels.compute(), found.labels_)
    if name == "words":
        assert list(chosen.columns) == list(table.columns[found.support_])
    else:
        assert chosen.shape == (N, found.support_.sum())


def test_a_small_collection_is_fitted_in_memory():
    table, _ = numbers(n=90)
    np.testing.assert_array_equal(fitted(in_dask(table, 20)).labels_, fitted(table).labels_)


# ---------------------------------------------------------------- what is read


def test_passes_of_k_means_read_only_the_chosen_columns(monkeypatch):
    read, parts = [], Collection.parts

    def recorded(self, columns):
        read.append(None if columns is None else columns.size)
        return parts(self, columns)

    monkeypatch.setattr(Collection, "parts", recorded)
    fitted(in_dask(numbers(n=5000)[0], 1000), n_features_to_select=3)
    # A look, the survey, the draw and the first scores; K-means on the chosen columns; the last scores and the labels.
    *before, scores, labels = read
    assert before[:4] == [None] * 4
    assert set(before[4:]) == {3}
    assert (scores, labels) == (None, None)


# ---------------------------------------------------------------- errors


def broken(table, at):
    """A collection one of whose blocks cannot be read."""
    import dask.array as da
    from dask.delayed import delayed

    def read(number):
        if number == at:
            raise OSError("input/output error on disk 7")
        return table[number * 500 : (number + 1) * 500]

    return da.concatenate([da.from_delayed(delayed(read)(i), (500, table.shape[1]), float) for i in range(5)])


def with_row(place, value):
    """Numbers, and one row that holds nothing but a value."""
    return np.where(np.arange(N)[:, None] == place, value, numbers()[0])


def test_a_block_that_cannot_be_read_is_named():
    with pytest.raises(ValueError, match=r"Block 4 of 5 of X cannot be read: input/output error on disk 7\."):
        fitted(broken(numbers()[0], 3))


@pytest.mark.parametrize(
    ("table", "parameters", "message"),
    [
        (
            np.where(np.arange(N)[:, None] == 2001, np.inf, numbers()[0]),
            {},
            r"infinity in 10 of 10 columns: 'x0' \(1\)",
        ),
        (np.where(np.arange(N)[:, None] == 7, 1e305, numbers()[0]), {}, "numbers beyond 1e"),
        (np.where(np.arange(N)[:, None] == 2001, np.nan, numbers()[0]), {}, r"1 of 2500 rows have no value.*rows 2001"),
        (numbers()[0], {"trim": 0.1}, "fitted in blocks, which needs"),
        (numbers()[0], {"clusterer": "kmedoids"}, "fitted in blocks, which needs"),
        (numbers()[0], {"metric": "manhattan"}, "compared by metric"),
        (numbers()[0], {"metric": {3: "ordinal"}}, "column 'x3' is"),
        (np.ones((N, 3)), {}, "All 3 columns are constant"),
        (np.repeat(np.eye(2), N // 2, axis=0), {}, "fewer than n_clusters=3 distinct rows"),
        (words().assign(name=[f"sample {i}" for i in range(N)]), {}, "Column 'name' is text with 2500 different"),
    ],
)
def test_what_cannot_be_fitted_in_blocks_is_refused(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(in_dask(table), **parameters)


def test_arrays_that_are_no_tables_are_refused():
    import dask.array as da

    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fitted(da.ones(5000))
    with pytest.raises(ValueError, match="must hold numbers"):
        fitted(da.from_array(np.array([["a"] * 3] * 5000), chunks=(1000, 3)))
    found = fitted(numbers()[0])
    with pytest.raises(ValueError, match="X has 4 features, but SASClustering is expecting 10"):
        found.predict(da.ones((100, 4)))


def test_a_column_with_numbers_in_one_block_and_words_in_another_is_refused():
    import dask
    import dask.dataframe as dd
    import pandas as pd

    one = pd.DataFrame({"a": numbers()[0][:, 0], "b": pd.Series(np.ones(N), dtype=object)})
    other = one.assign(b="word")
    # Otherwise Dask would turn all of them into text.
    with dask.config.set({"dataframe.convert-string": False}):
        blocks = dd.concat([dd.from_pandas(one, npartitions=1), dd.from_pandas(other, npartitions=1)])
        with pytest.raises(ValueError, match="Column 'b' holds numbers in some blocks and other values in others"):
            fitted(blocks)


def test_the_nearest_center_is_that_of_a_plain_computation():
    found = fitted(with_gaps(numbers()[0]))
    table = with_gaps(numbers()[0])
    clusters = found._kept.clusters
    values = [table[:, a] for a in np.flatnonzero(found.support_)]
    far = sum(
        np.nan_to_num(each.weight * ((v[:, None] - each.measure.means) / each.measure.unit) ** 2)
        for each, v in zip(clusters.columns, values, strict=True)
    )
    np.testing.assert_array_equal(found.labels_, far.argmin(axis=1))
