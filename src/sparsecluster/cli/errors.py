"""Errors of the command line: one line for the user and an exit code for scripts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import typer

F = TypeVar("F", bound=Callable[..., Any])

# Exit codes for wrong options or input, and for an interrupted command.
WRONG_INPUT, INTERRUPTED = 2, 130


def fail(message: str) -> NoReturn:
    """Print an error in one line and exit."""
    typer.echo(f"Error: {' '.join(message.split())}", err=True)
    raise typer.Exit(WRONG_INPUT)


def plainly(command: F) -> F:
    """Decorate a command so that its errors are printed in one line, and Ctrl-C ends it without a traceback."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except (ValueError, TypeError, ImportError, OSError) as error:
            fail(str(error))
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None

    return wrapped  # type: ignore[return-value]
