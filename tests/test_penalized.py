"""Penalized mixtures as estimators: what they select, their memberships, the BIC, and what they refuse."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from sparsecluster import (
    PairwiseFusionMixture,
    PanShenMixture,
    WangZhuMixture,
    XieMixture,
    load_model,
    make_method,
    rand_index,
    save_model,
)
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._result import NoClustersError
from tests.helpers.common import refuses
from tests.helpers.methods import CORNERS, HARD, MIXTURES, TRUTH, quick
from tests.helpers.mixtures import REFERENCE, table_of

EACH = pytest.mark.parametrize("name", MIXTURES)
CLEAR = shifted_groups(mu=2.0, n_features=60, n_useful=20, group_size=20, seed=3)


def penalized(name, strength, **parameters):
    both = {"penalty": strength, "variance_penalty": strength} if name == "xie" else {"penalty": strength}
    return quick(name, **both, **parameters)


# ---------------------------------------------------------------- what is found


@EACH
def test_the_bic_keeps_useful_features_and_drops_most_others(name):
    found = make_method(name, 3, n_init=4).fit(CLEAR.X)
    assert rand_index(CLEAR.truth, found.labels_) == 1.0
    assert found.support_[CLEAR.useful].all()
    # Xie's clusters have variances of their own, which a weak penalty leaves free in features with equal means as well.
    assert found.support_[~CLEAR.useful].sum() <= (25 if name == "xie" else 6)


@EACH
def test_the_bic_chooses_the_penalty_at_which_it_is_smallest(name):
    found = quick(name, n_penalties=8).fit(CLEAR.X)
    curve = found.bic_curve_
    assert curve.values[curve.score.argmax()] == curve.chosen == found.penalty_
    # The curve shows half of what the BIC gains over that of a single cluster, with p variances.
    n, p = CLEAR.X.shape
    log_density = (
        -0.5 * (n * np.log(2 * np.pi * (n - 1) / n) + n) if name != "xie" else -0.5 * (n * np.log(2 * np.pi) + n - 1)
    )
    one_cluster = -2 * p * log_density + (0 if name == "xie" else p * np.log(n))
    assert curve.score.max() == pytest.approx((one_cluster - found.bic_) / 2)
    assert {"loglik", "objective", "features", "bic"} <= set(curve.frame().columns)


@EACH
def test_the_bic_counts_free_parameters(name):
    found = penalized(name, 2.0).fit(CLEAR.X)
    spread, middle = CLEAR.X.std(axis=0, ddof=1), CLEAR.X.mean(axis=0)
    means = np.round((found.means_ - middle) / spread, 10)
    if name == "xie":
        free = np.count_nonzero(means) + np.count_nonzero(np.round(found.variances_ / spread**2 - 1.0, 10))
    elif name == "pairwise-fusion":
        free = 60 + sum(len(set(column) - {0.0}) for column in means.T)
    else:
        free = 60 + np.count_nonzero(means)
    # The scale of the features adds a constant to the log likelihood, which is that of standardized features.
    assert found.bic_ == pytest.approx(-2 * found.loglik_ + (2 + free) * np.log(60))


@EACH
def test_a_stronger_penalty_chooses_fewer_features(name):
    sizes = [penalized(name, strength).fit(CLEAR.X).support_.sum() for strength in (0.0, 1.0, 4.0)]
    assert sizes[0] == 60
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 60


@EACH
def test_a_penalty_that_drops_every_feature_is_refused_with_advice(name):
    with refuses(
        f"With penalty={1e6!r}, fewer than 3 clusters are left", "Use a smaller penalty", error=NoClustersError
    ):
        penalized(name, 1e6).fit(CLEAR.X)


@EACH
def test_the_penalized_likelihood_of_every_step_is_kept_and_never_falls(name):
    found = quick(name, n_penalties=3).fit(HARD)
    steps = found.objectives_
    assert len(steps) == found.n_iter_
    assert steps[-1] == found.objective_
    assert min(np.diff(steps), default=0.0) >= -1e-9 * abs(steps[-1])


@pytest.mark.parametrize(("cls", "model"), [(PanShenMixture, "EEI"), (XieMixture, "VVI")])
@pytest.mark.parametrize("data", ["gauss", "simfuse"])
def test_without_a_penalty_the_best_start_is_as_good_as_mclust(cls, model, data):
    (case,) = [each for each in REFERENCE["mclust"] if (each["data"], each["model"]) == (data, model)]
    none = {"variance_penalty": 0.0} if cls is XieMixture else {}
    found = cls(case["k"], penalty=0.0, standardize=False, **none).fit(table_of(data))
    assert found.loglik_ >= case["loglik"] - 1e-4


def test_more_kinds_of_starts_find_a_smaller_bic():
    X, truth, _ = shifted_groups(mu=1.0, n_features=1000, n_useful=50, group_size=20, seed=1)
    alone, all_kinds = (PanShenMixture(3, init=init).fit(X) for init in ("kmeans", "auto"))
    assert all_kinds.bic_ < alone.bic_
    assert rand_index(truth, all_kinds.labels_) > rand_index(truth, alone.labels_)


# ---------------------------------------------------------------- memberships


@EACH
def test_memberships_are_probabilities_whose_largest_is_the_label(name):
    found = quick(name).fit(HARD)
    assert found.memberships_.shape == (45, 3)
    np.testing.assert_allclose(found.memberships_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.memberships_.argmax(axis=1), found.labels_)
    np.testing.assert_allclose(found.predict_proba(HARD), found.memberships_, atol=1e-6)
    np.testing.assert_array_equal(found.predict(HARD), found.labels_)


@EACH
def test_a_sample_between_two_clusters_belongs_to_both(name):
    rng = np.random.default_rng(0)
    table = np.concatenate([rng.normal(-3, 1, (40, 4)), rng.normal(3, 1, (40, 4))])
    found = quick(name, 2).fit(np.column_stack([table, rng.normal(size=(80, 3))]))
    # Between them there is a sample to which both are equally near.
    line = found.means_[0] + np.linspace(0, 1, 201)[:, None] * (found.means_[1] - found.means_[0])
    shares = found.predict_proba(line)[:, 0]
    assert shares[0] > 0.99
    assert shares[-1] < 0.01
    assert np.abs(shares - 0.5).min() < 0.2


@EACH
def test_samples_left_out_have_no_memberships(name):
    table = np.concatenate([CORNERS, [np.full(40, 60.0)]])
    found = quick(name, trim=0.05).fit(table)
    assert found.labels_[-1] == -1
    assert np.isnan(found.memberships_[-1]).all()
    np.testing.assert_array_equal(found.labels_[:-1], TRUTH)


@EACH
def test_a_saved_mixture_gives_the_same_memberships(name, tmp_path):
    found = penalized(name, 1.0).fit(HARD)
    again = load_model(save_model(found, tmp_path / "model.json"))
    np.testing.assert_array_equal(again.predict_proba(HARD[:7]), found.predict_proba(HARD[:7]))
    np.testing.assert_array_equal(again.memberships_, found.memberships_)
    json.loads((tmp_path / "model.json").read_text())


# ---------------------------------------------------------------- each paper


def test_the_penalty_max_makes_the_largest_means_equal():
    found = WangZhuMixture(3, penalty=15.0, adaptive=False, n_init=2).fit(CLEAR.X)
    sizes = np.abs((found.means_ - CLEAR.X.mean(axis=0)) / CLEAR.X.std(axis=0, ddof=1))[:, found.support_]
    ordered = np.sort(np.round(sizes, 9), axis=0)
    assert np.mean(ordered[-1] == ordered[-2]) > 0.5


def test_the_hierarchical_penalty_drops_single_means_too():
    found = WangZhuMixture(3, form="hierarchical", penalty=5.0, n_init=2).fit(CORNERS)
    means = np.round(found.means_ - CORNERS.mean(axis=0), 9)[:, found.support_]
    assert (means == 0).any()
    assert means.any(axis=0).all()


def test_pairwise_fusion_says_which_clusters_a_feature_separates():
    found = PairwiseFusionMixture(3, penalty=4.0, n_init=4).fit(CORNERS)
    apart = found.separates_
    assert apart.shape == (40, 3, 3)
    np.testing.assert_array_equal(apart, apart.transpose(0, 2, 1))
    np.testing.assert_array_equal(apart.any(axis=(1, 2)), found.support_)
    np.testing.assert_array_equal(apart, found.means_.T[:, :, None] != found.means_.T[:, None, :])
    # Each group is shifted in eight features of its own, which do not separate the other two.
    own = np.arange(24) // 8
    for first, second in ((0, 1), (0, 2), (1, 2)):
        expected = (own == first) | (own == second)
        assert np.mean(apart[:24, first, second] == expected) > 0.9


def test_own_variances_find_clusters_that_differ_in_spread_alone():
    rng = np.random.default_rng(0)
    table = np.concatenate([rng.normal(0, 0.3, (40, 20)), rng.normal(0, 2.0, (40, 20))])
    truth = np.repeat([0, 1], 40)
    assert rand_index(truth, XieMixture(2, n_init=3).fit(table).labels_) > 0.95
    assert rand_index(truth, PanShenMixture(2, n_init=3).fit(table).labels_) < 0.8


def test_grouped_means_are_dropped_together():
    def means(**parameters):
        found = XieMixture(3, penalty=6.0, variance_penalty=8.0, n_init=3, **parameters).fit(CORNERS)
        return np.round((found.means_ - CORNERS.mean(axis=0)), 9) != 0

    by_feature = means(grouping="features")
    assert (by_feature.all(axis=0) == by_feature.any(axis=0)).all()
    assert (~by_feature).any()
    sets = np.repeat(["a", "b", "c", "d", "e"], 8)
    by_set = means(grouping=sets).reshape(3, 5, 8)
    assert (by_set.all(axis=2) == by_set.any(axis=2)).all()
    assert (~by_set).any()
    # Without groups, single means are dropped.
    alone = means()
    assert (alone.all(axis=0) != alone.any(axis=0)).any()


def test_sets_of_features_follow_their_columns():
    columns = np.random.default_rng(0).permutation(40)
    sets = np.repeat(np.arange(5), 8)
    one = XieMixture(3, penalty=6.0, variance_penalty=8.0, grouping=sets, n_init=3).fit(CORNERS)
    other = XieMixture(3, penalty=6.0, variance_penalty=8.0, grouping=sets[columns], n_init=3).fit(CORNERS[:, columns])
    np.testing.assert_array_equal(other.support_, one.support_[columns])


# ---------------------------------------------------------------- the number of clusters


@EACH
def test_penalty_and_number_of_clusters_are_chosen_together_by_the_bic(name):
    found = quick(name, [2, 3, 4], n_penalties=12).fit(CORNERS)
    curve = found.n_clusters_curve_
    assert (curve.parameter, curve.criterion) == ("k", "bic")
    assert curve.values.tolist() == [2, 3, 4]
    assert curve.chosen == found.n_clusters_ == curve.values[curve.score.argmax()]
    # With a penalty on differences a fourth cluster costs little, if it differs in few features only.
    assert found.n_clusters_ == 3 or name == "pairwise-fusion"


def test_a_single_cluster_is_said_to_be_preferred():
    noise = np.random.default_rng(0).normal(size=(60, 20))
    with pytest.warns(UserWarning, match="The BIC prefers a single cluster"):
        found = quick("pan-shen", [2, 3]).fit(noise)
    assert found.n_clusters_ in (2, 3)


@EACH
def test_a_warning_says_if_a_single_cluster_would_be_better(name):
    noise = np.random.default_rng(0).normal(size=(60, 40))
    with pytest.warns(UserWarning, match="By the BIC, a single cluster describes the data better than 3 clusters do"):
        quick(name).fit(noise)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(name).fit(CORNERS)


# ---------------------------------------------------------------- what is refused


@EACH
@pytest.mark.parametrize("value", [-1.0, "x", None, np.inf, np.nan])
def test_a_penalty_is_auto_or_a_number_of_at_least_zero(name, value):
    with refuses('penalty must be "auto" or a number of at least 0', 'Use "auto" to tune it.'):
        quick(name, penalty=value).fit(HARD)


@EACH
@pytest.mark.parametrize("value", ["random", ("kmeans", "x"), (), 3, None])
def test_unknown_starts_are_answered_by_the_known(name, value):
    with refuses("init must be", "kmeans"):
        quick(name, init=value).fit(HARD)


@EACH
def test_missing_values_are_refused_by_name(name):
    frame = pd.DataFrame(HARD).add_prefix("gene")
    frame.iloc[3, 5] = np.nan
    with refuses("contains NaN in 1 of 30 columns: 'gene5'", "does not accept missing values"):
        quick(name).fit(frame)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"variance_penalty": -1.0}, "variance_penalty must be"),
        ({"n_variance_penalties": 0}, "n_variance_penalties must be a whole number of at least 1"),
        ({"variance_form": "square"}, 'variance_form must be one of "log", "difference"'),
        ({"grouping": "genes"}, 'grouping must be one of "features", None or an array'),
        ({"grouping": "features", "variance_form": "difference"}, 'requires variance_form="log"'),
        ({"grouping": [0, 1]}, r"one entry per feature, that is, the shape \(30,\); got \(2,\)"),
    ],
)
def test_wrong_parameters_of_xie_are_refused(parameters, words):
    with refuses(words):
        quick("xie", **parameters).fit(HARD)


@pytest.mark.parametrize("name", ["pan-shen", "wang-zhu", "pairwise-fusion"])
def test_adaptive_is_true_or_false(name):
    with refuses("adaptive must be True or False"):
        quick(name, adaptive="yes").fit(HARD)


def test_the_form_of_wang_and_zhu_is_one_of_two():
    with refuses('form must be one of "max", "hierarchical"', 'Did you mean "hierarchical"?'):
        WangZhuMixture(3, form="hierarchy").fit(HARD)
