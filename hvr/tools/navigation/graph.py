"""The navigation graph: tools, parameters, links with evidence, and pruning over time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from immutables import Map

# Evidence -----------------------------------------------------------------------------------------
# Successes and failures of a tool or a link, with the times of the last ones.
#
# The weight of a link is its success rate (NaviAgent, eq. 4) with a Beta(1, 1) prior. It ages by
# eq. 14: w <- e w + (1 - e) times the success rate since the last review.

WEIGHT_DECAY = 0.7
"""The share e of the old weight in eq. 14. The paper gives no value."""


@dataclass(frozen=True, slots=True)
class CallEvidence:
    """Numbers of successes and failures, which do not depend on the order of the attempts.

    Args:
        last_success: Time of the last success, in seconds since 1970, UTC; 0 if none.
        last_failure: Time of the last failure, in seconds since 1970, UTC; 0 if none.
        aged: Weight at the last review; None before the first one.
        new_successes: Number of successes since the last review.
        new_failures: Number of failures since the last review.
    """

    successes: int = 0
    failures: int = 0
    last_success: float = 0.0
    last_failure: float = 0.0
    aged: float | None = None
    new_successes: int = 0
    new_failures: int = 0

    @property
    def count(self) -> int:
        return self.successes + self.failures

    @property
    def last(self) -> float:
        return max(self.last_success, self.last_failure)

    @property
    def worked_last(self) -> bool:
        return bool(self.successes) and self.last_success >= self.last_failure

    @property
    def weight(self) -> float:
        """Success probability, strictly between 0 and 1; 0.5 if there were no attempts."""
        if self.aged is None:
            return success_rate(self.successes, self.failures)
        if not self.new_successes + self.new_failures:
            return self.aged
        return WEIGHT_DECAY * self.aged + (1 - WEIGHT_DECAY) * success_rate(
            self.new_successes, self.new_failures
        )

    def after(self, ok: bool, time: float) -> CallEvidence:
        return CallEvidence(
            self.successes + ok,
            self.failures + (not ok),
            max(self.last_success, time) if ok else self.last_success,
            self.last_failure if ok else max(self.last_failure, time),
            self.aged,
            self.new_successes + ok,
            self.new_failures + (not ok),
        )

    def older(self) -> CallEvidence:
        """Return the evidence after a review, which stores the weight (NaviAgent, eq. 14)."""
        if not self.new_successes + self.new_failures:
            return self
        return CallEvidence(
            self.successes, self.failures, self.last_success, self.last_failure, self.weight
        )


UNTRIED = CallEvidence()


def success_rate(successes: float, failures: float) -> float:
    return (successes + 1) / (successes + failures + 2)


# Links --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Links:
    """Immutable links of one kind between names, indexed in both directions.

    An update costs O(log n). A new link also copies the list of its target's sources.

    Args:
        after: Evidence by source and target.
        before: Sorted sources by target.
    """

    after: Map[str, Map[str, CallEvidence]] = field(default_factory=Map)
    before: Map[str, tuple[str, ...]] = field(default_factory=Map, compare=False, repr=False)

    @staticmethod
    def of(pairs: Iterable[tuple[str, str]]) -> Links:
        after: dict[str, dict[str, CallEvidence]] = defaultdict(dict)
        before: dict[str, list[str]] = defaultdict(list)
        for source, target in pairs:
            if target not in after[source]:
                after[source][target] = UNTRIED
                before[target].append(source)
        return Links(
            Map({source: Map(targets) for source, targets in after.items()}),
            Map({target: tuple(sorted(sources)) for target, sources in before.items()}),
        )

    def __len__(self) -> int:
        return sum(len(targets) for targets in self.after.values())

    def __iter__(self) -> Iterator[tuple[str, str, CallEvidence]]:
        for source, targets in sorted(self.after.items()):
            yield from ((source, target, targets[target]) for target in sorted(targets))

    def get(self, source: str, target: str) -> CallEvidence | None:
        targets = self.after.get(source)
        return None if targets is None else targets.get(target)

    def targets(self, source: str) -> Map[str, CallEvidence]:
        return self.after.get(source, Map())

    def sources(self, target: str) -> tuple[str, ...]:
        return self.before.get(target, ())

    def put(self, source: str, target: str, evidence: CallEvidence) -> Links:
        """Return the links with new evidence for one link, which is added if missing."""
        targets = self.after.get(source, Map())
        after = self.after.set(source, targets.set(target, evidence))
        if target in targets:
            return Links(after, self.before)
        sources = self.before.get(target, ())
        at = bisect_left(sources, source)
        return Links(after, self.before.set(target, (*sources[:at], source, *sources[at:])))

    def add(self, source: str, target: str) -> Links:
        """Return the links plus one link without evidence, unless it exists."""
        return self if self.get(source, target) is not None else self.put(source, target, UNTRIED)

    def drop(self, source: str, target: str) -> Links:
        targets = self.after.get(source, Map())
        if target not in targets:
            return self
        rest = targets.delete(target)
        after = self.after.set(source, rest) if rest else self.after.delete(source)
        left = tuple(name for name in self.before[target] if name != source)
        before = self.before.set(target, left) if left else self.before.delete(target)
        return Links(after, before)

    def tried(self, source: str, target: str, ok: bool, time: float) -> Links:
        """Return the links after an attempt at one link; a missing link is added."""
        evidence = self.get(source, target) or UNTRIED
        return self.put(source, target, evidence.after(ok, time))

    def changed(self, change: Callable[[CallEvidence], CallEvidence]) -> Links:
        """Return the links with `change` applied to the evidence of each link; costs O(links)."""
        after = self.after
        for source, targets in self.after.items():
            new = targets
            for target, evidence in targets.items():
                if (made := change(evidence)) is not evidence:
                    new = new.set(target, made)
            if new is not targets:
                after = after.set(source, new)
        return Links(after, self.before)


NO_LINKS = Links()


# Graph --------------------------------------------------------------------------------------------
# NaviAgent, section 3.2. Structural links come from schemas: from a parameter to the tools that
# take it, and from a tool to the parameters that it gives. Behavioural links come from calls: from
# a tool to the next one called, and from a parameter of a result to the parameter that received its
# value. Parameters with the same meaning share one node (`hvr/tools/catalogue/schema_matching.py`).
#
# The graph is immutable. An update returns a new graph that shares nearly all of its structure.


@dataclass(frozen=True)
class GraphTool:
    """A tool as a node of the graph.

    Args:
        needs: Meanings that a call requires.
        takes: Meanings that a call accepts, required or optional.
        gives: Meanings in the tool's results, as declared by its schema or observed.
    """

    name: str
    needs: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset()
    evidence: CallEvidence = UNTRIED


@dataclass(frozen=True)
class Absence:
    """The state of a tool that was removed from the graph.

    Args:
        since: Time of the removal, in seconds since 1970, UTC.
        tried: Start of the last trial; equals `since` if there was none.
        trial: Whether the tool is on trial now.
        gone: Whether the tool no longer exists and so gets no trial.
    """

    since: float
    tried: float
    trial: bool = False
    gone: bool = False


@dataclass(frozen=True)
class ObservedCall:
    """An observed call, described by names without values.

    Args:
        time: Time of the call, in seconds since 1970, UTC.
        before: Tool of the last successful call in the same run; empty if none.
        given: Meanings of the arguments.
        returned: Meanings in the result.
        missing: Meanings that the schema declares but the result lacks.
        passed: For each value passed on, the pair of its meanings in an earlier result and in this
            call.
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
    """A graph of tools and parameters.

    Args:
        inputs: Links from parameters to the tools that take them.
        outputs: Links from tools to the parameters that they give.
        calls: Links from tools to the tools called next.
        passes: Links from result parameters to the parameters that received their values.
        absent: Tools that were removed or no longer exist.
    """

    tools: Map[str, GraphTool] = field(default_factory=Map)
    inputs: Links = NO_LINKS
    outputs: Links = NO_LINKS
    calls: Links = NO_LINKS
    passes: Links = NO_LINKS
    absent: Map[str, Absence] = field(default_factory=Map)

    @staticmethod
    def of(tools: Iterable[GraphTool]) -> NavigationGraph:
        """Return a graph without observed calls; if tool names repeat, the last tool is kept."""
        made = {tool.name: tool for tool in tools}
        return NavigationGraph(
            Map(made),
            Links.of((p, t.name) for t in made.values() for p in sorted(t.takes)),
            Links.of((t.name, p) for t in made.values() for p in sorted(t.gives)),
        )

    def parameters(self) -> Iterator[str]:
        names = {*self.inputs.after, *self.outputs.before, *self.passes.after, *self.passes.before}
        yield from sorted(names)

    def usable(self, name: str) -> bool:
        """Return whether a tool exists and is either not removed or on trial."""
        absence = self.absent.get(name)
        return name in self.tools and (absence is None or absence.trial)

    def usable_tools(self) -> Iterator[GraphTool]:
        yield from (self.tools[name] for name in sorted(self.tools) if self.usable(name))

    def with_tool(self, tool: GraphTool) -> NavigationGraph:
        """Return the graph with a tool added, or with its schema replaced. Costs O(degree).

        Observations are kept, except those of parameters that the tool no longer takes, and of
        results that it no longer declares and never gave. A tool that was marked as gone becomes
        usable again.
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
        return replace(
            self,
            tools=self.tools.set(tool.name, tool),
            inputs=inputs,
            outputs=outputs,
            absent=absent,
        )

    def without_tool(self, name: str, time: float) -> NavigationGraph:
        """Return the graph with a tool, if known, marked as gone; its observations are kept."""
        if name not in self.tools:
            return self
        return replace(self, absent=self.absent.set(name, Absence(time, time, gone=True)))

    def observe(self, seen: ObservedCall) -> NavigationGraph:
        """Return the graph after an observed call. Costs O(degree).

        The result does not depend on the order of calls. An unknown tool or undeclared result is
        added to the graph. A removed tool is restored if its call succeeds, unless it is gone.
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
        # Success on trial restores a tool, but a tool that no longer exists stays marked as gone.
        back = ok and absence is not None and not absence.gone
        absent = self.absent.delete(seen.tool) if back else self.absent
        tools = self.tools.set(seen.tool, tool)
        return NavigationGraph(tools, inputs, outputs, calls, passes, absent)


