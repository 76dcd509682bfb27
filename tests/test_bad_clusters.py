"""Wrong numbers of clusters, criteria and agreements are refused in plain words, before any work."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sparsecluster import SASClustering
from tests.helpers.bad_input import X, fit
from tests.helpers.common import refuses
from tests.helpers.methods import EVERY, quick

# In the place of a table: what looks at it fails in other words.
NOTHING = None


def some_generator():
    yield from (2, 3)


# ---------------------------------------------------------------- numbers of clusters


@pytest.mark.parametrize("most", [1, 0, -3, 2.5, "many", True, np.nan, [5]])
def test_the_largest_number_of_clusters_is_a_whole_number_of_two_or_more(most):
    with refuses(
        "max_clusters must be a whole number of at least 2", re.escape(f"got {most!r}"), "None for the default"
    ):
        fit(NOTHING, n_clusters="auto", max_clusters=most)


@pytest.mark.parametrize(("rows", "most"), [(X[:5], 6), (np.repeat(X[:4], 5, axis=0), 5), (X, 31)])
def test_there_are_no_more_clusters_to_try_than_distinct_samples(monkeypatch, rows, most):
    monkeypatch.setattr(SASClustering, "_candidates", None)
    with refuses(rf"max_clusters must be a whole number in \[2, {most - 1}\]", "distinct rows", f"got {most}"):
        fit(rows, n_clusters="auto", max_clusters=most)


@pytest.mark.parametrize("k", ["many", "Auto", 1, 0, -1, 2.5, True, None, np.array(3), some_generator()])
def test_the_number_of_clusters_is_a_whole_number_several_or_auto(k):
    with refuses("n_clusters must be a whole number of at least 2", re.escape(f"got {k!r}"), 'Use "auto" to choose it'):
        fit(NOTHING, n_clusters=k)


@pytest.mark.parametrize("none", [[], (), np.array([], int), set(), range(0)])
def test_no_number_at_all_is_refused(none):
    with refuses("n_clusters is an empty sequence", "at least one number", '"auto"'):
        fit(NOTHING, n_clusters=none)


@pytest.mark.parametrize(("several", "wrong"), [([1, 3], 1), ([2, 3.5], 3.5), ((4, "a"), "a"), ([2, True], True)])
def test_every_number_is_a_whole_number_of_two_or_more(several, wrong):
    with refuses("Every number in n_clusters must be a whole number of at least 2", re.escape(f"got {wrong!r}")):
        fit(NOTHING, n_clusters=several)


def test_every_number_is_at_most_that_of_the_samples(monkeypatch):
    monkeypatch.setattr(SASClustering, "_candidates", None)
    with refuses(r"n_clusters must be a whole number in \[2, 30\]", "got 31", "30 rows"):
        fit(X, n_clusters=[2, 31])
    with refuses("only 2 distinct rows", "n_clusters=4", "fewer clusters"):
        fit(np.repeat(X[:2], 5, axis=0), n_clusters=[2, 4])


@pytest.mark.parametrize(("word", "meant"), [("bix", "bic"), ("silhouette", None), (3, None), (None, None)])
def test_unknown_criteria_are_answered_by_the_known(word, meant):
    with refuses('cluster_criterion must be one of "auto", "bic"', re.escape(f"got {word!r}")) as refused:
        fit(NOTHING, n_clusters="auto", cluster_criterion=word)
    assert str(refused.value).endswith('Did you mean "bic"?') == (meant is not None)


# ---------------------------------------------------------------- the core, and words


@pytest.mark.parametrize("value", [0, 0.0, -0.5, 1.5, "a", True, np.nan, [0.9]])
def test_the_agreement_is_a_share_above_zero(value):
    with refuses("core_agreement must be None or a number above 0 and at most 1", re.escape(f"got {value!r}")):
        fit(NOTHING, core_agreement=value)


@pytest.mark.parametrize(
    ("parameter", "word", "meant", "others"),
    [
        ("criterion", "BIC", None, ["gap", "bic"]),
        ("criterion", "gaps", "gap", ["bic"]),
        ("compare", "al", "all", ["chosen"]),
        ("objective", "amounts", "amount", ["auto", "share"]),
        ("rule", "cor", "core", ["max", "1se"]),
    ],
)
def test_unknown_words_are_answered_by_the_known_and_the_nearest(parameter, word, meant, others):
    with refuses(f"{parameter} must be one of", f"got '{word}'") as refused:
        fit(NOTHING, **{parameter: word})
    assert all(f'"{other}"' in str(refused.value) for other in others)
    assert meant is None or str(refused.value).endswith(f'Did you mean "{meant}"?')


# ---------------------------------------------------------------- every method

WRONG = {
    "max_clusters": (1, "at least 2"),
    "n_clusters": ("many", "at least 2"),
    "cluster_criterion": ("gaps", 'Did you mean "gap"'),
    "core_agreement": (1.5, "at most 1"),
    "trim": (0.5, r"in \[0, 0.5\)"),
    "random_state": ("a", "random_state must be"),
}


@EVERY
@pytest.mark.parametrize("parameter", WRONG)
def test_every_method_refuses_them_before_it_looks_at_the_table(name, parameter):
    value, words = WRONG[parameter]
    with refuses(words):
        quick(name).set_params(**{parameter: value}).fit(NOTHING)
