"""What must not change the answer, for every kind of features: order, threads, names of levels, units, layout."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsecluster import SASClustering
from tests.helpers.cases import in_turn, some

N, P = 45, 20
TRUTH = np.repeat([0, 1, 2], [20, 15, 10])
LEVELS = np.array(["d", "a", "c", "b"], dtype=object)


def numbers(seed=1, shift=0.8):
    """Groups that overlap in 6 columns: every start ends elsewhere, so that any other random number shows."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, P)) + np.where(np.arange(P) < 6, shift * (TRUTH - 1)[:, None], 0.0)


def codes(seed=1):
    """The same as four levels a column."""
    return np.digitize(numbers(seed), [-0.8, 0.0, 0.8])


def root(x, y):
    return np.sqrt(np.abs(x - y))


def matrices(table, delta):
    return delta(table.T[:, :, None], table.T[:, None, :])


def frame():
    """Columns of four kinds side by side, five of each."""
    table, levels = numbers(), codes()
    columns = {}
    for a in range(P):
        kind = "xdco"[a % 4]
        if kind == "c":
            columns[f"{kind}{a}"] = pd.Categorical(LEVELS[levels[:, a]])
        elif kind == "o":
            columns[f"{kind}{a}"] = pd.Categorical.from_codes(levels[:, a], LEVELS.tolist(), ordered=True)
        else:
            columns[f"{kind}{a}"] = table[:, a]
    return pd.DataFrame(columns)


def with_missing(table, missing=np.nan):
    """A tenth of the values missing."""
    gone = np.random.default_rng(3).random(table.shape) < 0.1
    return table.mask(gone) if isinstance(table, pd.DataFrame) else np.where(gone, missing, table)


def without_some_samples(stack):
    """A tenth of the samples missing in every matrix."""
    gone = np.random.default_rng(3).random(stack.shape[:2]) < 0.1
    return np.where(gone[:, :, None] | gone[:, None, :], np.nan, stack)


DISTANCES = {f"d{a}": "manhattan" for a in range(1, P, 4)}
KINDS = {
    "manhattan": (numbers(), {"metric": "manhattan"}),
    "manhattan with missing values": (with_missing(numbers()), {"metric": "manhattan"}),
    "numbers with missing values": (with_missing(numbers()), {}),
    "levels": (LEVELS[codes()], {}),
    "levels with missing values": (with_missing(LEVELS[codes()], None), {}),
    "ranks": (numbers(), {"metric": "ordinal"}),
    "function": (numbers(), {"metric": root}),
    "function with missing values": (with_missing(numbers()), {"metric": root}),
    "mixed": (frame(), {"metric": DISTANCES}),
    "mixed with missing values": (with_missing(frame()), {"metric": DISTANCES}),
    "sparse": (sparse.csr_array(np.maximum(numbers(), 0.0)), {}),
    "matrices": (matrices(numbers(), root), {"metric": "precomputed"}),
    "matrices with missing values": (without_some_samples(matrices(numbers(), root)), {"metric": "precomputed"}),
    "hillclimb": (numbers(), {"clusterer": "hillclimb"}),
    "average": (numbers(), {"clusterer": "average"}),
    "partition": (numbers(), {"clusterer": "partition"}),
}
ON_ROWS = ["numbers with missing values", "levels", "levels with missing values", "sparse"]
EVERY = pytest.mark.parametrize("kind", KINDS)


def fit(table, **parameters):
    return SASClustering(**{"n_permutations": 2, **parameters}).fit(table)


def ordered(kind, table, rows, columns):
    """The table with its rows and columns in another order."""
    if kind.startswith("matrices"):
        return table[columns][:, rows][:, :, rows]
    return table.iloc[rows, columns] if kind.startswith("mixed") else table[rows][:, columns]