# Evolution ----------------------------------------------------------------------------------------
# NaviAgent, eq. 13 and 14 with appendix F.2: failing tools are removed, some removed tools are
# tried again, and weights age. The threshold and the share of trials are the paper's values; it
# gives no balance for eq. 13.


@dataclass(frozen=True)
class Pruning:
    """Parameters of the removal of tools (NaviAgent, eq. 13).

    Args:
        balance: Weight b of failures, as opposed to rare use. hvr's value exceeds the threshold, so
            that even the most used tool is removed if it always fails.
        threshold: Score above which a tool is removed.
        again: Share of the removed tools to try again at each review.
    """

    balance: float = 0.8
    threshold: float = 0.7
    again: float = 0.1


PRUNING = Pruning()


def prune_score(tool: GraphTool, most: int, pruning: Pruning = PRUNING) -> float:
    """Return b (failure rate) + (1 - b) (1 - calls / calls of the most used tool) (eq. 13).

    The failure rate is 1 minus the tool's weight, which is smoothed and decays over time.
    """
    seldom = 1 - tool.evidence.count / most if most else 1.0
    return pruning.balance * (1 - tool.evidence.weight) + (1 - pruning.balance) * seldom


def evolved(graph: NavigationGraph, time: float, pruning: Pruning = PRUNING) -> NavigationGraph:
    """Return the graph after a review at `time` (seconds since 1970, UTC), which must not go back.

    First, each tool that has failed and scores above the threshold is removed, unless its last
    call succeeded. Next, a share of the removed tools that still exist, at least one, is put on
    trial until the next review, the longest waiting first. Finally, the current weights are stored,
    so that later calls count for 1 - `WEIGHT_DECAY` of them. Costs O(nodes + links).
    """
    most = max((tool.evidence.count for tool in graph.tools.values()), default=0)
    # A trial ends with the next review; a tool that worked has already been restored.
    absent = Map({name: replace(a, trial=False) for name, a in graph.absent.items()})
    for name, tool in graph.tools.items():
        # A tool that works again is kept, whatever its history.
        bad = tool.evidence.failures and not tool.evidence.worked_last
        if bad and name not in absent and prune_score(tool, most, pruning) > pruning.threshold:
            absent = absent.set(name, Absence(time, time))
    absent = _with_trials(absent, time, pruning)
    tools = graph.tools
    for name, tool in graph.tools.items():
        if (evidence := tool.evidence.older()) is not tool.evidence:
            tools = tools.set(name, replace(tool, evidence=evidence))
    inputs, outputs, calls, passes = (
        links.changed(lambda evidence: evidence.older())
        for links in (graph.inputs, graph.outputs, graph.calls, graph.passes)
    )
    return NavigationGraph(tools, inputs, outputs, calls, passes, absent)


def _with_trials(absent: Map[str, Absence], time: float, pruning: Pruning) -> Map[str, Absence]:
    waiting = sorted((a.tried, name) for name, a in absent.items() if not a.gone)
    # Tools that were just removed wait for the next review.
    ready = [name for tried, name in waiting if tried < time]
    for name in ready[: math.ceil(pruning.again * len(waiting))]:
        absent = absent.set(name, replace(absent[name], tried=time, trial=True))
    return absent
