"""Bugs to plant in a method, to see whether the campaign finds them and calls them by the right name."""

from __future__ import annotations

import ctypes
import itertools
import time
import warnings

import numpy as np

from fuzz import worker
from fuzz.areas import AREAS, Area, api
from fuzz.make.tables import Table
from sparsecluster import SASClustering

FIT = SASClustering.fit
MOST_GROWTH = 2**28
counted = itertools.count()
PLAIN = ["rng = np.random.default_rng(0)", "X = rng.normal(size=(20, 4)) + 6.0 * (np.arange(20) % 2)[:, None]"]


def honest(self, X, y=None):
    return FIT(self, X)


def segfault(self, X, y=None):
    ctypes.string_at(0)


def hang(self, X, y=None):
    time.sleep(1000)


def hog(self, X, y=None):
    if next(counted) == 0:
        np.ones(MOST_GROWTH // 4)
    return FIT(self, X)


def out_of_memory(self, X, y=None):
    raise MemoryError


def division(self, X, y=None):
    return 1 / 0


def several_lines(self, X, y=None):
    raise ValueError("X is wrong.\nVery wrong.")


def not_a_number(self, X, y=None):
    FIT(self, X)
    self.feature_scores_[0] = np.nan
    return self


def out_of_range(self, X, y=None):
    FIT(self, X)
    self.labels_[0] = 7
    return self


def change(self, X, y=None):
    X[0, 0] += 1.0
    return FIT(self, X)


def warn(self, X, y=None):
    warnings.warn("overflow encountered in square", RuntimeWarning, stacklevel=1)
    return FIT(self, X)


def restless(self, X, y=None):
    FIT(self, X)
    self.feature_scores_ = self.feature_scores_ / (1 + next(counted))
    return self


# Every bug with the kind of finding that it must be. One worker waits for the end of the first while another one runs
# the others, and a worker has to be started again after each of those at the end.
BUGS = {
    hang: "hang",
    honest: None,
    division: "traceback",
    several_lines: "traceback",
    not_a_number: "non-finite",
    out_of_range: "wrong result",
    change: "changed input",
    warn: "RuntimeWarning",
    restless: "unequal",
    segfault: "crash",
    out_of_memory: "memory",
    hog: "memory",
}


def run(case, number):
    """Fit the method with one of the bugs."""
    global counted
    counted = itertools.count()
    SASClustering.fit = list(BUGS)[number]
    try:
        given = {"n_features_to_select": "2", "n_init": "2"}
        estimator = "sparsecluster.SASClustering(2, n_features_to_select=2, n_init=2)"
        api.attack(case, Table(PLAIN, 20, 4), estimator, given, thorough=True)
    finally:
        SASClustering.fit = FIT


PLANTED = Area(run, 1, 1, "planted bugs", 20.0)


def plant():
    """Add the bugs as an area of the campaign, and lower the limit of memory, so that no machine is in trouble."""
    AREAS["planted"] = PLANTED
    worker.MOST_GROWTH = MOST_GROWTH
