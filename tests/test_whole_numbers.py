"""Levels that are whole numbers are read, numbered and measured for all columns at once, as for each column alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster._data.content import Content
from sparsecluster._data.kinds.levels import Hamming, Ordinal, level_measures
from sparsecluster._data.whole_numbers import MOST_APART, levels_at_once
from sparsecluster._features.coordinates import level_blocks
from sparsecluster._kernels.order import add_salts

METRICS = {"hamming": Hamming, "ordinal": Ordinal}


def with_gaps(table: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(table.shape) < 0.2, np.nan, table)


TABLES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "whole": lambda table: table.astype(int),
    "yes or no": lambda table: table > 1,
    "negative": lambda table: table - 7.0,
    "single precision": lambda table: table.astype(np.float32),
    "between whole numbers": lambda table: table + 0.25,
    "far from zero": lambda table: table + 2.0**40,
    "zeros of both signs": lambda table: (
        np.where(table == 0, -0.0, table) * np.where(np.arange(len(table)) % 2, 1, -1)[:, None]
    ),
    "missing": with_gaps,
    "column by column": np.asfortranarray,
    "every other row": lambda table: np.repeat(table, 2, axis=0)[::2],
}


def genotypes(n: int = 30, p: int = 7) -> np.ndarray:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (n, p)).astype(float)
    # A level that does not occur, and levels of its own.
    table[:, 1] = rng.choice([0.0, 2.0], n)
    table[:, 2] = rng.integers(0, 6, n)
    return table


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", TABLES)
def test_all_columns_are_read_as_each_alone(name, metric):
    X = TABLES[name](genotypes())
    found = levels_at_once(X, metric)
    assert found is not None
    for a, kind in enumerate(found.kinds):
        content = Content(np.asarray(X[:, a], dtype=np.float64))
        alone = METRICS[metric].learn(content, "a")
        assert kind == alone
        np.testing.assert_array_equal(found.values[:, a], alone.encode(content, "a"))


def test_columns_with_the_same_levels_share_one_object():
    found = levels_at_once(np.tile(genotypes(), 3), "hamming")
    assert found is not None
    assert len(found.distinct_kinds) == len(set(found.kinds))


@pytest.mark.parametrize("odd", [0.5, MOST_APART + 0.0, np.inf, -np.inf, "none observed"])
def test_other_numbers_are_read_one_column_after_the_other(odd):
    X = genotypes()
    X[:, 3] = np.nan if isinstance(odd, str) else X[:, 3]
    X[0, 3] = X[0, 3] if isinstance(odd, str) else odd
    assert levels_at_once(X, "hamming") is None


@pytest.mark.parametrize("metric", ["auto", "sqeuclidean", "manhattan", abs])
def test_other_metrics_are_none_of_levels(metric):
    assert levels_at_once(genotypes(), metric) is None


def test_a_fit_to_whole_numbers_is_that_to_the_same_levels_as_text():
    X = genotypes(60, 12)
    X[:20, 4:9], X[20:40, 4:9], X[40:, 4:9] = 0, 1, 2
    of_numbers = SASClustering(3, metric="hamming").fit(X)
    of_text = SASClustering(3, metric="hamming").fit(
        np.array([[f"level {x:g}" for x in row] for row in X], dtype=object)
    )
    np.testing.assert_array_equal(of_numbers.labels_, of_text.labels_)
    np.testing.assert_array_equal(of_numbers.support_, of_text.support_)
    assert of_numbers.objective_ == of_text.objective_
    np.testing.assert_array_equal(of_numbers.predict(X), of_numbers.labels_)


def test_levels_are_numbered_by_their_first_samples_and_the_first_one_comes_last():
    codes = np.array([[4.0, 7.0, np.nan], [2.0, 7.0, 1.0], [4.0, np.nan, 0.0], [3.0, 7.0, 0.0]])
    numbers, counts = zip(*level_blocks(codes), strict=True)
    expected = [[2, 0, np.nan], [0, 0, 1], [2, np.nan, 0], [1, 0, 0]]
    np.testing.assert_array_equal(np.hstack(numbers), expected)
    assert counts == (3, 1, 2)


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_columns_of_levels_are_measured_as_the_dissimilarity_says(share_missing):
    """1 - q_l less half of what two samples of a cluster differ; one column is never observed in a cluster."""
    rng = np.random.default_rng(5)
    columns, labels = rng.integers(0, 4, (5, 40)).astype(float), rng.integers(-1, 3, 40)
    columns[rng.random(columns.shape) < share_missing] = np.nan
    columns[4, labels == 1] = np.nan
    found = level_measures([Hamming()] * 5, columns, labels, 3)
    for measure, spread, count, codes in zip(*found, columns, strict=True):
        seen = codes[~np.isnan(codes)]
        assert count == seen.size
        pairs = (seen[:, None] != seen[None, :]).mean()
        assert spread == pytest.approx(pairs / 2)
        apart = measure(np.array([0.0, 1.0, 2.0, 3.0, 9.0, np.nan]))
        assert np.isnan(apart[-1]).all()
        for c in range(3):
            own = codes[(labels == c) & ~np.isnan(codes)]
            for level, value in zip([0.0, 1.0, 2.0, 3.0, 9.0], apart[:-1, c], strict=True):
                expected = (own != level).mean() - (own[:, None] != own[None, :]).mean() / 2 if own.size else np.nan
                np.testing.assert_allclose(value, expected, atol=1e-14)


def test_salts_are_added_modulo_the_size_of_a_word():
    rng = np.random.default_rng(0)
    numbers, salts = rng.integers(0, 5, (20, 4)), rng.integers(2**63, size=20, dtype=np.uint64) * np.uint64(2)
    found, expected = np.zeros(5, np.uint64), np.zeros(5, np.uint64)
    add_salts(numbers, salts, found)
    np.add.at(expected, numbers, np.broadcast_to(salts[:, None], numbers.shape))
    np.testing.assert_array_equal(found, expected)
