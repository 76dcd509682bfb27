"""Colors, markers, names and legends that all displays share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.colors import COLORS as COLORS
from .._utils.colors import MISSING as MISSING
from .._utils.colors import color_of
from .._utils.text import LONGEST_NAME, shortened
from ..methods._result import OUTLIER


class Mark(NamedTuple):
    """A marker for samples: its code in matplotlib, its name, and its outline as an SVG path around (0, 0)."""

    sign: str
    name: str
    path: str


# The numbers of markers and colors have no common divisor, so that 70 clusters have different pairs of the two.
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
# Samples in no cluster are gray stars.
STAR = Mark("*", "star", "M0,-1.35L.34,-.47L1.28,-.42L.55,.18L.79,1.09L0,.58L-.79,1.09L-.55,.18L-1.28,-.42L-.34,-.47Z")
NO_CLUSTER = "no cluster"
LINES: tuple[Any, ...] = (
    *("-", "--", "-.", ":"),
    *((0, dashes) for dashes in ((5, 1), (3, 1, 1, 1), (1, 1), (7, 2))),
)
# Colors of values below, at and above the mean.
DIVERGING = ("#005493", "#f6f6f6", "#b84a00")
# Features that are not chosen, and bars for comparison.
GRAY = "0.72"
# A thin dark edge separates overlapping markers, and makes light ones visible on white.
EDGE: dict[str, Any] = {"mec": "0.2", "mew": 0.3}
# If there are more markers than this, they are drawn as pixels, so that vector files stay small.
MANY_MARKS = 2000
COLUMNS_OF_PANELS = 3
# The smallest width of a figure, and the width of an entry of the legend, in inches.
NARROWEST, ENTRY_WIDTH = 5.0, 2.1


def look_of(cluster: int) -> tuple[str, Mark]:
    """Return the color and the mark of a cluster, or of samples in no cluster (-1)."""
    return color_of(cluster), STAR if cluster == OUTLIER else MARKS[cluster % len(MARKS)]


def style_of(cluster: int) -> tuple[str, str, Any]:
    """Return the color, marker and line style of a cluster, all of which differ from those of the next cluster.

    >>> style_of(1)
    ('#D55E00', 's', '--')
    >>> style_of(11)[:2], style_of(-1)[:2]
    (('#D55E00', 'v'), ('#8c8c8c', '*'))
    """
    color, mark = look_of(cluster)
    return color, mark.sign, LINES[cluster % len(LINES)]


# The styles of as many clusters or curves as one figure can show.
STYLES = tuple(style_of(cluster) for cluster in range(20))


def ink_on(color: str) -> str:
    """Return black or white, whichever is easier to read on a color.

    >>> ink_on("#56B4E9"), ink_on("#7038E8")
    ('#000000', '#ffffff')
    """
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    # At this luminance, both have the same contrast as defined by WCAG.
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


def page_look(cluster: int) -> dict[str, str]:
    """Return the color and the marker of a cluster for HTML pages, the same as in matplotlib.

    >>> page_look(1)
    {'color': '#D55E00', 'ink': '#000000', 'mark': 'square', 'path': 'M-.9,-.9H.9V.9H-.9Z'}
    """
    color, mark = look_of(cluster)
    return {"color": color, "ink": ink_on(color), "mark": mark.name, "path": mark.path}


def palette(n_clusters: int) -> list[dict[str, str]]:
    """Return the colors and markers of all clusters for HTML pages."""
    return [page_look(c) for c in range(n_clusters)]


def written(level: Any) -> str:
    """Return a level as text.

    >>> written(1.0), written(0.25), written("red")
    ('1', '0.25', 'red')
    """
    return f"{level:g}" if isinstance(level, float) else str(level)


def plain(name: Any, longest: int = LONGEST_NAME) -> str:
    r"""Return a name or level as text for matplotlib: short, and with dollar signs that do not start a formula.

    >>> plain("price in $ of $5"), plain(1.0)
    ('price in \\$ of \\$5', '1')
    """
    return shortened(written(name), longest).replace("$", r"\$")


def counted(number: int, what: str) -> str:
    """Return a number with a noun, in the plural unless the number is 1.

    >>> counted(1, "sample"), counted(12000, "feature")
    ('1 sample', '12,000 features')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cluster_names(sizes: npt.ArrayLike, n_outliers: int = 0) -> dict[int, str]:
    """Return the names of the clusters for a legend, by their labels.

    >>> cluster_names([31, 1], 2)
    {0: 'cluster 0 (31 samples)', 1: 'cluster 1 (1 sample)', -1: 'no cluster (2 samples)'}
    """
    names = {c: f"cluster {c} ({counted(int(size), 'sample')})" for c, size in enumerate(np.asarray(sizes))}
    return names | ({OUTLIER: f"{NO_CLUSTER} ({counted(n_outliers, 'sample')})"} if n_outliers else {})


def own_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given axes, or new ones of this size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax


def own_panels(axes: Any, count: int, width: float, height: float, columns: int = COLUMNS_OF_PANELS) -> list[Any]:
    """Return `count` of the given axes, or of a new figure with panels of this size in inches."""
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
        raise ValueError(f"axes must have at least {count} elements, one per panel; got {len(given)}.")
    return given[:count]


def legend(axes: Sequence[Any], handles: Sequence[Any], is_own: bool) -> None:
    """Add a legend below all panels of a new figure, or in the last of the given axes."""
    if is_own:
        figure = axes[0].figure
        columns = max(1, min(len(handles), int(figure.get_figwidth() / ENTRY_WIDTH)))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
    else:
        axes[-1].legend(handles=handles, fontsize="small", framealpha=0.8)


def legend_above(ax: Any, handles: Sequence[Any]) -> None:
    """Add a legend in one line above the axes, where it cannot hide a curve."""
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    ax.legend(handles=handles, ncols=len(handles), frameon=False, fontsize="small", **place)


def patches(names: Mapping[int, str]) -> list[Any]:
    """Return entries of a legend: a box in the color of each cluster."""
    from matplotlib.patches import Patch

    return [Patch(facecolor=style_of(c)[0], label=name) for c, name in names.items()]


def marks(names: Mapping[int, str]) -> list[Any]:
    """Return entries of a legend: the marker of each cluster, large enough to be seen."""
    from matplotlib.lines import Line2D

    styles = [(name, style_of(c)) for c, name in names.items()]
    return [
        Line2D([], [], ls="", marker=mark, color=color, label=name, ms=6, **EDGE) for name, (color, mark, _) in styles
    ]
