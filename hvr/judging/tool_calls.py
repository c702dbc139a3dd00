"""Judges plans of tool calls by the flow of values between calls, their effects and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvr.judging.verdict import Cause, Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction
from hvr.tools.call_log import (
    CallLog,
    KnownTools,
    KnownWords,
    Leaf,
    argument_scalars,
    identifies,
    json_scalars,
    named_arguments,
    stems,
    value_words,
)
from hvr.tools.calling.calls import argument_faults, type_faults
from hvr.tools.tool_plans import Link, LoggedCall, ToolGraph, ToolPlan

# Findings -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CallFinding:
    """A fault in a plan of tool calls.

    Args:
        kind: Kind of fault: a redundant call, a missing call, or a wrong argument.
        at: Index of the call, or of the call before which a call is missing.
        tool: Name of the missing tool; empty if unknown.
        cause: Reason why a call is redundant.
    """

    kind: CritiqueKind
    at: int
    reason: str
    tool: str = ""
    cause: Cause | None = None


# Call relevance -----------------------------------------------------------------------------------
# Calls that were not requested and whose results are not read.


def unrequested(log: CallLog, at: int) -> CallFinding | None:
    """Return a finding if a call relates neither to the request nor to another call, else None.

    A writing call is not judged, since it may be a goal. The last call before the user speaks again
    is not judged either, since it may provide the answer.
    """
    call = log.calls[at]
    if call.failed or log.known is None or log.values[at].readers or not log.reads(at):
        return None
    if at + 1 == len(log.calls) or log.calls[at + 1].turn != call.turn:
        return None
    # If no call seems requested, hvr has not understood the request.
    calls = range(len(log.calls))
    if not any(log.mentions_call(log.messages_before(other), other) for other in calls):
        return None
    if _explained(log, at):
        return None
    if not log.mentions_tool(_request(log, at), at):
        reason = "the user does not mention it, and no later call reads its result"
    elif _of_something_else(log, at):
        reason = "its arguments are unexplained, and no later call reads its result"
    else:
        return None
    return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)


def _request(log: CallLog, at: int) -> Sequence[str]:
    turn = log.calls[at].turn
    last = log.messages_before(at)[-1:]
    answered = (other for other, call in enumerate(log.calls) if call.turn == turn and other != at)
    if any(log.mentions_call(last, other) for other in answered):
        return last
    return log.messages_before(at)


def _of_something_else(log: CallLog, at: int) -> bool:
    # A name may translate the user's words. An identifier does not, and neither do arguments if
    # another call of the same tool uses the user's words.
    if not log.inputs(at):
        return False
    if any(identifies(value) for _, value in log.inputs(at)):
        return True
    return any(
        other != at and call.tool == log.calls[at].tool and _explained(log, other)
        for other, call in enumerate(log.calls)
    )


def _explained(log: CallLog, at: int) -> bool:
    known = log.before(at)
    return any(known.has(value) for _, value in log.inputs(at))


# Link findings ------------------------------------------------------------------------------------
# Evidence from the links of a plan and the links that its tools allow.


def link_findings(plan: ToolPlan, known: KnownTools | None) -> tuple[CallFinding, ...]:
    """Return the faults that the links between a plan's tools reveal, in order of its calls."""
    found = list(_unmet(plan))
    if known is not None and known.linked and not found:
        found = list(_impossible(plan, known))
    return tuple(sorted(dict.fromkeys(found), key=lambda f: (f.at, f.kind is CritiqueKind.REMOVE)))


def _unmet(plan: ToolPlan) -> Iterator[CallFinding]:
    for source, target in dict.fromkeys(plan.links):
        places = [i for i, tool in enumerate(plan.tools) if tool == target]
        # A tool may be called repeatedly: one call that can read the result is enough.
        if not places or source == target or source in plan.tools[: places[-1]]:
            continue
        when = "only called after it" if source in plan.tools else "not called"
        reason = f"{target} reads the result of {source}, which is {when}"
        yield CallFinding(CritiqueKind.MISSING, places[0], reason, source)
        if source in plan.tools:
            late = plan.tools.index(source)
            yield _misplaced(late, places[0])


def _misplaced(at: int, before: int) -> CallFinding:
    reason = f"it belongs before call {before + 1}"
    return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.CONTRADICTORY)


