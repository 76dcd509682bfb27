"""Assess a clustering: is there anything, and how sure are its clusters, samples and features?"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from .._blocks.collections import is_collection
from .._data.reading import Reading
from .._utils.arrays import Floats, Subset
from .._utils.checks import check_count, check_number, is_auto
from .._utils.journal import recorded
from .._utils.parallel import Workers, one_thread_blas
from .._utils.parameters import rng_of
from .._utils.resume import name_of
from ..methods._criteria.refit import Refit, part_of, quietly, tuned_in, workers_of
from ..methods._result import OUTLIER
from ..methods.sas import SASClustering
from . import _independent, _one_group
from ._columns import columns_of, standardized
from ._copies import one_group, permuted
from ._held_out import HeldOut, common_factors, differences, held_out_labels
from ._pairs import Pairs, pair_differences
from ._parts import Clustering, Part, fit_part, fit_parts, folds, halves
from ._selection import contrast_q, frequencies, mirror_q
from ._stability import agreement_of_halves, jaccard, kept
from ._statistics import adjusted
from .assessment import Assessment
from .displays import ClusterStability, FeatureEvidence, PairDifferences, SampleStability

# With more samples than this, a random part of them is assessed.
MOST_SAMPLES = 2000
# The largest number of permuted copies whose halves are compared.
N_COPIES_HALVED = 10


def assess(
    estimator: Any,
    X: Any,
    *,
    n_copies: int = 99,
    n_paths: int = 2,
    n_folds: int = 5,
    n_repeats: int = 5,
    n_splits: int = 25,
    alpha: float = 0.05,
    fdr: float = 0.1,
    random_state: int | np.random.RandomState | None = 0,
) -> Assessment:
    """Assess a clustering: is there anything, and how sure are its clusters, samples and features?

    A clustering method finds clusters in any table. The assessment fits the same method again to permuted copies and to
    parts of the table, with the number of clusters and the tuning parameters of the clustering, and answers

    - whether there is anything: a test against independent features, and one against a single group whose features may
      depend on each other;
    - how sure each cluster is: the Jaccard similarity with the clusters of subsamples, and the agreement of halves;
    - how sure each sample is: how often it keeps its cluster in subsamples;
    - how sure each feature is: how often it is chosen in halves of the samples, and a list with a false discovery rate,
      from samples that were held out;
    - which pairs of clusters each feature separates.

    Parameters
    ----------
    estimator : estimator of this package
        Any method, fitted to `X` or not. If it is not fitted, a clone is.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The table, or what `read` returned.
    n_copies : int, default=99
        Number of permuted copies in the test of independent features; its smallest p-value is 1 / (n_copies + 1).
    n_paths : int, default=2
        Number of searches through all numbers of features in the data and in each copy, if SAS clustering has chosen
        the number of features. More searches find weak groups more often.
    n_folds : int, default=5
        Number of folds into which the samples are divided. The method is fitted to all samples but one fold, which is
        held out: with five folds, to subsamples of 80 %.
    n_repeats : int, default=5
        Number of times that the samples are divided into folds.
    n_splits : int, default=25
        Number of times that the samples are divided into halves.
    alpha : float, default=0.05
        Level of the tests.
    fdr : float, default=0.1
        False discovery rate of the list of features.
    random_state : int, RandomState or None, default=0
        Seed of the random numbers.

    Returns
    -------
    assessment : Assessment
        The answers, with tables and pictures of each.

    Notes
    -----
    The test of independent features is exact if the number of clusters and the tuning parameters were given, and for
    SAS clustering also if the number of features was chosen: all sizes are searched in the data and in the copies with
    the same effort, and the largest standardized objective of both is compared. Whatever else was chosen on the data is
    kept on the copies, which makes it slightly too easy to reject.

    The test of one group holds for any dependence that a Gaussian copula describes, because held-out samples then have
    normal projections. Heavier tails are allowed for. For levels and other equal values, it holds if they follow common
    factors. It can take a trend with sharp ends for groups.

    Of more than 2000 samples, a random part is assessed. Precomputed matrices have no values, so that only the test of
    independent features and the stability are available.

    Examples
    --------
    >>> from sparsecluster import SASClustering, assess
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> assessment = assess(SASClustering(n_clusters=3), X)
    >>> assessment.verdict
    'groups'
    >>> assessment.p_independent, assessment.clusters.words
    (0.01, ('solid', 'solid', 'solid'))
    """
    check_count("n_copies", n_copies, 1)
    check_count("n_paths", n_paths, 1)
    check_count("n_folds", n_folds, 2)
    check_count("n_repeats", n_repeats, 1)
    check_count("n_splits", n_splits, 1)
    for name, value in (("alpha", alpha), ("fdr", fdr)):
        check_number(name, value, "a number above 0 and below 1", lambda x: 0 < x < 1)
    if is_collection(X):
        raise ValueError(
            "assess needs a table in memory; got a Dask collection. Pass a random part of its rows, loaded by "
            "compute(), and an estimator that is not fitted."
        )
    plan = Plan(int(n_copies), int(n_paths), int(n_folds), int(n_repeats), int(n_splits), float(alpha), float(fdr))
    with one_thread_blas(), quietly():
        found, reading = fitted(estimator, X)
        given = clustering_of(found, reading, rng_of(random_state))
        scores = given.reading.source.features().scores(given.labels, given.k)
        asked = {**found.get_params(), **plan._asdict(), "seed": random_state}
        with recorded(name_of("assess", asked, [given.labels, scores])) as journal:
            made = evidence(given, scores, plan, rng_of(random_state), workers_of(found, reading))
        journal.remove()
    return in_users_order(made, found, reading, given, plan)


class Plan(NamedTuple):
    """How much to compute, and at which levels; see the parameters of `assess`."""

    n_copies: int = 99
    n_paths: int = 2
    n_folds: int = 5
    n_repeats: int = 5
    n_splits: int = 25
    alpha: float = 0.05
    fdr: float = 0.1


# ---------------------------------------------------------------- what is assessed


def fitted(estimator: Any, X: Any) -> tuple[Any, Reading]:
    """Return a fitted estimator and the table as it has read it."""
    reader = clone(estimator)
    reading = reader._reading(X)
    if not hasattr(estimator, "labels_"):
        return reader.fit(reading), reading
    if is_collection(estimator.labels_) or len(estimator.labels_) != reading.n_samples:
        raise ValueError(
            f"The estimator was fitted to {len(estimator.labels_)} samples, but X has {reading.n_samples} rows. Pass "
            "the table that fit was given, or an estimator that is not fitted."
        )
    return estimator, reading


def clustering_of(found: Any, reading: Reading, rng: np.random.Generator) -> Clustering:
    """Return the clustering of the samples in clusters, or of a random part of many."""
    k = int(found.n_clusters_)
    reading = reading.for_clusters(k)
    labels = np.asarray(found.labels_)[reading.source.samples]
    places = np.flatnonzero(labels != OUTLIER)
    if places.size > MOST_SAMPLES:
        places = np.sort(rng.permutation(places)[:MOST_SAMPLES])
    part = reading if places.size == reading.n_used else part_of(reading, places, k)
    if part is None:
        raise ValueError(f"Fewer than {k} of the samples in clusters are distinct, so there is nothing to assess.")
    support = np.asarray(getattr(found, "full_support_", found.support_))
    owners = part.source.owners
    chosen = np.zeros(int(owners.max()) + 1, bool)
    chosen[owners[support[part.source.columns]]] = True
    tuned = {"n_features_to_select": int(chosen.sum()), **tuned_in(vars(found))}
    is_path = isinstance(found, SASClustering) and is_auto(found.n_features_to_select) and found.search == "path"
    # As many starts as in the fit itself: with few, parts of the samples would be clustered worse than all of them.
    refit = Refit.with_values(found, tuned)
    return Clustering(part, labels[places].astype(np.int32), k, chosen, refit, is_path)


# ---------------------------------------------------------------- the evidence


class Evidence(NamedTuple):
    """All that was found, with samples and features in the order of the source."""

    p_independent: float
    p_one_group: float | None
    agreement: Floats
    agreement_null: Floats
    parts: list[Part | None]
    frequency: Floats
    mean_chosen: float
    held_out: HeldOut | None
    pairs: Pairs | None
    q_mirror: Floats
    q_contrast: Floats


def evidence(given: Clustering, scores: Floats, plan: Plan, rng: np.random.Generator, workers: Workers) -> Evidence:
    """Fit copies and parts of the table, and draw all conclusions from these fits."""
    n, k = given.n_samples, given.k
    of_copies, of_folds, of_halves, of_null, of_scores, of_factors, of_group = rng.spawn(7)
    columns = columns_of(given.reading)
    curves = _independent.objectives(given, plan.n_copies, plan.n_paths, of_copies, workers)
    divisions = [folds(n, min(plan.n_folds, n), of_folds) for _ in range(plan.n_repeats)]
    rest = [np.delete(np.arange(n), fold) for each in divisions for fold in each]
    parts = fit_parts(given, rest, of_folds, workers, "subsamples")
    split = halves(n, plan.n_splits, of_halves)
    half_fits = fit_parts(given, split, of_halves, workers, "halves", with_others=columns is None)
    copies = of_null.spawn(min(N_COPIES_HALVED, plan.n_splits))
    null = list(workers.map(partial(null_agreement, given), copies, "halves of copies"))
    p_one_group, held_out, pairs = None, None, None
    q_mirror = q_contrast = np.full(given.chosen.size, np.nan)
    if columns is not None:
        n_folds = len(divisions[0])
        by_division = [parts[first : first + n_folds] for first in range(0, len(parts), n_folds)]
        p_one_group = _one_group.p_value(by_division, columns, k, of_scores)
        labels = held_out_labels(parts, columns, k)
        held_out = differences(columns, labels, k, common_factors(columns, most_common(labels, k), k, of_factors))
        pairs = pair_differences(columns, labels, k)
        q_mirror = mirror_q(half_fits, columns, k)
        synthetic = one_group(given.reading, of_group)
        again = None if synthetic is None else given.refit(synthetic, k, of_group)
        q_contrast = contrast_q(given, scores, None if again is None else again.scores)
    chosen = [each.subset.size for each in half_fits if each is not None]
    return Evidence(
        _independent.p_value(curves),
        p_one_group,
        agreement_of_halves(half_fits, columns, k),
        np.array(null),
        parts,
        frequencies(half_fits, given.chosen.size),
        float(np.mean(chosen)) if chosen else 0.0,
        held_out,
        pairs,
        q_mirror,
        q_contrast,
    )


def null_agreement(given: Clustering, rng: np.random.Generator) -> float:
    """The agreement of halves of a permuted copy, in which starts would hardly ever agree on the best clusters."""
    copy = given._replace(reading=permuted(given.reading, rng), refit=given.refit.with_few_starts())
    columns = columns_of(copy.reading, standardized)
    parts = halves(given.n_samples, 1, rng)
    pair = [fit_part(copy, part, rng, with_others=columns is None) for part in parts]
    return float(agreement_of_halves(pair, columns, given.k)[0])


def most_common(labels: npt.NDArray[np.int16], k: int) -> Subset:
    """The cluster to which each sample is assigned for most features."""
    counts = np.array([(labels == c).sum(axis=1) for c in range(k)])
    return np.asarray(counts.argmax(axis=0))


# ---------------------------------------------------------------- in the user's order


def in_users_order(made: Evidence, found: Any, reading: Reading, given: Clustering, plan: Plan) -> Assessment:
    """Return the assessment, with samples, columns and clusters as the user has them."""
    source, k = given.reading.source, given.k
    stable, keeps = jaccard(made.parts, given.labels, k), kept(made.parts, given.labels, k)

    def by_column(values: Floats) -> Floats:
        restored = np.full(reading.n_columns, np.nan)
        restored[source.columns] = values[source.owners]
        return restored

    confidence, second = np.full(reading.n_samples, np.nan), np.full(reading.n_samples, -1)
    confidence[source.samples], second[source.samples] = keeps.share, keeps.second
    labels = np.asarray(found.labels_)
    shows_groups = made.p_independent <= plan.alpha and (made.p_one_group is None or made.p_one_group <= plan.alpha)
    nothing = np.full(given.chosen.size, np.nan)
    held_out = made.held_out or HeldOut(nothing, nothing, nothing, nothing, 0)
    q = adjusted(held_out.p) if shows_groups else np.where(np.isnan(held_out.p), np.nan, 1.0)
    sizes = np.bincount(labels[labels != OUTLIER], minlength=k)
    features = FeatureEvidence(
        names=tuple(reading.names),
        chosen=np.asarray(found.support_),
        frequency=by_column(made.frequency),
        q=by_column(q),
        effect=by_column(held_out.effect),
        low=by_column(held_out.low),
        high=by_column(held_out.high),
        q_mirror=by_column(made.q_mirror),
        q_contrast=by_column(made.q_contrast),
        fdr=plan.fdr,
        mean_chosen=made.mean_chosen,
        n_splits=plan.n_splits,
    )
    return Assessment(
        method=type(found).__name__,
        p_independent=made.p_independent,
        p_one_group=made.p_one_group,
        n_copies=plan.n_copies,
        alpha=plan.alpha,
        agreement=float(made.agreement.mean()),
        agreement_null=made.agreement_null,
        n_assessed=given.n_samples,
        clusters=ClusterStability(sizes, stable.mean, stable.recovered, stable.dissolved, shows_groups),
        samples=SampleStability(labels, confidence, second, source.samples, keeps.together),
        features=features,
        pairs=PairDifferences.of(made.pairs, features, source.columns, shows_groups),
    )
