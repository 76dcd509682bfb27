"""Numba kernels: numbers in, numbers out, no policy. Each kernel has a slow reference version in tests/naive.py."""
