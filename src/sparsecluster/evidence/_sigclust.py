"""SigClust: whether a table has two clusters rather than a single Gaussian group (Liu, Hayes, Nobel and Marron)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_array

from .._clusterers.kmeans import cheaper_form, kmeans
from .._data.checks import check_finite
from .._data.content import as_frame, holds_words, word_columns
from .._data.names import DefaultNames
from .._features.features import Pairs, Rows
from .._utils.arrays import Floats
from .._utils.checks import check_choice, check_count, listed
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_seed, rng_of
from ..methods._validation import refuse_sparse

if TYPE_CHECKING:
    import pandas as pd

Estimate = Literal["soft", "hard", "sample"]
# Number of thresholds that are tried by the soft estimate, as in the R package.
SOFT_STEPS = 100
# Two samples always form two clusters with nothing inside.
FEWEST_SAMPLES = 3
# The largest difference of two numbers whose square is well within the range of floats.
FARTHEST = 1e150
# The factor of a median absolute deviation, with the digits that R has.
NORMAL = 1.4826


@dataclass(frozen=True)
class SigClust:
    """Result of `sigclust`.

    Attributes
    ----------
    index : float
        Cluster index of the data: the sum of squares within two clusters over the total sum of squares. Small values
        speak for clusters.
    eigenvalues : ndarray of shape (n_features,)
        Eigenvalues of the sample covariance matrix, in descending order.
    null_eigenvalues : ndarray of shape (n_features,)
        Eigenvalues of the covariance matrix of the null distribution.
    background : float
        Variance of the background noise.
    simulated : ndarray of shape (n_simulations,)
        Cluster indices of the tables simulated under the null hypothesis.
    p_value : float
        (1 + b) / (1 + n_simulations), where b simulated tables have an index that is as small as that of the data.
    p_normal : float
        Probability of an index as small as that of the data if simulated indices have a normal distribution. It tells
        small p-values apart with few simulations.
    """

    index: float
    eigenvalues: Floats
    null_eigenvalues: Floats
    background: float
    simulated: Floats
    p_value: float
    p_normal: float

    def frame(self) -> pd.DataFrame:
        """Return the eigenvalues as a table.

        Returns
        -------
        pandas.DataFrame
            One row per eigenvalue, in descending order: that of the sample and that of the null distribution.
        """
        import pandas as pd

        rank = pd.RangeIndex(1, self.eigenvalues.size + 1, name="rank")
        return pd.DataFrame({"sample": self.eigenvalues, "null": self.null_eigenvalues}, index=rank)


# ---------------------------------------------------------------- null eigenvalues


def sample_estimate(eigenvalues: Floats, background: float) -> Floats:
    """The eigenvalues of the sample as they are (icovest=2 in R)."""
    return eigenvalues


def hard_estimate(eigenvalues: Floats, background: float) -> Floats:
    """The eigenvalues of the sample, but at least the background variance (icovest=3 in R)."""
    return np.maximum(eigenvalues, background)


def soft_estimate(eigenvalues: Floats, background: float) -> Floats:
    """The eigenvalues less a constant, but at least the background variance (icovest=1 in R).

    Among constants from 0 to the one that keeps the total variance, the one is taken for which the first eigenvalue is
    the largest share of the total (Huang et al., 2015).
    """
    shifts = np.arange(SOFT_STEPS) * (keeping_shift(eigenvalues, background) / SOFT_STEPS)
    candidates = [hard_estimate(eigenvalues - shift, background) for shift in shifts.tolist()]
    return max(candidates, key=lambda each: float(each[0] / each.sum()))


def keeping_shift(eigenvalues: Floats, background: float) -> float:
    """The constant t for which max(eigenvalues - t, background) has the sum of the eigenvalues.

    If even background variance alone is more than that, it is the t with which nothing else is left. There, R takes
    another t for every eigenvalue, because it recycles a vector where a number is meant.
    """
    excess = np.maximum(eigenvalues - background, 0.0)
    lifted = float(np.maximum(background - eigenvalues, 0.0).sum())
    # What a shift takes away grows linearly between the excesses of two eigenvalues.
    shifts = np.append(excess, 0.0)[::-1]
    taken = np.array([np.minimum(excess, shift).sum() for shift in shifts.tolist()])
    return float(np.interp(lifted, taken, shifts))


ESTIMATES: dict[str, Callable[[Floats, float], Floats]] = {
    "soft": soft_estimate,
    "hard": hard_estimate,
    "sample": sample_estimate,
}


# ---------------------------------------------------------------- the test


def sigclust(
    X: Any,
    *,
    estimate: Estimate = "soft",
    n_simulations: int = 100,
    n_starts: int = 10,
    random_state: int | np.random.RandomState | None = 0,
) -> SigClust:
    """Test whether a table has two clusters, against the null hypothesis of a single Gaussian group (SigClust).

    The test statistic is the cluster index, the sum of squares within the two clusters of K-means over the total sum of
    squares. It is compared with that of tables simulated from N(0, diag(lambda*)): the index does not depend on the
    mean or on rotations, so that the eigenvalues of the covariance matrix are all that has to be estimated.

    The three estimates differ widely, and so do their p-values. "sample" overestimates large eigenvalues if there are
    many features, and hardly ever rejects. "hard" adds variance to the small ones, and may reject if there are no
    clusters. "soft" lies between them. Report the one that was used, and look at the others.

    Data and simulated tables are clustered with the same number of starts. The R package gives the data more starts,
    which makes its p-values smaller: on a table of noise with 60 samples and 20 features, 0.52 instead of 0.79.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Numbers without missing values. Features are used as they are: center and scale them first if their means or
        units differ.
    estimate : {"soft", "hard", "sample"}, default="soft"
        Estimate of the null eigenvalues lambda*, from those of the sample covariance matrix, lambda, and a background
        variance b, the squared median absolute deviation of all entries of X from their median, times 1.4826^2:

        - "sample" uses lambda.
        - "hard" uses max(lambda, b).
        - "soft" uses max(lambda - t, b), where t makes the first eigenvalue the largest share of the total variance,
          among values up to the one that keeps the total variance.
    n_simulations : int, default=100
        Number of simulated tables.
    n_starts : int, default=10
        Number of starts of K-means on each table.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.

    Returns
    -------
    SigClust
        The cluster index, the eigenvalues, the simulated indices and the p-values.

    Notes
    -----
    The p-value holds for clusters found on all features of X. It is not valid for features that were chosen because
    they differ between clusters of the same samples.

    References
    ----------
    Y. Liu, D. N. Hayes, A. Nobel and J. S. Marron, "Statistical significance of clustering for high-dimension,
    low-sample size data", Journal of the American Statistical Association 103 (2008), 1281-1293. H. Huang, Y. Liu,
    M. Yuan and J. S. Marron, "Statistical significance of clustering using soft thresholding", Journal of Computational
    and Graphical Statistics 24 (2015), 975-993.

    Examples
    --------
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.evidence import sigclust
    >>> X, *_ = shifted_groups(mu=2.0, n_features=50, n_useful=20, seed=0)
    >>> sigclust(X).p_normal < 0.001
    True
    >>> X, *_ = shifted_groups(mu=0.0, n_features=50, n_useful=20, seed=0)
    >>> sigclust(X).p_value > 0.1
    True
    """
    check_choice("estimate", estimate, list(ESTIMATES))
    check_count("n_simulations", n_simulations, 2)
    check_count("n_starts", n_starts, 1)
    check_seed(random_state)
    table = numbers_in(X)
    # The index has no unit, and sums of squares of very large or small numbers would leave the range of floats.
    unit = float(np.ptp(table, axis=0).max())
    deviation = NORMAL * float(np.median(np.abs(table - np.median(table)))) / unit
    table = (table - table.mean(axis=0)) / unit
    rng = rng_of(random_state)
    with one_thread_blas():
        eigenvalues, background = covariance_eigenvalues(table), deviation**2
        null = ESTIMATES[estimate](eigenvalues, background)
        index = cluster_index(table, n_starts, rng.spawn(1)[0])
        simulated = np.array(
            [
                cluster_index(own.standard_normal(table.shape) * np.sqrt(null), n_starts, own)
                for own in rng.spawn(n_simulations)
            ]
        )
    p_value = (1 + int((simulated <= index).sum())) / (1 + n_simulations)
    p_normal = float(norm.cdf(index, simulated.mean(), simulated.std(ddof=1)))
    return SigClust(index, eigenvalues * unit**2, null * unit**2, background * unit**2, simulated, p_value, p_normal)


def numbers_in(X: Any) -> Floats:
    """A copy of a table of numbers, or an error for anything else."""
    refuse_sparse("sigclust", X)
    if holds_words(X):
        frame = as_frame(X)
        which = "" if frame is None else f" Drop or convert {listed(word_columns(frame))}."
        raise ValueError(f"sigclust takes numbers only, but X has columns that do not hold numbers.{which}")
    table = check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=FEWEST_SAMPLES, copy=True)
    frame = as_frame(X)
    names = DefaultNames(table.shape[1]) if frame is None else list(map(str, frame.columns))
    missing = np.isnan(table).any(axis=0)
    if missing.any():
        which = listed(names[a] for a in np.flatnonzero(missing).tolist())
        raise ValueError(
            f"sigclust does not accept missing values; X contains NaN in {missing.sum()} of {missing.size} columns: "
            f"{which}. Impute the missing values or drop these columns."
        )
    check_finite(table, names)
    apart = float(np.ptp(table, axis=0).max())
    if apart == 0:
        raise ValueError("All rows of X are the same, so there is nothing to cluster. Check the input.")
    if apart > FARTHEST:
        raise ValueError(
            f"Numbers in a column of X may differ by at most {FARTHEST:.0e}, so that variances stay finite; got a "
            f"difference of {apart:.3g}. Divide X by a constant."
        )
    return np.asarray(table)


def covariance_eigenvalues(table: Floats) -> Floats:
    """The eigenvalues of the covariance matrix of a centered table, of shape (n_columns,), in descending order."""
    n, p = table.shape
    values = np.zeros(p)
    found = np.linalg.svd(table, compute_uv=False) ** 2 / (n - 1)
    values[: found.size] = found
    return values


def cluster_index(table: Floats, n_starts: int, rng: np.random.Generator) -> float:
    """The sum of squares within the best of several pairs of clusters, over the total sum of squares."""
    table = table - table.mean(axis=0)
    is_small = cheaper_form(len(table), table.shape[1], 2, n_starts) == "pairs"
    data = Pairs(table @ table.T) if is_small else Rows(table, np.ones(table.shape[1]))
    labels = kmeans(data, 2, rng, n_starts=n_starts)
    explained = [np.sum(table[labels == c].sum(axis=0) ** 2) / np.sum(labels == c) for c in range(2)]
    return float(1.0 - np.sum(explained) / np.sum(table**2))
