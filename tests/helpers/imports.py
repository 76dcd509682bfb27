"""Which libraries a piece of code loads."""

from __future__ import annotations

import json
import subprocess
import sys

# What takes long to import.
HEAVY = {
    *("dask", "distributed", "joblib", "matplotlib", "narwhals", "numba"),
    *("numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn"),
}


def heavy_modules(code):
    """The heavy libraries that some code loads in a new Python, and what it prints."""
    ending = "\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    *printed, modules = subprocess.check_output([sys.executable, "-c", code + ending], text=True).splitlines()
    return HEAVY & {name.split(".")[0] for name in json.loads(modules)}, "\n".join(printed)


def help_of(*commands):
    """Code that asks the command line for help."""
    asked = [*commands, "--help"]
    return f"from sparsecluster.cli import app\ntry:\n    app({asked!r})\nexcept SystemExit:\n    pass"
