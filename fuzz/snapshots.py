"""What a table looks like in every byte, to see whether a call has changed it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp


def snapshot(X: Any) -> Any:
    """Return a value that changes if the content or the form of a table changes."""
    if isinstance(X, np.ndarray):
        content = repr(X.tolist()) if X.dtype.hasobject else X.tobytes()
        return X.dtype.str, X.shape, X.flags.writeable, content
    if sp.issparse(X):
        parts = [getattr(X, name, None) for name in ("data", "indices", "indptr", "row", "col", "offsets")]
        parts += list(getattr(X, "coords", None) or ())
        return type(X).__name__, X.shape, tuple(snapshot(each) for each in parts if isinstance(each, np.ndarray))
    if isinstance(X, pd.DataFrame):
        columns = [repr(X.iloc[:, a].tolist()) for a in range(X.shape[1])]
        return list(map(repr, X.columns)), list(map(repr, X.index)), list(map(str, X.dtypes)), columns, dict(X.attrs)
    if isinstance(X, pl.DataFrame):
        return list(map(str, X.schema.items())), repr(X.to_dict(as_series=False))
    if isinstance(X, pa.Table):
        return str(X.schema), repr(X.to_pydict())
    if isinstance(X, list | tuple):
        return type(X).__name__, [snapshot(each) for each in X]
    return repr(X) if isinstance(X, str | bytes | int | float | dict | set) else type(X).__name__
