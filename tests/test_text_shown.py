"""Text that reaches people has no characters that act on terminals or pages, and names and values in it are short."""

import json
import os
import re
import unicodedata
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sparsecluster import SASClustering, make_method
from sparsecluster._utils.checks import check_choice, check_count, listed
from sparsecluster._utils.markdown import escaped
from sparsecluster._utils.progress import Progress
from sparsecluster._utils.text import brief, shortened, visible
from sparsecluster.cli import app
from sparsecluster.inspection import Contributions, Distributions, FeatureScores, Heatmap, inspect
from sparsecluster.io import read_table
from sparsecluster.report import report_page, summarize
from tests.helpers.common import three_groups

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

CONTROLS = ["\x00", "\x07", "\x1b", "\r", "\n", "\t", "\x7f", "\x9b", "\u2028", "\u2029", "\u202e", "\u2066", "\u2069"]
# Escape sequences, a bell, turned text and separators. CSV files cannot have zero bytes.
NAMES = [f"n{i}{control}[31mx" for i, control in enumerate(CONTROLS) if control not in "\x00"]
X, TRUTH, _ = three_groups(mu=3.0, n_features=len(NAMES), n_useful=6, sizes=(12, 10, 8))
IDS = [f"i{i}{CONTROLS[1 + i % 12]}x" for i in range(30)]
TABLE = pd.DataFrame(X.round(3), columns=NAMES, index=IDS).assign(
    **{"level\x1bx": np.array(["a\x1b[2J", "b\u202e", "c\x9b"])[TRUTH]}
)


def acts(text, but="\n"):
    """The characters in a text that act on a terminal."""
    return {each for each in text if unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp")} & {*text} - {*but} | {
        each for each in text if each in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    }


# ---------------------------------------------------------------- the functions


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\r\n\tb", r"a\r\n\tb"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("\u202e\u2066\u2028", r"\u202e\u2066\u2028"),
        ("caf\udce9", r"caf\udce9"),
        ("naïve 名前 🧬 a\u200db", "naïve 名前 🧬 a\u200db"),
    ],
)
def test_control_characters_are_shown_escaped_and_letters_as_they_are(given, told):
    assert visible(given) == told


@given(st.text(st.characters()))
def test_no_text_acts_on_a_terminal(text):
    assert acts(visible(text), but="") == set()
    assert acts(shortened(text), but="") == set()
    assert acts(brief(text), but="") == set()
    visible(text).encode()


class Failing:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    ["x" * 34_000, ["x" * 100] * 100, np.zeros((100, 100)), TABLE, 10**5000, Failing(), {"a": "\x1b" * 99}, b"x" * 999],
    ids=lambda value: type(value).__name__,
)
def test_a_value_in_a_message_is_one_short_line(value):
    assert len(brief(value)) <= 80
    assert "\n" not in brief(value)
    for check in (lambda: check_choice("name", value, ["a", "b"]), lambda: check_count("name", value, 1, 5)):
        with pytest.raises(ValueError, match="name must be") as refused:
            check()
        assert len(str(refused.value)) < 250


def test_values_that_are_short_are_shown_as_they_are():
    assert (brief("a"), brief(3), brief(None), brief([1, "b"])) == ("'a'", "3", "None", "[1, 'b']")


def test_lists_of_long_names_are_short():
    assert len(listed(["x" * 34_000] * 20)) < 500


LONG, TEXT_FILE = "n" * 34_000, "long.csv"
WRONG = {
    "a metric of a column that there is not": lambda: SASClustering(2, metric={LONG: "hamming"}).fit(
        frame_of(LONG[1:])
    ),
    "levels compared as numbers": lambda: SASClustering(2, metric="manhattan").fit(frame_of(LONG, words=True)),
    "an infinite value": lambda: SASClustering(2).fit(frame_of(LONG).replace(0.0, np.inf)),
    "a method that there is not": lambda: make_method(LONG, 2),
    "a group that is no list": lambda: SASClustering(2, feature_groups={LONG: LONG}).fit(frame_of(LONG)),
    "a column of a file that there is not": lambda: read_table(TEXT_FILE, id_column=LONG),
    "a column that names rows twice": lambda: read_table(TEXT_FILE, id_column="n" * 33_000),
    "a clusterer that there is not": lambda: SASClustering(2, clusterer=LONG).fit(frame_of("a")),
}


