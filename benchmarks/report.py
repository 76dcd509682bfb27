"""What all benchmarks share: measuring time and memory, and writing pages."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np

from sparsecluster._utils.files import write
from sparsecluster.experiments import runner

RESULTS = Path(__file__).parent.parent / "docs" / "results"
# First characters of headings, tables, lists and images, whose lines stay as they are.
NOT_PROSE = ("#", "|", "- ", "!")


def best_in_bold(cells):
    """Set the best of several cells in bold, whoever it belongs to, and all of them if several look equally good.

    A cell is compared by its last number, without what is in parentheses. If no other is known, none is bold.

    >>> best_in_bold(["0.948 (0.033)", "0.950", "-", "0.950"])
    ['0.948 (0.033)', '**0.950**', '-', '**0.950**']
    >>> best_in_bold(["0.795 / 0.548", "0.876 / 0.728"])
    ['0.795 / 0.548', '**0.876 / 0.728**']
    >>> best_in_bold(["0.701 (0.026)", "-"])
    ['0.701 (0.026)', '-']
    """
    parts = [cell.partition(" (") for cell in cells]
    known = [float(value.split(" / ")[-1]) if value != "-" else None for value, *_ in parts]
    values = [value for value in known if value is not None]
    if len(values) < 2:
        return list(cells)
    return [
        f"**{shown}**{bracket}{rest}" if value == max(values) else cell
        for cell, (shown, bracket, rest), value in zip(cells, parts, known, strict=True)
    ]


def write_page(name, title, text, seconds, command_options=""):
    """Write and print docs/results/NAME.md, with the command and the machine that produced it."""
    import numba
    import sklearn

    here = runner.machine()
    machine = (
        f"{here['cores']} cores, {here['memory']}, Python {here['python']}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, scikit-learn {sklearn.__version__}"
    )
    command = f"python -m benchmarks {name}{command_options}"
    page = filled(f"# {title}\n\nMade by `{command}` in {seconds:.0f} s on {machine}.\n\n{text}\n")
    write(RESULTS / f"{name}.md", page)
    print(page, flush=True)


def filled(page):
    """Break the lines of the paragraphs of a Markdown page."""
    blocks = (
        block
        if block.startswith(NOT_PROSE)
        else textwrap.fill(block, 120, break_long_words=False, break_on_hyphens=False)
        for block in page.rstrip("\n").split("\n\n")
    )
    return "\n\n".join(blocks) + "\n"


def compared(slow, fast):
    """Format two times and their ratio as cells of a table."""
    return [f"{slow:.2f}", f"{fast:.3f}", f"**{slow / fast:.0f}x**"]


def seconds_of(function, repeats=1, clock=time.perf_counter, enough=np.inf):
    """Return the median time of some calls, and of fewer calls once they have taken `enough` seconds together."""
    times = []
    while len(times) < repeats and sum(times) < enough:
        began = clock()
        function()
        times.append(clock() - began)
    return float(np.median(times))


def seconds_of_python(*arguments, repeats=1, **environment):
    """Return the median time of Python run with some arguments in a new process."""

    def run():
        command = [sys.executable, *arguments]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})

    return seconds_of(run, repeats)


PEAK = """
import re
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
{prepare}
before = peak()
{code}
print(peak() - before)
"""


def peak_bytes(prepare, code):
    """Return by how many bytes the peak memory of a new process (on Linux) grows while it executes some code."""
    script = PEAK.format(prepare=prepare, code=code)
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
