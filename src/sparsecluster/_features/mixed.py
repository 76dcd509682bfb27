"""Several kinds of features side by side, and columns that are chosen together as one feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._kernels.order import shuffle_columns
from .._utils.arrays import Floats, Labels, Subset
from .alone import pairs_labels
from .features import Coordinates, Features, dissimilarity
from .likelihood import Likelihood


class MixedFeatures(Features):
    """Features made of members, where the members are the features of several parts.

    Feature j of parts[m] is member places[m][j], and member b belongs to feature owners[b]. The dissimilarity of a
    feature is the sum of those of its members, and its share is the sum of theirs.
    """

    def __init__(self, parts: Sequence[Features], places: Sequence[Subset], owners: Subset) -> None:
        self.parts, self.places = tuple(parts), tuple(places)
        self.owners = tuple(owners[each] for each in places)
        self._all_owners = owners
        self.n_samples = parts[0].n_samples
        members = np.bincount(owners)
        self.n_features = members.size
        self._single = members == 1
        self.has_rows = len(parts) == 1 and parts[0].has_rows
        self.has_missing = any(part.has_missing for part in parts)
        self.shares = self._by_member([part.shares for part in parts])
        self._best_scores: dict[int, Floats] = {}
        # For a permuted copy: the features it was made from, and the seed.
        self._origin: tuple[MixedFeatures, int] | None = None

    @property
    def total(self) -> Floats:
        return self._by_member([part.total for part in self.parts])

    def by_member(self, values: Floats) -> Floats:
        return values[self._all_owners]

    def _by_member(self, of_parts: Sequence[Floats]) -> Floats:
        values = np.empty(self._all_owners.size)
        for places, each in zip(self.places, of_parts, strict=True):
            values[places] = each
        return values

    def _members(self, subset: Subset) -> list[Subset]:
        """For each part, those of its features that belong to a subset of the features."""
        chosen = np.zeros(self.n_features, bool)
        chosen[subset] = True
        return [np.flatnonzero(chosen[owner]) for owner in self.owners]

    def _together(self, of_parts: Sequence[Floats]) -> Floats:
        together = np.zeros(self.n_features)
        for owner, values in zip(self.owners, of_parts, strict=True):
            np.add.at(together, owner, values)
        return together

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        return self._together([part.scores(labels, n_clusters) for part in self.parts])

    def explained(self, labels: Labels, n_clusters: int) -> Floats:
        return self._together([part.explained(labels, n_clusters) for part in self.parts])

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        sizes = np.bincount(self._all_owners)
        parts = zip(self.parts, self.owners, strict=True)
        found = [part.likelihood(labels, n_clusters, sizes[owner]) for part, owner in parts]
        return Likelihood(
            self._together([each.gains for each in found]), self._together([each.parameters for each in found])
        )

    def _counted(self, subset: Subset, weights: Floats | None) -> list[Floats | None]:
        """For each part, the weight of each member of a subset of the features."""
        if weights is None:
            return [None] * len(self.parts)
        of_all = np.zeros(self.n_features)
        of_all[subset] = weights
        members = zip(self.owners, self._members(subset), strict=True)
        return [of_all[owner[chosen]] for owner, chosen in members]

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        chosen = zip(self.parts, self._members(subset), self._counted(subset, weights), strict=True)
        given = [(part, *part.seen_pairs(own, counted), own, counted) for part, own, counted in chosen if own.size]
        total = np.zeros((self.n_samples, self.n_samples))
        for _, similarity, *_ in given:
            total += dissimilarity(similarity) if self.has_missing else similarity
        if not self.has_missing:
            return total, None
        seen = np.zeros_like(total)
        for part, _, known, own, counted in given:
            seen += np.sum(part.shares[own] * (1.0 if counted is None else counted)) if known is None else known
        return -total / 2, seen

    def pair_sums(self, counts: Floats) -> Floats:
        # With missing values in a group, observed members make up for missing ones, which a single part cannot know.
        if self.has_missing and not self._single.all():
            return super().pair_sums(counts)
        return self._together([part.pair_sums(counts) for part in self.parts])

    def rows(self, subset: Subset, weights: Floats | None = None) -> Coordinates:
        (members,), (counted,) = self._members(subset), self._counted(subset, weights)
        return self.parts[0].rows(members, counted)

    def level_rows(self, subset: Subset, weights: Floats | None = None) -> Any:
        (members,), (counted,) = self._members(subset), self._counted(subset, weights)
        return self.parts[0].level_rows(members, counted)

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            best = self._together([part.univariate(n_clusters) for part in self.parts])
            for feature in np.flatnonzero(~self._single).tolist():
                labels = self.univariate_labels(feature, n_clusters)
                best[feature] = self.scores(labels, n_clusters)[feature]
            self._best_scores[n_clusters] = best
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        subset = np.array([feature])
        if self._origin is not None:
            # The labels found on the data, permuted like the feature: a new search might find other clusters.
            origin, seed = self._origin
            places = np.arange(self.n_samples)[:, None]
            shuffle_columns(places, subset, np.uint64(seed))
            return origin.univariate_labels(feature, n_clusters)[places[:, 0]]
        if not self._single[feature]:
            return pairs_labels(self.pairs(subset), n_clusters)
        part, members = next(each for each in zip(self.parts, self._members(subset), strict=True) if each[1].size)
        return part.univariate_labels(int(members[0]), n_clusters)

    def release(self) -> None:
        for part in self.parts:
            part.release()

    def permuted(self, seed: int) -> Self:
        copy = type(self)([part.permuted(seed) for part in self.parts], self.places, self._all_owners)
        copy._best_scores, copy._origin = self._best_scores, (self, seed)
        return copy


def together(parts: Sequence[Features], places: Sequence[Subset], owners: Subset) -> Features:
    """All parts as one `Features` object. A single part without groups is returned as it is."""
    alone = len(parts) == 1 and np.array_equal(owners, np.arange(owners.size))
    return parts[0] if alone else MixedFeatures(parts, places, owners)


def owners_of(groups: Subset) -> Subset:
    """The group of each column as a number, counted in the order in which the groups first appear."""
    names, first, owners = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(names.size, np.intp)
    rank[np.argsort(first)] = np.arange(names.size)
    return rank[owners]


def shares_of(owners: Subset) -> Floats:
    """The share of each member: 1 over the number of members of its feature."""
    return np.asarray(1.0 / np.bincount(owners)[owners])
