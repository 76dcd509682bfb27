"""The dissimilarity of each column: as given by `metric=`, or chosen from the content of the column by "auto"."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._utils.arrays import Subset
from .._utils.checks import check_choice
from .._utils.text import brief
from .check_matrices import shape_of
from .content import Content
from .kinds import KINDS, Dissimilarity, Function, FunctionOfTwo, Hamming, Ordinal, SquaredEuclidean

Metric = str | FunctionOfTwo | Mapping[Any, Any]

# A column of text is refused if more than this share of its values are different, and there are more than a few levels.
NEARLY_UNIQUE, FEW_LEVELS = 0.7, 5


def asked_by_column(metric: Metric, names: Sequence[Any]) -> list[str | FunctionOfTwo]:
    """The dissimilarity requested for each column; "auto" by default."""
    if isinstance(metric, Mapping):
        asked: list[str | FunctionOfTwo] = ["auto"] * len(names)
        for key, kind in metric.items():
            asked[column_place(key, names, "metric")] = _checked(kind, f"metric[{brief(key)}]")
        return asked
    return [_checked(metric, "metric")] * len(names)


def _checked(kind: Any, where: str) -> str | FunctionOfTwo:
    if callable(kind):
        return kind
    # Matrices are not columns of a table, so "precomputed" cannot be requested for a single column.
    words = ["auto", *KINDS, *(["precomputed"] if where == "metric" else [])]
    return check_choice(where, kind, words, ", a function of two values" + " or a dict" * (where == "metric"))


def kind_for(asked: str | FunctionOfTwo, content: Content, column: str) -> Dissimilarity:
    """The dissimilarity of a column, as requested or according to its content."""
    if callable(asked):
        return Function.of(asked, content)
    if asked != "auto":
        return KINDS[asked].learn(content, column)
    refuse_identifiers(content, column)
    is_ranked = content.order is not None and content.numbers is None and len(content.order) > 2
    chosen = Ordinal if is_ranked else Hamming if content.has_levels else SquaredEuclidean
    return chosen.learn(content, column)


def refuse_identifiers(content: Content, column: str) -> None:
    """Refuse text that differs in nearly every sample: it cannot tell clusters apart."""
    if content.is_text:
        refuse_names(len(content.distinct()), content.n_observed, column)


def refuse_names(different: int, observed: int, column: str) -> None:
    """Refuse a column of text with so many different values among those that are observed."""
    if is_nearly_unique(different, observed):
        raise ValueError(
            f"Column {brief(column)} is text with {different} different values in {observed} samples, like names or "
            "identifiers, so it cannot tell clusters apart. Drop it, convert it if it holds numbers, or use "
            f'metric={{{brief(column)}: "hamming"}} if it is meant to be a category.'
        )


def is_nearly_unique(different: int, observed: int) -> bool:
    """Whether so many different values among those that are observed are like names or identifiers.

    >>> is_nearly_unique(90, 100), is_nearly_unique(50, 100), is_nearly_unique(5, 5)
    (True, False, False)
    """
    return different > max(FEW_LEVELS, NEARLY_UNIQUE * observed)


def column_place(key: Any, names: Sequence[Any], where: str) -> int:
    """The position of a column given by its name, or by its number if that is not a name."""
    if key in names:
        return list(names).index(key)
    is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if is_number and 0 <= key < len(names) and all(isinstance(name, str) for name in names):
        return int(key)
    near = difflib.get_close_matches(str(key), list(map(str, names)), n=1)
    hint = f" Did you mean {brief(near[0])}?" if near else f" The columns are {', '.join(map(brief, names[:5]))}, ..."
    raise ValueError(f"{where} names a column {brief(key)} that X does not have.{hint}")


def group_numbers(given: Any, names: Sequence[Any]) -> Subset:
    """One number per column, equal for columns of the same group, which are chosen together."""
    numbers = np.arange(len(names))
    if given is None:
        return numbers
    if isinstance(given, Mapping):
        taken: dict[int, Any] = {}
        for group, members in given.items():
            if isinstance(members, str) or not isinstance(members, Iterable):
                raise ValueError(
                    f"feature_groups[{brief(group)}] must be a list of columns; got {brief(members)}. Put a single "
                    "column in a list."
                )
            places = [column_place(key, names, f"feature_groups[{brief(group)}]") for key in members]
            twice = next((place for place in places if place in taken), None)
            if twice is not None:
                raise ValueError(
                    f"feature_groups puts column {brief(names[twice])} in {brief(taken[twice])} and in {brief(group)}; "
                    "a column may be in one group only. Remove it from one of them."
                )
            taken |= dict.fromkeys(places, group)
            if places:
                numbers[places] = places[0]
        return numbers
    if isinstance(given, str) or len(shape_of(given)) != 1 or len(given) != len(names):
        raise ValueError(
            "feature_groups must be a dict of group: columns, or a list with one group name for each of the "
            f"{len(names)} columns (None for a column on its own); got {type(given).__name__} of shape "
            f"{shape_of(given)}."
        )
    first: dict[Any, int] = {}
    for place, group in enumerate(given):
        alone = group is None or (isinstance(group, float) and group != group)
        numbers[place] = place if alone else first.setdefault(group, place)
    return numbers
