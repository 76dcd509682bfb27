"""The simulated null is made once and kept; what is damaged is made again, and what cannot be kept costs only time."""

from __future__ import annotations

import io
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from sparsecluster import IFPCA, ScreenedClustering
from sparsecluster._utils.cache import cache_folder, cached
from sparsecluster.methods import _screening
from sparsecluster.methods._screening import ks_statistics, kurtosis, null_statistics, screen, skewness

SHAPE = (50, 2)
N = 12


class Made:
    """An array, and how often it was made."""

    def __init__(self, seed=0):
        self.array = np.random.default_rng(seed).random(SHAPE)
        self.times = 0

    def __call__(self):
        self.times += 1
        return self.array


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache folder, which is not there yet."""
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path / "a" / "cache"))
    return tmp_path / "a" / "cache"


@pytest.fixture
def small_null(monkeypatch):
    monkeypatch.setattr(_screening, "N_NULL", 2000)


def stored(array, **options):
    """The bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


UNPICKLED: list[str] = []


class Trap:
    """Unpickled, it leaves a mark."""

    def __reduce__(self):
        return leave_mark, ("seen",)


def leave_mark(word):
    UNPICKLED.append(word)


GOOD = stored(Made().array)
DAMAGED = {
    "empty": b"",
    "not an array": b"this is not a file of numpy",
    "cut off in the numbers": GOOD[:-9],
    "cut off in the header": GOOD[:40],
    "cut off in the magic": GOOD[:3],
    "another shape": stored(np.zeros((2, 50))),
    "flat": stored(np.zeros(100)),
    "a single number": stored(np.float64(1.0)),
    "single precision": stored(np.zeros(SHAPE, np.float32)),
    "whole numbers": stored(np.zeros(SHAPE, int)),
    "words": stored(np.full(SHAPE, "a")),
    "NaN": stored(np.where(np.arange(100).reshape(SHAPE) == 7, np.nan, 1.0)),
    "infinity": stored(np.where(np.arange(100).reshape(SHAPE) == 7, np.inf, 1.0)),
    "objects": stored(np.full(SHAPE, 1.0, dtype=object), allow_pickle=True),
    "a pickle": pickle.dumps(np.zeros(SHAPE)),
    "zeros": bytes(len(GOOD)),
    "a header that promises too much": GOOD.replace(b"(50, 2), }" + b" " * 10, b"(500000000000, 2), }"),
    "an archive": b"PK\x03\x04" + GOOD,
    "an empty archive": b"PK\x05\x06" + bytes(18),
}


# ---------------------------------------------------------------- once


def test_an_array_is_made_once_and_then_read(folder):
    make = Made()
    first, second = (cached("some-name", SHAPE, make) for _ in range(2))
    assert make.times == 1
    np.testing.assert_array_equal(first, make.array)
    np.testing.assert_array_equal(second, make.array)
    assert [file.name for file in folder.iterdir()] == ["some-name.npy"]


def test_arrays_of_different_names_are_different(folder):
    cached("one", SHAPE, Made(1))
    np.testing.assert_array_equal(cached("two", SHAPE, Made(2)), Made(2).array)
    np.testing.assert_array_equal(cached("one", SHAPE, Made(3)), Made(1).array)


def test_the_null_is_simulated_once_for_each_number_of_samples_and_statistic(folder, small_null):
    calls = []

    def counted(statistic):
        return lambda table: (calls.append(len(table)), statistic(table))[1]

    for _ in range(2):
        null_statistics("ks", N, counted(ks_statistics))
        null_statistics("moments", N, counted(skewness), counted(kurtosis))
        null_statistics("ks", N + 1, counted(ks_statistics))
    assert calls == [N, N, N, N + 1]
    assert len(list(folder.iterdir())) == 3


def test_the_null_is_the_same_kept_or_not_and_whoever_asks(folder, small_null, monkeypatch):
    first = null_statistics("ks", N, ks_statistics)
    np.random.seed(5)  # noqa: NPY002  (the user's own seed must not matter)
    kept = null_statistics("ks", N, ks_statistics)
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(folder / "other"))
    again = null_statistics("ks", N, ks_statistics)
    np.testing.assert_array_equal(kept, first)
    np.testing.assert_array_equal(again, first)
    assert not np.array_equal(null_statistics("ks", N + 1, ks_statistics), first)


def test_a_null_of_another_size_is_not_taken_for_this_one(folder, monkeypatch):
    for count in (1000, 2000):
        monkeypatch.setattr(_screening, "N_NULL", count)
        assert null_statistics("ks", N, ks_statistics).shape == (count, 1)


def test_nulls_simulated_in_many_blocks_have_all_their_samples(folder, small_null, monkeypatch):
    monkeypatch.setattr(_screening, "BLOCK_VALUES", 7 * N)
    null = null_statistics("ks", N, ks_statistics)
    assert null.shape == (2000, 1)
    assert np.unique(null).size == 2000


