"""Comparing methods on a table: time, features, stability, agreement, and accuracy if the true groups are known."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.kinds import KINDS
from .._utils.checks import check_choice, check_count
from .._utils.parallel import Workers
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Progress, Verbosity
from .._utils.text import brief
from ..methods._base import SparseClusterer
from ..methods._clusters import NClusters, check_n_clusters
from ..methods._result import OUTLIER
from ..methods.registry import METHODS, make_method
from ..metrics import adjusted_rand_index, agreement_matrix, error_rate, rand_index
from .agreement import Agreement, agreement_in_clusters

if TYPE_CHECKING:
    import pandas as pd

# The methods that are compared by default: one of each kind, all fast on most tables.
USUAL = ("sas", "sparse-kmeans", "sparse-kmedoids", "cosa-common", "if-pca", "screened-variance", "kmeans++", "ward")


class Compared(NamedTuple):
    """The results of one method.

    Attributes
    ----------
    method : str
        Name of the method.
    seconds : float
        Median time of a fit; NaN if the method failed.
    n_features : float
        Mean number of chosen features; NaN if the method failed.
    labels : list of ndarray of shape (n_samples,)
        Labels of each repeat; empty if the method failed.
    error : str or None
        Why the method failed.
    n_clusters : float or None
        Mean number of clusters if the method chose it, and None if it was given or the method failed.
    """

    method: str
    seconds: float
    n_features: float
    labels: list[npt.NDArray[np.intp]]
    error: str | None = None
    n_clusters: float | None = None

    @property
    def stability(self) -> float:
        """Mean adjusted Rand index between repeats with different seeds: 1 if all of them agree, NaN for one repeat."""
        pairs = [agreement_in_clusters(one, other) for i, one in enumerate(self.labels) for other in self.labels[:i]]
        return float(np.mean(pairs)) if pairs else float("nan")


@dataclass(frozen=True)
class Comparison:
    """The result of `compare_methods`.

    Attributes
    ----------
    results : list of Compared
        One per method, in the order given.
    truth : ndarray of shape (n_samples,) or None
        True groups.

    Examples
    --------
    >>> from sparsecluster import compare_methods
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=4.0, n_features=20, n_useful=10, group_size=10)
    >>> compare_methods(X, 3, methods=["ward", "kmeans++"], repeats=1).agreement()
              ward  kmeans++
    ward       1.0       1.0
    kmeans++   1.0       1.0
    """

    results: list[Compared]
    truth: Any | None = None

    def frame(self) -> pd.DataFrame:
        """Return the results as a table.

        Returns
        -------
        pandas.DataFrame
            One row per method, with the columns `seconds`, `features`, `stability` and `failed` (why the method failed,
            or ""). If the true groups are known, there are also `rand`, `ari` and `error`: the Rand index, the adjusted
            Rand index and the error rate, averaged over the repeats. If the methods chose the number of clusters, there
            is also `clusters`. Samples in no cluster do not count.
        """
        import pandas as pd

        return pd.DataFrame([self._row(each) for each in self.results]).set_index("method")

    def _row(self, each: Compared) -> dict[str, Any]:
        row: dict[str, Any] = {"method": each.method, "seconds": each.seconds, "features": each.n_features}
        if any(other.n_clusters is not None for other in self.results):
            row["clusters"] = float("nan") if each.n_clusters is None else each.n_clusters
        row["stability"] = each.stability
        if self.truth is not None:
            measures = {"rand": rand_index, "ari": adjusted_rand_index, "error": error_rate}
            for name, measure in measures.items():
                values = [measure(*_in_clusters(self.truth, labels)) for labels in each.labels]
                row[name] = float(np.mean(values)) if values else float("nan")
        row["failed"] = each.error or ""
        return row

    def agreement(self) -> pd.DataFrame:
        """Return the adjusted Rand index between the methods, each fitted with the first seed.

        Returns
        -------
        pandas.DataFrame
            One row and one column per method that did not fail.
        """
        return self._display().frame()

    def plot(self, ax: Any = None) -> Any:
        """Draw the agreement between the methods as an image.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default, in a new figure.

        Returns
        -------
        matplotlib Axes
        """
        return self._display().plot(ax)

    def _display(self) -> Agreement:
        good = [each for each in self.results if each.labels]
        matrix = agreement_matrix([each.labels[0] for each in good], agreement_in_clusters)
        return Agreement(tuple(each.method for each in good), matrix)


def compare_methods(
    X: Any,
    n_clusters: NClusters,
    *,
    methods: Sequence[str] = USUAL,
    truth: npt.ArrayLike | None = None,
    repeats: int = 3,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: Verbosity = "auto",
    make: Callable[..., SparseClusterer] = make_method,
    **parameters: Any,
) -> Comparison:
    """Run several methods on one table and compare what they find.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Data in any form that the methods accept, such as an array, a data frame or a sparse matrix.
    n_clusters : int, sequence of int or "auto"
        Number of clusters. With several numbers, or with "auto", every method chooses it.
    methods : sequence of str
        Names of methods in `sparsecluster.methods.registry.METHODS`; by default, one method of each kind. If a method
        fails, the table of results contains the reason, and the other methods are still run.
    truth : array-like of shape (n_samples,), default=None
        True groups of the samples, which are only used to rate the results.
    repeats : int, default=3
        Number of fits of each method, with different seeds. The mean agreement between them is the stability.
    random_state : int, RandomState or None, default=0
        Generates the seeds of the repeats. A number is the seed of the first repeat, so that this is the fit of the
        method with the same `random_state`.
    n_jobs : int, default=None
        Number of threads, for methods that use threads.
    verbose : bool or "auto", default="auto"
        Whether to show progress, as in the estimators.
    make : callable, default=make_method
        Function that creates the estimators, as `make_method` does from the name of a method, the number of clusters
        and keyword parameters.
    **parameters
        Other parameters, such as `metric="hamming"`, which are passed to all methods that have them.

    Returns
    -------
    Comparison
        The results, as tables from `.frame()` and `.agreement()` and as an image from `.plot()`.

    Examples
    --------
    >>> from sparsecluster import compare_methods
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, _ = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> found = compare_methods(X, 3, methods=["sas", "kmeans++", "if-pca"], truth=truth, repeats=2)
    >>> found.frame()["rand"].round(2).to_dict()
    {'sas': 1.0, 'kmeans++': 1.0, 'if-pca': 0.73}
    """
    check_parameters({"n_jobs": n_jobs, "verbose": verbose})
    check_n_clusters(n_clusters, parameters.get("max_clusters"), parameters.get("cluster_criterion", "auto"))
    check_count("repeats", repeats, 1)
    methods = list(dict.fromkeys(methods))
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        make_method(unknown[0] if unknown else "", n_clusters)
    if isinstance(parameters.get("metric"), str):
        check_choice("metric", parameters["metric"], ["auto", *KINDS, "precomputed"])
    known = None if truth is None else np.asarray(truth)
    if known is not None and known.shape != (_n_rows(X, parameters),):
        raise ValueError(
            f"truth must have one group for each of the {_n_rows(X, parameters)} samples; got an array of shape "
            f"{known.shape}."
        )
    taken = {key for name in methods for key in make_method(name, n_clusters).get_params()}
    strange = next((key for key in parameters if key not in taken), None)
    if strange is not None:
        raise ValueError(f"None of the methods has a parameter {brief(strange)}. Check its spelling.")
    seeds = rng_of(random_state).integers(2**31, size=repeats).tolist()
    if isinstance(random_state, Integral):
        seeds[0] = int(random_state)
    given = {"n_jobs": n_jobs, "verbose": False, **parameters}
    workers = Workers(1, Progress(verbose))
    results = workers.map(
        lambda name: _compared(partial(make, name, n_clusters), name, X, seeds, given), methods, "methods"
    )
    return Comparison(list(results), known)


def _in_clusters(truth: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the true groups and the clusters of the samples that are in a cluster."""
    inside = np.asarray(labels) != OUTLIER
    return np.asarray(truth)[inside], np.asarray(labels)[inside]


def _n_rows(X: Any, parameters: dict[str, Any]) -> int:
    if parameters.get("metric") == "precomputed":
        return len(X(0)) if callable(X) else len(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _compared(
    make: Callable[..., SparseClusterer], name: str, X: Any, seeds: list[int], given: dict[str, Any]
) -> Compared:
    """Run all repeats of one method."""
    takes = make().get_params()
    seconds, n_features, labels, chosen = [], [], [], []
    for seed in seeds:
        method = make(random_state=seed, **{key: value for key, value in given.items() if key in takes})
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                method.fit(X)
        except Exception as error:  # Any error is shown in the row of the method.
            reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            return Compared(name, float("nan"), float("nan"), [], reason)
        seconds.append(time.perf_counter() - began)
        n_features.append(int(method.support_.sum()))
        labels.append(method.labels_)
        chosen += [] if method.n_clusters_curve_ is None else [method.n_clusters_]
    found = float(np.mean(chosen)) if chosen else None
    return Compared(name, float(np.median(seconds)), float(np.mean(n_features)), labels, n_clusters=found)
