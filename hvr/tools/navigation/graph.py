"""The navigation graph: tools, parameters, links with evidence, and pruning over time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from immutables import Map

from hvr.tools.navigation.chains import NavigationTool

# Evidence -----------------------------------------------------------------------------------------
# What calls have shown of a tool or a link: how often it worked, and when last.
#
# The weight of a link is its share of successes (NaviAgent, eq. 4), smoothed by one of each, and
# grows old by eq. 14: w <- e w + (1 - e) times the share since the weight was last written down.

WEIGHT_DECAY = 0.7
"""e of eq. 14: how much of an old weight stays. The text gives no value; this one is hvr's."""


@dataclass(frozen=True, slots=True)
class CallEvidence:
    """Successes and failures, of which no order matters.

    Args:
        successes: of all time.
        failures: of all time.
        last_success: seconds since 1970, UTC; 0 if there was none.
        last_failure: the same of failures.
        aged: the weight when it was last written down; None if it never was.
        new_successes: since then.
        new_failures: since then.
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
        """How often it was tried."""
        return self.successes + self.failures

    @property
    def last(self) -> float:
        """When it was last tried; 0 if it never was."""
        return max(self.last_success, self.last_failure)

    @property
    def worked_last(self) -> bool:
        """Whether it was tried and the last time worked."""
        return bool(self.successes) and self.last_success >= self.last_failure

    @property
    def weight(self) -> float:
        """The chance that it works, between 0 and 1; a half of what was never tried."""
        if self.aged is None:
            return success_rate(self.successes, self.failures)
        if not self.new_successes + self.new_failures:
            return self.aged
        return WEIGHT_DECAY * self.aged + (1 - WEIGHT_DECAY) * success_rate(
            self.new_successes, self.new_failures
        )

    def after(self, ok: bool, time: float) -> CallEvidence:
        """Return what is known after one more try.

        Args:
            ok: whether it worked.
            time: seconds since 1970, UTC.
        """
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
        """Return the same with its weight written down (eq. 14); the weight stays what it is."""
        if not self.new_successes + self.new_failures:
            return self
        return CallEvidence(
            self.successes, self.failures, self.last_success, self.last_failure, self.weight
        )


UNTRIED = CallEvidence()


def success_rate(successes: float, failures: float) -> float:
    """Return the share of successes, smoothed by one of each (Beta(1, 1))."""
    return (successes + 1) / (successes + failures + 2)


# Links --------------------------------------------------------------------------------------------
# Links of one kind with what is known of each, in both directions, as an immutable value.


@dataclass(frozen=True)
class Links:
    """Links between names.

    A change costs O(log n) and copies the list of those that lead to one target, if the link is
    new.

    Args:
        after: by source and target, what is known of the link.
        before: sources by target, sorted.
    """

    after: Map[str, Map[str, CallEvidence]] = field(default_factory=Map)
    before: Map[str, tuple[str, ...]] = field(default_factory=Map, compare=False, repr=False)

    @staticmethod
    def of(pairs: Iterable[tuple[str, str]]) -> Links:
        """Return links of which nothing is known yet."""
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
        """Give source, target and evidence, sorted."""
        for source, targets in sorted(self.after.items()):
            yield from ((source, target, targets[target]) for target in sorted(targets))

    def get(self, source: str, target: str) -> CallEvidence | None:
        """Return what is known of a link; None if it is not there."""
        targets = self.after.get(source)
        return None if targets is None else targets.get(target)

    def targets(self, source: str) -> Map[str, CallEvidence]:
        """Return where links from here lead."""
        return self.after.get(source, Map())

    def sources(self, target: str) -> tuple[str, ...]:
        """Return where links to here come from, sorted."""
        return self.before.get(target, ())

    def put(self, source: str, target: str, evidence: CallEvidence) -> Links:
        """Return the links with one new or changed."""
        targets = self.after.get(source, Map())
        after = self.after.set(source, targets.set(target, evidence))
        if target in targets:
            return Links(after, self.before)
        sources = self.before.get(target, ())
        at = bisect_left(sources, source)
        return Links(after, self.before.set(target, (*sources[:at], source, *sources[at:])))

    def add(self, source: str, target: str) -> Links:
        """Return the links with this one, of which nothing is known if it is new."""
        return self if self.get(source, target) is not None else self.put(source, target, UNTRIED)

    def drop(self, source: str, target: str) -> Links:
        """Return the links without this one."""
        targets = self.after.get(source, Map())
        if target not in targets:
            return self
        rest = targets.delete(target)
        after = self.after.set(source, rest) if rest else self.after.delete(source)
        left = tuple(name for name in self.before[target] if name != source)
        before = self.before.set(target, left) if left else self.before.delete(target)
        return Links(after, before)

    def tried(self, source: str, target: str, ok: bool, time: float) -> Links:
        """Return the links after a try of this one, which is made if it is new."""
        evidence = self.get(source, target) or UNTRIED
        return self.put(source, target, evidence.after(ok, time))

    def changed(self, change: Callable[[CallEvidence], CallEvidence]) -> Links:
        """Return the links with each evidence changed; costs O(links)."""
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
# The navigation graph: tools and parameters, with links from schemas and from calls.
#
# NaviAgent, section 3.2. Structural links are those of schemas: a parameter leads to the tools that
# take it, a tool to the parameters that it gives. Behavioural links are those of calls: from a tool
# to the one that was called next, from a parameter of a result to the one that its value was passed
# to. Parameters are meanings: those of equal meaning are one node
# (`hvr/tools/catalogue/schema_matching.py`).
#
# The graph is a value. What happens makes a new one, which shares nearly everything with the old.


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
        return replace(
            self,
            tools=self.tools.set(tool.name, tool),
            inputs=inputs,
            outputs=outputs,
            absent=absent,
        )

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


# Evolution ----------------------------------------------------------------------------------------
# How the graph changes with time: tools that fail are removed, some are tried again, weights age.
#
# NaviAgent, eq. 13 and 14 with appendix F.2. The threshold and the share that is tried again are
# the paper's, the balance of eq. 13 is not in its text.


@dataclass(frozen=True)
class Pruning:
    """The settings of eq. 13.

    Args:
        balance: b: how much failures count beside seldom use. hvr's own: above the threshold, so
            that even the tool that is called most goes if it always fails.
        threshold: tools that score more are removed.
        again: share of the removed that is given another chance at a time.
    """

    balance: float = 0.8
    threshold: float = 0.7
    again: float = 0.1


PRUNING = Pruning()


def prune_score(tool: GraphTool, most: int, pruning: Pruning = PRUNING) -> float:
    """Return eq. 13: b (failure rate) + (1 - b) (1 - calls / calls of the tool called most).

    The failure rate is what is missing to 1 of the tool's weight, which is smoothed and ages.

    Args:
        tool: the tool.
        most: the number of calls of the tool that was called most.
        pruning: the settings.
    """
    seldom = 1 - tool.evidence.count / most if most else 1.0
    return pruning.balance * (1 - tool.evidence.weight) + (1 - pruning.balance) * seldom


def evolved(graph: NavigationGraph, time: float, pruning: Pruning = PRUNING) -> NavigationGraph:
    """Return the graph after a look at it, which is to be taken once in a while, say once a week.

    In this order: tools that score above the threshold are removed, except those whose last call
    worked; a share of all that are removed, at least one, those that have waited longest, is given
    another chance until the next look; weights are written down, so that what comes now counts
    for 1 - e of them. Costs O(nodes + links).

    Args:
        graph: before.
        time: in seconds since 1970, UTC; never before that of an earlier look.
        pruning: the settings.
    """
    most = max((tool.evidence.count for tool in graph.tools.values()), default=0)
    # A chance that was not taken, or not well, is over.
    absent = Map({name: replace(a, trial=False) for name, a in graph.absent.items()})
    for name, tool in graph.tools.items():
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
    """Return the removed tools of which some are given a chance."""
    waiting = sorted((a.tried, name) for name, a in absent.items() if not a.gone)
    # What has just been removed is not tried at once.
    ready = [name for tried, name in waiting if tried < time]
    for name in ready[: math.ceil(pruning.again * len(waiting))]:
        absent = absent.set(name, replace(absent[name], tried=time, trial=True))
    return absent