def test_p_values_are_the_same_whether_the_null_was_kept(folder, small_null):
    table = np.random.default_rng(0).normal(size=(N, 30))
    for test in ("ks", "moments", "mode"):
        first, second = (screen(table, test).p_values for _ in range(2))
        np.testing.assert_array_equal(first, second)


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_made_again_and_replaced(folder, damage):
    folder.mkdir(parents=True)
    (folder / "name.npy").write_bytes(DAMAGED[damage])
    make = Made()
    for _ in range(2):
        np.testing.assert_array_equal(cached("name", SHAPE, make), make.array)
    assert make.times == 1
    assert (folder / "name.npy").read_bytes() == GOOD


def test_no_byte_of_the_header_can_be_damaged_so_that_a_fit_fails(folder):
    """Every byte before the numbers, turned into others that mean something there."""
    folder.mkdir(parents=True)
    failed = {}
    for place in range(len(GOOD) - 8 * Made().array.size):
        for byte in b"\x00 '(),0{}\xff":
            damaged = bytearray(GOOD)
            damaged[place] = byte
            (folder / "name.npy").write_bytes(damaged)
            try:
                assert cached("name", SHAPE, Made()).shape == SHAPE
            except Exception as error:
                failed[place, chr(byte)] = repr(error)
    assert failed == {}


def test_a_file_is_never_unpickled(folder):
    folder.mkdir(parents=True)
    file, traps = folder / "name.npy", np.empty(SHAPE, dtype=object)
    traps[:] = Trap()
    for content in (stored(traps, allow_pickle=True), pickle.dumps(Trap())):
        file.write_bytes(content)
        np.load(file, allow_pickle=True)
        assert UNPICKLED != []
        UNPICKLED.clear()
        make = Made()
        np.testing.assert_array_equal(cached("name", SHAPE, make), make.array)
        assert make.times == 1
        assert UNPICKLED == []


# ---------------------------------------------------------------- no place to keep it


def left_over(folder):
    return [file.name for file in folder.iterdir() if file.suffix != ".npy"]


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path, monkeypatch):
    """A file where the folder should be: not even the superuser can write there."""
    (tmp_path / "file").write_text("not a folder")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("SPARSECLUSTER_CACHE", str(place))
        make = Made()
        for _ in range(2):
            np.testing.assert_array_equal(cached("name", SHAPE, make), make.array)
        assert make.times == 2
    assert (tmp_path / "file").read_text() == "not a folder"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_where_saving_breaks_off_nothing_stays_behind_and_only_an_interruption_is_heard(folder, monkeypatch, error):
    def broken(descriptor):
        raise error

    # The last step before a file gets its name.
    monkeypatch.setattr("os.fsync", broken)
    make = Made()
    if error is OSError:
        np.testing.assert_array_equal(cached("name", SHAPE, make), make.array)
    else:
        with pytest.raises(KeyboardInterrupt):
            cached("name", SHAPE, make)
    assert list(folder.iterdir()) == []


def test_where_the_file_cannot_be_put_in_its_place_nothing_stays_behind(folder):
    (folder / "name.npy").mkdir(parents=True)
    make = Made()
    for _ in range(2):
        np.testing.assert_array_equal(cached("name", SHAPE, make), make.array)
    assert left_over(folder) == []


@pytest.mark.parametrize("rows", [50, 50_000])
def test_a_disk_that_is_full_leaves_nothing_behind(folder, rows):
    """A small array waits in a buffer, so that the disk says no only when the file is closed."""
    resource = pytest.importorskip("resource")
    array = np.random.default_rng(0).random((rows, 2))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        found = cached("name", array.shape, lambda: array)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    np.testing.assert_array_equal(found, array)
    assert list(folder.iterdir()) == []


# ---------------------------------------------------------------- where the folder is


def test_the_folder_is_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache_folder() == tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/sparsecluster"),
        ({}, "/home/someone/.cache/sparsecluster"),
        ({"XDG_CACHE_HOME": ""}, "/home/someone/.cache/sparsecluster"),
    ],
)
def test_without_the_variable_the_folder_is_where_the_system_keeps_such_things(monkeypatch, variables, expected):
    for name in ("SPARSECLUSTER_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/someone", **variables}.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


def test_a_user_without_a_home_can_still_fit(monkeypatch, tmp_path):
    """As in containers that run under a user number without an account."""
    pwd = pytest.importorskip("pwd")
    for name in ("SPARSECLUSTER_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    make = Made()
    np.testing.assert_array_equal(cached("name", SHAPE, make), make.array)
    assert (tmp_path / "temporary" / "sparsecluster" / "name.npy").is_file()
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.parametrize("estimator", [ScreenedClustering(2), IFPCA(2)], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("verbose", [True, False])
def test_the_simulation_is_shown_if_it_is_asked_for(estimator, verbose, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path))
    X = np.random.default_rng(0).normal(size=(40, 6))
    X[:20, :3] += 5.0
    clone(estimator).set_params(verbose=verbose).fit(X)
    assert ("null distribution for 40 samples" in capsys.readouterr().err) is verbose
