"""What speaks for a clustering, in words, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import Floats
from ._words import about_clusters, about_features, about_groups, about_samples, headline
from .displays import ClusterStability, FeatureEvidence, PairDifferences, SampleStability

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Assessment:
    """The evidence for a clustering, as returned by `assess`.

    Attributes
    ----------
    method : str
        Name of the class of the estimator.
    p_independent : float
        P-value of the hypothesis that the features are independent of each other.
    p_one_group : float or None
        P-value of the hypothesis that the samples are one group, whose features may depend on each other; None if it
        could not be tested.
    n_copies : int
        Number of permuted copies.
    alpha : float
        Level of the tests.
    agreement : float
        Mean agreement of the clusterings of two halves of the samples, as an adjusted Rand index.
    agreement_null : ndarray of shape (n_copies_halved,)
        The same of permuted copies, which have no clusters.
    n_assessed : int
        Number of samples that were assessed.
    clusters : ClusterStability
        How sure each cluster is.
    samples : SampleStability
        How sure each sample is.
    features : FeatureEvidence
        How sure each feature is.
    pairs : PairDifferences
        Which pairs of clusters each feature separates.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import SASClustering, assess
    >>> noise = np.random.default_rng(0).standard_normal((60, 100))
    >>> assessment = assess(SASClustering(n_clusters=2), noise, n_copies=39)
    >>> assessment.verdict, assessment.n_clusters
    ('nothing', 1)
    """

    method: str
    p_independent: float
    p_one_group: float | None
    n_copies: int
    alpha: float
    agreement: float
    agreement_null: Floats
    n_assessed: int
    clusters: ClusterStability
    samples: SampleStability
    features: FeatureEvidence
    pairs: PairDifferences

    @property
    def verdict(self) -> str:
        """What the tests say.

        - "groups": neither independent features nor one group explain the clusters.
        - "trend": features go together, but one group explains it as well as several.
        - "nothing": independent features explain the clusters.
        - "dependence": features go together; whether there are groups could not be tested.
        """
        if self.p_independent > self.alpha:
            return "nothing"
        if self.p_one_group is None:
            return "dependence"
        return "groups" if self.p_one_group <= self.alpha else "trend"

    @property
    def n_clusters(self) -> int:
        """Number of clusters that the tests support: 1 if they do not show groups."""
        return self.clusters.sizes.size if self.verdict in ("groups", "dependence") else 1

    def summary(self) -> str:
        """The answers in plain words, one paragraph.

        Returns
        -------
        str
        """
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """The same, sentence by sentence: the first one says whether there is anything.

        Returns
        -------
        list of str
        """
        return [headline(self), *about_groups(self), *about_clusters(self), *about_samples(self), *about_features(self)]

    def frame(self) -> pd.DataFrame:
        """The tests as a table: the p-value of each hypothesis, and whether it is rejected.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        p = np.array([self.p_independent, np.nan if self.p_one_group is None else self.p_one_group])
        index = pd.Index(["independent features", "one group"], name="hypothesis")
        return pd.DataFrame({"p": p, "rejected": p <= self.alpha}, index=index)

    def plot(self) -> Any:
        """Draw the stability of the clusters, the consensus of the samples and the surest features side by side.

        Returns
        -------
        matplotlib Figure
        """
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
        parts: tuple[Any, ...] = (self.clusters, self.samples, self.features)
        for part, ax in zip(parts, axes, strict=True):
            part.plot(ax)
        figure.suptitle(headline(self))
        return figure
