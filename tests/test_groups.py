"""Columns chosen together, in all kinds of features; and many samples, of which a sample is searched."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sparsecluster._features.features
import sparsecluster._search.solve
import sparsecluster.methods._core
from sparsecluster import SASClustering, rand_index
from tests.helpers.cases import in_turn
from tests.helpers.common import refuses

TRUTH = np.repeat([0, 1, 2], [14, 10, 6])
COLORS = np.array(["red", "green", "blue"], dtype=object)
# Groups of two to four columns; the first two groups and the last column alone make the groups of samples.
MEMBERS = {"a": [0, 1, 2], "b": [3, 4], "c": [5, 6, 7, 8], "d": [9, 10]}
ALONE = [11, 12, 13]
USEFUL = np.isin(np.arange(14), [0, 1, 2, 3, 4, 13])
NAMED = ["a"] * 3 + ["b"] * 2 + ["c"] * 4 + ["d"] * 2 + [None] * 3


def numbers(truth=TRUTH, useful=USEFUL, seed=0, far=6.0):
    """Columns in which the groups are far apart, each in an order of its own, and noise."""
    rng = np.random.default_rng(seed)
    centers = rng.permuted(np.tile([-far, 0.0, far], (useful.size, 1)), axis=1).T
    return rng.normal(size=(truth.size, useful.size)) + centers[truth] * useful


X = numbers()


def levels(table):
    return np.digitize(table, [-1.0, 1.0])


def pairwise(table):
    return np.abs(table.T[:, :, None] - table.T[:, None, :])


def frame(table):
    """Numbers, distances, colors and truth values in turn, so that groups hold several kinds."""
    columns = {}
    for a, column in enumerate(table.T):
        kinds = [column, column, COLORS[levels(column)], column > 0.5]
        columns[f"x{a}"] = kinds[a % 4]
    return pd.DataFrame(columns)


KINDS = {
    "numbers": (lambda table: table, {}),
    "numbers with missing values": (
        lambda table: np.where(np.random.default_rng(1).random(table.shape) < 0.1, np.nan, table),
        {},
    ),
    "manhattan": (lambda table: table, {"metric": "manhattan"}),
    "levels": (lambda table: COLORS[levels(table)], {}),
    "ranks": (lambda table: table, {"metric": "ordinal"}),
    "function": (lambda table: table, {"metric": lambda x, y: np.sqrt(abs(x - y))}),
    "mixed": (frame, {"metric": {"x1": "manhattan", "x5": "manhattan", "x9": "manhattan", "x13": "manhattan"}}),
    "sparse": (lambda table: sparse.csr_array(np.where(np.abs(table) > 1, table, 0.0)), {}),
    "precomputed": (pairwise, {"metric": "precomputed"}),
}
EVERY = pytest.mark.parametrize("kind", KINDS)


def fit(table, **parameters):
    return SASClustering(**{"n_permutations": 5, **parameters}).fit(table)


def fit_kind(kind, table=X, **parameters):
    make, own = KINDS[kind]
    return fit(make(table), **{**own, **parameters})


# ---------------------------------------------------------------- groups


@EVERY
def test_useful_groups_are_chosen_as_a_whole(kind):
    found = fit_kind(kind, feature_groups=MEMBERS, n_features_to_select=3)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)
    assert "3 of 7 features" in found.summary()


@EVERY
def test_the_number_of_groups_can_be_chosen(kind):
    found = fit_kind(kind, feature_groups=MEMBERS)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)
    assert found.gap_curve_.values.tolist() == list(range(1, 8))
    assert found.gap_curve_.chosen == 3


@EVERY
@pytest.mark.parametrize("size", [1, 2, 5, 7, 0.5])
def test_whole_groups_are_counted(kind, size):
    found = fit_kind(kind, feature_groups=MEMBERS, n_features_to_select=size)
    chosen = [found.support_[columns] for columns in [*MEMBERS.values(), *([a] for a in ALONE)]]
    assert all(each.all() or not each.any() for each in chosen)
    assert sum(bool(each.all()) for each in chosen) == (4 if size == 0.5 else size)


@EVERY
def test_a_group_has_one_score_the_mean_of_those_of_its_columns(kind):
    found = fit_kind(kind, feature_groups=MEMBERS, n_features_to_select=3)
    # The scores of all columns for these very labels.
    alone = fit_kind(kind, n_features_to_select=6, init=found.labels_, max_iter=1).feature_scores_
    for columns in MEMBERS.values():
        np.testing.assert_allclose(found.feature_scores_[columns], alone[columns].mean(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.feature_scores_[ALONE], alone[ALONE], rtol=0, atol=1e-12)
    firsts = found.feature_scores_[[0, 3, 13]]
    assert found.objective_ == pytest.approx(firsts.sum(), rel=1e-12)


@EVERY
def test_groups_serve_new_samples_and_their_score(kind):
    make, _ = KINDS[kind]
    found = fit_kind(kind, feature_groups=MEMBERS, n_features_to_select=3)
    np.testing.assert_array_equal(found.predict(make(X)), TRUTH)
    assert found.score(make(X)) == pytest.approx(found.objective_ / 3, rel=1e-9)


@EVERY
def test_a_dict_and_a_sequence_say_the_same(kind):
    one = fit_kind(kind, feature_groups=MEMBERS, n_features_to_select=3)
    names = {name: [f"x{a}" for a in columns] for name, columns in MEMBERS.items()}
    every = [*NAMED[:11], "e", "f", "g"]
    for groups in (
        names,
        NAMED,
        tuple(NAMED),
        every,
        np.array(every),
        pd.Series(NAMED),
        [1, 1, 1, 2, 2] + [np.nan] * 9,
    ):
        other = fit_kind(kind, feature_groups=groups, n_features_to_select=3)
        np.testing.assert_array_equal(other.labels_, one.labels_)
        np.testing.assert_array_equal(other.support_, one.support_)


@EVERY
@pytest.mark.parametrize("groups", [{}, {"a": [0]}, {"a": []}, {a: [a] for a in range(14)}, range(14), [None] * 14])
def test_a_group_of_one_is_no_group(kind, groups):
    plain = fit_kind(kind, n_features_to_select=6)
    found = fit_kind(kind, n_features_to_select=6, feature_groups=groups)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_array_equal(found.support_, plain.support_)
    np.testing.assert_array_equal(found.feature_scores_, plain.feature_scores_)
    assert found.history_ == plain.history_


def test_what_no_column_shows_a_group_may():
    # Groups of samples that overlap in every column: 5 of 40 groups of 5 columns make them.
    truth = np.repeat([0, 1, 2], 30)
    useful = np.arange(200) < 25
    shift = np.random.default_rng(0).permuted(np.tile([-0.9, 0.0, 0.9], (200, 1)), axis=1).T[truth] * useful
    found = fit(np.random.default_rng(1).normal(size=(90, 200)) + shift, feature_groups=np.repeat(range(40), 5))
    np.testing.assert_array_equal(found.support_, useful)
    assert rand_index(truth, found.labels_) > 0.97


def test_a_group_of_copies_weighs_as_much_as_one():
    halves, parity = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    noise = np.random.default_rng(0).normal(0, 0.1, (40, 2))
    table = (np.column_stack([halves, parity]) + noise)[:, [0, 1, 1, 1, 1]]
    free = fit(table, n_clusters=2, n_features_to_select=5)
    assert rand_index(free.labels_, parity) == 1.0
    together = fit(table, n_clusters=2, n_features_to_select=2, feature_groups=[0, 1, 1, 1, 1])
    plain = fit(table[:, :2], n_clusters=2, n_features_to_select=2)
    assert rand_index(together.labels_, plain.labels_) == 1.0
    assert together.objective_ == pytest.approx(plain.objective_, rel=1e-9)


class Watch:
    """Keeps the dissimilarities that it is given, and finds the groups that are there."""

    metric = "precomputed"
    seen: list[np.ndarray] = []  # noqa: RUF012

    def fit_predict(self, apart):
        self.seen.append(apart)
        return np.argmax(apart > np.median(apart), axis=0) % 3


@pytest.mark.parametrize(
    "standardize",
    [True, pytest.param(False)],
)
@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
def test_the_dissimilarity_of_a_group_is_the_mean_of_those_of_its_columns(metric, standardize):
    Watch.seen.clear()
    groups = {"all": range(14)}
    fit(X, metric=metric, clusterer=Watch(), feature_groups=groups, n_features_to_select=1, standardize=standardize)
    apart = pairwise(X) ** (2 if metric == "sqeuclidean" else 1)
    totals = apart.sum(axis=(1, 2)) / 60 if standardize else np.ones(14)
    expected = (apart / totals[:, None, None]).mean(axis=0)
    # In the order in which the search sees the samples.
    np.testing.assert_allclose(np.sort(Watch.seen[0].ravel()), np.sort(expected.ravel()), rtol=1e-9, atol=1e-12)


@EVERY
def test_a_start_chooses_whole_groups(kind):
    start = np.isin(np.arange(14), [0, 3, 13])
    # One column of a group stands for the group.
    for init in (start, USEFUL):
        found = fit_kind(kind, feature_groups=MEMBERS, n_features_to_select=3, init=init)
        assert found.n_iter_ == 1
        np.testing.assert_array_equal(found.labels_, TRUTH)
        np.testing.assert_array_equal(found.support_, USEFUL)


def test_the_climb_begins_at_the_groups_given():
    # Two groups that sort the samples in another way, and not as well: only a climb that begins there ends there.
    table = X.copy()
    other = np.isin(np.arange(14), MEMBERS["c"] + MEMBERS["d"])
    table[:, other] += 4.0 * (np.arange(30) % 3)[:, None]
    for init in (other, np.isin(np.arange(14), [5, 9])):
        found = fit(table, feature_groups=MEMBERS, n_features_to_select=2, init=init)
        np.testing.assert_array_equal(found.support_, other)
    assert not fit(table, feature_groups=MEMBERS, n_features_to_select=2).support_[other].any()


def test_a_group_may_lose_columns_and_a_group_of_nothing_is_kept_out():
    table = X.copy()
    table[:, [1, 9, 10]] = 1.0
    with pytest.warns(UserWarning, match="3 columns are constant.*'x1', 'x9', 'x10'"):
        found = fit(table, feature_groups=MEMBERS, n_features_to_select=3)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL & (np.arange(14) != 1))
    with (
        pytest.warns(UserWarning, match="constant"),
        pytest.raises(ValueError, match="asks for 7 features, but only 6 of 7"),
    ):
        fit(table, feature_groups=MEMBERS, n_features_to_select=7)


# ---------------------------------------------------------------- what is no group


@pytest.mark.parametrize("groups", [["a"] * 13, "x3", 3, [["x3"]] * 14, np.zeros((2, 7))])
def test_groups_are_one_name_a_column(groups):
    with refuses("feature_groups must be a dict", "each of the 14 columns", "got", "shape"):
        fit(X, feature_groups=groups)


def test_a_column_is_in_one_group():
    with refuses("feature_groups puts column 'x3' in 'a' and in 'b'", "one group only"):
        fit(X, feature_groups={"a": ["x2", "x3"], "b": [3, 4]})


@pytest.mark.parametrize("members", ["x3", 3])
def test_a_group_is_a_list_of_columns(members):
    with refuses("feature_groups", "list"):
        fit(X, feature_groups={"a": members})


def test_there_are_no_more_features_to_choose_than_groups():
    with refuses(r"n_features_to_select must be .*\[1, 7\]", "got 8", '"auto"'):
        fit(X, feature_groups=MEMBERS, n_features_to_select=8)


# ---------------------------------------------------------------- many samples

MANY = np.repeat([0, 1, 2], [140, 100, 60])
MANY_X = numbers(MANY, far=4.0)


@in_turn(kind=KINDS, how=[(None, "auto"), (MEMBERS, "given"), (None, "given"), (MEMBERS, "auto")])
def test_a_sample_finds_what_all_samples_would(kind, how):
    groups, size = how
    # 60 samples, of which clusterers on pairs take a quarter.
    rows = kind in ("numbers", "numbers with missing values", "levels", "sparse")
    size = size if size == "auto" else 3 if groups else 6
    found = fit_kind(kind, MANY_X, subsample=60 if rows else 240, feature_groups=groups, n_features_to_select=size)
    assert rand_index(MANY, found.labels_) > 0.99
    # How many is chosen on the sample alone, and there another one may look useful.
    assert found.support_[USEFUL].all()
    assert size == "auto" or not found.support_[~USEFUL].any()
    np.testing.assert_array_equal(np.bincount(found.labels_), np.sort(np.bincount(found.labels_))[::-1])


@EVERY
def test_with_too_many_samples_for_all_pairs_the_rest_join_the_nearest_cluster(monkeypatch, kind):
    make, _ = KINDS[kind]
    everything = fit_kind(kind, MANY_X, n_features_to_select=6, subsample=240, clusterer="hillclimb")
    monkeypatch.setattr(sparsecluster._search.solve, "MOST_PAIRED", 100)
    found = fit_kind(kind, MANY_X, n_features_to_select=6, subsample=240, clusterer="hillclimb")
    assert found.n_iter_ == 1
    assert rand_index(found.labels_, everything.labels_) > 0.99
    np.testing.assert_array_equal(found.support_, USEFUL)
    assert np.mean(found.predict(make(MANY_X)) == found.labels_) > 0.99


def test_a_sample_keeps_the_memory_of_pairs_small(monkeypatch):
    seen = []

    def watched(self, subset):
        seen.append(self.n_samples)
        return pairs(self, subset)

    pairs = sparsecluster._features.features.Features.pairs
    monkeypatch.setattr(sparsecluster._features.features.Features, "pairs", watched)
    monkeypatch.setattr(sparsecluster._search.solve, "MOST_PAIRED", 100)
    monkeypatch.setattr(sparsecluster.methods._core, "MOST_PAIRED_SAMPLES", 60)
    fit_kind("manhattan", MANY_X, n_features_to_select=6, subsample=240)
    assert set(seen) == {60}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_that_tells_no_samples_of_the_sample_apart_does_no_harm():
    table = MANY_X.copy()
    table[0, 9] = 1000.0
    found = fit(table, metric={9: lambda x, y: float(abs(x - y) > 100)}, subsample=240, n_features_to_select=6)
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize("parameters", [{"subsample": None}, {"init": MANY}])
def test_all_pairs_of_too_many_samples_are_refused_with_a_way_out(monkeypatch, parameters):
    monkeypatch.setattr(sparsecluster._search.solve, "MOST_PAIRED", 100)
    with pytest.raises(ValueError, match=r"at most 100 samples; got 300\. Use subsample"):
        fit_kind("manhattan", MANY_X, n_features_to_select=6, **parameters)


def test_the_groups_and_features_of_a_large_table_of_distances_are_found():
    truth = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [1400, 1000, 600]))
    table = numbers(truth, np.arange(20) < 6, far=4.0)
    found = fit(table, metric="manhattan")
    np.testing.assert_array_equal(found.support_, np.arange(20) < 6)
    assert rand_index(found.labels_, truth) > 0.999
