"""What must not change the answer: threads, the order of rows and columns, how a table is stored."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsecluster._search.search
import sparsecluster._utils.parallel
from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups
from tests.helpers.common import three_groups

# Groups that overlap: every start ends elsewhere, so that any other random number or rounding shows.
HARD = shifted_groups(mu=0.6, n_features=60, n_useful=10, group_size=15, seed=1).X
# Groups far apart.
EASY, TRUTH, USEFUL = three_groups(mu=10.0, n_features=30, n_useful=6)


def fit(table, **parameters):
    return SASClustering(**{"n_permutations": 3, **parameters}).fit(table)


def assert_same(one, other, rows=slice(None), columns=slice(None)):
    """The second is the first with its rows and columns in another order, to the last bit."""
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.support_, one.support_[columns])
    np.testing.assert_array_equal(other.feature_scores_, one.feature_scores_[columns])
    assert other.objective_ == one.objective_
    assert other.history_ == one.history_


@pytest.fixture(scope="module")
def plain():
    """The answer that all others are compared with."""
    return fit(HARD)


def assert_truth(found):
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


# ---------------------------------------------------------------- threads and seeds


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_threads_do_not_change_the_answer(plain, pools, n_jobs):
    found = fit(HARD, n_jobs=n_jobs)
    assert_same(plain, found)
    np.testing.assert_array_equal(found.gap_curve_.score, plain.gap_curve_.score)
    assert set(pools) == ({n_jobs - 1} if n_jobs > 1 else set())


@pytest.mark.parametrize("parameters", [{"search": "grid", "step": 9}, {"search": "golden"}, {"subsample": 30}])
def test_threads_do_not_change_the_answer_of_other_searches(pools, parameters):
    assert_same(fit(HARD, **parameters), fit(HARD, n_jobs=2, **parameters))
    assert set(pools) == {1}


def test_joblibs_setting_does_not_change_the_answer(plain, pools):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_same(plain, fit(HARD))
    assert set(pools) == {1}


def test_the_same_seed_gives_the_same_answer(plain):
    assert_same(plain, fit(HARD, random_state=0))
    assert_same(fit(HARD, random_state=7), fit(HARD, random_state=7))
    assert_same(fit(HARD, random_state=np.random.RandomState(7)), fit(HARD, random_state=np.random.RandomState(7)))


def test_another_seed_is_another_search():
    curves = [fit(HARD, random_state=seed).gap_curve_.details["reference"] for seed in (0, 1)]
    assert (curves[0] != curves[1]).any()


def test_no_seed_draws_a_new_one_every_time():
    curves = [fit(HARD, random_state=None).gap_curve_.details["reference"] for _ in range(2)]
    assert (curves[0] != curves[1]).any()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 2**32 - 1, np.int64(5), None])
def test_where_the_groups_are_plain_to_see_the_seed_does_not_matter(seed):
    assert_truth(fit(EASY, random_state=seed, n_permutations=10))


def test_fitting_twice_is_fitting_once(plain):
    estimator = SASClustering(n_permutations=3)
    estimator.fit(EASY)
    assert_same(plain, estimator.fit(HARD))


# ---------------------------------------------------------------- order


@pytest.mark.parametrize("what", ["rows", "columns", "both"])
@pytest.mark.parametrize(
    "parameters", [{}, {"n_features_to_select": 10}, {"search": "grid", "step": 9}, {"subsample": 30}]
)
def test_order_of_rows_and_columns_does_not_matter(what, parameters):
    rng = np.random.default_rng(0)
    rows = np.arange(45) if what == "columns" else rng.permutation(45)
    columns = np.arange(60) if what == "rows" else rng.permutation(60)
    assert_same(fit(HARD, **parameters), fit(HARD[np.ix_(rows, columns)], **parameters), rows, columns)


def test_order_does_not_matter_where_rows_are_repeated():
    table = np.concatenate([HARD, HARD[:20]])
    rows = np.random.default_rng(0).permutation(65)
    found = fit(table)
    np.testing.assert_array_equal(found.labels_[45:], found.labels_[:20])
    assert_same(found, fit(table[rows]), rows)


def test_order_does_not_matter_where_columns_are_constant():
    table = HARD.copy()
    table[:, [3, 40]] = 1.0
    columns = np.random.default_rng(0).permutation(60)
    with pytest.warns(UserWarning, match="constant"):
        assert_same(fit(table), fit(table[:, columns]), columns=columns)


def test_copies_of_a_column_score_the_same_and_are_chosen_together():
    table = np.column_stack([EASY, EASY[:, 0], EASY[:, 0], EASY[:, 29]])
    found = fit(table, n_permutations=10)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, np.r_[USEFUL, True, True, False])
    assert len({*found.feature_scores_[[0, 30, 31]]}) == 1


@pytest.mark.parametrize("k", [2, 3, 4])
def test_order_does_not_matter_where_rows_and_columns_mirror_each_other(k):
    # Every row looks like every other until one knows which column is which.
    table = np.kron(np.eye(4), np.ones((3, 1)))
    found = fit(table, n_clusters=k, n_features_to_select=4)
    assert set(found.labels_) == set(range(k))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        other = fit(table[rng.permutation(12)][:, rng.permutation(4)], n_clusters=k, n_features_to_select=4)
        assert other.objective_ == pytest.approx(found.objective_, rel=1e-12)


def test_the_sign_of_zero_does_not_matter():
    table = np.where(np.abs(HARD) < 0.1, 0.0, HARD)
    assert_same(fit(table), fit(np.where(table == 0, -0.0, table)))


# ---------------------------------------------------------------- how the table is stored


def read_only(table):
    table = table.copy()
    table.flags.writeable = False
    return table


def every_other(table):
    wide = np.full((2 * len(table), 3 * table.shape[1]), np.nan)
    wide[::2, ::3] = table
    return wide[::2, ::3]


def big_endian(table):
    return table.astype(">f8")


@pytest.mark.parametrize(
    "store",
    [np.asfortranarray, read_only, every_other, big_endian, np.ndarray.tolist],
)
def test_layout_in_memory_does_not_matter(plain, store):
    assert_same(plain, fit(store(HARD)))


def test_a_table_on_disk_is_read_as_it_is(plain, tmp_path):
    on_disk = np.memmap(tmp_path / "table", dtype=float, mode="w+", shape=HARD.shape)
    on_disk[:] = HARD
    on_disk.flush()
    table = np.memmap(tmp_path / "table", dtype=float, mode="r", shape=HARD.shape)
    assert_same(plain, fit(table))
    np.testing.assert_array_equal(np.fromfile(tmp_path / "table"), HARD.ravel())


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_give_the_answer_of_their_values_and_keep_names(plain, library):
    names = [f"gene {a}" for a in range(60)]
    frame = library.DataFrame(dict(zip(names, HARD.T, strict=True)))
    found = fit(frame)
    assert_same(plain, found)
    assert found.feature_names_in_.tolist() == names
    assert found.get_feature_names_out().tolist() == [names[a] for a in np.flatnonzero(plain.support_)]
    np.testing.assert_array_equal(found.predict(frame), plain.predict(HARD))


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint16, object])
def test_whole_numbers_are_numbers(kind):
    table = np.round(10 * HARD + 50)
    assert_same(fit(table), fit(table.astype(kind)))


def test_booleans_are_zeros_and_ones():
    table = HARD > 0
    found = fit(table.astype(float))
    assert_same(found, fit(table))
    assert_same(found, fit(pd.DataFrame(table)))


def test_the_users_table_is_left_alone():
    table = HARD.copy()
    fit(table)
    np.testing.assert_array_equal(table, HARD)


def test_half_the_digits_are_enough_and_stay_half(monkeypatch):
    seen = []

    def watch(problem, *args, **kwargs):
        seen.append(problem.features)
        return search_size(problem, *args, **kwargs)

    search_size = sparsecluster._search.solve.search_size
    monkeypatch.setattr(sparsecluster._search.solve, "search_size", watch)
    table = EASY.astype(np.float32)
    assert_truth(fit(table, n_permutations=10))
    (features,) = seen
    assert features.table.dtype == np.float32
    assert features.source.values.dtype == np.float32
    assert np.shares_memory(features.source.values, table)


# ---------------------------------------------------------------- with the rest of scikit-learn


def test_a_clone_has_the_parameters_and_not_the_result(plain):
    again = clone(plain)
    assert again.get_params() == plain.get_params()
    assert not hasattr(again, "labels_")
    assert_same(plain, again.fit(HARD))


def test_a_fitted_estimator_survives_a_pickle(plain):
    again = pickle.loads(pickle.dumps(plain))
    assert_same(plain, again)
    new = np.random.default_rng(0).normal(size=(50, 60))
    np.testing.assert_array_equal(again.predict(new), plain.predict(new))
    np.testing.assert_array_equal(again.gap_curve_.frame(), plain.gap_curve_.frame())


def test_at_the_end_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), SASClustering(n_permutations=10))
    np.testing.assert_array_equal(pipeline.fit_predict(EASY), TRUTH)
    np.testing.assert_array_equal(pipeline.predict(EASY), TRUTH)
    assert pipeline[:-1].get_feature_names_out()[USEFUL].tolist() == pipeline.get_feature_names_out().tolist()


def test_at_the_head_of_a_pipeline():
    pipeline = make_pipeline(SASClustering(n_permutations=10), StandardScaler())
    assert pipeline.fit_transform(EASY).shape == (30, 6)


def test_grid_search_over_the_number_of_clusters():
    search = GridSearchCV(
        SASClustering(n_features_to_select=6),
        {"n_clusters": [2, 3]},
        cv=KFold(3, shuffle=True, random_state=0),
        error_score="raise",
    )
    search.fit(EASY)
    assert search.best_params_ == {"n_clusters": 3}
    np.testing.assert_array_equal(search.best_estimator_.labels_, TRUTH)
