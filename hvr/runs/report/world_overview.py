"""Overview of a world as values and as a drawing: types with objects, facts and actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hvr.execution.deviations import literal_clause
from hvr.pddl import OBJECT, Atom, Domain, Problem, TypedName
from hvr.runs.report.charts import SVG, element, escaped, tooltip
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.lexicon import WorldLexicon

# Overview -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TypeNode:
    """A type of the world, with its direct objects, which belong to none of its subtypes.

    `depth` is 0 for direct subtypes of `object`.
    """

    name: str
    parent: str
    depth: int
    objects: tuple[str, ...]


@dataclass(frozen=True)
class Overview:
    """The contents of a world; each fact and each action is a pair (wording, PDDL)."""

    name: str
    types: tuple[TypeNode, ...]
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]
    actions: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the title and lines of each section."""
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
        return {
            "name": self.name,
            "types": [
                {"name": t.name, "parent": t.parent, "objects": list(t.objects)} for t in self.types
            ],
            "facts": [{"pddl": pddl, "words": words} for words, pddl in self.facts],
            "numbers": list(self.numbers),
            "actions": [{"pddl": pddl, "words": words} for words, pddl in self.actions],
            "tasks": list(self.tasks),
        }


def overview(world: WorldFolder, problem: Problem | None = None) -> Overview:
    """Return the contents of a world, with the objects of a problem if one is given."""
    domain, words = world.domain, world.words
    objects = (*domain.constants, *(problem.objects if problem is not None else ()))
    tasks = (*world.tasks, *(file.stem for file in world.problem_files))
    return Overview(
        world.name,
        tuple(_tree(domain, objects)),
        tuple(
            _fact(name, parameters.parameters, words)
            for name, parameters in domain.predicates.items()
        ),
        tuple(str(function) for function in domain.functions.values()),
        tuple(_order(name, schema.parameters, words) for name, schema in domain.actions.items()),
        tuple(dict.fromkeys(tasks)),
    )


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


def _fact(name: str, parameters: tuple[TypedName, ...], words: WorldLexicon) -> tuple[str, str]:
    names = _names(parameters)
    return literal_clause(Atom(name, names), words.wording), _typed(name, parameters)


def _order(name: str, parameters: tuple[TypedName, ...], words: WorldLexicon) -> tuple[str, str]:
    return words.wording.actions[name].imperative.fill(_names(parameters)), _typed(name, parameters)


def _names(parameters: tuple[TypedName, ...]) -> tuple[str, ...]:
    return tuple(parameter.name.removeprefix("?").upper() for parameter in parameters)


def _typed(name: str, parameters: tuple[TypedName, ...]) -> str:
    typed = [f"{p.name} - {' or '.join(p.types)}" for p in parameters]
    return f"({' '.join((name, *typed))})"


# World drawing ------------------------------------------------------------------------------------

_ROW, _INDENT, _LETTER, _GAP = 22, 24, 7.2, 40
_STYLE = "text{font:13px sans-serif;fill:#222}.head{font-weight:bold}.pddl{fill:#667}"


def draw_world(view: Overview) -> str:
    """Return an SVG picture with types (left), facts (middle) and actions (right)."""
    columns = [
        [("types", "head", "", 0), *_types(view)],
        [
            ("facts", "head", "", 0),
            *((words, "", pddl, 0) for words, pddl in view.facts),
            *((number, "pddl", "a number", 0) for number in view.numbers),
        ],
        [("actions", "head", "", 0), *((words, "", pddl, 0) for words, pddl in view.actions)],
    ]
    parts: list[str] = []
    x = 20.0
    for rows in columns:
        width = 0.0
        for number, (text, kind, hint, depth) in enumerate(rows):
            left = x + depth * _INDENT
            y = 54.0 + number * _ROW
            if depth:
                way = f"M{left - 14:.1f} {y - 18:.1f}V{y - 4:.1f}H{left - 4:.1f}"
                parts.append(element("path", d=way, fill="none", stroke="#99a"))
            hover = tooltip(hint) if hint else ""
            parts.append(element("text", hover + escaped(text), x=left, y=y, class_=kind or None))
            width = max(width, len(text) * _LETTER + depth * _INDENT)
        x += width + _GAP
    height = 54.0 + max(map(len, columns)) * _ROW
    title = element("text", escaped(view.name), x=20.0, y=26.0, class_="head")
    back = element("rect", width=x, height=height, fill="#fff")
    style = element("style", _STYLE)
    return element(
        "svg",
        style,
        back,
        title,
        *parts,
        xmlns=SVG,
        width=x,
        height=height,
        viewBox=f"0 0 {x:.1f} {height:.1f}",
    )


def _types(view: Overview) -> Iterator[tuple[str, str, str, int]]:
    for node in view.types:
        objects = f": {', '.join(node.objects)}" if node.objects else ""
        yield (
            f"{node.name}{objects}",
            "",
            f"a kind of {node.parent}" * bool(node.parent),
            node.depth,
        )
