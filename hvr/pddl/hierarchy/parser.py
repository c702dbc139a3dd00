"""Parse HDDL: PDDL with sections for tasks, methods and task networks."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from hvr.pddl import TRUE, And, Diagnostic, Domain, Equal, Formula, Not, Problem, TypedName
from hvr.pddl.domain_parser import DomainParser
from hvr.pddl.expressions import ExpressionReader, Scope
from hvr.pddl.hierarchy.model import (
    ROOT,
    CompoundTask,
    HierarchicalDomain,
    HierarchicalProblem,
    Method,
    Pairs,
    Subtask,
    TaskNetwork,
)
from hvr.pddl.lists import arguments_text, choices
from hvr.pddl.problem_parser import ProblemParser
from hvr.pddl.reader import Group, Node, SourceText, Word, first_of, node_of

# Networks -----------------------------------------------------------------------------------------

SUBTASKS = (":subtasks", ":tasks", ":ordered-subtasks", ":ordered-tasks")
ORDERINGS = (":ordering", ":order")
NETWORK_FIELDS = (*SUBTASKS, *ORDERINGS, ":constraints")
_ORDERED = (":ordered-subtasks", ":ordered-tasks")


class NetworkReader:
    """A reader of task networks and their subtasks."""

    def __init__(
        self, reader: ExpressionReader, hierarchy: HierarchicalDomain, context: str
    ) -> None:
        self.reader = reader
        self.hierarchy = hierarchy
        self.context = context
        self._last: dict[str, Node] = {}
        self._shared: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {}

    def decomposed(self, node: Node, scope: Scope) -> Subtask:
        reader = self.reader
        reader.context = f"{self.context}, :task"
        group = reader.group(node, "(task ?parameter …)")
        head = reader.head(group, "(task ?parameter …)")
        if head.text not in self.hierarchy.tasks:
            if head.text in self.hierarchy.domain.actions:
                reader.semantic(head, f"{head.text!r} is an action and cannot be decomposed")
            reader.undeclared(head, "task", self.hierarchy.tasks)
        return self._task(group, "", scope)

    def read(self, fields: Mapping[str, Node], scope: Scope) -> TaskNetwork:
        reader = self.reader
        given = [name for name in SUBTASKS if name in fields]
        subtasks: tuple[Subtask, ...] = ()
        order: Sequence[tuple[int, int]] = ()
        if len(given) > 1:
            message = f"{' and '.join(given)} exclude each other"
            reader.semantic(fields[given[1]], message)
        if given:
            reader.context = f"{self.context}, {given[0]}"
            subtasks = self._subtasks(fields[given[0]], scope)
            if given[0] in _ORDERED:
                order = Pairs.chain(len(subtasks))
        ordering = [name for name in ORDERINGS if name in fields]
        for name in ordering:
            reader.context = f"{self.context}, {name}"
            if pairs := self._ordering(name, fields[name], subtasks):
                order = (*order, *pairs) if order else pairs
        constraints: Formula = TRUE
        if ":constraints" in fields:
            reader.context = f"{self.context}, :constraints"
            constraints = self._constraints(fields[":constraints"], scope)
        network = TaskNetwork(subtasks, order, constraints)
        if network.cyclic:
            field = next(name for name in ordering if name in self._last)
            reader.context = f"{self.context}, {field}"
            self._cycle(network, self._last[field])
        return network

    def _cycle(self, network: TaskNetwork, node: Node) -> None:
        names = [
            subtask.identifier or str(subtask)
            for index, subtask in enumerate(network.subtasks)
            if network.before[index] >> index & 1
        ]
        themselves = "comes before itself" if len(names) == 1 else "come before themselves"
        message = f"the ordering is cyclic: {', '.join(names)} {themselves}"
        self.reader.semantic(node, message, expected="an order without cycles")

    def _subtasks(self, node: Node, scope: Scope) -> tuple[Subtask, ...]:
        reader = self.reader
        group = reader.group(node, "(and (task …) …)")
        head = first_of(group)
        if head is None:
            return ()
        several = isinstance(head, Word) and head.text == "and"
        subtasks: list[Subtask] = []
        names: set[str] = set()
        for item in islice(_used_up(group), 1, None) if several else [group]:
            subtask = self._subtask(reader.group(item, "(id (task …))"), scope)
            if subtask.identifier and subtask.identifier in names:
                reader.semantic(item, f"two subtasks are called {subtask.identifier!r}")
            names.add(subtask.identifier)
            subtasks.append(subtask)
        return tuple(subtasks)

    def _subtask(self, group: Group, scope: Scope) -> Subtask:
        if len(group.items) == 2 and isinstance(inner := group.items[1], Group):
            identifier = self.reader.word(group.items[0], "a name for the subtask")
            return self._task(inner, identifier.text, scope)
        return self._task(group, "", scope)

    def _task(self, group: Group, identifier: str, scope: Scope) -> Subtask:
        reader, hierarchy = self.reader, self.hierarchy
        head = reader.head(group, "(task argument …)")
        parameters = hierarchy.parameters_of(head.text)
        if parameters is None:
            names = (*hierarchy.tasks, *hierarchy.domain.actions)
            reader.undeclared(head, "task or action", names)
        args = group.items[1:]
        if len(args) != len(parameters):
            reader.semantic(
                group,
                f"{head.text!r} takes {arguments_text(len(parameters))}, not {len(args)}",
                expected=f"({' '.join((head.text, *map(str, parameters)))})",
            )
        texts = [
            self._argument(node, position, head.text, parameter, scope)
            for position, (node, parameter) in enumerate(zip(args, parameters, strict=True), 1)
        ]
        # Share equal calls, which are frequent.
        call = (head.text, *texts)
        name, known = self._shared.setdefault(call, (head.text, tuple(texts)))
        return Subtask(identifier, name, known)

    def _argument(
        self, node: Node, position: int, name: str, parameter: TypedName, scope: Scope
    ) -> str:
        reader = self.reader
        word = reader.word(node, "an object or a ?variable")
        text = word.text
        known = scope if text.startswith("?") else reader.objects
        if text not in known:
            what = "variable" if text.startswith("?") else "object"
            reader.undeclared(word, what, known)
        # An argument may have a supertype: the method then applies to fewer objects.
        if not _may_be(self.hierarchy.domain, known[text], parameter.types):
            reader.semantic(
                word,
                f"argument {position} of {name!r} has the wrong type: {text!r} is of type "
                f"{' or '.join(known[text])}",
                expected=f"type {' or '.join(parameter.types)}",
            )
        return text

    def _ordering(self, field: str, node: Node, subtasks: tuple[Subtask, ...]) -> Pairs:
        reader = self.reader
        group = reader.group(node, "(and (< id id) …)")
        firsts, seconds = array("q"), array("q")
        if first_of(group) is None:
            return Pairs(firsts, seconds)
        head = reader.head(group, "(and (< id id) …)")
        places = {s.identifier: i for i, s in enumerate(subtasks) if s.identifier}
        for item in islice(_used_up(group), 1, None) if head.text == "and" else [group]:
            self._last[field] = item
            pair = reader.group(item, "(< id id)")
            if len(pair.items) != 3 or reader.head(pair, "(< id id)").text != "<":
                reader.syntax(pair, "this does not order two subtasks", "(< id id)")
            ends = [reader.word(n, "the name of a subtask") for n in pair.items[1:]]
            for word in ends:
                if word.text not in places:
                    reader.undeclared(word, "subtask", places)
            firsts.append(places[ends[0].text])
            seconds.append(places[ends[1].text])
        return Pairs(firsts, seconds)

    def _constraints(self, node: Node, scope: Scope) -> Formula:
        formula = self.reader.formula(node, scope)
        parts = formula.operands if isinstance(formula, And) else (formula,)
        for part in parts:
            inner = part.operand if isinstance(part, Not) else part
            if not isinstance(inner, Equal):
                feature = "constraints other than (= …) and (not (= …))"
                self.reader.unsupported(node, feature)
        return formula


def _used_up(group: Group) -> Iterator[Node]:
    for token, place, node in group.used_up():
        yield node_of(token, place) if node is None else node


def _may_be(domain: Domain, types: tuple[str, ...], required: tuple[str, ...]) -> bool:
    if domain.has_type(types, required) or domain.has_type(required, types):
        return True
    return any(
        domain.has_type((t,), types) and domain.has_type((t,), required) for t in domain.types
    )


# Parse --------------------------------------------------------------------------------------------
# Names keep their case: some competition domains have names that differ only in case.

_METHOD_FIELDS = (":parameters", ":task", ":precondition", *NETWORK_FIELDS)
_UNSUPPORTED_FIELDS = {
    ":effect": "effects of methods",
    ":duration": "durations of methods",
    ":duration-constraints": "constraints on durations",
    ":temporal-constraints": "temporal constraints",
}
_KEYWORD = re.compile(
    r"(?<=[\s(])(?::[a-z-]+|define|domain|problem|and|or|not|imply|forall|exists|when|either|"
    r"increase|decrease|assign|object|number)(?=[\s()])",
    re.IGNORECASE,
)


class HddlSource(SourceText):
    """An HDDL text, in which only keywords are case-insensitive."""

    __slots__ = ()

    def folded(self) -> str:
        """Return the text with its keywords in lower case."""
        return _KEYWORD.sub(lambda match: match.group().lower(), self.text)


def parse_hddl_domain(
    source: str | Path,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> HierarchicalDomain:
    """Parse an HDDL domain; the arguments are described in `hvr.pddl.parse_domain`.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError, PddlSemanticError: The text is not a domain; the message says where.
    """
    text = HddlSource.read(source, file=file, default="<domain>", lenient=lenient)
    domain = _HddlDomainParser(text).parse_hierarchy()
    if warnings is not None:
        warnings += text.warnings
    return domain


def parse_hddl_problem(
    source: str | Path,
    domain: HierarchicalDomain,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> HierarchicalProblem:
    """Parse an HDDL problem; the options are described in `hvr.pddl.parse_domain`.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError, PddlSemanticError: The text is not a problem of this domain.
    """
    text = HddlSource.read(source, file=file, default="<problem>", lenient=lenient)
    problem = _HddlProblemParser(text, domain).parse_hierarchy()
    if warnings is not None:
        warnings += text.warnings
    return problem


class _HddlDomainParser(DomainParser):
    known = (*DomainParser.known, ":task", ":method")
    repeated = (*DomainParser.repeated, ":task", ":method")

    def parse_hierarchy(self) -> HierarchicalDomain:
        self._sections: list[tuple[Word, Group]] = []
        domain = self.parse()
        if domain.durative_actions:
            place = next(g for k, g in self._sections if k.text == ":durative-action")
            self.unsupported(place, "durative actions in a hierarchical domain")
        if domain.is_hybrid:
            place = next(g for k, g in self._sections if k.text in (":process", ":event"))
            self.unsupported(place, "processes and events in a hierarchical domain")
        tasks: dict[str, CompoundTask] = {}
        for word, group in self._distinct(":task", "(:task name :parameters (…))"):
            self._task(word, group, domain, tasks)
        hierarchy = HierarchicalDomain(domain, tasks)
        methods: dict[str, Method] = {}
        for word, group in self._distinct(":method", "(:method name …)"):
            self._method(word, group, hierarchy, methods)
        return hierarchy.replace(methods=methods)

    def read(self, name: Word, sections: list[tuple[Word, Group]]) -> Domain:
        self._sections = sections
        return super().read(name, sections)

    def _distinct(self, keyword: str, shape: str) -> list[tuple[Word, Group]]:
        what = keyword[1:]
        groups: dict[str, tuple[Word, Group]] = {}
        for section, group in self._sections:
            if section.text != keyword:
                continue
            self.context = keyword
            if len(group.items) < 2:
                self.syntax(group, f"a {what} without a name", shape)
            word = self.name(group.items[1], what)
            _, first = groups.setdefault(word.text, (word, group))
            if first is not group:
                self.written_again(word, f"the {what} {word.text!r} is defined twice", first, group)
        return list(groups.values())

    def _task(
        self, word: Word, group: Group, domain: Domain, tasks: dict[str, CompoundTask]
    ) -> None:
        self.context = f"task {word.text}"
        fields = _fields(self, group.items[2:], (":parameters",), "task")
        parameters = _parameters(self, fields.get(":parameters"), domain)
        if word.text in domain.actions:
            self.semantic(word, f"{word.text!r} is already an action")
        tasks[word.text] = CompoundTask(word.text, parameters, self.source.location(word.offset))

    def _method(
        self, word: Word, group: Group, hierarchy: HierarchicalDomain, methods: dict[str, Method]
    ) -> None:
        self.context = f"method {word.text}"
        domain = hierarchy.domain
        fields = _fields(self, group.items[2:], _METHOD_FIELDS, "method")
        parameters = _parameters(self, fields.get(":parameters"), domain)
        scope = {p.name: p.types for p in parameters}
        reader = ExpressionReader(self.source, domain, {c.name: c.types for c in domain.constants})
        networks = NetworkReader(reader, hierarchy, f"method {word.text}")
        if ":task" not in fields:
            self.syntax(word, "the method has no :task", ":task (task ?parameter …)")
        task = networks.decomposed(fields[":task"], scope)
        precondition: Formula = TRUE
        if (node := fields.get(":precondition")) is not None:
            reader.context = f"method {word.text}, :precondition"
            precondition = reader.formula(node, scope)
        network = networks.read(fields, scope)
        methods[word.text] = Method(
            word.text,
            parameters,
            task.name,
            task.args,
            precondition,
            network,
            self.source.location(word.offset),
        )


class _HddlProblemParser(ProblemParser):
    known = (*ProblemParser.known, ":htn")
    needed = (":domain", ":init")

    def __init__(self, source: SourceText, hierarchy: HierarchicalDomain) -> None:
        super().__init__(source, hierarchy.domain)
        self._hierarchy = hierarchy
        self._htn: Group | None = None

    def parse_hierarchy(self) -> HierarchicalProblem:
        problem = self.parse()
        if self._htn is None:
            self.source.semantic_error(
                0, "the problem has no :htn", expected="(:htn :subtasks (…))"
            )
        return HierarchicalProblem(problem, self._network(self._htn, problem))

    def read(self, name: Word, sections: list[tuple[Word, Group]]) -> Problem:
        self._htn = next((group for keyword, group in sections if keyword.text == ":htn"), None)
        return super().read(name, sections)

    def domain_name(self, group: Group) -> str:
        """Read :domain, ignoring differences of case, which occur in competition files."""
        words = [node for node in group.items if isinstance(node, Word)]
        if len(words) == len(group.items) == 2:
            own = self.domain.name
            if words[1].text.lower() == own.lower():
                return own
        return super().domain_name(group)

    def _network(self, group: Group, problem: Problem) -> Method:
        self.context = ":htn"
        fields = _fields(self, group.items[1:], (":parameters", *NETWORK_FIELDS), "network")
        parameters = _parameters(self, fields.get(":parameters"), self.domain)
        known = {o.name: o.types for o in (*self.domain.constants, *problem.objects)}
        reader = ExpressionReader(self.source, self.domain, known)
        networks = NetworkReader(reader, self._hierarchy, ":htn")
        network = networks.read(fields, {p.name: p.types for p in parameters})
        place = self.source.location(group.offset)
        return Method(ROOT, parameters, network=network, location=place)


def _fields(
    reader: DomainParser | ProblemParser, items: list[Node], known: tuple[str, ...], what: str
) -> dict[str, Node]:
    fields: dict[str, Node] = {}
    for index in range(0, len(items), 2):
        keyword = reader.word(items[index], " or ".join(known))
        if keyword.text in _UNSUPPORTED_FIELDS:
            reader.unsupported(keyword, _UNSUPPORTED_FIELDS[keyword.text])
        if keyword.text not in known:
            reader.syntax(
                keyword, f"a {what} has no field {keyword.text!r}", choices("field", list(known))
            )
        if keyword.text in fields:
            reader.semantic(keyword, f"the {what} has a second {keyword.text}")
        if index + 1 == len(items):
            reader.syntax(
                keyword, f"{keyword.text} without a value", f"a list after {keyword.text}"
            )
        fields[keyword.text] = items[index + 1]
    return fields


def _parameters(
    reader: DomainParser | ProblemParser, node: Node | None, domain: Domain
) -> tuple[TypedName, ...]:
    if node is None:
        return ()
    listed = reader.group(node, "a list of ?variables")
    return reader.variables(listed, "parameter", domain.types)
