"""A heatmap of the samples and the chosen features, sorted by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._data.centers import means
from .._utils.arrays import Floats, Subset
from .._utils.checks import NAMES_SHOWN, and_more, check_count
from ..methods._result import OUTLIER
from ._display import Display
from ._scaling import standardized
from ._style import (
    DIVERGING,
    MISSING,
    cluster_names,
    counted,
    ink_on,
    legend,
    own_axes,
    patches,
    plain,
    style_of,
    written,
)
from .view import View

if TYPE_CHECKING:
    import pandas as pd

# The largest numbers that fit on a screen.
MOST_SAMPLES, MOST_FEATURES = 500, 200
# The number of levels of a categorical feature that are drawn.
MOST_LEVELS = 6
# With more columns than this, their names would overlap.
MOST_NAMES = 60
# The range of the colors, in standard deviations.
LIMIT = 2.5
# The number of a cluster is written on a strip only if the cluster takes up at least this share of it.
LEAST_NUMBERED = 0.025


@dataclass(frozen=True)
class Heatmap(Display):
    """The standardized values of the samples in the chosen features, sorted by cluster.

    A feature of numbers, or of levels with an order, has one column. Any other categorical feature has one column per
    level, in which the samples with this level have high values. Of two levels, only the second is drawn, because the
    first mirrors it; of more than six levels, only the six that differ most between the clusters are drawn.

    Samples are sorted by cluster and, within a cluster, by their distance to its center. Samples in no cluster come
    last, sorted by their distance to the center of all others. Columns are sorted by the
    cluster that they single out, which is the one with the largest |cluster mean - overall mean|, and then by the mean
    in that cluster, from high to low.

    Attributes
    ----------
    values : ndarray of shape (n_drawn_samples, n_columns)
        Values minus the mean of the column, divided by its standard deviation; NaN for missing values.
    samples : ndarray of shape (n_drawn_samples,)
        Index of each sample in X.
    labels : ndarray of shape (n_drawn_samples,)
        Cluster of each sample, and -1 for samples in no cluster.
    features : tuple of str
        Name of the feature of each column.
    levels : tuple
        Level of each column; None for columns of numbers and ranks.
    singled_out : ndarray of shape (n_columns,)
        Cluster that each column singles out.
    sizes : ndarray of shape (n_clusters,)
        Number of samples in each cluster, including those that are not drawn.
    n_chosen : int
        Number of chosen features, including those that are not drawn.
    some_levels : bool
        Whether some levels of categorical features are not drawn.
    n_outliers : int
        Number of samples in no cluster, including those that are not drawn.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import Heatmap
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> est = SASClustering(n_clusters=3, n_features_to_select=5).fit(X)
    >>> Heatmap.from_estimator(est, X, max_samples=6, max_features=4).frame().shape
    (6, 4)
    """

    values: Floats
    samples: Subset
    labels: Subset
    features: tuple[str, ...]
    levels: tuple[Any, ...]
    singled_out: Subset
    sizes: Subset
    n_chosen: int
    some_levels: bool = False
    n_outliers: int = 0

    @classmethod
    def from_view(cls, view: View, max_samples: int = MOST_SAMPLES, max_features: int = MOST_FEATURES) -> Self:
        """Make the display from a view.

        Parameters
        ----------
        view : View
            View of a fitted clustering, as returned by `inspect`.
        max_samples : int, default=500
            Largest number of samples. If there are more, the samples drawn are spread evenly over each cluster, from
            the nearest to its center to the farthest.
        max_features : int, default=200
            Largest number of features. If more are chosen, those with the highest scores are drawn.

        Returns
        -------
        Heatmap
        """
        check_count("max_samples", max_samples, 1)
        check_count("max_features", max_features, 1)
        last = np.where(view.outliers, view.n_clusters, view.labels)
        samples = thinned(np.lexsort((own_distances(view), last)), view.labels, max_samples)
        drawn = in_order(view, view.chosen[:max_features], samples)
        return cls(
            drawn.values,
            samples,
            view.labels[samples],
            tuple(view.names[a] for a in drawn.features.tolist()),
            drawn.levels,
            drawn.singled_out,
            view.sizes,
            view.chosen.size,
            drawn.some_levels,
            view.n_outliers,
        )

    @property
    def columns(self) -> list[str]:
        """Names of the columns: the name of the feature, and the level if it is categorical."""
        pairs = zip(self.features, self.levels, strict=True)
        return [name if level is None else f"{name} = {written(level)}" for name, level in pairs]

    def frame(self) -> pd.DataFrame:
        """Return the values as they are drawn.

        Returns
        -------
        pandas.DataFrame
            One row per sample, indexed by its cluster and number, and one column per column of the image.
        """
        import pandas as pd

        index = pd.MultiIndex.from_arrays([self.labels, self.samples], names=["cluster", "sample"])
        return pd.DataFrame(self.values, index=index, columns=self.columns)

    @property
    def n_features(self) -> int:
        """Number of features that are drawn."""
        return len(set(self.features))

    @property
    def notes(self) -> list[str]:
        """Explanations of the columns and colors."""
        lines = []
        if any(level is not None for level in self.levels):
            lines.append("categorical features have one column per level: high if the sample has it")
        if self.some_levels:
            lines.append(f"if there are more than {MOST_LEVELS} levels, those that differ most are drawn")
        if np.isnan(self.values).any():
            lines.append("missing values are gray")
        return lines

    @property
    def title(self) -> str:
        """Number of samples and features that are drawn, and the notes."""
        n, s, n_samples = len(self.samples), self.n_features, int(self.sizes.sum()) + self.n_outliers
        samples = counted(n, "sample")
        if n < n_samples:
            samples = f"{n:,} of {n_samples:,} samples (picked evenly from each cluster)"
        features = counted(s, "chosen feature")
        if s < self.n_chosen:
            features = f"{s:,} of {self.n_chosen:,} chosen features (highest scores)"
        return "\n".join([f"{samples} x {features}", *self.notes])

    def plot(self, ax: Any = None) -> Any:
        """Draw the values as colors, with the clusters on the left and above.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib.colors import LinearSegmentedColormap

        is_own = ax is None
        n, s = self.values.shape
        height = float(np.clip(0.05 * n + 2.5, 4.0, 7.0))
        ax = own_axes(ax, float(np.clip(0.18 * s + 3.5, 6.0, 10.0)), height)
        colors = LinearSegmentedColormap.from_list("below and above", DIVERGING).with_extremes(bad=MISSING)
        image = ax.imshow(
            self.values, cmap=colors, vmin=-LIMIT, vmax=LIMIT, aspect="auto", interpolation="nearest", rasterized=True
        )
        ax.set_yticks([])
        if s <= MOST_NAMES:
            ax.set_xticks(range(s), [plain(name) for name in self.columns], rotation=90, fontsize="x-small")
        else:
            ax.set_xticks([])
        names = cluster_names(self.sizes, self.n_outliers)
        # A legend inside the axes would hide values.
        listed = "" if is_own else "\n" + ", ".join([*names.values()][:NAMES_SHOWN]) + and_more(len(names))
        ax.set_xlabel(f"features, by the cluster that they single out{listed}")
        for at in np.flatnonzero(np.diff(self.labels)) + 0.5:
            ax.axhline(at, color="black", lw=0.8)
        for at in np.flatnonzero(np.diff(self.singled_out)) + 0.5:
            ax.axvline(at, color="black", lw=0.5, ls=":")
        self._strips(ax)
        ax.set_title(self.title, fontsize="small", loc="left", pad=18)
        label = "standard deviations from the mean of the column"
        ax.figure.colorbar(image, ax=ax, extend="both", label=label, shrink=0.8, pad=0.02)
        if is_own:
            legend([ax], patches(names), is_own)
        return ax

    def _strips(self, ax: Any) -> None:
        """Draw strips with the cluster of each sample, and with the cluster that each column singles out."""
        from matplotlib.colors import ListedColormap

        colors = ListedColormap([style_of(c)[0] for c in range(OUTLIER, self.sizes.size)])
        look = {"cmap": colors, "vmin": -1.5, "vmax": self.sizes.size - 0.5, "aspect": "auto", "rasterized": True}
        beside, above = ax.inset_axes([-0.04, 0.0, 0.03, 1.0]), ax.inset_axes([0.0, 1.01, 1.0, 0.03])
        for strip, labels in ((beside, self.labels[:, None]), (above, self.singled_out[None])):
            strip.imshow(labels, **look)
            strip.set(xticks=[], yticks=[])
            strip.spines[:].set_visible(False)
            # Numbers are written where there is room, because colors repeat if there are many clusters.
            for c in np.unique(labels).tolist():
                own = np.flatnonzero(labels == c)
                if c != OUTLIER and own.size > LEAST_NUMBERED * labels.size:
                    at = (0.0, own.mean()) if strip is beside else (own.mean(), 0.0)
                    ink = ink_on(style_of(c)[0])
                    strip.text(*at, str(c), ha="center", va="center", fontsize="x-small", color=ink)
        beside.set_ylabel("samples, by cluster and distance to its center")


