"""The benchmarks measure what they say: every line of speed, and every part of a profile."""

import doctest
import re

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from benchmarks import instructions, profile, r_programs, report, speed, timeline
from benchmarks.timeline import Event, Share, shares_of
from sparsecluster import SASClustering
from sparsecluster._features.numeric import NumericFeatures
from sparsecluster._kernels import select

X = np.random.default_rng(0).normal(size=(30, 12))


def fit():
    return SASClustering(n_clusters=3, n_features_to_select=4).fit(X)


# ---------------------------------------------------------------- speed


def test_speed_has_every_size_and_work_once():
    lines = [(line.n, line.p, line.work) for line in speed.LINES]
    assert len(lines) == len(set(lines)) == 22
    assert {(n, p) for n, p, _ in lines} == {(90, 1000), (90, 100), (300, 200), (3000, 200)}


def test_as_published_uses_all_samples_and_one_start():
    for line in speed.LINES:
        if "as published" in line.work:
            assert line.parameters["subsample"] is None
            assert line.parameters["n_init"] == 1


def test_every_line_has_a_program_in_r_and_is_measured_without_r_too(monkeypatch):
    works = set(re.findall(r"^  (\w+) = ", r_programs.SCRIPT.read_text(), re.MULTILINE))
    assert works == {line.plain.function.__name__ for line in speed.LINES}
    monkeypatch.delenv(r_programs.FOLDER, raising=False)
    r_programs.programs.cache_clear()
    assert r_programs.run_r("sas_given", X, 1, 1.0) is None


def test_a_measurement_stops_when_it_has_taken_long_enough():
    ticks = iter(range(100))
    calls = []
    assert report.seconds_of(lambda: calls.append(next(ticks)), 9, clock=lambda: float(next(ticks)), enough=3.0) == 2.0
    assert len(calls) == 2


# ---------------------------------------------------------------- profile


def test_the_time_inside_other_events_is_counted_once():
    step, other = ("gram", timeline.GRAM), ("read", timeline.READING)
    million = 10**6
    events = [Event(step, 2 * million, 4 * million), Event(step, 5 * million, 6 * million)]
    events += [Event(other, 1 * million, 9 * million), Event(step, 10 * million, 11 * million)]
    found = shares_of(events)
    assert found == {"gram": Share(timeline.GRAM, 3, 4.0), "read": Share(timeline.READING, 1, 5.0)}
    assert shares_of(events, cost=1000.0)["gram"].milliseconds == pytest.approx(4.0 - 0.003)


def test_every_kernel_that_a_fit_enters_is_recorded_and_everything_is_put_back():
    before = dict(vars(NumericFeatures)), SASClustering.read
    fit()
    found = shares_of(timeline.recorded(fit))
    assert {share.column for share in found.values()} <= set(timeline.COLUMNS)
    assert "read" + timeline.OUTSIDE in found
    assert sum(not name.endswith(timeline.OUTSIDE) for name in found) > 3
    assert "__call__" not in vars(CPUDispatcher)
    assert (dict(vars(NumericFeatures)), SASClustering.read) == before


def test_timing_does_not_change_the_fit():
    kept = []
    timeline.recorded(lambda: kept.append(fit()))
    np.testing.assert_array_equal(kept[0].labels_, fit().labels_)


def test_kernels_of_unknown_files_are_other_kernels():
    assert timeline.column_of(timeline.nothing) == timeline.OTHER
    assert timeline.column_of(select.largest) == timeline.SELECTION
    assert timeline.column_of(select.take_columns) == timeline.KMEANS


def test_the_columns_of_a_profile_add_up_to_the_fit():
    found = profile.Profile(10.0, {"a": Share(timeline.SCORES, 2, 1.5), "b": Share(timeline.OTHER, 1, 2.5)})
    assert list(found.by_column()) == list(timeline.COLUMNS)
    assert sum(found.by_column().values()) == 10.0
    assert found.by_column()[timeline.PYTHON] == 6.0


# ---------------------------------------------------------------- instructions

DUMP = """
positions: line
events: Ir
ob=(1) /usr/bin/python3.11
fn=(1) main
10 5
cob=(2) ???
cfn=(2) kernel
calls=3 0
12 600
+1 7
ob=(2)
fn=(2)
0 600
ob=(3) /x/numpy/core/multiarray.so
* 4
"""


def test_instructions_are_counted_where_they_are_spent():
    assert instructions.by_part(DUMP) == {"Python": 12, "kernels": 600, "NumPy": 4}


def test_examples_are_true():
    assert doctest.testmod(instructions) == (0, 1)
    assert doctest.testmod(speed) == (0, 1)
