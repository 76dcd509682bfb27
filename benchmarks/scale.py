"""Tables larger than memory: time, throughput and peak memory against the number of rows, on threads and on workers."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sparsecluster._utils.markdown import markdown_table

SIZES = (100_000, 1_000_000, 5_000_000, 20_000_000)
P, USEFUL, SHIFT = 50, 10, 1.2
ROWS = 100_000
LIMIT = 2000
WORKER_ROWS = 2_000_000
# The table on which others are compared.
OTHERS_ROWS, OTHERS_P, OTHERS_USEFUL = 500_000, 200, 20


def write_parts(folder, n, p=P, useful=USEFUL, shift=SHIFT):
    """Write Parquet files of three groups in a row, block by block."""
    import pyarrow
    import pyarrow.parquet

    for part in range(0, n, ROWS):
        rng = np.random.default_rng([n, part])
        rows = min(ROWS, n - part)
        groups = rng.integers(0, 3, rows)
        table = rng.standard_normal((rows, p))
        table[:, :useful] += shift * (groups[:, None] - 1)
        columns = {f"x{a}": table[:, a] for a in range(p)} | {"group": groups}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"part-{part // ROWS:05d}.parquet")


def fit_parts(folder, *arguments):
    """Return what a fit in a process of its own took."""
    command = [sys.executable, "-m", "benchmarks.scale_run", str(folder), str(LIMIT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def by_size(folder):
    """Return rows of the table over n, and what the fits took."""
    taken = []
    for n in SIZES:
        parts = folder / str(n)
        parts.mkdir()
        write_parts(parts, n)
        taken.append(fit_parts(parts))
        if n not in (SIZES[0],):
            remove(parts)
    rows = []
    for each in taken:
        size = each["n"] * P * 8 / 1e9
        rows.append(
            [
                f"{each['n']:,}",
                f"{size:.2f}",
                f"{each['bare']:.1f}",
                f"{each['fit']:.1f}",
                f"{each['passes']} ({each['whole_passes']})",
                f"{size * each['read'] / each['in_passes']:.2f}",
                f"{size / each['bare']:.2f}",
                f"{each['in_passes'] / each['read'] / each['bare']:.2f}",
                f"{max(each['peaks']):.0f}",
                f"{each['rand']:.4f}",
            ]
        )
    return rows, taken


def remove(folder):
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def exponent(taken, key):
    """Return the exponent of the time in n, beyond the smallest table."""
    n, seconds = ([each[name] for each in taken[1:]] for name in ("n", key))
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def at_one_terabyte(taken):
    """Say what a table of 1 TB would take, from the passes over the largest table."""
    each = taken[-1]
    size = each["n"] * P * 8 / 1e9
    rate = size * each["read"] / each["in_passes"]
    hours = 1000 * each["read"] / rate / 3600
    return (
        f"Worked out from this, and not measured: 1 TB as float64, that is {1e12 / P / 8:.3g} rows of {P} columns, has "
        f"{each['read']:.1f} TB to read in {each['passes']} passes, which takes {hours:.1f} hours at {rate:.2f} GB/s "
        "on two cores, and as many times less on a cluster as it reads faster. The labels take one more pass."
    )


def in_memory(folder, expected):
    """Say whether the answer on the smallest table is that of the table in memory."""
    import pandas as pd

    from sparsecluster import SASClustering

    table = pd.read_parquet(folder).drop(columns="group")
    found = SASClustering(n_clusters=3).fit(table)
    assert np.flatnonzero(found.support_).tolist() == expected["features"]
    assert found.feature_scores_.tolist() == expected["scores"]
    assert list(found._kept.sizes) == expected["sizes"]
    return (
        f"On {expected['n']:,} rows, the features, the sizes of the clusters and the scores of all features are bit "
        "for bit those of a fit of the table in memory."
    )


def by_workers(folder):
    """Return rows of the table over the number of worker processes."""
    parts = folder / "workers"
    parts.mkdir()
    write_parts(parts, WORKER_ROWS)
    runs = {
        "1 worker": fit_parts(parts, 1),
        "2 workers": fit_parts(parts, 2),
        "2 workers, one killed": fit_parts(parts, 2, "--kill"),
    }
    one = runs["1 worker"]
    rows = [
        [
            name,
            f"{each['bare']:.1f}",
            f"{each['fit']:.1f}",
            f"{each['in_passes']:.1f}",
            f"{one['in_passes'] / each['in_passes']:.2f}",
            f"{max(each['peaks'][1:]):.0f}",
            "yes" if each["scores"] == one["scores"] and each["sizes"] == one["sizes"] else "no",
        ]
        for name, each in runs.items()
    ]
    remove(parts)
    return rows


def others(folder):
    """Return rows of the table of what a user would pick instead."""
    import dask.dataframe as dd
    from dask_ml.cluster import KMeans
    from sklearn.cluster import MiniBatchKMeans

    from sparsecluster import SASClustering, rand_index

    parts = folder / "others"
    parts.mkdir()
    write_parts(parts, OTHERS_ROWS, OTHERS_P, OTHERS_USEFUL, 0.7)
    table = dd.read_parquet(parts)
    X, truth = table.drop(columns="group"), table["group"].compute().to_numpy()
    rows = []

    def add(name, fit):
        began = time.perf_counter()
        labels = np.asarray(fit())
        rows.append([name, f"{time.perf_counter() - began:.1f}", f"{rand_index(truth, labels):.3f}"])

    def mini_batches():
        model = MiniBatchKMeans(3, random_state=0, n_init=3)
        for block in X.to_delayed():
            model.partial_fit(block.compute().to_numpy())
        return np.concatenate([model.predict(block.compute().to_numpy()) for block in X.to_delayed()])

    array = X.to_dask_array(lengths=True)
    add("SASClustering, tuned", lambda: SASClustering(n_clusters=3).fit(X).labels_)
    add(
        f"SASClustering, s = {OTHERS_USEFUL}",
        lambda: SASClustering(3, n_features_to_select=OTHERS_USEFUL).fit(X).labels_,
    )
    add("dask-ml KMeans, all columns", lambda: KMeans(3, random_state=0).fit(array).labels_)
    add("scikit-learn MiniBatchKMeans, all columns", mini_batches)
    remove(parts)
    return rows


ABOUT = f"""\
Three groups in a row, {P} columns of which {USEFUL} are useful (a shift of {SHIFT}), Parquet files of {ROWS:,} rows
written to a temporary folder; seed 0, one run. The fit chooses s on a sample of 2,000 rows. Each fit runs in a process
of its own whose memory for data the system limits to {LIMIT:,} MB (RLIMIT_DATA), as it does for the workers. The files
were just written, so that they may come from the memory of the system.
"""
BY_SIZE = """\
A bare pass sums the columns with `dask.dataframe` (`X.sum().compute()`) on two threads. Passes of K-means read only the
chosen columns; the number of passes over all columns is in parentheses. GB/s count what is read as float64, for our
passes and for a bare pass. The ratio is the time of one of our passes, per column read, in bare passes.
"""
SIZE_HEAD = "rows|GB|bare pass, s|fit, s|passes (all columns)|GB/s|GB/s, bare|pass / bare pass|peak, MB|Rand index"
BY_WORKERS = f"""\
{WORKER_ROWS:,} rows on a `LocalCluster` with one thread per worker, on two cores. The last column tells whether the
answer is the same bit for bit.
"""
WORKERS_HEAD = "cluster|bare pass, s|fit, s|in passes, s|speed-up of passes|peak of a worker, MB|same"
INSTEAD = f"""\
{OTHERS_ROWS:,} rows, {OTHERS_P} columns of which {OTHERS_USEFUL} are useful (a shift of 0.7); fit and labels of all
rows, on the threads of one process.
"""


def main(repeats=1):
    with tempfile.TemporaryDirectory(prefix="sparsecluster-scale-") as name:
        folder = Path(name)
        rows, taken = by_size(folder)
        same = in_memory(folder / str(SIZES[0]), taken[0])
        workers, instead = by_workers(folder), others(folder)
    growth = (
        f"From {SIZES[1]:,} rows on, the time of the fit grows as n to the power of {exponent(taken, 'fit'):.2f}, that "
        f"of its passes as n to the power of {exponent(taken, 'in_passes'):.2f}, and that of a bare pass as n to the "
        f"power of {exponent(taken, 'bare'):.2f}. {same}"
    )
    parts = [
        ABOUT,
        "## Time against the number of rows",
        BY_SIZE,
        markdown_table(SIZE_HEAD.split("|"), rows),
        growth,
        at_one_terabyte(taken),
        "## Worker processes",
        BY_WORKERS,
        markdown_table(WORKERS_HEAD.split("|"), workers),
        "## What else there is",
        INSTEAD,
        markdown_table(["method", "seconds", "Rand index"], instead),
    ]
    return "Tables larger than memory", "\n\n".join(part.strip() for part in parts)
