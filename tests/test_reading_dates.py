"""Dates are dates in files of every format, and a model takes new samples whatever file they come in."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sparsecluster import SASClustering, load_model, save_model
from sparsecluster._data.dates import FORMS, find_dates, pattern_of, shown_code
from sparsecluster.cli import app
from sparsecluster.io import FileError, formats, read_blocks, read_table
from sparsecluster.io.models import as_dict, read_model
from sparsecluster.io.parts import open_parts

pytestmark = pytest.mark.usefixtures("short_assessments")

DAY = "2024-12-31"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-12-31", DAY),
        ("2024-1-5", "2024-01-05"),
        ("2024-12-31T10:11:12", f"{DAY}T10:11:12"),
        ("2024-12-31 10:11:12.25", f"{DAY}T10:11:12.25"),
        ("2024-12-31T10:11:12Z", f"{DAY}T10:11:12"),
        ("2024-12-31T10:11:12+02:00", f"{DAY}T08:11:12"),
        ("2024-12-31 23:30-0100", "2025-01-01T00:30"),
        ("2024/12/31", DAY),
        ("31.12.2024", DAY),
        ("1.2.2024 14:30", "2024-02-01T14:30"),
        ("31/12/2024", DAY),
        ("12/31/2024", DAY),
        ("12/31/2024 9:05 PM", f"{DAY}T21:05"),
        ("12/31/2024 12:05 am", f"{DAY}T00:05"),
        ("31-12-2024", DAY),
        ("31-Dec-2024", DAY),
        ("31 December 2024", DAY),
        ("Dec 31, 2024", DAY),
        ("december 31 2024", DAY),
        ("Sept 3, 2024", "2024-09-03"),
        ("29.02.2024", "2024-02-29"),
    ],
)
def test_dates_are_found_in_the_forms_in_which_people_write_them(text, moment):
    found = find_dates([text, None, text])
    assert found.odd == ()
    assert found.other is None
    assert found.times[0] == found.times[2] == np.datetime64(moment)
    assert np.isnat(found.times[1])


@pytest.mark.parametrize(
    "text",
    [
        *(
            "20241231",
            "2024",
            "2024-13-01",
            "29.02.2023",
            "31/31/2024",
            "now",
            "12-34-5678",
            "1.2.3",
            "2024-05",
            "12:30",
        ),
        *(
            "2024-12-31T25:00",
            "192.168.1.2024",
            "31.12.24",
            "Foo 31, 2024",
            "a2024-12-31",
            "٢٠٢٤-١٢-٣١",
            "2024-12-31\n",
        ),
    ],
)
def test_other_values_are_not_dates(text):
    assert find_dates([text] * 3) is None


def test_all_values_decide_between_days_and_months():
    assert find_dates(["05/06/2024", "13/06/2024"]).form == "DD/MM/YYYY"
    assert find_dates(["05/06/2024", "06/13/2024"]).form == "MM/DD/YYYY"
    assert find_dates(["05/06/2024", "07/08/2024"]).other == "MM/DD/YYYY"
    assert find_dates(["05/05/2024", "07/07/2024"]).other is None


@pytest.mark.parametrize("form", [*FORMS, "YYYYMMDD", "DD.MM.YY", "YYYY-MM", "mon yyyy"])
def test_a_form_can_be_read(form):
    pattern_of(form)


@pytest.mark.parametrize("form", ["", "DD", "DD/MM", "YYYY-YYYY", "hello", "DD/MM/YYYY(", "YYYY/DD"])
def test_what_is_no_form_is_refused(form):
    with pytest.raises(ValueError, match="DD/MM/YYYY"):
        pattern_of(form)


def test_codes_are_shown_as_dates():
    assert shown_code(-7235.33, "dates") == "1950-03-12"
    assert shown_code(19723 + 61 / 1440, "times") == "2024-01-01 01:01"
    assert shown_code(-1.5, "durations") == "-1 day 12:00"
    assert shown_code(np.nan, "dates") == ""
    assert "1e+12" in shown_code(1e12, "dates")


# ---------------------------------------------------------------- files

N = 60
RNG = np.random.default_rng(1)
GROUP = np.repeat([0, 1], N // 2)
BORN = pd.Series(pd.Timestamp("1940-01-01") + pd.to_timedelta(GROUP * 15000 + RNG.integers(0, 3000, N), "D"))
TABLE = pd.DataFrame({"born": BORN, "size": RNG.normal(size=N) + 4 * GROUP, "color": RNG.choice(["red", "blue"], N)})
TABLE.loc[5, "born"] = pd.NaT
WRITE = {
    "csv": lambda frame, file: frame.to_csv(file, index=False),
    "parquet": lambda frame, file: frame.to_parquet(file),
    "feather": lambda frame, file: frame.to_feather(file),
    "xlsx": lambda frame, file: frame.to_excel(file, index=False),
}


def written(frame, form="%d/%m/%Y"):
    return frame.assign(born=frame["born"].dt.strftime(form))


@pytest.mark.parametrize("make", [lambda frame: frame, written], ids=["dates", "text"])
@pytest.mark.parametrize("ending", WRITE)
def test_a_column_of_dates_is_the_same_from_every_format(tmp_path, ending, make):
    file = tmp_path / f"table.{ending}"
    WRITE[ending](make(TABLE), file)
    loaded = read_table(file)
    assert list(loaded.names) == list(TABLE.columns)
    assert loaded.X["born"].dtype.kind == "M"
    kinds = SASClustering(2).read(loaded.X).reader.kinds
    assert [(kind.name, kind.meaning) for kind in kinds] == [
        ("sqeuclidean", "dates"),
        ("sqeuclidean", "numbers"),
        ("hamming", "numbers"),
    ]
    np.testing.assert_array_equal(loaded.X["born"].to_numpy("M8[us]"), TABLE["born"].to_numpy("M8[us]"))


def test_times_in_zones_and_dates_with_times_do_not_stop_a_fit(tmp_path):
    file = tmp_path / "t.parquet"
    TABLE.assign(born=TABLE["born"].dt.tz_localize("Europe/Berlin")).to_parquet(file)
    kinds = SASClustering(2).read(read_table(file).X).reader.kinds
    assert kinds[0].meaning == "times"
    csv = tmp_path / "t.csv"
    pd.read_parquet(file).to_csv(csv, index=False)
    np.testing.assert_array_equal(
        SASClustering(2).read(read_table(csv).X).source.table.values,
        SASClustering(2).read(read_table(file).X).source.table.values,
    )


@pytest.fixture
def put(tmp_path):
    def make(values):
        file = tmp_path / "t.csv"
        pd.DataFrame({"size": np.linspace(0, 1, len(values)), "born": values}).to_csv(file, index=False)
        return file

    return make


def test_dates_with_two_readings_stay_text_until_the_form_is_given(put):
    file = put(["05/06/2024", "07/08/2024"] * 5)
    loaded = read_table(file)
    assert loaded.X["born"].tolist()[:2] == ["05/06/2024", "07/08/2024"]
    assert "--dates born=DD/MM/YYYY or --dates born=MM/DD/YYYY" in loaded.notes[0]
    with pytest.raises(FileError, match="may be DD/MM/YYYY or MM/DD/YYYY"):
        read_table(file, dates=("born",))
    for form, month in (("DD/MM/YYYY", 6), ("mm/dd/yyyy", 5)):
        assert read_table(file, dates=(f"born={form}",)).X["born"][0].month == month


def test_a_few_words_among_dates_are_told_and_refused_where_dates_are_sure(put):
    file = put(["2024-01-05", "unknown", *[f"2023-0{1 + i % 4}-1{i % 3}" for i in range(60)]])
    loaded = read_table(file)
    assert loaded.X["born"].dtype == object
    assert "'unknown'" in loaded.notes[0]
    with pytest.raises(FileError, match=r"must hold dates.*'unknown'"):
        read_table(file, dates=("born",))


def test_numbers_are_dates_only_where_this_is_said(put):
    file = put([20240131, 20231224, 20220101] * 3)
    assert read_table(file).X["born"].dtype.kind == "i"
    assert read_table(file, dates=("born",)).X["born"][0] == pd.Timestamp("2024-01-31")
    assert read_table(file, dates=("born=YYYYMMDD",)).forms == {"born": "YYYYMMDD"}


def test_a_column_whose_name_has_an_equality_sign_goes_by_its_name(tmp_path):
    file = tmp_path / "t.csv"
    pd.DataFrame({"a": range(5, 10), "born=DD": ["20240131"] * 5}).to_csv(file, index=False)
    assert read_table(file, dates=("born=DD",)).X["born=DD"].dtype.kind == "M"
    with pytest.raises(FileError, match="--dates"):
        read_table(file, dates=("nothing",))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_dates_are_found_in_blocks_and_in_parts(tmp_path, monkeypatch, ending):
    file = tmp_path / f"t.{ending}"
    WRITE[ending](written(TABLE), file)
    whole = read_table(file)
    monkeypatch.setattr(formats, "MOST_AT_ONCE", 10)
    monkeypatch.setattr("sparsecluster.io.streams.MOST_AT_ONCE", 10)
    with read_blocks(file) as stream:
        pd.testing.assert_frame_equal(pd.concat(stream.frames(), ignore_index=True), whole.X)
        assert stream.notes == whole.notes
    parts = open_parts([str(file)])
    parts.check()
    pd.testing.assert_frame_equal(parts.X.compute().reset_index(drop=True), whole.X)
    assert (parts.notes, parts.forms) == (whole.notes, whole.forms)


def test_a_word_among_the_dates_of_a_later_part_is_refused_before_the_work_begins(tmp_path):
    for number, day in enumerate(["2024-01-05"] * 9 + ["unknown"]):
        frame = pd.DataFrame({"size": [1.0, 2.0], "born": ["2024-02-03", day]})
        frame.to_csv(tmp_path / f"part-{number:02d}.csv", index=False)
    with pytest.raises(FileError, match=r"part-09.*must hold dates.*'unknown'"):
        open_parts([str(tmp_path)]).check()


# ---------------------------------------------------------------- models

FIT = {"n_clusters": 2, "n_features_to_select": 2}
FEW = TABLE.iloc[[0, 40, 50]]


@pytest.mark.parametrize("fitted", ["csv", "parquet"])
@pytest.mark.parametrize("given", WRITE)
def test_a_model_takes_the_rows_of_every_format(tmp_path, fitted, given):
    file, model, new = tmp_path / f"fit.{fitted}", tmp_path / "model.json", tmp_path / f"new.{given}"
    WRITE[fitted](TABLE, file)
    estimator = SASClustering(**FIT).fit(read_table(file).X)
    save_model(estimator, model)
    WRITE[given](FEW, new)
    ran = CliRunner().invoke(app, ["predict", str(model), str(new)])
    assert ran.exit_code == 0, ran.output
    labels = [int(line.split(",")[1]) for line in ran.stdout.split()[1:]]
    assert labels == estimator.labels_[FEW.index].tolist()


def test_a_model_keeps_the_form_of_dates_and_reads_few_rows_by_it(tmp_path):
    file, model, new = tmp_path / "fit.csv", tmp_path / "model.json", tmp_path / "new.csv"
    written(TABLE).to_csv(file, index=False)
    loaded = read_table(file)
    save_model(SASClustering(**FIT).fit(loaded.X), model, dates=loaded.forms)
    new.write_text("born,size,color\n05/06/1941,0.1,red\n07/08/1981,4.2,blue\n")
    saved = read_model(model)
    assert read_table(new, like=saved).X["born"].dt.month.tolist() == [6, 8]
    new.write_text("born,size,color\n1941-06-05,0.1,red\n1981-08-07,4.2,blue\n")
    assert read_table(new, like=saved).X["born"].dt.month.tolist() == [6, 8]
    new.write_text("born,size,color\n05/06/1941,0.1,red\n07/08/1981,4.2,blue\n")
    without = saved._replace(dates=None)
    with pytest.raises(FileError, match="--dates born=DD/MM/YYYY"):
        read_table(new, like=without)
    assert read_table(new, like=without, dates=("born=MM/DD/YYYY",)).X["born"].dt.month.tolist() == [5, 7]


def test_the_command_line_fits_dates_in_text_and_predicts_few_rows_and_parts(tmp_path):
    file, result, parts = tmp_path / "fit.csv", tmp_path / "result", tmp_path / "parts"
    written(TABLE).to_csv(file, index=False)
    asked = ["fit", str(file), "-k", "2", "-s", "2", "--no-report", "--no-assess", "-o", str(result)]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 0, ran.output
    labels = pd.read_csv(result / "labels.csv")["cluster"]
    few = written(TABLE)[TABLE["born"].dt.day <= 12]
    few.to_csv(tmp_path / "new.csv", index=False)
    ran = CliRunner().invoke(app, ["predict", str(result / "model.json"), str(tmp_path / "new.csv")])
    assert [int(line.split(",")[1]) for line in ran.stdout.split()[1:]] == labels[few.index].tolist()
    parts.mkdir()
    for number in range(2):
        written(TABLE).iloc[number * 30 : number * 30 + 30].to_csv(parts / f"part-{number}.csv", index=False)
    ran = CliRunner().invoke(app, ["predict", str(result / "model.json"), str(parts), "-o", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    assert pd.read_parquet(tmp_path / "out")["cluster"].tolist() == labels.tolist()


def test_text_that_was_text_in_fit_stays_text_though_new_samples_hold_dates(tmp_path):
    file, new = tmp_path / "model.json", tmp_path / "new.csv"
    days = np.where(GROUP == 0, "2024-01-05", "never")
    save_model(SASClustering(**FIT).fit(TABLE.assign(born=days)), file)
    new.write_text("born,size,color\n2024-01-05,0.1,red\n2024-01-05,0.2,blue\n")
    assert read_table(new, like=read_model(file)).X["born"].tolist() == ["2024-01-05"] * 2


def test_columns_of_a_model_are_features_though_few_new_samples_all_differ(tmp_path):
    file, new = tmp_path / "model.json", tmp_path / "new.csv"
    frame = pd.DataFrame({"color": TABLE["color"], "size": TABLE["size"], "room_id": GROUP})
    save_model(SASClustering(**FIT).fit(frame), file)
    new.write_text("color,size,room_id\nred,0.1,0\nblue,0.2,1\ngreen,0.3,2\n")
    assert list(read_table(new).names) == ["size"]
    assert list(read_table(new, like=read_model(file)).names) == ["color", "size", "room_id"]


def test_an_estimator_takes_text_where_fit_had_dates(tmp_path):
    estimator = SASClustering(**FIT).fit(TABLE)
    as_text = written(TABLE, "%Y-%m-%d")
    np.testing.assert_array_equal(estimator.predict(as_text), estimator.predict(TABLE))
    with pytest.raises(ValueError, match=r"'born' held dates in fit.*may be DD/MM/YYYY or MM/DD/YYYY"):
        estimator.predict(TABLE.iloc[:2].assign(born=["05/06/1941", "07/08/1981"]))
    with pytest.raises(ValueError, match=r"'born' held dates in fit.*'soon'"):
        estimator.predict(TABLE.iloc[:2].assign(born=["1941-05-06", "soon"]))


def test_models_say_which_columns_are_dates_and_others_are_written_as_before(tmp_path):
    estimator = SASClustering(**FIT).fit(TABLE)
    again = load_model(save_model(estimator, tmp_path / "model.json"))
    assert [kind.meaning for kind in again._kept.reader.kinds] == ["dates", "numbers", "numbers"]
    plain = as_dict(SASClustering(**FIT).fit(TABLE[["size"]].assign(b=MORE)))
    assert plain["columns"] == {"all": {"kind": "sqeuclidean", "fields": {}}, "count": 2}


MORE = np.linspace(0, 1, N)
