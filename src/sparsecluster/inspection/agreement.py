"""The agreement between several labelings of the same samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats
from ..methods._result import OUTLIER
from ..metrics import adjusted_rand_index, agreement_matrix
from ._style import own_axes, plain
from .view import View

if TYPE_CHECKING:
    import pandas as pd

# With more labelings than this, the numbers would overlap.
MOST_NUMBERS = 20
# Numbers are white on cells with a smaller value, which are dark.
DARK_BELOW = 0.55


def in_clusters(*labelings: npt.ArrayLike) -> list[npt.NDArray[Any]]:
    """Return several labelings of those samples that are in a cluster in all of them.

    >>> [labels.tolist() for labels in in_clusters([0, 1, -1, 1], ["a", "b", "c", "d"])]
    [[0, 1, 1], ['a', 'b', 'd']]
    """
    given = [np.asarray(labels) for labels in labelings]
    inside = [labels != OUTLIER for labels in given if labels.dtype.kind in "iu"]
    if not inside or len({labels.shape for labels in given}) > 1:
        return given
    return [labels[np.all(inside, axis=0)] for labels in given]


def agreement_in_clusters(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return the adjusted Rand index of two labelings, for the samples that are in a cluster in both."""
    return adjusted_rand_index(*in_clusters(one, other))


@dataclass(frozen=True)
class Agreement:
    """Adjusted Rand index of each pair of labelings: 1 if they are identical, about 0 if they agree only by chance.

    Samples with the label -1 are in no cluster. They are left out of the pairs of labelings in which they have it.

    Attributes
    ----------
    names : tuple of str
        Names of the labelings.
    matrix : ndarray of shape (n_labelings, n_labelings)
        Adjusted Rand index of each pair.

    Examples
    --------
    >>> from sparsecluster.inspection import Agreement
    >>> Agreement.from_labels({"truth": [0, 0, 1, 1], "same": [1, 1, 0, 0], "other": [0, 1, 0, 1]}).frame()
           truth  same  other
    truth    1.0   1.0   -0.5
    same     1.0   1.0   -0.5
    other   -0.5  -0.5    1.0
    """

    names: tuple[str, ...]
    matrix: Floats

    @classmethod
    def from_labels(cls, labelings: Mapping[str, npt.ArrayLike]) -> Self:
        """Make the display from labels.

        Parameters
        ----------
        labelings : dict of str to array-like of shape (n_samples,)
            Names and labels of the labelings, all of the same samples.

        Returns
        -------
        Agreement
        """
        if not labelings:
            raise ValueError("labelings must be a dictionary of name: labels with at least one entry; it is empty.")
        return cls(tuple(labelings), agreement_matrix(list(labelings.values()), agreement_in_clusters))

    @classmethod
    def from_views(cls, views: Mapping[str, View]) -> Self:
        """Make the display from views.

        Parameters
        ----------
        views : dict of str to View
            Names and views of fitted clusterings, all of the same samples.

        Returns
        -------
        Agreement
        """
        return cls.from_labels({name: view.labels for name, view in views.items()})

    def frame(self) -> pd.DataFrame:
        """Return the matrix as a table.

        Returns
        -------
        pandas.DataFrame
            One row and one column per labeling.
        """
        import pandas as pd

        return pd.DataFrame(self.matrix, index=list(self.names), columns=list(self.names))

    def plot(self, ax: Any = None) -> Any:
        """Draw the matrix as an image with numbers.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        n = len(self.names)
        if not n:
            raise ValueError("There are no labelings to draw, because all methods failed.")
        size = 0.55 * n + 2.5
        ax = own_axes(ax, size + 0.8, size)
        image = ax.imshow(self.matrix, vmin=0, vmax=1, cmap="cividis")
        names = [plain(name) for name in self.names]
        ax.set_xticks(range(n), names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(n), names)
        for i, row in enumerate(self.matrix if n <= MOST_NUMBERS else []):
            for j, value in enumerate(row):
                # Values are rounded first, so that none is shown as -0.00.
                text, color = f"{round(float(value), 2) + 0.0:.2f}", "white" if value < DARK_BELOW else "black"
                ax.text(j, i, text, ha="center", va="center", color=color, fontsize="small")
        below = "min" if self.matrix.min(initial=0.0) < 0 else "neither"
        ax.figure.colorbar(image, ax=ax, label="adjusted Rand index", extend=below, shrink=0.9)
        return ax
