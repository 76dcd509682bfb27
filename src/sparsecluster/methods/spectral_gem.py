"""SpectralGem: spectral embedding of a graph of similar samples, its dimension by the eigengap (Lee, Luca and Roeder)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh

from .._clusterers.kmeans import kmeans
from .._features.base import Floats, Rows
from .._utils.checks import check_count, is_auto
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from ._base import CompleteNumbers, SparseClusterer
from ._bounded import check_pairs
from ._result import Array, Result

# Upper bound of the eigengap of one homogeneous group, by the authors' simulations: a + b / n + c / p.
NULL_GAP = (-0.00016, 2.7, 2.3)


class SpectralGem(CompleteNumbers, SparseClusterer):
    """Spectral-GEM: clusters in the leading eigenvectors of a graph Laplacian (Lee, Luca and Roeder, 2010).

    Samples i and j are joined with weight sqrt(max(x_i' x_j, 0)), x centered. With W the matrix of weights and D its row
    sums, nu_0 <= nu_1 <= ... are the eigenvalues of I - D^(-1/2) W D^(-1/2) and u_0, u_1, ... its eigenvectors. Sample i
    is placed at (sqrt(1 - nu_1) u_1(i), ..., sqrt(1 - nu_d) u_d(i)), and samples are grouped there by K-means. The
    dimension d is one less than the last i with an eigengap nu_i - nu_{i-1} above what one homogeneous group has,
    -0.00016 + 2.7/n + 2.3/p. All features are used, and all alike.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    n_components : "auto" or int, default="auto"
        The dimension d. "auto" goes by the eigengap; at least 1.
    standardize : bool, default=True
        Give every feature the same variance.
    n_init : int, default=30
        Starts of K-means.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    embedding_ : the places of the samples, n x d.
    eigenvalues_ : nu_0, nu_1, ..., ascending.
    n_components_ : the dimension d.
    support_ : all features that are not constant.
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.

    References
    ----------
    A. B. Lee, D. Luca and K. Roeder, "A spectral graph approach to discovering genetic ancestry", Annals of Applied
    Statistics 4 (2010), 179-202. The bound of the eigengap: A. B. Lee, D. Luca, L. Klei, B. Devlin and K. Roeder,
    "Discovering genetic ancestry using spectral graph theory", Genetic Epidemiology 34 (2010), 51-59.

    Examples
    --------
    >>> from sparsecluster import SpectralGem, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, _ = shifted_groups(mu=2.0, n_features=200, seed=0)
    >>> found = SpectralGem(n_clusters=3).fit(X)
    >>> rand_index(truth, found.labels_) > 0.95, found.n_components_
    (True, 1)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        n_components: int | str = "auto",
        standardize: bool = True,
        n_init: int = 30,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.standardize = standardize
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X.

        Parameters
        ----------
        X : array or data frame of n samples x p columns of numbers, without gaps.
        y : ignored.
        """
        check_parameters(vars(self))
        n_init, k = check_count("n_init", self.n_init, 1), int(self.n_clusters)
        rng = rng_of(self.random_state)
        if not is_auto(self.n_components):
            check_count("n_components", self.n_components, 1, advice='Or use "auto".')
        reading = self._reading(X)
        self._complete_table(reading)
        n = reading.n_samples
        check_pairs(type(self).__name__, n)
        if not is_auto(self.n_components):
            check_count("n_components", self.n_components, 1, n - 1, f"X has {n} rows.")
        with one_thread_blas():
            features = reading.source.features()
            everything = np.arange(features.n_features)
            values, vectors = graph_spectrum(features.pairs(everything).similarity)
            d = (
                eigengap_dimension(values, features.n_features)
                if is_auto(self.n_components)
                else int(self.n_components)
            )
            # u_0 says only how many neighbors a sample has.
            places = vectors[:, 1 : d + 1] * np.sqrt(np.maximum(1.0 - values[1 : d + 1], 0.0))
            rows = Rows(np.ascontiguousarray(places), np.ones(d))
            labels = kmeans(rows, k, rng, n_starts=n_init)
            result = Result(
                labels,
                everything,
                features.scores(labels, k),
                arrays={"embedding_": Array(places, ("sample", None))},
                attributes={"eigenvalues_": values, "n_components_": d},
            )
            return self._keep(reading, features, result)


def graph_spectrum(gram: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and eigenvectors of the normalized Laplacian of the graph of similar samples."""
    weights = np.sqrt(np.maximum(gram, 0.0))
    root = np.sqrt(weights.sum(axis=1))
    trivial = root / np.linalg.norm(root)
    # A sample at the very mean is like no other, not even itself: it stays where it is, alone.
    root = np.where(root > 0, root, 1.0)
    laplacian = np.eye(len(gram)) - weights / np.outer(root, root)
    # u_0 is known, and where groups have nothing in common it is one of several vectors of eigenvalue 0: it is made the
    # first by taking its eigenvalue 1 lower while the others are computed.
    values, vectors = eigh(laplacian - np.outer(trivial, trivial))
    values[0] += 1.0
    # The sign of an eigenvector is free: the largest entry is made positive.
    return values, vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(gram))])


def eigengap_dimension(values: Floats, n_features: int) -> int:
    """max{i : nu_i - nu_{i-1} > bound} - 1, at least 1."""
    base, by_samples, by_features = NULL_GAP
    bound = base + by_samples / values.size + by_features / n_features
    large = np.flatnonzero(np.diff(values) > bound) + 1
    return max(int(large[-1]) - 1, 1) if large.size else 1
