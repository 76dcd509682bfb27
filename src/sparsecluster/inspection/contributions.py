"""Which features make which cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._data.centers import means, middle
from .._data.columns import Column
from .._features.base import Floats, Subset
from ._data import Clustered, Fitted, clustered
from ._style import GRAY, cluster_names, legend, own_panels, plain, style_of

if TYPE_CHECKING:
    import pandas as pd

# Bars in the panel of a cluster.
MOST_BARS = 10
# A feature of which a cluster explains less has no bar there.
LEAST_SHOWN = 0.01
# Differences beyond this are written with an exponent, and so are values that would need more digits than this.
LARGE, MOST_DIGITS = 1e7, 6


@dataclass(frozen=True)
class Contributions:
    """The part that each cluster has in the between sum of squares of every chosen feature.

    For numbers the contribution of cluster k to feature a is

        n_k (m_ka - m_a)^2 / sum_j n_j (m_ja - m_a)^2

    with n_k the samples of the cluster that are seen, m_ka their mean and m_a the mean of all. For levels, shares of the
    levels stand in the place of the means, and the squares are summed over the levels; ordered levels are ranks.
    Contributions sum to 1 over the clusters; they are 0 where the clusters do not differ at all.

    With two clusters all features have the same contributions, n_2 / n and n_1 / n. What tells features apart then is
    how much the cluster explains, contribution times score.

    Attributes
    ----------
    features : names of the chosen features, from the highest score to the lowest.
    scores : share of each that all clusters explain.
    sizes : number of samples in each cluster.
    contribution : features x clusters.
    mean, overall : mean in the cluster and of all, in the units of the data; of levels the commonest, of ordered ones
        the middle.
    difference : mean less overall mean; of levels, the share of the commonest less its share in all; of ordered ones,
        the mean rank less that of all.
    kinds : what each feature is, so what its differences are of: "number", "level" or "rank".

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.inspection import Contributions
    >>> X = np.array([[0.0, 5.0], [0.0, 6.0], [0.0, 5.0], [0.0, 6.0], [9.0, 1.0], [9.0, 0.0]])
    >>> est = SASClustering(n_clusters=2, n_features_to_select=1).fit(X)
    >>> columns = ["feature", "cluster", "contribution", "mean", "overall mean", "difference"]
    >>> Contributions.from_estimator(est, X).frame()[columns].round(2)
      feature  cluster  contribution  mean  overall mean  difference
    0      x0        0          0.33   0.0           3.0        -3.0
    1      x0        1          0.67   9.0           3.0         6.0
    """

    features: tuple[str, ...]
    scores: Floats
    sizes: Subset
    contribution: Floats
    mean: npt.NDArray[Any]
    overall: npt.NDArray[Any]
    difference: Floats
    kinds: tuple[str, ...]

    @classmethod
    def from_estimator(cls, estimator: Fitted, X: Any) -> Self:
        """From a fitted estimator and the data of its fit."""
        data = clustered(estimator, X)
        chosen = data.chosen
        parts = [_of_block(data, some) for some in data.blocks(chosen)]
        kinds = tuple(map(data.kind_of, chosen.tolist()))
        between = np.vstack([part.between for part in parts])
        whole = between.sum(axis=1, keepdims=True)
        kind = np.float64 if set(kinds) == {"number"} else object
        return cls(
            tuple(data.names[a] for a in chosen.tolist()),
            data.scores[chosen],
            data.sizes,
            between / np.where(whole > 0, whole, 1.0),
            np.vstack([part.mean for part in parts]).astype(kind),
            np.concatenate([part.overall for part in parts]).astype(kind),
            np.vstack([part.difference for part in parts]),
            kinds,
        )

    @property
    def explained(self) -> Floats:
        """Share of the spread of every feature that is explained by each cluster: contribution times score."""
        return np.asarray(self.contribution * self.scores[:, None])

    def frame(self) -> pd.DataFrame:
        """A row for each chosen feature and cluster, the features of highest score first."""
        import pandas as pd

        s, k = self.contribution.shape
        return pd.DataFrame(
            {
                "feature": np.repeat(np.array(self.features, dtype=object), k),
                "cluster": np.tile(np.arange(k), s),
                "contribution": self.contribution.ravel(),
                "mean": self.mean.ravel(),
                "overall mean": np.repeat(self.overall, k),
                "difference": self.difference.ravel(),
                "explained": self.explained.ravel(),
            }
        )

    def plot(self, axes: Any = None, max_features: int = MOST_BARS) -> Any:
        """For each cluster a bar chart of the features that it explains most of; returns the matplotlib axes."""
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
        explained = self.explained[:, cluster]
        top = np.argsort(-explained, kind="stable")[:bars]
        top = top[: max(1, np.count_nonzero(explained[top] >= LEAST_SHOWN))]
        at = np.arange(top.size)
        ax.barh(at, self.scores[top], 0.7, color=GRAY)
        ax.barh(at, explained[top], 0.7, color=style_of(cluster)[0])
        ax.set_yticks(at, [plain(self.features[a]) for a in top.tolist()], fontsize="small")
        ax.set(xlim=(0.0, 1.0), ylim=(bars - 0.4, -0.6))
        ax.set_xlabel("explained share of the feature", fontsize="small")
        ax.tick_params(axis="x", labelsize="small")
        right = ax.secondary_yaxis("right")
        right.set_yticks(at, [self._words(a, cluster) for a in top.tolist()], fontsize="x-small")
        right.tick_params(length=0)
        right.set_ylabel("typical in the cluster", fontsize="x-small")

    def _words(self, feature: int, cluster: int) -> str:
        """What the cluster is like in a feature: 5.1 (all 3.2), red (+34 % of samples), high (+1.2 ranks)."""
        mean, more = self.mean[feature, cluster], self.difference[feature, cluster]
        if self.kinds[feature] == "number":
            return f"{in_units(mean, more)} (all {in_units(self.overall[feature], more)})"
        return f"{plain(mean, 14)} ({f'{more:+.0%} of samples' if self.kinds[feature] == 'level' else f'{more:+.1f} ranks'})"


def in_units(value: float, difference: float) -> str:
    """A number with the digits that a difference of this size needs.

    >>> in_units(1.2346, 0.5), in_units(-0.0001, 0.5), in_units(1e12 + 1, 1.0), in_units(1234.6, 600.0)
    ('1.235', '0.000', '1,000,000,000,001.00', '1,235')
    """
    if not np.isfinite(value) or not difference or abs(difference) >= LARGE:
        return f"{value:.3g}"
    digits = int(np.clip(2 - np.floor(np.log10(abs(difference))), 0, 12))
    return f"{round(value, digits) + 0.0:,.{digits}f}" if digits < MOST_DIGITS else f"{value:.3g}"


class Part(NamedTuple):
    """What a few columns are like, features x clusters: between sums of squares, middles, differences."""

    between: Floats
    mean: npt.NDArray[Any]
    overall: npt.NDArray[Any]
    difference: Floats


def _of_block(data: Clustered, columns: Subset) -> Part:
    table, labels, k = data.block(columns), data.labels, data.sizes.size
    mean = means(table, labels, k).T
    overall = means(table, np.zeros_like(labels), 1)[0]
    seen = np.array([(~np.isnan(table[labels == c])).sum(axis=0) for c in range(k)]).T
    difference = np.nan_to_num(mean - overall[:, None])
    largest = np.abs(difference).max(axis=1, keepdims=True, initial=0.0)
    # Only shares of the sum count, so the largest difference is 1 and squares stay within range.
    between = seen * (difference / np.where(largest > 0, largest, 1.0)) ** 2
    part = Part(between, mean.astype(object), overall.astype(object), difference)
    for j, a in enumerate(columns.tolist()):
        of = data.columns[a]
        if of.levels is not None:
            part.mean[j] = [middle(table[labels == c, j], of) for c in range(k)]
            part.overall[j] = middle(table[:, j], of)
        if data.is_level(a):
            part.between[j], part.difference[j] = _of_levels(table[:, j], labels, k, of)
    return part


def _of_levels(codes: Floats, labels: Subset, k: int, column: Column) -> tuple[Floats, Floats]:
    """Of each cluster n_k sum_l (q_kl - q_l)^2, and the share of its commonest level less that in all."""
    assert column.levels is not None
    seen = ~np.isnan(codes)
    counts = np.zeros((k, len(column.levels)))
    np.add.at(counts, (labels[seen], codes[seen].astype(int)), 1.0)
    n_seen = counts.sum(axis=1)
    shares = counts / np.maximum(n_seen, 1.0)[:, None]
    overall = counts.sum(axis=0) / max(n_seen.sum(), 1.0)
    commonest = np.argmax(counts, axis=1)
    between = n_seen * ((shares - overall) ** 2).sum(axis=1)
    return between, shares[np.arange(k), commonest] - overall[commonest]
