"""Copies of a table that have no clusters: permuted ones, and simulated ones with a single group of samples.

Both are readings with the samples, the columns and the order of the data, so that every method can be fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, hstack
from scipy.special import ndtri

from .._data.arrange_sparse import ByColumn, tidy
from .._data.reading import Reading
from .._data.source import ColumnTable, MatrixSource, SampleSource, TableSource
from .._data.source_sparse import SparseSource
from .._features.matrices import Matrices
from .._kernels.order import shuffle_columns
from .._kernels.sparse import shuffle_samples
from .._utils.arrays import Floats, Subset, Table
from .._utils.parallel import one_thread_blas

# Number of values that are processed together, so that temporary arrays stay small.
BLOCK_VALUES = 2**20
# A simulated copy holds several tables of this many values in memory at a time.
MOST_VALUES = 2 * 10**8
# The smallest noise variance of a column with variance 1. Columns that repeat each other have none at all.
LEAST_NOISE = 1e-8
# The noise level changes by less and less; a few rounds suffice, and this many are never needed.
NOISE_ROUNDS = 100
# Number of points on which the Marchenko-Pastur distribution is integrated.
MP_POINTS = 4000


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of the columns of a table that hold about `BLOCK_VALUES` values each."""
    step = max(1, BLOCK_VALUES // n_rows)
    return (slice(first, first + step) for first in range(0, n_columns, step))


def _with_values(reading: Reading, changed: Iterable[tuple[slice, Table]]) -> Reading:
    """A table with other values of the used samples, given for slices of the used columns."""
    source = reading.source
    assert isinstance(source, TableSource)
    values = source.table.values.copy()
    for places, block in changed:
        values[np.ix_(source.samples, source.columns[places])] = block
    return _with_source(reading, replace(source, table=ColumnTable(values, source.table.kinds)))


def _with_stored(reading: Reading, part: ByColumn) -> Reading:
    """A sparse matrix with other values of the used samples in the used columns, and zeros elsewhere."""
    source = reading.source
    assert isinstance(source, SparseSource)
    rows, columns = source.samples[part.indices], np.repeat(source.columns, np.diff(part.indptr))
    values = csc_array((part.data, (rows, columns)), shape=source.values.shape)
    return _with_source(reading, replace(source, values=values))


def _with_source(reading: Reading, source: SampleSource) -> Reading:
    # Other samples may be equal now, so they are counted again where their number matters.
    return replace(reading, source=source, n_surely_distinct=1)


# ---------------------------------------------------------------- permuted copies


class Shuffle(NamedTuple):
    """A permutation of the samples for every feature: a random one, followed by exchanges of two samples.

    Attributes
    ----------
    seed : int
        The seed of the random permutations, each of which depends on the seed and the number of the feature alone.
    exchanges : tuple of (int, int, int)
        A feature and the two samples that are exchanged in it.
    """

    seed: int
    exchanges: tuple[tuple[int, int, int], ...] = ()

    def apply(self, table: Any, owners: Subset) -> None:
        """Permute the rows of a table in place; owners[j] is the feature of column j."""
        shuffle_columns(table, owners, np.uint64(self.seed))
        for feature, i, j in self.exchanges:
            own = np.flatnonzero(owners == feature)
            table[np.ix_([i, j], own)] = table[np.ix_([j, i], own)]

    def order(self, n_samples: int, feature: int) -> Subset:
        """The sample whose value each sample gets in a feature."""
        places = np.arange(n_samples)[:, None]
        self.apply(places, np.array([feature]))
        return places[:, 0]


def shuffle_of(seen: Any | None, rng: np.random.Generator) -> Shuffle:
    """Draw a permutation for every feature that leaves no sample without an observed value.

    A sample that has lost all its values takes one from a sample that has several, in exchange for a missing one. With
    many missing values, drawing again until nobody has lost all values could take forever.

    Parameters
    ----------
    seen : ndarray of shape (n_samples, n_features), dtype=bool, or None
        Where the data are observed; None if there are no missing values. Every sample has some observed value.
    rng : numpy.random.Generator
        Source of random numbers.
    """
    seed = int(rng.integers(2**63))
    if seen is None:
        return Shuffle(seed)
    moved = seen.copy()
    Shuffle(seed).apply(moved, np.arange(seen.shape[1]))
    counts = moved.sum(axis=1)
    exchanges = []
    for i in np.flatnonzero(counts == 0).tolist():
        j = int(rng.choice(np.flatnonzero(counts > 1)))
        feature = int(rng.choice(np.flatnonzero(moved[j])))
        moved[[i, j], feature] = True, False
        counts[[i, j]] += 1, -1
        exchanges.append((feature, i, j))
    return Shuffle(seed, tuple(exchanges))


def permuted(reading: Reading, rng: np.random.Generator) -> Reading:
    """Permute the used samples within each feature, independently of the other features.

    The columns of a feature are permuted together, and missing values move with the others. Every feature keeps its
    values, so what remains of a clustering is what each feature has of it alone.

    Parameters
    ----------
    reading : Reading
        A table of any kind, a sparse matrix or precomputed matrices. Matrices are permuted when they are read.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    Reading
        The copy. Every sample has an observed value. There may be fewer distinct samples than in the data, which
        `Reading.for_clusters` counts.
    """
    return _PERMUTED[type(reading.source)](reading, rng)


def _permuted_table(reading: Reading, rng: np.random.Generator) -> Reading:
    source = reading.source
    assert isinstance(source, TableSource)
    owners, values = source.owners, source.table.values
    shuffle = shuffle_of(_seen_in(source) if source.has_missing else None, rng)

    def changed() -> Iterator[tuple[slice, Table]]:
        for places in _blocks(source.samples.size, source.columns.size):
            block = values[np.ix_(source.samples, source.columns[places])]
            shuffle.apply(block, owners[places])
            yield places, block

    return _with_values(reading, changed())


def _seen_in(source: TableSource) -> Any:
    """Which features are observed in which samples; a feature is observed if one of its columns is."""
    owners = source.owners
    seen = np.zeros((source.samples.size, int(owners.max()) + 1), bool)
    for places in _blocks(source.samples.size, source.columns.size):
        block = ~np.isnan(source.table.values[np.ix_(source.samples, source.columns[places])])
        np.logical_or.at(seen, (slice(None), owners[places]), block)
    return seen


def _permuted_sparse(reading: Reading, rng: np.random.Generator) -> Reading:
    source = reading.source
    assert isinstance(source, SparseSource)
    part = tidy(source.values, source.columns, source.samples)
    seed = np.uint64(shuffle_of(None, rng).seed)
    samples = shuffle_samples(part.indices, part.indptr, source.samples.size, source.owners, seed)
    return _with_stored(reading, csc_array((part.data, samples, part.indptr), shape=part.shape))


def _permuted_matrices(reading: Reading, rng: np.random.Generator) -> Reading:
    source = reading.source
    assert isinstance(source, MatrixSource)
    matrices, samples = source.matrices, source.samples
    owners = dict(zip(source.columns.tolist(), source.owners.tolist(), strict=True))
    shuffle = shuffle_of(_seen_by(source), rng)

    def read(a: int) -> Table:
        if a not in owners:
            return matrices[a]
        rows = np.arange(matrices.n_samples)
        rows[samples] = samples[shuffle.order(samples.size, owners[a])]
        return matrices[a][np.ix_(rows, rows)]

    copy = Matrices(read, matrices.count, matrices.n_samples, matrices.incomplete, computed=True)
    return _with_source(reading, replace(source, matrices=copy))


def _seen_by(source: MatrixSource) -> Any | None:
    """Which features are observed in which samples, by the diagonals; None if some feature is observed in all."""
    if not source.matrices.incomplete.issuperset(source.columns.tolist()):
        return None
    seen = np.zeros((source.samples.size, int(source.owners.max()) + 1), bool)
    for a, owner in zip(source.columns.tolist(), source.owners.tolist(), strict=True):
        seen[:, owner] |= ~np.isnan(np.diag(source.matrices[a])[source.samples])
    return seen


_PERMUTED: dict[type, Callable[[Reading, np.random.Generator], Reading]] = {
    TableSource: _permuted_table,
    SparseSource: _permuted_sparse,
    MatrixSource: _permuted_matrices,
}


# ---------------------------------------------------------------- normal scores


def normal_scores(values: Table, rng: np.random.Generator | None = None) -> Floats:
    """Return the normal scores Phi^-1((rank - 1/2) / m) of every column, where m values are observed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Numbers; NaN for missing values.
    rng : numpy.random.Generator or None, default=None
        Breaks ties at random, independently in every column. Without it, equal values share their mean rank.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        The scores, NaN for missing values.

    Examples
    --------
    >>> import numpy as np
    >>> normal_scores(np.array([[3.0], [1.0], [np.nan], [2.0]])).round(2).ravel().tolist()
    [0.97, -0.97, nan, 0.0]
    """
    scores = np.empty(values.shape)
    for places in _blocks(*values.shape):
        block = values[:, places]
        missing = np.isnan(block)
        ranks = _mid_ranks(block) if rng is None else _ranks(np.lexsort((rng.random(block.shape), block), axis=0))
        # Missing values come last in every order, so their ranks are too large and are not used.
        shares = np.where(missing, 0.5, (ranks + 0.5) / np.maximum(1, len(block) - missing.sum(axis=0)))
        scores[:, places] = np.where(missing, np.nan, ndtri(shares))
    return scores


def _ranks(order: Subset) -> Floats:
    """Ranks from 0 of every column, given the order of its rows."""
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, np.arange(len(order), dtype=np.float64)[:, None], axis=0)
    return ranks


