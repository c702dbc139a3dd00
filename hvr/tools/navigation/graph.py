"""The navigation graph: tools and parameters, with links from schemas and from calls.

NaviAgent, section 3.2. Structural links are those of schemas: a parameter leads to the tools that
take it, a tool to the parameters that it gives. Behavioural links are those of calls: from a tool
to the one that was called next, from a parameter of a result to the one that its value was passed
to. Parameters are meanings: those of equal meaning are one node (`hvr/tools/catalogue/merging.py`).

The graph is a value. What happens makes a new one, which shares nearly everything with the old.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from immutables import Map

from hvr.tools.navigation.chains import NavigationTool
from hvr.tools.navigation.evidence import UNTRIED, CallEvidence
from hvr.tools.navigation.links import NO_LINKS, Links


@dataclass(frozen=True)
class GraphTool:
    """A tool as a node.

    Args:
        name: in the catalogue.
        needs: meanings without which it cannot be called.
        takes: meanings that it takes, needed or not.
        gives: meanings that its result has, by its schema or as calls showed.
        evidence: how its calls went.
    """

    name: str
    needs: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset()
    evidence: CallEvidence = UNTRIED

    def as_step(self) -> NavigationTool:
        """Return it as chains are planned with it."""
        return NavigationTool(self.name, self.needs, self.gives)


@dataclass(frozen=True)
class Absence:
    """Why a tool is not called.

    Args:
        since: seconds since 1970, UTC.
        tried: when it was last given another chance; `since` if it never was.
        trial: whether it is being given one.
        gone: whether the tool itself is no longer there, so that no chance helps.
    """

    since: float
    tried: float
    trial: bool = False
    gone: bool = False


@dataclass(frozen=True)
class ObservedCall:
    """What a call showed, free of values: names and whether it worked.

    Args:
        tool: that was called.
        ok: whether it worked.
        time: when, in seconds since 1970, UTC.
        before: the last tool of the same run that worked; empty if there was none.
        given: meanings of the arguments.
        returned: meanings of what came back.
        missing: meanings that the schema promises and that did not come.
        passed: of each value that came from a result its meaning there, and here.
    """

    tool: str
    ok: bool
    time: float
    before: str = ""
    given: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    passed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class NavigationGraph:
    """Tools, parameters and links.

    Args:
        tools: by name.
        inputs: from parameters to the tools that take them.
        outputs: from tools to the parameters that they give.
        calls: from tools to those that were called next.
        passes: from parameters of results to those that their values were passed to.
        absent: tools that were removed, or are no longer there.
    """

    tools: Map[str, GraphTool] = field(default_factory=Map)
    inputs: Links = NO_LINKS
    outputs: Links = NO_LINKS
    calls: Links = NO_LINKS
    passes: Links = NO_LINKS
    absent: Map[str, Absence] = field(default_factory=Map)

    @staticmethod
    def of(tools: Iterable[GraphTool]) -> NavigationGraph:
        """Return the graph of tools that nobody has called yet; of one name the last counts."""
        made = {tool.name: tool for tool in tools}
        return NavigationGraph(
            Map(made),
            Links.of((p, t.name) for t in made.values() for p in sorted(t.takes)),
            Links.of((t.name, p) for t in made.values() for p in sorted(t.gives)),
        )

    def parameters(self) -> Iterator[str]:
        """Give the parameters, each once, sorted."""
        names = {*self.inputs.after, *self.outputs.before, *self.passes.after, *self.passes.before}
        yield from sorted(names)

    def usable(self, name: str) -> bool:
        """Say whether a tool may be called: it is there, and not removed but for a trial."""
        absence = self.absent.get(name)
        return name in self.tools and (absence is None or absence.trial)

    def usable_tools(self) -> Iterator[GraphTool]:
        """Give the tools that may be called, sorted by name."""
        yield from (self.tools[name] for name in sorted(self.tools) if self.usable(name))

    def with_tool(self, tool: GraphTool) -> NavigationGraph:
        """Return the graph with a tool, new or of another schema.

        What calls showed is kept, except of parameters that the tool no longer takes. A tool that
        was gone is back. Costs O(degree).
        """
        old = self.tools.get(tool.name)
        inputs, outputs = self.inputs, self.outputs
        if old is not None:
            came = {p for p, evidence in outputs.targets(tool.name).items() if evidence.successes}
            tool = replace(tool, gives=tool.gives | came, evidence=old.evidence)
            for parameter in old.takes - tool.takes:
                inputs = inputs.drop(parameter, tool.name)
            for parameter in old.gives - tool.gives:
                outputs = outputs.drop(tool.name, parameter)
        for parameter in sorted(tool.takes):
            inputs = inputs.add(parameter, tool.name)
        for parameter in sorted(tool.gives):
            outputs = outputs.add(tool.name, parameter)
        absence = self.absent.get(tool.name)
        absent = self.absent.delete(tool.name) if absence and absence.gone else self.absent
        return replace(self, tools=self.tools.set(tool.name, tool), inputs=inputs,
                       outputs=outputs, absent=absent)  # fmt: skip

    def without_tool(self, name: str, time: float) -> NavigationGraph:
        """Return the graph in which a tool is gone; what calls showed is kept for its return."""
        if name not in self.tools:
            return self
        return replace(self, absent=self.absent.set(name, Absence(time, time, gone=True)))

    def observe(self, seen: ObservedCall) -> NavigationGraph:
        """Return the graph after a call.

        The result does not depend on the order in which calls are taken in. A tool that was not
        known becomes known, and what came back that no schema names is given from now on. A tool
        that was removed and works is back. Costs O(degree).
        """
        tool = self.tools.get(seen.tool) or GraphTool(seen.tool)
        ok, time = seen.ok, seen.time
        inputs, outputs, calls, passes = self.inputs, self.outputs, self.calls, self.passes
        for parameter in dict.fromkeys(seen.given):
            inputs = inputs.tried(parameter, seen.tool, ok, time)
        for came, parameters in ((True, seen.returned), (False, seen.missing)):
            for parameter in dict.fromkeys(parameters):
                outputs = outputs.tried(seen.tool, parameter, came, time)
        if seen.before:
            calls = calls.tried(seen.before, seen.tool, ok, time)
        for source, target in dict.fromkeys(seen.passed):
            passes = passes.tried(source, target, ok, time)
        tool = replace(
            tool,
            takes=tool.takes | frozenset(seen.given),
            gives=tool.gives | frozenset(seen.returned) | frozenset(seen.missing),
            evidence=tool.evidence.after(ok, time),
        )
        absence = self.absent.get(seen.tool)
        back = ok and absence is not None and not absence.gone
        absent = self.absent.delete(seen.tool) if back else self.absent
        tools = self.tools.set(seen.tool, tool)
        return NavigationGraph(tools, inputs, outputs, calls, passes, absent)
