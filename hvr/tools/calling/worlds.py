"""Tool worlds: the `[tools]` table of a `world.toml`, its sources and declared effects."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from hvr.base.files import exclusive_writer, write_whole
from hvr.base.texts import read_text
from hvr.errors import DataFileError, HvrError, SimulatorError, UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.knowledge.world_file import WorldFile, line_of
from hvr.tools.calling.calls import (
    CallOutcome,
    JoinedTools,
    Json,
    ToolCall,
    ToolEnvironment,
    joined,
)
from hvr.tools.catalogue.python_functions import read_functions
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, escalated_effect, quoted
from hvr.tools.catalogue.schema_matching import (
    NO_OVERRIDES,
    ParameterMeaning,
    meanings,
    read_overrides,
)

# Sources ------------------------------------------------------------------------------------------

SOURCES = ("module", "bfcl", "tau2", "mcp", "openapi", "entry")


@dataclass(frozen=True)
class ToolSource:
    kind: str
    value: Any
    label: str


def read_sources(world: WorldFile) -> tuple[ToolSource, ...]:
    """Return the tool sources of a world, in the order of its file.

    Raises:
        DataFileError: The world has no tool source, or an invalid one.
    """
    found: list[ToolSource] = []
    labels: set[str] = set()
    for kind, entry in _entries(world):
        named, value = _label(kind, entry)
        numbered = (f"{named}{number}" for number in count(2))
        label = named if named not in labels else next(n for n in numbered if n not in labels)
        labels.add(label)
        found.append(ToolSource(kind, value, label))
    if not found:
        raise wrong_entry(
            world, f"[tools] must name a source: one of {', '.join(SOURCES)}", "[tools]"
        )
    return tuple(found)


def wrong_entry(world: WorldFile, text: str, word: str) -> DataFileError:
    """Return an error that points to the line of a world file containing `word`."""
    return DataFileError(f"{world.file}:{line_of(world.file, word)}: {text}")


def _entries(world: WorldFile) -> Iterator[tuple[str, Any]]:
    for kind, value in world.tools.items():
        if kind not in SOURCES:
            continue
        if kind == "bfcl" or not isinstance(value, list):  # BFCL's classes share their state
            yield kind, value
        elif value:
            yield from ((kind, one) for one in value)
        else:
            raise wrong_entry(world, f"{kind} must list at least one source", kind)


def _label(kind: str, value: Any) -> tuple[str, Any]:
    """Return a source's name (given or derived from its value), and the value less the name."""
    if isinstance(value, dict):
        value = dict(value)
        if isinstance(value.get("name"), str) and value["name"].strip():
            return value.pop("name"), value
        command = value.get("command") or [""]
        where = value.get("file") or value.get("url") or command[-1]
        host = urlsplit(where).hostname if isinstance(where, str) and "://" in where else None
        return host or PurePath(str(where)).stem or kind, value
    if kind == "openapi":
        return PurePath(str(value)).stem, value
    return (kind if kind == "bfcl" else str(value).partition(":")[0]), value


# Worlds -------------------------------------------------------------------------------------------
# The `[tools]` table of a `world.toml`:
#
# ```
# [tools]
# module = "desk"                                    # Python functions in desk.py of the folder
# bfcl = ["TravelAPI"]                               # classes of BFCL
# tau2 = "retail"                                    # a domain of tau2-bench
# mcp = { command = ["python", "server.py"] }        # an MCP server to start
# mcp = { url = "http://127.0.0.1:8000/mcp" }        # a running MCP server
# entry = "module:function"                          # a function that returns an environment
# openapi = "shop.yaml"                              # the operations of an OpenAPI document
# openapi = { file = "shop.yaml", server = "http://127.0.0.1:8000", auth = { key = "SHOP_KEY" } }
#
# # Several entries, and lists, are several sources; `name` names a server or document:
# mcp = [{ name = "git", command = ["git-mcp"] }, { url = "http://127.0.0.1:8000/mcp" }]
#
# reads = ["find_customer"]                          # tools that change nothing
# writes = ["change_address"]                        # tools that change something
# destroys = ["delete_account"]                      # tools that delete something
# idempotent = ["change_address"]                    # writing tools that are safe to repeat
# meanings = "meanings.toml"                         # parameters with the same meaning
# decisions = "decisions.json"                       # decision model learnt from judged dialogues
# ```

