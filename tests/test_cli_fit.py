"""From a file to clusters with `fit`, `predict` and `report`, as a new user does it; the files agree with Python."""

import gzip
import io
import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from sparsecluster import (
    ExpressionScaler,
    SASClustering,
    adjusted_rand_index,
    error_rate,
    expression_clustering,
    load_model,
    rand_index,
)
from sparsecluster._data import reading
from sparsecluster.cli import app
from sparsecluster.datasets import mixed_groups, shifted_groups
from sparsecluster.inspection import inspect
from sparsecluster.io import formats, read_table, text
from sparsecluster.io.models import read_model
from sparsecluster.methods.registry import METHODS
from sparsecluster.report import report_page, summarize
from tests.helpers.cases import some

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

FILES = [
    *("core.csv", "features.csv", "gap.csv", "labels.csv", "model.json", "pairs.csv", "report.html", "summary.json"),
]
FULL = shifted_groups(mu=3.0, n_features=12, n_useful=4, group_size=12, seed=0)
ROWS = np.r_[0:12, 12:22, 24:32]
IDS = [f"sample {i}" for i in range(30)]
# Three decimals are read back as they were written.
TABLE = pd.DataFrame(FULL.X[ROWS].round(3), columns=[f"f{a}" for a in range(12)], index=IDS)
GROUPS = np.array(["north", "middle", "south"])[FULL.truth[ROWS]]


def run(*arguments, given=None):
    return CliRunner().invoke(app, [*map(str, arguments)], input=given)


def done(*arguments, given=None):
    """A command that goes well and says nothing on standard error; gives what it printed."""
    result = run(*arguments, given=given)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


@pytest.fixture
def file(tmp_path):
    """The table as a plain CSV."""
    TABLE.to_csv(tmp_path / "table.csv", index_label="name")
    return tmp_path / "table.csv"


def read(file):
    return pd.read_csv(file, dtype={"id": str}, keep_default_na=False, na_values=[""])


def files_of(estimator):
    """The files of a fit: alternatives if there are any, and the gap and pairs of clusters if the size was chosen."""
    given = {"gap.csv", "pairs.csv"} if estimator.gap_curve_ is None else set()
    return sorted({*FILES, *(["alternatives.csv"] if estimator.alternatives_ else [])} - given)


def assert_written(out, estimator, X, ids, names):
    """Every file is there, can be read, and says what the estimator does."""
    assert sorted(each.name for each in out.iterdir()) == files_of(estimator)
    labels, features = (read(out / f"{name}.csv") for name in ("labels", "features"))
    assert labels["id"].tolist() == list(ids)
    assert labels["cluster"].tolist() == estimator.labels_.tolist()
    view = inspect(estimator, X, list(ids), list(names))
    known = view.places_of_samples()
    np.testing.assert_allclose(labels[["distance", "silhouette"]], np.c_[known.distance, known.silhouette], atol=2e-6)
    assert labels["second_cluster"].tolist() == known.second.tolist()
    order = sorted(range(len(names)), key=lambda a: (not estimator.support_[a], -estimator.feature_scores_[a]))
    assert features["name"].tolist() == [names[a] for a in order]
    assert features["chosen"].tolist() == estimator.support_[order].tolist()
    assert features["core"].tolist() == estimator.core_support_[order].tolist()
    np.testing.assert_allclose(features["score"], estimator.feature_scores_[order], atol=2e-6)
    centers = features[[f"cluster_{c}" for c in range(estimator.n_clusters)]].to_numpy(dtype=object).T
    for one, other in zip(centers.ravel(), estimator.cluster_centers_[:, order].ravel(), strict=True):
        assert one == other if isinstance(other, str) else float(one) == pytest.approx(other, rel=1e-9)
    for name, curve in {"gap": estimator.gap_curve_, "core": estimator.core_curve_}.items():
        if curve is not None:
            written = read(out / f"{name}.csv").set_index(curve.parameter)
            pd.testing.assert_frame_equal(written, curve.frame(), rtol=1e-9)
    if estimator.alternatives_:
        others = read(out / "alternatives.csv")
        assert others["id"].tolist() == list(ids)
        for number, other in enumerate(estimator.alternatives_):
            assert others[f"alternative_{number}"].tolist() == other.labels.tolist()
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert (summary["sizes"], summary["n_samples"]) == (np.bincount(estimator.labels_).tolist(), len(ids))
    assert summary["samples"] == summarize(view)["samples"]
    assert (out / "report.html").read_text(encoding="utf-8") == report_page(summary)
    loaded = load_model(out / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), estimator.predict(X))
    np.testing.assert_array_equal(loaded.labels_, estimator.labels_)


