"""What an assessment says of clusters, samples, features and pairs: `.frame()` has the data, `.plot()` draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats, Subset
from ..inspection._style import GRAY, legend_above, look_of, own_axes, plain
from ._pairs import Pairs
from ._selection import expected_false
from ._stability import DISSOLVED, RECOVERED

if TYPE_CHECKING:
    import pandas as pd

# Samples in a picture of the consensus, and features in a picture of features.
MOST_DRAWN_SAMPLES, MOST_DRAWN_FEATURES = 300, 25
BLUE = "#0072B2"


@dataclass(frozen=True)
class ClusterStability:
    """How sure each cluster is.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters,)
        Number of samples.
    stability : ndarray of shape (n_clusters,)
        Mean over the subsamples of the largest Jaccard similarity with one of their clusters.
    recovered, dissolved : ndarray of shape (n_clusters,)
        Share of the subsamples with a Jaccard similarity of at least 0.75, and of at most 0.5.
    shows_groups : bool
        Whether the tests have shown groups. If not, no cluster is solid: cutting one group into pieces can be stable.
    """

    sizes: Subset
    stability: Floats
    recovered: Floats
    dissolved: Floats
    shows_groups: bool

    @property
    def words(self) -> tuple[str, ...]:
        """For each cluster "solid", "doubtful" or "dissolved"."""
        return tuple(
            "dissolved" if each < DISSOLVED else "solid" if each >= RECOVERED and self.shows_groups else "doubtful"
            for each in self.stability.tolist()
        )

    def frame(self) -> pd.DataFrame:
        """One row per cluster.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        columns = {
            "size": self.sizes,
            "stability": self.stability,
            "recovered": self.recovered,
            "dissolved": self.dissolved,
            "verdict": self.words,
        }
        return pd.DataFrame(columns, index=pd.Index(np.arange(self.sizes.size), name="cluster"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the stability of each cluster, with the limits of solid and dissolved clusters.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        ax = own_axes(ax, 6, 0.5 + 0.45 * self.sizes.size)
        k = self.sizes.size
        ax.barh(np.arange(k), self.stability, 0.6, color=[look_of(c)[0] for c in range(k)])
        for limit in (DISSOLVED, RECOVERED):
            ax.axvline(limit, color="0.2", ls=":")
        names = [f"cluster {c}: {word}" for c, word in enumerate(self.words)]
        ax.set(yticks=np.arange(k), yticklabels=names, xlim=(0, 1), xlabel="stability (Jaccard similarity)")
        ax.invert_yaxis()
        return ax


@dataclass(frozen=True)
class SampleStability:
    """How sure each sample is.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample; -1 if it is in none.
    confidence : ndarray of shape (n_samples,)
        Share of the subsamples with this sample in which it keeps its cluster; NaN if it was not assessed.
    second : ndarray of shape (n_samples,)
        The other cluster in which it is most often; -1 if there is none.
    assessed : ndarray of shape (n_assessed,)
        Positions of the samples in `consensus`.
    consensus : ndarray of shape (n_assessed, n_assessed)
        Share of the subsamples with both samples in which they are in the same cluster.
    """

    labels: npt.NDArray[Any]
    confidence: Floats
    second: Subset
    assessed: Subset
    consensus: Floats

    def frame(self) -> pd.DataFrame:
        """One row per sample.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        columns = {"cluster": self.labels, "confidence": self.confidence, "second_cluster": self.second}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.labels.size, name="sample"))

    @property
    def order(self) -> Subset:
        """Places in `assessed` in the order of the picture: by cluster, the surest samples first, and at most 300."""
        labels, sure = self.labels[self.assessed], np.nan_to_num(self.confidence[self.assessed])
        order = np.lexsort((-sure, labels))
        if order.size > MOST_DRAWN_SAMPLES:
            order = order[np.linspace(0, order.size - 1, MOST_DRAWN_SAMPLES).round().astype(int)]
        return order

    def plot(self, ax: Any = None) -> Any:
        """Draw the consensus matrix, with the samples in the order of the clusters.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        ax = own_axes(ax, 5.5, 4.6)
        order = self.order
        image = ax.imshow(self.consensus[np.ix_(order, order)], vmin=0, vmax=1, cmap="Blues", interpolation="nearest")
        ends = np.flatnonzero(np.diff(self.labels[self.assessed][order])) + 0.5
        for end in ends.tolist():
            ax.axhline(end, color="0.3", lw=0.6)
            ax.axvline(end, color="0.3", lw=0.6)
        ax.set(xticks=[], yticks=[], xlabel="samples, by cluster", title="together in subsamples")
        ax.figure.colorbar(image, ax=ax, label="share of the subsamples")
        return ax


@dataclass(frozen=True)
class FeatureEvidence:
    """How sure each feature is; all arrays have shape (n_columns,), and are NaN for columns that were left out.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    chosen : ndarray of bool
        Whether the clustering has chosen each feature.
    frequency : ndarray
        Share of the halves of the samples in which the feature is chosen.
    q : ndarray
        Smallest false discovery rate at which the feature is listed, by tests on held-out samples (Benjamini and
        Hochberg); 1 for all features if the tests do not show groups.
    effect, low, high : ndarray
        Share of the feature that the clusters of held-out samples explain, and its 95 % confidence interval; Cramer's V
        squared for levels.
    q_mirror, q_contrast : ndarray
        The same as `q` by mirror statistics of halves, and by contrasts with a synthetic table with one group. They are
        given for comparison: both are less reliable if features depend on each other.
    fdr : float
        False discovery rate of the list.
    mean_chosen : float
        Mean number of features that are chosen in a half.
    n_splits : int
        Number of pairs of halves.
    """

    names: tuple[str, ...]
    chosen: npt.NDArray[np.bool_]
    frequency: Floats
    q: Floats
    effect: Floats
    low: Floats
    high: Floats
    q_mirror: Floats
    q_contrast: Floats
    fdr: float
    mean_chosen: float
    n_splits: int

    @property
    def listed(self) -> npt.NDArray[np.bool_]:
        """Mask of the features in the list, those with a q-value of at most `fdr`."""
        return np.nan_to_num(self.q, nan=1.0) <= self.fdr

    @property
    def order(self) -> Subset:
        """The features, the surest first: by q-value, then by effect."""
        return np.lexsort((-np.nan_to_num(self.effect), np.nan_to_num(self.q, nan=2.0)))

    def stable(self, threshold: float = 0.75) -> tuple[npt.NDArray[np.bool_], float, float]:
        """The features that are chosen in at least this share of the halves, and bounds on how many are so by chance.

        Parameters
        ----------
        threshold : float, default=0.75
            The share, above 1/2.

        Returns
        -------
        stable : ndarray of shape (n_columns,), dtype=bool
            Mask of the features.
        general, unimodal : float
            Bounds on the expected number of false ones: that of Meinshausen and Buehlmann, and the sharper one of Shah
            and Samworth for unimodal frequencies.
        """
        n_features = int((~np.isnan(self.frequency)).sum())
        bounds = expected_false(threshold, self.mean_chosen, n_features, self.n_splits)
        return np.nan_to_num(self.frequency) >= threshold, *bounds

    def frame(self) -> pd.DataFrame:
        """One row per feature, the surest first.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        order = self.order
        names = ("chosen", "frequency", "q", "effect", "low", "high", "q_mirror", "q_contrast")
        columns = {name: getattr(self, name)[order] for name in names}
        return pd.DataFrame(columns, index=pd.Index([self.names[a] for a in order.tolist()], name="feature"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the effect of the surest features with its interval, and how often they are chosen.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        ax = own_axes(ax, 6.5, 1.2 + 0.26 * min(len(self.names), MOST_DRAWN_FEATURES))
        shown = self.order[:MOST_DRAWN_FEATURES]
        at, listed = np.arange(shown.size), self.listed[shown]
        for mask, color in ((listed, BLUE), (~listed, GRAY)):
            ax.hlines(at[mask], self.low[shown][mask], self.high[shown][mask], color=color)
            ax.plot(self.effect[shown][mask], at[mask], "o", color=color, ms=5)
        often = ax.plot(self.frequency[shown], at, "|", color="black", ms=9, label="share of halves that choose it")
        names = [plain(self.names[a]) for a in shown.tolist()]
        ax.set(yticks=at, yticklabels=names, xlim=(-0.02, 1.02), xlabel="share explained in held-out samples")
        ax.invert_yaxis()
        legend_above(ax, often)
        return ax


@dataclass(frozen=True)
class PairDifferences:
    """Which pairs of clusters each feature separates, in samples that were held out.

    Attributes
    ----------
    features : tuple of str
        Names of the features, the surest first: those that are listed or chosen.
    first, second : ndarray of shape (n_pairs,)
        The clusters of each pair.
    difference, low, high : ndarray of shape (n_features, n_pairs)
        Difference of the means, first minus second, in the units of the table, and its 95 % confidence interval; NaN
        for levels.
    q : ndarray of shape (n_features, n_pairs)
        Smallest false discovery rate at which the difference is listed, among all features and pairs; 1 if the tests do
        not show groups.
    """

    features: tuple[str, ...]
    first: Subset
    second: Subset
    difference: Floats
    low: Floats
    high: Floats
    q: Floats

    @classmethod
    def of(cls, pairs: Pairs | None, features: FeatureEvidence, columns: Subset, shows_groups: bool) -> Self:
        """Make it from the differences of the columns that were used."""
        if pairs is None:
            nothing = np.zeros((0, 0))
            return cls((), np.zeros(0, int), np.zeros(0, int), nothing, nothing, nothing, nothing)
        places = np.full(len(features.names), -1)
        places[columns] = np.arange(columns.size)
        is_wanted = (places >= 0) & (features.listed | features.chosen)
        wanted = features.order[is_wanted[features.order]]
        at = places[wanted]
        q = pairs.q[at] if shows_groups else np.ones((at.size, pairs.first.size))
        names = tuple(features.names[a] for a in wanted.tolist())
        return cls(names, pairs.first, pairs.second, pairs.difference[at], pairs.low[at], pairs.high[at], q)

    def frame(self) -> pd.DataFrame:
        """One row per feature and pair.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        n_pairs = self.first.size
        return pd.DataFrame(
            {
                "feature": np.repeat(np.array(self.features, dtype=object), n_pairs),
                "first": np.tile(self.first, len(self.features)),
                "second": np.tile(self.second, len(self.features)),
                "difference": self.difference.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
                "q": self.q.ravel(),
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw which pairs the surest features separate, darker for smaller q-values.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        ax = own_axes(ax, 6, 1.2 + 0.26 * min(len(self.features), MOST_DRAWN_FEATURES))
        q = self.q[:MOST_DRAWN_FEATURES]
        image = ax.imshow(-np.log10(np.maximum(q, 1e-6)), vmin=0, vmax=6, cmap="Blues", aspect="auto")
        pairs = [f"{c} and {d}" for c, d in zip(self.first.tolist(), self.second.tolist(), strict=True)]
        ax.set(xticks=np.arange(len(pairs)), xticklabels=pairs, xlabel="clusters", yticks=np.arange(len(q)))
        ax.set_yticklabels([plain(name) for name in self.features[: len(q)]])
        ax.figure.colorbar(image, ax=ax, label="-log10 q")
        return ax
