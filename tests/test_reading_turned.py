"""Tables with features in rows are read as they are meant, and true groups may come from a file of their own."""

import numpy as np
import pandas as pd
import pytest

from sparsecluster._data.names import DefaultNames
from sparsecluster.io import FileError, formats, read_blocks, read_table, read_truth

RNG = np.random.default_rng(0)
GENES = 1200
LEVELS = RNG.normal(8, 2, GENES)
SAMPLES = [f"GSM{a}" for a in range(10)]
VALUES = pd.DataFrame(LEVELS[:, None] + RNG.normal(size=(GENES, 10)) / 2, columns=SAMPLES)
BESIDE = pd.DataFrame(
    {
        "gene": [f"g{i}" for i in range(GENES)],
        "description": [f"protein {i}" for i in range(GENES)],
        "chromosome": [*["1"] * 19, "X"] * (GENES // 20),
        "entrez_id": RNG.choice(10**6, GENES, replace=False),
    }
)
TABLE = pd.concat([BESIDE, VALUES], axis=1)


@pytest.fixture
def put(tmp_path):
    def make(frame, name="t.csv"):
        file = tmp_path / name
        if isinstance(frame, str):
            file.write_text(frame)
        else:
            frame.to_csv(file, index=False)
        return file

    return make


# ---------------------------------------------------------------- features in rows


def test_columns_of_the_file_can_be_left_out_of_a_table_that_is_turned(put):
    small = TABLE[["gene", "description", *SAMPLES]]
    loaded = read_table(put(small), transpose=True, id_column="gene", drop=("description",))
    assert loaded.X.shape == (10, GENES)
    assert list(loaded.ids) == SAMPLES
    assert list(loaded.names[:2]) == ["g0", "g1"]
    np.testing.assert_allclose(loaded.X.to_numpy(), VALUES.to_numpy().T)
    assert [(each.name, each.use, each.place) for each in loaded.others] == [
        ("gene", "id", 0),
        ("description", "left out", 1),
    ]


def test_a_name_that_is_no_column_may_be_a_feature(put):
    loaded = read_table(put(TABLE), transpose=True, drop=("description", "g3", "GSM4"))
    assert loaded.X.shape == (9, GENES - 1)
    assert "g3" not in loaded.names
    with pytest.raises(FileError, match="Did you mean 'chromosome'"):
        read_table(put(TABLE), transpose=True, drop=("chromosom",))


def test_text_and_identifiers_beside_the_values_are_left_out_with_a_note(put):
    loaded = read_table(put(TABLE), transpose=True)
    assert loaded.X.shape == (10, GENES)
    assert {each.name: each.use for each in loaded.others} == {
        "gene": "id",
        "description": "left out",
        "chromosome": "left out",
        "entrez_id": "left out",
    }
    assert any("'description', 'chromosome' contain text" in note for note in loaded.notes)
    assert any("'entrez_id' contains identifiers" in note for note in loaded.notes)


def test_repeated_names_of_features_are_numbered_and_told(put):
    frame = pd.DataFrame({"gene": ["a", "b", "a", "c", "b", "a"], "s1": range(6), "s2": range(6)})
    for option in ({}, {"id_column": "gene"}):
        loaded = read_table(put(frame), transpose=True, **option)
        assert list(loaded.names) == ["a", "b", "a.1", "c", "b.1", "a.2"]
        assert any("feature names 'a', 'b' are repeated" in note for note in loaded.notes)


def test_a_single_word_among_the_numbers_of_a_sample_is_a_mistake(put):
    frame = pd.DataFrame({"gene": ["a", "b", "c"], "s1": ["1", "2", "o"], "s2": range(3)})
    with pytest.raises(FileError, match="column 's1' contains text"):
        read_table(put(frame), transpose=True)


def test_a_feature_without_a_name_is_refused(put):
    frame = pd.DataFrame({"gene": ["a", None, "c"], "s1": range(3), "s2": range(3)})
    with pytest.raises(FileError, match="name of a feature in every row; 1 of 3"):
        read_table(put(frame), transpose=True)


# ---------------------------------------------------------------- a forgotten --transpose

HINT = "use --transpose"


def hinted(loaded):
    return any(HINT in note for note in loaded.notes)


def test_a_table_that_looks_turned_is_told(put, monkeypatch):
    file = put(TABLE[["gene", *SAMPLES]])
    loaded = read_table(file)
    assert hinted(loaded)
    assert "1,200 rows and 10 columns" in next(note for note in loaded.notes if HINT in note)
    monkeypatch.setattr(formats, "MOST_AT_ONCE", 10)
    monkeypatch.setattr("sparsecluster.io.streams.MOST_AT_ONCE", 10)
    with read_blocks(file) as stream:
        assert hinted(stream)
    assert not hinted(read_table(file, transpose=True))


def test_counts_of_reads_look_turned_as_well(put):
    counts = pd.DataFrame(RNG.poisson(np.exp(LEVELS)[:, None] * RNG.uniform(0.5, 2, 10)), columns=SAMPLES)
    assert hinted(read_table(put(pd.concat([BESIDE[["gene"]], counts], axis=1))))


ORDINARY = {
    "few rows": TABLE[["gene", *SAMPLES]].iloc[:500],
    "rows without names": VALUES,
    "columns without relation": BESIDE[["gene"]].join(pd.DataFrame(RNG.normal(size=(GENES, 10)))),
    "ratings": BESIDE[["gene"]].join(pd.DataFrame(RNG.integers(1, 6, (GENES, 10)))),
    "different scales": BESIDE[["gene"]].join(VALUES * 10.0 ** np.arange(10)),
    "a category among the columns": TABLE[["gene", "chromosome", *SAMPLES]].replace({"chromosome": {"1": "Y"}}),
    "few columns": TABLE[["gene", *SAMPLES[:3]]],
}


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_tall_tables_are_not_told_to_be_turned(put, kind):
    assert not hinted(read_table(put(ORDINARY[kind])))


# ---------------------------------------------------------------- true groups in a file

IDS = ["s0", "s1", "s2"]


def test_groups_are_found_by_ids_in_any_order_and_other_rows_are_ignored(put):
    file = put("sample,kind\ns2,c\nother,x\ns0,a\ns1,b\n")
    groups, notes = read_truth(file, IDS)
    assert groups.tolist() == ["a", "b", "c"]
    assert "1 row for other samples, which is ignored: 'other'" in notes[0]


def test_the_ids_may_be_numbers_in_any_column(put):
    groups, notes = read_truth(put("kind,number\na,12\nb,11\n"), ["11", "12"])
    assert groups.tolist() == ["b", "a"]
    assert notes == []


def test_one_column_in_the_same_order_is_accepted(put):
    for ids in (IDS, DefaultNames(3, "")):
        groups, notes = read_truth(put("kind\n1\n2\n1\n"), ids)
        assert groups.tolist() == ["1", "2", "1"]
        assert "same order" in notes[0]


def test_the_column_may_be_named_after_a_colon(put):
    file = put("sample,kind,age\ns0,a,1\ns1,b,2\ns2,a,3\n")
    assert read_truth(f"{file}:kind", IDS)[0].tolist() == ["a", "b", "a"]
    assert read_truth(file, IDS, "age")[0].tolist() == ["1", "2", "3"]
    strange = put("sample,kind\ns0,a\ns1,b\ns2,a\n", "t:1.csv")
    assert read_truth(strange, IDS)[0].tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("sample,kind\ns0,a\ns1,b\n", "1 of 3 are not in its column 'sample': 's2'"),
        ("sample,kind\ns0,a\ns1,b\ns2,c\ns0,b\n", "two groups for 's0': 'a' and 'b'"),
        ("sample,kind\ns0,a\ns1,\ns2,b\n", "1 of 3 are missing"),
        ("sample,kind,age\ns0,a,1\ns1,b,2\ns2,c,3\n", "it has 'kind', 'age'. Name the column, as in t.csv:kind"),
        ("kind\na\nb\n", "2 rows for 3 samples"),
        ("sample\ns0\ns1\ns2\n", "it has none"),
    ],
)
def test_what_is_wrong_with_a_file_of_groups_is_told(put, content, words):
    with pytest.raises(FileError) as refused:
        read_truth(put(content), IDS)
    assert words in str(refused.value)


def test_a_repeated_id_with_the_same_group_is_no_problem(put):
    assert read_truth(put("sample,kind\ns0,a\ns1,b\ns2,c\ns0,a\n"), IDS)[0].tolist() == ["a", "b", "c"]


def test_a_column_of_groups_that_there_is_not_is_refused(put):
    with pytest.raises(FileError, match="no column 'size'; its columns are 'sample', 'kind'"):
        read_truth(put("sample,kind\ns0,a\n"), ["s0"], "size")
