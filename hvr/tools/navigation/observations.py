"""From what is logged of calls to what the graph takes in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hvr.errors import DataFileError
from hvr.tools.calling.log import DEEPEST
from hvr.tools.calling.origins import ValueSource
from hvr.tools.calling.values import CallFailure
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.navigation.graph import GraphTool, ObservedCall

if TYPE_CHECKING:
    from hvr.tools.catalogue.merging import ParameterMeaning

_NOT_THE_TOOL = frozenset(
    (CallFailure.NOT_ALLOWED, CallFailure.UNKNOWN_TOOL, CallFailure.BAD_ARGUMENTS)
)
"""Failures that say nothing of the tool: it was not called, or not rightly."""


class MeaningNames:
    """What slots are called in the graph.

    A slot that no schema names (a result of which the schema says nothing, say) is called as the
    one meaning that has its name, or by its tool and its name.

    Args:
        catalogue: the tools.
        found: meanings of their parameters; those of a slot left out are its own name.
    """

    def __init__(self, catalogue: Catalogue, found: Iterable[ParameterMeaning] = ()) -> None:
        self._tools = {tool.name: tool for tool in catalogue.tools}
        self._names = {(s.tool, s.name, s.gives): m.name for m in found for s in m.slots}
        self._known = frozenset(self._names.values())

    def name(self, tool: str, parameter: str, *, gives: bool) -> str:
        """Return the meaning of a slot."""
        if named := self._names.get((tool, parameter, gives)):
            return named
        leaf = ToolParameter(parameter).leaf
        return leaf if leaf in self._known else f"{tool}.{leaf}"

    def schema(self, tool: str) -> ToolSchema | None:
        """Return the schema of a tool; None if there is none."""
        return self._tools.get(tool)

    def graph_tool(self, tool: ToolSchema) -> GraphTool:
        """Return a tool as a node that nobody has called."""
        takes = {self.name(tool.name, p.name, gives=False): p.required for p in tool.takes}
        return GraphTool(
            tool.name,
            frozenset(name for name, required in takes.items() if required),
            frozenset(takes),
            frozenset(self.name(tool.name, p.name, gives=True) for p in tool.gives),
        )

    def graph_tools(self) -> Iterator[GraphTool]:
        """Give all tools as nodes that nobody has called."""
        yield from map(self.graph_tool, self._tools.values())


def observations(lines: Iterable[Mapping[str, Any]], names: MeaningNames) -> Iterator[ObservedCall]:
    """Yield an observation for each logged call that says something of its tool.

    Args:
        lines: of a log as `hvr.tools.calling.log` writes it, in order. Calls of one `run` and
            `world` belong together; a log without `run` has one run a world.
        names: of the slots.

    Raises:
        DataFileError: a line is none of such a log.
    """
    runs: dict[tuple[str, str], list[str]] = {}
    worked: dict[tuple[str, str], str] = {}
    for number, line in enumerate(lines, 1):
        run = str(line.get("world", "")), str(line.get("run", ""))
        called = runs.setdefault(run, [])
        try:
            seen = _observation(line, names, worked.get(run, ""), called)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataFileError(
                f"line {number} of the log of calls is none: {type(error).__name__} {error}"
            ) from None
        called.append(str(line["tool"]))
        if seen is not None:
            if seen.ok:
                worked[run] = seen.tool
            yield seen


def _observation(
    line: Mapping[str, Any], names: MeaningNames, before: str, called: Sequence[str]
) -> ObservedCall | None:
    """Return what a call showed; None if it showed nothing of the tool."""
    tool = str(line["tool"])
    failure = None if line.get("failure") is None else CallFailure(line["failure"])
    if failure in _NOT_THE_TOOL:
        return None
    ok = failure is None
    time = datetime.fromisoformat(line["time"]).timestamp()
    given = {name: names.name(tool, name, gives=False) for name in dict(line["arguments"])}
    came = list(dict.fromkeys(_places(line.get("shape")))) if ok else []
    passed = []
    for name, origin in dict(line.get("origins") or {}).items():
        index = origin.get("call")
        if origin.get("source") == ValueSource.RESULT.value and 0 <= int(index) < len(called):
            giver, place = called[int(index)], _place(origin.get("path") or ())
            passed.append((names.name(giver, place, gives=True), given[name]))
    schema = names.schema(tool)
    promised = [] if schema is None else [p.name for p in schema.gives if p.required or not ok]
    # Beyond some depth the log does not say what came.
    missing = [p for p in promised if p not in came and p.count(".") < DEEPEST - 1]
    return ObservedCall(
        tool, ok, time, before,
        tuple(given.values()),
        tuple(names.name(tool, place, gives=True) for place in came),
        tuple(names.name(tool, place, gives=True) for place in missing),
        tuple(passed),
    )  # fmt: skip


def _places(shape: Any, at: str = "") -> Iterator[str]:
    """Give the places of a result that hold a value, as schemas name them: `flights[].id`."""
    if isinstance(shape, dict):
        for key, inner in shape.items():
            yield from _places(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(shape, list):
        for inner in shape:
            yield from _places(inner, f"{at}[]")
    elif shape != "null":
        yield _whole(at)


def _place(path: Sequence[str | int]) -> str:
    """Return a path of a result as schemas name it."""
    text = ""
    for part in path:
        text += "[]" if isinstance(part, int) else f".{part}" if text else str(part)
    return _whole(text)


def _whole(place: str) -> str:
    return place if place.strip("[]") else f"result{place}"
