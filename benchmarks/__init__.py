"""The measurements behind the numbers in README.md and docs/: run `make bench` or `python -m benchmarks NAME ...`."""
