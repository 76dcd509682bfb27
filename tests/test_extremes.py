"""Whatever finite numbers a table holds, the result is finite, or the column that cannot be used is named."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from sparsecluster import (
    PROCLUS,
    ExpressionScaler,
    RafteryDean,
    ReducedClustering,
    SASClustering,
    load_model,
    save_model,
    write_report,
)
from sparsecluster._features.manhattan import ManhattanFeatures
from sparsecluster.cli import app
from sparsecluster.inspection import inspect
from sparsecluster.methods._screening import dip_statistics
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import in_turn
from tests.helpers.common import refuses, same_groups
from tests.helpers.methods import MIXTURES, quick

# Two groups that differ in the first two of four columns, the larger one first.
TRUTH = np.repeat([0, 1], [12, 8])
TABLE = np.random.default_rng(0).normal(size=(20, 4)) + 6.0 * np.outer(TRUTH == 0, [1, 1, 0, 0])


def sas(**parameters):
    return SASClustering(2, **{"n_features_to_select": 2, **parameters})


def matrices(table):
    return np.abs(table.T[:, :, None] - table.T[:, None])


def with_value(value, row=0, column=0):
    table = TABLE.copy()
    table[row, column] = value
    return table


def with_missing(table):
    table = np.array(table)
    table[[3, 12], [0, 2]] = np.nan
    return table


def in_columns(*sizes):
    return TABLE * np.array(sizes)


# ---------------------------------------------------------------- numbers that are too large

FORMS = pytest.mark.parametrize("form", [np.array, sp.csr_matrix, with_missing])


@FORMS
@pytest.mark.parametrize("value", [1e302, -1.7e308])
def test_a_number_whose_sums_would_overflow_is_refused_with_its_column(form, value):
    with refuses(r"beyond 1e\+301 in 1 of 4 columns", rf"'x2' \({abs(value):.3g}\)".replace("+", r"\+"), "Divide"):
        sas().fit(form(with_value(value, 4, 2)))


@pytest.mark.parametrize("ask", ["predict", "score"])
@FORMS
def test_a_new_sample_with_such_a_number_is_refused_with_its_column(ask, form):
    with refuses(r"beyond 1e\+301 in 1 of 4 columns", r"'x2' \(1e\+305\)"):
        getattr(sas().fit(TABLE), ask)(form(with_value(1e305, 4, 2)))


def test_a_number_that_stands_for_a_missing_value_can_be_one():
    with refuses("NaN if the number stands for a missing value"):
        sas().fit(with_value(1e308))
    assert same_groups(sas().fit(with_value(np.nan)).labels_, TRUTH)


def test_a_file_with_such_numbers_is_refused_with_the_column(tmp_path):
    file = tmp_path / "table.csv"
    rows = np.column_stack([np.where(TRUTH == 0, 1e308, -1e308), TABLE])
    np.savetxt(file, rows, delimiter=",", header="far,a,b,c,d", comments="")
    result = CliRunner().invoke(app, ["fit", str(file), "-k", "2", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "'far' (1e+308)" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("metric", ["hamming", "ordinal"])
def test_infinity_is_not_a_level(metric):
    table = np.round(TABLE)
    table[4, 1] = np.inf
    with refuses("infinity in 1 of 4 columns", r"'x1' \(1\)"):
        sas(metric=metric).fit(table)


@pytest.mark.usefixtures("strict")
def test_a_number_between_levels_of_any_size_has_a_rank_between_theirs():
    far = np.where(TRUTH == 0, -1e308, 1.7e308)
    found = sas(metric="ordinal", n_features_to_select=1).fit(np.column_stack([far, np.round(TABLE[:, 2:])]))
    assert found.support_.tolist() == [True, False, False]
    assert found.predict([[-1e308, 0, 0], [0, 0, 0], [5e307, 0, 0]]).tolist() == [0, 0, 1]


# ---------------------------------------------------------------- spreads


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, with_missing, matrices])
def test_a_spread_that_cannot_be_divided_by_is_none(form):
    metric = "precomputed" if form is matrices else "auto"
    with pytest.warns(UserWarning, match="1 (column|matrix) is constant and will not be used: 'x0'"):
        found = sas(metric=metric).fit(form(in_columns(1e-310, 1, 1, 1)))
    assert not found.support_[0]
    assert np.isfinite(found.feature_scores_).all()


@pytest.mark.usefixtures("strict")
def test_sums_over_very_many_pairs_are_numbers():
    column = np.random.default_rng(0).normal(size=(20_000, 1))
    labels = (column[:, 0] > 0).astype(np.int32)
    one, other = (
        ManhattanFeatures(each, True, np.ones(1), np.arange(1)).scores(labels, 2) for each in (column, column * 1e300)
    )
    np.testing.assert_allclose(other, one, rtol=1e-9)


UNITS = pytest.mark.parametrize(
    ("form", "size", "metric", "what"),
    [
        (np.array, 1e160, "auto", "column"),
        (np.array, 1e-200, "auto", "column"),
        (sp.csr_matrix, 1e160, "auto", "column"),
        (with_missing, 1e-160, "auto", "column"),
        (np.array, 1e160, "manhattan", "column"),
        (np.array, 1e-160, "manhattan", "column"),
        (np.array, 1e160, lambda x, y: abs(x - y), "column"),
        (matrices, 1e160, "precomputed", "matrix"),
        (matrices, 1e-160, "precomputed", "matrix"),
    ],
)


@UNITS
def test_columns_that_keep_their_units_must_have_squares(form, size, metric, what):
    table = form(in_columns(1, size, 1, 1))
    words = f"standardize=False, columns keep their units, and the spread of a {what}", f"that of {what} 'x1' is"
    with refuses(*words, f"Use standardize=True, or multiply the {what} by a constant"):
        sas(standardize=False, metric=metric).fit(table)
    # Also if the table has been read for another estimator.
    with refuses(*words):
        sas(standardize=False, metric=metric).fit(sas(metric=metric).read(table))


@pytest.mark.parametrize("make", [PROCLUS, RafteryDean, ReducedClustering])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_a_common_unit_does_not_matter_to_methods_with_a_unit_of_their_own(make, size):
    with np.errstate(all="raise", under="ignore"):
        one, other = (make(2, standardize=False).fit(table) for table in (TABLE, TABLE * size))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.feature_scores_, one.feature_scores_, rtol=1e-9)
    large, small = (size, size * 1e-100) if size > 1 else (size * 1e100, size)
    with refuses("standardize=False", "that of column 'x1' is"):
        make(2, standardize=False).fit(in_columns(large, small, large, large))


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("size", [1e-160, 1e160])
def test_variances_that_cannot_be_expressed_are_refused_with_the_column(name, size):
    with refuses("variances of a mixture are in the squared units of X", "that of column 'x3' is", "Multiply"):
        quick(name, 2).fit(in_columns(1, 1, 1, size))


# ---------------------------------------------------------------- matrices, single precision


@pytest.mark.parametrize("value", [1e291, 1.7e308])
def test_an_entry_whose_sums_would_overflow_is_refused_with_its_matrix(value):
    given = matrices(TABLE)
    given[2, 3, 5] = given[2, 5, 3] = value
    with refuses("Matrix 2 has an entry that is too large", r"at \(3, 5\)", "divide"):
        sas(metric="precomputed").fit(given)
    found = sas(metric="precomputed").fit(matrices(TABLE))
    with refuses("Matrix 0 has an entry that is too large"):
        found.predict(np.full((4, 3, 20), value))


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("sizes", [(1e30,) * 4, (1e-30,) * 4, (1e18, 1e18, 1.0, 1.0)])
def test_products_of_single_precision_numbers_stay_within_range(sizes, standardize):
    single = in_columns(*sizes).astype(np.float32)
    one, other = (sas(standardize=standardize).fit(each) for each in (single.astype(np.float64), single))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.feature_scores_, one.feature_scores_)


def test_ordinary_numbers_stay_in_single_precision():
    assert sas().read(TABLE.astype(np.float32)).source.table.values.dtype == np.float32
    assert sas().read((TABLE * 1e10).astype(np.float32)).source.table.values.dtype == np.float64
    assert sas().read((TABLE * 1e-10).astype(np.float32)).source.table.values.dtype == np.float64


# ---------------------------------------------------------------- new samples


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
@pytest.mark.parametrize("far", [1e20, 1e160, 1e300])
def test_a_sample_far_away_belongs_to_the_cluster_on_its_side(metric, far):
    found = sas(metric=metric).fit(TABLE)
    new = np.array([[far, far, 0, 0], [-far, -far, 0, 0]])
    np.testing.assert_array_equal(found.predict(new), found.predict(np.clip(new, -50, 50)))
    assert np.isfinite(found.score(new))


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].predicts])
def test_samples_far_away_get_a_cluster_and_a_finite_score(name, less_work, one_thread):
    found = quick(name, 2).fit(TABLE)
    new = np.vstack([TABLE, TABLE * 1e200, TABLE * -1e300])
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(found.predict(new)[:20], found.predict(TABLE))
        assert np.isfinite(found.score(new))
        if METHODS[name].soft:
            np.testing.assert_allclose(found.predict_proba(new).sum(axis=1), 1.0)


@pytest.mark.usefixtures("strict")
def test_an_infinite_result_of_a_function_is_refused_with_the_value():
    found = sas(metric=lambda x, y: (x - y) ** 2).fit(TABLE)
    with refuses("infinite dissimilarity between the new value 1e\\+200", "NaN if it is missing"):
        found.predict([[1e200, 0, 0, 0]])


# ---------------------------------------------------------------- parts


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_samples_of_any_unit_are_made_comparable(size):
    one, other = (ExpressionScaler(log=False).fit_transform(table) for table in (TABLE, TABLE * size))
    np.testing.assert_allclose(other, one, rtol=1e-9)


@pytest.mark.usefixtures("strict")
def test_the_dip_has_no_unit():
    # Multiples of 2^-12, which are exact in the smallest units, and close enough for very steep slopes.
    rng = np.random.default_rng(0)
    table = np.round(4096 * (rng.normal(size=(170, 5)) / 100 + 3 * (np.arange(170)[:, None] < 85))) / 4096
    np.testing.assert_array_equal(dip_statistics(table * 2.0**-1014), dip_statistics(table))


# ---------------------------------------------------------------- every method

EXTREMES = {
    "small": TABLE * 1e-300,
    "large": TABLE * 1e300,
    "subnormal": TABLE * 1e-320,
    "too large": TABLE * 1e307,
    "mixed": in_columns(1e-200, 1e200, 1.0, 1e-75),
    "a huge outlier": with_value(1e300),
    "a huge column": np.column_stack([np.where(TRUTH == 0, 1e301, -1e301), TABLE]),
    "a huge offset": np.column_stack([1e300 + TABLE[:, 0] * 1e286, TABLE[:, 1:]]),
    "single precision": (TABLE * [1e30, 1e-30, 1.0, 1e19]).astype(np.float32),
}


def numbers_of(found):
    """All numbers among the attributes; NaN stands for columns that were left out."""
    for name, value in vars(found).items():
        if name.endswith("_") and isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
            yield name, np.asarray(value)[~np.isnan(value)] if found._kept.n_left_out else np.asarray(value)


@pytest.fixture
def no_warnings_of_numbers():
    """Whatever overflows or is no number is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        yield


