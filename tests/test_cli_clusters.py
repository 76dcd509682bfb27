"""`sparsecluster fit` without a number of clusters, and what it says of the core, of outliers and of alternatives."""

import json
import re

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sparsecluster import SASClustering, adjusted_rand_index, load_model
from sparsecluster.cli import app
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._clusters import CRITERIA

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

FULL = shifted_groups(mu=2.0, n_features=40, n_useful=12, group_size=12, seed=0)
SIMPLE = pd.DataFrame(FULL.X).add_prefix("f").round(3)


def two_ways():
    """Samples that differ by sex in some features and by disease in others, and three samples that are nowhere."""
    rng = np.random.default_rng(1)
    sex, disease = rng.integers(2, size=(2, 60))
    table = rng.normal(size=(60, 60))
    table[:, :15] += 3 * sex[:, None]
    table[:, 15:30] += 2 * disease[:, None]
    table[[7, 30, 55]] = rng.normal(size=(3, 60)) * 20 + 60
    frame = pd.DataFrame(table.round(3)).add_prefix("f").set_axis([f"sample {i}" for i in range(60)])
    return frame, sex, disease


TWO_WAYS, SEX, DISEASE = two_ways()
OUTSIDE = ["sample 7", "sample 30", "sample 55"]


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tables")
    SIMPLE.to_csv(made / "simple.csv", index=False)
    TWO_WAYS.assign(sex=SEX).to_csv(made / "two.csv", index_label="name")
    return made


# ---------------------------------------------------------------- the number of clusters


def test_without_a_number_of_clusters_it_is_chosen_and_said(folder, tmp_path):
    told = done("fit", folder / "simple.csv", "--out", tmp_path / "out")
    assert told.startswith("There are groups: ")
    assert "\nNumber of clusters: 3, chosen among 2 to 7 by the BIC.\nThere are 3 clusters, with " in told
    found = SASClustering("auto").fit(SIMPLE)
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")["cluster"]
    assert labels.tolist() == found.labels_.tolist()
    curve = pd.read_csv(tmp_path / "out" / "n_clusters.csv").set_index("k")
    pd.testing.assert_frame_equal(curve, found.n_clusters_curve_.frame(), rtol=1e-9)
    assert load_model(tmp_path / "out" / "model.json").n_clusters == "auto"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["curves"]["clusters"]["values"] == [2, 3, 4, 5, 6, 7]
    assert "n_clusters='auto'" in summary["settings"]["python"]


