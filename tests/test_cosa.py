"""COSA: its kernels, weights for every sample and weights for all, and what it does with any kind of table."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import squareform
from scipy.special import logsumexp

from sparsecluster import PlainClustering, TuningCurve
from sparsecluster._kernels.cosa import inverse_exponential, sample_weights
from sparsecluster.methods._weights import alternate
from sparsecluster.methods.cosa import PENALTIES, Entropic
from tests import naive
from tests.helpers.cosa import BOTH, EASY, HARD, TRUTH, USEFUL, by_pair, differences, fit

# ---------------------------------------------------------------- slow twins


def pairs(n):
    """Pairs i < j in the order in which SciPy has them."""
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def slow_distances(apart, weights, scale):
    """D_ij = -h W log( (1/W) sum_a max(w_ia, w_ja) exp(-d_ija / h) ), by logarithms, which do not underflow."""
    found = []
    for row, (i, j) in zip(apart, pairs(len(weights)), strict=True):
        larger = np.maximum(weights[i], weights[j])
        total, used = larger.sum(), larger > 0
        found.append(-scale * total * logsumexp(np.log(larger[used] / total) - row[used] / scale))
    return np.array(found)


def slow_sums(apart, weights):
    """sum_a max(w_ia, w_ja) d_ija."""
    rows = zip(apart, pairs(len(weights)), strict=True)
    return np.array([np.maximum(weights[i], weights[j]) @ row for row, (i, j) in rows])


def slow_weights(apart, neighbors, penalty):
    """w_ia in proportion to exp(-S_ia / l), S_ia = mean of d_ija over the neighbors j of i."""
    cube = np.stack([squareform(column) for column in apart.T], axis=2)
    means = np.array([cube[i, near].mean(axis=0) for i, near in enumerate(neighbors)])
    return np.exp(-means / penalty - logsumexp(-means / penalty, axis=1, keepdims=True))


def slow_cosa(apart, n, penalty, near, steps):
    """Friedman and Meulman's alternation, so many steps of it."""
    weights, scale = np.full((n, apart.shape[1]), 1 / apart.shape[1]), penalty
    for _ in range(steps):
        square = squareform(slow_distances(apart, weights, scale)) + np.diag(np.full(n, np.inf))
        weights = slow_weights(apart, square.argsort(axis=1)[:, :near], penalty)
        scale += 0.1 * penalty
    return weights, squareform(slow_distances(apart, weights, scale))


def random_pairs(seed, n=7, p=5):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(n * (n - 1) // 2, p)), rng.dirichlet(np.ones(p), n)


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("scale", [0.01, 0.2, 1.0, 30.0])
def test_distances_are_those_of_the_formula(scale):
    for seed in range(5):
        apart, weights = random_pairs(seed)
        ours = inverse_exponential(apart, weights, scale)
        np.testing.assert_allclose(ours, slow_distances(apart, weights, scale), rtol=1e-11)


@pytest.mark.parametrize(("scale", "tolerance"), [(1e3, 1e-2), (1e6, 1e-5), (1e9, 1e-6), (1e15, 1e-6), (1e18, 1e-6)])
def test_distances_become_weighted_sums_as_the_scale_grows(scale, tolerance):
    apart, weights = random_pairs(0)
    np.testing.assert_allclose(inverse_exponential(apart, weights, scale), slow_sums(apart, weights), rtol=tolerance)


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-3, 2e-3])
def test_distances_are_right_where_the_exponentials_are_zero_in_the_computer(scale):
    for seed in range(3):
        apart, weights = random_pairs(seed, n=20)
        expected = slow_distances(apart, weights, scale)
        np.testing.assert_allclose(inverse_exponential(apart, weights, scale), expected, rtol=1e-2)


@pytest.mark.parametrize("weights", [np.eye(2), np.full((2, 2), 0.5), np.array([[1.0, 1e-300], [1.0, 1e-300]])])
def test_distances_are_right_on_the_edge_of_what_the_computer_can_hold(weights):
    # exp(-708) is the last of full precision and exp(-745) the last that is not zero.
    for far in np.arange(700.0, 760.0, 0.25):
        apart = np.array([[far, 1000.0]])
        np.testing.assert_allclose(
            inverse_exponential(apart, weights, 1.0), slow_distances(apart, weights, 1.0), rtol=1e-2, err_msg=f"{far}"
        )


