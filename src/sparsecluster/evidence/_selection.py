"""Features that are chosen again in halves of the samples, and features that stand out from a table with one group."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import fdtrc

from .._utils.arrays import Floats
from ._columns import Columns
from ._parts import Clustering, Part
from ._statistics import LEVELS, listed_by_rates, q_of_contrasts


def frequencies(parts: list[Part | None], n_features: int) -> Floats:
    """The share of the fits in which each feature is chosen; of shape (n_features,)."""
    fitted = [part for part in parts if part is not None]
    counts = np.zeros(n_features)
    for part in fitted:
        counts[part.subset] += 1.0
    return counts / max(1, len(fitted))


def expected_false(threshold: float, n_chosen: float, n_features: int, n_splits: int) -> tuple[float, float]:
    """Bounds on the expected number of features that are stable by chance.

    A feature is stable if it is chosen in at least this share, above 1/2, of the fits to complementary halves. With q
    the mean number of features chosen, at most

    - q^2 / ((2 pi - 1) p) features that are chosen no more often than by chance are stable (Meinshausen and Buehlmann,
      2010), and
    - C(pi, B) q^2 / p of them if the distribution of their frequency is unimodal (Shah and Samworth, 2013), where C is
      1 / (2 (2 pi - 1 - 1/(2B))) up to pi = 3/4 and 4 (1 - pi + 1/(2B)) / (1 + 1/B) from there on.

    Parameters
    ----------
    threshold : float
        The share pi.
    n_chosen : float
        Mean number q of features chosen in a half.
    n_features : int
        Number p of features.
    n_splits : int
        Number B of pairs of halves.

    Returns
    -------
    general, unimodal : float
        Both bounds; infinite where there is none.

    Examples
    --------
    >>> expected_false(0.75, n_chosen=10, n_features=1000, n_splits=50)[0]
    0.2
    """
    by_chance = n_chosen**2 / n_features
    general = by_chance / (2 * threshold - 1) if threshold > 0.5 else np.inf
    share = n_chosen / n_features
    least = min(0.5 + share**2, 0.5 + 1 / (2 * n_splits) + 0.75 * share**2)
    unimodal = np.inf
    if threshold > 0.75:
        unimodal = 4 * (1 - threshold + 1 / (2 * n_splits)) / (1 + 1 / n_splits) * by_chance
    elif threshold > least and 2 * threshold - 1 > 1 / (2 * n_splits):
        unimodal = by_chance / (2 * (2 * threshold - 1 - 1 / (2 * n_splits)))
    return float(general), float(unimodal)


# ---------------------------------------------------------------- mirror statistics


def mirror_q(parts: list[Part | None], columns: Columns, k: int) -> Floats:
    """The smallest level of the false discovery rate at which each feature is listed by mirror statistics.

    `parts` holds both halves of every split. The columns of a feature count together.
    """
    n_features = int(columns.owners.max()) + 1
    splits = zip(parts[::2], parts[1::2], strict=True)
    q = np.ones(n_features)
    statistics = np.array(
        [mirror(columns, one, other, k) for one, other in splits if one is not None and other is not None]
    )
    if not statistics.size:
        return q
    for level in LEVELS[::-1]:
        q[listed_by_rates(statistics, level)] = level
    return q


def mirror(columns: Columns, one: Part, other: Part, k: int) -> Floats:
    """The mirror statistic of every feature (after Wang, Lin and Zhao, 2024, for any number of clusters).

    With d_1 and d_2 the differences between the clusters in each half, as vectors, M = cos(d_1, d_2) (|d_1| + |d_2|).
    It is large if both halves agree, and symmetric about zero if the feature is noise. The clusters of the halves are
    matched such that they agree best in all features.
    """
    first, second = (deviations(columns, part, k) for part in (one, other))
    agreement = np.einsum("cj,dj->cd", first, second)
    second = second[linear_sum_assignment(-agreement)[1]]
    owners = columns.owners

    def along(left: Floats, right: Floats) -> Floats:
        return np.bincount(owners, weights=(left * right).sum(axis=0)).astype(np.float64)

    lengths = np.sqrt(along(first, first)), np.sqrt(along(second, second))
    return along(first, second) * (lengths[0] + lengths[1]) / np.maximum(lengths[0] * lengths[1], 1e-12)


def deviations(columns: Columns, part: Part, k: int) -> Floats:
    """sqrt(n_c) times the deviation of the mean of each cluster from the mean; of shape (k, n_columns).

    Nominal columns, which have no mean, have none.
    """
    values = columns.scores[part.places]
    values = np.where(columns.is_nominal, np.nan, values)
    with np.errstate(invalid="ignore"):
        seen = ~np.isnan(values)
        values = np.nan_to_num(values - np.nan_to_num(values).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    made = np.zeros((k, values.shape[1]))
    for c in range(k):
        own = part.labels == c
        made[c] = values[own].sum(axis=0) / np.sqrt(np.maximum(seen[own].sum(axis=0), 1))
    return made


# ---------------------------------------------------------------- contrasts with one group


def contrast_q(given: Clustering, scores: Floats, null_scores: Floats | None) -> Floats:
    """The q-value of each feature, by the contrast of its score with that in a synthetic table with one group.

    Following ClusterDE (Song and others, 2023), the contrast is the difference of -log10 p of the test of the clusters
    that were found in the data and in the synthetic table. These are not p-values of anything, because the same
    values were clustered; only their difference is used.
    """
    if null_scores is None:
        return np.full(scores.size, np.nan)
    return q_of_contrasts(surprise(scores, given) - surprise(null_scores, given))


def surprise(scores: Floats, given: Clustering) -> Floats:
    """-log10 of the p-value that scores would have if the clusters had been known before."""
    d1, d2 = given.k - 1.0, given.n_samples - given.k - 0.0
    inside = np.minimum(scores, 1.0 - 1e-12)
    return np.asarray(-np.log10(np.maximum(fdtrc(d1, d2, inside / d1 / ((1.0 - inside) / d2)), 1e-300)))
