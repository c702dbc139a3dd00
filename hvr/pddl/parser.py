"""Domains, problems and goals from text.

Strict: what is undeclared, of the wrong arity or type, defined twice or left over is an error
with its place. A section or word of PDDL that hvr cannot execute is an UnsupportedPddlError.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from hvr.pddl.diagnostics import nearest
from hvr.pddl.expressions import ExpressionReader, ListReader, Types
from hvr.pddl.lexer import Source, Word
from hvr.pddl.model import (
    OBJECT,
    TRUE,
    ActionSchema,
    Atom,
    Domain,
    Effect,
    Formula,
    Function,
    FunctionTerm,
    Metric,
    Predicate,
    Problem,
    TypedName,
)
from hvr.pddl.reader import Group, Node, read_nodes

REQUIREMENTS = frozenset(
    {
        ":strips",
        ":typing",
        ":equality",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":existential-preconditions",
        ":universal-preconditions",
        ":quantified-preconditions",
        ":conditional-effects",
        ":adl",
        ":action-costs",
        ":fluents",
        ":numeric-fluents",
        ":object-fluents",
        ":durative-actions",
        ":duration-inequalities",
        ":continuous-effects",
        ":derived-predicates",
        ":timed-initial-literals",
        ":preferences",
        ":constraints",
        ":goal-utilities",
        ":time",
        ":domain-axioms",
        ":foreach-expansions",
        ":dag-expansions",
        ":safety-constraints",
    }
)
"""The requirement flags of PDDL 1.2 to 3.1 and PDDL+. They are checked for spelling only."""

_DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
_DOMAIN_UNSUPPORTED = {
    ":durative-action": "durative actions",
    ":derived": "derived predicates",
    ":axiom": "derived predicates",
    ":constraints": "trajectory constraints",
    ":process": "processes",
    ":event": "events",
}
_PROBLEM_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
_PROBLEM_UNSUPPORTED = {":constraints": "trajectory constraints"}
_ACTION_FIELDS = (":parameters", ":precondition", ":effect")


def parse_domain(source: str | Path, *, file: str | None = None) -> Domain:
    """Parse a domain.

    Args:
        source: the text, or the path of a file.
        file: the name that messages give the text.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a domain; the message says where.
        UnsupportedPddlError: the domain uses a part of PDDL that is not supported yet.
    """
    return _DomainParser(Source.read(source, file=file, default="<domain>")).parse()


def parse_problem(source: str | Path, domain: Domain, *, file: str | None = None) -> Problem:
    """Parse a problem of a domain.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a problem of this domain.
        UnsupportedPddlError: the problem uses a part of PDDL that is not supported yet.
    """
    return _ProblemParser(Source.read(source, file=file, default="<problem>"), domain).parse()


def parse_formula(
    text: str, domain: Domain, objects: Iterable[TypedName] = (), *, file: str | None = None
) -> Formula:
    """Parse a single formula, such as the goal of a task.

    Args:
        text: the formula.
        domain: the domain; its constants may be named.
        objects: the other objects that may be named.
        file: the name that messages give the text.

    Raises:
        PddlSyntaxError, PddlSemanticError: the text is not one formula over these names.
        UnsupportedPddlError: the formula uses a part of PDDL that is not supported yet.
    """
    source = Source.read(text, file=file, default="<formula>")
    nodes = read_nodes(source)
    known = {o.name: o.types for o in (*domain.constants, *objects)}
    reader = ExpressionReader(source, domain, known)
    if not nodes:
        source.syntax_error(0, "no formula", expected="a formula", found="end of text")
    if len(nodes) > 1:
        reader.syntax(nodes[1], "text after the end of the formula", "end of text")
    return reader.formula(nodes[0], {})


class _DomainParser(ListReader):
    def parse(self) -> Domain:
        name, sections = _define(self, "domain", _DOMAIN_SECTIONS, _DOMAIN_UNSUPPORTED)
        by_name: dict[str, list[Group]] = {}
        for keyword, group in sections:
            if keyword.text in by_name and keyword.text != ":action":
                self.semantic(keyword, f"the domain has a second {keyword.text}")
            by_name.setdefault(keyword.text, []).append(group)

        # Each part needs those before it, in whatever order the file has them.
        domain = Domain(name.text)
        for group in by_name.get(":requirements", ()):
            domain = replace(domain, requirements=_requirements(self, group))
        for group in by_name.get(":types", ()):
            domain = replace(domain, types=self._types_section(group))
        for group in by_name.get(":constants", ()):
            self.context = ":constants"
            names = self.typed_list(group.items[1:], "constant", types=domain.types)
            domain = replace(domain, constants=self.distinct(names, "constant"))
        for group in by_name.get(":predicates", ()):
            domain = replace(domain, predicates=self._predicates(group, domain))
        for group in by_name.get(":functions", ()):
            domain = replace(domain, functions=self._functions(group, domain))
        return replace(domain, actions=self._actions(by_name.get(":action", []), domain))

    def _types_section(self, group: Group) -> dict[str, Types]:
        self.context = ":types"
        names = self.typed_list(group.items[1:], "type", types=None)
        types: dict[str, Types] = {}
        for item, word in names:
            if item.name == OBJECT:
                if item.types != (OBJECT,):
                    self.semantic(word, "'object' is the root of all types and has no supertype")
                continue
            if item.name in types:
                self.semantic(word, f"the type {item.name!r} is declared twice")
            types[item.name] = item.types
        # Many competition domains name a supertype only after the dash; that declares it.
        for item, _ in names:
            for parent in item.types:
                if parent != OBJECT:
                    types.setdefault(parent, (OBJECT,))
        for item, word in names:
            self._refuse_cycle(item.name, word, types)
        return types

    def _refuse_cycle(self, name: str, word: Word, types: dict[str, Types]) -> None:
        seen: set[str] = set()
        open_ = list(types.get(name, ()))
        while open_:
            parent = open_.pop()
            if parent == name:
                self.semantic(word, f"the type {name!r} is its own supertype")
            if parent not in seen:
                seen.add(parent)
                open_ += types.get(parent, ())

    def _predicates(self, group: Group, domain: Domain) -> dict[str, Predicate]:
        self.context = ":predicates"
        result: dict[str, Predicate] = {}
        for node in group.items[1:]:
            word, parameters = self._declaration(node, domain, "predicate")
            if word.text in result:
                self.semantic(word, f"the predicate {word.text!r} is declared twice")
            result[word.text] = Predicate(word.text, parameters)
        return result

    def _functions(self, group: Group, domain: Domain) -> dict[str, Function]:
        self.context = ":functions"
        result: dict[str, Function] = {}
        items = group.items[1:]
        index = 0
        while index < len(items):
            node = items[index]
            if isinstance(node, Word) and node.text == "-":
                kind = items[index + 1] if index + 1 < len(items) else None
                if index == 0 or kind is None:
                    self.syntax(node, "'-' without a function before or a type after it", "number")
                if not (isinstance(kind, Word) and kind.text == "number"):
                    self.unsupported(kind, "object fluents")
                index += 2
                continue
            word, parameters = self._declaration(node, domain, "function")
            if word.text in result:
                self.semantic(word, f"the function {word.text!r} is declared twice")
            if word.text in domain.predicates:
                self.semantic(word, f"{word.text!r} is already a predicate")
            result[word.text] = Function(word.text, parameters)
            index += 1
        return result

    def _declaration(
        self, node: Node, domain: Domain, what: str
    ) -> tuple[Word, tuple[TypedName, ...]]:
        group = self.group(node, f"({what} ?parameter …)")
        word = self.name(self.head(group, f"({what} ?parameter …)"), what)
        names = self.typed_list(group.items[1:], "variable", types=domain.types)
        # The names of these parameters mean nothing, so a repeated one is harmless.
        return word, tuple(item for item, _ in names)

    def _actions(self, groups: list[Group], domain: Domain) -> dict[str, ActionSchema]:
        constants = {c.name: c.types for c in domain.constants}
        reader = ExpressionReader(self.source, domain, constants)
        result: dict[str, ActionSchema] = {}
        for group in groups:
            reader.context = ":action"
            if len(group.items) < 2:
                reader.syntax(group, "an action without a name", "(:action name …)")
            word = reader.name(group.items[1], "action")
            if word.text in result:
                reader.semantic(word, f"the action {word.text!r} is defined twice")
            result[word.text] = _action(reader, word, group.items[2:])
        return result


def _action(reader: ExpressionReader, word: Word, items: list[Node]) -> ActionSchema:
    fields: dict[str, Node] = {}
    for index in range(0, len(items), 2):
        reader.context = f"action {word.text}"
        keyword = reader.word(items[index], " or ".join(_ACTION_FIELDS))
        if keyword.text not in _ACTION_FIELDS:
            reader.source.syntax_error(
                keyword.offset,
                f"an action has no field {keyword.text!r}",
                expected=" or ".join(_ACTION_FIELDS),
                found=keyword.text,
                context=reader.context,
            )
        if keyword.text in fields:
            reader.semantic(keyword, f"the action has a second {keyword.text}")
        if fields and _ACTION_FIELDS.index(keyword.text) < _ACTION_FIELDS.index(list(fields)[-1]):
            reader.syntax(
                keyword,
                f"{keyword.text} comes after {list(fields)[-1]}",
                "the fields in the order " + ", ".join(_ACTION_FIELDS),
            )
        if index + 1 == len(items):
            reader.syntax(
                keyword, f"{keyword.text} without a value", f"a list after {keyword.text}"
            )
        fields[keyword.text] = items[index + 1]

    parameters: tuple[TypedName, ...] = ()
    precondition: Formula = TRUE
    effect: Effect = TRUE
    if (node := fields.get(":parameters")) is not None:
        reader.context = f"action {word.text}, :parameters"
        listed = reader.group(node, "a list of ?variables")
        names = reader.typed_list(listed.items, "variable", types=reader.domain.types)
        parameters = reader.distinct(names, "parameter")
    scope = {p.name: p.types for p in parameters}
    if (node := fields.get(":precondition")) is not None:
        reader.context = f"action {word.text}, :precondition"
        precondition = reader.formula(node, scope)
    if (node := fields.get(":effect")) is not None:
        reader.context = f"action {word.text}, :effect"
        effect = reader.effect(node, scope)
    location = reader.source.location(word.offset)
    return ActionSchema(word.text, parameters, precondition, effect, location)


class _ProblemParser(ListReader):
    def __init__(self, source: Source, domain: Domain) -> None:
        super().__init__(source)
        self.domain = domain

    def parse(self) -> Problem:
        name, sections = _define(self, "problem", _PROBLEM_SECTIONS, _PROBLEM_UNSUPPORTED)
        by_name: dict[str, Group] = {}
        for keyword, group in sections:
            if keyword.text in by_name:
                self.semantic(keyword, f"the problem has a second {keyword.text}")
            by_name[keyword.text] = group
        for needed in (":domain", ":init", ":goal"):
            if needed not in by_name:
                self.context = f"problem {name.text}"
                self.syntax(name, f"the problem has no {needed}", f"({needed} …)")

        domain_name = self._domain_name(by_name[":domain"])
        if ":requirements" in by_name:
            _requirements(self, by_name[":requirements"])
        objects = self._objects(by_name[":objects"]) if ":objects" in by_name else ()
        known = {o.name: o.types for o in (*self.domain.constants, *objects)}
        reader = ExpressionReader(self.source, self.domain, known)
        init, numeric_init = _init(reader, by_name[":init"])
        reader.context = ":goal"
        goal_group = by_name[":goal"]
        if len(goal_group.items) != 2:
            reader.syntax(
                goal_group, ":goal takes one formula", "(:goal formula), with (and …) for several"
            )
        goal = reader.formula(goal_group.items[1], {})
        metric = _metric(reader, by_name[":metric"]) if ":metric" in by_name else None
        return Problem(name.text, domain_name, objects, init, goal, numeric_init, metric)

    def _domain_name(self, group: Group) -> str:
        self.context = ":domain"
        if len(group.items) != 2:
            self.syntax(group, ":domain takes one name", "(:domain name)")
        word = self.name(group.items[1], "domain")
        if word.text != self.domain.name:
            self.semantic(
                word,
                f"the problem is for the domain {word.text!r}, and the domain given is "
                f"{self.domain.name!r}",
                expected=repr(self.domain.name),
            )
        return word.text

    def _objects(self, group: Group) -> tuple[TypedName, ...]:
        self.context = ":objects"
        names = self.typed_list(group.items[1:], "object", types=self.domain.types)
        constants = {c.name: c for c in self.domain.constants}
        for item, word in names:
            if item.name in constants:
                self.semantic(word, f"{item.name!r} is already a constant of the domain")
        return self.distinct(names, "object")


def _init(
    reader: ExpressionReader, group: Group
) -> tuple[frozenset[Atom], dict[FunctionTerm, Decimal]]:
    reader.context = ":init"
    true: set[Atom] = set()
    false: dict[Atom, Node] = {}
    numbers: dict[FunctionTerm, Decimal] = {}
    for node in group.items[1:]:
        item = reader.group(node, "a fact: (predicate object …)")
        head = reader.head(item, "a fact: (predicate object …)").text
        if head == "=":
            term, value = _numeric_fact(reader, item)
            if numbers.setdefault(term, value) != value:
                reader.semantic(item, f"{term} is given a second value")
        elif head == "not":
            if len(item.items) != 2:
                reader.syntax(item, "'not' takes 1 argument", "(not (predicate object …))")
            false[reader.atom(reader.group(item.items[1], "a fact"), {})] = item
        elif head in ("at", "and") and len(item.items) == 3 and _is_timed(item):
            reader.unsupported(item, "timed initial literals")
        else:
            if head in ("and", "or", "forall", "exists", "imply", "when"):
                reader.syntax(item, f"({head} …) is not a fact", "(predicate object …)")
            true.add(reader.atom(item, {}))
    for atom, node in false.items():
        if atom in true:
            reader.semantic(node, f"{atom} is both true and false in :init")
    return frozenset(true), numbers


def _is_timed(item: Group) -> bool:
    when, what = item.items[1:]
    return isinstance(when, Word) and when.text[:1].isdigit() and isinstance(what, Group)


def _numeric_fact(reader: ExpressionReader, item: Group) -> tuple[FunctionTerm, Decimal]:
    if len(item.items) != 3:
        reader.syntax(item, "'=' takes 2 arguments", "(= (function object …) number)")
    left, right = item.items[1:]
    term = reader.function_term(reader.group(left, "(function object …)"), {})
    return term, reader.number(right)


def _metric(reader: ExpressionReader, group: Group) -> Metric:
    reader.context = ":metric"
    shape = "(:metric minimize expression) or (:metric maximize expression)"
    if len(group.items) != 3:
        reader.syntax(group, ":metric takes a direction and an expression", shape)
    word = reader.word(group.items[1], "minimize or maximize")
    direction: Literal["minimize", "maximize"]
    if word.text == "minimize":
        direction = "minimize"
    elif word.text == "maximize":
        direction = "maximize"
    else:
        reader.syntax(word, f"{word.text!r} is not a direction", "minimize or maximize")
    body = group.items[2]
    if isinstance(body, Group) and [getattr(n, "text", None) for n in body.items] == ["total-time"]:
        return Metric(direction, FunctionTerm("total-time"))
    return Metric(direction, reader.numeric(body, {}))


def _requirements(reader: ListReader, group: Group) -> frozenset[str]:
    reader.context = ":requirements"
    result: set[str] = set()
    for node in group.items[1:]:
        word = reader.word(node, "a requirement such as :typing")
        if word.text not in REQUIREMENTS:
            colon = ":" + word.text
            reader.semantic(
                word,
                f"{word.text!r} is not a requirement of PDDL",
                expected="a requirement such as :typing",
                suggestion=colon if colon in REQUIREMENTS else nearest(word.text, REQUIREMENTS),
            )
        result.add(word.text)
    return frozenset(result)


def _define(
    reader: ListReader, what: str, sections: tuple[str, ...], unsupported: dict[str, str]
) -> tuple[Word, list[tuple[Word, Group]]]:
    """Take `(define (what name) (:section …) …)` apart."""
    shape = f"(define ({what} name) …)"
    source = reader.source
    nodes = read_nodes(source)
    if not nodes:
        source.syntax_error(
            0, f"there is no {what} in this text", expected=shape, found="end of text"
        )
    top = reader.group(nodes[0], shape)
    if reader.head(top, shape).text != "define":
        reader.syntax(top, f"this is not a {what}", shape)
    if len(nodes) > 1:
        reader.syntax(nodes[1], f"text after the end of the {what}", "end of text")
    if len(top.items) < 2:
        reader.syntax(top, f"the {what} has no name", shape)
    header = reader.group(top.items[1], f"({what} name)")
    head = reader.head(header, f"({what} name)")
    if head.text != what:
        other = "problem" if what == "domain" else "domain"
        hint = f"; this is a {other} where a {what} is needed" if head.text == other else ""
        reader.syntax(header, f"this does not name a {what}{hint}", f"({what} name)")
    if len(header.items) != 2:
        reader.syntax(header, f"the {what} needs one name", f"({what} name)")
    name = reader.name(header.items[1], what)
    result: list[tuple[Word, Group]] = []
    for node in top.items[2:]:
        group = reader.group(node, f"a section: {', '.join(sections)}")
        keyword = reader.head(group, f"a section: {', '.join(sections)}")
        if keyword.text in unsupported:
            reader.unsupported(group, unsupported[keyword.text])
        if keyword.text not in sections:
            known = (*sections, *unsupported)
            source.semantic_error(
                keyword.offset,
                f"a {what} has no section {keyword.text!r}",
                expected=", ".join(sections),
                suggestion=nearest(keyword.text, known),
            )
        result.append((keyword, group))
    return name, result