def test_features_without_weight_do_not_make_samples_near():
    apart = np.array([[2.0, 0.001], [3.0, 0.002], [4.0, 0.003]])
    weights = np.tile([1.0, 0.0], (3, 1))
    for scale in (1e-6, 1e-3, 0.1, 10.0):
        np.testing.assert_allclose(inverse_exponential(apart, weights, scale), apart[:, 0], rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.05, 0.2, 5.0])
@pytest.mark.parametrize("near", [1, 3, 6])
def test_weights_of_samples_are_those_of_the_formula(penalty, near):
    for seed in range(3):
        apart, _ = random_pairs(seed)
        rng = np.random.default_rng(seed)
        neighbors = np.array([rng.choice([j for j in range(7) if j != i], near, replace=False) for i in range(7)])
        ours = sample_weights(apart, neighbors, penalty)
        np.testing.assert_allclose(ours, slow_weights(apart, neighbors, penalty), rtol=1e-10)
        np.testing.assert_allclose(ours.sum(axis=1), 1.0, rtol=1e-12)


def test_weights_of_samples_have_limits():
    apart, _ = random_pairs(0)
    neighbors = np.array([[j for j in range(7) if j != i] for i in range(7)])
    np.testing.assert_allclose(sample_weights(apart, neighbors, 1e9), 1 / 5, rtol=1e-8)
    sharp = sample_weights(apart, neighbors, 1e-9)
    np.testing.assert_array_equal(np.sort(sharp, axis=1), np.tile([0, 0, 0, 0, 1], (7, 1)))
    np.testing.assert_array_equal(sharp.argmax(axis=1), slow_weights(apart, neighbors, 0.1).argmax(axis=1))


# ---------------------------------------------------------------- weights for every sample


