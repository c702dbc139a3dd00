"""What may be called, and what may be written by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from hvr.calling.checks import check_call, find_tool
from hvr.calling.environment import ToolEnvironment
from hvr.calling.log import log_line
from hvr.calling.origins import trace
from hvr.calling.provenance import Place, Source, unsupported
from hvr.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.errors import UsageError
from hvr.files import append_json_line
from hvr.numbers import check_whole
from hvr.tools.catalogue.schema import Catalogue, Effect, quoted

MOST_EQUAL_FAILURES = 5
"""Equal calls that fail in a row before they are refused: the same again brings nothing."""

MOST_NAMED = 5
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
        check_whole("budget", self.budget)


class GuardedTools:
    """An environment whose calls are checked, counted and logged before they reach the tools.

    What the policy does not allow is an outcome with the failure `NOT_ALLOWED`, of which the
    environment hears nothing.

    Args:
        inner: the environment.
        name: of it, in the log.
        policy: what may be called.
    """

    def __init__(self, inner: ToolEnvironment, name: str, policy: CallPolicy | None = None) -> None:
        self._inner = inner
        self._name = name
        self._policy = policy or CallPolicy()
        self._outcomes: list[CallOutcome] = []
        self._failures: dict[str, int] = {}
        self._written: set[str] = set()
        self._used = 0

    @property
    def catalogue(self) -> Catalogue:
        """The tools."""
        return self._inner.catalogue

    @property
    def outcomes(self) -> tuple[CallOutcome, ...]:
        """All calls since the last reset, those that were not allowed among them."""
        return tuple(self._outcomes)

    def reset(self) -> None:
        """Begin anew, with the whole budget."""
        self._inner.reset()
        self._outcomes, self._failures, self._written, self._used = [], {}, set(), 0

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
            again: Whether the user said that a writing call is to be repeated.
            request: Values that the request gives, by which the log traces arguments.
        """
        known = dict(sources or {})
        failed = check_call(self.catalogue, call) or self._refused(call, again)
        return self._made(call, failed or self._unsupported(call, known), known, request)

    def _made(
        self,
        call: ToolCall,
        failed: CallOutcome | None,
        sources: Mapping[Place, Source],
        request: Sequence[Json],
    ) -> CallOutcome:
        """Make a call that did not fail already, and write down what became of it."""
        time = datetime.now(UTC)
        outcome = failed
        if outcome is None:
            self._used += 1
            try:
                outcome = self._inner.call(call)
            except BaseException as broken:  # as Ctrl-C does: the tool may have done its work
                error = f"broken off ({type(broken).__name__}): it may have been done"
                gone = CallOutcome(call, None, CallFailure.TIMED_OUT, error, sources=sources)
                self._write(gone, time, request)
                raise
            self._remember(outcome)
        outcome = replace(outcome, sources=sources)
        self._write(outcome, time, request)
        self._outcomes.append(outcome)
        return outcome

    def state(self) -> Json:
        """Return the state of the environment."""
        return self._inner.state()

    def close(self) -> None:
        """Close the environment."""
        self._inner.close()

    def _write(self, outcome: CallOutcome, time: datetime, request: Sequence[Json]) -> None:
        """Write a call down, where a log is kept."""
        if self._policy.log is not None:
            origins = trace(outcome.call.arguments, self._outcomes, request)
            line = log_line(self._name, outcome, origins, time, secrets=self._policy.secrets)
            append_json_line(self._policy.log, line)

    def _unsupported(self, call: ToolCall, sources: Mapping[Place, Source]) -> CallOutcome | None:
        """Return the refusal of a call that would write what no one said; None if it may be made.

        This is the one place that enforces the rule.
        """
        tool = find_tool(self.catalogue, call.tool)
        if tool is not None and tool.effect is Effect.READS:
            return None
        wrong = unsupported(call, sources)
        if not wrong:
            return None
        error = (
            f"{quoted(call.tool)} is not known to read only, and may not be called with "
            f"{', '.join(map(str, wrong[:MOST_NAMED]))}: ask the user to say or confirm it"
        )
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error)

    def _refused(self, call: ToolCall, again: bool) -> CallOutcome | None:
        tool = find_tool(self.catalogue, call.tool)
        if tool is None:
            raise UsageError(f"there is no tool {quoted(call.tool)}")
        error = ""
        if self._used >= self._policy.budget:
            error = f"the budget of {self._policy.budget} calls is spent"
        elif self._policy.dry and tool.effect is not Effect.READS:
            error = f"{quoted(call.tool)} is not known to read only, and this is a dry run"
        elif self._failures.get(_key(call), 0) >= MOST_EQUAL_FAILURES:
            error = f"this call has failed {MOST_EQUAL_FAILURES} times in a row"
        elif _key(call) in self._written and not again:
            error = f"{quoted(call.tool)} may have written this already; ask before it is repeated"
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error) if error else None

    def _remember(self, outcome: CallOutcome) -> None:
        tool = find_tool(self.catalogue, outcome.call.tool)
        key = _key(outcome.call)
        self._failures[key] = 0 if outcome.ok else self._failures.get(key, 0) + 1
        # A call that timed out, or came back with something odd, may have written before.
        writes = outcome.failure not in (CallFailure.REFUSED, CallFailure.BAD_ARGUMENTS)
        if writes and tool and tool.effect is not Effect.READS and not tool.idempotent:
            self._written.add(key)
        if outcome.ok and tool and tool.effect is not Effect.READS:
            self._failures.clear()  # in another state what failed may work


def _key(call: ToolCall) -> str:
    return json.dumps([call.tool, dict(call.arguments)], sort_keys=True)
