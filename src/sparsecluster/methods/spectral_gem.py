"""Spectral-GEM: a spectral embedding whose dimension is chosen by the eigengap (Lee, Luca and Roeder, 2010)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .._clusterers.kmeans import kmeans
from .._data.reading import Reading
from .._features.features import Rows
from .._utils.arrays import Floats
from .._utils.checks import check_count, is_auto
from .._utils.parameters import rng_of
from ._base import SparseClusterer
from ._bounded import check_pairs
from ._clusters import NClusters
from ._mixins import CompleteNumbers
from ._result import Array, Result

# Upper bound a + b / n + c / p of the eigengap of data without clusters, from the authors' simulations.
NULL_GAP = (-0.00016, 2.7, 2.3)


class SpectralGem(CompleteNumbers, SparseClusterer):
    """Spectral-GEM: K-means on the leading eigenvectors of a graph Laplacian (Lee, Luca and Roeder, 2010).

    Samples i and j are connected with weight sqrt(max(x_i' x_j, 0)), where x is centered. With W the matrix of weights
    and D the diagonal matrix of its row sums, let nu_0 <= nu_1 <= ... be the eigenvalues of I - D^(-1/2) W D^(-1/2) and
    u_0, u_1, ... its eigenvectors. Sample i is mapped to (sqrt(1 - nu_1) u_1(i), ..., sqrt(1 - nu_d) u_d(i)), and the
    samples are clustered there by K-means. The dimension d is one less than the last i whose eigengap nu_i - nu_{i-1}
    is larger than -0.00016 + 2.7/n + 2.3/p, the bound for data without clusters. All features are used with equal
    weights.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses
        among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen; see `SASClustering`.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    n_components : "auto" or int, default="auto"
        Dimension d of the embedding. "auto" chooses it by the eigengap, but at least 1.
    standardize : bool, default=True
        Whether to scale all features to the same variance.
    n_init : int, default=30
        Number of starts of K-means.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    embedding_ : ndarray of shape (n_samples, n_components_)
        Coordinates of the samples in the embedding.
    eigenvalues_ : ndarray of shape (n_samples,)
        The eigenvalues nu_0, nu_1, ... in ascending order.
    n_components_ : int
        The dimension d.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of all features that are used. The method does not select features, but leaves out constant columns.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

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
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        n_components: int | str = "auto",
        standardize: bool = True,
        n_init: int = 30,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.n_components = n_components
        self.standardize = standardize
        self.n_init = n_init
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        if not is_auto(self.n_components):
            check_count("n_components", self.n_components, 1, advice='Use "auto" to choose it by the eigengap.')

    def _solve(self, reading: Reading, k: int) -> Result:
        self._complete_table(reading)
        n = reading.n_used
        check_pairs(type(self).__name__, n)
        if not is_auto(self.n_components):
            check_count("n_components", self.n_components, 1, n - 1, f"X has {n} rows.")
        features = reading.source.features()
        everything = np.arange(features.n_features)
        values, vectors = graph_spectrum(features.pairs(everything).similarity)
        d = eigengap_dimension(values, features.n_features) if is_auto(self.n_components) else int(self.n_components)
        # u_0 is left out because it depends only on the row sums of the weights.
        places = vectors[:, 1 : d + 1] * np.sqrt(np.maximum(1.0 - values[1 : d + 1], 0.0))
        rows = Rows(np.ascontiguousarray(places), np.ones(d))
        labels = kmeans(rows, k, rng_of(self.random_state), n_starts=int(self.n_init))
        return Result(
            features,
            labels,
            everything,
            k,
            arrays={"embedding_": Array(places, ("sample", None), np.nan)},
            attributes={"eigenvalues_": values, "n_components_": d},
        )


def graph_spectrum(gram: Floats) -> tuple[Floats, Floats]:
    """Return the ascending eigenvalues and the eigenvectors of the normalized Laplacian of the similarity graph."""
    weights = np.sqrt(np.maximum(gram, 0.0))
    root = np.sqrt(weights.sum(axis=1))
    trivial = root / np.linalg.norm(root)
    # A sample exactly at the mean has similarity 0 to all samples, even itself, and becomes an isolated vertex.
    root = np.where(root > 0, root, 1.0)
    laplacian = np.eye(len(gram)) - weights / np.outer(root, root)
    # u_0 is known. If the graph is not connected, it is one of several eigenvectors with eigenvalue 0. To make it the
    # first one, its eigenvalue is lowered by 1 while the eigenvectors are computed.
    values, vectors = eigh(laplacian - np.outer(trivial, trivial))
    values[0] += 1.0
    # The sign of an eigenvector is arbitrary, so the largest entry is made positive.
    return values, vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(gram))])


def eigengap_dimension(values: Floats, n_features: int) -> int:
    """Return max{i : nu_i - nu_{i-1} > bound} - 1, or 1 if that is less than 1."""
    base, by_samples, by_features = NULL_GAP
    bound = base + by_samples / values.size + by_features / n_features
    large = np.flatnonzero(np.diff(values) > bound) + 1
    return max(int(large[-1]) - 1, 1) if large.size else 1