ASKED = {
    "auto": ("auto", "2 to 7"),
    "2-4": ([2, 3, 4], "2 to 4"),
    "3-4": ([3, 4], "3 and 4"),
    "2,3,5": ([2, 3, 5], "2, 3 and 5"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_range_and_a_list_are_tried_and_named(folder, tmp_path, asked):
    parameter, among = ASKED[asked]
    told = done("fit", folder / "simple.csv", "-k", asked, "--size", 12, "--out", tmp_path / "out")
    assert told.splitlines()[0] == f"Number of clusters: 3, chosen among {among} by the BIC."
    assert load_model(tmp_path / "out" / "model.json").n_clusters == parameter


@pytest.mark.parametrize("asked", ["3", "3-3"])
def test_a_number_that_is_given_is_not_chosen(folder, tmp_path, asked):
    told = done("fit", folder / "simple.csv", "-k", asked, "--size", 12, "--out", tmp_path / "out")
    assert told.startswith("There are 3 clusters, with ")
    assert not (tmp_path / "out" / "n_clusters.csv").exists()


def test_the_largest_number_of_clusters_can_be_set(folder, tmp_path):
    told = done("fit", folder / "simple.csv", "--max-clusters", 4, "--size", 12, "--out", tmp_path / "out")
    assert "chosen among 2 to 4 by the BIC" in told


def test_the_help_names_every_criterion():
    options = {each.name: each.help for each in get_command(app).commands["fit"].params}
    assert [name for name in CRITERIA if name not in options["cluster_criterion"]] == []


def test_every_method_of_compare_chooses_the_number_of_clusters(folder, tmp_path):
    options = ("-k", "2-4", "--methods", "kmeans++,ward", "--repeats", 1)
    done("compare", folder / "simple.csv", *options, "--out", tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "comparison.csv")["clusters"].tolist() == [3.0, 3.0]


# ---------------------------------------------------------------- features


def test_the_features_that_differ_and_those_that_are_enough_are_said(folder, tmp_path):
    told = done("fit", folder / "simple.csv", "-k", 3, "--out", tmp_path / "out")
    found = SASClustering(3).fit(SIMPLE)
    s, m = int(found.support_.sum()), found.core_size_
    assert 1 < m < s
    core = SIMPLE.columns[np.argsort(-found.feature_scores_, kind="stable")[:m]]
    line = f"{s} of 40 features differ between the clusters; these {m} are enough to find them again: "
    assert f"{line}{', '.join(core)}." in told.splitlines()
    features = pd.read_csv(tmp_path / "out" / "features.csv")
    assert set(features.query("core == 1")["name"]) == set(core)
    assert set(features["core"]) == {0, 1}
    assert features.columns[:4].tolist() == ["name", "chosen", "core", "score"]


def test_the_core_can_be_chosen_and_both_numbers_are_still_said(folder, tmp_path):
    told = done("fit", folder / "simple.csv", "-k", 3, "--size", "core", "--out", tmp_path / "out")
    plain, found = SASClustering(3).fit(SIMPLE), SASClustering(3, n_features_to_select="core").fit(SIMPLE)
    features = pd.read_csv(tmp_path / "out" / "features.csv")
    assert features["chosen"].sum() == found.core_size_
    assert (features["chosen"] == features["core"]).all()
    assert f"{plain.support_.sum()} of 40 features differ between the clusters; these {found.core_size_} are" in told


def test_a_criterion_for_the_number_of_features_can_be_given(folder, tmp_path):
    done("fit", folder / "simple.csv", "-k", 3, "--criterion", "bic", "--out", tmp_path / "out")
    found = SASClustering(3, criterion="bic").fit(SIMPLE)
    curve = pd.read_csv(tmp_path / "out" / "bic.csv").set_index("s")
    np.testing.assert_allclose(curve["bic"], found.bic_curve_.score)
    assert not (tmp_path / "out" / "gap.csv").exists()


# ---------------------------------------------------------------- outliers and alternatives


@pytest.fixture(scope="module")
def trimmed(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("trimmed")
    options = ("-k", 2, "--trim", 0.05, "--truth", "sex", "--out", out)
    told = done("fit", folder / "two.csv", *options)
    return out, told, SASClustering(2, trim=0.05).fit(TWO_WAYS)


def test_samples_in_no_cluster_are_said_and_written(trimmed):
    out, told, found = trimmed
    (line,) = [line for line in told.splitlines() if "in no cluster" in line]
    assert line.startswith("3 samples are in no cluster: ")
    assert sorted(re.findall(r"sample \d+", line)) == sorted(OUTSIDE)
    labels = pd.read_csv(out / "labels.csv").set_index("id")
    assert (labels.loc[OUTSIDE, "cluster"] == -1).all()
    assert (labels["cluster"] == -1).sum() == 3
    assert labels.loc[OUTSIDE, "silhouette"].isna().all()
    np.testing.assert_allclose(labels["outlier_score"], found.outlier_scores_, atol=1e-6)
    assert labels["outlier_score"].nlargest(3).index.isin(OUTSIDE).all()
    assert "There are 2 clusters" in told


def test_the_truth_is_compared_on_the_samples_in_clusters(trimmed):
    _, told, found = trimmed
    inside = found.labels_ != -1
    ari = adjusted_rand_index(SEX[inside], found.labels_[inside])
    assert "Agreement with 'sex' among the samples in clusters: Rand index 1.000" in told
    assert f"adjusted Rand index {ari:.3f}" in told


def test_alternatives_are_said_and_written(trimmed):
    out, told, found = trimmed
    table = pd.read_csv(out / "alternatives.csv").set_index("id")
    assert table.columns.tolist() == [f"alternative_{number}" for number in range(len(found.alternatives_))]
    for number, other in enumerate(found.alternatives_):
        assert table[f"alternative_{number}"].tolist() == other.labels.tolist()
    inside = table["alternative_0"].to_numpy() != -1
    assert adjusted_rand_index(DISEASE[inside], table["alternative_0"][inside]) > 0.9
    assert re.search(r"There (is another|are \d other) good clusterings? of the same samples, based on ", told)


def test_a_result_without_outliers_and_alternatives_mentions_none(folder, tmp_path):
    told = done("fit", folder / "simple.csv", "-k", 3, "--out", tmp_path / "out")
    assert "no cluster" not in told
    assert ("other good clustering" in told) == (tmp_path / "out" / "alternatives.csv").exists()
    assert "outlier_score" not in pd.read_csv(tmp_path / "out" / "labels.csv")


def test_a_later_result_in_the_same_folder_leaves_no_alternatives_of_an_earlier_one(folder, tmp_path):
    out = tmp_path / "out"
    done("fit", folder / "two.csv", "-k", 2, "--trim", 0.05, "--drop", "sex", "--out", out)
    assert (out / "alternatives.csv").exists()
    done("fit", folder / "simple.csv", "-k", 3, "--method", "ward", "--out", out)
    assert not (out / "alternatives.csv").exists()
