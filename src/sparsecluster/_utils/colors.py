"""The colors of clusters, the same in figures, reports and notebooks."""

from __future__ import annotations

# Colors that color-blind readers can distinguish: six by Okabe and Ito, and four that are as different as possible.
# All of them are visible on white and on dark pages.
COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#7038E8", "#6CBF5A", "#B31933", "#937DFF"),
)
# Missing values, and samples in no cluster.
MISSING = "#8c8c8c"


def color_of(cluster: int) -> str:
    """Return the color of a cluster, or of samples in no cluster (-1).

    >>> color_of(1), color_of(11), color_of(-1)
    ('#D55E00', '#D55E00', '#8c8c8c')
    """
    return MISSING if cluster < 0 else COLORS[cluster % len(COLORS)]
