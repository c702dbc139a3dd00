"""The calls of an agent that someone else wrote: each is made, refused, or put to the user."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.base.printable import one_line, short
from hvr.base.secrets.forms import without_keys
from hvr.tools.calling.checks import find_tool
from hvr.tools.calling.environment import ToolEnvironment
from hvr.tools.calling.guard import CallPolicy, GuardedTools, ProposedCall
from hvr.tools.calling.ledger import CallLedger
from hvr.tools.calling.provenance import Place, Provenance, Source, Unsupported, unsupported
from hvr.tools.calling.session_values import SessionValues
from hvr.tools.calling.values import CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Effect, quoted

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
        """Approve what the user has confirmed, or does not have to."""
        asked = self._confirmed
        if asked is not None and asked.call == proposed.call and asked.before == proposed.before:
            return True
        return True if proposed.before is None and proposed.effect in self._allowed else None

    def _unsaid(self, call: ToolCall, sources: Mapping[Place, Source]) -> tuple[Unsupported, ...]:
        """Return the values that the user has to confirm, if the call can be made at all."""
        tool = find_tool(self._tools.catalogue, call.tool)
        if tool is None or tool.effect is Effect.READS or self._tools.refusal(call) is not None:
            return ()
        return unsupported(call, sources)


_CONFIRMED = Source(Provenance.CONFIRMED, "the user has confirmed it")
