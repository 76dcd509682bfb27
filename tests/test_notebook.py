"""A fitted estimator in a notebook: the result in words and bars, with scikit-learn's diagram below."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsecluster import SASClustering, load_model, save_model
from sparsecluster._utils.colors import COLORS, MISSING
from sparsecluster.datasets import many_groups
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import some
from tests.helpers.methods import CORNERS, quick
from tests.helpers.new_samples import KINDS, fit

pytestmark = pytest.mark.usefixtures("less_work")
SIZES = (20, 15, 10)


def ours(estimator):
    """What stands above scikit-learn's diagram."""
    return estimator._repr_html_().split("<details>")[0]


def bars(page):
    """Width and color of every bar, without those that show the whole scale."""
    found = re.findall(
        r"<rect width='([\d.]+)' height='12' rx='2' fill='([^']+)' fill-opacity='([\d.]+)'/></svg>", page
    )
    return [(float(width), color, float(opacity)) for width, color, opacity in found]


@pytest.fixture(scope="module")
def fitted():
    return SASClustering(3, n_features_to_select=24).fit(CORNERS)


# ---------------------------------------------------------------- what is shown


def test_the_result_is_shown_in_the_words_of_the_summary(fitted):
    page, told = ours(fitted), fitted.summary().splitlines()
    assert told[0] == "3 clusters of 20, 15, 10 samples"
    assert all(line in page for line in told if not line.startswith("highest scores"))


def test_clusters_are_bars_in_their_colors_as_long_as_they_are_large(fitted):
    widths, colors, _ = zip(*bars(ours(fitted))[:3], strict=True)
    assert colors == COLORS[:3]
    np.testing.assert_allclose(np.array(widths) / widths[0], np.array(SIZES) / SIZES[0], atol=1e-3)
    assert re.findall(r"<span>cluster (\d)</span>.*?<span>(\d+)</span>", ours(fitted)) == [
        (str(c), str(size)) for c, size in enumerate(SIZES)
    ]


def test_the_best_features_are_bars_as_long_as_their_scores(fitted):
    shown = re.findall(r"<span>(x\d+)</span>.*?<span>(0\.\d\d)</span>", ours(fitted))
    best = np.argsort(-fitted.feature_scores_, kind="stable")[:8]
    assert shown == [(f"x{a}", f"{fitted.feature_scores_[a]:.2f}") for a in best.tolist()]
    np.testing.assert_allclose(
        [width / 130 for width, _, _ in bars(ours(fitted))[3:]], fitted.feature_scores_[best], atol=1e-3
    )
    assert "and 16 more features" in ours(fitted)


def test_features_that_are_not_needed_are_faint(fitted):
    best = np.argsort(-fitted.feature_scores_, kind="stable")[:8]
    opacity = np.array([opacity for _, _, opacity in bars(ours(fitted))[3:]])
    np.testing.assert_array_equal(opacity > 0.5, fitted.core_support_[best])
    assert ("faint bars" in ours(fitted)) == (fitted.core_size_ < 8)


def test_samples_in_no_cluster_have_a_gray_bar():
    wild = np.vstack([CORNERS, CORNERS[:2] * 20])
    found = SASClustering(3, n_features_to_select=24, trim=0.1).fit(wild)
    assert (found.labels_ == -1).sum() == 2
    assert (13.0, MISSING, 1.0) in bars(ours(found))
    assert "no cluster</span>" in ours(found)


def test_of_many_clusters_the_largest_are_shown():
    found = SASClustering(25, n_features_to_select=20).fit(many_groups(n_groups=25, group_size=8, n_features=60).X)
    smaller = np.sort(np.bincount(found.labels_))[:15].sum()
    assert f"and 15 smaller clusters with {smaller} samples" in ours(found)
    assert len(bars(ours(found))) == 10 + 8


def test_the_diagram_of_scikit_learn_is_below_and_closed(fitted):
    above, below = fitted._repr_html_().split("<details>")[0], fitted._repr_html_().split("<details>", 1)[1]
    assert "sk-top-container" not in above
    assert "sk-top-container" in below
    assert below.startswith("<summary>Parameters of SASClustering</summary>")
    assert below.endswith("</details>")


# ---------------------------------------------------------------- where it is shown


def test_what_is_not_fitted_is_shown_by_scikit_learn_alone(fitted):
    for estimator in (SASClustering(3), clone(fitted)):
        assert "sk-top-container" in estimator._repr_html_()
        assert "sparsecluster-fit" not in estimator._repr_html_()


def test_who_wants_text_gets_text(fitted):
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
    assert fitted._repr_mimebundle_()["text/html"].startswith("<style>.sparsecluster-fit")


def test_a_pipeline_shows_its_diagram():
    pipeline = make_pipeline(StandardScaler(), SASClustering(3, n_features_to_select=24)).fit(CORNERS)
    assert "SASClustering" in pipeline._repr_html_()
    assert "sparsecluster-fit" in pipeline[-1]._repr_html_()


# ---------------------------------------------------------------- whatever was fitted


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_every_method_is_shown_small_and_without_a_script(name):
    page = ours(quick(name).fit(CORNERS))
    assert "3 clusters of" in page
    assert len(page.encode()) < 20_000
    assert "<script" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_is_shown(kind):
    table, _, parameters = KINDS[kind]()
    assert "3 clusters of 16, 12, 8 samples" in ours(fit(table, **parameters))


def test_one_feature_is_shown():
    assert len(bars(ours(SASClustering(2).fit(CORNERS[:, :1])))) == 2 + 1


def test_the_fit_of_a_dask_collection_is_shown_without_computing_its_labels():
    da = pytest.importorskip("dask.array")
    rows = np.tile(CORNERS, (40, 1)) + np.random.default_rng(0).normal(scale=0.01, size=(40 * len(CORNERS), 40))
    X = da.from_array(rows, chunks=(300, -1))
    found = SASClustering(3, n_features_to_select=24, subsample=500).fit(X[X[:, 0] > -1e9])
    assert hasattr(found.labels_, "dask")
    assert "3 clusters of 800, 600, 400 samples" in ours(found)
    assert hasattr(found.labels_, "dask")


def test_a_saved_model_is_shown_as_the_fit_was(fitted, tmp_path):
    save_model(fitted, tmp_path / "model.json")
    assert ours(load_model(tmp_path / "model.json")) == ours(fitted)


def test_names_are_only_text_and_cannot_make_the_page_large():
    names = [f"<script>alert({a})</script>" + "&" * 1000 for a in range(40)]
    page = ours(SASClustering(3, n_features_to_select=24).fit(pd.DataFrame(CORNERS, columns=names)))
    assert "&lt;script&gt;alert(" in page
    assert "<script" not in page
    assert len(page) < 20_000