def assert_same(one, other, rows=slice(None), columns=slice(None), rounding=0.0):
    """The second is the first with its rows and columns in another order, to the last bit or up to rounding."""
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.support_, one.support_[columns])
    np.testing.assert_allclose(other.feature_scores_, one.feature_scores_[columns], rtol=0, atol=rounding)
    assert other.objective_ == pytest.approx(one.objective_, rel=0, abs=20 * rounding)
    assert [step[1:] for step in other.history_] == [step[1:] for step in one.history_]


def rounding(kind):
    """Matrices are summed in the order and layout in which they come."""
    return 1e-13 if kind.startswith("matrices") else 0.0


class Answers(dict):
    """A fit of every kind, made when it is first asked for: a process that runs few of the tests needs few."""

    def __missing__(self, kind):
        table, parameters = KINDS[kind]
        self[kind] = fit(table, **parameters)
        return self[kind]


@pytest.fixture(scope="module")
def plain():
    """The answers that all others are compared with."""
    return Answers()


# ---------------------------------------------------------------- order, threads, seeds


@in_turn(kind=KINDS, what=["rows", "columns"])
def test_order_of_rows_and_columns_does_not_matter(plain, kind, what):
    table, parameters = KINDS[kind]
    rng = np.random.default_rng(0)
    rows = np.arange(N) if what == "columns" else rng.permutation(N)
    columns = np.arange(P) if what == "rows" else rng.permutation(P)
    found = fit(ordered(kind, table, rows, columns), **parameters)
    assert_same(plain[kind], found, rows, columns, rounding(kind))


@pytest.mark.parametrize("kind", some(KINDS, 2, first=0))
def test_order_does_not_matter_to_a_sample(kind):
    table, parameters = KINDS[kind]
    # About half of the samples: a quarter of the number is drawn where pairs are looked at.
    subsample = 25 if kind in ON_ROWS else 100
    parameters = {"n_features_to_select": 6, "subsample": subsample, **parameters}
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(N), rng.permutation(P)
    found = fit(ordered(kind, table, rows, columns), **parameters)
    assert_same(fit(table, **parameters), found, rows, columns, rounding(kind))


def test_order_of_the_rows_of_matrices_does_not_matter_to_the_last_bit(plain):
    table, parameters = KINDS["matrices"]
    rows = np.random.default_rng(0).permutation(N)
    assert_same(plain["matrices"], fit(np.ascontiguousarray(table[:, rows][:, :, rows]), **parameters), rows)


@pytest.mark.parametrize("kind", some(KINDS, 2, first=1))
def test_threads_do_not_change_the_answer(plain, pools, kind):
    table, parameters = KINDS[kind]
    found = fit(table, n_jobs=2, **parameters)
    assert_same(plain[kind], found)
    np.testing.assert_array_equal(found.gap_curve_.score, plain[kind].gap_curve_.score)
    assert set(pools) == {1}


@pytest.mark.parametrize("kind", some(KINDS, 2, first=0))
def test_the_same_seed_gives_the_same_answer_and_another_seed_another_search(plain, kind):
    table, parameters = KINDS[kind]
    assert_same(plain[kind], fit(table, random_state=0, **parameters))
    other = fit(table, random_state=1, **parameters)
    assert (other.gap_curve_.details["reference"] != plain[kind].gap_curve_.details["reference"]).any()


def test_the_order_of_a_dict_and_of_groups_does_not_matter():
    groups = {"one": ["x0", "d1", "c2"], "two": ["o19", "x4"], "three": ["d9"]}
    found = fit(frame(), metric=DISTANCES, feature_groups=groups)
    turned = {name: groups[name][::-1] for name in reversed(groups)}
    assert_same(found, fit(frame(), metric=dict(reversed(DISTANCES.items())), feature_groups=turned))


# ---------------------------------------------------------------- names and units


def renamed(words):
    return np.array(words, dtype=object)[codes()]


NAMES = [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["zwei", "eins", "vier", "drei"], ["10", "9", "-1", ""]]


def test_names_of_levels_do_not_matter_to_their_order():
    """Names that come in the same order."""
    assert_same(fit(renamed(NAMES[0])), fit(renamed(["alpha", "beta", "gamma", "hydra"])))


