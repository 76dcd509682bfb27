"""What is said about a fit: sentences for the reader, and warnings. Both are made from the summary alone."""

from __future__ import annotations

from typing import Any

from .._utils.checks import NAMES_SHOWN, and_more
from .._utils.text import LONGEST_IN_SENTENCE, enumerated, shortened
from ._numbers import percent

# There is a warning if a cluster is smaller than this, if a larger share of the features is chosen, or if the clusters
# explain a smaller share of them.
SMALL_CLUSTER, NEARLY_ALL, LITTLE = 3, 0.9, 0.05
# The number of core features that are named, and in the paragraph of a page.
CORE_NAMED, LEAD_NAMED = 15, 6
# The sizes of more clusters than this are given as a range.
MOST_SIZES = 8
# Criteria in a sentence; others are called by their name.
CRITERIA = {"bic": "the BIC", "gap": "the gap statistic", "micl": "the integrated complete-data likelihood"}
# What is said of features, by whether their number was chosen and whether it is 1.
VERBS = {
    (True, False): "differ between the clusters",
    (True, True): "differs between the clusters",
    (False, False): "were chosen",
    (False, True): "was chosen",
}


def sentences(result: dict[str, Any]) -> list[str]:
    """Return what the result is, in full sentences."""
    features, assessment = result["features"], result["assessment"]
    told = [
        assessment and assessment["sentences"][0],
        _choice_of_clusters(result),
        _clusters(result),
        _outside(result["outliers"]["rows"], result["n_outliers"]),
        _features(result),
        f"The clusters explain {percent(result['explained'], '')} of the variation of the chosen features on average.",
        _best([row for row in features["rows"] if row["chosen"]][:3]),
        None
        if features["rest"] is None
        else f"The clusters explain {percent(features['rest'], '')} of the variation of the features that were not "
        "chosen.",
        _alternatives(result),
    ]
    return [sentence for sentence in told if sentence]


def lead(result: dict[str, Any]) -> list[str]:
    """Return the sentences of the paragraph above the tiles of a page, which do not say what the tiles say."""
    assessment, rest = result["assessment"], result["features"]["rest"]
    told = [
        assessment and assessment["sentences"][0],
        _choice(result),
        _sizes(result),
        _named(result),
        rest and f"Of the features that were not chosen, they explain {percent(rest)} on average.",
        _outside(result["outliers"]["rows"], result["n_outliers"], is_counted=False),
        _others(result),
    ]
    return [sentence for sentence in told if sentence]


def _choice(result: dict[str, Any]) -> str | None:
    if result["curves"]["clusters"] is None:
        return None
    among, criterion = _tried(result["curves"]["clusters"])
    if no_groups_shown(result):
        return f"The best number of clusters by {criterion} is shown nevertheless; the numbers {among} were tried."
    return f"The number of clusters was chosen among {among} by {criterion}."


def _sizes(result: dict[str, Any]) -> str:
    sizes = result["sizes"]
    if len(sizes) > MOST_SIZES:
        return f"The clusters have between {min(sizes):,} and {max(sizes):,} samples."
    return f"The clusters have {enumerated(sizes)} samples." if len(sizes) > 1 else "All samples are in one cluster."


def _named(result: dict[str, Any]) -> str:
    """Name the features that are enough or, if they were not sought, those with the highest scores."""
    core = result["core"]
    if core is not None and not core["is_enough"]:
        return "Clustering the samples afresh on the chosen features alone finds other clusters."
    rows = core["rows"] if core else [row for row in result["features"]["rows"] if row["chosen"]]
    names = [shortened(row["name"], LONGEST_IN_SENTENCE) for row in rows[:LEAD_NAMED]]
    named = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    if core is None:
        return f"They differ most in {named}."
    if core["count"] > LEAD_NAMED:
        return f"The core features, which are enough to find the clusters again, begin with {named}."
    if core["count"] == 1:
        return f"The feature {named} is enough to find the clusters again."
    return f"The features {named} are enough to find the clusters again."


def _others(result: dict[str, Any]) -> str | None:
    others, good = result["clusterings"][1:], "" if no_groups_shown(result) else "good "
    if not others:
        return None
    agreement = max(each["agreement"] for each in others)
    return (
        f"The same samples can be clustered in another {good}way, by other features; the adjusted Rand index with this "
        f"clustering is {'' if len(others) == 1 else 'at most '}{round(agreement, 2) + 0.0:.2f}."
    )


def _choice_of_clusters(result: dict[str, Any]) -> str | None:
    curve = result["curves"]["clusters"]
    if curve is None:
        return None
    among, criterion = _tried(curve)
    if no_groups_shown(result):
        return f"Among {among} clusters, {len(result['sizes'])} are best by {criterion}."
    return f"Number of clusters: {len(result['sizes'])}, chosen among {among} by {criterion}."


def _tried(curve: dict[str, Any]) -> tuple[str, str]:
    """The numbers of clusters that were tried, and the criterion, in words."""
    # Some criteria compare with a single cluster, which is never chosen.
    tried = sorted(int(k) for k in (*curve["values"], *curve["unusable"]) if k > 1)
    is_range = len(tried) > 2 and tried == list(range(tried[0], tried[-1] + 1))
    among = f"{tried[0]} to {tried[-1]}" if is_range else enumerated(tried)
    return among, CRITERIA.get(curve["criterion"], curve["criterion"])


