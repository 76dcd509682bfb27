"""The number of clusters: which are tried, and the choice among them by one of several criteria."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .._data.checks import too_few_distinct
from .._data.reading import Reading
from .._utils.checks import check_choice, check_count, is_auto
from ._criteria.bic import bic
from ._criteria.choice import Choice, Criterion
from ._criteria.gap import gap, gap_uniform, logdet_gap
from ._criteria.prediction_strength import prediction_strength
from ._criteria.stadion import stadion

NClusters = int | Collection[int] | str

# The largest number of clusters that is tried by default, and the smallest mean number of samples per cluster.
MOST_CLUSTERS, LEAST_MEAN_SIZE = 10, 5


CRITERIA: dict[str, Criterion] = {
    "auto": lambda estimator, reading, ks: estimator._choose_clusters(reading, ks),
    "bic": bic,
    "gap": gap,
    "gap_uniform": gap_uniform,
    "logdet_gap": logdet_gap,
    "prediction_strength": prediction_strength,
    "stadion": stadion,
}


def check_n_clusters(n_clusters: Any, max_clusters: Any, criterion: Any) -> None:
    """Check the parameters that determine the number of clusters."""
    check_choice("cluster_criterion", criterion, list(CRITERIA))
    if max_clusters is not None:
        check_count("max_clusters", max_clusters, 2, advice="Use None for the default, which is at most 10.")
    if is_auto(n_clusters):
        return
    if is_several(n_clusters):
        for k in n_clusters:
            check_count("Every number in n_clusters", k, 2)
        if not len(n_clusters):
            raise ValueError('n_clusters is an empty sequence. Give at least one number of clusters, or use "auto".')
        return
    check_count("n_clusters", n_clusters, 2, advice='Use "auto" to choose it.')


def is_several(n_clusters: Any) -> bool:
    """Whether there are several numbers of clusters. A generator is not accepted: it could be read only once."""
    has_length = isinstance(n_clusters, Collection) and getattr(n_clusters, "ndim", 1) > 0
    return has_length and not isinstance(n_clusters, str)


def is_given(n_clusters: Any) -> bool:
    """Whether the number of clusters is given, and not to be chosen."""
    return not is_auto(n_clusters) and not is_several(n_clusters)


def choose_clusters(estimator: Any, reading: Reading) -> Choice:
    """Return the given number of clusters, or choose one."""
    asked, most = estimator.n_clusters, vars(estimator).get("max_clusters")
    if is_given(asked):
        return Choice(int(asked))
    ks = candidates_of(asked, most, reading)
    if len(ks) == 1:
        return Choice(ks[0])
    criterion = vars(estimator).get("cluster_criterion", "auto")
    # Columns that are observed too rarely for the largest number of clusters are left out while it is open.
    choice = CRITERIA[criterion](estimator, reading.for_clusters(ks[-1]), ks)
    # Numbers of clusters for which there is no clustering, or only one with outliers as clusters, have no finite value.
    return choice if choice.curve is None else choice._replace(curve=choice.curve.where_finite())


def candidates_of(asked: Any, most: int | None, reading: Reading) -> list[int]:
    """Return the numbers of clusters to try, in ascending order."""
    if not is_auto(asked):
        return sorted({int(k) for k in asked})
    distinct = min(reading.n_surely_distinct, MOST_CLUSTERS if most is None else int(most))
    if distinct < (MOST_CLUSTERS if most is None else int(most)):
        distinct = reading.source.count_distinct()
    if most is None:
        most = min(MOST_CLUSTERS, max(2, reading.n_used // LEAST_MEAN_SIZE), distinct)
    elif most > distinct:
        raise ValueError(
            f"max_clusters must be a whole number in [2, {distinct}], since X has {distinct} distinct rows; got {most}."
        )
    if most < 2:
        raise too_few_distinct(distinct, 2)
    return list(range(2, int(most) + 1))
