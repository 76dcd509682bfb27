"""Checks of parameters and data. Every message says what is allowed, what came and what to do next."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .._features.base import Table
from .._features.matrices import Matrices
from .columns import ColumnTable
from .functions import all_pairs
from .source import LEAST_SEEN, enough_seen, seen_counts, varies

# Names listed in a message before it says "and n more".
NAMES_SHOWN = 5
# Values on which a user's function is tried before work starts.
ITEMS_TRIED = 50
# Two entries of a matrix that differ by less than this share of the largest are the same but for rounding.
SYMMETRIC = 1e-8


def check_choice(name: str, value: object, allowed: Sequence[str], advice: str = "") -> str:
    """One of a few words."""
    if isinstance(value, str) and value in allowed:
        return value
    near = difflib.get_close_matches(str(value), allowed, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    listed = ", ".join(f'"{word}"' for word in allowed)
    raise ValueError(f"{name} must be one of {listed}{advice}; got {value!r}.{hint}")


def check_count(name: str, value: object, low: int, high: int | None = None, advice: str = "") -> int:
    """A whole number in [low, high]."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, {high}]"
    is_count = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if is_count and low <= value and (high is None or value <= high):  # type: ignore[operator]
        return int(value)  # type: ignore[call-overload]
    raise ValueError(f"{name} must be {allowed}; got {value!r}.{advice and ' ' + advice}")


def check_number(name: str, value: object, allowed: str, fits: Callable[[float], bool], advice: str = "") -> float:
    """A number for which `fits` is true, as `allowed` says in words."""
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_) and fits(float(value)):
        return float(value)
    raise ValueError(f"{name} must be {allowed}; got {value!r}.{advice and ' ' + advice}")


def check_bool(name: str, value: object, advice: str = "") -> None:
    """True or False, not something that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False{advice}; got {value!r}.")


def check_jobs(value: object) -> None:
    """A number of threads as joblib takes it."""
    if value is not None and (not isinstance(value, Integral) or value == 0):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all of them; got {value!r}.")


def check_size(value: object, n_features: int) -> int | None:
    """The number of features asked for; None for "auto"."""
    name, advice = "n_features_to_select", 'Use "auto" to tune it.'
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, Real) and not isinstance(value, Integral):
        share = float(value)
        if 0 < share <= 1:
            return max(1, round(share * n_features))
        raise ValueError(f"{name} as a share must be in (0, 1]; got {value!r}. {advice}")
    if isinstance(value, str):
        raise ValueError(f'{name} must be "auto", a whole number or a share in (0, 1]; got {value!r}. {advice}')
    return check_count(name, value, 1, n_features, advice)


def check_finite(X: Table, names: Sequence[str]) -> None:
    """Refuse infinity, saying in which columns; NaN is a gap."""
    # A sum is not finite if a value is not, and may overflow on its own; only then is it worth looking closer.
    with np.errstate(all="ignore"):
        suspects = np.flatnonzero(~np.isfinite(X.sum(axis=0, dtype=np.float64)))
    counts = {a: int(np.isinf(X[:, a]).sum()) for a in suspects.tolist()}
    bad = [a for a in counts if counts[a]]
    if bad:
        listed = ", ".join(f"{names[a]!r} ({counts[a]})" for a in bad[:NAMES_SHOWN])
        raise ValueError(
            f"Input X contains infinity in {len(bad)} of {X.shape[1]} columns: {listed}{and_more(len(bad))}. "
            "Replace them by finite numbers, by NaN for a gap, or drop these columns."
        )


def usable_columns(X: Table, names: Sequence[str], n_clusters: int, has_gaps: bool, alike: Any) -> npt.NDArray[np.intp]:
    """Columns that vary and are seen often enough; the others, and those whose samples are `alike`, are in warnings."""
    seen = enough_seen(seen_counts(X), len(X), n_clusters) if has_gaps else np.ones(X.shape[1], bool)
    constant = seen & (alike | ~varies(X))
    return keep_out(names, ("column", "columns"), constant, ~seen)


def keep_out(names: Sequence[str], what: tuple[str, str], constant: Any, unseen: Any) -> npt.NDArray[np.intp]:
    """Places of the others; those kept out are named in warnings."""
    usable = np.flatnonzero(~(constant | unseen))
    if not usable.size:
        raise ValueError(
            f"All {len(names)} {what[1]} are constant or have too few values, so there is nothing to group by. "
            "Check the input."
        )
    for places, why in ((constant, "constant"), (unseen, "too often missing")):
        out = np.flatnonzero(places)
        if out.size:
            listed = ", ".join(repr(names[a]) for a in out[:NAMES_SHOWN])
            are = f"{out.size} {what[1]} are" if out.size > 1 else f"1 {what[0]} is"
            warnings.warn(
                f"{are} {why}, so kept out and never chosen: {listed}{and_more(out.size)}.",
                UserWarning,
                stacklevel=frames_in_package(),
            )
    return usable


def frames_in_package() -> int:
    """How many frames above the caller's a warning must point, to be at the user's own line."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level


