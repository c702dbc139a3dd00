"""HDDL from text: a domain or a problem of PDDL with sections on tasks, methods and networks.

Names keep their case: domains of the competitions have names that differ in nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path

from hvr.pddl import (
    TRUE,
    Diagnostic,
    Domain,
    Formula,
    Problem,
    TypedName,
)
from hvr.pddl.domain_parser import DomainParser
from hvr.pddl.expressions import ExpressionReader
from hvr.pddl.hierarchy.model import (
    ROOT,
    CompoundTask,
    HierarchicalDomain,
    HierarchicalProblem,
    Method,
)
from hvr.pddl.hierarchy.networks import NETWORK_FIELDS, NetworkReader
from hvr.pddl.lexer import SourceText, Word
from hvr.pddl.lists import choices
from hvr.pddl.problem_parser import ProblemParser
from hvr.pddl.reader import Group, Node

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
    """A text of HDDL, in which only the words of the language have no case."""

    __slots__ = ()

    def folded(self) -> str:
        """Return the text with the words of the language in lower case."""
        return _KEYWORD.sub(lambda match: match.group().lower(), self.text)


def parse_hddl_domain(
    source: str | Path,
    *,
    file: str | None = None,
    lenient: bool = False,
    warnings: list[Diagnostic] | None = None,
) -> HierarchicalDomain:
    """Parse a domain of HDDL. The arguments are those of `hvr.pddl.parse_domain`.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a domain; the message says where.
        UnsupportedPddlError: the domain uses a part of the language that is not supported.
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
    """Parse a problem of a domain of HDDL. The arguments are those of `parse_hddl_domain`.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError, PddlSemanticError: the text is not a problem of this domain.
        UnsupportedPddlError: the problem uses a part of the language that is not supported.
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
        """Parse the domain with its tasks and methods."""
        self._sections: list[tuple[Word, Group]] = []
        domain = self.parse()
        if domain.durative_actions:
            place = next(g for k, g in self._sections if k.text == ":durative-action")
            self.unsupported(place, "durative actions in a hierarchical domain")
        if domain.moves:
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
        """Read the sections of the domain, and keep those on tasks and methods."""
        self._sections = sections
        return super().read(name, sections)

    def _distinct(self, keyword: str, shape: str) -> list[tuple[Word, Group]]:
        """Return the sections of a kind with their names, before their lists are used up."""
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
        self,
        word: Word,
        group: Group,
        hierarchy: HierarchicalDomain,
        methods: dict[str, Method],
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
        """Parse the problem with its initial network."""
        problem = self.parse()
        if self._htn is None:
            self.source.semantic_error(
                0, "the problem has no :htn", expected="(:htn :subtasks (…))"
            )
        return HierarchicalProblem(problem, self._network(self._htn, problem))

    def read(self, name: Word, sections: list[tuple[Word, Group]]) -> Problem:
        """Read the sections of the problem, and keep the network."""
        self._htn = next((group for keyword, group in sections if keyword.text == ":htn"), None)
        return super().read(name, sections)

    def domain_name(self, group: Group) -> str:
        """Read :domain; its case does not matter, and the competitions' files mix them."""
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
    """Take the `:keyword value` pairs of a section apart."""
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
    names = reader.typed_list(listed.items, "variable", types=domain.types)
    return reader.distinct(names, "parameter")
