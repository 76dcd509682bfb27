"""Known nasty cases, made by code. Each of them has once been, or could easily be, a mistake."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from sparsecluster.methods.registry import METHODS, make_method

from ..case import Case
from ..make.names import HOSTILE
from ..make.parameters import QUICK, source
from ..make.tables import Table
from ..processes import invoke
from . import api, files, models, results
from .commands import csv, write_files


class Known(NamedTuple):
    """A known case: the area to which it belongs, its name, and the function that runs it."""

    area: str
    name: str
    run: Callable[[Case], None]


def run(case: Case, number: int) -> None:
    """Run a known case by its number."""
    case.script.append(f"# {CORPUS[number].name}")
    CORPUS[number].run(case)


# ---------------------------------------------------------------- tables

BASE = """\
rng = np.random.default_rng(0)
B = rng.normal(size=(20, 4)) + 6.0 * (np.arange(20) % 2)[:, None]"""
FRAME = f"{BASE}\nX = pd.DataFrame(B, columns=list('abcd'))"
SAS = {"n_features_to_select": "2", "n_init": "2"}


def fit(name: str, *lines: str, method: str = "sas", metric: str | None = None, **parameters: str) -> Known:
    """Return a case that fits a method to a table and uses the result in every way."""
    known = make_method(method, 2).get_params()
    given = {key: value for key, value in QUICK.items() if key in known}
    given |= SAS if method == "sas" else {}
    given |= parameters | ({} if metric is None else {"metric": metric})

    def attack(case: Case) -> None:
        made = Table(list(lines), 20, 4, metric)
        api.attack(case, made, source(method, given, "2"), given, thorough=True)

    return Known("api", name, attack)


SCALES = ("1e307", "1e160", "1e-200", "1e-320")
# Numbers whose squares, sums or differences leave the range of floating-point numbers, for every method.
EXTREME = [
    *(fit(f"{name} of B * {scale}", BASE, f"X = B * {scale}", method=name) for name in METHODS for scale in SCALES),
    *(
        fit(f"{name} of B * {scale}, not standardized", BASE, f"X = B * {scale}", method=name, standardize="False")
        for name in METHODS
        if "standardize" in make_method(name, 2).get_params()
        for scale in ("1e160", "1e-200")
    ),
]
TABLES = [
    *(
        fit(f"all-empty column under {kind}", f"{FRAME}\nX['e'] = {empty}", metric=f"{{'e': {kind!r}}}")
        for kind in ("hamming", "ordinal", "manhattan")
        for empty in ("None", "np.nan", "pd.NA")
    ),
    *(
        fit(f"empty columns under {kind}", BASE, "X = B; X[:, 1] = np.nan", metric=repr(kind))
        for kind in ("hamming", "ordinal")
    ),
    *(
        fit(f"{value} under {kind}", BASE, f"X = np.round(B); X[3, 1] = {value}", metric=repr(kind))
        for value in ("np.inf", "-np.inf", "1.7e308")
        for kind in ("hamming", "ordinal", "manhattan", "sqeuclidean")
    ),
    fit("10**400 in a column", f"{FRAME}\nX['e'] = pd.Series([10**400, 1] * 10, dtype=object)"),
    fit("-10**400 in an array", BASE, "X = B.astype(object); X[0, 0] = -10**400"),
    fit(
        "an interval column of pyarrow",
        BASE,
        "X = pa.table({'a': B[:, 0], 'i': pa.array([(1, 2, 3)] * 20, pa.month_day_nano_interval())})",
    ),
    fit(
        "a dataset of pyarrow",
        BASE,
        "import pyarrow.dataset; X = pyarrow.dataset.dataset(pa.table({'a': B[:, 0], 'b': B[:, 1]}))",
    ),
    fit("dates beside numbers", f"{FRAME}\nX['when'] = pd.date_range('2020', periods=20)", n_features_to_select="5"),
    fit(
        "dates beside numbers and words",
        f"{FRAME}\nX['when'] = pd.date_range('2020', periods=20)\nX['w'] = ['x', 'y'] * 10",
        n_features_to_select="6",
    ),
    fit("csr_matrix(B * 1e160), not standardized", BASE, "X = sp.csr_matrix(B * 1e160)", standardize="False"),
    fit("csr_matrix(B * 1e307)", BASE, "X = sp.csr_matrix(B * 1e307)"),
    *(
        fit(
            f"precomputed {scale}",
            BASE,
            f"D = [{scale} * np.abs(B[:, a][:, None] - B[:, a]) for a in range(4)]",
            "X = D",
            metric="'precomputed'",
        )
        for scale in ("1e306", "1e-310", "1e160")
    ),
    *(
        fit(f"{kind} {scale}", BASE, f"X = B * {scale}", metric=repr(kind))
        for kind in ("manhattan", "euclidean")
        for scale in ("1e306", "1e-310")
    ),
    fit("columns of +-1e308", BASE, "X = np.where(B > 3, 1e308, -1e308)"),
    fit("columns of +-1.7e308, not standardized", BASE, "X = np.where(B > 3, 1.7e308, -1.7e308)", standardize="False"),
    fit("one sample of 1e308", BASE, "X = B; X[0] = 1e308"),
    fit("an offset of 1e16", BASE, "X = B + 1e16"),
    *(
        fit(f"the name {name[:30]!a}", f"{FRAME}\nX.columns = ['a', {name!r}, 'c', 'd']", n_features_to_select="4")
        for name in HOSTILE
    ),
    fit(
        "hostile words",
        f"{FRAME}\nX['w'] = ['<script>alert(1)</script>', '\\x1b[31m', '=1+1', '\\u202e'] * 5",
        n_features_to_select="5",
    ),
    fit("equal names", f"{FRAME}\nX.columns = ['a'] * 4"),
    fit("two samples", "X = np.array([[0.0, 1.0], [5.0, 2.0]])"),
    fit("all values missing", "X = np.full((20, 4), np.nan)"),
    fit("all values equal", "X = np.ones((20, 4))"),
]

# ---------------------------------------------------------------- files


def file(name: str, content: bytes, option: str = "") -> Known:
    """Return a case that reads a file."""

    def attack(case: Case) -> None:
        (case.folder / name).write_bytes(content)
        case.prepare("from sparsecluster.io import Options, read_table")
        files.read(case, name, option, thorough=True)

    return Known("files", f"{name}: {content[:40]!a} {option}".strip(), attack)


def broken_gzip(place: int) -> bytes:
    """Return a compressed table with one wrong byte."""
    data = bytearray(gzip.compress(csv(200).encode(), mtime=0))
    data[place % len(data)] ^= 0xFF
    return bytes(data)


MTX = b"%%MatrixMarket matrix coordinate real general\n"
NPY = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (SIZE), }"
FILES = [
    file("rows.mtx", MTX + b"300000000 3 2\n1 1 1.0\n2 2 2.0\n"),
    file("columns.mtx", MTX + b"3 300000000 2\n1 1 1.0\n2 2 2.0\n"),
    file("entries.mtx", MTX + b"3 3 99999999999\n1 1 1.0\n2 2 2.0\n"),
    file("array.mtx", b"%%MatrixMarket matrix array real general\n300000 300000\n1.0\n"),
    *(file("table.csv.gz", broken_gzip(place)) for place in (3, 12, 40, 200, 600, -3)),
    file("cut.csv.gz", gzip.compress(csv().encode())[:-20]),
    file("table.csv", b"a,b\n1,x\ry\n2,z\n3,x\n4,z\n"),
    file("table.csv", b"a,b\r1,2\r3,4\r5,6\r"),
    file("table.csv", b"a,b\n1e308,1\n-1e308,2\n1e308,3\n-1e308,4\n"),
    file("table.csv", b"a,b\n1e400,1\n-1e400,2\n1e308,3\n0,4\n"),
    file("table.csv", b"a,b\n" + b"9" * 400 + b",1\n2,2\n3,3\n4,4\n"),
    # An exponent of many digits, with which a function of pandas ends the process.
    file("table.csv", b"x0\ns1,1.504e+21" + b"1" * 200 + b"\ns2,5\n"),
    file("table.csv", b"a,b\n=1+1,1\n@x,2\n+y,3\n-z,4\n"),
    file("table.csv", b"a,\x1b[31mb\n1,2\n3,4\n5,6\n"),
    file("table.csv", "\ufeffa,b\n1,2\n3,4\n5,6\n".encode()),
    file("table.csv", "a,b\n1,2\n3,4\n5,6\n".encode("utf-16")),
    file("table.csv", b"a,b\n1,\0\n3,4\n"),
    file("table.csv", b"a,b\n1,\xff\n3,4\n"),
    file("table.csv", b"a,b\n" + b"1,2\n" * 20000 + b"\0,4\n"),
    file("table.csv", b'a,b\n1,"2\n3,4\n'),
    file("table.csv", b"a;b\n1,5;2\n2,5;3\n3,5;1\n", "options=Options(decimal=',')"),
    file("table.csv", b"a,b\n1,2\n3,4\n", "options=Options(delimiter='ab')"),
    file("table.csv", b"a,b\n1,2\n3,4\n", "options=Options(encoding='rot13')"),
    file("table.csv", b"a,b\n1,2\n3,4\n", "options=Options(encoding='hex')"),
    file("huge.npy", NPY.replace(b"SIZE", b"300000000000, 8").ljust(128) + b"\n"),
    file("negative.npy", NPY.replace(b"SIZE", b"-1, 2").ljust(128) + b"\n"),
    file(
        "pickle.npy",
        b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }".ljust(128) + b"\n",
    ),
    file("text.xlsx", b"PK\x03\x04 not a book"),
    file("text.parquet", b"PAR1PAR1"),
    file("text.h5ad", b"\x89HDF\r\n\x1a\n"),
]

# ---------------------------------------------------------------- models


def model(name: str, kind: str, change: Callable[[dict[str, Any]], Any]) -> Known:
    """Return a case that loads a model that was changed."""

    def attack(case: Case) -> None:
        entry = json.loads(models.model(kind))
        change(entry)
        (case.folder / "model.json").write_text(json.dumps(entry))
        models.load(case, models.KINDS[kind])

    return Known("models", f"{kind}: {name}", attack)


def wide(entry: dict[str, Any]) -> None:
    """Promise 600,000,000 columns."""
    entry["columns"]["count"] = entry["fitted"]["n_features_in_"] = entry["n_features"] = 600_000_000


def everywhere(key: str, value: Any) -> Callable[[Any], None]:
    """Return a function that replaces a value at every place with a key."""

    def change(here: Any) -> None:
        for each in list(here.values()) if isinstance(here, dict) else here if isinstance(here, list) else ():
            change(each)
        if isinstance(here, dict) and key in here:
            here[key] = value

    return change


NUMBERS = (1e300, -1, 0, None, "", [], 10**400, float("nan"))
FIELDS = ("unit", "spread", "weight", "means", "share", "n_features_in_", "labels_", "n_chosen")
MODELS = [
    model("600,000,000 columns", "sas", wide),
    *(model(f"runs = {value!r:.20}", "sas by distance", everywhere("runs", value)) for value in NUMBERS),
    *(model(f"{key} = {value!r:.20}", "sas", everywhere(key, value)) for key in FIELDS for value in NUMBERS),
]

# ---------------------------------------------------------------- commands


def command(*arguments: str, table: str | None = None) -> Known:
    """Return a case that runs a command, on a table of its own or on those of the area."""

    def attack(case: Case) -> None:
        write_files(case)
        if table is not None:
            (case.folder / "own.csv").write_text(table, "utf-8")
        invoke(case, list(arguments), csv())
        harmless_cells(case)

    return Known("commands", " ".join(arguments)[:80], attack)


def harmless_cells(case: Case) -> None:
    """Report cells of a written table that a spreadsheet would evaluate."""
    for name in ("labels.csv", "features.csv"):
        written = case.folder / "out" / name
        if written.exists():
            for line in written.read_text("utf-8").splitlines():
                if line.startswith(("=", "@", "+")):
                    case.report("formula", f"{name} has a line {line[:60]!r}", f"fit {name}")


HOSTILE_TABLES = [csv(20, "red", name) for name in ("\x1b[31mred", "=1+1", "<script>alert(1)</script>", "[red]x[/red]")]
FORMULAS = csv().replace("\ns", "\n=cmd").replace("red", "@SUM(A1)")
COMMANDS = [
    *(command("info", "own.csv", table=table) for table in HOSTILE_TABLES),
    *(
        command("fit", "own.csv", "-k", "2", "-s", "3", "--drop", "group", "--out", "out", table=table)
        for table in (*HOSTILE_TABLES, FORMULAS)
    ),
    command(
        "fit",
        "own.csv",
        "-k",
        "2",
        "--out",
        "out",
        table="a,b\n" + "".join(f"{'-' * (i % 2)}1e308,{i % 3}\n" for i in range(12)),
    ),
    command("fit", "table.csv", "-k", "9" * 5000),
    command("fit", "table.csv", "-k", "2-99999999999"),
    command("fit", "table.csv", "-k", "2", "--seed", "9" * 30),
    command("fit", "table.csv", "-k", "2", "--out", "a\x1b[31mb"),
    command("predict", "old/model.json", "table.csv", "--out", "-"),
    command("predict", "old/model.json", "hostile.csv"),
    command("compare", "table.csv", "-k", "2", "--methods", "kmeans,\x1b[31m"),
    command("simulate", "shifted", "--features", "1", "--out", "-"),
]
RESULTS = [
    Known("results", f"fit into {name}", lambda case, name=name: results.into(case, name)) for name in results.FOLDERS
]
CORPUS: tuple[Known, ...] = (*FILES, *MODELS, *TABLES, *COMMANDS, *RESULTS, *EXTREME)
# The order is fixed, but a campaign that is cut short should have seen a bit of everything.
CORPUS = tuple(random.Random(0).sample(CORPUS, len(CORPUS)))
