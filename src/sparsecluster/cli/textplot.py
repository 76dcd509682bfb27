"""Drawing a curve in a few lines of text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Characters that are filled from 0 to 8 eighths.
BLOCKS = " ▁▂▃▄▅▆▇█"


def curve_plot(x: npt.ArrayLike, y: npt.ArrayLike, mark: float, width: int = 64, height: int = 7) -> str:
    """Draw bars of y over x on a log scale, with a caret below `mark`.

    >>> print(curve_plot([1, 2, 4, 8], [0.0, 1.0, 2.0, 1.0], mark=4, width=4, height=2))
     2.00 |  █
     0.00 | ███
           1  8
             ^ 4
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    edges = np.geomspace(x[0], x[-1], width)
    heights = np.interp(np.log(edges), np.log(x), y)
    # The value at the mark, the top of the curve, must not fall between two bars.
    at = int(np.argmin(np.abs(np.log(edges) - np.log(mark))))
    heights[at] = np.interp(mark, x, y)
    # Adding zero turns -0.0 into 0.0, so that a tiny negative value is not shown as -0.00.
    low, high = min(round(float(heights.min()), 2), 0.0) + 0.0, float(heights.max())
    eighths = np.ceil((heights - low) / (high - low or 1.0) * height * 8).astype(int)
    rows = []
    for level in range(height - 1, -1, -1):
        bars = "".join(BLOCKS[min(max(e - 8 * level, 0), 8)] for e in eighths)
        tick = f"{high:.2f}" if level == height - 1 else f"{low:.2f}" if level == 0 else ""
        rows.append(f"{tick:>5} |{bars}".rstrip())
    first, last = f"{x[0]:g}", f"{x[-1]:g}"
    rows.append(" " * 7 + first + last.rjust(width - len(first)))
    rows.append(" " * (7 + at) + f"^ {mark:g}")
    return "\n".join(rows)
