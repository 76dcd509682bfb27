"""Any method as a black box: fitted to the data for every k, and again to tables that a criterion makes.

Tuning a method anew on every such table would take very long. A method is therefore tuned once for every k, on the
data, and the fits to other tables repeat only the clustering and the selection of features, with the tuned values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from ..._data.profiles import profiles_of
from ..._data.reading import Reading
from ..._data.source import columns_of
from ..._utils.arrays import Subset
from ..._utils.checks import is_auto
from ..._utils.parallel import Workers, workers_for
from ..._utils.progress import Progress
from .._result import Clusters, NoClustersError, Order, Result

# Parameters that are tuned, besides the number of features, and the attributes that hold their values or tuning curves.
TUNED = {
    "l1_bound": "l1_bound_",
    "penalty": "penalty_",
    "variance_penalty": "variance_penalty_",
    "n_dimensions": "n_dimensions_",
    "n_components": "components_curve_",
}
# The number of starts of a fit if n_init="auto", which would otherwise continue until several starts agree: on tables
# without clusters they rarely do. More starts take several times longer and hardly change the dispersion.
FEW_STARTS = 10
# The largest value of each parameter that is limited by the size of a table, which may be smaller than the data.
LIMITS: dict[str, Callable[[Reading], int]] = {
    "n_features_to_select": lambda reading: reading.n_usable,
    "threshold": lambda reading: reading.source.columns.size,
    "n_components": lambda reading: reading.n_used - 1,
    "n_neighbors": lambda reading: reading.n_used - 1,
}


def fit_each(estimator: Any, reading: Reading, ks: Sequence[int]) -> dict[int, Result]:
    """Fit the data for every number of clusters, including the method's own tuning."""
    progress = Progress(vars(estimator).get("verbose", "auto"))
    own = changed(estimator, {"n_alternatives": 0, **without_array(estimator)})
    return {k: own._solve(reading, k) for k in progress.track(ks, "numbers of clusters", len(ks))}


class Refit(NamedTuple):
    """A method with the tuning parameters of a result, which can be fitted to other tables.

    It uses one thread, because the tables are shared out among the threads.
    """

    estimator: Any

    @classmethod
    def like(cls, estimator: Any, found: Result, *, few_starts: bool = False) -> Refit:
        """Return the method with the values that were tuned for a result. The estimator itself is not changed."""
        return cls.with_values(estimator, tuned_values(found), few_starts=few_starts)

    @classmethod
    def with_values(cls, estimator: Any, tuned: Mapping[str, Any], *, few_starts: bool = False) -> Refit:
        """Return the method with the given values of its tuning parameters."""
        others = {"n_jobs": 1, "verbose": False, "n_alternatives": 0, **without_array(estimator)}
        made = cls(changed(estimator, {**tuned, **others}))
        return made.with_few_starts() if few_starts else made

    def with_few_starts(self) -> Refit:
        """Return the same method with few starts, unless their number was given."""
        is_open = is_auto(self.estimator.get_params(deep=False).get("n_init"))
        return Refit(changed(self.estimator, {"n_init": FEW_STARTS})) if is_open else self

    def __call__(self, reading: Reading | None, k: int, rng: np.random.Generator) -> Result | None:
        """Fit a table. None if it has fewer than k distinct samples, or if the method finds no clusters in it."""
        if reading is None:
            return None
        given = self.estimator.get_params(deep=False)
        limited = {
            name: min(int(given[name]), limit(reading))
            for name, limit in LIMITS.items()
            if isinstance(given.get(name), Integral)
        }
        seed = int(rng.integers(2**31))
        try:
            return changed(self.estimator, {"random_state": seed, **limited})._solve(reading, k)
        except NoClustersError:
            return None


def tuned_values(found: Result) -> dict[str, Any]:
    """Return the values of all parameters that were tuned for a result."""
    return {"n_features_to_select": found.subset.size, **tuned_in(found.attributes)}


def tuned_in(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the parameters in `TUNED`, from the attributes that hold them or their tuning curves."""
    held = {name: attributes.get(attribute) for name, attribute in TUNED.items()}
    return {name: getattr(value, "chosen", value) for name, value in held.items() if value is not None}


def changed(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a clone with other values for those of the parameters that the estimator has."""
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in parameters.items() if name in known})


def without_array(estimator: Any) -> dict[str, str]:
    """Replace a start given as an array: it refers to the samples of the data and to one number of clusters."""
    return {} if isinstance(vars(estimator).get("init", "auto"), str) else {"init": "auto"}


# ---------------------------------------------------------------- parts of the data


def part_of(reading: Reading, places: Subset, k: int) -> Reading | None:
    """Return the samples at the given places of a reading; None if fewer than k of them are distinct."""
    source = reading.source.take(places, k)
    return None if source is None else reading.of_samples(source)


def assign(part: Reading, found: Result, samples: Subset) -> npt.NDArray[np.intp]:
    """Assign samples to the nearest cluster that was found in a part of them, as `predict` does.

    Methods without `predict` use the distances to the clusters in their chosen features, as most others do.

    Parameters
    ----------
    part : Reading
        The samples that were clustered.
    found : Result
        Their clusters.
    samples : ndarray of shape (n_assigned,)
        Positions of the samples to be assigned in the table of which they are a part.

    Returns
    -------
    labels : ndarray of shape (n_assigned,)
        Cluster of each sample. The clusters may be numbered in another order than in the result.
    """
    source, columns = part.source, columns_of(part.source, found.subset)
    clusters: Clusters
    if found.clusters is None:
        clusters = profiles_of(source, found.features, found.labels, found.n_clusters, found.subset, found.weights)
    else:
        order = Order.of(part, found)
        clusters, columns = found.clusters(order), source.columns[order.chosen_columns]
    return clusters.nearest([source.look(a, samples, source.samples) for a in columns.tolist()])


# ---------------------------------------------------------------- many fits


def workers_of(estimator: Any, reading: Reading) -> Workers:
    """Return the threads and the progress line that the parameters of an estimator ask for."""
    given = vars(estimator)
    n_values = reading.n_used * reading.source.columns.size
    return workers_for(given.get("n_jobs"), given.get("verbose", "auto"), n_values)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep back the warnings of the fits: the user has not asked for them, and the final fit warns again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
