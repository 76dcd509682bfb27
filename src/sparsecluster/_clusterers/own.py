"""A user's own clusterer: any object with a fit_predict method, such as the clusterers of scikit-learn."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from .._features.features import Coordinates, Features, SparseRows, dissimilarity
from .._utils.arrays import Floats, Labels, Subset
from .._utils.text import brief
from .clusterer import Clusterer, Task, named_like
from .spectral import gaussian_affinity

# What an object is given, and the parameters that ask for it with the value "precomputed".
Input = Literal["rows", "dissimilarity", "affinity"]
PRECOMPUTED: dict[str, Input] = {
    "metric": "dissimilarity",
    "dissimilarity": "dissimilarity",
    "affinity": "affinity",
    "kernel": "affinity",
}
# Parameter names for the number of clusters.
COUNTS = ("n_clusters", "n_components")
# The parameter name for the seed, and the number of different seeds: 0 to 2^31 - 1 are accepted everywhere.
SEED, SEEDS = "random_state", 2**31


class Own(Clusterer):
    """Clusters samples with a copy of `method`, an object whose `fit_predict` returns one label per sample.

    `fit_predict` receives the coordinates of the samples, of shape (n_samples, q), unless a parameter of the object is
    "precomputed". If that is `metric` or `dissimilarity`, it receives D_S, of shape (n_samples, n_samples); if it is
    `affinity` or `kernel`, the Gaussian affinity of D_S. The parameter `n_clusters` (or else `n_components`) is set to
    k if there is one, and every `random_state` is set from `rng`. The number of starts is left to the object, and
    `warm` affects only the numbering of the clusters.
    """

    def __init__(self, method: Any) -> None:
        if isinstance(method, type) or not callable(getattr(method, "fit_predict", None)):
            raise TypeError(
                "clusterer must be a name or an object with a method fit_predict, such as "
                f"sklearn.cluster.KMeans(); got {brief(method)}."
            )
        self.method = method
        self.input = input_of(method)
        self.needs = "rows" if self.input == "rows" else "pairs"

    def solve(self, task: Task) -> Labels:
        method = prepared(self.method, task.n_clusters, task.rng)
        seen = self._seen(task.features, task.subset)
        if task.n_clusters < task.features.n_samples:
            labels = np.asarray(method.fit_predict(seen))
        else:
            with warnings.catch_warnings():
                # SciPy says that it uses another function then.
                warnings.filterwarnings("ignore", "k >= N", RuntimeWarning)
                labels = np.asarray(method.fit_predict(seen))
        labels = renumbered(labels, task.features.n_samples, task.n_clusters, type(method).__name__)
        return named_like(labels, task.warm, task.n_clusters)

    def _seen(self, features: Features, subset: Subset) -> Floats:
        """The input of `fit_predict`."""
        if self.input == "rows":
            return dense(features.rows(subset))
        apart = dissimilarity(features.pairs(subset).similarity)
        return gaussian_affinity(apart) if self.input == "affinity" else apart


def parameters(method: Any) -> dict[str, Any]:
    """Parameters by name: those of `get_params`, including nested ones, or else the attributes known here."""
    if hasattr(method, "get_params"):
        return method.get_params()
    return {name: getattr(method, name) for name in (*PRECOMPUTED, *COUNTS, SEED) if hasattr(method, name)}


def input_of(method: Any) -> Input:
    """The input that the object expects."""
    given = parameters(method)
    asked = (name for name in PRECOMPUTED if isinstance(given.get(name), str) and given[name] == "precomputed")
    return next((PRECOMPUTED[name] for name in asked), "rows")


def prepared(method: Any, n_clusters: int, rng: np.random.Generator) -> Any:
    """A copy for one call, with the number of clusters and the seeds set. The object itself is never changed."""
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
    """Coordinates, of shape (n_samples, q), whose squared distances are D_S: columns times the roots of their weights.

    Columns with weight 0 are left out. Missing values are 0, the mean of the observed ones.
    """
    used = np.flatnonzero(rows.weights)
    if isinstance(rows, SparseRows):
        shape = rows.starts.size - 1, rows.means.size
        table = csr_array((rows.values, rows.columns, rows.starts), shape=shape)[:, used].toarray() - rows.means[used]
    else:
        table = rows.table[:, used]
    return np.asarray(table * np.sqrt(rows.weights[used]), np.float64)


def renumbered(labels: npt.NDArray[Any], n_samples: int, n_clusters: int, name: str) -> Labels:
    """Labels 0, ..., k - 1 for labels with any values; an error unless there is one per sample and k different ones."""
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
