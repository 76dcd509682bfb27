"""Gene expression data: making samples comparable, and the parameters of SAS clustering that suit these data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from ._blocks.collections import Collection, is_collection, mapped, reduced
from ._data.amounts import joined_rows, joined_values, scaled_samples, scaled_total, skewness, totals_of, values_seen
from ._utils.checks import check_bool
from .methods._large import given_names
from .methods._validation import refuse_words
from .methods.sas import SASClustering

# Counts and raw intensities exceed this value, but their logarithms do not.
LARGEST_LOG = 50.0
# Raw intensities have a long right tail. If the typical skewness of a sample exceeds this value, negative values do not
# mean that the data are logarithms, but that the background was subtracted.
LEAST_SKEWNESS = 2.0
# If more of the counts than this share are zero, they are of single cells.
MOST_ZEROS = 0.5


class ExpressionScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Make the samples of gene expression data comparable.

    Samples differ in their total amount of measured material. What is done about it depends on the values:

    - Counts of reads or molecules, which are whole numbers of at least 0: each sample is divided by its size factor s,
      which is its total over the median total of all samples, and then transformed by log2(1 + x / c). The constant
      c = max(1, 1 / s_low - 1 / s_high), where s_low and s_high are the 5th and the 95th percentile of the size
      factors, keeps the logarithms of samples with small totals from being larger on average [1]_. If most of the
      counts are zero, as usual for single cells, this is all. Otherwise, as usual for bulk samples, each sample is then
      scaled to mean 0 and variance 1.
    - Raw intensities: they are transformed by log2(1 + x), and each sample is scaled to mean 0 and variance 1.
    - Values that are logarithms already: each sample is scaled to mean 0 and variance 1.
    - A sparse matrix stays sparse. If its values are counts, they are treated as those of single cells. If they are
      not, they have been normalized already and are left unchanged.

    Missing values stay missing. The total of a sample with missing values is that of its observed values, times the
    number of columns over the number of observed values.

    Parameters
    ----------
    log : "auto" or bool, default="auto"
        Whether to take logarithms. "auto" decides by the values. In a dense table, logarithms are taken if some value
        is above 50 and no value is negative, or if some value is above 50 and the values are strongly skewed; negative
        values, which remain if the background of raw intensities is subtracted, are then set to 0. They are also taken
        of whole numbers of which most are zero. In a sparse matrix, logarithms are taken if some value is above 50 or
        all values are whole numbers.

    Attributes
    ----------
    log_ : bool
        Whether logarithms are taken.
    clip_ : bool
        Whether negative values are set to 0.
    total_ : float or None
        Total to which each sample is scaled if the values are counts: the median total of all samples over c. None
        otherwise.
    center_ : bool
        Whether each sample is scaled to mean 0 and variance 1.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    References
    ----------
    .. [1] A. Lun, "Overcoming systematic errors caused by log-transformation of normalized single-cell RNA sequencing
       data", bioRxiv 404962, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import ExpressionScaler
    >>> intensities = np.array([[0.5, 10.0, 100.0], [5.5, 50.0, 500.0]])
    >>> scaler = ExpressionScaler().fit(intensities)
    >>> scaler.log_, scaler.transform(intensities).std(axis=1).round(6).tolist()
    (True, [1.0, 1.0])
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
        """Decide by the values what to do with them.

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
        is_whole = seen.is_whole and low >= 0
        is_mostly_zero = seen.is_sparse or seen.zeros > MOST_ZEROS * seen.observed
        self.log_ = bool((low >= 0 or self.clip_) and (high > LARGEST_LOG or (is_whole and is_mostly_zero)))
        if self.log != "auto":
            self.log_ = bool(self.log)
        if self.log_ and low < 0 and not self.clip_:
            raise ValueError(
                f"log=True requires values of at least 0; the smallest is {low:.4g}. Use log=False if the values are "
                "logarithms already."
            )
        is_counts = self.log_ and (seen.is_sparse or is_whole)
        self.total_ = scaled_total(seen.totals) if is_counts else None
        self.center_ = bool(not seen.is_sparse and not (is_counts and is_mostly_zero))
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
            Scaled samples; sparse if X is, unless they are centered, a DataFrame if X is one of pandas, and a Dask
            collection, computed when it is needed, if X is one.
        """
        check_is_fitted(self)
        if is_collection(X):
            given_names(self, X, reset=False)
            return mapped(X, self.transform)
        table = self._read(X, reset=False).astype(np.float64)
        is_sparse = scipy.sparse.issparse(table)
        if is_sparse and self.center_:
            # Dense tables were seen in fit.
            table, is_sparse = table.toarray(), False
        values = table.data if is_sparse else table
        if self.log_ and not self.clip_ and values.size and np.nanmin(values) < 0:
            raise ValueError(
                "Logarithms were taken in fit, but some of the new values are below 0. Pass values on the same "
                "scale as in fit."
            )
        if self.total_ is not None:
            totals = totals_of(table)
            factors = self.total_ / np.where(totals > 0, totals, 1.0)
            values = values * (np.repeat(factors, np.diff(table.indptr)) if is_sparse else factors[:, None])
        if self.log_:
            values = np.log2(1.0 + (np.maximum(values, 0.0) if self.clip_ else values))
        if is_sparse:
            scaled = table.copy()
            scaled.data = values
            return scaled
        scaled = scaled_samples(values) if self.center_ else values
        return type(X)(scaled, index=X.index, columns=X.columns) if hasattr(X, "iloc") else scaled

    def _read(self, X: Any, reset: bool) -> Any:
        try:
            return validate_data(
                self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite="allow-nan"
            )
        except (ValueError, TypeError):
            # If this is because of text, the error should name the columns.
            refuse_words(type(self).__name__, X)
            raise

    def describe(self) -> str:
        """Tell in words what is done to the values.

        Returns
        -------
        words : str
            What is done, without a full stop.

        Examples
        --------
        >>> from sparsecluster import ExpressionScaler
        >>> ExpressionScaler().fit([[0.5, 3.5], [1.5, 0.5]]).describe()
        'each sample was centered and scaled'
        """
        check_is_fitted(self)
        total = self.total_ or 0.0
        size = f"each sample was divided by its size factor, to a total of {total:,.{0 if total > 100 else 2}f}"
        steps = {
            "negative values were set to 0": self.clip_,
            f"the values are counts, so {size}": self.total_ is not None,
            "the values were transformed by log2(1 + x)": self.log_,
            "each sample was centered and scaled": self.center_,
        }
        *others, last = [words for words, is_done in steps.items() if is_done] or [
            "the values are no counts, so they were left unchanged"
        ]
        return f"{', '.join(others)}, and {last}" if others else last

    def to_dict(self) -> dict[str, Any]:
        """Return what was decided in `fit` as a dictionary, which can be written to a file.

        Returns
        -------
        state : dict
            The attributes `log_`, `clip_`, `total_` and `center_` by their names without the underscore.

        Examples
        --------
        >>> from sparsecluster import ExpressionScaler
        >>> ExpressionScaler().fit([[0.5, 3.5], [1.5, 0.5]]).to_dict()
        {'log': False, 'clip': False, 'total': None, 'center': True}
        """
        check_is_fitted(self)
        return {"log": self.log_, "clip": self.clip_, "total": self.total_, "center": self.center_}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], X: Any) -> Self:
        """Return a transformer that treats new samples as `to_dict` says.

        Parameters
        ----------
        state : mapping
            Dictionary that `to_dict` returned. Those of older versions may lack entries.
        X : array-like, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            Samples to transform, whose columns are those of `fit`.

        Returns
        -------
        scaler : ExpressionScaler
            Fitted transformer.

        Examples
        --------
        >>> from sparsecluster import ExpressionScaler
        >>> counts = [[0, 0, 3, 1], [0, 0, 6, 2], [9, 0, 0, 0]]
        >>> state = ExpressionScaler().fit(counts).to_dict()
        >>> ExpressionScaler.from_dict(state, counts[:1]).transform(counts[:1]).round(2).tolist()
        [[0.0, 0.0, 2.81, 1.58]]
        """
        scaler = cls()
        is_sparse = scipy.sparse.issparse(X)
        if is_collection(X):
            given_names(scaler, X, reset=True)
            is_sparse = Collection.of(X).is_sparse
        else:
            validate_data(scaler, X, reset=True, skip_check_array=True)
        scaler.log_, scaler.clip_, scaler.total_ = state["log"], state.get("clip", False), state.get("total")
        # Older versions centered dense tables only, none of which had a total.
        scaler.center_ = state.get("center", scaler.total_ is None and not is_sparse)
        return scaler


# ---------------------------------------------------------------- whether a table needs this


# Tables with fewer columns are not taken for counts of genes.
LEAST_GENES = 500
# The samples of a table that are looked at.
MOST_LOOKED_AT = 100
# The largest count is at least so many times the mean of those that are not zero. Answers and pixels have an upper end.
LEAST_TAIL = 10.0
# Large totals are at least so many times small ones.
LEAST_RATIO = 1.5


def looks_like_counts(X: Any) -> bool:
    """Return whether a table looks like counts of genes, whose totals should not decide about the clusters.

    That is, it has at least 500 columns, all values are whole numbers of at least 0, the largest ones are far above the
    mean of those that are not zero, and the totals of the samples are very different. At most 100 samples are looked
    at.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Table. A Dask collection is not looked at, and the answer is False.

    Returns
    -------
    answer : bool
        Whether the values look like counts.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster.preprocessing import looks_like_counts
    >>> rng = np.random.default_rng(0)
    >>> levels, depth = rng.lognormal(0, 2, size=600), rng.lognormal(0, 0.5, size=(40, 1))
    >>> looks_like_counts(rng.poisson(levels * depth)), looks_like_counts(rng.integers(6, size=(40, 600)))
    (True, False)
    """
    if is_collection(X) or len(np.shape(X)) != 2 or np.shape(X)[1] < LEAST_GENES or not np.shape(X)[0]:
        return False
    places = np.unique(np.linspace(0, np.shape(X)[0] - 1, MOST_LOOKED_AT).astype(np.intp))
    if hasattr(X, "tocsr"):
        some = X.tocsr()[places].toarray()
    else:
        if not all(getattr(each, "kind", "O") in "iuf" for each in getattr(X, "dtypes", [])):
            return False
        some = X.iloc[places].to_numpy() if hasattr(X, "iloc") else np.asarray(X)[places]
    if some.dtype.kind not in "iuf":
        return False
    seen = values_seen(some.astype(np.float64))
    if not (seen.is_whole and seen.low >= 0 and seen.observed > seen.zeros):
        return False
    mean = np.nansum(some, dtype=np.float64) / (seen.observed - seen.zeros)
    few, many = np.quantile(seen.totals, [0.05, 0.95])
    return bool(seen.high >= LEAST_TAIL * mean and many >= LEAST_RATIO * few)


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
