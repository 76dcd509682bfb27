"""Other groupings of the same samples: found where there are two, each a fitted estimator, and none if there is one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from sparsecluster import SASClustering, adjusted_rand_index
from sparsecluster._search.alternatives import (
    DIFFERENT,
    HOPELESS_OBJECTIVE,
    Alternative,
    alternatives,
    distinct,
    merit,
    still_different,
    unexplained,
)
from sparsecluster._search.climb import climb
from sparsecluster._search.curve import gap_curve
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.registry import METHODS
from tests import naive
from tests.helpers.cases import some
from tests.helpers.common import refuses, same_groups
from tests.helpers.methods import CORNERS, quick

pytestmark = [
    pytest.mark.usefixtures("less_work", "one_thread"),
    pytest.mark.filterwarnings("ignore:A cluster is made"),
]

RNG = np.random.default_rng(0)
SEX, DISEASE = RNG.integers(2, size=(2, 60))
BY_SEX, BY_DISEASE = np.arange(120) < 40, (np.arange(120) >= 40) & (np.arange(120) < 80)
TABLE = RNG.normal(size=(60, 120)) + 2.0 * SEX[:, None] * BY_SEX + 1.5 * DISEASE[:, None] * BY_DISEASE


def fit(table=TABLE, n_clusters=2, **parameters):
    return SASClustering(n_clusters, **{"n_permutations": 5, **parameters}).fit(table)


def all_labels(found):
    return [found.labels_, *(other.labels for other in found.alternatives_)]


def finds_both(found):
    """Whether each of the two groupings is the solution or an alternative."""
    return all(
        max(adjusted_rand_index(labels, truth) for labels in all_labels(found)) > 0.9 for truth in (SEX, DISEASE)
    )


@pytest.fixture(scope="module")
def found():
    return fit()


# ---------------------------------------------------------------- two groupings


def test_both_of_two_independent_groupings_are_found(found):
    assert adjusted_rand_index(found.labels_, SEX) > 0.9
    other = found.alternatives_[0]
    assert adjusted_rand_index(other.labels, DISEASE) > 0.9
    assert found.support_[BY_SEX].mean() > 0.9
    assert found.support_[~BY_SEX].mean() < 0.1
    assert other.support[BY_DISEASE].mean() > 0.8
    assert other.support[~BY_DISEASE].mean() < 0.1


def test_all_of_them_are_really_different(found):
    assert 1 <= len(found.alternatives_) <= 3
    for one, other in combinations(all_labels(found), 2):
        assert adjusted_rand_index(one, other) < DIFFERENT


def test_the_best_comes_first(found):
    gaps = [other.gap for other in found.alternatives_]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] < found.gap_curve_.score.max()


def test_the_gap_of_an_alternative_is_the_largest_over_its_sizes(found):
    curve = found.gap_curve_
    for other in found.alternatives_:
        running = np.cumsum(np.sort(naive.scores(TABLE, other.labels))[::-1])
        gaps = np.log(running) - curve.details["reference"]
        assert other.gap == pytest.approx(gaps.max(), rel=1e-9)
        assert other.gap > 3 * curve.error[gaps.argmax()]


def test_the_summary_tells_how_many_there_are(found):
    count = len(found.alternatives_)
    assert f"{count} other good clustering{'s' * (count > 1)} of the same samples in alternatives_" in found.summary()


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_more_are_found_than_asked_for(found, most):
    others = fit(n_alternatives=most).alternatives_
    assert len(others) == min(most, len(found.alternatives_))
    for one, other in zip(others, found.alternatives_, strict=False):
        np.testing.assert_array_equal(one.labels, other.labels)


def test_they_do_not_change_the_solution(found):
    alone = fit(n_alternatives=0)
    np.testing.assert_array_equal(alone.labels_, found.labels_)
    np.testing.assert_array_equal(alone.support_, found.support_)
    assert alone.objective_ == found.objective_


def test_order_of_rows_and_columns_does_not_matter(found):
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(60), rng.permutation(120)
    turned = fit(TABLE[np.ix_(rows, columns)])
    for one, other in zip(found.alternatives_, turned.alternatives_, strict=True):
        np.testing.assert_array_equal(other.labels, one.labels[rows])
        np.testing.assert_array_equal(other.support, one.support[columns])
        assert other.gap == one.gap


@pytest.mark.parametrize("parameters", [{"criterion": "bic"}, {"search": "grid", "step": 20}, {"gap": "within"}])
def test_both_are_found_whatever_the_size_is_chosen_by(parameters):
    other = fit(**parameters)
    assert finds_both(other)
    gaps = [each.gap for each in other.alternatives_]
    assert gaps == sorted(gaps, reverse=True)


def test_both_are_found_at_a_given_size_where_some_starts_end_at_each():
    balanced = TABLE + 0.5 * DISEASE[:, None] * BY_DISEASE
    other = fit(balanced, n_features_to_select=40)
    assert finds_both(other)
    for each in other.alternatives_:
        assert each.gap is None
        assert each.objective >= HOPELESS_OBJECTIVE * other.objective_
    objectives = [each.objective for each in other.alternatives_]
    assert objectives == sorted(objectives, reverse=True)


FORMS = {
    "sparse": (lambda: sparse.csr_array(np.where(TABLE > 1.0, TABLE, 0.0)), {}),
    "missing values": (lambda: np.where(np.random.default_rng(0).random(TABLE.shape) < 0.05, np.nan, TABLE), {}),
    "levels": (lambda: np.where(TABLE > 1.0, "high", "low").astype(object), {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_both_are_found_in_other_kinds_of_tables(form):
    make, parameters = FORMS[form]
    other = fit(make(), n_permutations=3, **parameters)
    assert adjusted_rand_index(other.labels_, SEX) > 0.8
    assert max(adjusted_rand_index(each.labels, DISEASE) for each in other.alternatives_) > 0.8


def test_a_sample_of_many_samples_finds_both():
    rng = np.random.default_rng(0)
    sex, disease = rng.integers(2, size=(2, 300))
    table = rng.normal(size=(300, 40))
    table[:, :15] += 3.0 * sex[:, None]
    table[:, 15:30] += 2.5 * disease[:, None]
    other = fit(table, subsample=60, n_permutations=3)
    assert other.alternatives_[0].labels.size == 300
    assert adjusted_rand_index(other.labels_, sex) > 0.9
    assert adjusted_rand_index(other.alternatives_[0].labels, disease) > 0.9
    for one, two in combinations(all_labels(other), 2):
        assert adjusted_rand_index(one, two) < DIFFERENT


def test_a_single_clear_grouping_has_no_alternatives():
    single = shifted_groups(mu=2.0, n_features=60, n_useful=60, group_size=20)
    assert fit(single.X, 3).alternatives_ == []


# ---------------------------------------------------------------- estimators


def test_an_alternative_is_a_fitted_estimator(found):
    for number, other in enumerate(found.alternatives_):
        used = found.use_alternative(number)
        assert isinstance(used, SASClustering)
        assert used is other.estimator
        assert used.get_params() == found.get_params()
        np.testing.assert_array_equal(used.labels_, other.labels)
        np.testing.assert_array_equal(used.predict(TABLE), used.labels_)
        np.testing.assert_array_equal(used.support_, other.support)
        np.testing.assert_array_equal(used.core_support_, other.core_support)
        np.testing.assert_array_equal(used.feature_scores_, other.feature_scores)
        assert used.objective_ == other.objective == pytest.approx(used.feature_scores_[used.support_].sum())
        assert used.transform(TABLE).shape == (60, used.support_.sum())
        assert used.n_features_in_ == 120
        means = [TABLE[used.labels_ == c].mean(axis=0) for c in range(2)]
        np.testing.assert_allclose(used.cluster_centers_, means)


def test_an_alternative_has_the_attributes_of_a_fit(found):
    def attributes(estimator):
        return {name for name in vars(estimator) if name.endswith("_")}

    assert attributes(found.use_alternative(0)) == attributes(found)
    assert found.use_alternative(0).alternatives_ == []
    assert found.use_alternative(0).n_clusters_curve_ is None


def test_clusters_of_an_alternative_are_numbered_from_the_largest(found):
    for other in found.alternatives_:
        assert (np.diff(np.bincount(other.labels)) <= 0).all()


@pytest.mark.parametrize("number", [-1, 3, 1.0, "first", None, True])
def test_what_is_no_position_is_refused(found, number):
    last = len(found.alternatives_) - 1
    with refuses(rf"The number of the alternative must be a whole number in \[0, {last}\]", f"got {number!r}"):
        found.use_alternative(number)


def test_without_alternatives_there_is_none_to_use(found):
    for estimator in (fit(n_alternatives=0), found.use_alternative(0)):
        with refuses("This SASClustering has no alternatives", "no other good clustering"):
            estimator.use_alternative(0)


@pytest.mark.parametrize("value", [-1, 1.5, "all", None])
def test_the_number_of_alternatives_is_a_whole_number(value):
    with refuses("n_alternatives must be a whole number of at least 0", f"got {value!r}"):
        fit(n_alternatives=value)


@pytest.mark.parametrize("name", some(METHODS, first=2))
def test_every_method_has_a_list_of_them(name):
    if name != "sas":
        estimator = quick(name).fit(CORNERS)
        assert estimator.alternatives_ == []
        with refuses("has no alternatives"):
            estimator.use_alternative(0)


# ---------------------------------------------------------------- the parts of the search


def test_clusterings_that_are_alike_are_looked_at_once():
    one = np.array([0, 0, 1, 1, 2, 2])
    other = np.array([0, 1, 2, 0, 1, 2])
    renamed = np.array([2, 1, 0, 2, 1, 0])
    kept = distinct([one, one[::-1], other, renamed, other], one)
    assert len(kept) == 1
    assert same_groups(kept[0], other)


def test_alternatives_that_climb_to_the_same_clusters_are_kept_once(problem_of):
    rng = np.random.default_rng(0)
    problem = problem_of(rng.normal(size=(40, 6)), 2)
    one, two, three = (as_alternative(problem, rng.integers(2, size=40).astype(np.int32)) for _ in range(3))
    turned = as_alternative(problem, 1 - two.climb.labels)
    assert still_different(one.climb, [two, one, turned, three]) == [two, three]


def as_alternative(problem, labels):
    return Alternative(climb(problem._replace(max_iter=1), labels, 3, np.random.default_rng(0)), 1.0)


def test_features_that_are_not_explained_are_those_with_the_lowest_scores(problem_of):
    rng = np.random.default_rng(0)
    problem = problem_of(rng.normal(size=(20, 11)), 2)
    for size, left in ((1, 10), (4, 7), (9, 6), (11, 6)):
        found = climb(problem, naive.random_labels(rng, 20, 2), size, rng)
        rest = unexplained(found, 11)
        assert rest.size == left
        assert found.scores[rest].max() <= np.sort(found.scores)[left - 1]
        assert size > 5 or not set(rest) & set(found.subset)


def test_the_merit_at_a_given_size_is_the_objective_and_at_chosen_ones_the_largest_gap(problem_of):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20, 6))
    problem, labels = problem_of(table, 2), naive.random_labels(rng, 20, 2)
    found = climb(problem, naive.random_labels(rng, 20, 2), 3, rng)
    given = merit(problem, labels, found, None)
    assert given == pytest.approx((naive.objective(table, labels, 3), 3, HOPELESS_OBJECTIVE * found.objective))
    reference = rng.random((4, 6)).cumsum(axis=1)
    curve = gap_curve(range(1, 7), np.ones(6), reference)
    chosen = merit(problem, labels, found, curve)
    gaps = [np.log(naive.objective(table, labels, s)) - np.log(reference[:, s - 1]).mean() for s in range(1, 7)]
    assert chosen.value == pytest.approx(max(gaps))
    assert chosen.size == int(np.argmax(gaps)) + 1
    assert chosen.least == pytest.approx(3 * curve.error[int(np.argmax(gaps))])


def test_candidates_that_are_not_good_enough_or_climb_to_the_solution_are_no_alternatives(problem_of):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 15).astype(np.int32)
    table = rng.normal(size=(30, 8)) + 6.0 * truth[:, None]
    problem = problem_of(table, 2)
    found = climb(problem, truth, 8, rng)
    random = [naive.random_labels(rng, 30, 2) for _ in range(20)]
    assert alternatives(problem, found, random, None, 3, rng) == []
    assert alternatives(problem, found, random, None, 0, rng) == []


def test_alternatives_are_sorted_by_what_they_are_worth_at_the_end(problem_of):
    """Four groupings at a given size: each candidate is a climb from one of them."""
    rng = np.random.default_rng(0)
    groupings = rng.integers(2, size=(4, 40)).astype(np.int32)
    shift = np.array([6.0, 3.0, 5.0, 4.0])
    table = rng.normal(size=(40, 20)) + np.repeat(shift, 5) * np.repeat(groupings, 5, axis=0).T
    problem = problem_of(table, 2)
    found = climb(problem, groupings[0], 5, rng)
    others = alternatives(problem, found, list(groupings), None, 3, rng)
    assert all(isinstance(each, Alternative) and each.value is None for each in others)
    assert len(others) == 3
    assert all(same_groups(other.climb.labels, groupings[at]) for other, at in zip(others, (2, 3, 1), strict=True))
