"""Cells in a file that are clustered without loading it: time, memory and quality on simulated counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse

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
