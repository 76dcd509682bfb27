"""Measures of how well a clustering and a selection of features recover a known truth."""

from .agreement import adjusted_rand_index, agreement_matrix, error_rate, rand_index, symmetric_difference

__all__ = ["adjusted_rand_index", "agreement_matrix", "error_rate", "rand_index", "symmetric_difference"]
