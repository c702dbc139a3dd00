"""Parse domains: sections, requirements, actions, processes and continuous effects."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from hvr.base.nested import Steps, run_trampoline
from hvr.base.printable import nearest
from hvr.pddl.expressions import ExpressionReader
from hvr.pddl.formulas import (
    OBJECT,
    TRUE,
    And,
    Arithmetic,
    ContinuousEffect,
    Effect,
    Forall,
    Formula,
    Number,
    NumericExpression,
    TypedName,
    When,
)
from hvr.pddl.lists import NAME, RESERVED, ListReader, Types, arguments_text, describe
from hvr.pddl.model import (
    ActionSchema,
    DerivedPredicate,
    Domain,
    DurativeActionSchema,
    Function,
    Predicate,
)
from hvr.pddl.reader import Group, Node, PddlTextSyntaxError, SourceText, Word, head_of, read_nodes

# Sections -----------------------------------------------------------------------------------------
# Shared by domains and problems: `(define (what name) (:section …) …)` and requirements.

REQUIREMENTS = frozenset(
    (
        ":strips :typing :equality :negative-preconditions :disjunctive-preconditions "
        ":existential-preconditions :universal-preconditions :quantified-preconditions "
        ":conditional-effects :adl :action-costs :fluents :numeric-fluents :object-fluents "
        ":durative-actions :duration-inequalities :continuous-effects :derived-predicates "
        ":timed-initial-literals :timed-initial-fluents :preferences :constraints "
        ":goal-utilities :time :domain-axioms :foreach-expansions :dag-expansions "
        ":safety-constraints :hierarchy :htn :method-preconditions :htn-method-prec"
    ).split()
)
"""The requirement flags of PDDL 1.2 to 3.1, PDDL+ and HDDL, used only to check spelling."""


def requirements(reader: ListReader, group: Group) -> frozenset[str]:
    """Read the flags of :requirements; an unknown flag is a warning."""
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


def define(
    reader: ListReader, what: str, sections: tuple[str, ...], unsupported: dict[str, str]
) -> tuple[Word, list[tuple[Word, Group]]]:
    """Return the name and the sections of `(define (what name) (:section …) …)`.

    Args:
        sections: The keywords of the sections that are allowed.
        unsupported: Further keywords, which raise an UnsupportedPddlError, with their features.
    """
    shape = f"(define ({what} name) …)"
    source = reader.source
    nodes = read_nodes(source)
    if not nodes:
        source.syntax_error(0, f"this text has no {what}", expected=shape, found="end of text")
    top = reader.group(nodes[0], shape)
    if reader.head(top, shape).text != "define":
        reader.syntax(top, f"this is not a {what}", shape)
    for node in nodes[1:]:
        _overlook_late(source, what, sections, node)
    if len(top.items) < 2:
        reader.syntax(top, f"the {what} has no name", shape)
    header = reader.group(top.items[1], f"({what} name)")
    head = reader.head(header, f"({what} name)")
    if head.text != what:
        other = "problem" if what == "domain" else "domain"
        hint = f"; this is a {other}, but a {what} is needed" if head.text == other else ""
        reader.syntax(header, f"this does not name a {what}{hint}", f"({what} name)")
    if len(header.items) != 2:
        reader.syntax(header, f"the {what} needs one name", f"({what} name)")
    name = reader.name(header.items[1], what)
    result: list[tuple[Word, Group]] = []
    for node in (*top.items[2:], *nodes[1:]):
        group = reader.group(node, f"a section: {', '.join(sections)}")
        keyword = reader.head(group, f"a section: {', '.join(sections)}")
        if keyword.text in unsupported:
            reader.unsupported(group, unsupported[keyword.text])
        if keyword.text not in sections:
            known = (*sections, *unsupported)
            source.semantic_error(
                keyword.offset,
                f"a {what} has no section {keyword.text!r}{_HDDL_HINT.get(keyword.text, '')}",
                expected=", ".join(sections),
                suggestion=nearest(keyword.text, known),
            )
        result.append((keyword, group))
    return name, result


_HDDL_HINT = dict.fromkeys(
    (":task", ":method", ":htn"),
    "; this is HDDL, which hvr validate, lint and convert read, but not this command",
)


def _overlook_late(source: SourceText, what: str, sections: tuple[str, ...], node: Node) -> None:
    if isinstance(node, Group) and head_of(node) in sections:
        source.overlook(
            node.offset,
            f"the section '({head_of(node)}' comes after the end of the {what}",
            expected="end of text, or one ')' fewer before it",
            error=PddlTextSyntaxError,
        )
    else:
        source.syntax_error(
            node.offset,
            f"text after the end of the {what}",
            expected="end of text",
            found=describe(node),
        )


def constraints(reader: ExpressionReader, group: Group) -> Formula:
    reader.context = ":constraints"
    if len(group.items) != 2:
        reader.syntax(group, ":constraints takes one list", "(:constraints (and constraint …))")
    return reader.constraints(group.items[1], {})


# Continuous ---------------------------------------------------------------------------------------
# Continuous effects: `(increase (f) (* #t rate))` in processes and durative actions.

Scope = Mapping[str, Types]

_SHAPE = "(increase (function …) (* #t number)) or (decrease (function …) (* #t number))"
_ONE = Number(Decimal(1))


def _process_effect(reader: ExpressionReader, node: Node, scope: Scope) -> Steps[Effect]:
    group = reader.group(node, _SHAPE)
    if not group.items:
        return TRUE
    head = reader.head(group, _SHAPE)
    args = group.items[1:]
    match head.text:
        case "and":
            parts: list[Effect] = []
            for arg in args:
                parts.append((yield _process_effect(reader, arg, scope)))
            return And(tuple(parts))
        case "forall":
            variables, inner = reader.quantified(group, scope, "effect")
            return Forall(variables, (yield _process_effect(reader, args[1], inner)))
        case "when" if len(args) == 2:
            condition = reader.formula(args[0], scope)
            return When(condition, (yield _process_effect(reader, args[1], scope)))
        case _:
            return continuous_effect(reader, group, scope)


def continuous_effect(reader: ExpressionReader, group: Group, scope: Scope) -> ContinuousEffect:
    head = reader.head(group, _SHAPE)
    if head.text not in ("increase", "decrease") or len(group.items) != 3:
        reader.syntax(group, f"({head.text} …) is not a continuous effect", _SHAPE)
    target, amount = group.items[1:]
    rate = run_trampoline(_rate(reader, amount, scope))
    if rate is None:
        reader.syntax(amount, "a continuous effect without #t", _SHAPE)
    fluent = reader.changed_function(target, scope)
    return ContinuousEffect(head.text, fluent, rate, location=reader.source.location(group.offset))


def _rate(reader: ExpressionReader, node: Node, scope: Scope) -> Steps[NumericExpression | None]:
    """Return the coefficient of #t, if #t occurs; a term that is not linear in #t is an error."""
    if isinstance(node, Word):
        return _ONE if node.text == "#t" else None
    if not node.items or not isinstance(node.items[0], Word):
        return None
    symbol, args = node.items[0].text, node.items[1:]
    rates: list[NumericExpression | None] = []
    for arg in args:
        rates.append((yield _rate(reader, arg, scope)))
    timed = [rate for rate in rates if rate is not None]
    if not timed:
        return None
    rest = [reader.numeric(a, scope) for a, rate in zip(args, rates, strict=True) if rate is None]
    rate: NumericExpression | None = None
    match symbol:
        case "*" if len(timed) == 1 and rest:
            factors = rest if timed[0] == _ONE else [timed[0], *rest]
            rate = factors[0] if len(factors) == 1 else Arithmetic("*", tuple(factors))
        case "/" if len(timed) == 1 and rates[0] is not None and len(args) == 2:
            rate = Arithmetic("/", (timed[0], *rest))
        case "+" | "-" if not rest and (len(timed) > 1 or symbol == "-"):
            rate = Arithmetic(symbol, tuple(timed))
        case _:
            pass
    if rate is None:
        reader.syntax(node, "an amount that is not a multiple of #t", "(* #t number)")
    return rate