def fitted(estimator, table):
    """The estimator, or None if it names a column or a matrix that it cannot use."""
    try:
        return estimator.fit(table)
    except ValueError as error:
        if not any(words in str(error) for words in ("'x", "Matrix", "columns are constant", "matrices are constant")):
            raise
        return None


@pytest.mark.usefixtures("no_warnings_of_numbers", "less_work", "one_thread")
@in_turn(name=METHODS, standardize=[True, False])
def test_the_result_is_finite_or_the_column_is_named(name, standardize):
    parameters = {"core_agreement": None}
    if "standardize" in quick(name).get_params():
        parameters["standardize"] = standardize
    for table in EXTREMES.values():
        found = fitted(quick(name, 2, **parameters), table)
        if found is None:
            continue
        for attribute, numbers in numbers_of(found):
            assert np.isfinite(numbers).all(), attribute
        assert "nan" not in found.summary()
        if METHODS[name].predicts:
            assert np.isfinite(found.score(table))
            assert set(found.predict(table)) <= {0, 1}


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, with_missing, matrices])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.usefixtures("no_warnings_of_numbers")
def test_everything_about_a_fit_is_finite_or_the_column_is_named(tmp_path, form, standardize):
    report, model = tmp_path / "report.html", tmp_path / "model.json"
    for table in EXTREMES.values():
        with np.errstate(over="ignore"):
            given = form(table)
        found = fitted(sas(standardize=standardize, metric="precomputed" if form is matrices else "auto"), given)
        if found is None:
            continue
        write_report(found, given, report)
        assert "nan %" not in report.read_text()
        assert np.isfinite(found.score(given))
        assert np.isfinite(inspect(found, given).places_of_samples().distance).all()
        if form is not matrices:
            save_model(found, model)
            np.testing.assert_array_equal(load_model(model).predict(given), found.predict(given))
