"""An assessment in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import enumerated

if TYPE_CHECKING:
    from .assessment import Assessment

# Samples that keep their cluster in less than this share of the subsamples are called unsure.
UNSURE = 0.8

# What is claimed, and why, by the verdict of the tests.
CLAIMS = {
    "groups": "There are groups",
    "trend": "No groups are shown",
    "nothing": "There is no evidence of groups",
    "dependence": "There may be groups",
}
REASONS = {
    "groups": "neither independent features nor one group whose features go together would look like this.",
    "trend": "features go together, but one continuous group explains it as well as several.",
    "nothing": "independent features without any groups look the same.",
    "dependence": "features go together, more than independent features would; whether they form groups was not "
    "tested.",
}
# The claim if the number of clusters was to be chosen: a single group is an answer, too.
ONE_GROUP = "No groups (k = 1)"


def headline(told: Assessment, *, k_was_chosen: bool = False) -> str:
    """Whether there is anything, in one sentence."""
    claim = ONE_GROUP if k_was_chosen and told.n_clusters == 1 else CLAIMS[told.verdict]
    return f"{claim}: {REASONS[told.verdict]}"


def about_groups(told: Assessment) -> list[str]:
    """The p-values behind it."""
    tests = {"independent features": told.p_independent, "one group": told.p_one_group}
    return [f"P-values: {' and '.join(f'{p_words(p)} for {name}' for name, p in tests.items() if p is not None)}."]


def p_words(p: float) -> str:
    """A p-value for people.

    >>> p_words(0.0312), p_words(0.4449), p_words(0.00004)
    ('0.031', '0.44', '0.0001 or less')
    """
    if p < 1e-4:
        return "0.0001 or less"
    return f"{p:.2g}"


def about_clusters(told: Assessment) -> list[str]:
    """How stable the clusters are."""
    words = told.clusters.words
    kinds = {word: [c for c, each in enumerate(words) if each == word] for word in ("solid", "doubtful", "dissolved")}
    parts = [f"{'cluster' if len(own) == 1 else 'clusters'} {enumerated(own)} {'is' if len(own) == 1 else 'are'} {word}"
             for word, own in kinds.items() if own]  # fmt: skip
    text = "; ".join(parts)
    # Adding zero turns -0.0 into 0.0.
    own, null = (round(float(np.mean(each)), 2) + 0.0 for each in (told.agreement, told.agreement_null))
    return [
        f"In subsamples, {text}.",
        f"Two halves of the samples agree with an adjusted Rand index of {own:.2f}; in permuted copies it "
        f"is {null:.2f}.",
    ]


def about_samples(told: Assessment) -> list[str]:
    """How many samples are unsure."""
    sure = told.samples.confidence[np.isfinite(told.samples.confidence)]
    count = int((sure < UNSURE).sum())
    if not count:
        return [f"All samples keep their cluster in at least {UNSURE:.0%} of the subsamples."]
    return [f"{count:,} of {sure.size:,} samples keep their cluster in less than {UNSURE:.0%} of the subsamples."]


def about_features(told: Assessment) -> list[str]:
    """How many features are listed."""
    if told.verdict not in ("groups", "dependence") or not np.isfinite(told.features.q).any():
        return []
    count = int(told.features.listed.sum())
    features = "feature differs" if count == 1 else "features differ"
    return [
        f"At a false discovery rate of {told.features.fdr:.0%}, {count:,} {features} between the clusters of samples "
        "that were held out."
    ]
