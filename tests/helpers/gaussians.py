"""Results of mclust and clustvarsel, and plain twins of EM for mixtures of Gaussians and of regressions on subsets."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal, norm

from sparsecluster._mixtures.gaussian import Setting
from sparsecluster._utils.parallel import ONE_THREAD
from sparsecluster.methods._stepwise import Evidence
from tests.conftest import HERE

REFERENCE = json.loads((HERE / "clustvarsel_reference.json").read_text())


def evidence_of(table, k=2, models=("EEI",), regression="subset"):
    """The BICs of the centered columns of a table."""
    return Evidence(table - table.mean(axis=0), Setting(k, models), regression, ONE_THREAD)


def model_covariances(squares: list[np.ndarray], sizes: np.ndarray, model: str) -> np.ndarray:
    """Covariance matrices of a model of mclust, from the weighted cross products within the clusters."""
    k, d = len(squares), len(squares[0])
    if model[0] == "E":
        squares, sizes = [sum(squares)] * k, np.full(k, sizes.sum())
    own = np.array([square / size for square, size in zip(squares, sizes, strict=True)])
    if model[2] == "I":
        own = own * np.eye(d)
    if model[1] == "I":
        own = np.array([np.eye(d) * np.trace(matrix) / d for matrix in own])
    return own


def em(table: np.ndarray, memberships: np.ndarray, model: str, n_iter: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Log likelihood, means and covariances after some iterations of EM from memberships of shape (k, n)."""
    for _ in range(n_iter):
        sizes = memberships.sum(axis=1)
        means = memberships @ table / sizes[:, None]
        squares = [(table - m).T @ np.diag(z) @ (table - m) for m, z in zip(means, memberships, strict=True)]
        covariances = model_covariances(squares, sizes, model)
        joint = np.array(
            [
                np.log(size / len(table)) + multivariate_normal(mean, matrix).logpdf(table)
                for size, mean, matrix in zip(sizes, means, covariances, strict=True)
            ]
        )
        memberships = softmax(joint, axis=0)
    return float(logsumexp(joint, axis=0).sum()), means, covariances


def regression_bic(y: np.ndarray, others: np.ndarray) -> float:
    """BIC of a linear regression with a constant on all other columns."""
    n, b = others.shape
    design = np.column_stack([np.ones(n), others])
    rss = ((y - design @ np.linalg.lstsq(design, y)[0]) ** 2).sum()
    return float(2 * norm(0, np.sqrt(rss / n)).logpdf(np.sqrt(rss / n)) * n - (b + 2) * np.log(n))


def best_regression_bic(y: np.ndarray, others: np.ndarray) -> float:
    """The same for the best of all subsets of the other columns."""
    subsets = [list(each) for size in range(others.shape[1] + 1) for each in combinations(range(others.shape[1]), size)]
    return max(regression_bic(y, others[:, subset]) for subset in subsets)
