"""A simulated table of numerical and categorical columns with missing values, whose groups are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


class MixedDesign(NamedTuple):
    """A simulated table of numerical and categorical columns with its true groups and useful features.

    Attributes
    ----------
    X : pandas.DataFrame of shape (n_samples, n_features)
        Simulated values, with missing values.
    truth : ndarray of int of shape (n_samples,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.
    """

    X: pd.DataFrame
    truth: npt.NDArray[np.intp]
    useful: npt.NDArray[np.bool_]


# A categorical column has the first 2 to 6 of these levels.
LEVELS = ["a", "b", "c", "d", "e", "f"]


def mixed_groups(
    n_features: int = 100,
    n_useful: int = 10,
    group_size: int = 30,
    missing: float = 0.1,
    seed: int = 0,
    shift: float = 1.0,
    likely: float = 0.7,
) -> MixedDesign:
    """Simulate three groups in a data frame of numerical and categorical columns with missing values.

    This design is not in the paper. The first half of the columns are numerical; the others are categorical and have 2
    to 6 levels. A numerical value is distributed as `N(m, 1)`, where `m` is `-shift`, 0 and `shift` in the three
    groups, in random order. A categorical value is the favorite level of the sample's group with probability `likely`,
    and any other level otherwise; groups have different favorites as long as there are enough levels. In a useless
    column, all groups have `m = 0` or the same favorite level. Values are missing completely at random. The function
    requires pandas.

    Parameters
    ----------
    n_features : int, default=100
        Number of features.
    n_useful : int, default=10
        Number of useful features. Half of them are the first numerical columns and the others are the first categorical
        columns.
    group_size : int, default=30
        Number of samples per group.
    missing : float, default=0.1
        Share of missing values.
    seed : int, default=0
        Seed of the random numbers.
    shift : float, default=1.0
        Difference of consecutive group means in the useful numerical columns.
    likely : float, default=0.7
        Probability of the favorite level.

    Returns
    -------
    X : pandas.DataFrame of shape (3 * group_size, n_features)
        Simulated values.
    truth : ndarray of int of shape (3 * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.

    Examples
    --------
    >>> from sparsecluster.datasets import mixed_groups
    >>> X, truth, useful = mixed_groups(n_features=20, n_useful=6, seed=0)
    >>> X.shape, X.columns[useful].tolist()
    ((90, 20), ['number0', 'number1', 'number2', 'category0', 'category1', 'category2'])
    >>> X.dtypes["number0"], X["category0"].cat.categories.tolist(), bool(X.isna().any(axis=None))
    (dtype('float64'), ['a', 'b', 'c', 'd'], True)
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("mixed_groups needs pandas. Install it with: pip install pandas") from error
    if not 0 <= n_useful <= n_features:
        raise ValueError(f"n_useful must be in [0, {n_features}], the number of features; got {n_useful}.")
    half, useful_half = n_features // 2, n_useful // 2
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    useful = np.r_[np.arange(half) < useful_half, np.arange(n_features - half) < n_useful - useful_half]
    columns: dict[str, object] = {}
    for feature, differs in enumerate(useful):
        seen = rng.random(truth.size) >= missing
        if feature < half:
            means = shift * differs * rng.permutation([-1.0, 0.0, 1.0])
            columns[f"number{feature}"] = np.where(seen, means[truth] + rng.standard_normal(truth.size), np.nan)
        else:
            n_levels = int(rng.integers(2, len(LEVELS), endpoint=True))
            codes = np.where(seen, _draw_levels(truth, n_levels, differs, likely, rng), -1)
            columns[f"category{feature - half}"] = pd.Categorical.from_codes(codes, pd.Index(LEVELS[:n_levels]))
    return MixedDesign(pd.DataFrame(columns), truth, useful)


def _draw_levels(
    truth: npt.NDArray[np.intp], n_levels: int, differs: bool, likely: float, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw a level for each sample: the favorite of its group with probability `likely`, or else another one."""
    favorites = rng.permutation(max(n_levels, 3))[:3] % n_levels
    favorite = favorites[truth if differs else np.zeros_like(truth)]
    others = (favorite + rng.integers(1, n_levels, truth.size)) % n_levels
    return np.where(rng.random(truth.size) < likely, favorite, others)
