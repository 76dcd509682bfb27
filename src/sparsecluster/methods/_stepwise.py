"""Features of a mixture of Gaussians, added and removed one at a time by the BIC (Raftery and Dean, 2006).

Proposals compare two models of a feature a, given the chosen features S: in one it separates clusters, in the other it
depends on S alone, by a linear regression. The difference of their BICs is

    BIC(mixture on S with a) - BIC(mixture on S) - BIC(regression of a on S).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from .._kernels.gaussians import LOG_2PI
from .._kernels.regression import best_regressions
from .._mixtures.gaussian import Setting, mixtures
from .._utils.arrays import Floats, Labels
from .._utils.parallel import Workers

Search = Literal["greedy", "headlong"]
Direction = Literal["forward", "backward"]
Regression = Literal["subset", "all"]

# A headlong search drops a feature for good if the difference of the BICs is at most this.
HOPELESS = -10.0
# All subsets of up to this many regressors are compared. Of more regressors, the subset is found stepwise.
MOST_COMPARED = 12
# The residual variance of a regression is at least this share of the variance, so that its logarithm is finite.
LEAST_RESIDUAL = 1e-12


# ---------------------------------------------------------------- evidence


class Value(NamedTuple):
    """The best mixture on a set of features: BIC, covariance model, whether it is regular, and labels."""

    bic: float
    model: str
    is_regular: bool
    labels: Labels | None


# With no feature there is nothing to describe, and on fewer than k distinct samples there are no k clusters.
NOTHING = Value(0.0, "", True, None)
IMPOSSIBLE = Value(-np.inf, "", False, None)


class Evidence:
    """BICs of mixtures and of regressions. The mixture of every set of features is fitted once."""

    def __init__(self, table: Floats, setting: Setting, regression: Regression, workers: Workers) -> None:
        self.columns = np.ascontiguousarray(table.T)
        self.setting = setting
        self.regression = regression
        self.workers = workers
        self.values: dict[tuple[int, ...], Value] = {(): NOTHING}

    def consider(self, sets: Sequence[Sequence[int]], warm: Labels | None, what: str) -> list[Value]:
        """Return the best mixture on each set of features, where `warm` are labels that may be good."""
        keys = [tuple(sorted(each)) for each in sets]
        missing = [key for key in keys if key not in self.values]
        fit = partial(best_mixture, self.columns, self.setting, warm)
        found = self.workers.map(fit, missing, what) if missing else []
        self.values.update(zip(missing, found, strict=True))
        return [self.values[key] for key in keys]

    def has_distinct(self, chosen: Sequence[int]) -> bool:
        """Whether at least k samples differ in the chosen features."""
        return have_distinct(self.columns[list(chosen)], self.setting.k)

    def regressions(self, responses: Sequence[int], given: Sequence[int]) -> Floats:
        """Return the BIC of the regression of each response on the given features, or on the best subset of them.

        BIC = -n log(2 pi) - n log(RSS / n) - n - (b + 2) log n, where b is the number of slopes.
        """
        regressors, of = self.columns[sorted(given)], self.columns[list(responses)]
        m, n = regressors.shape
        squares = (of**2).sum(axis=1)
        if self.regression == "subset":
            cross = regressors @ regressors.T, regressors @ of.T
            smallest = best_regressions(*cross, squares, n, LEAST_RESIDUAL, MOST_COMPARED)
        else:
            slopes = np.linalg.lstsq(regressors.T, of.T)[0]
            rss = ((of - slopes.T @ regressors) ** 2).sum(axis=1)
            smallest = n * np.log(np.maximum(rss, LEAST_RESIDUAL * squares)) + m * np.log(n)
        return np.asarray(-smallest - n * LOG_2PI + n * np.log(n) - n - 2.0 * np.log(n))

    def one_cluster(self, chosen: Sequence[int]) -> float:
        """Return the BIC of a single Gaussian: of the regressions of each feature on those before it."""
        return float(sum(self.regressions([a], chosen[:m])[0] for m, a in enumerate(chosen)))


def best_mixture(columns: Floats, setting: Setting, warm: Labels | None, key: tuple[int, ...]) -> Value:
    """The best mixture on a set of features, whose table has the shape (n_features, n_samples)."""
    chosen = columns[list(key)]
    if not have_distinct(chosen, setting.k):
        return IMPOSSIBLE
    best = max(mixtures(chosen, setting, warm), key=lambda mixture: mixture.rank)
    return Value(best.bic, best.model, best.is_regular, best.labels if np.isfinite(best.bic) else None)


def have_distinct(columns: Floats, k: int) -> bool:
    """Whether at least k samples differ."""
    return any(np.unique(each).size >= k for each in columns) or len(np.unique(columns.T, axis=0)) >= k


# ---------------------------------------------------------------- the search


class Proposal(NamedTuple):
    """A feature to be added or removed, the difference of the BICs, and the features and mixture that would result."""

    feature: int
    action: str
    difference: float
    features: list[int]
    value: Value

    @property
    def is_hopeless(self) -> bool:
        """Whether a headlong search drops the feature for good."""
        return self.difference <= HOPELESS


def rank(proposal: Proposal) -> tuple[bool, float]:
    """The order of proposals to add a feature; the larger, the better."""
    return proposal.value.is_regular, proposal.difference


class Stepwise:
    """The search, which adds features to the chosen ones and removes others, and records all proposals."""

    def __init__(self, evidence: Evidence, search: Search, direction: Direction, most: int) -> None:
        self.evidence = evidence
        self.is_headlong = search == "headlong"
        self.is_forward = direction == "forward"
        self.most = most
        self.chosen: list[int] = []
        self.pool: list[int] = []
        self.proposals: list[tuple[Proposal, bool]] = []

    @property
    def current(self) -> Value:
        """The best mixture on the chosen features."""
        return self.evidence.values[tuple(sorted(self.chosen))]

    def run(self, max_candidates: int | None) -> list[int]:
        """Search until no step is accepted, and return the chosen features."""
        alone = sorted(self._additions(range(len(self.evidence.columns))), key=rank, reverse=True)
        self.pool = [proposal.feature for proposal in alone][:max_candidates]
        if self.is_forward:
            # The first two are added even if the evidence is against them.
            self.add(forced=True)
            self.add(forced=True)
        else:
            # Those that separate clusters least on their own come first.
            self.chosen, self.pool = self.pool[::-1], []
            self.evidence.consider([self.chosen], None, "all features")
        seen, moved = set(), True
        # Regressions on subsets are not quite consistent with each other, so that a search could go round in circles.
        while moved and frozenset(self.chosen) not in seen:
            seen.add(frozenset(self.chosen))
            first, second = (self.add, self.remove) if self.is_forward else (self.remove, self.add)
            moved = first() | second()
        while not self.evidence.has_distinct(self.chosen) and self.add(forced=True):
            pass
        return sorted(self.chosen)

    def add(self, forced: bool = False) -> bool:
        """Propose to add a feature, and return whether it was added."""
        if not self.pool or len(self.chosen) >= self.most:
            return False
        current = self.current

        def is_good(proposal: Proposal) -> bool:
            return proposal.value.is_regular and (proposal.difference > 0 or not current.is_regular)

        seen = self._look(self._additions, self.pool, is_good)
        best = max(seen, key=rank)
        accepted = forced or is_good(best)
        self.proposals.append((best, accepted))
        if self.is_headlong:
            self.pool = [a for a in self.pool if a not in {each.feature for each in seen if each.is_hopeless}]
        if accepted:
            self.chosen = best.features
            self.pool = [a for a in self.pool if a != best.feature]
        return accepted

    def remove(self) -> bool:
        """Propose to remove a feature, and return whether it was removed. One feature always remains."""
        if len(self.chosen) == 1:
            return False
        current, is_needed = self.current, len(self.chosen) > self.most

        def is_good(proposal: Proposal) -> bool:
            is_sound = proposal.value.is_regular or not current.is_regular
            return is_sound and (proposal.difference <= 0 or is_needed)

        seen = self._look(self._removals, self.chosen, is_good)
        best = max(seen, key=lambda proposal: (is_good(proposal), proposal.value.is_regular, -proposal.difference))
        accepted = is_good(best)
        self.proposals.append((best, accepted))
        if accepted:
            self.chosen = best.features
            self.pool = self.pool if self.is_headlong and best.is_hopeless else [*self.pool, best.feature]
        return accepted

    def _look(
        self,
        propose: Callable[[Sequence[int]], list[Proposal]],
        features: Sequence[int],
        is_good: Callable[[Proposal], bool],
    ) -> list[Proposal]:
        """Return the proposals for all features or, in a headlong search, up to the first good one."""
        if not self.is_headlong:
            return propose(features)
        seen: list[Proposal] = []
        for feature in features:
            seen += propose([feature])
            if is_good(seen[-1]):
                break
        return seen

    def _additions(self, features: Sequence[int]) -> list[Proposal]:
        current, sets = self.current, [[*self.chosen, a] for a in features]
        values = self.evidence.consider(sets, current.labels, f"features to add to {len(self.chosen)}")
        alone = self.evidence.regressions(features, self.chosen).tolist()
        return [
            Proposal(a, "add", difference(value.bic, current.bic, bic), after, value)
            for a, after, value, bic in zip(features, sets, values, alone, strict=True)
        ]

    def _removals(self, features: Sequence[int]) -> list[Proposal]:
        current, sets = self.current, [[b for b in self.chosen if b != a] for a in features]
        values = self.evidence.consider(sets, current.labels, f"features to remove from {len(self.chosen)}")
        alone = [float(self.evidence.regressions([a], rest)[0]) for a, rest in zip(features, sets, strict=True)]
        return [
            Proposal(a, "remove", difference(current.bic, value.bic, bic), after, value)
            for a, after, value, bic in zip(features, sets, values, alone, strict=True)
        ]


def difference(larger: float, smaller: float, regression: float) -> float:
    """BIC(S with a) - (BIC(S) + BIC of the regression of a on S), where mixtures that do not exist have -inf."""
    return -np.inf if np.isneginf(larger) else float(larger - smaller - regression)
