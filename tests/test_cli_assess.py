"""`fit` tells whether there are groups at all: when it does so, what it prints first, and what it writes."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sparsecluster import SASClustering, assess
from sparsecluster.cli import app
from sparsecluster.cli import assess as assessing
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods import _large
from sparsecluster.report import report_page

pd = pytest.importorskip("pandas")

PLAN = {"n_copies": 19, "n_repeats": 1, "n_splits": 4}
N, P = 51, 24
SAMPLES = [f"sample {i}" for i in range(N)]
GROUPS = pd.DataFrame(shifted_groups(mu=2.0, n_features=P, n_useful=8, group_size=N // 3, seed=0).X.round(3), SAMPLES)
NOISE = pd.DataFrame(np.random.default_rng(0).normal(size=(N, P)).round(3), SAMPLES)
COLUMNS = ["frequency", "fdr", "effect", "effect_low", "effect_high"]
KEYS = [
    *("verdict", "p_independent", "p_one_group", "n_clusters", "n_copies", "n_assessed", "alpha", "agreement"),
    *("agreement_null", "clusters", "n_listed", "fdr", "sentences"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Tables with and without groups in the working directory, and a plan that takes a fraction of a second."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assessing, "SHORT_PLAN", PLAN)
    GROUPS.add_prefix("gene ").to_csv("groups.csv", index_label="name")
    NOISE.add_prefix("gene ").to_csv("noise.csv", index_label="name")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["fit", *map(str, words), "--out", "out"])


def done(*words):
    """A fit that goes well and says nothing on standard error; gives what it printed."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def table(folder, name):
    return pd.read_csv(folder / "out" / f"{name}.csv")


def summary(folder):
    """The summary, in which there must be no NaN."""

    def refuse(name):
        raise AssertionError(name)

    return json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"), parse_constant=refuse)


# ---------------------------------------------------------------- what is said


def test_the_first_line_says_that_there_are_groups(folder):
    told = done("groups.csv").splitlines()
    assert told[0].startswith("There are groups: ")
    assert told[0] == summary(folder)["sentences"][0]
    assert told[1].startswith("Number of clusters: 3, chosen among 2 to 10")
    assert any(line.startswith("P-values: ") for line in told)


def test_the_first_line_says_that_there_are_none_and_nothing_is_lost(folder):
    told = done("noise.csv").splitlines()
    assert told[0].startswith("No groups (k = 1): ")
    assert "\x1b" not in told[0]
    assert told[0] == summary(folder)["sentences"][0]
    assert told[1].startswith("Among 2 to 10 clusters, ")
    assert told[2].startswith("The best clustering into ")
    labels = table(folder, "labels")["cluster"]
    assert summary(folder)["assessment"]["n_clusters"] == 1
    assert labels.tolist() == SASClustering("auto").fit(NOISE).labels_.tolist()


def test_with_k_given_the_clusters_keep_their_number(folder):
    assert done("noise.csv", "-k", 2).startswith("There is no evidence of groups: ")
    assert summary(folder)["assessment"]["n_clusters"] == 1


def test_only_a_terminal_shows_it_in_color():
    colored = CliRunner().invoke(app, ["fit", "noise.csv", "--out", "out"], color=True).stdout
    assert colored.startswith("\x1b[33m\x1b[1mNo groups (k = 1): ")
    assert "\x1b" not in CliRunner().invoke(app, ["fit", "groups.csv", "--out", "out"], color=True).stdout


@pytest.mark.parametrize("file", ["groups.csv", "noise.csv"])
def test_json_has_the_assessment_of_the_summary(folder, file):
    told = json.loads(done(file, "--json"))
    assert told["assessment"] == summary(folder)["assessment"]
    assert list(told["assessment"]) == KEYS


def test_fits_inside_do_not_warn_and_quiet_is_quiet(folder, recwarn):
    assert done("noise.csv", "--assess", "-k", 2, "--quiet") == ""
    assert [str(each.message) for each in recwarn] == []


# ---------------------------------------------------------------- what is written


@pytest.mark.parametrize("file", ["groups.csv", "noise.csv"])
def test_the_tables_have_the_evidence_that_python_finds(folder, file):
    done(file, "-k", 3, "--seed", 5)
    X = pd.read_csv(file, index_col="name")
    found = assess(SASClustering(3, random_state=5).fit(X), X, **PLAN, random_state=5)
    labels, features = table(folder, "labels"), table(folder, "features").set_index("name")
    np.testing.assert_allclose(labels["confidence"], found.samples.confidence, atol=1e-6)
    own = found.features.frame().loc[features.index, ["frequency", "q", "effect", "low", "high"]]
    np.testing.assert_allclose(features[COLUMNS], own, rtol=1e-5)
    pd.testing.assert_frame_equal(table(folder, "pairs"), found.pairs.frame())
    plain = summary(folder)["assessment"]
    assert (plain["p_independent"], plain["p_one_group"]) == (found.p_independent, found.p_one_group)
    assert [each["stability"] for each in plain["clusters"]] == found.clusters.stability.tolist()


def test_a_method_without_distances_gets_second_clusters(folder):
    done("noise.csv", "-k", 2, "--method", "spectral-gem", "--no-assess")
    assert "second_cluster" not in table(folder, "labels")
    done("noise.csv", "-k", 2, "--method", "spectral-gem", "--assess")
    labels = table(folder, "labels")
    assert {"second_cluster", "confidence"} <= set(labels)
    assert set(labels["second_cluster"]) <= {-1, 0, 1}