EFFECTS = (Effect.READS, Effect.WRITES, Effect.DESTROYS)
"""Effects that a world can declare, each under a key of the same name."""

_LISTS = (*(effect.value for effect in EFFECTS), "idempotent")
_ENTRY_TYPES = {**dict.fromkeys(_LISTS, list), "meanings": str, "decisions": str}


def open_tools(world: WorldFile) -> ToolEnvironment:
    """Open the tools of a world in their initial state.

    Raises:
        UsageError: The world has no tools or is not trusted, or its tools cannot be opened.
        SimulatorError: The world's own code raises an error.
    """
    if not world.tools:
        raise UsageError(f"{world.name} is not a tool world: it has no [tools]", field="world")
    sources = _sources(world)
    for source in sources:
        if source.kind != "openapi":  # documents are read without running code
            world.check_trusted(f"{source.kind} = {source.value!r}", source.kind)
    with ExitStack() as stack:
        parts = []
        for source in sources:
            part = _opened_source(world, source)
            stack.callback(part.close)
            parts.append((source.label, part))
        opened = parts[0][1] if len(parts) == 1 else JoinedTools(parts)
        stack.pop_all()
    try:
        catalogue = _with_stated_effects(world, opened.catalogue, _hints(world))
    except HvrError:
        opened.close()
        raise
    return _AnnotatedTools(opened, catalogue)


def listed_tools(world: WorldFile) -> Catalogue | None:
    """Return the tools of a world that can be listed without running its code.

    Returns:
        The functions in the source code of its modules and the operations of its OpenAPI documents;
        None if listing some tools requires running a program.
    """
    parts = []
    for source in _sources(world):
        catalogue = _listed_source(world, source)
        if catalogue is None:
            return None
        parts.append((source.label, catalogue))
    return _with_stated_effects(world, joined(parts)[0], _hints(world))


def _hints(world: WorldFile) -> dict[str, tuple[str, ...]]:
    return {key: tuple(world.tools.get(key, ())) for key in _LISTS}


def meanings_file(world: WorldFile) -> Path | None:
    """Return the file that lists parameters with the same meaning, if the world names one."""
    name = world.tools.get("meanings")
    return world.folder / name if isinstance(name, str) else None


class _AnnotatedTools:
    def __init__(self, inner: ToolEnvironment, catalogue: Catalogue) -> None:
        self._inner = inner
        self._catalogue = catalogue

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

    def reset(self) -> None:
        self._inner.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        return self._inner.call(call)

    def state(self) -> Json:
        return self._inner.state()

    def close(self) -> None:
        self._inner.close()


def _sources(world: WorldFile) -> tuple[ToolSource, ...]:
    for key, value in world.tools.items():
        if key not in SOURCES and key not in _ENTRY_TYPES:
            known = ", ".join((*SOURCES, *_ENTRY_TYPES))
            raise wrong_entry(
                world, f"unknown entry {key!r} in [tools]; known entries: {known}", key
            )
        kind = _ENTRY_TYPES.get(key)
        texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
        if kind is not None and not (isinstance(value, kind) and texts):
            word = "a list of tool names" if kind is list else "a file name"
            raise wrong_entry(world, f"{key} must be {word}", key)
    return read_sources(world)


def _opened_source(world: WorldFile, source: ToolSource) -> ToolEnvironment:
    try:
        return _opened(world, source.kind, source.value)
    except HvrError:
        raise
    except (Exception, SystemExit) as error:  # code of the world may raise anything
        raise SimulatorError(
            f"{world.file}: the tools of {quoted(source.label)} cannot be opened: "
            f"{type(error).__name__}: {error}",
            exit_code=2,
        ) from error


