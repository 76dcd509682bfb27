"""Penalized mixtures: M-steps that are exact, a likelihood that never falls, and agreement with reference programs."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsecluster._kernels.penalized_means import hierarchical_means
from sparsecluster._kernels.penalized_variances import shrunken_log_variances
from sparsecluster._mixtures.em import Model, Table, log_joint, m_step, memberships_of, one_hot, started
from sparsecluster._mixtures.penalties import (
    L1,
    Fusion,
    Hierarchical,
    InSets,
    MaxNorm,
    NoPenalty,
    inverse_sizes,
    pair_differences,
)
from sparsecluster._mixtures.starts import canonical, distinct
from sparsecluster._mixtures.variances import GroupedLogVariances, LogVariances, Variances, cost
from sparsecluster.datasets import shifted_groups
from tests.helpers.cases import in_turn
from tests.helpers.mixtures import (
    REFERENCE,
    fitted,
    n_pairs,
    penalties,
    plain_em,
    plain_loglik,
    plain_value,
    table_of,
)

NAMES = list(penalties(np.ones((3, 2))))
EXACT = [name for name in NAMES if name != "hierarchical"]


def problem(seed=0, p=12, k=4):
    """Means and weights of one M-step."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(p, k)), rng.uniform(2.0, 40.0, (p, k))


def expected(m, a, mu):
    """The part of the M-step that is not the penalty."""
    return 0.5 * (a * (m - mu) ** 2).sum()


# ---------------------------------------------------------------- single M-steps


def solved(name, case, start=None):
    m, a = np.array([case["m"]]), np.array([case["a"]])
    w, pairs = np.array([case["w"]]), np.array([case["pair_weights"]])
    penalty = {
        "l1": L1(case["lam"]),
        "adaptive_l1": L1(case["lam"], w),
        "linf": MaxNorm(case["lam"], np.ones(1)),
        "pairwise_uniform": Fusion(case["lam"], np.ones_like(pairs)),
        "pairwise_weighted": Fusion(case["lam"], pairs),
        "group_l2": InSets.of(case["lam"], [0] * m.size),
        "ahp_fixed_point_from_m": Hierarchical(case["lam"], w),
    }[name]
    if name == "group_l2":
        # The means of one feature in all clusters are a set of features in one cluster, but for the square root.
        own = penalty.with_strength(case["lam"] / np.sqrt(m.size))
        return own.means(m.T.copy(), a.T.copy(), m.T, None)[0][:, 0]
    return penalty.means(m, a, m, None)[0][0]


STEPS = [name for name in REFERENCE["means"][0] if name not in ("m", "a", "lam", "w", "pairs", "pair_weights")]


@pytest.mark.parametrize("name", [name for name in STEPS if name != "ahp_one_pass_from_m"])
def test_means_are_those_of_the_reference(name):
    for case in REFERENCE["means"]:
        np.testing.assert_allclose(solved(name, case), case[name], rtol=0, atol=1e-7)


