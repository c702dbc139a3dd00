"""Domains, problems and goals from text.

Strict: what is undeclared, of the wrong arity or type, defined twice or left over is an error
with its place; a lenient reading overlooks with a warning what leaves the meaning clear. What
hvr cannot execute (processes, events, continuous effects, object fluents) is an
UnsupportedPddlError.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Literal

from hvr.pddl.diagnostics import Diagnostic, PddlTextSyntaxError, nearest
from hvr.pddl.expressions import ExpressionReader, ListReader, Types, describe
from hvr.pddl.lexer import Source, Word
from hvr.pddl.model import (
    OBJECT,
    TRUE,
    ActionSchema,
    Atom,
    DerivedPredicate,
    Domain,
    DurativeActionSchema,
    Effect,
    Formula,
    Function,
    FunctionTerm,
    Metric,
    Not,
    Number,
    NumericEffect,
    Predicate,
    Preference,
    Problem,
    TimedInitial,
    TypedName,
    walk,
)
from hvr.pddl.reader import Group, Node, read_nodes
from hvr.pddl.stratification import unstratified

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

_DOMAIN_SECTIONS = (
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":constraints",
    ":action",
    ":durative-action",
    ":derived",
)
_REPEATED = (":action", ":durative-action", ":derived")
_DOMAIN_UNSUPPORTED = {
    ":axiom": "axioms in the notation of PDDL 1",
    ":process": "processes",
    ":event": "events",
}
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
_ACTION_FIELDS = (":parameters", ":precondition", ":effect")
_DURATIVE_FIELDS = (":parameters", ":duration", ":condition", ":effect")


def parse_domain(
    source: str | Path,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> Domain:
    """Parse a domain.

    Args:
        source: the text, or the path of a file.
        file: the name that messages give the text.
        lenient: whether to overlook what leaves the meaning clear, such as a second declaration.
        warnings: what was overlooked is added to this list.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a domain; the message says where.
        UnsupportedPddlError: the domain uses a part of PDDL that is not supported.
    """
    text = Source.read(source, file=file, default="<domain>", lenient=lenient)
    domain = _DomainParser(text).parse()
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
    """Parse a problem of a domain. The arguments are those of `parse_domain`.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a problem of this domain.
        UnsupportedPddlError: the problem uses a part of PDDL that is not supported.
    """
    text = Source.read(source, file=file, default="<problem>", lenient=lenient)
    problem = _ProblemParser(text, domain).parse()
    if warnings is not None:
        warnings += text.warnings
    return problem


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
        UnsupportedPddlError: the formula uses a part of PDDL that is not supported.
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
            if keyword.text in by_name and keyword.text not in _REPEATED:
                self.semantic(keyword, f"the domain has a second {keyword.text}")
            by_name.setdefault(keyword.text, []).append(group)

        # Each part needs those before it, in whatever order the file has them.
        domain = Domain(name.text)
        for group in by_name.get(":requirements", ()):
            domain = domain.replace(requirements=_requirements(self, group))
        for group in by_name.get(":types", ()):
            domain = domain.replace(types=self._types_section(group))
        for group in by_name.get(":constants", ()):
            self.context = ":constants"
            names = self.typed_list(group.items[1:], "constant", types=domain.types)
            domain = domain.replace(constants=self.distinct(names, "constant"))
        for group in by_name.get(":predicates", ()):
            domain = domain.replace(predicates=self._predicates(group, domain))
        for group in by_name.get(":functions", ()):
            domain = domain.replace(functions=self._functions(group, domain))
        if rules := by_name.get(":derived"):
            domain = domain.replace(derived=self._derived(rules, domain))
        for group in by_name.get(":constraints", ()):
            self.context = ":constraints"
            domain = domain.replace(constraints=_constraints(self._reader(domain), group))
        return self._actions(sections, domain)

    def _reader(self, domain: Domain) -> ExpressionReader:
        return ExpressionReader(self.source, domain, {c.name: c.types for c in domain.constants})

    def _types_section(self, group: Group) -> dict[str, Types]:
        self.context = ":types"
        names = self.typed_list(group.items[1:], "type", types=None)
        types: dict[str, Types] = {}
        for item, word in names:
            if item.name == OBJECT:
                if item.types != (OBJECT,):
                    self.semantic(word, "'object' is the root of all types and has no supertype")
                continue
            parents = item.types
            if item.name in types:
                # Some competition domains give a type its supertypes one by one.
                self.source.warn(word.offset, f"the type {item.name!r} is declared twice")
                parents = tuple(dict.fromkeys((*types[item.name], *parents)))
            types[item.name] = parents
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
                self.overlook(word, f"the type {name!r} is its own supertype")
            if parent not in seen:
                seen.add(parent)
                open_ += types.get(parent, ())

    def _predicates(self, group: Group, domain: Domain) -> dict[str, Predicate]:
        self.context = ":predicates"
        result: dict[str, Predicate] = {}
        for node in group.items[1:]:
            word, parameters = self._declaration(node, domain, "predicate")
            if word.text in result:
                self.overlook(word, f"the predicate {word.text!r} is declared twice")
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
                self.overlook(word, f"the function {word.text!r} is declared twice")
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

    def _derived(self, groups: list[Group], domain: Domain) -> tuple[DerivedPredicate, ...]:
        reader = self._reader(domain)
        rules: list[DerivedPredicate] = []
        words: list[Word] = []
        for group in groups:
            reader.context = ":derived"
            shape = "(:derived (predicate ?variable …) formula)"
            if len(group.items) != 3:
                reader.syntax(group, "a rule has a predicate and a formula", shape)
            head = reader.group(group.items[1], "(predicate ?variable …)")
            word = reader.name(reader.head(head, "(predicate ?variable …)"), "predicate")
            declared = domain.predicates.get(word.text)
            if declared is None:
                reader.undeclared(word, "predicate", domain.predicates)
            names = reader.typed_list(head.items[1:], "variable", types=domain.types)
            parameters = reader.distinct(names, "parameter")
            if len(parameters) != len(declared.parameters):
                reader.semantic(
                    head,
                    f"the rule for {word.text!r} has {len(parameters)} parameters",
                    expected=str(declared),
                )
            # A variable without a type has that of the declaration.
            parameters = tuple(
                [
                    TypedName(own.name, other.types) if own.types == (OBJECT,) else own
                    for own, other in zip(parameters, declared.parameters, strict=True)
                ]
            )
            reader.context = f":derived {word.text}"
            body = reader.formula(group.items[2], {p.name: p.types for p in parameters})
            place = reader.source.location(group.offset)
            rules.append(DerivedPredicate(word.text, parameters, body, place))
            words.append(word)
        meaningless = {rule.predicate for rule in unstratified(rules)}
        for rule, word in zip(rules, words, strict=True):
            if rule.predicate in meaningless:
                self.context = f":derived {rule.predicate}"
                self.semantic(
                    word,
                    f"{rule.predicate!r} depends on its own negation, so that it has no meaning",
                    expected="rules in which what is negated does not depend on the rule",
                )
        return tuple(rules)

    def _actions(self, sections: list[tuple[Word, Group]], domain: Domain) -> Domain:
        reader = self._reader(domain)
        actions: dict[str, ActionSchema] = {}
        durative: dict[str, DurativeActionSchema] = {}
        for keyword, group in sections:
            if keyword.text not in (":action", ":durative-action"):
                continue
            reader.context = keyword.text
            if len(group.items) < 2:
                reader.syntax(group, "an action without a name", f"({keyword.text} name …)")
            word = reader.name(group.items[1], "action")
            if word.text in actions or word.text in durative:
                # The first one counts, as in VAL.
                reader.overlook(word, f"the action {word.text!r} is defined twice")
                continue
            if keyword.text == ":action":
                actions[word.text] = _action(reader, word, group.items[2:])
            else:
                durative[word.text] = _durative_action(reader, word, group.items[2:])
        return domain.replace(actions=actions, durative_actions=durative)


def _fields(
    reader: ExpressionReader, word: Word, items: list[Node], known: tuple[str, ...]
) -> dict[str, Node]:
    """Take the `:keyword value` pairs of an action apart."""
    fields: dict[str, Node] = {}
    for index in range(0, len(items), 2):
        reader.context = f"action {word.text}"
        keyword = reader.word(items[index], " or ".join(known))
        if keyword.text not in known:
            reader.source.syntax_error(
                keyword.offset,
                f"an action has no field {keyword.text!r}",
                expected=" or ".join(known),
                found=keyword.text,
                context=reader.context,
            )
        if keyword.text in fields:
            reader.semantic(keyword, f"the action has a second {keyword.text}")
        if fields and known.index(keyword.text) < known.index(list(fields)[-1]):
            reader.overlook(
                keyword,
                f"{keyword.text} comes after {list(fields)[-1]}",
                expected="the fields in the order " + ", ".join(known),
            )
        if index + 1 == len(items):
            reader.syntax(
                keyword, f"{keyword.text} without a value", f"a list after {keyword.text}"
            )
        fields[keyword.text] = items[index + 1]
    return fields


def _parameters(
    reader: ExpressionReader, word: Word, fields: dict[str, Node]
) -> tuple[TypedName, ...]:
    node = fields.get(":parameters")
    if node is None:
        return ()
    reader.context = f"action {word.text}, :parameters"
    listed = reader.group(node, "a list of ?variables")
    names = reader.typed_list(listed.items, "variable", types=reader.domain.types)
    return reader.distinct(names, "parameter")


def _action(reader: ExpressionReader, word: Word, items: list[Node]) -> ActionSchema:
    fields = _fields(reader, word, items, _ACTION_FIELDS)
    parameters = _parameters(reader, word, fields)
    scope = {p.name: p.types for p in parameters}
    precondition: Formula = TRUE
    effect: Effect = TRUE
    if (node := fields.get(":precondition")) is not None:
        reader.context = f"action {word.text}, :precondition"
        precondition = reader.preferred(node, scope)
    if (node := fields.get(":effect")) is not None:
        reader.context = f"action {word.text}, :effect"
        effect = reader.effect(node, scope)
    location = reader.source.location(word.offset)
    return ActionSchema(word.text, parameters, precondition, effect, location)


def _durative_action(
    reader: ExpressionReader, word: Word, items: list[Node]
) -> DurativeActionSchema:
    fields = _fields(reader, word, items, _DURATIVE_FIELDS)
    parameters = _parameters(reader, word, fields)
    scope = {p.name: p.types for p in parameters}
    if ":duration" not in fields:
        reader.context = f"action {word.text}"
        reader.syntax(word, "a durative action without a :duration", ":duration (= ?duration …)")
    reader.in_durative_action = True
    reader.context = f"action {word.text}, :duration"
    duration = reader.duration(fields[":duration"], scope)
    condition: Formula = TRUE
    effect: Effect = TRUE
    if (node := fields.get(":condition")) is not None:
        reader.context = f"action {word.text}, :condition"
        condition = reader.timed(node, scope)
    if (node := fields.get(":effect")) is not None:
        reader.context = f"action {word.text}, :effect"
        effect = reader.effect(node, scope, timed=True)
    reader.in_durative_action = False
    location = reader.source.location(word.offset)
    return DurativeActionSchema(word.text, parameters, duration, condition, effect, location)


def _constraints(reader: ExpressionReader, group: Group) -> Formula:
    reader.context = ":constraints"
    if len(group.items) != 2:
        reader.syntax(group, ":constraints takes one list", "(:constraints (and constraint …))")
    return reader.constraints(group.items[1], {})


class _ProblemParser(ListReader):
    def __init__(self, source: Source, domain: Domain) -> None:
        super().__init__(source)
        self.domain = domain

    def parse(self) -> Problem:
        name, sections = _define(self, "problem", _PROBLEM_SECTIONS, {})
        by_name: dict[str, Group] = {}
        for keyword, group in sections:
            if keyword.text == ":metric" in by_name:
                message = "the problem has a second :metric; the first one counts"
                self.source.warn(keyword.offset, message)
            elif keyword.text in by_name:
                self.overlook(keyword, f"the problem has a second {keyword.text}")
            by_name.setdefault(keyword.text, group)
        for needed in (":domain", ":init", ":goal"):
            if needed not in by_name:
                self.context = f"problem {name.text}"
                if needed == ":init":
                    self.syntax(name, f"the problem has no {needed}", f"({needed} …)")
                self.overlook(name, f"the problem has no {needed}", expected=f"({needed} …)")

        domain_name = self.domain.name
        if ":domain" in by_name:
            domain_name = self._domain_name(by_name[":domain"])
        if ":requirements" in by_name:
            _requirements(self, by_name[":requirements"])
        objects = self._objects(by_name[":objects"]) if ":objects" in by_name else ()
        known = {o.name: o.types for o in (*self.domain.constants, *objects)}
        reader = ExpressionReader(self.source, self.domain, known)
        facts = _InitReader(reader)
        facts.read(by_name[":init"])
        goal: Formula = TRUE
        if ":goal" in by_name:
            reader.context = ":goal"
            group = by_name[":goal"]
            if len(group.items) != 2:
                reader.syntax(
                    group, ":goal takes one formula", "(:goal formula), with (and …) for several"
                )
            goal = reader.preferred(group.items[1], {})
        constraints: Formula = TRUE
        if ":constraints" in by_name:
            constraints = _constraints(reader, by_name[":constraints"])
        reader.preferences |= _preferences_in(self.domain)
        metric = _metric(reader, by_name[":metric"]) if ":metric" in by_name else None
        return Problem(
            name.text,
            domain_name,
            objects,
            frozenset(facts.true),
            goal,
            facts.numbers,
            metric,
            tuple(facts.timed),
            constraints,
        )

    def _domain_name(self, group: Group) -> str:
        self.context = ":domain"
        if len(group.items) != 2:
            self.syntax(group, ":domain takes one name", "(:domain name)")
        word = self.name(group.items[1], "domain")
        if word.text != self.domain.name:
            self.source.warn(
                word.offset,
                f"the problem is for the domain {word.text!r}, and the domain given is "
                f"{self.domain.name!r}",
                expected=repr(self.domain.name),
            )
        return word.text

    def _objects(self, group: Group) -> tuple[TypedName, ...]:
        self.context = ":objects"
        if group.text is not None:
            plain = self.plain_names(group.text.replace(":objects", "", 1), self.domain.types)
            taken = {c.name for c in self.domain.constants}
            if plain is not None and taken.isdisjoint(o.name for o in plain):
                return plain
        names = self.typed_list(group.items[1:], "object", types=self.domain.types)
        constants = {c.name: c.types for c in self.domain.constants}
        merged: list[tuple[TypedName, Word]] = []
        for item, word in names:
            own = constants.get(item.name)
            types = item.types
            if own is not None:
                # Some competition problems name the constants again.
                message = f"{item.name!r} is already a constant of the domain"
                self.source.warn(word.offset, message)
                types = tuple(dict.fromkeys((*own, *types)))
            if own != types:
                merged.append((TypedName(item.name, types), word))
        return self.distinct(merged, "object")


class _InitReader:
    """Reads :init: facts, values of functions, and what becomes true at a time."""

    def __init__(self, reader: ExpressionReader) -> None:
        self.reader = reader
        self.true: set[Atom] = set()
        self.numbers: dict[FunctionTerm, Decimal] = {}
        self.timed: list[TimedInitial] = []
        self._derived = {rule.predicate for rule in reader.domain.derived}
        self._fitting: dict[str, tuple[Collection[str], ...]] = {}
        self._of_type: dict[tuple[str, ...], Collection[str]] = {}

    def read(self, group: Group) -> None:
        reader = self.reader
        reader.context = ":init"
        false: dict[Atom, Node] = {}
        for node in group.items[1:]:
            item = reader.group(node, "a fact: (predicate object …)")
            if item.text is not None and (atom := self._plain(item.text)) is not None:
                self.true.add(atom)
                continue
            head = reader.head(item, "a fact: (predicate object …)").text
            if head == "=":
                term, value = _numeric_fact(reader, item)
                if self.numbers.setdefault(term, value) != value:
                    reader.overlook(item, f"{term} is given a second value")
            elif head == "not":
                false[self._negated(item)] = item
            elif head == "at" and len(item.items) == 3 and _is_timed(item):
                self.timed.append(self._timed(item))
            else:
                if head in ("and", "or", "forall", "exists", "imply", "when"):
                    reader.syntax(item, f"({head} …) is not a fact", "(predicate object …)")
                self.true.add(self._fact(item))
        for atom, node in false.items():
            if atom in self.true:
                reader.overlook(node, f"{atom} is both true and false in :init")

    def _plain(self, text: str) -> Atom | None:
        """Read a fact that has nothing wrong with it, quickly; else return None."""
        name, *args = text.split() or ("",)
        fitting = self._fitting.get(name)
        if fitting is None:
            predicate = self.reader.domain.predicates.get(name)
            if predicate is None or name in self._derived:
                return None
            fitting = self._fitting[name] = tuple([self._members(p) for p in predicate.parameters])
        if len(args) != len(fitting):
            return None
        for arg, members in zip(args, fitting, strict=True):
            if arg not in members:
                return None
        return Atom(name, tuple(args))

    def _members(self, parameter: TypedName) -> Collection[str]:
        found = self._of_type.get(parameter.types)
        if found is None:
            domain, objects = self.reader.domain, self.reader.objects
            found = self._of_type[parameter.types] = domain.members(objects, parameter.types)
        return found

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
        inner = reader.group(item.items[2], "a fact")
        head = reader.head(inner, "a fact: (predicate object …)").text
        if head == "=":
            term, value = _numeric_fact(reader, inner)
            return TimedInitial(time, NumericEffect("assign", term, Number(value)))
        if head == "not":
            return TimedInitial(time, Not(self._negated(inner)))
        return TimedInitial(time, self._fact(inner))


def _is_timed(item: Group) -> bool:
    when, what = item.items[1:]
    return isinstance(when, Word) and when.text[:1] in "-.0123456789" and isinstance(what, Group)


def _preferences_in(domain: Domain) -> set[str]:
    """Return the names of the preferences of a domain."""
    formulas = [domain.constraints]
    formulas += [a.precondition for a in domain.actions.values()]
    formulas += [a.condition for a in domain.durative_actions.values()]
    found = (item for formula in formulas for item in walk(formula))
    return {item.name for item in found if isinstance(item, Preference)}


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
    return Metric(direction, reader.numeric(group.items[2], {}, metric=True))


def _requirements(reader: ListReader, group: Group) -> frozenset[str]:
    reader.context = ":requirements"
    result: set[str] = set()
    for node in group.items[1:]:
        word = reader.word(node, "a requirement such as :typing")
        if word.text not in REQUIREMENTS:
            colon = ":" + word.text
            reader.source.warn(
                word.offset,
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
        message = f"text after the end of the {what}"
        source.overlook(
            nodes[1].offset,
            message,
            expected="end of text",
            found=describe(nodes[1]),
            error=PddlTextSyntaxError,
        )
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
