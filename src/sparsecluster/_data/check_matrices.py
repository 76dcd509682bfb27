"""Checks of precomputed dissimilarities. Every message says what is allowed, what was given and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._features.matrices import Matrices
from .._features.units import SMALLEST
from .checks import LEAST_OBSERVED, left_out, refuse_blank

# Two entries of a matrix that differ by less than this share of the largest are equal up to rounding errors.
SYMMETRIC = 1e-8
# The largest entry of a matrix, so that sums over all pairs of samples stay finite.
LARGEST_ENTRY = 1e290


def check_matrices(X: Any) -> tuple[Matrices, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The dissimilarity matrices, all of the same size; the share of observed pairs and the largest entry of each."""
    read, count = matrix_reader(X)
    n = 0
    incomplete: list[int] = []
    seen: list[float] = []
    most: list[float] = []
    while count is None or len(seen) < count:
        try:
            given = read(len(seen))
        except IndexError:
            if count is not None:
                raise
            break
        name = f"Matrix {len(seen)}"
        matrix = check_matrix(given, name)
        n = n or len(matrix)
        if len(matrix) != n:
            raise ValueError(
                f"{name} is {len(matrix)} x {len(matrix)}, but the matrices before it are {n} x {n}. All matrices must "
                "have the same size."
            )
        largest = float(matrix.max())
        if np.isnan(largest):
            incomplete.append(len(seen))
            missing = np.isnan(matrix)
            np.fill_diagonal(missing, True)
            seen.append(1.0 - (missing.sum() - n) / max(n * (n - 1), 1))
            most.append(0.0 if missing.all() else float(matrix[~missing].max()))
        else:
            seen.append(1.0)
            most.append(largest)
    if not seen:
        raise ValueError('metric="precomputed" needs at least one matrix; X has none.')
    matrices = Matrices(read, len(seen), n, frozenset(incomplete), computed=callable(X))
    return matrices, np.array(seen), np.array(most)


def matrix_reader(X: Any) -> tuple[Callable[[int], Any], int | None]:
    """A function that reads matrix a, and the number of matrices, or None if it is not known in advance."""
    if callable(X):
        return X, None
    if isinstance(X, list | tuple) and not (len(X) and len(shape_of(X[0])) == 1):
        return X.__getitem__, len(X)
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return X.__getitem__, len(X)
    raise ValueError(
        'metric="precomputed" takes p matrices of shape (n, n): an array of shape (p, n, n), a list of arrays, or a '
        "function that returns matrix a for a = 0, 1, ... and raises IndexError after the last; got "
        f"{type(X).__name__} of shape {shape_of(X)}. Pass a single matrix D as [D]."
    )


def shape_of(X: Any) -> tuple[int, ...]:
    """The shape of any object; for a ragged list, its length."""
    try:
        return np.shape(X)
    except ValueError:
        return (len(X),)


# What entries must not be: a function that finds such entries, a description and advice.
RULES: tuple[tuple[Callable[[Any], Any], str, str], ...] = (
    (np.isinf, "infinite", "Replace it, or use NaN for an unknown dissimilarity."),
    (lambda matrix: matrix < 0, "negative", "Dissimilarities must not be negative; convert similarities first."),
    (
        lambda matrix: matrix > LARGEST_ENTRY,
        "too large",
        f"Entries may be at most {LARGEST_ENTRY:.0e}, so that their sums stay finite; divide them by a constant.",
    ),
)
DIAGONAL = (
    lambda matrix: np.diag(np.nan_to_num(np.diag(matrix))) != 0,
    "not zero on the diagonal",
    "The dissimilarity of a sample to itself must be 0.",
)


def refuse_entries(matrix: Any, name: str, rules: Any) -> None:
    """Refuse a matrix with an invalid entry, and report the entry."""
    for is_bad, what, advice in rules:
        bad = is_bad(matrix)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise ValueError(f"{name} has an entry that is {what}: {matrix[i, j]} at ({i}, {j}). {advice}")


