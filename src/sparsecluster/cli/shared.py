"""Functions that several commands use: reading and preparing the user's table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

import typer


def command_line() -> str:
    """Return the command as the user entered it."""
    return "sparsecluster " + " ".join(map(shlex.quote, sys.argv[1:]))


def load(data: str, *, id_: str | None, truth: str | None, drop: str, transpose: bool, **options: Any) -> Any:
    """Read the user's table."""
    from ..io import Options, read_table

    left_out = tuple(name.strip() for name in drop.split(",") if name.strip())
    return read_table(data, id_column=id_, truth=truth, drop=left_out, transpose=transpose, options=Options(**options))


def prepared(X: Any, preset: Mapping[str, Any] | None) -> Any:
    """Prepare a table as the preset says, and keep the names of its rows and columns."""
    if preset is None:
        return X
    from ..preprocessing import ExpressionScaler

    scaler = ExpressionScaler(log=preset["log"])
    values = scaler.fit_transform(X.toarray() if hasattr(X, "toarray") else X)
    if hasattr(X, "columns"):
        import pandas as pd

        return pd.DataFrame(values, index=X.index, columns=X.columns)
    return values


def preset_of(word: str | None, X: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """Return what a preset does to this table, as a dictionary and as notes."""
    from .._utils.checks import check_choice

    if word is None:
        return None, []
    check_choice("--preset", word, ["expression"])
    from ..preprocessing import ExpressionScaler

    log = ExpressionScaler().fit(X.toarray() if hasattr(X, "toarray") else X).log_
    told = "the values were transformed by log2(1 + x), and " if log else ""
    return {"name": "expression", "log": log}, [f"Preset expression: {told}each sample was centered and scaled."]


def say(text: str, quiet: bool) -> None:
    """Print a line, unless the command is quiet."""
    if not quiet:
        typer.echo(text)
