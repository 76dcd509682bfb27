"""Data frames of pandas, Polars and PyArrow with columns of every type, as Python source."""

from __future__ import annotations

import random

from .names import names

WORDS = "np.array(['red', 'green', 'blue'])[np.arange({n}) * 7 % 3]"
CODES = "rng.integers(0, 3, size={n})"
ANY = {
    "number": "values[:, {a}]",
    "float32": "values[:, {a}].astype(np.float32)",
    "whole": "rng.integers(-5, 5, size={n})",
    "huge whole": "rng.integers(2**62, 2**63 - 1, size={n})",
    "unsigned": "rng.integers(0, 2**64, size={n}, dtype=np.uint64)",
    "bool": "rng.random({n}) < 0.5",
    "word": WORDS + ".tolist()",
    "words with gaps": "[None if i % 5 == 1 else word for i, word in enumerate(" + WORDS + ".tolist())]",
    "identifiers": "['id%d' % i for i in range({n})]",
    "one word": "['same'] * {n}",
    "no value": "[None] * {n}",
    "numbers with gaps": "[None if i % 4 == 1 else float(i % 3) for i in range({n})]",
    "dates": "[datetime.datetime(2020, 1, 1) + datetime.timedelta(days=int(each)) for each in {codes}]",
    "dates with gaps": "[None if i % 4 == 2 else datetime.date(2020, 1, 1 + i % 28) for i in range({n})]",
    "durations": "[datetime.timedelta(hours=int(each)) for each in {codes}]",
    "times": "[datetime.time(int(each)) for each in {codes}]",
    "decimals": "[decimal.Decimal(int(each)) / 3 for each in {codes}]",
    "bytes": "[b'a', b'b'] * ({n} // 2) + [b'a'] * ({n} % 2)",
}
PANDAS = {
    "category": "pd.Categorical.from_codes({codes}, ['a', 'b', 'c'])",
    "category of numbers": "pd.Categorical.from_codes({codes}, [1, 10, 100])",
    "unused levels": "pd.Categorical(['a'] * {n}, ['a', 'b'])",
    "ordered": "pd.Categorical.from_codes({codes}, ['low', 'middle', 'high'], ordered=True)",
    "ordered with gaps": "pd.Categorical.from_codes({codes} - 1, ['low', 'high'], ordered=True)",
    "Int64": "pd.array([None if i % 3 == 1 else i % 5 for i in range({n})], dtype='Int64')",
    "Float64": "pd.array([None if i % 3 == 1 else i % 5 / 2 for i in range({n})], dtype='Float64')",
    "boolean": "pd.array([None if i % 3 == 1 else i % 2 == 0 for i in range({n})], dtype='boolean')",
    "string": "pd.array(" + WORDS + ".tolist(), dtype='string')",
    "arrow": "pd.array([None if i % 3 == 1 else i % 5 for i in range({n})], dtype='int64[pyarrow]')",
    "time zone": "pd.date_range('2020', periods={n}, tz='Europe/Rome')",
    "far dates": "pd.Series(np.array(['0001-01-01', '9999-12-31'] * {n}, 'datetime64[s]')[:{n}])",
    "periods": "pd.period_range('2020', periods={n}, freq='M')",
    "timedelta": "pd.to_timedelta({codes}, unit='D')",
    "intervals": "pd.cut({codes}, [-1, 0, 1, 2])",
    "sparse": "pd.arrays.SparseArray({codes}.astype(float))",
    "mixed": "pd.Series([1, 'a', None, 2.5] * {n}, dtype=object)[:{n}].tolist()",
    "gaps of every kind": "pd.Series([None, np.nan, pd.NA, pd.NaT, 'a', 'b'] * {n}, dtype=object)[:{n}].tolist()",
    "complex": "values[:, {a}] + 1j",
    "huge integers": "pd.Series([10**400, 1, 2] * {n}, dtype=object)[:{n}].tolist()",
    "lists": "pd.Series([[1], [2, 3]] * {n}, dtype=object)[:{n}].tolist()",
    "dicts": "pd.Series([dict(a=1), dict()] * {n}, dtype=object)[:{n}].tolist()",
    "objects": "[object()] * {n}",
    "words and infinity": "pd.Series([np.inf, 1.0, 2.0] * {n}, dtype=object)[:{n}].tolist()",
    "hostile words": "['\\x1b[31m', '<b>', '=1+1', '\\u202e'] * ({n} // 4) + ['<b>'] * ({n} % 4)",
}
POLARS = {
    "categorical": "pl.Series({words}.tolist(), dtype=pl.Categorical)",
    "enum": "pl.Series({words}.tolist(), dtype=pl.Enum(['red', 'green', 'blue']))",
    "lists": "pl.Series([[1], [2, 3]] * {n})[:{n}]",
    "struct": "pl.Series([dict(a=1), dict(a=2)] * {n})[:{n}]",
    "null": "pl.Series([None] * {n}, dtype=pl.Null)",
    "i128": "pl.Series({codes}.tolist(), dtype=pl.Int128)",
    "binary": "pl.Series([b'a', b'b'] * {n})[:{n}]",
    "object": "pl.Series([object()] * {n}, dtype=pl.Object)",
}
ARROW = {
    "dictionary": "pa.array({words}.tolist()).dictionary_encode()",
    "ordered": "pa.DictionaryArray.from_arrays(pa.array({codes}, pa.int32()), ['a', 'b', 'c'], ordered=True)",
    "decimal": "pa.array([decimal.Decimal(i) for i in range({n})], pa.decimal128(20, 2))",
    "interval": "pa.array([(1, 2, 3)] * {n}, pa.month_day_nano_interval())",
    "null": "pa.nulls({n})",
    "list": "pa.array([[1], [2, 3]] * {n})[:{n}]",
    "struct": "pa.array([dict(a=1), dict(a=2)] * {n})[:{n}]",
    "half": "pa.array(np.arange({n}).astype(np.float16))",
    "chunks": "pa.chunked_array([pa.array([1.0, 2.0]), pa.array(np.arange({n} - 2.0))])",
    "view": "pa.array({words}.tolist(), pa.string_view())",
    "run-end": "pa.RunEndEncodedArray.from_arrays(pa.array([{n}], pa.int32()), pa.array([1.0]))",
    "duration": "pa.array({codes}, pa.duration('s'))",
}
LIBRARIES = {
    "pandas": ("pd.DataFrame({{{columns}}})", {**ANY, **PANDAS}),
    "polars": ("pl.DataFrame({{{columns}}}, strict=False)", {**ANY, **POLARS}),
    "pyarrow": ("pa.table({{{columns}}})", {**ANY, **ARROW}),
}
USUAL = ("number", "number", "number", "whole", "word", "bool", "numbers with gaps")
# What a user may do to a frame of pandas, which allows more than the others.
CHANGES = (
    "X.columns = ['same'] * X.shape[1]",
    "X.columns = range(X.shape[1])",
    "X.columns = [('a', i) for i in range(X.shape[1])]",
    "X.columns = pd.MultiIndex.from_tuples([('a', i) for i in range(X.shape[1])])",
    "X.columns = [1.5 * i for i in range(X.shape[1])]",
    "X.columns = [None] * X.shape[1]",
    "X.columns = [0, *X.columns[1:]]",
    "X.index = ['same'] * len(X)",
    "X.index = pd.date_range('2020', periods=len(X))",
    "X.index = pd.MultiIndex.from_tuples([(i, i) for i in range(len(X))])",
    "X = X.iloc[::-1, ::-1]",
    "X.attrs['note'] = 'text'",
    "X = X.iloc[:, :0]",
    "X = X.iloc[:1]",
)
FORMS = {
    "polars": ("X = X.lazy()", "X = X[:1]", "X = pl.concat([X, X], rechunk=False)"),
    "pyarrow": (
        "import pyarrow.dataset; X = pyarrow.dataset.dataset(X)",
        "X = X.to_batches()[0]",
        "X = X.slice(1)",
        "X = pa.concat_tables([X, X])",
    ),
}


def frame(rng: random.Random, n: int, p: int, *, wild: bool = True) -> tuple[list[str], list[str]]:
    """Return source that assigns a data frame to X, made from an array called values, and its column names."""
    library = rng.choice(("pandas", "pandas", "polars", "pyarrow"))
    whole, kinds = LIBRARIES[library]
    called = names(rng, p, hostile=wild and rng.random() < 0.3)
    columns = []
    for a, name in enumerate(called):
        kind = rng.choice(list(kinds) if rng.random() < (0.35 if wild else 0.1) else USUAL)
        words = WORDS.format(n=n)
        columns.append(f"{name!r}: {kinds[kind].format(n=n, a=a, codes=CODES.format(n=n), words=words)}")
    lines = [f"X = {whole.format(columns=', '.join(columns))}"]
    if wild and rng.random() < 0.15:
        lines.append(rng.choice(CHANGES if library == "pandas" else FORMS[library]))
    return lines, called
