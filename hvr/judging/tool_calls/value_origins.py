"""Arguments that nothing before a call explains, where that is telling.

Right logs leave lookups out: a value that nothing explains is no fault by itself. It is one if
something else speaks against it: an identifier that differs by a slip, a lookup of its kind for
others, a write that confirms nothing while the rest of the log is explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hvr.judging.tool_calls.finding import CallFinding
from hvr.judging.verdict import Cause, CritiqueKind
from hvr.tools.asked import stems
from hvr.tools.call_log import CallLog
from hvr.tools.value_flow import KnownWords, Leaf, given, identifies, leaves, named

_TOKEN = re.compile(r"[\w#@.-]+")


def origins(log: CallLog, at: int) -> Iterator[CallFinding]:
    """Yield the values of a call that nothing before it mentions, if that is telling."""
    call, values = log.calls[at], log.values[at]
    if call.failed or not log.said or log.retried(at):
        return
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
        # A write that repeats a value has confirmed it, and the log may lack all lookups.
        if not reads and leaf in values.echoed and not late and not _others_looked_up(log, at):
            continue
        yield _unexplained(log, at, leaf, (giver, why, late))
        return
    if not logged or not any(other.returned for other in log.calls):
        yield from _unread_identifiers(log, at)


def _unexplained(log: CallLog, at: int, leaf: Leaf, source: tuple[str, str, bool]) -> CallFinding:
    """Return the finding on a value that nothing explains."""
    name, value = leaf
    giver, why, late = source
    unmentioned = f"{name} is {value!r}, which neither the user nor an earlier result mentions"
    idle = log.reads(at) and not log.values[at].readers and not log.speak_of(log.heard(at), at)
    if idle and not late:
        reason = f"{unmentioned}, and no later call reads the result"
        return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)
    if giver:
        reason = f"{name} is {value!r}, which {giver} gives, and {giver} {why}"
        return CallFinding(CritiqueKind.MISSING, at, reason, giver)
    return CallFinding(CritiqueKind.ARGUMENT, at, unmentioned)


def _slip(log: CallLog, at: int, leaf: Leaf) -> str:
    """Return the known identifier from which a value differs by one slip; empty for none.

    A result that repeats the value shows that both exist.
    """
    name, value = leaf
    if leaf in log.values[at].echoed:
        return ""
    texts: list[Any] = [*log.heard(at), *(call.result for call in log.calls[:at])]
    known = [token.strip(".-") for text in texts for token in _tokens(text)]
    for other, call in enumerate(log.calls):
        if other != at:
            known += [str(v) for n, v in given(named(call)) if n == name and identifies(v)]
    return next((token for token in known if _one_slip(token, str(value))), "")


def _tokens(value: Any) -> Iterator[str]:
    for _, leaf in leaves(value):
        yield from _TOKEN.findall(str(leaf))


def _one_slip(first: str, second: str) -> bool:
    """Return whether texts differ by one character, or by two neighbours that are swapped."""
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
    """Return whether a call's values alone are unexplained in a log, and its result has none.

    Where several calls have unexplained values, the log does not show where they come from.
    """
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
    """Return whether an earlier lookup gives values of the only kind that a log leaves open."""
    kinds = {name for _, (name, _) in _unexplained_places(log)}
    if len(kinds) != 1:
        return False
    wanted = stems(kinds.pop())
    return bool(wanted) and any(
        call.returned
        and not call.failed
        and log.reads(place)
        and call.tool != log.calls[at].tool
        and any(wanted <= stems(key) for key, _ in leaves(call.result))
        for place, call in enumerate(log.calls[:at])
    )


def _looked_up_late(log: CallLog, at: int, leaf: Leaf) -> bool:
    """Return whether a later call reads the value before the user speaks again."""
    later = log.values[at].later.get(leaf)
    return (
        later is not None and log.reads(later) and log.calls[later].turn == log.calls[at].turn
    )  # fmt: skip


def _giver(log: CallLog, at: int, leaf: Leaf) -> tuple[str, str]:
    """Return a tool that gives a value, and what is wrong with its calls; empty if unknown."""
    if _looked_up_late(log, at, leaf):
        return log.calls[log.values[at].later[leaf]].tool, "is only called after it"
    own, before = log.calls[at].tool, {call.tool for call in log.calls[:at]}
    wanted = stems(leaf[0])
    for place, other in enumerate(log.calls):
        keys = {key for key, _ in leaves(other.result)} if other.returned else set()
        if other.tool != own and log.reads(place) and any(
            wanted <= stems(key) for key in keys if wanted
        ):  # fmt: skip
            return other.tool, "was not called for it"
    if log.known is not None:
        uncalled = [tool for tool in log.known.givers(leaf[0]) if tool != own]
        if uncalled and not before & set(uncalled):
            return uncalled[0], "is not called"
    return "", ""


def _unread_identifiers(log: CallLog, at: int) -> Iterator[CallFinding]:
    """Yield identifiers that a tool gives which is not called, for logs without results."""
    call = log.calls[at]
    heard = KnownWords.of(list(log.heard(at))) | KnownWords.of([named(c) for c in log.calls[:at]])
    for name, value in given(named(call)):
        if log.known is None or not name.lower().endswith(("id", "token")) or heard.has(value):
            continue
        givers = [tool for tool in log.known.givers(name) if tool != call.tool]
        if givers and not {c.tool for c in log.calls[:at]} & set(givers):
            late = givers[0] in {c.tool for c in log.calls[at:]}
            when = "is only called after it" if late else "is not called"
            reason = f"{name} is {value!r}, which {givers[0]} gives, and {givers[0]} {when}"
            yield CallFinding(CritiqueKind.MISSING, at, reason, givers[0])
            return