def check_some_seen(X: Table) -> None:
    """Every sample has a value somewhere."""
    refuse_blank(np.flatnonzero(np.isnan(X).all(axis=1)), len(X), "rows have no value in any usable column")


def refuse_blank(blank: npt.NDArray[np.intp], n_samples: int, what: str) -> None:
    """Refuse samples of which nothing is known, by number."""
    if blank.size:
        listed = ", ".join(map(str, blank[:NAMES_SHOWN]))
        raise ValueError(
            f"{blank.size} of {n_samples} {what}, so nothing says where they belong: rows {listed}{and_more(blank.size)} "
            "(counted from 0). Drop them first."
        )


def not_numbers_now(name: str) -> ValueError:
    """The error for a column that changed between fit and predict."""
    return ValueError(f"Column {name!r} held numbers in fit; now it does not. Give it in the same form.")


def check_distinct(X: Table, n_clusters: int) -> None:
    """As many different rows as clusters."""
    distinct = len({row.tobytes() for row in np.ascontiguousarray(X + 0.0)})
    if distinct < n_clusters:
        raise few_distinct(distinct, n_clusters)


def few_distinct(distinct: int, n_clusters: int) -> ValueError:
    """The error for too few different rows."""
    return ValueError(
        f"X has only {distinct} distinct rows, fewer than n_clusters={n_clusters}. Ask for fewer clusters."
    )


def check_all_known(values: Table) -> None:
    """Refuse NaN and infinity among the stored values of a sparse matrix."""
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise ValueError(
            f"A sparse matrix must hold finite numbers; {bad} of its stored values are NaN or infinity. Gaps are "
            "understood in dense tables: use X.toarray(), or fill them in first."
        )


# ---------------------------------------------------------------- dissimilarities


