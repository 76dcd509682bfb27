"""Checks of tables. Every message says what is allowed, what was given and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats, Subset, Table
from .._utils.checks import NAMES_SHOWN, and_more, listed
from .._utils.text import brief

# A column that is observed in a smaller share of the samples has little information: only one pair in a hundred.
LEAST_OBSERVED = 0.1
# The largest number, so that sums of millions of numbers, and of their differences, stay finite.
LARGEST = 1e301
# A column with a smaller spread counts as constant: numbers divided by the spread could overflow.
SMALLEST_SPREAD = 1e-305
# Single precision is kept for values and spreads up to this size, and down to one over it, so that products of several
# values stay within its range.
SINGLE = 1e9


def observed_counts(values: Table) -> Subset:
    """The number of samples in which each column is observed."""
    return np.asarray(len(values) - np.isnan(values).sum(axis=0), dtype=np.intp)


def observed_enough(counts: Subset, n_samples: int, n_clusters: int = 2) -> npt.NDArray[np.bool_]:
    """Which columns are observed in enough samples to be informative about `n_clusters` clusters."""
    return np.asarray(counts >= max(n_clusters + 1, LEAST_OBSERVED * n_samples))


class Extremes(NamedTuple):
    """The smallest and the largest observed value of every column, NaN without any, and whether values are missing."""

    low: Table
    high: Table
    has_missing: bool

    @property
    def spreads(self) -> Floats:
        """The largest value of every column less the smallest."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.high - self.low, dtype=np.float64)

    @property
    def varies(self) -> npt.NDArray[np.bool_]:
        """Which columns have at least two different values, far enough apart to divide by their difference."""
        return np.asarray(self.spreads >= SMALLEST_SPREAD)


def extremes(values: Table) -> Extremes:
    """The extremes of the columns of a table."""
    with np.errstate(invalid="ignore"):
        low, high = values.min(axis=0), values.max(axis=0)
        has_missing = bool(np.isnan(low).any())
        if has_missing:
            low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return Extremes(low, high, has_missing)


def check_finite(X: Table, names: Sequence[str], known: Extremes | None = None) -> None:
    """Refuse infinite and very large numbers, naming their columns; NaN is a missing value."""
    known = extremes(X) if known is None else known
    low, high = known.low.astype(np.float64), known.high.astype(np.float64)
    with np.errstate(invalid="ignore"):
        suspects = np.flatnonzero(~((low >= -LARGEST) & (high <= LARGEST))).tolist()
    sizes = {a: np.abs(X[:, a].astype(np.float64)) for a in suspects}
    infinite = {a: f"{np.isinf(size).sum()}" for a, size in sizes.items() if np.isinf(size).any()}
    refuse_columns(names, infinite, "infinity", "Replace it with finite numbers, or with NaN for missing values, or")
    large = {a: f"{np.fmax.reduce(size):.3g}" for a, size in sizes.items() if np.fmax.reduce(size) > LARGEST}
    advice = "Divide these columns by a constant, use NaN if the number stands for a missing value, or"
    refuse_columns(names, large, f"numbers beyond {LARGEST:.0e}", advice)


def refuse_columns(names: Sequence[str], bad: dict[int, str], what: str, advice: str) -> None:
    """Refuse columns, given with what is wrong in each of them."""
    if bad:
        shown = ", ".join(f"{brief(names[a])} ({each})" for a, each in list(bad.items())[:NAMES_SHOWN])
        raise ValueError(
            f"Input X contains {what} in {len(bad)} of {len(names)} columns: {shown}{and_more(len(bad))}. {advice} "
            "drop these columns."
        )


def precise_enough(values: Table, known: Extremes) -> Table:
    """The values, in double precision if products of several of them could leave the range of single precision."""
    if values.dtype != np.float32:
        return values
    apart, most = known.spreads, np.fmax(known.high, -known.low)
    with np.errstate(invalid="ignore"):
        is_usual = ((most <= SINGLE) & ((apart >= 1.0 / SINGLE) | (apart == 0.0))) | np.isnan(apart)
    return values if is_usual.all() else values.astype(np.float64)


def left_out(
    names: Sequence[str], what: tuple[str, str], constant: Any, rare: Any
) -> tuple[npt.NDArray[np.intp], tuple[str, ...]]:
    """Positions of the usable columns (or matrices), and notes about those that are constant or missing too often."""
    usable = np.flatnonzero(~(constant | rare))
    if not usable.size:
        raise ValueError(
            f"All {len(names)} {what[1]} are constant or have too few observed values, so there is nothing to cluster "
            "by. Check the input."
        )
    notes = []
    for places, why in ((constant, "constant"), (rare, "missing too often")):
        out = np.flatnonzero(places)
        if out.size:
            are = f"{out.size} {what[1]} are" if out.size > 1 else f"1 {what[0]} is"
            notes.append(f"{are} {why} and will not be used: {listed(names[a] for a in out.tolist())}.")
    return usable, tuple(notes)


def refuse_blank(blank: npt.NDArray[np.intp], n_samples: int, what: str) -> None:
    """Refuse samples without any observed value, listing their row numbers."""
    if blank.size:
        raise ValueError(
            f"{blank.size} of {n_samples} {what}, so they cannot be assigned to a cluster: rows "
            f"{', '.join(map(str, blank[:NAMES_SHOWN]))}{and_more(blank.size)} (counted from 0). Drop them first."
        )


def too_few_distinct(distinct: int, n_clusters: int) -> ValueError:
    """The error for fewer distinct samples than clusters."""
    return ValueError(f"X has only {distinct} distinct rows, fewer than n_clusters={n_clusters}. Use fewer clusters.")


def check_stored(X: Any, names: Sequence[str]) -> None:
    """Refuse NaN, infinity and very large numbers among the stored values of a sparse matrix."""
    bad = int((~np.isfinite(X.data)).sum())
    if bad:
        raise ValueError(
            f"A sparse matrix must hold finite numbers; {bad} of its stored values are NaN or infinity. Missing values "
            "are supported in dense tables: use X.toarray(), or impute them first."
        )
    if X.nnz and float(np.abs(X.data).max()) > LARGEST:
        sizes = abs(X).max(axis=0).toarray().ravel()
        large = {a: f"{sizes[a]:.3g}" for a in np.flatnonzero(sizes > LARGEST).tolist()}
        refuse_columns(names, large, f"numbers beyond {LARGEST:.0e}", "Divide these columns by a constant, or")