def own_distances(view: View) -> Floats:
    """Return the mean squared distance of each sample to the center of its cluster, over its observed features.

    For samples in no cluster, it is the distance to the center of all others.
    """
    n, k = view.labels.size, view.n_clusters
    total, seen = np.zeros(n), np.zeros(n)
    for some in view.blocks(view.chosen):
        table, features, _ = view.coordinates(some)
        # The last row, which is that of the label -1, is the center of all samples in clusters.
        centers = np.vstack([means(table, view.labels, k), np.zeros(table.shape[1])])
        apart = table - centers[view.labels]
        total += np.nansum(apart**2, axis=1)
        first = np.unique(features, return_index=True)[1]
        seen += (~np.isnan(table[:, first])).sum(axis=1)
    return np.asarray(total / np.maximum(seen, 1))


def thinned(samples: Subset, labels: Subset, most: int) -> Subset:
    """Return at most `most` of the samples, which are sorted by cluster: at least one per cluster, spread evenly."""
    if samples.size <= most:
        return samples
    parts = np.split(samples, np.flatnonzero(np.diff(labels[samples])) + 1)
    shares = [max(1, round(most * part.size / samples.size)) for part in parts]
    while sum(shares) > max(most, len(parts)):
        shares[int(np.argmax(shares))] -= 1
    picks = zip(parts, shares, strict=True)
    return np.concatenate([part[np.linspace(0, part.size - 1, share).round().astype(int)] for part, share in picks])


