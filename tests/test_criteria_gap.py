"""The gap statistic for the number of clusters, with sums of squares and with determinants."""

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster.methods._criteria import gap as module
from sparsecluster.methods._criteria.gap import (
    column_box,
    component_box,
    eigenvalues,
    first_high,
    fitting_box,
    log_dispersions,
    sum_of_squares,
)
from tests.helpers.cases import in_turn
from tests.helpers.common import refuses, within
from tests.helpers.criteria import choose, far_apart, kmeans, lloyd
from tests.helpers.methods import corners

pytestmark = pytest.mark.usefixtures("one_thread")

RNG = np.random.default_rng(0)
GAPS = pytest.mark.parametrize("name", ["gap", "gap_uniform", "logdet_gap"])


def labels_of(n, k):
    return np.r_[np.arange(k), RNG.integers(k, size=n - k)].astype(np.int32)


# ---------------------------------------------------------------- other programs


NAMES = {"original": "gap_uniform", "scaledPCA": "gap"}


@in_turn(table=[("simfuse", 30), ("simfuse", 16), ("gauss", 120), ("gauss", 20)], kind=NAMES)
def test_gap_and_choice_are_those_of_r(reference, monkeypatch, table, kind):
    data, columns = table
    (theirs,) = [
        each
        for each in reference.choices("clusGap")
        if (each["data"], each["columns"], each["reference"]) == (data, columns, kind)
    ]
    monkeypatch.setattr(module, "N_REFERENCES", theirs["B"])
    X = reference.table(data)[:, :columns]
    ks = list(range(2, len(theirs["gap"]) + 1))
    # A single cluster, which R chooses in one case, is not available here; see `first_high` for the rule.
    curve = choose_or_warn(NAMES[kind], X, ks, theirs["chosen"] == 1)
    gap, error = np.array(theirs["gap"]), np.array(theirs["SE"])
    np.testing.assert_array_less(np.abs(curve.score - gap), 4 * error * np.sqrt(2 / theirs["B"]) + 0.002)
    np.testing.assert_allclose(curve.error, error, rtol=0.35)
    assert curve.values[first_high(curve.score, curve.error)] == theirs["chosen"]


def choose_or_warn(name, X, ks, single):
    if not single:
        return choose(name, kmeans(), X, ks).curve
    with pytest.warns(UserWarning, match="The gap statistic prefers a single cluster"):
        return choose(name, kmeans(), X, ks).curve


@pytest.mark.parametrize(("data", "columns", "n_groups"), [("simfuse", 30, 4), ("simfuse", 16, 4), ("gauss", 20, 3)])
def test_log_sums_of_squares_are_those_of_r(reference, data, columns, n_groups):
    theirs = next(e for e in reference.choices("clusGap") if (e["data"], e["columns"]) == (data, columns))["logW"]
    table = reference.table(data)[:, :columns]
    # R halves the sum of squares. Beyond the number of groups, Lloyd's algorithm may miss the optimum.
    for method, most in ((lloyd(), n_groups), (kmeans(n_init="auto"), n_groups if data == "gauss" else 6)):
        reading = method.read(table)
        for k in range(2, most + 1):
            found = method._solve(reading, k)
            np.testing.assert_allclose(
                np.log(sum_of_squares(found.features, found.labels, k) / 2), theirs[k - 1], atol=1e-8
            )


# ---------------------------------------------------------------- identities


@pytest.mark.parametrize("standardize", [True, False])
def test_dispersions_are_those_of_the_definition(standardize, features_of):
    X = RNG.standard_normal((30, 4)) * [1.0, 2.0, 5.0, 0.1]
    features, labels = features_of(X, standardize), labels_of(30, 3)
    table = (X - X.mean(axis=0)) / (np.sqrt(within(X, np.zeros(30))) if standardize else 1.0)
    np.testing.assert_allclose(sum_of_squares(features, labels, 3), within(table, labels).sum())
    values = eigenvalues(features, labels, 3)
    assert (np.diff(values) <= 0).all()
    # The sum of the eigenvalues is the trace, and their product is the determinant.
    np.testing.assert_allclose(values.sum(), sum_of_squares(features, labels, 3))
    left = table - np.array([table[labels == c].mean(axis=0) for c in range(3)])[labels]
    np.testing.assert_allclose(np.log(values).sum(), np.linalg.slogdet(left.T @ left)[1])


def test_eigenvalues_that_are_not_zero_are_as_many_as_samples_minus_clusters(features_of):
    values = eigenvalues(features_of(RNG.standard_normal((12, 40))), labels_of(12, 3), 3)
    assert values.size == 12
    assert (values > 1e-14 * values[0]).sum() == 12 - 3


@GAPS
def test_the_curve_is_what_its_details_say(name):
    X, _ = far_apart((15, 12, 10))
    curve = choose(name, kmeans(n_init=3), X, [2, 3, 4]).curve
    assert curve.values.tolist() == [1, 2, 3, 4]
    assert curve.chosen == 3
    np.testing.assert_allclose(curve.score, curve.details["reference"] - curve.details["observed"])
    np.testing.assert_allclose(curve.error, curve.details["spread"] * np.sqrt(1 + 1 / module.N_REFERENCES))


