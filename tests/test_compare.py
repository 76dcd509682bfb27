"""Several methods on one table: what is said of each is right, and one that fails does not stop the others."""

import csv

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

from sparsecluster import compare_methods
from sparsecluster.cli import app
from sparsecluster.datasets import mixed_groups
from sparsecluster.inspection.compare import USUAL, Compared, Comparison
from sparsecluster.methods.registry import METHODS, make_method
from sparsecluster.metrics import agreement_matrix, error_rate, rand_index

QUICK = ("ward", "complete", "kmeans++")


def blobs(n=12, p=5, apart=6.0):
    """Two groups that every method finds."""
    truth = np.repeat([0, 1], n // 2)
    return np.random.default_rng(0).standard_normal((n, p)) + apart * truth[:, None], truth


X, TRUTH = blobs()


@pytest.fixture(scope="module")
def found():
    return compare_methods(X, 2, methods=QUICK, truth=TRUTH, repeats=3)


# ---------------------------------------------------------------- what is found


def test_there_is_a_row_for_each_method_in_the_order_asked_for(found):
    frame = found.frame()
    assert list(frame.index) == list(QUICK)
    assert list(frame.columns) == ["seconds", "features", "stability", "rand", "ari", "error", "failed"]
    assert (frame["seconds"] > 0).all()
    assert (frame["features"] == 5).all()
    assert (frame["failed"] == "").all()


def test_each_method_is_fitted_as_often_as_asked_for(found):
    assert [len(each.labels) for each in found.results] == [3, 3, 3]
    assert all(labels.shape == (12,) for each in found.results for labels in each.labels)


def test_the_usual_methods_are_all_there_are_of_their_name():
    assert set(USUAL) <= set(METHODS)


def test_a_method_without_chance_is_stable(found):
    assert found.frame().loc[["ward", "complete"], "stability"].tolist() == [1.0, 1.0]


def test_stability_is_the_mean_agreement_of_the_repeats():
    labels = [np.array(each) for each in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1])]
    # The first two are the same but for names; the third is as far from both as can be.
    assert Compared("one", 1.0, 2.0, labels).stability == pytest.approx((1.0 - 0.5 - 0.5) / 3)
    assert np.isnan(Compared("one", 1.0, 2.0, labels[:1]).stability)


def test_what_is_said_of_the_truth_is_the_mean_over_the_repeats():
    truth, labels = np.array([0, 0, 1, 1]), [np.array([1, 1, 0, 0]), np.array([0, 1, 0, 1])]
    row = Comparison([Compared("one", 2.0, 3.0, labels)], truth).frame().loc["one"]
    assert row["rand"] == pytest.approx((1 + 1 / 3) / 2)
    assert row["ari"] == pytest.approx((1 - 0.5) / 2)
    assert row["error"] == pytest.approx((0 + 0.5) / 2)
    assert (row["seconds"], row["features"]) == (2.0, 3.0)


def test_measures_are_those_of_the_labels_that_are_kept():
    hard, truth = blobs(n=30, apart=0.8)
    result = compare_methods(hard, 2, methods=["kmeans++", "ward"], truth=truth, repeats=2)
    for each in result.results:
        row = result.frame().loc[each.method]
        assert row["rand"] == pytest.approx(np.mean([rand_index(truth, labels) for labels in each.labels]))
        assert row["error"] == pytest.approx(np.mean([error_rate(truth, labels) for labels in each.labels]))


def test_without_a_truth_nothing_is_said_of_it():
    frame = compare_methods(X, 2, methods=["ward"], repeats=1).frame()
    assert list(frame.columns) == ["seconds", "features", "stability", "failed"]


def test_labels_are_those_of_the_method_alone():
    result = compare_methods(X, 3, methods=["ward", "complete"], repeats=1)
    for each in result.results:
        np.testing.assert_array_equal(each.labels[0], make_method(each.method, 3).fit(X).labels_)


def test_the_same_seed_gives_the_same_and_the_truth_changes_nothing():
    hard, truth = blobs(n=30, apart=0.8)
    options = {"methods": ["kmeans", "sparse-kmeans"], "repeats": 2, "random_state": 3}
    runs = [compare_methods(hard, 3, **options), compare_methods(hard, 3, truth=truth, **options)]
    for one, other in zip(*(run.results for run in runs), strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.n_features == other.n_features


def test_parameters_go_to_all_methods_that_have_them():
    zeros_and_ones = (X > 3).astype(float)
    result = compare_methods(zeros_and_ones, 2, methods=["complete", "kmedoids"], repeats=1, metric="hamming")
    for each in result.results:
        assert each.error is None
        alone = make_method(each.method, 2, metric="hamming", random_state=0).fit(zeros_and_ones)
        assert rand_index(alone.labels_, each.labels[0]) == 1.0


def test_a_parameter_that_no_method_has_is_refused():
    with pytest.raises((TypeError, ValueError), match="metrik"):
        compare_methods(X, 2, methods=["ward"], repeats=1, metrik="hamming")


# ---------------------------------------------------------------- agreement


def test_agreement_is_symmetric_with_ones_on_the_diagonal():
    labelings = np.random.default_rng(0).integers(0, 3, (5, 20))
    matrix = agreement_matrix(list(labelings))
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 1.0)
    assert matrix[1, 3] == pytest.approx(adjusted_rand_score(labelings[1], labelings[3]))


