"""What a user sees when something is wrong: one line and an exit code that scripts can use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import typer

F = TypeVar("F", bound=Callable[..., Any])

# Wrong use or unusable input; interrupted.
WRONG_INPUT, INTERRUPTED = 2, 130


def fail(message: str) -> NoReturn:
    """Say what is wrong and end."""
    typer.echo(f"Error: {' '.join(message.split())}", err=True)
    raise typer.Exit(WRONG_INPUT)


def plainly(command: F) -> F:
    """A command whose errors about input are one line, and which Ctrl-C ends at once."""

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
