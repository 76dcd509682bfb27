"""The chosen features of all samples as a picture, in the order of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._data.centers import means
from .._data.checks import NAMES_SHOWN, and_more, check_count
from .._features.base import Floats, Subset
from ._data import Clustered, Fitted, clustered, standardized
from ._style import cluster_names, counted, legend, own_axes, patches, plain, style_of

if TYPE_CHECKING:
    import pandas as pd

# What fits on a screen.
MOST_ITEMS, MOST_FEATURES = 500, 200
# With more features than this their names would run into one another.
MOST_NAMES = 60
# Standard deviations at which the colors end.
LIMIT = 2.5
# A cluster with a smaller share than this of a side has no room for its number there.
LEAST_NUMBERED = 0.03


@dataclass(frozen=True)
class Heatmap:
    """Samples x chosen features, standardized, in the order of the clusters.

    Samples are ordered by cluster, and within it from the nearest to its center to the farthest. Features are ordered by
    the cluster that they single out, that of the largest |cluster mean - overall mean|, and for each from the highest
    to the lowest in it.

    Attributes
    ----------
    values : samples x features as z-scores, NaN in gaps; the codes of levels are standardized like numbers.
    samples : which rows of X they are.
    labels : cluster of each of them.
    features : names.
    singled_out : the cluster that each feature singles out.
    coded : names of features whose levels are drawn as codes.
    sizes : number of samples in each cluster, drawn or not.
    n_chosen : number of chosen features, drawn or not.

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
    singled_out: Subset
    coded: tuple[str, ...]
    sizes: Subset
    n_chosen: int

    @classmethod
    def from_estimator(
        cls, estimator: Fitted, X: Any, max_samples: int = MOST_ITEMS, max_features: int = MOST_FEATURES
    ) -> Self:
        """From a fitted estimator and the data of its fit.

        Of more than `max_features` chosen features those of highest score are taken, and of more than `max_samples` samples
        some of each cluster, evenly from the nearest to its center to the farthest.
        """
        check_count("max_samples", max_samples, 1)
        check_count("max_features", max_features, 1)
        data = clustered(estimator, X)
        samples = thinned(np.lexsort((own_distances(data), data.labels)), data.labels, max_samples)
        features, singled_out = in_order(data, data.chosen[:max_features])
        return cls(
            standardized(data.block(features))[samples],
            samples,
            data.labels[samples],
            tuple(data.names[a] for a in features.tolist()),
            singled_out,
            tuple(data.names[a] for a in features.tolist() if data.is_level(a)),
            data.sizes,
            data.chosen.size,
        )

    def frame(self) -> pd.DataFrame:
        """The values as drawn: a row for each sample, by cluster and number, a column for each feature."""
        import pandas as pd

        index = pd.MultiIndex.from_arrays([self.labels, self.samples], names=["cluster", "sample"])
        return pd.DataFrame(self.values, index=index, columns=list(self.features))

    @property
    def title(self) -> str:
        """What is drawn, and what is not."""
        n, s, n_samples = len(self.samples), len(self.features), int(self.sizes.sum())
        samples = (
            f"{n_samples:,} samples"
            if n == n_samples
            else f"{n:,} of {n_samples:,} samples (even picks of each cluster)"
        )
        features = counted(s, "chosen feature")
        if s < self.n_chosen:
            features = f"{s:,} of {self.n_chosen:,} chosen features (highest scores)"
        lines = [f"{samples} x {features}"]
        if self.coded:
            listed = ", ".join(plain(name) for name in self.coded[:NAMES_SHOWN])
            lines.append(f"levels drawn as codes: {listed}{and_more(len(self.coded))}")
        if np.isnan(self.values).any():
            lines.append("gaps are gray")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """The values in colors, with the clusters on the left and above; returns the matplotlib axes."""
        import matplotlib as mpl

        is_own = ax is None
        n, s = self.values.shape
        height = float(np.clip(0.05 * n + 2.5, 4.0, 7.0))
        ax = own_axes(ax, float(np.clip(0.18 * s + 3.5, 6.0, 10.0)), height)
        colors = mpl.colormaps["RdBu_r"].with_extremes(bad="0.6")
        image = ax.imshow(
            self.values, cmap=colors, vmin=-LIMIT, vmax=LIMIT, aspect="auto", interpolation="nearest", rasterized=True
        )
        ax.set_yticks([])
        if s <= MOST_NAMES:
            ax.set_xticks(range(s), [plain(name) for name in self.features], rotation=90, fontsize="x-small")
        else:
            ax.set_xticks([])
        names = cluster_names(self.sizes)
        # A legend inside of the axes would hide values.
        listed = "" if is_own else "\n" + ", ".join(names[:NAMES_SHOWN]) + and_more(len(names))
        ax.set_xlabel(f"features, by the cluster that they single out{listed}")
        for at in np.flatnonzero(np.diff(self.labels)) + 0.5:
            ax.axhline(at, color="black", lw=0.8)
        for at in np.flatnonzero(np.diff(self.singled_out)) + 0.5:
            ax.axvline(at, color="black", lw=0.5, ls=":")
        self._strips(ax)
        ax.set_title(self.title, fontsize="small", loc="left", pad=18)
        label = "standardized value (standard deviations from the mean)"
        ax.figure.colorbar(image, ax=ax, extend="both", label=label, shrink=0.8, pad=0.02)
        if is_own:
            legend([ax], patches(names), is_own)
        return ax

    def _strips(self, ax: Any) -> None:
        """The color of its cluster beside every sample, and above every feature that of the cluster it singles out."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patheffects import withStroke

        colors = ListedColormap([style_of(c)[0] for c in range(self.sizes.size)])
        look = {"cmap": colors, "vmin": -0.5, "vmax": self.sizes.size - 0.5, "aspect": "auto", "rasterized": True}
        beside, above = ax.inset_axes([-0.04, 0.0, 0.03, 1.0]), ax.inset_axes([0.0, 1.01, 1.0, 0.03])
        for strip, clusters in ((beside, self.labels[:, None]), (above, self.singled_out[None])):
            strip.imshow(clusters, **look)
            strip.set(xticks=[], yticks=[])
            strip.spines[:].set_visible(False)
            # The number of a cluster, where there is room for it.
            for c in np.unique(clusters).tolist():
                own = np.flatnonzero(clusters == c)
                if own.size > LEAST_NUMBERED * clusters.size:
                    at = (0.0, own.mean()) if strip is beside else (own.mean(), 0.0)
                    words = {"ha": "center", "va": "center", "fontsize": "x-small", "color": "white"}
                    strip.text(*at, str(c), **words, path_effects=[withStroke(linewidth=1.5, foreground="0.2")])
        beside.set_ylabel("samples, by cluster and distance to its center")


def own_distances(data: Clustered) -> Floats:
    """Mean squared distance of every sample to the center of its cluster, over the chosen features that it has."""
    n, k = data.labels.size, data.sizes.size
    total, seen = np.zeros(n), np.zeros(n)
    for some in data.blocks(data.chosen):
        table, owners = data.coordinates(some)
        apart = table - means(table, data.labels, k)[data.labels]
        total += np.nansum(apart**2, axis=1)
        first = np.unique(owners, return_index=True)[1]
        seen += (~np.isnan(table[:, first])).sum(axis=1)
    return np.asarray(total / np.maximum(seen, 1))


def thinned(samples: Subset, labels: Subset, most: int) -> Subset:
    """Of ordered samples at most so many, from each cluster evenly and by its size, and one at least."""
    if samples.size <= most:
        return samples
    parts = np.split(samples, np.flatnonzero(np.diff(labels[samples])) + 1)
    shares = [max(1, round(most * part.size / samples.size)) for part in parts]
    while sum(shares) > max(most, len(parts)):
        shares[int(np.argmax(shares))] -= 1
    picks = zip(parts, shares, strict=True)
    return np.concatenate([part[np.linspace(0, part.size - 1, share).round().astype(int)] for part, share in picks])


def in_order(data: Clustered, columns: Subset) -> tuple[Subset, Subset]:
    """The columns by the cluster that each singles out, and that cluster."""
    table, owners = data.coordinates(columns)
    centers = np.nan_to_num(means(table, data.labels, data.sizes.size))
    apart = np.array([np.bincount(owners, row**2, columns.size) for row in centers])
    cluster = np.argmax(apart, axis=0)
    # Which way: levels have none, so they count as high.
    is_low = np.zeros(columns.size, bool)
    is_number = np.array([not data.is_level(a) for a in columns.tolist()])
    first = np.unique(owners, return_index=True)[1]
    is_low[is_number] = centers[cluster, first][is_number] < 0
    height = np.where(is_low, -1.0, 1.0) * np.sqrt(apart[cluster, np.arange(columns.size)])
    order = np.lexsort((-height, cluster))
    return columns[order], cluster[order]