def test_one_pass_of_the_hierarchical_penalty_is_that_of_the_reference():
    for case in REFERENCE["means"]:
        m, a, w = (np.array([case[name]]) for name in ("m", "a", "w"))
        found = hierarchical_means(m, a, m, w, case["lam"], 1)[0]
        np.testing.assert_allclose(found, case["ahp_one_pass_from_m"], rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("strength", [0.0, 0.3, 3.0, 30.0])
def test_no_other_means_are_better(name, strength):
    rng = np.random.default_rng(1)
    m, a = problem()
    penalty = penalties(m)[name].with_strength(strength)
    found, _ = penalty.means(m, a, m, None)
    best = expected(m, a, found) + penalty.value(found)
    for scale in (1e-6, 1e-3, 0.1, 1.0):
        for _ in range(50):
            other = found + scale * rng.normal(size=m.shape) * (rng.random(m.shape) < 0.3)
            assert expected(m, a, other) + penalty.value(other) >= best - 1e-12 * abs(best)


@pytest.mark.parametrize("name", ["l1", "max", "grouped", "fusion"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_means_of_one_feature_are_the_minimum_that_a_general_program_finds(name, k):
    m, a = problem(seed=k, p=6, k=k)
    penalty = penalties(m)[name].with_strength(2.0)
    found, _ = penalty.means(m, a, m, None)
    for j in range(6):

        def value(mu, j=j):
            return 0.5 * (a[j] * (m[j] - mu) ** 2).sum() + plain_value(name, mu, 2.0)

        searched = minimize(
            value, m[j], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20000}
        )
        assert value(found[j]) <= searched.fun + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_hierarchical_penalty_never_makes_an_m_step_worse(seed):
    rng = np.random.default_rng(seed)
    m, a = problem(seed)
    penalty = Hierarchical(rng.uniform(0.1, 20.0), inverse_sizes(m, np.ones(len(m))))
    mu, values = m, []
    for _ in range(30):
        values.append(expected(m, a, mu) + penalty.value(mu))
        mu = hierarchical_means(m, a, mu, penalty.weights, penalty.strength, 1)
    assert max(np.diff(values)) <= 1e-12 * values[0]


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_fused_means_keep_their_order_only_if_clusters_are_alike(k):
    # With equal weights the order of the means is that of the data; otherwise it need not be.
    rng = np.random.default_rng(k)
    m = rng.normal(size=(200, k))
    found, _ = Fusion(1.0, np.ones((1, n_pairs(k)))).means(m, np.full((200, k), 5.0), m, None)
    order = np.argsort(m, axis=1)
    assert (np.diff(np.take_along_axis(found, order, axis=1), axis=1) >= 0).all()


def test_two_clusters_are_fused_by_a_soft_threshold_of_their_difference():
    m, a = problem(k=2)
    found, _ = Fusion(2.0, np.ones((1, 1))).means(m, a, m, None)
    apart = m[:, 0] - m[:, 1]
    shrunken = np.sign(apart) * np.maximum(np.abs(apart) - 2.0 * (1 / a).sum(axis=1), 0.0)
    np.testing.assert_allclose(found[:, 0] - found[:, 1], shrunken, atol=1e-12)
    kept = np.abs(apart) > 2.0 * (1 / a).sum(axis=1)
    np.testing.assert_allclose((a * found).sum(axis=1)[kept], (a * m).sum(axis=1)[kept], atol=1e-10)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "none"])
def test_the_strongest_penalty_drops_all_means_and_a_weaker_one_does_not(name):
    m, a = problem()
    # Features are centered: the means of a feature, weighted by the sizes of the clusters, sum to zero.
    m -= (a * m).sum(axis=1, keepdims=True) / a.sum(axis=1, keepdims=True)
    penalty = penalties(m)[name]
    top = penalty.strongest(m, a)
    assert not penalty.with_strength(top * 1.001).means(m, a, m, None)[0].any()
    assert penalty.with_strength(top / 10).means(m, a, m, None)[0].any()


# ---------------------------------------------------------------- variances


@pytest.mark.parametrize(("name", "penalty"), [("abs_var", Variances), ("abs_log_var", LogVariances)])
def test_variances_are_those_of_the_reference(name, penalty):
    for case in REFERENCE["variances"]:
        count, squares = np.array([case["N"]]), np.array([[case["S"]]])
        found = penalty(case["lam"]).variances(count, squares, np.zeros((1, 1)))
        assert found[0, 0] == pytest.approx(case[name], abs=1e-7)


@pytest.mark.parametrize("penalty", [LogVariances, Variances, GroupedLogVariances])
@pytest.mark.parametrize("strength", [0.0, 0.5, 4.0])
def test_no_other_variances_are_better(penalty, strength):
    rng = np.random.default_rng(2)
    counts, squares = np.array([12.0, 30.0, 5.0]), rng.uniform(0.1, 60.0, (20, 3))
    model = penalty(strength)
    found = model.variances(counts, squares, np.zeros((20, 1)))
    best = cost(found, counts, squares).sum() + model.value(found)
    for scale in (1e-5, 1e-2, 0.3, 2.0):
        for _ in range(50):
            other = found * np.exp(scale * rng.normal(size=found.shape) * (rng.random(found.shape) < 0.3))
            assert cost(other, counts, squares).sum() + model.value(other) >= best - 1e-11 * abs(best)


@pytest.mark.parametrize("penalty", [LogVariances, Variances, GroupedLogVariances])
def test_the_strongest_penalty_makes_all_variances_one(penalty):
    rng = np.random.default_rng(3)
    counts, squares = np.array([12.0, 30.0, 5.0]), rng.uniform(1.0, 60.0, (20, 3))
    top = penalty(1.0).strongest(counts, squares)
    np.testing.assert_array_equal(penalty(top * 1.001).variances(counts, squares, np.zeros((20, 1))), 1.0)


