"""The features ranked by score, and the cut between the chosen features and the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats
from ._display import Display
from ._style import GRAY, MANY_MARKS, STYLES, counted, legend_above, own_axes, plain
from .view import View

if TYPE_CHECKING:
    import pandas as pd

# Up to this many features, all names are written below the axis. If there are more, only the best are listed.
ALL_NAMED, LISTED = 40, 10
# From this many features on, the ranks are on a log scale, because the first ones matter most.
LOG_FROM = 100


@dataclass(frozen=True)
class FeatureScores(Display):
    """The features ranked by score, which is the share 1 - Delta_a[C] / T_a that the clusters explain.

    Attributes
    ----------
    features : tuple of str
        Names of the features, from the highest score to the lowest.
    scores : ndarray of shape (n_features,)
        Scores of the features, in [0, 1].
    chosen : ndarray of bool of shape (n_features,)
        Whether each feature is chosen.
    weights : ndarray of shape (n_features,) or None
        Weights of the features, for methods that have weights.
    core : ndarray of bool of shape (n_features,) or None
        Whether each feature is one of those that are enough to find the clusters again; None if they were not sought.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import FeatureScores
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=3, group_size=10)
    >>> est = SASClustering(n_clusters=3, n_features_to_select=3).fit(X)
    >>> FeatureScores.from_estimator(est).frame().head(4).round(2).rename_axis(None)
      feature  score  chosen   core
    1      x0   0.83    True   True
    2      x1   0.78    True   True
    3      x2   0.74    True   True
    4     x25   0.30   False  False
    """

    features: tuple[str, ...]
    scores: Floats
    chosen: npt.NDArray[np.bool_]
    weights: Floats | None = None
    core: npt.NDArray[np.bool_] | None = None

    _needs_table = False

    @classmethod
    def from_view(cls, view: View) -> Self:
        """Make the display from a view.

        Parameters
        ----------
        view : View
            View of a fitted clustering, as returned by `inspect`.

        Returns
        -------
        FeatureScores
        """
        order = np.argsort(-view.scores, kind="stable")
        names = tuple(view.names[a] for a in order.tolist())
        weights = None if view.weights is None else view.weights[order]
        core = None if view.core is None else view.is_core[order]
        return cls(names, view.scores[order], view.is_chosen[order], weights, core)

    def frame(self) -> pd.DataFrame:
        """Return the scores as a table.

        Returns
        -------
        pandas.DataFrame
            One row per feature, by rank: its name, its score, whether it is chosen, whether it is one of the core
            features if they were sought, and its weight if there are any.
        """
        import pandas as pd

        rank = pd.RangeIndex(1, len(self.features) + 1, name="rank")
        columns = {"feature": list(self.features), "score": self.scores, "chosen": self.chosen}
        columns |= {} if self.core is None else {"core": self.core}
        columns |= {} if self.weights is None else {"weight": self.weights}
        return pd.DataFrame(columns, index=rank)

    @property
    def is_cut(self) -> bool:
        """Whether the chosen features have the highest scores, so that a line separates them from the others."""
        n_chosen = int(self.chosen.sum())
        return bool(self.chosen[:n_chosen].all()) and n_chosen < self.chosen.size

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores by rank, with the names of the best features.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        p = len(self.features)
        all_named = p <= ALL_NAMED
        longest = max(map(len, map(plain, self.features))) if all_named else 0
        ax = own_axes(ax, max(6.0, 0.25 * p) if all_named else 7.0, 4.0 + 0.06 * longest)
        rank = np.arange(1, p + 1)
        for label, part, (color, mark, _) in self._parts():
            if part.any():
                many = bool(part.sum() > MANY_MARKS)
                size = 5 if p <= LOG_FROM else 3
                label = f"{label} ({part.sum():,})"
                ax.plot(rank[part], self.scores[part], mark, color=color, ms=size, label=label, rasterized=many)
        if self.is_cut:
            n_chosen = int(self.chosen.sum())
            cut = n_chosen + 0.5
            ax.axvline(cut, color="0.2", ls="--", lw=1.0, label=f"cut after {counted(n_chosen, 'feature')}")
        top = max(1.0, float(self.scores.max(initial=0.0)))
        ax.set(ylim=(-0.02, 1.04 * top), ylabel="score (share explained)")
        handles = [*ax.get_lines(), *self._plot_weights(ax, rank)]
        self._name(ax, all_named)
        legend_above(ax, handles)
        return ax

    def _parts(self) -> Iterator[tuple[str, npt.NDArray[np.bool_], tuple[str, str, Any]]]:
        """Yield features that look the same: the label and the style of their markers, and a mask."""
        yield "not chosen", ~self.chosen, (GRAY, "o", "-")
        if self.core is None:
            yield "chosen", self.chosen, STYLES[0]
        else:
            yield "other chosen", self.chosen & ~self.core, STYLES[0]
            yield "core", self.core, STYLES[2]

    def _plot_weights(self, ax: Any, rank: Any) -> list[Any]:
        """Draw the weights, with an axis on the right."""
        if self.weights is None:
            return []
        used, (color, mark, _) = self.weights > 0, STYLES[1]
        right = ax.twinx()
        many = bool(used.sum() > MANY_MARKS)
        lines = right.plot(
            rank[used], self.weights[used], mark, mfc="none", color=color, ms=4, label="weight", rasterized=many
        )
        right.set(ylim=(0.0, 1.04 * float(self.weights.max(initial=0.0)) or 1.0))
        right.set_ylabel("weight in the clustering", color=color)
        return lines

    def _name(self, ax: Any, all_named: bool) -> None:
        """Write the names on the axis if there is room, or else list the best ones where the curve is low."""
        p = len(self.features)
        if all_named:
            names = [plain(name) for name in self.features]
            ax.set_xticks(range(1, p + 1), names, rotation=90, fontsize="small")
            ax.set(xlim=(0.3, p + 0.7), xlabel="feature, by score")
            return
        ax.set(xscale="log" if p >= LOG_FROM else "linear", xlabel="rank of the feature")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        best = [
            f"{score:.2f}  {plain(name)}"
            for name, score in zip(self.features[:LISTED], self.scores[:LISTED], strict=True)
        ]
        box = {"facecolor": "white", "edgecolor": "0.8", "alpha": 0.85, "boxstyle": "round"}
        words = {
            "ha": "right",
            "va": "top",
            "multialignment": "left",
            "fontsize": "x-small",
            "linespacing": 1.3,
            "bbox": box,
        }
        ax.text(0.985, 0.97, "\n".join(["highest scores", *best]), transform=ax.transAxes, **words)
