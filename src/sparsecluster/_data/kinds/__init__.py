"""One file per kind of dissimilarity; importing this package registers all of them."""

from .dissimilarity import KINDS, MEASURES, Dissimilarity, Measure, PairMeasure, register
from .functions import Function, FunctionOfTwo
from .levels import Hamming, Ordinal
from .numbers import Distance, Numbers, SquaredEuclidean, coordinate_features
from .precomputed import Precomputed

__all__ = [
    "KINDS",
    "MEASURES",
    "Dissimilarity",
    "Distance",
    "Function",
    "FunctionOfTwo",
    "Hamming",
    "Measure",
    "Numbers",
    "Ordinal",
    "PairMeasure",
    "Precomputed",
    "SquaredEuclidean",
    "coordinate_features",
    "register",
]
