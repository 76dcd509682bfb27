"""How good a clustering and a choice of features are, where the truth is known."""

from .agreement import adjusted_rand_index, agreement_matrix, error_rate, rand_index, symmetric_difference

__all__ = ["adjusted_rand_index", "agreement_matrix", "error_rate", "rand_index", "symmetric_difference"]
