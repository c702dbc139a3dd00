"""The studio's routes: its page, runs, plans, benches, graphs and language servers."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

from anyio import CancelScope
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

import hvr
from hvr.base.files import write_whole
from hvr.base.processes import supervised
from hvr.doors.http.application import make_application
from hvr.doors.http.guards import cookie_of
from hvr.doors.lsp.models import Models
from hvr.doors.schema import ErrorAnswer
from hvr.doors.service import ServedFolder, Service
from hvr.doors.studio.documents import (
    bench_document,
    find_benches,
    find_graphs,
    read_graph,
    run_document,
    shared_page,
    shared_run,
)
from hvr.errors import DataFileError, HvrError
from hvr.runs.folder import LOCK_FILE, STATUS_FILE, read_status
from hvr.worlds.facts.drawing import DRAWING_FILE, drawing_of

Endpoint = Callable[[Request], Awaitable[Response]]

_KINDS = {
    "index.html": "text/html; charset=utf-8",
    "studio.js": "text/javascript; charset=utf-8",
    "room.js": "text/javascript; charset=utf-8",
    "studio.css": "text/css; charset=utf-8",
}
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MOST_RUNS = 200
_ENDINGS = (".pddl", ".hddl", ".plan", ".soln", ".txt")


def make_studio(service: Service, *, hosts: Iterable[str], token: str) -> Any:
    """Return the ASGI application of the studio, whose page gets the token as a cookie."""
    studio = _Studio(service.folder)
    application = make_application(service, hosts=hosts, token=token, more=studio.routes())
    return _Entrance(application, token)


class _Entrance:
    """Accepts the token in the URL of the first request and stores it in a cookie."""

    def __init__(self, application: Any, token: str) -> None:
        self._application, self._token = application, token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/" and scope["query_string"]:
            given = Request(scope).query_params.get("token", "")
            if hmac.compare_digest(given.encode(), self._token.encode()):
                response = RedirectResponse("/", 303)
                name, value = cookie_of(self._token)
                response.set_cookie(name, value, httponly=True, samesite="strict")
                await response(scope, receive, send)
                return
        await self._application(scope, receive, send)


class _Studio:
    def __init__(self, folder: ServedFolder) -> None:
        self._folder = folder

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self._asset, methods=["GET"]),
            Route("/studio.js", self._asset, methods=["GET"]),
            Route("/studio.css", self._asset, methods=["GET"]),
            Route("/room.js", self._asset, methods=["GET"]),
            Route("/studio/index", self._index, methods=["GET"]),
            Route("/studio/text", self._text, methods=["GET"]),
            Route("/studio/text", self._save, methods=["POST"]),
            Route("/studio/run", self._run, methods=["GET"]),
            Route("/studio/share", self._share_run, methods=["GET"]),
            Route("/studio/share", self._share, methods=["POST"]),
            Route("/studio/log", self._answering(self._read_log), methods=["GET"]),
            Route("/studio/tools", self._answering(self._read_graph), methods=["GET"]),
            Route("/studio/drawing", self._answering(self._read_drawing), methods=["GET"]),
            Route("/studio/bench", self._bench, methods=["GET"]),
            WebSocketRoute("/studio/lsp", self._language_server),
        ]

    async def _asset(self, request: Request) -> Response:
        name = request.url.path.lstrip("/") or "index.html"
        text = resources.files("hvr.doors.studio").joinpath("assets", name).read_bytes()
        headers = {"content-security-policy": _POLICY, "x-content-type-options": "nosniff"}
        return Response(text, media_type=_KINDS[name], headers=headers)

    # Files

    async def _index(self, _: Request) -> Response:
        found = await asyncio.to_thread(self._contents)
        return JSONResponse(found)

    def _contents(self) -> dict[str, Any]:
        root = self._folder.path
        models = Models([str(root)])
        found = [
            {
                "domain": _inside(root, model.domain),
                "problems": [
                    {"file": _inside(root, file), "plans": [_inside(root, plan) for plan in plans]}
                    for file, plans in sorted(model.problems.items())
                ],
            }
            for model in models.all(str(root / "."))
            if Path(model.domain).is_relative_to(root)
        ]
        return {
            "root": str(root),
            "version": hvr.__version__,
            "models": sorted(found, key=lambda model: str(model["domain"])),
            "runs": list(self._runs(root / "runs")),
            "graphs": find_graphs(self._folder),
            "benches": find_benches(self._folder),
        }

    def _runs(self, folder: Path) -> Iterator[dict[str, Any]]:
        with suppress(OSError):
            found = [path for path in folder.iterdir() if (path / "task.json").is_file()]
            found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
            for path in found[:_MOST_RUNS]:
                with suppress(OSError, DataFileError):
                    about, state = read_status(path)
                    keys = ("request", "scene", "reached", "began", "decision")
                    told = {key: about.get(key) for key in keys}
                    yield {"name": path.name, **told, "state": state.value}

    async def _text(self, request: Request) -> Response:
        name = request.query_params.get("file", "")
        try:
            return JSONResponse({"text": await asyncio.to_thread(self._folder.read, name)})
        except HvrError as error:
            return _refused(error)

    async def _save(self, request: Request) -> Response:
        try:
            data = json.loads(await request.body())
            name, text = data["file"], data["text"]
            inside = self._folder.path / self._folder.resolved(name)
            # Check the extension of the file itself, since its name may be a link to a program.
            if not inside.name.lower().endswith(_ENDINGS) or not isinstance(text, str):
                raise DataFileError(
                    f"cannot save {name}: expected a name ending in {', '.join(_ENDINGS)}"
                )
            if not inside.parent.is_dir():
                raise DataFileError(f"cannot write {name}: its folder does not exist")
            await asyncio.to_thread(write_whole, inside, text)
        except HvrError as error:
            return _refused(error)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return _refused(DataFileError('expected {"file": …, "text": …}'))
        return JSONResponse({"saved": name})

    # Runs

    async def _run(self, request: Request) -> Response:
        name, seen = (request.query_params.get(key, "") for key in ("name", "seen"))
        with suppress(HvrError):
            if seen and seen == _version(self._folder.path / self._folder.resolved(f"runs/{name}")):
                return Response(status_code=204)
        return await self._answering(self._read_run)(request)

    def _answering(self, read: Callable[[str], dict[str, Any] | None]) -> Endpoint:
        async def handle(request: Request) -> Response:
            try:
                found = await asyncio.to_thread(read, request.query_params.get("name", ""))
            except HvrError as error:
                return _refused(error)
            return JSONResponse(found)

        return handle

    def _read_run(self, name: str) -> dict[str, Any]:
        folder = self._run_folder(name)
        return {**run_document(folder), "version": _version(folder)}

    def _run_folder(self, name: str) -> Path:
        if not name or "/" in name or name in (".", ".."):
            raise DataFileError("name a run by its folder below runs/")
        folder = self._folder.path / self._folder.resolved(f"runs/{name}")
        if not folder.is_dir():
            raise DataFileError(f"runs/{name} is not a run")
        for file in folder.iterdir():
            self._folder.resolved(f"runs/{name}/{file.name}")  # a link may lead elsewhere
        return folder

    async def _share_run(self, request: Request) -> Response:
        name = request.query_params.get("run", "")
        try:
            page = await asyncio.to_thread(lambda: shared_run(self._run_folder(name)))
        except HvrError as error:
            return _refused(error)
        return _saved(page, name)

    async def _share(self, request: Request) -> Response:
        try:
            data = json.loads(await request.body())
            title, shown = str(data["title"]), data["document"]
            page = await asyncio.to_thread(shared_page, shown, f"hvr: {title}")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return _refused(DataFileError('expected {"title": …, "document": …}'))
        return _saved(page, title)

    def _read_log(self, name: str) -> dict[str, Any]:
        if not name or "/" in name or name in (".", ".."):
            raise DataFileError("name a run by its folder below runs/")

        def lines(file: str) -> Iterator[Any]:
            with suppress(DataFileError):
                text = self._folder.read(f"runs/{name}/{file}")
                for line in text[: text.rfind("\n") + 1].splitlines():
                    with suppress(ValueError):
                        yield json.loads(line)

        try:
            about = json.loads(self._folder.read(f"runs/{name}/task.json"))
        except ValueError:
            raise DataFileError(f"runs/{name} is not a run") from None
        events, calls = list(lines("trace.jsonl")), list(lines("calls.jsonl"))
        return {"name": name, "about": about, "events": events, "calls": calls}

    async def _bench(self, request: Request) -> Response:
        values = request.query_params
        earlier = values.get("earlier", "")
        return await self._answering(lambda name: bench_document(self._folder, name, earlier))(
            request
        )

    # Tools and drawings

    def _read_graph(self, name: str) -> dict[str, Any]:
        return read_graph(self._folder, name)

    def _read_drawing(self, name: str) -> dict[str, Any] | None:
        file = self._folder.resolved(name)
        text = self._folder.read(name)
        self._folder.resolved(str(file.parent / DRAWING_FILE))  # a link may lead elsewhere
        found = drawing_of(self._folder.path / file, text)
        return None if found is None else found.to_json()

    # Language server

    async def _language_server(self, socket: WebSocket) -> None:
        await socket.accept()
        server = await asyncio.create_subprocess_exec(
            *supervised([sys.executable, "-m", "hvr", "lsp"]),
            cwd=self._folder.path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdin is not None
        answers = asyncio.create_task(_answers(server, socket))
        binary = False
        try:
            while (message := await socket.receive())["type"] == "websocket.receive":
                if binary := message.get("text") is None:
                    break
                body = message["text"].encode()
                server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                await server.stdin.drain()
        except ConnectionError:
            pass
        finally:
            answers.cancel()
            server.stdin.close()
            with suppress(ProcessLookupError):
                server.terminate()
            with CancelScope(shield=True):
                await server.wait()
        if binary:
            await socket.close(1003, "messages must be text, not binary")


async def _answers(server: asyncio.subprocess.Process, socket: WebSocket) -> None:
    assert server.stdout is not None
    with suppress(asyncio.IncompleteReadError):
        while True:
            head = await server.stdout.readuntil(b"\r\n\r\n")
            sizes = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")]
            body = await server.stdout.readexactly(int(sizes[0].partition(b":")[2]))
            await socket.send_text(body.decode())
    await socket.close(1011)


def _version(folder: Path) -> str:
    parts = []
    for name in (STATUS_FILE, "trace.jsonl", LOCK_FILE):
        with suppress(OSError):
            found = (folder / name).stat()
            parts.append(f"{name}-{found.st_size}-{found.st_mtime_ns}")
    return ".".join(parts)


def _refused(error: HvrError) -> Response:
    return JSONResponse(ErrorAnswer(type(error).__name__, str(error)).to_json(), 400)


def _saved(page: str, name: str) -> Response:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "hvr"
    headers = {
        "content-disposition": f'attachment; filename="{plain}.html"',
        "x-content-type-options": "nosniff",
    }
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


def _inside(root: Path, file: str) -> str:
    return Path(file).relative_to(root).as_posix()
