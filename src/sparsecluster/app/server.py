"""The addresses of the app: one page, and what its script asks for."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from .._utils.text import brief
from .._version import __version__
from .choices import METRICS, ChoiceError, Choices, Reading
from .guard import REPORT_POLICY, REPORTS, START, Guard
from .jobs import DONE, Job, Pool
from .names import COMPRESSED, TABLES
from .tables import REPORT, Table, Tables, TooLargeError, files_of, fitted, zipped

# What is sent with a fit; names of columns make up the most of it.
MOST_JSON_BYTES = 64 * 2**20
# The most columns that the page asks for at once.
MOST_COLUMNS = 200
# The files of the page, and their types. The first one is the style of the report, which ours builds on.
STATIC = {
    "report.css": ("report", "text/css"),
    "app.css": ("app/static", "text/css"),
    "app.js": ("app/static", "text/javascript"),
    "columns.js": ("app/static", "text/javascript"),
    "fits.js": ("app/static", "text/javascript"),
    "tools.js": ("app/static", "text/javascript"),
}
GONE = "This table is not here any more. Choose the file again."


class App:
    """Answers the requests of the page.

    Parameters
    ----------
    folder : Path
        Private folder for all files.
    most_bytes : int
        The largest file that is accepted.
    quit_ : callable
        Ends the program.
    """

    def __init__(self, folder: Path, most_bytes: int, quit_: Callable[[], None]) -> None:
        self._folder, self._most_bytes, self._quit = folder, most_bytes, quit_
        self._most = f"{most_bytes / 1e9:g} GB"
        self._too_large = (
            f"Files may have at most {self._most}; this one is larger. Start the app with a larger --max-upload, or "
            "use `sparsecluster fit` in a terminal."
        )
        self.tables: Tables

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Start a process in advance, and end all of them at the end."""
        temporary = self._folder / "temporary"
        temporary.mkdir(mode=0o700)
        pool = Pool(temporary)
        self.tables = Tables(self._folder, pool, self._most_bytes)
        await pool.refill()
        try:
            yield
        finally:
            await pool.close()

    # ------------------------------------------------------------ the page

    async def page(self, _: Request) -> Response:
        """Show the page."""
        formats = ",".join([*(f".{each}" for each in (*TABLES, *COMPRESSED))])
        page = _page().render(
            version=__version__,
            formats=formats,
            metrics=METRICS,
            most=self._most,
            most_bytes=self._most_bytes,
            too_large=self._too_large,
        )
        return HTMLResponse(page)

    async def static(self, request: Request) -> Response:
        """Send one of the files of the page."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        place, kind = STATIC[name]
        return Response(files("sparsecluster").joinpath(place, name).read_bytes(), media_type=kind)

    # ------------------------------------------------------------ tables

    async def add(self, request: Request) -> Response:
        """Store a file. Its name comes in a header, its content as it is."""
        name = unquote(request.headers.get("x-file-name", "table"))
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._most_bytes:
            raise self._refusal()
        try:
            table = await self.tables.add(name, request.stream())
        except TooLargeError:
            raise self._refusal() from None
        except ClientDisconnect:
            return Response(status_code=400)
        except OSError as error:
            raise HTTPException(507, f"The file could not be stored: {error.strerror}. Free some space.") from error
        return JSONResponse(table.described())

    def _refusal(self) -> HTTPException:
        # What is still on its way is not read.
        return HTTPException(413, self._too_large, headers={"Connection": "close"})

    async def show(self, request: Request) -> Response:
        """Tell all about a table but its columns."""
        return JSONResponse(self._table(request).described())

    async def describe(self, request: Request) -> Response:
        """Read a table in another way."""
        table = self._table(request)
        await self.tables.describe(table, Reading.of(await _json(request)))
        return JSONResponse(table.described())

    async def columns(self, request: Request) -> Response:
        """Tell about some of the columns of a table."""
        asked = request.query_params
        first, count = (_whole(asked.get(name, ""), usual) for name, usual in (("first", 0), ("count", 50)))
        return JSONResponse(self._table(request).page(first, min(count, MOST_COLUMNS), asked.get("search", "")))

    async def names(self, request: Request) -> Response:
        """Tell the names of all columns that contain a text."""
        found = self._table(request).found(request.query_params.get("search", ""))
        return JSONResponse([column["name"] for column in found])

    async def fit(self, request: Request) -> Response:
        """Start a fit."""
        table = self._table(request)
        if table.info is None or table.info.state != DONE:
            raise HTTPException(409, "The columns of the table are not known yet. Wait until they are shown.")
        return JSONResponse(fitted(self.tables.fit(table, Choices.of(await _json(request)))))

    async def forget(self, request: Request) -> Response:
        """Remove a table."""
        await self.tables.forget(self._table(request))
        return JSONResponse({})

    # ------------------------------------------------------------ fits

    async def job(self, request: Request) -> Response:
        """Tell how far a fit is, or what came of it."""
        return JSONResponse(fitted(self._job(request)))

    async def look_at(self, request: Request) -> Response:
        """Start a fit whose result is an alternative of another one."""
        job = self._finished(request)
        number, count = (await _json(request)).get("alternative"), job.result["n_alternatives"]
        if type(number) is not int or not 0 <= number < count:
            have = f"{count} alternative{'s' * (count != 1)}"
            raise ChoiceError(f"This result has {have}, numbered from 0; got {brief(number)}. Load the page again.")
        return JSONResponse(fitted(self.tables.look_at(job, number)))

    async def cancel(self, request: Request) -> Response:
        """Stop a fit."""
        job = self._job(request)
        await self.tables.cancel(job)
        return JSONResponse(fitted(job))

    async def file(self, request: Request) -> Response:
        """Send one file of a result."""
        name = request.path_params["name"]
        found = next((each for each in files_of(self._finished(request)) if each.name == name), None)
        if found is None:
            raise HTTPException(404, "This result has no such file.")
        return FileResponse(found, filename=found.name, media_type="application/octet-stream")

    async def archive(self, request: Request) -> Response:
        """Send all files of a result."""
        found = await asyncio.to_thread(zipped, self._finished(request))
        return FileResponse(found, filename=found.name, media_type="application/zip")

    async def report(self, request: Request) -> Response:
        """Show a report, which can do nothing to the app."""
        try:
            job = self.tables.by_report(request.path_params["report"])
            found = next(file for file in files_of(job) if file.name == REPORT)
        except (StopIteration, OSError):
            raise HTTPException(404, "This report is not here any more.") from None
        return FileResponse(found, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})

    async def quit(self, _: Request) -> Response:
        """End the program."""
        self._quit()
        return JSONResponse({})

    # ------------------------------------------------------------ what is asked for

    def _table(self, request: Request) -> Table:
        try:
            return self.tables.table(request.path_params["table"])
        except KeyError:
            raise HTTPException(404, GONE) from None

    def _job(self, request: Request) -> Job:
        try:
            return self.tables.job(request.path_params["job"])
        except KeyError:
            raise HTTPException(404, GONE) from None

    def _finished(self, request: Request) -> Job:
        job = self._job(request)
        if job.state != DONE:
            raise HTTPException(409, "This fit has no results.")
        return job


def make_app(
    folder: Path, key: str, port: int, *, most_bytes: int, quit_: Callable[[], None], start_key: str = ""
) -> Starlette:
    """Make the application.

    Parameters
    ----------
    folder : Path
        Private folder for all files.
    key : str
        The secret part of all addresses.
    port : int
        The port of the server.
    most_bytes : int
        The largest file that is accepted.
    quit_ : callable
        Ends the program.
    start_key : str, default=""
        The secret part of an address that leads to the page once.

    Returns
    -------
    Starlette
        The application, which starts its processes with its lifespan.
    """
    app = App(folder, most_bytes, quit_)
    unused = [start_key] if start_key else []

    async def start(request: Request) -> Response:
        if not unused or not secrets.compare_digest(request.path_params["start"].encode(), unused[0].encode()):
            raise HTTPException(403, "This address was used before. Open the one that was printed in the terminal.")
        unused.clear()
        return RedirectResponse(f"/{key}/", 303)

    table, job = "/tables/{table}", "/jobs/{job}"
    ours = [
        Route("/", app.page),
        Route("/static/{name}", app.static),
        Route("/tables", app.add, methods=["POST"]),
        Route(table, app.show),
        Route(f"{table}/columns", app.columns),
        Route(f"{table}/names", app.names),
        Route(f"{table}/info", app.describe, methods=["POST"]),
        Route(f"{table}/fits", app.fit, methods=["POST"]),
        Route(f"{table}/forget", app.forget, methods=["POST"]),
        Route(job, app.job),
        Route(f"{job}/alternatives", app.look_at, methods=["POST"]),
        Route(f"{job}/cancel", app.cancel, methods=["POST"]),
        Route(f"{job}/results.zip", app.archive),
        Route(f"{job}/files/{{name}}", app.file),
        Route("/quit", app.quit, methods=["POST"]),
    ]
    return Starlette(
        routes=[
            Route(f"/{START}/{{start}}", start),
            Route(f"/{REPORTS}/{{report}}", app.report),
            Mount(f"/{key}", routes=ours),
        ],
        middleware=[Middleware(Guard, key=key, port=port)],
        exception_handlers={HTTPException: _refused, ChoiceError: _misunderstood},
        lifespan=app.lifespan,
    )


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


async def _misunderstood(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


async def _json(request: Request) -> dict[str, Any]:
    """Return the object that a request holds."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_JSON_BYTES:
            raise HTTPException(413, "The choices are too large. Load the page again.")
    try:
        given = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ChoiceError("The choices must be an object of JSON. Load the page again.")
    return given


def _whole(text: str, usual: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else usual


@cache
def _page() -> Any:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")