def clusters(text):
    """The column `cluster` of what predict prints, by id."""
    table = pd.read_csv(io.StringIO(text), dtype={"id": str})
    assert table.columns.tolist() == ["id", "cluster", "distance", "second_cluster", "silhouette"]
    return dict(zip(table["id"], table["cluster"], strict=True))


def assert_predicts(out, data, *options):
    """Predicting the data of fit gives the labels of fit."""
    labels = read(out / "labels.csv")
    told = clusters(done("predict", out / "model.json", data, *options))
    assert told == dict(zip(labels["id"], labels["cluster"], strict=True))


# ---------------------------------------------------------------- kinds of files


def test_a_european_table_with_text_ids_and_missing_values(tmp_path):
    missing = TABLE.mask(np.random.default_rng(0).random(TABLE.shape) < 0.05)
    text = missing.to_csv(sep=";", decimal=",", index_label="Probe")
    text = text.replace("sample 1;", '"sample; 1";').replace(";;", ";NA;", 3)
    (tmp_path / "werte.csv").write_text(text, encoding="utf-8")
    told = done("fit", tmp_path / "werte.csv", "-k", 3, "--out", tmp_path / "out")
    assert "Note: Column 'Probe' contains a different text in every row, so it is used as the row names." in told
    ids = [each.replace("sample 1", "sample; 1") if each == "sample 1" else each for each in IDS]
    assert_written(tmp_path / "out", SASClustering(3).fit(missing), missing, ids, list(missing.columns))
    assert_predicts(tmp_path / "out", tmp_path / "werte.csv")


def test_a_sheet_of_an_excel_file(tmp_path):
    pytest.importorskip("openpyxl")
    file = tmp_path / "book.xlsx"
    with pd.ExcelWriter(file) as book:
        pd.DataFrame({"about": ["this book"]}).to_excel(book, sheet_name="cover", index=False)
        TABLE.assign(group=GROUPS).to_excel(book, sheet_name="values", index_label="name")
    options = ("--sheet", "values", "--drop", "group")
    done("fit", file, "-k", 3, *options, "--out", tmp_path / "out")
    assert_written(tmp_path / "out", SASClustering(3).fit(TABLE), TABLE, IDS, list(TABLE.columns))
    assert_predicts(tmp_path / "out", file, "--sheet", "values")
    assert "its sheets are 'cover', 'values'" in run("fit", file, "-k", 3, "--sheet", "valuse").stderr


def test_genes_in_rows_with_the_preset_for_expression(tmp_path):
    rng = np.random.default_rng(0)
    level = 200 * 2.0 ** (rng.normal(size=12) + 2 * np.eye(3, 12)[FULL.truth[ROWS]])
    counts = pd.DataFrame(rng.poisson(level * rng.uniform(0.5, 2, (30, 1))), columns=TABLE.columns, index=IDS)
    counts.T.to_csv(tmp_path / "genes.tsv", sep="\t", index_label="gene")
    file, out = tmp_path / "genes.tsv", tmp_path / "out"
    told = done("fit", file, "-k", 3, "--transpose", "--preset", "expression", "--out", out)
    assert "12 rows are features, 30 columns are samples" in told
    total = ExpressionScaler().fit(counts).total_
    assert f"the values are counts, so each sample was divided by its size factor, to a total of {total:,.0f}" in told
    assert "the values were transformed by log2(1 + x), and each sample was centered and scaled" in told
    X = pd.DataFrame(ExpressionScaler().fit_transform(counts), index=IDS, columns=counts.columns)
    found = expression_clustering(3).fit(counts)[-1]
    assert_written(out, found, X, IDS, list(counts.columns))
    # The model knows how its tables are prepared.
    preset = {"name": "expression", "log": True, "clip": False, "total": total, "center": True}
    assert read_model(out / "model.json").preset == preset
    assert_predicts(out, file, "--transpose")


