"""What scikit-learn and we check of a table before it is read. Only estimators call this; nothing below sees one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from .._data.content import as_frame, holds_words, word_columns
from .._data.reading import Given
from .._utils.checks import check_count, listed

# What scikit-learn is to make of a table of numbers. Missing values are ours to deal with, and so is infinity, whose
# message names the columns.
NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "accept_sparse": "csc"}


def checked(estimator: Any, X: Any, *, reset: bool, has_words: bool = False) -> Given:
    """A table in the form in which it is read: numbers as an array or a sparse matrix, others as they are.

    With `reset` the estimator learns the number and the names of the columns, else they must be those it knows.
    `has_words` says that the columns of fit were read one by one, so that these must be, too.
    """
    fewest = 2 if reset else 1
    if scipy.sparse.issparse(X):
        if has_words:
            raise TypeError(
                "X is a sparse matrix, which cannot hold text, and fit had columns with text. Pass a table."
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
    # Parameters name columns as the user does; to scikit-learn only text is a name.
    is_usable = bool(keys) and all(isinstance(key, str | int) for key in keys)
    return Given(X, words, names, keys if is_usable else names, hasattr(estimator, "feature_names_in_"))


def names_of(estimator: Any) -> list[str]:
    """The names of all columns seen in fit."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{a}" for a in range(estimator.n_features_in_)] if names is None else list(names)


def refuse_sparse(name: str, X: Any) -> None:
    """The error of a method that takes dense tables only."""
    if scipy.sparse.issparse(X):
        raise TypeError(f"A sparse matrix was passed, but {name} takes dense tables only. Use X.toarray().")


def refuse_words(name: str, X: Any) -> None:
    """The error of a method that takes numbers only."""
    frame = as_frame(X)
    columns = word_columns(frame) if frame is not None else []
    if columns:
        which = "Column" if len(columns) == 1 else "Columns"
        raise ValueError(
            f"{name} takes numbers only; {which.lower()} {listed(columns)} {'does' if len(columns) == 1 else 'do'} not "
            "hold numbers. Drop them, or use SASClustering, which takes columns of any type."
        )
