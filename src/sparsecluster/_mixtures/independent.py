"""Features that are independent within clusters: numbers are Gaussian, categories are multinomial.

A feature has one distribution per cluster or, if it is not relevant, one for all samples. All sums run over observed
values, so that values that are missing at random need no imputation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from .._data.kinds import Hamming, Ordinal, SquaredEuclidean
from .._data.reading import Reading
from .._data.source import TableSource
from .._data.source_sparse import SparseSource
from .._kernels.integrated import PRIOR_WEIGHT, count_terms
from .._kernels.levels import level_counts, level_sums
from .._utils.arrays import Floats, Labels, Subset
from .._utils.text import brief

# Lower bound of the probability of a level in a cluster, so that a level that does not occur there is not impossible.
LEAST_PROBABILITY = 1e-6
# A cluster whose observed weight in a column is smaller than this has the distribution of all samples there.
LEAST_WEIGHT = 1e-8
LOG_2PI = float(np.log(2 * np.pi))

Bools = npt.NDArray[np.bool_]


# ---------------------------------------------------------------- numbers


class Gaussians(NamedTuple):
    """Mean and variance of each number in each cluster, of shape (n_columns, n_clusters)."""

    means: Floats
    variances: Floats


class Numbers(NamedTuple):
    """Columns of numbers that are scaled to variance 1.

    Attributes
    ----------
    values, squares : ndarray or sparse array of shape (n_samples, n_columns)
        The scaled numbers and their squares; 0 for missing values.
    seen : ndarray of shape (n_samples, n_columns) or None
        1 for observed and 0 for missing values; None if all are observed.
    means, origins, units : ndarray of shape (n_columns,)
        Mean of each scaled column. In the user's units, a value v is origin + unit * v.
    """

    values: Any
    squares: Any
    seen: Floats | None
    means: Floats
    origins: Floats
    units: Floats

    @property
    def n_parameters(self) -> Floats:
        """Number of parameters of each column in one cluster."""
        return np.full(self.units.size, 2.0)

    @property
    def counts(self) -> Floats:
        """Number of observed values of each column."""
        return np.full(self.units.size, float(self.values.shape[0])) if self.seen is None else self.seen.sum(axis=0)

    def sums(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Sums of the weights, of shape (n_samples, k), of the weighted values, and of their weighted squares."""
        # In this order, the products take a fraction of the time.
        across = np.ascontiguousarray(weights.T)
        counts = across.sum(axis=1) * np.ones((self.units.size, 1)) if self.seen is None else (across @ self.seen).T
        return counts, (across @ self.values).T, (across @ self.squares).T

    def fit(self, weights: Floats, least: float) -> tuple[Gaussians, Floats]:
        """Return the most likely Gaussians with variances of at least `least`, and the log likelihood of each column.

        `weights`, of shape (n_samples, k), are the probabilities of the clusters.
        """
        counts, sums, squares = self.sums(weights)
        enough = counts > LEAST_WEIGHT
        divisors = np.where(enough, counts, 1.0)
        means = np.where(enough, sums / divisors, self.means[:, None])
        spreads = np.where(enough, np.maximum(squares / divisors - means**2, 0.0), 1.0)
        variances = np.maximum(spreads, least)
        likelihood = -0.5 * (counts * (LOG_2PI + np.log(variances) + spreads / variances)).sum(axis=1)
        return Gaussians(means, variances), likelihood

    def log_density(self, found: Gaussians, relevant: Bools) -> Floats:
        """Sum of the log densities of the relevant columns for each sample and cluster."""
        chosen = np.flatnonzero(relevant)
        means, variances = found.means[chosen], found.variances[chosen]
        constants = -0.5 * (means**2 / variances + LOG_2PI + np.log(variances))
        at = constants.sum(axis=0) if self.seen is None else self.seen[:, chosen] @ constants
        values, squares = self.values[:, chosen], self.squares[:, chosen]
        return np.asarray(values @ (means / variances) - squares @ (0.5 / variances) + at)

    def log_integral(self, members: Floats, prior: Floats) -> Floats:
        """Log density of each column, integrated over the mean and the variance of every cluster.

        With the prior of Marbac and Sedki, the n values of a column in a cluster, with sum s and sum of squares q as
        measured from the mean of the column, have the density

            Gamma((n + 1) / 2) / Gamma(1/2) pi^(-n/2) sqrt(d / (n + d)) t (t^2 + q - s^2 / (n + d))^(-(n + 1) / 2),

        where d = 0.01 and t is the prior scale. `members` are indicators of the clusters, `prior` is t^2.
        """
        counts, sums, squares = self.sums(members)
        squares = squares - 2.0 * self.means[:, None] * sums + self.means[:, None] ** 2 * counts
        sums = sums - self.means[:, None] * counts
        scale = prior[:, None]
        left = np.maximum(scale + squares - sums**2 / (counts + PRIOR_WEIGHT), scale)
        terms = count_terms(len(members)) - count_terms(0)
        found = terms[counts.astype(np.intp)] + 0.5 * np.log(scale) - 0.5 * (counts + 1.0) * np.log(left)
        return np.asarray(found.sum(axis=1))

    def dense(self, chosen: Bools) -> Floats:
        """Some of the columns, measured from their means, with NaN for missing values."""
        values = self.values[:, np.flatnonzero(chosen)]
        values = (values.toarray() if hasattr(values, "toarray") else values) - self.means[chosen]
        return values if self.seen is None else np.where(self.seen[:, chosen] > 0, values, np.nan)

    def take(self, rows: Subset) -> Self:
        """The same columns for some of the samples."""
        seen = None if self.seen is None else self.seen[rows]
        return self._replace(values=self.values[rows], squares=self.squares[rows], seen=seen)


