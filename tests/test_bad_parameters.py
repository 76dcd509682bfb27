"""Parameters and new samples that cannot be right are refused in plain words."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import sparsecluster._search.search
import sparsecluster._utils.parallel
import sparsecluster._utils.progress
from sparsecluster import SASClustering
from tests.helpers.bad_input import NAMES, TRUTH, USEFUL, WORDS, X, fit, frame_with, table_with
from tests.helpers.common import refuses

# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize("k", [1, 0, -2, True, 3.0, "3", None])
def test_number_of_clusters_is_a_whole_number_of_two_or_more(k):
    with refuses("n_clusters must be a whole number of at least 2", f"got {k!r}"):
        fit(X, n_clusters=k)


def test_there_are_no_more_clusters_than_samples():
    with refuses(r"n_clusters must be a whole number in \[2, 30\]", "got 31", "30 rows"):
        fit(X, n_clusters=31)


@pytest.mark.parametrize("s", [0, -1, 31, True, np.True_, None, [3]])
def test_number_of_features_is_between_one_and_all(s):
    with refuses(r"n_features_to_select must be .*\[1, 30\]", re.escape(f"got {s!r}"), '"auto"'):
        fit(X, n_features_to_select=s)


@pytest.mark.parametrize("s", [0.0, -0.5, 1.5, np.nan, np.inf])
def test_share_of_features_is_between_none_and_all(s):
    with refuses(r"n_features_to_select as a share must be in \(0, 1\]", f"got {s!r}", '"auto"'):
        fit(X, n_features_to_select=s)


def test_the_only_words_for_a_number_of_features_are_auto_and_core():
    with refuses('n_features_to_select must be "auto", "core", a whole number or a share', "got 'all'"):
        fit(X, n_features_to_select="all")


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
@pytest.mark.parametrize("s", [30, 1.0])
def test_there_are_no_more_features_to_choose_than_columns_that_vary(s):
    table = X.copy()
    table[:, 8] = 1.0
    with refuses("asks for 30 features", "only 29 of 30 vary"):
        fit(table, n_features_to_select=s)


@pytest.mark.parametrize(
    ("parameter", "word", "meant", "others"),
    [
        ("search", "gird", "grid", ["path", "golden"]),
        ("null", "refitted", "refit", ["fixed"]),
        ("gap", "betwen", "between", ["within"]),
        ("rule", "1-se", "1se", ["max"]),
        ("init", "coordinates", "coordinate", ["auto", "random", "shrinking"]),
    ],
)
def test_unknown_words_are_answered_by_the_known_and_the_nearest(parameter, word, meant, others):
    with refuses(f"{parameter} must be one of", f"got '{word}'", f'Did you mean "{meant}"') as refused:
        fit(X, **{parameter: word})
    assert all(f'"{other}"' in str(refused.value) for other in [meant, *others])


@pytest.mark.parametrize("parameter", ["n_permutations", "max_iter", "step", "n_init", "subsample"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True])
def test_counts_are_at_least_one(parameter, value):
    with refuses(f"{parameter} must be a whole number of at least 1", f"got {value!r}"):
        fit(X, **{parameter: value})


@pytest.mark.parametrize(
    "init",
    [
        np.zeros(30, int),
        np.arange(30),
        TRUTH[:20],
        TRUTH.astype(float),
        TRUTH.astype(str),
        np.zeros(30, bool),
        USEFUL[:20],
        [[0, 1, 2]],
        None,
        3,
    ],
)
def test_a_given_start_is_a_labeling_or_a_subset(init):
    with refuses("init", "30 integer labels", "all 3 clusters", "30 booleans", "got", "shape") as refused:
        fit(X, init=init)
    assert str(np.shape(init)) in str(refused.value)


# ---------------------------------------------------------------- new samples


def test_nothing_can_be_asked_before_fit():
    estimator = SASClustering()
    for ask in (estimator.predict, estimator.score, estimator.transform):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(X)
    for ask in (estimator.summary, estimator.get_support, estimator.get_feature_names_out):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask()


def test_new_samples_have_the_columns_of_fit():
    found = fit(frame_with("gene0", X[:, 0]))
    with refuses("X has 4 features", "expecting 30"):
        fit(X).predict(X[:, :4])
    with refuses("feature names should match", "unseen", "other"):
        found.predict(frame_with("gene0", X[:, 0]).rename(columns={"gene3": "other"}))
    with refuses("feature names", "same order"):
        found.predict(pd.DataFrame(X, columns=NAMES)[NAMES[::-1]])


def test_new_samples_are_finite_numbers_or_missing(strict):
    found = fit(pd.DataFrame(X, columns=NAMES))
    np.testing.assert_array_equal(found.predict(pd.DataFrame(table_with(np.nan), columns=NAMES)), TRUTH)
    for ask in (found.predict, found.score):
        with refuses("infinity in 1 of 30 columns", "'gene3'"):
            ask(pd.DataFrame(table_with(np.inf), columns=NAMES))


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_sparse_new_samples_are_finite_numbers(form):
    with refuses("(?i)infinity"):
        fit(form(X)).predict(scipy.sparse.csr_array(table_with(np.inf)))


def test_sparse_new_samples_have_no_words():
    found = fit(np.column_stack([X.astype(object), WORDS]))
    with refuses("sparse matrix", "text", "table", error=TypeError):
        found.predict(scipy.sparse.csr_array(np.column_stack([X, TRUTH])))


@pytest.mark.parametrize("tissue", [{}, {"tissue": WORDS}])
def test_new_samples_have_numbers_where_those_of_fit_had(tissue):
    frame = pd.DataFrame(X, columns=NAMES).assign(**tissue)
    found = fit(frame)
    for ask in (found.predict, found.score):
        with refuses("held numbers in fit", "Pass") as refused:
            ask(frame.assign(gene3="control"))
        assert "'gene3'" in str(refused.value)


# ---------------------------------------------------------------- the world around a fit


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_is_printed_where_nobody_watches(capfd, monkeypatch, n_jobs):
    monkeypatch.setattr(sparsecluster._utils.progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    fit(X, n_jobs=n_jobs)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_the_fit(monkeypatch, n_jobs):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(sparsecluster._search.search, "climb", interrupted)
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    estimator = SASClustering(n_features_to_select=6, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X)
    assert not hasattr(estimator, "labels_")
