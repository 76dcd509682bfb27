"""Several methods on one table: time, features, stability, agreement, and with a truth how right they are."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.checks import check_choice, check_count
from .._data.tables import KINDS
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Progress, Verbosity
from ..methods.registry import METHODS, make_method
from ..metrics import adjusted_rand_index, agreement_matrix, error_rate, rand_index

if TYPE_CHECKING:
    import pandas as pd

    from .agreement import Agreement

# Those that are compared where none are named: one of each kind, quick on most tables.
USUAL = ("sas", "sparse-kmeans", "sparse-kmedoids", "cosa-common", "if-pca", "screened-variance", "kmeans++", "ward")


class Compared(NamedTuple):
    """One method: seconds a fit, features, labels of every repeat; or why it failed."""

    method: str
    seconds: float
    n_features: float
    labels: list[npt.NDArray[np.intp]]
    error: str | None = None

    @property
    def stability(self) -> float:
        """Mean adjusted Rand index between repeats with different seeds; 1 if all are the same."""
        pairs = [adjusted_rand_index(one, other) for i, one in enumerate(self.labels) for other in self.labels[:i]]
        return float(np.mean(pairs)) if pairs else float("nan")


@dataclass(frozen=True)
class Comparison:
    """What `compare_methods` found.

    Attributes
    ----------
    results : one `Compared` for each method, in the order asked for.
    truth : the known groups, or None.
    """

    results: list[Compared]
    truth: Any | None = None

    def frame(self) -> pd.DataFrame:
        """A row for each method: seconds, features, stability; with a truth also Rand, ARI and error rate."""
        import pandas as pd

        return pd.DataFrame([self._row(each) for each in self.results]).set_index("method")

    def _row(self, each: Compared) -> dict[str, Any]:
        row: dict[str, Any] = {"method": each.method, "seconds": each.seconds, "features": each.n_features}
        row["stability"] = each.stability
        if self.truth is not None:
            measures = {"rand": rand_index, "ari": adjusted_rand_index, "error": error_rate}
            for name, measure in measures.items():
                values = [measure(self.truth, labels) for labels in each.labels]
                row[name] = float(np.mean(values)) if values else float("nan")
        row["failed"] = each.error or ""
        return row

    def agreement(self) -> pd.DataFrame:
        """Adjusted Rand index between the methods, each at its first seed."""
        return self._display().frame()

    def plot(self, ax: Any = None) -> Any:
        """The agreement between the methods as a picture; returns the matplotlib axes."""
        return self._display().plot(ax)

    def _display(self) -> Agreement:
        from .agreement import Agreement

        good = [each for each in self.results if each.labels]
        matrix = agreement_matrix([each.labels[0] for each in good])
        return Agreement(tuple(each.method for each in good), matrix)


def compare_methods(
    X: Any,
    n_clusters: int,
    *,
    methods: Sequence[str] = USUAL,
    truth: npt.ArrayLike | None = None,
    repeats: int = 3,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: Verbosity = "auto",
    **parameters: Any,
) -> Comparison:
    """Run several methods of the registry on one table.

    Parameters
    ----------
    X : what the methods take: an array, a data frame, ...
    n_clusters : number of groups.
    methods : names from `sparsecluster.methods.registry.METHODS`. One that fails is a row with its reason, and the
        others go on.
    truth : known groups of the samples, only for scoring.
    repeats : fits of each method, with different seeds; how alike they are is the method's stability.
    random_state : seed of the first repeat.
    n_jobs : threads of those methods that have some.
    verbose : as in the estimators.
    parameters : passed on to all methods that have them, such as metric="hamming".

    Examples
    --------
    >>> from sparsecluster import compare_methods
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, _ = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> found = compare_methods(X, 3, methods=["sas", "kmeans++", "if-pca"], truth=truth, repeats=2)
    >>> found.frame()["rand"].round(2).to_dict()
    {'sas': 1.0, 'kmeans++': 1.0, 'if-pca': 0.73}
    """
    check_parameters({"n_clusters": n_clusters, "n_jobs": n_jobs, "verbose": verbose})
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
            f"truth must have one group for each of the {_n_rows(X, parameters)} samples; got {known.shape}."
        )
    taken = {key for name in methods for key in make_method(name, n_clusters).get_params()}
    strange = next((key for key in parameters if key not in taken), None)
    if strange is not None:
        raise ValueError(f"None of the methods has a parameter {strange!r}. Check its spelling.")
    seeds = rng_of(random_state).integers(2**31, size=repeats).tolist()
    given = {"n_jobs": n_jobs, "verbose": False, **parameters}
    progress = Progress(verbose)
    results = [
        _compared(name, X, n_clusters, seeds, given) for name in progress.track(list(methods), "methods", len(methods))
    ]
    return Comparison(results, known)


def _n_rows(X: Any, parameters: dict[str, Any]) -> int:
    if parameters.get("metric") == "precomputed":
        return len(X(0)) if callable(X) else len(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _compared(name: str, X: Any, n_clusters: int, seeds: list[int], given: dict[str, Any]) -> Compared:
    """One method, all its repeats."""
    takes = make_method(name, n_clusters).get_params()
    seconds, n_features, labels = [], [], []
    for seed in seeds:
        method = make_method(
            name, n_clusters, random_state=seed, **{key: value for key, value in given.items() if key in takes}
        )
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                method.fit(X)
        except Exception as error:  # whatever it is, it is the method's own affair, and shown
            reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            return Compared(name, float("nan"), float("nan"), [], reason)
        seconds.append(time.perf_counter() - began)
        n_features.append(int(method.support_.sum()))
        labels.append(method.labels_)
    return Compared(name, float(np.median(seconds)), float(np.mean(n_features)), labels)
