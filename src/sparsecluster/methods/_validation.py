"""Checks of a table before it is read. Only estimators call these functions; lower layers never see an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from .._data.content import as_frame, holds_words, word_columns
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
    if scipy.sparse.issparse(X):
        if has_words:
            raise TypeError(
                "X is a sparse matrix, which cannot hold text, but fit was called with columns of text. Pass a table."
            )
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
    else:
        X = validate_data(estimator, X, reset=reset, ensure_min_samples=fewest, order=None, **NUMBERS)
    names = names_of(estimator)
    # Parameters refer to columns by the user's own names, while scikit-learn accepts only strings as names.
    is_usable = bool(keys) and all(isinstance(key, str | int) for key in keys)
    return Given(X, words, names, keys if is_usable else names, hasattr(estimator, "feature_names_in_"))


def names_of(estimator: Any) -> Sequence[str]:
    """Return the names of all columns seen in `fit`."""
    names = getattr(estimator, "feature_names_in_", None)
    return DefaultNames(estimator.n_features_in_) if names is None else list(names)


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
