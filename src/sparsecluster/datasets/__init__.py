"""The paper's simulated designs, and one of mixed kinds."""

from .designs import Design, MixedDesign, bernoulli_groups, correlated_groups, mixed_groups, shifted_groups

__all__ = ["Design", "MixedDesign", "bernoulli_groups", "correlated_groups", "mixed_groups", "shifted_groups"]
