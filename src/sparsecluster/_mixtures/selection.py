"""Mixtures in which only some features depend on the cluster: EM with feature selection, and integrated likelihoods.

`em` maximizes the BIC of Marbac, Sedki and Patin (2020), and `ascend` the integrated complete-data likelihood of Marbac
and Sedki (2017).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import gammaln

from .._kernels.integrated import improve_integrated
from .._utils.arrays import Floats, Labels, Subset
from .em import one_hot
from .independent import Bools, Columns, Gaussians

# EM stops when the BIC rises by less than this share of it.
TOLERANCE = 1e-8
# Limit on the passes over the samples that is not reached in practice.
MOST_PASSES = 1000


class Mixture(NamedTuple):
    """The parameters of a mixture.

    Attributes
    ----------
    shares : ndarray of shape (n_clusters,)
        Probability of each cluster.
    gaussians : Gaussians
        Distribution of the numbers in each cluster.
    probabilities : ndarray of shape (n_levels, n_clusters)
        Distribution of the levels in each cluster.
    relevant : ndarray of shape (n_features,)
        Whether each feature has these distributions, or one for all samples.
    gains : ndarray of shape (n_features,)
        Increase of the log likelihood by the distributions in the clusters, minus their price.
    """

    shares: Floats
    gaussians: Gaussians
    probabilities: Floats
    relevant: Bools
    gains: Floats


class Model(NamedTuple):
    """The data, the number of clusters, and what does not depend on the clusters.

    Attributes
    ----------
    columns : Columns
        The data.
    n_clusters : int
        Number of clusters k.
    least_variance : float
        Lower bound of the variances, for numbers that are scaled to variance 1.
    alone : ndarray of shape (n_features,)
        Log likelihood of each feature if all samples have the same distribution.
    parameters : ndarray of shape (n_features,)
        Number of parameters of each feature in one cluster.
    """

    columns: Columns
    n_clusters: int
    least_variance: float
    alone: Floats
    parameters: Floats

    @classmethod
    def of(cls, columns: Columns, n_clusters: int, least_variance: float) -> Self:
        """Return the model for a table."""
        one = np.ones((columns.n_samples, 1))
        alone = columns.together(columns.numbers.fit(one, least_variance)[1], columns.levels.fit(one)[1])
        parameters = columns.together(columns.numbers.n_parameters, columns.levels.n_parameters)
        return cls(columns, n_clusters, least_variance, alone, parameters)

    @property
    def price(self) -> float:
        """The price (log n) / 2 of a parameter."""
        return float(np.log(self.columns.n_samples)) / 2.0

    def one_cluster(self) -> float:
        """BIC of the model with a single cluster."""
        return float(self.alone.sum() - self.parameters.sum() * self.price)

    def take(self, rows: Subset) -> Model:
        """The same model for some of the samples."""
        return Model.of(self.columns.take(rows), self.n_clusters, self.least_variance)


class Fit(NamedTuple):
    """The result of EM: parameters, probabilities of the clusters, and the BIC after each step.

    `is_whole` is false if some cluster was without samples after every step. The probabilities are then the start.
    """

    mixture: Mixture
    memberships: Floats
    history: tuple[float, ...]
    is_whole: bool

    @property
    def labels(self) -> Labels:
        """The most probable cluster of each sample."""
        return self.memberships.argmax(axis=1).astype(np.int32)

    @property
    def bic(self) -> float:
        """BIC of the parameters."""
        return self.history[-1]

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """A key that is larger for better results.

        Clusters of a single sample come last: their variances, which are zero, are as small as they may be.
        """
        smallest = np.bincount(self.labels, minlength=self.memberships.shape[1]).min()
        return self.is_whole, bool(smallest > 1), self.bic


# ---------------------------------------------------------------- EM


def maximize(model: Model, memberships: Floats, relevant: Bools | None = None) -> Mixture:
    """M-step: the parameters, and the features whose own distributions in the clusters are worth their price."""
    columns, k = model.columns, model.n_clusters
    gaussians, of_numbers = columns.numbers.fit(memberships, model.least_variance)
    probabilities, of_levels = columns.levels.fit(memberships)
    gains = columns.together(of_numbers, of_levels) - model.alone - (k - 1) * model.price * model.parameters
    relevant = worthwhile(gains) if relevant is None else relevant
    return Mixture(memberships.mean(axis=0), gaussians, probabilities, relevant, gains)


def worthwhile(gains: Floats) -> Bools:
    """The features that gain something or, if there are none, those that lose least: some must tell clusters apart."""
    return np.asarray(gains > min(0.0, gains.max() - TOLERANCE * (1.0 + abs(gains.max()))))


def expect(model: Model, mixture: Mixture) -> tuple[Floats, float]:
    """E-step: the probabilities of the clusters, of shape (n_samples, k), and the BIC of the parameters."""
    columns, k, relevant = model.columns, model.n_clusters, mixture.relevant
    numbers, levels = columns.apart(relevant)
    joint = columns.numbers.log_density(mixture.gaussians, numbers)
    joint += columns.levels.log_density(mixture.probabilities, levels)
    joint += np.log(np.maximum(mixture.shares, np.finfo(float).tiny))
    memberships, likelihood = posterior(joint)
    n_parameters = k - 1 + model.parameters.sum() + (k - 1) * model.parameters[relevant].sum()
    total = likelihood.sum() + model.alone[~relevant].sum() - n_parameters * model.price
    return memberships, float(total)


def posterior(joint: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of the clusters, and the log density of each sample, from those with each cluster."""
    largest = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - largest)
    sums = shares.sum(axis=1, keepdims=True)
    return shares / sums, (largest + np.log(sums))[:, 0]


