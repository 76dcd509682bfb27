"""The methods that the paper's experiments compare, each with the settings it has there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._clusterers.kmeans import kmeans
from .._features.base import Pairs
from ..datasets import Design
from ..methods.registry import METHODS, make_method
from ..methods.sas import SASClustering
from ..metrics import adjusted_rand_index, error_rate, rand_index, symmetric_difference
from .base import Row

# One coordinate-wise start, features kept on permuted copies, no consensus: the authors' algorithm with our engine.
PUBLISHED: dict[str, Any] = {"init": "coordinate", "n_init": 1, "consensus": False, "null": "fixed"}
# Starts of K-means told the useful features.
LIMIT_STARTS = 50
# Titles of those that the registry does not have.
TITLES = {
    "limit": "limit: K-means told the features",
    "sas-grid": "SAS as published, grid",
    "sas-golden": "SAS as published, golden section",
    "sas": "SAS as we run it",
    "sas-medoids": "SAS as published, K-medoids",
    "limit-medoids": "limit: K-medoids told the features",
    "sas-given": "SAS as we run it, s given",
    "sas-given-published": "SAS as published, s given",
    "sparse-kmeans-given": "Sparse K-means, 21 starts, bound given",
    "plain-sas": "SAS in NumPy and scikit-learn, s given",
    "plain-sparse-kmeans": "Sparse K-means in NumPy and scikit-learn, one start, bound given",
    "data": "data",
}


class Result(NamedTuple):
    """Labels, chosen features, and how many times each counts."""

    labels: npt.NDArray[np.intp]
    chosen: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.float64] | None = None


class Options(NamedTuple):
    """What may differ between experiments and variants."""

    n_permutations: int = 25
    # Whether the paper's grid search, golden section and Sparse K-means see standardized data.
    standardize_grid: bool = True
    standardize_golden: bool = True
    standardize_sparse_kmeans: bool = True
    metric: str = "auto"
    step: int | None = None


def title_of(name: str) -> str:
    """How a method is called in tables and figures."""
    return TITLES.get(name) or (METHODS[name].title if name in METHODS else name)


def contend(name: str, data: Design, k: int, seed: int, options: Options) -> Result:
    """Run one method on one data set."""
    special: dict[str, Callable[[], Result]] = {
        "limit": lambda: told(data, k, seed, options.metric == "auto"),
        "limit-medoids": lambda: told_medoids(data, k, seed),
    }
    if name in special:
        return special[name]()
    estimator = _estimator(name, k, seed, options).fit(data.X)
    return Result(estimator.labels_, estimator.support_, getattr(estimator, "feature_weights_", None))


def _estimator(name: str, k: int, seed: int, options: Options) -> Any:
    common: dict[str, Any] = {"random_state": seed, "verbose": False}
    copies = {"n_permutations": options.n_permutations}
    sas = {"metric": options.metric, **common, **copies}
    if name == "sas-grid":
        standardize = options.standardize_grid
        return SASClustering(k, search="grid", step=options.step, standardize=standardize, **PUBLISHED, **sas)
    if name == "sas-golden":
        return SASClustering(k, search="golden", standardize=options.standardize_golden, **PUBLISHED, **sas)
    if name == "sas-medoids":
        own = {**PUBLISHED, "init": "random"}
        return SASClustering(k, clusterer="kmedoids", search="grid", **own, **sas)
    if name == "sas":
        return SASClustering(k, **sas)
    given = {**sas, "standardize": name != "sparse-kmeans" or options.standardize_sparse_kmeans}
    takes = make_method(name, k).get_params()
    own_copies = name in ("sas", "sparse-kmeans", "sparse-kmedoids")
    return make_method(
        name, k, **{key: given[key] for key in given if key in takes and (own_copies or key not in copies)}
    )


def told(data: Design, k: int, seed: int, standardize: bool) -> Result:
    """The limit: K-means on the useful features alone."""
    Z = data.X[:, data.useful] - data.X[:, data.useful].mean(axis=0)
    if standardize:
        Z = Z / Z.std(axis=0)
    labels = kmeans(Pairs(Z @ Z.T), k, np.random.default_rng(seed), n_starts=LIMIT_STARTS)
    return Result(labels.astype(np.intp), data.useful)


def told_medoids(data: Design, k: int, seed: int) -> Result:
    """K-medoids on the useful features alone, by Hamming distance."""
    found = make_method("kmedoids", k, metric="hamming", standardize=False, random_state=seed).fit(
        data.X[:, data.useful]
    )
    return Result(found.labels_, data.useful)


def measured(result: Result, data: Design) -> Row:
    """Everything that is measured of one result."""
    return {
        "rand": rand_index(data.truth, result.labels),
        "ari": adjusted_rand_index(data.truth, result.labels),
        "error": error_rate(data.truth, result.labels),
        "difference": symmetric_difference(data.useful, result.chosen),
        "selected": int(result.chosen.sum()),
    }
