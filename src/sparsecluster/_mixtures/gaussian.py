"""Mixtures of Gaussians with constrained covariances, fitted by EM from several starts and compared by the BIC.

The covariance models have the names of mclust: equal (E) or variable (V) volume, shape and orientation, where I stands
for the identity. The BIC is mclust's as well, 2 log L - (number of parameters) log n, so larger is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.special import logsumexp

from .._clusterers.hierarchical import cut
from .._clusterers.kmeans import kmeans
from .._data.centers import means
from .._features.features import Rows
from .._kernels.gaussians import LOG_2PI, em_diagonal, em_full
from .._utils.arrays import Floats, Labels
from .em import one_hot
from .starts import canonical, distinct

# Variances are at least this share of the variance of their feature.
FLOOR = 1e-6
# EM ends when the log likelihood rises by less than this share: quickly while mixtures are compared, and at the end.
ROUGH, FINE = 1e-6, 1e-9
# EM runs for this many iterations from every start, and only the best start is continued.
SHORT_RUN = 10
# With more samples than this, no tree is built, which would take the distances of all pairs.
MOST_IN_TREE = 2000


class Covariances(NamedTuple):
    """A model of the covariance matrices: their form, what they share, and the number of parameters."""

    is_full: bool
    across_clusters: bool
    across_features: bool
    # The number of parameters of k clusters in d features.
    n_parameters: Callable[[int, int], int]


MODELS: dict[str, Covariances] = {
    "EII": Covariances(False, True, True, lambda k, d: 1),
    "VII": Covariances(False, False, True, lambda k, d: k),
    "EEI": Covariances(False, True, False, lambda k, d: d),
    "VVI": Covariances(False, False, False, lambda k, d: k * d),
    "EEE": Covariances(True, True, False, lambda k, d: d * (d + 1) // 2),
    "VVV": Covariances(True, False, False, lambda k, d: k * d * (d + 1) // 2),
}


class Setting(NamedTuple):
    """How mixtures are fitted: the number of clusters, the models to compare, and starts and iterations."""

    k: int
    models: Sequence[str] = tuple(MODELS)
    n_init: int = 5
    max_iter: int = 500
    seed: int = 0


class Mixture(NamedTuple):
    """A mixture of k Gaussians in d features.

    Attributes
    ----------
    model : str
        Name of the covariance model: one of `MODELS`, or "E" or "V" if there is one feature.
    bic : float
        2 log L - (number of parameters) log n, or -inf if EM has failed.
    shares : ndarray of shape (k,)
        Mixing proportions.
    means : ndarray of shape (k, d)
        Means of the clusters.
    covariances : ndarray of shape (k, d) or (k, d, d)
        Variances, or covariance matrices if they are not diagonal.
    memberships : ndarray of shape (k, n_samples)
        Probability of each cluster for each sample.
    is_regular : bool
        Whether EM has succeeded and no variance is at its lower bound, where the likelihood depends on the bound.
    n_iter : int
        Number of iterations.
    """

    model: str
    bic: float
    shares: Floats
    means: Floats
    covariances: Floats
    memberships: Floats
    is_regular: bool
    n_iter: int

    @property
    def labels(self) -> Labels:
        """The most probable cluster of each sample."""
        return self.memberships.argmax(axis=0).astype(np.int32)

    @property
    def is_complete(self) -> bool:
        """Whether every cluster is the most probable one of some sample."""
        return bool(np.isfinite(self.bic)) and np.unique(self.labels).size == self.shares.size

    @property
    def rank(self) -> tuple[bool, float]:
        """The larger, the better. A mixture with a variance at its lower bound is worse than any other."""
        return self.is_regular, self.bic


# ---------------------------------------------------------------- one mixture


def fit(columns: Floats, model: str, memberships: Floats, tolerance: float = FINE, max_iter: int = 500) -> Mixture:
    """Run EM from memberships of shape (k, n_samples), which are updated, for centered columns of shape (d, n_samples).

    >>> columns = np.array([[-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]])
    >>> fit(columns, "EII", np.repeat(np.eye(2), 3, axis=1)).means.ravel().round(1)
    array([-2.,  2.])
    """
    d, n = columns.shape
    k, floors = len(memberships), floors_of(columns)
    loglik, shares, centers, covariances, n_iter = em(columns, model, memberships, floors, tolerance, max_iter)
    of = MODELS[model]
    lowest = floors.mean() if of.across_features else floors
    is_regular = bool(np.isfinite(loglik)) and (of.is_full or bool((covariances > lowest).all()))
    name = model if d > 1 else model[0]
    bic = bic_of(loglik, k - 1 + k * d + of.n_parameters(k, d), n)
    return Mixture(name, bic, shares, centers, covariances, memberships, is_regular, n_iter)


def floors_of(columns: Floats) -> Floats:
    """Return the lower bound of the variance of each centered column."""
    return FLOOR * (columns**2).mean(axis=1)


def em(
    columns: Floats, model: str, memberships: Floats, floors: Floats, tolerance: float, max_iter: int
) -> tuple[float, Floats, Floats, Floats, int]:
    """Return the log likelihood, proportions, means, covariances and number of iterations of EM."""
    of = MODELS[model]
    if of.is_full:
        return em_full(columns, memberships, of.across_clusters, floors, tolerance, max_iter)
    shared = of.across_clusters, of.across_features
    return em_diagonal(columns, memberships, *shared, floors, tolerance, max_iter)


def bic_of(loglik: float, n_parameters: int, n: int) -> float:
    """2 log L - (number of parameters) log n."""
    return float(2.0 * loglik - n_parameters * np.log(n))


def models_for(n_features: int, models: Sequence[str]) -> list[str]:
    """Return the models that differ: with one feature, those with equal and with variable variances.

    >>> models_for(1, ["EEI", "EEE", "VVV"]), models_for(2, ["EEI", "EEE", "VVV"])
    (['EII', 'VII'], ['EEI', 'EEE', 'VVV'])
    """
    if n_features > 1:
        return list(models)
    return [f"{letter}II" for letter in "EV" if any(model.startswith(letter) for model in models)]


# ---------------------------------------------------------------- the best of several


def starts(columns: Floats, setting: Setting, warm: Labels | None = None) -> list[Floats]:
    """Return memberships to start from: those of Ward's method, of the best of several K-means, and of given labels.

    Starts that differ by the names of the clusters only are kept once.
    """
    rows = np.ascontiguousarray(columns.T)
    found = [kmeans_of(rows, setting)]
    if len(rows) <= MOST_IN_TREE:
        found.append(cut(linkage(rows, "ward"), setting.k))
    if warm is not None:
        found.append(warm)
    return [by_cluster(canonical(labels), setting.k) for labels in distinct(found)]


def by_cluster(labels: Labels, k: int) -> Floats:
    """Return memberships of shape (k, n_samples) that are 0 or 1."""
    return np.ascontiguousarray(one_hot(labels, k).T)


def kmeans_of(rows: Floats, setting: Setting) -> Labels:
    """Run K-means."""
    rng = np.random.default_rng(setting.seed)
    return kmeans(Rows(rows, np.ones(rows.shape[1])), setting.k, rng, n_starts=setting.n_init)


def mixtures(columns: Floats, setting: Setting, warm: Labels | None = None) -> Iterator[Mixture]:
    """Yield the mixture of every model, from the start that is best after a few iterations."""
    begin, floors = starts(columns, setting, warm), floors_of(columns)
    for model in models_for(len(columns), setting.models):
        short = [each.copy() for each in begin]
        if len(begin) > 1:
            reached = [em(columns, model, each, floors, ROUGH, SHORT_RUN)[0] for each in short]
            short = [short[int(np.argmax(reached))]]
        yield fit(columns, model, short[0], ROUGH, setting.max_iter)


def best_complete(columns: Floats, setting: Setting, warm: Labels | None = None) -> Mixture:
    """Return the best mixture in which every cluster is the most probable one of some sample.

    If EM empties a cluster with every model and from every start, the clusters are those of K-means.
    """
    models, begin = models_for(len(columns), setting.models), starts(columns, setting, warm)
    found = (fit(columns, model, each.copy(), FINE, setting.max_iter) for each in begin for model in models)
    complete = [mixture for mixture in found if mixture.is_complete]
    return max(complete, key=lambda mixture: mixture.rank) if complete else of_kmeans(columns, setting)


def of_kmeans(columns: Floats, setting: Setting) -> Mixture:
    """Return the mixture with equal proportions and one variance whose labels are those of K-means."""
    (d, n), k = columns.shape, setting.k
    labels = kmeans_of(np.ascontiguousarray(columns.T), setting)
    centers = means(columns.T, labels, k)
    apart = ((columns[None] - centers[:, :, None]) ** 2).sum(axis=1)
    floor = FLOOR * (columns**2).mean()
    variance = max(apart[labels, np.arange(n)].sum() / (n * d), floor)
    joint = -np.log(k) - 0.5 * (d * (LOG_2PI + np.log(variance)) + apart / variance)
    total = logsumexp(joint, axis=0)
    bic = bic_of(total.sum(), k * d + 1, n)
    name = "EII" if d > 1 else "E"
    variances, shares = np.full((k, d), variance), np.full(k, 1.0 / k)
    return Mixture(name, bic, shares, centers, variances, np.exp(joint - total), bool(variance > floor), 1)
