"""From a Dask collection to a table that can be fitted: what it holds, a random sample, and its codes in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._data.checks import (
    SINGLE,
    SMALLEST_SPREAD,
    left_out,
    observed_enough,
    refuse_blank,
)
from .._data.kinds import Dissimilarity
from .._data.metric import asked_by_column, group_numbers
from .._data.reading import BLANK, COLUMNS, Given, Reading, Request, TableReader
from .._data.source import blank_rows
from .._features.mixed import owners_of
from .._utils.arrays import Floats, Subset
from .._utils.text import brief
from .collections import Collection, DaskBlocks, Encoder
from .draw import bits_for, draw_rows, fingerprints_of, survey_of
from .large import Large, draw_places, has_sums, n_levels, sample_reading
from .look import Look, check_numbers, first_look, learned
from .sums import Counts, Scale


@dataclass(frozen=True)
class BlockSource:
    """The columns of a table in blocks, in the order of the search: the part of `SampleSource` without samples."""

    blocks: DaskBlocks
    kinds: Sequence[Dissimilarity]
    groups: Subset | None
    columns: Subset
    standardize: bool
    scale: Scale
    seen: Counts

    @property
    def owners(self) -> Subset:
        """The feature of every column."""
        return np.arange(self.columns.size) if self.groups is None else owners_of(self.groups[self.columns])

    def kind(self, column: int) -> Dissimilarity:
        return self.kinds[column]

    def extents(self) -> tuple[Floats, Floats]:
        """For every column, the largest difference between two samples and its power in the dissimilarity."""
        apart = self.scale.high - self.scale.low
        apart[self.scale.coded] = 1.0
        return apart[self.columns], np.array([float(self.kinds[a].power) for a in self.columns.tolist()])

    def observed(self) -> Subset | None:
        """The number of samples in which each column is observed; None if there are no missing values."""
        seen = self.seen[self.columns]
        return None if (seen == self.blocks.n_samples).all() else seen

    def blank(self) -> Subset:
        """The samples without any observed value; one pass."""
        found = self.blocks.collected(partial(blank_in, columns=self.columns))
        firsts = np.concatenate([[0], np.cumsum(self.blocks.lengths)])[:-1]
        return np.concatenate([first + own for first, own in zip(firsts, found, strict=True)])


def blank_in(block: Any, columns: Subset) -> list[Subset]:
    """The rows of a block without any value in the given columns."""
    return [blank_rows(block, columns)]


def large_collection(
    collection: Collection, given: Given, request: Request, n_drawn: int, k: int, rng: np.random.Generator
) -> Large | None:
    """A Dask collection as a table that can be fitted; None if it is not larger than the sample to be drawn.

    Takes three passes over all columns, and a few more if some columns hold the same values in another order.
    """
    names, keys = given.names, given.keys
    asked = asked_by_column(request.metric, keys)
    plain = not collection.has_words and all(kind in ("auto", "sqeuclidean") for kind in asked)
    found = first_look(collection, names, None if plain else asked)
    if found.n_samples <= n_drawn:
        return None
    check_numbers(found, names)
    kinds = learned(found, names, None if plain else asked)
    refuse_without_sums(kinds, names)
    dtype = np.float64 if plain is False else precise_type(collection.dtype, found)
    encoder = Encoder(names, dtype, None if plain else kinds)
    blocks = DaskBlocks(collection, encoder, found.lengths)
    # What is learned from levels: their number in every column, and how often each occurs.
    codes = {a: level_counts(found, kinds[a], a) for a in found.levels if kinds[a].levels is not None}
    seen = found.seen.copy()
    seen[list(codes)] = [int(counts[:-1].sum()) for counts in codes.values()]
    low, high = found.low.copy(), found.high.copy()
    for a in codes:
        low[a], high[a] = 0.0, float(np.flatnonzero(codes[a][:-1]).max(initial=0))
    scale = Scale.of(low, high, n_levels(kinds), collection.is_sparse)
    with np.errstate(invalid="ignore"):
        constant = ~(high - low >= SMALLEST_SPREAD)
    enough = observed_enough(seen, found.n_samples)
    usable, notes = left_out(names, COLUMNS, enough & constant, ~enough)
    prints = fingerprints_of(blocks, found, usable, codes)
    bits = bits_for(found.n_samples)
    survey = blocks.total(partial(survey_of, scale=scale, prints=prints, bits=bits))
    ordered = usable[np.argsort(prints.prints, kind="stable")]
    columns = np.array(sorted(ordered.tolist(), key=lambda a: kinds[a].name), dtype=np.intp)
    groups = None if request.feature_groups is None else group_numbers(request.feature_groups, keys)
    source: Any = BlockSource(blocks, kinds, groups, columns, request.standardize, scale, seen)
    if survey.blank:
        refuse_blank(source.blank(), found.n_samples, BLANK)
    rows = draw_rows(blocks, prints, survey.counts, draw_places(found.n_samples, n_drawn, rng))
    n_features = len(names) if groups is None else np.unique(groups).size
    reader = TableReader(names, tuple(kinds), collection.has_words)
    n, p = found.n_samples, len(names)
    reading = Reading(names, source, reader, notes, n, p, n_features, n, request, given.has_names)
    sample = sample_reading(reading, rows, k)
    if sample is None:
        raise ValueError(
            f"A random sample of {n_drawn} of the {n} rows of X has fewer than n_clusters={k} distinct rows, or no "
            "column that varies. Use fewer clusters, or a larger subsample."
        )
    return Large(reading, blocks, scale, sample, rows, survey.moments)


def precise_type(dtype: Any, found: Look) -> Any:
    """The type of numbers: double precision if products of several could leave the range of single precision."""
    with np.errstate(invalid="ignore"):
        apart, most = found.high - found.low, np.fmax(np.abs(found.high), np.abs(found.low))
        is_usual = ((most <= SINGLE) & ((apart >= 1.0 / SINGLE) | (apart == 0.0))) | np.isnan(apart)
    return dtype if is_usual.all() else np.float64


def level_counts(found: Look, kind: Dissimilarity, column: int) -> Counts:
    """How often each level of a column occurs, and a missing value."""
    counts, levels = found.levels[column].counts, kind.levels
    assert levels is not None
    own = [counts[level] for level in levels]
    return np.array([*own, found.n_samples - sum(own)], np.int64)


def refuse_without_sums(kinds: list[Dissimilarity], names: Sequence[str]) -> None:
    """Refuse columns that are compared in a way that does not follow from sums over blocks."""
    other = next((a for a, kind in enumerate(kinds) if not has_sums([kind])), None)
    if other is not None:
        raise ValueError(
            f'A table in blocks is compared by metric="sqeuclidean" and "hamming"; column {brief(names[other])} is '
            f'compared by "{kinds[other].name}". Set metric={{{brief(names[other])}: "hamming"}} or "sqeuclidean", '
            "drop the column, or pass X.compute() if the table fits in memory."
        )
