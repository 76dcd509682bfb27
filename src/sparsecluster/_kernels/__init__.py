"""Numba kernels: numbers in, numbers out, no policy. Each has a slow twin in tests/naive.py."""
