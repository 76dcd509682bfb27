"""The EM algorithm for Gaussian mixtures with diagonal covariances and a penalty.

The penalized log likelihood is

    sum_i log sum_k pi_k prod_j N(x_ij; mu_jk, v_jk) - penalty(mu) - penalty(v),

where the variances v_jk are those of the clusters or, without a penalty on them, common to all clusters. The E-step
computes the memberships tau_ik. The M-step updates pi, then mu given v, then v given mu. Every update maximizes the
expected penalized log likelihood while the others are fixed, so the penalized log likelihood never falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._kernels.mixture import (
    add_common,
    add_own,
    common_variances,
    squared_lengths,
    weighted_squares,
    weighted_sums,
)
from .._utils.arrays import Floats, Labels
from .penalties import MeanPenalty
from .variances import VariancePenalty

# No variance is smaller than this share of the variance of its feature.
SMALLEST_VARIANCE = 1e-6
# A cluster whose memberships sum to less than this is empty: its means are zero.
EMPTY = 1e-8
# EM stops if the penalized log likelihood changes by less than this share.
CONVERGED = 1e-9


class Table(NamedTuple):
    """Centered features, with what does not change during EM.

    Attributes
    ----------
    columns : ndarray of shape (p, n)
        The values, one row per feature.
    own_variances : bool
        Whether every cluster has its own variances.
    spread : ndarray of shape (p,)
        Mean of the squares of each feature.
    reference : ndarray of shape (p,)
        Variance of a feature that does not distinguish the clusters.
    baseline : ndarray of shape (n,)
        Log density of each sample if no feature distinguishes the clusters.
    """

    columns: Floats
    own_variances: bool
    spread: Floats
    reference: Floats
    baseline: Floats

    @classmethod
    def of(cls, rows: Floats, own_variances: bool) -> Table:
        """Prepare a table of shape (n, p)."""
        columns = np.ascontiguousarray(rows.T)
        spread = np.einsum("ji,ji->j", columns, columns) / columns.shape[1]
        # Own variances are drawn to 1, the variance of standardized features.
        reference = np.ones_like(spread) if own_variances else spread
        baseline = -0.5 * (squared_lengths(columns, 1.0 / reference) + np.log(2.0 * np.pi * reference).sum())
        return cls(columns, own_variances, spread, reference, baseline)

    @property
    def floors(self) -> Floats:
        """Smallest variance of each feature, of shape (p, 1)."""
        return SMALLEST_VARIANCE * self.spread[:, None]


class Model(NamedTuple):
    """The penalties on the means and on the variances of the clusters. None: the variances are common to all."""

    on_means: MeanPenalty
    on_variances: VariancePenalty | None = None

    def penalty(self, mixture: Mixture) -> float:
        """What is subtracted from the log likelihood."""
        of_variances = 0.0 if self.on_variances is None else self.on_variances.value(mixture.variances)
        return self.on_means.value(mixture.means) + of_variances

    def n_free(self, mixture: Mixture) -> int:
        """Return the number of free parameters: k - 1 weights, the free means, and the variances that are not fixed."""
        p, k = mixture.means.shape
        variances = p if self.on_variances is None else int((mixture.variances != 1.0).sum())
        return k - 1 + self.on_means.n_free(mixture.means) + variances


class Mixture(NamedTuple):
    """The parameters: weights pi of shape (k,), means (p, k), variances (p, k) or, if they are common, (p, 1).

    `memory` belongs to the penalty, which uses it to solve the next M-step faster.
    """

    weights: Floats
    means: Floats
    variances: Floats
    memory: Any = None

    def used(self, table: Table) -> Any:
        """Features that distinguish the clusters: a mean is not zero, or a variance is not the reference."""
        differs = (self.variances != table.reference[:, None]).any(axis=1)
        return np.flatnonzero(self.means.any(axis=1) | differs)


class Fit(NamedTuple):
    """A mixture to which EM has converged.

    Attributes
    ----------
    mixture : Mixture
        The parameters.
    memberships : ndarray of shape (n, k)
        Probability of each cluster for each sample.
    loglik : float
        Log likelihood, without the penalty.
    history : tuple of float
        Penalized log likelihood after every step.
    bic : float
        -2 loglik + (number of free parameters) log n. Smaller is better.
    """

    mixture: Mixture
    memberships: Floats
    loglik: float
    history: tuple[float, ...]
    bic: float

    @property
    def objective(self) -> float:
        """Penalized log likelihood."""
        return self.history[-1]

    @property
    def labels(self) -> Labels:
        """Cluster with the highest probability. Ties go to the first."""
        return self.memberships.argmax(axis=1).astype(np.int32)

    @property
    def is_whole(self) -> bool:
        """Whether every cluster is the most probable one of some sample."""
        return bool(np.unique(self.labels).size == self.memberships.shape[1])


# ---------------------------------------------------------------- the steps


def log_joint(table: Table, mixture: Mixture) -> Floats:
    """log pi_k + log density of each sample in each cluster, of shape (k, n)."""
    log_weights = np.log(np.maximum(mixture.weights, np.finfo(float).tiny))
    joint = log_weights[:, None] + table.baseline
    if table.own_variances:
        add_own(table.columns, mixture.means, mixture.variances, joint)
    else:
        add_common(table.columns, mixture.means, mixture.variances[:, 0], table.reference, joint)
    return joint


def memberships_of(joint: Floats, temperature: float = 1.0) -> tuple[Floats, float]:
    """Return the memberships, of shape (n, k), and the log likelihood, which is that of temperature 1."""
    highest = joint.max(axis=0)
    shares = np.exp((joint - highest) / temperature)
    sums = shares.sum(axis=0)
    loglik = float((highest + np.log(sums)).sum())
    return np.ascontiguousarray((shares / sums).T), loglik


def started(table: Table, memberships: Floats) -> Mixture:
    """Parameters without a penalty, from which EM starts. Own variances start at 1."""
    counts = np.maximum(memberships.sum(axis=0), EMPTY)
    means = weighted_sums(table.columns, np.ascontiguousarray(memberships.T)) / counts
    if table.own_variances:
        variances = np.ones_like(means)
    else:
        variances = common_variances(table.spread, counts, means, means, SMALLEST_VARIANCE)
    return Mixture(counts / counts.sum(), means, variances)


def m_step(table: Table, memberships: Floats, before: Mixture, model: Model) -> Mixture:
    """Update the weights, then the means given the variances, then the variances given the means."""
    totals = memberships.sum(axis=0)
    counts = np.maximum(totals, EMPTY)
    tau = np.ascontiguousarray(memberships.T)
    m = weighted_sums(table.columns, tau) / counts
    a = np.ascontiguousarray(np.broadcast_to(counts / before.variances, m.shape))
    means, memory = model.on_means.means(m, a, before.means, before.memory)
    if model.on_variances is None:
        variances = common_variances(table.spread, counts, m, means, SMALLEST_VARIANCE)
    else:
        squares = weighted_squares(table.columns, tau) + counts * means * (means - 2.0 * m)
        variances = model.on_variances.variances(counts, np.maximum(squares, 0.0), table.floors)
    return Mixture(totals / totals.sum(), means, variances, memory)


# ---------------------------------------------------------------- the algorithm


def climb(
    table: Table,
    start: Mixture,
    model: Model,
    max_iter: int,
    memberships: Floats,
    keeps_clusters: bool = False,
) -> Fit:
    """Run EM from memberships, and from the parameters of the start, until the penalized log likelihood stops rising.

    If `keeps_clusters`, EM also stops before a cluster is no longer the most probable one of any sample.
    """
    tau, mixture, history = memberships, start, []
    best: Fit | None = None
    for _ in range(max_iter):
        mixture = m_step(table, tau, mixture, model)
        tau, loglik = memberships_of(log_joint(table, mixture))
        history.append(loglik - model.penalty(mixture))
        if keeps_clusters:
            fit = fit_of(mixture, tau, loglik, history, model)
            if best is not None and not fit.is_whole:
                return best
            best = fit
        if len(history) > 1 and history[-1] - history[-2] <= CONVERGED * (1.0 + abs(history[-1])):
            break
    return fit_of(mixture, tau, loglik, history, model)


def fit_of(mixture: Mixture, memberships: Floats, loglik: float, history: Sequence[float], model: Model) -> Fit:
    """Return what EM has found."""
    bic = -2.0 * loglik + model.n_free(mixture) * np.log(len(memberships))
    return Fit(mixture, memberships, loglik, tuple(history), float(bic))


def annealed(table: Table, start: Mixture, model: Model, cooling: float = 0.8) -> Floats:
    """Memberships after EM with a temperature that falls to 1, at which the memberships become sharp.

    At first the temperature is so high that most samples belong to all clusters to some degree.
    """
    joint = log_joint(table, start)
    k = len(joint)
    temperature = max(1.0, float(np.mean(joint.max(axis=0) - joint.mean(axis=0))) / np.log(k))
    mixture = start
    while True:
        tau, _ = memberships_of(joint, temperature)
        if temperature <= 1.0:
            return tau
        mixture = m_step(table, tau, mixture, model)
        joint = log_joint(table, mixture)
        temperature = max(1.0, temperature * cooling)


def one_hot(labels: Labels, k: int) -> Floats:
    """Memberships that are 1 for the cluster of each sample and 0 for the others, of shape (n, k)."""
    return np.eye(k)[labels]
