"""The alternation in compiled code makes the same steps as the one that is written out."""

import numpy as np
import pytest

from sparsecluster import SparseKMeans
from sparsecluster._clusterers.kmeans import HillClimb, KMeans
from sparsecluster._search.climb import Problem
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._bounded import Bounded
from sparsecluster.methods._weights import alternate


@pytest.mark.parametrize("bound", [1.0, 1.3, 2.0, 4.0, 9.0])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_compiled_steps_are_the_steps_that_are_written_out(features_of, monkeypatch, bound, kind):
    X, *_ = shifted_groups(mu=0.7, n_features=60, n_useful=15, group_size=30, seed=3)
    problem = Problem(features_of(X.astype(kind)), KMeans(), 3)
    rng = np.random.default_rng(0)
    for seed in range(5):
        labels = np.random.default_rng(seed).integers(3, size=90).astype(np.int32)
        before = labels.copy()
        at_once = Bounded(bound).at_once(problem, labels)
        np.testing.assert_array_equal(labels, before)
        with monkeypatch.context() as patch:
            patch.setattr(Bounded, "at_once", lambda *_: None)
            written_out = alternate(problem, labels, Bounded(bound), rng)
        np.testing.assert_array_equal(at_once.labels, written_out.labels)
        np.testing.assert_allclose(at_once.weights, written_out.weights, atol=1e-6 if kind is np.float32 else 1e-12)
        np.testing.assert_allclose(at_once.history, written_out.history, rtol=1e-6 if kind is np.float32 else 1e-12)


@pytest.mark.parametrize("bound", ["auto", 3.0])
def test_a_fit_does_not_depend_on_which_of_them_makes_it(monkeypatch, bound):
    X, *_ = shifted_groups(mu=0.8, n_features=50, seed=1)
    own = {"l1_bound": bound, "n_permutations": 4, "n_init": 5}
    at_once = SparseKMeans(**own).fit(X)
    monkeypatch.setattr(Bounded, "at_once", lambda *_: None)
    written_out = SparseKMeans(**own).fit(X)
    np.testing.assert_array_equal(at_once.labels_, written_out.labels_)
    np.testing.assert_allclose(at_once.feature_weights_, written_out.feature_weights_, atol=1e-12)
    assert at_once.l1_bound_ == written_out.l1_bound_


def test_what_is_not_plain_numbers_and_k_means_goes_step_by_step(features_of):
    X, *_ = shifted_groups(mu=1.0, n_features=20, n_useful=5, group_size=10)
    labels = np.zeros(30, np.int32)
    assert Bounded(2.0).at_once(Problem(features_of(X), HillClimb(), 3), labels) is None
    assert Bounded(2.0).at_once(Problem(features_of(X), KMeans("pairs"), 3), labels) is None
