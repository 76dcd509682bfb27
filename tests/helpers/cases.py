"""Cases of a test, of which those that only repeat a claim are left to the slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def some(cases: Iterable[Any], every: int = 3, first: int = 0) -> list[Any]:
    """All of the cases, of which one in `every` is not slow: for claims that hold for each by the same code.

    Tests of the same list that begin with another one leave none of its cases to the slow tests alone.
    """
    return [
        pytest.param(case, marks=[] if place % every == first else pytest.mark.slow) for place, case in enumerate(cases)
    ]


def in_turn(**choices: Iterable[Any]) -> pytest.MarkDecorator:
    """All combinations of the choices. Each choice is in one that is not slow, with the others in turn beside it."""
    lists = [list(each) for each in choices.values()]
    most = max(map(len, lists))
    quick = {tuple(turn % len(each) for each in lists) for turn in range(most)}
    cases = []
    for places in product(*(range(len(each)) for each in lists)):
        values = [each[place] for each, place in zip(lists, places, strict=True)]
        cases.append(pytest.param(*values, marks=[] if places in quick else pytest.mark.slow))
    return pytest.mark.parametrize(tuple(choices), cases)