def _clusters(result: dict[str, Any]) -> str:
    sizes = enumerated(result["sizes"])
    if no_groups_shown(result):
        return f"The best clustering into {len(result['sizes'])} clusters has {sizes} samples in them."
    return f"There are {len(result['sizes'])} clusters, with {sizes} samples."


def no_groups_shown(result: dict[str, Any]) -> bool:
    """Whether the result was assessed, and the tests do not show groups."""
    return result["assessment"] is not None and result["assessment"]["n_clusters"] == 1


def _outside(rows: list[dict[str, Any]], count: int, is_counted: bool = True) -> str | None:
    if not count:
        return None
    names = ", ".join(shortened(row["id"], LONGEST_IN_SENTENCE) for row in rows[:NAMES_SHOWN])
    if not is_counted:
        more = " and others" if count > NAMES_SHOWN else ""
        return f"In no cluster {'is' if count == 1 else 'are'} {names}{more}."
    return f"{count:,} sample{' is' if count == 1 else 's are'} in no cluster: {names}{and_more(count)}."


def _features(result: dict[str, Any]) -> str:
    """Say how many features differ between the clusters or were chosen, and which of them are enough."""
    total, core, curve = result["n_features"], result["core"], result["curves"]["features"]
    is_tuned = curve is not None and curve["parameter"] == "s" and not no_groups_shown(result)
    is_answer = core is not None and core["is_answer"]
    count = core["found_with"] if is_answer else result["n_chosen"]
    first = f"{count:,} of {total:,} features {VERBS[is_tuned, count == 1]}"
    if is_answer and not is_tuned:
        first = f"The clusters were found with {count:,} of {total:,} features"
    if not is_tuned and count == total:
        first = f"All {total:,} features were used"
    if core is None:
        return f"{first}."
    if not core["is_enough"]:
        return f"{first}; clustering the samples afresh on the chosen features alone finds other clusters."
    enough = core["count"]
    if enough == count:
        return f"{first}, and {'all of them are' if count > 1 else 'it is'} needed to find the clusters again."
    names = ", ".join(shortened(row["name"], LONGEST_IN_SENTENCE) for row in core["rows"][:CORE_NAMED])
    more = f" and {enough - CORE_NAMED:,} more" if enough > CORE_NAMED else ""
    these = "this one is" if enough == 1 else f"these {enough:,} are"
    clusters = "them" if is_tuned else "the clusters"
    return f"{first}; {these} enough to find {clusters} again: {names}{more}."


def _best(rows: list[dict[str, Any]]) -> str | None:
    if not rows:
        return None
    told = ", ".join(f"{shortened(row['name'], LONGEST_IN_SENTENCE)} ({percent(row['score'], '')})" for row in rows)
    return f"The features with the highest scores are {told}."


def _alternatives(result: dict[str, Any]) -> str | None:
    others, good = result["clusterings"][1:], "" if no_groups_shown(result) else "good "
    if not others:
        return None
    there = f"is another {good}clustering" if len(others) == 1 else f"are {len(others)} other {good}clusterings"
    based = enumerated([each["n_chosen"] for each in others])
    agreement = enumerated([round(each["agreement"], 2) + 0.0 for each in others], ".2f")
    return (
        f"There {there} of the same samples, based on {based} features; agreement with this one (adjusted Rand index): "
        f"{agreement}."
    )


def warnings_of(result: dict[str, Any]) -> list[str]:
    """Return what may be wrong with the result."""
    found, curve = [], result["curves"]["features"]
    by_gap = curve is not None and curve["criterion"] == "gap"
    small = sum(size < SMALL_CLUSTER for size in result["sizes"])
    if small:
        have = "1 cluster has" if small == 1 else f"{small} clusters have"
        found.append(f"{have} fewer than {SMALL_CLUSTER} samples, which may be outliers.")
    is_tuned = by_gap and curve["parameter"] in ("s", "l1_bound")
    if is_tuned and result["n_chosen"] > NEARLY_ALL * result["n_features"] and result["n_features"] > 10:
        found.append(
            "Nearly all features were chosen, as the gap statistic tends to do on strongly correlated data. "
            'Use n_features_to_select="core", null="fixed" or rule="1se" to choose fewer.'
        )
    if result["explained"] < LITTLE:
        found.append(
            "The clusters explain hardly any of the variation of the chosen features. There may be no clusters."
        )
    if by_gap and curve["best"] <= curve["best_error"]:
        found.append(
            "The gap statistic is not larger than its standard error: permuted data cluster about as well. There may "
            "be no clusters, or another number of clusters."
        )
    return found


def left_out(count: int) -> list[str]:
    """Return a note on features that were not used, if there are any."""
    words = "1 feature is constant or nearly always missing, and was" if count == 1 else (
        f"{count:,} features are constant or nearly always missing, and were")  # fmt: skip
    return [f"{words} left out of the clustering."] if count else []
