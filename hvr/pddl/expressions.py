"""Nested lists to formulas and effects, checked against the declarations as they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NoReturn

from hvr.pddl.diagnostics import nearest
from hvr.pddl.lexer import Source, Word
from hvr.pddl.model import (
    OBJECT,
    TRUE,
    And,
    Arithmetic,
    Atom,
    Domain,
    Effect,
    Equal,
    Exists,
    Forall,
    Formula,
    Function,
    FunctionTerm,
    Imply,
    Increase,
    Not,
    Number,
    NumericExpression,
    Or,
    Predicate,
    TypedName,
    When,
)
from hvr.pddl.reader import Group, Node

Types = tuple[str, ...]
Scope = Mapping[str, Types]

TOTAL_COST = "total-cost"

_NAME = re.compile(r"[^\W\d_][\w\-.'/@+#&%!*~$|]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_RESERVED = frozenset(
    {"and", "or", "not", "imply", "forall", "exists", "when", "either", "define", "="}
)
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_NUMERIC_EFFECTS = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
_TRAJECTORY = frozenset(
    {
        "always",
        "sometime",
        "within",
        "at-most-once",
        "sometime-after",
        "sometime-before",
        "always-within",
        "hold-during",
        "hold-after",
    }
)


class ListReader:
    """Reading of the pieces that all of PDDL shares: names, typed lists, keywords.

    `context` names the construct being read and ends up in every message.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.context = ""

    # Errors ---------------------------------------------------------------------------------

    def syntax(self, node: Node, message: str, expected: str = "") -> NoReturn:
        self.source.syntax_error(
            node.offset, message, expected=expected, found=describe(node), context=self.context
        )

    def semantic(
        self, node: Node, message: str, *, expected: str = "", suggestion: str = ""
    ) -> NoReturn:
        self.source.semantic_error(
            node.offset, message, expected=expected, suggestion=suggestion, context=self.context
        )

    def undeclared(self, node: Word, what: str, known: Iterable[str]) -> NoReturn:
        names = list(known)
        self.semantic(
            node,
            f"the {what} {node.text!r} is not declared",
            expected=_choices(what, names),
            suggestion=nearest(node.text, names),
        )

    def unsupported(self, node: Node, feature: str) -> NoReturn:
        self.source.unsupported(node.offset, feature, context=self.context)

    # Pieces ---------------------------------------------------------------------------------

    def group(self, node: Node, expected: str) -> Group:
        if not isinstance(node, Group):
            self.syntax(node, f"a list is needed here, not {describe(node)}", expected)
        return node

    def word(self, node: Node, expected: str) -> Word:
        if not isinstance(node, Word):
            self.syntax(node, f"{expected} is needed here, not a list", expected)
        return node

    def head(self, group: Group, expected: str) -> Word:
        if not group.items:
            self.syntax(group, "an empty list", expected)
        return self.word(group.items[0], expected)

    def name(self, node: Node, what: str) -> Word:
        """Read a new or known name; `what` ("object", "action") is for the message."""
        word = self.word(node, f"{_article(what)} name")
        text = word.text
        if not _NAME.fullmatch(text):
            expected = f"{_article(what)} name: a letter, then letters, digits, '-' and '_'"
            if text.startswith("-") and len(text) > 1:
                expected += f"; or '- {text[1:]}' with a space, if this is a type"
            self.syntax(word, f"{text!r} cannot be {_article(what)} name", expected)
        if text in _RESERVED:
            self.syntax(
                word,
                f"{text!r} is a word of the language and cannot be {_article(what)} name",
                f"another {what} name",
            )
        return word

    def variable(self, node: Node) -> Word:
        word = self.word(node, "a ?variable")
        if not word.text.startswith("?") or not _NAME.fullmatch(word.text[1:]):
            self.syntax(word, f"{word.text!r} cannot be a variable", "a ?variable")
        return word

    def typed_list(
        self, items: list[Node], what: str, *, types: Iterable[str] | None
    ) -> list[tuple[TypedName, Word]]:
        """Read `a b - t c - (either u v) d`.

        Args:
            items: the nodes of the list.
            what: "variable" or what the names are names of.
            types: the declared types, or None to let any type name pass.
        """
        read = self.variable if what == "variable" else (lambda node: self.name(node, what))
        known = None if types is None else {OBJECT, *types}
        result: list[tuple[TypedName, Word]] = []
        waiting: list[Word] = []
        index = 0
        while index < len(items):
            node = items[index]
            if not (isinstance(node, Word) and node.text == "-"):
                waiting.append(read(node))
                index += 1
                continue
            if not waiting:
                self.syntax(node, "a type without a name before it", f"{_article(what)} before '-'")
            if index + 1 == len(items):
                self.syntax(node, "the type after '-' is missing", "a type")
            of = self._types(items[index + 1], known)
            result += [(TypedName(w.text, of), w) for w in waiting]
            waiting = []
            index += 2
        result += [(TypedName(w.text), w) for w in waiting]
        return result

    def distinct(self, names: list[tuple[TypedName, Word]], what: str) -> tuple[TypedName, ...]:
        """Refuse a name that a list has twice."""
        seen: set[str] = set()
        for item, word in names:
            if item.name in seen:
                self.semantic(word, f"the {what} {item.name!r} is declared twice")
            seen.add(item.name)
        return tuple(item for item, _ in names)

    def number(self, node: Node) -> Decimal:
        word = self.word(node, "a number")
        if not _NUMBER.fullmatch(word.text):
            self.syntax(word, f"{word.text!r} is not a number", "a number")
        return Decimal(word.text)

    def _types(self, node: Node, known: set[str] | None) -> Types:
        if isinstance(node, Word):
            names = [self.name(node, "type")]
        else:
            head = self.head(node, "a type or (either type …)")
            if head.text != "either" or len(node.items) < 2:
                self.syntax(head, "not a type", "a type or (either type …)")
            names = [self.name(n, "type") for n in node.items[1:]]
        for word in names:
            if known is not None and word.text not in known:
                self.undeclared(word, "type", known)
        return tuple(w.text for w in names)


