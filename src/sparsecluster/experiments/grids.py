"""From the results to tables: what every cell says, and how cells are arranged in rows and columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .contenders import title_of
from .experiment import Experiment, values_of
from .runner import Results
from .summary import HEADINGS, SMALLER_IS_BETTER, Summary, shown, summaries_of

NOT_RUN, FAILED = "not run", "failed"


class Entry(NamedTuple):
    """A cell of a table: its lines, and whether it is the best of its row."""

    lines: list[str]
    is_best: bool = False


class Grid(NamedTuple):
    """A table: its heading, its header, its rows, and a remark about it."""

    heading: str
    header: list[str]
    rows: list[list[Entry]]
    remark: str = ""


def lines_of(summary: Summary) -> list[str]:
    """Write the lines of a cell: our mean, the paper's with the difference, and the limit with the difference."""
    measure = summary.measure
    if not summary.n:
        state = FAILED if summary.failed else NOT_RUN
        return [state, *([f"paper {shown(summary.printed[0], measure)}"] if summary.printed else [])]
    spread = f" ({shown(summary.sd, measure)})" if summary.n > 1 else ""
    lines = [f"{shown(summary.mean, measure)}{spread}"]
    if summary.printed is not None:
        difference = shown(summary.mean - summary.printed[0], measure, sign=True)
        lines.append(f"paper {shown(summary.printed[0], measure)} ({difference})")
    if summary.limit is not None and measure == "rand":
        difference = shown(summary.mean - summary.limit, measure, sign=True)
        lines.append(f"limit {shown(summary.limit, measure)} ({difference})")
    return lines


def grids(experiment: Experiment, results: Results) -> list[Grid]:
    """Arrange the results as one table per measure.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results.

    Returns
    -------
    list of Grid
        A table has one column for every value of `across`, and one row for every method in every block of cells. If
        `across` is "method", it has one column for every method and one row for every cell, in which the best method
        is marked; methods of which there is nothing to say are in the remark. Cells without data are left out.
    """
    return [_grid(experiment, results, measure) for measure in experiment.measures]


def _grid(experiment: Experiment, results: Results, measure: str) -> Grid:
    across, absent = experiment.across, results.absent()
    keys = [key for key in (*experiment.cells[0], "method") if key != across]
    rows: dict[tuple[str, ...], dict[Any, Summary]] = {}
    for each in summaries_of(experiment, results, measure):
        if values_of(each.cell) not in absent:
            place = {**each.cell, "method": each.method}
            labels = tuple(title_of(place[key]) if key == "method" else str(place[key]) for key in keys)
            rows.setdefault(labels, {})[place.get(across)] = each
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    heading = HEADINGS.get(measure, measure)
    remark = ""
    best: dict[tuple[str, ...], str] = {}
    if across == "method":
        silent = [name for name in columns if not any(_speaks(row[name]) for row in rows.values())]
        columns = [name for name in columns if name not in silent]
        remark = f"Not run: {'; '.join(map(title_of, silent))}." if silent else ""
        best = {labels: _best(row.values(), measure) for labels, row in rows.items()}
        heads = [title_of(name) for name in columns]
    else:
        heads = [f"{across} = {column}" if across else heading for column in columns]
    body = []
    for labels, row in rows.items():
        entries = [_entry(row[column], best.get(labels)) for column in columns]
        body.append([*(Entry([label]) for label in labels), *entries])
    return Grid(heading, [*keys, *heads], body, remark)


def _entry(summary: Summary, best: str | None) -> Entry:
    is_best = summary.n > 0 and shown(summary.mean, summary.measure) == best
    return Entry(lines_of(summary), is_best)


def _speaks(summary: Summary) -> bool:
    """Whether a cell says more than that the method was not run."""
    return bool(summary.n or summary.printed or summary.failed)


def _best(summaries: Iterable[Summary], measure: str) -> str:
    """Return the best mean as it is shown, so that means that look the same are equally good."""
    means = [each.mean for each in summaries if each.n]
    best = min if measure in SMALLER_IS_BETTER else max
    return shown(best(means), measure) if means else ""
