"""Every method of the registry on designs of the paper and on correlated features: accuracy, features and time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsecluster import METHODS, make_method, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import Design
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.experiment import values_of
from sparsecluster.experiments.printed import TABLE_1A, TABLE_4

from .paper import simulated

# With all 1000 features, a stepwise search may take minutes.
LIMITED = {"raftery-dean": {"max_candidates": 50, "max_features": 20}}


class Cell(NamedTuple):
    """A design: its name, how it is simulated, the paper's figures, and whether its columns are categories."""

    name: str
    simulate: Callable[[int], Design]
    printed: dict[str, tuple[float, float | None]]
    is_categorical: bool = False


def of_table_1a(mu, p):
    """Return a cell of Table 1a: three groups in a row, 50 useful features."""
    cell = {"mu": mu, "p": p}
    printed = TABLE_1A[values_of(cell)]
    named = {**printed, "sas": printed["sas-grid"]}
    return Cell(f"Table 1a, mu = {mu}, p = {p}", lambda seed: simulated("table-1a", cell, seed), named)


def of_table_4(q, p):
    """Return a cell of Table 4: columns of zeros and ones, compared by the Hamming distance."""
    cell = {"q": q, "p": p}
    printed = TABLE_4[values_of(cell)]
    named = {name: printed[name] for name in printed if name in METHODS} | {"sas": printed["sas-medoids"]}
    return Cell(f"Table 4, q = {q}, p = {p}", lambda seed: simulated("table-4", cell, seed), named, True)


def of_table_3():
    """Return the only cell of Table 3: three groups with different covariances, 50 useful features."""
    (cell,) = EXPERIMENTS["table-3"].cells
    (printed,) = EXPERIMENTS["table-3"].printed["rand"].values()
    named = {**printed, "sas": printed["sas-grid"]}
    return Cell("Table 3, correlated features, p = 500", lambda seed: simulated("table-3", cell, seed), named)


CELLS = (
    *(of_table_1a(mu, p) for mu in (0.6, 0.8) for p in (200, 1000)),
    of_table_3(),
    of_table_4(0.7, 100),
)


def parameters_for(name, cell) -> dict[str, Any] | None:
    """Return the parameters of a method on a design, and None if it does not take such data."""
    if not cell.is_categorical:
        return LIMITED.get(name, {})
    if METHODS[name].takes == "numbers":
        return None
    # Levels are compared by the Hamming distance. A mixture models their probabilities.
    known = make_method(name, 3).get_params()
    return {"metric": "hamming", "standardize": False} if "standardize" in known else {"metric": "hamming"}


def one_fit(name, cell, seed):
    """Return the Rand index, the numbers of chosen features and of useful ones, and the seconds; NaN if it fails."""
    X, truth, useful = cell.simulate(seed)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = make_method(name, 3, random_state=seed, **parameters_for(name, cell)).fit(X)
    except ValueError:
        return (np.nan,) * 4
    seconds = time.perf_counter() - began
    return rand_index(truth, found.labels_), found.support_.sum(), found.support_[useful].sum(), seconds


def shown(name, cell, runs):
    """Return the row of a method."""
    rand, chosen, useful, seconds = np.nanmean(runs[:, 0]), *np.nanmean(runs[:, 1:3], axis=0), np.nanmedian(runs[:, 3])
    selects = [f"{chosen:.1f}", f"{useful:.1f}"] if METHODS[name].selects else ["all", ""]
    spread = f" ({np.nanstd(runs[:, 0], ddof=1):.3f})" if len(runs) > 1 else ""
    printed = f"{cell.printed[name][0]:.3f}" if name in cell.printed else ""
    n_failed = int(np.isnan(runs[:, 0]).sum())
    note = f"{n_failed} of {len(runs)} failed" if n_failed else ""
    return [f"`{name}`", f"{rand:.3f}{spread}", printed, *selects, f"{seconds:.3f}", note]


def table_of(cell, repeats):
    """Return the table of a design, the best method first."""
    names = [name for name in METHODS if parameters_for(name, cell) is not None]
    rows = {}
    for name in names:
        one_fit(name, cell, 0)  # compiles, and simulates null distributions
        rows[name] = np.array([one_fit(name, cell, seed) for seed in range(repeats)], float)
    order = sorted(names, key=lambda name: -np.nanmean(rows[name][:, 0]) if np.isfinite(rows[name][:, 0]).any() else 1)
    header = ["method", "Rand index (sd)", "paper", "selected", "useful among them", "seconds", ""]
    return markdown_table(header, [shown(name, cell, rows[name]) for name in order])


def main(repeats=5):
    tables = "\n\n".join(f"## {cell.name}\n\n{table_of(cell, repeats)}" for cell in CELLS)
    text = (
        f"Every method with its own tuning (`make_method(name, 3, random_state=seed)`), {repeats} tables per design, "
        f"seeds 0 to {repeats - 1}; seconds are the median of a fit with the core on one thread, without compilation. "
        "The best method comes first. All designs have three groups of 30 samples. In Tables 1a and 3, 50 features are "
        "useful; in Table 3, all features are correlated, differently in each group. Table 4 has columns of zeros and "
        "ones; only methods that take categories are run there.\n\n"
        "`raftery-dean` looks only at the 50 features with the best evidence of their own and chooses at most 20, "
        "since it may take minutes otherwise. Methods that do not select features use all of them. The paper's figures "
        "are those of its tables; for `sas`, "
        "of its grid search.\n\n" + tables
    )
    return "Methods", text
