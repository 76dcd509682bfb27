"""Running the app: its folder, its address, the browser, and the end."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import stat
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from .._utils.parts import HAS_LOCKS, hold, hold_abandoned

HOST = "127.0.0.1"
PREFIX = "sparsecluster-app-"
# How long open connections are waited for at the end.
PATIENCE_SECONDS = 1


def serve(
    *, port: int = 0, browser: bool = True, most_bytes: int = 2 * 10**9, say: Callable[[str], None] = print
) -> None:
    """Serve the app on this machine until it is ended.

    Parameters
    ----------
    port : int, default=0
        Port to listen on; 0 takes a free one.
    browser : bool, default=True
        Whether to open the page in a browser.
    most_bytes : int, default=2 GB
        The largest file that is accepted.
    say : callable, default=print
        Prints a line for the user.
    """
    import uvicorn

    from .guard import START
    from .server import make_app

    with _listening(port) as listener, private_folder() as folder:
        number = listener.getsockname()[1]
        key, start_key = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        address = f"http://{HOST}:{number}"

        def leave() -> None:
            server.should_exit = True

        app = make_app(folder, key, number, most_bytes=most_bytes, quit_=leave, start_key=start_key)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=PATIENCE_SECONDS,
        )
        server = uvicorn.Server(config)
        say(f"The app is at {address}/{key}/")
        say("It runs on this machine only. Press Ctrl-C here, or Quit on the page, to end it.")
        if browser:
            # Other users of this machine can see with what a browser was started, so this address works only once.
            _open(f"{address}/{START}/{start_key}")
        with _ending_well(), suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _open(address: str) -> None:
    """Open a browser, which may not return until it is closed."""

    def open_() -> None:
        with suppress(webbrowser.Error, OSError):
            webbrowser.open(address)

    threading.Thread(target=open_, daemon=True).start()


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """Open a port of this machine, which nobody else can reach."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise ValueError(
                f"The port {port} cannot be used: {error.strerror}. Choose another with --port, or leave it out."
            ) from error
        # Requests wait here until the server is ready, so the browser may come first.
        listener.listen(100)
        yield listener


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let a request to end the program be an interrupt, so that nothing is left behind."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, *HANGUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# The terminal was closed.
HANGUP = (signal.SIGHUP,) if sys.platform != "win32" else ()


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that only this user can see, and remove it at the end, with those that dead programs left."""
    home = Path(tempfile.gettempdir())
    clean(home)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    held = hold(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            held.close()


def clean(home: Path) -> None:
    """Remove the folders of programs that were killed: ours, private, and locked by nobody."""
    for left in home.glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = os.lstat(left)
            is_ours = not HAS_LOCKS or (status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700)
            if not stat.S_ISDIR(status.st_mode) or not is_ours:
                continue
            held = hold_abandoned(left)
            if held is not None:
                shutil.rmtree(left, ignore_errors=True)
                held.close()
