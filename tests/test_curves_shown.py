"""Tuning curves as pictures: axes in full words, the chosen value, and what was required."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from sparsecluster import SASClustering, SparseKMeans
from sparsecluster._search.curve import TuningCurve
from sparsecluster.datasets import shifted_groups

mpl.use("Agg")

X = shifted_groups(mu=2.0, n_features=60, n_useful=12, group_size=15, seed=0).X


@pytest.fixture(autouse=True)
def closed_after():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    return SASClustering([2, 3, 4, 5], criterion="bic").fit(X)


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_curve_over_the_number_of_clusters_has_whole_numbers_and_a_mark_at_each(fitted):
    ax = fitted.n_clusters_curve_.plot()
    ax.figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of clusters k", "Bayesian information criterion")
    assert ax.get_xscale() == "linear"
    assert [tick % 1 for tick in ax.get_xticks()] == [0.0] * len(ax.get_xticks())
    line = ax.lines[0]
    assert line.get_marker() == "o"
    assert line.get_xdata().tolist() == [2, 3, 4, 5]
    assert words(ax) == ["chosen: k = 3"]


def test_the_curve_of_the_core_shows_the_agreement_that_is_required(fitted):
    curve = fitted.core_curve_
    ax = curve.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features m", "agreement (adjusted Rand index)")
    assert ax.get_xscale() == "log"
    assert words(ax) == [f"chosen: m = {fitted.core_size_}", "required: 0.9"]
    required = ax.lines[-1]
    assert set(required.get_ydata()) == {0.9}
    # The chosen number of features is the first above the line.
    assert curve.score[curve.place] >= curve.required
    assert (curve.score[: curve.place] < curve.required).all()


def test_the_required_agreement_is_the_one_that_was_asked_for():
    strict = SASClustering(3, n_features_to_select=12, core_agreement=1.0).fit(X)
    assert strict.core_curve_.required == 1.0
    np.testing.assert_array_equal(strict.core_curve_.details["enough"], strict.core_curve_.score >= 1.0)


def test_curves_over_the_number_of_features_say_which_criterion_was_used(fitted):
    ax = fitted.bic_curve_.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features s", "Bayesian information criterion")
    assert ax.lines[0].get_marker() == "None"
    gap = SparseKMeans(3, n_permutations=2).fit(X).gap_curve_
    assert gap.plot().get_ylabel() == "gap statistic"
    assert gap.required is None


def test_a_parameter_and_a_criterion_without_words_are_shown_by_name():
    curve = TuningCurve("penalty", np.array([0.1, 1.0]), "instability", np.array([0.2, 0.1]), 1.0)
    ax = curve.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("penalty", "instability")
