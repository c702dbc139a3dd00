"""Several environments of tools as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from hvr.tools.calling.environment import ToolEnvironment
from hvr.tools.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Catalogue, quoted


def joined(
    sources: Sequence[tuple[str, Catalogue]],
) -> tuple[Catalogue, dict[str, tuple[int, str]]]:
    """Return the tools of several sources, and for each its source's index and its name there.

    Args:
        sources: Catalogues with names that tell them apart.
    """
    times = Counter(tool.name for _, one in sources for tool in one.tools)
    tools, homes = [], {}
    for index, (label, catalogue) in enumerate(sources):
        for tool in catalogue.tools:
            name = tool.name if times[tool.name] == 1 else f"{label}.{tool.name}"
            homes[name] = index, tool.name
            tools.append(replace(tool, name=name))
    left_out = tuple(text for _, one in sources for text in one.left_out)
    return Catalogue(tuple(tools), left_out), homes


class JoinedTools:
    """The tools of several sources; `SOURCE.TOOL` where two sources have a tool of one name.

    Args:
        sources: Environments with names of their own, in the order in which tools are listed.
    """

    def __init__(self, sources: Sequence[tuple[str, ToolEnvironment]]) -> None:
        self._sources = tuple(sources)
        self._catalogue, self._homes = joined([(name, one.catalogue) for name, one in sources])

    @property
    def catalogue(self) -> Catalogue:
        """The tools of all sources."""
        return self._catalogue

    def reset(self) -> None:
        """Begin anew in each source."""
        for _, source in self._sources:
            source.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool of the source that has it."""
        if call.tool not in self._homes:
            error = f"there is no tool {quoted(call.tool)}"
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL, error=error)
        index, name = self._homes[call.tool]
        return replace(self._sources[index][1].call(replace(call, tool=name)), call=call)

    def state(self) -> Json:
        """Return the states of the sources that show one, by source; None if none does."""
        states = {label: source.state() for label, source in self._sources}
        return {label: state for label, state in states.items() if state is not None} or None

    def close(self) -> None:
        """Close each source, also where closing another fails."""
        with ExitStack() as stack:
            for _, source in self._sources:
                stack.callback(source.close)