def _impossible(plan: ToolPlan, known: KnownTools) -> Iterator[CallFinding]:
    graph = known.graph
    wrong = [link for link in dict.fromkeys(plan.links or plan.chain) if not graph.linked(*link)]
    explained: set[Link] = set()
    for at, tool in enumerate(plan.tools):
        around = [link for link in wrong if tool in link]
        if around and _dispensable(plan, graph, at):
            explained.update(around)
            reason = "its neighbours in the plan can be linked without it, but not with it"
            yield CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)
    for source, target in wrong:
        if (source, target) in explained or target not in plan.tools:
            continue
        place = plan.tools.index(target)
        if graph.linked(target, source):
            reason = f"the tools have a link from {target} to {source}, but not the reverse"
            first = plan.tools.index(source)
            yield CallFinding(CritiqueKind.MISSING, first, reason, target)
            yield _misplaced(place, first)
            continue
        between = [
            tool
            for tool in graph.successors(source)
            if graph.linked(tool, target) and tool not in plan.tools
        ]
        if between:
            request = stems(plan.request)
            likely = max(between, key=lambda tool: len(stems(tool) & request))
            reason = f"{source} leads to {target} only through {likely}"
            yield CallFinding(CritiqueKind.MISSING, place, reason, likely)


def _dispensable(plan: ToolPlan, graph: ToolGraph, at: int) -> bool:
    links = plan.links or plan.chain
    tool = plan.tools[at]
    before = [a for a, b in links if b == tool]
    after = [b for a, b in links if a == tool]
    if not before or not after:
        # At the end of a chain, there is no evidence whether the call is needed.
        return False
    around = [graph.linked(a, tool) for a in before] + [graph.linked(tool, b) for b in after]
    return not all(around) and all(graph.linked(a, b) for a in before for b in after)


# Value origins ------------------------------------------------------------------------------------
# Arguments that no earlier text explains, where that is evidence of a fault.
#
# Correct logs omit lookups, so an unexplained value alone is not a fault. Further evidence is
# needed: an identifier with a typo, or a lookup of other values of the same kind. A write whose
# result does not confirm the value also counts, if the rest of the log is explained.

_TOKEN = re.compile(r"[\w#@.-]+")


def origin_findings(log: CallLog, at: int) -> Iterator[CallFinding]:
    """Yield findings for values of a call that occur nowhere before it."""
    call, values = log.calls[at], log.values[at]
    if call.failed or not log.said or log.retried(at):
        return
    # A value may come from a result that was not logged.
    logged = all(other.returned for other in log.calls[:at])
    reads = log.reads(at)
    for leaf in values.unknown:
        name, value = leaf
        if intended := _slip(log, at, leaf):
            reason = f"{name} is {value!r}, which nothing else mentions; {intended!r} is known"
            yield CallFinding(CritiqueKind.ARGUMENT, at, reason)
            return
        giver, why = _giver(log, at, leaf)
        late = _looked_up_late(log, at, leaf)
        if not giver and not (logged and (reads or _stands_out(log, at))):
            continue
        # A write whose result repeats the value confirms it; the log may omit all lookups.
        if not reads and leaf in values.echoed and not late and not _others_looked_up(log, at):
            continue
        yield _unexplained(log, at, leaf, (giver, why, late))
        return
    if not logged or not any(other.returned for other in log.calls):
        yield from _unread_identifiers(log, at)


def _unexplained(log: CallLog, at: int, leaf: Leaf, source: tuple[str, str, bool]) -> CallFinding:
    name, value = leaf
    giver, why, late = source
    unmentioned = f"{name} is {value!r}, which neither the user nor an earlier result mentions"
    unused = log.reads(at) and not log.values[at].readers
    idle = unused and not log.mentions_tool(log.messages_before(at), at)
    if idle and not late:
        reason = f"{unmentioned}, and no later call reads the result"
        return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)
    if giver:
        reason = f"{name} is {value!r}, which {giver} provides, but {giver} {why}"
        return CallFinding(CritiqueKind.MISSING, at, reason, giver)
    return CallFinding(CritiqueKind.ARGUMENT, at, unmentioned)


def _slip(log: CallLog, at: int, leaf: Leaf) -> str:
    """Return the known identifier from which a value differs by a slip; empty if there is none."""
    # A result that repeats the value confirms that it exists.
    name, value = leaf
    if leaf in log.values[at].echoed:
        return ""
    texts: list[Any] = [*log.messages_before(at), *(call.result for call in log.calls[:at])]
    known = [token.strip(".-") for text in texts for token in _tokens(text)]
    for other, call in enumerate(log.calls):
        if other != at:
            known += [
                str(v)
                for n, v in argument_scalars(named_arguments(call))
                if n == name and identifies(v)
            ]
    return next((token for token in known if _one_slip(token, str(value))), "")


