"""The description of the service: an OpenAPI 3.1 document and an HTML page."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

import hvr
from hvr.base.declared import json_schema
from hvr.doors.schema import OPERATIONS, ErrorAnswer, Operation

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

    accept = call("submit_job", "Accept a request of an operation, to answer it later.", s202=job)
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
    """Return a page that lists the operations."""
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
describes both. <code>POST /v1/jobs</code> accepts a request to answer it later.</p>
<table>{rows}</table></html>
"""
