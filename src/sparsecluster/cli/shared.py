"""Functions that several commands use: reading and preparing the user's table."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from .._utils.text import brief, visible
from .errors import tell


def command_line() -> str:
    """Return the command as the user entered it."""
    return "sparsecluster " + " ".join(map(shlex.quote, sys.argv[1:]))


# The largest number of numbers of clusters to choose from.
MOST_NUMBERS = 1000


def clusters_of(text: str) -> int | list[int] | str:
    """Return the number of clusters that an option asks for, several of them to choose from, or "auto".

    >>> clusters_of("3"), clusters_of("2-5"), clusters_of("2,4,8"), clusters_of("auto")
    (3, [2, 3, 4, 5], [2, 4, 8], 'auto')
    """
    if text == "auto":
        return text
    first, dash, last = text.partition("-")
    try:
        asked = range(int(first), int(last) + 1) if dash else [int(each) for each in text.split(",")]
    except ValueError:
        asked = []
    numbers = list(asked[: MOST_NUMBERS + 1])
    if len(numbers) > MOST_NUMBERS:
        raise ValueError(f"-k must be at most {MOST_NUMBERS} numbers; got {brief(text)}. Use a smaller range.")
    if not numbers or min(numbers) < 2:
        raise ValueError(
            "-k must be a whole number of at least 2, several such as 2,4,8, a range such as 2-6, with the smaller "
            f'number first, or "auto"; got {brief(text)}.'
        )
    return numbers if len(numbers) > 1 else numbers[0]


def load(data: str, *, id_: str | None, truth: str | None, drop: str, transpose: bool, **options: Any) -> Any:
    """Read the user's table."""
    from ..io import read_table

    return read_table(data, truth=truth, transpose=transpose, **asked(id_, drop, **options))


def asked(id_: str | None, drop: str, like: Any = None, **options: Any) -> dict[str, Any]:
    """Return the options of a command that say how a table is read."""
    from ..io import Options

    left_out = tuple(name.strip() for name in drop.split(",") if name.strip())
    return {"id_column": id_, "drop": left_out, "options": Options(**options), "like": like}


def load_or_open(
    data: Sequence[str], *, id_: str | None, truth: str | None, drop: str, transpose: bool, **options: Any
) -> Any:
    """Read the user's table or, if it comes in parts or is larger than memory, open it."""
    from ..io.parts import read_or_open

    return read_or_open(data, truth=truth, transpose=transpose, **asked(id_, drop, **options))


def prepared(X: Any, preset: Mapping[str, Any] | None) -> Any:
    """Prepare a table as the preset says, and keep the names of its rows and columns."""
    if preset is None:
        return X
    from ..preprocessing import ExpressionScaler

    return ExpressionScaler.from_dict(preset, X).transform(X)


COUNTS = (
    "The values look like counts, and the totals of the samples are very different, so that the clusters may reflect "
    "the totals. If these are counts of genes, use --preset expression."
)


def preset_of(word: str | None, X: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """Return what a preset does to this table, as a dictionary and as notes; without one, a note if one is needed."""
    from ..preprocessing import ExpressionScaler, looks_like_counts

    if word is None:
        return None, [COUNTS] if looks_like_counts(X) else []
    scaler = ExpressionScaler().fit(X)
    return {"name": word, **scaler.to_dict()}, [f"Preset {word}: {scaler.describe()}. Genes were not scaled."]


def say(text: str, quiet: bool, *, stands_out: bool = False) -> None:
    """Print a line, which a terminal may show in a color that stands out, unless the command is quiet."""
    if not quiet and stands_out:
        typer.secho(visible(text), fg="yellow", bold=True)
    elif not quiet:
        tell(text)


def say_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON, in which control characters and all letters beyond ASCII are escaped."""
    # JSON leaves this one as it is.
    typer.echo(json.dumps(value, indent=indent).replace("\x7f", "\\u007f"))


def console() -> Any:
    """Return a console of rich for tables, which leaves it to the command what to do if its output is closed."""
    from rich.console import Console

    class OurConsole(Console):
        def on_broken_pipe(self) -> None:
            raise

    return OurConsole(highlight=False)


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
