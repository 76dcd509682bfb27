"""Columns that identify rows are no features, whatever the format; what was decided is told, and can be overridden."""

import numpy as np
import pandas as pd
import pytest

from sparsecluster import SASClustering
from sparsecluster.io import FileError, formats, read_blocks, read_table
from sparsecluster.io._columns import is_code, numbers_rows, says_id, words_of
from sparsecluster.io.parts import open_parts

N = 40
RNG = np.random.default_rng(0)
UNIQUE = RNG.choice(10**6, N, replace=False)
COUNTED = np.arange(N)
MEASURED = RNG.normal(size=N)


def numbers(name, values, first_column=False):
    return numbers_rows(name, first_column=first_column, values=lambda _: pd.Series(values))


@pytest.mark.parametrize(
    "name",
    [
        *("id", "ID", "Id", "customer_id", "customerId", "CustomerID", "patient id", "sample.id", "id_ref", "ID_2"),
        *(
            "uuid",
            "GUID",
            "record key",
            "barcode",
            "customerid",
            "passengerId",
            "invoice no",
            "order_number",
            "Patient-Nr",
        ),
    ],
)
def test_names_of_identifiers_with_different_whole_numbers_identify_rows(name):
    assert numbers(name, UNIQUE)
    assert numbers(name, UNIQUE.astype(float))


@pytest.mark.parametrize(
    "name",
    [
        *("humid", "paid", "acid", "covid", "solid", "identity", "grid", "valid", "fluid", "Madrid", "candid", "idea"),
        *("cell number", "number_of_children", "platelet number", "copy_number", "body mass index", "nose", "keyboard"),
        *("income", "rowing", "no", "index", "row", "number", "x1", "gene_id_count"),
    ],
)
def test_names_that_only_look_like_identifiers_do_not_identify_rows(name):
    assert not numbers(name, UNIQUE)


