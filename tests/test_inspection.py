"""The pictures: every display draws every kind of data, without a warning, with names as they are."""

from __future__ import annotations

import warnings
from functools import cache

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from sparsecluster import (
    COSA,
    IFPCA,
    PlainClustering,
    SASClustering,
    SparseHierarchical,
    SparseKMeans,
    compare_methods,
)
from sparsecluster.inspection import (
    Agreement,
    Contributions,
    Distributions,
    FeatureScores,
    Heatmap,
    History,
    Projection,
)
from sparsecluster.inspection._style import cluster_names, plain
from sparsecluster.inspection.compare import agreement_matrix
from tests.helpers.cases import in_turn
from tests.helpers.inspection import TABLES, TRUTH, far_apart, mixed_table

mpl.use("Agg")

OF_DATA = (Heatmap, Projection, Distributions, Contributions)
OF_FIT = (FeatureScores, History)
HOSTILE = ["cost in $ or $", "<script>alert(1)</script>", r"\frac{1}{0} $x^{", "_hidden", "tab\tline\n", "%d {x} ü"]


@pytest.fixture(autouse=True)
def closed_after():
    yield
    plt.close("all")


# Tables of the same content in other containers.
ELSEWHERE = ("float32", "polars", "objects")


@cache
def fitted(kind):
    """A fit to a table of some kind, which many tests draw and none changes."""
    X = TABLES[kind]()
    # What a fit warns of is not what a picture does.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SASClustering(n_clusters=3, n_features_to_select=min(4, X.shape[1] - 1)).fit(X), X


def make(display, estimator, X):
    return display.from_estimator(estimator) if display in OF_FIT else display.from_estimator(estimator, X)


def drawn(axes):
    """Draw for good, and give all axes."""
    for figure in {ax.figure for ax in np.ravel(axes)}:
        figure.canvas.draw()
    return list(np.ravel(axes))


def texts(axes):
    """All words in the figure, as they are drawn."""
    from matplotlib.text import Text

    found = np.ravel(axes)[0].figure.findobj(Text)
    return "\n".join(each.get_text().replace(r"\$", "$") for each in found if each.get_visible())


# ---------------------------------------------------------------- every display, every kind of data


@pytest.mark.usefixtures("strict")
@in_turn(display=OF_FIT + OF_DATA, kind=[kind for kind in TABLES if kind not in ELSEWHERE])
def test_every_display_draws_every_kind_of_data(display, kind):
    shown = make(display, *fitted(kind))
    frame = shown.frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    axes = drawn(shown.plot())
    assert all(isinstance(ax, mpl.axes.Axes) for ax in axes)
    # With an axis label on each, by words.
    for ax in axes:
        assert ax.get_xlabel()
        assert ax.get_ylabel() or display in (Heatmap, Contributions)


