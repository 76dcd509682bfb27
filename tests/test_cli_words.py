"""Messages on the terminal speak of options, not of parameters in Python."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sparsecluster
from sparsecluster.cli import app
from sparsecluster.cli.words import OPTIONS, in_options

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

SOURCE = Path(sparsecluster.__file__).parent
# Messages of the library, and what is printed.
SPELLED = {
    'Use n_features_to_select="core", null="fixed" or rule="1se" to choose fewer.': (
        "Use --size core, --null fixed or --rule 1se to choose fewer."
    ),
    'n_features_to_select must be a whole number in [1, 13]; got 14. Use "auto" to tune it.': (
        "--size must be a whole number in [1, 13]; got 14. Use --size auto to tune it."
    ),
    "n_features_to_select as a share must be in (0, 1]; got 1.5.": "--size as a share must be in (0, 1]; got 1.5.",
    "n_clusters must be a whole number in [2, 24]; got 100. X has n_samples=24 rows.": (
        "-k must be a whole number in [2, 24]; got 100. The table has 24 rows."
    ),
    "Try trim=0.05, which leaves the samples out.": "Try --trim 0.05, which leaves the samples out.",
    "or use metric={'zip': \"hamming\"} if it is meant": "or use --metric zip=hamming if it is meant",
    'use metric={"it\'s": "hamming"} for it.': """use --metric 'it'"'"'s=hamming' for it.""",
    "With standardize=False, columns keep their units. Use standardize=True.": (
        "With --no-standardize, columns keep their units. Use --standardize."
    ),
    "max_clusters must be a whole number of at least 2; got 1. Use None for the default.": (
        "--max-clusters must be a whole number of at least 2; got 1. Leave this option out for the default."
    ),
    "metric names a column 'zap' that X does not have.": "--metric names a column 'zap' that the table does not have.",
    "Column 'trim=3' is text; got 'null=\"fixed\"'.": "Column 'trim=3' is text; got 'null=\"fixed\"'.",
    "It is the machine's, trim=0.1 and the user's, too.": "It is the machine's, --trim 0.1 and the user's, too.",
    'Use SparseKMedoids, or metric="sqeuclidean" for numbers.': (
        "Use --method sparse-kmedoids, or --metric sqeuclidean for numbers."
    ),
}


@pytest.mark.parametrize("message", SPELLED)
def test_parameters_are_spelled_as_options(message):
    assert in_options(message) == SPELLED[message]
    assert in_options(SPELLED[message]) == SPELLED[message]


# What a parameter and its value look like in Python.
PYTHON = re.compile(r"""\b[a-z_]+=["'{\dTFN]|\bn_[a-z_]+\b""")
WORDS = [f"word {i}" for i in range(30)]
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"x": RNG.normal(size=30), "y": RNG.normal(size=30), "word": WORDS})
NUMBERS = TABLE[["x", "y"]]
# A table, the options, and what is printed instead.
COMMANDS = {
    "too many clusters": (
        NUMBERS,
        ("-k", "100"),
        "-k must be a whole number in [2, 30]; got 100. The table has 30 rows.",
    ),
    "too many features": (
        NUMBERS,
        ("-k", "2", "-s", "9"),
        "--size must be a whole number in [1, 2]; got 9. Use --size ",
    ),
    "a share above one": (NUMBERS, ("-k", "2", "-s", "1.5"), "--size as a share must be in (0, 1]"),
    "too much trimming": (NUMBERS, ("-k", "2", "--trim", "0.6"), "--trim must be a share of the samples"),
    "an unknown null": (NUMBERS, ("-k", "2", "--null", "x"), '--null must be one of "refit", "fixed"'),
    "a column that there is not": (NUMBERS, ("-k", "2", "--metric", "z=hamming"), "--metric must name a column of"),
    "ranks of numbers": (TABLE, ("-k", "2", "--drop", "word", "--metric", "x=foo"), "--metric x=METRIC must be one of"),
    "ranks without an order": (
        TABLE.assign(word=["a", "b"] * 15),
        ("-k", "2", "--metric", "word=ordinal"),
        "--metric ordinal compares ranks, but the levels of column 'word' have no order.",
    ),
    "no threads": (NUMBERS, ("-k", "2", "--jobs", "0"), "--jobs must be"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_errors_of_commands_have_no_python_in_them(tmp_path, what):
    table, options, told = COMMANDS[what]
    table.to_csv(tmp_path / "table.csv", index=False)
    ended = CliRunner().invoke(app, ["fit", str(tmp_path / "table.csv"), *options, "-o", str(tmp_path / "out")])
    assert ended.exit_code == 2
    assert told in ended.stderr
    assert not PYTHON.search(ended.stderr), ended.stderr


def test_warnings_and_notes_of_commands_have_no_python_in_them(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 6))
    table[0] += 60
    pd.DataFrame(table).add_prefix("c").to_csv(tmp_path / "table.csv", index=False)
    ended = CliRunner().invoke(app, ["fit", str(tmp_path / "table.csv"), "-k", "2", "-o", str(tmp_path / "out")])
    assert ended.exit_code == 0, ended.output
    assert "Try --trim 0.0" in ended.stdout
    assert not PYTHON.search(ended.stdout), ended.stdout


# Parameters that a command cannot set, so that its messages do not recommend them.
NOT_SET = {
    *("clusterer", "penalty", "weights", "algorithm", "nonnegative", "reduction", "gap", "objective", "threshold"),
    *("test", "alpha", "linkage", "grouping", "variance_form", "subsample", "init", "log", "n_samples"),
}


def sentences_of(file):
    """The texts of a file that are parts of sentences: in errors, warnings and notes, not in documentation."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
        if is_text and " " in node.value and "<" not in node.value:
            yield node.value


def test_no_message_of_the_library_names_a_parameter_that_is_not_known_here():
    """A new parameter in a message must get its option in OPTIONS, or be listed as one that no command sets."""
    folders = ("methods", "_data", "_search", "_clusterers", "_features", "_blocks", "evidence", "report")
    found = {
        name
        for folder in folders
        for file in (SOURCE / folder).rglob("*.py")
        if file.name != "_notebook.py"  # its texts are attributes of HTML
        for text in sentences_of(file)
        for name in re.findall(r"(?:^|[ (])([a-z_]+)=(?=[\"'{]|True|False|None|\d|$)", text)
    }
    assert found - NOT_SET - set(OPTIONS) == set()
    assert {"metric", "trim", "standardize", "null"} <= found
