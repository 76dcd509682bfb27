"""The features of all samples, known only by sums over blocks of rows, and the search on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from .._features.mixed import shares_of
from .._features.units import counted_totals
from .._utils.arrays import Floats, Labels, Subset
from .centers import Centers, Columns, sums_by
from .sums import Counts, Moments, Scale, Sums, joined, sums_of

T = TypeVar("T")

# K-means on the chosen features ends when a pass gains less than this share, or after so many passes. The centers then
# change by less than their error of estimation, and every pass reads the table.
LEAST_GAIN, MOST_PASSES = 1e-5, 30


class Blocks(Protocol):
    """A table of codes in blocks of rows, dense or compressed by row."""

    @property
    def n_samples(self) -> int: ...

    def total(self, function: Callable[[Any], T], columns: Subset | None = None) -> T:
        """The sum of function(block) over all blocks, see `added`; with the given columns only, by default all."""

    def each(self, function: Callable[[Any], Labels]) -> Any:
        """An array of one value per sample, whose parts are function(block); it may be computed when it is needed."""


class Layout(NamedTuple):
    """Which columns are used, and how.

    Attributes
    ----------
    columns : ndarray of shape (n_members,)
        The columns that are used, in the order of the search.
    owners : ndarray of shape (n_members,)
        The feature that each of them belongs to.
    standardize : bool
        Whether features are standardized.
    """

    columns: Subset
    owners: Subset
    standardize: bool


@dataclass(frozen=True)
class BlockFeatures:
    """p features of n samples that are read in blocks: the part of `Features` that a climb needs.

    A clustering is given by its centers instead of labels. Members are the columns in use; see `Features` for totals,
    shares and scores.
    """

    blocks: Blocks
    layout: Layout
    scale: Scale
    moments: Moments
    has_rows: ClassVar[bool] = True
    has_missing: ClassVar[bool] = False

    @property
    def n_samples(self) -> int:
        return self.blocks.n_samples

    @property
    def n_features(self) -> int:
        return int(self.layout.owners.max()) + 1

    @cached_property
    def spreads(self) -> Floats:
        """T_a of every column, in units of u or of the Hamming dissimilarity."""
        sums = self.moments.sums
        with np.errstate(invalid="ignore", divide="ignore"):
            about_mean = self.moments.squares - joined(sums.highs[0], sums.lows[0]) ** 2 / sums.seen[0]
        spreads = np.maximum(about_mean, 0.0)
        spreads[self.scale.coded] = level_spreads(self.scale, sums.counts)[0]
        return np.asarray(spreads)

    @cached_property
    def shares(self) -> Floats:
        """The factor of each member's score."""
        return shares_of(self.layout.owners) * self._seen

    @cached_property
    def _seen(self) -> Floats:
        return np.asarray(self.moments.sums.seen[0, self.layout.columns] / self.n_samples)

    @cached_property
    def total(self) -> Floats:
        """T_a of every member as it counts in K-means."""
        columns, scale = self.layout.columns, self.scale
        spreads = self.spreads[columns]
        is_coded = scale.levels[columns] > 0
        if not self.layout.standardize:
            # In the squared units of the user.
            spreads = np.where(is_coded, spreads, spreads / np.where(is_coded, 1.0, scale.unit[columns]) ** 2)
        two = is_coded | (self.moments.ends[columns] == self.moments.sums.seen[0, columns])
        apart = np.where(is_coded, 1.0, (scale.high[columns] - scale.low[columns]) * scale.unit[columns]) ** 2
        return counted_totals(spreads, self.layout.standardize, two, apart, self.shares, self._seen)

    def member_scores(self, sums: Sums) -> Floats:
        """1 - Delta_a[C] / T_a of every column, from the sums over all columns."""
        overall = self.moments.sums.means[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            between = np.nansum(sums.seen * (sums.means - overall) ** 2, axis=0)
            spreads = self.spreads
            coded = self.scale.coded
            between[coded] = spreads[coded] - level_spreads(self.scale, sums.counts).sum(axis=0)
            return np.clip(np.nan_to_num(between / spreads), 0.0, 1.0)

    def scores(self, centers: Centers, n_clusters: int) -> Floats:
        """Score of every feature for a clustering, of shape (n_features,)."""
        return self.together(self._member_scores(centers) * self.shares)

    def explained(self, centers: Centers, n_clusters: int) -> Floats:
        """T_a - Delta_a[C] of every feature, of shape (n_features,), as it counts in K-means."""
        return self.together(self._member_scores(centers) * self.total)

    def _member_scores(self, centers: Centers) -> Floats:
        """The scores of the members, after one pass over all columns unless their sums are known."""
        if "sums" not in centers.known:
            before = None if centers.before is None else centers.before.columns
            by = partial(sums_by, scale=self.scale, columns=centers.columns, before=before)
            centers.known["sums"] = self.blocks.total(by)
        return self.member_scores(centers.sums)[self.layout.columns]

    def together(self, of_members: Floats) -> Floats:
        """The sum over the members of every feature."""
        return np.asarray(np.bincount(self.layout.owners, of_members, self.n_features), dtype=np.float64)

    def members(self, subset: Subset) -> Subset:
        """The members of some of the features, by the places of their columns in the user's table."""
        own = np.flatnonzero(np.isin(self.layout.owners, subset))
        return own[np.argsort(self.layout.columns[own])]

    def centers(self, sums: Sums, subset: Subset, **more: Any) -> Centers:
        """The centers of a clustering with the given sums over all columns, by which all samples can be assigned."""
        members = self.members(subset)
        columns = self.layout.columns[members]
        spreads, counted = self.spreads[columns], self.total[members]
        weights = np.divide(counted, spreads, out=np.zeros(columns.size), where=spreads > 0)
        means_apart = spreads / np.maximum(self.moments.sums.seen[0, columns], 1)
        is_coded = self.scale.levels[columns] > 0
        numbers, coded = columns[~is_coded], columns[is_coded]
        tables = level_tables(self.scale, sums.counts, coded, weights[is_coded], means_apart[is_coded])
        firsts = np.concatenate([[0], np.cumsum([len(each) for each in tables])])[:-1].astype(np.int64)
        return Centers(
            Columns(
                numbers,
                self.scale.origin[numbers],
                self.scale.unit[numbers],
                weights[~is_coded],
                means_apart[~is_coded],
                np.ascontiguousarray(sums.means[:, numbers]),
                coded,
                firsts,
                np.concatenate(tables) if tables else np.zeros((0, sums.sizes.size)),
            ),
            sums,
            subset,
            **more,
        )

    def start(self, rows: Any, labels: Labels, k: int, subset: Subset) -> Centers:
        """The centers of a clustering of some samples, given by their codes in all columns."""
        return self.centers(sums_of(rows, self.scale, labels, k), subset)

    def improved(self, warm: Centers, subset: Subset) -> Centers:
        """K-means on a subset of the features, from the clusters of `warm`, by passes over their columns only."""
        if warm.is_settled and np.array_equal(warm.subset, subset):
            return warm
        columns = self.layout.columns[self.members(subset)]
        scale = self.scale.among(columns)
        here, explained = self.centers(warm.sums, subset, before=warm), self.raised(warm.sums, subset)
        for _ in range(MOST_PASSES):
            by = partial(sums_by, scale=scale, columns=here.columns.among(columns))
            sums = self.scale.widened(self.blocks.total(by, columns), columns)
            if not sums.sizes.all():
                break
            before, explained = explained, self.raised(sums, subset)
            here = self.centers(sums, subset, before=warm)
            if explained <= before * (1.0 + LEAST_GAIN):
                break
        return replace(here, is_settled=True)

    def raised(self, sums: Sums, subset: Subset) -> float:
        """What K-means on a subset raises: the amount of its features that the clusters explain."""
        members = self.members(subset)
        scores = self.member_scores(sums)[self.layout.columns[members]]
        return float((scores * self.total[members]).sum())


def level_spreads(scale: Scale, counts: Counts) -> Floats:
    """(N - sum_l n_l^2 / N) / 2 of every cluster in every column of levels, of shape (k, n_columns_of_levels)."""
    if not scale.coded.size:
        return np.zeros((len(counts), 0))
    firsts = scale.firsts[:-1]
    seen = np.add.reduceat(counts, firsts, axis=1)
    squares = np.add.reduceat(counts.astype(np.float64) ** 2, firsts, axis=1)
    return np.asarray((seen - squares / np.maximum(seen, 1)) / 2.0)


def level_tables(scale: Scale, counts: Counts, columns: Subset, weights: Floats, spreads: Floats) -> list[Floats]:
    """The weighted distance of every level to every cluster, of shape (n_levels, k), for some columns of levels.

    It is 1 - q_l - (1 - sum q^2) / 2, where q_l is the share of level l in the cluster; see `LevelMeasure`.
    """
    firsts = dict(zip(scale.coded.tolist(), scale.firsts[:-1].tolist(), strict=True))
    tables = []
    for column, weight, spread in zip(columns.tolist(), weights, spreads, strict=True):
        own = counts[:, firsts[column] : firsts[column] + scale.levels[column]]
        with np.errstate(invalid="ignore"):
            shares = own / own.sum(axis=1, keepdims=True)
        apart = 1.0 - shares - (1.0 - (shares**2).sum(axis=1, keepdims=True)) / 2.0
        tables.append(weight * np.where(np.isnan(apart), spread, apart).T)
    return tables


class BlockProblem(NamedTuple):
    """The problem of a climb on all samples, by passes over blocks; see `Problem`.

    `scored` are the features as they are scored: by the share or by the amount that the clusters explain.
    """

    features: BlockFeatures
    scored: Any
    n_clusters: int
    max_iter: int = 100
    # A pass is worth its time only if it gains more than this share of the objective.
    least_gain: float = LEAST_GAIN
    constrains: bool = False

    def cluster(self, subset: Subset, rng: Any, warm: Centers) -> Centers:
        """C-hat(delta_S, k) by Lloyd's passes over the columns of S."""
        return self.features.improved(warm, subset)

    def scores(self, centers: Centers) -> Floats:
        """1 - Delta_a[C] / T_a of every feature; nothing is explained by fewer than k clusters."""
        scores: Floats = self.scored.scores(centers, self.n_clusters)
        return scores if centers.sums.sizes.all() else np.zeros_like(scores)

    def at_once(self, start: Centers, size: int, rng: np.random.Generator) -> None:
        """There is no compiled code for climbs on blocks: each pass takes longer than calling it."""

    def is_same(self, new: Centers, old: Centers) -> bool:
        """Whether a step has changed nothing."""
        return new is old

    def moved(self, new: Centers, old: Centers) -> int:
        """The number of samples in another cluster."""
        return int(new.sums.moved)
