"""Every method of the registry: a scikit-learn estimator that keeps the promises of the registry and of its docs."""

import inspect
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsecluster
from sparsecluster.methods._base import SparseClusterer
from sparsecluster.methods.registry import METHODS, make_method
from tests.helpers.common import refuses
from tests.helpers.methods import CORNERS, EVERY, HARD, USEFUL, corners, fitted, quick, those

pytestmark = pytest.mark.usefixtures("less_work")

# ---------------------------------------------------------------- scikit-learn


# These checks are of a class, whatever its parameters; the first method of a class stands for it.
CLASSES = list({type(quick(name)): name for name in reversed(METHODS)}.values())
ONE_CLUSTER = "sets n_clusters=1, which is refused; runs with two clusters below"
SETS_ONE_CLUSTER = (
    "check_dont_overwrite_parameters",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
)


# scikit-learn takes whatever has probabilities and accepts sparse matrices for a classifier of four classes.
FOR_CLASSIFIERS = dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), "is no classifier")


def expected_failures(estimator):
    is_soft_on_sparse = hasattr(estimator, "predict_proba") and get_tags(estimator).input_tags.sparse
    return dict.fromkeys(SETS_ONE_CLUSTER, ONE_CLUSTER) | (FOR_CLASSIFIERS if is_soft_on_sparse else {})


CHECKS = parametrize_with_checks([quick(name) for name in CLASSES], expected_failed_checks=expected_failures)


def every_fifth(cases):
    """The checks of scikit-learn. Each is quick for every fifth class, and slow for the others."""
    turns = Counter({type(quick(name)): place for place, name in enumerate(CLASSES)})
    for case in cases:
        estimator, check = getattr(case, "values", case)
        turns[type(estimator)] += 1
        # What is known to fail is not run: it would say nothing, and take longer than what passes.
        marks = [pytest.mark.xfail(run=False, **mark.kwargs) for mark in getattr(case, "marks", [])]
        marks += [pytest.mark.slow] if turns[type(estimator)] % 5 else []
        yield pytest.param(estimator, check, marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(every_fifth(CHECKS.args[1])), **CHECKS.kwargs)
def test_every_method_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def always_two_clusters(name):
    """The method, which makes two clusters whatever it is told."""
    made = quick(name)
    two = {"n_clusters": property(lambda self: 2, lambda self, value: None)}
    return type(f"Two{type(made).__name__}", (type(made),), two)(**made.get_params())


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("check", SETS_ONE_CLUSTER)
@pytest.mark.filterwarnings("ignore:k >= N for N [*] N square matrix:RuntimeWarning")
def test_checks_that_ask_for_one_cluster_pass_with_two(name, check):
    getattr(estimator_checks, check)(type(quick(name)).__name__, always_two_clusters(name))


# ---------------------------------------------------------------- the registry


@EVERY
def test_every_method_has_a_title_and_a_paper_with_its_year(name):
    method = METHODS[name]
    assert method.title.strip()
    assert re.search(r"\w+.*\((1[89]|20)\d\d\), \w+", method.paper)
    assert method.takes in ("numbers", "coordinates", "anything")


def test_titles_tell_the_methods_apart():
    assert len({method.title for method in METHODS.values()}) == len(METHODS)


@EVERY
def test_a_method_is_made_with_the_clusters_and_parameters_asked_for(name):
    made = make_method(name, 4, random_state=7)
    assert isinstance(made, SparseClusterer)
    assert (made.n_clusters, made.random_state) == (4, 7)
    with pytest.raises(TypeError, match="color"):
        make_method(name, 4, color="red")


@pytest.mark.parametrize(
    ("word", "meant"), [("sparse-kmean", "sparse-kmeans"), ("Cosa", "cosa"), ("ifpca", "if-pca"), ("zzz", None)]
)
def test_unknown_methods_are_answered_by_the_known_and_the_nearest(word, meant):
    with refuses(f"There is no method '{word}'", "available methods are sas, sparse-kmeans") as refused:
        make_method(word, 3)
    assert all(name in str(refused.value) for name in METHODS)
    assert str(refused.value).endswith(f"Did you mean '{meant}'?") == (meant is not None)


def test_every_public_estimator_is_in_the_registry():
    public = [getattr(sparsecluster, name) for name in sparsecluster.__all__]
    estimators = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, SparseClusterer)}
    assert estimators == {type(make_method(name, 3)) for name in METHODS}


