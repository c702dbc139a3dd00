"""The description of the service: OpenAPI 3.1, and a page for people."""

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
    paths: dict[str, Any] = {
        path: {"post": _operation(OPERATIONS[name])} for path, name in PATHS.items()
    }
    job = {"$ref": "#/components/schemas/Job"}
    identity = {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}}
    paths["/v1/jobs"] = {
        "post": {
            "operationId": "submit_job",
            "summary": "Accept a request of any operation without a session, to answer it later.",
            "requestBody": _content(
                {
                    "type": "object",
                    "required": ["operation", "request"],
                    "properties": {
                        "operation": {"enum": [one.name for one in _jobs()]},
                        "request": {"anyOf": [one.request_schema() for one in _jobs()]},
                    },
                }
            ),
            "responses": {"202": _response("The job.", job), **_failures()},
        }
    }
    paths["/v1/jobs/{job}"] = {
        "parameters": [identity],
        "get": {
            "operationId": "get_job",
            "summary": "Return a job, with its answer once it is done.",
            "responses": {"200": _response("The job.", job), **_failures()},
        },
        "delete": {
            "operationId": "delete_job",
            "summary": "Cancel a job, or remove a finished one.",
            "responses": {"204": {"description": "It is cancelled or removed."}, **_failures()},
        },
    }
    paths["/v1/jobs/{job}/events"] = {
        "parameters": [identity],
        "get": {
            "operationId": "watch_job",
            "summary": "Stream a job's events until it ends; resumable by Last-Event-ID.",
            "responses": {
                "200": {
                    "description": "Server-sent events; the data of each is a JSON object.",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                },
                **_failures(),
            },
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "hvr", "version": hvr.__version__, "license": {"name": "Apache-2.0"}},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": json_schema(ErrorAnswer), "Job": _JOB},
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
