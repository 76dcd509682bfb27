"""Reference outputs for mixtures, tables to fit, and plain twins of the EM algorithm and of its M-steps."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import norm

from sparsecluster._mixtures.em import Table, climb, one_hot, started
from sparsecluster._mixtures.penalties import (
    L1,
    Fusion,
    Grouped,
    Hierarchical,
    InSets,
    MaxNorm,
    NoPenalty,
    inverse_sizes,
    pair_differences,
)

FOLDER = Path(__file__).parent.parent / "data" / "reference"
REFERENCE = json.loads((FOLDER / "mixture_reference.json").read_text())


@cache
def table_of(name):
    """A reference table with centered columns."""
    (file,) = FOLDER.glob(f"{name}.csv*")
    rows = np.loadtxt(file, delimiter=",")
    return rows - rows.mean(axis=0)


def n_pairs(k):
    return k * (k - 1) // 2


def penalties(means, strength=1.0, own_sets=None):
    """Every penalty on means, with adaptive weights from some means of shape (p, k)."""
    p, k = means.shape
    ones = np.ones(p)
    return {
        "none": NoPenalty(),
        "l1": L1(strength),
        "adaptive l1": L1(strength, inverse_sizes(means, ones)),
        "max": MaxNorm(strength, ones),
        "hierarchical": Hierarchical(strength, inverse_sizes(means, ones)),
        "grouped": Grouped(strength),
        "sets": InSets.of(strength, np.arange(p) // 3 if own_sets is None else own_sets),
        "fusion": Fusion(strength, np.ones((1, n_pairs(k)))),
        "adaptive fusion": Fusion(strength, inverse_sizes(pair_differences(means), ones)),
    }


def fitted(rows, labels, k, model, max_iter=2000):
    """EM from labels."""
    table = Table.of(rows, model.on_variances is not None)
    tau = one_hot(np.asarray(labels), k)
    return climb(table, started(table, tau), model, max_iter, tau), table


# ---------------------------------------------------------------- twins


def plain_loglik(rows, weights, means, variances):
    """Log likelihood from SciPy's normal densities; means and variances of shape (p, k)."""
    p, k = means.shape
    variances = np.broadcast_to(variances, (p, k))
    inside = sum(
        weights[c] * np.exp(norm.logpdf(rows, means[:, c], np.sqrt(variances[:, c])).sum(axis=1)) for c in range(k)
    )
    return float(np.log(inside).sum())


def plain_em(rows, labels, k, strength, steps):
    """EM with an L1 penalty and common variances, one number at a time; returns the penalized log likelihoods."""
    n, p = rows.shape
    tau = np.eye(k)[labels]
    counts = tau.sum(axis=0)
    means = np.array([[tau[:, c] @ rows[:, j] / counts[c] for c in range(k)] for j in range(p)])

    def variances_of(means):
        squares = [
            [sum(tau[i, c] * (rows[i, j] - means[j, c]) ** 2 for c in range(k)) for i in range(n)] for j in range(p)
        ]
        return np.array([sum(each) / n for each in squares])

    variances, history = variances_of(means), []
    for _ in range(steps):
        counts = tau.sum(axis=0)
        weights = counts / n
        for j in range(p):
            for c in range(k):
                m = tau[:, c] @ rows[:, j] / counts[c]
                means[j, c] = np.sign(m) * max(abs(m) - strength * variances[j] / counts[c], 0.0)
        variances = variances_of(means)
        joint = np.array(
            [
                [weights[c] * np.prod(norm.pdf(rows[i], means[:, c], np.sqrt(variances))) for c in range(k)]
                for i in range(n)
            ]
        )
        tau = joint / joint.sum(axis=1, keepdims=True)
        history.append(float(np.log(joint.sum(axis=1)).sum() - strength * np.abs(means).sum()))
    return history


def plain_value(name, mu, strength=1.0):
    """The penalty of the means of one feature, of shape (k,), from its formula; weights are 1."""
    return (
        strength
        * {
            "none": 0.0,
            "l1": np.abs(mu).sum(),
            "max": np.abs(mu).max(),
            "grouped": np.sqrt(mu.size) * np.linalg.norm(mu),
            "fusion": sum(abs(mu[c] - mu[d]) for c, d in combinations(range(mu.size), 2)),
        }[name]
    )
