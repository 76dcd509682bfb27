"""Who may talk to the server: the page that it has opened, and nobody else."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing is loaded from elsewhere, no script but our own is run, and no other page may show ours.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# The report is a page of its own, also in a tab of its own: it has no origin, so it cannot reach the app.
REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-popups; connect-src 'none'; frame-ancestors 'self'"
HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
# Reports, and the address that leads to the page once, have keys of their own.
REPORTS, START = "reports", "start"
FORBIDDEN = "This address is not valid. Open the address that `sparsecluster app` printed in the terminal."


class Guard:
    """Checks each request before anything else sees it, and adds the headers that keep the page safe.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that are allowed.
    key : str
        The secret part of all addresses but those of reports.
    port : int
        The port of the server. A request must name it, on this machine: this stops other sites whose names were made
        to stand for this machine.
    """

    def __init__(self, app: ASGIApp, key: str, port: int) -> None:
        self._app, self._key = app, key
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if self._is_allowed(scope):
            await self._app(scope, receive, send_safely)
        else:
            await PlainTextResponse(FORBIDDEN, 403)(scope, receive, send_safely)

    def _is_allowed(self, scope: Scope) -> bool:
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "")
        if host not in self._hosts:
            return False
        first = scope["path"].split("/")[1]
        if method in ("GET", "HEAD"):
            return first in (REPORTS, START) or self._is_key(first)
        # Browsers name the page that sends something. Other programs have to say that they mean it.
        return method == "POST" and self._is_key(first) and headers.get("origin") == f"http://{host}"

    def _is_key(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._key.encode())
