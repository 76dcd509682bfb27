"""Speed compared with the authors' algorithm in plain NumPy and scikit-learn, in one run on one thread."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from sparsecluster import SASClustering, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments import plain
from sparsecluster.experiments.contenders import PUBLISHED

from .report import compared, seconds_of

# What a fit does besides the search, and the authors' algorithm does not do.
SEARCH_ALONE = {"core_agreement": None, "n_alternatives": 0}
# Seconds of the authors' R code on one core of another machine (n = 90, kappa = 3, mu = 0.7).
R_SECONDS = {100: (0.07, 1.9, 0.66), 500: (0.18, 9.7, 2.7), 1000: (0.36, 15.2, 4.7)}


def measure(p, repeats):
    """Return the seconds at one p, by name, and the Rand indices of both tuned fits; all on one thread in one run."""
    X, truth, _ = shifted_groups(mu=0.7, n_features=p, seed=0)

    def ours(**parameters):
        return SASClustering(n_clusters=3, **{**SEARCH_ALONE, **parameters}).fit(X)

    runs = {
        "given": lambda: ours(n_features_to_select=50),
        "tuned": ours,
        "whole given": lambda: SASClustering(n_clusters=3, n_features_to_select=50).fit(X),
        "whole tuned": lambda: SASClustering(n_clusters=3).fit(X),
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


def main(repeats=5):
    rows, more, r_rows = [], [], []
    for p, r_seconds in R_SECONDS.items():
        seconds, rand = measure(p, repeats)
        given = compared(seconds["plain given"], seconds["given"])
        tuned = compared(seconds["plain tuned"], seconds["tuned"])
        rows.append([p, *given, *tuned, *(f"{value:.3f}" for value in rand)])
        more.append([p, *(f"{seconds[f'whole {name}'] / seconds[name]:.2f}" for name in ("given", "tuned"))])
        same = [seconds["same given"], seconds["same grid"], seconds["same golden"]]
        r_rows.append([p, *(cell for pair in zip(r_seconds, same, strict=True) for cell in compared(*pair))])
    header = ["p", "plain, s given", "ours", "ratio", "plain, tuned", "ours", "ratio"]
    header += ["Rand index, plain", "Rand index, ours"]
    r_header = ["p", "R, s given", "ours", "ratio", "R, grid", "ours", "ratio", "R, golden section", "ours", "ratio"]
    text = (
        "n = 90, three groups, mu = 0.7, seed 0, on one thread with compiled kernels. Seconds: ours is the median of "
        f"{repeats} runs, plain is one run. `plain` is the authors' algorithm in NumPy and scikit-learn "
        "([plain.py](../../src/sparsecluster/experiments/plain.py)): one start, B = 25, a grid of 50 sizes. Ours has "
        "the default search: many starts, all p sizes, and B = 25 permuted copies on which features are chosen "
        "anew.\n\n"
        + markdown_table(header, rows)
        + "\n\nA fit with all defaults also looks for the core and for alternatives, which the plain version does not "
        "do. Its time, relative to the search alone:\n\n"
        + markdown_table(["p", "s given", "tuned"], more)
        + "\n\n## The same work as the R program\n\n"
        "Ours runs the authors' algorithm (one coordinate-wise start, the subset kept on permuted copies, B = 25). The "
        "seconds of the R program were measured on another machine, so these ratios are only a rough guide.\n\n"
        + markdown_table(r_header, r_rows)
    )
    return "Speed", text