def test_agreement_of_methods_has_their_names_and_is_that_of_the_first_repeat(found):
    table = found.agreement()
    assert list(table.index) == list(table.columns) == list(QUICK)
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diag(table), 1.0)
    ward, complete = (each.labels[0] for each in found.results[:2])
    assert table.loc["ward", "complete"] == pytest.approx(adjusted_rand_score(ward, complete))


def test_the_plot_has_the_names_of_the_methods_and_the_numbers(found):
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = found.plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == list(QUICK)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(QUICK)
    assert len(ax.texts) == 9
    assert ax.texts[0].get_text() == "1.00"
    plt.close(ax.figure)
    figure, own = plt.subplots()
    assert found.plot(own) is own
    plt.close(figure)


# ---------------------------------------------------------------- what goes wrong


def test_a_method_that_fails_is_a_row_with_its_reason_and_the_others_go_on():
    missing = X.copy()
    missing[3, 2] = np.nan
    result = compare_methods(missing, 2, methods=["if-pca", "ward"], truth=TRUTH, repeats=2)
    frame = result.frame()
    assert frame.loc["if-pca", "failed"].startswith("ValueError: Input X contains NaN")
    assert "\n" not in frame.loc["if-pca", "failed"]
    assert frame.loc["if-pca", ["seconds", "features", "stability", "rand", "ari", "error"]].isna().all()
    assert frame.loc["ward", "failed"] == ""
    assert frame.loc["ward", "rand"] == 1.0
    assert list(result.agreement().index) == ["ward"]


def test_where_all_methods_fail_there_are_still_their_reasons_and_no_agreement():
    result = compare_methods(X, 13, methods=["ward", "complete"], repeats=1)
    assert (result.frame()["failed"] != "").all()
    assert result.agreement().shape == (0, 0)


def test_an_unknown_method_is_answered_before_any_is_run():
    with pytest.raises(ValueError, match=r"There is no method 'wrad'.*Did you mean 'ward'\?"):
        compare_methods(X, 2, methods=["ward", "wrad"])
    with pytest.raises(ValueError, match="no method"):
        compare_methods(X, 2, methods=[])


def test_all_methods_on_a_small_table_end_and_find_the_groups():
    frame = compare_methods(X, 2, methods=list(METHODS), truth=TRUTH, repeats=1).frame()
    assert list(frame.index) == list(METHODS)
    assert (frame["failed"] == "").all()
    assert (frame["rand"] == 1.0).sum() >= len(METHODS) - 2


def test_all_methods_on_a_mixed_table_end_and_those_that_cannot_take_it_say_why():
    table = mixed_groups(n_features=6, n_useful=4, group_size=6, seed=2).X
    frame = compare_methods(table, 3, methods=list(METHODS), repeats=1).frame()
    for name, method in METHODS.items():
        reason = frame.loc[name, "failed"]
        assert bool(reason) == (method.takes == "numbers"), (name, reason)
        assert len(reason) < 400


@pytest.mark.parametrize("truth", [TRUTH[:-1], np.r_[TRUTH, 0], TRUTH[:, None], 3])
def test_a_truth_of_another_length_is_refused(truth):
    with pytest.raises(ValueError, match="one group for each of the 12 samples"):
        compare_methods(X, 2, methods=["ward"], truth=truth)


@pytest.mark.parametrize("repeats", [0, -1, 1.5])
def test_there_is_at_least_one_repeat(repeats):
    with pytest.raises(ValueError, match="repeats must be a whole number of at least 1"):
        compare_methods(X, 2, methods=["ward"], repeats=repeats)


def test_there_are_at_least_two_clusters():
    with pytest.raises(ValueError, match="n_clusters must be a whole number of at least 2"):
        compare_methods(X, 1, methods=["ward"])


def test_the_truth_of_matrices_has_one_group_for_each_of_their_rows():
    matrices = [np.abs(X[:, [a]] - X[:, a]) for a in range(5)]
    result = compare_methods(matrices, 2, methods=["complete"], truth=TRUTH, repeats=1, metric="precomputed")
    assert result.frame().loc["complete", "rand"] == 1.0
    with pytest.raises(ValueError, match="12 samples"):
        compare_methods(matrices, 2, methods=["complete"], truth=TRUTH[:5], metric="precomputed")


# ---------------------------------------------------------------- the command


