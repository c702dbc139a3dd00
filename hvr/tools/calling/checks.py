"""Calls and their results, compared with what the tool's schema says."""

from __future__ import annotations

from collections.abc import Mapping

from hvr.tools.argument_checks import argument_faults, has_type, type_name
from hvr.tools.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema, quoted


def find_tool(catalogue: Catalogue, name: str) -> ToolSchema | None:
    """Return the tool that has exactly this name; None if there is none."""
    return next((tool for tool in catalogue.tools if tool.name == name), None)


def check_call(catalogue: Catalogue, call: ToolCall) -> CallOutcome | None:
    """Return the failure of a call that does not fit the schema of its tool; None if it fits.

    Nothing is called, and nothing is converted: `"3"` is no integer.
    """
    tool = find_tool(catalogue, call.tool)
    if tool is None:
        return CallOutcome(
            call, failure=CallFailure.UNKNOWN_TOOL, error=f"there is no tool {quoted(call.tool)}"
        )
    wrong = argument_faults(tool, call.arguments)
    if wrong:
        return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error="; ".join(wrong))
    return None


def with_nulls(tool: ToolSchema, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments of a call with null for what has to be given and has no value."""
    return {p.name: None for p in tool.takes if p.or_null} | dict(arguments)


def check_result(tool: ToolSchema, outcome: CallOutcome) -> CallOutcome:
    """Return an outcome, as a failure if its result is not what the schema says the tool gives.

    A result without content is `EMPTY` where the schema says that something is always there;
    one that is of another type is `WRONG_TYPE`. A tool whose schema says nothing of its result
    may return anything. The result itself stays in the outcome, for whoever wants to look.
    """
    if not outcome.ok or not tool.gives:
        return outcome
    failure, error = None, ""
    always = any(parameter.required for parameter in tool.gives)
    if always and (outcome.result is None or outcome.result in ("", [], {})):
        failure, error = CallFailure.EMPTY, f"{quoted(tool.name)} gave nothing"
    else:
        for parameter in tool.gives:
            error = _result_fault(parameter, outcome.result)
            if error:
                failure = CallFailure.WRONG_TYPE
                break
    if failure is None:
        return outcome
    return CallOutcome(outcome.call, outcome.result, failure, error, outcome.seconds)


def _result_fault(parameter: ToolParameter, result: Json) -> str:
    """Return what is wrong with the part of a result that a parameter describes.

    `result` is the whole of a result that is no object, or an object's key of this name.
    """
    name = parameter.name
    if name.partition("[")[0] == "result" and not (isinstance(result, dict) and "result" in result):
        return _part_fault(parameter, result, name.removeprefix("result"))
    return _part_fault(parameter, result, f".{name}")


def _part_fault(parameter: ToolParameter, result: Json, steps: str) -> str:
    name, parts = parameter.name, [result]
    for step in steps.replace("[]", ".[]").split("."):
        if not step:
            continue
        inner: list[Json] = []
        for part in parts:
            if step == "[]":
                if part is None and not parameter.required:
                    continue
                if not isinstance(part, list):
                    return f"{quoted(name)} is to be within a list, not {type_name(part)}"
                inner += part
            elif part is None and not parameter.required:
                continue  # what may be null, or was left out in writing
            elif not isinstance(part, dict):
                return f"{quoted(name)} is to be within an object, not {type_name(part)}"
            elif step in part:
                inner.append(part[step])
            elif parameter.required:
                return f"{quoted(name)} is missing"
        parts = inner
    for part in parts:
        if part is None and not parameter.required:
            continue
        if not has_type(part, parameter.type):
            return f"{quoted(name)} is to be of type {parameter.type}, not {type_name(part)}"
    return ""
