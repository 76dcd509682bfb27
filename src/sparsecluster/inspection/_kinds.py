"""What the numbers of a column mean. Nothing else among displays and reports asks of which kind a column is."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._data.centers import middle
from .._data.columns import Column
from .._features.base import Floats
from ._scaling import centered

Scale = Literal["number", "rank", "level"]
WORDS = {"sqeuclidean": "squared difference", "manhattan": "distance", "hamming": "same level or not"}


def scale_of(kind: Column) -> Scale:
    """Numbers, ranks of levels with an order, or levels without one."""
    return "number" if kind.levels is None else "rank" if kind.kind == "manhattan" else "level"


def words_of(kind: Column) -> str:
    """How values are compared."""
    if scale_of(kind) == "rank":
        return "distance of ranks"
    return WORDS[kind.kind] if isinstance(kind.kind, str) else "a function"


def is_mean(kind: Column) -> bool:
    """Whether the center of some values is their mean."""
    return scale_of(kind) == "number" and kind.kind == "sqeuclidean"


def center_of(kind: Column, codes: Floats) -> Any:
    """Mean, median, commonest level or middle level of what is seen; NaN or None where nothing is."""
    return middle(codes, Column("hamming", kind.levels) if scale_of(kind) == "level" else kind)


def difference_of(kind: Column, part: Floats, codes: Floats) -> float:
    """How a part differs from all: by its center, by its mean rank, or by the share of its commonest level."""
    part, codes = part[~np.isnan(part)], codes[~np.isnan(codes)]
    if not part.size:
        return 0.0
    scale = scale_of(kind)
    if scale == "level":
        commonest = np.argmax(np.bincount(part.astype(int)))
        return float((part == commonest).mean() - (codes == commonest).mean())
    return float(part.mean() - codes.mean() if scale == "rank" else center_of(kind, part) - center_of(kind, codes))


def difference_words(scale: Scale, difference: float) -> str:
    """By how much the share of a level, or the mean rank, is higher in a cluster than among all samples."""
    return f"{100 * difference:+.0f} percentage points" if scale == "level" else f"{difference:+.1f} ranks"


def indicators(codes: Floats, standardize: bool) -> Floats:
    """A coordinate for each level, 1 in the samples that have it, minus its share; NaN where values are missing."""
    table = (codes[:, None] == np.unique(codes[~np.isnan(codes)])).astype(np.float64)
    table[np.isnan(codes)] = np.nan
    table = centered(table)
    if not standardize:
        return np.asarray(table / np.sqrt(2.0))
    variance = float(np.nansum(table**2)) / max(int(np.count_nonzero(~np.isnan(codes))), 1)
    return np.asarray(table / np.sqrt(variance) if variance > 0 else table)


def readable(kind: Column, codes: Floats) -> tuple[Floats, tuple[Any, ...] | None]:
    """Numbers and None, or codes and the levels they stand for; ranks of numbers are shown as the numbers."""
    if scale_of(kind) == "rank" and not any(isinstance(level, str) for level in kind.levels or ()):
        return np.array([np.nan if level is None else float(level) for level in kind.decode(codes)]), None
    return codes, kind.levels
