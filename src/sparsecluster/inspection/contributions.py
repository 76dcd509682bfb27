"""The features that distinguish each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._data.centers import means
from .._data.kinds.dissimilarity import Scale
from .._utils.arrays import Floats, Subset
from .._utils.text import shortened
from ._display import Display
from ._kinds import difference_words
from ._style import GRAY, cluster_names, legend, own_panels, plain, style_of, written
from .view import View

if TYPE_CHECKING:
    import pandas as pd

# The number of bars in the panel of a cluster.
MOST_BARS = 10
# Features of which a cluster explains a smaller share have no bar in its panel.
LEAST_SHOWN = 0.01
# Values are written with an exponent if their difference is larger than this, or if they would need more digits.
LARGE, MOST_DIGITS = 1e7, 6
# Length at which the name of a level is truncated in a figure.
LONGEST_LEVEL = 14


@dataclass(frozen=True)
class Contributions(Display):
    """The share of each cluster in the between-cluster sum of squares of each chosen feature.

    For numbers, the contribution of cluster k to feature a is

        n_k (m_ka - m_a)^2 / sum_j n_j (m_ja - m_a)^2

    where n_k is the number of samples in the cluster whose value is not missing, m_ka is their mean and m_a is the mean
    of all samples. For a categorical feature, the shares of the levels take the place of the means, and the squares are
    summed over the levels; levels with an order are replaced by their ranks. The contributions to a feature sum to 1,
    or are all 0 if the clusters do not differ in it. Samples in no cluster are left out.

    With two clusters, the contributions to all features are n_2 / n and n_1 / n. The features then differ only in how
    much a cluster explains of them, which is the contribution times the score.

    Attributes
    ----------
    features : tuple of str
        Names of the chosen features, from the highest score to the lowest.
    scores : ndarray of shape (n_chosen,)
        Share of each feature that all clusters explain.
    sizes : ndarray of shape (n_clusters,)
        Number of samples in each cluster.
    contribution : ndarray of shape (n_chosen, n_clusters)
        Contribution of each cluster to each feature.
    center : ndarray of shape (n_chosen, n_clusters)
        Center of each feature in each cluster, in the units of the data: the mean, the median (for columns compared by
        distance), the most common level, or the median level (for levels with an order).
    overall : ndarray of shape (n_chosen,)
        Center of each feature among all samples.
    difference : ndarray of shape (n_chosen, n_clusters)
        Center minus overall center. For levels, the share of the most common level minus its share among all samples;
        for levels with an order, the mean rank minus the mean rank of all samples.
    scales : tuple of {"number", "level", "rank"}
        Type of each feature, which determines the meaning of its differences.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.inspection import Contributions
    >>> X = np.array([[0.0, 5.0], [0.0, 6.0], [0.0, 5.0], [0.0, 6.0], [9.0, 1.0], [9.0, 0.0]])
    >>> est = SASClustering(n_clusters=2, n_features_to_select=1).fit(X)
    >>> Contributions.from_estimator(est, X).frame().drop(columns="explained").round(2)
      feature  cluster  contribution  center  overall  difference
    0      x0        0          0.33     0.0      3.0        -3.0
    1      x0        1          0.67     9.0      3.0         6.0
    """

    features: tuple[str, ...]
    scores: Floats
    sizes: Subset
    contribution: Floats
    center: npt.NDArray[Any]
    overall: npt.NDArray[Any]
    difference: Floats
    scales: tuple[Scale, ...]

    @classmethod
    def from_view(cls, view: View) -> Self:
        """Make the display from a view.

        Parameters
        ----------
        view : View
            View of a fitted clustering, as returned by `inspect`.

        Returns
        -------
        Contributions
        """
        view = view.clustered
        chosen, parts = view.chosen, list(view.blocks(view.chosen))
        between = np.vstack([_between(view, some) for some in parts])
        whole = between.sum(axis=1, keepdims=True)
        center, overall, difference = zip(*map(view.typical, parts), strict=True)
        scales = tuple(map(view.scale_of, chosen.tolist()))
        kind = np.float64 if set(scales) == {"number"} else object
        return cls(
            tuple(view.names[a] for a in chosen.tolist()),
            view.scores[chosen],
            view.sizes,
            between / np.where(whole > 0, whole, 1.0),
            np.vstack(center).astype(kind),
            np.concatenate(overall).astype(kind),
            np.vstack(difference),
            scales,
        )

    @property
    def explained(self) -> Floats:
        """Share of each feature that each cluster explains: the contribution times the score."""
        return np.asarray(self.contribution * self.scores[:, None])

    def frame(self) -> pd.DataFrame:
        """Return the contributions as a table.

        Returns
        -------
        pandas.DataFrame
            One row per chosen feature and cluster; features with the highest scores come first.
        """
        import pandas as pd

        s, k = self.contribution.shape
        return pd.DataFrame(
            {
                "feature": np.repeat(np.array(self.features, dtype=object), k),
                "cluster": np.tile(np.arange(k), s),
                "contribution": self.contribution.ravel(),
                "center": self.center.ravel(),
                "overall": np.repeat(self.overall, k),
                "difference": self.difference.ravel(),
                "explained": self.explained.ravel(),
            }
        )

    def plot(self, axes: Any = None, max_features: int = MOST_BARS) -> Any:
        """Draw one bar chart per cluster, with the features of which the cluster explains most.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            Where to draw; by default, in a new figure.
        max_features : int, default=10
            Largest number of bars per cluster.

        Returns
        -------
        ndarray of matplotlib Axes
        """
        from matplotlib.patches import Patch

        k, bars = self.sizes.size, min(max_features, len(self.features))
        panels = own_panels(axes, k, 4.6, 0.24 * bars + 1.3)
        for ax, (c, name) in zip(panels, cluster_names(self.sizes).items(), strict=True):
            self._draw(ax, c, bars)
            ax.set_title(name, fontsize="medium", color="black")
        handles = [Patch(facecolor=GRAY, label="all clusters together (the score)")]
        legend(panels, [Patch(facecolor=style_of(0)[0], label="this cluster, in its color"), *handles], axes is None)
        return np.array(panels)

    def _draw(self, ax: Any, cluster: int, bars: int) -> None:
        """Draw the bars of one cluster, with the name of the feature on the left and its typical value on the right."""
        explained, top = self.explained[:, cluster], self.top(cluster, bars)
        at = np.arange(top.size)
        ax.barh(at, self.scores[top], 0.7, color=GRAY)
        ax.barh(at, explained[top], 0.7, color=style_of(cluster)[0])
        ax.set_yticks(at, [plain(self.features[a]) for a in top.tolist()], fontsize="small")
        ax.set(xlim=(0.0, 1.0), ylim=(bars - 0.4, -0.6))
        ax.set_xlabel("explained share of the feature", fontsize="small")
        ax.tick_params(axis="x", labelsize="small")
        right = ax.secondary_yaxis("right")
        right.set_yticks(at, [self._label(a, cluster) for a in top.tolist()], fontsize="x-small")
        right.tick_params(length=0)
        right.set_ylabel("typical in the cluster", fontsize="x-small")

    def top(self, cluster: int, most: int = MOST_BARS) -> Subset:
        """Return the features of which a cluster explains most.

        Parameters
        ----------
        cluster : int
            The cluster.
        most : int, default=10
            Largest number of features.

        Returns
        -------
        ndarray of int
            Indices into `features`, the largest explained share first; always at least one.
        """
        explained = self.explained[:, cluster]
        top = np.argsort(-explained, kind="stable")[:most]
        return top[: max(1, np.count_nonzero(explained[top] >= LEAST_SHOWN))]

    def _label(self, feature: int, cluster: int) -> str:
        return plain(self.words(feature, cluster, LONGEST_LEVEL), 10 * LONGEST_LEVEL)

    def words(self, feature: int, cluster: int, longest: int | None = None) -> str:
        """Describe the typical value of a feature in a cluster.

        Parameters
        ----------
        feature : int
            Index into `features`.
        cluster : int
            The cluster.
        longest : int, default=None
            Length at which levels are truncated; by default, they are not.

        Returns
        -------
        str
            Such as "5.1 (all: 3.2)", "red (+34 percentage points)" or "high (+1.2 ranks)".
        """
        center, difference = self.center[feature, cluster], self.difference[feature, cluster]
        if self.scales[feature] == "number":
            return f"{in_units(center, difference)} (all: {in_units(self.overall[feature], difference)})"
        level = "missing" if center is None else written(center)
        level = level if longest is None else shortened(level, longest)
        return f"{level} ({difference_words(self.scales[feature], difference)})"


def in_units(value: float, difference: float) -> str:
    """Format a number with as many digits as a difference of this size requires.

    >>> in_units(1.2346, 0.5), in_units(-0.0001, 0.5), in_units(1e12 + 1, 1.0), in_units(1234.6, 600.0)
    ('1.235', '0.000', '1,000,000,000,001.00', '1,235')
    """
    if not np.isfinite(value) or not difference or abs(difference) >= LARGE:
        return f"{value:.3g}"
    digits = int(np.clip(2 - np.floor(np.log10(abs(difference))), 0, 12))
    return f"{round(value, digits) + 0.0:,.{digits}f}" if digits < MOST_DIGITS else f"{value:.3g}"


def _between(view: View, columns: Subset) -> Floats:
    """Return n_k (m_k - m)^2, summed over the coordinates of each column, up to a factor per column."""
    table, features, _ = view.coordinates(columns)
    k = view.sizes.size
    seen = np.array([(~np.isnan(table[view.labels == c])).sum(axis=0) for c in range(k)])
    squares = seen * np.nan_to_num(means(table, view.labels, k)) ** 2
    return np.array([np.bincount(features, row, columns.size) for row in squares]).T
