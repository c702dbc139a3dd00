"""Parse domains, problems, goals and constraints of PDDL."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from hvr.base.printable import nearest
from hvr.pddl.domain_parser import DomainParser, constraints, define, requirements
from hvr.pddl.expressions import ExpressionReader
from hvr.pddl.facts import GroundAtoms, TypedNames
from hvr.pddl.formulas import (
    TRUE,
    Atom,
    Formula,
    FunctionTerm,
    Not,
    Number,
    NumericEffect,
    TypedName,
    preferences_of,
)
from hvr.pddl.lists import ListReader, Types
from hvr.pddl.model import Domain, Metric, Problem, TimedEffect, TimedInitial
from hvr.pddl.reader import Diagnostic, Group, Node, SourceText, Word, node_of, read_nodes

# Problem parser -----------------------------------------------------------------------------------
# Problems from nested lists.

_VALUE = re.compile(r"\(=\s*+\(([^()]*)\)\s*+([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*+\)")

_PROBLEM_SECTIONS = (
    ":domain",
    ":requirements",
    ":objects",
    ":init",
    ":goal",
    ":constraints",
    ":metric",
    ":length",
)


_UNCERTAIN = {
    "oneof": "alternative initial states, (oneof …),",
    "or": "alternative initial states, (or …),",
    "unknown": "unknown facts, (unknown …),",
    "probabilistic": "probabilistic initial states (PPDDL)",
}
"""Constructs in :init of contingent, conformant and probabilistic problems."""


class ProblemParser(ListReader):
    """A parser of one problem."""

    known: tuple[str, ...] = _PROBLEM_SECTIONS
    needed: tuple[str, ...] = (":domain", ":init", ":goal")

    def __init__(self, source: SourceText, domain: Domain) -> None:
        super().__init__(source)
        self.domain = domain

    def parse(self) -> Problem:
        return self.read(*define(self, "problem", self.known, {}))

    def read(self, name: Word, sections: list[tuple[Word, Group]]) -> Problem:
        by_name: dict[str, Group] = {}
        for keyword, group in sections:
            if keyword.text == ":metric" in by_name:
                message = "the problem has a second :metric; the first is used"
                self.source.warn(keyword.offset, message)
            elif keyword.text in by_name:
                message = f"the problem has a second {keyword.text}"
                self.written_again(keyword, message, by_name[keyword.text], group)
            by_name.setdefault(keyword.text, group)
        # From here, only `by_name` holds the large sections, and they are freed after reading.
        sections.clear()
        for needed in self.needed:
            if needed not in by_name:
                self.context = f"problem {name.text}"
                if needed == ":init":
                    self.syntax(name, f"the problem has no {needed}", f"({needed} …)")
                self.overlook(name, f"the problem has no {needed}", expected=f"({needed} …)")

        domain_name = self.domain.name
        if ":domain" in by_name:
            domain_name = self.domain_name(by_name[":domain"])
        if ":requirements" in by_name:
            requirements(self, by_name[":requirements"])
        objects = self._objects(by_name.pop(":objects")) if ":objects" in by_name else {}
        constants = {c.name: c.types for c in self.domain.constants}
        known = {**constants, **objects} if constants else objects
        reader = ExpressionReader(self.source, self.domain, known)
        facts = _InitReader(reader)
        true = facts.read(by_name.pop(":init"))
        goal: Formula = TRUE
        if ":goal" in by_name:
            reader.context = ":goal"
            group = by_name[":goal"]
            if len(group.items) != 2:
                reader.syntax(
                    group, ":goal takes one formula", "(:goal formula), with (and …) for several"
                )
            goal = reader.preferred(group.items[1], {})
        trajectory: Formula = TRUE
        if ":constraints" in by_name:
            trajectory = constraints(reader, by_name[":constraints"])
        reader.preferences |= _preferences_in(self.domain)
        metric = _metric(reader, by_name[":metric"]) if ":metric" in by_name else None
        return Problem(
            name.text,
            domain_name,
            TypedNames(objects),
            true,
            goal,
            facts.numbers,
            metric,
            tuple(facts.timed),
            trajectory,
        )

    def domain_name(self, group: Group) -> str:
        self.context = ":domain"
        if len(group.items) != 2:
            self.syntax(group, ":domain takes one name", "(:domain name)")
        word = self.name(group.items[1], "domain")
        if word.text != self.domain.name:
            self.source.warn(
                word.offset,
                f"the problem is for the domain {word.text!r}, but the given domain is "
                f"{self.domain.name!r}",
                expected=repr(self.domain.name),
            )
        return word.text

    def _objects(self, group: Group) -> Mapping[str, Types]:
        self.context = ":objects"
        if group.text is not None:
            plain = self.plain_names(group, self.domain.types)
            if plain is not None and not any(c.name in plain for c in self.domain.constants):
                return plain
        names = self.typed_list(group.items[1:], "object", types=self.domain.types)
        constants = {c.name: c.types for c in self.domain.constants}
        merged: list[tuple[TypedName, Word]] = []
        for item, word in names:
            own = constants.get(item.name)
            types = item.types
            if own is not None:
                # Some competition problems repeat the constants.
                message = f"{item.name!r} is already a constant of the domain"
                self.source.warn(word.offset, message)
                types = tuple(dict.fromkeys((*own, *types)))
            if own != types:
                merged.append((TypedName(item.name, types), word))
        return {o.name: o.types for o in self.distinct(merged, "object")}


class _InitReader:
    def __init__(self, reader: ExpressionReader) -> None:
        self.reader = reader
        self.true: dict[str, list[tuple[str, ...]]] = {}
        self.numbers: dict[FunctionTerm, Decimal] = {}
        self.timed: list[TimedInitial] = []
        self._timed_effects: dict[tuple[Decimal, Atom | FunctionTerm], TimedEffect] = {}
        self._derived = {rule.predicate for rule in reader.domain.derived}
        self._unknown: dict[str, Word] = {}
        self._names: dict[str, str] = {}
        self._fitting: dict[str, tuple[Collection[str], ...]] = {}
        self._of_type: dict[tuple[str, ...], Collection[str]] = {}

    def read(self, group: Group) -> GroundAtoms:
        reader = self.reader
        reader.context = ":init"
        false: dict[Atom, Node] = {}
        nodes = group.used_up()
        next(nodes)
        for text, offset, node in nodes:
            # Converting facts one by one saves memory: there may be very many.
            if text[:1] == "(" and (self._plain(text[1:-1]) or self._plain_number(text)):
                continue
            found = node or node_of(text, offset)
            item = reader.group(found, "a fact: (predicate object …)")
            head = reader.head(item, "a fact: (predicate object …)").text
            if head == "=" and (word := self._unknown_function(item)):
                self._unknown.setdefault(word.text, word)
            elif head == "=":
                term, value = _numeric_fact(reader, item)
                if self.numbers.setdefault(term, value) != value:
                    reader.semantic(item, f"{term} is given a second value", expected="one value")
            elif head == "not":
                false[self._negated(item)] = item
            elif head == "at" and len(item.items) == 3 and _is_timed(item):
                self.timed.append(self._timed(item))
            else:
                self._refuse_uncertain(item)
                if head in ("and", "or", "forall", "exists", "imply", "when"):
                    reader.syntax(item, f"({head} …) is not a fact", "(predicate object …)")
                atom = self._fact(item)
                self.true.setdefault(atom.predicate, []).append(atom.args)
        true = GroundAtoms.gather(self.true)
        for atom, node in false.items():
            if atom in true:
                reader.semantic(node, f"{atom} is both true and false in :init")
        self._overlook_unknown()
        return true

    def _unknown_function(self, item: Group) -> Word | None:
        if len(item.items) != 3 or not isinstance(left := item.items[1], Group) or not left.items:
            return None
        word = left.items[0]
        if not isinstance(word, Word) or word.text in self.reader.domain.functions:
            return None
        self.reader.number(item.items[2])
        return word

    def _overlook_unknown(self) -> None:
        if not self._unknown:
            return
        functions = self.reader.domain.functions
        unset = functions.keys() - {term.function for term in self.numbers}
        for name, word in self._unknown.items():
            if nearest(name, list(unset)):
                self.reader.undeclared(word, "function", functions)
            message = f"the function {name!r} is not declared: its values are ignored"
            self.reader.source.warn(word.offset, message)

    def _plain(self, text: str) -> bool:
        name, *args = text.split() or ("",)
        fitting = self._fitting.get(name)
        if fitting is None:
            predicate = self.reader.domain.predicates.get(name)
            if predicate is None or name in self._derived:
                return False
            fitting = self._fitting[name] = tuple([self._members(p) for p in predicate.parameters])
            self.true.setdefault(name, [])
        if len(args) != len(fitting):
            return False
        for arg, members in zip(args, fitting, strict=True):
            if arg not in members:
                return False
        # Share the strings: names occur in many facts.
        names = self._names
        self.true[name].append(tuple([names.setdefault(arg, arg) for arg in args]))
        return True

    def _plain_number(self, text: str) -> bool:
        match = _VALUE.fullmatch(text)
        if match is None:
            return False
        name, *args = match[1].split() or ("",)
        function = self.reader.domain.functions.get(name)
        if function is None or len(args) != len(function.parameters):
            return False
        for arg, parameter in zip(args, function.parameters, strict=True):
            if arg not in self._members(parameter):
                return False
        number = self.reader.known_number(match[2])
        names = self._names
        term = FunctionTerm(name, tuple([names.setdefault(arg, arg) for arg in args]))
        return self.numbers.setdefault(term, number) == number

    def _members(self, parameter: TypedName) -> Collection[str]:
        members = self._of_type.get(parameter.types)
        if members is None:
            domain, objects = self.reader.domain, self.reader.objects
            members = self._of_type[parameter.types] = domain.members(objects, parameter.types)
        return members

    def _refuse_uncertain(self, item: Group) -> None:
        for node in (item, *item.items):
            head = node.items[0] if isinstance(node, Group) and node.items else None
            word = head.text if isinstance(head, Word) else ""
            if word in _UNCERTAIN and word not in self.reader.domain.predicates:
                self.reader.unsupported(node, _UNCERTAIN[word])

    def _fact(self, item: Group) -> Atom:
        atom = self.reader.atom(item, {})
        if atom.predicate in self._derived:
            self.reader.semantic(item, f"{atom.predicate!r} is derived and cannot be set in :init")
        return atom

    def _negated(self, item: Group) -> Atom:
        if len(item.items) != 2:
            self.reader.syntax(item, "'not' takes 1 argument", "(not (predicate object …))")
        return self._fact(self.reader.group(item.items[1], "a fact"))

    def _timed(self, item: Group) -> TimedInitial:
        reader = self.reader
        time = reader.number(item.items[1])
        if time < 0:
            reader.semantic(item, "a timed literal cannot precede time 0", expected="a time >= 0")
        inner = reader.group(item.items[2], "a fact")
        head = reader.head(inner, "a fact: (predicate object …)").text
        target: Atom | FunctionTerm
        effect: TimedEffect
        both = "becomes both true and false"
        if head == "=":
            target, value = _numeric_fact(reader, inner)
            effect = NumericEffect("assign", target, Number(value))
            both = "is given a second value"
        elif head == "not":
            target = self._negated(inner)
            effect = Not(target)
        else:
            effect = target = self._fact(inner)
        if self._timed_effects.setdefault((time, target), effect) != effect:
            reader.semantic(item, f"{target} {both} at {time:f}", expected="one value at a time")
        return TimedInitial(time, effect)


def _is_timed(item: Group) -> bool:
    when, what = item.items[1:]
    return isinstance(when, Word) and when.text[:1] in "-.0123456789" and isinstance(what, Group)


def _preferences_in(domain: Domain) -> set[str]:
    formulas = [domain.constraints]
    formulas += [a.precondition for a in domain.actions.values()]
    formulas += [a.condition for a in domain.durative_actions.values()]
    return {preference.name for formula in formulas for preference in preferences_of(formula)}


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
    if word.text not in ("minimize", "maximize"):
        reader.syntax(word, f"{word.text!r} is not a direction", "minimize or maximize")
    direction: Any = word.text
    return Metric(direction, reader.numeric(group.items[2], {}, metric=True))


# Parser -------------------------------------------------------------------------------------------
# In a strict reading, anything undeclared, of the wrong arity or type, defined twice or left over
# is an error with a location. A lenient reading accepts errors that leave the meaning clear, with
# a warning. PDDL features that hvr lacks raise an UnsupportedPddlError.


def parse_domain(
    source: str | Path,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> Domain:
    """Parse a domain from PDDL text (`str`) or from a file (`Path`).

    Args:
        file: The file name to use in messages.
        lenient: Whether errors that leave the meaning clear, such as repetitions, are warnings.
        warnings: A list to which the warnings are appended.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError, PddlSemanticError: The text is not a domain; the message says where.
        UnsupportedPddlError: The domain uses an unsupported feature of PDDL.
    """
    text = SourceText.read(source, file=file, default="<domain>", lenient=lenient)
    domain = DomainParser(text).parse()
    if warnings is not None:
        warnings += text.warnings
    return domain


def parse_problem(
    source: str | Path,
    domain: Domain,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> Problem:
    """Parse a problem of a domain; the options are described in `parse_domain`.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError, PddlSemanticError: The text is not a problem of this domain.
    """
    text = SourceText.read(source, file=file, default="<problem>", lenient=lenient)
    problem = ProblemParser(text, domain).parse()
    if warnings is not None:
        warnings += text.warnings
    return problem


def parse_formula(
    text: str, domain: Domain, objects: Iterable[TypedName] = (), *, file: str | None = None
) -> Formula:
    """Parse a single formula, such as the goal of a task.

    It may mention the constants of the domain and the given `objects`. `file` is the name of the
    text in messages.

    Raises:
        PddlSyntaxError, PddlSemanticError: The text is not a formula over these names.
    """
    reader, node = _single(text, domain, objects, file or "<formula>")
    return reader.formula(node, {})


def parse_constraint(
    text: str, domain: Domain, objects: Iterable[TypedName] = (), *, file: str | None = None
) -> Formula:
    """Parse a single trajectory constraint; the arguments are described in `parse_formula`.

    Raises:
        PddlSyntaxError, PddlSemanticError: The text is not a constraint over these names.
    """
    reader, node = _single(text, domain, objects, file or "<constraint>")
    return reader.constraints(node, {})


def _single(
    text: str, domain: Domain, objects: Iterable[TypedName], file: str
) -> tuple[ExpressionReader, Node]:
    source = SourceText.read(text, file=file, default=file)
    nodes = read_nodes(source)
    known = {o.name: o.types for o in (*domain.constants, *objects)}
    reader = ExpressionReader(source, domain, known)
    if not nodes:
        source.syntax_error(0, "no formula", expected="a formula", found="end of text")
    if len(nodes) > 1:
        reader.syntax(nodes[1], "text after the end of the formula", "end of text")
    return reader, nodes[0]
