"""However dissimilarities are given and however many samples are looked at, features say the same."""

from __future__ import annotations

import tracemalloc
import weakref

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparsecluster import SASClustering
from sparsecluster._data.check_matrices import check_matrices
from sparsecluster._data.checks import LEAST_OBSERVED, observed_counts, observed_enough
from sparsecluster._features import matrices as matrices_module
from sparsecluster._search.search import search_size
from tests import naive
from tests.helpers.kinds import (
    KINDS,
    Case,
    K,
    N,
    P,
    apart_of,
    make,
    matrix_case,
    random_matrix,
    some_labels,
    table_case,
)

TRUTH = np.arange(60) % 3


class Reader:
    """A function that gives matrix a, computed anew at every call; counts calls and matrices that are still in use."""

    def __init__(self, matrices):
        self.matrices = matrices
        self.calls = []
        self.in_use = self.most = 0

    def __call__(self, a):
        if a >= len(self.matrices):
            raise IndexError(a)
        matrix = self.matrices[a].copy()
        self.calls.append(a)
        self.in_use += 1
        self.most = max(self.most, self.in_use)
        weakref.finalize(matrix, self._gone)
        return matrix

    def _gone(self):
        self.in_use -= 1

    def forget(self):
        self.calls.clear()
        self.most = self.in_use


def on_disk(stack, folder):
    file = np.memmap(folder / "matrices.bin", dtype=stack.dtype, mode="w+", shape=stack.shape)
    file[:] = stack
    file.flush()
    return np.memmap(folder / "matrices.bin", dtype=stack.dtype, mode="r", shape=stack.shape)


FORMS = {
    "array": lambda stack, folder: stack,
    "not in order": lambda stack, folder: np.asfortranarray(stack),
    "list": lambda stack, folder: list(stack),
    "lists of numbers": lambda stack, folder: stack.tolist(),
    "function": lambda stack, folder: Reader(stack),
    "file": on_disk,
}


def clear_matrices(missing=0.0, n=60):
    """Five matrices, of which the first three know the groups."""
    rng = np.random.default_rng(0)
    truth = TRUTH[:n]
    stack = np.stack([random_matrix(rng, n) + (a < 3) * (truth[:, None] != truth) for a in range(5)])
    unseen = np.tril(rng.random(stack.shape) < missing, -1)
    stack[unseen | unseen.transpose(0, 2, 1)] = np.nan
    return stack


@pytest.fixture
def streamed(monkeypatch):
    """No room for more than the matrix that is being read."""
    monkeypatch.setattr(matrices_module, "STACK_BYTES", 0)
    monkeypatch.setattr(matrices_module, "KEEP_BYTES", 0)


# ---------------------------------------------------------------- forms of matrices


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("form", FORMS)
def test_matrices_give_one_answer_in_every_form(form, missing, tmp_path):
    stack = clear_matrices(missing)
    expected = SASClustering(3, metric="precomputed", n_permutations=3).fit(stack)
    found = SASClustering(3, metric="precomputed", n_permutations=3).fit(FORMS[form](stack, tmp_path))
    assert adjusted_rand_score(expected.labels_, TRUTH) == 1.0
    assert expected.support_.tolist() == [True] * 3 + [False] * 2
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    np.testing.assert_allclose(found.gap_curve_.score, expected.gap_curve_.score, rtol=1e-9, atol=1e-12)


def test_matrices_of_single_precision_are_right_to_single_precision(streamed):
    given = [random_matrix(np.random.default_rng(a), N).astype(np.float32) for a in range(P)]
    single, double = matrix_case(given).features(), matrix_case([matrix.astype(float) for matrix in given]).features()
    assert single.matrices[0].dtype == np.float32
    np.testing.assert_allclose(single.scores(some_labels(), K), double.scores(some_labels(), K), rtol=1e-12)
    np.testing.assert_allclose(single.pairs(np.arange(P))[0], double.pairs(np.arange(P))[0], rtol=1e-12)


