"""Drawing a random sample of a table in blocks: the same one that is drawn from the table in memory.

All rows are put in an order that depends on their contents alone, and random places of this order are drawn. One pass
counts fingerprints in intervals, which shows the intervals that contain the places; another collects their rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._data.arrange import ROUNDS, are_told_apart, order_of
from .._data.source import blank_rows
from .._kernels.order import column_fingerprints, mixed, row_fingerprints
from .._kernels.stored import stored_column_prints, stored_row_prints
from .._utils.arrays import Subset
from .look import Look, Prints, bits_of
from .sums import Counts, Moments, Scale, is_sparse, moments_of

# The most intervals of fingerprints that are counted, as a power of two, and the rows per interval below that.
MOST_BITS, ROWS_EACH = 20, 8


class Fingerprints(NamedTuple):
    """How the rows of a table get their fingerprints.

    Attributes
    ----------
    columns : ndarray of shape (n_used,)
        The columns that are used.
    prints : ndarray of shape (n_used,)
        Their fingerprints.
    names : dict of int to ndarray
        For every column of levels, the word that stands for each level; the last one stands for a missing value.
    """

    columns: Subset
    prints: Prints
    names: dict[int, Prints]

    def of_rows(self, block: Any) -> Prints:
        """The fingerprint of every row of a block of codes."""
        salts = mixed(self.prints)
        if is_sparse(block):
            wide, used = np.zeros(block.shape[1], np.uint64), np.zeros(block.shape[1], bool)
            wide[self.columns], used[self.columns] = salts, True
            return np.asarray(stored_row_prints(block.data.view(np.uint64), block.indices, block.indptr, wide, used))
        rows = np.zeros(block.shape[0], np.uint64)
        row_fingerprints(self.bits(block), salts, rows)
        return rows

    def bits(self, block: Any) -> Prints:
        """The bits of the columns that are used, with levels replaced by their words."""
        bits = bits_of(block[:, self.columns])
        for j, column in enumerate(self.columns.tolist()):
            if column in self.names:
                bits[:, j] = self.names[column][places_of(block[:, column])]
        return bits

    def level_salts(self, block: Any) -> tuple[Prints, ...]:
        """For every column of levels, the sum of the salts of the rows with each level."""
        salts = mixed(self.of_rows(block))
        sums = [np.zeros(words.size, np.uint64) for words in self.names.values()]
        for column, own in zip(self.names, sums, strict=True):
            np.add.at(own, places_of(block[:, column]), salts)
        return tuple(sums)


def places_of(codes: Any) -> Subset:
    """The place of every level; -1 for missing values."""
    return np.where(np.isnan(codes), -1, codes).astype(np.intp)


def fingerprints_of(blocks: Any, found: Look, columns: Subset, codes: dict[int, Counts]) -> Fingerprints:
    """The fingerprints of the columns, as `arrangement` computes them in memory.

    codes[a] has the number of rows with each level of column a, and of missing values.
    """
    (salt,) = mixed(np.zeros(1, np.uint64))
    prints, names = found.prints.copy(), {}
    with np.errstate(over="ignore"):
        for a, counts in codes.items():
            words = counts.astype(np.uint64) * salt
            names[a] = words
            prints[a] = (counts.astype(np.uint64) * mixed_with(words, salt)).sum(dtype=np.uint64)
    known = Fingerprints(
        columns, prints[columns], {a: words for a, words in names.items() if a in set(columns.tolist())}
    )
    for _ in range(ROUNDS - 1):
        if are_told_apart(known.prints, found.n_samples):
            break
        before = known
        if known.names:
            sums = blocks.total(before.level_salts)
            known = known._replace(names=dict(zip(known.names, sums, strict=True)))
        known = known._replace(prints=blocks.total(partial(next_prints, before=before, names=known.names)))
    return known


def next_prints(block: Any, before: Fingerprints, names: dict[int, Prints]) -> Prints:
    """The part of a block in the fingerprints of the columns in the next round."""
    salts = mixed(before.of_rows(block))
    if is_sparse(block):
        own = stored_column_prints(block.data.view(np.uint64), block.indices, block.indptr, salts, block.shape[1])
        return np.asarray(own[before.columns])
    prints = np.zeros(before.columns.size, np.uint64)
    column_fingerprints(before._replace(names=names).bits(block), salts, prints)
    return prints


def mixed_with(words: Prints, salt: Any) -> Prints:
    """mix(word ^ salt) of every word."""
    rows = np.zeros(words.size, np.uint64)
    row_fingerprints(words[:, None], np.array([salt]), rows)
    return rows


# ---------------------------------------------------------------- drawing


class Survey(NamedTuple):
    """The moments of all columns, the number of fingerprints in every interval, and that of rows without any value."""

    moments: Moments
    counts: Counts
    blank: Counts


def survey_of(block: Any, scale: Scale, prints: Fingerprints, bits: int) -> Survey:
    """The survey of a block."""
    counts = np.bincount(intervals(prints.of_rows(block), bits), minlength=2**bits)
    blank: Any = 0 if is_sparse(block) else blank_rows(block, prints.columns).size
    return Survey(moments_of(block, scale), counts, np.int64(blank))  # type: ignore[arg-type]


def intervals(prints: Prints, bits: int) -> Subset:
    """The interval of every fingerprint, among 2^bits of equal width."""
    return (prints >> np.uint64(64 - bits)).astype(np.intp)


def bits_for(n_samples: int) -> int:
    """The number of intervals, as a power of two, so that there are only a few rows in each."""
    return int(np.clip(np.ceil(np.log2(max(n_samples, 2) / ROWS_EACH)), 1, MOST_BITS))


def rows_in(block: Any, prints: Fingerprints, wanted: Any) -> list[tuple[Prints, Any]]:
    """The rows of a block whose fingerprints are in the wanted intervals, together with the fingerprints."""
    own = prints.of_rows(block)
    chosen = wanted[intervals(own, int(np.log2(wanted.size)))]
    return [(own[chosen], block[chosen])] if chosen.any() else []


def draw_rows(blocks: Any, prints: Fingerprints, counts: Counts, places: Subset) -> Any:
    """The codes of the rows at the given places of the order by contents, of shape (places.size, n_columns)."""
    ends = np.cumsum(counts)
    hit = np.searchsorted(ends, places, side="right")
    wanted = np.zeros(counts.size, bool)
    wanted[hit] = True
    found = blocks.collected(partial(rows_in, prints=prints, wanted=wanted))
    own = np.concatenate([each for each, _ in found])
    rows = stacked([each for _, each in found])
    ordered = prints.columns[np.argsort(prints.prints, kind="stable")]
    order = order_of(own, lambda i: row_key(rows, i, ordered))
    # The rows that were collected are in as many intervals; a place counts the rows of all intervals before its own.
    before = np.concatenate([[0], ends[:-1]])
    skipped = before - np.concatenate([[0], np.cumsum(np.where(wanted, counts, 0))[:-1]])
    return rows[order[places - skipped[hit]]]


def stacked(parts: list[Any]) -> Any:
    """Rows of several blocks as one table."""
    return scipy.sparse.vstack(parts, format="csr") if is_sparse(parts[0]) else np.concatenate(parts)


def row_key(rows: Any, i: int, columns: Subset) -> bytes:
    """The contents of a row, by which rows with equal fingerprints are sorted."""
    row = rows[i] if isinstance(rows, np.ndarray) else rows[[i]].toarray()[0]
    return (row[columns].astype(np.float64) + 0.0).tobytes()
