"""Speed of penalized mixtures: the EM algorithm compared with a plain NumPy version, and whole fits with all starts."""

from __future__ import annotations

import time

import numpy as np
from scipy.special import logsumexp

from sparsecluster import make_method, rand_index
from sparsecluster._mixtures.em import Model, Table, one_hot
from sparsecluster._mixtures.path import Plan, follow
from sparsecluster._mixtures.penalties import L1
from sparsecluster._utils.markdown import markdown_table
from sparsecluster._utils.parallel import ONE_THREAD, one_thread_blas
from sparsecluster.datasets import shifted_groups

METHODS = ("pan-shen", "wang-zhu", "ahp-gmm", "pairwise-fusion", "xie")
N_SAMPLES, N_CLUSTERS, N_PENALTIES, MAX_ITER = 100, 4, 20, 200
SIZES = (500, 5000)


def simulated(p):
    """Return standardized values of four groups that differ in 50 features, and the groups."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(N_CLUSTERS), N_SAMPLES // N_CLUSTERS)
    X = rng.standard_normal((N_SAMPLES, p))
    X[:, :50] += 1.2 * rng.standard_normal((N_CLUSTERS, 50))[truth]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), truth


def plain_path(X, labels, penalties):
    """EM with an L1 penalty as one writes it in NumPy, from the weakest penalty to the strongest; the objectives."""
    n = len(X)
    tau = np.eye(N_CLUSTERS)[labels]
    means = tau.T @ X / tau.sum(axis=0)[:, None]
    variances = (tau[:, :, None] * (X[:, None, :] - means) ** 2).sum(axis=(0, 1)) / n
    objectives = []
    for penalty in penalties:
        before = -np.inf
        for _ in range(MAX_ITER):
            counts = tau.sum(axis=0)
            m = tau.T @ X / counts[:, None]
            means = np.sign(m) * np.maximum(np.abs(m) - penalty * variances / counts[:, None], 0.0)
            variances = (tau[:, :, None] * (X[:, None, :] - means) ** 2).sum(axis=(0, 1)) / n
            densities = (X[:, None, :] - means) ** 2 / variances + np.log(2 * np.pi * variances)
            joint = np.log(counts / n) - 0.5 * densities.sum(axis=2)
            loglik = logsumexp(joint, axis=1)
            tau = np.exp(joint - loglik[:, None])
            objective = loglik.sum() - penalty * np.abs(means).sum()
            if objective - before <= 1e-9 * (1 + abs(objective)):
                break
            before = objective
        objectives.append(objective)
    return np.array(objectives)


def our_path(X, labels, penalties):
    """The same work by our EM algorithm; the objectives."""
    plan = Plan(lambda mixture: Model(L1(1.0)), True, False, penalties, np.zeros(1), 1.0, MAX_ITER)
    return np.array([each.fit.objective for each in follow(Table.of(X, False), [one_hot(labels, 4)], plan, ONE_THREAD)])


def cpu_seconds(function, repeats=1):
    """Return the median CPU time of some calls, and the last result."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        result = function()
        times.append(time.process_time() - began)
    return float(np.median(times)), result


def engine(p, repeats):
    """Compare one start over 20 penalties; penalties that keep all clusters, so that both do the same steps."""
    X, truth = simulated(p)
    labels = np.random.default_rng(1).permutation(truth)
    labels = np.where(np.random.default_rng(2).random(N_SAMPLES) < 0.7, truth, labels).astype(np.int32)
    penalties = np.geomspace(0.2, 8.0, N_PENALTIES)
    our_path(X, labels, penalties[:1])  # compiles
    slow, plain = cpu_seconds(lambda: plain_path(X, labels, penalties))
    fast, ours = cpu_seconds(lambda: our_path(X, labels, penalties), repeats)
    apart = float(np.abs(plain / ours - 1.0).max()) if ours.size == plain.size else float("nan")
    return [p, f"{slow:.2f}", f"{fast:.3f}", f"**{slow / fast:.0f}x**", f"{apart:.0e}"]


def whole_fit(name):
    """Time a tuned fit with all starts at p = 5,000."""
    X, truth = simulated(SIZES[-1])
    make_method(name, 3, n_init=1, n_penalties=3).fit(shifted_groups(mu=2.0, n_features=20, n_useful=10).X)  # compiles
    seconds, found = cpu_seconds(lambda: make_method(name, N_CLUSTERS, core_agreement=None).fit(X))
    useful = int(found.support_[:50].sum())
    return [f"`{name}`", f"{seconds:.1f}", f"{rand_index(truth, found.labels_):.3f}", int(found.support_.sum()), useful]


def main(repeats=5):
    with one_thread_blas():
        rows = [engine(p, repeats) for p in SIZES]
        fits = [whole_fit(name) for name in METHODS]
    text = (
        "## EM\n\n"
        f"n = {N_SAMPLES}, k = {N_CLUSTERS}, an L1 penalty with {N_PENALTIES} strengths from 0.2 to 8, each from the "
        "fit of the one before, one start, common variances; CPU seconds on one thread. The plain version is EM with "
        "arrays of shape (n, k, p) in NumPy and SciPy. Both stop when the penalized likelihood changes by less than "
        f"1e-9 of it; ours is the median of {repeats} runs, plain is one run.\n\n"
        + markdown_table(["p", "plain", "ours", "ratio", "largest relative difference of the objectives"], rows)
        + "\n\n## Whole fits\n\n"
        f"n = {N_SAMPLES}, p = {SIZES[-1]}, k = {N_CLUSTERS}, 50 useful features, seed 0; the default fit: all kinds "
        "of starts, 20 penalties (for `xie`, each with 6 penalties on the variances), the BIC; without the core. CPU "
        "seconds of one run on one thread.\n\n"
        + markdown_table(["method", "seconds", "Rand index", "selected", "useful among them"], fits)
    )
    return "Speed of penalized mixtures", text
