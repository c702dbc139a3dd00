"""Task networks, and the tasks in them, from nested lists."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from hvr.pddl import TRUE, And, Domain, Equal, Formula, Not, TypedName
from hvr.pddl.expressions import ExpressionReader, Scope
from hvr.pddl.hierarchy.model import HierarchicalDomain, Network, Pairs, Subtask
from hvr.pddl.lexer import Word
from hvr.pddl.lists import arguments_text
from hvr.pddl.reader import Group, Node, first_of, node_of

SUBTASKS = (":subtasks", ":tasks", ":ordered-subtasks", ":ordered-tasks")
ORDERINGS = (":ordering", ":order")
NETWORK_FIELDS = (*SUBTASKS, *ORDERINGS, ":constraints")
_ORDERED = (":ordered-subtasks", ":ordered-tasks")


class NetworkReader:
    """Reads task networks and the tasks in them."""

    def __init__(
        self, reader: ExpressionReader, hierarchy: HierarchicalDomain, context: str
    ) -> None:
        self.reader = reader
        self.hierarchy = hierarchy
        self.context = context
        self._last: dict[str, Node] = {}
        self._shared: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {}

    def decomposed(self, node: Node, scope: Scope) -> Subtask:
        """Read the :task of a method."""
        reader = self.reader
        reader.context = f"{self.context}, :task"
        group = reader.group(node, "(task ?parameter …)")
        head = reader.head(group, "(task ?parameter …)")
        if head.text not in self.hierarchy.tasks:
            if head.text in self.hierarchy.domain.actions:
                reader.semantic(head, f"{head.text!r} is an action and cannot be decomposed")
            reader.undeclared(head, "task", self.hierarchy.tasks)
        return self._task(group, "", scope)

    def read(self, fields: Mapping[str, Node], scope: Scope) -> Network:
        """Read the network that some fields describe."""
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
        network = Network(subtasks, order, constraints)
        if network.cyclic:
            field = next(name for name in ordering if name in self._last)
            reader.context = f"{self.context}, {field}"
            self._cycle(network, self._last[field])
        return network

    def _cycle(self, network: Network, node: Node) -> None:
        names = [
            subtask.identifier or str(subtask)
            for index, subtask in enumerate(network.subtasks)
            if network.before[index] >> index & 1
        ]
        message = f"the ordering is cyclic: {', '.join(names)} come before themselves"
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
        # The same few words, over and over: each is kept once.
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
        # An argument may be of a supertype: the method then applies to fewer objects.
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
                reader.syntax(pair, "this orders no subtasks", "(< id id)")
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
    """Yield the items of a list and drop each; nothing may be asked of the list afterwards."""
    for token, place, node in group.used_up():
        yield node_of(token, place) if node is None else node


def _may_be(domain: Domain, types: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Say whether something of some types can be of others, being of a common subtype."""
    if domain.has_type(types, wanted) or domain.has_type(wanted, types):
        return True
    return any(domain.has_type((t,), types) and domain.has_type((t,), wanted) for t in domain.types)
