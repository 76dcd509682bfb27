"""Which features make which cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._data.centers import means
from .._data.kinds.base import Scale
from .._features.base import Floats, Subset
from ._kinds import difference_words
from ._style import GRAY, cluster_names, legend, own_panels, plain, shortened, style_of, written
from .view import Fitted, View, inspect

if TYPE_CHECKING:
    import pandas as pd

# Bars in the panel of a cluster.
MOST_BARS = 10
# A feature of which a cluster explains less has no bar there.
LEAST_SHOWN = 0.01
# Values with larger differences are written with an exponent, and so are values that would need more digits.
LARGE, MOST_DIGITS = 1e7, 6
# Letters of a level before it is cut in a figure.
LONGEST_LEVEL = 14


@dataclass(frozen=True)
class Contributions:
    """The part that each cluster has in the between sum of squares of every chosen feature.

    For numbers the contribution of cluster k to feature a is

        n_k (m_ka - m_a)^2 / sum_j n_j (m_ja - m_a)^2

    with n_k the number of samples of the cluster whose value is not missing, m_ka their mean and m_a the mean of all
    samples. For a categorical feature, the shares of the levels take the place of the means, and the squares are summed
    over the levels; levels with an order count as their ranks. Contributions sum to 1 over the clusters; they are 0 if
    the clusters do not differ at all.

    With two clusters all features have the same contributions, n_2 / n and n_1 / n. What distinguishes the features
    then is how much the cluster explains: contribution times score.

    Attributes
    ----------
    features : tuple of str
        Names of the chosen features, from the highest score to the lowest.
    scores : ndarray of shape (n_chosen,)
        Share of each feature that all clusters explain.
    sizes : ndarray of shape (n_clusters,)
        Number of samples in each cluster.
    contribution : ndarray of shape (n_chosen, n_clusters)
        The contributions.
    center : ndarray of shape (n_chosen, n_clusters)
        Center of the feature in each cluster, in the units of the data: the mean, the median of a column compared by
        distance, the commonest level, or the middle one of levels with an order.
    overall : ndarray of shape (n_chosen,)
        The same for all samples.
    difference : ndarray of shape (n_chosen, n_clusters)
        Center minus overall center; for levels, the share of the commonest level minus its share among all samples; for
        levels with an order, the mean rank minus that of all samples.
    scales : tuple of str
        What each feature is, and so what its differences are of: "number", "level" or "rank".

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
    def from_estimator(cls, estimator: Fitted, X: Any) -> Self:
        """From a fitted estimator and the data that it was fitted to."""
        return cls.from_view(inspect(estimator, X))

    @classmethod
    def from_view(cls, view: View) -> Self:
        """From a view."""
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
        """Share of every feature that each cluster explains, contribution times score."""
        return np.asarray(self.contribution * self.scores[:, None])

    def frame(self) -> pd.DataFrame:
        """One row per chosen feature and cluster, the features of highest score first."""
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
        """A bar chart per cluster of the features that it explains most of; returns the matplotlib axes."""
        from matplotlib.patches import Patch

        k, bars = self.sizes.size, min(max_features, len(self.features))
        panels = own_panels(axes, k, 4.6, 0.24 * bars + 1.3)
        for c, (ax, name) in enumerate(zip(panels, cluster_names(self.sizes), strict=True)):
            self._draw(ax, c, bars)
            ax.set_title(name, fontsize="medium", color="black")
        handles = [Patch(facecolor=GRAY, label="all clusters together (the score)")]
        legend(panels, [Patch(facecolor=style_of(0)[0], label="this cluster, in its color"), *handles], axes is None)
        return np.array(panels)

    def _draw(self, ax: Any, cluster: int, bars: int) -> None:
        """The bars of one cluster, with the feature on the left and what it is like on the right."""
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
        """Places of the features that a cluster explains most of, the best first; one at least."""
        explained = self.explained[:, cluster]
        top = np.argsort(-explained, kind="stable")[:most]
        return top[: max(1, np.count_nonzero(explained[top] >= LEAST_SHOWN))]

    def _label(self, feature: int, cluster: int) -> str:
        return plain(self.words(feature, cluster, LONGEST_LEVEL), 10 * LONGEST_LEVEL)

    def words(self, feature: int, cluster: int, longest: int | None = None) -> str:
        """What a cluster is like in a feature: 5.1 (all: 3.2), red (+34 percentage points), high (+1.2 ranks)."""
        center, difference = self.center[feature, cluster], self.difference[feature, cluster]
        if self.scales[feature] == "number":
            return f"{in_units(center, difference)} (all: {in_units(self.overall[feature], difference)})"
        level = "missing" if center is None else written(center)
        level = level if longest is None else shortened(level, longest)
        return f"{level} ({difference_words(self.scales[feature], difference)})"


def in_units(value: float, difference: float) -> str:
    """A number with the digits that a difference of this size needs.

    >>> in_units(1.2346, 0.5), in_units(-0.0001, 0.5), in_units(1e12 + 1, 1.0), in_units(1234.6, 600.0)
    ('1.235', '0.000', '1,000,000,000,001.00', '1,235')
    """
    if not np.isfinite(value) or not difference or abs(difference) >= LARGE:
        return f"{value:.3g}"
    digits = int(np.clip(2 - np.floor(np.log10(abs(difference))), 0, 12))
    return f"{round(value, digits) + 0.0:,.{digits}f}" if digits < MOST_DIGITS else f"{value:.3g}"


def _between(view: View, columns: Subset) -> Floats:
    """Of each column and cluster, up to a factor of the column, n_k (m_k - m)^2 summed over its coordinates."""
    table, features, _ = view.coordinates(columns)
    k = view.sizes.size
    seen = np.array([(~np.isnan(table[view.labels == c])).sum(axis=0) for c in range(k)])
    squares = seen * np.nan_to_num(means(table, view.labels, k)) ** 2
    return np.array([np.bincount(features, row, columns.size) for row in squares]).T
