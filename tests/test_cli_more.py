"""The smaller commands, what is said when something is wrong, Ctrl-C, help and completion."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from sparsecluster import SASClustering, compare_methods
from sparsecluster.cli import app
from sparsecluster.cli.small import DESIGNS
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.inspection.compare import USUAL
from sparsecluster.io.models import as_dict
from sparsecluster.methods.registry import METHODS
from tests.helpers.imports import heavy_modules, help_of

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

COMMANDS = ("fit", "predict", "report", "info", "compare", "methods", "simulate", "reproduce", "demo")
FULL = shifted_groups(mu=3.0, n_features=12, n_useful=4, group_size=8, seed=0)
TABLE = pd.DataFrame(FULL.X.round(3), columns=[f"f{a}" for a in range(12)], index=[f"i{i}" for i in range(24)])


def run(*arguments, given=None):
    # A wide terminal, so that tables are not broken into lines.
    return CliRunner().invoke(app, [*map(str, arguments)], input=given, env={"COLUMNS": "300"})


def done(*arguments, given=None):
    result = run(*arguments, given=given)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, models and files that are none of them."""
    made = tmp_path_factory.mktemp("files")
    TABLE.assign(group=FULL.truth).to_csv(made / "table.csv", index_label="name")
    rng = np.random.default_rng(0)
    contents = {
        "empty.csv": b"",
        "header.csv": b"a,b,c\n",
        "binary.csv": bytes(range(256)),
        "noise.csv": rng.integers(1, 256, 2000).astype("u1").tobytes(),
        "noise.npz": rng.integers(0, 256, 500).astype("u1").tobytes(),
        "noise.xlsx": rng.integers(0, 256, 500).astype("u1").tobytes(),
        "noise.h5ad": rng.integers(0, 256, 500).astype("u1").tobytes(),
        "noise.csv.gz": rng.integers(0, 256, 500).astype("u1").tobytes(),
        "ragged.csv": b"a,b\n1,2\n3,4,5\n6,7\n",
        "short.csv": b'name,a,b\n"x, y",1,2\nz,3\nu,4,5\nv,5,6\n',
        "twice.csv": b"id,a,b\nx,1,2\nx,3,4\ny,5,6\n",
        "latin.csv": "größe,b\n1,2\n3,4\n5,6\n".encode("latin-1"),
        "words.csv": b"a,b\n" + b"".join(b"p%d,q%d\n" % (i, i) for i in range(30)),
        "damaged.json": b'{"format": "sparsecluster-model", "version": 1, "estimator": "SASClustering"}',
        "other.json": b"[1, 2]",
        "newer.json": b'{"format": "sparsecluster-model", "version": 99, "sparsecluster": "9.0"}',
    }
    for name, content in contents.items():
        (made / name).write_bytes(content)
    model = as_dict(SASClustering(3, n_features_to_select=4).fit(TABLE))
    (made / "model.json").write_text(json.dumps({**model, "preset": None}))
    (made / "preset.json").write_text(json.dumps({**model, "preset": {"name": "expression"}}))
    TABLE[["f1", "f2"]].to_csv(made / "narrow.csv", index_label="name")
    return made


# ---------------------------------------------------------------- what is wrong is one line

