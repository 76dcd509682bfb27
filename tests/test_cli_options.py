"""Options that several commands share mean the same in each of them."""

import json

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sparsecluster import SASClustering, compare_methods
from sparsecluster.cli import app
from sparsecluster.cli.tables import metric_of
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection.compare import USUAL

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

FULL = shifted_groups(mu=1.0, n_features=30, n_useful=8, group_size=12, seed=1)
TABLE = pd.DataFrame(FULL.X.round(3), columns=[f"f{a}" for a in range(30)])


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def done(*arguments):
    ended = run(*arguments)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


@pytest.fixture
def file(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def labels_of(out):
    return pd.read_csv(out / "labels.csv")["cluster"].tolist()


def chosen_by(out):
    features = pd.read_csv(out / "features.csv")
    return set(features["name"][features["chosen"] == 1])


# ---------------------------------------------------------------- compare is fit


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("options", [(), ("--preset", "expression"), ("--no-standardize", "--metric", "f3=hamming")])
def test_compare_finds_what_fit_finds(tmp_path, file, seed, options):
    done("fit", file, "-k", 3, "--seed", seed, *options, "--no-report", "--no-assess", "-q", "-o", tmp_path / "out")
    methods = ("--methods", "sas,sparse-kmeans", "--repeats", 2)
    told = json.loads(done("compare", file, "-k", 3, "--seed", seed, *options, *methods, "--json"))
    assert told["labels"]["sas"] == labels_of(tmp_path / "out")
    assert [row["method"] for row in told["methods"]] == ["sas", "sparse-kmeans"]
    options = (*options, "--method", "sparse-kmeans", "--no-report", "--no-assess", "-q")
    done("fit", file, "-k", 3, "--seed", seed, *options, "-o", tmp_path / "out")
    assert told["labels"]["sparse-kmeans"] == labels_of(tmp_path / "out")


def test_the_first_repeat_in_python_is_the_fit_with_the_seed_and_the_others_differ():
    methods = ["kmeans++", "sas"]
    found = compare_methods(FULL.X, 3, methods=methods, repeats=2, random_state=5, n_features_to_select=4)
    sas = SASClustering(3, n_features_to_select=4, random_state=5).fit(FULL.X)
    assert found.results[1].labels[0].tolist() == sas.labels_.tolist()
    one = compare_methods(FULL.X, 3, methods=methods, repeats=1, random_state=5, n_features_to_select=4)
    assert one.results[0].labels[0].tolist() == found.results[0].labels[0].tolist()


def test_fit_and_compare_have_the_same_options_for_reading_and_fitting():
    commands = get_command(app).commands
    options = {
        name: {each.opts[0] for each in commands[name].params if each.param_type_name == "option"} for name in commands
    }
    own = {"--method", "--assess", "--alternative", "--report", "--verbose"}
    assert options["fit"] - options["compare"] == own
    assert options["compare"] - options["fit"] == {"--methods", "--repeats"}
    reading = {"--id", "--truth", "--drop", "--keep", "--dates", "--metric", "--transpose", "--preset", "--sheet"}
    assert reading | {"--encoding", "--delimiter", "--decimal", "--max-memory", "--json"} <= options["info"]


@pytest.mark.parametrize("command", ["methods", "info", "compare", "predict", "fit", "reproduce"])
def test_commands_that_show_something_have_json(command):
    assert "--json" in {word for each in get_command(app).commands[command].params for word in each.opts}


def test_the_list_of_experiments_as_json():
    listed = json.loads(done("reproduce", "--list", "--json"))
    assert {"name", "what it is", "cells"} <= set(listed[0])


def test_what_no_method_has_is_refused_before_the_table_is_read(tmp_path):
    ended = run("compare", tmp_path / "none.csv", "-k", 3, "--methods", "ward,kmeans++", "--null", "fixed")
    assert "None of the methods has an option --null" in ended.stderr
    assert 'Did you mean "refit"' in run("compare", "none.csv", "-k", 3, "--methods", "sas", "--null", "refitt").stderr


def test_methods_that_fail_are_told_below_the_table(tmp_path):
    TABLE.iloc[:, :5].assign(word=["a", "b", "c"] * 12).to_csv(tmp_path / "t.csv", index=False)
    told = done("compare", tmp_path / "t.csv", "-k", 3, "--methods", "ward,if-pca", "--repeats", 1)
    assert "\nif-pca failed: " in told
    assert set(USUAL) >= {"ward", "if-pca"}


# ---------------------------------------------------------------- metrics


GOOD = {
    ("hamming",): "hamming",
    ("zip=hamming,age=manhattan",): {"zip": "hamming", "age": "manhattan"},
    ("zip=hamming", "age=manhattan"): {"zip": "hamming", "age": "manhattan"},
    ("a,b=hamming",): {"a,b": "hamming"},
    ("a=b=hamming",): {"a=b": "hamming"},
    ("a=b,c=hamming", "d=ordinal"): {"a=b,c": "hamming", "d": "ordinal"},
    (): "auto",
}


@pytest.mark.parametrize("given", GOOD)
def test_a_metric_is_for_all_columns_or_for_some(given):
    assert metric_of(list(given)) == GOOD[given]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["hamming", "x=ordinal"], "for all columns, or"),
        (["hamming", "ordinal"], "for all columns, or"),
        (["x=hemming"], 'Did you mean "hamming"?'),
        (["hemming"], 'Did you mean "hamming"?'),
        (["x="], "must be one of"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(given, told):
    with pytest.raises(ValueError, match=told.replace("?", r"\?")):
        metric_of(given)


def test_metrics_by_column_are_those_of_the_estimator(tmp_path, file):
    frame = TABLE.rename(columns={"f1": "a,b", "f2": "c=d"})
    frame.to_csv(file, index=False)
    metrics = {"a,b": "hamming", "c=d": "manhattan", "f3": "manhattan"}
    options = [word for name, kind in metrics.items() for word in ("--metric", f"{name}={kind}")]
    done("fit", file, "-k", 3, "-s", 4, *options, "--no-report", "-q", "-o", tmp_path / "out")
    found = SASClustering(3, n_features_to_select=4, metric=metrics).fit(frame)
    assert labels_of(tmp_path / "out") == found.labels_.tolist()
    assert chosen_by(tmp_path / "out") == set(frame.columns[found.support_])


def test_standardization_can_be_switched_off_and_only_where_the_method_has_it(tmp_path, file):
    wide = TABLE * np.geomspace(1, 100, 30)
    wide.to_csv(file, index=False)
    for word, value in (("--standardize", True), ("--no-standardize", False)):
        done("fit", file, "-k", 3, "-s", 4, word, "--no-report", "-q", "-o", tmp_path / "out")
        found = SASClustering(3, n_features_to_select=4, standardize=value).fit(pd.read_csv(file))
        assert chosen_by(tmp_path / "out") == set(wide.columns[found.support_])
    ended = run("fit", file, "-k", 3, "--method", "if-pca", "--standardize", "-o", tmp_path / "other")
    assert (ended.exit_code, "has no option --standardize" in ended.stderr) == (2, True)


# ---------------------------------------------------------------- columns


def test_columns_to_drop_are_given_in_commas_or_one_by_one(tmp_path, file):
    told = json.loads(
        done("fit", file, "-k", 3, "-s", 4, "--drop", "f0,f1", "--drop", "f2", "--json", "-o", tmp_path / "o")
    )
    assert told["n_features"] == 27
    assert not {"f0", "f1", "f2"} & set(told["chosen"])


def test_json_of_fit_has_names_of_features(tmp_path, file):
    told = json.loads(done("fit", file, "-k", 3, "--json", "--no-assess", "-o", tmp_path / "out"))
    features = pd.read_csv(tmp_path / "out" / "features.csv")
    assert told["chosen"] == features["name"][features["chosen"] == 1].tolist()
    assert set(told["core"]) == set(features["name"][features["core"] == 1])
    assert told["n_clusters"] == 3


def test_the_name_of_a_column_wins_over_commas(tmp_path, file):
    frame = TABLE.rename(columns={"f9": "f0,f1"})
    frame.to_csv(file, index=False)
    for options, left in ((["f0,f1"], {"f0,f1"}), (["f1,f2", "f0,f1"], {"f1", "f2", "f0,f1"})):
        words = [word for value in options for word in ("--drop", value)]
        told = json.loads(done("info", file, *words, "--json"))
        assert {column["name"] for column in told["columns"] if column["use"] == "left out"} == left


def test_columns_that_would_be_left_out_are_kept_and_dates_are_read(tmp_path):
    rng = np.random.default_rng(0)
    frame = TABLE.iloc[:, :4].assign(
        customer_id=rng.permutation(36) + 1000,
        note=[f"n{i}" for i in range(36)],
        day=20240101 + rng.integers(0, 28, 36),
    )
    frame.to_csv(tmp_path / "t.csv", index=False)

    def features(*options):
        columns = json.loads(done("info", tmp_path / "t.csv", *options, "--json"))["columns"]
        assert [column["name"] for column in columns] == list(frame.columns)
        return {column["name"]: column["type"] for column in columns if column["use"] == "feature"}

    assert set(features()) == {"f0", "f1", "f2", "f3", "day"}
    kept = features("--keep", "customer_id,note", "--dates", "day")
    assert (kept["customer_id"], kept["note"], kept["day"]) == ("numbers", "levels", "dates")
    assert "note" in features("--metric", "note=hamming")
    told = json.loads(
        done("fit", tmp_path / "t.csv", "-k", 2, "-s", 2, "--keep", "note", "--json", "-o", tmp_path / "o")
    )
    assert told["n_features"] == 6


def test_the_truth_may_be_in_a_file_of_its_own(tmp_path, file):
    TABLE.to_csv(file, index_label="name")
    groups = pd.DataFrame({"who": TABLE.index, "kind": FULL.truth}).sample(frac=1, random_state=0)
    groups.to_csv(tmp_path / "groups.csv", index=False)
    TABLE.assign(kind=FULL.truth).to_csv(tmp_path / "all.csv", index_label="name")
    by_file, by_column = (
        json.loads(
            done("fit", data, "--id", "name", "-k", 3, "-s", 4, "--truth", truth, "--json", "-o", tmp_path / "o")
        )
        for data, truth in ((file, tmp_path / "groups.csv"), (tmp_path / "all.csv", "kind"))
    )
    assert by_file["truth"] == by_column["truth"]
    assert by_file["n_features"] == 30
    options = ("--id", "name", "-k", 3, "--methods", "ward", "--repeats", 1, "--json")
    compared = json.loads(done("compare", file, *options, "--truth", tmp_path / "groups.csv"))
    assert "ari" in compared["methods"][0]
