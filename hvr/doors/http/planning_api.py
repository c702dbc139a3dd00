"""The two calls of planning-as-a-service, so that its clients find plans here.

`POST /package/PLANNER/solve` takes a domain and a problem and returns the path of a result;
`/check/ID` returns "PENDING", or the plan. Editors know this format from the public service
solver.planning.domains.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hvr.doors.http.guards import document
from hvr.doors.http.jobs import Jobs
from hvr.planning.search.planners import PLANNERS

_ADAPTOR = "planning_editor_adaptor"
_Handler = Callable[[Request], Awaitable[Response]]


def planning_routes(jobs: Jobs, wrapped: Callable[[str, _Handler], _Handler]) -> list[Route]:
    """Return the routes; `wrapped` adds what all routes share."""

    async def packages(_: Request) -> Response:
        return JSONResponse([_package(name) for name in _names()])

    async def solve(request: Request) -> Response:
        data = document(await request.body())
        name = request.path_params["planner"]
        # An editor asks for the planner that its settings name; any other means hvr's choice.
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
    """Return a job in the format of the public service.

    Args:
        editor: Whether the client asked for the format of planning editors.
    """
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
