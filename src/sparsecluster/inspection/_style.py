"""Colors, marks and words that all displays share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

# Colors that color-blind readers tell apart: six of Okabe and Ito's, and four more as far from them as could be found.
# All can be seen on white and on a dark page.
COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#7038E8", "#6CBF5A", "#B31933", "#937DFF"),
)


class Mark(NamedTuple):
    """A mark of a sample: matplotlib's sign for it, its name, and its outline as an SVG path about (0, 0)."""

    sign: str
    name: str
    path: str


# Their number and that of the colors have no common divisor, so 70 clusters have different pairs of the two.
MARKS = (
    Mark("o", "circle", "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0Z"),
    Mark("s", "square", "M-.9,-.9H.9V.9H-.9Z"),
    Mark("^", "triangle", "M0,-1.2L1.15,.9H-1.15Z"),
    Mark("D", "diamond", "M0,-1.25L1.25,0L0,1.25L-1.25,0Z"),
    Mark("v", "triangle pointing down", "M0,1.2L1.15,-.9H-1.15Z"),
    Mark("P", "plus", "M-.42,-1.15H.42V-.42H1.15V.42H.42V1.15H-.42V.42H-1.15V-.42H-.42Z"),
    Mark(
        "X",
        "cross",
        "M0,-.56L.56,-1.12L1.12,-.56L.56,0L1.12,.56L.56,1.12L0,.56L-.56,1.12L-1.12,.56L-.56,0L-1.12,-.56L-.56,-1.12Z",
    ),
)
LINES: tuple[Any, ...] = (
    *("-", "--", "-.", ":"),
    *((0, dashes) for dashes in ((5, 1), (3, 1, 1, 1), (1, 1), (7, 2))),
)
# Values below the mean, at it and above it; and missing values.
DIVERGING, MISSING = ("#005493", "#f6f6f6", "#b84a00"), "#8c8c8c"
# What is not chosen, or is there to compare with.
GRAY = "0.72"
# A thin dark edge tells marks apart where they lie on one another, and light ones from the paper.
EDGE: dict[str, Any] = {"mec": "0.2", "mew": 0.3}
# Letters of a name before it is cut.
LONGEST_NAME = 24
# Marks beyond this number are drawn as pixels, so that a vector file stays small.
MANY_MARKS = 2000
COLUMNS_OF_PANELS = 3
# Inches: the narrowest figure, and what an entry of a legend needs.
NARROWEST, ENTRY_WIDTH = 5.0, 2.1


def style_of(cluster: int) -> tuple[str, str, Any]:
    """Color, mark and line of a cluster; those of the next one are all different.

    >>> style_of(1)
    ('#D55E00', 's', '--')
    >>> style_of(11)[:2]
    ('#D55E00', 'v')
    """
    return COLORS[cluster % len(COLORS)], MARKS[cluster % len(MARKS)].sign, LINES[cluster % len(LINES)]


# Of as many clusters, or curves, as one figure can hold.
STYLES = tuple(style_of(cluster) for cluster in range(20))


def ink_on(color: str) -> str:
    """Black or white, whichever is easier to read on a color.

    >>> ink_on("#56B4E9"), ink_on("#7038E8")
    ('#000000', '#ffffff')
    """
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    # The luminance at which both have the same contrast, by the definition of WCAG.
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


def palette(n_clusters: int) -> list[dict[str, str]]:
    """Color, ink on it and mark of every cluster for pages: the same that matplotlib draws.

    >>> palette(2)[1]
    {'color': '#D55E00', 'ink': '#000000', 'mark': 'square', 'path': 'M-.9,-.9H.9V.9H-.9Z'}
    """
    looks = ((COLORS[c % len(COLORS)], MARKS[c % len(MARKS)]) for c in range(n_clusters))
    return [{"color": color, "ink": ink_on(color), "mark": mark.name, "path": mark.path} for color, mark in looks]


def written(level: Any) -> str:
    """A level in letters.

    >>> written(1.0), written(0.25), written("red")
    ('1', '0.25', 'red')
    """
    return f"{level:g}" if isinstance(level, float) else str(level)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    r"""A name on one line, cut if it is too long.

    >>> shortened("two\nlines"), shortened("a very long name indeed", 12)
    ('two lines', 'a very long…')
    """
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def plain(name: Any, longest: int = LONGEST_NAME) -> str:
    r"""A name or level as matplotlib must be given it: short, and without mathematics between dollars.

    >>> plain("price in $ of $5"), plain(1.0)
    ('price in \\$ of \\$5', '1')
    """
    return shortened(written(name), longest).replace("$", r"\$")


def counted(number: int, what: str) -> str:
    """A number with its word: 1 sample, 2 samples.

    >>> counted(1, "sample"), counted(12000, "feature")
    ('1 sample', '12,000 features')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cluster_names(sizes: npt.ArrayLike) -> list[str]:
    """Names of the clusters for a legend.

    >>> cluster_names([31, 1])
    ['cluster 0 (31 samples)', 'cluster 1 (1 sample)']
    """
    return [f"cluster {c} ({counted(int(size), 'sample')})" for c, size in enumerate(np.asarray(sizes))]


def own_axes(ax: Any, width: float, height: float) -> Any:
    """The axes given, or new ones of this size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax


def own_panels(axes: Any, count: int, width: float, height: float, columns: int = COLUMNS_OF_PANELS) -> list[Any]:
    """So many axes of those given, or of a new figure with panels of this size in inches."""
    import matplotlib.pyplot as plt

    if axes is None:
        columns = min(columns, count)
        rows = -(-count // columns)
        size = (max(width * columns, NARROWEST), height * rows + 0.4)
        axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1]
        for left_over in axes.ravel()[count:]:
            left_over.set_visible(False)
    given = list(np.ravel(axes))
    if len(given) < count:
        raise ValueError(f"axes must be at least {count}, one for each panel; got {len(given)}.")
    return given[:count]


def legend(axes: Sequence[Any], handles: Sequence[Any], is_own: bool) -> None:
    """Below all panels of a figure of our own; else in the last of the axes given."""
    if is_own:
        figure = axes[0].figure
        columns = max(1, min(len(handles), int(figure.get_figwidth() / ENTRY_WIDTH)))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
    else:
        axes[-1].legend(handles=handles, fontsize="small", framealpha=0.8)


def legend_above(ax: Any, handles: Sequence[Any]) -> None:
    """In one line above the axes, where no curve can be under it."""
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    ax.legend(handles=handles, ncols=len(handles), frameon=False, fontsize="small", **place)


def patches(names: Sequence[str]) -> list[Any]:
    """Entries of a legend: a box in the color of every cluster."""
    from matplotlib.patches import Patch

    return [Patch(facecolor=style_of(c)[0], label=name) for c, name in enumerate(names)]


def marks(names: Sequence[str]) -> list[Any]:
    """Entries of a legend: the mark of every cluster, large enough to be seen."""
    from matplotlib.lines import Line2D

    styles = [style_of(c) for c in range(len(names))]
    return [
        Line2D([], [], ls="", marker=mark, color=color, label=name, ms=6, **EDGE)
        for name, (color, mark, _) in zip(names, styles, strict=True)
    ]
