"""New samples join the nearest cluster, whatever the kind of the features, and scores mean the same for all kinds."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsecluster import SASClustering
from sparsecluster._data.kinds import SquaredEuclidean
from sparsecluster._data.kinds.dissimilarity import measured_alone
from sparsecluster._data.kinds.numbers import mean_measures
from tests.helpers.new_samples import KINDS, RANKS, TRUTH, N, P, S, fit, numbers, pairwise, random_numbers, root

DELTA = {
    "sqeuclidean": lambda x, y: (x - y) ** 2,
    "sparse": lambda x, y: (x - y) ** 2,
    "manhattan": lambda x, y: abs(x - y),
    "hamming": lambda x, y: float(x != y),
    "ordinal": lambda x, y: abs(x - y) / 10,
    "function": root,
}


def matrices(kind, left, right):
    """Dissimilarities of all columns between two tables, straight from the definitions."""
    if kind == "precomputed":
        return left
    if kind == "mixed":
        named = {"x": DELTA["sqeuclidean"], "d": DELTA["manhattan"], "c": DELTA["hamming"],
                 "o": lambda x, y: abs(RANKS[x] - RANKS[y])}  # fmt: skip
        return np.array([[[named[c[0]](x, y) for y in right[c]] for x in left[c]] for c in left.columns])
    dense = [each.toarray() if sparse.issparse(each) else each for each in (left, right)]
    return pairwise(*dense, DELTA[kind])


def distances(cross, own, labels):
    """mean_{j in C} D(i, j) - 1/2 mean_{j, j' in C} D(j, j') of every sample and cluster; NaN is a pair not seen."""
    members = [np.flatnonzero((labels == c) & ~np.isnan(own).all(axis=1)) for c in np.unique(labels)]
    to_samples = np.column_stack([cross[:, in_c].mean(axis=1) for in_c in members])
    return to_samples - [own[np.ix_(in_c, in_c)].mean() / 2 for in_c in members]


def totals(own):
    return np.array([np.triu(matrix).sum() / len(matrix) for matrix in own])


def weights(own, standardize):
    """What each column counts: its total is 1, and that of columns that only tell same from other is 1 on average."""
    if not standardize:
        return np.ones(len(own))
    same_or_other = np.array([np.unique(matrix).size == 2 for matrix in own])
    return 1 / np.where(same_or_other, totals(own)[same_or_other].mean() if same_or_other.any() else 1.0, totals(own))


# ---------------------------------------------------------------- every kind


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_of_fit_get_their_labels(kind, standardize):
    table, _, parameters = KINDS[kind]()
    found = fit(table, standardize=standardize, **parameters)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(table), TRUTH)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_new_samples_join_the_nearest_cluster_by_the_chosen_features(kind, standardize):
    table, new, parameters = KINDS[kind]()
    found = fit(table, standardize=standardize, **parameters)
    own, cross = matrices(kind, table, table), matrices(kind, new, table)
    counted = weights(own, standardize) * found.support_
    apart = distances(*(np.einsum("a,aij->ij", counted, each) for each in (cross, own)), found.labels_)
    # Levels make ties; of two nearest clusters either will do.
    nearest = np.take_along_axis(apart, found.predict(new)[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(nearest, apart.min(axis=1), rtol=1e-9, atol=1e-12 * np.abs(apart).max())
    assert len(set(found.predict(new))) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_one_minus_within_over_total(kind):
    table, _, parameters = KINDS[kind]()
    found = fit(table, **parameters)
    own = matrices(kind, table, table)
    within = [
        sum(np.triu(matrix[np.ix_(in_c, in_c)]).sum() / in_c.sum() for in_c in members_of(found)) for matrix in own
    ]
    np.testing.assert_allclose(found.feature_scores_, 1 - within / totals(own), rtol=0, atol=1e-12)


def members_of(found):
    return [found.labels_ == c for c in np.unique(found.labels_)]


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_score_of_the_samples_of_fit_is_the_objective_by_the_number_of_features(kind, standardize):
    table, new, parameters = KINDS[kind]()
    found = fit(table, standardize=standardize, objective="share", **parameters)
    assert found.score(table) == pytest.approx(found.objective_ / S, rel=1e-12)
    assert found.score(new) < found.score(table)


def sample(kind, new, i):
    if kind == "precomputed":
        return new[:, [i]]
    return new.iloc[[i]] if kind == "mixed" else new[[i]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_label_of_a_sample_does_not_depend_on_those_beside_it(kind):
    table, new, parameters = KINDS[kind]()
    found = fit(table, **parameters)
    together = found.predict(new)
    for i in (0, 7, 20):
        assert found.predict(sample(kind, new, i)).tolist() == [together[i]]


@pytest.mark.parametrize("kind", KINDS)
def test_features_left_out_have_no_say(kind):
    table, new, parameters = KINDS[kind]()
    found = fit(table, **parameters)
    other = new.copy()
    out = ~found.support_
    if kind == "precomputed":
        other[out] = 7.0
    elif kind == "mixed":
        other.loc[:, out] = new.loc[:, out].iloc[::-1].to_numpy()
        other = other.astype(new.dtypes)
    else:
        other = sparse.lil_array(other) if kind == "sparse" else other
        other[:, out] = new[:, out][::-1]
        other = sparse.csc_array(other) if kind == "sparse" else other
    np.testing.assert_array_equal(found.predict(other), found.predict(new))


# ---------------------------------------------------------------- precomputed


def test_squared_differences_given_as_matrices_are_numbers():
    table, new = numbers(0), random_numbers(1, 200)
    plain = fit(table)
    found = fit(pairwise(table, table, DELTA["sqeuclidean"]), metric="precomputed")
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_array_equal(found.support_, plain.support_)
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-12)
    cross = pairwise(new, table, DELTA["sqeuclidean"])
    np.testing.assert_array_equal(found.predict(cross), plain.predict(new))
    assert found.score(cross) == pytest.approx(plain.score(new), rel=1e-9)


def test_dissimilarities_of_new_samples_come_as_array_list_or_function():
    table, cross, parameters = KINDS["precomputed"]()
    found = fit(table, **parameters)
    expected = found.predict(cross)
    np.testing.assert_array_equal(found.predict(list(cross)), expected)
    np.testing.assert_array_equal(found.predict(cross.__getitem__), expected)


def test_only_the_chosen_matrices_of_new_samples_are_read():
    table, cross, parameters = KINDS["precomputed"]()
    found = fit(table, **parameters)
    read = []
    found.predict(lambda a: (read.append(a), cross[a])[1])
    assert read == np.flatnonzero(found.support_).tolist()


# ---------------------------------------------------------------- missing values


def with_missing(kind, table, seed=0, share=0.15):
    """The table with some of its values missing; of matrices, some samples in each of them."""
    if kind == "precomputed":
        missing = np.random.default_rng(seed).random((P, N)) < share
        return np.where(missing[:, :, None] | missing[:, None, :], np.nan, table)
    missing = np.random.default_rng(seed).random(table.shape) < share
    if kind == "mixed":
        return table.mask(missing)
    return np.where(missing, None if kind == "hamming" else np.nan, table)


NOT_SPARSE = [kind for kind in KINDS if kind != "sparse"]


@pytest.mark.parametrize("kind", NOT_SPARSE)
def test_missing_values_do_not_hide_groups_and_the_samples_of_fit_get_their_labels(kind):
    table, _, parameters = KINDS[kind]()
    table = with_missing(kind, table)
    found = fit(table, **parameters)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(table), TRUTH)


@pytest.mark.parametrize("kind", ["sqeuclidean", "manhattan", "function"])
def test_new_samples_with_missing_values_are_placed_by_what_is_seen(kind):
    table, new, parameters = KINDS[kind]()
    table, new = with_missing(kind, table), with_missing(kind, new, seed=1, share=0.3)
    found = fit(table, **parameters)
    own, cross = matrices(kind, table, table), matrices(kind, new, table)
    apart = np.zeros((len(new), 3))
    for a in np.flatnonzero(found.support_):
        seen = ~np.isnan(table[:, a])
        # Seen in fewer samples it counts for less, as its score does.
        weight = seen.mean() * seen.sum() / np.nansum(np.triu(own[a]))
        apart += weight * np.where(np.isnan(new[:, [a]]), 0.0, distances(cross[a], own[a], found.labels_))
    known = ~np.isnan(new[:, found.support_]).all(axis=1)
    np.testing.assert_array_equal(found.predict(new)[known], apart.argmin(axis=1)[known])


@pytest.mark.parametrize("kind", [kind for kind in NOT_SPARSE if kind != "precomputed"])
def test_the_score_of_samples_with_missing_values_is_the_objective_by_the_number_of_features(kind):
    table, _, parameters = KINDS[kind]()
    table = with_missing(kind, table)
    found = fit(table, **parameters)
    assert found.score(table) == pytest.approx(found.objective_ / S, rel=1e-9)


def test_matrices_of_a_table_with_missing_values_say_what_the_table_says():
    table = with_missing("function", numbers(0))
    plain, found = fit(table, metric=root), fit(pairwise(table, table, root), metric="precomputed")
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-12)


def test_the_score_of_matrices_with_missing_values_is_the_objective_by_the_number_of_features():
    table = with_missing("precomputed", KINDS["precomputed"]()[0])
    found = fit(table, metric="precomputed")
    assert found.score(table) == pytest.approx(found.objective_ / S, rel=1e-9)


def test_the_diagonal_of_a_sample_that_is_not_seen_says_nothing():
    table = with_missing("precomputed", KINDS["precomputed"]()[0])
    found = fit(table, metric="precomputed")
    assert found.score(np.where(np.eye(N), 0.0, table)) == pytest.approx(found.score(table), rel=1e-9)


@pytest.mark.parametrize("kind", NOT_SPARSE)
def test_a_sample_without_any_value_is_in_no_cluster_and_this_is_said(kind):
    table, new, parameters = KINDS[kind]()
    found = fit(table, **parameters)
    blank = np.full_like(new, np.nan) if kind == "precomputed" else with_missing(kind, new, share=1.1)
    with pytest.warns(UserWarning, match="have no observed value in any of the chosen features"):
        labels = found.predict(blank)
    np.testing.assert_array_equal(labels, np.full(new.shape[1] if kind == "precomputed" else len(new), -1))


@pytest.mark.parametrize("kind", [kind for kind in NOT_SPARSE if kind != "precomputed"])
def test_a_sample_without_a_value_does_not_change_the_labels_of_the_others(kind):
    table, new, parameters = KINDS[kind]()
    found = fit(table, **parameters)
    expected = found.predict(new)
    some = new.copy()
    (some.iloc if hasattr(some, "iloc") else some)[2] = None if kind == "hamming" else np.nan
    with pytest.warns(UserWarning, match=r"^1 of \d+ samples .* rows 2 \(counted from 0\)"):
        labels = found.predict(some)
    np.testing.assert_array_equal(labels, np.where(np.arange(labels.size) == 2, -1, expected))


def mixed_table(n_samples, missing, seed):
    """Numbers, categories, ranks and booleans of three groups that overlap."""
    rng = np.random.default_rng(seed)
    groups, columns = rng.integers(3, size=n_samples), {}
    for a in range(12):
        values = pd.Series(groups * (0.8 if a < 6 else 0.0) + rng.normal(size=n_samples))
        levels = pd.cut(values, 4, labels=list("abcd"))
        column = [values, levels.astype(str).astype("category"), levels, (values > 0.5).astype("boolean")][a % 4]
        columns[f"x{a}"] = column.where(rng.random(n_samples) >= missing)
    return pd.DataFrame(columns)


@pytest.mark.parametrize(("missing", "most"), [(0.0, 0.0), (0.3, 0.05)])
def test_few_samples_of_fit_are_placed_elsewhere_and_only_if_values_are_missing(missing, most):
    for seed in range(5):
        table = mixed_table(120, missing, seed)
        found = SASClustering(3, n_features_to_select=6, n_init=10).fit(table)
        assert np.mean(found.predict(table) != found.labels_) <= most


def test_a_cluster_in_which_a_column_is_never_seen_is_as_far_as_a_typical_one():
    table = numbers(0)
    table[TRUTH == 2, 0] = np.nan
    found = fit(table)
    assert found.support_[0]
    np.testing.assert_array_equal(found.predict(table), TRUTH)


def test_new_numbers_may_come_as_objects_in_a_frame():
    frame = pd.DataFrame(numbers(0)).add_prefix("gene")
    np.testing.assert_array_equal(fit(frame.astype(object)).labels_, TRUTH)
    np.testing.assert_array_equal(fit(frame).predict(frame.astype(object)), TRUTH)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_values_of_new_samples_are_those_of_fit(missing):
    found, new = fit(numbers(0)), numbers(0).astype(object)
    new[3, 0] = missing
    np.testing.assert_array_equal(found.predict(new), TRUTH)


@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_columns_of_numbers_are_measured_together_as_alone(share_missing):
    """One column is far from zero, and one is never observed in a cluster."""
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(6, 40)) + np.array([0, 0, 0, 0, 1e9, 0])[:, None]
    labels = rng.integers(3, size=40).astype(np.int32)
    columns[rng.random(columns.shape) < share_missing] = np.nan
    columns[5, labels == 1] = np.nan
    kinds = [SquaredEuclidean()] * 6
    together, alone = mean_measures(kinds, columns, labels, 3), measured_alone(kinds, columns, labels, 3)
    np.testing.assert_allclose(together.spreads, alone.spreads, rtol=1e-14)
    np.testing.assert_array_equal(together.observed, alone.observed)
    for one, other, column in zip(together.measures, alone.measures, columns, strict=True):
        np.testing.assert_allclose(one(column), other(column), rtol=1e-12, atol=1e-14)
        means = [column[(labels == c) & ~np.isnan(column)] for c in range(3)]
        expected = [each.mean() if each.size else np.nan for each in means]
        np.testing.assert_allclose(one.means, expected, rtol=1e-12)