def _mid_ranks(block: Table) -> Floats:
    """Ranks from 0 of every column; equal values have the mean of their ranks."""
    order = np.argsort(block, axis=0, kind="stable")
    ordered = np.take_along_axis(block, order, axis=0)
    places = np.broadcast_to(np.arange(len(block))[:, None], block.shape)
    differs = ordered[1:] != ordered[:-1]
    edge = np.ones((1, block.shape[1]), bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, differs]), places, 0), axis=0)
    last = np.where(np.concatenate([differs, edge]), places, len(block))
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    ranks = np.empty(block.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=0)
    return ranks


# ---------------------------------------------------------------- one correlated group


class Factors(NamedTuple):
    """A correlation matrix loadings loadings' + diag(noise), which is never formed.

    Attributes
    ----------
    loadings : ndarray of shape (n_columns, n_factors)
        What the columns share.
    noise : ndarray of shape (n_columns,)
        The variance that each column has of its own, so that its variance is 1.
    """

    loadings: Floats
    noise: Floats


def mp_median(ratio: float) -> float:
    """The median of the Marchenko-Pastur distribution with variance 1, where `ratio` <= 1 is columns over samples.

    With x = 1 + c - 2 sqrt(c) cos(t), the density of t is proportional to sin(t)^2 / x on [0, pi].
    """
    step = np.pi / MP_POINTS
    angles = (np.arange(MP_POINTS) + 0.5) * step
    density = np.sin(angles) ** 2 / (1 + ratio - 2 * np.sqrt(ratio) * np.cos(angles))
    half = np.interp(0.5, density.cumsum() / density.sum(), angles + step / 2)
    return float(1 + ratio - 2 * np.sqrt(ratio) * np.cos(half))


