"""Gaussian mixtures with diagonal covariances and a penalty: one EM algorithm, and the penalties that it takes."""
