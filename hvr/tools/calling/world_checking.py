"""Checks and overviews of tool worlds."""

from __future__ import annotations

from typing import Any

from hvr.errors import HvrError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.knowledge.world_file import WorldFile, line_of
from hvr.tools.calling.worlds import SOURCES, listed_tools, meanings_file, open_tools
from hvr.tools.catalogue.schema import Catalogue
from hvr.tools.catalogue.schema_matching import (
    NO_OVERRIDES,
    ParameterMeaning,
    meanings,
    read_overrides,
)


def check_tools(world: WorldFile, *, run: bool = False) -> tuple[str, ...]:
    """Return the problems of a tool world, one located message each.

    Args:
        run: Whether to open its tools to list them; none is called. Otherwise only tools that can
            be listed without running code are checked.
    """
    try:
        catalogue, found = _inspect(world, run)
    except HvrError as error:
        text = str(error).splitlines()[0]
        own = text.startswith(str(world.folder))
        return (text if own else f"{world.file}:{line_of(world.file, '[tools]')}: {text}",)
    findings = []
    if catalogue is not None and not catalogue.tools:
        findings.append(f"{world.file}:1: the world has no tools")
    named = world.tools.get("decisions")
    if named and not (world.folder / named).is_file():
        line = line_of(world.file, "decisions")
        findings.append(f"{world.file}:{line}: decisions: no file named {named!r}")
    if catalogue is None:
        return tuple(findings)
    findings += [f"{world.file}:{line_of(world.file, '[tools]')}: {t}" for t in catalogue.left_out]
    names = {tool.name for tool in catalogue.tools}
    called = {m.name for m in found} | {
        text for m in found for s in m.slots for text in (s.name, f"{s.tool}.{s.name}")
    }
    for task in world.tool_tasks.values():
        wrong = [f"no tool named {name!r}" for name in task.done if name not in names]
        given = (*task.known, *task.values)
        wrong += [f"no parameter named {name!r}" for name in given if name not in called]
        line = line_of(world.file, f"tasks.{task.name}")
        findings += [f"{world.file}:{line}: the task {task.name!r}: {text}" for text in wrong]
    return tuple(findings)


def code_of(world: WorldFile) -> str:
    """Return the entry of `world.toml` that names code or a server to run, if any."""
    if world.environment:
        return f"environment = {world.environment!r}"
    keys = (key for key in SOURCES if key in world.tools and key != "openapi")
    return next((f"{key} = {world.tools[key]!r}" for key in keys), "")


def overview(world: WorldFile, *, run: bool = False) -> dict[str, Any]:
    """Return an overview of a tool world as JSON.

    Args:
        run: Whether to open its tools; otherwise `tools` is null if only a program can list them.
    """
    catalogue, found = _inspect(world, run)
    return {
        "name": world.name,
        "tools": None
        if catalogue is None
        else [
            {
                "name": tool.name,
                "description": tool.description,
                "takes": [{"name": p.name, "required": p.required} for p in tool.takes],
                "gives": [p.name for p in tool.gives],
                "effect": tool.effect.value,
                "idempotent": tool.idempotent,
            }
            for tool in catalogue.tools
        ],
        "shared": {m.name: [str(s) for s in m.slots] for m in found if len(m.slots) > 1},
        "tasks": {name: task.request for name, task in world.tool_tasks.items()},
    }


def _inspect(world: WorldFile, run: bool) -> tuple[Catalogue | None, tuple[ParameterMeaning, ...]]:
    file = meanings_file(world)
    overrides = NO_OVERRIDES if file is None else read_overrides(file)
    if run:
        tools = open_tools(world)
        catalogue: Catalogue | None = tools.catalogue
        tools.close()
    else:
        catalogue = listed_tools(world)
    if catalogue is None:
        return None, ()
    return catalogue, meanings(catalogue, TextVectors("lexical-hash"), overrides=overrides)
