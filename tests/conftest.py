"""What several tests start from: a table made into a problem, strictness, the folder of other programs' results."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsecluster._clusterers.kmeans import KMeans
from sparsecluster._features.numeric import NumericFeatures, Source
from sparsecluster._search.climb import Problem

HERE = Path(__file__).parent / "data" / "reference"
BESIDE = Path(__file__).parents[1] / ".." / "shared" / "reference"
SIMULATED = ("gauss", "binary")


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
def strict() -> Iterator[None]:
    """Any warning is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yield
