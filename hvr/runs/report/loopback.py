"""Pages served to this machine alone."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from hvr.errors import HvrError, UsageError

ADDRESS = "127.0.0.1"

Pages = Callable[[str], tuple[str, str] | None]
"""From a path to a media type and a text; None where nothing is."""


def loopback_server(pages: Pages, port: int = 0) -> ThreadingHTTPServer:
    """Return a server on the loopback address that has its port and answers nothing yet.

    Pages are made anew for each request. A request under another name than this machine's own is
    refused, so that no web page elsewhere can read them through a browser.

    Args:
        pages: what there is.
        port: 0 for any that is free.

    Raises:
        UsageError: the port is not free, or there is no such port.
    """
    handler = type("Handler", (_Handler,), {"pages": staticmethod(pages)})
    try:
        return ThreadingHTTPServer((ADDRESS, port), handler)
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {port} of {ADDRESS} cannot be used: {error}") from None


class _Handler(BaseHTTPRequestHandler):
    pages: Pages
    server_version = "hvr"
    sys_version = ""

    def do_GET(self) -> None:
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        if host not in (ADDRESS, "localhost"):
            self._send(403, "text/plain", "this is served to this machine alone\n")
            return
        try:
            found = self.pages(urlsplit(self.path).path)
        except HvrError as error:
            # A log that is being written or mended: the next request may find it whole.
            self._send(503, "text/plain", f"{error}\n")
            return
        if found is None:
            self._send(404, "text/plain", "there is no such page; there are / and /stats.json\n")
        else:
            self._send(200, *found)

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""
        del format, args