def _tokens(value: Any) -> Iterator[str]:
    for _, leaf in json_scalars(value):
        yield from _TOKEN.findall(str(leaf))


def _one_slip(first: str, second: str) -> bool:
    first, second = first.lower(), second.lower()
    if len(first) != len(second):
        return False
    places = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(places) == 2:
        i, j = places
        return j == i + 1 and first[i] == second[j] and first[j] == second[i]
    return len(places) == 1


def _unexplained_places(log: CallLog) -> Iterator[tuple[int, Leaf]]:
    for place, call in enumerate(log.calls):
        for leaf in () if call.failed else log.values[place].unknown:
            yield place, leaf


def _stands_out(log: CallLog, at: int) -> bool:
    """Return whether only this call has unexplained values, and its result repeats none of them."""
    # If several calls have unexplained values, the log does not show where values come from.
    if set(log.values[at].unknown) & log.values[at].echoed:
        return False
    unexplained = list(_unexplained_places(log))
    if len({value for _, (_, value) in unexplained}) == 1:
        return True
    explained = any(
        identifies(leaf[1]) and leaf not in log.values[place].unknown
        for place in range(len(log.calls))
        if place != at
        for leaf in log.inputs(place)
    )
    return explained and all(place == at for place, _ in unexplained)


def _others_looked_up(log: CallLog, at: int) -> bool:
    kinds = {name for _, (name, _) in _unexplained_places(log)}
    if len(kinds) != 1:
        return False
    words = stems(kinds.pop())
    return bool(words) and any(
        call.returned
        and not call.failed
        and log.reads(place)
        and call.tool != log.calls[at].tool
        and any(words <= stems(key) for key, _ in json_scalars(call.result))
        for place, call in enumerate(log.calls[:at])
    )


def _looked_up_late(log: CallLog, at: int, leaf: Leaf) -> bool:
    later = log.values[at].later.get(leaf)
    return later is not None and log.reads(later) and log.calls[later].turn == log.calls[at].turn


def _giver(log: CallLog, at: int, leaf: Leaf) -> tuple[str, str]:
    """Return a tool that provides a value and the fault in its calls, or two empty strings."""
    if _looked_up_late(log, at, leaf):
        return log.calls[log.values[at].later[leaf]].tool, "is only called after it"
    own, before = log.calls[at].tool, {call.tool for call in log.calls[:at]}
    words = stems(leaf[0])
    for place, other in enumerate(log.calls):
        keys = {key for key, _ in json_scalars(other.result)} if other.returned else set()
        if (
            other.tool != own
            and log.reads(place)
            and any(words <= stems(key) for key in keys if words)
        ):
            return other.tool, "was not called for it"
    if log.known is not None:
        uncalled = [tool for tool in log.known.givers(leaf[0]) if tool != own]
        if uncalled and not before & set(uncalled):
            return uncalled[0], "is not called"
    return "", ""


def _unread_identifiers(log: CallLog, at: int) -> Iterator[CallFinding]:
    """Yield findings for identifiers that no earlier call provides, in logs without results."""
    call = log.calls[at]
    heard = KnownWords.of(list(log.messages_before(at))) | KnownWords.of(
        [named_arguments(c) for c in log.calls[:at]]
    )
    for name, value in argument_scalars(named_arguments(call)):
        if log.known is None or not name.lower().endswith(("id", "token")) or heard.has(value):
            continue
        givers = [tool for tool in log.known.givers(name) if tool != call.tool]
        if givers and not {c.tool for c in log.calls[:at]} & set(givers):
            late = givers[0] in {c.tool for c in log.calls[at:]}
            when = "is only called after it" if late else "is not called"
            reason = f"{name} is {value!r}, which {givers[0]} provides, but {givers[0]} {when}"
            yield CallFinding(CritiqueKind.MISSING, at, reason, givers[0])
            return


# Call findings ------------------------------------------------------------------------------------
# Faults in the calls of a log, each with its evidence from values, schemas or results.
#
# Without evidence there is no finding: a call whose result is not read may be the answer, and calls
# that no value links may come in any order.


