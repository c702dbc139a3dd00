"""An MCP server with malformed tools in its list: `malformed_server.py [PORT]`, stdio or HTTP.

It implements JSON-RPC itself, because the official package would not send such a list.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

FIND = {
    "name": "find_book",
    "description": "Find a book by its title.",
    "inputSchema": {
        "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"],
    },
    "annotations": {"readOnlyHint": True},
}  # fmt: skip
PAGES = {
    None: [FIND, {**FIND, "name": "burn_book", "inputSchema": "title"}, "not a tool"],
    "2": [{"name": "no_schema"}, {**FIND, "name": "lend_book", "annotations": {"title": 7}},
          {**FIND, "name": "find_reader"}, FIND],
}  # fmt: skip


def answer(asked: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to a message, or None for a notification."""
    if "id" not in asked:
        return None
    told = {"jsonrpc": "2.0", "id": asked["id"]}
    parameters = asked.get("params", {})
    match asked["method"]:
        case "initialize":
            version = parameters["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}},
                      "serverInfo": {"name": "broken", "version": "1"}}  # fmt: skip
        case "tools/list":
            at = parameters.get("cursor")
            result = {"tools": PAGES[at]} | ({"nextCursor": "2"} if at is None else {})
        case "tools/call":
            found = {"book_id": "B-7", "title": parameters["arguments"]["title"]}
            result = {"content": [{"type": "text", "text": json.dumps(found)}]}
        case _:
            return told | {"error": {"code": -32601, "message": "Method not found"}}
    return told | {"result": result}


class Handler(BaseHTTPRequestHandler):
    """Streamable HTTP without a stream."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = answer(asked)
        body = b"" if told is None else json.dumps(told).encode()
        self.send_response(202 if told is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...


if __name__ == "__main__":
    if len(sys.argv) > 1:
        HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    for line in sys.stdin:
        if (told := answer(json.loads(line))) is not None:
            print(json.dumps(told), flush=True)
