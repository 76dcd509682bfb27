"""Assessing a fit on the command line: when, how thoroughly, and what is written of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from ..evidence import Assessment
    from ..inspection import View

# A fit with more samples, or with more values in the table, is assessed only if this is asked for. Up to here, the
# command takes about one and a half times as long, and up to two and a half times if there is nothing to find.
MOST_SAMPLES, MOST_VALUES = 1000, 500_000
# How much is computed if nobody has asked for it: enough to tell whether there are groups.
SHORT_PLAN = {"n_copies": 39, "n_paths": 1, "n_folds": 5, "n_repeats": 2, "n_splits": 3}
# Values of the number of features that are found by comparing the data with permuted copies.
CHOSEN_SIZES = ("auto", "core")
HINT = "Use --assess to test whether there are groups, and how sure the clusters, samples and features are."
IN_BLOCKS = (
    "--assess needs a table in memory, but this one is fitted in blocks of rows. Leave --assess out, or fit a "
    "sample of the rows with it."
)


def plan_of(asked: bool | None, estimator: Any, n_samples: int, n_features: int) -> dict[str, int] | None:
    """How much of an assessment to compute, as parameters of `assess`; None for no assessment.

    By default, a fit is assessed if it has fitted permuted copies itself and the table is not large, so that the
    command does not take much longer. This is decided by counts, not by seconds: the result depends on the data, the
    parameters and the seed.
    """
    if asked is not None:
        return {} if asked else None
    is_small = n_samples <= MOST_SAMPLES and n_samples * n_features <= MOST_VALUES
    return SHORT_PLAN if is_small and fits_copies(estimator) else None


def fits_copies(estimator: Any) -> bool:
    """Whether a method chooses its features by fits to permuted copies at every number of features."""
    from ..methods.sas import SASClustering

    if not isinstance(estimator, SASClustering) or estimator.criterion != "gap" or estimator.search != "path":
        return False
    size = estimator.n_features_to_select
    return isinstance(size, str) and size in CHOSEN_SIZES


def assessment_of(
    found: Any, reading: Any, plan: dict[str, int] | None, seed: int
) -> tuple[Assessment | None, list[str]]:
    """Assess a fit; and a note if this is not possible, because the clusters are an answer without it."""
    from ..evidence import assess

    if plan is None:
        return None, []
    try:
        return assess(found, reading, **plan, random_state=seed), []
    except ValueError as error:
        return None, [f"The clustering was not assessed. {error}"]


def named_pairs(assessment: Assessment, view: View) -> pd.DataFrame:
    """The differences between pairs of clusters, with the names of the features in the file."""
    names = dict(zip(assessment.features.names, view.names, strict=True))
    frame = assessment.pairs.frame()
    return frame.assign(feature=[names[name] for name in frame["feature"]])
