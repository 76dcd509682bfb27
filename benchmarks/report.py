"""Tables and pages of results, each with the command and the machine that made it."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def markdown_table(header, rows):
    """A Markdown table; numbers are given as text already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def machine():
    """Cores, memory and versions: what a reader needs to compare speeds."""
    import numba
    import sklearn

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, scikit-learn {sklearn.__version__}"
    )


def write_page(name, title, text, seconds, command_options=""):
    """Write docs/results/NAME.md, whole or not at all."""
    command = f"python -m benchmarks {name}{command_options}"
    page = f"# {title}\n\nMade by `{command}` in {seconds:.0f} s on {machine()}.\n\n{text}\n"
    RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=RESULTS, suffix=".part", delete=False, encoding="utf-8") as part:
        part.write(page)
    Path(part.name).chmod(0o644)
    os.replace(part.name, RESULTS / f"{name}.md")
    print(page, flush=True)


def seconds_of(function, repeats=1):
    """Median time of some runs."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return float(np.median(times))