def test_names_of_levels_do_not_matter():
    scores = [fit(renamed(names)).feature_scores_ for names in NAMES]
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], rtol=0, atol=1e-12)


def test_where_groups_are_plain_to_see_names_of_levels_do_not_matter():
    clear = np.digitize(numbers(shift=4.0), [-2.0, 0.0, 2.0])
    found = [fit(np.array(names, dtype=object)[clear], n_features_to_select=6) for names in NAMES]
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels_, found[0].labels_)
        np.testing.assert_allclose(other.feature_scores_, found[0].feature_scores_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[0].support_, np.arange(P) < 6)


def test_names_of_columns_do_not_matter():
    named = frame().set_axis([f"column {a}" for a in range(P)], axis=1)
    metric = {f"column {a}": "manhattan" for a in range(1, P, 4)}
    assert_same(fit(frame(), metric=DISTANCES), fit(named, metric=metric))


@pytest.mark.parametrize(
    "kind", ["manhattan", "manhattan with missing values", "numbers with missing values", "function", "matrices"]
)
def test_units_do_not_matter_when_standardized(kind):
    _, parameters = KINDS[kind]
    table = numbers(shift=4.0)
    factors = 10.0 ** np.random.default_rng(0).integers(-3, 4, P)
    if kind == "matrices":
        table, other = matrices(table, root), matrices(table, root) * factors[:, None, None]
    else:
        table = with_missing(table) if "missing" in kind else table
        other = table * factors + 1000 * factors
    one, two = (fit(each, n_features_to_select=6, **parameters) for each in (table, other))
    np.testing.assert_array_equal(one.labels_, TRUTH)
    np.testing.assert_array_equal(one.support_, np.arange(P) < 6)
    np.testing.assert_array_equal(two.labels_, one.labels_)
    np.testing.assert_allclose(two.feature_scores_, one.feature_scores_, rtol=0, atol=1e-9)


def test_ranks_do_not_change_with_a_growing_function():
    assert_same(fit(numbers(), metric="ordinal"), fit(np.exp(numbers()), metric="ordinal"))


def test_a_function_that_finds_the_first_samples_alike_may_tell_others_apart():
    truth = np.repeat([0, 1, 2], [80, 60, 40])
    table = np.random.default_rng(0).random((180, 6)) + np.where(np.arange(6) < 3, 10.0 * truth[:, None], 0.0)
    metric = {0: lambda x, y: float(abs(x - y) > 5)}
    rows = np.random.default_rng(1).permutation(180)
    found, turned = (fit(each, metric=metric, n_features_to_select=3) for each in (table, table[rows]))
    np.testing.assert_array_equal(turned.support_, np.arange(6) < 3)
    assert_same(found, turned, rows)


# ---------------------------------------------------------------- very large and very small


def as_it_is(table):
    return table


SPOIL = pytest.mark.parametrize("spoil", [as_it_is, with_missing])


@SPOIL
@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
@pytest.mark.parametrize("size", [1e200, 1e-200, np.logspace(-200, 200, P)], ids=["large", "small", "both"])
def test_very_large_and_very_small_values_work(strict, size, metric, spoil):
    table = spoil(numbers(shift=4.0)) * size
    found = fit(table, metric=metric, n_permutations=10)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, np.arange(P) < 6)
    np.testing.assert_array_equal(found.predict(table), TRUTH)
    assert found.score(table) == pytest.approx(found.objective_ / 6, rel=1e-9)


@SPOIL
def test_a_large_offset_changes_nothing(strict, spoil):
    # At 1e12 numbers are 1e-4 apart, and the spread is 1.
    table = spoil(numbers(shift=4.0)) + 1e12
    found = fit(table, n_permutations=10)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, np.arange(P) < 6)
    np.testing.assert_array_equal(found.predict(table), TRUTH)
    assert found.score(table) == pytest.approx(found.objective_ / 6, rel=1e-6)


