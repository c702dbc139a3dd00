"""Capabilities of a model: structured output, tool calls, context length and price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hvr.errors import LLMError
from hvr.models.config import ConfiguredModel
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Layer, Message, Model, ModelTool, Request, Totals
from hvr.models.replies import satisfies

_TRIES = 6
"""Maximum number of requests to find the form in which a server enforces schemas."""

_TOKENS = 256
_WORD = "violet"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
_ANY: Mapping[str, Any] = {"type": "object"}
_QUESTION = 'Answer with JSON: {"word": "ready"}'
_TOOL = ModelTool("ready", "Report that you are ready.", {"type": "object", "properties": {}})


@dataclass
class _Asking:
    model: Model
    totals: Totals = field(default_factory=Totals)

    def ask(self, text: str, **more: Any) -> Answer | None:
        request = Request(
            messages=(Message("user", text),), purpose="check", max_tokens=_TOKENS, **more
        )
        try:
            answer = self.model.answer(request)
        except ModelError as error:
            if error.kind not in ("schema", "empty"):
                raise
            return None
        self.totals = self.totals.plus(answer.usage)
        return answer


def abilities_of(model: Model, chosen: ConfiguredModel) -> dict[str, str]:
    """Return one line about each ability of a model.

    The schema allows only a word that the question does not ask for, so the answer shows whether
    the server enforces schemas.
    """
    asking = _Asking(model)
    lines = {}
    for name, find in (("schema", _schema), ("tools", _tools)):
        try:
            lines[name] = find(asking)
        except LLMError as error:
            lines[name] = f"{name}: unknown ({error})"
    length = getattr(_inner(model), "context_length", lambda: None)()
    lines["context"] = f"context: {length} tokens" if length else "context: unknown"
    lines["cost"] = _cost(asking.totals, chosen)
    return lines


def _inner(model: Model) -> Any:
    while isinstance(model, Layer):
        model = model.wrapped
    return model


def _schema(asking: _Asking) -> str:
    for _ in range(_TRIES):
        form = _form(asking.model)
        answer = asking.ask(_QUESTION, schema=_SCHEMA, accept=_ANY)
        if answer is not None and satisfies(answer.text, _SCHEMA):
            found = _form(asking.model)
            return f"schema: enforced{f', as {found}' if found else ''}"
        if _form(asking.model) == form:
            break
    return "schema: not enforced; the prompt describes it, and hvr checks the answers"


def _form(model: Model) -> str:
    return str(getattr(getattr(_inner(model), "settings", None), "form", ""))


def _tools(asking: _Asking) -> str:
    answer = asking.ask("Call the tool.", tools=(_TOOL,)) or asking.ask(
        "Call the tool.", tools=(_TOOL,)
    )
    dialect = getattr(_inner(asking.model), "settings", None)
    if answer is None or not answer.calls:
        return "tools: not called"
    native = getattr(dialect, "tools", True)
    return "tools: called" if native else "tools: not called by the server, but as JSON"


def _cost(totals: Totals, chosen: ConfiguredModel) -> str:
    price = chosen.options.price(str(chosen.spec).partition(":")[2])
    tokens = f"{totals.input} tokens in, {totals.output} out for these checks"
    if price is None:
        return f"cost: unknown price; {tokens}"
    each = f"${price.input:g} in and ${price.output:g} out for a million tokens"
    return f"cost: {each}; {tokens}, ${totals.cost}"
