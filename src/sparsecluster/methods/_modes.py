"""The critical bandwidth of Silverman: how much a sample must be smoothed until its density has one mode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats

# Densities are computed at this many places from the smallest to the largest value, and as many again three times
# beyond, so that the Fourier transform, which is periodic, does not bring the two ends together.
PLACES, PERIOD = 256, 1024
# The smallest bandwidth, as a share of the range: two places. No bandwidth above half the range is critical.
NARROWEST, WIDEST = 2.0 / PLACES, 0.5
# Bisections of the logarithm of the bandwidth, which leave an error of a tenth of a percent.
BISECTIONS = 12
# Changes of the density by less than this share of its maximum are considered rounding errors.
FLAT = 1e-9
# Number of columns that are smoothed together.
BLOCK = 1024


def critical_bandwidths(table: Floats) -> Floats:
    """Return the smallest bandwidth, in standard deviations, for which the density of each column has one mode.

    The density is that of a Gaussian kernel, for which the number of modes only falls with the bandwidth (Silverman,
    1981).
    """
    blocks = [table[:, first : first + BLOCK] for first in range(0, table.shape[1], BLOCK)]
    return np.concatenate([critical_block(block) for block in blocks]) if blocks else np.empty(0)


def critical_block(table: Floats) -> Floats:
    """Do the same for a few columns."""
    low = table.min(axis=0)
    # As shares of the range, which cannot overflow.
    at = (table - low) / (table.max(axis=0) - low)
    waves = np.fft.rfft(binned(at), PERIOD, axis=0)
    narrow, wide = np.full(table.shape[1], np.log(NARROWEST)), np.full(table.shape[1], np.log(WIDEST))
    for _ in range(BISECTIONS):
        middle = (narrow + wide) / 2.0
        several = has_several_modes(waves, np.exp(middle))
        narrow, wide = np.where(several, middle, narrow), np.where(several, wide, middle)
    return np.exp((narrow + wide) / 2.0) / at.std(axis=0, ddof=1)


def binned(at: Floats) -> Floats:
    """Divide each value in [0, 1] between the two places beside it. The result has the shape (PLACES, n_columns)."""
    n, p = at.shape
    position = at * (PLACES - 1)
    left = np.minimum(position.astype(np.intp), PLACES - 2)
    right_share = position - left
    flat = left + PLACES * np.arange(p)
    counts = np.bincount(flat.ravel(), (1.0 - right_share).ravel(), PLACES * p)
    counts += np.bincount(flat.ravel() + 1, right_share.ravel(), PLACES * p)
    return counts.reshape(p, PLACES).T / n


def has_several_modes(waves: npt.NDArray[np.complex128], bandwidths: Floats) -> npt.NDArray[np.bool_]:
    """Whether the density of each column rises again after it has fallen, given its Fourier transform."""
    frequencies = 2.0 * np.pi * np.arange(len(waves))[:, None] / PERIOD
    smooth = waves * np.exp(-0.5 * (frequencies * bandwidths * (PLACES - 1)) ** 2)
    density = np.fft.irfft(smooth, PERIOD, axis=0)[:PLACES]
    steps, flat = np.diff(density, axis=0), FLAT * density.max(axis=0)
    has_fallen = np.maximum.accumulate(steps < -flat, axis=0)
    return np.asarray((has_fallen & (steps > flat)).any(axis=0))