@SPOIL
@pytest.mark.parametrize("metric", ["sqeuclidean", pytest.param("manhattan")])
@pytest.mark.parametrize("offset", [1e12, 1e15])
def test_a_large_offset_costs_no_digits(strict, metric, offset, spoil):
    # At 1e15 even a mean is off by a tenth. The differences that are left are exact.
    table = spoil(numbers(shift=4.0)) + offset
    found, plain = (fit(each, n_features_to_select=6, metric=metric) for each in (table, table - offset))
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- the same thing twice


def test_a_column_and_its_copy_score_the_same():
    for kind in (
        "manhattan",
        "manhattan with missing values",
        "numbers with missing values",
        "levels",
        "levels with missing values",
        "ranks",
        "function",
    ):
        table, parameters = KINDS[kind]
        found = fit(np.column_stack([table, table[:, 0], table[:, 0]]), n_features_to_select=7, **parameters)
        assert len({*found.feature_scores_[[0, P, P + 1]]}) == 1


def test_the_same_numbers_as_two_kinds_are_two_features():
    clear = numbers(shift=4.0)
    table = np.column_stack([clear, clear[:, 0], clear[:, 0]])
    rows = np.random.default_rng(0).permutation(N)
    columns = np.random.default_rng(1).permutation(P + 2)
    metric = {P: "manhattan", P + 1: root}
    moved = {np.flatnonzero(columns == a)[0]: kind for a, kind in metric.items()}
    found = fit(table, metric=metric, n_features_to_select=8)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, (np.arange(P + 2) < 6) | (np.arange(P + 2) >= P))
    assert len({*found.feature_scores_[[0, P, P + 1]]}) == 3
    other = fit(table[rows][:, columns], metric=moved, n_features_to_select=8)
    assert_same(found, other, rows, columns)


def test_order_does_not_matter_where_two_functions_see_the_same_numbers():
    table = np.column_stack([numbers(), numbers()])
    metric = {a: root if a < P else (lambda x, y: np.minimum(np.abs(x - y), 1.0)) for a in range(2 * P)}
    turned = {(a + P) % (2 * P): kind for a, kind in metric.items()}
    columns = np.r_[P : 2 * P, :P]
    assert_same(fit(table, metric=metric), fit(table[:, columns], metric=turned), columns=columns)


@pytest.mark.parametrize("kind", ["manhattan", "levels", "mixed", "sparse"])
def test_repeated_rows_share_a_label(kind):
    table, parameters = KINDS[kind]
    rows = np.r_[:N, :20]
    twice = ordered(kind, table, rows, np.arange(P))
    twice = twice.reset_index(drop=True) if kind == "mixed" else twice
    found = fit(twice, **parameters)
    turned = np.random.default_rng(0).permutation(N + 20)
    np.testing.assert_array_equal(found.labels_[N:], found.labels_[:20])
    assert_same(found, fit(ordered(kind, twice, turned, np.arange(P)), **parameters), turned)


# ---------------------------------------------------------------- how a table is stored


def test_layout_of_a_sparse_matrix_does_not_matter(plain):
    table = KINDS["sparse"][0]
    for layout in (sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.lil_array):
        assert_same(plain["sparse"], fit(layout(table)))


@pytest.mark.parametrize(
    "store",
    [
        pytest.param(np.asfortranarray),
        list,
        lambda stack: list(stack).__getitem__,
        lambda stack: stack.astype(">f8"),
    ],
)
def test_layout_of_matrices_does_not_matter(plain, store):
    stack, parameters = KINDS["matrices"]
    assert_same(plain["matrices"], fit(store(stack), **parameters))


def test_a_sparse_table_gives_the_groups_of_the_dense_one(plain):
    dense = fit(KINDS["sparse"][0].toarray())
    np.testing.assert_array_equal(plain["sparse"].labels_, dense.labels_)
    np.testing.assert_array_equal(plain["sparse"].support_, dense.support_)
    np.testing.assert_allclose(plain["sparse"].feature_scores_, dense.feature_scores_, rtol=0, atol=1e-12)