@pytest.mark.parametrize("name", ["index", "row", "rownum", "no", "Nr", "number", "#", "Unnamed: 0", "obs"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_count_of_the_rows_identifies_them_if_the_name_fits(name, first):
    assert numbers(name, COUNTED + first)
    assert not numbers(name, COUNTED[::-1])
    assert not numbers(name, COUNTED + 5)


@pytest.mark.parametrize("name", ["day", "time", "dose", "year", "t", "x0", "age"])
def test_a_count_under_another_name_is_a_measurement(name):
    assert not numbers(name, COUNTED)


def test_the_first_column_of_a_file_without_header_may_count_the_rows():
    assert numbers("x0", COUNTED, first_column=True)
    assert not numbers("x0", COUNTED[:9], first_column=True)


def test_fractions_and_few_values_identify_nothing():
    assert not numbers("id", MEASURED)
    assert not numbers("region_id", COUNTED % 5)
    assert numbers("customer_id", np.arange(3000) // 2)


def test_few_whole_numbers_under_the_name_of_an_identifier_are_codes():
    assert is_code("region_id", lambda _: pd.Series(COUNTED % 5))
    assert is_code("zip", lambda _: pd.Series(UNIQUE))
    assert not is_code("has_id", lambda _: pd.Series(COUNTED % 2))
    assert not is_code("age", lambda _: pd.Series(COUNTED))


def test_words_are_divided_at_signs_and_capitals():
    assert words_of("CustomerID") == words_of("customer-id") == words_of("customer id 3") == ["customer", "id"]
    assert says_id("sampleID")
    assert not says_id("")


# ---------------------------------------------------------------- files

TABLE = pd.DataFrame(
    {
        "age": MEASURED,
        "customer_id": UNIQUE,
        "region_id": COUNTED % 5,
        "comment": [f"comment {i}" for i in range(N)],
        "city": [("Bonn", "Rome", "Oslo")[i % 3] for i in range(N)],
    }
)
WRITE = {
    "csv": lambda frame, file: frame.to_csv(file, index=False),
    "parquet": lambda frame, file: frame.to_parquet(file),
    "feather": lambda frame, file: frame.to_feather(file),
    "xlsx": lambda frame, file: frame.to_excel(file, index=False),
}


@pytest.fixture
def put(tmp_path):
    def make(frame, ending="csv"):
        file = tmp_path / f"table.{ending}"
        WRITE[ending](frame, file)
        return file

    return make


def used(loaded):
    return {other.name: other.use for other in loaded.others}


@pytest.mark.parametrize("ending", WRITE)
def test_identifiers_and_text_without_repeats_are_left_out_of_files_of_every_format(put, ending):
    loaded = read_table(put(TABLE, ending))
    assert list(loaded.names) == ["age", "region_id", "city"]
    assert used(loaded) == {"customer_id": "left out", "comment": "left out"}
    assert any("'customer_id' is an identifier" in note and "--keep customer_id" in note for note in loaded.notes)
    assert any("'comment' is text" in note and "--keep comment" in note for note in loaded.notes)
    assert any("--metric region_id=hamming" in note for note in loaded.notes)
    assert "--metric region_id=hamming" in loaded.advice["region_id"]


def test_other_columns_are_described_with_their_places(put):
    loaded = read_table(put(TABLE.assign(comment=TABLE["comment"].where(COUNTED > 3))), truth="city", drop=("age",))
    age, customer, comment, city = loaded.others
    assert [each.place for each in loaded.others] == [0, 1, 3, 4]
    assert (customer.values, customer.missing, customer.example) == (N, 0.0, str(UNIQUE[0]))
    assert (comment.values, comment.missing, comment.example) == (N - 4, 0.1, "comment 4")
    assert (age.use, city.use) == ("left out", "truth")
    assert all(each.why.endswith(".") for each in loaded.others)


@pytest.mark.parametrize("ending", WRITE)
def test_an_identifier_in_the_first_column_names_the_rows(put, ending):
    loaded = read_table(put(TABLE[["customer_id", "age", "city"]], ending))
    assert list(loaded.ids) == [str(each) for each in UNIQUE]
    assert used(loaded) == {"customer_id": "id"}


def test_what_is_kept_is_a_feature_and_text_is_a_category(put):
    loaded = read_table(put(TABLE), keep=("customer_id", "comment"))
    assert list(loaded.names) == list(TABLE.columns)
    assert loaded.others == ()
    SASClustering(2, n_features_to_select=2).read(loaded.X)
    first = read_table(put(TABLE[["customer_id", "age"]]), keep=("customer_id",))
    assert list(first.names) == ["customer_id", "age"]
    with pytest.raises(ValueError, match="like names or identifiers"):
        SASClustering(2).read(TABLE)


def test_columns_to_keep_must_exist_and_be_used(put):
    for option, words in (
        ({"keep": ("comnent",)}, "Did you mean 'comment'"),
        ({"drop": ("age",), "keep": ("age",)}, "age"),
    ):
        with pytest.raises(FileError, match=words):
            read_table(put(TABLE), **option)


def test_where_no_column_is_left_the_error_says_which_could_be_kept(put):
    with pytest.raises(FileError, match=r"'customer_id' contains the row names.*--keep comment"):
        read_table(put(TABLE[["customer_id", "comment"]]))


def test_an_identifier_with_repeats_or_missing_values_does_not_name_the_rows(put):
    frame = TABLE[["customer_id", "age"]].astype({"customer_id": "Int64"})
    frame.loc[3, "customer_id"] = pd.NA
    loaded = read_table(put(frame))
    assert used(loaded) == {"customer_id": "left out"}
    assert list(loaded.ids[:2]) == ["0", "1"]


# ---------------------------------------------------------------- blocks and parts


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "columns", [list(TABLE.columns), ["customer_id", "age", "city"], ["region_id", "age", "customer_id"]]
)
def test_tables_in_blocks_and_in_parts_have_the_decisions_of_the_whole(put, monkeypatch, ending, columns):
    file = put(TABLE[columns], ending)
    whole = read_table(file)
    monkeypatch.setattr(formats, "MOST_AT_ONCE", 10)
    monkeypatch.setattr("sparsecluster.io.streams.MOST_AT_ONCE", 10)
    with read_blocks(file) as stream:
        assert stream is not None
        assert (list(stream.ids), list(stream.names)) == (list(whole.ids), list(whole.names))
        assert (stream.others, stream.notes, stream.advice) == (whole.others, whole.notes, whole.advice)
    parts = open_parts([str(file)])
    assert parts.names == list(whole.names)
    assert {other.name: other.use for other in parts.others} == used(whole)
    assert parts.notes == whole.notes
    assert {(other.values, other.missing) for other in parts.others} <= {(None, None)}


def test_text_that_is_kept_is_a_category_in_parts(put):
    parts = open_parts([str(put(TABLE))], keep=("comment",))
    assert parts.table["comment"].dtype == "category"
    assert parts.X["comment"].compute().tolist() == TABLE["comment"].tolist()