@pytest.mark.parametrize("form", ["array", "list", "file"])
def test_what_is_in_memory_or_in_a_file_is_read_where_it_is(form, streamed, tmp_path):
    given = FORMS[form](clear_matrices(), tmp_path)
    matrices = check_matrices(given)[0]
    assert all(np.shares_memory(matrices[a], given[a]) for a in range(5))


@pytest.mark.parametrize("form", ["array", "lists of numbers", "file"])
def test_what_is_made_of_the_given_matrices_is_let_go(form, tmp_path):
    matrices = check_matrices(FORMS[form](clear_matrices(0.1), tmp_path))[0]
    made = matrices[1]
    still_there = weakref.ref(made)
    del made
    assert still_there() is None


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_given_matrices_are_not_changed(missing):
    stack = clear_matrices(missing, 20)
    before = stack.copy()
    features = matrix_case(stack).features()
    features.scores(some_labels(20), K)
    features.permuted(1).pairs(np.arange(5))
    np.testing.assert_array_equal(stack, before)


# ---------------------------------------------------------------- one by one


@pytest.mark.parametrize("kind", ["matrices", "matrices without samples", "matrices without pairs", "functions"])
def test_one_by_one_matrices_say_what_they_say_together(kind, monkeypatch):
    def answers():
        features = make(kind).features()
        for each in (features, features.permuted(5)):
            yield each.scores(some_labels(), K)
            yield each.univariate(K)
            yield from (each.pairs(np.array(subset)).similarity for subset in ([2], [0, 4, 5], range(P)))
        yield search_size(make(kind).problem(K), 3, np.random.default_rng(0)).best.labels

    together = list(answers())
    monkeypatch.setattr(matrices_module, "STACK_BYTES", 0)
    kept = list(answers())
    monkeypatch.setattr(matrices_module, "KEEP_BYTES", 0)
    for one, two, three in zip(together, kept, answers(), strict=True):
        np.testing.assert_array_equal(two, one)
        np.testing.assert_array_equal(three, one)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_each_matrix_is_read_once_a_pass_and_only_where_it_is_asked_for(missing, streamed):
    reader = Reader(clear_matrices(missing, 20))
    features = matrix_case(reader, deltas=[]).features()
    for each in (features, features.permuted(3)):
        reader.forget()
        each.scores(some_labels(20), K)
        assert reader.calls == [0, 1, 2, 3, 4]
        reader.forget()
        each.pairs(np.array([1, 4]))
        assert reader.calls == [1, 4]
    assert reader.in_use == 0


def test_no_more_than_one_matrix_is_in_memory(streamed):
    reader = Reader(clear_matrices(n=20))
    features = matrix_case(reader, deltas=[]).features()
    reader.forget()
    features.scores(some_labels(20), K)
    features.pairs(np.arange(5))
    assert reader.most == 1


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_memory_is_that_of_one_matrix_as_it_is_given_and_as_it_is_read(missing, streamed):
    features = matrix_case(Reader(np.tile(clear_matrices(missing), (1, 5, 5))), deltas=[]).features()
    labels = some_labels(300)

    def most(what, *given):
        what(*given)  # once before, for what is made at the first call
        tracemalloc.start()
        what(*given)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / (300 * 300 * 8)

    assert most(features.scores, labels, K) < 2.5
    # And the sum; with missing values, that of what is seen too.
    assert most(features.seen_pairs, np.arange(5)) < (4.5 if missing else 3.5)


def test_matrices_that_a_function_computes_are_kept_as_long_as_there_is_room(monkeypatch):
    monkeypatch.setattr(matrices_module, "STACK_BYTES", 0)
    monkeypatch.setattr(matrices_module, "KEEP_BYTES", 3 * 20 * 20 * 8)
    reader = Reader(clear_matrices(n=20))
    features = matrix_case(reader, deltas=[]).features()
    reader.forget()
    features.scores(some_labels(20), K)
    assert reader.calls == [3, 4]
    assert reader.in_use == 3