def test_counts_without_the_preset_get_a_note_and_other_tables_do_not(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.lognormal(0, 1.5, 500) * rng.lognormal(0, 0.5, (20, 1)))
    answers = rng.integers(0, 6, (20, 500))
    notes = []
    for name, table in {"counts": counts, "answers": answers}.items():
        pd.DataFrame(table).add_prefix("v").to_csv(tmp_path / f"{name}.csv", index=False)
        options = ("-k", 2, "--size", 10, "--no-report", "--out", tmp_path / name)
        notes.append("use --preset expression" in done("fit", tmp_path / f"{name}.csv", *options))
    assert notes == [True, False]
    told = done("fit", tmp_path / "counts.csv", "-k", 2, "--preset", "expression", "--out", tmp_path / "preset")
    assert "use --preset expression" not in told
    assert "each sample was divided by its size factor" in told


def annotated(tmp_path, name, order=slice(None), kind=sp.csr_matrix):
    anndata = pytest.importorskip("anndata")
    genes = TABLE.iloc[:, order]
    about = pd.DataFrame({"tissue": pd.Categorical(GROUPS)}, index=IDS)
    anndata.AnnData(kind(genes.to_numpy()), obs=about, var=pd.DataFrame(index=genes.columns)).write_h5ad(
        tmp_path / name
    )
    return tmp_path / name


@pytest.mark.parametrize("kind", [sp.csr_matrix, np.asarray])
def test_an_annotated_matrix(tmp_path, kind):
    file, X = annotated(tmp_path, "cells.h5ad", kind=kind), kind(TABLE.to_numpy())
    told = done("fit", file, "-k", 3, "--truth", "tissue", "--out", tmp_path / "out")
    assert "Agreement with 'tissue': Rand index 1.000" in told
    assert_written(tmp_path / "out", SASClustering(3).fit(X), X, IDS, list(TABLE.columns))
    assert_predicts(tmp_path / "out", file)


def test_genes_of_an_annotated_matrix_are_found_by_their_names_when_predicting(tmp_path):
    done("fit", annotated(tmp_path, "cells.h5ad"), "-k", 3, "--out", tmp_path / "out")
    assert_predicts(tmp_path / "out", annotated(tmp_path, "turned.h5ad", slice(None, None, -1)))
    TABLE.to_csv(tmp_path / "cells.csv", index_label="name")
    assert_predicts(tmp_path / "out", tmp_path / "cells.csv")


@pytest.mark.parametrize("name", ["table.npz", "table.npy"])
def test_an_array(tmp_path, name):
    file = tmp_path / name
    np.savez(file, X=TABLE.to_numpy(), other=np.zeros(3)) if name.endswith("z") else np.save(file, TABLE.to_numpy())
    done("fit", file, "-k", 3, "--out", tmp_path / "out")
    X = TABLE.set_axis([f"x{a}" for a in range(12)], axis=1)
    assert_written(tmp_path / "out", SASClustering(3).fit(X), X, [*map(str, range(30))], list(X.columns))
    assert_predicts(tmp_path / "out", file)


def test_standard_input_and_a_packed_file_are_the_file(tmp_path, file):
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(file.read_bytes()))
    done("fit", "-", "-k", 3, "--out", tmp_path / "piped", given=file.read_text())
    done("fit", tmp_path / "table.csv.gz", "-k", 3, "--out", tmp_path / "packed")
    done("fit", file, "-k", 3, "--out", tmp_path / "plain")
    for name in ("labels.csv", "features.csv", "gap.csv", "model.json"):
        assert len({(tmp_path / each / name).read_bytes() for each in ("piped", "packed", "plain")}) == 1
    told = done("predict", tmp_path / "plain" / "model.json", "-", given=file.read_text())
    assert set(clusters(told)) == set(IDS)


def test_words_and_missing_values(tmp_path):
    mixed = mixed_groups(n_features=12, n_useful=6, group_size=15, seed=0, shift=3.0).X.round(3)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    done("fit", tmp_path / "mixed.csv", "-k", 3, "--out", tmp_path / "out")
    words = mixed.astype({name: object for name in mixed if name.startswith("category")})
    assert_written(tmp_path / "out", SASClustering(3).fit(words), words, [*map(str, range(45))], list(mixed.columns))
    # Levels and whole columns that the model has never seen.
    strange = words.assign(category0="never seen", number0=np.nan).to_csv(index=False)
    assert len(clusters(done("predict", tmp_path / "out" / "model.json", "-", given=strange))) == 45


def test_numbers_are_read_to_the_last_bit(tmp_path):
    pd.DataFrame(FULL.X, columns=TABLE.columns).to_csv(tmp_path / "table.csv", index=False)
    np.testing.assert_array_equal(read_table(tmp_path / "table.csv").X.to_numpy(), FULL.X)


