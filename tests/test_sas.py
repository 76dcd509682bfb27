"""SASClustering: what it finds, and what its attributes mean."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import sparsecluster._search.search
from sparsecluster import SASClustering, TuningCurve
from sparsecluster.datasets import shifted_groups
from tests.helpers.common import plain_scores, three_groups

# Three groups far apart in 6 of 30 features.
X, TRUTH, USEFUL = three_groups(mu=10.0, n_features=30, n_useful=6)
# Groups that overlap, so that climbs take several passes.
HARD = shifted_groups(mu=0.8, n_features=60, n_useful=10, group_size=15, seed=1)


def fit_hard(**parameters):
    return SASClustering(**{"n_features_to_select": 10, **parameters}).fit(HARD.X)


# ---------------------------------------------------------------- what it finds


def test_finds_groups_and_features_that_are_plain_to_see():
    found = SASClustering().fit(X)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


def test_the_papers_own_way_finds_them_too():
    own = {"init": "coordinate", "n_init": 1, "consensus": False, "search": "grid", "null": "fixed"}
    # One start and two k-means runs a copy make a rough gap curve; many copies make up for it.
    found = SASClustering(**own, n_permutations=300).fit(X)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize("size", [6, np.int64(6), np.uint8(6), 0.2, np.float32(0.2), "auto"])
def test_size_is_a_count_a_share_or_auto(size):
    found = SASClustering(n_features_to_select=size).fit(X)
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize(("size", "chosen"), [(1, 1), (30, 30), (1.0, 30), (0.5, 15), (1e-9, 1)])
def test_as_many_features_are_chosen_as_asked_for(size, chosen):
    assert SASClustering(n_features_to_select=size).fit(X).support_.sum() == chosen


@pytest.mark.parametrize(
    ("search", "null", "gap", "rule"),
    list(product(["path", "grid", "golden"], ["refit", "fixed"], ["between", "within"], ["max", "1se"])),
)
def test_all_ways_to_choose_the_size_work_together(search, null, gap, rule):
    found = SASClustering(search=search, null=null, gap=gap, rule=rule, n_permutations=3).fit(X)
    curve = found.gap_curve_
    assert set(found.labels_) == {0, 1, 2}
    assert found.support_.sum() == curve.chosen
    assert curve.chosen in curve.values
    assert (curve.parameter, curve.criterion) == ("s", "gap")
    for values in (
        curve.details["observed"],
        curve.details["reference"],
        curve.details["spread"],
        curve.score,
        curve.error,
    ):
        assert values.shape == curve.values.shape
        assert np.isfinite(values).all()
    top = curve.score.argmax()
    bar = curve.score[top] - (curve.error[top] if rule == "1se" else 0.0)
    assert curve.chosen == curve.values[curve.score >= bar].min()


def test_sizes_compared_are_all_or_every_step_th():
    assert SASClustering(n_permutations=2).fit(X).gap_curve_.values.tolist() == list(range(1, 31))
    grid = SASClustering(n_permutations=2, search="grid", step=7).fit(X)
    assert grid.gap_curve_.values.tolist() == [1, 8, 15, 22, 29]


def test_golden_section_compares_fewer_sizes_than_there_are():
    sizes = SASClustering(n_permutations=2, search="golden").fit(HARD.X).gap_curve_.values
    assert sizes.size < 20


@pytest.mark.parametrize("size", ["auto", 10])
@pytest.mark.parametrize("larger", [{"n_features": 600}, {"group_size": 300}], ids=["features", "samples"])
def test_ten_times_the_features_or_samples_take_less_than_twice_the_climbs(monkeypatch, size, larger):
    """The time of a climb grows as the table does, so that of a fit grows little faster."""
    climbs, climb = [], sparsecluster._search.search.climb
    monkeypatch.setattr(sparsecluster._search.search, "climb", lambda *a, **k: climbs.append(1) or climb(*a, **k))

    def number(**shape):
        design = {"n_features": 60, "group_size": 30, **shape}
        climbs.clear()
        SASClustering(n_features_to_select=size, n_permutations=5).fit(shifted_groups(mu=0.7, n_useful=10, **design).X)
        return len(climbs)

    assert 0 < number(**larger) < 2 * number()


@pytest.mark.parametrize("size", ["auto", 6])
def test_a_sample_of_many_samples_finds_what_all_of_them_find(size):
    full = shifted_groups(mu=10.0, n_features=30, n_useful=6, group_size=140, seed=0)
    rows = np.r_[0:140, 140:240, 280:340]
    table = full.X[rows]
    found = SASClustering(n_features_to_select=size, subsample=50).fit(table)
    np.testing.assert_array_equal(found.labels_, full.truth[rows])
    np.testing.assert_array_equal(found.support_, USEFUL)
    np.testing.assert_allclose(found.feature_scores_, plain_scores(table, found.labels_), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.predict(table), found.labels_)


# ---------------------------------------------------------------- what the attributes mean


def test_clusters_are_numbered_from_the_largest_to_the_smallest():
    for seed in range(5):
        sizes = np.bincount(fit_hard(n_clusters=5, random_state=seed).labels_)
        assert sizes.size == 5
        assert (np.diff(sizes) <= 0).all()


def test_scores_are_one_minus_within_over_total():
    found = fit_hard()
    np.testing.assert_allclose(found.feature_scores_, plain_scores(HARD.X, found.labels_), rtol=0, atol=1e-12)


def test_objective_is_the_sum_of_the_scores_of_the_chosen_features():
    found = fit_hard()
    assert found.objective_ == pytest.approx(found.feature_scores_[found.support_].sum(), rel=1e-12)


def test_no_feature_left_out_scores_more_than_a_chosen_one():
    found = fit_hard()
    assert found.feature_scores_[~found.support_].max() <= found.feature_scores_[found.support_].min()


def test_centers_are_means_in_the_users_units():
    table = HARD.X * np.arange(1, 61) + 100.0
    found = SASClustering(n_features_to_select=10).fit(table)
    means = [table[found.labels_ == c].mean(axis=0) for c in range(3)]
    np.testing.assert_allclose(found.cluster_centers_, means, rtol=1e-12)


def test_gap_curve_is_there_only_where_the_size_was_chosen():
    assert SASClustering(n_features_to_select=6).fit(X).gap_curve_ is None
    assert isinstance(SASClustering(n_permutations=2).fit(X).gap_curve_, TuningCurve)


def test_history_never_falls_and_ends_at_the_objective():
    found = fit_hard(init=np.arange(45) % 3)
    objectives = [step.objective for step in found.history_]
    assert len(objectives) == found.n_iter_ > 2
    assert (np.diff(objectives) > 0).all()
    assert objectives[-1] == found.objective_


def test_max_iter_bounds_the_passes_of_a_climb():
    assert [fit_hard(init=np.arange(45) % 3, max_iter=most).n_iter_ for most in (1, 2)] == [1, 2]


def test_summary_tells_the_sizes_the_number_and_the_best_features():
    found = SASClustering(n_features_to_select=2).fit(pd.DataFrame(X).add_prefix("gene"))
    text = found.summary()
    assert "3 clusters of 14, 10, 6 samples" in text
    assert "2 of 30 features" in text
    assert f"{found.objective_ / 2:.0%}" in text
    assert all(name in text for name in found.get_feature_names_out())
    assert sum(f"gene{a} " in text for a in range(30)) == 2


# ---------------------------------------------------------------- starts that are given


def test_from_the_truth_the_climb_is_already_at_its_end():
    for init in (TRUTH, TRUTH.tolist(), TRUTH * 10 - 5, USEFUL, USEFUL.tolist()):
        found = SASClustering(n_features_to_select=6, init=init).fit(X)
        assert found.n_iter_ == 1
        np.testing.assert_array_equal(found.labels_, TRUTH)
        np.testing.assert_array_equal(found.support_, USEFUL)


def test_the_climb_begins_at_the_labels_given():
    labels = np.random.default_rng(0).permutation(np.arange(45) % 3)
    best_ten = np.sort(plain_scores(HARD.X, labels))[-10:]
    assert fit_hard(init=labels).history_[0].objective == pytest.approx(best_ten.sum(), rel=1e-12)


def test_the_climb_begins_at_the_features_given():
    # Two columns that group the samples in another way, and not as well: only a climb that begins there ends there.
    table = X.copy()
    table[:, 28:] += 4.0 * (np.arange(30) % 3)[:, None]
    others = np.arange(30) >= 28
    np.testing.assert_array_equal(SASClustering(n_features_to_select=2, init=others).fit(table).support_, others)
    assert not SASClustering(n_features_to_select=2).fit(table).support_[others].any()


def test_given_starts_serve_the_choice_of_the_size_too():
    found = SASClustering(init=TRUTH, n_permutations=5).fit(X)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize("init", ["auto", "coordinate", "random", "shrinking"])
@pytest.mark.parametrize("n_init", [1, 3])
def test_every_kind_and_number_of_starts_works(init, n_init):
    found = SASClustering(n_features_to_select=6, init=init, n_init=n_init).fit(X)
    assert found.support_.sum() == 6
    assert set(found.labels_) == {0, 1, 2}


def test_more_starts_find_more():
    few, many = (fit_hard(init="random", n_init=n, consensus=False).objective_ for n in (1, 30))
    assert few < many


def test_consensus_gives_up_some_of_the_objective_where_starts_disagree():
    agreed, best = fit_hard(), fit_hard(consensus=False)
    assert agreed.objective_ < best.objective_
    assert (agreed.labels_ != best.labels_).any()


# ---------------------------------------------------------------- scikit-learn's methods


def test_predict_gives_the_samples_of_fit_their_labels():
    found = fit_hard()
    np.testing.assert_array_equal(found.predict(HARD.X), found.labels_)


def test_fit_predict_gives_the_labels():
    estimator = SASClustering(n_features_to_select=10)
    np.testing.assert_array_equal(estimator.fit_predict(HARD.X), estimator.labels_)
    np.testing.assert_array_equal(estimator.labels_, fit_hard().labels_)


@pytest.mark.parametrize("standardize", [True, False])
def test_predict_takes_the_nearest_center_on_the_chosen_features(standardize):
    scales = np.linspace(1, 5, 60)
    found = SASClustering(n_features_to_select=10, standardize=standardize).fit(HARD.X * scales)
    new = np.random.default_rng(3).normal(size=(200, 60)) * scales
    unit = (HARD.X * scales).std(axis=0) if standardize else np.ones(60)
    differences = (new[:, None, :] - found.cluster_centers_) / unit
    distances = (differences[:, :, found.support_] ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.predict(new), distances.argmin(axis=1))


def test_score_is_the_mean_share_explained():
    found = fit_hard()
    assert found.score(HARD.X) == pytest.approx(found.objective_ / 10, rel=1e-9)


def test_score_is_perfect_at_the_centers_and_lower_elsewhere():
    found = SASClustering(n_features_to_select=6).fit(X)
    assert found.score(found.cluster_centers_) == 1.0
    assert found.score(X + 5.0) < found.score(X)


def test_transform_keeps_the_chosen_columns_and_inverse_puts_zeros_elsewhere():
    found = SASClustering(n_features_to_select=6).fit(X)
    np.testing.assert_array_equal(found.transform(X), X[:, USEFUL])
    np.testing.assert_array_equal(found.inverse_transform(X[:, USEFUL]), np.where(USEFUL, X, 0.0))
    assert found.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "x4", "x5"]


def test_names_of_columns_are_kept():
    frame = pd.DataFrame(X).add_prefix("gene")
    found = SASClustering(n_features_to_select=6).set_output(transform="pandas").fit(frame)
    pd.testing.assert_frame_equal(found.transform(frame), frame.loc[:, USEFUL])
    assert found.get_feature_names_out().tolist() == ["gene0", "gene1", "gene2", "gene3", "gene4", "gene5"]


# ---------------------------------------------------------------- scale


def test_units_and_origins_of_the_columns_do_not_matter_when_standardized():
    rng = np.random.default_rng(0)
    factors = np.exp(rng.normal(0, 3, 30)) * rng.choice([-1, 1], 30)
    plain = SASClustering().fit(X)
    other = SASClustering().fit(X * factors + rng.normal(0, 100, 30) * factors)
    np.testing.assert_array_equal(other.labels_, plain.labels_)
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-9)


def test_without_standardizing_the_larger_column_makes_the_groups():
    # Two columns that split the samples in two ways, halves and odd and even.
    halves, parity = np.repeat([0, 1], 10), np.tile([0, 1], 10)
    noise = np.random.default_rng(0).normal(0, 0.1, (20, 2))
    table = np.column_stack([halves, parity]) + noise

    def split(scales, standardize):
        found = SASClustering(2, n_features_to_select=2, standardize=standardize).fit(table * scales)
        np.testing.assert_allclose(found.feature_scores_, plain_scores(table, found.labels_), rtol=0, atol=1e-12)
        return {tuple(found.labels_), tuple(1 - found.labels_)}

    assert tuple(halves) in split([10, 1], standardize=False)
    assert tuple(parity) in split([1, 10], standardize=False)
    assert split([10, 1], standardize=True) == split([1, 10], standardize=True)
