"""Guards for tools: call policy, budget, confirmation, and provenance of arguments."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.files import append_json_line
from hvr.base.printable import one_line, short
from hvr.base.registry import load
from hvr.base.secrets import without_keys
from hvr.base.texts import check_integer
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    Place,
    Provenance,
    Source,
    ToolCall,
    ToolEnvironment,
    Unsupported,
    checked_tool,
    find_tool,
    sources_json,
    unsupported,
)
from hvr.tools.calling.log import (
    CallLedger,
    LedgerEntry,
    SessionValues,
    excerpt,
    key_of,
    log_line,
    redacted,
    trace,
)
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, quoted

# Guard --------------------------------------------------------------------------------------------

MAX_EQUAL_FAILURES = 5
"""Number of consecutive failures after which an identical call is refused."""

MAX_NAMED_VALUES = 5
"""Maximum number of unsupported values named in a refusal."""


@dataclass(frozen=True)
class CallPolicy:
    """Limits on tool calls.

    Args:
        budget: Maximum number of calls that reach the tools.
        dry: Whether to permit only tools known to be read-only.
        log: Path of the call log; None to keep no log.
        secrets: Whether to keep values that look like secrets in the log.
    """

    budget: int = 100
    dry: bool = False
    log: Path | None = None
    secrets: bool = False

    def __post_init__(self) -> None:
        check_integer("budget", self.budget)


@dataclass(frozen=True)
class ProposedCall:
    """A call that may write, shown to the user before it is made.

    Args:
        before: An equal call that was or may have been made already, if any. Approving the proposal
            then repeats it.
    """

    call: ToolCall
    effect: Effect
    sources: Mapping[Place, Source]
    before: LedgerEntry | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "tool": self.call.tool,
            "arguments": redacted(dict(self.call.arguments)),
            "effect": self.effect.value,
            "sources": redacted(sources_json(self.call, self.sources)),
            "before": None if self.before is None else self.before.to_json(),
        }


Approve: TypeAlias = Callable[[ProposedCall], "bool | None"]
"""Asks the user whether to make a call; returns None if the user cannot be asked."""


class GuardedTools:
    """A tool environment that checks, counts and logs calls before they reach the tools.

    A forbidden call never reaches the tools; its outcome has the failure `NOT_ALLOWED`.

    Args:
        ledger: Ledger that records writing calls before they are made; by default in memory.
        approve: Callback that returns True to approve a writing call, False to decline it, and None
            if the user cannot be asked. If there is no callback, writing calls need no approval,
            but a call that was or may have been made already is refused.
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
        return self._inner.catalogue

    @property
    def outcomes(self) -> tuple[CallOutcome, ...]:
        """The outcomes of all calls since the last reset, including refused ones."""
        return tuple(self._outcomes)

    @property
    def waiting(self) -> tuple[ProposedCall, ...]:
        """Calls that await approval, because the user could not be asked."""
        return tuple(self._waiting)

    @property
    def uncertain(self) -> tuple[LedgerEntry, ...]:
        """Calls that may have taken effect, made by this process or equal to a waiting call."""
        met = [one.before for one in self._waiting if one.before is not None]
        found = (*self._ledger.unclear(), *(one for one in met if one.unclear))
        return tuple({one.id: one for one in found}.values())

    def reset(self) -> None:
        """Reset the environment, the budget and the outcomes; a ledger in a file is not changed."""
        self._inner.reset()
        self._ledger.reset()
        self._outcomes, self._failures, self._waiting, self._used = [], {}, [], 0

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool with values of unknown provenance; refuse writing calls with arguments."""
        return self.call_with(call, {})

    def call_with(
        self,
        call: ToolCall,
        sources: Mapping[Place, Source] | None = None,
        *,
        again: bool = False,
        request: Sequence[Json] = (),
    ) -> CallOutcome:
        """Call a tool, or return a failure if the policy or a value's source forbids the call.

        Args:
            sources: Sources of the argument values, by path.
            again: Whether to permit a writing call that this process has already made, because the
                request asks for it several times or the first call is known to have failed.
            request: Values in the user's request, used to trace arguments in the log.

        Raises:
            DataFileError: The ledger or log cannot be read or written. The call was not made, or
                its ledger entry stays open.
        """
        known, time, entry = dict(sources or {}), datetime.now(UTC), None
        tool = find_tool(self.catalogue, call.tool)
        failed = self.refusal(call)
        if failed is None and tool is not None:
            failed = _unsupported(call, tool, known)
            if failed is None and tool.effect is not Effect.READS:
                failed, entry = self._open_entry(call, tool, known, again)
        outcome = replace(failed or self._perform(call, entry, known, time, request), sources=known)
        self._log(outcome, time, request)
        self._outcomes.append(outcome)
        return outcome

    def refusal(self, call: ToolCall) -> CallOutcome | None:
        """Return the failure of a call that is refused even if the user approves it, else None."""
        tool = checked_tool(self.catalogue, call)
        return tool if isinstance(tool, CallOutcome) else self._refused(call, tool)

    def proposed(self, call: ToolCall, sources: Mapping[Place, Source]) -> ProposedCall:
        tool = find_tool(self.catalogue, call.tool)
        effect = Effect.UNKNOWN if tool is None else tool.effect
        again = tool is not None and tool.idempotent
        return ProposedCall(call, effect, sources, None if again else self._ledger.before(call))

    def settle(self, call: ToolCall, by: str, *, done: bool) -> None:
        """Record whether an uncertain call took effect; see `CallLedger.settle`."""
        self._ledger.settle(call, by, done=done)

    def state(self) -> Json:
        return self._inner.state()

    def close(self) -> None:
        self._inner.close()

    def _open_entry(
        self, call: ToolCall, tool: ToolSchema, sources: Mapping[Place, Source], again: bool
    ) -> tuple[CallOutcome | None, str | None]:
        """Record a writing call; return (failure, None) or (None, the id of its ledger entry)."""
        asked, approved = None, None
        while True:
            with self._ledger.locked():
                before = None if tool.idempotent else self._ledger.before(call, own=not again)
                proposed = ProposedCall(call, tool.effect, sources, before)
                ask = before is not None or self._approve is not None
                if not ask or (approved and asked == proposed):
                    return None, self._ledger.begin(call, sources)
            # The lock is released while the user decides, so a changed proposal needs a new answer.
            asked, approved = proposed, self._approve(proposed) if self._approve else None
            if not approved:
                return self._unapproved(proposed, approved), None

    def _unapproved(self, proposed: ProposedCall, answer: bool | None) -> CallOutcome:
        call, before = proposed.call, proposed.before
        if answer is None:
            self._waiting.append(proposed)
        if answer is False:
            error = f"the user declined the call of {quoted(call.tool)}"
        elif before is not None:
            done = "may have been" if before.unclear else "was"
            error = (
                f"{quoted(call.tool)} {done} called with these arguments at {before.time}; "
                "the user must decide whether to repeat it"
            )
        else:
            error = f"{quoted(call.tool)} is not known to be read-only, so the user must confirm it"
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error)

    def _perform(
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
        except BaseException as broken:  # on Ctrl-C, for example, the tool may have finished
            error = f"interrupted ({type(broken).__name__}): the call may have been made"
            interrupted = CallOutcome(call, None, CallFailure.TIMED_OUT, error, sources=sources)
            if entry is not None:
                self._ledger.close(entry, interrupted)
            self._log(interrupted, time, request)
            raise
        if entry is not None:
            self._ledger.close(entry, outcome)
            if outcome.ok:
                self._failures.clear()  # the new state may allow calls that failed before
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
            error = f"the budget of {self._policy.budget} calls is exhausted"
        elif self._policy.dry and tool.effect is not Effect.READS:
            error = f"{quoted(call.tool)} is not known to be read-only: not called in a dry run"
        elif self._failures.get(_key(call), 0) >= MAX_EQUAL_FAILURES:
            error = f"this call has failed {MAX_EQUAL_FAILURES} times in a row"
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error) if error else None


def _unsupported(
    call: ToolCall, tool: ToolSchema, sources: Mapping[Place, Source]
) -> CallOutcome | None:
    # Provenance is enforced only here.
    wrong = () if tool.effect is Effect.READS else unsupported(call, sources)
    if not wrong:
        return None
    error = (
        f"{quoted(call.tool)} is not known to be read-only, and must not be called with "
        f"{', '.join(map(str, wrong[:MAX_NAMED_VALUES]))}: ask the user to say or confirm it"
    )
    return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error)


def _key(call: ToolCall) -> str:
    return json.dumps([call.tool, dict(call.arguments)], sort_keys=True)


# Agent guard --------------------------------------------------------------------------------------

_SHOWN = 300


@dataclass(frozen=True)
class Question:
    """A question to the user before a call.

    Approving it also confirms the values in `wrong`, whose provenance is insufficient.
    """

    proposed: ProposedCall
    wrong: tuple[Unsupported, ...] = ()

    def text(self) -> str:
        """Return the question: the call, its arguments, and which of them the user has not stated.

        It also says when an equal call was made, if one was. Secrets are redacted.
        """
        proposed = self.proposed
        data = proposed.to_json()
        effect = "of unknown effect" if proposed.effect is Effect.UNKNOWN else proposed.effect.value
        lines = [f"The agent wants to call {quoted(proposed.call.tool)} ({effect}):"]
        assert isinstance(data["arguments"], dict)
        for name, value in data["arguments"].items():
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        lines += [f"Not stated by you: {one}" for one in self.wrong]
        if (before := proposed.before) is not None:
            done = "may have been done" if before.unclear else "was done"
            lines.append(f"It {done} already at {before.time}.")
        lines.append("Make this call?")
        return without_keys("\n".join(short(one_line(line), _SHOWN) for line in lines))

    def reason(self, why: str) -> str:
        wrong = "; ".join(map(str, self.wrong))
        before = self.proposed.before
        parts = [f"Not called: {why}."]
        if wrong:
            parts.append(f"The user has not stated {wrong}. Ask for it; do not guess.")
        if before is not None:
            done = "may have been done" if before.unclear else "was done"
            parts.append(f"An equal call {done} at {before.time}: check before repeating it.")
        return " ".join([*parts, "Do not try again before the user has answered."])


class AgentGuard:
    """A guard for a third-party agent's tools, which makes each call, refuses it or asks the user.

    Args:
        schemas: JSON Schema of the arguments, by tool.
        allowed: Effects that need no confirmation if the provenance of all argument values permits
            it and no equal call was made before.
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
        self._values.say(values)

    def call(self, call: ToolCall, confirmed: Question | None = None) -> CallOutcome | Question:
        """Make a call, or return its refusal, or the question to ask the user first.

        `confirmed` is a question that the user has approved, ignored if it is about a different
        call.
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


# Guard server -------------------------------------------------------------------------------------
# `AgentGuard` as an MCP server, through which any agent calls the tools of other servers.
#
# Questions to the user are elicitations. Older protocol versions send them within the call; since
# 2026-07-28 the client answers with a second call. Clients without elicitation get a refusal that
# states the reason.

USER_STATEMENT_KEY = "hvr-said"
"""Key in a call's `_meta` for the user's statements: a text, or a list of texts and values."""

_INPUT_REQUIRED = "2026-07-28"
_QUESTION = "confirm"
_FORM = {
    "type": "object",
    "properties": {_QUESTION: {"type": "boolean", "title": "Make this call", "default": False}},
    "required": [_QUESTION],
}
_INSTRUCTIONS = (
    "Calls that change something are checked by hvr: every value must come from the user, from a "
    "default, or be the only id that a query with the user's values returned. A refusal says what "
    "to ask the user. Equal calls are not repeated without the user's consent."
)


class GuardServer:
    """An MCP server that offers a guard's tools.

    Args:
        tools: Tools to list, in MCP format.
        last: Callback that returns the upstream server's last reply, or None. The reply to a call
            is forwarded unchanged.
    """

    def __init__(self, guard: AgentGuard, tools: Sequence[Mapping[str, Any]], last: Any) -> None:
        load("mcp.server.lowlevel.server", "mcp", "mcp")
        import anyio

        self._guard, self._tools, self._last = guard, tools, last
        self._seen: Any = None
        self._pending: dict[str, tuple[str, Question]] = {}
        # One call at a time, because calls share budget, ledger and session values.
        self._turn = anyio.Lock()

    def server(self) -> Any:
        from mcp.server.lowlevel.server import Server

        return Server(
            "hvr guard",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, ctx: Any, params: Any) -> Any:
        import mcp_types as types

        del ctx, params
        return types.ListToolsResult(tools=[types.Tool.model_validate(one) for one in self._tools])

    async def _call(self, ctx: Any, params: Any) -> Any:
        call = ToolCall(params.name, dict(params.arguments or {}))
        async with self._turn:
            self._guard.say(_declared(ctx.meta))
            confirmed = self._confirmation(call, params)
            if isinstance(confirmed, CallOutcome):
                return self._result(confirmed)
            outcome = await self._perform(call, confirmed)
            if not isinstance(outcome, Question):
                return self._result(outcome)
            if not _can_ask(ctx):
                why = "the user must confirm it, and this client cannot ask them"
                return self._refused(outcome, why)
            if str(ctx.protocol_version) >= _INPUT_REQUIRED:
                return self._question(call, outcome)
            answer = await ctx.session.elicit_form(outcome.text(), _FORM, ctx.request_id)
            if not _yes(answer):
                return self._refused(outcome, "the user declined")
            outcome = await self._perform(call, outcome)
            if isinstance(outcome, Question):
                return self._refused(outcome, "it changed while the user was asked")
            return self._result(outcome)

    async def _perform(self, call: ToolCall, confirmed: Question | None) -> CallOutcome | Question:
        import anyio.to_thread

        self._seen = self._last()
        # Do not cancel when the client disconnects: the ledger must record what may have been done.
        return await anyio.to_thread.run_sync(self._guard.call, call, confirmed)

    def _question(self, call: ToolCall, question: Question) -> Any:
        # The client answers with a second call.
        import mcp_types as types

        state = secrets.token_urlsafe()
        self._pending[state] = key_of(call), question
        ask = types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=question.text(), requested_schema=_FORM)
        )
        return types.InputRequiredResult(input_requests={_QUESTION: ask}, request_state=state)

    def _confirmation(self, call: ToolCall, params: Any) -> Question | CallOutcome | None:
        state = getattr(params, "request_state", None)
        if state is None:
            return None
        # A state is valid once, and only for the call for which it was issued.
        key, question = self._pending.pop(state, ("", None))
        if question is None or key != key_of(call):
            return None
        answer = (params.input_responses or {}).get(_QUESTION)
        if _yes(answer):
            return question
        error = question.reason("the user declined")
        return CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error)

    def _refused(self, question: Question, why: str) -> Any:
        call = question.proposed.call
        error = question.reason(why)
        return self._result(CallOutcome(call, failure=CallFailure.NOT_ALLOWED, error=error))

    def _result(self, outcome: CallOutcome) -> Any:
        import mcp_types as types

        answer = self._last()
        # If the call did not reach the server, this is the reply to the previous call.
        if answer is not None and answer is not self._seen:
            self._seen = answer
            return types.CallToolResult(
                content=answer.content,
                structured_content=answer.structured_content,
                is_error=answer.is_error,
            )
        if not outcome.ok:
            text = f"{outcome.failure}: {outcome.error}"
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        result = outcome.result
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        structured = result if isinstance(result, dict) else {"result": result}
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=structured
        )


def mcp_tools(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return the tools of a catalogue in MCP format, with the types and choices of parameters."""
    return [
        {"name": one.name, "description": one.description, "inputSchema": _input_schema(one)}
        for one in catalogue.tools
    ]


def _input_schema(tool: ToolSchema) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for parameter in tool.takes:
        one: dict[str, Any] = {"description": parameter.description}
        if parameter.type:
            kinds = parameter.type.split("|")
            one["type"] = kinds if len(kinds) > 1 else kinds[0]
        if parameter.choices:
            one["enum"] = [json.loads(choice) for choice in parameter.choices]
        properties[parameter.name] = one
    required = [parameter.name for parameter in tool.takes if parameter.required]
    return {"type": "object", "properties": properties, "required": required}


def _declared(meta: Any) -> list[Json]:
    value = meta.get(USER_STATEMENT_KEY) if isinstance(meta, Mapping) else None
    plain = excerpt(value, 100_000)
    return plain if isinstance(plain, list) else [] if plain is None else [plain]


def _can_ask(ctx: Any) -> bool:
    capabilities = ctx.session.client_capabilities
    asks = capabilities.elicitation if capabilities is not None else None
    # a client that specifies no elicitation mode supports forms
    return asks is not None and (asks.form is not None or asks.url is None)


def _yes(answer: Any) -> bool:
    action, content = getattr(answer, "action", ""), getattr(answer, "content", None)
    return action == "accept" and isinstance(content, dict) and content.get(_QUESTION) is True
