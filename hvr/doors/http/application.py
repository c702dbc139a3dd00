"""The routes of the service, and their description as OpenAPI 3.1 and as an HTML page."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter, defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager
from functools import lru_cache
from html import escape
from time import perf_counter
from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

import hvr
from hvr.base.declared import json_schema
from hvr.doors.http.guards import Guard, document
from hvr.doors.http.jobs import BusyError, Jobs, NoJobError
from hvr.doors.schema import OPERATIONS, ErrorAnswer, Operation, UnansweredError
from hvr.doors.service import Service
from hvr.planning.search.planners import PLANNERS
from hvr.values import SCHEMA_VERSION

# Openapi ------------------------------------------------------------------------------------------
# The description of the service: an OpenAPI 3.1 document and an HTML page.

PATHS = {
    "/v1/validate": "validate_plan",
    "/v1/explain": "explain_step",
    "/v1/trace": "trace_plan",
    "/v1/lint": "lint_model",
    "/v1/plan": "find_plan",
    "/v1/repair": "repair_plan",
    "/v1/minimise": "minimise_plan",
    "/v1/judge": "judge_plan",
    "/v1/decomposition": "validate_decomposition",
    "/v1/request": "plan_request",
    "/v1/tools": "plan_tools",
    "/v1/sessions/open": "open_session",
    "/v1/sessions/actions": "applicable_actions",
    "/v1/sessions/apply": "apply_action",
    "/v1/sessions/fork": "fork_session",
    "/v1/sessions/close": "close_session",
}
"""The operation of each path."""

_JOB = {
    "type": "object",
    "required": ["schema_version", "id", "operation", "created", "state"],
    "properties": {
        "schema_version": {"type": "integer"},
        "id": {"type": "string"},
        "operation": {"type": "string"},
        "created": {"type": "number", "description": "Seconds since 1970."},
        "state": {"enum": ["queued", "running", "done", "failed", "cancelled"]},
        "answer": {"type": "object", "description": "The answer of the operation."},
        "error": {"$ref": "#/components/schemas/Error"},
    },
}
_ERRORS = {
    "400": "The request is unusable.",
    "401": "The token is missing.",
    "413": "The request is too large.",
    "429": "Too many requests are waiting.",
    "504": "No answer within the time limit.",
}


@lru_cache(maxsize=1)
def description() -> dict[str, Any]:
    """Return the service as an OpenAPI 3.1 document."""
    operations = {path: {"post": _operation(OPERATIONS[name])} for path, name in PATHS.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "hvr", "version": hvr.__version__, "license": {"name": "Apache-2.0"}},
        "security": [{"bearer": []}],
        "paths": operations | _job_paths(),
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": json_schema(ErrorAnswer), "Job": _JOB},
        },
    }


def _job_paths() -> dict[str, Any]:
    job = _response("The job.", {"$ref": "#/components/schemas/Job"})
    identity = {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}}
    request = {
        "type": "object",
        "required": ["operation", "request"],
        "properties": {
            "operation": {"enum": [one.name for one in _jobs()]},
            "request": {"anyOf": [one.request_schema() for one in _jobs()]},
        },
    }
    events = {
        "description": "Server-sent events; the data of each is a JSON object.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }

    def call(name: str, summary: str, **responses: Any) -> dict[str, Any]:
        answers = {status.removeprefix("s"): found for status, found in responses.items()}
        return {"operationId": name, "summary": summary, "responses": answers | _failures()}

    accept = call("submit_job", "Accept a request to be answered later.", s202=job)
    watch = "Stream a job's events until it ends; resumable by Last-Event-ID."
    delete = "Cancel a job, or remove a finished one."
    gone = {"description": "The job is cancelled or removed."}
    return {
        "/v1/jobs": {"post": accept | {"requestBody": _content(request)}},
        "/v1/jobs/{job}": {
            "parameters": [identity],
            "get": call("get_job", "Return a job, with its answer once it is done.", s200=job),
            "delete": call("delete_job", delete, s204=gone),
        },
        "/v1/jobs/{job}/events": {
            "parameters": [identity],
            "get": call("watch_job", watch, s200=events),
        },
    }


def _jobs() -> list[Operation]:
    return [one for one in OPERATIONS.values() if not one.session]


def _operation(one: Operation) -> dict[str, Any]:
    return {
        "operationId": one.name,
        "summary": one.title,
        "description": one.summary,
        "requestBody": _content(one.request_schema()),
        "responses": {"200": _response("The answer.", one.answer_schema()), **_failures()},
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _response(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _failures() -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    return {status: _response(text, error) for status, text in _ERRORS.items()}


@lru_cache(maxsize=1)
def overview() -> str:
    """Return an HTML page that lists the operations."""
    rows = "\n".join(
        f"<tr><td><code>POST {path}</code></td><td>{escape(OPERATIONS[name].summary)}</td></tr>"
        for path, name in PATHS.items()
    )
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>hvr</title>
<meta name="viewport" content="width=device-width">
<style>:root{{color-scheme:light dark}}
body{{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}}
td{{padding:.3rem .8rem .3rem 0;vertical-align:top}}code{{white-space:nowrap}}</style>
<h1>hvr {escape(hvr.__version__)}</h1>
<p>Each path takes a JSON object and answers with one; <a href="/openapi.json">openapi.json</a>
describes both. <code>POST /v1/jobs</code> accepts a request to be answered later.</p>
<table>{rows}</table></html>
"""


# Application --------------------------------------------------------------------------------------
# The routes of the service.

# Metrics ------------------------------------------------------------------------------------------
# Metrics of the service, in the text format of Prometheus.