def em(model: Model, memberships: Floats, max_iter: int, relevant: Bools | None = None) -> Fit:
    """Alternate M-steps and E-steps, none of which lowers the BIC, until it stays the same.

    If some clusters are without samples in the end, the result is the last step after which all had some.
    """
    history: list[float] = []
    mixture = maximize(model, memberships, relevant)
    last = Fit(mixture, memberships, (), False)
    for _ in range(max_iter):
        new, bic = expect(model, mixture)
        history.append(bic)
        if is_whole(new):
            last = Fit(mixture, new, tuple(history), True)
        if len(history) > 1 and bic - history[-2] <= TOLERANCE * (1.0 + abs(bic)):
            break
        mixture = maximize(model, new, relevant)
    return last if last.is_whole else last._replace(history=(history[0],))


def is_whole(memberships: Floats) -> bool:
    """Whether every cluster is the most probable one of some sample."""
    k = memberships.shape[1]
    return bool(np.bincount(memberships.argmax(axis=1), minlength=k).min() > 0)


def random_mixture(model: Model, rng: np.random.Generator) -> Mixture:
    """Return a mixture around k random samples, in which a random half of the features are relevant (VarSelLCM)."""
    columns, n, k = model.columns, model.columns.n_samples, model.n_clusters
    picks = np.zeros((n, k))
    picks[rng.choice(n, k, replace=False), np.arange(k)] = 1.0
    relevant = rng.random(columns.places.size) < 0.5
    relevant[rng.integers(relevant.size)] = True
    # Variances as in all samples, and probabilities halfway between those of all samples and of the one that is drawn.
    gaussians, probabilities = columns.numbers.fit(picks, 1.0)[0], columns.levels.fit(picks + 1.0 / n)[0]
    return Mixture(np.full(k, 1.0 / k), gaussians, probabilities, relevant, np.zeros(relevant.size))


# ---------------------------------------------------------------- integrated complete-data likelihood


class Partition(NamedTuple):
    """Labels and relevant features, which maximize the integrated complete-data likelihood.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    relevant : ndarray of shape (n_features,)
        Whether each feature has its own distribution in every cluster.
    gains : ndarray of shape (n_features,)
        Increase of the log integrated likelihood of each feature by the clusters.
    alone : float
        Log integrated likelihood of a single cluster.
    history : tuple of float
        Log integrated complete-data likelihood after each step.
    """

    labels: Labels
    relevant: Bools
    gains: Floats
    alone: float
    history: tuple[float, ...]

    @property
    def value(self) -> float:
        """The log integrated complete-data likelihood."""
        return self.history[-1]


def integrated(model: Model, labels: Labels, prior: Floats) -> tuple[Floats, Floats, float]:
    """Log likelihoods of the features, integrated over their parameters, with and without clusters, and of the labels.

    The labels have the likelihood Gamma(k/2) / Gamma(n + k/2) prod_c Gamma(n_c + 1/2) / Gamma(1/2), and `prior` is the
    square of the prior scale of each number.
    """
    columns, k, n = model.columns, model.n_clusters, labels.size

    def of_features(members: Floats) -> Floats:
        return columns.together(columns.numbers.log_integral(members, prior), columns.levels.log_integral(members))

    sizes = np.bincount(labels, minlength=k)
    of_labels = gammaln(k / 2) - gammaln(n + k / 2) + (gammaln(sizes + 0.5) - gammaln(0.5)).sum()
    return of_features(one_hot(labels, k)), of_features(np.ones((n, 1))), float(of_labels)


def ascend(model: Model, labels: Labels, prior: Floats) -> Partition:
    """Raise the integrated complete-data likelihood by moves of single samples and by the choice of the features.

    Samples that are equal move together, and no cluster loses its last sample. At least one feature is relevant.
    """
    columns, labels = model.columns, labels.copy()
    blocks = equal_blocks(columns, labels)
    history: list[float] = []
    for _ in range(MOST_PASSES):
        own, alone, of_labels = integrated(model, labels, prior)
        gains = own - alone
        relevant = worthwhile(gains)
        history.append(float(np.where(relevant, own, alone).sum()) + of_labels)
        if len(history) > 1 and history[-1] - history[-2] <= TOLERANCE:
            break
        numbers, levels = columns.apart(relevant)
        chosen = columns.levels.choose(levels)
        values = np.ascontiguousarray(columns.numbers.dense(numbers))
        improve_integrated(
            values, prior[numbers], chosen.codes, chosen.starts, blocks, labels, model.n_clusters, MOST_PASSES
        )
    return Partition(labels, relevant, gains, float(alone.sum()), tuple(history))


def equal_blocks(columns: Columns, labels: Labels) -> Subset:
    """The first sample of each block of equal samples with equal labels, and n.

    The samples of a reading are in an order in which equal ones follow each other.
    """
    parts: list[Any] = [columns.numbers.values, columns.levels.codes]
    parts += [] if columns.numbers.seen is None else [columns.numbers.seen]
    changes = np.diff(labels) != 0
    for part in parts:
        apart = part[1:] != part[:-1]
        changes |= np.asarray(apart.sum(axis=1)).ravel() > 0
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [labels.size]]).astype(np.intp)