K = ("-k", "3")
# The command, and what its one line must say.
WRONG = {
    "no such file": (("fit", "none.csv", *K), "There is no file"),
    "an empty file": (("fit", "empty.csv", *K), "is empty"),
    "a header alone": (("fit", "header.csv", *K), "no rows"),
    "a folder of other files": (("fit", ".", *K), "Parts must be Parquet, CSV or Zarr"),
    "a folder": (("compare", ".", *K), "is a folder"),
    "zero bytes": (("fit", "binary.csv", *K), "not a text file"),
    "noise as text": (("fit", "noise.csv", *K), "encoding"),
    "noise as NPZ": (("fit", "noise.npz", *K), "cannot be read"),
    "noise as Excel": (("fit", "noise.xlsx", *K), "cannot be read"),
    "noise as H5AD": (("fit", "noise.h5ad", *K), "cannot be read"),
    "noise as GZ": (("fit", "noise.csv.gz", *K), "noise.csv.gz"),
    "ragged rows": (("fit", "ragged.csv", *K), "line 3"),
    "a short row beside quotes": (("fit", "short.csv", "-k", "2"), "line 3"),
    "ids that come twice": (("fit", "twice.csv", "-k", "2", "--id", "id"), "'x'"),
    "another encoding": (("fit", "latin.csv", *K), "--encoding"),
    "an encoding that there is not": (("fit", "latin.csv", *K, "--encoding", "zzz"), "zzz"),
    "names in every column": (("fit", "words.csv", *K), "'b'"),
    "more clusters than samples": (("fit", "table.csv", "-k", "100"), "[2, 24]"),
    "one cluster": (("fit", "none.csv", "-k", "1"), "-k must be a whole number of at least 2"),
    "a range backward": (("fit", "none.csv", "-k", "6-2"), "a range such as 2-6, with the smaller number first"),
    "a range from one": (("fit", "none.csv", "-k", "1-3"), "got '1-3'"),
    "half a range": (("fit", "none.csv", "-k", "2-"), "got '2-'"),
    "clusters in words": (("fit", "none.csv", "-k", "x"), "got 'x'"),
    "half a cluster": (("fit", "none.csv", "-k", "2.5"), "got '2.5'"),
    "fewer than no clusters": (("fit", "none.csv", "-k", "-3"), "got '-3'"),
    "a range beyond the samples": (("fit", "table.csv", "-k", "20-30"), "[2, 24]"),
    "a largest number that is given": (("fit", "none.csv", *K, "--max-clusters", "5"), "that -k auto tries"),
    "a largest number of one": (("fit", "none.csv", "--max-clusters", "1"), "--max-clusters must be a whole number"),
    "an unknown criterion for k": (("fit", "none.csv", "--cluster-criterion", "bik"), 'Did you mean "bic"?'),
    "an unknown criterion for s": (("fit", "none.csv", *K, "--criterion", "gab"), 'Did you mean "gap"?'),
    "a criterion for a method without": (("fit", "none.csv", "--method", "ward", "--criterion", "bic"), "--criterion"),
    "too much trimming": (
        ("fit", "none.csv", *K, "--trim", "0.6"),
        "--trim must be a share of the samples in [0, 0.5)",
    ),
    "less than no trimming": (("fit", "none.csv", *K, "--trim", "-0.1"), "--trim must be a share"),
    "an unknown metric": (("fit", "table.csv", *K, "--metric", "euclid"), '"sqeuclidean"'),
    "an unknown method": (("fit", "table.csv", *K, "--method", "sass"), "Did you mean 'sas'?"),
    "an unknown id": (("fit", "table.csv", *K, "--id", "nome"), "Did you mean 'name'?"),
    "an unknown truth": (("fit", "table.csv", *K, "--truth", "grup"), "Did you mean 'group'?"),
    "an unknown column to drop": (("fit", "table.csv", *K, "--drop", "f0,grup"), "Did you mean 'group'?"),
    "no features": (("fit", "table.csv", *K, "--size", "0"), "[1, 13]"),
    "too many features": (("fit", "table.csv", *K, "--size", "14"), "[1, 13]"),
    "a share above one": (("fit", "table.csv", *K, "--size", "1.5"), "(0, 1]"),
    "a size in words": (("fit", "none.csv", *K, "--size", "x"), '"core" or "auto"; got'),
    "a size for a method without": (("fit", "table.csv", *K, "--method", "if-pca", "--size", "3"), "no option --size"),
    "an unknown preset": (("fit", "table.csv", *K, "--preset", "x"), '"expression"'),
    "no threads": (("fit", "table.csv", *K, "--jobs", "0"), "got 0"),
    "a file as folder": (("fit", "table.csv", *K, "--out", "words.csv"), "words.csv"),
    "no model": (("predict", "none.json", "table.csv"), "There is no file"),
    "a damaged model": (("predict", "damaged.json", "table.csv"), "damaged"),
    "another JSON": (("predict", "other.json", "table.csv"), "not a model"),
    "a newer model": (("predict", "newer.json", "table.csv"), "newer"),
    "a table as model": (("predict", "table.csv", "table.csv"), "not a model"),
    "a model with half a preset": (("predict", "preset.json", "table.csv"), "preset.json"),
    "missing columns": (
        ("predict", "model.json", "narrow.csv"),
        "lacks 10 of the columns that the model was fitted on: 'f0', 'f3'",
    ),
    "no result": (("report", "none"), "There is no"),
    "a folder without a result": (("report", "."), "summary.json"),
    "a model as result": (("report", "model.json"), "not a summary"),
    "a table as result": (("report", "table.csv"), "not a summary"),
    "an unknown design": (("simulate", "shift"), 'Did you mean "shifted"?'),
    "too few features of diagonal": (("simulate", "diagonal", "--features", "3"), "at least 50"),
    "too few features of correlated": (("simulate", "correlated", "--features", "3"), "at least 50"),
    "too few features of many": (("simulate", "many", "--features", "3"), "features"),
    "no table to show": (("info", "none.csv"), "There is no file"),
    "an unknown metric to show": (("info", "table.csv", "--metric", "x"), "metric"),
    "a method that cannot be compared": (("compare", "table.csv", *K, "--methods", "sas,war"), "Did you mean 'ward'?"),
    "too many clusters to compare": (("compare", "table.csv", "-k", "100", "--methods", "sas,ward"), "100"),
    "a range backward to compare": (("compare", "none.csv", "-k", "6-2"), "-k must be"),
    "an unknown metric to compare": (("compare", "table.csv", *K, "--metric", "x"), "metric"),
    "an unknown experiment": (("reproduce", "table-9"), "--list"),
    "cells that there are not": (("reproduce", "table-1a", "--cells", "mu=9"), "matches no cell"),
    "cells in words": (("reproduce", "table-1a", "--cells", "rubbish"), "--cells"),
    "a part of the cells in words": (("reproduce", "table-1a", "--cells", "mu=9; rubbish"), "--cells"),
    "an unknown variant": (("reproduce", "table-1a", "--variant", "x"), '"text", "code"'),
    "an unknown contender": (("reproduce", "table-1a", "--methods", "x"), "--methods"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_one_line_with_exit_code_two(folder, tmp_path, monkeypatch, what):
    arguments, told = WRONG[what]
    monkeypatch.chdir(folder)
    writes = arguments[0] in ("fit", "compare", "reproduce", "simulate") and "--out" not in arguments
    result = run(*arguments, *(("--out", tmp_path / "out") if writes else ()))
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("Error: ")
    assert told in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_error_of_the_real_command_shows_no_traceback(nursery, folder):
    ended = nursery.run("fit", "none.csv", "-k", 3, cwd=folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", "Error: There is no file none.csv.\n")


# ---------------------------------------------------------------- Ctrl-C


@pytest.mark.parametrize(
    "options", [("--jobs", "2"), pytest.param((), marks=pytest.mark.slow)], ids=["two threads", "one thread"]
)
def test_ctrl_c_ends_a_fit_long_before_it_is_done_and_leaves_nothing(tmp_path, options):
    np.save(tmp_path / "large.npy", np.random.default_rng(0).normal(size=(90, 20_000)))
    command = [sys.executable, "-m", "sparsecluster", "fit", "large.npy", *K, "--out", "out", "-v", *options]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # Progress is shown from the start of the search on.
        assert process.stderr.read(1) == b"\r"
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)
    assert printed == b""
    assert told.decode().split("\r")[-1] == "Interrupted.\n"
    # The last stage of a fit: starts at the size that was chosen.
    assert b"starts at" not in told
    assert [file.name for file in tmp_path.iterdir()] == ["large.npy"]


# ---------------------------------------------------------------- help and completion


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_loads_nothing_heavy_and_shows_an_example(command):
    heavy, told = heavy_modules(help_of(command))
    assert heavy == set()
    assert re.search(rf"Examples?:\s+sparsecluster {command}\b", told)


def test_help_names_every_command():
    told = done("--help")
    for command in COMMANDS:
        assert re.search(rf"^\s+{command}\s+\S", told, re.MULTILINE)


def test_the_shell_can_complete_commands():
    command = [sys.executable, "-c", "from sparsecluster.cli import app; app(prog_name='sparsecluster')"]
    shell = {**os.environ, "_SPARSECLUSTER_COMPLETE": "source_bash"}
    script = subprocess.run(command, env=shell, capture_output=True, text=True, check=False).stdout
    if "complete" not in script:
        pytest.skip("this version of typer shows no script without a shell")
    assert "complete -o default -F _sparsecluster_completion sparsecluster" in script
    shell |= {"_SPARSECLUSTER_COMPLETE": "complete_bash", "COMP_WORDS": "sparsecluster co", "COMP_CWORD": "1"}
    assert subprocess.run(command, env=shell, capture_output=True, text=True, check=False).stdout.split() == ["compare"]


# ---------------------------------------------------------------- methods, info, simulate, compare, reproduce


def test_methods_are_listed_in_words_and_as_json():
    told = done("methods")
    assert all(re.search(rf"^ {re.escape(name)} ", told, re.MULTILINE) for name in METHODS)
    entries = json.loads(done("methods", "--json"))
    assert list(entries) == list(METHODS)
    for name, method in METHODS.items():
        assert entries[name]["title"] == method.title
        assert (entries[name]["takes"], entries[name]["selects"]) == (method.takes, method.selects)
        assert isinstance(entries[name]["predicts"], bool)


@pytest.mark.parametrize("design", DESIGNS)
def test_simulated_tables_have_useful_features_first_and_the_truth_last(tmp_path, design):
    file = tmp_path / "deep" / "table.csv"
    told = done("simulate", design, "--features", 60, "--seed", 3, "--out", file)
    frame = pd.read_csv(file)
    n, p, useful = map(int, re.match(r"Wrote (\d+) samples with (\d+) features, (\d+) of them useful", told).groups())
    assert frame.shape == (n, p + 1) == (90, 61)
    assert frame.columns[-1] == "group"
    assert frame["group"].nunique() == 3
    assert [name.startswith("useful") for name in frame.columns[:-1]] == [True] * useful + [False] * (60 - useful)
    again = tmp_path / "again.csv"
    done("simulate", design, "--features", 60, "--seed", 3, "--out", again)
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("n", [3, 100, 1000])
def test_a_simulated_table_has_as_many_samples_as_asked_in_groups_of_nearly_one_size(tmp_path, n):
    done("simulate", "mixed", "--features", 20, "--samples", n, "--out", tmp_path / "table.csv")
    sizes = pd.read_csv(tmp_path / "table.csv")["group"].value_counts()
    assert (sizes.sum(), len(sizes)) == (n, 3)
    assert sizes.max() - sizes.min() <= 2


def test_compare_shows_and_writes_what_python_finds(folder, tmp_path):
    names = ["sas", "ward", "if-pca"]
    options = ("--truth", "group", "--methods", ",".join(names), "--repeats", 2)
    told = done("compare", folder / "table.csv", *K, *options, "--out", tmp_path / "out")
    found = compare_methods(TABLE, 3, methods=names, truth=FULL.truth, repeats=2).frame().drop(columns="seconds")
    written = pd.read_csv(tmp_path / "out" / "comparison.csv", index_col="method", keep_default_na=False)
    pd.testing.assert_frame_equal(written.drop(columns="seconds"), found)
    agreement = pd.read_csv(tmp_path / "out" / "agreement.csv", index_col=0)
    assert (list(agreement), agreement.to_numpy().diagonal().tolist()) == (names, [1.0] * 3)
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert all(f"| {name} |" in page and re.search(rf"^ {name} ", told, re.MULTILINE) for name in names)
    assert "Agreement between methods" in told


def test_compare_is_quiet_when_told_and_takes_the_usual_methods(folder, tmp_path):
    assert done("compare", folder / "table.csv", *K, "--repeats", 1, "-q", "--out", tmp_path / "out") == ""
    assert pd.read_csv(tmp_path / "out" / "comparison.csv")["method"].tolist() == list(USUAL)


@pytest.fixture(scope="module")
def listed():
    """What the list of experiments says of each after its title: cells, methods, repeats and minutes."""
    lines = {line.split()[0]: line for line in done("reproduce", "--list").splitlines() if line.strip()}
    assert set(EXPERIMENTS) <= set(lines)
    return {name: lines[name].split(EXPERIMENTS[name].title)[1].split() for name in EXPERIMENTS}


def test_the_list_of_experiments_says_how_large_they_are(listed):
    for name, (cells, methods, repeats, *_) in listed.items():
        assert (int(cells), int(methods)) == (len(EXPERIMENTS[name].cells), len(EXPERIMENTS[name].methods))
        assert int(repeats) >= 1


def test_the_list_of_experiments_says_about_how_long_they_take(listed):
    assert [name for name, told in listed.items() if not re.search(r"\d", " ".join(told[3:]))] == []


def test_predict_says_which_samples_are_in_no_cluster(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index_label="id")
    done("fit", tmp_path / "table.csv", "-k", 3, "--out", tmp_path / "out", "--no-report")
    new = TABLE.copy()
    new.iloc[5] = np.nan
    new.to_csv(tmp_path / "new.csv", index_label="id")
    result = run("predict", tmp_path / "out" / "model.json", tmp_path / "new.csv")
    assert result.exit_code == 0
    assert "\ni5,-1,,-1,\n" in result.stdout
    assert "Note: 1 of 24 samples have no observed value in any of the chosen features" in result.stderr


@pytest.mark.parametrize("asked", ["2-99999999999", ",".join(map(str, range(2, 2000)))])
def test_too_many_numbers_of_clusters_are_refused_before_the_table_is_read(asked):
    result = run("fit", "no-such-file.csv", "-k", asked)
    assert result.exit_code == 2
    assert "-k must be at most 1000 numbers; got '2" in result.stderr
