"""The samples in the principal components of the chosen features and of all features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._utils.arrays import Floats, Subset
from ..methods._result import OUTLIER
from ._components import leading_plane
from ._display import Display
from ._style import EDGE, MANY_MARKS, cluster_names, counted, legend, marks, own_panels, style_of
from .view import View

if TYPE_CHECKING:
    import pandas as pd


# Samples in no cluster are drawn no farther from the others than this, as a share of the width of the picture.
MARGIN = 0.25
# Stars are drawn larger than other markers, because they have thin arms.
STAR_SIZE = 1.5


class Components(NamedTuple):
    """The samples in the first two principal components of some features.

    Attributes
    ----------
    places : ndarray of shape (n_samples, 2)
        Coordinates of the samples.
    shares : ndarray of shape (2,)
        Share of the variance along each component.
    n_features : int
        Number of features.
    n_missing : int
        Number of missing values, which are filled with the mean of the column.
    """

    places: Floats
    shares: Floats
    n_features: int
    n_missing: int


@dataclass(frozen=True)
class Projection(Display):
    """The samples in the first two principal components of the chosen features and of all features, side by side.

    If only a few of many features distinguish the clusters, the clusters are separated on the left and hidden in noise
    on the right. Features are standardized if they were standardized in the fit. Missing values are filled with the
    mean of the column. A categorical column is represented by an indicator for each level. The components are those of
    the samples in clusters. Samples in no cluster are gray, and drawn at the edge if they are far outside.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample, and -1 for samples in no cluster.
    chosen : Components
        The samples in the components of the chosen features: the coordinates `places` of shape (n_samples, 2), the
        `shares` of the variance, and the numbers `n_features` and `n_missing` of features and of missing values.
    every : Components or None
        The samples in the components of all features; None if `all_features=False`.
    standardized : bool
        Whether the features are standardized.

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
    chosen: Components
    every: Components | None
    standardized: bool

    @classmethod
    def from_view(cls, view: View, all_features: bool = True) -> Self:
        """Make the display from a view.

        Parameters
        ----------
        view : View
            View of a fitted clustering, as returned by `inspect`.
        all_features : bool, default=True
            Whether to compute the components of all features, too.

        Returns
        -------
        Projection
        """
        chosen = _components(view, np.sort(view.chosen))
        every = _components(view, np.arange(len(view.names))) if all_features else None
        return cls(view.labels, chosen, every, view.standardize)

    @property
    def panels(self) -> dict[str, Components]:
        """The panels by name: "chosen" and, unless they were left out, "all"."""
        return {"chosen": self.chosen} | ({} if self.every is None else {"all": self.every})

    def frame(self) -> pd.DataFrame:
        """Return the coordinates as a table.

        Returns
        -------
        pandas.DataFrame
            One row per sample, with its cluster and its components of the chosen features and of all features.
        """
        import pandas as pd

        columns = {f"{name} {c + 1}": seen.places[:, c] for name, seen in self.panels.items() for c in (0, 1)}
        index = pd.RangeIndex(self.labels.size, name="sample")
        return pd.DataFrame({"cluster": self.labels, **columns}, index=index)

    def plot(self, axes: Any = None) -> Any:
        """Draw one panel for the chosen features and one for all features.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        ndarray of matplotlib Axes
        """
        panels = own_panels(axes, len(self.panels), 4.6, 4.2, columns=2)
        outside = self.labels == OUTLIER
        names = cluster_names(np.bincount(self.labels[~outside]), int(outside.sum()))
        for ax, (name, seen) in zip(panels, self.panels.items(), strict=True):
            _scatter(ax, within_reach(seen.places, self.labels), self.labels, names)
            n = seen.n_features
            title = counted(n, "chosen feature") if name == "chosen" else f"all {counted(n, 'feature')}"
            filled = f"\n{counted(seen.n_missing, 'missing value')} filled with column means" if seen.n_missing else ""
            ax.set_title(title + filled, fontsize="medium")
            units = "standardized" if self.standardized else "in units of the data"
            ax.set_xlabel(f"first component ({seen.shares[0]:.1%} of variance, {units})")
            ax.set_ylabel(f"second component ({seen.shares[1]:.1%} of variance)")
            if not seen.shares[1]:
                ax.set(yticks=[], ylim=(-1.0, 1.0), ylabel="no second component")
        legend(panels, marks(names), axes is None)
        return np.array(panels)


def _components(view: View, columns: Subset) -> Components:
    return Components(*leading_plane(view, columns), columns.size, view.n_missing(columns))


def within_reach(places: Floats, labels: Subset) -> Floats:
    """Return the places of the samples in a picture: those in no cluster are moved to its edge if they are far away."""
    inside = places[labels != OUTLIER]
    low, high = inside.min(axis=0), inside.max(axis=0)
    return np.asarray(np.clip(places, low - MARGIN * (high - low), high + MARGIN * (high - low)))


def _scatter(ax: Any, places: Floats, labels: Subset, clusters: Iterable[int]) -> None:
    """Draw the samples, with a color and a marker for each cluster."""
    n = labels.size
    size = float(np.clip(140.0 / np.sqrt(n), 2.0, 6.0))
    # If there are very many markers, their edges would hide the colors.
    look: dict[str, Any] = EDGE if n <= MANY_MARKS else {"mew": 0.0, "alpha": 0.6}
    for c in clusters:
        (color, mark, _), own = style_of(c), STAR_SIZE * size if c == OUTLIER else size
        ax.plot(*places[labels == c].T, mark, color=color, ms=own, rasterized=n > MANY_MARKS, **look)
    for line in (ax.axhline, ax.axvline):
        line(0, color="0.85", lw=0.8, zorder=0)
