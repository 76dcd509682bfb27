"""The contract of a dissimilarity: everything that the package knows about one way to compare the values of a column.

A column is stored as numbers, its codes, with NaN for missing values. One object per column, a `Dissimilarity`, knows
what the codes mean: how values become codes, how samples are compared by them, what a cluster looks like in the column,
and how the column is drawn, described and saved. Nothing else in the package depends on the kind of a column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from ..._features.coordinates import Block
from ..._features.features import Features
from ..._features.matrices import Matrices, MatrixFeatures
from ..._features.units import SMALLEST
from ..._utils.arrays import Floats, Subset, Table
from ..._utils.text import brief
from ..check_matrices import check_matrix
from ..content import Content, is_missing
from ..dates import Meaning, shown_code

Scale = Literal["number", "rank", "level"]
# Number of values on which a dissimilarity is tried out before the work starts.
VALUES_TRIED = 50
# Number of samples whose dissimilarities distinguish two columns with the same codes.
SAMPLES_COMPARED = 10


class Measure(Protocol):
    """Distances of new values of one column to every cluster.

    The distance of sample i to cluster C is its mean dissimilarity to the samples of C, minus half of the mean
    dissimilarity within C:

        d(i, C) = mean_{j in C} delta(i, j) - (1/2) mean_{j, j' in C} delta(j, j').

    For squared differences this is the squared distance to the center. In general, it is the contribution of sample i
    in cluster C to the objective of the paper: its sum over the samples of C is the within of C.
    """

    def __call__(self, new: Any) -> Floats:
        """Distances, of shape (n_new, n_clusters); NaN if the value is missing or the cluster has no observed value."""

    def check(self) -> int:
        """The number of clusters; raises ValueError if the parts are inconsistent, as in a damaged file."""


class Measured(NamedTuple):
    """What the clusters look like in several columns.

    `measures` are the distances to the clusters, `spreads` the mean distances of the samples to a single cluster of all
    samples, and `observed` the numbers of samples in which the columns are observed.
    """

    measures: Sequence[Measure]
    spreads: Floats
    observed: Floats


# A function that makes the features of several columns of one family, which are computed together. Its arguments are
# their dissimilarities, their codes, of shape (n_samples, n_columns), whether to standardize, the factor of each
# column's score, and the feature that each column belongs to.
Family = Callable[[Sequence[Any], Floats, bool, Floats, Subset], Features]


class Dissimilarity(ABC):
    """How samples are compared by one column.

    A subclass implements `learn`, `encode` and `pairs`, and then works everywhere, with all pairs of samples. The other
    members are overridden where something faster or more informative is known. The search works on `features`.

    Attributes
    ----------
    name : str
        The word for `metric=`, which is also used in saved models.
    words : str
        A short description for users.
    can_be_saved : bool
        Whether the object can be stored in a file, as the name of its class and its fields.
    codes_are_names : bool
        Whether codes are only names of levels, so that their numerical values have no meaning.
    keeps_numbers : bool
        Whether numbers are their own codes, so that a numeric table need not be copied.
    is_tried : bool
        Whether `pairs` is tried on a few values before the work starts, since it may not be a dissimilarity.
    scale : {"number", "rank", "level"}
        Whether the codes are numbers, ranks of ordered levels, or names of levels.
    levels : tuple or None
        The values that the codes 0, 1, ... stand for; None if the codes are the values.
    power : int
        The power of `extent` that is the largest dissimilarity.
    meaning : {"numbers", "dates", "times", "durations"}
        What the numbers of the column stand for; `shown` writes them accordingly.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    can_be_saved: ClassVar[bool] = True
    codes_are_names: ClassVar[bool] = False
    keeps_numbers: bool = False
    is_tried: ClassVar[bool] = True
    power: ClassVar[int] = 1

    # ------------------------------------------------------------ reading

    @classmethod
    @abstractmethod
    def learn(cls, content: Content, column: str) -> Self:
        """The dissimilarity for a column with the given content; an error if it cannot compare such values."""

    @abstractmethod
    def encode(self, content: Content, column: str) -> Any:
        """Codes of the values, of shape (n_samples,); NaN for missing values."""

    def encode_new(self, content: Content, column: str) -> Any:
        """New samples in the form in which a `Measure` takes them; by default, their codes."""
        return self.encode(content, column)

    def decode(self, codes: Table) -> Any:
        """The user's own values; None for missing values of a column with levels."""
        return codes if self.levels is None else values_of(codes, self.levels)

    # ------------------------------------------------------------ computing

    @abstractmethod
    def pairs(self, left: Table, right: Table) -> Floats:
        """delta(x, y) for all codes x in `left` and y in `right`, of shape (left.size, right.size); no code is NaN."""

    @staticmethod
    def features(kinds: Sequence[Any], table: Floats, standardize: bool, shares: Floats, owners: Subset) -> Features:
        """The features of several columns of this family; by default, from one matrix of all pairs per column."""
        return pair_features(kinds, table, standardize, shares, owners)

    @staticmethod
    def blocks(kinds: Sequence[Any], table: Floats) -> list[Block]:
        """The coordinates of several columns, if there are any; by default, `block` of one column after the other."""
        return [kind.block(codes) for kind, codes in zip(kinds, table.T, strict=True)]

    def is_squared_difference(self, codes: Table) -> bool:
        """Whether delta(x, y) is (x - y)^2 for these codes, up to a factor."""
        return False

    def tells_apart(self, codes: Table, column: str) -> bool:
        """Whether some of the values differ; an error if the results of `pairs` are not dissimilarities."""
        tried = some_of(codes)
        if tried.size < 2:
            return True
        matrix = self.try_pairs(tried, column)
        check_matrix(matrix, f"The metric of column {brief(column)} on {tried.size} of its values")
        return bool((matrix >= SMALLEST).any())

    def try_pairs(self, tried: Table, column: str) -> Floats:
        """`pairs` of a few values, before anything else is computed, so that errors can be explained."""
        return self.pairs(tried, tried)

    def extent(self, codes: Table) -> float:
        """How far apart the values are: their largest dissimilarity, as far as a few of them show it."""
        tried = some_of(codes)
        return float(np.nanmax(self.pairs(tried, tried)))

    @property
    def comparison(self) -> Hashable:
        """A key that is equal for two columns if they compare codes in the same way."""
        return self.name

    def sort_key(self, codes: Table) -> tuple[str, bytes]:
        """A key by which columns of different kinds are sorted, so that their order in the input does not matter."""
        return self.name, b""

    def measure(self, codes: Any, labels: Any, k: int) -> Measure:
        """Distances to the k clusters of the fitted samples in this column."""
        return PairMeasure.make(self, codes, labels, k)

    @staticmethod
    def measured(kinds: Sequence[Any], columns: Iterable[Any], labels: Any, k: int) -> Measured:
        """The measures of several columns of this family; by default, one column after the other."""
        return measured_alone(kinds, columns, labels, k)

    # ------------------------------------------------------------ showing

    scale: Scale = "number"
    levels: tuple[Any, ...] | None = None
    meaning: Meaning = "numbers"

    def shown(self, value: Any) -> str:
        """A value in the user's units, as `decode` and `center` return it, as text; empty if it is missing."""
        if is_missing(value):
            return ""
        is_number = isinstance(value, float | int | np.number) and not isinstance(value, bool)
        return shown_code(float(value), self.meaning) if is_number else str(value)

    # Whether `center` is the middle of the values by this dissimilarity, so that `cluster_centers_` may show it.
    has_center: ClassVar[bool] = False

    def center(self, codes: Table) -> Any:
        """A typical value in the user's units, the median or the most frequent level; NaN or None without any."""
        observed = codes[~np.isnan(codes)]
        if self.scale == "number":
            return float(np.median(observed)) if observed.size else np.nan
        assert self.levels is not None
        return self.levels[int(np.argmax(np.bincount(observed.astype(int))))] if observed.size else None

    def difference(self, part: Table, codes: Table) -> float:
        """How some values differ from all: by the center of numbers, the mean rank, or the share of their own level."""
        part, codes = part[~np.isnan(part)], codes[~np.isnan(codes)]
        if not part.size:
            return 0.0
        if self.scale == "number":
            return float(self.center(part) - self.center(codes))
        if self.scale == "rank":
            return float(part.mean() - codes.mean())
        most_frequent = np.argmax(np.bincount(part.astype(int)))
        return float((part == most_frequent).mean() - (codes == most_frequent).mean())

    @property
    def draws_codes(self) -> bool:
        """Whether the coordinates are the codes themselves."""
        return self.scale != "level" and type(self).coordinates is Dissimilarity.coordinates

    def coordinates(self, codes: Floats) -> Floats:
        """Coordinates for plots, of shape (n_samples, q), whose squared distances reflect the dissimilarity.

        They are NaN for missing values. By default they are the codes themselves, or indicators of the levels.
        """
        return indicators(codes) if self.scale == "level" else codes[:, None]


