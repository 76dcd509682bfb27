"""Other groupings of the samples that a fit has come across, each as a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import check_count

if TYPE_CHECKING:
    from ._base import SparseClusterer


@dataclass(frozen=True)
class Alternative:
    """Another good clustering of the same samples, really different from the first one.

    Its adjusted Rand index with the first clustering and with every other alternative is below 0.5.

    Attributes
    ----------
    estimator : SparseClusterer
        Estimator that is fitted to this clustering.
    gap : float or None
        Gap statistic at the number of features that is best for this clustering, or the BIC if the number of features
        is chosen by it. None if the number of features was given.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import SASClustering, adjusted_rand_index
    >>> rng = np.random.default_rng(0)
    >>> sex, disease = rng.integers(2, size=(2, 60))
    >>> X = rng.normal(size=(60, 100))
    >>> X[:, :20] += 2 * sex[:, None]
    >>> X[:, 20:40] += 1.5 * disease[:, None]
    >>> found = SASClustering(n_clusters=2).fit(X)
    >>> other = found.alternatives_[0]
    >>> adjusted_rand_index(sex, found.labels_), adjusted_rand_index(disease, other.labels)
    (1.0, 1.0)
    >>> found.use_alternative(0).predict(X[:3]).tolist() == other.labels[:3].tolist()
    True
    """

    estimator: SparseClusterer
    gap: float | None

    @property
    def labels(self) -> npt.NDArray[np.intp]:
        """Cluster of each sample; ndarray of shape (n_samples,)."""
        return self.estimator.labels_

    @property
    def support(self) -> npt.NDArray[np.bool_]:
        """Mask of the chosen features; ndarray of shape (n_features,)."""
        return self.estimator.support_

    @property
    def core_support(self) -> npt.NDArray[np.bool_]:
        """Mask of the features that are enough to find the clusters again; ndarray of shape (n_features,)."""
        return self.estimator.core_support_

    @property
    def feature_scores(self) -> npt.NDArray[np.float64]:
        """Score of each feature; ndarray of shape (n_features,)."""
        return self.estimator.feature_scores_

    @property
    def objective(self) -> float:
        """Objective of the clustering."""
        return float(self.estimator.objective_)


def alternative_of(estimator: Any, number: Any) -> Any:
    """Return the estimator of one of the alternatives."""
    check_is_fitted(estimator)
    others = getattr(estimator, "alternatives_", None)
    if others is None:
        raise ValueError(
            f"This {type(estimator).__name__} was loaded from a file, which does not contain alternatives. Fit again."
        )
    if not others:
        raise ValueError(
            f"This {type(estimator).__name__} has no alternatives: no other good clustering of the samples was found."
        )
    return others[check_count("The number of the alternative", number, 0, len(others) - 1)].estimator
