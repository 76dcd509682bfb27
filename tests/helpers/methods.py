"""Methods of the registry that take no longer than they must, and tables to fit them to."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.registry import METHODS, make_method

# Fewer copies, samples and starts: what is tested here does not depend on them.
QUICK = {
    "n_permutations": 2,
    "n_bootstraps": 3,
    "n_draws": 20,
    "n_init": 2,
    "n_penalties": 3,
    "n_variance_penalties": 2,
}
# i-IF-Learn clusters in several dimensions that carry nothing, where few of the starts find the best clusters. Raftery
# and Dean look at every feature once more for each that they take.
OTHER = {"i-if-learn": {"n_init": 30}, "raftery-dean": {"max_features": 4}}
# Penalized Gaussian mixtures, which share one algorithm.
MIXTURES = ("pan-shen", "wang-zhu", "ahp-gmm", "xie", "pairwise-fusion")
EVERY = pytest.mark.parametrize("name", METHODS)


def those(**promises):
    """The methods of which the registry says so."""
    return [name for name in METHODS if all(getattr(METHODS[name], key) == said for key, said in promises.items())]


def quick(name, n_clusters=3, **parameters):
    """A method of the registry that takes no longer than it must."""
    made = make_method(name, n_clusters)
    known = made.get_params()
    fewer = {key: value for key, value in QUICK.items() if key in known}
    return made.set_params(**{**fewer, **OTHER.get(name, {}), **parameters})


def corners(sizes=(20, 15, 10), mu=4.0, own=8, n_features=40, seed=0):
    """Each group is shifted by mu in eight features of its own, so that the groups are the corners of a triangle."""
    rng = np.random.default_rng(seed)
    truth, owner = np.repeat(np.arange(len(sizes)), sizes), np.arange(n_features) // own
    return rng.standard_normal((truth.size, n_features)) + mu * (owner == truth[:, None]), truth, owner < len(sizes)


# Groups of different sizes, the largest first, so that only one numbering of them is right.
CORNERS, TRUTH, USEFUL = corners()
# Groups that overlap, so that any other random number or rounding shows.
HARD = shifted_groups(mu=0.8, n_features=30, n_useful=10, group_size=15, seed=1).X
GROUPS = {"clear": CORNERS, "hard": HARD, "in units": HARD * np.arange(1, 31) + 100.0}


@cache
def fitted(name, groups="clear"):
    """A quick fit that many tests look at and none changes. All of them use the fixture `less_work`."""
    return quick(name).fit(GROUPS[groups])
