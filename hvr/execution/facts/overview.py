"""What there is in a world, for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hvr.execution.words import say
from hvr.pddl import OBJECT, Atom, Domain, Problem, TypedName
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.words import WorldWords


@dataclass(frozen=True)
class TypeNode:
    """A type of the world.

    Args:
        name: its name.
        parent: of which it is a kind.
        depth: 0 for those below `object`.
        objects: that are of it and of none of its kinds.
    """

    name: str
    parent: str
    depth: int
    objects: tuple[str, ...]


@dataclass(frozen=True)
class Overview:
    """What there is in a world.

    Args:
        name: of the world.
        types: in the order of the tree.
        facts: each predicate as a clause, with its PDDL.
        numbers: functions.
        actions: each action as an order, with its PDDL.
        tasks: names of tasks and problems.
    """

    name: str
    types: tuple[TypeNode, ...]
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]
    actions: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Yield titles with lines."""
        yield self.name, [", ".join(self.tasks) or "no problems"]
        lines = []
        for node in self.types:
            objects = f": {', '.join(node.objects)}" if node.objects else ""
            lines.append(f"{'  ' * node.depth}{node.name}{objects}")
        yield "types", lines
        yield "facts", [f"{pddl}  {words}" for words, pddl in self.facts]
        if self.numbers:
            yield "numbers", list(self.numbers)
        yield "actions", [f"{pddl}  {words}" for words, pddl in self.actions]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "types": [
                {"name": t.name, "parent": t.parent, "objects": list(t.objects)}
                for t in self.types
            ],
            "facts": [{"pddl": pddl, "words": words} for words, pddl in self.facts],
            "numbers": list(self.numbers),
            "actions": [{"pddl": pddl, "words": words} for words, pddl in self.actions],
            "tasks": list(self.tasks),
        }  # fmt: skip


def overview(world: WorldFolder, problem: Problem | None = None) -> Overview:
    """Return what there is in a world, with the objects of a problem if one is given.

    Raises:
        DataFileError, PddlError: a file of the world cannot be used.
    """
    domain, words = world.domain, world.words
    objects = (*domain.constants, *(problem.objects if problem is not None else ()))
    tasks = (*world.tasks, *(file.stem for file in world.problem_files))
    return Overview(
        world.name,
        tuple(_tree(domain, objects)),
        tuple(_fact(name, parameters.parameters, words) for name, parameters
              in domain.predicates.items()),
        tuple(str(function) for function in domain.functions.values()),
        tuple(_order(name, schema.parameters, words) for name, schema in domain.actions.items()),
        tuple(dict.fromkeys(tasks)),
    )  # fmt: skip


def _tree(domain: Domain, objects: tuple[TypedName, ...]) -> Iterator[TypeNode]:
    kinds: dict[str, list[str]] = {}
    for name, parents in domain.types.items():
        kinds.setdefault(parents[0] if parents else OBJECT, []).append(name)

    def own(name: str) -> tuple[str, ...]:
        return tuple(o.name for o in objects if name in o.types)

    if own(OBJECT) or not domain.types:
        yield TypeNode(OBJECT, "", 0, own(OBJECT))
    todo = [(name, OBJECT, 0) for name in reversed(kinds.get(OBJECT, []))]
    while todo:
        name, parent, depth = todo.pop()
        yield TypeNode(name, parent, depth, own(name))
        todo += [(kind, name, depth + 1) for kind in reversed(kinds.get(name, []))]


def _fact(name: str, parameters: tuple[TypedName, ...], words: WorldWords) -> tuple[str, str]:
    names = _names(parameters)
    return say(Atom(name, names), words.wording), _typed(name, parameters)


def _order(name: str, parameters: tuple[TypedName, ...], words: WorldWords) -> tuple[str, str]:
    return words.wording.actions[name].imperative.fill(_names(parameters)), _typed(name, parameters)


def _names(parameters: tuple[TypedName, ...]) -> tuple[str, ...]:
    return tuple(parameter.name.removeprefix("?").upper() for parameter in parameters)


def _typed(name: str, parameters: tuple[TypedName, ...]) -> str:
    typed = [f"{p.name} - {' or '.join(p.types)}" for p in parameters]
    return f"({' '.join((name, *typed))})"
