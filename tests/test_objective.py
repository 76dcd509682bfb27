"""The objective without standardization is an amount, which both steps raise; with it, a share, as ever."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import sparsecluster._search.search
from sparsecluster import SASClustering
from sparsecluster._features.amounts import Amounts
from sparsecluster._kernels.select import largest
from sparsecluster._search.climb import climb, climb_all
from sparsecluster._search.search import Pool, search_size
from sparsecluster.datasets import shifted_groups
from tests import naive
from tests.helpers.common import plain_scores, refuses, within
from tests.helpers.kinds import INCOMPLETE, KINDS, SUBSETS, K, N, P, make, some_labels

HARD = shifted_groups(mu=0.8, n_features=30, n_useful=8, group_size=12, seed=1)
# Columns with very different units.
SCALES = np.geomspace(1.0, 5.0, 30)[np.random.default_rng(0).permutation(30)]
SCALED = HARD.X * SCALES


def fit(table=SCALED, **parameters):
    given = {"n_features_to_select": 8, "standardize": False, "n_init": 5, "core_agreement": None}
    return SASClustering(**{**given, **parameters}).fit(table)


def amounts(table, labels):
    """T_a - Delta_a of every column."""
    return within(table, np.zeros(len(table))) - within(table, labels)


# ---------------------------------------------------------------- amounts


def naive_amounts(case, labels):
    """Of every feature, the mean of T - Delta of its members, where that is not negative."""
    return np.array(
        [
            np.mean([max(naive.delta_total(each) - naive.delta_within(each, labels), 0.0) for each in members])
            for members in case.members
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_amount_is_the_total_less_what_is_left_within_clusters(kind):
    case, labels = make(kind), some_labels()
    found = Amounts(case.features(standardize=False))
    np.testing.assert_allclose(found.scores(labels, K), naive_amounts(case, labels), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(found.scores(labels, K), found.features.explained(labels, K))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in INCOMPLETE])
def test_what_a_clusterer_lowers_is_what_amounts_leave(kind):
    """For any subset, the total less the within of all pairs is the sum of the amounts."""
    case, labels = make(kind), some_labels()
    found = Amounts(case.features(standardize=False))
    for subset in map(np.array, SUBSETS):
        similarity = found.pairs(subset).similarity
        explained = [naive.similarity_objective(similarity, each) for each in (labels, np.zeros(N, np.int32))]
        assert found.scores(labels, K)[subset].sum() == pytest.approx(explained[0] - explained[1], rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_amount_of_a_feature_alone_is_that_of_its_own_best_clusters(kind):
    found = Amounts(make(kind).features(standardize=False))
    alone = found.univariate(K)
    reached = [found.scores(found.univariate_labels(a, K), K)[a] for a in range(P)]
    np.testing.assert_allclose(alone, reached, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.permuted(3).univariate(K), alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_only_scores_differ_from_the_features_that_were_given(kind):
    features = make(kind).features(standardize=False)
    found = Amounts(features)
    assert (found.n_samples, found.n_features) == (N, P)
    assert (found.has_rows, found.has_missing) == (features.has_rows, features.has_missing)
    np.testing.assert_array_equal(found.total, features.total)
    np.testing.assert_array_equal(found.pair_sums(np.ones((N, N))), features.pair_sums(np.ones((N, N))))
    assert isinstance(found.permuted(1), Amounts)
    assert isinstance(found.like_this(features), Amounts)


# ---------------------------------------------------------------- the objective of a fit


def test_without_standardization_the_objective_is_the_sum_of_the_amounts():
    found = fit()
    by_hand = amounts(SCALED, found.labels_)
    assert found.objective_ == pytest.approx(by_hand[found.support_].sum())
    assert by_hand[~found.support_].max() <= by_hand[found.support_].min()
    # Scores are shares in any case.
    np.testing.assert_allclose(found.feature_scores_, plain_scores(SCALED, found.labels_), rtol=0, atol=1e-12)


def test_on_all_features_it_is_what_plain_k_means_finds_between_clusters():
    clear = shifted_groups(mu=2.0, n_features=30, n_useful=20, group_size=12).X * SCALES
    found = fit(clear, n_features_to_select=1.0)
    plain = KMeans(3, n_init=20, random_state=0).fit(clear)
    between = within(clear, np.zeros(len(clear))).sum() - plain.inertia_
    assert found.objective_ == pytest.approx(between)
    assert found.objective_ == pytest.approx(amounts(clear, found.labels_).sum())


@pytest.mark.parametrize("size", [1, 2, 4])
def test_no_other_subset_is_better_for_the_clusters(size):
    found = fit(SCALED[:, :7], n_features_to_select=size)
    by_hand = amounts(SCALED[:, :7], found.labels_)
    best = max(by_hand[list(subset)].sum() for subset in combinations(range(7), size))
    assert found.objective_ == pytest.approx(best)


def test_both_steps_raise_it():
    """The objective of a climb never falls, and no move of a single sample at its end raises it."""
    found = fit(init=np.arange(36) % 3)
    objectives = [step.objective for step in found.history_]
    assert len(objectives) > 2
    assert (np.diff(objectives) > 0).all()

    def value(labels):
        return amounts(SCALED[:, found.support_], labels).sum()

    assert naive.best_after_one_move(value, found.labels_, 3) <= found.objective_ * (1 + 1e-9)


def test_the_search_finds_the_best_of_all_groupings_and_subsets(problem_of):
    misses = 0
    for seed in range(36):
        rng = np.random.default_rng(seed)
        n, p, k = 6 + seed % 2, 4, 2 + seed % 3
        table = rng.normal(size=(n, p)) * rng.geometric(0.3, p)
        problem = problem_of(table, k)
        problem = problem._replace(features=Amounts(type(problem.features)(standardize_not(problem.features.source))))
        size = 1 + seed % p
        best = max(np.sort(amounts(table, labels))[::-1][:size].sum() for labels in naive.partitions(n, k))
        found = search_size(problem, size, rng).best.objective
        assert found <= best * (1 + 1e-9)
        misses += found < best * (1 - 1e-9)
    assert misses <= 1


def standardize_not(source):
    return type(source)(source.values, source.samples, source.columns, False)


@pytest.mark.parametrize("kind", ["groups", "missing values", "both"])
def test_groups_and_missing_values_count_as_their_columns_do(kind):
    table = SCALED.copy()
    if kind != "groups":
        table[np.random.default_rng(0).random(table.shape) < 0.1] = np.nan
    groups = [a // 2 if a < 10 else a for a in range(30)] if kind != "missing values" else None
    found = fit(table, feature_groups=groups)
    by_column = []
    for x in table.T:
        seen = ~np.isnan(x)
        labels = found.labels_[seen]
        by_column.append(amounts(x[seen, None], labels)[0])
    if groups is not None:
        by_column = (np.bincount(groups, by_column) / np.maximum(np.bincount(groups), 1))[groups]
        chosen = [np.flatnonzero(np.array(groups) == each)[0] for each in set(np.array(groups)[found.support_])]
    else:
        chosen = np.flatnonzero(found.support_)
    assert len(chosen) == 8
    assert found.objective_ == pytest.approx(np.asarray(by_column)[chosen].sum(), rel=1e-9)


def test_units_matter_to_amounts_and_not_to_shares():
    loud = SCALED.copy()
    loud[:, 29] *= 100.0
    assert fit(loud, n_features_to_select=1).support_[29]
    assert not fit(loud, n_features_to_select=1, standardize=True).support_[29]


# ---------------------------------------------------------------- which objective


def test_the_objective_is_an_amount_only_without_standardization_unless_it_is_given():
    auto, share, amount = (fit(objective=each) for each in ("auto", "share", "amount"))
    np.testing.assert_array_equal(auto.labels_, amount.labels_)
    assert auto.objective_ == amount.objective_
    assert share.objective_ == pytest.approx(share.feature_scores_[share.support_].sum())
    usual, same = (fit(standardize=True, objective=each) for each in ("auto", "share"))
    assert usual.objective_ == same.objective_ == pytest.approx(usual.feature_scores_[usual.support_].sum())


def test_standardized_numbers_have_the_same_share_and_amount():
    share, amount = (fit(standardize=True, objective=each) for each in ("share", "amount"))
    np.testing.assert_array_equal(share.labels_, amount.labels_)
    assert share.objective_ == pytest.approx(amount.objective_)


def test_shares_without_standardization_are_what_the_authors_code_maximizes():
    """The numbers are those of version 0.1, which had no other objective."""
    found = fit(objective="share", n_init="auto")
    assert np.flatnonzero(found.support_).tolist() == OLD_SUPPORT
    assert "".join(map(str, found.labels_)) == OLD_LABELS
    assert found.objective_ == pytest.approx(OLD_OBJECTIVE, rel=1e-12)


OLD_SUPPORT = [2, 3, 4, 5, 6, 7, 21, 23]
OLD_LABELS = "020020200200202000210102111121111111"
OLD_OBJECTIVE = 3.394163715537796


def test_the_within_gap_compares_shares_only():
    for parameters in ({"standardize": False}, {"objective": "amount"}):
        with refuses('gap="within" compares shares', "sum of amounts", 'gap="between"', "standardize=True", "share"):
            SASClustering(gap="within", **parameters).fit(SCALED)
    found = SASClustering(gap="within", standardize=False, objective="share", n_permutations=2).fit(SCALED)
    assert found.gap_curve_.kind == "within"


@pytest.mark.parametrize("search", ["path", "grid", "golden"])
def test_one_feature_alone_has_no_gap(search):
    """Permuting a column does not change how much of it can be explained on its own."""
    found = SASClustering(standardize=False, n_permutations=3, search=search).fit(SCALED)
    curve = found.gap_curve_
    if search == "path":
        assert curve.score[0] == pytest.approx(0.0, abs=1e-12)
    assert found.objective_ == pytest.approx(amounts(SCALED, found.labels_)[found.support_].sum())


# ---------------------------------------------------------------- what starts are compared by


@pytest.fixture
def climbs(monkeypatch):
    """All climbs of a search."""
    seen, of, of_all = [], climb, climb_all
    monkeypatch.setattr(sparsecluster._search.search, "climb", lambda *a: seen.append(of(*a)) or seen[-1])
    monkeypatch.setattr(sparsecluster._search.search, "climb_all", lambda *a: seen.extend(found := of_all(*a)) or found)
    return seen


@pytest.mark.parametrize("standardize", [True, False])
def test_with_all_features_compared_the_best_start_explains_most_of_the_table(climbs, standardize):
    found = fit(compare="all", consensus=False, standardize=standardize, n_init=12)
    explained = [each.scores.sum() for each in climbs]
    assert len(climbs) == 12
    assert np.unique(np.round(explained, 6)).size > 1
    of_features = amounts(SCALED, found.labels_) if not standardize else plain_scores(SCALED, found.labels_)
    assert of_features.sum() == pytest.approx(max(explained))


def test_with_chosen_features_compared_the_best_start_has_the_largest_objective(climbs):
    found = fit(compare="chosen", n_features_to_select=4, consensus=False, standardize=True, n_init=12)
    assert found.objective_ == max(each.objective for each in climbs)
    # The two ways of comparing differ on this table.
    assert climbs[int(np.argmax([each.scores.sum() for each in climbs]))].objective < found.objective_


@pytest.mark.parametrize("compare", ["chosen", "all"])
def test_a_pool_keeps_the_best_climb_and_counts_the_starts_that_reach_it(problem_of, compare):
    rng = np.random.default_rng(0)
    problem = problem_of(HARD.X, 3)
    pool, found = Pool(compare), []
    for _ in range(8):
        labels = naive.random_labels(rng, 36, 3)
        scores = problem.scores(labels)
        subset = largest(scores, 4)
        found.append(climb(problem._replace(max_iter=1), labels, 4, rng))
        assert found[-1].subset.tolist() == subset.tolist()
        pool.add(found[-1], fresh=True)
    merits = [each.objective if compare == "chosen" else each.scores.sum() for each in found]
    assert pool.best is found[int(np.argmax(merits))]
    assert [ending.merit for ending in pool.fresh] == merits
    assert pool.hits == 1
    pool.add(pool.best, fresh=True)
    assert pool.hits == 2
