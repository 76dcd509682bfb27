"""CSV files: what is written is read back with the same rows and cells, and a spreadsheet finds nothing to run."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sparsecluster._utils.csv import as_csv, frame_csv, harmless
from sparsecluster.cli import app

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

# What spreadsheets run, bare and behind what they skip; and what they do not.
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x")', "=", "-", "-inf", "+1_0"]
WIDE = ["＝1+1", "＋1", "－2+3", "＠SUM(A1)"]
SKIPPED = [" ", "\t", "\r", "\n", "\r\n", "\x00", "\x1f", "\x7f", "\xa0", "\u200b", "\u2028", "\ufeff", "\u3000 \u200e"]
EVIL = [*FORMULAS, *WIDE, *(skipped + sign + "1+1" for skipped in SKIPPED for sign in "=+-@＝")]
MILD = ["-5", "+1e3", "-.5", "-5.", "+0", "a=b", "x-y", "1-2", "'=quoted", "", " ", "naïve", "–5", "(-1)"]


@pytest.mark.parametrize("text", [*EVIL, "\ttab", "\rreturn", "\nbreak"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", MILD)
def test_other_text_stays_as_it_is(text):
    assert harmless(text) == text


LETTERS = st.text(st.one_of(st.sampled_from("\r\n\t\",;= +-@＝'\x1c\x85\u2028\x0b\x0c"), st.characters(codec="utf-8")))
CELLS = st.one_of(st.integers(-(10**9), 10**9), st.none(), st.floats(allow_nan=False), LETTERS)


@given(st.lists(st.tuples(st.integers(), CELLS, LETTERS), max_size=6), LETTERS)
def test_every_cell_is_read_back_by_csv(rows, name):
    text = as_csv(["number", name, "text"], rows)
    read = list(csv.reader(io.StringIO(text, newline="")))
    told = [["" if cell is None else str(cell) for cell in row] for row in rows]
    # Formulas have one character more.
    assert [[cell.removeprefix("'") for cell in row] for row in read] == [
        [cell.removeprefix("'") for cell in row] for row in [["number", name, "text"], *told]
    ]


@given(st.lists(st.tuples(st.integers(0, 9), LETTERS.filter(lambda text: "\x00" not in text)), min_size=1, max_size=6))
def test_every_cell_is_read_back_by_pandas(rows):
    text = as_csv(["number", "text"], rows)
    read = pd.read_csv(io.BytesIO(text.encode()), dtype=str, keep_default_na=False)
    assert read["number"].tolist() == [str(number) for number, _ in rows]
    assert [each.removeprefix("'") for each in read["text"]] == [each.removeprefix("'") for _, each in rows]


@pytest.mark.parametrize("letter", ['"', ",", ";", "\t", "\r", "\n", "\r\n", "\x00", "\x1b", "\x85", "\u2028"])
def test_cells_with_anything_special_are_quoted(letter):
    assert as_csv(["a"], [[f"x{letter}y"]]) == 'a\n"x{}y"\n'.format(letter.replace('"', '""'))


def test_a_frame_is_written_with_or_without_its_index():
    frame = pd.DataFrame({"=x": [0.1, np.nan], "word": ["a\rb", None]}, index=pd.Index(["r", "@s"], name="row"))
    assert frame_csv(frame) == "row,'=x,word\nr,0.1,\"a\rb\"\n'@s,,\n"
    assert frame_csv(frame, index=False) == '\'=x,word\n0.1,"a\rb"\n,\n'


def test_numbers_are_read_back_to_the_last_bit():
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    frame = pd.DataFrame({"x": values, "n": np.arange(200), "b": values > 0})
    read = pd.read_csv(io.StringIO(frame_csv(frame, index=False)), float_precision="round_trip")
    pd.testing.assert_frame_equal(read, frame, check_exact=True)


def run(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_all_tables_of_commands_have_their_rows_and_no_formulas(tmp_path):
    rng = np.random.default_rng(0)
    names = ["=1+1", "two\rlines", " ＋wide", 'a "quote"', "\u200b@x", "-2+3"]
    values = rng.normal(size=(24, 6)).round(3) + 4 * np.repeat([0, 1, 2], 8)[:, None]
    ids = [f"{each} {i}" for i, each in enumerate([" =1+1", "two\r\nlines", "＝1", "plain"] * 6)]
    table = pd.DataFrame(values, columns=names).assign(id=ids)
    table.to_csv(tmp_path / "table.csv", index=False, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out, other = tmp_path / "out", tmp_path / "other"
    run("fit", tmp_path / "table.csv", "-k", 3, "--id", "id", "--out", out)
    options = ("-k", 3, "--id", "id", "--methods", "ward,kmeans++", "--repeats", 1)
    run("compare", tmp_path / "table.csv", *options, "--out", other)
    written = sorted([*out.glob("*.csv"), *other.glob("*.csv")])
    rows = {file.name: list(csv.reader(file.open(newline=""))) for file in written}
    assert {"labels.csv", "features.csv", "core.csv", "comparison.csv", "agreement.csv"} <= set(rows)
    assert (len(rows["labels.csv"]), len(rows["features.csv"])) == (25, 7)
    for file in written:
        assert len(pd.read_csv(file, dtype=str, keep_default_na=False)) == len(rows[file.name]) - 1
    cells = [cell for table in rows.values() for row in table for cell in row]
    number = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?")
    assert [cell for cell in cells if harmless(cell) != cell and not number.fullmatch(cell)] == []
