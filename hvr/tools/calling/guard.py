"""Guards around tools: call policy, budget, confirmation, and provenance of arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.files import append_json_line
from hvr.base.numbers import check_integer
from hvr.base.printable import one_line, short
from hvr.base.secrets.scrubber import without_keys
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    Place,
    Provenance,
    Source,
    ToolCall,
    Unsupported,
    check_call,
    find_tool,
    sources_json,
    unsupported,
)
from hvr.tools.calling.environment import ToolEnvironment
from hvr.tools.calling.ledger import CallLedger, LedgerEntry
from hvr.tools.calling.log import SessionValues, log_line, redacted, trace
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, quoted

# Guard --------------------------------------------------------------------------------------------
# What may be called, and what may be written by it.

MAX_EQUAL_FAILURES = 5
"""Equal calls that fail in a row before they are refused: the same again brings nothing."""

MAX_NAMED_VALUES = 5
"""Values without a source that a refusal names."""


@dataclass(frozen=True)
class CallPolicy:
    """What may be called.

    Args:
        budget: calls that reach the tools in all.
        dry: whether only tools that are known to read are called.
        log: where each call is written down; None if nowhere.
        secrets: whether the log keeps values that look like keys.
    """

    budget: int = 100
    dry: bool = False
    log: Path | None = None
    secrets: bool = False

    def __post_init__(self) -> None:
        check_integer("budget", self.budget)


@dataclass(frozen=True)
class ProposedCall:
    """A call that may write and is to be made now, as it is put to the user.

    Args:
        call: The call, with its final arguments.
        effect: The effect of the tool.
        sources: Where the values of its arguments come from, by place.
        before: An equal call that may have been done, or was done in this request; None if there
            is none. To approve the call is then to have it repeated.
    """

    call: ToolCall
    effect: Effect
    sources: Mapping[Place, Source]
    before: LedgerEntry | None = None

    def to_json(self) -> dict[str, Json]:
        """Return it as plain JSON values, without what looks like a key."""
        return {
            "tool": self.call.tool,
            "arguments": redacted(dict(self.call.arguments)),
            "effect": self.effect.value,
            "sources": redacted(sources_json(self.call, self.sources)),
            "before": None if self.before is None else self.before.to_json(),
        }


Approve: TypeAlias = Callable[[ProposedCall], "bool | None"]
"""Asks the user whether a call is to be made; None if no one can be asked."""


class GuardedTools:
    """An environment whose calls are checked, counted and written down before they reach the tools.

    A call that is not allowed does not reach the environment: its failure is `NOT_ALLOWED`.

    Args:
        inner: The environment.
        name: The name of the environment, for the log.
        policy: The budget, and whether only reading tools are called.
        ledger: Where calls that may write are written down before they are made; None for one in
            memory.
        approve: Asked before each call that may write; None if none has to be approved. A call
            that may have been done before is then refused.
    """

    def __init__(
        self,
        inner: ToolEnvironment,
        name: str,
        policy: CallPolicy | None = None,
        ledger: CallLedger | None = None,
        approve: Approve | None = None,
    ) -> None:
        self._inner = inner
        self._name = name
        self._policy = policy or CallPolicy()
        self._ledger = ledger or CallLedger()
        self._approve = approve
        self._outcomes: list[CallOutcome] = []
        self._failures: dict[str, int] = {}
        self._waiting: list[ProposedCall] = []
        self._used = 0

    @property
    def catalogue(self) -> Catalogue:
        """The tools."""
        return self._inner.catalogue

    @property
    def outcomes(self) -> tuple[CallOutcome, ...]:
        """All calls since the last reset, those that were not allowed among them."""
        return tuple(self._outcomes)

    @property
    def waiting(self) -> tuple[ProposedCall, ...]:
        """The calls that were not made because no one could be asked to approve them."""
        return tuple(self._waiting)

    @property
    def uncertain(self) -> tuple[LedgerEntry, ...]:
        """The calls that may have been done, of this process or equal to one that was wanted."""
        met = [one.before for one in self._waiting if one.before is not None]
        found = (*self._ledger.unclear(), *(one for one in met if one.unclear))
        return tuple({one.id: one for one in found}.values())

    def reset(self) -> None:
        """Begin anew, with the whole budget."""
        self._inner.reset()
        self._ledger.reset()
        self._outcomes, self._failures, self._waiting, self._used = [], {}, [], 0

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool with arguments of unknown source: it has to be one that only reads."""
        return self.call_with(call, {})

    def call_with(
        self,
        call: ToolCall,
        sources: Mapping[Place, Source] | None = None,
        *,
        again: bool = False,
        request: Sequence[Json] = (),
    ) -> CallOutcome:
        """Call a tool, if each value that it may write has a source that allows it.

        Args:
            call: The call.
            sources: Where the values of its arguments come from; see `provenance.source_of`.
            again: Whether a writing call may be made although this process has made an equal one:
                it is wanted several times, or was found not to be done.
            request: Values that the request gives, by which the log traces arguments.

        Raises:
            DataFileError: The ledger or the log cannot be read or written; then the call was not
                made, or its entry in the ledger stays open.
        """
        known = dict(sources or {})
        tool = find_tool(self.catalogue, call.tool)
        failed = self.refusal(call)
        if failed is None and tool is not None:
            failed = _unsupported(call, tool, known)
        return self._guarded(call, tool, known, failed, again, request)

    def refusal(self, call: ToolCall) -> CallOutcome | None:
        """Return why a call cannot be made whatever the user says; None if it can."""
        tool = find_tool(self.catalogue, call.tool)
        failed = check_call(self.catalogue, call)
        return failed if failed is not None or tool is None else self._refused(call, tool)

    def proposed(self, call: ToolCall, sources: Mapping[Place, Source]) -> ProposedCall:
        """Return a call of a known tool as it would be put to the user now.

        Raises:
            DataFileError: The ledger cannot be read.
        """
        tool = find_tool(self.catalogue, call.tool)
        effect = Effect.UNKNOWN if tool is None else tool.effect
        again = tool is not None and tool.idempotent
        return ProposedCall(call, effect, sources, None if again else self._ledger.before(call))

    def settle(self, call: ToolCall, by: str, *, done: bool) -> None:
        """Take note of whether a call that may have been done was; see `CallLedger.settle`."""
        self._ledger.settle(call, by, done=done)

    def state(self) -> Json:
        """Return the state of the environment."""
        return self._inner.state()

    def close(self) -> None:
        """Close the environment."""
        self._inner.close()

    def _guarded(
        self,
        call: ToolCall,
        tool: ToolSchema | None,
        sources: Mapping[Place, Source],
        failed: CallOutcome | None,
        again: bool,
        request: Sequence[Json],
    ) -> CallOutcome:
        """Make a call that has not failed already, and write down what became of it."""
        time = datetime.now(UTC)
        entry = None
        if failed is None and tool is not None and tool.effect is not Effect.READS:
            failed, entry = self._begun(call, tool, sources, again)
        outcome = failed or self._made(call, entry, sources, time, request)
        outcome = replace(outcome, sources=sources)
        self._log(outcome, time, request)
        self._outcomes.append(outcome)
        return outcome

    def _begun(
        self, call: ToolCall, tool: ToolSchema, sources: Mapping[Place, Source], again: bool
    ) -> tuple[CallOutcome | None, str | None]:
        """Return why a call that may write is not made, or the number of its ledger entry."""
        asked, approved = None, None
        while True:
            with self._ledger.locked():
                before = None if tool.idempotent else self._ledger.before(call, own=not again)
                proposed = ProposedCall(call, tool.effect, sources, before)
                ask = before is not None or self._approve is not None
                if not ask or (approved and asked == proposed):
                    return None, self._ledger.begin(call, sources)
            # No lock is held while the user thinks; what has changed by then is asked anew.
            asked, approved = proposed, self._approve(proposed) if self._approve else None
            if not approved:
                return self._unapproved(proposed, approved), None

    def _unapproved(self, proposed: ProposedCall, answer: bool | None) -> CallOutcome:
        call, before = proposed.call, proposed.before
        if answer is None:
            self._waiting.append(proposed)
        if answer is False:
            error = f"the user does not want {quoted(call.tool)} to be called"
        elif before is not None:
            done = "may have been" if before.unclear else "was"
            error = (
                f"{quoted(call.tool)} {done} called with these arguments at {before.time}; "
                "the user has to say whether it is to be repeated"
            )
        else:
            error = f"the user has to confirm {quoted(call.tool)}, which is not known to only read"
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error)

    def _made(
        self,
        call: ToolCall,
        entry: str | None,
        sources: Mapping[Place, Source],
        time: datetime,
        request: Sequence[Json],
    ) -> CallOutcome:
        self._used += 1
        try:
            outcome = self._inner.call(call)
        except BaseException as broken:  # as Ctrl-C does: the tool may have done its work
            error = f"broken off ({type(broken).__name__}): it may have been done"
            gone = CallOutcome(call, None, CallFailure.TIMED_OUT, error, sources=sources)
            if entry is not None:
                self._ledger.close(entry, gone)
            self._log(gone, time, request)
            raise
        if entry is not None:
            self._ledger.close(entry, outcome)
            if outcome.ok:
                self._failures.clear()  # in another state what failed may work
        key = _key(outcome.call)
        self._failures[key] = 0 if outcome.ok else self._failures.get(key, 0) + 1
        return outcome

    def _log(self, outcome: CallOutcome, time: datetime, request: Sequence[Json]) -> None:
        if self._policy.log is not None:
            origins = trace(outcome.call.arguments, self._outcomes, request)
            line = log_line(self._name, outcome, origins, time, secrets=self._policy.secrets)
            append_json_line(self._policy.log, line)

    def _refused(self, call: ToolCall, tool: ToolSchema) -> CallOutcome | None:
        error = ""
        if self._used >= self._policy.budget:
            error = f"the budget of {self._policy.budget} calls is spent"
        elif self._policy.dry and tool.effect is not Effect.READS:
            error = f"{quoted(call.tool)} is not known to read only, and this is a dry run"
        elif self._failures.get(_key(call), 0) >= MAX_EQUAL_FAILURES:
            error = f"this call has failed {MAX_EQUAL_FAILURES} times in a row"
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error) if error else None


