"""Gene expression data: making samples comparable, and the parameters of SAS clustering that suit these data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse
from scipy.stats import skew
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from ._blocks.collections import Collection, is_collection, mapped, reduced
from ._features.units import power_of_two
from ._utils.arrays import Floats
from ._utils.checks import check_bool
from .methods._large import given_names
from .methods._validation import refuse_words
from .methods.sas import SASClustering

# Counts and raw intensities exceed this value, but their logarithms do not.
LARGEST_LOG = 50.0
# Raw intensities have a long right tail. If the typical skewness of a sample exceeds this value, negative values do not
# mean that the data are logarithms, but that the background was subtracted.
LEAST_SKEWNESS = 2.0


class ExpressionScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Make the samples of gene expression data comparable.

    Samples differ in their total amount of measured material. A dense table is transformed by log2(1 + x) if its values
    are counts or raw intensities, and then each sample is scaled to mean 0 and variance 1. Missing values stay missing.

    A sparse matrix stays sparse: if its values are counts, as usual for single cells, each sample is divided by its
    total and multiplied by the median total, and then transformed by log2(1 + x). If they are not counts, they have
    been normalized already and are left unchanged.

    Parameters
    ----------
    log : "auto" or bool, default="auto"
        Whether to take logarithms. "auto" decides by the values. In a dense table, logarithms are taken if some value
        is above 50 and no value is negative, or if some value is above 50 and the values are strongly skewed; negative
        values, which remain if the background of raw intensities is subtracted, are then set to 0. In a sparse matrix,
        logarithms are taken if some value is above 50 or all values are whole numbers.

    Attributes
    ----------
    log_ : bool
        Whether logarithms are taken.
    clip_ : bool
        Whether negative values are set to 0.
    total_ : float or None
        Median total of the samples of a sparse matrix of counts, to which each sample is scaled; None otherwise.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import ExpressionScaler
    >>> counts = np.array([[0.0, 10.0, 100.0], [5.0, 50.0, 500.0]])
    >>> scaler = ExpressionScaler().fit(counts)
    >>> scaler.log_, scaler.transform(counts).mean(axis=1).round(6).tolist()
    (True, [0.0, 0.0])
    >>> import scipy.sparse
    >>> cells = scipy.sparse.csr_array([[0, 3, 1], [0, 6, 2]])
    >>> ExpressionScaler().fit_transform(cells).toarray().round(2).tolist()
    [[0.0, 2.46, 1.32], [0.0, 2.46, 1.32]]
    """

    def __init__(self, log: Literal["auto"] | bool = "auto") -> None:
        self.log = log

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: None = None) -> Self:
        """Decide whether to take logarithms.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            Expression of each gene (column) in each sample (row). Missing values are allowed in dense tables. One pass
            is made over a Dask array or data frame, or two if some values are negative.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted transformer.
        """
        if self.log != "auto":
            check_bool("log", self.log, ' or "auto"')
        in_all = self._by_blocks(X) if is_collection(X) else self._at_once(X)
        seen = in_all(values_seen, joined_values)
        low, high = np.nan_to_num(seen.low), np.nan_to_num(seen.high)
        is_long = self.log == "auto" and low < 0 and high > LARGEST_LOG and not seen.is_sparse
        self.clip_ = bool(is_long and np.nanmedian(in_all(skewness, joined_rows)) > LEAST_SKEWNESS)
        self.log_ = bool((low >= 0 or self.clip_) and (high > LARGEST_LOG or (seen.is_sparse and seen.is_whole)))
        if self.log != "auto":
            self.log_ = bool(self.log)
        if self.log_ and low < 0 and not self.clip_:
            raise ValueError(
                f"log=True requires values of at least 0; the smallest is {low:.4g}. Use log=False if the values are "
                "logarithms already."
            )
        self.total_ = None
        if seen.is_sparse and self.log_:
            totals = seen.totals[seen.totals > 0]
            self.total_ = float(np.median(totals)) if totals.size else 1.0
        return self

    def _at_once(self, X: Any) -> Callable[..., Any]:
        """How functions of all values are computed on a table in memory."""
        table = self._read(X, reset=True)
        return lambda function, join: function(table)

    def _by_blocks(self, X: Any) -> Callable[..., Any]:
        """The same on a Dask collection: by one pass over its blocks, whose results are joined."""
        given_names(self, X, reset=True)
        collection = Collection.of(X)
        return lambda function, join: reduced(collection, partial(self._in_block, function=function), join)

    def _in_block(self, block: Any, function: Callable[[Any], Any]) -> Any:
        return function(self._read(block, reset=False) if block.shape[0] else np.empty(block.shape))

    def transform(self, X: Any) -> Any:
        """Make samples comparable as described above.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            Samples with the same columns as in `fit`. Missing values are allowed in dense tables.

        Returns
        -------
        X_scaled : ndarray, sparse matrix or DataFrame of shape (n_samples, n_features)
            Scaled samples; sparse if X is, a DataFrame if X is one of pandas, and a Dask collection, computed when it
            is needed, if X is one.
        """
        check_is_fitted(self)
        if is_collection(X):
            given_names(self, X, reset=False)
            return mapped(X, self.transform)
        table = self._read(X, reset=False).astype(np.float64)
        is_sparse = scipy.sparse.issparse(table)
        values = table.data if is_sparse else table
        if self.log_ and not self.clip_ and values.size and np.nanmin(values) < 0:
            raise ValueError(
                "Logarithms were taken in fit, but some of the new values are below 0. Pass values on the same "
                "scale as in fit."
            )
        if is_sparse:
            return self._scaled_counts(table)
        scaled = scaled_samples(self._logged(table))
        return type(X)(scaled, index=X.index, columns=X.columns) if hasattr(X, "iloc") else scaled

    def _logged(self, table: Floats) -> Floats:
        return np.log2(1.0 + (np.maximum(table, 0.0) if self.clip_ else table)) if self.log_ else table

    def _scaled_counts(self, table: Any) -> Any:
        if not self.log_:
            return table
        totals = np.asarray(table.sum(axis=1)).ravel()
        factors = (1.0 if self.total_ is None else self.total_) / np.where(totals > 0, totals, 1.0)
        scaled = table.copy()
        scaled.data = np.log2(1.0 + scaled.data * np.repeat(factors, np.diff(scaled.indptr)))
        return scaled

    def _read(self, X: Any, reset: bool) -> Any:
        try:
            return validate_data(
                self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite="allow-nan"
            )
        except (ValueError, TypeError):
            # If this is because of text, the error should name the columns.
            refuse_words(type(self).__name__, X)
            raise


