"""Hierarchical clustering: the tree of merges, cut where k clusters are left."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.cluster.hierarchy import linkage as merge
from scipy.spatial.distance import squareform

from ..features.base import Floats, Labels, dissimilarity
from .base import Clusterer, Task, named_like

Linkage = Literal["average", "complete", "ward"]


class Hierarchical(Clusterer):
    """The two nearest clusters are merged until k are left.

    How far apart two clusters are: the mean of D_S(i, j) between them ("average"), the largest ("complete"), or by how
    much their merger raises the within sum of squares ("ward"), which has a meaning only for coordinates. Nothing is
    random, and the clusters do not depend on `warm`, only their names.
    """

    def __init__(self, linkage: Linkage = "average") -> None:
        if linkage not in ("average", "complete", "ward"):
            raise ValueError(f'linkage must be one of "average", "complete", "ward"; got {linkage!r}.')
        self.linkage = linkage
        self.needs = "rows" if linkage == "ward" else "pairs"

    def solve(self, task: Task) -> Labels:
        gaps = squareform(dissimilarity(task.features.pairs(task.subset).similarity), checks=False)
        # SciPy's Ward takes distances, and D is a sum of their squares.
        labels = cut(merge(np.sqrt(gaps) if self.linkage == "ward" else gaps, self.linkage), task.n_clusters)
        return named_like(labels, task.warm, task.n_clusters)


def cut(merges: Floats, n_clusters: int) -> Labels:
    """Labels after the first n - k merges: exactly k clusters, also where SciPy's fcluster gives fewer for ties."""
    n = len(merges) + 1
    made = n - n_clusters
    # Merge m makes cluster n + m of two parts. From the last merge back, each part gets the name that its whole has.
    names = np.arange(n + made)
    for m, (left, right) in reversed(list(enumerate(merges[:made, :2].astype(np.intp).tolist()))):
        names[left] = names[right] = names[n + m]
    return np.unique(names[:n], return_inverse=True)[1].astype(np.int32)