def as_numbers(given: Any, name: str) -> npt.NDArray[np.float64]:
    """An array of numbers."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers; got {type(given).__name__}.") from None


def is_plain(matrix: npt.NDArray[np.float64]) -> bool:
    """Whether all entries are known and allowed and the matrix is exactly symmetric, as nearly all are."""
    is_allowed = matrix.min() >= 0 and matrix.max() <= LARGEST_ENTRY  # false if there are missing values
    return bool(is_allowed) and not np.diag(matrix).any() and np.array_equal(matrix, matrix.T)


def check_matrix(given: Any, name: str) -> npt.NDArray[np.float64]:
    """A matrix that is square, symmetric, nonnegative and zero on the diagonal; NaN for missing dissimilarities."""
    matrix = as_numbers(given, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, of shape (n, n); got shape {matrix.shape}.")
    if len(matrix) < 2:
        raise ValueError(f"{name} has {len(matrix)} row; at least 2 samples are needed.")
    if is_plain(matrix):
        return matrix
    refuse_entries(matrix, name, (*RULES, DIAGONAL))
    missing = np.isnan(matrix)
    largest = 0.0 if missing.all() else np.nanmax(matrix)
    skewed = (missing != missing.T) | (np.abs(matrix - matrix.T) > SYMMETRIC * largest)
    if skewed.any():
        i, j = np.argwhere(skewed)[0]
        raise ValueError(
            f"{name} must be symmetric; entry ({i}, {j}) is {matrix[i, j]} and entry ({j}, {i}) is {matrix[j, i]}. "
            "Use (D + D.T) / 2 if that is what you mean."
        )
    return matrix


def usable_matrices(seen: Any, most: Any, names: Sequence[str]) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Mask of the matrices that vary and have enough observed pairs, and notes about the others."""
    few = seen < LEAST_OBSERVED**2
    places, notes = left_out(names, ("matrix", "matrices"), ~few & (most < SMALLEST), few)
    usable = np.zeros(len(names), bool)
    usable[places] = True
    return usable, notes


def check_samples_observed(matrices: Matrices, usable: npt.NDArray[np.bool_]) -> None:
    """Refuse samples whose dissimilarities are missing in all usable matrices."""
    if usable[[a not in matrices.incomplete for a in range(matrices.count)]].any():
        return
    # The diagonal is NaN for samples without an observed pair.
    seen = np.any([~np.isnan(np.diag(matrices[a])) for a in np.flatnonzero(usable).tolist()], axis=0)
    refuse_blank(np.flatnonzero(~seen), matrices.n_samples, "samples have no known dissimilarity in any usable matrix")


def count_distinct(matrices: Matrices) -> int:
    """The number of distinct samples."""
    apart = np.zeros((matrices.n_samples, matrices.n_samples))
    for a in range(matrices.count):
        apart += np.nan_to_num(matrices[a])
    return len(np.unique(apart == 0, axis=0))


def check_cross(X: Any, n_matrices: int, n_samples: int, columns: npt.NDArray[np.intp]) -> list[Any]:
    """The dissimilarities of new samples to the samples of `fit`, for the given matrices."""
    needed = (
        f'After fit with metric="precomputed", new samples are given by their dissimilarities to the {n_samples} '
        f"samples of fit: {n_matrices} matrices of shape (n_new, {n_samples}), as an array or a list"
    )
    if not callable(X) and (not isinstance(X, list | tuple | np.ndarray) or len(X) != n_matrices):
        raise ValueError(f"{needed}; got {type(X).__name__} of shape {shape_of(X)}.")
    read = X if callable(X) else X.__getitem__
    cross = [as_numbers(read(a), f"Matrix {a}") for a in columns.tolist()]
    for a, matrix in zip(columns.tolist(), cross, strict=True):
        if matrix.ndim != 2 or matrix.shape[1] != n_samples or len(matrix) != len(cross[0]):
            raise ValueError(f"{needed}; matrix {a} has shape {matrix.shape}.")
        refuse_entries(matrix, f"Matrix {a}", RULES)
    return cross
