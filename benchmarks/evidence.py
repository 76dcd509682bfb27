"""What an assessment says where the truth is known: errors of both kinds, features, real data, and its cost."""

from __future__ import annotations

import json
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import f_classif

import sparsecluster
from sparsecluster import SASClustering, adjusted_rand_index, assess, expression_clustering
from sparsecluster._utils.cache import cache_folder
from sparsecluster._utils.files import write
from sparsecluster._utils.markdown import markdown_table
from sparsecluster._version import __version__
from sparsecluster.cli.assess import SHORT_PLAN
from sparsecluster.datasets import shifted_groups
from sparsecluster.evidence import sigclust
from sparsecluster.evidence._copies import one_group
from sparsecluster.evidence._independent import p_value
from sparsecluster.evidence._statistics import adjusted
from sparsecluster.methods._criteria.refit import quietly

from .evidence_picture import draw
from .evidence_tables import N_INDEPENDENT, N_MANY, WITH, WITHOUT, without_groups
from .expression import available
from .report import seconds_of_python

# Tables without groups, tables with groups, tables without groups of which the number of clusters is chosen, with the
# kinds of which it is, and tables that are hard, or on which other tests are made.
N_WITHOUT, N_WITH, N_CHOSEN, N_FEW = 200, 50, 30, 20
CHOSEN = ("independent, normal", "AR(1), 0.7", "three common factors")
LEVEL, FDR = 0.05, 0.1
TESTS = ("independent", "one group")
# Mirror statistics are made of so many divisions into halves. Only the tests are needed on tables without groups.
N_SPLITS = 10
TESTS_ONLY = {"n_splits": 1}
# Clusters that agree less with the classes are those of something else.
LEAST_AGREEMENT = 0.3
BINS = ((0.0, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01))


