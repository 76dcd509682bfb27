"""How good a clustering and a choice of features are, where the truth is known."""

from .agreement import rand_index, symmetric_difference

__all__ = ["rand_index", "symmetric_difference"]