def _unsupported(
    call: ToolCall, tool: ToolSchema, sources: Mapping[Place, Source]
) -> CallOutcome | None:
    """Return the refusal of a call that would write what no one said; None if it may be made.

    This is the one place that enforces the rule.
    """
    wrong = () if tool.effect is Effect.READS else unsupported(call, sources)
    if not wrong:
        return None
    error = (
        f"{quoted(call.tool)} is not known to read only, and may not be called with "
        f"{', '.join(map(str, wrong[:MAX_NAMED_VALUES]))}: ask the user to say or confirm it"
    )
    return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error)


def _key(call: ToolCall) -> str:
    return json.dumps([call.tool, dict(call.arguments)], sort_keys=True)


# Agent guard --------------------------------------------------------------------------------------
# The calls of an agent that someone else wrote: each is made, refused, or put to the user.

_SHOWN = 300


@dataclass(frozen=True)
class Question:
    """What the user has to say before a call is made.

    Args:
        proposed: The call.
        wrong: Its values that no one has said; to approve the call is to confirm them.
    """

    proposed: ProposedCall
    wrong: tuple[Unsupported, ...] = ()

    def text(self) -> str:
        """Return the question for people: the call with the source of each argument."""
        proposed = self.proposed
        told = proposed.to_json()
        effect = "of unknown effect" if proposed.effect is Effect.UNKNOWN else proposed.effect.value
        lines = [f"The agent wants to call {quoted(proposed.call.tool)} ({effect}):"]
        assert isinstance(told["arguments"], dict)
        for name, value in told["arguments"].items():
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        lines += [f"Not said by you: {one}" for one in self.wrong]
        if (before := proposed.before) is not None:
            done = "may have been done" if before.unclear else "was done"
            lines.append(f"It {done} already at {before.time}.")
        lines.append("Make this call?")
        return without_keys("\n".join(short(one_line(line), _SHOWN) for line in lines))

    def reason(self, why: str) -> str:
        """Return the reason for the agent if the call is not made.

        Args:
            why: The fate of the question, as a clause.
        """
        wrong = "; ".join(map(str, self.wrong))
        before = self.proposed.before
        parts = [f"Not called: {why}."]
        if wrong:
            parts.append(f"No one has said {wrong}. Ask the user for it; do not guess.")
        if before is not None:
            done = "may have been done" if before.unclear else "was done"
            parts.append(f"An equal call {done} at {before.time}: look before it is repeated.")
        parts.append("Do not try again before the user has answered.")
        return " ".join(parts)


