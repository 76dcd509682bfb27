"""The history of a fit: the objective after each pass, and the changes in each pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._utils.arrays import Floats, Subset
from ._display import Display
from ._style import STYLES, legend_above, own_axes
from .view import View

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class History(Display):
    """The objective after each pass of the best run of a fit.

    Attributes
    ----------
    objective : ndarray of shape (n_passes,)
        Objective after the start, which counts as the first pass, and after each later pass. For SAS clustering, it is
        sum_{a in S} (1 - Delta_a[C] / T_a).
    samples_moved, features_changed : ndarray of shape (n_passes,) or None
        Number of samples that changed their cluster and number of features that were exchanged in each pass; None for
        methods that do not count them.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import History
    >>> X, *_ = shifted_groups(mu=0.8, n_features=100, n_useful=10, group_size=10)
    >>> est = SASClustering(n_clusters=3, n_features_to_select=10, n_init=1, consensus=False).fit(X)
    >>> history = History.from_estimator(est)
    >>> len(history.frame()) == est.n_iter_, bool(history.objective[-1] == est.objective_)
    (True, True)
    """

    objective: Floats
    samples_moved: Subset | None = None
    features_changed: Subset | None = None

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
        History
        """
        history = view.history
        if history is None:
            raise ValueError(
                f"{view.method} keeps no history. Use SASClustering, SparseKMeans, SparseKMedoids or "
                "SparseHierarchical, which do."
            )
        if not hasattr(history[0], "objective"):
            return cls(np.array(history, dtype=np.float64))
        objective, moved, changed = zip(*history, strict=True)
        return cls(np.array(objective), np.array(moved, np.intp), np.array(changed, np.intp))

    def frame(self) -> pd.DataFrame:
        """Return the history as a table.

        Returns
        -------
        pandas.DataFrame
            One row per pass, with the objective and, if they are counted, the samples moved and the features changed.
        """
        import pandas as pd

        passes = pd.RangeIndex(1, self.objective.size + 1, name="pass")
        columns = {"objective": self.objective, "samples_moved": self.samples_moved}
        columns["features_changed"] = self.features_changed
        return pd.DataFrame({name: each for name, each in columns.items() if each is not None}, index=passes)

    def plot(self, ax: Any = None) -> Any:
        """Draw the objective as a line, and the changes as bars with an axis on the right.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib.ticker import MaxNLocator

        ax = own_axes(ax, 6.0, 3.6)
        passes = np.arange(1, self.objective.size + 1)
        (color, mark, _), *others = STYLES
        handles = ax.plot(passes, self.objective, color=color, marker=mark, label="objective", zorder=3)
        ax.set(xlabel="pass (1 is the start)", ylabel="objective", xlim=(0.4, passes.size + 0.6))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        changes = {"samples moved": self.samples_moved, "features changed": self.features_changed}
        counts = {label: each for label, each in changes.items() if each is not None}
        if any(each.any() for each in counts.values()):
            right = ax.twinx()
            for place, ((label, each), (shade, _, _), hatch) in enumerate(
                zip(counts.items(), others[1:], ("", "///"), strict=False)
            ):
                at = passes + 0.3 * (place - 0.5)
                bars = right.bar(at, each, 0.3, color=shade, alpha=0.6, hatch=hatch, edgecolor="white", label=label)
                handles = [*handles, bars]
            # The line needs room above the bars.
            right.set(
                ylim=(0, max(1.0, 1.6 * max(int(each.max()) for each in counts.values()))), ylabel="samples, features"
            )
            right.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
            ax.set_zorder(right.get_zorder() + 1)
            ax.patch.set_visible(False)
        legend_above(ax, handles)
        return ax
