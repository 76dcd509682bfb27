"""Functions by which several commands print and write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from .._utils.text import visible
from .errors import tell


def say(text: str, *, stands_out: bool = False) -> None:
    """Print a line, which a terminal may show in a color that stands out."""
    if stands_out:
        typer.secho(visible(text), fg="yellow", bold=True)
    else:
        tell(text)


def say_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON."""
    typer.echo(json_text(value, indent))


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, in which control characters and all letters beyond ASCII are escaped."""
    # JSON leaves this one as it is.
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")


# The width of what is printed if there is no terminal, where lines need not be broken.
NO_TERMINAL = 100_000


def console() -> Any:
    """Return a console of rich, which leaves it to the command what to do if its output is closed."""
    from rich.console import Console

    class OurConsole(Console):
        def on_broken_pipe(self) -> None:
            raise

    made = OurConsole(highlight=False)
    # Without a terminal, rich would break lines at 80 letters. The variable COLUMNS still sets the width.
    if not made.is_terminal and not os.environ.get("COLUMNS"):
        made.width = NO_TERMINAL
    return made


def show_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table. Names that are too long for the terminal go on in the next line, and nothing is cut off."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None)
    for name in header:
        table.add_column(escape(name), overflow="fold")
    for row in rows:
        table.add_row(*(escape(visible(cell)) for cell in row))
    console().print(table)


def put(text: str | Iterable[str], out: Path | None) -> bool:
    """Write text, as a whole or in parts, to a file; "-" or None is standard output. Return whether it was a file."""
    from .._utils.files import write

    is_file = out is not None and str(out) != "-"
    if out is not None and is_file:
        write(out, text)
    else:
        # Whatever is wrong with a part is told before anything is printed.
        typer.echo("".join(text), nl=False)
    return is_file
