"""Speed against the plain NumPy and scikit-learn version of the authors' algorithm, in one run on one thread."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from sparsecluster import SASClustering, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments import plain

from .report import markdown_table, seconds_of

# Seconds of the authors' R code: another machine, another run, one core (n = 90, kappa = 3, mu = 0.7).
R_SECONDS = {100: (0.07, 1.9, 0.66), 500: (0.18, 9.7, 2.7), 1000: (0.36, 15.2, 4.7)}
# The authors' own algorithm with our engine: one coordinate-wise start, subsets kept on permuted copies.
PUBLISHED = {"init": "coordinate", "n_init": 1, "consensus": False, "null": "fixed"}


def measure(p, repeats):
    """Seconds at one p, by name, all on one thread in one run; and the Rand index of both tuned fits."""
    X, truth, _ = shifted_groups(mu=0.7, n_features=p, seed=0)

    def ours(**parameters):
        return SASClustering(n_clusters=3, **parameters).fit(X)

    runs = {
        "given": lambda: ours(n_features_to_select=50),
        "tuned": ours,
        "same given": lambda: ours(n_features_to_select=50, **PUBLISHED),
        "same grid": lambda: ours(search="grid", **PUBLISHED),
        "same golden": lambda: ours(search="golden", **PUBLISHED),
    }
    with threadpool_limits(1):
        for run in runs.values():  # the first run compiles
            run()
        seconds = {name: seconds_of(run, repeats) for name, run in runs.items()}
        seconds["plain given"] = seconds_of(lambda: plain.sas_given(X, 3, 50))
        seconds["plain tuned"] = seconds_of(lambda: plain.sas_grid(X, 3))
        rand = rand_index(truth, plain.sas_grid(X, 3)[0]), rand_index(truth, ours().labels_)
    return seconds, rand


def compared(slow, fast):
    """Cells: seconds, seconds and their ratio."""
    return [f"{slow:.2f}", f"{fast:.3f}", f"**{slow / fast:.0f}x**"]


def main(repeats=5):
    rows, r_rows = [], []
    for p, r_seconds in R_SECONDS.items():
        seconds, rand = measure(p, repeats)
        given = compared(seconds["plain given"], seconds["given"])
        tuned = compared(seconds["plain tuned"], seconds["tuned"])
        rows.append([p, *given, *tuned, *(f"{value:.3f}" for value in rand)])
        same = [seconds["same given"], seconds["same grid"], seconds["same golden"]]
        r_rows.append([p, *(cell for pair in zip(r_seconds, same, strict=True) for cell in compared(*pair))])
    header = ["p", "plain, s given", "ours", "ratio", "plain, tuned", "ours", "ratio", "Rand plain", "Rand ours"]
    r_header = ["p", "R, s given", "ours", "ratio", "R, grid", "ours", "ratio", "R, golden", "ours", "ratio"]
    text = (
        f"n = 90, three groups, mu = 0.7, seed 0, one thread, compiled kernels; seconds, ours the median of {repeats} "
        "runs, plain one run.\n`plain` is the authors' algorithm in NumPy and scikit-learn "
        "([plain.py](../../src/sparsecluster/experiments/plain.py)): one start,\nB = 25, a grid of 50 sizes. Ours are "
        "the defaults: many starts, B = 25 with features chosen anew on each copy, all p sizes.\n\n"
        + markdown_table(header, rows)
        + "\n\n## The same work as the R program\n\nOurs with the authors' algorithm (one coordinate-wise start, "
        "subsets kept on permuted copies, B = 25).\nThe R seconds are from another run on another machine, so these "
        "ratios are only a rough guide.\n\n" + markdown_table(r_header, r_rows)
    )
    return "Speed", text