def scaled_numbers(table: Floats) -> Numbers:
    """Scale numbers to mean 0 and variance 1. NaN are missing values."""
    seen = ~np.isnan(table)
    # Values are measured from the smallest and divided by the largest, so that nothing overflows or loses digits.
    low = np.fmin.reduce(table, axis=0)
    values = np.where(seen, table - low, 0.0)
    widths = values.max(axis=0, initial=0.0)
    values /= widths
    counts = seen.sum(axis=0)
    means = values.sum(axis=0) / counts
    values = np.where(seen, values - means, 0.0)
    spreads = np.sqrt((values**2).sum(axis=0) / counts)
    values /= spreads
    mask = None if seen.all() else seen.astype(np.float64)
    return Numbers(values, values**2, mask, np.zeros(low.size), low + means * widths, spreads * widths)


def scaled_sparse(table: Any) -> Numbers:
    """Scale the columns of a sparse matrix to variance 1. Zeros stay zeros."""
    values = table.tocsc().astype(np.float64)
    n, p = values.shape
    stored = np.diff(values.indptr)
    column = np.repeat(np.arange(p), stored)

    def means_of(each: Floats) -> Floats:
        return np.bincount(column, each, p) / n

    # A column without zeros is measured from its mean, so that a small spread about a large value keeps its digits.
    origins = np.where(stored == n, means_of(values.data), 0.0)
    values.data -= origins[column]
    # Divide by the largest value first, so that squares of very large or small values stay within range.
    largest = abs(values).max(axis=0).toarray().ravel()
    values.data /= largest[column]
    means = means_of(values.data)
    spreads = np.sqrt(means_of((values.data - means[column]) ** 2) + (1.0 - stored / n) * means**2)
    values.data /= spreads[column]
    scaled = values.tocsr()
    return Numbers(scaled, scaled.multiply(scaled).tocsr(), None, means / spreads, origins, spreads * largest)


# ---------------------------------------------------------------- categories