def says_nothing(table: ColumnTable, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Columns whose function finds the samples that it is tried on all alike; refused if it is no dissimilarity."""
    alike = np.zeros(len(table.columns), bool)
    for a, column in enumerate(table.columns):
        if isinstance(column.kind, str):
            continue
        # Values from the smallest to the largest, so that the order of the rows makes no difference.
        seen = np.unique(table.values[~np.isnan(table.values[:, a]), a])
        tried = seen[np.unique(np.linspace(0, seen.size - 1, min(seen.size, ITEMS_TRIED)).astype(int))]
        if tried.size > 1:
            values = column.decode(tried)
            try:
                matrix = all_pairs(column.kind, values, values)
            except Exception as error:
                raise ValueError(
                    f"The function given as metric fails on column {names[a]!r} with {type(error).__name__}: {error}. "
                    "It must take two values of the column and return a number."
                ) from error
            check_matrix(matrix, f"The metric of column {names[a]!r} on {len(values)} of its values")
            alike[a] = not (matrix > 0).any()
    return alike


def check_matrices(X: Any) -> tuple[Matrices, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """p dissimilarity matrices of one size; the share of pairs seen in each, and its largest entry."""
    read, count = matrix_reader(X)
    n = 0
    gapped: list[int] = []
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
            raise ValueError(f"{name} is {len(matrix)} x {len(matrix)}, the ones before it {n} x {n}. Give one size.")
        gaps = np.isnan(matrix)
        np.fill_diagonal(gaps, True)
        if np.isnan(matrix).any():
            gapped.append(len(seen))
        seen.append(1.0 - (gaps.sum() - n) / max(n * (n - 1), 1))
        most.append(0.0 if gaps.all() else float(matrix[~gaps].max()))
    if not seen:
        raise ValueError('metric="precomputed" needs at least one matrix; X has none.')
    matrices = Matrices(read, len(seen), n, frozenset(gapped), computed=callable(X))
    return matrices, np.array(seen), np.array(most)


def matrix_reader(X: Any) -> tuple[Callable[[int], Any], int | None]:
    """How to read matrix a, and how many there are; None where only trying tells."""
    if callable(X):
        return X, None
    if isinstance(X, list | tuple) and not (len(X) and len(shape_of(X[0])) == 1):
        return X.__getitem__, len(X)
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return X.__getitem__, len(X)
    raise ValueError(
        'metric="precomputed" takes p matrices n x n: an array of shape (p, n, n), a list of arrays, or a function '
        "that gives matrix a = 0, 1, ... and raises IndexError after the last; got "
        f"{type(X).__name__} of shape {shape_of(X)}. A single matrix D goes in as [D]."
    )


def shape_of(X: Any) -> tuple[int, ...]:
    """The shape of anything; of a ragged list, its length."""
    try:
        return np.shape(X)
    except ValueError:
        return (len(X),)


# What no entry may be, by a mask of the entries that are.
RULES: tuple[tuple[Callable[[Any], Any], str, str], ...] = (
    (np.isinf, "infinite", "Replace it, or use NaN for a pair that is not known."),
    (lambda matrix: matrix < 0, "negative", "Dissimilarities are zero or more; turn similarities around first."),
)
DIAGONAL = (
    lambda matrix: np.diag(np.nan_to_num(np.diag(matrix))) != 0,
    "not zero, on the diagonal",
    "A sample is not unlike itself.",
)


def refuse_entries(matrix: Any, name: str, rules: Any) -> None:
    """Refuse a matrix with a bad entry, saying which."""
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


def check_matrix(given: Any, name: str) -> npt.NDArray[np.float64]:
    """Square, symmetric, not negative, zero on the diagonal; NaN for pairs that are not seen."""
    matrix = as_numbers(given, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, n x n; got shape {matrix.shape}.")
    if len(matrix) < 2:
        raise ValueError(f"{name} has {len(matrix)} row; at least 2 samples are needed.")
    refuse_entries(matrix, name, (*RULES, DIAGONAL))
    gaps = np.isnan(matrix)
    largest = 0.0 if gaps.all() else np.nanmax(matrix)
    skewed = (gaps != gaps.T) | (np.abs(matrix - matrix.T) > SYMMETRIC * largest)
    if skewed.any():
        i, j = np.argwhere(skewed)[0]
        raise ValueError(
            f"{name} must be symmetric; entry ({i}, {j}) is {matrix[i, j]} and entry ({j}, {i}) is {matrix[j, i]}. "
            "Use (D + D.T) / 2 if that is what you mean."
        )
    return matrix


def usable_matrices(seen: Any, most: Any, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Mask of the matrices that vary and have enough pairs; the others are named in warnings."""
    few = seen < LEAST_SEEN**2
    usable = np.zeros(len(names), bool)
    usable[keep_out(names, ("matrix", "matrices"), ~few & (most == 0), few)] = True
    return usable


def check_samples_seen(matrices: Matrices, usable: npt.NDArray[np.bool_]) -> None:
    """Every sample is compared with another in some matrix."""
    if usable[[a not in matrices.gapped for a in range(matrices.count)]].any():
        return
    # The diagonal is NaN for samples without a pair.
    seen = np.any([~np.isnan(np.diag(matrices[a])) for a in np.flatnonzero(usable).tolist()], axis=0)
    refuse_blank(np.flatnonzero(~seen), matrices.n_samples, "samples have no value in any usable matrix")


def check_distinct_samples(matrices: Matrices, n_clusters: int) -> None:
    """As many samples that differ as clusters."""
    apart = np.zeros((matrices.n_samples, matrices.n_samples))
    for a in range(matrices.count):
        apart += np.nan_to_num(matrices[a])
    distinct = len(np.unique(apart == 0, axis=0))
    if distinct < n_clusters:
        raise few_distinct(distinct, n_clusters)


def check_cross(X: Any, n_matrices: int, n_samples: int, columns: npt.NDArray[np.intp]) -> list[Any]:
    """Dissimilarities of new samples to those of fit, for some of the matrices."""
    needed = (
        f'After fit with metric="precomputed" new samples are placed by their dissimilarities to the {n_samples} samples of '
        f"fit: {n_matrices} matrices of new x {n_samples}, as an array or a list"
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


def and_more(count: int) -> str:
    """What follows the names shown, where there are more."""
    return f" and {count - NAMES_SHOWN} more" if count > NAMES_SHOWN else ""
