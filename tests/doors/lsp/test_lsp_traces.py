"""Recorded sessions of real editors, sent again: the same requests get the same answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.extras import needs

needs("pygls")

TRACES = sorted(Path(__file__).with_name("traces").glob("*.jsonl"))
BLOCKS = Path(__file__).parents[3] / "examples" / "blocks"


@pytest.mark.slow
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_a_recorded_session_is_answered_as_then(trace: Path, tmp_path: Path) -> None:
    for name, source in (("domain.pddl",) * 2, ("problem.pddl",) * 2, ("short.plan", "plan.txt")):
        (tmp_path / name).write_bytes((BLOCKS / source).read_bytes())
    text = trace.read_text(encoding="utf-8").replace("/FOLDER", tmp_path.as_posix())
    lines = [json.loads(line) for line in text.splitlines()]
    messages = [line["message"] for line in lines if line["from"] == "client"]
    answers = [line["message"] for line in lines if line["from"] == "server"]
    server = subprocess.Popen(
        [sys.executable, "-m", "hvr", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    recorded = {one["id"]: one.get("result") for one in answers if "id" in one}
    shown = [one["params"] for one in answers if one.get("method", "").endswith("Diagnostics")]
    given: dict[int, Any] = {}
    found: list[Any] = []
    with server:
        for message in messages:
            asked = message.get("id")
            if message.get("method") == "shutdown":
                # The editor had waited for the diagnostics of its last change.
                wanted = {one["uri"]: one["version"] for one in shown}
                while _versions(found) != wanted:
                    _take(_read(server), given, found)
            _send(server, message)
            while asked is not None and asked not in given:
                _take(_read(server), given, found)
        assert server.stdin is not None
        server.stdin.close()
        server.wait(20)
    capabilities = given.pop(1)["capabilities"]
    assert capabilities == recorded.pop(1)["capabilities"]
    assert given == recorded
    assert {one["uri"]: one for one in found} == {one["uri"]: one for one in shown}


def _versions(found: list[Any]) -> dict[str, int]:
    return {one["uri"]: one["version"] for one in found}


def _take(message: dict[str, Any], given: dict[int, Any], found: list[Any]) -> None:
    if "id" in message and "method" not in message:
        given[message["id"]] = message.get("result")
    elif message.get("method") == "textDocument/publishDiagnostics":
        found.append(message["params"])


def _send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def _read(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert server.stdout is not None
    size = 0
    while (line := server.stdout.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    message: dict[str, Any] = json.loads(server.stdout.read(size))
    return message
