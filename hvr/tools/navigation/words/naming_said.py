"""What a value that no goal call takes is called: the property that it constrains."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.tools.catalogue.merging import ParameterMeaning
from hvr.tools.catalogue.schema import Catalogue, ToolParameter
from hvr.tools.navigation.words.arguments import NAMED_BY, cue_of
from hvr.tools.navigation.words.kinds import ValueKind, kind_of, suits
from hvr.tools.navigation.words.moods import RequestClause
from hvr.tools.navigation.words.read_request import ReadValue
from hvr.tools.navigation.words.values import ValueForm, ValueSpan

_SURE = 1.0
_LOOSE = frozenset([ValueKind.TEXT, ValueKind.ANY, ValueKind.PATH])


class SaidNames:
    """Names values by the parameters that would take them.

    Args:
        catalogue: The tools.
        meanings: The meanings of their parameters.
    """

    def __init__(self, catalogue: Catalogue, meanings: Sequence[ParameterMeaning]) -> None:
        self._slots = slots = {(slot.tool, slot.name): m.name for m in meanings for slot in m.slots}
        self._parameters: list[tuple[str, ToolParameter]] = [
            (slots.get((tool.name, p.name), p.name), p)
            for tool in catalogue.tools
            for p in tool.takes
        ]

    def of(self, tool: str, parameter: str) -> str:
        """Return the meaning of a parameter, or its name."""
        return self._slots.get((tool, parameter), parameter)

    def named(self, span: ValueSpan, clause: RequestClause | None) -> ReadValue | None:
        """Return a value with the name under which it is said, empty if nothing tells it.

        Args:
            span: The value.
            clause: The clause that says it; None to go by its form alone.
        """
        tokens = clause.tokens if clause is not None else ()
        index = next((i for i, t in enumerate(tokens) if t.start == span.start), None)
        best: tuple[float, str] = (0.0, "")
        value = span.value
        for name, parameter in self._parameters:
            fits, as_value = suits(span, parameter)
            if not fits:
                continue
            cue = cue_of(tokens, index, parameter) if index is not None else 0.0
            if span.form in (ValueForm.NAME, ValueForm.NUMBER, ValueForm.QUOTED) and cue <= 0:
                continue  # its form alone does not say what it is
            if kind_of(parameter) in _LOOSE and cue < NAMED_BY:
                continue
            if (score := fits + cue) > best[0] and score >= _SURE:
                best, value = (score, name), as_value
        if not best[1] and span.form in (ValueForm.NUMBER, ValueForm.DATE, ValueForm.TIME):
            return None if clause is None else ReadValue("", span.value, span.text, span.form.value)
        return ReadValue(best[1], value, span.text, span.form.value)