# Domain parser ------------------------------------------------------------------------------------

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
    ":process",
    ":event",
)
_REPEATED = (":action", ":durative-action", ":derived", ":process", ":event")
_DOMAIN_UNSUPPORTED = {":axiom": "axioms in the notation of PDDL 1"}
_FIELDS_UNSUPPORTED = {
    ":agent": "agents of actions (MA-PDDL)",
    ":observe": "sensing actions (contingent planning)",
}
_ACTION_FIELDS = (":parameters", ":precondition", ":effect")
_DURATIVE_FIELDS = (":parameters", ":duration", ":condition", ":effect")


class DomainParser(ListReader):
    """A parser of one domain, which accepts the sections in `known`.

    Sections in `repeated` may occur more than once.
    """

    known: tuple[str, ...] = _DOMAIN_SECTIONS
    repeated: tuple[str, ...] = _REPEATED

    def parse(self) -> Domain:
        return self.read(*define(self, "domain", self.known, _DOMAIN_UNSUPPORTED))

    def read(self, name: Word, sections: list[tuple[Word, Group]]) -> Domain:
        by_name: dict[str, list[Group]] = {}
        for keyword, group in sections:
            if keyword.text in by_name and keyword.text not in self.repeated:
                self.semantic(keyword, f"the domain has a second {keyword.text}")
            by_name.setdefault(keyword.text, []).append(group)

        # Each part depends on the previous ones, whatever their order in the file.
        domain = Domain(name.text)
        for group in by_name.get(":requirements", ()):
            domain = domain.replace(requirements=requirements(self, group))
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
            domain = domain.replace(constraints=constraints(self._reader(domain), group))
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
                # Some competition domains declare the supertypes of a type one by one.
                self.source.warn(word.offset, f"the type {item.name!r} is declared twice")
                parents = tuple(dict.fromkeys((*types[item.name], *parents)))
            types[item.name] = parents
        # Many competition domains mention a supertype only after a dash, which declares it.
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
            predicate = Predicate(word.text, parameters, self.source.location(word.offset))
            if (first := result.setdefault(word.text, predicate)) is not predicate:
                message = f"the predicate {word.text!r} is declared twice"
                self.declared_again(word, message, same=_types_of(first) == _types_of(predicate))
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
            if word.text in domain.predicates:
                self.semantic(word, f"{word.text!r} is already a predicate")
            function = Function(word.text, parameters, self.source.location(word.offset))
            if (first := result.setdefault(word.text, function)) is not function:
                message = f"the function {word.text!r} is declared twice"
                self.declared_again(word, message, same=_types_of(first) == _types_of(function))
            index += 1
        return result

    def _declaration(
        self, node: Node, domain: Domain, what: str
    ) -> tuple[Word, tuple[TypedName, ...]]:
        group = self.group(node, f"({what} ?parameter …)")
        if (text := group.text) is not None:
            # Fast path for well-formed declarations.
            first, *rest = text.split(None, 1) or [""]
            plain = self.plain_variables("".join(rest), domain.types)
            if plain is not None and NAME.fullmatch(first) and first not in RESERVED:
                return Word(first, group.offset + 1 + text.index(first)), plain
        if group.items and isinstance(group.items[0], Word) and group.items[0].text == ":private":
            self.unsupported(group, f"private {what}s (MA-PDDL)")
        word = self.name(self.head(group, f"({what} ?parameter …)"), what)
        names = self.typed_list(group.items[1:], "variable", types=domain.types)
        # A repeated parameter name is harmless in a declaration: it is never used.
        return word, tuple(item for item, _ in names)

    def _derived(self, groups: list[Group], domain: Domain) -> tuple[DerivedPredicate, ...]:
        reader = self._reader(domain)
        rules: list[DerivedPredicate] = []
        words: list[Word] = []
        for group in groups:
            reader.context = ":derived"
            shape = "(:derived (predicate ?variable …) formula)"
            if len(group.items) != 3:
                reader.syntax(group, "a rule needs a predicate and a formula", shape)
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
                    f"the rule for {word.text!r} takes {arguments_text(len(parameters))}",
                    expected=str(declared),
                )
            # An untyped variable takes the type of the declaration.
            parameters = tuple(
                TypedName(own.name, other.types) if own.types == (OBJECT,) else own
                for own, other in zip(parameters, declared.parameters, strict=True)
            )
            reader.context = f":derived {word.text}"
            body = reader.formula(group.items[2], {p.name: p.types for p in parameters})
            place = reader.source.location(group.offset)
            rules.append(DerivedPredicate(word.text, parameters, body, place))
            words.append(word)
        from hvr.pddl.axioms import unstratified

        meaningless = {rule.predicate for rule in unstratified(rules)}
        for rule, word in zip(rules, words, strict=True):
            if rule.predicate in meaningless:
                self.context = f":derived {rule.predicate}"
                self.semantic(
                    word,
                    f"{rule.predicate!r} depends on its own negation and has no meaning",
                    expected="rules whose negated predicates do not depend on them",
                )
        return tuple(rules)

    def _actions(self, sections: list[tuple[Word, Group]], domain: Domain) -> Domain:
        reader = self._reader(domain)
        groups: dict[tuple[str, str], Group] = {}
        actions: dict[str, ActionSchema] = {}
        durative: dict[str, DurativeActionSchema] = {}
        processes: dict[str, ActionSchema] = {}
        events: dict[str, ActionSchema] = {}
        # An event may share its name with a process or a predicate, as in VAL's examples.
        for keyword, group in sections:
            if keyword.text not in (":action", ":durative-action", ":process", ":event"):
                continue
            what = keyword.text[1:].replace("-", " ")
            reader.context = keyword.text
            if len(group.items) < 2:
                article = "an" if what[0] in "ae" else "a"
                shape = f"({keyword.text} name …)"
                reader.syntax(group, f"{article} {what} without a name", shape)
            word = reader.name(group.items[1], what)
            by_itself = keyword.text in (":process", ":event")
            first = groups.setdefault((what if by_itself else "action", word.text), group)
            if first is not group:
                what = what if by_itself else "action"
                reader.written_again(
                    word, f"the {what} {word.text!r} is defined twice", first, group
                )
            elif by_itself:
                known = processes if keyword.text == ":process" else events
                known[word.text] = _action(reader, word, group.items[2:], what)
            elif keyword.text == ":action":
                actions[word.text] = _action(reader, word, group.items[2:])
            else:
                durative[word.text] = _durative_action(reader, word, group.items[2:])
        return domain.replace(
            actions=actions, durative_actions=durative, processes=processes, events=events
        )