class Columns(NamedTuple):
    """Standardized columns in the order in which they are drawn, and the indices of their features."""

    values: Floats
    features: Subset
    levels: tuple[Any, ...]
    singled_out: Subset
    some_levels: bool


def in_order(view: View, chosen: Subset, samples: Subset) -> Columns:
    """Return the columns of some features and samples, sorted by the cluster that each column singles out."""
    parts, owners, middles, first = [], [], [], 0
    levels: list[Any] = []
    # A few columns at a time, because there may be very many samples.
    for some in view.blocks(chosen):
        coordinates = view.coordinates(some)
        table = standardized(coordinates.values, view.rows)
        parts.append(table[samples])
        middles.append(np.nan_to_num(means(table, view.labels, view.n_clusters)))
        owners.append(first + coordinates.features)
        levels += coordinates.levels
        first += some.size
    values, centers, of = np.hstack(parts), np.hstack(middles), np.concatenate(owners)
    between = view.sizes @ centers**2
    kept = np.concatenate([_telling(np.flatnonzero(of == place), between) for place in range(chosen.size)])
    singled_out = np.argmax(np.abs(centers), axis=0)
    height = np.take_along_axis(centers, singled_out[None], axis=0)[0]
    order = kept[np.lexsort((-height[kept], singled_out[kept]))]
    return Columns(
        values[:, order],
        chosen[of[order]],
        tuple(levels[j] for j in order.tolist()),
        singled_out[order],
        bool((np.bincount(of) > MOST_LEVELS).any()),
    )


def _telling(own: Subset, between: Floats) -> Subset:
    """Return the columns of one feature that are drawn. Of two levels, one is enough, because the other mirrors it."""
    if own.size == 2:
        return own[1:]
    return own[np.sort(np.argsort(-between[own], kind="stable")[:MOST_LEVELS])]
