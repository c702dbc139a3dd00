"""`AgentGuard` as an MCP server, through which any agent calls the tools of other servers.

Questions to the user are elicitations. In older protocol versions they are sent within the call;
since 2026-07-28 the client answers with a second call. Clients without elicitation get a refusal
with its reason.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from hvr.base.extras import load
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.calling.guard import AgentGuard, Question
from hvr.tools.calling.ledger import key_of
from hvr.tools.calling.log import excerpt
from hvr.tools.catalogue.schema import Catalogue, ToolSchema

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
    "default, or be the only id that a query with the user's values gave. A refusal says what "
    "to ask the user. Equal calls are not repeated without the user's word."
)


class GuardServer:
    """An MCP server for the tools of a guard.

    Args:
        tools: The tools to list, in the protocol's format.
        last: Returns the last reply of the upstream server, which is forwarded unchanged; returns
            None if there is none.
    """

    def __init__(self, guard: AgentGuard, tools: Sequence[Mapping[str, Any]], last: Any) -> None:
        load("mcp.server.lowlevel.server", "mcp", "mcp")
        import anyio

        self._guard, self._tools, self._last = guard, tools, last
        self._seen: Any = None
        self._pending: dict[str, tuple[str, Question]] = {}
        # One call at a time: budget, ledger and session values are shared.
        self._turn = anyio.Lock()

    def server(self) -> Any:
        """Return the server object of the `mcp` package."""
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
        # Not cancelled when the client disconnects: the ledger must record what may have been done.
        return await anyio.to_thread.run_sync(self._guard.call, call, confirmed)

    def _question(self, call: ToolCall, question: Question) -> Any:
        """Return the question as the result of a call; the client answers it with a second call."""
        import mcp_types as types

        state = secrets.token_urlsafe()
        self._pending[state] = key_of(call), question
        ask = types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=question.text(), requested_schema=_FORM)
        )
        return types.InputRequiredResult(input_requests={_QUESTION: ask}, request_state=state)

    def _confirmation(self, call: ToolCall, params: Any) -> Question | CallOutcome | None:
        """Return the question that a call approves, or the refusal if it declines."""
        state = getattr(params, "request_state", None)
        if state is None:
            return None
        # A state is valid once, and only for the call it was issued for.
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
    """Return tools in the protocol's format, as far as their schemas are known."""
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
    # A client that specifies no elicitation mode supports forms.
    return asks is not None and (asks.form is not None or asks.url is None)


def _yes(answer: Any) -> bool:
    action, content = getattr(answer, "action", ""), getattr(answer, "content", None)
    return action == "accept" and isinstance(content, dict) and content.get(_QUESTION) is True
