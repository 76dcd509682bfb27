"""What is needed to add a dissimilarity, a clusterer or a method from outside the package.

The pages under "Extend" in the documentation show how each is used.
"""

from ._clusterers.clusterer import Clusterer
from ._clusterers.registry import make_clusterer
from ._data.content import Content
from ._data.kinds import Dissimilarity, Numbers, coordinate_features, register
from ._features.coordinates import Block
from ._features.features import Features
from ._utils.checks import check_choice, check_count, check_number
from ._utils.parameters import check_parameters, rng_of
from .methods._base import SparseClusterer
from .methods._mixins import CompleteNumbers, NearestCluster
from .methods._result import Array, Result

__all__ = [
    "Array",
    "Block",
    "Clusterer",
    "CompleteNumbers",
    "Content",
    "Dissimilarity",
    "Features",
    "NearestCluster",
    "Numbers",
    "Result",
    "SparseClusterer",
    "check_choice",
    "check_count",
    "check_number",
    "check_parameters",
    "coordinate_features",
    "make_clusterer",
    "register",
    "rng_of",
]
