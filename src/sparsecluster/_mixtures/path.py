"""Fits over a range of penalties: every start is followed from weak to strong penalties, and the BIC chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._kernels.mixture import weighted_squares
from .._utils.arrays import Floats
from .._utils.parallel import Workers
from .em import Fit, Mixture, Model, Table, climb, started
from .penalties import NoPenalty
from .starts import canonical

# Of the penalties that are tried, one in this many is placed near the smallest BIC of the others.
FINER = 3

# A function of the unpenalized fit, whose means give adaptive weights, to the model with those weights.
Family = Callable[[Mixture], Model]


class Plan(NamedTuple):
    """Which penalties are tried, and how.

    Attributes
    ----------
    family : callable
        Model for an unpenalized mixture; its strengths do not matter.
    is_adaptive : bool
        Whether the model depends on the mixture, so that each start has its own penalty.
    by_bic : bool
        Whether starts are compared by the BIC, and not by the penalized likelihood.
    penalties : ndarray of shape (n_penalties,) or int
        Strengths of the penalty on the means, in ascending order, or how many of them.
    variance_penalties : ndarray or int
        The same for the penalty on the variances.
    span : float
        The smallest strength that is tried, as a share of one that drops all features.
    max_iter : int
        Most steps of EM.
    keeps_clusters : bool
        Whether EM stops before a cluster is no longer the most probable one of any sample.
    """

    family: Family
    is_adaptive: bool
    by_bic: bool
    penalties: Floats | int
    variance_penalties: Floats | int
    span: float
    max_iter: int
    keeps_clusters: bool = False


class Tried(NamedTuple):
    """The strengths of the penalties on the means and on the variances, and the best fit."""

    penalty: float
    variance_penalty: float
    fit: Fit


class Chain(NamedTuple):
    """A start and its model."""

    mixture: Mixture
    memberships: Floats
    model: Model


def follow(table: Table, starts: Sequence[Floats], plan: Plan, workers: Workers) -> list[Tried]:
    """Return the best fit for every pair of penalties, in ascending order, penalties on variances first.

    A fit in which a cluster is not the most probable one of any sample does not count, so there may be none.
    """
    chains = [chain_of(table, tau, plan) for tau in starts]
    chains = different(chains) if plan.is_adaptive else chains
    on_means, on_variances = grids(table, chains, plan)
    results: list[Tried] = []
    # The strongest penalty on the variances comes first: with variances of 1, EM depends least on its start.
    for variance_penalty in on_variances[::-1].tolist():
        chains = [chain._replace(model=with_variance_penalty(chain.model, variance_penalty)) for chain in chains]
        tried, paths, winners = along(table, chains, on_means, plan, workers)
        if isinstance(plan.penalties, int) and tried:
            # The BIC changes fast where features and then clusters are lost, so its minimum is searched more closely.
            near = int(np.flatnonzero(on_means == min(tried, key=lambda each: each.fit.bic).penalty)[0])
            left, right = max(near - 1, 0), min(near + 1, on_means.size - 1)
            finer = np.geomspace(on_means[left], on_means[right], plan.penalties // FINER + 2)[1:-1]
            tried += along(table, moved(chains, [path[left] for path in paths]), finer, plan, workers)[0]
        results += [each._replace(variance_penalty=variance_penalty) for each in tried]
        # Starts that were the best ones for no penalty are not followed any further.
        chains = [chain for place, chain in enumerate(chains) if place in winners] or chains
    return sorted(results, key=lambda each: (each.variance_penalty, each.penalty))


def along(
    table: Table, chains: Sequence[Chain], strengths: Floats, plan: Plan, workers: Workers
) -> tuple[list[Tried], list[list[Fit | None]], list[int | None]]:
    """Return the best fit of every strength, the fits of all starts, and which start was the best of each strength."""
    paths = list(workers.map(lambda chain: ascend(table, chain, strengths, plan), chains, "starts"))
    winners = [best_of([path[place] for path in paths], plan) for place in range(strengths.size)]
    best = [None if place is None else paths[place][at] for at, place in enumerate(winners)]
    if not plan.is_adaptive and chains:
        best = descend(table, best, chains[0].model, strengths, plan)
    pairs = zip(strengths.tolist(), best, strict=True)
    return [Tried(penalty, 0.0, fit) for penalty, fit in pairs if fit is not None], paths, winners


def moved(chains: Sequence[Chain], fits: Sequence[Fit | None]) -> list[Chain]:
    """Let starts continue from some of their fits. Starts without a fit are dropped."""
    pairs = zip(chains, fits, strict=True)
    return [chain._replace(mixture=fit.mixture, memberships=fit.memberships) for chain, fit in pairs if fit is not None]


def chain_of(table: Table, memberships: Floats, plan: Plan) -> Chain:
    """Prepare a start: adaptive weights come from the mixture without a penalty to which it leads."""
    start = started(table, memberships)
    if not plan.is_adaptive:
        return Chain(start, memberships, plan.family(start))
    plain = plan.family(start)._replace(on_means=NoPenalty())
    fit = climb(table, start, plain, plan.max_iter, memberships)
    return Chain(fit.mixture, fit.memberships, plan.family(fit.mixture))


def different(chains: Sequence[Chain]) -> list[Chain]:
    """Drop starts that have led to the same mixture."""
    seen: dict[tuple[bytes, float], Chain] = {}
    for chain in chains:
        weights = np.sort(chain.mixture.weights)
        seen.setdefault((canonical(chain.memberships.argmax(axis=1)).tobytes(), round(float(weights[-1]), 4)), chain)
    return list(seen.values())


def grids(table: Table, chains: Sequence[Chain], plan: Plan) -> tuple[Floats, Floats]:
    """Return the strengths to try, on the means and on the variances."""
    on_means, on_variances = plan.penalties, plan.variance_penalties
    if isinstance(on_means, int):
        # With the variances of all samples the weakest one is about the size of noise, also if clusters are narrow.
        lowest = plan.span * max(strongest(table, chain, table.spread[:, None]) for chain in chains)
        highest = max(strongest(table, chain, chain.mixture.variances) for chain in chains)
        on_means = np.geomspace(lowest, max(lowest, highest), on_means - on_means // FINER)
    if isinstance(on_variances, int):
        highest = max(strongest_on_variances(table, chain) for chain in chains)
        on_variances = highest * np.geomspace(plan.span, 1.0, on_variances)
    return on_means, on_variances


def strongest(table: Table, chain: Chain, variances: Floats) -> float:
    """A strength that drops all features at the start, where they have these variances."""
    counts = len(table.baseline) * chain.mixture.weights
    a = np.broadcast_to(counts / variances, chain.mixture.means.shape)
    return chain.model.on_means.strongest(chain.mixture.means, a)


def strongest_on_variances(table: Table, chain: Chain) -> float:
    """A strength that makes all variances 1 at the start."""
    assert chain.model.on_variances is not None
    memberships, means = chain.memberships, chain.mixture.means
    counts = memberships.sum(axis=0)
    squares = weighted_squares(table.columns, np.ascontiguousarray(memberships.T))
    return chain.model.on_variances.strongest(counts, squares - counts * means**2)


def with_variance_penalty(model: Model, strength: float) -> Model:
    """Return the model with another penalty on the variances, if it has one."""
    if model.on_variances is None:
        return model
    return model._replace(on_variances=model.on_variances.with_strength(strength))


def with_penalty(model: Model, strength: float) -> Model:
    """Return the model with another penalty on the means."""
    return model._replace(on_means=model.on_means.with_strength(strength))


# ---------------------------------------------------------------- along the path


def ascend(table: Table, chain: Chain, strengths: Floats, plan: Plan) -> list[Fit | None]:
    """Fit every strength from the fit of the one before, from weak to strong, until a cluster is lost."""
    fits: list[Fit | None] = []
    mixture, memberships = chain.mixture, chain.memberships
    for strength in strengths.tolist():
        model = with_penalty(chain.model, strength)
        fit = climb(table, mixture, model, plan.max_iter, memberships, plan.keeps_clusters)
        if not fit.is_whole:
            break
        fits.append(fit)
        mixture, memberships = fit.mixture, fit.memberships
    return [*fits, *[None] * (strengths.size - len(fits))]


def descend(table: Table, best: Sequence[Fit | None], model: Model, strengths: Floats, plan: Plan) -> list[Fit | None]:
    """Try to improve every fit by starting from that of the next stronger penalty."""
    improved = list(best)
    for place in range(strengths.size - 2, -1, -1):
        stronger, own = improved[place + 1], improved[place]
        if stronger is None or (own is not None and np.array_equal(own.labels, stronger.labels)):
            continue
        own_model = with_penalty(model, float(strengths[place]))
        fit = climb(table, stronger.mixture, own_model, plan.max_iter, stronger.memberships)
        if fit.is_whole and (own is None or merit(fit, plan) > merit(own, plan)):
            improved[place] = fit
    return improved


def merit(fit: Fit | None, plan: Plan) -> float:
    """By what fits are compared: the larger, the better."""
    if fit is None:
        return -np.inf
    return -fit.bic if plan.by_bic else fit.objective


def best_of(fits: Sequence[Fit | None], plan: Plan) -> int | None:
    """Return the place of the best fit of one strength, or None if there is none."""
    best = int(np.argmax([merit(fit, plan) for fit in fits]))
    return best if fits[best] is not None else None