@pytest.fixture
def table(tmp_path):
    """The two groups as a CSV file with a column that names them."""
    file = tmp_path / "table.csv"
    lines = [["a", "b", "c", "d", "e", "tissue"]]
    lines += [[*map(str, row), f"kind {group}"] for row, group in zip(X.tolist(), TRUTH, strict=True)]
    file.write_text("".join(",".join(line) + "\n" for line in lines))
    return file


def run(*arguments, **options):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)], **options)


def test_the_command_shows_time_features_stability_truth_and_agreement(table):
    result = run(table, "-k", 2, "--truth", "tissue", "--methods", "ward,complete")
    assert result.exit_code == 0
    ward = next(line for line in result.stdout.splitlines() if line.split()[:1] == ["ward"]).split()
    assert ward[2:] == ["5.000", "1.000", "1.000", "1.000", "0.000"]
    assert "Agreement between methods" in result.stdout
    assert "Note: Column 'tissue' contains the true groups. It is used for comparison only" in result.stderr


def test_the_command_writes_files_that_parse(table, tmp_path):
    out = tmp_path / "new" / "folder"
    result = run(table, "-k", 2, "--truth", "tissue", "--methods", "ward, complete", "--out", out, "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert sorted(file.name for file in out.iterdir()) == ["agreement.csv", "comparison.csv", "comparison.md"]
    rows = list(csv.DictReader((out / "comparison.csv").read_text().splitlines()))
    assert [row["method"] for row in rows] == ["ward", "complete"]
    assert [float(row["rand"]) for row in rows] == [1.0, 1.0]
    assert all(float(row["seconds"]) > 0 and row["failed"] == "" for row in rows)
    agreement = list(csv.reader((out / "agreement.csv").read_text().splitlines()))
    assert agreement == [["", "ward", "complete"], ["ward", "1.0", "1.0"], ["complete", "1.0", "1.0"]]
    tables = [line for line in (out / "comparison.md").read_text().splitlines() if line.startswith("|")]
    assert [line.count("|") for line in tables] == [9] * 4 + [4] * 4


def test_the_command_reads_standard_input(table):
    result = run("-", "-k", 2, "--truth", "tissue", "--methods", "ward", input=table.read_bytes())
    assert result.exit_code == 0
    assert "1.000" in result.stdout


def test_the_command_shows_why_a_method_failed_and_goes_on(table):
    lines = table.read_text().splitlines()
    lines[2] = "," + lines[2].split(",", 1)[1]
    table.write_text("\n".join(lines) + "\n")
    result = run(table, "-k", 2, "--truth", "tissue", "--methods", "if-pca,ward")
    assert result.exit_code == 0
    assert "failed:" in result.stdout
    assert any(line.split()[:1] == ["ward"] for line in result.stdout.splitlines())


def test_a_method_named_twice_is_run_or_refused_but_not_confusing(table):
    result = run(table, "-k", 2, "--methods", "ward,ward")
    assert "ambiguous" not in result.output
    assert "Traceback" not in result.output


BAD_FILES = {
    "missing": None, "empty": b"", "binary": bytes(range(256)), "ragged": b"a,b\n1,2\n3\n", "header": b"a,b\n",
    "latin": "gewä,b\n1,2\n".encode("latin-1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_that_is_no_table_gives_one_line_and_exit_code_2(tmp_path, kind):
    file = tmp_path / "table.csv"
    if BAD_FILES[kind] is not None:
        file.write_bytes(BAD_FILES[kind])
    result = run(file, "-k", 2)
    assert_one_line(result, "table.csv")


def assert_one_line(result, *words):
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert all(word in result.stderr for word in words), result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-k", 13), ("-k must be", "12")),
        (("-k", 2, "--methods", "wrad"), ("'wrad'", "Did you mean 'ward'?")),
        (("-k", 2, "--truth", "tisue"), ("'tisue'", "Did you mean 'tissue'?")),
        (("-k", 2, "--id", "nobody"), ("'nobody'", "Its columns are a, b")),
        (("-k", 2, "--jobs", 0), ("--jobs must be",)),
        (("-k", 2, "--metric", "nonsense"), ("nonsense",)),
    ],
)
def test_what_does_not_fit_gives_one_line_and_exit_code_2(table, arguments, words):
    assert_one_line(run(table, "--methods", "ward,complete", *arguments), *words)


def test_a_folder_that_cannot_be_made_gives_one_line_and_exit_code_2(table):
    assert_one_line(run(table, "-k", 2, "--methods", "ward", "--out", table), "table.csv")


@pytest.mark.parametrize("arguments", [("-k", 1), ("-k", 2, "--repeats", 0), ("-k", 2, "--seed", -1), ()])
def test_numbers_out_of_range_are_refused_by_exit_code_2(table, arguments):
    result = run(table, *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_shell_sees_no_traceback(nursery, tmp_path):
    result = nursery.run("compare", tmp_path / "nowhere.csv", "-k", 2, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"Error: There is no file {tmp_path / 'nowhere.csv'}.\n"
