"""The routes of the service."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from hvr.doors.http.guards import Guard, document
from hvr.doors.http.jobs import BusyError, Jobs, NoJobError
from hvr.doors.http.metrics import Metrics
from hvr.doors.http.openapi import PATHS, description, overview
from hvr.doors.http.planning_api import planning_routes
from hvr.doors.schema import ErrorAnswer, UnansweredError
from hvr.doors.service import Service
from hvr.values import SCHEMA_VERSION

_STATUS = {"TimeLimit": 504, "MemoryLimit": 507, "WorkerLost": 503, "OtherServer": 409}
_RETRY_SECONDS = 1
_GONE = 499
"""Status in the metrics for clients that hung up; it is never sent."""
_LOG = logging.getLogger(__name__)


class _GoneError(Exception):
    """The client has hung up."""


def make_application(
    service: Service,
    *,
    hosts: Iterable[str],
    origins: Iterable[str] = (),
    token: str = "",
    more: Sequence[BaseRoute] = (),
) -> Any:
    """Return the ASGI application of a service.

    Args:
        hosts: Host names under which it may be reached.
        origins: Origins of web pages that may use it.
        token: Bearer token that each request must carry; none is needed if empty.
        more: Further routes, which take precedence.
    """
    return Guard(_Routes(service).application(more), hosts, origins, token)


class _Routes:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._jobs = Jobs(service)
        self._metrics = Metrics(self._jobs.counts)
        self._pending = 0
        self._most = 3 * (os.cpu_count() or 1)

    def application(self, more: Sequence[BaseRoute] = ()) -> Starlette:
        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            await self._jobs.start()
            try:
                yield
            finally:
                await self._jobs.stop()

        routes: list[BaseRoute] = [*more]
        routes += [
            Route(path, self._operation(name), methods=["POST"]) for path, name in PATHS.items()
        ]
        routes += [
            self._route("/v1/jobs", self._submit, "POST"),
            self._route("/v1/jobs", self._list, "GET"),
            self._route("/v1/jobs/{job}", self._state, "GET"),
            self._route("/v1/jobs/{job}", self._delete, "DELETE"),
            self._route("/v1/jobs/{job}/events", self._events, "GET"),
            self._route("/openapi.json", self._openapi, "GET"),
            self._route("/", self._overview, "GET"),
            self._route("/metrics", self._counted, "GET"),
            Route("/healthz", _healthy),
            *planning_routes(self._jobs, self._wrapped),
        ]
        handlers: dict[Any, Any] = {404: _not_found, 405: _not_allowed}
        return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)

    def _route(
        self, path: str, handler: Callable[[Request], Awaitable[Response]], method: str
    ) -> Route:
        return Route(path, self._wrapped(path, handler), methods=[method])

    def _wrapped(
        self, path: str, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that counts its answers and turns errors into documents."""

        async def answered(request: Request) -> Response:
            begun = perf_counter()
            try:
                response = await handler(request)
            except UnansweredError as error:
                response = _failure(error.answer)
            except BusyError:
                response = _busy()
            except _GoneError:
                response = Response(status_code=_GONE)
            except NoJobError:
                response = _error(404, "NoJob", "no job has this id; jobs are kept for a day")
            except ValueError as error:
                response = _error(400, "NoJson", f"the request is not JSON: {error}")
            except RecursionError:
                response = _error(400, "NoJson", "the request nests too deeply")
            except Exception:
                _LOG.exception("error while answering %s", path)
                response = _error(500, "ServerError", "hvr failed; its log says why")
            self._metrics.count(path, response.status_code, perf_counter() - begun)
            return response

        return answered

    def _operation(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            data = document(await request.body())
            if self._pending >= self._most:
                raise BusyError
            self._pending += 1
            try:
                return JSONResponse(await _unless_gone(request, self._service.call(name, data)))
            finally:
                self._pending -= 1

        path = next(path for path, one in PATHS.items() if one == name)
        return self._wrapped(path, answer)

    # Jobs

    async def _submit(self, request: Request) -> Response:
        data = document(await request.body())
        operation, asked = data.get("operation", ""), data.get("request", {})
        if not isinstance(operation, str) or not isinstance(asked, dict) or len(data) > 2:
            return _error(400, "UsageError", 'a job has "operation", a name, and "request"')
        name = next((one for path, one in PATHS.items() if path == f"/v1/{operation}"), operation)
        job = self._jobs.submit(name, asked)
        headers = {"location": f"/v1/jobs/{job}"}
        return JSONResponse(_versioned(self._jobs.state(job)), 202, headers)

    async def _list(self, _: Request) -> Response:
        return JSONResponse(_versioned({"jobs": self._jobs.listed()}))

    async def _state(self, request: Request) -> Response:
        return JSONResponse(_versioned(self._jobs.state(request.path_params["job"])))

    async def _delete(self, request: Request) -> Response:
        await self._jobs.delete(request.path_params["job"])
        return Response(status_code=204)

    async def _events(self, request: Request) -> Response:
        job = request.path_params["job"]
        self._jobs.state(job)  # an unknown job is an answer, not an empty stream
        last = request.headers.get("last-event-id", "0")
        after = int(last) if last.isdecimal() else 0

        async def stream() -> AsyncIterator[dict[str, str]]:
            async for number, line in self._jobs.events(job, after):
                yield {"id": str(number), "data": line}

        return EventSourceResponse(stream())

    # Descriptions

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(description())

    async def _overview(self, _: Request) -> Response:
        headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return HTMLResponse(overview(), headers=headers)

    async def _counted(self, _: Request) -> Response:
        return PlainTextResponse(self._metrics.text(self._pending))


async def _healthy(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _not_found(request: Request, _: Exception) -> Response:
    return _error(404, "NoSuchPath", f"no path {request.url.path!r}; /openapi.json lists them")


async def _not_allowed(request: Request, _: Exception) -> Response:
    text = f"{request.url.path} does not answer {request.method}; see /openapi.json"
    return _error(405, "WrongMethod", text)


async def _unless_gone(
    request: Request, work: Coroutine[Any, Any, dict[str, Any]]
) -> dict[str, Any]:
    """Return the result of work for a request whose body is read; cancel it if the client hangs up.

    Raises:
        _GoneError: The client has hung up.
    """
    working, gone = asyncio.create_task(work), asyncio.create_task(_hung_up(request))
    try:
        await asyncio.wait([working, gone], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise _GoneError
        return working.result()
    finally:
        working.cancel()
        gone.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _versioned(document: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION} | document


def _failure(answer: ErrorAnswer) -> Response:
    return JSONResponse(answer.to_json(), _STATUS.get(answer.error, 400))


def _error(status: int, kind: str, message: str) -> Response:
    return JSONResponse(ErrorAnswer(kind, message).to_json(), status)


def _busy() -> Response:
    answer = ErrorAnswer("Busy", "too many requests are waiting; try again", again=True)
    return JSONResponse(answer.to_json(), 429, {"retry-after": str(_RETRY_SECONDS)})