def _listed_source(world: WorldFile, source: ToolSource) -> Catalogue | None:
    if source.kind == "openapi":
        from hvr.tools.calling.openapi_world import listed_operations, read_server

        return listed_operations(read_server(source.value, world.folder, str(world.file)))
    name = str(source.value)
    path = world.folder / f"{name}.py"
    if source.kind != "module" or not name.isidentifier() or not path.is_file():
        return None
    return Catalogue(read_functions(read_text(path), str(path)))


def _opened(world: WorldFile, source: str, value: Any) -> ToolEnvironment:
    if source == "mcp":
        from hvr.tools.calling.mcp_world import open_server

        return open_server(value, world.folder, str(world.file))
    if source == "openapi":
        from hvr.tools.calling.openapi_world import OpenApiTools, read_server

        return OpenApiTools(read_server(value, world.folder, str(world.file)))
    if source == "bfcl" and isinstance(value, list):
        from hvr.tools.calling.python_world import BfclTools

        return BfclTools([str(name) for name in value])
    if source == "bfcl" or not isinstance(value, str):
        expected = "list" if source == "bfcl" else "name"
        raise wrong_entry(world, f"{source} must be a {expected}", source)
    if source == "tau2":
        from hvr.tools.calling.python_world import Tau2Tools

        return Tau2Tools(value)
    name, colon, attribute = value.partition(":")
    if source == "module":
        from hvr.tools.calling.python_world import open_module

        return open_module(_module(world, name))
    entry = getattr(_module(world, name), attribute, None) if colon else None
    if not callable(entry):
        raise wrong_entry(world, f"entry must be module:function, found {value!r}", "entry")
    opened: Any = entry(world.folder)
    missing = [
        n for n in ("catalogue", "reset", "call", "state", "close") if not hasattr(opened, n)
    ]
    if missing:
        raise wrong_entry(
            world, f"the environment that {value} returns lacks {', '.join(missing)}", "entry"
        )
    environment: ToolEnvironment = opened
    return environment