def unbiased(eigenvalues: Floats, ratio: float) -> Floats:
    """The population eigenvalues l that lead to the given sample eigenvalues x, with noise of variance 1.

    A spike l > 1 + sqrt(c) leads to x = l + c l / (l - 1), where c = `ratio` is columns over samples (Baik and Ben
    Arous). This is the larger solution of l^2 - (x + 1 - c) l + x = 0.
    """
    middle = eigenvalues + 1 - ratio
    return np.asarray((middle + np.sqrt(np.maximum(middle**2 - 4 * eigenvalues, 0.0))) / 2)


def spikes_and_noise(eigenvalues: Floats, n_samples: int, n_columns: int) -> tuple[Floats, float]:
    """Tell the eigenvalues of a sample correlation matrix that stand for something from those of noise.

    The noise variance is first such that the median eigenvalue is that of the Marchenko-Pastur distribution. It is then
    what the spikes leave of the total variance, until it no longer changes: with few columns, half of the eigenvalues
    may be spikes. Spikes are larger than the upper edge of the noise, sigma^2 (1 + sqrt(c))^2, where c is columns over
    samples. One sample is lost to the means of the columns.

    Parameters
    ----------
    eigenvalues : ndarray of shape (min(n_samples - 1, n_columns),)
        Eigenvalues of the sample correlation matrix in descending order.
    n_samples, n_columns : int
        The size of the table.

    Returns
    -------
    spikes : ndarray of shape (n_spikes,)
        The population eigenvalues of the spikes, without what sampling adds to them.
    noise : float
        The noise variance sigma^2.

    References
    ----------
    J. Baik, G. Ben Arous and S. Péché, Annals of Probability 33 (2005), 1643-1697. S. Kritchman and B. Nadler,
    "Determining the number of components in a factor model from limited noisy data", Chemometrics and Intelligent
    Laboratory Systems 94 (2008), 19-32. D. Donoho, M. Gavish and I. Johnstone, "Optimal shrinkage of eigenvalues in the
    spiked covariance model", Annals of Statistics 46 (2018), 1742-1778.
    """
    ratio = n_columns / (n_samples - 1)
    expected = mp_median(ratio) if ratio <= 1 else ratio * mp_median(1 / ratio)
    noise = max(LEAST_NOISE, float(np.median(eigenvalues)) / expected)
    # The smallest eigenvalue is always noise, so that there is something to measure it by.
    candidates = eigenvalues[:-1]
    spikes = candidates[:0]
    for _ in range(NOISE_ROUNDS):
        above = candidates[candidates > noise * (1 + np.sqrt(ratio)) ** 2]
        spikes = noise * unbiased(above / noise, ratio)
        left = max(LEAST_NOISE, float(n_columns - spikes.sum()) / (n_columns - spikes.size))
        if abs(left - noise) <= LEAST_NOISE:
            break
        noise = left
    return spikes, noise


