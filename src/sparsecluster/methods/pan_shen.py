"""Penalized model-based clustering: a mixture with an L1 penalty on the means (Pan and Shen, 2007)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._data.reading import Reading
from .._mixtures.em import Mixture, Model
from .._mixtures.penalties import L1, inverse_sizes
from .._utils.arrays import Floats
from .._utils.progress import Verbosity
from ._clusters import NClusters
from ._penalized import PenalizedMixture


class PanShenMixture(PenalizedMixture):
    """Gaussian mixture with an L1 penalty on the means of the clusters (Pan and Shen, 2007).

    Maximizes over the weights pi, the means mu and the common variances sigma^2 the penalized log likelihood

        sum_i log sum_k pi_k prod_j N(x_ij; mu_kj, sigma_j^2) - l sum_kj w_kj |mu_kj|.

    Features are centered, so that a feature whose means are all zero has the same distribution in all clusters and is
    not chosen. `penalty=0` gives the plain mixture with common variances, which is the model EEI of R's mclust.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses
        among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen. "auto" chooses it together with the penalty by the BIC of the mixture, as
        in the paper; for the other criteria see `SASClustering`.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    adaptive : bool, default=False
        Whether the weights w_kj are 1 / |m_kj|, with m the means of the mixture without a penalty that the same start
        leads to. Otherwise they are 1, as in the paper.
    penalty : "auto" or float, default="auto"
        Strength l of the penalty. "auto" chooses among `n_penalties` values by the BIC. They are spaced evenly on the
        log scale, up to a value that drops all features.
    n_penalties : int, default=20
        Number of penalties that are tried.
    standardize : bool, default=True
        Whether to scale all features to variance 1. Otherwise they are only centered.
    init : {"auto", "kmeans", "subsets", "sas", "annealed"} or several of them, default="auto"
        Where EM starts: from K-means on all features, K-means on random subsets of the features, SAS clustering at
        several numbers of features, or EM with a temperature that falls to 1. "auto" uses all of them. With many more
        features than samples EM hardly leaves its start, so the starts matter more than the penalty.
    n_init : int, default=10
        Number of random subsets, and largest number of sizes at which SAS clustering is run.
    max_iter : int, default=500
        Maximum number of steps of EM for each start and penalty.
    n_jobs : int or None, default=None
        Number of threads. None means 1 unless in a `joblib.parallel_config` context, and -1 means all processors. The
        result does not depend on the number of threads.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster with the highest probability for each sample. Clusters are numbered from the largest (0) to the
        smallest.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Probability that each sample belongs to each cluster. NaN for samples that were left out as outliers.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features whose distribution is not the same in all clusters, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0.
    means_ : ndarray of shape (n_clusters, n_features)
        Penalized means of the mixture, in the units of X. NaN for constant columns.
    variances_ : ndarray of shape (n_features,)
        Variances of the mixture, in the squared units of X. NaN for constant columns.
    mixture_weights_ : ndarray of shape (n_clusters,)
        Weights pi of the clusters.
    penalty_ : float
        The strength of the penalty on the means.
    bic_ : float
        -2 log likelihood + d log n, with d the number of free parameters. Smaller is better.
    bic_curve_ : TuningCurve or None
        The BIC over the penalties that leave all clusters, or None if the penalty was given. It is shown as
        (b - BIC) / 2, with b the BIC of a single cluster, so that larger is better. `frame()` also has the log
        likelihood, the objective and the number of features.
    loglik_, objective_ : float
        Log likelihood of the mixture, without and with the penalty.
    objectives_ : ndarray of shape (n_iter_,)
        Penalized log likelihood after each step of EM from the last warm start. It never falls.
    n_iter_ : int
        Number of these steps.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X and without shrinkage.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    d counts k - 1 weights, p variances and the nonzero means. If the penalty is adaptive, every start has its own, so
    that the starts are compared by the BIC; otherwise, at every penalty the start with the highest penalized likelihood
    is taken.

    References
    ----------
    W. Pan and X. Shen, "Penalized model-based clustering with application to variable selection", Journal of Machine
    Learning Research 8 (2007), 1145-1164.

    Examples
    --------
    >>> from sparsecluster import PanShenMixture, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.5, n_features=100, seed=0)
    >>> found = PanShenMixture(n_clusters=3).fit(X)
    >>> rand_index(truth, found.labels_), int(found.support_.sum()), int(found.support_[useful].sum())
    (1.0, 53, 50)
    >>> found.predict_proba(X[:1]).round(3)
    array([[0., 1., 0.]])
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        adaptive: bool = False,
        penalty: float | str = "auto",
        n_penalties: int = 20,
        standardize: bool = True,
        init: str | Sequence[str] = "auto",
        n_init: int = 10,
        max_iter: int = 500,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        super().__init__(
            n_clusters,
            max_clusters=max_clusters,
            cluster_criterion=cluster_criterion,
            trim=trim,
            core_agreement=core_agreement,
            penalty=penalty,
            n_penalties=n_penalties,
            standardize=standardize,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.adaptive = adaptive

    def _model(self, reading: Reading, units: Floats, mixture: Mixture) -> Model:
        return Model(L1(1.0, inverse_sizes(mixture.means, units)) if self.adaptive else L1(1.0))
