"""From the table of results to what people read: Markdown, CSV and HTML. Nothing is computed but means and spreads."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .base import Cell, Experiment, Printed, values_of
from .contenders import title_of
from .runner import Results

LIMITS = ("limit", "limit-medoids")
HEADINGS = {
    "rand": "Rand index",
    "difference": "symmetric difference",
    "time": "seconds",
    "error": "error rate",
    "n": "n",
    "p": "p",
    "kappa": "kappa",
}
NOT_AVAILABLE, NOT_RUN = "not available", "not run"


class Summary(NamedTuple):
    """A measure of a method in a cell: how many repeats, mean, spread; what the paper prints, and what the limit is."""

    cell: Cell
    method: str
    measure: str
    n: int
    mean: float
    sd: float
    printed: Printed | None
    limit: float | None
    failed: str | None = None

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.n) if self.n > 1 else math.nan


def summarize(experiment: Experiment, results: Results, measure: str) -> list[Summary]:
    """A summary for every cell and method that the experiment has, run or not."""
    values: dict[tuple[Any, ...], list[float]] = {}
    for row in results.rows():
        if row.get(measure) is not None:
            key = (*(row[name] for name in experiment.cells[0]), row["method"])
            values.setdefault(key, []).append(float(row[measure]))
    failed = {(*values_of(r.task.cell), r.task.method): r.error for r in results.records if r.error is not None}
    summaries = []
    for cell in experiment.cells:
        at = values_of(cell)
        limit = values.get((*at, "limit"))
        for method in (*experiment.methods, *experiment.unavailable):
            found = values.get((*at, method), [])
            summaries.append(
                Summary(
                    cell,
                    method,
                    measure,
                    len(found),
                    float(np.mean(found)) if found else math.nan,
                    float(np.std(found, ddof=1)) if len(found) > 1 else math.nan,
                    experiment.printed.get(measure, {}).get(at, {}).get(method),
                    float(np.mean(limit)) if limit and method not in LIMITS else None,
                    failed.get((*at, method)),
                )
            )
    return summaries


# ---------------------------------------------------------------- cells


def digits(measure: str) -> int:
    """Decimals that a measure is shown with."""
    return {"rand": 3, "error": 3, "time": 3, "difference": 1}.get(measure, 0)


def shown(value: float, measure: str, sign: bool = False) -> str:
    """A number without a leading zero, as the paper's tables have it."""
    if math.isnan(value):
        return ""
    text = f"{value:{'+' if sign else ''}.{digits(measure)}f}"
    return text.replace("0.", ".", 1) if measure in ("rand", "error") and abs(value) < 1 else text


def lines_of(summary: Summary, unavailable: Sequence[str]) -> list[str]:
    """What stands in a cell: ours, the paper's and the difference, the limit and the difference."""
    measure = summary.measure
    if summary.method in unavailable:
        paper = summary.printed
        return [NOT_AVAILABLE, *([f"paper {shown(paper[0], measure)}"] if paper else [])]
    if not summary.n:
        return ["failed" if summary.failed else NOT_RUN]
    spread = f" ({shown(summary.sd, measure)})" if summary.n > 1 else ""
    lines = [f"{shown(summary.mean, measure)}{spread}"]
    if summary.printed is not None:
        difference = shown(summary.mean - summary.printed[0], measure, sign=True)
        lines.append(f"paper {shown(summary.printed[0], measure)} ({difference})")
    if summary.limit is not None and measure == "rand":
        difference = shown(summary.mean - summary.limit, measure, sign=True)
        lines.append(f"limit {shown(summary.limit, measure)} ({difference})")
    return lines


class Grid(NamedTuple):
    """A table ready to be written: heading, columns, and rows of cells that have several lines each."""

    heading: str
    header: list[str]
    rows: list[list[list[str]]]


