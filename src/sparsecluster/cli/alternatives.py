"""`--alternative`: another good clustering of the same samples as the result of a fit."""

from __future__ import annotations

from typing import Any

from .._utils.text import brief

NOT_ASSESSED = (
    "The clustering was not assessed, because an assessment fits the method again, which finds the first clustering. "
    "Leave --alternative out to see how sure that one is."
)


def check_alternative(estimator: Any, method: str, number: int | None, assess: bool | None) -> None:
    """Refuse the number of an alternative that no fit of this estimator can have, and an assessment of it."""
    if number is None:
        return
    most = estimator.get_params().get("n_alternatives", 0)
    if not most:
        raise ValueError(
            f"The method {brief(method)} finds no alternatives. Leave --alternative out, or use --method sas."
        )
    if number >= most:
        raise ValueError(
            f"--alternative must be a whole number in [0, {most - 1}], because at most {most} alternatives are sought; "
            f"got {number}."
        )
    if assess:
        raise ValueError(
            "--assess cannot be used with --alternative, because an assessment fits the method again, which finds the "
            "first clustering. Leave one of them out."
        )


def chosen(found: Any, number: int | None) -> Any:
    """Return the estimator whose clustering is the result: the fitted one, or one of its alternatives."""
    if number is None:
        return found
    count = len(found.alternatives_)
    if number < count:
        return found.use_alternative(number)
    if not count:
        raise ValueError(
            "The fit has no alternatives: no other good clustering of the samples was found. Leave --alternative out."
        )
    which = "1 alternative was found, which has the number 0" if count == 1 else f"{count} alternatives were found"
    raise ValueError(
        f"--alternative must be a whole number in [0, {count - 1}]; got {number}. {which}; see alternatives.csv or the "
        "report of the fit without --alternative."
    )


def note_of(number: int) -> str:
    """Say of a result which alternative it is."""
    return f"This is alternative {number} to the clustering that is found without --alternative."
