"""Fitting and predicting tables in parts: nothing of the size of the table is ever in this process."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .._utils.journal import Journal
    from ..inspection import View
    from ..io.parts import Parts

# Ways to compare columns for which a pass over blocks is enough.
IN_BLOCKS = ("auto", "sqeuclidean", "hamming")


class Fitted(NamedTuple):
    """A fit of a table in parts: the estimator, a view of a random sample, warnings, and the journal of the fit."""

    estimator: Any
    view: View
    warned: list[str]
    journal: Journal


@contextmanager
def passes(scheduler: str | None, jobs: int, verbose: Any) -> Iterator[None]:
    """Run passes over blocks in threads of this process, unless there is a cluster, and show how far they are."""
    import joblib

    from .._blocks.watch import passes_shown

    with passes_shown(verbose):
        if scheduler is not None:
            yield
            return
        from dask.config import set as dask_set

        with dask_set(scheduler="threads", num_workers=joblib.effective_n_jobs(jobs)):
            yield


def fits_in_blocks(estimator: Any, n_samples: int) -> bool:
    """Whether an estimator fits so many samples in blocks; otherwise, it needs all of them in memory."""
    from ..methods.sas import SASClustering

    is_possible = isinstance(estimator, SASClustering) and not estimator.trim and estimator.metric in IN_BLOCKS
    return is_possible and n_samples > estimator.subsample


def fit_parts(
    estimator: Any, parts: Parts, preset: dict[str, Any] | None = None, alternative: int | None = None
) -> Fitted:
    """Fit a table in parts, which a preset may have changed. A fit that was interrupted continues where it stopped."""
    from .._utils.journal import recorded
    from .._utils.resume import name_of
    from ..inspection._fitted import inspect_sample
    from ..methods._large import fit_in_blocks
    from .alternatives import chosen

    # The table is not read for its name, but other files, and files that have changed, are another table.
    files = [state_of(Path(file)) for file in dict.fromkeys(parts.files)]
    name = name_of("fit-parts", {**estimator.get_params(), "columns": parts.names, "preset": preset}, files)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with recorded(name) as journal:
            large = fit_in_blocks(estimator, parts.X)
    assert large is not None
    found = chosen(estimator, alternative)
    view = inspect_sample(found, large.sample, parts.names)
    drawn = (
        f"The figures, the list of samples and the agreement with other clusterings are drawn from a random sample of "
        f"{view.labels.size:,} of {view.n_samples:,} samples. Sizes, scores and centers are those of all samples."
    )
    return Fitted(found, view, [*messages(caught), drawn], journal)


def state_of(file: Path) -> list[tuple[str, int, int]]:
    """The names, sizes and times of a file, or of all files in a folder."""
    inside = sorted(path for path in file.rglob("*") if path.is_file()) if file.is_dir() else [file]
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in inside]


def messages(caught: Sequence[Any]) -> list[str]:
    """The texts of warnings for the user, each of them once."""
    return list(dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, UserWarning)))


# ---------------------------------------------------------------- labels in parts


class Written(NamedTuple):
    """What the writer of a part reports: samples by group and cluster, notes, and an error of the operating system."""

    counts: Counter[tuple[str, int]]
    notes: list[str]
    error: tuple[int | None, str] | None = None


def put_labels(folder: Path, parts: Parts, labels: Callable[[], list[Any]]) -> list[Written]:
    """Write part-00000.parquet, ... with the labels of each block; each is written by the worker that computes them.

    Parameters
    ----------
    folder : Path
        Where to write. On a cluster, all workers must see it.
    parts : Parts
        The table, with its ids and true groups.
    labels : callable
        Function that returns, for each block, a task whose result is a dict of columns of labels, and notes.
    """
    from dask.base import compute
    from dask.delayed import delayed

    from .._blocks.collections import RefusedError
    from .._blocks.watch import one_pass
    from .._utils.files import REASONS, WriteError, writing

    with writing(folder):
        folder.mkdir(exist_ok=True)
    columns = [column for column in (parts.id_column, parts.truth) if column is not None]
    made = labels()
    about = parts.table[columns].to_delayed() if columns else [None] * len(made)
    write = delayed(partial(put_part, id_column=parts.id_column, truth=parts.truth), pure=False, traverse=False)
    files = [folder / f"part-{number:05d}.parquet" for number in range(len(made))]
    tasks = [write(own, frame, str(file)) for own, frame, file in zip(made, about, files, strict=True)]
    try:
        with one_pass(put_part.__name__, len(tasks)):
            written: list[Written] = list(compute(*tasks))
    except RefusedError as error:
        raise ValueError(str(error)) from None
    for each, file in zip(written, files, strict=True):
        if each.error is not None:
            number, reason = each.error
            raise WriteError(file, REASONS.get(number or 0) or f"{reason}. Choose another place", number)
        if not file.exists():
            raise WriteError(
                file, "the workers of the cluster write to another disk. Choose a folder that all of them share"
            )
    return written


def put_part(
    labels: tuple[dict[str, Any], list[str]], about: Any, file: str, *, id_column: str | None, truth: str | None
) -> Written:
    """Write the labels of one block, and count its samples by true group and cluster."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    columns, notes = labels
    ids = {} if id_column is None else {"id": pa.array(about[id_column].astype(str), pa.string())}
    counts = (
        Counter() if truth is None else Counter(zip(about[truth].astype(str), columns["cluster"].tolist(), strict=True))
    )
    try:
        write_table(pa.table({**ids, **columns}), file)
    except OSError as error:
        return Written(counts, notes, (error.errno, error.strerror or str(error)))
    return Written(counts, notes)


