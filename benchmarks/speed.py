"""Speed compared with the methods in plain NumPy and scikit-learn and with the R programs, in one run on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from sparsecluster import SASClustering, SparseHierarchical, SparseKMeans, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments import plain
from sparsecluster.experiments.contenders import PUBLISHED

from . import speed_limits
from .r_programs import FOLDER, run_r
from .report import seconds_of

# What a fit does besides the search, and the authors' algorithm does not do.
SEARCH_ALONE = {"core_agreement": None, "n_alternatives": 0}
# The authors' algorithm run by our code, on all samples.
AS_PUBLISHED = {**PUBLISHED, "subsample": None}
SIZE, BOUND = 50, 5.0
# No further run once those of one measurement have taken this many seconds together.
ENOUGH = 15.0


class Plain(NamedTuple):
    """A function of `plain`, with its parameters after the data and the number of clusters."""

    function: Callable[..., Any]
    more: tuple[float, ...] = ()


class Line(NamedTuple):
    """One line of the table: a size of the data, the work, how we and the plain version do it, and a time of R.

    This time, which was measured elsewhere, is a number of seconds as text, or "> 200" if R was stopped. `wanted` is
    the ratio of R to ours that the package aims at.
    """

    n: int
    p: int
    work: str
    method: type
    parameters: dict[str, Any]
    plain: Plain
    quoted: str
    wanted: int


def sas(n, p, work, parameters, twin, r, wanted):
    """A line about SAS: the search alone, without the core and alternatives."""
    return Line(n, p, f"SAS, {work}", SASClustering, {**SEARCH_ALONE, **parameters}, twin, r, wanted)


def weighted(n, p, title, method, twins, r):
    """Two lines about a method with a bound of its weights: given and tuned, without the core."""
    given = Line(n, p, f"{title}, bound given", method, {"core_agreement": None, "l1_bound": BOUND}, twins[0], r[0], 10)
    return given, Line(n, p, f"{title}, tuned", method, {"core_agreement": None}, twins[1], r[1], 50)


GIVEN, GRID, GOLDEN = Plain(plain.sas_given, (SIZE,)), Plain(plain.sas_grid), Plain(plain.sas_golden)
S_GIVEN = {"n_features_to_select": SIZE}
MEANS_GIVEN, MEANS = Plain(plain.sparse_kmeans_given, (BOUND,)), Plain(plain.sparse_kmeans)
TREE_GIVEN, TREE = Plain(plain.sparse_hierarchical_given, (BOUND,)), Plain(plain.sparse_hierarchical)
LINES = (
    sas(90, 1000, "s given, as published", S_GIVEN | AS_PUBLISHED, GIVEN, "0.179", 10),
    sas(90, 1000, "s given, our many starts", S_GIVEN, GIVEN, "0.179", 10),
    sas(90, 1000, "grid as published", {"search": "grid", **AS_PUBLISHED}, GRID, "14.8", 50),
    sas(90, 1000, "golden section as published", {"search": "golden", **AS_PUBLISHED}, GOLDEN, "4.75", 50),
    sas(90, 1000, "our default, against the grid", {}, GRID, "14.8", 100),
    sas(90, 1000, "tuned by BIC, against the grid", {"criterion": "bic"}, GRID, "14.8", 400),
    sas(90, 100, "grid as published", {"search": "grid", **AS_PUBLISHED}, GRID, "1.12", 50),
    sas(90, 100, "our default, against the grid", {}, GRID, "1.12", 50),
    sas(300, 200, "grid as published", {"search": "grid", **AS_PUBLISHED}, GRID, "11.7", 50),
    sas(300, 200, "our default, against the grid", {}, GRID, "11.7", 50),
    sas(3000, 200, "s given, as published", S_GIVEN | AS_PUBLISHED, GIVEN, "0.291", 10),
    sas(3000, 200, "s given, our many starts", S_GIVEN, GIVEN, "0.291", 10),
    sas(3000, 200, "grid as published", {"search": "grid", **AS_PUBLISHED}, GRID, "> 200", 50),
    sas(3000, 200, "our default, against the grid", {}, GRID, "> 200", 50),
    *weighted(90, 1000, "Sparse K-means", SparseKMeans, (MEANS_GIVEN, MEANS), ("0.182", "34.7")),
    *weighted(300, 200, "Sparse K-means", SparseKMeans, (MEANS_GIVEN, MEANS), ("0.122", "20.7")),
    *weighted(3000, 200, "Sparse K-means", SparseKMeans, (MEANS_GIVEN, MEANS), ("5.86", "> 200")),
    *weighted(90, 1000, "sparse hierarchical", SparseHierarchical, (TREE_GIVEN, TREE), ("0.349", "40.8")),
)


@cache
def data(n, p):
    """The design of the paper's Table 1: three groups, mu = 0.7."""
    return shifted_groups(mu=0.7, n_features=p, group_size=n // 3, seed=0)


@cache
def plain_run(twin, n, p):
    """Return the seconds and the Rand index of the plain version; several lines are compared with the same run."""
    X, truth, _ = data(n, p)
    found = []
    seconds = seconds_of(lambda: found.append(twin.function(X, 3, *twin.more)[0]), clock=time.process_time)
    return seconds, rand_index(truth, found[0])


@cache
def r_run(twin, n, p, repeats):
    """Return the seconds and the Rand index of the R program that does the work of a plain version; None without R."""
    X, truth, _ = data(n, p)
    found = run_r(twin.function.__name__, X, repeats, ENOUGH)
    return None if found is None else (found.seconds, rand_index(truth, found.labels))


def our_run(line, repeats):
    """Return the median of the seconds of our runs, and the Rand index."""
    X, truth, _ = data(line.n, line.p)

    def fit():
        return line.method(n_clusters=3, **line.parameters).fit(X)

    labels = fit().labels_  # the first run compiles
    return seconds_of(fit, repeats, time.process_time, ENOUGH), rand_index(truth, labels)


def times(ratio):
    """Write a ratio, so that one below 1 does not look like 1.

    >>> times(0.66), times(4.2), times(172.3)
    ('0.7x', '4.2x', '172x')
    """
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def row_of(line, repeats):
    """Measure one line of the table."""
    # What took R too long elsewhere is not tried again.
    more = "> " if line.quoted.startswith(">") else ""
    by_r = None if more else r_run(line.plain, line.n, line.p, repeats)
    ours, our_rand = our_run(line, repeats)
    slow, rand = plain_run(line.plain, line.n, line.p)
    r, r_ratio, r_rand = ("-",) * 3
    if by_r is not None:
        r, r_ratio, r_rand = f"{by_r[0]:.3g}", f"**{times(by_r[0] / ours)}**", f"{by_r[1]:.3f}"
    quoted = f"{more}{times(float(line.quoted.removeprefix('> ')) / ours)}"
    row = [f"{line.n}, {line.p}", line.work, f"{slow:.3g}", r, f"{ours:.4f}", f"**{times(slow / ours)}**", r_ratio]
    return [*row, f"{line.wanted}x", line.quoted, quoted, f"{rand:.3f}", r_rand, f"{our_rand:.3f}"]


HEADER = ["n, p", "work", "plain, s", "R, s", "ours, s", "plain / ours", "R / ours", "wanted", "R elsewhere, s"]
HEADER += ["R elsewhere / ours", "Rand index, plain", "Rand index, R", "Rand index, ours"]
ABOUT = """CPU seconds of one thread, three groups, mu = 0.7, seed 0, with compiled kernels. Ours is the median of
{repeats} runs, or of fewer if they take more than {enough:.0f} s together, and so is R; plain is one run.

- `plain` is the published algorithm in NumPy, SciPy and scikit-learn
  ([plain.py](../../src/sparsecluster/experiments/plain.py)): for SAS one start, B = 25 and a grid of 50 sizes or a
  golden-section search; for Sparse K-means 10 bounds and B = 25; for sparse hierarchical clustering 10 bounds and
  B = 10.
- `R` is the authors' program for SAS and the package sparcl for the others, run on the same table just before ours. The
  command runs them ([r_programs.R](../../benchmarks/r_programs.R)) if R and sparcl are installed and the environment
  variable `{folder}` names a folder with the authors' `hill_climb.R` and `hill_climb_GSS.R`; otherwise there is "-".
- "R elsewhere" was measured once on another machine, side by side with an earlier version of ours, so that its ratios
  to ours are a rough guide. "> 200" was stopped after 200 s and is not tried again.
- "As published" does the work of the R program: one coordinate-wise start, the subset kept on permuted copies, all
  samples. Our default has many starts, all p sizes, and B = 25 permuted copies on which features are chosen anew; with
  more than 2,000 samples it searches on 2,000 of them.
- "wanted" is the ratio of R to ours that the package aims at.

"""


def main(repeats=5):
    with threadpool_limits(1):
        rows = [row_of(line, repeats) for line in LINES]
    text = (
        ABOUT.format(repeats=repeats, enough=ENOUGH, folder=FOLDER)
        + markdown_table(HEADER, rows)
        + "\n\nFits are without the core and alternatives, which the published algorithms do not have. A fit of SAS "
        "with all defaults takes longer by these factors:\n\n"
        + whole_fits(repeats)
        + "\n\n"
        + speed_limits.sections(repeats)
    )
    return "Speed", text


def whole_fits(repeats):
    """Write how much longer a fit takes that also looks for the core and for alternatives."""

    def seconds(p, parameters):
        X = data(90, p).X
        return seconds_of(lambda: SASClustering(3, **parameters).fit(X), repeats, time.process_time)

    with threadpool_limits(1):
        rows = [
            [f"90, {p}", *(f"{seconds(p, given) / seconds(p, SEARCH_ALONE | given):.2f}" for given in (S_GIVEN, {}))]
            for p in (100, 1000)
        ]
    return markdown_table(["n, p", "s given", "tuned"], rows)
