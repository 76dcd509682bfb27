"""Checks of a table before it is read. Only estimators call these functions; lower layers never see an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from .._data.content import as_frame, columns_where, holds_words, word_columns
from .._data.kinds.dissimilarity import all_same
from .._data.names import DefaultNames
from .._data.reading import Given
from .._utils.checks import check_count, listed

# How scikit-learn checks a table of numbers. Missing and infinite values are checked later, where the error message can
# name the columns.
NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "accept_sparse": "csc"}


def checked(estimator: Any, X: Any, *, reset: bool, has_words: bool = False) -> Given:
    """Return a table in the form in which it is read: numbers as an array or a sparse matrix, other tables unchanged.

    With `reset`, the estimator stores the number and the names of the columns; otherwise they must match those it has
    stored. `has_words` means that some columns in `fit` did not hold numbers, so all columns are read one by one.
    """
    fewest = 2 if reset else 1
    check_form(X)
    if scipy.sparse.issparse(X):
        if has_words:
            raise TypeError(
                "X is a sparse matrix, which cannot hold text, but fit was called with columns of text. Pass a table."
            )
        if hasattr(X, "check_format"):
            # Positions beyond the matrix would make compiled code read foreign memory.
            X.check_format(full_check=True)
        X = validate_data(estimator, X, reset=reset, ensure_min_samples=fewest, **NUMBERS)
        return Given(X, False, names_of(estimator), names_of(estimator), hasattr(estimator, "feature_names_in_"))
    frame = as_frame(X)
    if frame is not None and not frame.columns:
        raise ValueError("X has no columns, so there is nothing to cluster by. Check the input.")
    keys = [] if frame is None else list(getattr(frame.to_native(), "columns", []))
    words = has_words or holds_words(X)
    if words:
        X = np.asarray(X, dtype=object) if frame is None else X
        check_count("The number of rows of X", len(X), fewest)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif is_table_of_floats(values := of_one_type(X), fewest):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        X = values
    else:
        X = validate_data(estimator, without_128_bits(X), reset=reset, ensure_min_samples=fewest, order=None, **NUMBERS)
    names = names_of(estimator)
    # Parameters refer to columns by the user's own names, while scikit-learn accepts only strings as names.
    is_usable = bool(keys) and all(isinstance(key, str | int) for key in keys)
    return Given(X, words, names, keys if is_usable else names, hasattr(estimator, "feature_names_in_"))


def of_one_type(X: Any) -> Any:
    """Return a data frame as an array if all of its columns have the same type of NumPy, and other tables unchanged.

    scikit-learn looks at the columns one by one.
    """
    types = [] if isinstance(X, np.ndarray) else list(getattr(X, "dtypes", []))
    return np.asarray(X) if types and isinstance(types[0], np.dtype) and all_same(types) else X


def is_table_of_floats(X: Any, fewest: int) -> bool:
    """Whether X is already what scikit-learn would make of it: an array of floats with enough rows, and a column."""
    is_table = type(X) is np.ndarray and X.ndim == 2 and X.dtype in NUMBERS["dtype"]
    return is_table and len(X) >= fewest and X.shape[1] > 0


# What to do with objects that are not tables but can be made one, by the name of a method that they have.
WAYS_OUT = {
    "to_table": "Call .to_table() on it first.",
    "read_all": "Call .read_all() on it first.",
    "to_dataframe": "Call .to_dataframe() on it first.",
    "capitalize": "Read files with sparsecluster.io.read_table.",
    "items": "Use pandas.DataFrame(X).",
    "__next__": "Use list(X).",
}


def check_form(X: Any) -> None:
    """Refuse what is not a table, before other packages can only say what they failed to convert."""
    if type(X).__name__ == "RecordBatch":
        raise TypeError("X is a pyarrow.RecordBatch, which is a part of a table. Use pyarrow.Table.from_batches([X]).")
    if not isinstance(X, type) and (scipy.sparse.issparse(X) or as_frame(X) is not None):
        return
    if isinstance(X, type) or not (hasattr(X, "__array__") or isinstance(X, list | tuple)):
        advice = next((way for method, way in WAYS_OUT.items() if hasattr(X, method)), "Convert it first.")
        raise TypeError(
            "X must be an array, a data frame or a sparse matrix of shape (n_samples, n_features); got an object of "
            f"type {type(X).__name__}. {advice}"
        )
    if isinstance(X, list | tuple):
        check_rows(X)
        return
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    kind = array.dtype.kind
    if kind == "V":
        raise TypeError(f"X must not be a structured array; it has dtype {array.dtype}. Use pandas.DataFrame(X).")
    if kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {array.dtype}. Use its real and imaginary parts.")
    if array.ndim < 2:
        advice = "X.to_frame()" if hasattr(X, "to_frame") else "X.reshape(-1, 1)"
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array of shape {array.shape} instead. Reshape your data with "
            f"{advice} if it is a single feature, or with np.reshape(X, (1, -1)) if it is a single sample."
        )
    if kind == "O" and array.ndim == 2:
        check_objects(array)


# Values that are no values of a column, because they consist of several.
SEVERAL = (list, tuple, dict, set, np.ndarray, complex)


def check_objects(array: Any) -> None:
    """Refuse objects that cannot be values of a column, naming the column."""
    if not any(issubclass(kind, SEVERAL) for kind in set(map(type, array.flat))):
        return
    place = next(place for place, value in enumerate(array.flat) if isinstance(value, SEVERAL))
    raise TypeError(
        f"Column {DefaultNames(array.shape[1])[place % array.shape[1]]!r} has a value of type "
        f"{type(array.flat[place]).__name__}, but each argument must be a string, a number or a date. Convert the "
        "column, or drop it."
    )


def check_rows(X: Sequence[Any]) -> None:
    """Refuse a list whose elements are not rows of the same length."""
    odd = next((row for row in X if isinstance(row, str | bytes | dict) or not hasattr(row, "__len__")), None)
    if odd is not None:
        advice = "Use pandas.DataFrame(X)." if isinstance(odd, dict) else "Each element must be a row of values."
        raise ValueError(f"Expected 2D array, got a list of {type(odd).__name__} instead. Reshape your data. {advice}")
    place = next((i for i, row in enumerate(X) if len(row) != len(X[0])), None)
    if place is not None:
        raise ValueError(
            f"All rows of X must have the same length; that of the first is {len(X[0])}, but that of row {place} is "
            f"{len(X[place])}."
        )


def without_128_bits(X: Any) -> Any:
    """Return a table in which whole numbers of 128 bits, which NumPy does not have, are floats."""
    import narwhals.stable.v1 as nw

    frame = as_frame(X)
    wide = [] if frame is None else columns_where(frame, lambda kind: kind in (nw.Int128, nw.UInt128))
    return frame.with_columns(nw.col(*wide).cast(nw.Float64)).to_native() if wide else X


def names_of(estimator: Any) -> Sequence[str]:
    """Return the names of all columns seen in `fit`."""
    names = getattr(estimator, "feature_names_in_", None)
    return DefaultNames(estimator.n_features_in_) if names is None else list(names)


def chosen_columns(estimator: Any, X: Any) -> Any:
    """Return the chosen columns of a table that scikit-learn cannot make an array of numbers, or None for others."""
    check_form(X)
    frame = as_frame(X)
    output = _get_output_config("transform", estimator)["dense"]
    if scipy.sparse.issparse(X) or (not holds_words(X) and (frame is None or output == "default")):
        return None
    validate_data(
        estimator, X if frame is not None else np.asarray(X, dtype=object), reset=False, skip_check_array=True
    )
    places = np.flatnonzero(estimator.support_).tolist()
    if frame is None:
        return np.asarray(X, dtype=object)[:, places]
    chosen = frame[:, places]
    if output != "default":
        return chosen.to_polars() if output == "polars" else chosen.to_pandas()
    if not holds_words(chosen.to_native()):
        return chosen.to_numpy()
    table = np.empty(chosen.shape, dtype=object)
    for place, column in enumerate(chosen.iter_columns()):
        table[:, place] = column.to_list()
    return table


def refuse_sparse(name: str, X: Any) -> None:
    """Raise an error for sparse matrices, on behalf of a method that accepts only dense tables."""
    if scipy.sparse.issparse(X):
        raise TypeError(f"A sparse matrix was passed, but {name} takes dense tables only. Use X.toarray().")


def refuse_words(name: str, X: Any) -> None:
    """Raise an error for columns that do not hold numbers, on behalf of a method that accepts only numbers."""
    frame = as_frame(X)
    columns = word_columns(frame) if frame is not None else []
    if columns:
        which, does = ("column", "does") if len(columns) == 1 else ("columns", "do")
        raise ValueError(
            f"{name} takes numbers only, but {which} {listed(columns)} {does} not hold numbers. Drop such columns, or "
            "use SASClustering, which takes columns of any type."
        )