def grids(experiment: Experiment, results: Results) -> list[Grid]:
    """One grid a measure: a row for every method in every block, a column for every value of `across`."""
    made = []
    for measure in experiment.measures:
        summaries = summarize(experiment, results, measure)
        block_keys = [key for key in experiment.cells[0] if key != experiment.across]
        columns = list(dict.fromkeys(cell.get(experiment.across) for cell in experiment.cells))
        rows: dict[tuple[Any, ...], dict[Any, list[str]]] = {}
        for each in summaries:
            block = tuple(each.cell[key] for key in block_keys)
            column = each.cell.get(experiment.across)
            rows.setdefault((*block, each.method), {})[column] = lines_of(each, experiment.unavailable)
        heads = [f"{experiment.across} = {column}" if experiment.across else HEADINGS[measure] for column in columns]
        header = [*block_keys, "method", *heads]
        body = [
            [
                *([str(value)] for value in key[:-1]),
                [title_of(key[-1])],
                *(cells.get(column, [""]) for column in columns),
            ]
            for key, cells in rows.items()
        ]
        made.append(Grid(HEADINGS.get(measure, measure), header, body))
    return made


# ---------------------------------------------------------------- what the numbers say

OURS = "sas"
# Measures of which a smaller value is better.
SMALLER_IS_BETTER = ("difference", "error", "time")


def findings(experiment: Experiment, results: Results) -> list[str]:
    """How ours compares with the other methods, and each method with what the paper prints, counted over the cells."""
    told = []
    for measure in experiment.measures:
        summaries = [each for each in summarize(experiment, results, measure) if each.n > 1]
        told += [line for line in (_ours(summaries, measure), *_published(summaries, measure)) if line]
        if measure == "time":
            told += _ratios(summaries)
    return told


# Which plain version does the work of which of ours.
PLAIN = {
    "sas-given": "plain-sas",
    "sas-given-published": "plain-sas",
    "sparse-kmeans-given": "plain-sparse-kmeans",
}


def _ratios(summaries: Sequence[Summary]) -> list[str]:
    """How many times as long the plain versions take, in one run: median, least and most over the cells."""
    means = {(values_of(each.cell), each.method): each.mean for each in summaries}
    told = []
    for ours, plain in PLAIN.items():
        own = {at: mean for (at, method), mean in means.items() if method == ours}
        ratios = [means[at, plain] / mean for at, mean in own.items() if (at, plain) in means]
        if ratios:
            told.append(
                f"{title_of(plain)} takes {np.median(ratios):.2g} times as long as {title_of(ours)} in the median cell "
                f"({min(ratios):.2g} to {max(ratios):.2g})."
            )
    return told


def _ours(summaries: Sequence[Summary], measure: str) -> str | None:
    """Cells in which ours is at or above every other method, within one standard error of the difference."""
    sign = -1.0 if measure in SMALLER_IS_BETTER else 1.0
    by_cell: dict[tuple[Any, ...], list[Summary]] = {}
    for each in summaries:
        by_cell.setdefault(values_of(each.cell), []).append(each)
    behind = []
    counted = 0
    for at, found in by_cell.items():
        ours = next((each for each in found if each.method == OURS), None)
        others = [each for each in found if each.method not in (OURS, *LIMITS)]
        if ours is None or not others:
            continue
        counted += 1
        best = max(others, key=lambda each: sign * each.mean)
        if sign * (best.mean - ours.mean) > math.hypot(best.error, ours.error):
            behind.append(f"{', '.join(map(str, at))} ({title_of(best.method)} {shown(best.mean, measure)}, "
                          f"ours {shown(ours.mean, measure)})")  # fmt: skip
    if not counted:
        return None
    where = f"; behind it at {'; '.join(behind)}" if behind else ""
    name = HEADINGS.get(measure, measure)
    return (
        f"By {name}, {title_of(OURS)} is at least as good as the best other method, within one standard error of the "
        f"difference, in {counted - len(behind)} of {counted} cells{where}."
    )


def _published(summaries: Sequence[Summary], measure: str) -> list[str]:
    """For every method that the paper has: cells within three standard errors of what it prints."""
    told = []
    for method in dict.fromkeys(each.method for each in summaries):
        apart = []
        for each in summaries:
            if each.method == method and each.printed is not None and each.printed[1] is not None:
                # The paper's own error, of 50 repeats.
                error = math.hypot(each.error, each.printed[1] / math.sqrt(PAPER_REPEATS))
                apart.append((abs(each.mean - each.printed[0]) / error if error > 0 else 0.0, each))
        if not apart or measure == "time":
            continue
        near = sum(z <= 3 for z, _ in apart)
        farthest = max((each for _, each in apart), key=lambda each: abs(each.mean - (each.printed or (0, 0))[0]))
        difference = shown(farthest.mean - (farthest.printed or (0.0, 0.0))[0], measure, sign=True)
        told.append(
            f"{title_of(method)}: within three standard errors of the paper's {HEADINGS.get(measure, measure)} in "
            f"{near} of {len(apart)} cells; farthest {difference} at {', '.join(map(str, values_of(farthest.cell)))}."
        )
    return told