class AgentGuard:
    """Tools for an agent, with budget, sources of values, ledger, confirmation and reasons.

    Args:
        tools: The tools.
        name: Their name, for the log.
        schemas: The JSON Schemas of their arguments, by tool.
        policy: The budget, and whether only reading tools are called.
        ledger: Where calls that may write are written down before they are made.
        allowed: Calls with these effects need no confirmation as long as the user has said each
            of their values.
    """

    def __init__(
        self,
        tools: ToolEnvironment,
        name: str,
        schemas: Mapping[str, Mapping[str, Any]],
        policy: CallPolicy,
        ledger: CallLedger,
        allowed: Iterable[Effect] = (),
    ) -> None:
        self._tools = GuardedTools(tools, name, policy, ledger, self._approve)
        self._values = SessionValues(schemas)
        self._allowed = frozenset(allowed)
        self._confirmed: ProposedCall | None = None

    def say(self, values: Iterable[Json]) -> None:
        """Take in what the client declares that the user said."""
        self._values.say(values)

    def call(self, call: ToolCall, confirmed: Question | None = None) -> CallOutcome | Question:
        """Make a call, or return why it is not made, or what the user has to say first.

        Args:
            call: The call.
            confirmed: The question about it that the user has answered with yes; a question about
                another call does not count.
        """
        if confirmed is not None and confirmed.proposed.call != call:
            confirmed = None
        sources = self._values.sources(call)
        if confirmed is not None:
            sources |= {one.place: _CONFIRMED for one in confirmed.wrong}
        if wrong := self._unsaid(call, sources):
            return Question(self._tools.proposed(call, sources), wrong)
        waiting = len(self._tools.waiting)
        self._confirmed = confirmed.proposed if confirmed is not None else None
        try:
            outcome = self._tools.call_with(call, sources)
        finally:
            self._confirmed = None
        if len(self._tools.waiting) > waiting:
            return Question(self._tools.waiting[-1], confirmed.wrong if confirmed else ())
        self._values.observe(outcome)
        return outcome

    def close(self) -> None:
        """Close the tools."""
        self._tools.close()

    def _approve(self, proposed: ProposedCall) -> bool | None:
        asked = self._confirmed
        if asked is not None and asked.call == proposed.call and asked.before == proposed.before:
            return True
        return True if proposed.before is None and proposed.effect in self._allowed else None

    def _unsaid(self, call: ToolCall, sources: Mapping[Place, Source]) -> tuple[Unsupported, ...]:
        tool = find_tool(self._tools.catalogue, call.tool)
        if tool is None or tool.effect is Effect.READS or self._tools.refusal(call) is not None:
            return ()
        return unsupported(call, sources)


_CONFIRMED = Source(Provenance.CONFIRMED, "the user has confirmed it")
