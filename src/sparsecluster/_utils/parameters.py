"""Checks of the parameters that several estimators have in common."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .checks import check_bool, check_choice, check_count, check_jobs, is_auto
from .text import brief

# The smallest whole number that is allowed for each parameter. Those in OPTIONAL may also be None.
COUNTS = {"n_alternatives": 0, "n_permutations": 1, "n_bootstraps": 1, "max_iter": 1, "step": 1, "subsample": 1}
OPTIONAL = ("step", "subsample")
CHOICES = {
    "gap": ["between", "within"],
    "null": ["refit", "fixed"],
    "rule": ["max", "1se"],
    "compare": ["chosen", "all"],
    "objective": ["auto", "share", "amount"],
}
LARGEST_SEED = 2**32 - 1
FLAGS = ("standardize", "consensus", "adaptive")


def check_parameters(given: Mapping[str, Any]) -> None:
    """Check the parameters that do not depend on the data and mean the same in every estimator."""
    for name, low in COUNTS.items():
        if name in given and not (name in OPTIONAL and given[name] is None):
            check_count(name, given[name], low)
    for name, words in CHOICES.items():
        if name in given:
            # Only a method that selects a number of features can select the core of them.
            more = ["core"] if name == "rule" and "n_features_to_select" in given else []
            check_choice(name, given[name], [*words, *more])
    for name in FLAGS:
        if name in given:
            check_bool(name, given[name])
    if not is_auto(given.get("verbose", "auto")):
        check_bool("verbose", given["verbose"], ' or "auto"')
    check_jobs(given.get("n_jobs"))
    check_seed(given.get("random_state"))


def check_seed(random_state: Any) -> None:
    """Check a seed, a RandomState or None."""
    if isinstance(random_state, Integral) and 0 <= int(random_state) <= LARGEST_SEED:
        return
    try:
        check_random_state(random_state)
    except (ValueError, TypeError):
        raise ValueError(
            f"random_state must be a whole number in [0, {LARGEST_SEED}], a numpy.random.RandomState or None; got "
            f"{brief(random_state)}."
        ) from None


def rng_of(random_state: Any) -> np.random.Generator:
    """Return a generator for a seed, a RandomState or None."""
    if isinstance(random_state, Integral):
        return np.random.default_rng(_first_number(int(random_state)))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


@lru_cache
def _first_number(seed: int) -> int:
    """The first number of a RandomState, which takes long to make: every fit asks several times for the same one."""
    return int(np.random.RandomState(seed).randint(2**31))