def measured_alone(kinds: Sequence[Dissimilarity], columns: Iterable[Any], labels: Any, k: int) -> Measured:
    """The measures of several columns, each made by its own dissimilarity."""
    measures, spreads, observed = [], [], []
    for kind, codes in zip(kinds, columns, strict=True):
        apart = kind.measure(codes, np.zeros_like(labels), 1)(codes)[:, 0]
        seen = apart[~np.isnan(apart)]
        measures.append(kind.measure(codes, labels, k))
        spreads.append(float(seen.mean()))
        observed.append(seen.size)
    return Measured(measures, np.array(spreads), np.array(observed, dtype=np.float64))


def distinct_kinds(kinds: Sequence[Dissimilarity]) -> list[Dissimilarity]:
    """Every object among the dissimilarities of columns only once: very many columns may share it."""
    return [kinds[0]] if all_same(kinds) else list({id(kind): kind for kind in kinds}.values())


def all_same(values: Sequence[Any]) -> bool:
    """Whether all values are equal to the first one. Very many columns take no time if they share one object."""
    return values.count(values[0]) == len(values)


# ---------------------------------------------------------------- by all pairs


def pair_features(
    kinds: Sequence[Dissimilarity], table: Floats, standardize: bool, shares: Floats, owners: Subset
) -> Features:
    """Features of columns that are compared pair by pair, with one n x n matrix per column."""
    observed = ~np.isnan(table)
    n, q = table.shape

    def read(j: int) -> Floats:
        matrix = np.full((n, n), np.nan)
        places = np.flatnonzero(observed[:, j])
        codes = table[places, j]
        matrix[np.ix_(places, places)] = kinds[j].pairs(codes, codes)
        return matrix

    incomplete = frozenset(np.flatnonzero(~observed.all(axis=0)).tolist())
    matrices = Matrices(read, q, n, incomplete, computed=True)
    return MatrixFeatures(matrices, np.arange(q), standardize, shares, owners)


