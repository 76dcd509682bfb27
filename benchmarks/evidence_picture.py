"""The picture of the benchmark of the evidence: errors of both kinds of the tests, and confidence against errors."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from scipy.stats import binomtest

from .report import RESULTS

mpl.use("Agg")
LEVEL, ALLOWED = 0.05, (0.02, 0.08)
TESTS = {"independent features": ("#D55E00", "s"), "one group": ("#0072B2", "o")}


def interval(happened):
    """A share, with its exact 95 % interval as distances to both sides."""
    found = binomtest(int(np.sum(happened)), len(happened))
    share, ends = float(np.mean(happened)), found.proportion_ci()
    return share, share - ends.low, ends.high - share


def rates(ax, p_values, title):
    """Draw how often each test rejects, one line per kind of table."""
    at = np.arange(len(p_values))
    for test, (name, (color, marker)) in enumerate(TESTS.items()):
        shares, low, high = np.array([interval(each[:, test] <= LEVEL) for each in p_values.values()]).T
        ax.errorbar(
            100 * shares,
            at + 0.15 * (2 * test - 1),
            xerr=100 * np.array([low, high]),
            fmt=marker,
            color=color,
            label=name,
        )
    ax.set(yticks=at, yticklabels=list(p_values), xlim=(-3, 103), xlabel="tables rejected at 5 %, in %", title=title)
    ax.invert_yaxis()


def draw(without, with_groups, sure, wrong, bins):
    """Write docs/results/evidence.png.

    `without` and `with_groups` have both p-values of the tables of each kind, of shape (n_tables, 2), and `sure` and
    `wrong` have the confidence of samples and whether they are in a wrong cluster.
    """
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(16, 4.6), layout="constrained", width_ratios=(4, 4, 3))
    rates(left, without, "without groups")
    left.axvspan(*(100 * np.array(ALLOWED)), color="0.85", zorder=0)
    rates(middle, with_groups, "with groups")
    figure.legend(*middle.get_legend_handles_labels(), loc="outside lower left", ncols=2, frameon=False)
    here = [(sure >= low) & (sure < high) for low, high in bins]
    kept = [(each, names) for each, names in zip(here, bins, strict=True) if each.any()]
    shares, low, high = np.array([interval(wrong[each]) for each, _ in kept]).T
    names = [f"{start:g} to {min(end, 1):g}\nn = {each.sum()}" for each, (start, end) in kept]
    right.errorbar(np.arange(len(kept)), 100 * shares, yerr=100 * np.array([low, high]), fmt="o", color="#0072B2")
    right.set(xticks=np.arange(len(kept)), xticklabels=names, ylim=(0, 100), xlabel="confidence of samples")
    right.set(ylabel="in a wrong cluster, in %", title="real tables")
    figure.savefig(RESULTS / "evidence.png", dpi=100)
    plt.close(figure)