# ---------------------------------------------------------------- promises


@EVERY
def test_it_places_new_samples_if_the_registry_says_so(name):
    found = fitted(name)
    assert hasattr(found, "predict") == hasattr(found, "score") == METHODS[name].predicts
    if METHODS[name].predicts:
        new, truth, _ = corners(seed=1)
        assert set(found.predict(np.random.default_rng(0).normal(size=(50, 40)))) <= {0, 1, 2}
        # The groups of these are the same, so most new samples go where they belong.
        assert np.mean(found.predict(new) == truth) > 0.9
        assert found.score(new) > found.score(np.random.default_rng(0).permuted(new, axis=0))


@pytest.mark.parametrize("name", those(selects=False))
@pytest.mark.parametrize("table", [CORNERS, HARD, HARD[:, :1], HARD > 0], ids=["clear", "hard", "one", "binary"])
def test_a_method_that_does_not_select_uses_every_column_that_is_not_constant(name, table):
    with_constants = np.insert(table.astype(float), 1, 3.0, axis=1)
    with pytest.warns(UserWarning, match="1 column is constant"):
        found = quick(name).fit(with_constants)
    assert found.support_.tolist() == [a != 1 for a in range(table.shape[1] + 1)]


# Sparse K-means and K-medoids gain from every feature on groups so clear, each weighed by how much it helps. Narrow
# clusters call for a weak penalty on their variances, which also leaves those of useless features free.
SELECTIVE = {
    "sparse-kmeans": {"l1_bound": 3.0},
    "sparse-kmedoids": {"l1_bound": 3.0},
    "rskc": {"l1_bound": 3.0},
    "xie": {"variance_penalty": 12.0},
}


@pytest.mark.parametrize("name", those(selects=True))
def test_a_method_that_selects_leaves_useless_features_out(name):
    found = quick(name, **SELECTIVE.get(name, {})).fit(CORNERS)
    kept = [np.mean(found.support_[part]) for part in (USEFUL, ~USEFUL)]
    assert 0 < found.support_.sum() < 40
    assert kept[1] < kept[0]


@EVERY
def test_what_it_takes_is_in_its_tags(name):
    tags = get_tags(quick(name)).input_tags
    assert tags.allow_nan == tags.sparse == (METHODS[name].takes != "numbers")


# ---------------------------------------------------------------- docs


PUBLIC = sorted({type(make_method(name, 3)) for name in METHODS}, key=lambda each: each.__name__)


def section(cls, title):
    """The part of a docstring under a title."""
    parts = re.split(r"\n(\w+)\n-+\n", inspect.getdoc(cls))
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "")


@pytest.mark.parametrize("cls", PUBLIC)
def test_docs_have_parameters_attributes_references_and_examples(cls):
    titles = ["Parameters", "Attributes", "Examples"]
    # Plain methods are those of other packages, named in the first lines.
    titles += ["References"] if cls.__name__ != "PlainClustering" else []
    assert [title for title in titles if not section(cls, title).strip()] == []
    assert ">>> " in section(cls, "Examples")


def named_in(cls, title):
    """The names that a section of the docs speaks of, one or several before a colon."""
    lines = re.findall(r"^((?:\w+, )*\w+) ?:", section(cls, title), flags=re.M)
    return {name for line in lines for name in line.split(", ")}


@pytest.mark.parametrize("cls", PUBLIC)
def test_docs_name_every_parameter_and_no_other(cls):
    assert named_in(cls, "Parameters") == set(cls().get_params())


@EVERY
def test_every_attribute_in_the_docs_is_there_after_fit(name):
    found = quick(name).fit(pd.DataFrame(CORNERS).add_prefix("gene"))
    names = {each for each in named_in(type(found), "Attributes") if each.endswith("_")}
    # Weights for every sample are only of one of the two forms. Outliers are only sought if asked for, and only a core
    # that replaces the features by which the clusters were found leaves these to be told.
    of_samples = {"sample_weights_", "dissimilarity_"} if name == "cosa-common" else set()
    assert {each for each in names if not hasattr(found, each)} - {"outlier_scores_", "full_support_"} == of_samples
    assert not hasattr(found, "outlier_scores_")
    assert not hasattr(found, "full_support_")
    assert {"labels_", "support_", "feature_scores_"} <= names or name == "sparse-kmedoids"
