"""The contract of a dissimilarity: everything that the package knows about one way to compare the values of a column.

A column is stored as numbers, its codes, with NaN where a value is missing. What the codes mean is known to one object
per column, a `Dissimilarity`: how values become codes, how samples are compared by them, what a cluster looks like in
the column, and how the column is drawn, described and saved. Nothing else in the package asks of which kind a column is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np

from ..._features.base import Features, Floats, Subset, Table
from ..._features.matrices import Matrices, MatrixFeatures
from ..check_matrices import check_matrix
from ..content import Content

Scale = Literal["number", "rank", "level"]
# Values on which a dissimilarity is tried out before the work starts.
VALUES_TRIED = 50
# Samples whose dissimilarities tell two columns with the same codes apart.
SAMPLES_COMPARED = 10


class Measure(Protocol):
    """Distances of new values of one column to every cluster.

    The distance of a sample to cluster C is its mean dissimilarity to the samples of C less half of their own,

        d(i, C) = mean_{j in C} delta(i, j) - (1/2) mean_{j, j' in C} delta(j, j'),

    which for squared differences is the squared distance to the center, and in each case what the objective of the
    paper charges for sample i in cluster C. Its sum over the samples of C is the within of C.
    """

    def __call__(self, new: Any) -> Floats:
        """Distances, n_new x k; NaN where the value is missing or the cluster has no observed value."""

    def check(self) -> int:
        """The number of clusters; raises ValueError if the parts do not fit together, as in a damaged file."""


# Makes the features of several columns of one family, which are computed together: their dissimilarities, their codes
# (n x q), whether to standardize, the share of each column in its feature, and the feature that each belongs to.
Family = Callable[[Sequence[Any], Floats, bool, Floats, Subset], Features]


class Dissimilarity(ABC):
    """How one column compares samples.

    A subclass that only says what `pairs` gives works everywhere, by way of all pairs of samples. The other members
    exist to be overridden where something faster or more telling is known: `features` is what the search sees.
    """

    # The word for `metric=`, also used in saved models, and a description for people.
    name: ClassVar[str]
    words: ClassVar[str]
    # Whether values can be kept in a file together with the class's name.
    can_be_saved: ClassVar[bool] = True
    # Whether codes are only names of levels, so that no number means anything by itself.
    codes_are_names: ClassVar[bool] = False
    # Whether numbers are their own codes, so that a table of numbers needs no copy.
    keeps_numbers: bool = False

    # ------------------------------------------------------------ reading

    @classmethod
    @abstractmethod
    def learn(cls, content: Content, column: str) -> Self:
        """The dissimilarity of a column that holds `content`; an error if the two do not fit."""

    @abstractmethod
    def encode(self, content: Content, column: str) -> Any:
        """Codes of the values, of shape (n_samples,); NaN where they are missing."""

    def encode_new(self, content: Content, column: str) -> Any:
        """What `measure` takes of new samples; by default their codes."""
        return self.encode(content, column)

    def decode(self, codes: Table) -> Any:
        """The user's own values."""
        return codes

    # ------------------------------------------------------------ computing

    @abstractmethod
    def pairs(self, left: Table, right: Table) -> Floats:
        """delta(x, y) for all codes x in `left` and y in `right`, none of them missing."""

    @staticmethod
    def features(kinds: Sequence[Any], table: Floats, standardize: bool, shares: Floats, owners: Subset) -> Features:
        """The features of several columns of this family; by default from one matrix of all pairs per column."""
        return pair_features(kinds, table, standardize, shares, owners)

    def is_squared_difference(self, codes: Table) -> bool:
        """Whether delta(x, y) is (x - y)^2 of these codes, up to a factor."""
        return False

    def tells_apart(self, codes: Table, column: str) -> bool:
        """Whether some of the values differ; an error if what is computed is not a dissimilarity."""
        observed = np.unique(codes[~np.isnan(codes)])
        # From the smallest to the largest, so that the order of the rows makes no difference.
        tried = observed[np.unique(np.linspace(0, observed.size - 1, min(observed.size, VALUES_TRIED)).astype(int))]
        if tried.size < 2:
            return True
        matrix = self.try_pairs(tried, column)
        check_matrix(matrix, f"The metric of column {column!r} on {tried.size} of its values")
        return bool((matrix > 0).any())

    def try_pairs(self, tried: Table, column: str) -> Floats:
        """`pairs` of a few values, for the first time."""
        return self.pairs(tried, tried)

    @property
    def comparison(self) -> Hashable:
        """What two columns that compare their codes in the same way have in common."""
        return self.name

    def sort_key(self, codes: Table) -> tuple[str, bytes]:
        """What puts columns of different kinds in an order that does not depend on how they arrive."""
        return self.name, b""

    def measure(self, codes: Any, labels: Any, k: int) -> Measure:
        """What the clusters look like in this column."""
        return PairMeasure.make(self, codes, labels, k)

    # ------------------------------------------------------------ showing

    # Whether the codes are numbers, ranks of ordered levels or names of levels; and the values that codes 0, 1, ...
    # stand for, None if the codes are the values.
    scale: Scale = "number"
    levels: tuple[Any, ...] | None = None

    def center(self, codes: Table) -> Any:
        """The middle of some values, as people read it; None if there is none."""
        return None

    @property
    def has_center(self) -> bool:
        """Whether `center` has a meaning."""
        return type(self).center is not Dissimilarity.center

    def coordinates(self, codes: Floats) -> Floats:
        """Coordinates for pictures, n x q, whose squared distances stand for the dissimilarity; NaN where missing."""
        return codes[:, None]


