"""An H5AD file that is larger than memory as a table in blocks: its matrix stays in the file."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .backed import open_h5ad
from .sources import Source
from .tables import Loaded, _of_matrix

# The columns in which the names of the samples and their true groups are kept.
ID, GROUP = "id", "group"


class Cells(NamedTuple):
    """A matrix that is read in blocks: what was loaded of it, its samples in the same blocks, and what to close."""

    loaded: Loaded
    about: Any
    lengths: list[int]
    stack: ExitStack


def open_cells(source: Source, id_column: str | None, truth: str | None, drop: tuple[str, ...]) -> Cells:
    """Open an H5AD file, whose matrix can be read until the stack is closed."""
    import dask.dataframe as dd
    import pandas as pd
    from dask.config import set as dask_set

    with ExitStack() as stack:
        matrix = stack.enter_context(open_h5ad(source))
        loaded = _of_matrix(matrix, source.name, id_column, truth, drop, False)
        known = {} if loaded.truth is None else {GROUP: loaded.truth.astype(str).to_numpy(dtype=object)}
        about = pd.DataFrame({ID: np.array(loaded.ids, dtype=object), **known})
        lengths = list(map(int, loaded.X.chunks[0]))
        edges = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        pieces = [about.iloc[first:last] for first, last in pairwise(edges)]
        with dask_set({"dataframe.convert-string": False}):
            table = dd.from_map(as_it_is, pieces, meta=about.iloc[:0])
        return Cells(loaded, table, lengths, stack.pop_all())


def as_it_is(piece: Any) -> Any:
    """The rows of one block, which are in memory."""
    return piece
