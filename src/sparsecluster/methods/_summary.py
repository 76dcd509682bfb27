"""The result of a fit in a few lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.arrays import Subset
from .._utils.checks import NAMES_SHOWN, and_more
from .._utils.text import LONGEST_IN_SENTENCE, shortened
from ._validation import names_of


def outside_of(estimator: Any) -> int:
    """Return the number of samples in no cluster."""
    # A model of a table in blocks has the sizes of the clusters, but no labels.
    return int(estimator.labels_.size) - sum(estimator._kept.sizes) if hasattr(estimator, "labels_") else 0


def features_by_score(estimator: Any) -> Subset:
    """Return the indices of the chosen features, the highest score first."""
    chosen = np.flatnonzero(estimator.support_)
    return chosen[np.argsort(-estimator.feature_scores_[chosen], kind="stable")]


def summary_lines(estimator: Any) -> list[str]:
    """Describe a fitted estimator: its clusters, its features, and those with the highest scores."""
    sizes, outside, ranked = estimator._kept.sizes, outside_of(estimator), features_by_score(estimator)
    names, n_chosen = names_of(estimator), estimator._kept.n_chosen

    def name(a: int) -> str:
        return shortened(str(names[a]), LONGEST_IN_SENTENCE)

    best = ", ".join(f"{name(a)} ({estimator.feature_scores_[a]:.2f})" for a in ranked[:NAMES_SHOWN])
    lines = [
        f"{len(sizes)} clusters of {', '.join(map(str, sizes))} samples"
        + (f"; {outside} sample{'s' * (outside > 1)} in no cluster" if outside else ""),
        f"{n_chosen} of {estimator._kept.n_features} features chosen; the clusters explain "
        f"{estimator.feature_scores_[ranked].mean():.0%} of their variation",
    ]
    core = getattr(estimator, "core_size_", n_chosen)
    if "full_support_" in vars(estimator):
        lines.append(
            f"these are enough to find the clusters, which {estimator.full_support_.sum()} features have found"
        )
    elif core < n_chosen:
        some = f"the {core} with the highest scores are" if core > 1 else "the one with the highest score is"
        lines.append(f"{some} enough to find the clusters again")
    lines.append(f"highest scores: {best}")
    for cluster, mask in enumerate(getattr(estimator, "cluster_features_", [])):
        own = ranked[mask[ranked]].tolist()
        lines.append(f"features of cluster {cluster}: {', '.join(map(name, own[:NAMES_SHOWN]))}{and_more(len(own))}")
    others = len(getattr(estimator, "alternatives_", []))
    if others:
        lines.append(f"{others} other good clustering{'s' * (others > 1)} of the same samples in alternatives_")
    return lines