def frame_of(name, words=False):
    values = ["u", "v"] * 5 if words else np.arange(10.0)
    return pd.DataFrame({name: values, "b": np.arange(10.0) % 3})


@pytest.mark.parametrize("what", WRONG)
def test_messages_with_long_names_are_short(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame_of("n" * 33_000).assign(**{"n" * 33_000: 0}).to_csv(TEXT_FILE, index=False)
    with pytest.raises((ValueError, TypeError)) as refused:
        WRONG[what]()
    assert len(str(refused.value)) < 1000


# ---------------------------------------------------------------- Python and pages


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = SASClustering(3, n_features_to_select=8, trim=0.05).fit(TABLE.assign(**{"still\x1b": 1.0}))
    return found, [str(each.message) for each in caught]


def test_summaries_and_warnings_do_not_act_on_a_terminal(fitted):
    found, warned = fitted
    assert any("still" in each for each in warned)
    for text in (found.summary(), repr(found), *warned):
        assert acts(text) == set()
    assert acts(found._repr_html_(), but="\n\t") == set()


def test_pages_do_not_act_on_their_readers(fitted):
    found, _ = fitted
    view = inspect(found, TABLE.assign(**{"still\x1b": 1.0}), IDS)
    told = {"title": "t\x1b\u202e", "notes": ["n\x9b"], "command": "c\udce9\x1b"}
    result = summarize(view, **told)
    assert acts(" ".join(result["sentences"])) == set()
    page = report_page(result)
    assert acts(page, but="\n\t") == set()
    # Names are escaped once more as JSON, but only there.
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert {row["name"] for row in data["features"]["rows"]} == {
        visible(name, keep="\n\t") for name in [*TABLE.columns, "still\x1b"]
    }
    assert r"<title>t\x1b\u202e</title>" in page


@pytest.mark.parametrize("display", [Contributions, Distributions, FeatureScores, Heatmap])
def test_labels_of_figures_have_no_control_characters(fitted, display):
    plt = pytest.importorskip("matplotlib.pyplot")
    from matplotlib.text import Text

    found, _ = fitted
    axes = display.from_view(inspect(found, TABLE.assign(**{"still\x1b": 1.0}), IDS)).plot()
    figure = np.ravel(axes)[0].figure
    figure.canvas.draw()
    texts = {each.get_text() for each in figure.findobj(Text)}
    plt.close(figure)
    assert any(r"\x1b" in text for text in texts)
    assert {acts(text) == set() for text in texts} == {True}


def test_markdown_has_no_control_characters():
    assert escaped("a\nb\x1b|\u202e") == r"a b\x1b\|\u202e"


def test_progress_has_no_control_characters(capsys):
    assert list(Progress(True).track("ab", "cells\x1b[2J", 2)) == ["a", "b"]
    assert acts(capsys.readouterr().err, but="\r") == set()


# ---------------------------------------------------------------- commands


def run(*arguments, code=0, env=None):
    result = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "300", **(env or {})})
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table in which everything that has a name has control characters in it, the file included."""
    made = tmp_path_factory.mktemp("hostile")
    file = made / os.fsdecode(b"t\x1b[2J\xff\n.csv")
    TABLE.assign(**{"still\x1b": 1}).to_csv(file, index_label="id\x1b", lineterminator="\n", quoting=1)
    run("fit", file, "-k", 3, "--id", "id\x1b", "--size", 8, "--trim", 0.05, "--out", made / "out\x1b")
    return made


@pytest.fixture(scope="module")
def file(folder):
    (found,) = folder.glob("t*.csv")
    return found


COMMANDS = {
    "fit": ("fit", "FILE", "-k", 3, "--id", "id\x1b", "--size", 8, "--trim", 0.05, "--out", "OUT/out\x1b"),
    "fit with truth": ("fit", "FILE", "-k", 3, "--size", 8, "--truth", "level\x1bx", "--out", "OUT/out"),
    "info": ("info", "FILE"),
    "compare": ("compare", "FILE", "-k", 3, "--methods", "ward", "--repeats", 1, "--out", "OUT/other\x1b"),
    "predict": ("predict", "FOLDER/out\x1b/model.json", "FILE"),
    "predict to standard output": ("predict", "FOLDER/out\x1b/model.json", "FILE", "--out", "-"),
    "report": ("report", "FOLDER/out\x1b", "--out", "OUT/page\x1b.html"),
    "simulate": ("simulate", "shifted", "--out", "OUT/made\x1b.csv"),
}
REFUSED = {
    "no file": ("fit", "none\x1b[2J\udcff.csv"),
    "no column": ("fit", "FILE", "--id", "none\x1b"),
    "no method": ("fit", "FILE", "--method", "none\x1b"),
    "no model": ("predict", "none\x1b.json", "FILE"),
    "missing columns": ("predict", "FOLDER/out\x1b/model.json", "FOLDER/narrow.csv"),
    "no folder": ("fit", "FILE", "--out", "FILE"),
    "no result": ("report", "none\x1b"),
    "an unknown option": ("fit", "FILE", "--criterion", "\x1b"),
}


def completed(arguments, folder, file, out):
    (folder / "narrow.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    places = {"FILE": file, "FOLDER": folder, "OUT": out}
    return [re.sub("^(FILE|FOLDER|OUT)", lambda found: str(places[found[1]]), str(each)) for each in arguments]


@pytest.mark.parametrize("what", COMMANDS)
def test_what_a_command_prints_does_not_act_on_the_terminal(folder, file, tmp_path, what):
    result = run(*completed(COMMANDS[what], folder, file, tmp_path))
    assert result.stdout
    assert acts(result.output) == set()


@pytest.mark.parametrize("what", REFUSED)
def test_an_error_does_not_act_on_the_terminal(folder, file, tmp_path, what):
    result = run(*completed(REFUSED[what], folder, file, tmp_path), code=2)
    assert acts(result.output) == set()
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("what", ["fit", "info"])
def test_json_on_standard_output_is_json_with_escapes(folder, file, tmp_path, what):
    told = run(*completed(COMMANDS[what], folder, file, tmp_path), "--json").stdout
    assert acts(told) == set()
    assert told.isascii()
    read = json.loads(told)
    if what == "info":
        assert {column["name"] for column in read["columns"]} >= set(NAMES[:3])


def test_files_have_the_names_as_they_are(folder):
    labels, features = (pd.read_csv(folder / "out\x1b" / f"{name}.csv") for name in ("labels", "features"))
    assert labels["id"].tolist() == IDS
    assert set(features["name"]) == {*TABLE.columns, "still\x1b"}
    summary = json.loads((folder / "out\x1b" / "summary.json").read_text(encoding="utf-8"))
    assert {row["name"] for row in summary["features"]["rows"]} == {*TABLE.columns, "still\x1b"}


def test_predict_writes_the_names_as_they_are_and_prints_them_escaped(folder, file, tmp_path):
    model = folder / "out\x1b" / "model.json"
    run("predict", model, file, "--out", tmp_path / "labels.csv")
    written = pd.read_csv(tmp_path / "labels.csv")
    assert written["id"].tolist() == IDS
    printed = run("predict", model, file).stdout.splitlines()
    ids = [line.rsplit(",", written.shape[1] - 1)[0] for line in printed[1:]]
    assert ids == list(map(visible, IDS))
