"""Samples in no cluster: shown as a gray group of their own where samples are shown, and no part of any description."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sparsecluster import SASClustering, adjusted_rand_index, compare_methods
from sparsecluster.inspection import (
    Agreement,
    Contributions,
    Distributions,
    FeatureScores,
    Heatmap,
    History,
    Projection,
    _components,
    inspect,
)
from sparsecluster.inspection._style import MISSING
from tests.helpers.inspection import TRUTH, Result, far_apart, mixed_table, named, sparse_table

mpl.use("Agg")

# Three samples that are nowhere, in the middle of the table.
N = TRUTH.size + 3
OUTSIDE = np.isin(np.arange(N), [5, 21, 40])
LABELS = np.full(N, -1)
LABELS[~OUTSIDE] = TRUTH
CHOSEN = np.arange(10) < 4


@pytest.fixture(autouse=True)
def closed_after():
    yield
    plt.close("all")


def numbers(far=40.0):
    table = np.random.default_rng(7).normal(size=(N, 10)) * far + far
    table[~OUTSIDE] = far_apart()
    return table


def of_numbers(table, labels, **more):
    return Result(labels, CHOSEN, np.linspace(0.9, 0.1, 10), **more)


def mixed():
    table = mixed_table()
    more = table.iloc[:3].assign(town="far away", color="purple")
    together = pd.concat([table, more]).iloc[np.argsort(np.r_[np.flatnonzero(~OUTSIDE), np.flatnonzero(OUTSIDE)])]
    return together.reset_index(drop=True)


def sparse():
    more = sp.csr_array(np.random.default_rng(3).poisson(30, (3, 40)).astype(float))
    order = np.argsort(np.r_[np.flatnonzero(~OUTSIDE), np.flatnonzero(OUTSIDE)])
    return sp.vstack([sp.csr_array(sparse_table()), more], format="csr")[order]


def of_sparse(table, labels):
    return Result(labels, np.arange(40) < 9, np.linspace(0.9, 0.1, 40))


TABLES = {"numbers": (numbers, of_numbers), "words": (mixed, named), "sparse": (sparse, of_sparse)}


def some_rows(table, rows):
    return table.loc[rows] if hasattr(table, "loc") else table[rows]


@pytest.fixture(params=TABLES)
def with_and_without(request):
    """Views of one clustering: with the samples in no cluster, and of a table from which these were deleted."""
    make, fitted = TABLES[request.param]
    table = make()
    less = some_rows(table, ~OUTSIDE)
    return inspect(fitted(table, LABELS), table), inspect(fitted(less, TRUTH), less)


# ---------------------------------------------------------------- no part of any description


@pytest.mark.parametrize("display", [Contributions, Distributions])
def test_clusters_are_described_as_if_the_others_were_not_in_the_table(with_and_without, display):
    one, other = (display.from_view(view) for view in with_and_without)
    # Levels that only the others have are known, but no sample of a cluster has them.
    frames = [shown.frame() for shown in (one, other)]
    seen = [frame[frame["count"] > 0] if display is Distributions else frame for frame in frames]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in seen))
    assert one.sizes.tolist() == other.sizes.tolist() == [20, 14, 8]


def test_the_clusters_lie_in_the_projection_where_they_lie_without_the_others(with_and_without):
    one, other = (Projection.from_view(view) for view in with_and_without)
    for name, seen in one.panels.items():
        np.testing.assert_allclose(seen.places[~OUTSIDE], other.panels[name].places, atol=1e-8)
        np.testing.assert_allclose(seen.shares, other.panels[name].shares)
    assert one.frame()["cluster"].tolist() == LABELS.tolist()


@pytest.mark.parametrize("standardize", [True, False])
def test_the_others_are_projected_onto_the_axes_of_the_clusters(standardize):
    table = numbers()
    shown = Projection.from_estimator(of_numbers(table, LABELS, standardize=standardize), table)
    for seen, own in ((shown.chosen, table[:, CHOSEN]), (shown.every, table)):
        inside = own[~OUTSIDE]
        scale = inside.std(axis=0) if standardize else 1.0
        axes = np.linalg.svd((inside - inside.mean(axis=0)) / scale)[2][:2]
        by_hand = ((own - inside.mean(axis=0)) / scale) @ axes.T
        np.testing.assert_allclose(np.abs(seen.places), np.abs(by_hand), atol=1e-8)


def test_sparse_and_dense_tables_have_the_same_projection(monkeypatch):
    table = sparse()
    dense = Projection.from_estimator(of_sparse(table, LABELS), table)
    monkeypatch.setattr(_components, "DENSE_VALUES", 0)
    kept = Projection.from_estimator(of_sparse(table, LABELS), table)
    np.testing.assert_allclose(kept.frame(), dense.frame(), rtol=1e-5, atol=1e-6)


def test_in_the_heatmap_they_come_last_and_change_no_color_of_the_others(with_and_without):
    one, other = (Heatmap.from_view(view) for view in with_and_without)
    assert one.labels.tolist() == sorted(TRUTH) + [-1] * 3
    assert set(one.samples[-3:]) == set(np.flatnonzero(OUTSIDE))
    places = {name: at for at, name in enumerate(one.columns)}
    own = one.values[:-3, [places[name] for name in other.columns]]
    np.testing.assert_allclose(own, other.values, atol=1e-8)
    assert one.n_outliers == 3
    assert one.title.startswith("45 samples")


def test_when_only_a_part_of_the_samples_is_drawn_some_of_the_others_are_drawn_too():
    table = numbers()
    shown = Heatmap.from_estimator(of_numbers(table, LABELS), table, max_samples=15)
    assert np.count_nonzero(shown.labels == -1) == 1
    assert "15 of 45 samples" in shown.title


# ---------------------------------------------------------------- where they are shown


@pytest.mark.parametrize("display", [Projection, Heatmap])
@pytest.mark.usefixtures("strict")
def test_they_are_a_gray_group_of_their_own(display):
    table = numbers()
    axes = np.ravel(display.from_estimator(of_numbers(table, LABELS), table).plot())
    figure = axes[0].figure
    figure.canvas.draw()
    (legend,) = figure.legends
    entries = dict(zip([text.get_text() for text in legend.get_texts()], legend.legend_handles, strict=True))
    assert [*entries] == [
        *(f"cluster {c} ({n} samples)" for c, n in enumerate([20, 14, 8])),
        "no cluster (3 samples)",
    ]
    last = entries["no cluster (3 samples)"]
    color = last.get_color() if display is Projection else last.get_facecolor()
    assert mpl.colors.to_hex(color) == MISSING


@pytest.mark.parametrize("display", [Contributions, Distributions, FeatureScores])
def test_pictures_of_clusters_and_features_do_not_mention_them(display):
    table = numbers()
    axes = np.ravel(display.from_estimator(of_numbers(table, LABELS), table).plot())
    words = " ".join(text.get_text() for text in axes[0].figure.findobj(mpl.text.Text))
    assert "no cluster" not in words
    if display is not FeatureScores:
        assert "cluster 2 (8 samples)" in words
        assert "cluster 3" not in words


@pytest.mark.parametrize("far", [40.0, 1e9, 1e150, 1e300])
@pytest.mark.usefixtures("strict")
def test_however_far_away_they_are_the_clusters_can_be_seen(far):
    table = numbers(far)
    view = inspect(of_numbers(table, LABELS), table)
    axes = Projection.from_view(view).plot()
    for ax, seen in zip(axes, Projection.from_view(view).panels.values(), strict=True):
        width = np.ptp(seen.places[~OUTSIDE, 0])
        assert np.isfinite(seen.places).all()
        assert np.ptp(ax.get_xlim()) < 2 * width
    assert np.isfinite(Heatmap.from_view(view).values).all()
    Heatmap.from_view(view).plot()


# ---------------------------------------------------------------- a real fit


@pytest.fixture(scope="module", params=["numbers", "sparse", "matrices"])
def trimmed(request):
    table = numbers()
    given = {
        "numbers": table,
        "sparse": sp.csr_array(table),
        "matrices": np.abs(table.T[:, :, None] - table.T[:, None]),
    }
    X = given[request.param]
    metric = "precomputed" if request.param == "matrices" else "auto"
    return SASClustering(3, n_features_to_select=4, trim=0.1, metric=metric).fit(X), X


def test_a_view_of_a_trimmed_fit_counts_only_the_samples_in_clusters(trimmed):
    estimator, X = trimmed
    view = inspect(estimator, X)
    np.testing.assert_array_equal(view.outliers, estimator.labels_ == -1)
    assert view.n_outliers == 3
    assert view.sizes.tolist() == [20, 14, 8]
    assert view.n_clusters == 3
    np.testing.assert_array_equal(view.outlier_scores, estimator.outlier_scores_)
    assert "42 samples in 3 clusters and 3 in none" in repr(view)
    assert view.clustered.labels.tolist() == estimator.labels_[~OUTSIDE].tolist()


def test_the_nearest_cluster_of_a_sample_in_none_is_its_second_best(trimmed):
    estimator, X = trimmed
    placed = inspect(estimator, X).places_of_samples()
    np.testing.assert_array_equal(placed.second[OUTSIDE], estimator.predict(X)[OUTSIDE])
    assert np.isnan(placed.silhouette[OUTSIDE]).all()
    assert placed.distance[OUTSIDE].min() > placed.distance[~OUTSIDE].max()
    inside = inspect(estimator, X).clustered.places_of_samples()
    for name in ("distance", "second", "silhouette"):
        np.testing.assert_array_equal(getattr(inside, name), getattr(placed, name)[~OUTSIDE])


def test_the_history_of_a_trimmed_fit_is_drawn(trimmed):
    assert len(History.from_estimator(trimmed[0]).frame()) == trimmed[0].n_iter_


# ---------------------------------------------------------------- comparisons


def test_labelings_are_compared_on_the_samples_that_both_put_in_a_cluster():
    rng = np.random.default_rng(0)
    one, other, third = rng.integers(0, 3, (3, 40))
    one[:5] = other[3:9] = -1
    frame = Agreement.from_labels({"one": one, "other": other, "third": third}).frame()
    both = np.arange(40) >= 9
    assert frame.loc["one", "other"] == adjusted_rand_index(one[both], other[both])
    assert frame.loc["one", "third"] == adjusted_rand_index(one[5:], third[5:])
    words = Agreement.from_labels({"one": one, "words": np.array(list("abcd") * 10)}).frame()
    assert words.loc["one", "words"] == adjusted_rand_index(one[5:], (list("abcd") * 10)[5:])


def test_methods_that_leave_samples_out_are_rated_by_the_others():
    truth = np.where(OUTSIDE, 0, LABELS)
    found = compare_methods(numbers(), 3, methods=["kmeans++"], truth=truth, repeats=2, trim=0.1)
    assert [np.flatnonzero(labels == -1).tolist() for labels in found.results[0].labels] == [[5, 21, 40]] * 2
    row = found.frame().loc["kmeans++"]
    assert (row["stability"], row["ari"], row["error"]) == (1.0, 1.0, 0.0)


def test_methods_may_choose_the_number_of_clusters():
    found = compare_methods(far_apart(), [2, 3, 4], methods=["kmeans++", "if-pca"], repeats=1).frame()
    assert found.loc["kmeans++", "clusters"] == 3
    assert "clusters" not in compare_methods(far_apart(), 3, methods=["kmeans++"], repeats=1).frame()