def in_two_containers(kind):
    """The same table twice."""
    if kind == "float32":
        return far_apart().astype(np.float32).astype(np.float64), far_apart().astype(np.float32)
    if kind == "objects":
        objects = TABLES[kind]()
        return pd.DataFrame(objects, columns=["x0", "x1"]).infer_objects(), objects
    # Categories lose their order on the way to polars.
    mixed = mixed_table().drop(columns="grade")
    return mixed, pl.from_pandas(mixed)


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_every_display_shows_the_same_of_a_table_in_another_container(kind):
    tolerance = 1e-4 if kind == "float32" else 1e-12
    fits = [
        (SASClustering(n_clusters=3, n_features_to_select=min(4, X.shape[1] - 1)).fit(X), X)
        for X in in_two_containers(kind)
    ]
    for display in OF_FIT + OF_DATA:
        frames = [make(display, *each).frame() for each in fits]
        pd.testing.assert_frame_equal(*frames, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("display", OF_FIT + OF_DATA)
@pytest.mark.usefixtures("strict")
def test_every_display_draws_on_the_axes_given(display):
    X = far_apart()
    shown = make(display, SASClustering(n_clusters=3, n_features_to_select=4).fit(X), X)
    figure, axes = plt.subplots(2, 3)
    if display in (Projection, Distributions, Contributions):
        used = shown.plot(axes=axes)
        assert [ax in axes.ravel() for ax in used] == [True] * len(used)
    else:
        assert shown.plot(ax=axes[1, 1]) is axes[1, 1]
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()


def test_too_few_axes_are_refused():
    X = far_apart()
    shown = Projection.from_estimator(SASClustering(n_clusters=3, n_features_to_select=4).fit(X), X)
    with pytest.raises(ValueError, match=r"axes must have at least 2 elements.*got 1"):
        shown.plot(axes=[plt.subplots()[1]])


@pytest.mark.parametrize("display", OF_FIT + OF_DATA)
def test_an_estimator_must_be_fitted(display):
    with pytest.raises(NotFittedError):
        make(display, SASClustering(), far_apart())


METHODS = [
    SparseKMeans(n_clusters=3, l1_bound=2.0),
    SparseHierarchical(n_clusters=3, l1_bound=2.0),
    COSA(n_clusters=3),
    PlainClustering(n_clusters=3),
    IFPCA(n_clusters=3),
]


@pytest.mark.parametrize("estimator", METHODS, ids=lambda each: type(each).__name__)
def test_other_methods_have_displays_too(estimator):
    X = far_apart(2)
    estimator = estimator.fit(X)
    for display in OF_DATA:
        assert len(make(display, estimator, X).frame()) > 0
    # Weights are drawn here only; the other figures do not depend on the method.
    drawn(FeatureScores.from_estimator(estimator).plot())
    if hasattr(estimator, "history_"):
        drawn(History.from_estimator(estimator).plot())
    else:
        with pytest.raises(ValueError, match=f"{type(estimator).__name__} keeps no history"):
            History.from_estimator(estimator)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("display", OF_DATA)
def test_data_that_are_not_those_of_the_fit_are_refused(display):
    X = far_apart()
    estimator = SASClustering(n_clusters=3, n_features_to_select=4).fit(X)
    with pytest.raises(ValueError, match=r"must be the data that fit was given, with 42 samples; got 41"):
        display.from_estimator(estimator, X[1:])
    with pytest.raises(ValueError, match="features"):
        display.from_estimator(estimator, X[:, 1:])


@pytest.mark.parametrize("display", OF_DATA)
def test_dissimilarities_have_no_columns_to_draw(display):
    table = far_apart(1)
    matrices = np.abs(table.T[:, :, None] - table.T[:, None, :])
    estimator = SASClustering(n_clusters=3, n_features_to_select=2, metric="precomputed").fit(matrices)
    with pytest.raises(ValueError, match="precomputed dissimilarities, which have no columns"):
        display.from_estimator(estimator, matrices)
    drawn(FeatureScores.from_estimator(estimator).plot())


@pytest.mark.parametrize("features", ["number 0", [], ["nonsense"], [99]])
def test_features_that_are_not_there_are_refused(features):
    X = mixed_table()
    with pytest.raises(ValueError, match="features"):
        Distributions.from_estimator(SASClustering(n_clusters=3, n_features_to_select=4).fit(X), X, features)


@pytest.mark.parametrize("limit", ["max_samples", "max_features"])
def test_limits_are_whole_numbers(limit):
    X = far_apart()
    with pytest.raises(ValueError, match=limit):
        Heatmap.from_estimator(SASClustering(n_clusters=3, n_features_to_select=4).fit(X), X, **{limit: 0})


# ---------------------------------------------------------------- names


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("display", [FeatureScores, Heatmap, Distributions, Contributions])
def test_hostile_names_are_drawn_as_they_are(display):
    X = pd.DataFrame(far_apart(2), columns=HOSTILE)
    estimator = SASClustering(n_clusters=3, n_features_to_select=5).fit(X)
    shown = make(display, estimator, X)
    axes = drawn(shown.plot())
    words = texts(axes)
    chosen = [name for name, is_chosen in zip(HOSTILE, estimator.support_, strict=True) if is_chosen]
    for name in chosen:
        assert " ".join(name.split())[:20] in words
    # Nothing is read as mathematics: no text has an even number of dollars that are not escaped.
    for each in np.ravel(axes)[0].figure.findobj(mpl.text.Text):
        assert not mpl.cbook.is_math_text(each.get_text()) or each.get_text().startswith("$\\mathdefault")


@pytest.mark.usefixtures("strict")
def test_hostile_levels_and_labelings_are_drawn_as_they_are():
    X = pd.DataFrame({"a": np.array(["$x^$", "<b>", "_y"], dtype=object)[TRUTH], "b": far_apart()[:, 0]})
    estimator = SASClustering(n_clusters=3, n_features_to_select=2).fit(X)
    assert "$x^$" in texts(drawn(Distributions.from_estimator(estimator, X).plot()))
    assert "$x^$" in texts(drawn(Contributions.from_estimator(estimator, X).plot()))
    assert "$\\frac$" in texts(drawn(Agreement.from_labels({"$\\frac$": [0, 1], "_b": [0, 0]}).plot()))


def test_names_are_cut_and_on_one_line():
    assert plain("a" * 100) == "a" * 23 + "…"
    assert plain("a\x00b\n c") == r"a\x00b c"
    assert plain(True) == "True"


@pytest.mark.parametrize("display", [Heatmap, Projection, Distributions])
def test_the_legend_says_how_large_the_clusters_are(display):
    X = far_apart()
    shown = display.from_estimator(SASClustering(n_clusters=3, n_features_to_select=4).fit(X), X)
    words = texts(shown.plot())
    assert all(f"cluster {c} ({size} samples)" in words for c, size in enumerate([20, 14, 8]))


# ---------------------------------------------------------------- many


@pytest.mark.usefixtures("strict")
def test_twelve_clusters_are_drawn():
    truth = np.repeat(np.arange(12), 6)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(40.0 * rng.normal(size=(12, 2))[truth] + rng.normal(size=(72, 2)), columns=["x", "y"])
    X["level"] = np.array(list("abcdefghijkl"), dtype=object)[truth]
    estimator = SASClustering(n_clusters=12, n_features_to_select=3).fit(X)
    for display in OF_DATA:
        drawn(display.from_estimator(estimator, X).plot())


@pytest.fixture(scope="module")
def wide():
    """Twenty thousand features."""
    X = np.hstack([far_apart(0), np.random.default_rng(1).normal(size=(42, 19_996)).astype(np.float32)])
    return SASClustering(n_clusters=3, n_features_to_select=4, n_init=1).fit(X), X


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("display", OF_FIT + OF_DATA)
def test_twenty_thousand_features_are_drawn(wide, display):
    drawn(make(display, *wide).plot())


def test_many_features_are_on_a_log_scale_with_few_names(wide):
    ax = FeatureScores.from_estimator(wide[0]).plot()
    assert ax.get_xscale() == "log"
    (listed,) = [each.get_text() for each in ax.texts]
    assert len(listed.splitlines()) == 11
    assert "not chosen (19,996)" in texts(ax)
    assert "cut after 4 features" in texts(ax)


def test_few_features_all_have_their_names():
    X = mixed_table()
    ax = FeatureScores.from_estimator(SASClustering(n_clusters=3, n_features_to_select=4).fit(X)).plot()
    assert {tick.get_text() for tick in ax.get_xticklabels()} == set(X.columns)
    assert ax.get_xscale() == "linear"


def test_a_large_heatmap_says_what_it_leaves_out():
    truth = np.repeat([0, 1], [900, 300])
    rng = np.random.default_rng(0)
    X = 3.0 * truth[:, None] + rng.normal(size=(1200, 250))
    estimator = SASClustering(n_clusters=2, n_features_to_select=240, n_init=1).fit(X)
    shown = Heatmap.from_estimator(estimator, X)
    assert shown.values.shape == (500, 200)
    assert np.bincount(shown.labels).tolist() == [375, 125]
    title = shown.plot().get_title(loc="left")
    assert "500 of 1,200 samples" in title
    assert "200 of 240 chosen features" in title


# ---------------------------------------------------------------- comparison


def test_a_comparison_draws_the_agreement():
    X = far_apart()
    found = compare_methods(X, 3, methods=["sas", "ward"], repeats=1)
    pd.testing.assert_frame_equal(
        found.agreement(), Agreement.from_labels({each.method: each.labels[0] for each in found.results}).frame()
    )
    ax = drawn(found.plot())[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["sas", "ward"]
    np.testing.assert_array_equal(agreement_matrix([[0, 1], [1, 0]]), np.ones((2, 2)))


def test_nothing_to_agree_on_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Agreement.from_labels({})
    with pytest.raises(ValueError, match="no labeling"):
        Agreement((), np.zeros((0, 0))).plot()
    with pytest.raises(ValueError, match="same length"):
        Agreement.from_labels({"a": [0, 1], "b": [0]})


def test_one_sample_is_one_sample():
    assert list(cluster_names([2, 1]).values()) == ["cluster 0 (2 samples)", "cluster 1 (1 sample)"]