def test_samples_that_are_not_assessed_have_no_confidence(folder):
    trimmed = GROUPS.add_prefix("gene ")
    trimmed.iloc[7] = 50.0
    trimmed.to_csv("far.csv", index_label="name")
    done("far.csv", "-k", 3, "--trim", 0.05)
    labels = table(folder, "labels")
    assert labels["confidence"].isna().tolist() == (labels["cluster"] == -1).tolist()
    assert labels["cluster"][7] == -1


def test_names_of_a_matrix_are_those_of_its_file(folder):
    np.savez("named.npz", X=GROUPS.to_numpy())
    done("named.npz", "-k", 3)
    assert set(table(folder, "pairs")["feature"]) <= set(table(folder, "features")["name"])


def test_the_number_of_threads_does_not_matter(folder):
    done("groups.csv", "-k", 3)
    once = summary(folder)["assessment"], summary(folder)["trust"]
    done("groups.csv", "-k", 3, "--jobs", 2)
    assert (summary(folder)["assessment"], summary(folder)["trust"]) == once


def test_the_report_is_made_from_the_summary(folder):
    done("groups.csv", "-k", 3)
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "Can you trust it?" in page
    assert page == report_page(summary(folder))


@pytest.mark.parametrize("name", ["=1+1", "</script><img src=x>", "a\x1b[31mb"])
def test_hostile_names_are_harmless_in_all_files(folder, name):
    GROUPS.add_prefix("gene ").rename(columns={"gene 0": name}).to_csv("table.csv", index_label="name")
    assert "\x1b" not in done("table.csv", "-k", 3)
    assert not any(cell.startswith("=") for cell in table(folder, "pairs")["feature"])
    assert "<img" not in (folder / "out" / "report.html").read_text(encoding="utf-8")


# ---------------------------------------------------------------- when


def test_no_assess_leaves_everything_out(folder):
    told = done("groups.csv", "-k", 3, "--no-assess")
    assert told.startswith("There are 3 clusters")
    assert "assess" not in told
    assert "confidence" not in table(folder, "labels")
    assert not set(COLUMNS) & set(table(folder, "features"))
    assert not (folder / "out" / "pairs.csv").exists()
    assert summary(folder)["assessment"] is None
    assert json.loads(done("groups.csv", "-k", 3, "--no-assess", "--json"))["assessment"] is None


def test_pairs_of_an_earlier_result_do_not_stay(folder):
    done("groups.csv", "-k", 3)
    assert (folder / "out" / "pairs.csv").exists()
    done("groups.csv", "-k", 3, "--no-assess")
    assert not (folder / "out" / "pairs.csv").exists()


CHEAP = {"auto": (), "core": ("--size", "core"), "k chosen": ("-k", "2-4"), "another rule": ("--rule", "1se")}
DEAR = {
    "size given": ("--size", 5),
    "share given": ("--size", 0.2),
    "bic": ("--criterion", "bic"),
    "another method": ("--method", "sparse-kmeans"),
    "no selection": ("--method", "kmeans"),
}


@pytest.mark.parametrize("options", CHEAP.values(), ids=CHEAP)
def test_a_fit_that_makes_copies_is_assessed(folder, options):
    assert assessing.HINT not in done("groups.csv", "-k", 3, *options)
    assert summary(folder)["assessment"]["n_copies"] == PLAN["n_copies"]


@pytest.mark.parametrize("options", DEAR.values(), ids=DEAR)
def test_any_other_fit_is_assessed_only_if_asked(folder, options):
    assert done("groups.csv", "-k", 3, *options).splitlines()[-2] == assessing.HINT
    assert summary(folder)["assessment"] is None
    assert assessing.HINT not in done("groups.csv", "-k", 3, *options, "--no-assess")


@pytest.mark.parametrize("options", [(), DEAR["size given"]], ids=["copies made", "none made"])
def test_who_asks_for_it_gets_the_full_assessment(folder, options):
    assert assessing.HINT not in done("groups.csv", "-k", 3, *options, "--assess")
    assert summary(folder)["assessment"]["n_copies"] == 99


@pytest.mark.parametrize(("limit", "value"), [("MOST_SAMPLES", N - 1), ("MOST_VALUES", N * P - 1)])
def test_large_tables_are_assessed_only_if_asked(folder, monkeypatch, limit, value):
    monkeypatch.setattr(assessing, limit, value + 1)
    assert assessing.HINT not in done("groups.csv", "-k", 3)
    monkeypatch.setattr(assessing, limit, value)
    assert assessing.HINT in done("groups.csv", "-k", 3)
    assert assessing.HINT not in done("groups.csv", "-k", 3, "--assess")


def test_what_cannot_be_assessed_is_noted_and_the_clusters_are_written(folder, monkeypatch):
    def refuse(*args, **kwargs):
        raise ValueError("Nothing to assess.")

    monkeypatch.setattr("sparsecluster.evidence.assess", refuse)
    told = done("groups.csv", "-k", 3)
    assert "Note: The clustering was not assessed. Nothing to assess." in told
    assert table(folder, "labels")["cluster"].nunique() == 3


def test_a_table_in_blocks_is_refused_before_the_work_begins(folder, monkeypatch):
    pytest.importorskip("dask.dataframe")
    X = shifted_groups(mu=4.0, n_features=4, n_useful=2, group_size=700, seed=0).X
    for number in range(2):
        pd.DataFrame(X[number::2]).add_prefix("f").to_csv(f"part-{number}.csv", index=False)
    monkeypatch.setattr(_large, "fit_in_blocks", None)
    result = run("part-*.csv", "-k", 3, "--size", 2, "--assess")
    assert result.exit_code == 2
    assert result.stderr == f"Error: {assessing.IN_BLOCKS}\n"
    assert not (folder / "out").exists()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert assessing.HINT not in done("part-*.csv", "-k", 3, "--size", 2)
    assert summary(folder)["assessment"] is None
