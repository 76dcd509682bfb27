"""Checks of tables. Every message says what is allowed, what was given and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Subset, Table
from .._utils.checks import NAMES_SHOWN, and_more, listed
from .._utils.text import brief

# A column that is observed in a smaller share of the samples has little information: only one pair in a hundred.
LEAST_OBSERVED = 0.1


def observed_counts(values: Table) -> Subset:
    """The number of samples in which each column is observed."""
    return np.asarray(len(values) - np.isnan(values).sum(axis=0), dtype=np.intp)


def observed_enough(counts: Subset, n_samples: int, n_clusters: int = 2) -> npt.NDArray[np.bool_]:
    """Which columns are observed in enough samples to be informative about `n_clusters` clusters."""
    return np.asarray(counts >= max(n_clusters + 1, LEAST_OBSERVED * n_samples))


def varies(values: Table) -> npt.NDArray[np.bool_]:
    """Which columns have at least two different values."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0))


def check_finite(X: Table, names: Sequence[str]) -> None:
    """Refuse infinite values, naming their columns; NaN is a missing value."""
    # The sum of a column with an infinite value is not finite. It may also overflow, so such columns are checked again.
    with np.errstate(all="ignore"):
        suspects = np.flatnonzero(~np.isfinite(X.sum(axis=0, dtype=np.float64)))
    counts = {a: int(np.isinf(X[:, a]).sum()) for a in suspects.tolist()}
    bad = [a for a in counts if counts[a]]
    if bad:
        shown = ", ".join(f"{brief(names[a])} ({counts[a]})" for a in bad[:NAMES_SHOWN])
        raise ValueError(
            f"Input X contains infinity in {len(bad)} of {X.shape[1]} columns: {shown}{and_more(len(bad))}. "
            "Replace it with finite numbers, or with NaN for missing values, or drop these columns."
        )


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


def check_stored(values: Table) -> None:
    """Refuse NaN and infinity among the stored values of a sparse matrix."""
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise ValueError(
            f"A sparse matrix must hold finite numbers; {bad} of its stored values are NaN or infinity. Missing values "
            "are supported in dense tables: use X.toarray(), or impute them first."
        )
