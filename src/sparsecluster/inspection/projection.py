"""The clusters in the principal components of the chosen features, and of all features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._features.base import Floats, Subset
from ._components import leading_plane
from ._data import Clustered, Fitted, clustered
from ._style import EDGE, MANY_MARKS, cluster_names, counted, legend, marks, own_panels, style_of

if TYPE_CHECKING:
    import pandas as pd


class View(NamedTuple):
    """Samples in the first two components of some features."""

    places: Floats
    shares: Floats
    n_features: int
    n_gaps: int


@dataclass(frozen=True)
class Projection:
    """Samples in the first two principal components of the chosen features and of all features, side by side.

    Where few of many features make the clusters, they are apart on the left and hidden in noise on the right. Features
    are standardized if the fit did so. Gaps are filled with the mean of the column, and a column of levels has an
    indicator for every level.

    Attributes
    ----------
    labels : cluster of every sample.
    chosen, every : what is seen in the chosen features and in all: `places` of the samples, n x 2, `shares` of the
        variance, the number of features, and the number of gaps that were filled.
    standardized : whether every feature counts the same.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import Projection
    >>> X, *_ = shifted_groups(mu=2.0, n_features=200, n_useful=10, group_size=20)
    >>> est = SASClustering(n_clusters=3, n_features_to_select=10).fit(X)
    >>> projection = Projection.from_estimator(est, X)
    >>> projection.chosen.shares.round(2), projection.every.shares.round(2)
    (array([0.76, 0.04]), array([0.06, 0.04]))
    >>> list(projection.frame().columns)
    ['cluster', 'chosen 1', 'chosen 2', 'all 1', 'all 2']
    """

    labels: Subset
    chosen: View
    every: View
    standardized: bool

    @classmethod
    def from_estimator(cls, estimator: Fitted, X: Any) -> Self:
        """From a fitted estimator and the data of its fit."""
        data = clustered(estimator, X)
        chosen, every = (_view(data, columns) for columns in (np.sort(data.chosen), np.arange(len(data.columns))))
        return cls(data.labels, chosen, every, data.standardize)

    def frame(self) -> pd.DataFrame:
        """A row for each sample: its cluster and its places in both planes."""
        import pandas as pd

        places = np.hstack([self.chosen.places, self.every.places])
        names = ["chosen 1", "chosen 2", "all 1", "all 2"]
        table = pd.DataFrame(places, columns=names, index=pd.RangeIndex(self.labels.size, name="sample"))
        table.insert(0, "cluster", self.labels)
        return table

    def plot(self, axes: Any = None) -> Any:
        """Both planes side by side, on two axes; returns the matplotlib axes."""
        panels = own_panels(axes, 2, 4.6, 4.2, columns=2)
        names = cluster_names(np.bincount(self.labels))
        titles = (counted(self.chosen.n_features, "chosen feature"), f"all {counted(self.every.n_features, 'feature')}")
        for ax, view, title in zip(panels, (self.chosen, self.every), titles, strict=True):
            _scatter(ax, view, self.labels, len(names))
            gaps = f"\n{counted(view.n_gaps, 'gap')} filled with column means" if view.n_gaps else ""
            ax.set_title(title + gaps, fontsize="medium")
            units = "standardized" if self.standardized else "in units of the data"
            ax.set_xlabel(f"first component ({view.shares[0]:.1%} of variance, {units})")
            ax.set_ylabel(f"second component ({view.shares[1]:.1%} of variance)")
            if not view.shares[1]:
                ax.set(yticks=[], ylim=(-1.0, 1.0), ylabel="no second component")
        legend(panels, marks(names), axes is None)
        return np.array(panels)


def _view(data: Clustered, columns: Subset) -> View:
    gaps = 0 if data.is_sparse else sum(int(np.isnan(data.block(some)).sum()) for some in data.blocks(columns))
    return View(*leading_plane(data, columns), columns.size, gaps)


def _scatter(ax: Any, view: View, labels: Subset, k: int) -> None:
    """The samples, a color and a mark for each cluster."""
    n = labels.size
    size = float(np.clip(140.0 / np.sqrt(n), 2.0, 6.0))
    # Among very many marks the edges would hide the colors.
    look: dict[str, Any] = EDGE if n <= MANY_MARKS else {"mew": 0.0, "alpha": 0.6}
    for c in range(k):
        (color, mark, _), places = style_of(c), view.places[labels == c]
        ax.plot(*places.T, mark, color=color, ms=size, rasterized=n > MANY_MARKS, **look)
    for line in (ax.axhline, ax.axvline):
        line(0, color="0.85", lw=0.8, zorder=0)