# ---------------------------------------------------------------- some of the samples


def part_of(case, taken, places):
    """The same columns between some of the samples."""
    deltas = [case.deltas[a][np.ix_(places, places)].copy() for a in taken.columns]
    for delta in deltas:
        # A sample that is seen with none of the others is not seen.
        alone = (np.isnan(delta) | np.eye(len(delta), dtype=bool)).all(axis=1)
        np.fill_diagonal(delta, np.where(alone, np.nan, 0.0))
    return Case(taken, deltas, case.groups[taken.columns])


@pytest.mark.parametrize("kind", KINDS)
def test_some_samples_are_features_of_their_own(kind):
    case = make(kind, n=24)
    places = np.sort(np.random.default_rng(0).permutation(24)[:N])
    taken = case.source.take(places, K)
    np.testing.assert_array_equal(taken.samples, places)
    part = part_of(case, taken, places)
    features, labels = part.features(), some_labels()
    np.testing.assert_allclose(features.scores(labels, K), naive.feature_scores(part.members, labels), atol=1e-13)
    expected = naive.delta_sum(part.deltas, part.weights(features))
    found = apart_of(features.seen_pairs(np.arange(features.n_features))[0])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_some_samples_of_matrices_are_the_same_in_every_form(form, tmp_path):
    stack, places = clear_matrices(), np.arange(5, 45, 2)
    expected = matrix_case(stack[:, places][:, :, places]).features()
    found = matrix_case(FORMS[form](stack, tmp_path), deltas=[]).source.take(places, K).features()
    np.testing.assert_allclose(found.scores(some_labels(20), K), expected.scores(some_labels(20), K), rtol=1e-12)
    np.testing.assert_allclose(found.pairs(np.array([0, 3]))[0], expected.pairs(np.array([0, 3]))[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["numbers", "categories", "distances", "functions", "matrices", "sparse"])
def test_columns_in_which_some_samples_are_all_alike_are_left_out(kind):
    table = np.zeros((N, 3))
    table[:5, 0], table[:, 1], table[3:, 2] = 1.0, np.arange(N) % 4, 2.0
    case = table_case(table, ["sqeuclidean"] * 3)
    if kind == "matrices":
        source = matrix_case(case.deltas).source
    elif kind == "sparse":
        sparse_source = make("sparse").source
        source = type(sparse_source)(type(sparse_source.values)(table), np.arange(N), np.arange(3), True, np.arange(3))
    else:
        names = {"numbers": "sqeuclidean", "categories": "hamming", "distances": "manhattan"}
        source = table_case(table, [names.get(kind, lambda x, y: abs(x - y))] * 3).source
    assert source.take(np.arange(5, N), 2).columns.tolist() == [1]
    assert source.take(np.arange(5, N), 2).features().n_features == 1
    assert source.take(np.array([5, 9, 13]), 2) is None


def test_columns_that_some_samples_hardly_have_are_left_out():
    table = np.random.default_rng(0).standard_normal((40, 3))
    table[3:20, 1] = np.nan
    source = table_case(table, ["sqeuclidean"] * 3).source
    assert source.take(np.arange(20), 2).columns.tolist() == [0, 1, 2]
    assert source.take(np.arange(20), 3).columns.tolist() == [0, 2]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_matrix_that_knows_none_of_some_samples_is_left_out_in_silence():
    stack = clear_matrices(n=20)
    stack[1, :10] = stack[1, :, :10] = np.nan
    assert matrix_case(stack).source.take(np.arange(10), K).columns.tolist() == [0, 2, 3, 4]


# ---------------------------------------------------------------- hardly seen


def test_enough_is_a_tenth_of_the_samples_and_more_than_clusters():
    counts = np.arange(30)
    np.testing.assert_array_equal(observed_enough(counts, 20, 3), counts >= 4)
    np.testing.assert_array_equal(observed_enough(counts, 200, 3), counts >= LEAST_OBSERVED * 200)
    assert LEAST_OBSERVED == 0.1
    table = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    assert observed_counts(table).tolist() == [2, 1]


@pytest.mark.parametrize("seen", [3, 4])
def test_a_column_that_too_few_samples_have_is_kept_out_with_a_warning(seen, recwarn):
    table = np.random.default_rng(0).standard_normal((30, 4))
    table[:, :2] += 6 * (TRUTH[:30, None] - 1)
    table[seen:, 3] = np.nan
    fitted = SASClustering(3, n_features_to_select=2).fit(table)
    warned = [str(each.message) for each in recwarn if "missing too often" in str(each.message)]
    assert len(warned) == (seen < 4)
    assert (fitted.feature_scores_[3] == 0) == (seen < 4)
    assert adjusted_rand_score(fitted.labels_, TRUTH[:30]) == 1.0


def test_a_matrix_of_which_too_few_pairs_are_seen_is_kept_out_with_a_warning():
    stack = clear_matrices()
    stack[4, 5:] = stack[4, :, 5:] = np.nan
    with pytest.warns(UserWarning, match="missing too often"):
        fitted = SASClustering(3, metric="precomputed", n_features_to_select=3).fit(stack)
    assert fitted.feature_scores_[4] == 0
    assert fitted.support_.tolist() == [True] * 3 + [False] * 2


def test_a_matrix_of_few_samples_is_not_chosen_for_being_easy_to_explain():
    """Seven samples of sixty are seen: three clusters explain much of so few, and say nothing of the others."""
    stack = clear_matrices()
    stack[4, 7:] = stack[4, :, 7:] = np.nan
    fitted = SASClustering(3, metric="precomputed", n_features_to_select=3).fit(stack)
    assert fitted.feature_scores_[4] <= 7 / 60


# ---------------------------------------------------------------- samples in fits


SAMPLED = {
    "numbers": lambda x, folder: {"X": x},
    "numbers with missing values": lambda x, folder: {
        "X": np.where(np.random.default_rng(1).random(x.shape) < 0.1, np.nan, x)
    },
    "distances": lambda x, folder: {"X": x, "metric": "manhattan"},
    "categories": lambda x, folder: {"X": np.round(x / 3), "metric": "hamming"},
    "function": lambda x, folder: {"X": x, "metric": lambda left, right: abs(left - right)},
    "mixed": lambda x, folder: {"X": x, "metric": {0: "manhattan", 1: lambda left, right: (left - right) ** 2}},
    **{
        f"matrices, {form}": lambda x, folder, form=form: {
            "X": FORMS[form](np.stack([np.abs(each[:, None] - each) for each in x.T]), folder),
            "metric": "precomputed",
        }
        for form in ("array", "list", "function", "file")
    },
}


@pytest.mark.parametrize("kind", SAMPLED)
def test_a_sample_of_the_samples_finds_the_groups_of_all(kind, tmp_path):
    table = np.random.default_rng(0).standard_normal((60, 6))
    table[:, :3] += 9 * (TRUTH[:, None] - 1)
    given = {"metric": "auto", **SAMPLED[kind](table, tmp_path)}
    # Both make samples of 25 samples: where pairs are looked at, a quarter is taken.
    subsample = 25 if kind.startswith(("numbers", "categories")) else 100
    every, some = (
        SASClustering(3, n_features_to_select=3, metric=given["metric"], subsample=samples).fit(given["X"])
        for samples in (None, subsample)
    )
    for fitted in (every, some):
        assert adjusted_rand_score(fitted.labels_, TRUTH) == 1.0
        assert fitted.support_.tolist() == [True] * 3 + [False] * 3
    assert some.objective_ == pytest.approx(every.objective_, rel=1e-12)
