"""The calls of a log with what is known of their tools, messages and values."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.tools.asked import stems
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.known_tools import KnownTools, effect_of
from hvr.tools.tool_plan import LoggedCall, ToolPlan
from hvr.tools.value_flow import CallValues, KnownWords, Leaf, call_values, given, named, words_of


class CallLog:
    """The calls of a plan.

    Args:
        plan: The plan.
        known: The tools; None where they are not known.
    """

    def __init__(self, plan: ToolPlan, known: KnownTools | None) -> None:
        self.calls = tuple(self._with_names(call, known) for call in plan.calls)
        self.said = plan.said or ((plan.request,) if plan.request else ())
        self.known = known
        self.values: Sequence[CallValues] = call_values(self.said, self.calls)
        self._turns = any(call.turn for call in self.calls)

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

    def reads(self, at: int) -> bool:
        return self.effect(at) is Effect.READS

    def heard(self, at: int) -> tuple[str, ...]:
        """Return the messages of the user before a call."""
        return self.said[: self.calls[at].turn] if self._turns else self.said

    def inputs(self, at: int) -> tuple[Leaf, ...]:
        """Return the texts and numbers that a call is given."""
        return tuple(leaf for leaf in given(named(self.calls[at])) if words_of(leaf[1]))

    def before(self, at: int) -> KnownWords:
        """Return the words of the messages, arguments and results before a call."""
        words = KnownWords.of(list(self.heard(at)))
        for call in self.calls[:at]:
            words = words | KnownWords.of(call.result) | KnownWords.of(named(call))
        return words

    def retried(self, at: int) -> bool:
        """Return whether a call follows a failed one of the same tool: it may correct it."""
        tool = self.calls[at].tool
        return any(other.failed and other.tool == tool for other in self.calls[:at])

    def speak_of(self, messages: Sequence[str], at: int) -> bool:
        """Return whether messages speak of the tool of a call."""
        request = stems(" ".join(messages))
        tool = self.calls[at].tool
        if self.known is None:
            return bool(stems(tool) & request)
        return self.known.vocabulary.speaks_of(request, tool)

    def ask_for(self, messages: Sequence[str], at: int) -> bool:
        """Return whether messages speak of a call's tool, or have a value of it."""
        words = KnownWords.of(list(messages))
        return self.speak_of(messages, at) or any(words.has(v) for _, v in self.inputs(at))
