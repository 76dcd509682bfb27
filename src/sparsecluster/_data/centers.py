"""The center of every column in every cluster, in the user's units: for people to read, not to compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from .._utils.arrays import Floats, Subset, Table
from .kinds import Dissimilarity

# Number of values processed together: few enough to stay in the cache.
BLOCK_VALUES = 2**17


def table_centers(
    values: Table, kinds: Sequence[Dissimilarity], labels: npt.NDArray[np.intp], k: int
) -> npt.NDArray[Any] | None:
    """The center of every column in every cluster, of shape (k, n_columns); None if some column has none."""
    if not all(kind.has_center for kind in kinds):
        return None
    centers = [centers_of(values[labels == c], kinds) for c in range(k)]
    return np.array(centers, dtype=object if any(kind.levels is not None for kind in kinds) else np.float64)


def centers_of(values: Table, kinds: Sequence[Dissimilarity]) -> list[Any]:
    """The center of every column. Medians and most frequent levels are found together if no value is missing."""
    found: dict[int, Any] = {}
    if len(values) and not np.isnan(values).any():
        usual = [a for a, kind in enumerate(kinds) if type(kind).center is Dissimilarity.center]
        numbers = [a for a in usual if kinds[a].scale == "number"]
        levels = [a for a in usual if kinds[a].scale == "level"]
        found |= zip(numbers, np.median(values[:, numbers], axis=0).tolist(), strict=True)
        for a, code in zip(levels, most_frequent(values[:, levels].astype(np.intp)).tolist(), strict=True):
            names = kinds[a].levels
            assert names is not None
            found[a] = names[code]
    return [found[a] if a in found else kind.center(values[:, a]) for a, kind in enumerate(kinds)]


def most_frequent(codes: Subset) -> Subset:
    """The most frequent code of every column; of equally frequent ones, the smallest."""
    widths = codes.max(axis=0, initial=0) + 1
    starts = np.cumsum(widths) - widths
    counts = np.bincount((codes + starts).ravel(), minlength=int(widths.sum()))
    # In ascending order of column, descending order of count and ascending order of code.
    order = np.lexsort((-counts, np.repeat(np.arange(widths.size), widths)))
    return np.asarray(order[starts] - starts)


def sparse_means(X: Any, labels: npt.NDArray[np.intp], k: int) -> Floats:
    """The mean of every column of a sparse matrix in every cluster, of shape (k, n_columns)."""
    inside = np.flatnonzero(labels >= 0)
    members = scipy.sparse.csr_array((np.ones(inside.size), (labels[inside], inside)), (k, labels.size))
    return np.asarray((members @ X).toarray() / np.bincount(labels[inside], minlength=k)[:, None])


def means(X: Table, labels: npt.NDArray[np.integer[Any]], k: int) -> Floats:
    """The mean of the observed values of every column in every cluster, of shape (k, n_columns).

    Values are measured from the smallest in the column, so that a small spread about a large value keeps its digits.
    """
    origin = np.fmin.reduce(X, axis=0).astype(np.float64)
    origin[np.isnan(origin)] = 0.0
    sums, counts = np.zeros((k, X.shape[1])), np.zeros((k, X.shape[1]))
    block = max(1, BLOCK_VALUES // X.shape[1])
    for first in range(0, len(X), block):
        shifted = X[first : first + block] - origin
        member = (labels[first : first + block] == np.arange(k)[:, None]).astype(np.float64)
        found = member @ shifted
        if np.isnan(found).any():
            observed = ~np.isnan(shifted)
            sums += member @ np.where(observed, shifted, 0.0)
            counts += member @ observed
        else:
            sums += found
            counts += member.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(origin + sums / counts)