def quiet(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def each(function, tasks):
    """Return the results of a function on several tasks, from two processes.

    Those of a function with the same tasks, on the same code, are kept in the cache folder, so that a benchmark that
    was interrupted continues.
    """
    tasks = list(tasks)
    name = f"{function.__name__}-{joblib.hash([__version__, code(), tasks])}"
    file = cache_folder() / "benchmarks" / f"{name}.json"
    if not file.exists():
        began = time.perf_counter()
        made = joblib.Parallel(n_jobs=2)(joblib.delayed(quiet)(function, *task) for task in tasks)
        print(f"{function.__name__} {tasks[0]}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        write(file, json.dumps(made))
    return json.loads(file.read_text())


@cache
def code():
    """A fingerprint of the package and of the benchmarks."""
    files = sorted([*Path(sparsecluster.__file__).parent.rglob("*.py"), *Path(__file__).parent.glob("evidence*.py")])
    return joblib.hash([file.read_bytes() for file in files])


def percent(values):
    return f"{100 * np.mean(values):.1f} %"


# ---------------------------------------------------------------- without groups


def p_values_of(kind, seed, k=None):
    """Return both p-values of a table without groups, and the number of features that are listed."""
    table = without_groups(kind, seed)
    found = SASClustering(k or table.k, random_state=seed, n_jobs=1).fit(table.X)
    told = assess(found, table.X, random_state=seed, **TESTS_ONLY)
    return told.p_independent, told.p_one_group, int(told.features.listed.sum())


def other_tests(kind, seed):
    """Return the p-values of two tests that estimate the covariance of the group, in place of holding samples out.

    One simulates tables with one group whose covariance has shrunken eigenvalues, and searches them as the data; the
    other is SigClust.
    """
    table = without_groups(kind, seed) if kind in WITHOUT else WITH[kind](seed)
    complete = np.where(np.isnan(table.X), 0.0, table.X)
    return simulated(table, seed), sigclust(complete, random_state=seed).p_value


def simulated(table, seed, n_copies=39):
    from sparsecluster._search.climb import Problem
    from sparsecluster._search.sizes import path_objective

    estimator = SASClustering(table.k, n_jobs=1)
    rng = np.random.default_rng(seed)
    with quietly():
        reading = estimator._reading(table.X).for_clusters(table.k)

        def curve(one):
            features = one.source.features()
            return path_objective(Problem(features, estimator._clusterer(features), table.k), rng)

        curves = [curve(reading), *(curve(one_group(reading, rng)) for _ in range(n_copies))]
    return p_value(np.array(curves))


def first_kind(n_tables, n_fewer, n_others):
    """Return the errors of the first kind as a table, and both p-values of all tables of each kind."""
    rows, both = [], {}
    for place, kind in enumerate(WITHOUT):
        n_own = n_tables if place < N_MANY else n_fewer
        told = np.array(each(p_values_of, [(kind, seed) for seed in range(n_own)]))
        both[kind] = told[:, :2]
        others = np.array(each(other_tests, [(kind, seed) for seed in range(n_others)]))
        independent, one_group = (percent(told[:, j] <= LEVEL) for j in (0, 1))
        rows.append(
            [
                kind,
                f"{n_own}",
                f"**{independent}**" if place < N_INDEPENDENT else independent,
                f"**{one_group}**" if place < len(WITHOUT) - 1 else one_group,
                percent((told[:, :2] <= LEVEL).all(axis=1)),
                percent(told[:, 2] > 0),
                *(percent(one <= LEVEL) for one in others.T),
            ]
        )
    names = ["table without groups", "tables", *TESTS, "both", "any feature listed", "simulated", "SigClust"]
    return markdown_table(names, rows), both


def clusters_chosen(n_tables):
    """The same if the number of clusters was chosen on the data and is kept on the copies."""
    rows = []
    for kind in CHOSEN:
        told = np.array(each(p_values_of, [(kind, seed, "auto") for seed in range(n_tables)]))[:, :2] <= LEVEL
        rows.append([kind, *(percent(one) for one in told.T), percent(told.all(axis=1))])
    return markdown_table(["table without groups", *TESTS, "both"], rows)


# ---------------------------------------------------------------- with groups


def assessed(kind, seed):
    """Return what is said about a table with groups, and the truth."""
    table = WITH[kind](seed)
    found = SASClustering(table.k, random_state=seed, n_jobs=1).fit(table.X)
    told = assess(found, table.X, random_state=seed, n_splits=N_SPLITS)
    oracle = adjusted(f_classif(table.X, table.truth)[1]) <= FDR
    shown = told.verdict == "groups"
    lists = {
        "held out": told.features.listed,
        "mirror": shown & (told.features.q_mirror <= FDR),
        "contrast": shown & (told.features.q_contrast <= FDR),
        "chosen": found.support_,
        "oracle": oracle,
    }
    errors = [
        (float((one & ~table.useful).sum() / max(1, one.sum())), float(one[table.useful].mean()))
        for one in lists.values()
    ]
    return [told.p_independent, told.p_one_group, adjusted_rand_index(table.truth, found.labels_)], errors


def power(n_tables, n_few):
    """Return the power of the tests and the errors of the lists as tables, and both p-values of all tables."""
    tests, lists, both = [], [], {}
    for place, kind in enumerate(WITH):
        n_own = n_tables if place < N_MANY else n_few
        told = each(assessed, [(kind, seed) for seed in range(n_own)])
        p = np.array([one[0] for one in told])
        both[kind] = p[:, :2]
        errors = np.array([one[1] for one in told]).mean(axis=0)
        others = np.array(each(other_tests, [(kind, seed) for seed in range(n_few)]))
        tests.append(
            [kind, f"{n_own}", f"{p[:, 2].mean():.2f}", *(percent(p[:, j] <= LEVEL) for j in (0, 1))]
            + [percent(one <= LEVEL) for one in others.T]
        )
        lists.append([kind, *(f"{wrong:.3f}, {right:.2f}" for wrong, right in errors.tolist())])
    return (
        markdown_table(["table with groups", "tables", "ARI of the fit", *TESTS, "simulated", "SigClust"], tests),
        markdown_table(["table with groups", "held out", "mirror", "contrast", "chosen by SAS", "oracle"], lists),
        both,
    )


# ---------------------------------------------------------------- real data


def is_wrong(truth, labels):
    """Whether each sample is in another cluster than most of its class, where clusters and classes are matched."""
    counts = np.zeros((truth.max() + 1, labels.max() + 1), int)
    np.add.at(counts, (truth, labels), 1)
    classes, clusters = linear_sum_assignment(-counts)
    named = np.full(labels.max() + 1, -1)
    named[clusters] = classes
    return named[labels] != truth


def real_tables():
    """Yield real tables with known classes: the name, the estimator, the table as it is clustered, and the classes."""
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        data = load()
        yield name, SASClustering(3), data.data, data.target
    for name, X, y in available():
        pipeline = expression_clustering(int(y.max()) + 1)
        yield name, pipeline[-1], pipeline[:-1].fit_transform(X), y


def assessed_table(name):
    """Return what is said about a real table, with the confidence of its samples and whether they are wrong."""
    (estimator, X, y), *_ = [rest for known, *rest in real_tables() if known == name]
    began = time.process_time()
    found = estimator.fit(X)
    fitted = time.process_time() - began
    told = assess(found, X)
    cost = (time.process_time() - began - fitted) / fitted
    agreement = adjusted_rand_index(y, found.labels_)
    row = [
        f"{name} ({X.shape[0]} x {X.shape[1]})",
        f"{agreement:.2f}",
        f"{told.p_independent:.2g}",
        f"{told.p_one_group:.2g}",
        told.verdict,
        f"{told.agreement:.2f}",
        ", ".join(told.clusters.words),
        f"{told.features.listed.sum():,}",
        f"{cost:.0f}",
    ]
    return row, float(agreement), told.samples.confidence.tolist(), is_wrong(y, found.labels_).tolist()


def real():
    """Return what is said about real tables, and by confidence how often samples are wrong, as tables and as arrays."""
    told = each(assessed_table, [(name,) for name, *_ in real_tables()])
    names = ["table", "ARI", *TESTS, "verdict", "halves", "clusters", "features listed", "cost"]
    same = [one for one in told if one[1] >= LEAST_AGREEMENT]
    sure, wrong = (np.concatenate([one[place] for one in same]) for place in (2, 3))
    curve = [
        [f"{low:.2f} to {min(high, 1):.2f}", int(here.sum()), percent(wrong[here]) if here.any() else "-"]
        for low, high in BINS
        for here in [(sure >= low) & (sure < high)]
    ]
    rows = [one[0] for one in told]
    header = ["confidence", "samples", "in a wrong cluster"]
    return markdown_table(names, rows), markdown_table(header, curve), sure, wrong


# ---------------------------------------------------------------- cost


def seconds(function, *arguments, **options):
    """Return the CPU time of the second of two calls."""
    for _ in range(2):
        began = time.process_time()
        function(*arguments, **options)
    return time.process_time() - began


def costs():
    X = shifted_groups(mu=0.7, n_features=1000, seed=0).X
    rows = []
    for k in (3, "auto"):
        estimator = SASClustering(k, n_jobs=1)
        fit = seconds(estimator.fit, X)
        rows.append([str(k), *(f"{seconds(assess, estimator, X, **plan) / fit:.1f}" for plan in ({}, SHORT_PLAN))])
    return markdown_table(["number of clusters", "assess", "as the command does by default"], rows)


def command_costs():
    """Compare the time of the command with and without its default assessment."""
    rng = np.random.default_rng(0)
    tables = {
        "90 x 1,000, three groups": shifted_groups(mu=0.7, n_features=1000, seed=0).X,
        "90 x 1,000, noise": rng.standard_normal((90, 1000)),
        "1,000 x 500, three groups": shifted_groups(mu=0.7, n_features=500, group_size=334, seed=0).X[:1000],
        "1,000 x 500, noise": rng.standard_normal((1000, 500)),
    }
    rows = []
    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "table.csv", Path(folder) / "result"
        fit = ("-m", "sparsecluster", "fit", str(file), "-q", "-o", str(out))
        for name, X in tables.items():
            np.savetxt(
                file, X, delimiter=",", fmt="%.5f", header=",".join(f"x{j}" for j in range(X.shape[1])), comments=""
            )
            with_it, without_it = (seconds_of_python(*fit, *more, repeats=3) for more in ((), ("--no-assess",)))
            rows.append([name, f"{with_it / without_it:.1f}"])
    return markdown_table(["table", "with / without the assessment"], rows)


def main(repeats=N_WITHOUT):
    n_with, n_chosen, n_few = (max(1, repeats * count // N_WITHOUT) for count in (N_WITH, N_CHOSEN, N_FEW))
    cost, command = quiet(costs), command_costs()
    without, without_p = first_kind(repeats, n_with, n_few)
    chosen = clusters_chosen(n_chosen)
    tests, lists, with_p = power(n_with, n_few)
    tables, curve, sure, wrong = real()
    draw(without_p, with_p, sure, wrong, BINS)
    text = f"""Tables of n = 90 samples and p = 500 features, and of 150 samples where five groups have 30 each. SAS
clustering with the number of clusters given and the number of features tuned, `assess` with its defaults except for the
number of halves, one seed per table, from 0.

![How often the tests reject without and with groups, and how often samples are wrong, by confidence](evidence.png)

## Tables without groups

Share of the tables in which a test at 5 % rejects: the test of independent features, which is made for the first
{N_INDEPENDENT} kinds, and that of one group, which is made for all but the last, whose samples have scales of their
own. "Both" is the share that is called groups. Two tests that estimate the covariance of the group are shown for
comparison, on {n_few} tables: one that searches tables simulated with shrunken eigenvalues as it searches the data,
and SigClust (soft thresholding).

{without}

The same for {n_chosen} tables if the number of clusters is chosen among 2 to 10. It is chosen on the data, and kept on
the copies and in the folds.

{chosen}

## Tables with groups

Share of the tables in which a test at 5 % rejects; of {n_few} tables for the last two tests.

{tests}

## Features

False discovery rate (mean share of the listed features that are useless) and power (mean share of the useful features
that are listed), at 10 %: tests on held-out samples, mirror statistics of {N_SPLITS} splits, contrasts with a synthetic
group, the features chosen by the clustering, and an oracle that tests with the true groups (F test, Benjamini and
Hochberg). The first three list nothing if the tests do not show groups.

{lists}

## Real data

Two tables of scikit-learn (three clusters) and expression sets (preset "expression", the number of classes given).
"Cost" is the CPU time of the assessment in units of that of the fit.

{tables}

How often samples are in a wrong cluster, by confidence, on all tables whose clusters have an adjusted Rand index of at
least {LEAST_AGREEMENT} with the classes, so that they are not clusters of something else:

{curve}

## Cost

CPU time in units of one tuned fit, n = 90, p = 1,000, mu = 0.7, one thread.

{cost}

The time of the command `sparsecluster fit`, with the number of clusters to be chosen, divided by that with
`--no-assess`: reading, fitting and writing the report are part of both. Medians of three runs.

{command}"""
    return "Evidence", text
