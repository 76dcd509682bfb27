"""Files of every format that the package reads, whole or damaged."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .damage import damaged
from .names import names

CELLS = (
    *("", " ", "NA", "nan", "NaN", "null", "None", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e308", "-1e308"),
    *(
        "1e-320",
        "1" * 400,
        "1.504e+21" + "1" * 200,
        "0x10",
        "1_000",
        "1,5",
        "1.234,5",
        "1 000",
        "+1",
        "--1",
        "1e",
        ".",
        "-",
        "١٢",
        "TRUE",
    ),
    *("2020-01-01", "12:30", "=1+1", "@A1", "\x1b[31m", "a\rb", 'a"b', '"', '""', "<b>", "é", "\ufeff", "\u202e"),
    *("x" * 300, "1 2", "\t", "a\x00b", "\u2028"),
)
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7")


def grid(rng: random.Random, n: int, p: int) -> list[list[str]]:
    """Return the cells of a table: columns of numbers, words or dates, with a few strange cells."""
    columns = []
    for _ in range(p):
        kind = rng.random()
        if kind < 0.6:
            shift = rng.choice((0.0, 5.0))
            columns.append([f"{rng.gauss(shift * (i % 2), 1):.4g}" for i in range(n)])
        elif kind < 0.75:
            columns.append([rng.choice(("red", "green", "blue")) for _ in range(n)])
        elif kind < 0.85:
            columns.append([str(rng.randint(0, 3)) for _ in range(n)])
        else:
            columns.append([f"2020-01-{1 + i % 28:02d}" for i in range(n)])
    for _ in range(rng.choice((0, 0, 0, 1, 2, 5))):
        rng.choice(columns)[rng.randrange(n)] = rng.choice(CELLS)
    return [list(row) for row in zip(*columns, strict=True)]


def text(rng: random.Random) -> bytes:
    """Return a text table, with any delimiter, decimal sign, line ends and encoding."""
    n, p = rng.randint(1, 30), rng.randint(1, 8)
    rows = grid(rng, n, p)
    if rng.random() < 0.85:
        rows.insert(0, names(rng, p, hostile=rng.random() < 0.3, unique=rng.random() < 0.9))
    if rng.random() < 0.4:
        rows = [["id" if i == 0 else f"s{i}", *row] for i, row in enumerate(rows)]
    if rng.random() < 0.05:
        del rng.choice(rows)[0]
    sign = rng.choice((",", ",", ",", ";", "\t", " ", "|"))
    quote = rng.choice(("never", "never", "always", "when needed"))

    def cell(content: str) -> str:
        needed = any(each in content for each in (sign, '"', "\n", "\r"))
        if quote == "always" or (quote == "when needed" and needed):
            return '"' + content.replace('"', '""') + '"'
        return content

    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\n"))
    whole = end.join(sign.join(map(cell, row)) for row in rows) + rng.choice(("", end, end, end + end))
    if sign != "," and rng.random() < 0.2:
        whole = whole.replace(".", ",")
    if rng.random() < 0.05:
        whole = rng.choice(("# comment\n", "\n\n", "sep=;\n", "{}\n")) + whole
    return whole.encode(rng.choice(ENCODINGS) if rng.random() < 0.2 else "utf-8", "replace")


def array(rng: random.Random) -> np.ndarray:
    """Return an array of any type, most of them tables of numbers."""
    n, p = rng.randint(1, 20), rng.randint(1, 6)
    values = np.random.default_rng(rng.randrange(10**6)).normal(size=(n, p)) + 5 * (np.arange(n) % 2)[:, None]
    if rng.random() < 0.6:
        return values
    changes: tuple[Callable[[], Any], ...] = (
        lambda: values.astype(rng.choice(("f2", "f4", ">f8", "i8", "u1", "?", "c16", "S5", "U5", "g"))),
        lambda: values.ravel(),
        lambda: values[None],
        lambda: values[:0],
        lambda: values * 1e308,
        lambda: np.asfortranarray(values),
        lambda: np.zeros(5, dtype=[("a", float), ("b", "U3")]),
        lambda: (values * 100).astype("datetime64[D]"),
        lambda: np.array(3.0),
        lambda: np.where(values > 0, np.nan, values),
    )
    with np.errstate(all="ignore"):
        return rng.choice(changes)()


def frame(rng: random.Random) -> Any:
    """Return a data frame with columns of several types."""
    import pandas as pd

    n, p = rng.randint(1, 20), rng.randint(1, 6)
    rows = grid(rng, n, p)
    made = pd.DataFrame(rows, columns=names(rng, p, hostile=rng.random() < 0.3))
    for a in range(p):
        with contextlib.suppress(ValueError, OverflowError):
            # Not by pandas.to_numeric, which crashes on some texts.
            made.isetitem(a, made.iloc[:, a].map(float))
    if rng.random() < 0.3:
        made["when"] = pd.date_range("2020", periods=n)
    if rng.random() < 0.2:
        made["group"] = pd.Categorical(["a", "b"] * n)[:n]
    if rng.random() < 0.1:
        made["nested"] = [[1, 2]] * n
    if rng.random() < 0.2:
        made.index = [f"s{i}" for i in range(n)]
    return made


def npy(rng: random.Random) -> bytes:
    out = io.BytesIO()
    np.save(out, array(rng), allow_pickle=False)
    content = out.getvalue()
    if rng.random() < 0.15:
        # The header promises more than there is.
        lie = rng.choice((b"(300000000, 8)", b"(99999999999, 9)", b"(-1, 2)", b"(2, 0)", b"()"))
        start, end = content.find(b"'shape': ") + 9, content.find(b"), }")
        content = content[:start] + lie + content[end + 1 :]
    return content


def npz(rng: random.Random) -> bytes:
    out = io.BytesIO()
    given = {rng.choice(("X", "a", "arr_0")): array(rng)}
    if rng.random() < 0.3:
        given["other"] = array(rng)
    (np.savez_compressed if rng.random() < 0.5 else np.savez)(out, **given)
    return inside_zip(rng, out.getvalue())


def xlsx(rng: random.Random) -> bytes:
    import pandas as pd

    out = io.BytesIO()
    made = frame(rng)
    illegal = str.maketrans(dict.fromkeys(range(32)))
    made.columns = [str(name).translate(illegal) for name in made.columns]
    made = made.map(
        lambda each: each.translate(illegal) if isinstance(each, str) else str(each) if isinstance(each, list) else each
    )
    with pd.ExcelWriter(out, engine="openpyxl") as book:
        made.to_excel(book, index=rng.random() < 0.3, sheet_name=rng.choice(("Sheet1", "data", "<b>")))
    return inside_zip(rng, out.getvalue())


def inside_zip(rng: random.Random, content: bytes) -> bytes:
    """Now and then damage a file in an archive, whose checksum is right all the same."""
    if rng.random() < 0.6:
        return content
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        victim = rng.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, damaged(rng, data) if name == victim else data)
    return out.getvalue()


def parquet(rng: random.Random) -> bytes:
    out = io.BytesIO()
    _plain_lists(frame(rng)).to_parquet(out, compression=rng.choice((None, "snappy", "gzip")))
    return out.getvalue()


def feather(rng: random.Random) -> bytes:
    out = io.BytesIO()
    _plain_lists(frame(rng)).reset_index(drop=True).to_feather(out, compression=rng.choice(("uncompressed", "lz4")))
    return out.getvalue()


def _plain_lists(made: Any) -> Any:
    """Make the columns of a frame such that Arrow can store them: one type each."""
    for name in made.columns:
        if made[name].dtype == object and name != "nested":
            made[name] = made[name].astype(str)
    return made


def h5ad(rng: random.Random) -> bytes:
    import anndata
    import pandas as pd
    import scipy.sparse as sp

    n, p = rng.randint(2, 20), rng.randint(1, 6)
    X: Any = (
        np.random.default_rng(rng.randrange(10**6)).poisson(1.0, size=(n, p)).astype(rng.choice(("f4", "f8", "i8")))
    )
    if rng.random() < 0.4:
        X = rng.choice((sp.csr_matrix, sp.csc_matrix))(X)
    genes = [name.replace("/", "").replace("\0", "") for name in names(rng, p, hostile=rng.random() < 0.2)]
    about = pd.DataFrame({"group": pd.Categorical(["a", "b"] * n)[:n]}, index=[f"c{i}" for i in range(n)])
    made = anndata.AnnData(X, obs=about, var=pd.DataFrame(index=genes))
    file = Path("made.h5ad")
    made.write_h5ad(file)
    content = file.read_bytes()
    file.unlink()
    return content


def mtx(rng: random.Random) -> bytes:
    n, p = rng.randint(1, 20), rng.randint(1, 6)
    lines = [
        f"{1 + i} {1 + a} {rng.choice(('1', '2.5', '3', '1e308'))}"
        for i in range(n)
        for a in range(p)
        if rng.random() < 0.5
    ]
    field = rng.choice(("real", "real", "integer", "pattern", "complex"))
    form = rng.choice(("general", "general", "symmetric"))
    size = f"{n} {p} {len(lines)}"
    if rng.random() < 0.2:
        size = rng.choice(
            (
                f"300000000 {p} {len(lines)}",
                f"{n} 99999999999 {len(lines)}",
                f"{n} {p} 9999999999",
                "-1 2 3",
                "0 0 0",
                "a b c",
            )
        )
    text = f"%%MatrixMarket matrix coordinate {field} {form}\n%comment\n{size}\n" + "\n".join(lines) + "\n"
    return text.encode()


FORMATS: dict[str, Callable[[random.Random], bytes]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ""), text),
    ".npy": npy,
    ".npz": npz,
    ".xlsx": xlsx,
    ".parquet": parquet,
    ".feather": feather,
    ".h5ad": h5ad,
    ".mtx": mtx,
}
SHARES = {".csv": 10, ".tsv": 3, ".txt": 3, ".dat": 1, "": 1, ".npy": 4, ".npz": 3, ".xlsx": 3, ".parquet": 4}
SHARES |= {".feather": 3, ".h5ad": 2, ".mtx": 4}
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
WRONG = (
    ".csv",
    ".xlsx",
    ".parquet",
    ".npy",
    ".npz",
    ".h5ad",
    ".mtx",
    ".feather",
    ".xls",
    ".ods",
    ".zip",
    ".gz",
    ".CSV",
)


def file(rng: random.Random, folder: Path) -> Path:
    """Write a file of any format, in most cases damaged, and perhaps files that belong to it. Return its path."""
    (suffix,) = rng.choices(list(SHARES), list(SHARES.values()))
    content = FORMATS[suffix](rng)
    if rng.random() < 0.5:
        content = damaged(rng, content)
    name = rng.choice(("table", "table", "table", "matrix", "a b", "é")) + suffix
    if rng.random() < 0.15:
        packer = rng.choice(list(PACKERS))
        name, content = name + packer, PACKERS[packer](content)
        if rng.random() < 0.4:
            content = damaged(rng, content)
    if rng.random() < 0.05:
        name = f"table{rng.choice(WRONG)}"
    if ".mtx" in name and rng.random() < 0.4:
        _write_names(rng, folder)
    path = folder / name
    path.write_bytes(content)
    return path


def _write_names(rng: random.Random, folder: Path) -> None:
    """Write the names that 10x Genomics puts beside a matrix, damaged or not."""
    for word in ("genes", "barcodes", "features"):
        if rng.random() < 0.6:
            count = rng.randint(1, 12)
            content = "".join(f"id{i}\tname{i % 4}\n" for i in range(count)).encode()
            content = damaged(rng, content) if rng.random() < 0.4 else content
            zipped = rng.random() < 0.4
            content = gzip.compress(content) if zipped else content
            content = damaged(rng, content) if rng.random() < 0.2 else content
            (folder / f"{word}.tsv{'.gz' if zipped else ''}").write_bytes(content)
