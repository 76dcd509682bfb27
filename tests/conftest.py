"""What several tests start from: a table made into a problem, strictness, the folder of other programs' results."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from sparsecluster._clusterers.kmeans import KMeans
from sparsecluster._features.numeric import NumericFeatures, Source
from sparsecluster._search.climb import Problem

REFERENCE = Path(__file__).parents[1] / ".." / "shared" / "reference"


class Reference(NamedTuple):
    """Small tables and what R prints for them."""

    folder: Path
    results: list[dict[str, Any]]

    def table(self, name: str) -> np.ndarray:
        return np.loadtxt(self.folder / f"{name}.csv", delimiter=",")

    def result(self, data: str, method: str) -> dict[str, Any]:
        return next(each for each in self.results if each["data"] == data and each["method"] == method)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from the user's cache folder or written there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARSECLUSTER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def reference() -> Reference:
    if not (REFERENCE / "r_reference.json").exists():
        pytest.skip("the results of R to compare with, ../shared/reference, are not here")
    return Reference(REFERENCE, json.loads((REFERENCE / "r_reference.json").read_text()))


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
