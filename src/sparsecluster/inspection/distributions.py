"""The distributions of a few features in each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._data.metric import column_place
from .._utils.arrays import Floats, Subset
from .._utils.checks import check_count
from .._utils.text import brief
from ._display import Display
from ._style import cluster_names, legend, own_panels, patches, plain, style_of
from .view import View

if TYPE_CHECKING:
    import pandas as pd

MOST_PANELS = 9
FEWEST_BINS, MOST_BINS = 6, 40
# Whole numbers have one bin each if their range is no wider than this.
WHOLE_NUMBERS = 25
# The number of levels drawn. If there are more, the rarest are drawn together.
MOST_LEVELS = 8
# If there are more clusters than this, each has a row of its own, of which the highest bar fills this share.
MOST_OVERLAID, ROW_FILLED = 4, 0.85


class Panel(NamedTuple):
    """The distribution of one feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    score : float
        Its score.
    is_chosen : bool
        Whether it is chosen.
    counts : ndarray of int of shape (n_clusters, n_bins)
        Number of samples of each cluster in each bin or level. Missing values are not counted.
    edges : ndarray of shape (n_bins + 1,) or None
        Edges of the bins, for numbers.
    levels : tuple or None
        Levels, for a categorical feature.
    """

    feature: str
    score: float
    is_chosen: bool
    counts: npt.NDArray[np.intp]
    edges: Floats | None
    levels: tuple[Any, ...] | None

    @property
    def shares(self) -> Floats:
        """Share of the samples of each cluster in each bin or level, of shape (n_clusters, n_bins)."""
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1))

    def common(self, most: int) -> tuple[list[Any], npt.NDArray[np.intp]]:
        """Return at most `most` levels and their counts; if there are more, the last one stands for the rarest."""
        assert self.levels is not None
        if len(self.levels) <= most:
            return list(self.levels), self.counts
        common = np.sort(np.argsort(-self.counts.sum(axis=0), kind="stable")[: most - 1])
        others = np.setdiff1d(np.arange(len(self.levels)), common)
        counts = np.column_stack([self.counts[:, common], self.counts[:, others].sum(axis=1)])
        return [*(self.levels[level] for level in common.tolist()), f"{others.size:,} others"], counts


@dataclass(frozen=True)
class Distributions(Display):
    """Histograms of numbers and shares of levels in each cluster, for a few features.

    Samples in no cluster are left out.

    Attributes
    ----------
    panels : tuple of Panel
        One per feature, with the counts in each cluster.
    sizes : ndarray of shape (n_clusters,)
        Number of samples in each cluster.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.inspection import Distributions
    >>> X = pd.DataFrame({"size": [1, 2, 1, 2, 8, 9, 9], "kind": list("aaaabba")})
    >>> est = SASClustering(n_clusters=2, n_features_to_select=2).fit(X)
    >>> Distributions.from_estimator(est, X, ["kind"]).frame()[["feature", "cluster", "level", "count", "share"]]
      feature  cluster level  count     share
    0    kind        0     a      4  1.000000
    1    kind        0     b      0  0.000000
    2    kind        1     a      1  0.333333
    3    kind        1     b      2  0.666667
    """

    panels: tuple[Panel, ...]
    sizes: Subset

    @classmethod
    def from_view(
        cls, view: View, features: Sequence[str | int] | None = None, max_features: int = MOST_PANELS
    ) -> Self:
        """Make the display from a view.

        Parameters
        ----------
        view : View
            View of a fitted clustering, as returned by `inspect`.
        features : sequence of str or int, default=None
            Names or numbers of the columns to show; by default, the chosen features with the highest scores.
        max_features : int, default=9
            Largest number of features if `features` is not given.

        Returns
        -------
        Distributions
        """
        check_count("max_features", max_features, 1)
        view = view.clustered
        if features is None:
            places = view.chosen[:max_features].tolist()
        elif isinstance(features, str) or not len(features):
            raise ValueError(f"features must be a list of names or numbers of columns; got {brief(features)}.")
        else:
            places = [column_place(key, view.names, "features") for key in features]
        chosen = set(view.chosen.tolist())
        return cls(tuple(_panel(view, a, a in chosen) for a in places), view.sizes)

    def frame(self) -> pd.DataFrame:
        """Return the distributions as a table.

        Returns
        -------
        pandas.DataFrame
            One row per feature, cluster and bin or level: its bounds or name, the number of samples and their share.
        """
        import pandas as pd

        return pd.concat([_rows(panel) for panel in self.panels], ignore_index=True)

    def plot(self, axes: Any = None) -> Any:
        """Draw one panel per feature.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        ndarray of matplotlib Axes
        """
        panels = own_panels(axes, len(self.panels), 3.4, max(2.5, 0.2 * self.sizes.size + 1.0))
        for ax, panel in zip(panels, self.panels, strict=True):
            stacked = self.sizes.size > MOST_OVERLAID
            (_draw_numbers if panel.levels is None else _draw_levels)(ax, panel, stacked)
            chosen = "" if panel.is_chosen else ", not chosen"
            ax.set_title(f"{plain(panel.feature)} (score {panel.score:.2f}{chosen})", fontsize="small")
            ax.set_ylabel("cluster" if stacked else "share of the cluster", fontsize="small")
            ax.tick_params(labelsize="small")
        legend(panels, patches(cluster_names(self.sizes)), axes is None)
        return np.array(panels)


def _panel(view: View, column: int, is_chosen: bool) -> Panel:
    """Count the values of one column."""
    k, (values, levels) = view.sizes.size, view.readable(column)
    seen = ~np.isnan(values)
    known, labels = values[seen], view.labels[seen]
    name, score = view.names[column], float(view.scores[column])
    if levels is not None:
        counts = np.zeros((k, len(levels)), np.intp)
        np.add.at(counts, (labels, known.astype(int)), 1)
        return Panel(name, score, is_chosen, counts, None, levels)
    edges = bin_edges(known)
    places = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, edges.size - 2)
    counts = np.zeros((k, edges.size - 1), np.intp)
    np.add.at(counts, (labels, places), 1)
    return Panel(name, score, is_chosen, counts, edges, None)


def bin_edges(values: Floats) -> Floats:
    """Return the edges of bins of equal width; the number of bins grows with the number of values.

    Whole numbers in a small range have one bin each.

    >>> bin_edges(np.array([0.0, 2.0, 1.0, 2.0])).tolist()
    [-0.5, 0.5, 1.5, 2.5]
    """
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if high / 2 - low / 2 <= WHOLE_NUMBERS / 2 and abs(low) < 2**50 and not (values % 1).any():
        return np.arange(low - 0.5, high + 1.0)
    # Rice's rule: twice the cube root of the number of values.
    count = int(np.clip(np.ceil(2 * np.cbrt(values.size)), FEWEST_BINS, MOST_BINS))
    share = np.linspace(0.0, 1.0, count + 1)
    edges = np.unique(low * (1 - share) + high * share)
    return edges if edges.size > 1 else np.array([low, np.nextafter(low, np.inf)])


def _rows(panel: Panel) -> pd.DataFrame:
    import pandas as pd

    k, bins = panel.counts.shape
    levels = np.array([*(panel.levels or [None] * bins), None], dtype=object)[:-1]
    edges = np.full(bins + 1, np.nan) if panel.edges is None else panel.edges
    return pd.DataFrame(
        {
            "feature": panel.feature,
            "cluster": np.repeat(np.arange(k), bins),
            "level": np.tile(levels, k),
            "low": np.tile(edges[:-1], k),
            "high": np.tile(edges[1:], k),
            "count": panel.counts.ravel(),
            "share": panel.shares.ravel(),
        }
    )


def _draw_numbers(ax: Any, panel: Panel, stacked: bool) -> None:
    """Draw step histograms, on top of one another or in rows."""
    k = len(panel.shares)
    largest = float(panel.shares.max(initial=0.0)) or 1.0
    for c, shares in enumerate(panel.shares):
        color, _, line = style_of(c)
        base = float(k - 1 - c) if stacked else 0.0
        heights = base + ROW_FILLED * shares / largest if stacked else shares
        ax.stairs(heights, panel.edges, baseline=base, color=color, alpha=0.5 if stacked else 0.15, fill=True)
        ax.stairs(heights, panel.edges, baseline=base, color=color, ls="-" if stacked else line, lw=1.3)
    if stacked:
        _number_rows(ax, k)
    else:
        ax.set_ylim(bottom=0.0)
    ax.set_xlabel("value, in units of the data", fontsize="small")


def _number_rows(ax: Any, k: int) -> None:
    """Number the rows, with the first cluster on top."""
    ax.set_yticks(range(k), range(k - 1, -1, -1))
    ax.set_ylim(-0.05, k)


def _draw_levels(ax: Any, panel: Panel, stacked: bool) -> None:
    """Draw a bar for each level and cluster, side by side or in rows; the rarest levels are combined."""
    levels, counts = panel.common(MOST_LEVELS)
    names = [plain(level, 14) for level in levels]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    k, at = len(shares), np.arange(len(names))
    width = 0.8 if stacked else 0.8 / k
    for c, share in enumerate(shares):
        look = {"color": style_of(c)[0], "edgecolor": "white", "lw": 0.3}
        if stacked:
            ax.bar(at, ROW_FILLED * share, width, float(k - 1 - c), **look)
        else:
            ax.bar(at + (c - (k - 1) / 2) * width, share, width, **look)
    crowded = sum(map(len, names)) > 24
    ax.set_xticks(at, names, rotation=35 if crowded else 0, ha="right" if crowded else "center")
    if stacked:
        _number_rows(ax, k)
    else:
        ax.set_ylim(0.0, 1.04)
    ax.set_xlabel("level", fontsize="small")
