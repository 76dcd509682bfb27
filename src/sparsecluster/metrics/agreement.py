"""Agreement between two labelings, and between the chosen and the useful features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

Codes = npt.NDArray[np.intp]

# Labels from 0 up to this number are counted as they are. Other labels are numbered first, which takes longer.
MOST_COUNTED = 2**5


def rand_index(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Compute the Rand index: the share of pairs of samples on which two labelings agree.

    Two labelings agree on a pair of samples if both put the two samples in the same cluster, or both put them in
    different clusters. With `b` pairs together in both labelings, `d` pairs apart in both and `N = n (n - 1) / 2` pairs
    in total, the index is `(b + d) / N` (Rand, 1971).

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        First labeling, usually the true groups. Labels may be numbers or strings.
    labels : array-like of shape (n_samples,)
        Second labeling, usually the clusters. The index is symmetric in the two labelings.

    Returns
    -------
    float
        Rand index in [0, 1]; 1 if the two partitions are the same, whatever the labels are called, and if there are
        fewer than two samples.

    See Also
    --------
    adjusted_rand_index : Rand index corrected for chance.

    Examples
    --------
    >>> from sparsecluster.metrics import rand_index
    >>> rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    0.3333333333333333
    """
    return _rand(*_pairs_together(truth, labels))


