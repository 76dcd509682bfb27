"""Cells in a file that are clustered without loading it: time, memory and quality on simulated counts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse

from sparsecluster._utils.markdown import markdown_table

# The number of cells, and how their matrix is read.
RUNS = ((100_000, "r"), (100_000, None), (500_000, "r"))
HOW = {"r": "in blocks", None: "loaded"}
MIB = 2**20
GENES, GROUPS, MARKERS = 2_000, 5, 100
# Cells that are made at a time.
STEP = 10_000


def simulated(cells, seed=0):
    """Yield blocks of counts, compressed by row, and the groups of their cells.

    Counts are negative binomial with one failure, about 5 % of them are not zero, and cells differ in their depth. Each
    group has its own 20 of the 100 marker genes, which are expressed five times as strongly as in the others.
    """
    level = np.random.default_rng(seed).lognormal(-3.7, 0.8, GENES)
    level[:MARKERS] = 0.3
    fold = np.where(np.arange(GENES) // (MARKERS // GROUPS) == np.arange(GROUPS)[:, None], 5.0, 1.0)
    for first in range(0, cells, STEP):
        rng = np.random.default_rng([seed, first])
        group = rng.integers(0, GROUPS, min(STEP, cells - first))
        means = (level * fold)[group] * rng.lognormal(0.0, 0.3, (group.size, 1))
        # The count is at least c with probability (mean / (1 + mean))^c: the whole part of an exponential number.
        draws = rng.standard_exponential(means.shape, np.float32)
        draws /= np.log1p(1.0 / means).astype(np.float32)
        yield scipy.sparse.csr_matrix(np.floor(draws, out=draws)), group


def write_cells(file, cells):
    """Write simulated cells to an H5AD file, block by block."""
    import anndata
    import h5py
    from anndata.io import write_elem

    groups = []
    with h5py.File(file, "w") as store:
        for counts, group in simulated(cells):
            if "X" in store:
                anndata.io.sparse_dataset(store["X"]).append(counts)
            else:
                write_elem(store, "X", counts, dataset_kwargs={"chunks": (2**16,)})
            groups.append(group)
        names = [f"cell{i}" for i in range(cells)]
        obs = pd.DataFrame({"group": np.concatenate(groups).astype(str)}, index=names)
        write_elem(store, "obs", obs)
        write_elem(store, "var", pd.DataFrame(index=[f"gene{a}" for a in range(GENES)]))
        store.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})


# One fit in a process of its own. The kernels are compiled and everything is imported before memory is measured, and
# writing 5 makes Linux forget the peak so far.
FIT = """
import json, time, warnings
import anndata
import sparsecluster.scanpy as ssc
from benchmarks.backed import memory
from sparsecluster import rand_index

def fitted(adata):
    ssc.sas(adata, {clusters}, preset="expression")
    return adata

fitted(anndata.read_h5ad({small!r}, backed={backed!r}))
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
began = time.perf_counter()
adata = fitted(anndata.read_h5ad({file!r}, backed={backed!r}))
seconds = time.perf_counter() - began
peak = memory("VmHWM") - before
rand = rand_index(adata.obs["group"].to_numpy().astype(str), adata.obs["sas"].to_numpy().astype(str))
markers = adata.var["sas_chosen"].to_numpy()[:{markers}]
print(json.dumps([seconds, peak, rand, int(markers.sum()), int(adata.var["sas_chosen"].sum())]))
"""


def memory(line):
    """Return a line of what Linux tells about the memory of this process, in bytes."""
    return next(1024 * int(each.split()[1]) for each in open("/proc/self/status") if each.startswith(line))


def fit(file, small, backed):
    """Return seconds, peak memory, the Rand index, and the numbers of marker genes and of genes that were chosen."""
    code = FIT.format(file=str(file), small=str(small), backed=backed, clusters=GROUPS, markers=MARKERS)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def main(repeats=None):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small.h5ad")
        write_cells(small, 3_000)
        for cells, backed in RUNS:
            file = Path(folder, f"{cells}.h5ad")
            if not file.exists():
                write_cells(file, cells)
            seconds, peak, rand, markers, chosen = fit(file, small, backed)
            measured = (f"{seconds:.1f}", f"{peak / MIB:.0f}", f"{rand:.4f}", f"{markers} of {chosen}")
            rows.append([f"{cells:,}", f"{file.stat().st_size / MIB:.0f}", HOW[backed], *measured])
    text = (
        f"Simulated counts of {GENES:,} genes, about 5 % of them not zero, in {GROUPS} groups of cells that differ in "
        f"{MARKERS} marker genes, as an H5AD file (CSR, not compressed). They are clustered by "
        '`sparsecluster.scanpy.sas(adata, 5, preset="expression")`, once with `anndata.read_h5ad(file, backed="r")`, '
        "which is read in blocks of cells, and once loaded into memory. Peak memory is what this takes in addition to "
        "a process that has fitted a small file before. The last column has the marker genes among the chosen ones. "
        "Both ways give the same result, which a test checks.\n\n"
        + markdown_table(
            ["cells", "file, MiB", "matrix", "seconds", "peak memory, MiB", "Rand index", "markers"],
            rows,
        )
    )
    return "Cells in a file", text