def test_grouped_variances_without_a_penalty_are_mean_squares():
    counts, squares = np.array([4.0, 9.0]), np.array([[2.0, 30.0], [1e-9, 1e9]])
    np.testing.assert_allclose(shrunken_log_variances(counts, squares, 0.0), squares / counts, rtol=1e-12)


# ---------------------------------------------------------------- EM


HARD = shifted_groups(mu=0.8, n_features=30, n_useful=10, group_size=15, seed=1)
ROWS = (HARD.X - HARD.X.mean(axis=0)) / HARD.X.std(axis=0, ddof=1)
LABELS = np.random.default_rng(0).permutation(HARD.truth)


def models(strength):
    means = started(Table.of(ROWS, False), one_hot(LABELS, 3)).means
    common = {name: Model(each) for name, each in penalties(means, strength).items()}
    own = {
        f"own variances, {type(each).__name__}": Model(L1(strength), each)
        for each in (LogVariances(strength), Variances(strength), GroupedLogVariances(strength))
    }
    return common | own


@in_turn(name=models(1.0), strength=[0.0, 0.5, 2.0, 8.0, 100.0])
def test_the_penalized_likelihood_never_falls(name, strength):
    model = models(strength)[name]
    fit, _ = fitted(ROWS, LABELS, 3, model)
    assert min(np.diff(fit.history), default=0.0) >= -1e-9 * abs(fit.objective)
    np.testing.assert_allclose(fit.memberships.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", models(1.0))
def test_the_likelihood_is_that_of_normal_densities(name):
    model = models(1.0)[name]
    fit, _ = fitted(ROWS, LABELS, 3, model)
    plain = plain_loglik(ROWS, *fit.mixture[:3])
    assert fit.loglik == pytest.approx(plain, rel=1e-9)
    assert fit.objective == pytest.approx(plain - model.penalty(fit.mixture), rel=1e-9)


def test_em_is_that_of_a_program_with_loops():
    rows = ROWS[:, :6]
    rows = rows - rows.mean(axis=0)
    fit, _ = fitted(rows, LABELS, 3, Model(L1(1.5)), max_iter=5)
    np.testing.assert_allclose(fit.history, plain_em(rows, LABELS, 3, 1.5, 5)[: len(fit.history)], rtol=1e-10)


@pytest.mark.parametrize("case", REFERENCE["mclust"], ids=lambda case: f"{case['data']}-{case['model']}")
def test_without_a_penalty_the_likelihood_is_that_of_mclust(case):
    own = LogVariances(0.0) if case["model"] == "VVI" else None
    labels = np.array(case["start_labels"]) - 1
    fit, _ = fitted(table_of(case["data"]), labels, case["k"], Model(NoPenalty(), own))
    assert fit.loglik == pytest.approx(case["loglik"], abs=1e-5)


def reference_model(case, means):
    p, k = means.shape
    strength, ones = case["penalty"], np.ones(p)
    on_means = {
        "l1": L1(strength),
        "apl1": L1(strength, inverse_sizes(means, ones)),
        "linf": MaxNorm(strength, ones),
        "ahp": Hierarchical(strength, inverse_sizes(means, ones)),
        "pfp": Fusion(strength, np.ones((1, n_pairs(k)))),
        "apfp": Fusion(strength, inverse_sizes(pair_differences(means), ones)),
    }.get(case["method"], L1(strength))
    on_variances = {"xie_abs": Variances, "xie_log": LogVariances}.get(case["method"])
    return Model(on_means, on_variances and on_variances(case["variance_penalty"]))


def named(case):
    return f"{case['data']}-{case['method']}-{case['penalty']}-{case.get('variance_penalty', 0)}"


@pytest.mark.parametrize("case", REFERENCE["fits"], ids=named)
def test_whole_fits_are_those_of_the_reference(case):
    rows, labels = table_of(case["data"]), np.array(REFERENCE["starts"][case["data"]]) - 1
    means = started(Table.of(rows, False), one_hot(labels, case["k"])).means
    fit, table = fitted(rows, labels, case["k"], reference_model(case, means))
    if case["method"] == "ahp":
        # The reference makes one pass of the hierarchical penalty per step, which may end at a worse point.
        assert fit.objective >= case["objective"] - 1e-4
    else:
        assert fit.objective == pytest.approx(case["objective"], abs=1e-4)
        assert (fit.mixture.used(table) + 1).tolist() == case["used"]
        # EM stops at slightly different points. One more parameter would change the BIC by more than 4.
        assert fit.bic == pytest.approx(case["bic"], abs=0.1)


@pytest.mark.parametrize("case", REFERENCE["parse"], ids=named)
def test_adaptive_fits_are_at_least_as_good_as_those_of_parse(case):
    labels = np.array(case["start_labels"]) - 1
    rows = table_of(case["data"])
    means = started(Table.of(rows, False), one_hot(labels, case["k"])).means
    fit, _ = fitted(rows, labels, case["k"], reference_model({**case, "method": case["method"].lower()}, means))
    # PARSE approximates absolute values by quadratic functions. Its differences below 1e-5 count as zero.
    assert fit.objective >= case["objective"] - 1e-3
    np.testing.assert_array_equal(fit.labels + 1, case["labels"])


def test_pairs_that_a_feature_separates_are_found():
    """The four groups of the table: which of them differ in each feature is known."""
    rows, labels = table_of("simfuse"), np.array(REFERENCE["starts"]["simfuse"]) - 1
    means = started(Table.of(rows, False), one_hot(labels, 4)).means
    fit, table = fitted(rows, labels, 4, Model(Fusion(5.0, inverse_sizes(pair_differences(means), np.ones(30)))))
    assert fit.mixture.used(table).tolist() == list(range(16))
    pooled, _ = fitted(rows, labels, 4, Model(Fusion(20.0, inverse_sizes(pair_differences(means), np.ones(30)))))
    assert not pooled.mixture.means.any()


# ---------------------------------------------------------------- extremes


@pytest.mark.parametrize("name", models(1.0))
def test_ten_thousand_features_do_not_overflow(name):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 10_000))
    rows[:20, :50] += 4.0
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    labels = np.repeat([0, 1], 20)
    means = started(Table.of(rows, False), one_hot(labels, 2)).means
    model = Model(penalties(means)[name]) if name in NAMES else models(1.0)[name]
    fit, _ = fitted(rows, labels, 2, model, max_iter=5)
    assert np.isfinite(fit.history).all()
    np.testing.assert_array_equal(fit.labels, labels)