def test_what_pandas_writes_of_a_table_without_names_has_no_sample_more(tmp_path):
    pd.DataFrame(TABLE.to_numpy()).to_csv(tmp_path / "table.csv")
    told = json.loads(done("fit", tmp_path / "table.csv", "-k", 3, "--size", 4, "--json", "--out", tmp_path / "out"))
    assert told["sizes"] == [12, 10, 8]


# ---------------------------------------------------------------- what is printed and written


def test_json_says_the_main_numbers_and_the_files(tmp_path, file):
    data, out = tmp_path / "known.csv", tmp_path / "out"
    TABLE.assign(group=GROUPS).to_csv(data, index_label="name")
    told = json.loads(done("fit", data, "-k", 3, "--truth", "group", "--size", 4, "--json", "--out", out))
    found = SASClustering(3, n_features_to_select=4).fit(TABLE)
    assert (told["n_samples"], told["n_features"], told["n_chosen"], told["sizes"]) == (30, 12, 4, [12, 10, 8])
    assert told["explained"] == pytest.approx(found.feature_scores_[found.support_].mean())
    measures = {"rand": rand_index, "ari": adjusted_rand_index, "error": error_rate}
    assert told["truth"] == {key: measure(GROUPS, found.labels_) for key, measure in measures.items()}
    assert sorted(told["files"]) == [str(out / name) for name in files_of(found) if name != "gap.csv"]
    numbers = (told["n_core"], told["n_outliers"], told["n_alternatives"])
    assert numbers == (found.core_size_, 0, len(found.alternatives_))


@pytest.mark.parametrize("truth", [(), ("--truth", "group")])
def test_all_files_come_from_one_reading_of_the_table(tmp_path, monkeypatch, truth):
    """The file is parsed once, its columns are looked at once, and they are encoded once."""
    data, calls = tmp_path / "known.csv", []
    TABLE.assign(group=GROUPS, word=np.where(GROUPS == 1, "a", "b")).to_csv(data, index_label="name")
    for module, name in ((reading, "contents"), (reading, "encoded"), (reading, "recoded"), (text, "text_frame")):
        own = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, own=own, name=name: (calls.append(name), own(*given))[1])
    monkeypatch.setattr(formats, "text_frame", text.text_frame)
    done("fit", data, "-k", 3, "--size", 4, "--report", *truth, "--out", tmp_path / "out")
    assert calls == ["text_frame", "contents", "encoded"]


def test_quiet_prints_nothing_and_writes_everything(tmp_path, file):
    assert done("fit", file, "-k", 3, "-q", "--out", tmp_path / "out") == ""
    written = {each.name for each in (tmp_path / "out").iterdir()}
    assert written >= set(FILES)
    assert written - {"alternatives.csv"} == set(FILES)


def test_an_empty_and_a_constant_column_are_noted_without_a_warning_of_python(tmp_path, recwarn):
    TABLE.assign(empty=np.nan, still=1).to_csv(tmp_path / "table.csv", index_label="name")
    told = done("fit", tmp_path / "table.csv", "-k", 3, "--out", tmp_path / "out")
    assert "Note: 1 column is constant and will not be used: 'still'." in told
    assert re.search(r"Note: .*'empty'", told)
    assert "Warning" not in told
    assert [str(each.message) for each in recwarn] == []


@pytest.mark.parametrize("method", some(METHODS, first=1))
def test_every_method_writes_its_clusters(tmp_path, file, method):
    out = tmp_path / "out"
    told = json.loads(done("fit", file, "-k", 3, "--method", method, "--no-report", "--json", "--out", out))
    assert np.bincount(read(out / "labels.csv")["cluster"]).tolist() == told["sizes"]
    assert read(out / "features.csv")["chosen"].sum() == told["n_chosen"]
    assert (out / "model.json").exists() == METHODS[method].predicts
    assert not (out / "report.html").exists()


def test_a_method_that_makes_no_model_says_so(tmp_path, file):
    assert "model.json was not written" in done("fit", file, "-k", 3, "--method", "cosa", "--out", tmp_path / "out")


def test_a_second_result_in_the_same_folder_leaves_nothing_of_the_first(tmp_path, file):
    done("fit", file, "-k", 3, "--out", tmp_path / "out")
    told = json.loads(
        done("fit", file, "-k", 3, "--method", "cosa", "--no-report", "--json", "--out", tmp_path / "out")
    )
    assert sorted(str(each) for each in (tmp_path / "out").iterdir()) == sorted(told["files"])


