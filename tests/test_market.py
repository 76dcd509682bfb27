"""Matrix Market files: what SciPy writes is read, and whatever is damaged is refused by name."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sparsecluster.io import FileError, read_table

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.5, size=(12, 7))
SQUARE = RNG.normal(size=(6, 6)).round(3)
MATRICES = {
    "whole numbers": sp.coo_array(COUNTS),
    "numbers": sp.coo_array(COUNTS * np.pi),
    "nothing but zeros": sp.coo_array((12, 7)),
    "symmetric": sp.coo_array(SQUARE + SQUARE.T),
    "skew-symmetric": sp.coo_array(SQUARE - SQUARE.T),
    "all values": COUNTS * np.pi,
    "all values, symmetric": SQUARE + SQUARE.T,
    "all values, skew-symmetric": SQUARE - SQUARE.T,
}


@pytest.mark.parametrize("kind", MATRICES)
def test_what_scipy_writes_is_read(tmp_path, kind):
    file = tmp_path / "matrix.mtx"
    scipy.io.mmwrite(file, MATRICES[kind], comment="made by a test\nof two lines")
    expected = MATRICES[kind] if isinstance(MATRICES[kind], np.ndarray) else MATRICES[kind].toarray()
    np.testing.assert_array_equal(read_table(file).X.toarray(), expected)
    (tmp_path / "matrix.mtx.gz").write_bytes(gzip.compress(file.read_bytes()))
    np.testing.assert_array_equal(read_table(tmp_path / "matrix.mtx.gz").X.toarray(), expected)


def test_a_pattern_has_ones_and_entries_at_the_same_place_add_up(tmp_path):
    file = tmp_path / "matrix.mtx"
    file.write_text("%%MatrixMarket matrix coordinate pattern general\n\n% note\n3 2 3\n1 1\n\n% more\n3 2\n3 2\n")
    np.testing.assert_array_equal(read_table(file).X.toarray(), [[1, 0], [0, 0], [0, 2]])


HEAD = "%%MatrixMarket matrix coordinate real general\n"
DAMAGED = {
    "empty": "",
    "no header": "1 1 1\n1 1 1\n",
    "complex numbers": "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n",
    "no sizes": HEAD,
    "sizes of too many digits": HEAD + "9" * 30 + " 2 1\n1 1 1\n",
    "negative sizes": HEAD + "-2 2 1\n1 1 1\n",
    "too few sizes": HEAD + "2 2\n1 1 1\n",
    "no rows": HEAD + "0 2 0\n",
    "more entries than it can hold": HEAD + "9 9 80\n1 1 1\n",
    "far more rows than it can hold": HEAD + "300000000 3 1\n1 1 1\n",
    "fewer entries than it says": HEAD + "9 9 3\n1 1 1\n2 2 2\n",
    "more entries than it says": HEAD + "9 9 2\n1 1 1\n2 2 2\n3 3 3\n",
    "a row that is not there": HEAD + "3 3 2\n1 1 1\n4 1 1\n",
    "a column before the first": HEAD + "3 3 2\n1 1 1\n1 0 1\n",
    "a number that ends in the middle": HEAD + "3 3 2\n1 1 1\n2 2 1e",
    "an entry without a value": HEAD + "3 3 2\n1 1 1\n2 2\n",
    "an entry with too many values": HEAD + "3 3 2\n1 1 1\n2 2 1 7\n",
    "all entries with too many values": HEAD + "3 3 2\n1 1 1 7\n2 2 1 7\n",
    "a position that is not whole": HEAD + "3 3 2\n1 1 1\n2.5 2 1\n",
    "a position of too many digits": HEAD + "3 3 2\n1 1 1\n" + "9" * 30 + " 2 1\n",
    "a position that no whole number can be": HEAD + "3 3 2\n1 1 1\n1e308 2 1\n",
    "a whole number that is none": HEAD.replace("real", "integer") + "3 3 2\n1 1 1\n2 2 1e308\n",
    "a word": HEAD + "3 3 2\n1 1 1\n2 2 x\n",
    "a value that is not a number": HEAD + "3 3 2\n1 1 1\n2 2 nan\n",
    "a quotation mark": HEAD + '3 3 2\n1 1 "1\n2 2 1\n',
    "a zero byte": HEAD + "3 3 2\n1 1 1\0\n2 2 1\n",
    "a symmetric matrix that is not square": "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n",
    "an array of a pattern": "%%MatrixMarket matrix array pattern general\n2 2\n1\n1\n1\n1\n",
    "an array with too few values": "%%MatrixMarket matrix array real general\n2 2\n1\n1.000000\n1\n",
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_refused_by_name(tmp_path, kind):
    file = tmp_path / "matrix.mtx"
    file.write_text(DAMAGED[kind])
    with pytest.raises(FileError, match=r"matrix\.mtx"):
        read_table(file)
