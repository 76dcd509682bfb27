"""What the displays of a fitted clustering have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from ._fitted import Fitted, inspect
from .view import View


class Display(ABC):
    """A figure of a fitted clustering, with its data behind `frame` and its picture behind `plot`."""

    # Whether the table is drawn, or only what the fit found in it.
    _needs_table: ClassVar[bool] = True

    @classmethod
    def from_estimator(cls, estimator: Fitted, X: Any = None, *args: Any, **options: Any) -> Self:
        """Make the display from a fitted estimator.

        Parameters
        ----------
        estimator : estimator of this package
            It must be fitted.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), default=None
            The data that `fit` was given. Displays of scores and of the history do not need it.
        *args, **options
            Further parameters of `from_view`.

        Returns
        -------
        The display.
        """
        return cls.from_view(inspect(estimator, X if cls._needs_table else None), *args, **options)

    @classmethod
    @abstractmethod
    def from_view(cls, view: View, *args: Any, **options: Any) -> Self:
        """Make the display from a view; each display says what else it takes."""
