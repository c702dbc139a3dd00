"""The names of values that a request states: the parameters or properties that they refer to.

A value that no goal call takes constrains an entity; its name is the property that it refers to.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter
from hvr.tools.catalogue.schema_matching import ParameterMeaning
from hvr.tools.navigation.words.arguments import NAMED_PARAMETER_SCORE, cue_of
from hvr.tools.navigation.words.clauses import RequestClause
from hvr.tools.navigation.words.kinds import ValueKind, kind_of, value_compatibility
from hvr.tools.navigation.words.lexer import ValueForm, ValueSpan
from hvr.tools.navigation.words.reading import ReadValue

_SURE = 1.0
_CALLED = frozenset({"name", "full_name", "fullname"})
_LOOSE = frozenset([ValueKind.TEXT, ValueKind.ANY, ValueKind.PATH])


class ValueNames:
    """Names values after the parameters that accept them."""

    def __init__(self, catalogue: Catalogue, meanings: Sequence[ParameterMeaning]) -> None:
        self._slots = slots = {(slot.tool, slot.name): m.name for m in meanings for slot in m.slots}
        self._parameters: list[tuple[str, ToolParameter]] = [
            (slots.get((tool.name, p.name), p.name), p)
            for tool in catalogue.tools
            for p in tool.takes
        ]

        # Where one query takes the name of something, a proper name is this name.
        readers = [tool for tool in catalogue.tools if tool.effect is Effect.READS]
        called = ((tool, p) for tool in readers for p in tool.takes if p.name in _CALLED)
        self._called = list({slots.get((tool.name, p.name), p.name): None for tool, p in called})

    def of(self, tool: str, parameter: str) -> str:
        """Return the meaning of a parameter or, if it has none, the parameter's name."""
        return self._slots.get((tool, parameter), parameter)

    def named(self, span: ValueSpan, clause: RequestClause | None) -> ReadValue | None:
        """Return a value with the name that the text gives it; the name is empty if it is unclear.

        The result is None for a number, date or time that has no clear name and is outside all
        clauses.
        """
        tokens = clause.tokens if clause is not None else ()
        index = next((i for i, t in enumerate(tokens) if t.start == span.start), None)
        if span.form is ValueForm.NAME and len(self._called) == 1:
            return ReadValue(self._called[0], span.value, span.text, span.form.value)
        best: tuple[float, str] = (0.0, "")
        value = span.value
        for name, parameter in self._parameters:
            fits, as_value = value_compatibility(span, parameter)
            if not fits:
                continue
            cue = cue_of(tokens, index, parameter) if index is not None else 0.0
            if span.form in (ValueForm.NAME, ValueForm.NUMBER, ValueForm.QUOTED) and cue <= 0:
                continue  # the form alone does not determine the meaning
            if kind_of(parameter) in _LOOSE and cue < NAMED_PARAMETER_SCORE:
                continue
            if (score := fits + cue) > best[0] and score >= _SURE:
                best, value = (score, name), as_value
        if not best[1] and span.form in (ValueForm.NUMBER, ValueForm.DATE, ValueForm.TIME):
            return None if clause is None else ReadValue("", span.value, span.text, span.form.value)
        return ReadValue(best[1], value, span.text, span.form.value)
