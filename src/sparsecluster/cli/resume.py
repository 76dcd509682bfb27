"""Continuing a fit that was interrupted."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__

if TYPE_CHECKING:
    from .._data.reading import Reading

# Parameters on which the answer does not depend.
WITHOUT_EFFECT = ("n_jobs", "verbose")
# Number of values that are copied together.
BLOCK_VALUES = 2**20


def name_of_fit(estimator: Any, reading: Reading) -> str:
    """Return a name that is different if the version, the method, its parameters or the table are different."""
    parameters = {key: value for key, value in estimator.get_params().items() if key not in WITHOUT_EFFECT}
    table, source = hashlib.blake2b(digest_size=16), reading.source
    table.update(repr([__version__, type(estimator).__name__, sorted(parameters.items()), reading.request]).encode())
    for array in (source.samples, source.columns, *_arrays(source)):
        table.update(repr((array.dtype.str, array.shape)).encode())
        step = max(1, BLOCK_VALUES // max(1, array[:1].size))
        for first in range(0, len(array), step):
            table.update(np.ascontiguousarray(array[first : first + step]).tobytes())
    kinds = [source.kind(a) for a in range(reading.n_columns)]
    for kind in kinds[:1] if all(kind is kinds[0] for kind in kinds) else kinds:
        table.update(repr(kind).encode())
    return table.hexdigest()


def _arrays(source: Any) -> list[Any]:
    """The arrays that hold the values of a dense or a sparse table."""
    if hasattr(source, "table"):
        return [source.table.values]
    return [source.values.data, source.values.indices, source.values.indptr]