@pytest.mark.parametrize("name", ["gap", "gap_uniform"])
def test_with_one_cluster_the_dispersion_is_the_total(name):
    X, _ = far_apart((15, 12, 10))
    observed = choose(name, kmeans(n_init=3), X, [2, 3]).curve.details["observed"]
    np.testing.assert_allclose(observed[0], np.log(within(X, np.zeros(len(X))).sum()))
    # With standardization, every feature of every table has the total 1.
    curve = choose(name, kmeans(n_init=3, standardize=True), X, [2, 3]).curve
    np.testing.assert_allclose([curve.score[0], curve.error[0]], 0.0, atol=1e-12)


def test_the_smallest_number_is_chosen_whose_gap_is_within_the_error_of_the_next():
    def naive(gap, error):
        return next((i for i in range(len(gap) - 1) if gap[i] >= gap[i + 1] - error[i + 1]), len(gap) - 1)

    assert first_high(np.array([0.0, 1.0, 1.05]), np.array([0.0, 0.1, 0.1])) == 1
    assert first_high(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)) == 2
    for _ in range(100):
        gap, error = RNG.random(6).cumsum(), RNG.random(6)
        assert first_high(gap, error) == naive(gap, error)


def test_logarithms_are_added_over_as_many_dispersions_as_no_table_lacks():
    observed = np.array([[4.0, 2.0, 1.0], [3.0, 1.0, 0.0]])
    reference = np.array([[[8.0, 4.0, 1.0], [4.0, 2.0, 1.0]]])
    logs, references = log_dispersions(observed, reference)
    np.testing.assert_allclose(np.exp(logs), [8.0, 3.0])
    np.testing.assert_allclose(np.exp(references), [[32.0, 8.0]])
    # Nothing is left within clusters that explain everything.
    logs, _ = log_dispersions(np.array([[2.0], [0.0]]), np.array([[[2.0], [1.0]]]))
    assert -np.inf < logs[1] < logs[0] - 30


# ---------------------------------------------------------------- references


def test_references_stay_in_their_boxes():
    X = RNG.standard_normal((50, 3)) @ RNG.standard_normal((3, 3))
    X -= X.mean(axis=0)
    right = np.linalg.svd(X, full_matrices=False)[2]
    for box, turn in ((column_box, np.eye(3)), (component_box, right.T)):
        drawn, own = np.concatenate([box(X, RNG) for _ in range(20)]) @ turn, X @ turn
        assert (drawn.min(axis=0) >= own.min(axis=0) - 1e-9).all()
        assert (drawn.max(axis=0) <= own.max(axis=0) + 1e-9).all()
        # They fill them, and their coordinates are independent.
        np.testing.assert_allclose(np.ptp(drawn, axis=0), np.ptp(own, axis=0), rtol=0.05)
        assert np.abs(np.corrcoef(drawn.T) - np.eye(3)).max() < 0.15


def test_only_references_along_the_components_keep_correlations():
    x = RNG.standard_normal(200)
    X = np.column_stack([x, x + 0.1 * RNG.standard_normal(200)])
    X -= X.mean(axis=0)
    assert abs(np.corrcoef(column_box(X, RNG).T)[0, 1]) < 0.3
    assert np.corrcoef(component_box(X, RNG).T)[0, 1] > 0.9


@pytest.mark.parametrize(("shape", "box"), [((20, 5), component_box), ((20, 19), column_box), ((20, 50), column_box)])
def test_determinants_are_compared_along_the_components_if_there_are_enough_samples(shape, box):
    X = RNG.standard_normal(shape)
    X -= X.mean(axis=0)
    np.testing.assert_array_equal(*(draw(X, np.random.default_rng(1)) for draw in (fitting_box, box)))


# ---------------------------------------------------------------- what the criterion finds


@GAPS
@pytest.mark.filterwarnings("ignore:The gap statistic prefers a single cluster")
def test_groups_of_identical_samples_are_counted(name):
    X = np.repeat(np.eye(3), [9, 8, 7], axis=0)
    choice = choose(name, kmeans(n_init=3), X, [2, 3])
    assert choice.k == 3
    assert np.isfinite(choice.curve.score).all()


def test_determinants_count_groups_with_more_features_than_samples_and_repeated_columns():
    X = corners((30, 25, 20), mu=2.5, own=6, n_features=200)[0]
    sas = SASClustering(n_features_to_select=18)
    for table in (X, np.column_stack([X, X[:, :7]]), X[:, :20], np.column_stack([X[:, :20], X[:, :7]])):
        assert choose("logdet_gap", sas, table, [2, 3, 4]).k == 3


@GAPS
def test_the_best_number_is_used_if_a_single_cluster_is_preferred(name):
    X = np.random.default_rng(1).uniform(size=(60, 5))
    with pytest.warns(UserWarning, match="prefers a single cluster.*at least two clusters"):
        choice = choose(name, kmeans(n_init=3), X, [2, 3, 4])
    assert choice.k == [2, 3, 4][int(np.argmax(choice.curve.score[1:]))]


def test_missing_values_are_refused_by_the_estimator():
    X = RNG.standard_normal((20, 5))
    X[0, 0] = np.nan
    with refuses('cluster_criterion="logdet_gap"', "without missing values"):
        SASClustering("auto", cluster_criterion="logdet_gap").fit(X)
