"""Fitting a table with many samples: a search on a random sample, and then a climb on all samples in blocks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from .._blocks.centers import Centers, Columns, labels_of
from .._blocks.collections import Collection
from .._blocks.features import BlockFeatures, BlockProblem
from .._blocks.large import Large, kinds_of, large_in_memory
from .._blocks.learn import large_collection
from .._blocks.outcome import centers_of, profiles_by
from .._blocks.watch import passes_shown
from .._data.ranges import in_range
from .._data.reading import Given, Reading
from .._data.source import columns_of
from .._search.alternatives import DIFFERENT
from .._search.climb import Climb, climb
from .._utils.arrays import Subset
from .._utils.checks import frames_in_package
from .._utils.parallel import one_thread_blas
from .._utils.parameters import rng_of
from ..metrics import adjusted_rand_index
from ._alternatives import Alternative
from ._clusters import choose_clusters, is_given
from ._core import Part, ranked_features, with_core_of
from ._result import Order, Result
from ._trim import warn_of_far_clusters
from ._validation import names_of

if TYPE_CHECKING:
    from ._base import SparseClusterer


@dataclass(frozen=True)
class LargeResult(Result):
    """The result on a table that is read in blocks: `labels` are the centers by which samples get their labels."""

    @property
    def sizes(self) -> Subset:
        return np.asarray(self.labels.sums.sizes)  # type: ignore[attr-defined]

    def labels_in(self, order: Order) -> Any:
        features: Any = self.features
        by = partial(numbered_labels, columns=self.labels.columns, clusters=order.clusters)  # type: ignore[attr-defined]
        return features.blocks.each(by)

    def centers_in(self, order: Order) -> npt.NDArray[Any]:
        features: Any = self.features
        kinds = kinds_of(order.reading.source, order.reading.n_columns)
        centers = centers_of(features, kinds, self.labels.sums)  # type: ignore[attr-defined]
        return centers[np.argsort(order.clusters)]


def numbered_labels(block: Any, columns: Columns, clusters: Subset) -> Any:
    """Return the labels of a block, with the clusters numbered as the user sees them."""
    return clusters[labels_of(block, columns)]


def fit_collection(estimator: Any, X: Any) -> Any:
    """Fit a Dask collection: in blocks, or in memory if it is small or the method needs all samples at once."""
    if fit_in_blocks(estimator, X) is None:
        estimator.fit(X.compute())
    return estimator


def fit_in_blocks(estimator: Any, X: Any) -> Large | None:
    """Fit a Dask collection, and return what is in memory of it; None if it cannot be fitted in blocks."""
    with one_thread_blas(), passes_shown(vars(estimator).get("verbose", "auto")):
        large: Large | None = estimator._in_blocks(X)
        if large is not None:
            fit_by_sample(estimator, large)
    return large


def in_blocks(estimator: Any, X: Any) -> Large | None:
    """Return a table that was read, or a Dask collection, in blocks; None if it has at most `subsample` rows.

    A climb in blocks is one by K-means. A table in memory that needs anything else is not fitted in blocks.
    """
    many, rng = estimator.subsample, rng_of(estimator.random_state)
    k = int(estimator.n_clusters) if is_given(estimator.n_clusters) else 2
    is_kmeans = isinstance(estimator.clusterer, str) and estimator.clusterer in ("auto", "kmeans")
    is_possible = not estimator.trim and is_kmeans and isinstance(estimator.init, str)
    if many is None:
        return None
    if isinstance(X, Reading):
        is_large = is_possible and X.n_used > many
        return large_in_memory(X, int(many), k, estimator.n_jobs, rng) if is_large else None
    if not is_possible:
        raise ValueError(
            'A Dask collection is fitted in blocks, which needs clusterer="auto" or "kmeans", trim=0 and a named init. '
            "Pass X.compute() if the table fits in memory."
        )
    collection = Collection.of(X)
    given = given_names(estimator, X, reset=True)
    large = large_collection(collection, given, estimator._request(), int(many), k, rng)
    if large is None:
        return None
    reading = in_range(large.reading, any_unit=False, reports_variances=False, raw=estimator._raw_limits)
    return replace(large, reading=reading)


def given_names(estimator: Any, X: Any, *, reset: bool) -> Given:
    """Return the names of the columns of a Dask collection, and store or check them as scikit-learn does."""
    if hasattr(X, "columns"):
        validate_data(estimator, X._meta, reset=reset, skip_check_array=True)
        keys = list(X.columns)
        names = names_of(estimator)
        is_usable = all(isinstance(key, str | int) for key in keys)
        return Given(X, False, names, keys if is_usable else names, hasattr(estimator, "feature_names_in_"))
    if reset:
        estimator.n_features_in_ = int(X.shape[1])
        vars(estimator).pop("feature_names_in_", None)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
    names = names_of(estimator)
    return Given(X, False, names, names, False)


def columns_in_blocks(estimator: Any, X: Any) -> Any:
    """Return the chosen columns of a Dask collection, which are computed when they are needed."""
    given_names(estimator, X, reset=False)
    places = np.flatnonzero(estimator.support_)
    return X[[X.columns[a] for a in places.tolist()]] if hasattr(X, "columns") else X[:, places]


def labels_in_blocks(estimator: Any, X: Any) -> Any:
    """Return the nearest clusters of the rows of a Dask collection as a Dask array, computed when it is needed."""
    import dask.array as da

    given_names(estimator, X, reset=False)
    if hasattr(X, "columns"):
        labels = X.map_partitions(predicted, estimator, meta=np.empty(0, np.intp))
        return labels if isinstance(labels, da.Array) else labels.to_dask_array()
    collection = Collection.of(X).X
    return collection.map_blocks(predicted, estimator, drop_axis=1, dtype=np.intp, meta=np.empty(0, np.intp))


def predicted(block: Any, estimator: Any) -> Any:
    """Return the nearest clusters of the rows of one block."""
    return estimator.predict(block) if block.shape[0] else np.empty(0, np.intp)


def fit_by_sample(estimator: SparseClusterer, large: Large) -> Any:
    """Fit a table with many samples, and set the attributes of the estimator."""
    chosen = choose_clusters(estimator, large.sample)
    k = chosen.k
    large = large.for_clusters(k)
    for note in large.reading.notes:
        warnings.warn(note, UserWarning, stacklevel=frames_in_package())
    found = estimator._solve_from(large.sample, k, chosen.labels)
    warn_of_far_clusters(large.sample, found)
    features = large.features()
    best, *others = different(
        [(on_all(estimator, large, features, each), value) for each, value in [(found, None), *found.others]],
        large.rows,
    )
    estimator._keep(large.reading, best[0])
    estimator.n_clusters_curve_ = chosen.curve
    estimator.alternatives_ = [
        Alternative(estimator._alternative(large.reading, each), value) for each, value in others
    ]
    return estimator


def different(found: list[tuple[Result, Any]], rows: Any) -> list[tuple[Result, Any]]:
    """Return the results whose clusters differ from those of all results before them, judged by the sample."""
    kept: list[tuple[Result, Any]] = []
    labels: list[Any] = []
    for each, value in found:
        own = labels_of(rows, each.labels.columns)  # type: ignore[attr-defined]
        if all(adjusted_rand_index(own, known) < DIFFERENT for known in labels):
            kept.append((each, value))
            labels.append(own)
    return kept


def on_all(estimator: Any, large: Large, features: BlockFeatures, found: Result) -> Result:
    """Return the result that a climb on all samples reaches from a result on the sample."""
    k, rng = found.n_clusters, rng_of(vars(estimator).get("random_state", 0))
    source = large.sample.source
    chosen = np.isin(features.layout.columns, columns_of(source, found.subset))
    subset = np.unique(features.layout.owners[chosen])
    problem = BlockProblem(features, estimator._scored(features), k, int(estimator.max_iter))
    start = features.start(large.rows, found.labels, k, subset)
    climbed = settled(problem, climb(problem, start, subset.size, rng))
    attributes = {
        **found.attributes,
        "objective_": climbed.objective,
        "history_": climbed.history,
        "n_iter_": len(climbed.history),
    }
    centers: Centers = climbed.labels
    result = LargeResult(
        features,  # type: ignore[arg-type]
        centers,  # type: ignore[arg-type]
        climbed.subset,
        k,
        attributes=attributes,
        # The core may have taken the place of the features by which the clusters were found.
        clusters=lambda order: profiles_by(features, centers.basis, np.unique(order.chosen), order.clusters),
        scores=features.scores(centers, k),
    )
    return result if estimator.core_agreement is None else with_core_on(estimator, large, result)


def settled(problem: BlockProblem, climbed: Climb) -> Climb:
    """Return a climb whose samples are nearest to their centers on the chosen features, and not on earlier ones."""
    centers: Centers = climbed.labels
    if np.array_equal(centers.subset, climbed.subset):
        return climbed
    nearest = problem.features.centers(centers.sums, climbed.subset, before=centers)
    scores = problem.scores(nearest)
    if not nearest.sums.sizes.all():
        return climbed
    return climbed._replace(labels=nearest, scores=scores, objective=float(scores[climbed.subset].sum()))


def with_core_on(estimator: SparseClusterer, large: Large, found: LargeResult) -> Result:
    """Return the result with its core, which is sought on the sample."""
    layout: Any = found.features.layout  # type: ignore[attr-defined]
    source = large.sample.source
    # The number of each feature among the features of the sample, and -1 if it does not vary there.
    own = np.full(found.features.n_features, -1, np.intp)
    owners = dict(zip(layout.columns.tolist(), layout.owners.tolist(), strict=True))
    own[[owners[a] for a in source.columns.tolist()]] = source.owners
    ranked = ranked_features(found)
    known = np.flatnonzero(own[ranked] >= 0)
    if not known.size:
        return found
    labels = labels_of(large.rows, found.labels.columns)  # type: ignore[attr-defined]
    part = Part(source.features(), labels, own[ranked[known]], np.append(known[1:], ranked.size))
    return with_core_of(estimator, found, part, ranked, rng_of(vars(estimator).get("random_state", 0)))
