"""Reduction before clustering: principal components or metagenes, then a Gaussian mixture or another clusterer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from .._clusterers.registry import CLUSTERERS, make_clusterer
from .._data.reading import Reading
from .._features.numeric import NumericFeatures, Source
from .._mixtures.gaussian import Mixture, Setting
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Labels
from .._utils.checks import check_choice, check_count, check_number, is_auto
from .._utils.parallel import workers_for
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._base import SparseClusterer
from ._clusters import NClusters
from ._criteria.choice import Choice, warn
from ._criteria.refit import fit_each
from ._mixins import CompleteNumbers, SoftMemberships
from ._nmf import Factors, amounts_of, factorize, last_stable, stability, strongest
from ._reduction import (
    How,
    Placed,
    ReducedClusters,
    Reduction,
    are_distinct,
    clusters_of,
    evidence,
    first_equal,
    fit_mixture,
    nearest_centers,
    principal,
    variance_curve,
)
from ._result import Array, NoClustersError, Order, Result
from ._screening import spreads

# The largest number of components that "auto" compares.
MOST_COMPONENTS = {"pca": 10, "nmf": 5}
# With more samples than this, the agreement of factorizations is measured on a random part of them.
MOST_COMPARED = 2000
# A difference of BIC that is not worth more than a bare mention (Kass and Raftery, 1995).
SLIGHT = 2.0


def is_mixture(estimator: Any) -> bool:
    """Whether samples belong to clusters with probabilities."""
    return isinstance(estimator.clusterer, str) and estimator.clusterer == "mixture"


class ReducedClustering(CompleteNumbers, SoftMemberships, SparseClusterer):
    """Cluster the samples by a few principal components or metagenes of all features.

    With `reduction="pca"`, features are scaled to variance 1, and samples are clustered by their coordinates z_1, ...,
    z_q along the q leading principal components. By default, the clusters are those of a mixture of Gaussians, started
    from hierarchical clustering and from K-means, whose covariance model is chosen by the BIC (Ghosh and Chinnaiyan,
    2002). The number q maximizes

        BIC(q) = 2 log f(z_1, ..., z_q) + 2 sum_{j > q} log N(z_j; 0, s_j^2) - d_q log n,

    where f is the likelihood of the mixture, and d_q is the number of parameters: only the first q components have to
    do with the clusters, and the others are Gaussian (Liu, Zhang, Palumbo and Lawrence, 2003).

    With `reduction="nmf"`, the features are made nonnegative, and the table is approximated by amounts of q metagenes,
    which are nonnegative, too. The metagenes minimize the Kullback-Leibler divergence of the table from the
    approximation. Samples are clustered by their amounts, scaled to unit length (Tamayo et al., 2007). The number q is
    the largest for which the factorizations from different starts agree best (Brunet et al., 2004).

    Both reductions use all features and know nothing of the clusters.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses
        among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen; see `SASClustering`. For a mixture in principal components, "auto" is the
        BIC above, maximized over q: the smallest k whose BIC is at most 2 below the best is chosen.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    reduction : {"pca", "nmf"}, default="pca"
        Principal components, or metagenes by nonnegative matrix factorization.
    clusterer : str or object, default="mixture"
        "mixture" is a mixture of Gaussians, which gives probabilities. Others, such as "kmeans", are as in
        `SASClustering`, and new samples join the cluster with the nearest center.
    n_components : "auto" or int, default="auto"
        Number q of components.
    component_rule : {"bic", "variance"}, default="bic"
        How "auto" chooses the number of principal components: by the BIC above, or as the smallest number that has a
        share `variance_share` of the variance of all features. Metagenes are always chosen by the agreement of starts.
    variance_share : float, default=0.8
        Share of the variance for `component_rule="variance"`.
    max_components : int or None, default=None
        Largest number of components that "auto" compares by the BIC or by the agreement of starts. None means 10
        principal components or 5 metagenes.
    nonnegative : {"shift", "ranks"}, default="shift"
        How features are made nonnegative for `reduction="nmf"`: "shift" subtracts the minimum of each feature. "ranks"
        replaces the values of each sample by their ranks among its features, as Tamayo et al. do, which is meant for
        many features with the same unit, such as genes.
    standardize : bool, default=True
        Whether to scale all features to variance 1. Ranks do not depend on it.
    n_init : int, default=20
        Number of starts of each factorization, and of clusterers other than "mixture".
    max_iter : int, default=500
        Maximum number of steps of a factorization or of a mixture.
    n_jobs : int or None, default=None
        Number of threads for the starts of factorizations. None means 1 unless in a `joblib.parallel_config` context,
        and -1 means all processors. The result does not depend on the number of threads.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    components_ : ndarray of shape (n_components_, n_features)
        Directions of the principal components or metagenes, each of unit length, for the scaled features; 0 for
        constant columns.
    embedding_ : ndarray of shape (n_samples, n_components_)
        Coordinates by which the samples were clustered. The sign of a principal component has no meaning.
    n_components_ : int
        The number q of components. It is larger than the number given or chosen if fewer than k samples would differ,
        and smaller if the table has a lower rank or if no sample needs a metagene.
    components_curve_ : TuningCurve or None
        The criterion for the number of components: the BIC less that without clusters, the share of the variance, or
        the cophenetic correlation. None if there was no choice.
    memberships_ : ndarray of shape (n_samples, n_clusters) or None
        Probability that each sample belongs to each cluster. None if the clusters are not those of a mixture.
    covariance_model_ : str or None
        Covariance model of the mixture, by its name in mclust; see `RafteryDean`. None if there is no mixture.
    evidence_ : float or None
        BIC of the mixture less that of one Gaussian for each component. If it is not positive, there may be no
        clusters. None if there is no mixture.
    n_iter_ : int or None
        Number of steps of the mixture or of the factorization. None if there was neither.
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

    Notes
    -----
    Liu et al. sample q, the clusters and a transformation of each component from a posterior distribution. The BIC
    replaces their sampler, and there are no transformations. Ghosh and Chinnaiyan leave q to the user. Components
    beyond the rank of the table, which is below n, do not exist and are left out.

    The number of metagenes is the largest whose cophenetic correlation is within 0.005 of the best; Brunet et al. look
    at the curve and take the last number before it falls. All samples, old and new, get the nonnegative amounts that
    approximate them best by least squares, where Tamayo et al. use the pseudoinverse, which may give negative ones.

    References
    ----------
    D. Ghosh and A. M. Chinnaiyan, "Mixture modelling of gene expression data from microarray experiments",
    Bioinformatics 18 (2002), 275-286. J. S. Liu, J. L. Zhang, M. J. Palumbo and C. E. Lawrence, "Bayesian clustering
    with variable and transformation selections", Bayesian Statistics 7 (2003), 249-275. P. Tamayo et al., "Metagene
    projection for cross-platform, cross-species characterization of global transcriptional states", PNAS 104 (2007),
    5959-5964. J.-P. Brunet, P. Tamayo, T. R. Golub and J. P. Mesirov, "Metagenes and molecular pattern discovery using
    matrix factorization", PNAS 101 (2004), 4164-4169.

    Examples
    --------
    >>> from sparsecluster import ReducedClustering, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, _ = shifted_groups(mu=1.5, n_features=200, seed=0)
    >>> found = ReducedClustering(n_clusters=3).fit(X)
    >>> rand_index(truth, found.labels_), found.n_components_, found.components_.shape
    (1.0, 1, (1, 200))
    >>> found.predict_proba(X[:2]).shape
    (2, 3)
    """

    _any_unit = True

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        reduction: str = "pca",
        clusterer: str | object = "mixture",
        n_components: int | str = "auto",
        component_rule: str = "bic",
        variance_share: float = 0.8,
        max_components: int | None = None,
        nonnegative: str = "shift",
        standardize: bool = True,
        n_init: int = 20,
        max_iter: int = 500,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.reduction = reduction
        self.clusterer = clusterer
        self.n_components = n_components
        self.component_rule = component_rule
        self.variance_share = variance_share
        self.max_components = max_components
        self.nonnegative = nonnegative
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        check_choice("reduction", self.reduction, list(MOST_COMPONENTS))
        check_choice("component_rule", self.component_rule, ["bic", "variance"])
        check_choice("nonnegative", self.nonnegative, ["shift", "ranks"])
        check_number("variance_share", self.variance_share, "a number in (0, 1]", lambda x: 0 < x <= 1)
        if self.max_components is not None:
            check_count("max_components", self.max_components, 1)
        if not is_auto(self.n_components):
            check_count("n_components", self.n_components, 1, advice='Use "auto" to choose it.')
        if isinstance(self.clusterer, str):
            check_choice("clusterer", self.clusterer, ["mixture", *CLUSTERERS], ", or an object with fit_predict")

    @available_if(is_mixture)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability that each sample belongs to each cluster, which only a mixture has.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, with the same columns as in `fit`.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
            Probabilities, which sum to 1 for each sample.
        """
        return super().predict_proba(X)

    def _solve(self, reading: Reading, k: int) -> Result:
        table = self._complete_table(reading)
        n, p = table.shape
        if not is_auto(self.n_components):
            check_count("n_components", self.n_components, 1, min(n - 1, p), f"X has {n} rows and {p} usable columns.")
        rng = rng_of(self.random_state)
        placed = (self._by_components if self.reduction == "pca" else self._by_metagenes)(table, k, rng)
        reduction, points, q = placed.reduction, placed.points, placed.points.shape[1]
        arrays = {
            "components_": Array(reduction.components, (None, "feature")),
            "embedding_": Array(points, ("sample", None), np.nan),
        }
        attributes: dict[str, Any] = {"n_components_": q, "components_curve_": placed.curve, "n_iter_": placed.n_iter}
        if is_mixture(self):
            found = placed.mixtures.get(q) or fit_mixture(points, self._setting(k, rng))
            arrays["memberships_"] = Array(found.memberships.T, ("sample", "cluster"), np.nan)
            attributes |= {"covariance_model_": found.model, "evidence_": evidence(found, points)}
            attributes["n_iter_"] = placed.n_iter or found.n_iter
        else:
            found = nearest_centers(points, self._clustered(points, k, rng), k)
            attributes |= dict.fromkeys(("memberships_", "covariance_model_", "evidence_"))

        def clusters(order: Order) -> ReducedClusters:
            return clusters_of(placed, found, order)

        features = reading.source.features()
        # Equal samples are equal points, but for rounding errors of the densities.
        labels = found.labels[first_equal(points)]
        return Result(features, labels, np.arange(features.n_features), k, None, arrays, attributes, clusters)

    def _setting(self, k: int, rng: np.random.Generator) -> Setting:
        """Return how mixtures are fitted."""
        seed = int(rng.integers(2**31))
        return Setting(k, n_init=int(self.n_init), max_iter=int(self.max_iter), seed=seed)

    def _clustered(self, points: Floats, k: int, rng: np.random.Generator) -> Labels:
        """Cluster points of the reduced space by a clusterer other than a mixture."""
        n, q = points.shape
        features = NumericFeatures(Source(points, np.arange(n), np.arange(q), False))
        clusterer = make_clusterer(self.clusterer, has_rows=True)
        return clusterer.cluster(features, np.arange(q), k, rng, n_starts=int(self.n_init))

    # ------------------------------------------------------------ the components

    def _blank(self, table: Floats, how: How) -> Reduction:
        """Return the zeros and units of a reduction that has no components yet."""
        units = spreads(table)
        origin = table.mean(axis=0) if how == "pca" else table.min(axis=0)
        units = units if self.standardize else np.full(units.size, units.max())
        return Reduction(how, False, origin, units, np.empty((0, units.size)))

    def _most(self) -> int:
        return int(self.max_components or MOST_COMPONENTS[self.reduction])

    def _by_components(self, table: Floats, k: int, rng: np.random.Generator) -> Placed:
        """Place the samples along the leading principal components."""
        blank, is_given = self._blank(table, "pca"), not is_auto(self.n_components)
        by_variance = not is_given and self.component_rule == "variance"
        wanted = int(self.n_components) if is_given else min(table.shape) if by_variance else self._most()
        directions, shares = principal(blank.scaled(table), wanted)
        full = blank._replace(components=directions)
        points = full.embed(table)[first_equal(table)]
        # With fewer components, there would be fewer than k different samples.
        sizes = range(1, len(directions) + 1)
        fewest = next((q for q in sizes if are_distinct(points[:, :q], k)), len(directions))
        curve, mixtures = None, dict[int, Mixture]()
        if by_variance:
            curve = variance_curve(shares, float(self.variance_share))
        elif not is_given:
            tried = np.arange(fewest, max(fewest, min(wanted, len(directions))) + 1)
            setting = self._setting(k, rng)
            mixtures = {q: fit_mixture(points[:, :q], setting) for q in tried.tolist()}
            scores = np.array([evidence(found, points[:, :q]) for q, found in mixtures.items()])
            curve = TuningCurve("n_components", tried, "bic", scores, int(tried[scores.argmax()]))
        q = max(fewest, min(wanted if curve is None else int(curve.chosen), len(directions)))
        return Placed(full._replace(components=directions[:q]), points[:, :q].copy(), curve, None, mixtures)

    def _by_metagenes(self, table: Floats, k: int, rng: np.random.Generator) -> Placed:
        """Place the samples by their amounts of metagenes."""
        how: How = "ranks" if self.nonnegative == "ranks" else "shift"
        blank = self._blank(table, how)
        scaled, first = blank.scaled(table), first_equal(table)
        limit = min(len(table) - 1, table.shape[1])
        most = min(self._most(), limit)
        tried = np.arange(min(2, most), most + 1) if is_auto(self.n_components) else np.array([int(self.n_components)])
        starts = {q: self._starts(scaled, q, rng) for q in tried.tolist()}
        curve, q = None, int(tried[0])
        if tried.size > 1:
            some = rng.permutation(len(table))[:MOST_COMPARED]
            stabilities = np.array([stability([strongest(each)[some] for each in starts[q]]) for q in tried.tolist()])
            q = int(tried[last_stable(stabilities)])
            curve = TuningCurve("n_components", tried, "cophenetic correlation", stabilities, q)
        # More metagenes, and amounts that are not scaled, if fewer than k samples would differ.
        for more in range(q, limit + 1):
            best = min(starts.get(more) or self._starts(scaled, more, rng), key=lambda each: each.divergence)
            # Metagenes that no sample needs are left out.
            used = amounts_of(scaled, best.metagenes).any(axis=0)
            for is_unit in (True, False):
                found = blank._replace(is_unit=is_unit, components=best.metagenes[used])
                points = found.embed(table)[first]
                if are_distinct(points, k):
                    return Placed(found, points, curve, best.n_iter)
        raise NoClustersError(
            f"Fewer than {k} samples differ in their amounts of metagenes, so there cannot be {k} clusters. Use fewer "
            'clusters, nonnegative="shift" or reduction="pca".'
        )

    def _starts(self, scaled: Floats, q: int, rng: np.random.Generator) -> list[Factors]:
        """Factorize the table from several starts."""
        workers = workers_for(self.n_jobs, self.verbose, scaled.size)
        children, max_iter = rng.spawn(int(self.n_init)), int(self.max_iter)
        return list(workers.map(lambda own: factorize(scaled, q, own, max_iter), children, "factorizations"))

    # ------------------------------------------------------------ the number of clusters

    def _choose_clusters(self, reading: Reading, ks: Sequence[int]) -> Choice:
        """Choose the smallest number of clusters whose mixture has about the highest BIC."""
        if self.reduction != "pca" or not is_mixture(self):
            return super()._choose_clusters(reading, ks)
        fits = fit_each(self, reading, ks)
        scores = np.array([found.attributes["evidence_"] for found in fits.values()])
        details = {"n_components": np.array([found.attributes["n_components_"] for found in fits.values()], float)}
        best = int(np.argmax(scores >= scores.max() - SLIGHT))
        if scores.max() <= 0:
            warn(
                "By the BIC, a single Gaussian describes the principal components better than clusters do. The best "
                f"number of at least two clusters, {ks[best]}, is used. The data may have no clusters."
            )
        curve = TuningCurve("k", np.array(ks), "bic", scores, int(ks[best]), None, details)
        return Choice(int(ks[best]), curve, fits[ks[best]].labels)
