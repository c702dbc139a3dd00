"""What is wrong with the calls of a log, each finding with its evidence.

A finding rests on values, schemas or results of the log. Where these tell nothing, nothing is
found: a call that nothing reads may be the answer, and an order that no value fixes is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hvr.judging.tool_calls.call_relevance import unasked
from hvr.judging.tool_calls.finding import CallFinding
from hvr.judging.tool_calls.value_origins import origins
from hvr.judging.verdict import Cause, CritiqueKind
from hvr.tools.argument_checks import argument_faults
from hvr.tools.call_log import CallLog
from hvr.tools.known_tools import KnownTools
from hvr.tools.tool_plan import ToolPlan
from hvr.tools.value_flow import KnownWords, given, identifies, leaves, named, words_of


def findings(plan: ToolPlan, known: KnownTools | None) -> tuple[CallFinding, ...]:
    """Return the faults of a log, in order of its calls."""
    log = CallLog(plan, known)
    found: list[CallFinding] = []
    for at in range(len(plan.calls)):
        repeated = _repetition(log, at)
        if repeated is not None:
            found.append(repeated)
            continue
        faults = tuple(_argument_faults(log, at)) or tuple(origins(log, at))
        if not faults and (irrelevant := unasked(log, at)) is not None:
            faults = (irrelevant,)
        found += faults
    return tuple(sorted(found, key=lambda f: (f.at, f.kind is CritiqueKind.REMOVE)))


# Calls that repeat --------------------------------------------------------------------------------


def _repetition(log: CallLog, at: int) -> CallFinding | None:
    """Return that a call brings nothing which an equal one has not brought before it."""
    call = log.calls[at]
    if call.failed or call.arguments is None:
        return None
    for before in reversed(range(at)):
        other = log.calls[before]
        if other.turn != call.turn:
            return None
        same = other.tool == call.tool and named(other) == named(call) and not other.failed
        if same and _says_the_same(log, before, at):
            reason = f"it repeats call {before + 1}, and nothing was changed in between"
            return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.REPEATED)
        if not log.reads(before) and not other.failed:
            return None
    return None


def _says_the_same(log: CallLog, before: int, at: int) -> bool:
    first, second = log.calls[before], log.calls[at]
    if first.returned and second.returned and first.result != second.result:
        return False
    if log.reads(at):
        return True
    # "Next" or "up one folder" again goes on; with the same words in return it does not.
    telling = any(words_of(value) for _, value in given(named(second)))
    return telling or (first.returned and second.returned and bool(first.result))


# Arguments ----------------------------------------------------------------------------------------


def _argument_faults(log: CallLog, at: int) -> Iterator[CallFinding]:
    """Yield what does not fit the schema, and results that speak of something else."""
    call, schema = log.calls[at], log.schema(at)
    if call.arguments is None or _recovered(log, at):
        return
    if schema is not None:
        for fault in argument_faults(schema, call.arguments):
            # A value that the result repeats was accepted, whatever the schema says.
            if not ("is to be of type" in fault and _accepted(log, at)):
                yield CallFinding(CritiqueKind.ARGUMENT, at, fault)
    if call.failed:
        return
    for name, value in call.arguments.items():
        other = _contradiction(log, at, name, value)
        if other is not None:
            reason = f"{name} is {value!r}, and the result is about {other!r}"
            yield CallFinding(CritiqueKind.ARGUMENT, at, reason)
            return
    yield from _quoted_other(log, at)


def _contradiction(log: CallLog, at: int, name: str, value: Any) -> Any:
    """Return the identifier that a result has in the place of an argument; None if it fits."""
    call, values = log.calls[at], log.values[at]
    if not isinstance(value, str | int) or isinstance(value, bool) or not identifies(value):
        return None
    if isinstance(call.result, dict):
        own = call.result.get(name)
        if isinstance(own, str | int) and identifies(own) and words_of(own) != words_of(value):
            return own
    if (name, value) not in values.unknown or (name, value) in values.echoed:
        return None
    others = {v for _, v in given(named(call))}
    alike = {
        text
        for _, leaf in leaves(call.result)
        for text in ([leaf] if isinstance(leaf, int) else re.findall(r"[\w#@.-]+", str(leaf)))
        if _shape(text) == _shape(value) and text not in others
    }
    return alike.pop() if len(alike) == 1 else None


def _shape(value: str | float) -> str:
    """Return a value with every digit replaced: identifiers of one kind have one shape."""
    return re.sub(r"\d", "0", str(value))


def _quoted_other(log: CallLog, at: int) -> Iterator[CallFinding]:
    """Yield a finding if a write's message quotes names and the call was given none of them."""
    if log.reads(at) or not log.values[at].unknown:
        return
    texts = [leaf for _, leaf in leaves(log.calls[at].result) if isinstance(leaf, str)]
    quoted = [name for text in texts for name in re.findall(r"'([^']+)'", text)]
    inputs = KnownWords.of([value for _, value in given(named(log.calls[at]))])
    if quoted and not any(inputs.has(name) for name in quoted):
        name, value = log.values[at].unknown[0]
        reason = f"{name} is {value!r}, and the result is about {quoted[0]!r}"
        yield CallFinding(CritiqueKind.ARGUMENT, at, reason)


def _accepted(log: CallLog, at: int) -> bool:
    call = log.calls[at]
    inputs = list(named(call).values())
    plain = all(isinstance(value, str | int | float) for value in inputs)
    seen = KnownWords.of(call.result)
    return call.returned and plain and all(seen.has(value) for value in inputs)


def _recovered(log: CallLog, at: int) -> bool:
    """Return whether a call failed and one of the same tool after it did not."""
    call = log.calls[at]
    return call.failed and any(
        later.tool == call.tool and not later.failed for later in log.calls[at + 1 :]
    )
