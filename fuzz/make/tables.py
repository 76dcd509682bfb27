"""Tables of numbers as Python source: contents first, then one of many forms to hold them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .frames import frame


@dataclass
class Table:
    """Source that assigns a table to X.

    Attributes
    ----------
    lines : list of str
        The source.
    n, p : int
        The number of samples and columns.
    metric : str or None
        What the metric must be, if the table asks for one.
    form : str
        Name of the form.
    words : list of str
        Names of its columns.
    """

    lines: list[str]
    n: int
    p: int
    metric: str | None = None
    form: str = "array"
    words: list[str] = field(default_factory=list)


CONTENTS = {
    "normal": "rng.normal(size=({n}, {p}))",
    "clusters": "rng.normal(size=({n}, {p})) + 6.0 * (np.arange({n}) % 3)[:, None] * (np.arange({p}) < {some})",
    "two clusters": "rng.normal(size=({n}, {p})) + 9.0 * (np.arange({n}) % 2)[:, None]",
    "constant": "np.full(({n}, {p}), {number})",
    "duplicated rows": "rng.normal(size=({few}, {p}))[np.arange({n}) % {few}]",
    "ties": "rng.integers(0, 3, size=({n}, {p})).astype(float)",
    "zeros and ones": "(rng.random(({n}, {p})) < 0.4).astype(float)",
    "counts": "rng.poisson(1.5, size=({n}, {p})).astype(float)",
    "equal columns": "np.repeat(rng.normal(size=({n}, 1)), {p}, axis=1)",
    "heavy tails": "rng.standard_cauchy(size=({n}, {p}))",
    "any bits": "rng.integers(0, 2**64, size=({n}, {p}), dtype=np.uint64).view(float)",
    "integers": "rng.integers(-2**62, 2**62, size=({n}, {p})).astype(float)",
}
USUAL = ("normal", "clusters", "clusters", "two clusters", "ties", "zeros and ones", "duplicated rows")
SCALES = (
    *("5e-324", "1e-320", "1e-310", "1e-308", "1e-200", "1e-160", "1e-100", "1e-20", "1e20", "1e100", "1e150", "1e155"),
    *("1e160", "1e200", "1e300", "1e306", "1e307", "1.7e308", "-1e308"),
)
NUMBERS = ("0.0", "-0.0", "1.0", "1e15", "1e16", "1e300", "1.7e308", "-1.7e308", "5e-324", "2.2e-308", "1e-160")
SPOILS = {
    "scale": "values *= {scale}",
    "scale of a column": "values[:, {j}] *= {scale}",
    "scales of columns": "values *= 10.0 ** rng.integers(-300, 300, size={p})",
    "offset": "values += {number}",
    "offset of a column": "values[:, {j}] += {number}",
    "outlier": "values[{i}, {j}] = {number}",
    "outlying sample": "values[{i}] *= {scale}",
    "infinity": "values[{i}, {j}] = {sign}np.inf",
    "missing value": "values[{i}, {j}] = np.nan",
    "missing values": "values[rng.random(values.shape) < {share}] = np.nan",
    "missing column": "values[:, {j}] = np.nan",
    "missing sample": "values[{i}] = np.nan",
    "all missing": "values[:] = np.nan",
    "constant column": "values[:, {j}] = {number}",
    "almost constant column": "values[:, {j}] = 1.0; values[{i}, {j}] = np.nextafter(1.0, 2.0)",
    "equal samples": "values[{i}] = values[0]",
    "rounded": "values = np.round(values, 1)",
    "negative zeros": "values[np.abs(values) < 0.5] = -0.0",
}
MILD = ("missing value", "missing values", "constant column", "rounded", "offset of a column", "scale of a column")

DENSE = {
    "array": "X = values",
    "Fortran": "X = np.asfortranarray(values)",
    "float32": "X = values.astype(np.float32)",
    "float16": "X = values.astype(np.float16)",
    "long double": "X = values.astype(np.longdouble)",
    "int64": "X = np.nan_to_num(values).clip(-1e18, 1e18).astype(np.int64)",
    "int8": "X = np.nan_to_num(values).clip(-100, 100).astype(np.int8)",
    "uint8": "X = np.nan_to_num(values).clip(0, 200).astype(np.uint8)",
    "bool": "X = values > 0",
    "complex": "X = values + 0j",
    "object": "X = values.astype(object)",
    "text": "X = np.round(values, 1).astype(str)",
    "read-only": "X = values; X.setflags(write=False)",
    "big endian": "X = values.astype('>f8')",
    "memory map": "values.tofile('m'); X = np.memmap('m', float, 'r', shape=values.shape)",
    "negative strides": "X = values[::-1, ::-1]",
    "every other": "X = np.repeat(np.repeat(values, 2, axis=0), 2, axis=1)[::2, ::2]",
    "list": "X = values.tolist()",
    "tuple": "X = tuple(map(tuple, values.tolist()))",
    "matrix": "X = np.asmatrix(values)",
    "masked": "X = np.ma.masked_array(values, values > 1)",
    "dates": "X = (np.nan_to_num(values).clip(-1e4, 1e4) * 1000).astype('datetime64[D]')",
    "unaligned": "X = np.frombuffer(b'x' + values.tobytes(), np.uint8)[1:].view(float).reshape(values.shape)",
    "broadcast": "X = np.broadcast_to(values[:1], values.shape)",
}
WRONG = {
    "none": "X = None",
    "a number": "X = 3.0",
    "text": "X = 'table'",
    "one dimension": "X = values.ravel()",
    "three dimensions": "X = values[None]",
    "no rows": "X = values[:0]",
    "no columns": "X = values[:, :0]",
    "one row": "X = values[:1]",
    "ragged": "X = [[1.0, 2.0], [3.0]]",
    "dict": "X = {'a': [1.0, 2.0]}",
    "bytes": "X = values.tobytes()",
    "generator": "X = (row for row in values)",
    "set": "X = {1.0, 2.0}",
    "records": "X = np.zeros(5, dtype=[('a', float), ('b', 'U3')])",
    "objects": "X = np.array([[object(), 1], [2, None]] * 3, dtype=object)",
    "huge whole numbers": "X = np.array([[10**400, 1], [2, 3], [4, 5], [5, 6]], dtype=object)",
    "nested": "X = np.array([[[1], 2.0], [[3], 4.0], [[1, 2], 3.0]], dtype=object)",
}
SPARSE = {
    **{kind: f"X = sp.{kind}(values)" for kind in ("csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array")},
    "coo_array": "X = sp.coo_array(values)",
    "lil_matrix": "X = sp.lil_matrix(values)",
    "dok_array": "X = sp.dok_array(values)",
    "dia_array": "X = sp.dia_array(values)",
    "bsr_array": "X = sp.bsr_array(values)",
    "float32": "X = sp.csr_array(values.astype(np.float32))",
    "integers": "X = sp.csc_array(np.nan_to_num(values).clip(-100, 100).astype(np.int64))",
    "booleans": "X = sp.csr_array(values > 0)",
    "64-bit indices": "X = sp.csr_array(values); X.indices = X.indices.astype(np.int64); "
    "X.indptr = X.indptr.astype(np.int64)",
    "explicit zeros": "X = sp.csr_array(values); X.data[::2] = 0.0",
    "duplicates": "X = sp.coo_array((np.ones(3 * len(values)), (np.tile(np.arange(len(values)), 3), "
    "np.zeros(3 * len(values), int))), shape=values.shape)",
    "duplicates in rows": "X = sp.csr_array((np.ones(2 * len(values)), np.zeros(2 * len(values), int), "
    "np.arange(0, 2 * len(values) + 1, 2)), shape=values.shape)",
    "unsorted": "X = sp.csr_array(values); X.indices[:] = X.indices[::-1].copy(); X.has_sorted_indices = False",
    "read-only": "X = sp.csc_array(values); X.data.setflags(write=False); X.indices.setflags(write=False)",
    "empty": "X = sp.csr_array(values.shape)",
}
DISTANCES = "D = [np.abs(values[:, a][:, None] - values[:, a]) for a in range(values.shape[1])]"
PRECOMPUTED = {
    "list": "X = D",
    "array": "X = np.array(D)",
    "tuple": "X = tuple(D)",
    "callable": "X = lambda a: D[a]",
    "float32": "X = np.array(D, dtype=np.float32)",
    "not symmetric": "X = [np.triu(each) for each in D]",
    "negative": "X = [-each for each in D]",
    "of different sizes": "X = [D[0], D[0][:-1, :-1]]",
    "squared": "X = [each ** 2 for each in D]",
    "with unseen samples": "X = D; X[0][0, :] = X[0][:, 0] = np.nan",
    "one matrix": "X = D[0]",
    "no matrices": "X = []",
}


def values(rng: random.Random, *, wild: bool = True) -> tuple[list[str], int, int]:
    """Return source that makes an array called values, and its shape."""
    n, p = rng.choice((2, 3, 5, 8, 12, 20, 30, 40)), rng.randint(1, 12)
    if not wild:
        n, p = max(n, 12), max(p, 2)

    def filled(text: str) -> str:
        return text.format(
            n=n,
            p=p,
            i=rng.randrange(n),
            j=rng.randrange(p),
            some=rng.randint(1, p),
            few=rng.randint(1, 4),
            number=rng.choice(NUMBERS if wild else NUMBERS[:4]),
            scale=rng.choice(SCALES if wild else ("0.01", "1000.0")),
            share=rng.choice((0.05, 0.2, 0.6)),
            sign=rng.choice(("", "-")),
        )

    content = rng.choice(list(CONTENTS) if wild and rng.random() < 0.4 else USUAL)
    lines = [f"rng = np.random.default_rng({rng.randrange(10**6)})", f"values = {filled(CONTENTS[content])}"]
    count = rng.choice((0, 0, 1, 1, 2, 3)) if wild else rng.choice((0, 0, 0, 1))
    for _ in range(count):
        spoils = list(SPOILS) if wild else MILD
        lines.append(filled(SPOILS[rng.choice(spoils)]))
    return lines, n, p


FORMS = {"dense": 50, "sparse": 15, "frame": 25, "precomputed": 8, "wrong": 4}


def table(rng: random.Random, *, wild: bool = True) -> Table:
    """Return a table of any form; a mild one is meant to be clustered, with few exceptions."""
    lines, n, p = values(rng, wild=wild)
    shares = FORMS if wild else {"dense": 60, "sparse": 10, "frame": 25, "precomputed": 5}
    (group,) = rng.choices(list(shares), list(shares.values()))
    if group == "frame":
        more, words = frame(rng, n, p, wild=wild)
        return Table([*lines, *more], n, p, None, "frame", words)
    if group == "precomputed":
        form = rng.choice(list(PRECOMPUTED) if wild else ("list", "array", "callable"))
        return Table([*lines, DISTANCES, PRECOMPUTED[form]], n, p, "precomputed", f"precomputed {form}")
    if group == "sparse":
        lines.append(f"values[rng.random(values.shape) < {rng.choice((0.2, 0.6, 0.9))}] = 0.0")
    forms = {"dense": DENSE, "sparse": SPARSE, "wrong": WRONG}[group]
    form = rng.choice(list(forms))
    if group == "dense" and rng.random() < 0.4:
        form = "array"
    return Table([*lines, forms[form]], n, p, None, f"{group} {form}")
