"""What must hold after a fit, whatever the table was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .make.names import MARKUP

ROUNDING = 1e-9
CURVES = re.compile(r".*_curve_$")
# Arrays that must be finite, except where their documentation says NaN: in columns that were left out, which have score
# 0, and for samples in no cluster.
ARRAYS = ("feature_weights_", "mixture_weights_")
BY_COLUMN = ("p_values_", "statistics_", "means_", "variances_")
# Text of a page or a file in which a number was not finite. A letter before or after makes it a part of a word.
NOT_FINITE = re.compile(r"(?<![\w<&;./'-])[-+]?(nan|inf|infinity)(?![\w;:'-])", re.IGNORECASE)


def check_fit(case: Any, found: Any, n: int | None, *, gaps: bool) -> None:
    """Report every result of a fit that is not what it must be.

    Parameters
    ----------
    case : Case
        Gets the findings.
    found : estimator
        The fitted estimator.
    n : int or None
        Number of samples, if it is known.
    gaps : bool
        Whether values may be missing, so that centers may be unknown.
    """

    def must(fits: bool, attribute: str, message: str, kind: str = "wrong result") -> None:
        if not fits:
            case.report(kind, f"{attribute}: {message}", f"{type(found).__name__}.{attribute}")

    labels, k, p = found.labels_, found.n_clusters_, found.n_features_in_
    is_labels = isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind == "i"
    must(is_labels, "labels_", f"an array of whole numbers was expected; got {labels!r:.200}")
    if is_labels:
        must(n is None or labels.size == n, "labels_", f"{labels.size} labels for {n} samples")
        must(labels.min() >= -1 and labels.max() < k, "labels_", f"labels from {labels.min()} to {labels.max()}; k={k}")
    must(found.support_.dtype == bool and found.support_.shape == (p,), "support_", f"got {found.support_!r:.200}")
    scores = found.feature_scores_
    must(scores.shape == (p,), "feature_scores_", f"shape {scores.shape} for {p} features")
    must(bool(np.isfinite(scores).all()), "feature_scores_", f"got {scores}", "non-finite")
    inside = (scores >= -ROUNDING) & (scores <= 1 + ROUNDING)
    must(bool(inside[np.isfinite(scores)].all()), "feature_scores_", f"outside [0, 1]: {scores}")
    if getattr(found, "objective_", None) is not None:
        must(bool(np.isfinite(found.objective_)), "objective_", f"got {found.objective_}", "non-finite")
    for name, array in _parts(found):
        must(_finite(array), name, f"got {getattr(found, name)!r:.500}", "non-finite")
    weights = getattr(found, "feature_weights_", None)
    if weights is not None:
        must(bool((np.nan_to_num(weights) >= 0).all()), "feature_weights_", f"below 0: {weights!r:.300}")
    centers = getattr(found, "cluster_centers_", None)
    if centers is not None:
        must(_finite(centers, gaps), "cluster_centers_", f"got {centers!r:.500}", "non-finite")
    for name in filter(CURVES.match, vars(found)):
        curve = getattr(found, name)
        if curve is not None:
            must(_finite(curve.values), name, f"values {curve.values}", "non-finite")
            must(_finite(curve.score), name, f"score {curve.score}", "non-finite")
            must(curve.error is None or _finite(curve.error), name, f"error {curve.error}", "non-finite")


def _parts(found: Any) -> Iterator[tuple[str, Any]]:
    """Iterate over the names of arrays and those parts of them that must be finite."""
    used, inside = found.feature_scores_ != 0, found.labels_ >= 0
    for name in ARRAYS:
        if getattr(found, name, None) is not None:
            yield name, getattr(found, name)
    for name in BY_COLUMN:
        if getattr(found, name, None) is not None:
            yield name, np.asarray(getattr(found, name))[..., used]
    if getattr(found, "memberships_", None) is not None:
        yield "memberships_", found.memberships_[inside]
    if getattr(found, "outlier_scores_", None) is not None:
        yield "outlier_scores_", found.outlier_scores_[inside]


def _finite(array: Any, gaps: bool = False) -> bool:
    """Whether all numbers of an array are finite, or with gaps at least not infinite. Words are no numbers."""
    flat = np.asarray(array).ravel()
    if flat.dtype.kind == "O":
        flat = np.array([each for each in flat if isinstance(each, float | np.floating)], float)
    if flat.dtype.kind not in "fc":
        return True
    return bool((~np.isinf(flat)).all() if gaps else np.isfinite(flat).all())


def check_labels(case: Any, found: Any, labels: Any, n: int | None) -> None:
    """Report labels of new samples that cannot be right."""
    fits = isinstance(labels, np.ndarray) and labels.dtype.kind == "i" and labels.ndim == 1
    fits = fits and (n is None or labels.size == n)
    fits = fits and (not labels.size or (labels.min() >= -1 and labels.max() < found.n_clusters_))
    if not fits:
        case.report("wrong result", f"predict returned {labels!r:.300}", f"{type(found).__name__}.predict")


def check_number(case: Any, found: Any, name: str, value: Any) -> None:
    """Report a number that is not finite."""
    if not np.isfinite(value).all():
        case.report("non-finite", f"{name} returned {value!r:.300}", f"{type(found).__name__}.{name}")


def check_page(case: Any, page: str, where: str = "report", *, is_damaged: bool = False) -> None:
    """Report a page that shows a number that is not finite, or contains a name as markup.

    The page of a damaged summary may show what the damage has put there, as text.
    """
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL | re.IGNORECASE)
    shown = re.sub(r"<[^>]*>", " ", text)
    bad = NOT_FINITE.search(shown)
    if bad and not is_damaged:
        case.report(
            "non-finite", f"The page shows {shown[max(bad.start() - 60, 0) : bad.end() + 30]!r}", f"page {where}"
        )
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    try:
        json.loads(data[1] if data else "", parse_constant=lambda word: 1 / 0)
    except (ValueError, ZeroDivisionError):
        case.report("non-finite", "The data in the page are not JSON, or contain NaN.", f"data of page {where}")
    for markup in MARKUP:
        if markup in page:
            place = page.index(markup)
            case.report("markup", f"The page contains {page[place - 50 : place + 50]!r}", f"page {where}")


def has_gaps(X: Any) -> bool:
    """Whether values may be missing in a table."""
    try:
        return bool(np.isnan(np.asarray(X.toarray() if hasattr(X, "toarray") else X, float)).any())
    except (TypeError, ValueError, OverflowError):
        return True


def same_fit(one: Any, other: Any) -> str:
    """Return the first attribute in which two fits differ, or an empty text."""
    for name in ("labels_", "support_", "feature_scores_", "n_clusters_"):
        if not np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True):
            return name
    return ""
