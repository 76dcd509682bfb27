"""Criteria for the number of clusters by stability: prediction strength, and Stadion."""

from itertools import combinations

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster._utils.parallel import ONE_THREAD
from sparsecluster.methods._criteria import prediction_strength as halves
from sparsecluster.methods._criteria import stadion as noise
from sparsecluster.methods._criteria.prediction_strength import strength
from sparsecluster.methods._criteria.refit import Refit
from sparsecluster.methods._criteria.stadion import parts_of, single_wins, up_to_crossing
from sparsecluster.methods._criteria.tables import numbers_of
from tests.helpers.criteria import choose, far_apart, few_tables, kmeans  # noqa: F401
from tests.helpers.methods import corners

pytestmark = pytest.mark.usefixtures("one_thread")

RNG = np.random.default_rng(0)


def cases(reference, method):
    return {(each["data"], each["columns"]): each for each in reference.choices(method)}


# ---------------------------------------------------------------- prediction strength


def naive_strength(labels, assigned):
    """Pair by pair."""
    shares = []
    for cluster in set(labels):
        pairs = list(combinations([i for i, own in enumerate(labels) if own == cluster], 2))
        shares.append(np.mean([assigned[i] == assigned[j] for i, j in pairs]) if pairs else 1.0)
    return min(shares)


def test_strength_is_the_smallest_share_of_pairs_that_stay_together():
    for _ in range(50):
        labels, assigned = RNG.integers(4, size=(2, RNG.integers(2, 15)))
        np.testing.assert_allclose(strength(labels, assigned), naive_strength(labels.tolist(), assigned))
    # The same clusters by other names, and a cluster of a single sample.
    assert strength(np.array([0, 0, 1, 1, 2]), np.array([2, 2, 0, 0, 0])) == 1.0


@pytest.mark.parametrize(("data", "columns"), [("simfuse", 30), ("simfuse", 16), ("gauss", 120), ("gauss", 20)])
def test_strength_and_choice_are_those_of_r(reference, data, columns):
    theirs = cases(reference, "prediction.strength")[data, columns]
    X, ks = reference.table(data)[:, :columns], [2, 3, 4, 5, 6]
    if theirs["chosen"] > 1:
        choice = choose("prediction_strength", kmeans(n_init=5), X, ks)
        assert choice.k == theirs["chosen"]
    else:
        with pytest.warns(UserWarning, match="No number of clusters from 2 to 6 has a prediction strength of 0.8"):
            choice = choose("prediction_strength", kmeans(n_init=5), X, ks)
        assert choice.k == 2
    # Their standard error is not known, but they have more splits; 0.02 for strengths that hardly vary.
    error = choice.curve.error * np.sqrt(1 + halves.N_SPLITS / theirs["M"]) + 0.02
    np.testing.assert_array_less(np.abs(choice.curve.score - theirs["strength"][1:]), 3 * error)


def test_clusters_that_half_of_the_samples_cannot_have_are_not_predicted():
    X, _ = far_apart((4, 4))
    with pytest.warns(UserWarning, match="prediction strength"):
        curve = choose("prediction_strength", kmeans(n_init=2), X, [5, 6]).curve
    assert curve.score.tolist() == [0.0, 0.0]


def test_the_largest_number_that_is_strong_is_chosen():
    strengths = np.array([[1.0, 0.7, 0.78, 0.5], [1.0, 0.7, 0.80, 0.5]])
    curve = halves.curve_of([2, 3, 4, 5], strengths)
    assert curve.chosen == 4
    np.testing.assert_allclose(curve.score, strengths.mean(axis=0))
    np.testing.assert_allclose(curve.error, np.abs(np.diff(strengths, axis=0))[0] / 2)


# ---------------------------------------------------------------- Stadion


