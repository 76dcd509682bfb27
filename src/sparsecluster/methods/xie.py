"""Own variances and grouped features: penalties on means and variances (Xie, Pan and Shen, 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from .._data.reading import Reading
from .._mixtures.em import Mixture, Model
from .._mixtures.penalties import L1, Grouped, InSets, MeanPenalty
from .._mixtures.variances import GroupedLogVariances, LogVariances, VariancePenalty, Variances
from .._utils.arrays import Floats
from .._utils.checks import check_choice, check_count, is_auto
from .._utils.progress import Verbosity
from .._utils.text import brief
from ._clusters import NClusters
from ._penalized import PenalizedMixture, check_strength

FORMS = ("log", "difference")


class XieMixture(PenalizedMixture):
    """Gaussian mixture whose clusters have their own variances, with penalties on both (Xie, Pan and Shen, 2008).

    Maximizes over the weights pi, the means mu and the variances v the penalized log likelihood

        sum_i log sum_k pi_k prod_j N(x_ij; mu_kj, v_kj) - l_1 sum_kj |mu_kj| - l_2 sum_kj r(v_kj),

    with r(v) = |log v| or |v - 1|. Features are standardized, so that a feature with means 0 and variances 1 in all
    clusters has the same distribution in all of them and is not chosen. If both penalties are 0, this is the plain
    mixture with own variances, which is the model VVI of R's mclust.

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
    grouping : None, "features" or array-like of shape (n_features,), default=None
        Means that are shrunk together. "features" replaces the penalty on the means of a feature by
        l_1 sqrt(k) |mu_j|_2, which drops all of them or none, and the penalty on its variances by
        l_2 sqrt(k) |log v_j|_2. An array with the set of each feature, such as its pathway, replaces the penalty on the
        means of set g in cluster k by l_1 sqrt(p_g) |mu_kg|_2, with p_g the number of its features.
    penalty : "auto" or float, default="auto"
        Strength l of the penalty. "auto" chooses among `n_penalties` values by the BIC. They are spaced evenly on the
        log scale, up to a value that drops all features.
    n_penalties : int, default=20
        Number of penalties that are tried.
    variance_penalty : "auto" or float, default="auto"
        Strength l_2 of the penalty on the variances. "auto" chooses it together with `penalty` by the BIC.
    n_variance_penalties : int, default=6
        Number of penalties on the variances that are tried.
    variance_form : {"log", "difference"}, default="log"
        Whether r(v) is |log v| or |v - 1|.
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
    variances_ : ndarray of shape (n_clusters, n_features)
        Variances of the mixture, in the squared units of X. NaN for constant columns.
    mixture_weights_ : ndarray of shape (n_clusters,)
        Weights pi of the clusters.
    penalty_ : float
        The strength of the penalty on the means.
    variance_penalty_ : float
        The strength of the penalty on the variances.
    bic_ : float
        -2 log likelihood + d log n, with d the number of free parameters. Smaller is better.
    bic_curve_ : TuningCurve or None
        The BIC over the penalties that leave all clusters, at the chosen penalty on the
        variances, or None if the penalty was given. It is shown as
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
    d counts k - 1 weights, the nonzero means and the variances other than 1. The text of the paper was not available
    when this was written, and it may count them differently. The penalty |v - 1| is not convex: v = 1 and a smaller
    value may both be minima, and the better one is taken. Variances are at least 1e-6. With sets of features, only the
    means are grouped.

    References
    ----------
    B. Xie, W. Pan and X. Shen, "Penalized model-based clustering with cluster-specific diagonal covariance matrices and
    grouped variables", Electronic Journal of Statistics 2 (2008), 168-212.

    Examples
    --------
    >>> from sparsecluster import XieMixture, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.5, n_features=100, seed=0)
    >>> found = XieMixture(n_clusters=3, variance_penalty=10.0).fit(X)
    >>> rand_index(truth, found.labels_), int(found.support_.sum()), int(found.support_[useful].sum())
    (1.0, 69, 50)
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
        grouping: Any = None,
        penalty: float | str = "auto",
        n_penalties: int = 20,
        variance_penalty: float | str = "auto",
        n_variance_penalties: int = 6,
        variance_form: Literal["log", "difference"] = "log",
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
        self.grouping = grouping
        self.variance_penalty = variance_penalty
        self.n_variance_penalties = n_variance_penalties
        self.variance_form = variance_form

    _own_variances: ClassVar[bool] = True
    # Variances are drawn to 1 and features that are not chosen have the variance 1, so that units must not be far off.
    _raw_limits = (1e-24, 1e24)

    def _check(self) -> None:
        super()._check()
        check_strength("variance_penalty", self.variance_penalty)
        check_count("n_variance_penalties", self.n_variance_penalties, 1)
        check_choice("variance_form", self.variance_form, FORMS)
        if isinstance(self.grouping, str):
            check_choice("grouping", self.grouping, ["features"], ", None or an array with the set of each feature")
            if self.variance_form != "log":
                raise ValueError(
                    'grouping="features" requires variance_form="log", for which the variances of a feature can be '
                    f"shrunk together; got variance_form={brief(self.variance_form)}."
                )

    def _variance_penalties(self) -> Floats | int:
        if is_auto(self.variance_penalty):
            return int(self.n_variance_penalties)
        return np.array([float(self.variance_penalty)])

    def _model(self, reading: Reading, units: Floats, mixture: Mixture) -> Model:
        on_variances: VariancePenalty = LogVariances(1.0) if self.variance_form == "log" else Variances(1.0)
        on_means: MeanPenalty = L1(1.0)
        if isinstance(self.grouping, str):
            on_means, on_variances = Grouped(1.0), GroupedLogVariances(1.0)
        elif self.grouping is not None:
            on_means = InSets.of(1.0, self._sets(reading)[reading.source.columns])
        return Model(on_means, on_variances)

    def _sets(self, reading: Reading) -> Any:
        """Return the number of the set of each column of the table."""
        given = np.asarray(self.grouping)
        if given.shape != (reading.n_columns,):
            raise ValueError(
                f"grouping must have one entry per feature, that is, the shape ({reading.n_columns},); got "
                f"{given.shape}."
            )
        return np.unique(given, return_inverse=True)[1]
