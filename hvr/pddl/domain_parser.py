"""Domains from nested lists."""

from __future__ import annotations

from hvr.pddl.expressions import ExpressionReader
from hvr.pddl.lexer import Word
from hvr.pddl.lists import NAME, RESERVED, ListReader, Types
from hvr.pddl.model import (
    OBJECT,
    TRUE,
    ActionSchema,
    DerivedPredicate,
    Domain,
    DurativeActionSchema,
    Effect,
    Formula,
    Function,
    Predicate,
    TypedName,
)
from hvr.pddl.reader import Group, Node
from hvr.pddl.sections import constraints, define, requirements

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
_DOMAIN_UNSUPPORTED = {
    ":axiom": "axioms in the notation of PDDL 1",
}
_FIELDS_UNSUPPORTED = {
    ":agent": "agents of actions (MA-PDDL)",
    ":observe": "sensing actions (contingent planning)",
}
_ACTION_FIELDS = (":parameters", ":precondition", ":effect")
_DURATIVE_FIELDS = (":parameters", ":duration", ":condition", ":effect")


class DomainParser(ListReader):
    """Reads one domain.

    Attributes:
        known: the sections that it reads.
        repeated: those of them that may come more than once.
    """

    known: tuple[str, ...] = _DOMAIN_SECTIONS
    repeated: tuple[str, ...] = _REPEATED

    def parse(self) -> Domain:
        """Parse the domain."""
        return self.read(*define(self, "domain", self.known, _DOMAIN_UNSUPPORTED))

    def read(self, name: Word, sections: list[tuple[Word, Group]]) -> Domain:
        """Read the sections of the domain."""
        by_name: dict[str, list[Group]] = {}
        for keyword, group in sections:
            if keyword.text in by_name and keyword.text not in self.repeated:
                self.semantic(keyword, f"the domain has a second {keyword.text}")
            by_name.setdefault(keyword.text, []).append(group)

        # Each part needs those before it, in whatever order the file has them.
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
            # Nearly always there is nothing wrong with it.
            first, *rest = text.split(None, 1) or [""]
            plain = self.plain_variables("".join(rest), domain.types)
            if plain is not None and NAME.fullmatch(first) and first not in RESERVED:
                return Word(first, group.offset + 1 + text.index(first)), plain
        if group.items and isinstance(group.items[0], Word) and group.items[0].text == ":private":
            self.unsupported(group, f"private {what}s (MA-PDDL)")
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
        from hvr.pddl.stratification import unstratified

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
        groups: dict[tuple[str, str], Group] = {}
        actions: dict[str, ActionSchema] = {}
        durative: dict[str, DurativeActionSchema] = {}
        processes: dict[str, ActionSchema] = {}
        events: dict[str, ActionSchema] = {}
        # An event may have the name of a process or of a predicate, as in VAL's samples.
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
                known[word.text] = _by_itself(reader, word, group.items[2:], what)
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
    """Take the `:keyword value` pairs of an action, a process or an event apart."""
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


def _by_itself(reader: ExpressionReader, word: Word, items: list[Node], what: str) -> ActionSchema:
    """Read a process or an event."""
    fields = _fields(reader, word, items, _ACTION_FIELDS, what)
    parameters = _parameters(reader, word, fields)
    scope = {p.name: p.types for p in parameters}
    precondition: Formula = TRUE
    effect: Effect = TRUE
    if (node := fields.get(":precondition")) is not None:
        reader.context = f"{what} {word.text}, :precondition"
        precondition = reader.formula(node, scope)
    if (node := fields.get(":effect")) is not None:
        reader.context = f"{what} {word.text}, :effect"
        if what == "process":
            from hvr.pddl.continuous import process_effect

            effect = process_effect(reader, node, scope)
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
