"""The paper's simulated designs."""

from .designs import Design, correlated_groups, shifted_groups

__all__ = ["Design", "correlated_groups", "shifted_groups"]
