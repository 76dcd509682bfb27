"""The R programs that ours are compared with, run on the same table if they are on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

SCRIPT = Path(__file__).with_suffix(".R")
# The environment variable that names the folder with hill_climb.R and hill_climb_GSS.R of the paper's authors.
FOLDER = "SPARSECLUSTER_R"


class RRun(NamedTuple):
    """The median CPU seconds of some runs, and the labels of the last one."""

    seconds: float
    labels: list[int]


@cache
def programs() -> str | None:
    """The folder with the authors' programs; None if there is none, or no R with the package sparcl."""
    folder = os.environ.get(FOLDER)
    if folder is None or shutil.which("Rscript") is None:
        return None
    found = subprocess.run(["Rscript", "-e", "library(sparcl)"], capture_output=True)
    return folder if found.returncode == 0 else None


def run_r(work: str, X: np.ndarray, repeats: int, enough: float) -> RRun | None:
    """Run one of the works of r_programs.R; None if R or a program is missing."""
    folder = programs()
    if folder is None:
        return None
    with tempfile.TemporaryDirectory() as own:
        table = Path(own, "table.csv")
        np.savetxt(table, X, "%.17g", ",")
        command = ["Rscript", "--vanilla", SCRIPT, folder, table, work, str(repeats), str(enough)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return RRun(float(np.median(found["seconds"])), found["labels"])
