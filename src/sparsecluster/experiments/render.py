"""From the results to pages in Markdown, CSV and HTML."""

from __future__ import annotations

import html

from .._utils.csv import as_csv
from .._utils.markdown import escaped, markdown_table
from .._utils.text import visible
from .experiment import Experiment, values_of
from .findings import findings
from .grids import Entry, grids
from .runner import Results
from .summary import summaries_of


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
        variants = sorted({run["variant"] for run in results.runs if "variant" in run})
        which = f", variant {', '.join(variants)}" if variants and len(experiment.variants) > 1 else ""
        lines.append(f"{repeats}{which}; {wall:.0f} s on {'; '.join(sorted(machines)) or 'an unknown machine'}.")
    else:
        lines.append("There are no results yet.")
    failures = sorted({record.error for record in results.records if record.error and record.has_data})
    lines += [f"Failed: {error}" for error in failures]
    absent = results.absent()
    names = [str(name) for cell in experiment.cells if values_of(cell) in absent for name in values_of(cell)]
    if names:
        lines.append(f"Data sets that were not found: {', '.join(names)}.")
    return lines


def explained(experiment: Experiment) -> str:
    """Write what a cell of the tables shows."""
    if experiment.one_repeat:
        return ""
    parts = ["our mean (and standard deviation)"]
    if experiment.printed:
        parts.append("the paper's value (and how much ours differs from it)")
    if "limit" in experiment.methods and "rand" in experiment.measures:
        parts.append(
            "the limit, which is the mean of K-means with the useful features given (and how much ours differs from it)"
        )
    *first, last = parts
    best = " The best of our means in every row is in bold." if experiment.across == "method" else ""
    return f"Every cell shows {'; '.join([*first, f'and {last}' if first else last])}.{best}"


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
        parts.append(explained(experiment))
        for grid in grids(experiment, results):
            table = markdown_table(grid.header, [[_markdown_cell(entry) for entry in row] for row in grid.rows])
            parts += [f"## {grid.heading[0].upper()}{grid.heading[1:]}", escaped(grid.remark), table]
    return "\n\n".join(part for part in parts if part) + "\n"


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
    rows = []
    for measure in experiment.measures:
        for each in summaries_of(experiment, results, measure):
            paper = each.printed or (None, None)
            numbers = [each.n, each.mean, each.sd, each.error, *paper, each.limit]
            rows.append([*values_of(each.cell), each.method, measure, *numbers])
    return as_csv([*keys, "method", "measure", *columns], rows)


# White space in a page.
WHITE = "\n\t"
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
    body = _paragraphs(experiment.note, *provenance(experiment, results))
    if svg:
        # The XML declaration belongs to files of their own only.
        body.append(svg[svg.index("<svg") :])
    if experiment.has_table:
        body += _paragraphs(explained(experiment))
        for grid in grids(experiment, results):
            head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in grid.header)
            rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in grid.rows)
            body += [f"<h2>{html.escape(grid.heading)}</h2>", *_paragraphs(grid.remark)]
            body.append(f"<div class=scroll><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>")
    return PAGE.format(title=html.escape(experiment.title), body="\n".join(body))


def _paragraphs(*texts: str) -> list[str]:
    return [f"<p>{html.escape(visible(text, keep=WHITE))}</p>" for text in texts if text]


def _markdown_cell(entry: Entry) -> str:
    first, *rest = map(escaped, entry.lines)
    return "<br>".join([f"**{first}**" if entry.is_best else first, *rest])


def _html_cell(entry: Entry) -> str:
    first, *rest = (html.escape(visible(line)) for line in entry.lines)
    shown = f"<b>{first}</b>" if entry.is_best else first
    return f"<td>{shown}{''.join(f'<small>{line}</small>' for line in rest)}</td>"