PAPER_REPEATS = 50


# ---------------------------------------------------------------- pages


def provenance(experiment: Experiment, results: Results) -> list[str]:
    """How the results came about: command, seeds, machine and duration."""
    seeds = sorted({record.task.seed for record in results.records})
    machines = {
        f"{run['cores']} cores, {run['memory']}, Python {run['python']}, sparsecluster {run['version']}"
        for run in results.runs
        if "cores" in run
    }
    commands = dict.fromkeys(run["command"] for run in results.runs if run.get("command"))
    wall = sum(run["seconds"] for run in results.runs if "seconds" in run)
    lines = [f"`{command}`" for command in commands]
    span = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}" if seeds else "no results"
    lines.append(f"{len(seeds)} repeats, {span}; {wall:.0f} s on {'; '.join(sorted(machines)) or 'no machine'}.")
    failures = sorted({record.error for record in results.records if record.error})
    lines += [f"Failed: {error}" for error in failures]
    return lines


def escaped(text: str) -> str:
    """Text that a Markdown table shows as it is."""
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def markdown(experiment: Experiment, results: Results, figure: str | None = None) -> str:
    """The page as Markdown."""
    parts = [f"# {experiment.title}", *([experiment.note] if experiment.note else [])]
    parts.append("\n".join(f"{escaped(line)}  " for line in provenance(experiment, results)))
    if figure:
        parts.append(f"![{experiment.title}]({figure})")
    if experiment.has_table:
        parts.append("\n".join(f"- {escaped(each)}" for each in findings(experiment, results)))
        parts.append(EXPLAINED)
        for grid in grids(experiment, results):
            lines = [grid.header, ["---"] * len(grid.header)]
            lines += [["<br>".join(map(escaped, cell)) for cell in row] for row in grid.rows]
            table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
            parts.append(f"## {grid.heading[0].upper()}{grid.heading[1:]}\n\n{table}")
    return "\n\n".join(part for part in parts if part) + "\n"


EXPLAINED = (
    "Each cell: the mean here (standard deviation); what the paper prints and the difference; the limit, K-means told "
    "the useful features, and the difference."
)


def comma_separated(experiment: Experiment, results: Results) -> str:
    """One line for every cell, method and measure."""
    keys = list(experiment.cells[0])
    columns = ["n", "mean", "sd", "se", "paper_mean", "paper_sd", "limit"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys, "method", "measure", *columns])
    for measure in experiment.measures:
        for each in summarize(experiment, results, measure):
            paper = each.printed or (None, None)
            numbers = [each.n, each.mean, each.sd, each.error, *paper, each.limit]
            cells = ["" if value is None or value != value else value for value in numbers]
            writer.writerow([*values_of(each.cell), each.method, measure, *cells])
    return text.getvalue()


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
small {{ display: block; opacity: .75; }}
svg, img {{ max-width: 100%; height: auto; background: white; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def web_page(experiment: Experiment, results: Results, svg: str | None = None) -> str:
    """The page as one HTML file, the figure in it."""
    body = [f"<p>{html.escape(line)}</p>" for line in (experiment.note, *provenance(experiment, results)) if line]
    if svg:
        # Without the prologue that a file of its own has.
        body.append(svg[svg.index("<svg") :])
    if experiment.has_table:
        body.append(f"<p>{EXPLAINED}</p>")
        for grid in grids(experiment, results):
            head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in grid.header)
            rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in grid.rows)
            body.append(f"<h2>{html.escape(grid.heading)}</h2><div class=scroll><table><thead><tr>{head}</tr></thead>")
            body.append(f"<tbody>{rows}</tbody></table></div>")
    return PAGE.format(title=html.escape(experiment.title), body="\n".join(body))


def _html_cell(lines: Iterable[str]) -> str:
    first, *rest = map(html.escape, lines)
    return f"<td>{first}{''.join(f'<small>{line}</small>' for line in rest)}</td>"
