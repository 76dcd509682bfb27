"""Measurements behind the numbers in README.md and docs/: `make bench`, or `python -m benchmarks NAME ...`."""
