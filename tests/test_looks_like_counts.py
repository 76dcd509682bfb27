"""Which tables look like counts of genes, so that a fit without the preset gets a note."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sparsecluster.preprocessing import looks_like_counts
from tests.helpers.cells import cells


def frame_of(X):
    return pd.DataFrame(X).add_prefix("gene")


@pytest.mark.parametrize("make", [np.asarray, frame_of, sp.csr_matrix, sp.csc_array, lambda X: X.astype(np.float32)])
def test_tables_of_counts_look_like_counts(make):
    counts, _ = cells(p=600)
    rng = np.random.default_rng(0)
    bulk = rng.poisson(rng.lognormal(4, 1.5, 600) * rng.lognormal(0, 0.3, (40, 1)))
    assert looks_like_counts(make(counts))
    assert looks_like_counts(make(bulk))


def test_missing_values_do_not_hide_counts():
    counts = cells(p=600)[0].astype(float)
    counts[::3, ::5] = np.nan
    assert looks_like_counts(counts)


RNG = np.random.default_rng(0)
WIDE = cells(p=600)[0]
OTHERS = {
    "answers of a survey": RNG.integers(0, 6, (80, 600)),
    "answers that are mostly zero": RNG.binomial(5, 0.1, (80, 600)),
    "ratings from 0 to 10": RNG.integers(0, 11, (80, 600)),
    "zeros and ones": np.eye(600)[RNG.integers(0, 600, 80)],
    "true and false": RNG.random((80, 600)) < 0.1,
    "pixels": np.where(RNG.random((80, 784)) < 0.8, 0, RNG.integers(0, 256, (80, 784))),
    "few columns": WIDE[:, :499],
    "logarithms": np.log1p(WIDE),
    "some below zero": WIDE - 1,
    "equal totals": np.array([RNG.permutation(WIDE[0]) for _ in range(80)]),
    "words in a column": frame_of(WIDE).assign(tissue="skin"),
    "words only": np.array([["a"] * 600] * 3),
    "categories": frame_of(RNG.integers(0, 9, (80, 600))).astype("category"),
    "nothing but zeros": np.zeros((80, 600)),
    "nothing but missing values": np.full((80, 600), np.nan),
    "no samples": np.zeros((0, 600)),
    "a row": np.arange(600),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_tables_do_not_look_like_counts(kind, strict):
    assert not looks_like_counts(OTHERS[kind])
