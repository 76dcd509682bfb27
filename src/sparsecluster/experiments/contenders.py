"""The methods that the paper's experiments compare, each with its settings in the paper."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._clusterers.kmeans import kmeans
from .._features.features import Pairs
from ..datasets import Design
from ..methods.registry import METHODS, make_method
from ..methods.sas import SASClustering
from ..metrics import adjusted_rand_index, error_rate, rand_index, symmetric_difference
from ..preprocessing import ExpressionScaler, expression_clustering
from .experiment import Row

# The authors' algorithm run by our code: one coordinate-wise start, the same features on permuted copies, no consensus,
# and features chosen by shares even where they are not standardized.
PUBLISHED: dict[str, Any] = {
    "init": "coordinate", "n_init": 1, "consensus": False, "null": "fixed", "objective": "share"
}  # fmt: skip
# Starts of K-means when the useful features are given.
LIMIT_STARTS = 50
# Titles of the methods that the registry does not have.
TITLES = {
    "limit": "limit: K-means with the useful features given",
    "sas-grid": "SAS as published, grid",
    "sas-golden": "SAS as published, golden section",
    "sas": "SAS as we run it",
    "sas-medoids": "SAS as published, K-medoids",
    "limit-medoids": "limit: K-medoids with the useful features given",
    "sas-given": "SAS as we run it, s given",
    "sas-given-published": "SAS as published, s given",
    "sparse-kmeans-given": "Sparse K-means, 21 starts, bound given",
    "plain-sas": "SAS in NumPy and scikit-learn, s given",
    "plain-sparse-kmeans": "Sparse K-means in NumPy and scikit-learn, one start, bound given",
    "data": "data",
}


class Result(NamedTuple):
    """The labels, the mask of chosen features and, if the method has them, the weights of the features."""

    labels: npt.NDArray[np.intp]
    chosen: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.float64] | None = None


class Conditions(NamedTuple):
    """The settings that differ between experiments and variants."""

    n_permutations: int = 25
    # The methods that see the data as they are. The others standardize them.
    raw: Collection[str] = ()
    metric: str = "auto"
    step: int | None = None


def title_of(name: str) -> str:
    """Return the name of a method in tables and figures."""
    return TITLES.get(name) or (METHODS[name].title if name in METHODS else name)


def contend(name: str, data: Design, k: int, seed: int, options: Conditions) -> Result:
    """Run one method on one data set.

    Parameters
    ----------
    name : str
        A method of `TITLES` or of the registry.
    data : Design
        The data, the true groups and the mask of useful features. Only the limits see more than the data.
    k : int
        Number of clusters.
    seed : int
        Seed of the method.
    options : Conditions
        Settings of the experiment.

    Returns
    -------
    Result

    Examples
    --------
    >>> from sparsecluster.datasets import shifted_groups
    >>> data = shifted_groups(mu=1.0, n_features=100, seed=0)
    >>> measured(contend("limit", data, 3, 0, Conditions()), data)["rand"]
    1.0
    """
    special: dict[str, Callable[[], Result]] = {
        "limit": lambda: kmeans_limit(data, k, seed, options.metric == "auto"),
        "limit-medoids": lambda: kmedoids_limit(data, k, seed),
    }
    if name in special:
        return special[name]()
    estimator = _estimator(name, k, seed, options).fit(data.X)
    return Result(estimator.labels_, estimator.support_, getattr(estimator, "feature_weights_", None))


def contend_prepared(name: str, data: Design, k: int, seed: int, options: Conditions) -> Result:
    """Run one method on gene expression data prepared by the expression preset; SAS as we run it is the preset itself.

    Parameters
    ----------
    name, data, k, seed, options
        As for `contend`.

    Returns
    -------
    Result
    """
    if name == "sas":
        return expression_preset(data, k, seed)
    prepared = data._replace(X=ExpressionScaler().fit_transform(data.X))
    return contend(name, prepared, k, seed, options._replace(raw=(name,)))


def expression_preset(data: Design, k: int, seed: int) -> Result:
    """Run the expression preset, whose answer is the core."""
    sas = expression_clustering(k, random_state=seed, verbose=False, n_alternatives=0).fit(data.X)[-1]
    return Result(sas.labels_, sas.support_)


def _estimator(name: str, k: int, seed: int, options: Conditions) -> Any:
    given: dict[str, Any] = {
        "random_state": seed,
        "verbose": False,
        "metric": options.metric,
        "standardize": name not in options.raw,
    }
    if name != "sparse-hierarchical":  # which has fewer copies of its own
        given["n_permutations"] = options.n_permutations
    published: dict[str, dict[str, Any]] = {
        "sas-grid": {"search": "grid", "step": options.step},
        "sas-golden": {"search": "golden"},
        "sas-medoids": {"search": "grid", "clusterer": "kmedoids", "init": "random"},
    }
    if name in published:
        return SASClustering(k, **{**given, **PUBLISHED, **published[name]})
    takes = make_method(name, k).get_params()
    return make_method(name, k, **{key: value for key, value in given.items() if key in takes})


def kmeans_limit(data: Design, k: int, seed: int, standardize: bool) -> Result:
    """Run K-means on the useful features alone, the limit of what a sparse method can reach.

    Parameters
    ----------
    data : Design
        The data, the true groups and the mask of useful features.
    k : int
        Number of clusters.
    seed : int
        Seed of the starts.
    standardize : bool
        Whether all features get the same variance.

    Returns
    -------
    Result
        The best of `LIMIT_STARTS` starts, with the useful features as chosen.
    """
    Z = data.X[:, data.useful] - data.X[:, data.useful].mean(axis=0)
    if standardize:
        Z = Z / Z.std(axis=0)
    labels = kmeans(Pairs(Z @ Z.T), k, np.random.default_rng(seed), n_starts=LIMIT_STARTS)
    return Result(labels.astype(np.intp), data.useful)


def kmedoids_limit(data: Design, k: int, seed: int) -> Result:
    """Run K-medoids with the Hamming distance on the useful features alone."""
    found = make_method("kmedoids", k, metric="hamming", standardize=False, random_state=seed).fit(
        data.X[:, data.useful]
    )
    return Result(found.labels_, data.useful)


def measured(result: Result, data: Design) -> Row:
    """Compare a result with the truth.

    Parameters
    ----------
    result : Result
        What a method found.
    data : Design
        The data that it was given.

    Returns
    -------
    dict
        `rand` and `ari`, the Rand index and the adjusted Rand index; `error`, the share of samples in a wrong group;
        `selected`, the number of chosen features; and `difference`, the number of useful features that are missed plus
        the number of useless features that are chosen.
    """
    return {
        "rand": rand_index(data.truth, result.labels),
        "ari": adjusted_rand_index(data.truth, result.labels),
        "error": error_rate(data.truth, result.labels),
        "difference": symmetric_difference(data.useful, result.chosen),
        "selected": int(result.chosen.sum()),
    }
