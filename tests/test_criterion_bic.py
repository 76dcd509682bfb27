"""The number of features by the BIC: no permuted copies, a curve of its own, and the features of an easy design."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster import SASClustering, TuningCurve, adjusted_rand_index
from sparsecluster._features.features import Features
from sparsecluster._search.bic import bic_values
from sparsecluster._search.search import refine, search_sizes
from sparsecluster._search.sizes import choose_size
from sparsecluster.datasets import bernoulli_groups, mixed_groups, shifted_groups

EASY = shifted_groups(mu=2.0, n_features=60, n_useful=10, group_size=15)
DESIGNS = {
    "numbers": EASY,
    "numbers with missing values": EASY._replace(
        X=np.where(np.random.default_rng(0).random(EASY.X.shape) < 0.1, np.nan, EASY.X)
    ),
    "zeros and ones": bernoulli_groups(q=0.9, n_features=60, group_size=15),
    "mixed": mixed_groups(30, 12, group_size=25, shift=2.0, likely=0.9),
}


def subclasses(cls):
    return {cls, *(each for child in cls.__subclasses__() for each in subclasses(child))}


@pytest.fixture
def copies(monkeypatch):
    """Counts the permuted copies that are made, of whatever features."""
    made = []

    def counted(permuted):
        return lambda self, seed: made.append(type(self)) or permuted(self, seed)

    for cls in subclasses(Features):
        if "permuted" in vars(cls):
            monkeypatch.setattr(cls, "permuted", counted(cls.permuted))
    return made


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
@pytest.mark.parametrize("design", DESIGNS)
def test_it_finds_the_useful_features_and_makes_no_copies(copies, design):
    X, truth, useful = DESIGNS[design]
    found = SASClustering(criterion="bic").fit(X)
    assert copies == []
    assert adjusted_rand_index(truth, found.labels_) > 0.9
    assert found.support_[useful].mean() >= 0.9
    assert found.support_[~useful].mean() <= 0.1


def test_the_gap_makes_as_many_copies_as_asked_for(copies):
    SASClustering(n_permutations=3).fit(EASY.X)
    assert len(copies) == 3


def test_each_criterion_has_a_curve_of_its_own():
    bic, gap, given = (
        SASClustering(**each).fit(EASY.X)
        for each in ({"criterion": "bic"}, {"n_permutations": 2}, {"criterion": "bic", "n_features_to_select": 10})
    )
    assert isinstance(bic.bic_curve_, TuningCurve)
    assert (bic.bic_curve_.parameter, bic.bic_curve_.criterion) == ("s", "bic")
    assert bic.bic_curve_.values.tolist() == list(range(1, 61))
    assert bic.bic_curve_.chosen == bic.support_.sum() == bic.bic_curve_.score.argmax() + 1
    assert bic.gap_curve_ is None
    assert bic.bic_curve_.frame().columns.tolist() == ["bic"]
    assert isinstance(gap.gap_curve_, TuningCurve)
    assert gap.bic_curve_ is None
    assert given.gap_curve_ is given.bic_curve_ is None


def test_the_curve_is_the_best_of_the_clusterings_that_are_best_at_some_size(problem_of):
    problem = problem_of(EASY.X, 3)
    curve, known, others = choose_size(problem, np.random.default_rng(0), criterion="bic")
    rng = np.random.default_rng(0)
    rng.integers(2**63, size=25, dtype=np.uint64)  # the seeds of copies, which are not made
    envelope = search_sizes(problem, rng)
    refine(problem, envelope, rng)
    values = np.array([bic_values(problem.features, labels, 3) for labels in envelope.all_labels()])
    np.testing.assert_array_equal(curve.score, values.max(axis=0))
    np.testing.assert_array_equal(bic_values(problem.features, known[0], 3).max(), curve.score.max())
    assert len(others) == len(values)


@pytest.mark.parametrize("search", ["grid", "golden"])
def test_all_sizes_are_compared_whatever_the_search(copies, search):
    """Without copies, all sizes together cost no more than some of them."""
    found, plain = (SASClustering(criterion="bic", search=each).fit(EASY.X) for each in (search, "path"))
    assert copies == []
    np.testing.assert_array_equal(found.bic_curve_.score, plain.bic_curve_.score)
    np.testing.assert_array_equal(found.labels_, plain.labels_)


def test_order_does_not_matter():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(45), rng.permutation(60)
    hard = shifted_groups(mu=0.8, n_features=60, n_useful=10, group_size=15).X
    one, other = (SASClustering(criterion="bic").fit(each) for each in (hard, hard[np.ix_(rows, columns)]))
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.support_, one.support_[columns])
    np.testing.assert_array_equal(other.bic_curve_.score, one.bic_curve_.score)


def test_where_the_bic_prefers_a_single_cluster_at_every_size_the_gap_decides():
    noise = np.random.default_rng(0).standard_normal((40, 60))
    found, gap = (
        SASClustering(criterion=each, n_permutations=3, n_alternatives=0).fit(noise) for each in ("bic", "gap")
    )
    assert found.bic_curve_ is None
    np.testing.assert_array_equal(found.gap_curve_.score, gap.gap_curve_.score)
    np.testing.assert_array_equal(found.labels_, gap.labels_)
    assert SASClustering(criterion="bic").fit(EASY.X).bic_curve_.score.max() > 0