def call_findings(plan: ToolPlan, known: KnownTools | None) -> tuple[CallFinding, ...]:
    log = CallLog(plan, known)
    found: list[CallFinding] = []
    for at in range(len(plan.calls)):
        repeated = _repetition(log, at)
        if repeated is not None:
            found.append(repeated)
            continue
        faults = tuple(_argument_faults(log, at)) or tuple(origin_findings(log, at))
        if not faults and (irrelevant := unrequested(log, at)) is not None:
            faults = (irrelevant,)
        found += faults
    return tuple(sorted(found, key=lambda f: (f.at, f.kind is CritiqueKind.REMOVE)))


# Calls that repeat --------------------------------------------------------------------------------


def _repetition(log: CallLog, at: int) -> CallFinding | None:
    call = log.calls[at]
    if call.failed or call.arguments is None:
        return None
    for before in reversed(range(at)):
        other = log.calls[before]
        if other.turn != call.turn:
            return None
        same = (
            other.tool == call.tool
            and named_arguments(other) == named_arguments(call)
            and not other.failed
        )
        if same and _says_the_same(log, before, at):
            reason = f"it repeats call {before + 1}, and nothing changed in between"
            return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.REPEATED)
        # A write in between may have changed the answer.
        if not log.reads(before) and not other.failed:
            return None
    return None


def _says_the_same(log: CallLog, before: int, at: int) -> bool:
    first, second = log.calls[before], log.calls[at]
    if first.returned and second.returned and first.result != second.result:
        return False
    if log.reads(at):
        return True
    # Repeating "next" or "up one folder" makes progress, unless the result is the same.
    specific = any(value_words(value) for _, value in argument_scalars(named_arguments(second)))
    return specific or (first.returned and second.returned and bool(first.result))


# Arguments ----------------------------------------------------------------------------------------


def _argument_faults(log: CallLog, at: int) -> Iterator[CallFinding]:
    call, schema = log.calls[at], log.schema(at)
    if call.arguments is None or _recovered(log, at):
        return
    if schema is not None:
        wrong_types = set(type_faults(schema, call.arguments).values())
        # A value that the result repeats was accepted, whatever its type in the schema.
        accepted = wrong_types if wrong_types and _accepted(log, at) else ()
        for fault in argument_faults(schema, call.arguments):
            if fault not in accepted:
                yield CallFinding(CritiqueKind.ARGUMENT, at, fault)
    if call.failed:
        return
    for name, value in call.arguments.items():
        other = _contradiction(log, at, name, value)
        if other is not None:
            reason = f"{name} is {value!r}, but the result is about {other!r}"
            yield CallFinding(CritiqueKind.ARGUMENT, at, reason)
            return
    yield from _quoted_other(log, at)


def _contradiction(log: CallLog, at: int, name: str, value: Any) -> Any:
    call, values = log.calls[at], log.values[at]
    if not isinstance(value, str | int) or isinstance(value, bool) or not identifies(value):
        return None
    if isinstance(call.result, dict):
        own = call.result.get(name)
        if (
            isinstance(own, str | int)
            and identifies(own)
            and value_words(own) != value_words(value)
        ):
            return own
    if (name, value) not in values.unknown or (name, value) in values.echoed:
        return None
    others = {v for _, v in argument_scalars(named_arguments(call))}
    candidates = {
        text
        for _, leaf in json_scalars(call.result)
        for text in ([leaf] if isinstance(leaf, int) else _TOKEN.findall(str(leaf)))
        if _shape(text) == _shape(value) and text not in others
    }
    # A single identifier of the same shape shows what the result is about.
    return candidates.pop() if len(candidates) == 1 else None


def _shape(value: str | float) -> str:
    return re.sub(r"\d", "0", str(value))


def _quoted_other(log: CallLog, at: int) -> Iterator[CallFinding]:
    if log.reads(at) or not log.values[at].unknown:
        return
    texts = [leaf for _, leaf in json_scalars(log.calls[at].result) if isinstance(leaf, str)]
    quoted = [name for text in texts for name in re.findall(r"'([^']+)'", text)]
    inputs = KnownWords.of([value for _, value in argument_scalars(named_arguments(log.calls[at]))])
    if quoted and not any(inputs.has(name) for name in quoted):
        name, value = log.values[at].unknown[0]
        reason = f"{name} is {value!r}, but the result is about {quoted[0]!r}"
        yield CallFinding(CritiqueKind.ARGUMENT, at, reason)


