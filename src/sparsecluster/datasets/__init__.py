"""Simulated tables with known groups, and the ten gene-expression data sets of the paper."""

from .designs import Design, bernoulli_groups, correlated_groups, diagonal_groups, many_groups, shifted_groups
from .microarray import MICROARRAYS, DataNotFoundError, Microarray, Samples, load_microarray
from .mixed import MixedDesign, mixed_groups

__all__ = [
    "MICROARRAYS",
    "DataNotFoundError",
    "Design",
    "Microarray",
    "MixedDesign",
    "Samples",
    "bernoulli_groups",
    "correlated_groups",
    "diagonal_groups",
    "load_microarray",
    "many_groups",
    "mixed_groups",
    "shifted_groups",
]