def _types_of(declared: Predicate | Function) -> list[Types]:
    return [parameter.types for parameter in declared.parameters]


def _fields(
    reader: ExpressionReader,
    word: Word,
    items: list[Node],
    known: tuple[str, ...],
    what: str = "action",
) -> dict[str, Node]:
    fields: dict[str, Node] = {}
    reader.context = f"{what} {word.text}"
    last = ""
    for index in range(0, len(items), 2):
        keyword = reader.word(items[index], " or ".join(known))
        if keyword.text in _FIELDS_UNSUPPORTED:
            reader.unsupported(keyword, _FIELDS_UNSUPPORTED[keyword.text])
        if keyword.text not in known:
            reader.source.syntax_error(
                keyword.offset,
                f"{'a' if what == 'process' else 'an'} {what} has no field {keyword.text!r}",
                expected=" or ".join(known),
                found=keyword.text,
                context=reader.context,
            )
        if keyword.text in fields:
            reader.semantic(keyword, f"the {what} has a second {keyword.text}")
        if last and known.index(keyword.text) < known.index(last):
            reader.overlook(
                keyword,
                f"{keyword.text} comes after {last}",
                expected="the fields in the order " + ", ".join(known),
            )
        if index + 1 == len(items):
            reader.syntax(
                keyword, f"{keyword.text} without a value", f"a list after {keyword.text}"
            )
        fields[keyword.text] = items[index + 1]
        last = keyword.text
    return fields


def _parameters(
    reader: ExpressionReader, word: Word, fields: dict[str, Node]
) -> tuple[TypedName, ...]:
    node = fields.get(":parameters")
    if node is None:
        return ()
    reader.context = f"action {word.text}, :parameters"
    listed = reader.group(node, "a list of ?variables")
    return reader.variables(listed, "parameter", reader.domain.types)


def _action(
    reader: ExpressionReader, word: Word, items: list[Node], what: str = "action"
) -> ActionSchema:
    fields = _fields(reader, word, items, _ACTION_FIELDS, what)
    parameters = _parameters(reader, word, fields)
    scope = {p.name: p.types for p in parameters}
    precondition: Formula = TRUE
    effect: Effect = TRUE
    if (node := fields.get(":precondition")) is not None:
        reader.context = f"{what} {word.text}, :precondition"
        # Only actions may have preferences.
        read = reader.preferred if what == "action" else reader.formula
        precondition = read(node, scope)
    if (node := fields.get(":effect")) is not None:
        reader.context = f"{what} {word.text}, :effect"
        if what == "process":
            effect = run_trampoline(_process_effect(reader, node, scope))
        else:
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
