"""Mixtures whose features are independent within clusters: penalized Gaussian ones, and those that select features."""