# ---------------------------------------------------------------- by all pairs


def pair_features(
    kinds: Sequence[Dissimilarity], table: Floats, standardize: bool, shares: Floats, owners: Subset
) -> Features:
    """Features of columns that are compared pair by pair, one n x n matrix each."""
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
    """Mean dissimilarity to the values of the cluster, less half of its mean over their pairs."""

    kind: Dissimilarity
    members: Sequence[Any]
    halves: Sequence[float]

    @classmethod
    def make(cls, kind: Dissimilarity, codes: Table, labels: Any, k: int) -> Self:
        """From the codes of `fit`."""
        members = observed_by_cluster(codes, labels, k)
        halves = [float(kind.pairs(each, each).mean()) / 2 if each.size else np.nan for each in members]
        return cls(kind, members, halves)

    def __call__(self, new: Table) -> Floats:
        observed = np.flatnonzero(~np.isnan(new))
        apart = np.full((new.size, len(self.members)), np.nan)
        for c, (members, half) in enumerate(zip(self.members, self.halves, strict=True)):
            if members.size and observed.size:
                apart[observed, c] = self.kind.pairs(new[observed], members).mean(axis=1) - half
        return apart

    def check(self) -> int:
        if not isinstance(self.kind, Dissimilarity) or len(self.members) != len(self.halves):
            raise ValueError("the members of the clusters do not fit their dissimilarity")
        return len(self.members)


def observed_by_cluster(codes: Table, labels: Any, k: int) -> list[Any]:
    """The observed values of each cluster."""
    observed = ~np.isnan(codes)
    return [codes[observed & (labels == c)] for c in range(k)]


# ---------------------------------------------------------------- registration

KINDS: dict[str, type[Dissimilarity]] = {}
MEASURES: dict[str, type[Any]] = {PairMeasure.__name__: PairMeasure}
K = TypeVar("K", bound=type[Dissimilarity])


def register(*names: str, measures: Sequence[type[Any]] = ()) -> Callable[[K], K]:
    """Make a dissimilarity known by one or more words for `metric=`; the first is the one it is saved under.

    Parameters
    ----------
    *names : str
        The words. The class gets the first of them as its `name`.
    measures : sequence of classes, default=()
        Dataclasses that its `measure` returns, so that models that hold them can be saved.
    """

    def of(cls: K) -> K:
        cls.name = names[0]
        KINDS.update(dict.fromkeys(names, cls))
        MEASURES.update({each.__name__: each for each in measures})
        return cls

    return of