def _module(world: WorldFile, name: str) -> ModuleType:
    # Modules in the world's folder take precedence and are always reloaded.
    path = world.folder / f"{name}.py"
    if not name.isidentifier() or not path.is_file():
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise UsageError(
                f"{world.file}: the module {quoted(name)} cannot be imported: {error}"
            ) from None
    spec = importlib.util.spec_from_file_location(f"hvr_tools_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses, enums and type hints look up their module by name.
    sys.modules[module.__name__] = module
    with redirect_stdout(sys.stderr):  # prints would mix with the output of the command
        spec.loader.exec_module(module)
    return module


def _with_stated_effects(
    world: WorldFile, catalogue: Catalogue, stated: Mapping[str, tuple[str, ...]]
) -> Catalogue:
    names = {tool.name for tool in catalogue.tools}
    for key, some in stated.items():
        for name in some:
            if name not in names:
                raise wrong_entry(world, f"{key}: no tool named {quoted(name)}", name)
    effects: dict[str, Effect] = {}
    for effect in EFFECTS:
        for name in stated[effect.value]:
            if effects.setdefault(name, effect) is not effect:
                both = f"{effects[name].value} and {effect.value}"
                raise wrong_entry(world, f"{quoted(name)} is listed under both {both}", name)
    again = set(stated["idempotent"])
    return replace(
        catalogue,
        tools=tuple(
            replace(
                tool,
                effect=_effect(tool, effects),
                idempotent=True if tool.name in again else tool.idempotent,
            )
            for tool in catalogue.tools
        ),
    )


def _effect(tool: ToolSchema, stated: Mapping[str, Effect]) -> Effect:
    if tool.name in stated:
        return stated[tool.name]
    # If a world lists its read-only tools, all others write.
    lists_readers = Effect.READS in stated.values()
    known = Effect.WRITES if lists_readers and tool.effect is Effect.UNKNOWN else tool.effect
    return escalated_effect(known, tool.name, tool.description)


# Stated effects -----------------------------------------------------------------------------------

_TABLE = re.compile(r"^\s*\[\s*tools\s*\]\s*(#.*)?$")
_HEADER = re.compile(r"^\s*\[")


def remember_effects(world: WorldFile, effects: Mapping[str, Effect]) -> None:
    """Write tools' effects, by tool name, to the `[tools]` table of a world file, atomically.

    The rest of the file stays unchanged, including comments. `UNKNOWN` effects are ignored.

    Raises:
        DataFileError: The file cannot be read, or hvr cannot add the effects to it.
    """
    with exclusive_writer(world.file):
        try:
            text = world.file.read_text(encoding="utf-8")
            expected = tomllib.loads(text)
        except (OSError, ValueError) as error:
            raise DataFileError(f"{world.file} cannot be reread: {error}") from None
        lines = text.splitlines(keepends=True)
        for effect in EFFECTS:
            names = [name for name, one in effects.items() if one is effect]
            old = expected.get("tools", {}).get(effect.value, [])
            added = [name for name in names if name not in old]
            if added:
                expected["tools"][effect.value] = [*old, *added]
                lines = _with_entry(lines, effect.value, [*old, *added])
        changed = "".join(lines)
        if not _parses_as(changed, expected):
            listed = "; ".join(
                f"{effect.value} = {json.dumps(expected['tools'].get(effect.value, []))}"
                for effect in EFFECTS
            )
            raise DataFileError(
                f"{world.file}: cannot add the effects of tools to this file;"
                f" add these lines below [tools]: {listed}"
            )
        write_whole(world.file, changed, durable=True)


def _with_entry(lines: Sequence[str], key: str, names: Sequence[str]) -> list[str]:
    # JSON strings are valid TOML except for DEL.
    listed = json.dumps(list(names), ensure_ascii=False).replace("\x7f", "\\u007f")
    entry = f"{key} = {listed}\n"
    start = next((n for n, line in enumerate(lines) if _TABLE.match(line)), None)
    if start is None:
        return list(lines)
    end = next((n for n in range(start + 1, len(lines)) if _HEADER.match(lines[n])), len(lines))
    own = re.compile(rf"^\s*{key}\s*=")
    at = next((n for n in range(start + 1, end) if own.match(lines[n])), None)
    if at is None:
        header = lines[start] if lines[start].endswith("\n") else f"{lines[start]}\n"
        return [*lines[:start], header, entry, *lines[start + 1 :]]
    # A list may span several lines; it ends at the first line that completes valid TOML.
    for last in range(at + 1, len(lines) + 1):
        if _parses_as("".join(lines[at:last]), None):
            return [*lines[:at], entry, *lines[last:]]
    return list(lines)


def _parses_as(text: str, expected: Any) -> bool:
    try:
        found = tomllib.loads(text)
    except ValueError:
        return False
    return expected is None or found == expected


# World checking -----------------------------------------------------------------------------------
# Checks and overviews of tool worlds.


def check_tools(world: WorldFile, *, run: bool = False) -> tuple[str, ...]:
    """Return the problems of a tool world as messages with file and line.

    If `run` is true, the tools are opened to list them, but none is called. If false, only tools
    that can be listed without running code are checked.
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
    """Return the first entry that names code or a server, as `KEY = VALUE`; empty if none does."""
    if world.environment:
        return f"environment = {world.environment!r}"
    keys = (key for key in SOURCES if key in world.tools and key != "openapi")
    return next((f"{key} = {world.tools[key]!r}" for key in keys), "")


def overview(world: WorldFile, *, run: bool = False) -> dict[str, Any]:
    """Return an overview of a tool world as JSON; `tools` is null if listing them needs `run`."""
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
