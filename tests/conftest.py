"""Fixtures: a table made into a problem, results of other programs, less work, and strictness."""

from __future__ import annotations

import gc
import importlib
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sparsecluster._clusterers.kmeans import KMeans
from sparsecluster._features.numeric import NumericFeatures, Source
from sparsecluster._search.climb import Problem
from sparsecluster.methods import _screening, plain

HERE = Path(__file__).parent / "data" / "reference"
BESIDE = Path(__file__).parents[1] / ".." / "shared" / "reference"
SIMULATED = ("gauss", "binary", "simfuse", "null60x20", "proclus")

# Thousands of tests are collected, and none goes away before the end. Without this, Python would look through all of
# them again and again, to see whether they can be freed.
gc.disable()


def pytest_collection_finish() -> None:
    """What is there now is not looked through any more; what the tests make is freed as ever."""
    # Its plugins look for objects that they would not find once these are frozen.
    importlib.import_module("hypothesis")
    gc.collect()
    gc.freeze()
    gc.enable()


class Reference:
    """Small tables and what other programs make of them: see data/README.md."""

    def table(self, name: str) -> np.ndarray:
        (file,) = folder_of(name).glob(f"{name}.csv*")
        return np.loadtxt(file, delimiter=",")

    def results(self, data: str, method: str) -> list[dict[str, Any]]:
        """All results of a function of R."""
        return [each for each in stored("r_reference.json", data) if each["method"] == method]

    def result(self, data: str, method: str) -> dict[str, Any]:
        """The only result of a function of R."""
        (only,) = self.results(data, method)
        return only

    def ifpca(self, data: str) -> dict[str, Any]:
        """The result of the MATLAB code of Jin and Wang."""
        (only,) = stored("ifpca_reference.json", data)
        return only

    def proclus(self, data: str) -> list[dict[str, Any]]:
        """All runs of PROCLUS in R, with samples (0 for outliers, then from 1) and dimensions (from 1)."""
        every = json.loads((HERE / "proclus_reference.json").read_text())["results"]
        return [each for each in every if each["data"] == data]

    def varsel(self, data: str, criterion: str) -> list[dict[str, Any]]:
        """The results of VarSelLCM by one of its criteria, for every number of clusters."""
        return [each for each in stored("varsel_reference.json", data) if each["method"] == criterion]

    def choices(self, method: str) -> list[dict[str, Any]]:
        """All choices of the number of clusters by a function of another program."""
        every = json.loads((HERE / "k_reference.json").read_text())
        return [each for each in every if each["method"] == method]

    def sigclust(self, data: str, estimate: str) -> dict[str, Any]:
        """The result of SigClust in R with one of its estimates of the covariance."""
        folder, number = folder_of(data), ("soft", "sample", "hard").index(estimate) + 1
        file = "sigclust_reference.json" if folder == HERE else "methods/honest.json"
        every = json.loads((folder / file).read_text())["sigclust"]
        (only,) = [each for each in every if each["data"].startswith(data) and each["icovest"] == number]
        return only


def stored(file: str, data: str) -> list[dict[str, Any]]:
    return [each for each in json.loads((folder_of(data) / file).read_text()) if each["data"] == data]


def folder_of(data: str) -> Path:
    """Results on simulated data are kept here; those on real data may lie beside the project."""
    if data.startswith(SIMULATED):
        return HERE
    if not BESIDE.exists():
        pytest.skip(f"results of other programs on {data} are read from ../shared/reference, which is not here")
    return BESIDE


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from the user's cache folder or written there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARSECLUSTER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small tables use threads too; gives how many were started each time, besides the one that asks for results."""
    from sparsecluster._utils import parallel

    seen, pool = [], parallel.ThreadPoolExecutor

    def watched(n_threads: int) -> Any:
        seen.append(n_threads)
        return pool(n_threads)

    monkeypatch.setattr(parallel, "ThreadPoolExecutor", watched)
    monkeypatch.setattr(parallel, "THREADS_PAY", 0)
    return seen


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """One browser for all modules that look at pages, since each would wait for its own."""
    from tests.helpers.browser import started

    made = started()
    yield made
    made.quit()


@pytest.fixture(scope="session")
def nursery() -> Iterator[Any]:
    """Runs commands in processes of their own, for which the libraries are loaded once."""
    if not hasattr(os, "fork"):
        pytest.skip("commands are run in forked processes, which this system does not have")
    from tests.helpers.commands import Nursery

    made = Nursery()
    yield made
    made.close()


@pytest.fixture(scope="session")
def reference() -> Reference:
    return Reference()


@pytest.fixture(scope="session")
def features_of() -> Callable[..., NumericFeatures]:
    def make(table: np.ndarray, standardize: bool = True) -> NumericFeatures:
        return NumericFeatures(Source(table, *map(np.arange, table.shape), standardize))

    return make


@pytest.fixture(scope="session")
def problem_of(features_of: Callable[..., NumericFeatures]) -> Callable[..., Problem]:
    def make(table: np.ndarray, k: int, **options: Any) -> Problem:
        return Problem(features_of(table), KMeans(), k, **options)

    return make


@pytest.fixture
def less_work(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Fewer starts, and fewer simulated samples, kept in a folder where nobody takes them for all of them."""
    monkeypatch.setattr(plain, "STARTS", 5)
    monkeypatch.setattr(_screening, "N_NULL", 4000)
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path_factory.getbasetemp() / "short-null"))


@pytest.fixture
def short_assessments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands assess with fewer copies and repeats what they have fitted; what is tested does not depend on them."""
    pytest.importorskip("typer")
    from sparsecluster.cli import assess

    monkeypatch.setattr(assess, "SHORT_PLAN", {**assess.SHORT_PLAN, "n_copies": 19, "n_repeats": 1})


@pytest.fixture
def one_thread() -> Iterator[None]:
    """On small tables, the threads of scikit-learn only wait for each other."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture
def strict() -> Iterator[None]:
    """Any warning is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yield
