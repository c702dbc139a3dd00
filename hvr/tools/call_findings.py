"""What is wrong with the calls of a log, each finding with its evidence.

A finding rests on values, schemas or results of the log. Where these tell nothing, nothing is
found: a call that nothing reads may be the answer, and an order that no value fixes is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.judging.verdict import Cause, CritiqueKind
from hvr.tools.argument_checks import argument_faults
from hvr.tools.asked import stems
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.known_tools import KnownTools, effect_of
from hvr.tools.tool_plan import LoggedCall, ToolPlan
from hvr.tools.value_flow import (
    CallValues,
    KnownWords,
    Leaf,
    call_values,
    given,
    identifies,
    leaves,
    named,
    words_of,
)


@dataclass(frozen=True)
class CallFinding:
    """One thing that is wrong.

    Args:
        kind: Superfluous call, missing call, or wrong argument.
        at: Index of the call, or of the call that the missing one belongs before.
        reason: The evidence, in one sentence.
        tool: Name of the missing tool; empty if it is not known.
        cause: Kind of superfluous call.
    """

    kind: CritiqueKind
    at: int
    reason: str
    tool: str = ""
    cause: Cause | None = None


def findings(plan: ToolPlan, known: KnownTools | None) -> tuple[CallFinding, ...]:
    """Return the faults of a log, in order of its calls."""
    log = _Log(plan, known)
    found: list[CallFinding] = []
    for at in range(len(plan.calls)):
        repeated = log.repetition(at)
        if repeated is not None:
            found.append(repeated)
            continue
        faults = tuple(log.argument_faults(at))
        origins = () if faults else tuple(log.origins(at))
        found += faults or origins
        if not faults and not origins and (unasked := log.unasked(at)) is not None:
            found.append(unasked)
    return tuple(sorted(found, key=lambda f: (f.at, f.kind is CritiqueKind.REMOVE)))


def _shape(value: str | float) -> str:
    """Return a value with every digit replaced: identifiers of one kind have one shape."""
    return re.sub(r"\d", "0", str(value))


class _Log:
    """The calls of a plan with what is known of them."""

    def __init__(self, plan: ToolPlan, known: KnownTools | None) -> None:
        self.calls = tuple(self._with_names(call, known) for call in plan.calls)
        self.said = plan.said or ((plan.request,) if plan.request else ())
        self.known = known
        self.values: Sequence[CallValues] = call_values(self.said, self.calls)
        self.turns = any(call.turn for call in self.calls)

    @staticmethod
    def _with_names(call: LoggedCall, known: KnownTools | None) -> LoggedCall:
        """Return a call with the names of its arguments by position, where a schema has them."""
        schema = known.schemas.get(call.tool) if known is not None else None
        if not call.unnamed or schema is None or len(call.unnamed) > len(schema.takes):
            return call
        by_place = {p.name: v for p, v in zip(schema.takes, call.unnamed, strict=False)}
        return LoggedCall(
            call.tool, by_place | dict(call.arguments or {}), (), call.result, call.returned,
            call.failed, call.turn,
        )  # fmt: skip

    def schema(self, at: int) -> ToolSchema | None:
        return self.known.schemas.get(self.calls[at].tool) if self.known is not None else None

    def effect(self, at: int) -> Effect:
        return effect_of(self.calls[at].tool, self.schema(at))

    def heard(self, at: int) -> tuple[str, ...]:
        """Return the messages of the user before a call."""
        return self.said[: self.calls[at].turn] if self.turns else self.said

    # Calls that repeat ---------------------------------------------------------------------------

    def repetition(self, at: int) -> CallFinding | None:
        """Return that a call brings nothing which an equal one has not brought before it."""
        call = self.calls[at]
        if call.failed or call.arguments is None:
            return None
        for before in reversed(range(at)):
            other = self.calls[before]
            if other.turn != call.turn:
                return None
            same = other.tool == call.tool and named(other) == named(call) and not other.failed
            if same and self._says_the_same(before, at):
                reason = f"it repeats call {before + 1}, and nothing was changed in between"
                return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.REPEATED)
            if self.effect(before) is not Effect.READS and not other.failed:
                return None
        return None

    def _says_the_same(self, before: int, at: int) -> bool:
        first, second = self.calls[before], self.calls[at]
        if first.returned and second.returned and first.result != second.result:
            return False
        if self.effect(at) is Effect.READS:
            return True
        # "Next" or "up one folder" again goes on; with the same words in return it does not.
        telling = any(words_of(value) for _, value in given(named(second)))
        return telling or (first.returned and second.returned and bool(first.result))

    # Arguments -----------------------------------------------------------------------------------

    def argument_faults(self, at: int) -> Iterator[CallFinding]:
        """Yield what does not fit the schema, and results that speak of something else."""
        call, schema = self.calls[at], self.schema(at)
        if call.arguments is None or self._recovered(at):
            return
        if schema is not None:
            for fault in argument_faults(schema, call.arguments):
                # A value that the result repeats was accepted, whatever the schema says.
                if not ("is to be of type" in fault and self._accepted(at)):
                    yield CallFinding(CritiqueKind.ARGUMENT, at, fault)
        for name, value in call.arguments.items():
            other = None if call.failed else self._contradiction(at, name, value)
            if other is not None:
                reason = f"{name} is {value!r}, and the result is about {other!r}"
                yield CallFinding(CritiqueKind.ARGUMENT, at, reason)

    def _contradiction(self, at: int, name: str, value: Any) -> Any:
        """Return the identifier that a result has in the place of an argument; None if it fits."""
        call = self.calls[at]
        if not isinstance(value, str | int) or isinstance(value, bool) or not identifies(value):
            return None
        if isinstance(call.result, dict):
            own = call.result.get(name)
            if isinstance(own, str | int) and identifies(own) and words_of(own) != words_of(value):
                return own
        if (name, value) not in self.values[at].unknown or (name, value) in self.values[at].echoed:
            return None
        others = {v for _, v in given(named(call))}
        alike = {
            text
            for _, leaf in leaves(call.result)
            for text in ([leaf] if isinstance(leaf, int) else re.findall(r"[\w#@.-]+", str(leaf)))
            if _shape(text) == _shape(value) and text not in others
        }
        return alike.pop() if len(alike) == 1 else None

    def _accepted(self, at: int) -> bool:
        call = self.calls[at]
        inputs = list(named(call).values())
        plain = all(isinstance(value, str | int | float) for value in inputs)
        seen = KnownWords.of(call.result)
        return call.returned and plain and all(seen.has(value) for value in inputs)

    def _recovered(self, at: int) -> bool:
        """Return whether a call failed and one of the same tool after it did not."""
        call = self.calls[at]
        return call.failed and any(
            later.tool == call.tool and not later.failed for later in self.calls[at + 1 :]
        )

    # Where values come from ----------------------------------------------------------------------

    def origins(self, at: int) -> Iterator[CallFinding]:
        """Yield the values of a call that nothing before it mentions, if that is telling."""
        call, values = self.calls[at], self.values[at]
        if call.failed or not self.said or self._retried(at):
            return
        logged = all(other.returned for other in self.calls[:at])
        reads = self.effect(at) is Effect.READS
        for leaf in values.unknown:
            name, value = leaf
            giver, why = self._giver(at, leaf)
            late = self._looked_up_late(at, leaf)
            if not giver and not (logged and reads):
                continue
            # A write that repeats a value has confirmed it, and the log may lack all lookups.
            if not reads and leaf in values.echoed and not late:
                continue
            idle = reads and not values.readers and not self._spoken_of(at)
            if idle and not late:
                reason = (
                    f"{name} is {value!r}, which neither the user nor an earlier result mentions, "
                    "and no later call reads the result"
                )
                yield CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)
            elif giver:
                reason = f"{name} is {value!r}, which {giver} gives, and {giver} {why}"
                yield CallFinding(CritiqueKind.MISSING, at, reason, giver)
            else:
                reason = (
                    f"{name} is {value!r}, which neither the user nor an earlier result mentions"
                )
                yield CallFinding(CritiqueKind.ARGUMENT, at, reason)
            return
        if not logged or not any(other.returned for other in self.calls):
            yield from self._unread_identifiers(at)

    def _looked_up_late(self, at: int, leaf: Leaf) -> bool:
        """Return whether a later call reads the value before the user speaks again."""
        later = self.values[at].later.get(leaf)
        return (
            later is not None
            and self.effect(later) is Effect.READS
            and self.calls[later].turn == self.calls[at].turn
        )

    def _retried(self, at: int) -> bool:
        """Return whether a call follows a failed one of the same tool: it may correct it."""
        tool = self.calls[at].tool
        return any(other.failed and other.tool == tool for other in self.calls[:at])

    def _spoken_of(self, at: int) -> bool:
        """Return whether the user's messages speak of the tool of a call."""
        request = stems(" ".join(self.heard(at)))
        tool = self.calls[at].tool
        if self.known is None:
            return bool(stems(tool) & request)
        return self.known.vocabulary.speaks_of(request, tool)

    def _giver(self, at: int, leaf: Leaf) -> tuple[str, str]:
        """Return a tool that gives a value, and what is wrong with its calls; empty if unknown."""
        if self._looked_up_late(at, leaf):
            return self.calls[self.values[at].later[leaf]].tool, "is only called after it"
        own, before = self.calls[at].tool, {call.tool for call in self.calls[:at]}
        wanted = stems(leaf[0])
        for place, other in enumerate(self.calls):
            keys = {key for key, _ in leaves(other.result)} if other.returned else set()
            if other.tool != own and self.effect(place) is Effect.READS and any(
                wanted <= stems(key) for key in keys if wanted
            ):  # fmt: skip
                return other.tool, "was not called for it"
        if self.known is not None:
            uncalled = [tool for tool in self.known.givers(leaf[0]) if tool != own]
            if uncalled and not before & set(uncalled):
                return uncalled[0], "is not called"
        return "", ""

    def _unread_identifiers(self, at: int) -> Iterator[CallFinding]:
        """Yield identifiers that a tool gives which is not called, for logs without results."""
        call = self.calls[at]
        heard = KnownWords.of(list(self.heard(at))) | KnownWords.of(
            [named(c) for c in self.calls[:at]]
        )
        for name, value in given(named(call)):
            if self.known is None or not name.lower().endswith(("id", "token")) or heard.has(value):
                continue
            givers = [tool for tool in self.known.givers(name) if tool != call.tool]
            if givers and not {c.tool for c in self.calls[:at]} & set(givers):
                when = "is only called after it" if givers[0] in {
                    c.tool for c in self.calls[at:]} else "is not called"  # fmt: skip
                reason = f"{name} is {value!r}, which {givers[0]} gives, and {givers[0]} {when}"
                yield CallFinding(CritiqueKind.MISSING, at, reason, givers[0])
                return

    # What was asked ------------------------------------------------------------------------------

    def unasked(self, at: int) -> CallFinding | None:
        """Return that neither the request nor another call has anything to do with a call."""
        call, values = self.calls[at], self.values[at]
        heard = self.heard(at)
        if call.failed or not heard or self.known is None or values.readers:
            return None
        # The last call before the user speaks again may be the answer; writes are goals.
        if self.effect(at) is not Effect.READS or at + 1 == len(self.calls):
            return None
        if self.calls[at + 1].turn != call.turn:
            return None
        inputs = [value for _, value in given(named(call)) if words_of(value)]
        if self._spoken_of(at):
            return None
        if not any(map(self._asked, range(len(self.calls)))):
            return None
        before = KnownWords.of(list(heard))
        for other in self.calls[:at]:
            before = before | KnownWords.of(other.result) | KnownWords.of(named(other))
        if any(before.has(value) for value in inputs):
            return None
        reason = "the user does not speak of it, and no later call reads its result"
        return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)

    def _asked(self, at: int) -> bool:
        """Return whether the user's messages speak of a call's tool, or have a value of it."""
        heard = KnownWords.of(list(self.heard(at)))
        inputs = [value for _, value in given(named(self.calls[at])) if words_of(value)]
        return self._spoken_of(at) or any(map(heard.has, inputs))
