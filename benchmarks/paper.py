"""The paper's experiments, run again with the methods that a benchmark needs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.experiment import values_of
from sparsecluster.experiments.runner import run


def simulated(name, cell, seed):
    """Return the data of one repeat of an experiment, as the text of the paper describes them."""
    return EXPERIMENTS[name].design(cell, seed, "text")


def runs_of(name, repeats, methods, cells=()):
    """Run an experiment with seeds 0, 1, ...; return {values of the cell: {method: [row of every repeat]}}."""
    with tempfile.TemporaryDirectory() as folder:
        results = run(EXPERIMENTS[name], Path(folder), repeats=repeats, methods=methods, cells=cells, jobs=-1)
    failed = [f"{record.task}: {record.error}" for record in results.records if record.error]
    if failed:
        raise RuntimeError(f"{len(failed)} tasks of {name} failed; the first: {failed[0]}")
    rows = {values_of(cell): {method: [] for method in methods} for cell in cells or EXPERIMENTS[name].cells}
    for record in sorted(results.records, key=lambda record: record.task.seed):
        rows[values_of(record.task.cell)][record.task.method] += record.rows
    return rows


def mean_of(rows, measure):
    """Return the mean of a measure over the repeats."""
    return float(np.mean([row[measure] for row in rows]))


def beside_limit(limit, ours):
    """Format the rows of the limit and of ours: both Rand indices and their difference; features chosen and wrong."""
    rand, best = np.array([row["rand"] for row in ours]), mean_of(limit, "rand")
    return (
        [f"{best:.3f}", f"{rand.mean():.3f} ({rand.std(ddof=1):.3f})", f"{rand.mean() - best:+.3f}"],
        [f"{mean_of(ours, 'selected'):.1f}", f"{mean_of(ours, 'difference'):.1f}"],
    )
