"""How commands end: one line for the user if something is wrong, and an exit code for scripts."""

from __future__ import annotations

import functools
import io
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

import typer

from .._utils.text import one_line, visible
from .words import in_options

F = TypeVar("F", bound=Callable[..., Any])

# Exit codes for wrong options or input, for an error in this package, and for an interrupted command.
WRONG_INPUT, BUG, INTERRUPTED = 2, 70, 130
# An environment variable that asks for the traceback of an error.
DEBUG = "SPARSECLUSTER_DEBUG"


def tell(text: object, err: bool = False) -> None:
    """Print a line, in which control characters are shown escaped."""
    typer.echo(visible(text), err=err)


def fail(message: str, code: int = WRONG_INPUT) -> NoReturn:
    """Print an error in one line of limited length and exit."""
    if os.environ.get(DEBUG):
        typer.echo(visible(traceback.format_exc(), keep="\n"), err=True)
    with suppress(OSError):
        typer.echo(f"Error: {one_line(in_options(message))}", err=True)
    discard_output()
    raise typer.Exit(code)


def plainly(command: F) -> F:
    """Decorate a command so that its errors are printed in one line, and Ctrl-C ends it without a traceback.

    If the program that reads the output has ended, the command ends as well, without an error: commands print after
    they have written their results.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            made = command(*args, **kwargs)
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            return made
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            discard_output()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            with suppress(OSError):
                tell("Interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except MemoryError as error:
            fail(str(error) or "There is not enough memory. Use a smaller table or a machine with more memory.")
        except RecursionError:
            fail("The input is nested too deeply. Check that it is what this command expects.")
        except OSError as error:
            # Errors of this package say what is wrong in their own words.
            is_plain = type(error).__module__ == "builtins" and error.strerror is not None
            place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            fail(f"{place}{error.strerror}." if is_plain else str(error))
        except (ValueError, TypeError, ImportError) as error:
            fail(str(error) or type(error).__name__)
        except Exception as error:
            fail(
                f"This is a bug in sparsecluster: {type(error).__name__}: {error}. Please report it with what is "
                f"printed if the environment variable {DEBUG} is 1.",
                BUG,
            )

    return wrapped  # type: ignore[return-value]


def keep_streams() -> None:
    """Prepare the standard streams of a program that was started in whatever way."""
    # If a stream is closed, the next file that is opened would get its number, and what is printed would end up there.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Letters that the terminal does not know are shown escaped.
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Let what is still to be printed go nowhere, so that Python does not complain about it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
        except (AttributeError, ValueError):
            continue  # it is closed already
    os.close(nowhere)
