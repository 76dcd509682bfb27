"""The test of independent features: whether the data cluster better than copies in which every feature is permuted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._features.features import Features
from .._search.climb import Problem
from .._search.curve import copy_seeds, on_copies
from .._search.sizes import Effort, path_objective
from .._utils.arrays import Floats
from .._utils.parallel import Workers
from ._copies import permuted
from ._parts import Clustering


def objectives(given: Clustering, n_copies: int, n_paths: int, rng: np.random.Generator, workers: Workers) -> Floats:
    """The objective at every number of features, of the data and of permuted copies, all searched alike.

    If SAS clustering has chosen the number of features, this is the best objective found at every size. For all other
    methods, it is the sum of the m largest scores, for every m, of the clustering that the method finds with the tuning
    parameters of the data.

    Returns
    -------
    ndarray of shape (n_copies + 1, n_features)
        The first row belongs to the data.
    """
    if given.is_tuned_path:
        return np.array(list(by_paths(given, n_copies, n_paths, rng, workers)))
    return np.array(list(by_refits(given, n_copies, rng, workers)))


def by_paths(
    given: Clustering, n_copies: int, n_paths: int, rng: np.random.Generator, workers: Workers
) -> Iterator[Floats]:
    """Search all sizes, as many times on the data as on every copy."""
    estimator = given.refit.estimator
    features = estimator._scored(given.reading.source.features())
    problem = Problem(features, estimator._clusterer(features), given.k, int(estimator.max_iter))
    seeds = copy_seeds(rng, n_copies)

    def search(copy: Features, own: np.random.Generator) -> Floats:
        return path_objective(problem._replace(features=copy), own, Effort(n_init=n_paths))

    yield search(features, rng.spawn(1)[0])
    yield from on_copies(features, seeds, rng, search, workers)


def by_refits(given: Clustering, n_copies: int, rng: np.random.Generator, workers: Workers) -> Iterator[Floats]:
    """Fit the method again."""

    def one(task: tuple[int, np.random.Generator]) -> Floats:
        number, own = task
        found = given.refit(given.reading if number == 0 else permuted(given.reading, own), given.k, own)
        scores = np.zeros(given.chosen.size) if found is None else found.scores
        return np.cumsum(-np.sort(-scores))

    return workers.map(one, list(enumerate(rng.spawn(n_copies + 1))), "permuted copies")


def p_value(curves: Floats) -> float:
    """The p-value of the first curve among exchangeable ones, by the largest standardized value over all places.

    Each place is standardized with the mean and the standard deviation over all curves, the first one included. If the
    curves are exchangeable, so are their largest values T_b, and p = #{b: T_b >= T_0} / (B + 1) is exact:
    P(p <= alpha) <= alpha for every alpha.

    Parameters
    ----------
    curves : ndarray of shape (n_copies + 1, n_places)
        The curve of the data, and those of its copies.

    Returns
    -------
    p : float
        Between 1 / (n_copies + 1) and 1.

    Examples
    --------
    >>> import numpy as np
    >>> p_value(np.array([[3.0, 9.0], [1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]))
    0.25
    """
    return float((strengths(curves) >= strengths(curves)[0]).mean())


def strengths(curves: Floats) -> Floats:
    """The largest standardized value of each curve; places at which all curves agree say nothing."""
    spread = curves.std(axis=0)
    tells = spread > 1e-12 * np.abs(curves).max(axis=0)
    if not tells.any():
        return np.zeros(len(curves))
    return np.asarray(((curves[:, tells] - curves[:, tells].mean(axis=0)) / spread[tells]).max(axis=1))
