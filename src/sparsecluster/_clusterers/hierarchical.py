"""Hierarchical clustering: a tree of merges, cut where k clusters are left."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.spatial.distance import squareform

from .._features.features import Features, dissimilarity
from .._utils.arrays import Floats, Labels, Subset
from .._utils.text import brief
from .clusterer import Clusterer, Task, named_like

Linkage = Literal["average", "complete", "single", "weighted", "centroid", "median", "ward"]
LINKAGES = ("average", "complete", "single", "weighted", "centroid", "median", "ward")
# The linkages that are defined only for squared distances between coordinates.
ON_COORDINATES = ("centroid", "median", "ward")


class Hierarchical(Clusterer):
    """Agglomerative clustering: the two nearest clusters are merged until k are left.

    The dissimilarity of two clusters is the mean of D_S(i, j) between them ("average"), the largest ("complete"), the
    smallest ("single"), or the increase of the within-cluster sum of squares if they are merged ("ward"). "weighted",
    "centroid" and "median" are as in SciPy. The result is deterministic; `warm` affects only the numbering of the
    clusters.
    """

    def __init__(self, linkage: Linkage = "average") -> None:
        if linkage not in LINKAGES:
            listed = ", ".join(f'"{word}"' for word in LINKAGES)
            raise ValueError(f"linkage must be one of {listed}; got {brief(linkage)}.")
        self.linkage = linkage
        self.needs = "rows" if linkage in ON_COORDINATES else "pairs"

    def solve(self, task: Task) -> Labels:
        labels = cut(merges(task.features, task.subset, self.linkage), task.n_clusters)
        return named_like(labels, task.warm, task.n_clusters)


def merges(features: Features, subset: Subset, linkage: Linkage) -> Floats:
    """The tree, with one row per merge in SciPy's format and heights in the units of D_S."""
    # Not loaded by fits that do not need it.
    from scipy.cluster.hierarchy import linkage as merge

    apart = squareform(dissimilarity(features.pairs(subset).similarity), checks=False)
    if linkage not in ON_COORDINATES:
        return merge(apart, linkage)
    # SciPy expects distances here, and D is a sum of squared ones.
    tree = merge(np.sqrt(apart), linkage)
    tree[:, 2] **= 2
    return tree


def cut(tree: Floats, n_clusters: int) -> Labels:
    """Labels after the first n - k merges: exactly k clusters, even where ties make SciPy's fcluster return fewer."""
    n = len(tree) + 1
    made = n - n_clusters
    # Merge m joins two parts into cluster n + m. From the last merge backwards, each part takes the name of its whole.
    names = np.arange(n + made)
    for m, (left, right) in reversed(list(enumerate(tree[:made, :2].astype(np.intp).tolist()))):
        names[left] = names[right] = names[n + m]
    return np.unique(names[:n], return_inverse=True)[1].astype(np.int32)