def adjusted_rand_index(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Compute the Rand index corrected for chance.

    With `b` pairs of samples together in both labelings, `f` together in the first, `s` together in the second and `N`
    pairs in total, the index is `(b - f s / N) / ((f + s) / 2 - f s / N)` (Hubert and Arabie, 1985).

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        First labeling, usually the true groups. Labels may be numbers or strings.
    labels : array-like of shape (n_samples,)
        Second labeling, usually the clusters. The index is symmetric in the two labelings.

    Returns
    -------
    float
        Adjusted Rand index in [-0.5, 1]; about 0 for unrelated labelings, and 1 if the two partitions are the same.

    Examples
    --------
    >>> from sparsecluster.metrics import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    return _adjusted_rand(*_pairs_together(truth, labels))


def agreement_matrix(
    labelings: Sequence[npt.ArrayLike], measure: Callable[..., float] = adjusted_rand_index
) -> npt.NDArray[np.float64]:
    """Compute the adjusted Rand index, or another measure, of every pair of labelings.

    Parameters
    ----------
    labelings : sequence of array-like, each of shape (n_samples,)
        Labelings of the same samples.
    measure : callable, default=adjusted_rand_index
        Symmetric function of two labelings that is 1 if they are the same.

    Returns
    -------
    ndarray of shape (n_labelings, n_labelings)
        Symmetric matrix with ones on the diagonal.

    Examples
    --------
    >>> from sparsecluster.metrics import agreement_matrix
    >>> agreement_matrix([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]])
    array([[ 1. ,  1. , -0.5],
           [ 1. ,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    matrix = np.eye(len(labelings))
    for i, j in combinations(range(len(labelings)), 2):
        matrix[i, j] = matrix[j, i] = measure(labelings[i], labelings[j])
    return matrix


def error_rate(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Compute the share of misclassified samples under the best matching of clusters to groups.

    The matching is one to one and minimizes the error (Hungarian algorithm). If there are more clusters than groups,
    all samples of an unmatched cluster count as errors; if there are fewer, all samples of an unmatched group do.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        True group of each sample. Labels may be numbers or strings.
    labels : array-like of shape (n_samples,)
        Cluster of each sample. The error rate is symmetric in the two labelings.

    Returns
    -------
    float
        Error rate in [0, 1); 0 if the two partitions are the same, and if there are no samples.

    Examples
    --------
    >>> from sparsecluster.metrics import error_rate
    >>> error_rate([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> error_rate([0, 0, 0, 1], [0, 0, 1, 2])
    0.25
    """
    return _error(contingency_matrix(*_codes(truth, labels)))


def symmetric_difference(useful: npt.ArrayLike, chosen: npt.ArrayLike) -> int:
    """Count the useful features that were missed and the useless features that were chosen.

    This is the size of the symmetric difference of the set of useful features and the set of chosen features.

    Parameters
    ----------
    useful : array-like of bool of shape (n_features,)
        Mask of the useful features.
    chosen : array-like of bool of shape (n_features,)
        Mask of the chosen features.

    Returns
    -------
    int
        Number of features in which the two masks differ.

    Examples
    --------
    >>> from sparsecluster.metrics import symmetric_difference
    >>> symmetric_difference([True, True, False], [True, False, True])
    2
    """
    useful, chosen = np.asarray(useful, dtype=bool), np.asarray(chosen, dtype=bool)
    if useful.shape != chosen.shape:
        raise ValueError(f"Both masks must have the same length; got shapes {useful.shape} and {chosen.shape}.")
    return int(np.count_nonzero(useful != chosen))


def measures_of(counts: npt.NDArray[np.int64]) -> dict[str, float]:
    """Compute the Rand index, the adjusted Rand index and the error rate from counts, without the labels of samples.

    Parameters
    ----------
    counts : ndarray of shape (n_groups, n_clusters)
        The number of samples in each group and cluster.

    Returns
    -------
    dict of str to float
        The measures by the names "rand", "ari" and "error".

    Examples
    --------
    >>> measures_of(np.array([[2, 0], [1, 1]]))
    {'rand': 0.5, 'ari': 0.0, 'error': 0.25}
    """
    return {"rand": _rand(*_pairs_of(counts)), "ari": adjusted_rand_of(counts), "error": _error(counts)}


def adjusted_rand_of(counts: npt.NDArray[np.int64]) -> float:
    """Compute the adjusted Rand index from counts, of shape (n_groups, n_clusters).

    >>> adjusted_rand_of(np.array([[2, 0], [1, 1]]))
    0.0
    """
    return _adjusted_rand(*_pairs_of(counts))


def _rand(both: int, first: int, second: int, pairs: int) -> float:
    return (pairs - first - second + 2 * both) / pairs if pairs else 1.0


def _adjusted_rand(both: int, first: int, second: int, pairs: int) -> float:
    if both == first == second:
        return 1.0
    # The numerator and the denominator, each times the number of pairs, are whole numbers and therefore exact.
    return 2 * (both * pairs - first * second) / ((first + second) * pairs - 2 * first * second)


def _error(table: npt.NDArray[np.int64]) -> float:
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return float(1.0 - matched / table.sum()) if table.size else 0.0


def _pairs_together(truth: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[int, int, int, int]:
    """Count the pairs of samples that are together in both labelings, in the first, in the second, and all pairs."""
    rows, columns = _codes(truth, labels)
    cells = rows * (columns.max(initial=0) + 1) + columns
    is_small = cells.max(initial=0) <= MOST_COUNTED**2
    counts = np.bincount(cells) if is_small else np.unique(cells, return_counts=True)[1]
    return _pairs_in(counts, np.bincount(rows), np.bincount(columns))


def _pairs_in(*counts: npt.NDArray[np.integer]) -> tuple[int, int, int, int]:
    """Count the same pairs, given the numbers of samples in cells, rows and columns of a table."""
    n = int(counts[0].sum())
    both, first, second = (sum(count * (count - 1) // 2 for count in each.tolist()) for each in counts)
    return both, first, second, n * (n - 1) // 2


def _pairs_of(counts: npt.NDArray[np.int64]) -> tuple[int, int, int, int]:
    """Count the same pairs, given the table."""
    return _pairs_in(counts.ravel(), counts.sum(axis=1), counts.sum(axis=0))


def _codes(truth: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Codes, Codes]:
    """Number the labels by 0, 1, ...; some of these numbers may not be used."""
    rows, columns = _numbered(truth), _numbered(labels)
    if rows.size != columns.size:
        raise ValueError(f"Both labelings must have the same length; got {rows.size} and {columns.size}.")
    return rows, columns


def _numbered(labels: npt.ArrayLike) -> Codes:
    given = np.asarray(labels).ravel()
    if given.dtype.kind in "iu" and given.min(initial=0) >= 0 and given.max(initial=0) <= MOST_COUNTED:
        return given.astype(np.intp)
    return np.unique(given, return_inverse=True)[1].ravel()