def factors_of(scores: Floats) -> Factors:
    """Return the correlation of normal scores, of shape (n_samples, n_columns), without correlation by chance.

    Missing scores count as 0. A column that is observed in a share s of the samples then has correlations that are too
    small by a factor of sqrt(s), by which its loadings are divided.
    """
    n, p = scores.shape
    observed = 1 - np.isnan(scores).mean(axis=0)
    table = np.nan_to_num(scores)
    table /= np.sqrt(np.mean(table**2, axis=0))
    # The products of the shorter side have the same eigenvalues.
    if n <= p:
        values, left = np.linalg.eigh(table @ table.T / n)
    else:
        values, right = np.linalg.eigh(table.T @ table / n)
    count = min(n - 1, p)
    values = np.maximum(values[::-1][:count], 0.0)
    spikes, noise = spikes_and_noise(values, n, p)
    own = slice(None, -spikes.size - 1, -1)
    vectors = table.T @ left[:, own] / np.sqrt(n * values[: spikes.size]) if n <= p else right[:, own]
    loadings = vectors * np.sqrt(np.maximum(spikes - noise, 0.0)) / np.sqrt(observed)[:, None]
    shared = np.sum(loadings**2, axis=1)
    loadings /= np.sqrt(np.maximum(1.0, shared))[:, None]
    return Factors(loadings, np.maximum(0.0, 1.0 - shared))


def one_group(reading: Reading, rng: np.random.Generator) -> Reading | None:
    """Simulate a table with the columns of the data and their correlation, but with a single group of samples.

    The table is drawn from a Gaussian copula. Its correlation is that of the normal scores, of which only eigenvalues
    above those of noise are kept (see `spikes_and_noise`): with more columns than samples, most of the correlation in a
    sample is by chance, and a copy that keeps it as if it were real looks more clustered than the data. The simulated
    scores are then replaced by the values of the same rank, so that each column keeps exactly its own values, ties and
    levels, and missing values stay in their places. Levels without an order are ordered by their frequency.

    Parameters
    ----------
    reading : Reading
        A table of any kind, or a sparse matrix.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    Reading or None
        The copy; None for precomputed matrices, which have no columns of values, and for tables that are too large.
    """
    source = reading.source
    if isinstance(source, MatrixSource) or source.samples.size * source.columns.size > MOST_VALUES:
        return None
    if isinstance(source, SparseSource):
        dense = tidy(source.values, source.columns, source.samples).toarray()
        part = hstack([csc_array(block) for _, block in _simulated(dense, rng)], format="csc")
        return _with_stored(reading, part)
    assert isinstance(source, TableSource)
    values = source.table.values[np.ix_(source.samples, source.columns)]
    levels = {}
    for j, a in enumerate(source.columns.tolist()):
        if source.kind(a).scale == "level":
            values[:, j], levels[j] = by_frequency(values[:, j])

    def changed() -> Iterator[tuple[slice, Table]]:
        for places, block in _simulated(values, rng):
            for j in range(places.start, places.start + block.shape[1]):
                if j in levels:
                    known = ~np.isnan(block[:, j - places.start])
                    block[known, j - places.start] = levels[j][block[known, j - places.start].astype(np.intp)]
            yield places, block

    return _with_values(reading, changed())


def by_frequency(codes: Table) -> tuple[Table, Table]:
    """Codes of levels as places in the order of their frequency, the commonest first; and the codes in this order."""
    levels, at, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    places = np.empty(levels.size, codes.dtype)
    places[order] = np.arange(levels.size)
    return np.where(np.isnan(codes), np.nan, places[at]).astype(codes.dtype), levels[order]


def _simulated(values: Table, rng: np.random.Generator) -> Iterator[tuple[slice, Table]]:
    """Blocks of columns with the values of each column in the order of simulated scores."""
    with one_thread_blas():
        loadings, noise = factors_of(normal_scores(values, rng))
    shared = rng.standard_normal((len(values), loadings.shape[1]))
    for places in _blocks(*values.shape):
        block = values[:, places]
        with one_thread_blas():
            scores = shared @ loadings[places].T
        scores += np.sqrt(noise[places]) * rng.standard_normal(block.shape)
        scores[np.isnan(block)] = np.nan
        # Missing values come last in both orders.
        drawn = np.empty_like(block)
        np.put_along_axis(drawn, np.argsort(scores, axis=0), np.sort(block, axis=0), axis=0)
        yield places, drawn