@dataclass(frozen=True)
class PairMeasure:
    """Mean dissimilarity to the values of the cluster, minus half of the mean over their pairs."""

    kind: Dissimilarity
    members: Sequence[Any]
    halves: Sequence[float]

    @classmethod
    def make(cls, kind: Dissimilarity, codes: Table, labels: Any, k: int) -> Self:
        """The measure for the codes and labels of `fit`."""
        members = observed_by_cluster(codes, labels, k)
        halves = [float(kind.pairs(each, each).mean()) / 2 if each.size else np.nan for each in members]
        return cls(kind, members, halves)

    def __call__(self, new: Any) -> Floats:
        observed = np.flatnonzero(~missing_in(new))
        apart = np.full((new.size, len(self.members)), np.nan)
        with np.errstate(over="ignore"):
            for c, (members, half) in enumerate(zip(self.members, self.halves, strict=True)):
                if members.size and observed.size:
                    apart[observed, c] = self.kind.pairs(new[observed], members).mean(axis=1) - half
        infinite = np.flatnonzero(np.isinf(apart).any(axis=1))
        if infinite.size:
            raise ValueError(
                f"The metric gives an infinite dissimilarity between the new value {new[infinite[0]]} and those of "
                "fit. Replace the value, use NaN if it is missing, or change the metric."
            )
        return apart

    def check(self) -> int:
        if not isinstance(self.kind, Dissimilarity) or len(self.members) != len(self.halves):
            raise ValueError("the members of the clusters do not match their dissimilarity")
        return len(self.members)


def some_of(codes: Table) -> Table:
    """A few different values, from the smallest to the largest, so that the order of the rows makes no difference."""
    observed = np.unique(codes[~np.isnan(codes)])
    places = np.linspace(0, observed.size - 1, min(observed.size, VALUES_TRIED)).astype(int)
    return np.asarray(observed[np.unique(places)])


def observed_by_cluster(codes: Table, labels: Any, k: int) -> list[Any]:
    """The observed values of each cluster."""
    observed = ~np.isnan(codes)
    return [codes[observed & (labels == c)] for c in range(k)]


def missing_in(values: Any) -> Any:
    """Which values of an array of numbers or objects are missing."""
    return np.array(list(map(is_missing, values)), bool) if values.dtype == object else np.isnan(values)


# ---------------------------------------------------------------- levels


def values_of(codes: Table, levels: tuple[Any, ...]) -> Any:
    """The levels that the codes stand for; None for missing values."""
    places = np.where(np.isfinite(codes), codes, len(levels)).astype(int)
    return np.array([*levels, None], dtype=object)[places]


def indicators(codes: Floats) -> Floats:
    """One column per level, of shape (n_samples, n_levels), NaN for missing values.

    The columns are scaled so that the squared distance of two different levels is 1.
    """
    # A column without any value has one column of NaN, so that every column is drawn by something.
    levels = np.unique(codes[~np.isnan(codes)]) if not np.isnan(codes).all() else np.zeros(1)
    table = (codes[:, None] == levels) / np.sqrt(2.0)
    table[np.isnan(codes)] = np.nan
    return np.asarray(table)


# ---------------------------------------------------------------- registration

KINDS: dict[str, type[Dissimilarity]] = {}
MEASURES: dict[str, type[Any]] = {PairMeasure.__name__: PairMeasure}
K = TypeVar("K", bound=type[Dissimilarity])


def register(*names: str, measures: Sequence[type[Any]] = ()) -> Callable[[K], K]:
    """Register a dissimilarity under one or more words for `metric=`.

    Parameters
    ----------
    *names : str
        The words. The first becomes the `name` of the class, under which it is also saved.
    measures : sequence of classes, default=()
        The dataclasses that its `measure` returns, so that models with them can be saved.
    """

    def of(cls: K) -> K:
        cls.name = names[0]
        KINDS.update(dict.fromkeys(names, cls))
        MEASURES.update({each.__name__: each for each in measures})
        return cls

    return of
