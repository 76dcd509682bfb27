"""Options that several commands have, each described once."""

from __future__ import annotations

from typing import Annotated

import typer

Id = Annotated[str | None, typer.Option("--id", help="Column with the names of the rows.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file; by default, the first.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; by default, UTF-8.")]
MaxMemory = Annotated[
    str | None,
    typer.Option(help="Memory that reading may take, such as 4GB; by default, 3/4 of the machine's memory."),
]
