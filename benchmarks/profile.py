"""Where the time of one fit goes: a time-line by kernel, and counts of instructions."""

from __future__ import annotations

import itertools
import time
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from sparsecluster import SASClustering
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups

from . import instructions, timeline
from .report import seconds_of

SAMPLES, FEATURES = (90, 300, 3000), (100, 1000, 20_000)
FITS = {"s = 50 given": {"n_features_to_select": 50}, "s tuned": {}}
# Fits of which every kernel is listed, and of which instructions are counted.
IN_FULL = ((90, 1000, "s = 50 given"), (90, 1000, "s tuned"))
COUNTED = ((90, 100, "s = 50 given"), (90, 1000, "s = 50 given"))
# A tuned fit of more values than this takes minutes.
MOST_TUNED = 10_000_000
# No further run once those of one fit have taken this many seconds together.
ENOUGH = 15.0
ABOUT = """CPU time of one fit of `SASClustering` with all defaults, three groups, mu = 0.7, seed 0, one thread,
compiled kernels: milliseconds, and their share of the fit in parentheses. Every compiled function that is entered from
Python is timed, and so are a few steps outside kernels, such as the product of the BLAS that is a Gram matrix. Whole
climbs, which are one call, consist of K-means, scores and selection; what these take elsewhere has columns of its own.

The second column is a fit without timers, and Python between kernels is what the other columns leave of it. Fits with
and without timers are run in turn, {repeats} times, or less often if they take more than {enough:.0f} s together, and
the fastest two neighbors are shown. Timing adds {cost:.0f} ns to each time, which is subtracted. Tuned fits of more
than {most:,} values are left out."""


class Profile(NamedTuple):
    """The milliseconds of a fit without timers, and the share of every kernel and step."""

    whole: float
    shares: dict[str, timeline.Share]

    def by_column(self):
        """Milliseconds of every column. Python between kernels is what the others leave of the whole."""
        found = dict.fromkeys(timeline.COLUMNS, 0.0)
        for column, _, milliseconds in self.shares.values():
            found[column] += milliseconds
        return found | {timeline.PYTHON: self.whole - sum(found.values())}


def profile_of(fit, repeats, cost):
    """Return the profile of a fit: the fastest of several pairs of runs, one without timers and then one with them.

    A machine is faster at some times than at others, so both runs of the profile have to be neighbors.
    """
    fit()  # compiles
    pairs, spent = [], 0.0
    while len(pairs) < repeats and spent < ENOUGH:
        whole = 1000 * seconds_of(fit, clock=time.process_time)
        pairs.append(Profile(whole, timeline.shares_of(timeline.recorded(fit), cost)))
        spent += 2 * whole / 1000
    return min(pairs, key=lambda pair: pair.whole + sum(share.milliseconds for share in pair.shares.values()))


def cells_of(profile):
    """The milliseconds and percents of all columns, and the number of calls of kernels."""
    calls = sum(share.calls for name, share in profile.shares.items() if not name.endswith(timeline.OUTSIDE))
    shown = (f"{each:.1f} ({each / profile.whole:.0%})" if each else "0" for each in profile.by_column().values())
    return [f"{profile.whole:.1f}", *shown, calls]


def in_full(profile):
    """Write the time of every kernel and step."""
    rows = [
        [name, column, calls, f"{milliseconds:.2f}", f"{1000 * milliseconds / calls:.1f}"]
        for name, (column, calls, milliseconds) in sorted(
            profile.shares.items(), key=lambda each: -each[1].milliseconds
        )
    ]
    return markdown_table(["kernel or step", "column", "calls", "ms", "microseconds a call"], rows)


def counts():
    """Write the instructions of some fits."""
    if not instructions.is_there():
        return "They were not counted, because valgrind is not installed here."
    rows = []
    for n, p, what in COUNTED:
        found = instructions.instructions_of(n, p, FITS[what])
        whole = sum(found.values())
        shares = (f"{value / 1e6:.1f} ({value / whole:.0%})" for value in found.values())
        rows.append([f"{n}, {p}", what, f"{whole / 1e6:.1f}", *shares])
    return (
        "Millions of instructions of one fit with compiled kernels, counted by `valgrind --tool=callgrind`. They "
        "hardly differ from run to run, whatever else the machine does. Kernels and the BLAS are made for a processor "
        f"with short vectors ({instructions.ENVIRONMENT['NUMBA_CPU_NAME']}), which valgrind can run, so their share is "
        "larger here than it is in time.\n\n" + markdown_table(["n, p", "fit", "all", *instructions.NAMES], rows)
    )


def main(repeats=10):
    tables, full = [], []
    with threadpool_limits(1):
        cost = timeline.cost_of_timing()
        for what, parameters in FITS.items():
            rows = []
            for n, p in itertools.product(SAMPLES, FEATURES):
                if what == "s tuned" and n * p > MOST_TUNED:
                    continue
                X = shifted_groups(mu=0.7, n_features=p, group_size=n // 3, seed=0).X
                profile = profile_of(lambda: SASClustering(n_clusters=3, **parameters).fit(X), repeats, cost)  # noqa: B023
                rows.append([f"{n:,}, {p:,}", *cells_of(profile)])
                if (n, p, what) in IN_FULL:
                    full.append(f"## Every kernel: n = {n}, p = {p}, {what}\n\n{in_full(profile)}")
            header = ["n, p", "fit, ms", *timeline.COLUMNS, "calls of kernels"]
            tables.append(f"## Fit with {what}\n\n{markdown_table(header, rows)}")
    parts = [ABOUT.format(repeats=repeats, enough=ENOUGH, cost=cost, most=MOST_TUNED), *tables, *full]
    return "Profile", "\n\n".join([*parts, f"## Instructions\n\n{counts()}"])
