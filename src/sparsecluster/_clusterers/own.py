"""A user's own clusterer: any object with fit_predict, as scikit-learn's clusterers have it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from .._features.base import Coordinates, Features, Floats, Labels, SparseRows, Subset, dissimilarity
from .base import Clusterer, Task, named_like
from .spectral import gaussian_affinity

# What an object is given, and the parameters that ask for pairs by the value "precomputed".
Input = Literal["rows", "dissimilarity", "affinity"]
PRECOMPUTED: dict[str, Input] = {
    "metric": "dissimilarity",
    "dissimilarity": "dissimilarity",
    "affinity": "affinity",
    "kernel": "affinity",
}
# What an object may call the number of clusters.
COUNTS = ("n_clusters", "n_components")
# What it calls its seed, and how many there are: those from 0 to 2^31 - 1 are taken everywhere.
SEED, SEEDS = "random_state", 2**31


class Own(Clusterer):
    """Groups samples by a copy of `method`, an object whose `fit_predict` returns one label a sample.

    It is given the coordinates of the samples, n x q; D_S, n x n, if its `metric` or `dissimilarity` is "precomputed";
    or the Gaussian affinity of D_S if its `affinity` or `kernel` is. Where it has `n_clusters` (or else
    `n_components`) this is set to k, and every `random_state` is set from `rng`. Whether it tries several starts is
    its own affair, and of `warm` it gets only the names of the clusters.
    """

    def __init__(self, method: Any) -> None:
        if isinstance(method, type) or not callable(getattr(method, "fit_predict", None)):
            raise TypeError(
                "clusterer must be a name or an object with a method fit_predict, such as "
                f"sklearn.cluster.KMeans(); got {method!r}."
            )
        self.method = method
        self.input = input_of(method)
        self.needs = "rows" if self.input == "rows" else "pairs"

    def solve(self, task: Task) -> Labels:
        method = prepared(self.method, task.n_clusters, task.rng)
        labels = np.asarray(method.fit_predict(self._seen(task.features, task.subset)))
        labels = renumbered(labels, task.features.n_samples, task.n_clusters, type(method).__name__)
        return named_like(labels, task.warm, task.n_clusters)

    def _seen(self, features: Features, subset: Subset) -> Floats:
        """What `fit_predict` is given."""
        if self.input == "rows":
            return dense(features.rows(subset))
        apart = dissimilarity(features.pairs(subset).similarity)
        return gaussian_affinity(apart) if self.input == "affinity" else apart


def parameters(method: Any) -> dict[str, Any]:
    """Parameters by name: those of get_params, nested ones too, or else the attributes that we know how to use."""
    if hasattr(method, "get_params"):
        return method.get_params()
    return {name: getattr(method, name) for name in (*PRECOMPUTED, *COUNTS, SEED) if hasattr(method, name)}


def input_of(method: Any) -> Input:
    """What the object wants to be given."""
    given = parameters(method)
    asked = (name for name in PRECOMPUTED if isinstance(given.get(name), str) and given[name] == "precomputed")
    return next((PRECOMPUTED[name] for name in asked), "rows")


def prepared(method: Any, n_clusters: int, rng: np.random.Generator) -> Any:
    """A copy for one call, told the number of clusters and the seeds. The object itself is never changed."""
    names = parameters(method)
    count = [name for name in COUNTS if name in names][:1]
    seeds = [name for name in names if name.rpartition("__")[2] == SEED]
    settings = dict.fromkeys(count, n_clusters) | {name: int(rng.integers(SEEDS)) for name in seeds}
    if hasattr(method, "get_params"):
        from sklearn.base import clone

        return clone(method).set_params(**settings)
    copy = deepcopy(method)
    for name, value in settings.items():
        setattr(copy, name, value)
    return copy


def dense(rows: Coordinates) -> Floats:
    """Coordinates, n x q, whose squared distances are D_S: columns times the root of their weight, none with weight 0.

    Where a coordinate is not known it is 0, the mean of those known.
    """
    used = np.flatnonzero(rows.weights)
    if isinstance(rows, SparseRows):
        shape = rows.starts.size - 1, rows.means.size
        table = csr_array((rows.values, rows.columns, rows.starts), shape=shape)[:, used].toarray() - rows.means[used]
    else:
        table = rows.table[:, used]
    return np.asarray(table * np.sqrt(rows.weights[used]), np.float64)


def renumbered(labels: npt.NDArray[Any], n_samples: int, n_clusters: int, name: str) -> Labels:
    """Labels 0..k-1 for labels of any values; refused if they are not one a sample and k different ones."""
    if labels.shape != (n_samples,):
        raise ValueError(
            f"{name}.fit_predict must return one label for each of the {n_samples} samples; "
            f"got an array of shape {labels.shape}. Return a flat array in the order of the rows."
        )
    values, numbers = np.unique(labels, return_inverse=True)
    if values.size != n_clusters:
        raise ValueError(
            f"{name}.fit_predict must return n_clusters={n_clusters} different labels; got {values.size}. "
            "Use a clusterer that takes the number of clusters as its parameter n_clusters, or set it to the same "
            "number yourself."
        )
    return numbers.astype(np.int32)