OPTIONS = {
    "a number of features": (("--size", 3), {"n_features_to_select": 3}),
    "a share of features": (("-s", 0.5), {"n_features_to_select": 0.5}),
    "a metric": (("--metric", "manhattan"), {"metric": "manhattan"}),
    "a seed": (("--seed", 5), {"random_state": 5}),
    "threads": (("--jobs", 2), {}),
    "signs": (("--delimiter", ",", "--decimal", ".", "--encoding", "utf-8"), {}),
    "an id": (("--id", "name"), {}),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_options_are_the_parameters_of_the_estimator(tmp_path, file, what):
    options, parameters = OPTIONS[what]
    done("fit", file, "-k", 3, *options, "--out", tmp_path / "out")
    found = SASClustering(3, **parameters).fit(TABLE)
    assert read(tmp_path / "out" / "labels.csv")["cluster"].tolist() == found.labels_.tolist()
    chosen = read(tmp_path / "out" / "features.csv").query("chosen == 1")["name"]
    assert set(chosen) == set(TABLE.columns[found.support_])


# ---------------------------------------------------------------- predict and report


def test_predict_leaves_out_what_the_model_does_not_know_and_minds_names_not_places(tmp_path, file):
    done("fit", file, "-k", 3, "--out", tmp_path / "out")
    labels = dict(zip(IDS, read(tmp_path / "out" / "labels.csv")["cluster"], strict=True))
    other = TABLE.iloc[::-1, ::-1].assign(extra="words", more=1)
    other.to_csv(tmp_path / "new.csv", index_label="who")
    told = clusters(done("predict", tmp_path / "out" / "model.json", tmp_path / "new.csv"))
    assert list(told) == IDS[::-1]
    assert told == labels
    assert done("predict", tmp_path / "out" / "model.json", file, "--out", tmp_path / "deep" / "new.csv") == ""
    assert clusters((tmp_path / "deep" / "new.csv").read_text()) == labels


@pytest.mark.parametrize("method", ["cosa", "sparse-kmeans", "ward"])
def test_a_preset_sets_what_a_method_has(tmp_path, file, method):
    done("fit", file, "-k", 3, "--method", method, "--preset", "expression", "--out", tmp_path / "out", "--no-report")


@pytest.mark.parametrize("method", ["sas", "cosa"])
def test_a_report_can_be_written_again(tmp_path, file, method):
    out = tmp_path / "out"
    done("fit", file, "-k", 3, "--method", method, "--out", out)
    page = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    assert str(out / "report.html") in done("report", out)
    assert (out / "report.html").read_bytes() == page
    done("report", out / "summary.json", "--out", tmp_path / "deep" / "page.html")
    assert (tmp_path / "deep" / "page.html").read_bytes() == page


# ---------------------------------------------------------------- what a spreadsheet would run


def test_names_that_a_spreadsheet_would_run_get_an_apostrophe(tmp_path):
    evil = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x")', "\t=1"]
    mild = ["-5", "+1e3", "a=b", "x-y", "1-2", "'=quoted"]
    frame = TABLE.set_axis([*evil, *mild], axis=1).set_axis([f"{name} {i}" for i, name in enumerate(evil * 5)])
    frame["level"] = np.array(["=1+1", "-2+3", "plain"])[FULL.truth[ROWS]]
    frame.to_csv(tmp_path / "table.csv", index_label="name")
    done("fit", tmp_path / "table.csv", "-k", 3, "--size", 5, "--out", tmp_path / "out")
    told = done("predict", tmp_path / "out" / "model.json", tmp_path / "table.csv")
    ids = [f"'{name}" if name[0] in "=+-@\t" else name for name in (str(each).strip(" ") for each in frame.index)]
    for table in (read(tmp_path / "out" / "labels.csv"), pd.read_csv(io.StringIO(told))):
        assert [each.replace("\t", "") for each in table["id"]] == [each.replace("\t", "") for each in ids]
    features = read(tmp_path / "out" / "features.csv").set_index("name")
    assert {f"'{name}" for name in evil[:5]} | {*mild, "level"} <= set(features.index)
    assert set(features.loc["level"][["cluster_0", "cluster_1", "cluster_2"]]) == {"'=1+1", "'-2+3", "plain"}