@pytest.mark.slow
@pytest.mark.parametrize(("data", "columns"), [("simfuse", 16), ("gauss", 20)])
def test_stadion_chooses_as_the_program_of_its_authors(reference, monkeypatch, data, columns):
    theirs = cases(reference, "StadionEstimator")[data, columns]
    monkeypatch.setattr(noise, "INSIDE", (2, 3, 4))
    choice = choose("stadion", kmeans(), reference.table(data)[:, :columns], [2, 3, 4, 5])
    assert choice.k == theirs["chosen"]
    # With three tables for every amplitude, both are rough.
    assert abs(choice.curve.score[choice.k - 1] - max(theirs["score"])) < 0.15


@pytest.mark.usefixtures("few_tables")
def test_stadion_is_a_difference_of_two_stabilities():
    X, _ = far_apart((15, 12, 10))
    curve = choose("stadion", kmeans(n_init=2), X, [2, 3, 4]).curve
    assert curve.values.tolist() == [1, 2, 3, 4]
    assert curve.chosen == 3
    np.testing.assert_allclose(curve.score, curve.details["between"] - curve.details["within"])
    assert curve.details["between"][0] == 1.0


def test_stadion_reports_a_table_without_clusters(reference):
    with pytest.warns(UserWarning, match="Stadion prefers a single cluster.*may have no clusters"):
        choice = choose("stadion", kmeans(), reference.table("null60x20"), [2, 3])
    assert choice.curve.score.argmax() == 0
    assert choice.k == [2, 3][int(choice.curve.score[1:].argmax())]


@pytest.mark.usefixtures("few_tables")
def test_stadion_finds_groups_that_few_of_many_features_separate(monkeypatch):
    # The largest amplitude is sqrt(p) standard deviations, but a fraction of it would cover these groups completely.
    monkeypatch.setattr(noise, "N_AMPLITUDES", 6)
    X = corners((15, 12, 10), mu=2.0, own=6, n_features=200)[0]
    assert choose("stadion", SASClustering(n_features_to_select=18), X, [2, 3, 4]).k == 3
    monkeypatch.setattr(noise, "MOST_HALVINGS", 0)
    with pytest.warns(UserWarning, match="Stadion prefers a single cluster"):
        choose("stadion", SASClustering(n_features_to_select=18), X, [2, 3, 4])


def test_noise_can_only_help_a_single_cluster():
    assert single_wins(np.array([[1.0, 0.3, 0.2], [0.6, 0.0, 0.0]]))
    # It is ahead, but clusters that are found so well may still win.
    assert not single_wins(np.array([[1.0, 0.8, 0.2], [0.6, 0.5, 0.0]]))


def test_the_path_ends_where_a_single_cluster_takes_over():
    difference = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.1, 0.4], [0.5, 0.1, 0.4], [0.9, 0.0, 0.0]])
    path = np.stack([difference, np.zeros_like(difference)], axis=1)
    np.testing.assert_array_equal(up_to_crossing(path), path[:3])
    np.testing.assert_array_equal(up_to_crossing(path[3:]), path[3:])


def test_clusters_that_are_too_small_for_others_inside_count_as_stable():
    X, truth = far_apart((9, 2, 1))
    method = kmeans(n_init=2)
    reading = method.read(X)
    table, labels = numbers_of(reading, "stadion"), truth[reading.source.samples].astype(np.int32)
    parts = parts_of(table, {3: labels}, {3: Refit(method)}, RNG, ONE_THREAD)
    np.testing.assert_allclose(parts.constant, [0.0, 3 / 12])
    assert [(part.place, part.samples.size, part.k) for part in parts.every if part.inside] == [
        *((0, 12, m) for m in (2, 3, 4, 5)),
        *((1, 9, m) for m in (2, 3, 4, 5)),
    ]
    shares = np.bincount([part.place for part in parts.every], [part.weight * part.inside for part in parts.every])
    np.testing.assert_allclose(shares + parts.constant, 1.0)
    # Without noise, all is stable.
    np.testing.assert_allclose(parts.stability(table, 0.0, RNG, ONE_THREAD)[0], 1.0)
