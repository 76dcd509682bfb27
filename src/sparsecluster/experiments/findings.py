"""Sentences about the results: how the methods compare with each other and with the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .contenders import title_of
from .experiment import Experiment, values_of
from .runner import Results
from .summary import HEADINGS, LIMITS, SMALLER_IS_BETTER, Summary, shown, summaries_of

OURS = "sas"
# The plain version that does the same work as ours.
PLAIN = {
    "sas-given": "plain-sas",
    "sas-given-published": "plain-sas",
    "sparse-kmeans-given": "plain-sparse-kmeans",
}
PAPER_REPEATS = 50


def findings(experiment: Experiment, results: Results) -> list[str]:
    """Compare our method with the others, and every method with the paper, over all cells.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results; cells with fewer than two repeats are ignored.

    Returns
    -------
    list of str
        One sentence for every finding.
    """
    sentences = []
    for measure in experiment.measures:
        summaries = [each for each in summaries_of(experiment, results, measure) if each.n > 1]
        sentences += [line for line in (_ours(summaries, measure), *_published(summaries, measure)) if line]
        if measure == "time":
            sentences += _ratios(summaries)
    return sentences


def _ratios(summaries: Sequence[Summary]) -> list[str]:
    """How many times as long the plain versions take: the median, the smallest and the largest ratio of all cells."""
    means = {(values_of(each.cell), each.method): each.mean for each in summaries}
    sentences = []
    for ours, plain in PLAIN.items():
        own = {at: mean for (at, method), mean in means.items() if method == ours}
        ratios = [means[at, plain] / mean for at, mean in own.items() if (at, plain) in means]
        if ratios:
            sentences.append(
                f"{title_of(plain)} takes {np.median(ratios):.2g} times as long as {title_of(ours)} in the median cell "
                f"({min(ratios):.2g} to {max(ratios):.2g})."
            )
    return sentences


def _ours(summaries: Sequence[Summary], measure: str) -> str | None:
    """In how many cells ours is as good as every other method, within one standard error of the difference."""
    sign = -1.0 if measure in SMALLER_IS_BETTER else 1.0
    by_cell: dict[tuple[Any, ...], list[Summary]] = {}
    for each in summaries:
        by_cell.setdefault(values_of(each.cell), []).append(each)
    behind = []
    counted = 0
    for at, found in by_cell.items():
        ours = next((each for each in found if each.method == OURS), None)
        others = [each for each in found if each.method not in (OURS, *LIMITS)]
        if ours is None or not others:
            continue
        counted += 1
        best = max(others, key=lambda each: sign * each.mean)
        if sign * (best.mean - ours.mean) > math.hypot(best.error, ours.error):
            behind.append(f"{', '.join(map(str, at))} ({title_of(best.method)} {shown(best.mean, measure)}, "
                          f"ours {shown(ours.mean, measure)})")  # fmt: skip
    if not counted:
        return None
    where = f"; it is worse at {'; '.join(behind)}" if behind else ""
    name = HEADINGS.get(measure, measure)
    return (
        f"By {name}, {title_of(OURS)} is at least as good as the best other method, within one standard error of the "
        f"difference, in {counted - len(behind)} of {counted} cells{where}."
    )


def _published(summaries: Sequence[Summary], measure: str) -> list[str]:
    """For every method in the paper, in how many cells it is within three standard errors of the printed mean."""
    if measure == "time":
        return []
    sentences = []
    for method in dict.fromkeys(each.method for each in summaries):
        # Difference to the paper, whether it is small, and the cell.
        apart = []
        for each in summaries:
            if each.method == method and each.printed is not None and each.printed[1] is not None:
                difference = each.mean - each.printed[0]
                error = math.hypot(each.error, each.printed[1] / math.sqrt(PAPER_REPEATS))
                apart.append((difference, abs(difference) <= 3 * error or error == 0, values_of(each.cell)))
        if apart:
            largest, _, where = max(apart, key=lambda each: abs(each[0]))
            sentences.append(
                f"{title_of(method)}: within three standard errors of the paper's {HEADINGS.get(measure, measure)} "
                f"in {sum(near for _, near, _ in apart)} of {len(apart)} cells; the largest difference is "
                f"{shown(largest, measure, sign=True)}, at {', '.join(map(str, where))}."
            )
    return sentences
