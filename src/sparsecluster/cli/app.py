"""`sparsecluster app`: a page on this machine that does what `info` and `fit` do."""

from __future__ import annotations

from typing import Annotated

import typer

from .errors import plainly, tell

# What the app needs beyond the package itself.
NEEDED = ("starlette", "uvicorn")


@plainly
def app(
    port: Annotated[
        int, typer.Option(help="Port on which the page is served; by default, a free one.", min=0, max=65535)
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
    max_upload: Annotated[
        float, typer.Option(help="Size of the largest file that is accepted, in gigabytes.", min=0.001)
    ] = 2.0,
) -> None:
    """Open a page in the browser to cluster a table without the command line.

    Drop a file on the page, check its columns, press Fit, and download the results. The page is served on this machine
    only, and no data leave it. It needs `pip install "sparsecluster[app]"`.

    Examples:

      sparsecluster app

      sparsecluster app --port 8000 --no-browser
    """
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ImportError(
            f'The app needs {" and ".join(missing)}. Run pip install "sparsecluster[app]", and try again.'
        )
    from ..app.run import serve

    serve(port=port, browser=browser, most_bytes=int(max_upload * 1e9), say=tell)