@pytest.mark.parametrize("penalty", [0.1, 0.2, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_the_alternation_is_that_of_the_paper(penalty, steps):
    table = np.random.default_rng(2).normal(size=(16, 5))
    found = fit(table, penalty=penalty, max_iter=steps)
    assert found.n_iter_ == steps
    weights, square = slow_cosa(by_pair(*map(differences, table.T)), 16, penalty, 4, steps)
    np.testing.assert_allclose(found.sample_weights_, weights, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.dissimilarity_, square, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.feature_weights_, weights.mean(axis=0), rtol=0, atol=1e-7)


def test_dissimilarity_is_one_and_weights_are_shares():
    table = np.column_stack([HARD, np.ones(36)])
    with pytest.warns(UserWarning, match="constant"):
        found = fit(table)
    square = found.dissimilarity_
    assert square.shape == (36, 36)
    np.testing.assert_array_equal(square, square.T)
    assert not np.diag(square).any()
    assert (square[~np.eye(36, dtype=bool)] > 0).all()
    np.testing.assert_allclose(found.sample_weights_.sum(axis=1), 1.0, rtol=1e-12)
    assert not found.sample_weights_[:, 20].any()
    assert found.support_.tolist() == [True] * 20 + [False]
    np.testing.assert_allclose(found.feature_weights_, found.sample_weights_.mean(axis=0), rtol=1e-12)


def test_the_alternation_ends_where_weights_have_settled():
    found = fit(EASY)
    assert found.n_iter_ < 100
    assert fit(EASY, max_iter=found.n_iter_ + 50).n_iter_ == found.n_iter_


def groups_of_their_own(seed, sizes=(16, 13, 10), n_features=40, own=6):
    """Each group is at 1.5 within 0.1 in six features of its own, where all others are anywhere; the rest is noise.

    A shift alone would not do: samples of two groups that differ in a feature are each as near to their own there.
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), sizes)
    table, owner = rng.normal(size=(truth.size, n_features)), np.arange(n_features) // own
    mine = owner == truth[:, None]
    table[mine] = 1.5 + 0.1 * rng.normal(size=mine.sum())
    return table, truth, mine


@pytest.mark.parametrize("seed", range(3))
def test_groups_that_live_on_different_features_are_found_with_their_features(seed):
    table, truth, mine = groups_of_their_own(seed)
    found = fit(table)
    np.testing.assert_array_equal(found.labels_, truth)
    own, others = (np.where(mask, found.sample_weights_, np.nan) for mask in (mine, ~mine))
    # Six features of forty have most of the weight of every sample; each has more than any other feature on average.
    assert (np.nansum(own, axis=1) > 0.6).all()
    groups = [truth == c for c in range(3)]
    assert all(np.nanmin(own[g].mean(axis=0)) > np.nanmax(others[g].mean(axis=0)) for g in groups)


@BOTH
def test_clear_groups_are_found(weights):
    found = fit(EASY, weights=weights)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    assert found.feature_weights_[USEFUL].min() > found.feature_weights_[~USEFUL].max()
    assert found.support_.all()


def test_more_neighbors_are_others():
    one, many = fit(HARD, n_neighbors=1), fit(HARD, n_neighbors=35)
    assert np.abs(one.sample_weights_ - many.sample_weights_).max() > 0.01
    # "auto" is the root of the number of samples.
    np.testing.assert_array_equal(fit(HARD).sample_weights_, fit(HARD, n_neighbors=6).sample_weights_)


@pytest.mark.parametrize("clusterer", ["average", "complete", "hillclimb", "kmedoids", "spectral"])
def test_any_clusterer_of_pairs_will_do(clusterer):
    np.testing.assert_array_equal(fit(EASY, clusterer=clusterer).labels_, TRUTH)


# ---------------------------------------------------------------- one weight for all


@pytest.mark.parametrize("penalty", [0.05, 0.2, 1.0, 10.0])
def test_weights_minimize_the_sum_with_the_entropy(penalty):
    gains = np.random.default_rng(0).random(6)

    def paid(weights):
        return float(weights @ (1 - gains) + penalty * weights @ np.log(np.maximum(weights, 1e-300)))

    weights, objective = Entropic(penalty)(gains)
    bounds, whole = [(1e-12, 1)] * 6, {"type": "eq", "fun": lambda w: w.sum() - 1}
    best = minimize(paid, np.full(6, 1 / 6), bounds=bounds, constraints=whole, tol=1e-14)
    assert paid(weights) <= best.fun + 1e-12
    np.testing.assert_allclose(weights, best.x, rtol=0, atol=1e-4)
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    # The objective is what is saved: equal weights on features that are all left as they are pay 1 - l log p.
    assert objective == pytest.approx(1 - penalty * np.log(6) - paid(weights), rel=1e-10)


@pytest.mark.parametrize("penalty", [1e-3, 0.02, 0.2, 1.0, 1e3])
def test_the_objective_is_the_soft_maximum_of_the_gains(penalty):
    for gains in (np.random.default_rng(0).random(30), np.full(30, 0.5), np.array([0.0, 1.0])):
        _, objective = Entropic(penalty)(gains)
        assert objective == pytest.approx(penalty * (logsumexp(gains / penalty) - np.log(gains.size)), rel=1e-9)


@pytest.mark.parametrize("penalty", [1e-12, 1e-3, 1.0, 1e4, 1e12, 1e18])
def test_the_objective_is_between_the_mean_and_the_largest_of_the_gains(penalty):
    gains = np.random.default_rng(0).random(30)
    weights, objective = Entropic(penalty)(gains)
    assert gains.mean() * (1 - 1e-9) <= objective <= gains.max()
    assert weights.sum() == pytest.approx(1.0)
    limit = gains.max() if penalty < 1e-6 else gains.mean() if penalty > 1e3 else objective
    assert objective == pytest.approx(limit, rel=1e-4)


@pytest.mark.parametrize("penalty", [0.02, 0.1, 0.5, 2.0])
def test_no_step_lowers_the_objective(problem_of, penalty):
    problem = problem_of(HARD, 3)
    rng = np.random.default_rng(0)
    steps = []
    for _ in range(5):
        begin = naive.random_labels(rng, 36, 3)
        found = alternate(problem, begin, Entropic(penalty), rng)
        assert (np.diff(found.history) > 0).all()
        assert found.objective == found.history[-1]
        for labels, value in ((begin, found.history[0]), (found.labels, found.objective)):
            gains = naive.scores(HARD, labels)
            assert value == pytest.approx(penalty * (logsumexp(gains / penalty) - np.log(20)), rel=1e-9)
        np.testing.assert_allclose(found.weights, np.exp((gains - found.objective) / penalty) / 20, rtol=1e-8)
        steps.append(len(found.history))
    assert max(steps) > 2


@pytest.mark.parametrize("penalty", [1e4, 1e8, 1e15, 1e18])
def test_with_a_huge_penalty_all_features_count_alike(penalty):
    found = fit(EASY, weights="samples", penalty=penalty)
    np.testing.assert_allclose(found.sample_weights_, 1 / 12, rtol=1e-3)
    apart = by_pair(*map(differences, EASY.T))
    np.testing.assert_allclose(squareform(found.dissimilarity_), apart.mean(axis=1), rtol=1e-3)


@pytest.mark.parametrize("penalty", [1e4, 1e8, 1e15, 1e18])
def test_common_weights_with_a_huge_penalty_are_the_clusterer_on_all_features_alike(penalty):
    found = fit(HARD, weights="common", penalty=penalty, n_init=10)
    np.testing.assert_allclose(found.feature_weights_, 1 / 20, rtol=1e-3)
    # What is maximized is then the mean score; single-sample moves find no less than scikit-learn's K-means.
    plain = PlainClustering(algorithm="kmeans++").fit(HARD)
    assert found.feature_scores_.mean() >= plain.feature_scores_.mean() - 1e-12
    easy = fit(EASY, weights="common", penalty=penalty)
    np.testing.assert_array_equal(easy.labels_, PlainClustering(algorithm="kmeans++").fit(EASY).labels_)


def test_common_weights_with_a_tiny_penalty_are_all_on_one_feature():
    found = fit(HARD, weights="common", penalty=1e-6)
    assert np.sort(found.feature_weights_)[-2:].tolist() == [0.0, 1.0]
    top = found.feature_weights_.argmax()
    # Its own best clusters: no other feature has any that are better.
    assert found.feature_scores_.argmax() == top
    alone = [fit(HARD[:, [a]], weights="common", penalty=1.0).feature_scores_[0] for a in range(20)]
    assert found.feature_scores_[top] == pytest.approx(max(alone), rel=1e-9)


@pytest.mark.parametrize("penalty", [1e-3, 1e-4, 1e-5])
def test_samples_with_a_tiny_penalty_have_one_feature_each_and_are_compared_by_it(penalty):
    found = fit(HARD, penalty=penalty)
    assert np.median(found.sample_weights_.max(axis=1)) > 0.99
    # As the scale goes to zero, D goes to W times the least d of the features that one of the two samples weighs.
    apart = by_pair(*map(differences, HARD.T))
    expected = slow_distances(apart, found.sample_weights_, penalty * (1 + 0.1 * found.n_iter_))
    np.testing.assert_allclose(squareform(found.dissimilarity_), expected, rtol=0.05, atol=1e-3)


def test_weights_are_in_proportion_to_the_powers_of_the_scores():
    found = fit(HARD, weights="common", penalty=0.1)
    powers = np.exp(naive.scores(HARD, found.labels_) / 0.1)
    np.testing.assert_allclose(found.feature_weights_, powers / powers.sum(), rtol=1e-8)


@pytest.mark.parametrize("rule", ["max", "1se"])
def test_the_penalty_of_common_weights_is_chosen_by_the_gap_statistic(rule):
    found = fit(EASY, weights="common", rule=rule)
    curve = found.gap_curve_
    assert isinstance(curve, TuningCurve)
    np.testing.assert_array_equal(curve.values, PENALTIES)
    assert (curve.parameter, curve.chosen) == ("penalty", found.penalty_)
    top = curve.score.argmax()
    bar = curve.score[top] - (curve.error[top] if rule == "1se" else 0.0)
    assert found.penalty_ == PENALTIES[curve.score >= bar].min()


def test_refitting_leaves_nothing_of_the_other_form():
    found = fit(HARD)
    assert (found.penalty_, found.gap_curve_) == (0.2, None)
    found.set_params(weights="common").fit(HARD)
    assert found.gap_curve_ is not None
    assert not hasattr(found, "sample_weights_")
    assert not hasattr(found, "dissimilarity_")
    assert found.set_params(penalty=0.3).fit(HARD).gap_curve_ is None
