"""Tool environments: the protocol, and several environments joined as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol

from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Catalogue, quoted

# Environment --------------------------------------------------------------------------------------


class ToolEnvironment(Protocol):
    """A set of tools that can be called and that share a state."""

    @property
    def catalogue(self) -> Catalogue:
        """The tools with their parameters, results and effects."""
        ...

    def reset(self) -> None:
        """Restore the initial state, as far as a live server allows."""
        ...

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool; its failures are outcomes, never exceptions."""
        ...

    def state(self) -> Json:
        """Return the whole state, by which runs are judged; None if it is not observable."""
        ...

    def close(self) -> None:
        """Release processes and connections; closing twice is harmless."""
        ...


class ListedTools:
    """Tools that are only described and cannot be called."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def reset(self) -> None:
        pass

    def call(self, call: ToolCall) -> CallOutcome:
        return CallOutcome(
            call, failure=CallFailure.NOT_ALLOWED, error="the tool is only described"
        )

    def state(self) -> Json:
        return None

    def close(self) -> None:
        pass


# Joined tools -------------------------------------------------------------------------------------


def joined(
    sources: Sequence[tuple[str, Catalogue]],
) -> tuple[Catalogue, dict[str, tuple[int, str]]]:
    """Return the tools of several sources, and per tool its source's index and its name there."""
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
    """The tools of several sources, named `SOURCE.TOOL` where names clash.

    Args:
        sources: Environments with unique names, in the order of the tool list.
    """

    def __init__(self, sources: Sequence[tuple[str, ToolEnvironment]]) -> None:
        self._sources = tuple(sources)
        self._catalogue, self._homes = joined([(name, one.catalogue) for name, one in sources])

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

    def reset(self) -> None:
        for _, source in self._sources:
            source.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        if call.tool not in self._homes:
            error = f"no tool named {quoted(call.tool)}"
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL, error=error)
        index, name = self._homes[call.tool]
        return replace(self._sources[index][1].call(replace(call, tool=name)), call=call)

    def state(self) -> Json:
        """Return the observable states by source; None if there are none."""
        states = {label: source.state() for label, source in self._sources}
        return {label: state for label, state in states.items() if state is not None} or None

    def close(self) -> None:
        """Close every source, even if closing one fails."""
        with ExitStack() as stack:
            for _, source in self._sources:
                stack.callback(source.close)
