"""Colors, marks and words that all displays share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# Colors that color-blind readers tell apart (Okabe and Ito), each with a mark and a line of its own for print.
STYLES: tuple[tuple[str, str, Any], ...] = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#CC79A7", "D", ":"),
    ("#E69F00", "v", (0, (5, 1))),
    ("#56B4E9", "P", (0, (3, 1, 1, 1))),
    ("#000000", "X", (0, (1, 1))),
    ("#F0E442", "*", (0, (7, 2))),
)
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
    """Color, mark and line of a cluster; beyond the eighth, a color comes again with the next mark and line.

    >>> style_of(1)
    ('#D55E00', 's', '--')
    >>> style_of(9)[:2]
    ('#D55E00', '^')
    """
    many = len(STYLES)
    _, mark, line = STYLES[(cluster + cluster // many) % many]
    return STYLES[cluster % many][0], mark, line


def plain(name: Any, longest: int = LONGEST_NAME) -> str:
    r"""A name or level as it is: no mathematics between dollars, on one line, not too long.

    >>> plain("price in $ of $5"), plain("two\nlines"), plain("a very long name indeed", 12)
    ('price in \\$ of \\$5', 'two lines', 'a very long…')
    >>> plain(1.0), plain(0.25)
    ('1', '0.25')
    """
    given = f"{name:g}" if isinstance(name, float) else str(name)
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in given).split())
    text = text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
    return text.replace("$", r"\$")


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
