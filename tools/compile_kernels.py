"""Compile the kernels ahead of time, so that the first fit on a machine need not wait for the compiler.

Kernels are compiled by fitting small tables, as users do. `python tools/compile_kernels.py` compiles those of numbers
into `src/sparsecluster/_kernels/compiled`, which Git ignores, and with `--all` those of every kind of table and every
method. `hatch_build.py` puts them into wheels. With `--cache` the others are compiled into Numba's own cache: tests
need them all, and run in several processes, each of which would compile them.
"""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from sparsecluster._kernels import _ahead


def fit_numbers():
    """What most fits of numbers need: s and k given and chosen, few and many samples, new samples, and the evidence."""
    import numpy as np

    from sparsecluster import SASClustering, assess

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    tuned = SASClustering(3).fit(X)
    tuned.predict(X)
    assess(tuned, X)
    SASClustering("auto", criterion="bic").fit(X)
    SASClustering(3, n_features_to_select=5).fit(rng.standard_normal((2500, 20)))


def fit_more_numbers():
    """The search as published, and single precision."""
    import numpy as np

    from sparsecluster import SASClustering

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    as_published = {"null": "fixed", "init": "coordinate", "n_init": 1}
    for table, parameters in (
        (X, {"search": "grid", **as_published}),
        (rng.standard_normal((700, 8)), {"search": "grid", "step": 4, **as_published}),
        (X, {"null": "fixed"}),
        (X.astype(np.float32), {}),
    ):
        SASClustering(3, **parameters).fit(table)


def fit_other_tables():
    """Missing values, categories, both beside numbers, sparse matrices, and other dissimilarities."""
    import numpy as np
    import scipy.sparse

    from sparsecluster import SASClustering

    rng = np.random.default_rng(0)
    X, levels = rng.standard_normal((60, 12)), rng.integers(0, 4, (60, 8))
    beside = np.hstack([X, levels])
    for table, parameters in (
        (np.where(rng.random(X.shape) < 0.1, np.nan, X), {}),
        (levels, {"metric": "hamming"}),
        (np.where(levels == 3, np.nan, levels), {"metric": "hamming"}),
        (X, {"metric": "manhattan"}),
        (scipy.sparse.random(60, 30, 0.2, format="csr", random_state=0), {}),
        (np.abs(X.T[:, :, None] - X.T[:, None, :]), {"metric": "precomputed"}),
        (beside, {"metric": dict.fromkeys(range(12, 20), "hamming")}),
        (np.where(beside > 2.5, np.nan, beside), {"metric": dict.fromkeys(range(12, 20), "hamming")}),
    ):
        SASClustering(3, **parameters).fit(table)


def fit_methods():
    """Every method on numbers."""
    from sparsecluster.datasets import shifted_groups
    from sparsecluster.methods.registry import METHODS

    X = shifted_groups(mu=2.0, n_features=12, n_useful=6, group_size=20).X
    for method in METHODS.values():
        with suppress(ImportError):  # K-medoids are an extra
            method.make(3).fit(X)


def fit_as_tests_do():
    """What tests fit besides: other layouts, precisions and parameters, clusters by other means, and blocks."""
    import numpy as np
    import pandas as pd
    import scipy.sparse

    from sparsecluster import SASClustering, SparseKMeans, assess
    from sparsecluster.methods.registry import make_method

    rng = np.random.default_rng(0)
    X, levels = rng.standard_normal((60, 12)), rng.integers(0, 4, (60, 8))
    frame = pd.DataFrame(X).add_prefix("x")
    given = {"n_features_to_select": 3}
    for table, parameters in (
        (frame.assign(word=np.array(["a", "b", None])[rng.integers(0, 3, 60)]), {}),
        (levels, {"metric": "hamming", "standardize": False, **given}),
        (X, {"clusterer": "partition", **given}),
        (np.abs(X.T[:, :, None] - X.T[:, None, :]).astype(np.float32), {"metric": "precomputed"}),
        (scipy.sparse.random(60, 30, 0.2, format="csc", random_state=0), {}),
    ):
        SASClustering(3, **parameters).fit(table)
    assess(SASClustering(3, metric="manhattan"), frame, n_copies=1, n_paths=1, n_repeats=1, n_splits=1)
    SparseKMeans(3).fit(X.astype(np.float32))
    for name in ("pairwise-fusion", "ahp-gmm"):
        make_method(name, 2).fit(X)
    large, sparse = rng.standard_normal((2500, 6)), scipy.sparse.random(2500, 20, 0.2, format="csr", random_state=0)
    words = pd.DataFrame(large).add_prefix("x").assign(word=np.array(["a", "b", None])[rng.integers(0, 3, 2500)])
    for table in (large, large.astype(np.float32), words, sparse, sparse.astype(np.float32)):
        SASClustering(3, subsample=400, **given).fit(table)


# What is compiled side by side, by the names of the functions: in wheels that are published, and everywhere else, where
# compiling what may never be needed would only keep people waiting.
ALL = (("fit_numbers", "fit_more_numbers"), ("fit_other_tables", "fit_methods"))
BASIC = (("fit_numbers",),)
# What is in the first but not in the second, and what only tests need.
REST = (("fit_more_numbers", "fit_other_tables"), ("fit_methods", "fit_as_tests_do"))


def practise(names):
    """Do what users do, so that Numba compiles what that takes."""
    gc.disable()  # Numba makes millions of objects, among which little is garbage
    warnings.simplefilter("ignore")
    for name in names:
        globals()[name]()


def side_by_side(parts, environments):
    """Practise every part in a process of its own, all at the same time."""
    running = [
        subprocess.Popen([sys.executable, __file__, *names], env=os.environ | environment)
        for names, environment in zip(parts, environments, strict=True)
    ]
    returned = [process.wait() for process in running]
    if any(returned):
        raise RuntimeError("A process that compiles kernels has failed; its messages are above.")


def compile_into(folder, parts=BASIC):
    """Fill `folder`, which is made, with the compiled kernels. Returns how many there are."""
    made_for = _ahead.processor()
    if made_for is None:
        return 0
    asked = {"NUMBA_CPU_NAME": made_for.name, "NUMBA_CPU_FEATURES": ""}
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch, str(number)) for number in range(len(parts))]
        for each in folders:
            each.mkdir()
        side_by_side(parts, [asked | {_ahead.VARIABLE: str(each), "SPARSECLUSTER_CACHE": scratch} for each in folders])
        whole = Path(scratch, "whole")
        whole.mkdir()
        for each in folders:
            _ahead.copy_compiled(each, whole)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(whole, folder)
    return len(list(Path(folder).glob("*.nbc")))


def fill_cache():
    """Compile into Numba's own cache what is not compiled for everybody."""
    with tempfile.TemporaryDirectory() as scratch:
        side_by_side(REST, [{"SPARSECLUSTER_CACHE": scratch}] * len(REST))


if __name__ == "__main__":
    if sys.argv[1:] == ["--cache"]:
        fill_cache()
    elif sys.argv[1:] in ([], ["--all"]):
        count = compile_into(_ahead.COMPILED, ALL if sys.argv[1:] else BASIC)
        print(f"{count} kernels compiled into {os.path.relpath(_ahead.COMPILED)}")
    else:
        practise(sys.argv[1:])
