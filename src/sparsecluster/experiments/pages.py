"""Writes the pages of an experiment: Markdown, CSV and HTML, and the figure as PNG and SVG."""

from __future__ import annotations

from pathlib import Path

from .._utils.files import write
from .experiment import Experiment, Setting
from .figures import draw
from .render import comma_separated, markdown, web_page
from .runner import Results, load, table_of


def render(experiment: Experiment, folder: Path, setting: Setting) -> list[Path]:
    """Write all pages of an experiment from its table of results.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    folder : Path
        The folder that has the table and gets the pages.
    setting : Setting
        The variant.

    Returns
    -------
    list of Path
        The files that were written.
    """
    table = table_of(experiment, folder, setting)
    results = load(table)
    try:
        return _written(experiment, results, folder, setting)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        # The table holds what earlier runs wrote, and perhaps something else.
        raise ValueError(
            f"{table} does not hold results of {experiment.name} ({type(error).__name__}: {error}). Remove the lines "
            "that are damaged, and their tasks will be run again."
        ) from error


def _written(experiment: Experiment, results: Results, folder: Path, setting: Setting) -> list[Path]:
    suffix = f"-{setting.variant}" if len(experiment.variants) > 1 else ""
    stem = f"{experiment.name}{suffix}"
    written = []
    svg = None
    drawn = draw(experiment, results)
    if drawn is not None:
        png, svg = drawn
        written += [write(folder / f"{stem}.png", png), write(folder / f"{stem}.svg", svg)]
    figure = f"{stem}.png" if drawn is not None else None
    written.append(write(folder / f"{stem}.md", markdown(experiment, results, figure)))
    written.append(write(folder / f"{stem}.html", web_page(experiment, results, svg)))
    if experiment.has_table:
        written.append(write(folder / f"{stem}.csv", comma_separated(experiment, results)))
    return written
