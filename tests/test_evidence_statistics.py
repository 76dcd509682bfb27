"""Every statistic of the evidence is what its formula says: closed forms, brute force, SciPy and other programs."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparsecluster._kernels.groups import group_gains, tail_gain
from sparsecluster.evidence import _one_group
from sparsecluster.evidence._held_out import analysis_of_variance, common_factors, held_out_labels, level_distances
from sparsecluster.evidence._independent import p_value, strengths
from sparsecluster.evidence._pairs import welch
from sparsecluster.evidence._parts import folds
from sparsecluster.evidence._selection import expected_false, frequencies, mirror
from sparsecluster.evidence._statistics import (
    adjusted,
    chi_square,
    explained_interval,
    listed_by_rates,
    q_of_contrasts,
    worst_of_several,
)
from tests.helpers.evidence import RNG, columns, part

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference" / "evidence_reference.json").read_text())


# ---------------------------------------------------------------- the test of independent features


def test_the_p_values_of_exchangeable_curves_are_uniform():
    curves = RNG(0).standard_normal((20, 7)).cumsum(axis=1)
    each = [p_value(np.roll(curves, -b, axis=0)) for b in range(20)]
    np.testing.assert_allclose(sorted(each), np.arange(1, 21) / 20)


def test_units_of_the_objective_at_a_size_do_not_matter():
    curves = RNG(1).standard_normal((10, 5))
    np.testing.assert_allclose(strengths(curves), strengths(curves * np.array([1, 10, 0.1, 5, 3]) + 7), rtol=1e-9)


def test_sizes_at_which_all_copies_agree_say_nothing():
    curves = np.column_stack([np.full(6, 3.0), RNG(2).standard_normal(6)])
    np.testing.assert_allclose(strengths(curves), strengths(curves[:, 1:]))
    assert p_value(np.ones((6, 3))) == 1.0


# ---------------------------------------------------------------- the test of one group


def naive_gains(values, least):
    """The largest log likelihood ratios per sample, over all ways to cut the sorted values into two and three."""
    values, n = np.sort(values), values.size

    def ratio(cuts):
        groups = np.split(values, cuts)
        if min(map(len, groups)) < least:
            return -np.inf
        within = sum(((group - group.mean()) ** 2).sum() for group in groups)
        shares = np.array([len(group) / n for group in groups])
        return 0.5 * np.log(((values - values.mean()) ** 2).sum() / within) + (shares * np.log(shares)).sum()

    return [max(ratio(cuts) for cuts in combinations(range(1, n), count)) for count in (1, 2)]


def naive_tail_gain(values, degrees, passes):
    """The log likelihood ratio per sample of the best t distribution, by the EM algorithm, and the normal one."""
    normal = stats.norm.logpdf(values, values.mean(), values.std()).mean()
    center, scale, found = values.mean(), values.std(), [normal]
    for df in degrees:
        for _ in range(passes):
            weights = (df + 1) / (df + ((values - center) / scale) ** 2)
            center = np.average(values, weights=weights)
            scale = np.sqrt(np.mean(weights * (values - center) ** 2))
        found.append(stats.t.logpdf(values, df, center, scale).mean())
    return max(found) - normal


@pytest.mark.parametrize("n", [10, 50])
def test_the_gain_of_heavy_tails_is_that_of_the_best_t_distribution(n):
    degrees = np.array([30.0, 5.0, 3.0])
    for values in (RNG(n).standard_t(2, n), RNG(n).standard_normal(n), RNG(n).random(n)):
        values = values - values.mean()
        expected = naive_tail_gain(values, degrees, 10)
        assert tail_gain(values, degrees, 10) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    # After many passes, it is the maximum over location and scale.
    values = RNG(0).standard_t(3, 200)
    best = stats.t.logpdf(values, 3, *stats.t.fit(values, f0=3)[1:]).mean()
    normal = stats.norm.logpdf(values, values.mean(), values.std()).mean()
    assert tail_gain(values - values.mean(), np.array([3.0]), 500) == pytest.approx(best - normal, abs=1e-4)


@pytest.mark.parametrize("n", [12, 20, 33])
def test_gains_are_the_best_of_all_cuts(n):
    values = RNG(n).standard_normal(n)
    least = max(3, int(np.ceil(0.05 * n)))
    expected = np.array(naive_gains(values, least)) - naive_tail_gain(values, _one_group.DEGREES, _one_group.PASSES)
    np.testing.assert_allclose(_one_group.gains(np.sort(values)), expected, rtol=1e-9)


def test_gains_do_not_depend_on_units_or_direction():
    values = np.sort(RNG(3).standard_normal(40))
    np.testing.assert_allclose(_one_group.gains(values * 3 + 8), _one_group.gains(values), rtol=1e-9)
    np.testing.assert_allclose(_one_group.gains(np.sort(-values)), _one_group.gains(values), rtol=1e-9)


def test_two_points_are_infinitely_well_described_but_finite():
    assert np.isfinite(group_gains(np.repeat([-1.0, 1.0], 10), np.array([5, 10, 15]), 3)).all()


def test_normal_samples_have_uniform_p_values_and_groups_small_ones():
    rng = RNG(4)
    null = np.array([_one_group.p_of_direction(rng.standard_normal(50)) for _ in range(500)])
    # The distribution was simulated with 2000 samples, so that it has an error of its own.
    assert stats.kstest(null, "uniform").statistic < 0.08
    assert 0.03 < (null <= 0.05).mean() < 0.08
    for sizes in ((25, 25), (10, 40), (17, 16, 17)):
        values = np.repeat(6.0 * np.arange(len(sizes)), sizes) + rng.standard_normal(50)
        assert _one_group.p_of_direction(values) < 0.005


def test_heavy_tails_are_seldom_taken_for_groups():
    rng = RNG(21)
    found = np.array([_one_group.p_of_direction(rng.standard_t(4, 60)) for _ in range(200)])
    assert (found <= 0.05).mean() < 0.2


def test_too_few_or_equal_values_have_no_p_value():
    assert _one_group.p_of_direction(np.arange(5.0)) is None
    assert _one_group.p_of_direction(np.ones(30)) is None
    assert _one_group.p_value([[None, None]], columns(np.ones((30, 2))), 2, RNG(0)) is None


def test_p_values_that_agree_are_combined_to_the_same():
    assert _one_group.combined(np.full(3, 0.2)) == pytest.approx(0.2)
    assert _one_group.combined(np.array([1.0])) == _one_group.LARGEST


def test_one_p_value_of_one_does_not_outweigh_the_others():
    assert _one_group.combined(np.array([0.001, 0.001, 1.0])) < 0.01


def test_combined_p_values_of_tests_that_depend_on_each_other_are_seldom_small():
    z = RNG(17).multivariate_normal(np.zeros(6), np.full((6, 6), 0.7) + 0.3 * np.eye(6), 4000)
    found = np.array([_one_group.combined(each) for each in stats.norm.sf(z)])
    assert (found <= 0.05).mean() == pytest.approx(0.05, abs=0.015)


def test_every_division_into_folds_is_tested():
    rng = RNG(18)
    table = columns(np.repeat([0.0, 9.0], 15)[:, None] + rng.standard_normal((30, 2)))
    labels, everyone = np.repeat([0, 1], 15), np.arange(30)
    divisions = [[part(np.setdiff1d(everyone, fold), np.delete(labels, fold), [0, 1]) for fold in folds(30, 5, rng)]
                 for _ in range(3)]  # fmt: skip
    assert _one_group.p_value(divisions, table, 2, RNG(0)) < 0.01
    # Without fits of the first two divisions, the third one decides.
    alone = _one_group.p_value([[None] * 5, [None] * 5, divisions[2]], table, 2, RNG(0))
    assert alone < 0.01


def test_samples_are_projected_on_directions_found_without_them():
    scores = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0], [1.0, 7.0]])
    fits = [part([0, 1, 2, 3], [0, 0, 1, 1], [0, 1])]
    # The direction from cluster 1 to cluster 0 is (-1, 0).
    placed = _one_group.projections(fits, scores, np.arange(2), 2)
    np.testing.assert_allclose(placed, [[np.nan]] * 4 + [[-1.0]])


def test_what_is_missing_does_not_shrink_a_projection():
    scores = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [np.nan, 8.0], [np.nan, np.nan]])
    placed = _one_group.projections([part([0, 1, 2, 3], [0, 0, 1, 1], [0, 1])], scores, np.arange(2), 2)
    assert placed[4, 0] == pytest.approx(-8.0)
    assert np.isnan(placed[5, 0])


# ---------------------------------------------------------------- held-out samples


def test_a_feature_takes_no_part_in_its_own_test():
    # The held-out sample is near cluster 0 in feature 0, and near cluster 1 in the two others.
    scores = np.array([[0, 0, 0], [0, 0, 0], [5, 1, 1], [5, 1, 1], [0, 1, 1]], float)
    labels = held_out_labels([part([0, 1, 2, 3], [0, 0, 1, 1], [0, 1])], columns(scores), 2)
    assert labels[4].tolist() == [1, 0, 0]
    assert (labels[:4] == -1).all()


def test_most_fits_without_a_sample_decide_on_its_cluster():
    scores = np.array([[0, 0], [0, 0], [5, 5], [5, 5], [1, 1]], float)
    near, far = (part([0, 1, 2, 3], labels, [0, 1]) for labels in ([0, 0, 1, 1], [1, 1, 0, 0]))
    assert held_out_labels([near, far, near], columns(scores), 2)[4].tolist() == [0, 0]
    assert held_out_labels([far, far, near, None], columns(scores), 2)[4].tolist() == [1, 1]


def test_an_empty_cluster_is_never_the_nearest():
    scores = np.array([[0, 0], [0, 0], [5, 5], [5, 5], [4, 4]], float)
    labels = held_out_labels([part([0, 1, 2, 3], [0, 0, 2, 2], [0, 1])], columns(scores), 3)
    assert labels[4].tolist() == [2, 2]


def test_a_feature_with_several_columns_takes_no_part_with_any_of_them():
    scores = np.array([[0, 0, 0], [0, 0, 0], [5, 1, 5], [5, 1, 5], [0, 1, 0]], float)
    table = columns(scores, owners=[0, 1, 0])
    assert held_out_labels([part([0, 1, 2, 3], [0, 0, 1, 1], [0, 1])], table, 2)[4].tolist() == [1, 0]


def test_levels_are_near_the_clusters_in_which_they_are_frequent():
    codes, labels = np.array([0, 0, 1, 1, 1, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    near = level_distances(codes, labels, np.array([0, 1, 2, 9, np.nan]), 2)
    assert near.argmin(axis=1)[:3].tolist() == [0, 1, 1]
    # An unknown level is equally far from clusters that vary alike, and a missing one is nowhere.
    assert near[3, 0] == pytest.approx(near[3, 1])
    assert near[4].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_analysis_of_variance_is_that_of_scipy(missing):
    rng = RNG(6)
    scores, labels = rng.standard_normal((30, 4)), rng.integers(0, 3, (30, 4)).astype(np.int16)
    scores[rng.random(scores.shape) < missing] = np.nan
    p, share, low, high = analysis_of_variance(scores, labels, 3, np.zeros((30, 0)))
    for j in range(4):
        seen = ~np.isnan(scores[:, j])
        groups = [scores[seen & (labels[:, j] == c), j] for c in range(3)]
        assert p[j] == pytest.approx(stats.f_oneway(*groups).pvalue)
        whole = np.concatenate(groups)
        within = sum(((group - group.mean()) ** 2).sum() for group in groups)
        assert share[j] == pytest.approx(1 - within / ((whole - whole.mean()) ** 2).sum())
        assert low[j] <= share[j] <= high[j]


def test_adjusting_for_a_factor_is_least_squares_with_it():
    rng = RNG(7)
    factor, labels = rng.standard_normal((40, 1)), rng.integers(0, 3, (40, 1)).astype(np.int16)
    scores = 2 * factor + rng.standard_normal((40, 1))
    p = analysis_of_variance(scores, labels, 3, factor)[0, 0]
    shared = np.column_stack([np.ones(40), factor])
    whole = np.column_stack([shared, labels == 1, labels == 2])

    def left(design):
        return float(np.linalg.lstsq(design, scores[:, 0], rcond=None)[1][0])

    ratio = ((left(shared) - left(whole)) / 2) / (left(whole) / (40 - 4))
    assert p == pytest.approx(stats.f.sf(ratio, 2, 36))


def test_an_empty_cluster_or_a_constant_column_tells_nothing():
    scores = np.column_stack([RNG(8).standard_normal(20), np.zeros(20)])
    labels = np.zeros((20, 2), np.int16)
    np.testing.assert_array_equal(analysis_of_variance(scores, labels, 3, np.zeros((20, 0)))[0], [1.0, 1.0])


def test_common_factors_are_found_if_there_are_few():
    rng = RNG(9)
    labels = np.arange(60) % 2
    factor, noise = rng.standard_normal((60, 1)), rng.standard_normal((60, 300))
    assert common_factors(columns(noise), labels, 2, rng).shape == (60, 0)
    found = common_factors(columns(noise + factor * rng.standard_normal((1, 300))), labels, 2, rng)
    assert found.shape == (60, 1)
    assert abs(np.corrcoef(found[:, 0], factor[:, 0])[0, 1]) > 0.97
    # Many small blocks are not a few common factors.
    local = noise + 2 * np.repeat(rng.standard_normal((60, 30)), 10, axis=1)
    assert common_factors(columns(local), labels, 2, rng).shape == (60, 0)


def test_the_interval_of_a_share_covers_the_truth():
    # Three groups of 20 with means -d, 0, d: the share explained is v / (v + 1), with v the variance of the means.
    rng, shift, hits = RNG(10), 0.6, []
    means = np.repeat([-shift, 0.0, shift], 20)
    truth = means.var() / (means.var() + 1)
    for _ in range(400):
        values = means + rng.standard_normal(60)
        ratio = stats.f_oneway(*values.reshape(3, 20)).statistic
        low, high = explained_interval(np.array([ratio]), np.array([2.0]), np.array([57.0]))
        hits.append(low[0] <= truth <= high[0])
    assert 0.92 <= np.mean(hits) <= 0.98


def test_the_chi_square_test_is_that_of_scipy():
    rng = RNG(11)
    codes, labels = rng.integers(0, 4, 80).astype(float), rng.integers(0, 3, 80)
    codes[:5] = np.nan
    table = np.array([[((codes == a) & (labels == c)).sum() for c in range(3)] for a in range(4)])
    expected = stats.chi2_contingency(table, correction=False)
    p, share, low, high = chi_square(codes, labels, 3)
    assert p == pytest.approx(expected.pvalue)
    assert share == pytest.approx(expected.statistic / (75 * 2))
    assert 0 <= low <= share <= high <= 1


def test_welch_is_that_of_scipy():
    rng = RNG(12)
    values, labels = rng.standard_normal((40, 3)), rng.integers(0, 3, (40, 3)).astype(np.int16)
    values[0] = np.nan
    found = welch(values, labels, np.array([[0, 1], [0, 2], [1, 2]]), 3)
    for j in range(3):
        groups = [values[(labels[:, j] == c) & ~np.isnan(values[:, j]), j] for c in range(3)]
        for place, (c, d) in enumerate(combinations(range(3), 2)):
            expected = stats.ttest_ind(groups[c], groups[d], equal_var=False)
            interval = expected.confidence_interval(0.95)
            assert found.p[j, place] == pytest.approx(expected.pvalue)
            assert (found.low[j, place], found.high[j, place]) == pytest.approx((interval.low, interval.high))


def test_a_pair_with_a_single_sample_has_no_p_value():
    found = welch(np.arange(4.0)[:, None], np.array([[0], [0], [0], [1]], np.int16), np.array([[0, 1]]), 2)
    assert found.p[0, 0] == 1.0
    assert np.isnan(found.low[0, 0])


# ---------------------------------------------------------------- lists of features


def test_adjusted_p_values_are_those_of_scipy():
    p = RNG(13).random(30)
    np.testing.assert_allclose(adjusted(p), stats.false_discovery_control(p))


@pytest.mark.parametrize("case", REFERENCE["contrasts"], ids=["weak", "medium", "strong"])
def test_q_values_of_contrasts_are_those_of_clusterde(case):
    np.testing.assert_allclose(q_of_contrasts(np.array(case["contrast"])), case["q"], atol=1e-8)


def test_rates_drop_features_that_are_chosen_now_and_then():
    sure, unsure = np.tile([9.0] * 12, (10, 1)), np.zeros((10, 5))
    unsure[0] = 9.0
    assert listed_by_rates(np.hstack([sure, unsure]), 0.1).tolist() == [True] * 12 + [False] * 5
    assert not listed_by_rates(RNG(14).standard_normal((10, 30)) - 5, 0.1).any()


def test_mirror_statistics_agree_in_sign_with_both_halves():
    rng = RNG(15)
    truth = np.arange(40) % 2
    table = rng.standard_normal((40, 60))
    table[:, :10] += 4.0 * truth[:, None]
    # The clusters of the second half have other numbers.
    one, other = part(np.arange(20), truth[:20], [0]), part(np.arange(20, 40), 1 - truth[20:], [0])
    found = mirror(columns(table), one, other, 2)
    assert found[:10].min() > np.abs(found[10:]).max()
    assert 0.3 < (found[10:] > 0).mean() < 0.7


def test_bounds_on_false_features():
    general, unimodal = expected_false(0.75, 20.0, 1000, 10**9)
    # Both cases of the unimodal bound meet at 3/4, where the constant is 1.
    assert general == pytest.approx(2 * 20**2 / 1000)
    assert unimodal == pytest.approx(20**2 / 1000)
    assert expected_false(0.7500001, 20.0, 1000, 10**9)[1] == pytest.approx(unimodal, rel=1e-5)
    assert expected_false(0.9, 20.0, 1000, 50)[1] < expected_false(0.9, 20.0, 1000, 50)[0]
    assert expected_false(0.5, 20.0, 1000, 50) == (np.inf, np.inf)


def test_the_frequency_of_a_feature_is_the_share_of_the_fits_that_choose_it():
    parts = [part([0, 1], [0, 1], [0, 2]), part([0, 1], [0, 1], [2]), None]
    assert frequencies(parts, 4).tolist() == [0.5, 0.0, 1.0, 0.0]


def test_a_feature_of_several_columns_has_the_smallest_p_value_times_their_number():
    found = np.array([[0.02, 0.5, 0.01, 0.9], [1, 2, 3, 4.0]])
    np.testing.assert_allclose(worst_of_several(found, np.array([0, 1, 0, 1])), [[0.02, 1.0], [3.0, 2.0]])
