"""From the results to pages in Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .._utils.markdown import escaped, markdown_table
from .contenders import title_of
from .experiment import Experiment, values_of
from .findings import findings
from .runner import Results
from .summary import HEADINGS, Summary, shown, summaries_of

NOT_AVAILABLE, NOT_RUN = "not available", "not run"


# ---------------------------------------------------------------- cells


def lines_of(summary: Summary, unavailable: Sequence[str]) -> list[str]:
    """Write the lines of a cell: our mean, the paper's with the difference, and the limit with the difference."""
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
    """A table: its heading, its header, and rows of cells that have several lines each."""

    heading: str
    header: list[str]
    rows: list[list[list[str]]]


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
        A table has one row for every method in every block of cells and one column for every value of `across`.
    """
    made = []
    for measure in experiment.measures:
        summaries = summaries_of(experiment, results, measure)
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


# ---------------------------------------------------------------- pages


def provenance(experiment: Experiment, results: Results) -> list[str]:
    """Write how the results were obtained: the commands, the seeds, the machines and the duration."""
    seeds = sorted({record.task.seed for record in results.records})
    machines = {
        f"{run['cores']} cores, {run['memory']}, Python {run['python']}, sparsecluster {run['version']}"
        for run in results.runs
        if "cores" in run
    }
    commands = dict.fromkeys(run["command"] for run in results.runs if run.get("command"))
    wall = sum(run["seconds"] for run in results.runs if "seconds" in run)
    lines = [f"`{command}`" for command in commands]
    if seeds:
        one = len(seeds) == 1
        repeats = f"1 repeat, seed {seeds[0]}" if one else f"{len(seeds)} repeats, seeds {seeds[0]} to {seeds[-1]}"
        lines.append(f"{repeats}; {wall:.0f} s on {'; '.join(sorted(machines)) or 'an unknown machine'}.")
    else:
        lines.append("There are no results yet.")
    failures = sorted({record.error for record in results.records if record.error})
    lines += [f"Failed: {error}" for error in failures]
    return lines


def markdown(experiment: Experiment, results: Results, figure: str | None = None) -> str:
    """Write the page in Markdown.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results.
    figure : str or None, default=None
        The file of the figure.

    Returns
    -------
    str
    """
    parts = [f"# {experiment.title}", *([experiment.note] if experiment.note else [])]
    parts.append("\n".join(f"{escaped(line)}  " for line in provenance(experiment, results)))
    if figure:
        parts.append(f"![{experiment.title}]({figure})")
    if experiment.has_table:
        parts.append("\n".join(f"- {escaped(each)}" for each in findings(experiment, results)))
        parts.append(EXPLAINED)
        for grid in grids(experiment, results):
            rows = [["<br>".join(map(escaped, cell)) for cell in row] for row in grid.rows]
            table = markdown_table(grid.header, rows)
            parts.append(f"## {grid.heading[0].upper()}{grid.heading[1:]}\n\n{table}")
    return "\n\n".join(part for part in parts if part) + "\n"


EXPLAINED = (
    "Every cell shows our mean (and standard deviation); the paper's mean (and how much ours differs from it); and the "
    "limit, which is the mean of K-means told the useful features (and how much ours differs from it)."
)


def comma_separated(experiment: Experiment, results: Results) -> str:
    """Write the summaries as CSV, one line for every cell, method and measure.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results.

    Returns
    -------
    str
    """
    keys = list(experiment.cells[0])
    columns = ["n", "mean", "sd", "se", "paper_mean", "paper_sd", "limit"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys, "method", "measure", *columns])
    for measure in experiment.measures:
        for each in summaries_of(experiment, results, measure):
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
    """Write the page as one HTML file that contains the figure.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results.
    svg : str or None, default=None
        The figure.

    Returns
    -------
    str
    """
    body = [f"<p>{html.escape(line)}</p>" for line in (experiment.note, *provenance(experiment, results)) if line]
    if svg:
        # The XML declaration belongs to files of their own only.
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