def fitted_labels(estimator: Any) -> list[Any]:
    """For each block, a task for its clusters, and for those of the alternatives."""
    from dask.delayed import delayed

    others = [each.estimator for each in estimator.alternatives_]
    names = ["cluster", *(f"alternative_{number}" for number in range(len(others)))]
    blocks = [each.labels_.to_delayed().ravel() for each in (estimator, *others)]
    join = delayed(partial(named_columns, names=names), pure=False, traverse=False)
    return [join(list(own)) for own in zip(*blocks, strict=True)]


def named_columns(labels: list[Any], names: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Columns of labels by their names, without notes."""
    return dict(zip(names, labels, strict=True)), []


def put_fitted_labels(folder: Path, estimator: Any, parts: Parts) -> dict[str, Any]:
    """Write the labels of a fit, and return the agreement with the true groups if these are known."""
    written = put_labels(folder, parts, partial(fitted_labels, estimator))
    return {} if parts.truth is None else {"truth": agreement(written)}


def agreement(written: list[Written]) -> dict[str, float]:
    """The agreement of the clusters with the true groups of all samples."""
    import numpy as np

    from ..metrics.agreement import measures_of

    counts: Counter[tuple[str, int]] = sum((each.counts for each in written), Counter())
    groups, clusters = sorted({group for group, _ in counts}), sorted({cluster for _, cluster in counts})
    return measures_of(np.array([[counts[group, cluster] for cluster in clusters] for group in groups]))


# ---------------------------------------------------------------- predict


def predict_parts(saved: Any, parts: Parts, out: Path) -> list[str]:
    """Write the nearest clusters of the samples of all parts into a folder, and return notes."""
    from .._utils.folders import replaced
    from .results import PREDICT

    with replaced(out, PREDICT) as new:
        written = put_labels(new, parts, partial(predicted_labels, saved, parts))
    return list(dict.fromkeys(note for each in written for note in each.notes))


def predicted_labels(saved: Any, parts: Parts) -> list[Any]:
    """For each block, a task for the nearest clusters of its samples."""
    from dask.delayed import delayed

    # The columns of the model in their order; a model without names takes the columns as they are.
    X = parts.X if saved.names is None else parts.X[list(saved.names)]
    by = delayed(partial(predicted_block, saved=saved), pure=False, traverse=False)
    return [by(block) for block in X.to_delayed()]


def predicted_block(block: Any, saved: Any) -> tuple[dict[str, Any], list[str]]:
    """Where the samples of one block are, and what there is to say about them."""
    from .._blocks.collections import RefusedError

    # A block without rows has the same columns: those of a row of missing values, without the row.
    given = block if len(block) else block.reindex([0])
    try:
        columns, notes = predicted(saved, given)
    except ValueError as error:
        raise RefusedError(str(error)) from error
    return {name: values[: len(block)] for name, values in columns.items()}, notes if len(block) else []


def predicted(saved: Any, X: Any) -> tuple[dict[str, Any], list[str]]:
    """Where samples are, as columns by name, and notes; the table has the columns of the model in their order."""
    from ..inspection import place_samples
    from .tables import prepared

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # A matrix has no column names, but its columns are in the right order.
        warnings.filterwarnings("ignore", "X (has|does not have valid) feature names", UserWarning)
        return place_samples(saved.estimator, prepared(X, saved.preset)).columns(), messages(caught)


# ---------------------------------------------------------------- info


def described_parts(parts: Parts, metric: Any) -> tuple[int, list[dict[str, Any]]]:
    """The number of samples, and a description of each column as of `describe_columns`; one pass.

    How many different values a column of numbers has is not counted.
    """
    from .._blocks.collections import Collection
    from .._blocks.look import first_look, learned
    from .._data.metric import asked_by_column
    from ..inspection.columns import problem_of

    asked = asked_by_column(metric, parts.names)
    with passes(None, -1, "auto"):
        found = first_look(Collection.of(parts.X), parts.names, asked)
    n, columns = found.n_samples, []
    for a, (name, kind) in enumerate(zip(parts.names, learned(found, parts.names, asked), strict=True)):
        levels = found.levels.get(a)
        seen = int(found.seen[a]) if levels is None else levels.counts.total()
        low, high = found.low[a], found.high[a]
        values = len(levels.counts) if levels else 0 if not seen else 1 if low == high else 2
        example = f"{low:g} to {high:g}" if not levels else str(next(iter(levels.counts), ""))
        columns.append(
            {
                "name": str(name),
                "type": "levels" if levels else "numbers",
                "metric": kind.name,
                "compared by": kind.words,
                "values": values,
                "missing": round(1 - seen / n, 6),
                "example": example if seen else "",
                "problem": problem_of(values, seen, n),
                **({"least": True} if not levels and values == 2 else {}),
            }
        )
    return n, columns