def _accepted(log: CallLog, at: int) -> bool:
    call = log.calls[at]
    inputs = list(named_arguments(call).values())
    plain = all(isinstance(value, str | int | float) for value in inputs)
    seen = KnownWords.of(call.result)
    return call.returned and plain and all(seen.has(value) for value in inputs)


def _recovered(log: CallLog, at: int) -> bool:
    call = log.calls[at]
    return call.failed and any(
        later.tool == call.tool and not later.failed for later in log.calls[at + 1 :]
    )


# Judging ------------------------------------------------------------------------------------------
# A log with arguments is judged by the values that flow between its calls (`call_findings`). A plan
# without arguments is judged by its links (`link_findings`). The source of a link must be called
# first, and links that the tools cannot have indicate a missing, redundant or misplaced call.


def judge_tool_plan(plan: ToolPlan, known: KnownTools | None = None) -> PlanVerdict:
    """Judge a plan of tool calls; `known` are the available tools, if known."""
    actions = tuple([GroundAction(tool) for tool in plan.tools])
    if not actions:
        return PlanVerdict(actions, unknown=f"plan {plan.id} calls no tool")
    if known is not None and (unknown := [t for t in plan.tools if t not in known.graph]):
        return PlanVerdict(actions, unknown=f"{unknown[0]!r} is not among the tools")
    found: tuple[CallFinding, ...]
    if any(call.arguments or call.unnamed or call.returned for call in plan.calls):
        found, why = call_findings(plan, known), _no_evidence(plan, known)
    else:
        found, why = link_findings(plan, known), ""
        if not plan.links and len(actions) > 1:
            why = f"plan {plan.id} has neither arguments nor links"
    if not found:
        return PlanVerdict(actions, valid=None if why else True, unknown=why)
    critiques = tuple([_critique(plan, finding) for finding in found])
    return PlanVerdict(actions, critiques, _repaired(actions, critiques), valid=False)


def _no_evidence(plan: ToolPlan, known: KnownTools | None) -> str:
    if len(plan.calls) == 1 or any(call.returned for call in plan.calls):
        return ""
    if known is not None and known.schemas:
        return ""
    return f"plan {plan.id} has no results, and its tools have no schemas"


def _critique(plan: ToolPlan, finding: CallFinding) -> Critique:
    tool = finding.tool or "".join(plan.tools[finding.at : finding.at + 1])
    actions = (GroundAction(tool),) if tool else ()
    return Critique(finding.kind, finding.at + 1, actions, finding.reason, finding.cause)


def _repaired(
    actions: Sequence[GroundAction], critiques: Sequence[Critique]
) -> tuple[GroundAction, ...]:
    gone = {c.index for c in critiques if c.kind is CritiqueKind.REMOVE}
    repaired: list[GroundAction] = []
    for number in range(1, len(actions) + 2):
        for critique in critiques:
            if critique.index == number and critique.kind is CritiqueKind.MISSING:
                repaired += critique.actions
        if number <= len(actions) and number not in gone:
            repaired.append(actions[number - 1])
    return tuple(repaired)


def repaired_plan(plan: ToolPlan, verdict: PlanVerdict) -> ToolPlan:
    """Return a plan with the repairs of its verdict.

    Each kept call keeps its step text, but all step texts are dropped if a call has none. Links of
    removed calls are dropped. Wrong arguments stay, and inserted calls have no arguments.
    """
    if not verdict.critiques or verdict.repaired is None:
        return plan
    has_sentences = len(plan.steps) == len(plan.tools)
    logged = len(plan.calls) == len(plan.tools)
    inserted: dict[int, list[str]] = {}
    for critique in verdict.missing:
        inserted.setdefault(critique.index, []).extend(a.name for a in critique.actions)
    tools: list[str] = []
    steps: list[str] = []
    calls: list[LoggedCall] = []
    for number in range(1, len(plan.tools) + 2):
        for source in inserted.get(number, ()):
            tools.append(source)
            steps.append(f"Call {source}")
            calls.append(LoggedCall(source))
        if number <= len(plan.tools) and number not in verdict.removed:
            tools.append(plan.tools[number - 1])
            steps += plan.steps[number - 1 : number] if has_sentences else ()
            calls += plan.calls[number - 1 : number] if logged else ()
    links = tuple((a, b) for a, b in plan.links if a in tools and b in tools)
    return replace(
        plan,
        tools=tuple(tools),
        steps=tuple(steps) if has_sentences else (),
        links=links,
        calls=tuple(calls) if logged else (),
    )
