"""Run benchmarks, print their results and write them to docs/results/NAME.md."""

from __future__ import annotations

import argparse
import importlib
import time

from .report import write_page

NAMES = (
    "cold",
    "reading",
    "speed",
    "profile",
    "kinds",
    "growth",
    "accuracy",
    "hamming",
    "mixed",
    "missing",
    "choices",
    "clusters",
    "clusters_real",
    "evidence",
    "outliers",
    "expression",
    "cells",
    "methods",
    "mixtures",
    "files",
    "backed",
    "scale",
    "picture",
)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}; default: all")
    parser.add_argument("--repeats", type=int, help="number of repeats of every measurement")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    for name in arguments.names or NAMES:
        began = time.perf_counter()
        options = {} if arguments.repeats is None else {"repeats": arguments.repeats}
        title, text = importlib.import_module(f"benchmarks.{name}").main(**options)
        command = "" if arguments.repeats is None else f" --repeats {arguments.repeats}"
        write_page(name, title, text, time.perf_counter() - began, command)


if __name__ == "__main__":
    main()
