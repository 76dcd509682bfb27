"""Whether a clustering can be trusted: an assessment in plain values, and what is drawn of it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._utils.arrays import Subset
from ..evidence import Assessment, FeatureEvidence
from ..evidence._stability import DISSOLVED, RECOVERED
from ..evidence._words import headline
from ..inspection._style import MISSING
from ..inspection.view import View
from ._numbers import NO_BREAK, finite, p_value, rounded

# The largest numbers of samples and features in the picture, which is also read on a phone.
MOST_DRAWN_SAMPLES, MOST_DRAWN_FEATURES = 150, 15
# The colors of pairs of samples that are never and always in the same cluster.
COLORS = ("#f7fbff", "#08519c")


def assessed(found: Assessment, *, k_was_chosen: bool = False) -> dict[str, Any]:
    """The answers of an assessment in plain values, which can be stored as JSON.

    Parameters
    ----------
    found : Assessment
        The assessment of a fit.
    k_was_chosen : bool, default=False
        Whether the number of clusters was chosen among several, so that 1 is an answer as well.
    """
    clusters = found.clusters
    rows = zip(clusters.sizes, clusters.stability, clusters.recovered, clusters.dissolved, clusters.words, strict=True)
    null = found.agreement_null
    return {
        "verdict": found.verdict,
        "p_independent": finite(found.p_independent),
        "p_one_group": finite(found.p_one_group),
        "n_clusters": found.n_clusters,
        "n_copies": found.n_copies,
        "n_assessed": found.n_assessed,
        "alpha": found.alpha,
        "agreement": finite(found.agreement),
        "agreement_null": finite(float(null.mean())) if null.size else None,
        "clusters": [
            {
                "size": int(size),
                "stability": finite(stability),
                "recovered": finite(recovered),
                "dissolved": finite(dissolved),
                "verdict": word,
            }
            for size, stability, recovered, dissolved, word in rows
        ],
        "n_listed": int(found.features.listed.sum()),
        "fdr": found.features.fdr,
        "sentences": [headline(found, k_was_chosen=k_was_chosen), *found.sentences()[1:]],
    }


def drawn(found: Assessment, view: View) -> dict[str, Any]:
    """What the picture of an assessment shows: limits of stability, the consensus of samples, the surest features."""
    samples, features = found.samples, found.features
    order = samples.order
    order = order[np.linspace(0, order.size - 1, min(order.size, MOST_DRAWN_SAMPLES)).round().astype(int)]
    shown = samples.assessed[order]
    together = samples.consensus[np.ix_(order, order)].tolist()
    surest = _surest(features)
    numbers = (rounded(each[surest]) for each in (features.effect, features.low, features.high, features.frequency))
    rows = zip(surest.tolist(), features.listed[surest].tolist(), *numbers, strict=True)
    return {
        "limits": [DISSOLVED, RECOVERED],
        "samples": [{"id": view.ids[i], "cluster": int(samples.labels[i])} for i in shown.tolist()],
        "n_samples": found.n_assessed,
        "together": [[None if share != share else round(100 * share) for share in row] for row in together],
        "features": [
            {"name": view.names[a], "listed": listed, "effect": effect, "low": low, "high": high, "frequency": often}
            for a, listed, effect, low, high, often in rows
        ],
        "colors": list(COLORS),
        "missing": MISSING,
        "sentences": _said(found),
    }


def _said(found: Assessment) -> list[str]:
    """What the tests and the subsamples say, as a page writes numbers."""
    tests = {"independent features": found.p_independent, "one group": found.p_one_group}
    told = [f"{p_value(p)} against {name}" for name, p in tests.items() if p is not None and np.isfinite(p)]
    sentences = [
        re.sub(r"(?<=\d)%", f"{NO_BREAK}%", each) for each in found.sentences()[1:] if not each.startswith("P-values")
    ]
    return [f"The tests give {' and '.join(told)}.", *sentences]


def _surest(features: FeatureEvidence) -> Subset:
    """The features that are drawn; where no values can be held out, those that are chosen most often."""
    if np.isfinite(features.effect).any():
        order = features.order
    else:
        order = np.argsort(-np.nan_to_num(features.frequency), kind="stable")
    return order[np.isfinite(features.frequency[order])][:MOST_DRAWN_FEATURES]