class ExpressionReader(ListReader):
    """Reading of formulas and effects.

    Args:
        source: the text.
        domain: a domain with its types, predicates and functions; actions are not looked at.
        objects: the type of every object that may be named.
    """

    def __init__(self, source: Source, domain: Domain, objects: Mapping[str, Types]) -> None:
        super().__init__(source)
        self.domain = domain
        self.objects = objects

    # Formulas -------------------------------------------------------------------------------

    def formula(self, node: Node, scope: Scope) -> Formula:
        """Read a condition. `()` is the empty conjunction."""
        group = self.group(node, "a formula")
        if not group.items:
            return TRUE
        head = self.head(group, "a formula")
        args = group.items[1:]
        match head.text:
            case "and":
                return And(tuple([self.formula(a, scope) for a in args]))
            case "or":
                return Or(tuple([self.formula(a, scope) for a in args]))
            case "not":
                self._count(group, 1, "(not formula)")
                return Not(self.formula(args[0], scope))
            case "imply":
                self._count(group, 2, "(imply formula formula)")
                return Imply(self.formula(args[0], scope), self.formula(args[1], scope))
            case "forall" | "exists":
                variables, inner = self._quantified(group, scope, "formula")
                body = self.formula(args[1], inner)
                return (Forall if head.text == "forall" else Exists)(variables, body)
            case "=":
                self._count(group, 2, "(= term term)")
                if any(isinstance(a, Group) or _NUMBER.fullmatch(a.text) for a in args):
                    self.unsupported(group, "numeric conditions")
                left, right = (self._term(self.word(a, "a term"), scope) for a in args)
                return Equal(left, right)
            case "preference":
                self.unsupported(group, "preferences")
            case text if text in _COMPARISONS:
                self.unsupported(group, "numeric conditions")
            case text if text in _TRAJECTORY and text not in self.domain.predicates:
                self.unsupported(group, "trajectory constraints")
        return self.atom(group, scope)

    def atom(self, group: Group, scope: Scope) -> Atom:
        """Read an atomic formula: declared, of the right arity and types."""
        head = self.head(group, "a predicate")
        predicate = self.domain.predicates.get(head.text)
        if predicate is None:
            self._no_predicate(head)
        return Atom(head.text, self._arguments(group, predicate, "predicate", scope))

    # Effects --------------------------------------------------------------------------------

    def effect(self, node: Node, scope: Scope) -> Effect:
        """Read an effect. `()` is the empty one."""
        group = self.group(node, "an effect")
        if not group.items:
            return TRUE
        head = self.head(group, "an effect")
        args = group.items[1:]
        match head.text:
            case "and":
                return And(tuple([self.effect(a, scope) for a in args]))
            case "not":
                self._count(group, 1, "(not (predicate …))")
                inner = self.group(args[0], "an atomic formula to delete")
                if inner.items and isinstance(inner.items[0], Word):
                    word = inner.items[0]
                    if word.text in _RESERVED:
                        self.syntax(
                            word, "only an atomic formula can be deleted", "(not (predicate …))"
                        )
                return Not(self.atom(inner, scope))
            case "forall":
                variables, inner_scope = self._quantified(group, scope, "effect")
                return Forall(variables, self.effect(args[1], inner_scope))
            case "when":
                self._count(group, 2, "(when formula effect)")
                return When(self.formula(args[0], scope), self.effect(args[1], scope))
            case "or" | "imply" | "exists" | "=":
                self.syntax(
                    head,
                    f"({head.text} …) cannot be an effect: an effect must say what changes",
                    "an atomic formula, (not …), (and …), (forall …) or (when …)",
                )
            case "increase":
                return self._increase(group, scope)
            case text if text in _NUMERIC_EFFECTS:
                self.unsupported(group, "numeric effects")
        return self.atom(group, scope)

    def numeric(self, node: Node, scope: Scope) -> NumericExpression:
        """Read a number, a function term or arithmetic over them."""
        if isinstance(node, Word):
            return Number(self.number(node))
        head = self.head(node, "a numeric expression")
        if head.text in ("+", "-", "*", "/"):
            operands = tuple([self.numeric(n, scope) for n in node.items[1:]])
            if len(operands) < (1 if head.text == "-" else 2):
                self.syntax(node, f"too few operands for {head.text!r}", "two operands")
            return Arithmetic(head.text, operands)
        if head.text == "is-violated":
            self.unsupported(node, "preferences")
        return self.function_term(node, scope)

    def function_term(self, group: Group, scope: Scope) -> FunctionTerm:
        """Read a numeric function applied to terms."""
        head = self.head(group, "a function")
        function = self.domain.functions.get(head.text)
        if function is None:
            self.undeclared(head, "function", self.domain.functions)
        return FunctionTerm(head.text, self._arguments(group, function, "function", scope))

    # Parts ----------------------------------------------------------------------------------

    def _increase(self, group: Group, scope: Scope) -> Increase:
        self._count(group, 2, "(increase (total-cost) amount)")
        target, amount = group.items[1:]
        fluent = self.function_term(self.group(target, "(total-cost)"), scope)
        if fluent.function != TOTAL_COST:
            self.unsupported(group, "numeric effects other than on (total-cost)")
        expression = self.numeric(amount, scope)
        if TOTAL_COST in functions_of(expression):
            self.unsupported(amount, "costs that depend on (total-cost)")
        return Increase(fluent, expression)

    def _quantified(
        self, group: Group, scope: Scope, what: str
    ) -> tuple[tuple[TypedName, ...], Scope]:
        head = group.items[0]
        shape = f"({head.text if isinstance(head, Word) else ''} (?variable - type …) {what})"
        self._count(group, 2, shape)
        listed = self.group(group.items[1], "a list of variables")
        names = self.typed_list(listed.items, "variable", types=self.domain.types)
        variables = self.distinct(names, "variable")
        return variables, {**scope, **{v.name: v.types for v in variables}}

    def _arguments(
        self, group: Group, declared: Predicate | Function, what: str, scope: Scope
    ) -> tuple[str, ...]:
        nodes = group.items[1:]
        parameters = declared.parameters
        if len(nodes) != len(parameters):
            self.semantic(
                group,
                f"the {what} {declared.name!r} takes {_arguments_text(len(parameters))}, "
                f"not {len(nodes)}",
                expected=str(declared),
            )
        result: list[str] = []
        for position, (node, parameter) in enumerate(zip(nodes, parameters, strict=True), 1):
            word = self.word(node, "an object or a ?variable")
            text = self._term(word, scope)
            types = scope[text] if text.startswith("?") else self.objects[text]
            wanted = parameter.types
            if types != wanted and wanted != (OBJECT,):
                # A variable must fit whatever it stands for; an object with (either …) is in
                # each of its types.
                fits = self.domain.fits if text.startswith("?") else self.domain.has_type
                if not fits(types, wanted):
                    self.semantic(
                        word,
                        f"argument {position} of {declared.name!r} has the wrong type: {text!r} "
                        f"is of type {' or '.join(types)}",
                        expected=f"type {' or '.join(wanted)}",
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
        found = len(group.items) - 1
        if found != count:
            head = group.items[0]
            name = head.text if isinstance(head, Word) else ""
            self.syntax(group, f"{name!r} takes {_arguments_text(count)}, not {found}", shape)

    def _no_predicate(self, head: Word) -> NoReturn:
        if head.text.startswith("?") or not _NAME.fullmatch(head.text):
            self.syntax(head, f"{head.text!r} cannot be a predicate", "a predicate name")
        if head.text in self.domain.functions:
            self.semantic(
                head,
                f"{head.text!r} is a numeric function, not a predicate",
                expected=_choices("predicate", list(self.domain.predicates)),
            )
        self.undeclared(head, "predicate", self.domain.predicates)


def functions_of(expression: NumericExpression) -> set[str]:
    """Return the names of the functions in a numeric expression."""
    match expression:
        case FunctionTerm(function, _):
            return {function}
        case Arithmetic(_, operands):
            return set().union(*map(functions_of, operands))
        case Number():
            return set()


def describe(node: Node) -> str:
    """Name a node for a message."""
    if isinstance(node, Word):
        text = node.text if len(node.text) <= 40 else node.text[:40] + "…"
        return repr(text)
    if not node.items:
        return "'()'"
    first = node.items[0]
    return f"a list '({first.text[:40]} …)'" if isinstance(first, Word) else "a list of lists"


def _choices(what: str, names: list[str]) -> str:
    if not names:
        return f"{_article(what)}; none is declared"
    shown = sorted(names)
    more = ", …" if len(shown) > 8 else ""
    return f"one of {', '.join(shown[:8])}{more}"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def _arguments_text(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"
