"""What penalized Gaussian mixtures have in common: starts, a range of penalties, the BIC, and soft memberships."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from .._data.reading import Reading
from .._mixtures.em import Fit, Mixture, Model, Table
from .._mixtures.path import Plan, Tried, follow
from .._mixtures.starts import KINDS, start_memberships
from .._search.climb import Problem
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Labels
from .._utils.checks import check_choice, check_count, check_number, is_auto
from .._utils.parallel import workers_for
from .._utils.parameters import rng_of
from .._utils.progress import Progress, Verbosity
from .._utils.text import brief
from ._base import SparseClusterer
from ._clusters import NClusters, is_given
from ._criteria.choice import Choice, at_least_two, warn
from ._mixins import CompleteNumbers, SoftMemberships
from ._result import Array, NoClustersError, Order, Result, have_shapes, placed
from ._screening import spreads, standardized

# The smallest penalty that is tried, as a share of the one that drops all features. Adaptive weights are small for the
# features with the largest means, so that the range from noise to signal is the square of that without them.
SPAN, ADAPTIVE_SPAN = 1e-2, 1e-4
WITHOUT_PENALTY = {"penalty": 0.0, "variance_penalty": 0.0}


class GaussianClusters(NamedTuple):
    """A mixture in the chosen columns: weights, and means and variances in units of the standardized columns."""

    origin: Floats
    units: Floats
    weights: Floats
    means: Floats
    variances: Floats

    def _placed(self, values: Sequence[Any]) -> Floats:
        return placed(np.column_stack(values), self.origin, self.units)

    def memberships(self, values: Sequence[Any]) -> Floats:
        """Return the probability of each cluster for each sample."""
        placed, log_weights = self._placed(values), np.log(self.weights)
        joint = [
            log_weight - 0.5 * ((placed - center) ** 2 / variance + np.log(variance)).sum(axis=1)
            for log_weight, center, variance in zip(log_weights, self.means, self.variances, strict=True)
        ]
        return np.asarray(softmax(np.column_stack(joint), axis=1))

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the most probable cluster of each sample."""
        return self.memberships(values).argmax(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squared distances to the mean of the most probable cluster / to the mean of all samples."""
        placed = self._placed(values)
        apart = ((placed - self.means[self.nearest(values)]) ** 2).sum()
        return float(1.0 - apart / (placed**2).sum())

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the arrays, which may come from a file, have the right shapes."""
        by_column = ((self.origin, (n_chosen,)), (self.units, (n_chosen,)))
        by_cluster = ((self.weights, (k,)), (self.means, (k, n_chosen)), (self.variances, (k, n_chosen)))
        return have_shapes(*by_column, *by_cluster)


class Standardized(NamedTuple):
    """The table that is clustered, and how it was made from the data: (data - origin) / units."""

    table: Floats
    origin: Floats
    units: Floats


class PenalizedMixture(CompleteNumbers, SoftMemberships, SparseClusterer):
    """Base class of penalized Gaussian mixtures. A subclass has a penalty.

    Attributes
    ----------
    _own_variances : bool
        Whether every cluster has its own variances.
    _is_adaptive : bool
        Whether the penalty has weights that depend on the unpenalized mixture.
    """

    _own_variances: ClassVar[bool] = False
    _reports_variances = True

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
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
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.penalty = penalty
        self.n_penalties = n_penalties
        self.standardize = standardize
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------ what subclasses say

    @property
    def _is_adaptive(self) -> bool:
        return bool(vars(self).get("adaptive", False))

    @property
    def _span(self) -> float:
        """The smallest penalty that is tried, as a share of the one that drops all features."""
        return ADAPTIVE_SPAN if self._is_adaptive else SPAN

    @abstractmethod
    def _model(self, reading: Reading, units: Floats, mixture: Mixture) -> Model:
        """Return the penalties. Adaptive weights follow from the unpenalized mixture.

        `units` are the standard deviations of the columns that are clustered, of shape (p,).
        """

    def _more_arrays(self, fit: Fit) -> dict[str, Array]:
        """Return attributes that only this method has."""
        return {}

    # ------------------------------------------------------------ fitting

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        check_count("n_penalties", self.n_penalties, 1)
        check_strength("penalty", self.penalty)
        for kind in self._kinds():
            check_choice("init", kind, ["auto", *KINDS], " or several of them")

    def _kinds(self) -> Sequence[str]:
        given = [self.init] if isinstance(self.init, str) else self.init
        if not isinstance(given, Sequence) or not given:
            raise ValueError(f'init must be "auto" or one or several of {", ".join(KINDS)}; got {brief(self.init)}.')
        return KINDS if "auto" in given else given

    def _penalties(self) -> Floats | int:
        """Return the strengths of the penalty on the means that are tried, or how many of them."""
        return int(self.n_penalties) if is_auto(self.penalty) else np.array([float(self.penalty)])

    def _variance_penalties(self) -> Floats | int:
        """Return the same for the penalty on the variances. Without one, its strength does not matter."""
        return np.zeros(1)

    def _solve(self, reading: Reading, k: int) -> Result:
        return self._solve_from(reading, k, None)

    def _solve_from(self, reading: Reading, k: int, labels: Labels | None) -> Result:
        data = self._prepared(reading)
        known = [] if labels is None else [labels]
        tried = self._tried(reading, data, k, known)
        if not tried and is_auto(self.penalty):
            # Without a penalty, clusters are lost last. EM then stops before it loses one.
            tried = self._tried(reading, data, k, known, WITHOUT_PENALTY, keeps_clusters=True)
        best = chosen_of(tried)
        if best is None:
            raise NoClustersError(self._nothing_left(k))
        alone = bic_of_one(Table.of(data.table, self._own_variances))
        if is_auto(self.penalty) and is_given(self.n_clusters) and gain(best.fit, alone) <= 0:
            warn(
                f"By the BIC, a single cluster describes the data better than {k} clusters do, with every penalty that "
                "was tried. The clusters and the chosen features may be arbitrary."
            )
        return self._result(reading, data, k, tried, best)

    def _improve(self, reading: Reading, k: int, found: Result, labels: Labels) -> Result:
        given = found.attributes
        own = {"penalty": given["penalty_"], "variance_penalty": given.get("variance_penalty_", 0.0)}
        data = self._prepared(reading)
        tried = self._tried(reading, data, k, [labels], own, only_known=True)
        best = chosen_of(tried)
        return self._solve(reading, k) if best is None else self._result(reading, data, k, tried, best)

    def _choose_clusters(self, reading: Reading, ks: Sequence[int]) -> Choice:
        """Choose the penalty and the number of clusters together by the BIC."""
        data = self._prepared(reading)
        found = [
            chosen_of(self._tried(reading, data, k, [])) for k in Progress(self.verbose).track(ks, "clusters", len(ks))
        ]
        alone = bic_of_one(Table.of(data.table, self._own_variances))
        gains = np.array([0.0, *(-np.inf if each is None else gain(each.fit, alone) for each in found)])
        values = [1, *ks]
        best = at_least_two("The BIC", values, gains, values[int(np.argmax(gains))])
        chosen = found[list(ks).index(best)]
        if chosen is None:
            raise NoClustersError(self._nothing_left(best))
        return Choice(best, TuningCurve("k", np.array(ks), "bic", gains[1:], best), chosen.fit.labels)

    def _prepared(self, reading: Reading) -> Standardized:
        raw = self._complete_table(reading)
        origin = raw.mean(axis=0)
        if self.standardize:
            return Standardized(standardized(raw), origin, spreads(raw))
        return Standardized(raw - origin, origin, np.ones(raw.shape[1]))

    def _tried(
        self,
        reading: Reading,
        data: Standardized,
        k: int,
        known: Sequence[Labels],
        given: Mapping[str, float] | None = None,
        *,
        only_known: bool = False,
        keeps_clusters: bool = False,
    ) -> list[Tried]:
        """Fit all penalties, or those that are given, from all starts and known labels, or only from these."""
        table = Table.of(data.table, self._own_variances)
        features = reading.source.features()
        problem = Problem(features, self._clusterer(features), k)
        kinds = [] if only_known else self._kinds()
        starts = start_memberships(problem, table, kinds, int(self.n_init), rng_of(self.random_state), known)
        units = np.sqrt(table.spread)
        plan = Plan(
            lambda mixture: self._model(reading, units, mixture),
            self._is_adaptive,
            self._is_adaptive or is_auto(self.penalty),
            self._penalties() if given is None else np.array([given["penalty"]]),
            self._variance_penalties() if given is None else np.array([given["variance_penalty"]]),
            self._span,
            int(self.max_iter),
            keeps_clusters,
        )
        return follow(table, starts, plan, workers_for(self.n_jobs, self.verbose, data.table.size))

    def _nothing_left(self, k: int) -> str:
        if is_auto(self.penalty):
            return f"Even without a penalty, fewer than {k} clusters are left. Use a smaller number of clusters."
        return (
            f"With penalty={brief(self.penalty)}, fewer than {k} clusters are left: the penalty is too strong, or "
            'there are fewer clusters. Use a smaller penalty, or penalty="auto" to tune it.'
        )

    # ------------------------------------------------------------ the result

    def _result(self, reading: Reading, data: Standardized, k: int, tried: Sequence[Tried], best: Tried) -> Result:
        fit = best.fit
        mixture, p = fit.mixture, data.origin.size
        table = Table.of(data.table, self._own_variances)
        used = mixture.used(table)
        variances = np.broadcast_to(mixture.variances, (p, k)).T

        def clusters(order: Order) -> GaussianClusters:
            by_cluster = [Array(each, ("cluster", None)) for each in (mixture.means.T, variances)]
            means, own = (order.restore(each)[:, order.chosen] for each in by_cluster)
            weights = order.restore(Array(mixture.weights, ("cluster",)))
            return GaussianClusters(data.origin[order.chosen], data.units[order.chosen], weights, means, own)

        in_units = data.origin + data.units * mixture.means.T
        common = {"variances_": Array(mixture.variances[:, 0] * data.units**2, ("feature",), np.nan)}
        own = {"variances_": Array(variances * data.units**2, ("cluster", "feature"), np.nan)}
        arrays = {
            "memberships_": Array(fit.memberships, ("sample", "cluster"), np.nan),
            "means_": Array(in_units, ("cluster", "feature"), np.nan),
            "mixture_weights_": Array(mixture.weights, ("cluster",)),
            **(own if self._own_variances else common),
            **self._more_arrays(fit),
        }
        attributes: dict[str, Any] = {
            "penalty_": best.penalty,
            "bic_": fit.bic,
            "loglik_": fit.loglik,
            "objective_": fit.objective,
            "objectives_": np.array(fit.history),
            "n_iter_": len(fit.history),
            "bic_curve_": curve_of(tried, best, bic_of_one(table)) if is_auto(self.penalty) else None,
        }
        if self._own_variances:
            attributes["variance_penalty_"] = best.variance_penalty
        return Result(
            reading.source.features(), fit.labels, used, k, arrays=arrays, attributes=attributes, clusters=clusters
        )


def check_strength(name: str, value: object) -> None:
    """Check the strength of a penalty."""
    if not is_auto(value):
        allowed = '"auto" or a number of at least 0'
        check_number(name, value, allowed, lambda x: 0 <= x < np.inf, 'Use "auto" to tune it.')


def chosen_of(tried: Sequence[Tried]) -> Tried | None:
    """Return the fit with the smallest BIC; ties go to the strongest penalty. None if there is no fit."""
    return min(reversed(tried), key=lambda each: each.fit.bic) if tried else None


def bic_of_one(table: Table) -> float:
    """Return the BIC of a single cluster, whose means are zero. Own variances are then 1, and the others are free."""
    n_free = 0 if table.own_variances else table.spread.size
    return float(-2.0 * table.baseline.sum() + n_free * np.log(table.baseline.size))


def gain(fit: Fit, alone: float) -> float:
    """Return how much better the BIC of a fit is than that of a single cluster, in units of log likelihood."""
    return (alone - fit.bic) / 2.0


def curve_of(tried: Sequence[Tried], best: Tried, alone: float) -> TuningCurve:
    """Return the BIC over the penalties on the means, at the chosen penalty on the variances."""
    along = [each for each in tried if each.variance_penalty == best.variance_penalty]
    details = {
        "loglik": np.array([each.fit.loglik for each in along]),
        "objective": np.array([each.fit.objective for each in along]),
        "features": np.array([float(np.count_nonzero(each.fit.mixture.means.any(axis=1))) for each in along]),
    }
    penalties, bics = np.array([each.penalty for each in along]), np.array([gain(each.fit, alone) for each in along])
    return TuningCurve("penalty", penalties, "bic", bics, best.penalty, None, details)
