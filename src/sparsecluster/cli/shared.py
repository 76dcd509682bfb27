"""What several commands share: reading the user's table, and preparing it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

import typer


def command_line() -> str:
    """The command as the user gave it."""
    return "sparsecluster " + " ".join(map(shlex.quote, sys.argv[1:]))


def load(data: str, *, id_: str | None, truth: str | None, drop: str, transpose: bool, **options: Any) -> Any:
    """The user's table."""
    from ..io import Options, read_table

    left_out = tuple(name.strip() for name in drop.split(",") if name.strip())
    return read_table(data, id_column=id_, truth=truth, drop=left_out, transpose=transpose, options=Options(**options))


def prepared(X: Any, preset: Mapping[str, Any] | None) -> Any:
    """The table as a preset wants it; names of rows and columns stay."""
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
    """What a preset does to this table, in numbers and in words."""
    from .._utils.checks import check_choice

    if word is None:
        return None, []
    check_choice("--preset", word, ["expression"])
    from ..preprocessing import ExpressionScaler

    log = ExpressionScaler().fit(X.toarray() if hasattr(X, "toarray") else X).log_
    told = "log2(1 + x) of all values, then " if log else ""
    return {"name": "expression", "log": log}, [f"preset expression: {told}each sample centered and scaled"]


def say(text: str, quiet: bool) -> None:
    """Print, unless told to be quiet."""
    if not quiet:
        typer.echo(text)