def test_memberships_of_very_unlikely_samples_are_probabilities():
    joint = np.array([[-1e300, -5.0], [-1e300, -1e5]])
    tau, loglik = memberships_of(joint)
    np.testing.assert_array_equal(tau, [[0.5, 0.5], [1.0, 0.0]])
    assert np.isfinite(loglik)


def test_variances_have_a_floor_and_an_empty_cluster_has_zero_means():
    rows = np.repeat([[-1.0, 2.0], [1.0, -2.0]], 5, axis=0)
    table = Table.of(rows, False)
    tau = np.column_stack([one_hot(np.repeat([0, 1], 5), 2), np.zeros(10)])
    mixture = m_step(table, tau, started(table, tau), Model(NoPenalty()))
    np.testing.assert_allclose(mixture.variances[:, 0], 1e-6 * table.spread)
    np.testing.assert_array_equal(mixture.means[:, 2], 0.0)
    assert np.isfinite(log_joint(table, mixture)).all()


def test_duplicated_rows_count_twice():
    model = Model(L1(2.0))
    once, _ = fitted(ROWS, LABELS, 3, model, max_iter=20)
    twice, _ = fitted(np.tile(ROWS, (2, 1)), np.tile(LABELS, 2), 3, Model(L1(4.0)), max_iter=20)
    assert twice.objective == pytest.approx(2 * once.objective, rel=1e-9)
    np.testing.assert_allclose(twice.mixture.means, once.mixture.means, atol=1e-6)


def test_starts_that_differ_in_numbering_only_are_the_same():
    labels = np.array([2, 2, 0, 1, 0], np.int32)
    np.testing.assert_array_equal(canonical(labels), [0, 0, 1, 2, 1])
    assert len(distinct([labels, canonical(labels), np.array([0, 1, 1, 2, 1], np.int32)])) == 2
