"""Variable selection for model-based clustering by comparing Gaussian models with the BIC (Raftery and Dean, 2006)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from .._data.reading import Reading
from .._mixtures.gaussian import MODELS, Mixture, Setting, best_complete
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Subset
from .._utils.checks import check_choice, check_count
from .._utils.parallel import workers_for
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._base import SparseClusterer
from ._clusters import NClusters
from ._criteria.choice import Choice, warn
from ._criteria.refit import fit_each
from ._mixins import CompleteNumbers, SoftMemberships
from ._result import Array, NoClustersError, Order, Result, have_shapes, placed
from ._screening import spreads
from ._stepwise import Direction, Evidence, Proposal, Regression, Search, Stepwise

# A mixture visits every value many times, so that threads pay even if there are few values.
VISITS = 100


class Step(NamedTuple):
    """A proposal to add or to remove a feature.

    Attributes
    ----------
    name : str
        Name of the feature.
    column : int
        Position of the feature among the columns of X.
    action : {"add", "remove"}
        What was proposed.
    difference : float
        BIC of the model in which the feature separates clusters, minus that of the model in which it does not.
    bic : float
        BIC of the best mixture on the features that are left after the step.
    covariance_model : str
        Covariance model of this mixture.
    accepted : bool
        Whether the step was made.
    """

    name: str
    column: int
    action: str
    difference: float
    bic: float
    covariance_model: str
    accepted: bool


class GaussianComponents(NamedTuple):
    """A mixture of Gaussians in the chosen columns.

    `scales` turn deviations from a mean into independent standard normal ones: reciprocal standard deviations, of shape
    (k, d), or matrices, of shape (k, d, d).
    """

    origin: Floats
    units: Floats
    shares: Floats
    means: Floats
    scales: Floats

    def memberships(self, values: Sequence[Any]) -> Floats:
        """Return the probability of each cluster for each sample."""
        at = placed(np.column_stack(values), self.origin, self.units)
        joint = np.log(self.shares) * np.ones((len(at), 1))
        for c, (mean, scale) in enumerate(zip(self.means, self.scales, strict=True)):
            apart = (at - mean) * scale if scale.ndim == 1 else (at - mean) @ scale
            joint[:, c] += np.log(scale if scale.ndim == 1 else np.diag(scale)).sum() - 0.5 * (apart**2).sum(axis=1)
        return np.asarray(softmax(joint, axis=1))

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the most probable cluster of each sample."""
        return self.memberships(values).argmax(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squared distances to the mean of the most probable cluster / sum of squared distances to 0."""
        at = placed(np.column_stack(values), self.origin, self.units)
        return float(1.0 - ((at - self.means[self.nearest(values)]) ** 2).sum() / (at**2).sum())

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the arrays, which may come from a file, have the right shapes."""
        form = (k, n_chosen, n_chosen)[: max(np.ndim(self.scales), 2)]
        places = (self.origin, (n_chosen,)), (self.units, (n_chosen,))
        return have_shapes(*places, (self.shares, (k,)), (self.means, (k, n_chosen)), (self.scales, form))


class RafteryDean(CompleteNumbers, SoftMemberships, SparseClusterer):
    """Variable selection for model-based clustering (Raftery and Dean, 2006).

    The chosen features S follow a mixture of k Gaussians, and the others depend on the chosen ones by linear
    regressions, but not on the clusters. Features are added and removed one at a time. Each proposal compares the model
    in which feature a separates clusters with the model in which it does not, by the difference

        BIC(mixture on S with a) - [BIC(mixture on S) + BIC(regression of a on S)],

    where the BIC of a mixture is the best over the covariance models. A feature is added if the difference is
    positive, and removed if it is not. BIC = 2 log L - (number of parameters) log n, so larger values are better.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses
        among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen. "auto" searches for every k and compares the results by `evidence_`, as
        in the paper, where k, the features and the covariance model are chosen together by the BIC. For the other
        criteria, see `SASClustering`.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    search : {"greedy", "headlong"}, default="greedy"
        "greedy" looks at all features before it makes the best step. "headlong" makes the first step that is good
        enough, and drops a feature for good once its difference is at most -10. It is faster with many features.
    direction : {"forward", "backward"}, default="forward"
        "forward" starts with no feature, and the first two are added whatever the difference. "backward" starts with
        all features. It finds features that separate clusters only together, but needs more samples than features.
    covariance_models : str or sequence of str, default="all"
        Models of the covariance matrices within clusters, by their names in mclust: one variance ("EII"), one variance
        for each cluster ("VII"), for each feature ("EEI") or for each cluster and feature ("VVI"), one full matrix
        ("EEE"), or one for each cluster ("VVV"). "all" compares these six. With a single feature, they are the models
        with equal ("E") and with different variances ("V").
    regression : {"subset", "all"}, default="subset"
        Whether a feature depends on the subset of the chosen features with the best BIC, as in the R package
        clustvarsel, or on all of them, as in the paper. All subsets of up to 12 features are compared; of more, the
        subset is found stepwise. With "all" and diagonal covariances, useless features are added once several features
        are chosen, because a regression on all of these has more parameters than the means of a feature.
    max_features : int or None, default=None
        Largest number of features to choose.
    max_candidates : int or None, default=None
        If given, only this many features are considered: those that separate clusters best on their own. None considers
        all features.
    standardize : bool, default=True
        Whether to scale all features to variance 1 first. This matters for the models "EII" and "VII", in which all
        features have the same variance, and for the starts of EM.
    n_init : int, default=5
        Number of starts of K-means, the best of which is a start of EM. EM also starts from the clusters of Ward's
        method, for up to 2000 samples, and from those on the features before the step.
    max_iter : int, default=500
        Maximum number of iterations of EM.
    n_jobs : int or None, default=None
        Number of threads. None means 1 unless in a `joblib.parallel_config` context, and -1 means all processors. The
        result does not depend on the number of threads.
    random_state : int, RandomState instance or None, default=0
        Seed of K-means. Pass an int for the same result on every run, or None for a new seed every time.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Most probable cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Probability of each cluster for each sample, and NaN for samples that were left out.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the chosen features, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0.
    covariance_model_ : str
        Covariance model of the mixture.
    bic_ : float
        BIC of the mixture on the chosen features, in the units of X.
    evidence_ : float
        `bic_` minus the BIC of a single Gaussian on the same features, each of which depends on those before it by a
        regression. If it is not positive, there may be no clusters.
    steps_ : list of Step
        All proposals: `name`, `column`, `action`, `difference`, `bic` and `covariance_model` after the step, and
        whether it was `accepted`. Of the proposals of one step, only the best one is listed. `pandas.DataFrame(steps_)`
        shows them as a table.
    n_iter_ : int
        Number of iterations of EM for the mixture on the chosen features.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    A greedy search fits about p (s + 1) mixtures to choose s of p features, each with up to six covariance models.
    `search="headlong"`, `max_candidates`, `max_features` and fewer `covariance_models` save time. A backward search
    fits about p^2 / 2 mixtures; with about as many features as samples, regressions explain everything.

    The search ends at a local optimum: it can miss features that separate clusters only together, and among many
    features it finds small clusters that are due to chance. The models "EII", "EEI" and "EEE", in which all clusters
    have the same covariances, are less prone to this than the others.

    At least one feature is always chosen, even if a single cluster describes it better. If EM leaves a cluster without
    samples for which it is the most probable one, the next best covariance model or start is used at the end. A mixture
    in which a variance falls below a millionth of the variance of its feature counts as failed, unless there is no
    other.

    References
    ----------
    A. E. Raftery and N. Dean, "Variable selection for model-based clustering", Journal of the American Statistical
    Association 101 (2006), 168-178.

    C. Maugis, G. Celeux and M.-L. Martin-Magniette, "Variable selection for clustering with Gaussian mixture models",
    Biometrics 65 (2009), 701-709.

    L. Scrucca and A. E. Raftery, "clustvarsel: a package implementing variable selection for Gaussian model-based
    clustering in R", Journal of Statistical Software 84 (2018), 1-28.

    Examples
    --------
    >>> from sparsecluster import RafteryDean, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=2.5, n_features=12, n_useful=4, seed=0)
    >>> found = RafteryDean(n_clusters=3).fit(X)
    >>> rand_index(truth, found.labels_), found.get_support(indices=True).tolist(), found.covariance_model_
    (1.0, [0, 1, 2, 3], 'EII')
    >>> [(step.action, step.name) for step in found.steps_ if step.accepted]
    [('add', 'x1'), ('add', 'x0'), ('add', 'x2'), ('add', 'x3')]
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
        search: Search = "greedy",
        direction: Direction = "forward",
        covariance_models: str | Collection[str] = "all",
        regression: Regression = "subset",
        max_features: int | None = None,
        max_candidates: int | None = None,
        standardize: bool = True,
        n_init: int = 5,
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
        self.search = search
        self.direction = direction
        self.covariance_models = covariance_models
        self.regression = regression
        self.max_features = max_features
        self.max_candidates = max_candidates
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_choice("search", self.search, ["greedy", "headlong"])
        check_choice("direction", self.direction, ["forward", "backward"])
        check_choice("regression", self.regression, ["subset", "all"])
        check_count("n_init", self.n_init, 1)
        for name in ("max_features", "max_candidates"):
            if vars(self)[name] is not None:
                check_count(name, vars(self)[name], 1, advice="Use None for no limit.")
        given = self.covariance_models
        is_several = isinstance(given, Collection) and not isinstance(given, str) and len(given) > 0
        for model in given if is_several else [given]:
            check_choice("covariance_models", model, ["all", *MODELS], ", or a sequence of these")

    def _models(self) -> list[str]:
        """Return the covariance models to compare."""
        given = self.covariance_models
        names = [given] if isinstance(given, str) else list(given)
        return [name for name in MODELS if name in names or "all" in names]

    def _solve(self, reading: Reading, k: int) -> Result:
        raw = self._complete_table(reading)
        seed = int(rng_of(self.random_state).integers(2**31))
        (n, p), origin = raw.shape, raw.mean(axis=0)
        units = spreads(raw) if self.standardize else np.full(p, np.abs(raw - origin).max())
        setting = Setting(k, self._models(), int(self.n_init), int(self.max_iter), seed)
        workers = workers_for(self.n_jobs, self.verbose, raw.size * VISITS)
        evidence = Evidence((raw - origin) / units, setting, self.regression, workers)
        most = p if self.max_features is None else int(self.max_features)
        steps = Stepwise(evidence, self.search, self.direction, most)
        chosen = steps.run(self.max_candidates)
        subset = np.array(chosen)
        if not evidence.has_distinct(chosen):
            raise NoClustersError(
                f"The chosen features have fewer than {k} distinct samples. Raise max_features or max_candidates, or "
                "use fewer clusters."
            )
        found = best_complete(evidence.columns[subset], setting, steps.current.labels)
        logs = 2.0 * n * np.log(units)

        def step(each: Proposal, accepted: bool) -> Step:
            column = int(reading.source.columns[each.feature])
            after = float(each.value.bic - logs[each.features].sum())
            named = reading.names[column], column, each.action
            return Step(*named, each.difference, after, each.value.model, accepted)

        attributes = {
            "covariance_model_": found.model,
            "bic_": float(found.bic - logs[subset].sum()),
            "evidence_": found.bic - evidence.one_cluster(chosen),
            "n_iter_": found.n_iter,
            "steps_": [step(*each) for each in steps.proposals],
        }

        def clusters(order: Order) -> GaussianComponents:
            own = np.searchsorted(subset, order.chosen)
            return components(found, own, order, origin[order.chosen], units[order.chosen])

        arrays = {"memberships_": Array(found.memberships.T, ("sample", "cluster"), np.nan)}
        features = reading.source.features()
        return Result(features, found.labels, subset, k, None, arrays, attributes, clusters)

    def _choose_clusters(self, reading: Reading, ks: Sequence[int]) -> Choice:
        found = fit_each(self, reading, ks)
        score = np.array([found[k].attributes["evidence_"] for k in ks])
        best = ks[int(score.argmax())]
        if score.max() <= 0:
            warn(
                f"No number of clusters from {ks[0]} to {ks[-1]} describes the data better than a single cluster. The "
                f"best of them, {best}, is used. The data may have no clusters."
            )
        details = {"n_features": np.array([float(found[k].subset.size) for k in ks])}
        curve = TuningCurve("k", np.array(ks), "bic", score, best, None, details)
        return Choice(best, curve, found[best].labels)


def components(found: Mixture, own: Subset, order: Order, origin: Floats, units: Floats) -> GaussianComponents:
    """Return a mixture with clusters in the user's order, and the features at the places `own`."""
    if found.covariances.ndim == 2:
        scales = 1.0 / np.sqrt(found.covariances[:, own])
    else:
        matrices = found.covariances[:, own[:, None], own]
        scales = np.linalg.inv(np.linalg.cholesky(matrices)).transpose(0, 2, 1)
    shares = order.restore(Array(found.shares, ("cluster",)))
    centers, scales = (
        order.restore(Array(each, ("cluster", *[None] * (each.ndim - 1)))) for each in (found.means[:, own], scales)
    )
    return GaussianComponents(origin, units, shares, centers, scales)