class Levels(NamedTuple):
    """Columns of levels; `codes` and `starts` are as in `_kernels.levels`.

    `names` are the codes that the source has for the levels of each column.
    """

    codes: Labels
    starts: Subset
    names: list[Floats]

    @property
    def n_parameters(self) -> Floats:
        """Number of parameters of each column in one cluster: the number of levels minus one."""
        return np.diff(self.starts) - 1.0

    def by_column(self, values: Floats) -> Floats:
        """Sum over the levels of each column of values per level, of shape (n_levels, k)."""
        return np.add.reduceat(values, self.starts[:-1], axis=0) if self.names else np.zeros((0, values.shape[1]))

    def by_level(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat one value per column for each of its levels."""
        return np.repeat(values, np.diff(self.starts), axis=0)

    def fit(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the most likely probabilities, of shape (n_levels, k), and the log likelihood of each column.

        No probability is below `LEAST_PROBABILITY`.
        """
        counts = level_counts(self.codes, self.starts, weights)
        totals = self.by_column(counts)
        overall = counts.sum(axis=1, keepdims=True)
        enough = self.by_level(totals) > LEAST_WEIGHT
        shares = np.where(enough, counts, overall)
        probabilities = shares / self.by_level(self.by_column(shares))
        low = np.zeros(shares.shape, bool)
        # If the bound makes some probabilities larger, the others are scaled down, and may then reach the bound, too.
        while (probabilities < LEAST_PROBABILITY).any():
            low |= probabilities < LEAST_PROBABILITY
            free = 1.0 - LEAST_PROBABILITY * self.by_column(low.astype(np.float64))
            scale = free / self.by_column(np.where(low, 0.0, shares))
            probabilities = np.where(low, LEAST_PROBABILITY, shares * self.by_level(scale))
        return probabilities, self.by_column(counts * np.log(probabilities)).sum(axis=1)

    def log_density(self, probabilities: Floats, relevant: Bools) -> Floats:
        """Sum of the log probabilities of the relevant columns for each sample and cluster."""
        return level_sums(self.codes, self.starts, np.log(probabilities) * self.by_level(relevant)[:, None])

    def log_integral(self, members: Floats) -> Floats:
        """Log probability of each column, integrated over the probabilities of every cluster (Dirichlet(1/2) prior).

        For counts c_1, ..., c_L with sum n, it is Gamma(L/2) / Gamma(n + L/2) prod_l Gamma(c_l + 1/2) / Gamma(1/2).
        """
        counts = level_counts(self.codes, self.starts, members)
        halves = np.diff(self.starts)[:, None] / 2.0
        found = self.by_column(gammaln(counts + 0.5) - gammaln(0.5))
        return np.asarray((found + gammaln(halves) - gammaln(self.by_column(counts) + halves)).sum(axis=1))

    def take(self, rows: Subset) -> Self:
        """The same columns for some of the samples."""
        return self._replace(codes=self.codes[rows])

    def choose(self, chosen: Bools) -> Self:
        """Some of the columns."""
        names = [self.names[a] for a in np.flatnonzero(chosen)]
        return self._replace(codes=np.ascontiguousarray(self.codes[:, chosen]), starts=starts_of(names), names=names)


def coded_levels(table: Floats) -> Levels:
    """Number the levels of each column. NaN are missing values."""
    names = [np.unique(column[~np.isnan(column)]) for column in table.T]
    codes = np.full(table.shape, -1, np.int32)
    for a, (own, column) in enumerate(zip(names, table.T, strict=True)):
        observed = ~np.isnan(column)
        codes[observed, a] = np.searchsorted(own, column[observed])
    return Levels(codes, starts_of(names), names)


def starts_of(names: Sequence[Floats]) -> Subset:
    """Number of levels before those of each column, and of all levels."""
    return np.concatenate([[0], np.cumsum([own.size for own in names])]).astype(np.intp)


# ---------------------------------------------------------------- both


class Columns(NamedTuple):
    """The features of a table: feature a is column `places[a]` of the numbers followed by the levels."""

    numbers: Numbers
    levels: Levels
    places: Subset

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.levels.codes)

    def together(self, of_numbers: npt.NDArray[Any], of_levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """One value per feature, from those of the numbers and of the levels."""
        return np.concatenate([of_numbers, of_levels])[self.places]

    def apart(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Values of the numbers and of the levels, from one value per feature."""
        own = values[np.argsort(self.places)]
        return own[: self.numbers.units.size], own[self.numbers.units.size :]

    def take(self, rows: Subset) -> Self:
        """The same columns for some of the samples."""
        return self._replace(numbers=self.numbers.take(rows), levels=self.levels.take(rows))


def columns_of(name: str, reading: Reading) -> Columns:
    """Return the columns of a reading, or raise an error if one of them has no distribution in this model."""
    source = reading.source
    kinds = [source.kind(a) for a in source.columns.tolist()]
    for a, kind in zip(source.columns.tolist(), kinds, strict=True):
        if not isinstance(kind, SquaredEuclidean | Hamming | Ordinal):
            raise ValueError(
                f"{name} needs coordinates of the samples or levels, but column {brief(reading.names[a])} has only "
                'dissimilarities of pairs of samples. Use metric="sqeuclidean" for numbers and "hamming" for levels.'
            )
    is_number = np.array([isinstance(kind, SquaredEuclidean) for kind in kinds])
    places = np.argsort(np.argsort(~is_number, kind="stable"))
    if isinstance(source, SparseSource):
        numbers = scaled_sparse(source.values[:, source.columns].tocsr()[source.samples])
        return Columns(numbers, coded_levels(np.zeros((source.samples.size, 0))), places)
    assert isinstance(source, TableSource)
    table = source.table.values[np.ix_(source.samples, source.columns)].astype(np.float64)
    return Columns(scaled_numbers(table[:, is_number]), coded_levels(table[:, ~is_number]), places)
