"""The command-line interface. It reads options and files, calls the library, and prints errors in one line."""

from __future__ import annotations

import typer

from .._version import __version__
from .app import app as page
from .compare import compare
from .demo import demo
from .errors import keep_streams
from .fit import fit
from .info import info
from .predict import predict
from .reproduce import reproduce
from .small import methods, report, simulate

app = typer.Typer(no_args_is_help=True, add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in (fit, predict, report, info, compare, methods, simulate, reproduce, demo):
    app.command()(command)
app.command("app")(page)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sparsecluster {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Sparse clustering: find the clusters in a table and the few features that distinguish them."""


def main() -> None:
    """Entry point of the `sparsecluster` command."""
    keep_streams()
    app()