class Values(NamedTuple):
    """What is known of all values of a table.

    Whether zeros are not stored, the extremes (NaN if there are none), whether all are whole numbers, and the totals of
    the samples.
    """

    is_sparse: bool
    low: float
    high: float
    is_whole: bool
    totals: Floats


def values_seen(table: Any) -> Values:
    """Look at the values of a table, or of a block of it."""
    is_sparse = scipy.sparse.issparse(table)
    values = table.data if is_sparse else table
    low, high = (float(extreme.reduce(values, axis=None, initial=np.nan)) for extreme in (np.fmin, np.fmax))
    # The others are needed for sparse tables only.
    is_whole = is_sparse and bool((values == np.round(values)).all())
    totals = np.asarray(table.astype(np.float64).sum(axis=1)).ravel() if is_sparse else np.empty(0)
    return Values(is_sparse, low, high, is_whole, totals)


def joined_values(one: Values, other: Values) -> Values:
    """What is known of the values of two neighboring blocks."""
    return Values(
        one.is_sparse,
        float(np.fmin(one.low, other.low)),
        float(np.fmax(one.high, other.high)),
        one.is_whole and other.is_whole,
        joined_rows(one.totals, other.totals),
    )


def joined_rows(one: Floats, other: Floats) -> Floats:
    """The numbers of the samples of two neighboring blocks."""
    return np.concatenate([one, other])


def skewness(table: Floats) -> Floats:
    """How long the right tail of every sample is."""
    with np.errstate(all="ignore"):
        return np.asarray(skew(table, axis=1, nan_policy="omit"), dtype=np.float64)


def scaled_samples(table: Floats) -> Floats:
    """Return the table with each row scaled to mean 0 and variance 1. A row without any observed value stays."""
    seen = ~np.isnan(table)
    # In other units, so that sums and squares stay within range.
    table = table * power_of_two(np.abs(np.where(seen, table, 0.0)).max(axis=1, keepdims=True))
    counts = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    table = table - np.where(seen, table, 0.0).sum(axis=1, keepdims=True) / counts
    spread = np.sqrt((np.where(seen, table, 0.0) ** 2).sum(axis=1, keepdims=True) / counts)
    return np.asarray(table / np.where(spread > 0, spread, 1.0))


# The parameters of SAS clustering that suit gene expression data. Genes are not standardized, because those that vary
# most tell most. Solutions are compared by what they explain of all genes, because genes are strongly correlated. A
# tenth of the genes is enough to find the clusters, and those in the core are enough to describe them.
EXPRESSION: dict[str, Any] = {
    "standardize": False,
    "n_features_to_select": 0.1,
    "compare": "all",
    "consensus": False,
    "rule": "core",
}


def expression_clustering(
    n_clusters: Any = "auto", log: Literal["auto"] | bool = "auto", **parameters: Any
) -> Pipeline:
    """Create a pipeline for gene expression data: `ExpressionScaler`, followed by SAS clustering.

    The clusters are sought with a tenth of the genes, those of which the clusters explain most in absolute terms,

        max over C and S of sum_{a in S} (T_a - Delta_a[C]),

    and the solution that explains most of all genes is returned. The chosen genes are its core: the fewest genes that
    are enough to find the clusters again. The same is done on the command line by `--preset expression`.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default="auto"
        Number of clusters; see `SASClustering`.
    log : "auto" or bool, default="auto"
        Whether to take logarithms; see `ExpressionScaler`.
    **parameters
        Other parameters of `SASClustering`, which replace those above: `standardize=False`,
        `n_features_to_select=0.1`, `compare="all"`, `consensus=False` and `rule="core"`.

    Returns
    -------
    pipeline : sklearn.pipeline.Pipeline
        Pipeline of two steps. The last one, `pipeline[-1]`, is the `SASClustering`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import expression_clustering, rand_index
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat([0, 1, 2], 15)
    >>> level = rng.lognormal(4, 1, size=200) * np.where(np.arange(200) // 10 == kind[:, None], 4.0, 1.0)
    >>> counts = rng.poisson(level * rng.lognormal(0, 0.5, size=(45, 1)))
    >>> found = expression_clustering().fit(counts)[-1]
    >>> found.n_clusters_, rand_index(kind, found.labels_), int(found.support_.sum()) <= 20
    (3, 1.0, True)
    """
    return make_pipeline(ExpressionScaler(log), SASClustering(n_clusters, **{**EXPRESSION, **parameters}))
