"""Task networks, and the tasks in them, from nested lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hvr.hddl.model import Chain, HierarchicalDomain, Network, Subtask
from hvr.pddl import TRUE, And, Domain, Equal, Formula, Not, TypedName
from hvr.pddl.expressions import ExpressionReader, Scope
from hvr.pddl.lexer import Word
from hvr.pddl.lists import arguments_text
from hvr.pddl.reader import Group, Node

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
                order = Chain(len(subtasks))
        ordering = [name for name in ORDERINGS if name in fields]
        for name in ordering:
            reader.context = f"{self.context}, {name}"
            if pairs := self._ordering(fields[name], subtasks):
                order = (*order, *pairs)
        constraints: Formula = TRUE
        if ":constraints" in fields:
            reader.context = f"{self.context}, :constraints"
            constraints = self._constraints(fields[":constraints"], scope)
        network = Network(subtasks, order, constraints)
        if network.cyclic:
            reader.context = f"{self.context}, {(*ordering, *given)[0]}"
            self._cycle(network, fields[(*ordering, *given)[0]])
        return network

    def _cycle(self, network: Network, node: Node) -> None:
        names = [
            subtask.identifier or str(subtask)
            for index, subtask in enumerate(network.subtasks)
            if network.before[index] >> index & 1
        ]
        message = f"the ordering is cyclic: {', '.join(names)} come before themselves"
        if isinstance(node, Group) and node.items:
            node = node.items[-1]
        self.reader.semantic(node, message, expected="an order without cycles")

    def _subtasks(self, node: Node, scope: Scope) -> tuple[Subtask, ...]:
        reader = self.reader
        group = reader.group(node, "(and (task …) …)")
        if not group.items:
            return ()
        head = group.items[0]
        several = isinstance(head, Word) and head.text == "and"
        subtasks: list[Subtask] = []
        names: set[str] = set()
        for item in group.items[1:] if several else [group]:
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
        place = reader.source.location(group.offset)
        return Subtask(identifier, head.text, tuple(texts), place)

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

    def _ordering(self, node: Node, subtasks: tuple[Subtask, ...]) -> list[tuple[int, int]]:
        reader = self.reader
        group = reader.group(node, "(and (< id id) …)")
        if not group.items:
            return []
        head = reader.head(group, "(and (< id id) …)")
        places = {s.identifier: i for i, s in enumerate(subtasks) if s.identifier}
        pairs: list[tuple[int, int]] = []
        for item in group.items[1:] if head.text == "and" else [group]:
            pair = reader.group(item, "(< id id)")
            if len(pair.items) != 3 or reader.head(pair, "(< id id)").text != "<":
                reader.syntax(pair, "this orders no subtasks", "(< id id)")
            ends = [reader.word(n, "the name of a subtask") for n in pair.items[1:]]
            for word in ends:
                if word.text not in places:
                    reader.undeclared(word, "subtask", places)
            pairs.append((places[ends[0].text], places[ends[1].text]))
        return pairs

    def _constraints(self, node: Node, scope: Scope) -> Formula:
        formula = self.reader.formula(node, scope)
        parts = formula.operands if isinstance(formula, And) else (formula,)
        for part in parts:
            inner = part.operand if isinstance(part, Not) else part
            if not isinstance(inner, Equal):
                feature = "constraints other than (= …) and (not (= …))"
                self.reader.unsupported(node, feature)
        return formula


def _may_be(domain: Domain, types: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Say whether something of some types can be of others, being of a common subtype."""
    if domain.has_type(types, wanted) or domain.has_type(wanted, types):
        return True
    return any(domain.has_type((t,), types) and domain.has_type((t,), wanted) for t in domain.types)
