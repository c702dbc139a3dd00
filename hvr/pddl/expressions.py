"""Read formulas and effects from nested lists and check them against the declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl.formulas import (
    OBJECT,
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Duration,
    Effect,
    Equal,
    Exists,
    Expression,
    Forall,
    Formula,
    FunctionTerm,
    Imply,
    IsViolated,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Timed,
    TimeSpecifier,
    Trajectory,
    TypedName,
    When,
    walk,
)
from hvr.pddl.lists import ANY_NAME, NUMBER, RESERVED, ListReader, Types, arguments_text, choices
from hvr.pddl.model import Domain, Function, Predicate
from hvr.pddl.reader import Group, Node, SourceText, Word, head_of, node_of

Scope = Mapping[str, Types]

_T = TypeVar("_T")

_Plain = Callable[[str, int, Scope], "Expression | None"]
"""Reads a token at an offset if it is a well-formed literal; otherwise returns None."""

_LITERAL = re.compile(r"\(\s*+(?:not\s*+\(([^()]*+)\)\s*+|([^()]*+))\)")
_TIMED_LITERAL = re.compile(r"\(\s*+(at\s++(?:start|end)|over\s++all)\s*+(\([^\0]*\))\s*+\)")
_COST = re.compile(r"\(\s*+increase\s*+\(\s*+([^\s()]++)\s*+\)\s*+([0-9]{1,15})\s*+\)")
_MOST_KNOWN = 5000

_COMPARISONS = frozenset({"<", ">", "<=", ">=", "="})
_UNCERTAIN_EFFECTS = {
    "probabilistic": "probabilistic effects (PPDDL)",
    "oneof": "nondeterministic effects, (oneof …),",
}
_NUMERIC_EFFECTS = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
_TRAJECTORY = {
    # operator: (number of times, number of conditions)
    "always": (0, 1),
    "sometime": (0, 1),
    "at-most-once": (0, 1),
    "sometime-after": (0, 2),
    "sometime-before": (0, 2),
    "within": (1, 1),
    "always-within": (1, 2),
    "hold-during": (2, 1),
    "hold-after": (1, 1),
}
_TIMES: dict[tuple[str, str], TimeSpecifier] = {
    ("at", "start"): "at start",
    ("over", "all"): "over all",
    ("at", "end"): "at end",
}


class ExpressionReader(ListReader):
    """A reader of formulas and effects.

    Args:
        domain: A domain whose types, predicates and functions the text may use.
        objects: The types of all objects that the text may mention.

    Attributes:
        preferences: The names of the preferences read so far.
        in_durative_action: Whether `?duration` is defined.
    """

    def __init__(self, source: SourceText, domain: Domain, objects: Mapping[str, Types]) -> None:
        super().__init__(source)
        self.domain = domain
        self.objects = objects
        self.preferences: set[str] = set()
        self.in_durative_action = False
        self._predicates = {n: p for n, p in domain.predicates.items() if n not in RESERVED}
        self._derived = {rule.predicate for rule in domain.derived}
        self._fitting: dict[tuple[Types, Types, bool], bool] = {}
        # Parsed atoms by their text: ground atoms, and atoms with variables of the last scope.
        self._ground: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._lifted: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._scope: Scope = {}

    # Formulas -------------------------------------------------------------------------------

    def formula(self, node: Node, scope: Scope) -> Formula:
        """Read a condition; `()` is the empty conjunction."""
        return run_trampoline(self._formula(node, scope))

    def _formula(self, node: Node, scope: Scope) -> Steps[Formula]:
        group = self.group(node, "a formula")
        if (literal := self._plain_literal(group, scope)) is not None:
            return literal
        if group.text is None and head_of(group) == "and":
            return And((yield self._conjuncts(group, scope, self._formula, self._plain)))
        if not group.items:
            return TRUE
        head = self.head(group, "a formula")
        args = group.items[1:]
        place = self.source.location(group.offset)
        match head.text:
            case "and":
                return And((yield self._each(self._formula, args, scope)))
            case "or":
                return Or((yield self._each(self._formula, args, scope)), place)
            case "not":
                self._count(group, 1, "(not formula)")
                return Not((yield self._formula(args[0], scope)), place)
            case "imply":
                self._count(group, 2, "(imply formula formula)")
                left, right = yield self._each(self._formula, args, scope)
                return Imply(left, right, place)
            case "forall" | "exists":
                variables, inner = self.quantified(group, scope, "formula")
                body = yield self._formula(args[1], inner)
                quantifier = Forall if head.text == "forall" else Exists
                return quantifier(variables, body, place)
            case text if text in _COMPARISONS:
                return self._comparison(group, scope)
            case "preference":
                self.syntax(
                    head,
                    "a preference is not allowed here",
                    "preferences under (and …) and (forall …) of a condition, goal or constraint",
                )
            case text if text in _TRAJECTORY and text not in self.domain.predicates:
                self.syntax(head, f"({text} …) is not allowed here", "a condition on one state")
        return self.atom(group, scope)

    def preferred(self, node: Node, scope: Scope) -> Formula:
        return run_trampoline(self._outer(node, scope, self._formula, self._plain))

    def timed(self, node: Node, scope: Scope) -> Formula:
        return run_trampoline(self._outer(node, scope, self._timed_condition, self._plain_timed))

    def constraints(self, node: Node, scope: Scope) -> Formula:
        # No fast path: trajectory constraints are never plain literals.
        return run_trampoline(self._outer(node, scope, self._trajectory, lambda *_: None))

    def duration(self, node: Node, scope: Scope) -> Formula:
        return run_trampoline(self._duration(node, scope))

    def _duration(self, node: Node, scope: Scope) -> Steps[Formula]:
        group = self.group(node, "(= ?duration number)")
        if not group.items:
            return TRUE
        head = self.head(group, "(= ?duration number)")
        if head.text == "and":
            return And((yield self._each(self._duration, group.items[1:], scope)))
        if (when := self._time(group)) is not None:
            return Timed(when, (yield self._duration(group.items[2], scope)))
        if head.text not in _COMPARISONS:
            self.syntax(head, "this does not constrain the duration", "(= ?duration number)")
        return self._comparison(group, scope)

    def atom(self, group: Group, scope: Scope) -> Atom:
        """Read an atom and check that it is declared and has the right arity and types."""
        head = self.head(group, "a predicate")
        predicate = self.domain.predicates.get(head.text)
        if predicate is None:
            self._no_predicate(head)
        args = self._arguments(group, predicate, "predicate", scope)
        return Atom(head.text, args, self.source.location(group.offset))

    # Most of any text is literals, so they have a fast path. At the first irregularity it gives up:
    # the slow path reads the same list word by word and reports the error.

    def _plain_literal(self, group: Group, scope: Scope) -> Atom | Not | None:
        if group.text is not None:
            return self._plain_atom(group.text, group.offset, scope)
        if group.inside is not None:
            return self._plain(f"({group.inside})", group.offset, scope)
        return None

    def _plain(self, token: str, offset: int, scope: Scope) -> Atom | Not | None:
        """Read a token as a well-formed literal; return None if it is anything else."""
        match = _LITERAL.fullmatch(token)
        if match is None:
            return None
        if (inside := match[1]) is None:
            return self._plain_atom(match[2], offset, scope)
        at = offset + match.start(1) - 1
        atom = self._plain_atom(inside, at, scope) or self._plain_equal(inside, at, scope)
        return None if atom is None else Not(atom, self.source.location(offset))

    def _plain_equal(self, text: str, offset: int, scope: Scope) -> Equal | None:
        if text.lstrip()[:1] != "=":
            return None
        parts = text.split()
        if len(parts) != 3 or parts[0] != "=" or parts[1] not in scope or parts[2] not in scope:
            return None
        return Equal(parts[1], parts[2], self.source.location(offset))

    def _plain_timed(self, token: str, offset: int, scope: Scope) -> Timed | None:
        match = _TIMED_LITERAL.fullmatch(token)
        if match is None:
            return None
        literal = self._plain(match[2], offset + match.start(2), scope)
        first, second = match[1].split()
        return None if literal is None else Timed(_TIMES[first, second], literal)

    def _plain_atom(self, text: str, offset: int, scope: Scope) -> Atom | None:
        if "?" not in text:
            known = self._ground
        else:
            if scope is not self._scope:
                self._scope, self._lifted = scope, {}
            known = self._lifted
        row = known.get(text) or self._row(text, scope, known)
        return None if row is None else Atom(*row, self.source.location(offset))

    def _row(
        self, text: str, scope: Scope, known: dict[str, tuple[str, tuple[str, ...]]]
    ) -> tuple[str, tuple[str, ...]] | None:
        # `split` is faster than `items`, which creates an object per word.
        parts = text.split()
        predicate = self._predicates.get(parts[0]) if parts else None
        if predicate is None or len(parts) != len(predicate.parameters) + 1:
            return None
        args = tuple(parts[1:])
        for arg, parameter in zip(args, predicate.parameters, strict=True):
            variable = arg[0] == "?"
            types = (scope if variable else self.objects).get(arg)
            if types is None:
                return None
            if types != parameter.types and not self._fits(types, parameter.types, variable):
                return None
        row = predicate.name, args
        if len(known) < _MOST_KNOWN:
            known[text] = row
        return row

    def _fits(self, types: Types, required: Types, variable: bool) -> bool:
        key = types, required, variable
        known = self._fitting.get(key)
        if known is None:
            # A variable must fit with each of its types, because it may stand for any of them. An
            # object declared with (either …) has all of its types.
            fits = self.domain.fits if variable else self.domain.has_type
            known = self._fitting[key] = required == (OBJECT,) or fits(types, required)
        return known

    # Effects --------------------------------------------------------------------------------

    def effect(self, node: Node, scope: Scope, *, timed: bool = False) -> Effect:
        """Read an effect, which is `timed` in a durative action; `()` is the empty effect."""
        return run_trampoline(
            self._timed_effect(node, scope) if timed else self._effect(node, scope)
        )

    def _timed_effect(self, node: Node, scope: Scope) -> Steps[Effect]:
        return self._effect(node, scope, timed=True)

    def _plain_effect(
        self, token: str, offset: int, scope: Scope
    ) -> Atom | Not | NumericEffect | None:
        literal = self._plain(token, offset, scope)
        if literal is None:
            return self._plain_cost(token, offset)
        atom = literal.operand if isinstance(literal, Not) else literal
        return literal if isinstance(atom, Atom) and atom.predicate not in self._derived else None

    def _plain_cost(self, token: str, offset: int) -> NumericEffect | None:
        match = _COST.fullmatch(token)
        if match is None:
            return None
        function = self.domain.functions.get(match[1])
        if function is None or function.parameters:
            return None
        amount = Number(self.known_number(match[2]))
        place = self.source.location(offset)
        return NumericEffect("increase", FunctionTerm(match[1]), amount, place)

    def _plain_timed_effect(self, token: str, offset: int, scope: Scope) -> Timed | None:
        literal = self._plain_timed(token, offset, scope)
        if literal is None or literal.when == "over all":
            return None
        atom = literal.body.operand if isinstance(literal.body, Not) else literal.body
        return literal if isinstance(atom, Atom) and atom.predicate not in self._derived else None

    def _effect(self, node: Node, scope: Scope, timed: bool = False) -> Steps[Effect]:
        group = self.group(node, "an effect")
        if not timed and (literal := self._plain_literal(group, scope)) is not None:
            atom = literal.operand if isinstance(literal, Not) else literal
            if isinstance(atom, Atom):
                self._not_derived(atom, group)
                return literal
        read = self._timed_effect if timed else self._effect
        if group.text is None and head_of(group) == "and":
            plain: _Plain = self._plain_timed_effect if timed else self._plain_effect
            return And((yield self._conjuncts(group, scope, read, plain)))
        if not group.items:
            return TRUE
        head = self.head(group, "an effect")
        args = group.items[1:]
        match head.text:
            case "and":
                return And((yield self._each(read, args, scope)))
            case "forall":
                variables, inner_scope = self.quantified(group, scope, "effect")
                return Forall(variables, (yield self._effect(args[1], inner_scope, timed)))
            case "when":
                self._count(group, 2, "(when formula effect)")
                condition = (self.timed if timed else self.formula)(args[0], scope)
                return When(condition, (yield self._effect(args[1], scope, timed)))
            case "probabilistic" | "oneof" if head.text not in self._predicates:
                self.unsupported(group, _UNCERTAIN_EFFECTS[head.text])
            case "or" | "imply" | "exists" | "=":
                self.syntax(
                    head,
                    f"({head.text} …) cannot be an effect: an effect must say what changes",
                    "an atomic formula, (not …), (and …), (forall …) or (when …)",
                )
            case text if timed and text in _NUMERIC_EFFECTS:
                from hvr.pddl.domain_parser import continuous_effect

                return continuous_effect(self, group, scope)
            case _ if timed:
                when = self._time(group)
                if when is None or when == "over all":
                    self.syntax(group, "an effect without a time", "(at start …) or (at end …)")
                return Timed(when, (yield self._effect(args[1], scope)))
            case "not":
                self._count(group, 1, "(not (predicate …))")
                inner = self.group(args[0], "an atomic formula to delete")
                if inner.items and isinstance(inner.items[0], Word):
                    word = inner.items[0]
                    if word.text in RESERVED:
                        self.syntax(
                            word, "only an atomic formula can be deleted", "(not (predicate …))"
                        )
                return Not(self._changeable(inner, scope), self.source.location(group.offset))
            case text if text in _NUMERIC_EFFECTS:
                return self._numeric_effect(group, scope)
        return self._changeable(group, scope)

    def numeric(self, node: Node, scope: Scope, *, metric: bool = False) -> NumericExpression:
        """Read an arithmetic expression; a `metric` may count time and violated preferences."""
        return run_trampoline(self._numeric(node, scope, metric))

    def _numeric(self, node: Node, scope: Scope, metric: bool) -> Steps[NumericExpression]:
        if isinstance(node, Word):
            if node.text == "?duration" and self.in_durative_action:
                return Duration()
            if node.text == "#t":
                shape = "(increase (function …) (* #t number)) in a process or durative action"
                self.syntax(node, "#t outside of a continuous effect", shape)
            if node.text == "total-time" and metric:
                return FunctionTerm("total-time")
            if (
                node.text in self.domain.functions
                and not self.domain.functions[node.text].parameters
                and not NUMBER.fullmatch(node.text)
            ):
                self.source.warn(
                    node.offset, "a function without parentheses", expected=f"({node.text})"
                )
                return FunctionTerm(node.text)
            return Number(self.number(node))
        head = self.head(node, "a numeric expression")
        if head.text in ("+", "-", "*", "/"):
            operands: list[NumericExpression] = []
            for item in node.items[1:]:
                operands.append((yield self._numeric(item, scope, metric)))
            if len(operands) < (1 if head.text == "-" else 2):
                self.syntax(node, f"{head.text!r} has too few operands", "two operands")
            return Arithmetic(head.text, tuple(operands))
        if metric and head.text == "total-time" and len(node.items) == 1:
            return FunctionTerm("total-time")
        if metric and head.text == "is-violated":
            self._count(node, 1, "(is-violated preference)")
            word = self.name(node.items[1], "preference")
            if word.text not in self.preferences:
                self.undeclared(word, "preference", self.preferences)
            return IsViolated(word.text)
        return self.function_term(node, scope)

    def function_term(self, group: Group, scope: Scope) -> FunctionTerm:
        head = self.head(group, "a function")
        function = self.domain.functions.get(head.text)
        if function is None:
            self.undeclared(head, "function", self.domain.functions)
        return FunctionTerm(head.text, self._arguments(group, function, "function", scope))

    # Parts ----------------------------------------------------------------------------------

    def _each(
        self, read: Callable[[Node, Scope], Steps[_T]], nodes: list[Node], scope: Scope
    ) -> Steps[tuple[_T, ...]]:
        result: list[_T] = []
        for node in nodes:
            result.append((yield read(node, scope)))
        return tuple(result)

    def _conjuncts(
        self,
        group: Group,
        scope: Scope,
        read: Callable[[Node, Scope], Steps[_T]],
        plain: Callable[[str, int, Scope], _T | None],
    ) -> Steps[tuple[_T, ...]]:
        """Read the operands of a list with `plain` or, where it returns None, with `read`."""
        parts = group.raw()
        next(parts)
        result: list[_T] = []
        for token, offset, node in parts:
            part = None if node is not None else plain(token, offset, scope)
            if part is None:
                part = yield read(node or node_of(token, offset), scope)
            result.append(part)
        return tuple(result)

    def _outer(
        self, node: Node, scope: Scope, read: Callable[[Node, Scope], Steps[Formula]], plain: _Plain
    ) -> Steps[Formula]:
        """Read (and …), (forall …) and (preference …) around formulas read by `read`."""
        group = self.group(node, "a formula")
        first = head_of(group)
        if first == "and":

            def inner(node: Node, scope: Scope) -> Steps[Formula]:
                return self._outer(node, scope, read, plain)

            return And((yield self._conjuncts(group, scope, inner, plain)))
        # (and) is the only flat list with a meaning here that `read` would not know.
        if group.text is not None and first:
            flat: Formula = yield read(group, scope)
            return flat
        if not group.items:
            return TRUE
        head = self.head(group, "a formula")
        args = group.items[1:]
        place = self.source.location(group.offset)
        match head.text:
            case "forall":
                variables, inner_scope = self.quantified(group, scope, "formula")
                body = yield self._outer(args[1], inner_scope, read, plain)
                return Forall(variables, body, place)
            case "preference":
                if len(args) not in (1, 2):
                    self._count(group, 2, "(preference name formula)")
                # PDDL 3 allows preferences without a name.
                name = self.name(args[0], "preference").text if len(args) == 2 else ""
                self.preferences.add(name)
                body = yield self._outer(args[-1], scope, read, plain)
                if any(isinstance(item, Preference) for item in walk(body)):
                    self.syntax(args[-1], "a preference inside a preference", "a condition")
                return Preference(name, body, place)
        result: Formula = yield read(group, scope)
        return result

    def _timed_condition(self, node: Node, scope: Scope) -> Steps[Formula]:
        group = self.group(node, "(at start …), (over all …) or (at end …)")
        when = self._time(group)
        if when is None:
            shape = "(at start …), (over all …) or (at end …)"
            self.syntax(group, "a condition of a durative action without a time", shape)
        return Timed(when, (yield self._outer(group.items[2], scope, self._formula, self._plain)))

    def _trajectory(self, node: Node, scope: Scope) -> Steps[Formula]:
        shape = f"a constraint such as (always …): {', '.join(_TRAJECTORY)} or at end"
        group = self.group(node, shape)
        place = self.source.location(group.offset)
        if self._time(group) == "at end":
            formula = yield self._formula(group.items[2], scope)
            return Trajectory("at end", (), (formula,), location=place)
        head = self.head(group, shape)
        if head.text not in _TRAJECTORY:
            self.syntax(head, f"{head.text!r} is not a trajectory constraint", shape)
        numbers, formulas = _TRAJECTORY[head.text]
        args = group.items[1:]
        self._count(
            group,
            numbers + formulas,
            "(" + head.text + " number" * numbers + " formula" * formulas + ")",
        )
        for node in args[numbers:]:
            if isinstance(node, Group) and node.items and isinstance(node.items[0], Word):
                word = node.items[0]
                if word.text in _TRAJECTORY and word.text not in self.domain.predicates:
                    self.unsupported(word, "constraints inside constraints")
        return Trajectory(
            head.text,
            tuple([self.number(n) for n in args[:numbers]]),
            tuple([self.formula(n, scope) for n in args[numbers:]]),
            location=place,
        )

    def _time(self, group: Group) -> TimeSpecifier | None:
        items = group.items
        if len(items) != 3 or not isinstance(items[0], Word) or not isinstance(items[1], Word):
            return None
        return _TIMES.get((items[0].text, items[1].text))

    def _comparison(self, group: Group, scope: Scope) -> Comparison | Equal:
        head = self.head(group, "a comparison")
        self._count(group, 2, f"({head.text} term term)")
        args = group.items[1:]
        place = self.source.location(group.offset)
        # An object may be named `1`; it is meant if the other side is a variable or an object.
        objects = all(map(self._is_object, args)) or not any(map(self._is_number, args))
        if head.text == "=" and objects:
            left, right = (self._term(self.word(a, "a term"), scope) for a in args)
            return Equal(left, right, place)
        one, two = (self.numeric(a, scope) for a in args)
        return Comparison(head.text, one, two, place)

    def _is_object(self, node: Node) -> bool:
        if isinstance(node, Group) or (node.text == "?duration" and self.in_durative_action):
            return False
        return node.text[0] == "?" or node.text in self.objects

    def _is_number(self, node: Node) -> bool:
        # `=` compares both objects and numbers, but only numeric expressions are lists.
        if isinstance(node, Group):
            return True
        if node.text == "?duration":
            return self.in_durative_action
        return NUMBER.fullmatch(node.text) is not None

    def _changeable(self, group: Group, scope: Scope) -> Atom:
        text = group.text
        plain = None if text is None else self._plain_atom(text, group.offset, scope)
        return self._not_derived(plain or self.atom(group, scope), group)

    def _not_derived(self, atom: Atom, group: Group) -> Atom:
        if self.domain.derived and atom.predicate in self._derived:
            self.semantic(
                group, f"{atom.predicate!r} is derived by a rule, and no action can change it"
            )
        return atom

    def _numeric_effect(self, group: Group, scope: Scope) -> NumericEffect:
        head = self.head(group, "a numeric effect")
        self._count(group, 2, f"({head.text} (function …) number)")
        target, amount = group.items[1:]
        fluent = self.changed_function(target, scope)
        place = self.source.location(group.offset)
        return NumericEffect(head.text, fluent, self.numeric(amount, scope), place)

    def changed_function(self, target: Node, scope: Scope) -> FunctionTerm:
        if isinstance(target, Word) and target.text in self.domain.functions:
            self.source.warn(
                target.offset, "a function without parentheses", expected=f"({target.text})"
            )
            return FunctionTerm(target.text)
        return self.function_term(self.group(target, "(function …)"), scope)

    def quantified(
        self, group: Group, scope: Scope, what: str
    ) -> tuple[tuple[TypedName, ...], Scope]:
        head = group.items[0]
        shape = f"({head.text if isinstance(head, Word) else ''} (?variable - type …) {what})"
        self._count(group, 2, shape)
        listed = self.group(group.items[1], "a list of variables")
        variables = self.variables(listed, "variable", self.domain.types)
        return variables, {**scope, **{v.name: v.types for v in variables}}

    def _arguments(
        self, group: Group, declared: Predicate | Function, what: str, scope: Scope
    ) -> tuple[str, ...]:
        nodes = group.items[1:]
        parameters = declared.parameters
        if len(nodes) != len(parameters):
            self.semantic(
                group,
                f"the {what} {declared.name!r} takes {arguments_text(len(parameters))}, "
                f"not {len(nodes)}",
                expected=str(declared),
            )
        result: list[str] = []
        for position, (node, parameter) in enumerate(zip(nodes, parameters, strict=True), 1):
            word = self.word(node, "an object or a ?variable")
            text = self._term(word, scope)
            variable = text[0] == "?"
            types = (scope if variable else self.objects)[text]
            required = parameter.types
            if types != required and not self._fits(types, required, variable):
                self.semantic(
                    word,
                    f"argument {position} of {declared.name!r} has the wrong type: {text!r} "
                    f"is of type {' or '.join(types)}",
                    expected=f"type {' or '.join(required)}",
                )
            result.append(text)
        return tuple(result)

    def _term(self, word: Word, scope: Scope) -> str:
        text = word.text
        if text.startswith("?"):
            if text not in scope:
                self.undeclared(self.variable(word), "variable", scope)
        elif text not in self.objects:
            self.undeclared(self.name(word, "object"), "object", self.objects)
        return text

    def _count(self, group: Group, count: int, shape: str) -> None:
        given = len(group.items) - 1
        if given != count:
            head = group.items[0]
            name = head.text if isinstance(head, Word) else ""
            self.syntax(group, f"{name!r} takes {arguments_text(count)}, not {given}", shape)

    def _no_predicate(self, head: Word) -> NoReturn:
        if head.text.startswith("?") or not ANY_NAME.fullmatch(head.text):
            self.syntax(head, f"{head.text!r} cannot be a predicate", "a predicate name")
        if head.text in self.domain.functions:
            self.semantic(
                head,
                f"{head.text!r} is a numeric function, not a predicate",
                expected=choices("predicate", list(self.domain.predicates)),
            )
        self.undeclared(head, "predicate", self.domain.predicates)