class Metrics:
    """Counts answers and their duration.

    Args:
        jobs: Returns the number of jobs by state.
    """

    def __init__(self, jobs: Callable[[], Counter[str]]) -> None:
        self._jobs = jobs
        self._answers: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, path: str, status: int, seconds: float) -> None:
        self._answers[path, status] += 1
        self._seconds[path] += seconds

    def text(self, pending: int) -> str:
        """Return all metrics as text; `pending` is the number of requests being processed."""
        return "\n".join(self._lines(pending)) + "\n"

    def _lines(self, pending: int) -> Iterator[str]:
        yield "# HELP hvr_answers_total Answers by path and status."
        yield "# TYPE hvr_answers_total counter"
        for (path, status), count in sorted(self._answers.items()):
            yield f'hvr_answers_total{{path="{path}",status="{status}"}} {count}'
        yield "# HELP hvr_answer_seconds_total Time spent on answers by path."
        yield "# TYPE hvr_answer_seconds_total counter"
        for path, seconds in sorted(self._seconds.items()):
            yield f'hvr_answer_seconds_total{{path="{path}"}} {seconds:.6f}'
        yield "# HELP hvr_pending_requests Requests that are being answered."
        yield "# TYPE hvr_pending_requests gauge"
        yield f"hvr_pending_requests {pending}"
        yield "# HELP hvr_jobs Jobs by state."
        yield "# TYPE hvr_jobs gauge"
        counts = self._jobs()
        for state in ("queued", "running", "done", "failed", "cancelled"):
            yield f'hvr_jobs{{state="{state}"}} {counts[state]}'


# Planning api -------------------------------------------------------------------------------------
# The two calls of planning-as-a-service, so that its clients can find plans here.
#
# `POST /package/PLANNER/solve` takes a domain and a problem, and returns the path of a result.
# `/check/ID` returns "PENDING" or the plan. Editors know this format from the public service
# solver.planning.domains.

_ADAPTOR = "planning_editor_adaptor"
_Handler = Callable[[Request], Awaitable[Response]]


def planning_routes(jobs: Jobs, wrapped: Callable[[str, _Handler], _Handler]) -> list[Route]:
    """Return the planning-as-a-service routes; `wrapped` adds the behaviour common to all."""

    async def packages(_: Request) -> Response:
        return JSONResponse([_package(name) for name in _names()])

    async def solve(request: Request) -> Response:
        data = document(await request.body())
        name = request.path_params["planner"]
        # An editor asks for the planner named in its settings; an unknown name means hvr's choice.
        asked: dict[str, Any] = {
            "domain": data.get("domain", ""),
            "problem": data.get("problem", ""),
            "planner": name if name in PLANNERS.names() else "",
        }
        return JSONResponse({"result": f"/check/{jobs.submit('find_plan', asked)}"})

    async def check(request: Request) -> Response:
        state = jobs.state(request.path_params["job"])
        body = await request.body() if request.method == "POST" else b""
        adaptor = document(b"" if body == b"null" else body).get("adaptor")
        return JSONResponse(_result(state, editor=adaptor == _ADAPTOR))

    return [
        Route("/package", wrapped("/package", packages), methods=["GET"]),
        Route(
            "/package/{planner}/solve", wrapped("/package/{planner}/solve", solve), methods=["POST"]
        ),
        Route("/check/{job}", wrapped("/check/{job}", check), methods=["GET", "POST"]),
    ]


def _names() -> list[str]:
    return ["hvr", *PLANNERS.names()]


def _package(name: str) -> dict[str, Any]:
    arguments = [{"name": part, "type": "file"} for part in ("domain", "problem")]
    services = {"solve": {"args": arguments}}
    return {"package_name": name, "name": name, "endpoint": {"services": services}}


def _result(state: dict[str, Any], *, editor: bool) -> dict[str, Any]:
    """Return a job in the format of planning-as-a-service, or of its editor adaptor if `editor`."""
    if state["state"] in ("queued", "running"):
        return {"status": "PENDING"}
    answer = state.get("answer") or {}
    if not answer.get("solved"):
        unsolvable = "proven: no plan exists" if answer.get("proven") else state["state"]
        reason = state.get("error", {}).get("message", unsolvable)
        return {"status": "error", "result": {"error": reason}, "error": reason}
    steps = answer["steps"]
    text = "".join(f"{step}\n" for step in steps)
    if not editor:
        output = {"sas_plan": text}
        return {"status": "ok", "result": {"output": output, "stdout": text, "stderr": ""}}
    plan = [{"name": step, "action": step} for step in steps]
    result = {"plan": plan, "cost": answer.get("cost"), "output": text, "type": "full"}
    return {"status": "ok", "plans": [{"status": "ok", "result": result}]}


# --------------------------------------------------------------------------------------------------

_STATUS = {"TimeLimit": 504, "MemoryLimit": 507, "WorkerLost": 503, "OtherServer": 409}
_RETRY_SECONDS = 1
_GONE = 499
"""Status code that metrics use for clients that disconnected; it is never sent."""
_LOG = logging.getLogger(__name__)


class _GoneError(Exception):
    """The client disconnected."""


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
        hosts: Host names by which clients may address the service.
        origins: Origins of web pages that may use the service.
        token: Bearer token that each request must carry; empty if none is required.
        more: Additional routes, which take precedence.
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
                response = _error(500, "ServerError", "internal error; see the server's log")
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
            return _error(400, "UsageError", 'a job must have "operation" (a name) and "request"')
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
        self._jobs.state(job)  # an unknown job gets an answer, not an empty stream
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
