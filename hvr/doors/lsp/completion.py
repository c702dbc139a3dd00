"""Completion: the names that can be inserted at a position, those of the expected type first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hvr.base.printable import one_line
from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import (
    SCHEMAS,
    Declaration,
    Item,
    Kind,
    Leaf,
    List,
    Occurrence,
    PlanSymbols,
    Role,
    Symbols,
)

_DOMAIN = (
    ":requirements :types :constants :predicates :functions :constraints :derived :action "
    ":durative-action :process :event :task :method"
).split()
_PROBLEM = ":domain :requirements :objects :init :goal :constraints :metric :htn".split()
_KEYS = {
    ":action": ":parameters :precondition :effect",
    ":durative-action": ":parameters :duration :condition :effect",
    ":process": ":parameters :precondition :effect",
    ":event": ":parameters :precondition :effect",
    ":task": ":parameters",
    ":method": ":parameters :task :precondition :ordered-subtasks :subtasks :ordering :constraints",
    ":htn": ":parameters :ordered-subtasks :subtasks :ordering :constraints",
}
_FLAGS = (
    ":strips :typing :negative-preconditions :disjunctive-preconditions :equality "
    ":existential-preconditions :universal-preconditions :quantified-preconditions "
    ":conditional-effects :fluents :numeric-fluents :object-fluents :adl :durative-actions "
    ":duration-inequalities :continuous-effects :derived-predicates :timed-initial-literals "
    ":timed-initial-fluents :preferences :constraints :action-costs :time :hierarchy "
    ":method-preconditions"
).split()
_CONDITION = "and or not imply exists forall = < > <= >=".split()
_EFFECT = "and not forall when increase decrease assign scale-up scale-down".split()
_TIMES = ("at start", "at end", "over all")
_NETWORKS = frozenset(":subtasks :ordered-subtasks :tasks :ordered-tasks :task".split())


class Proposal(NamedTuple):
    """A name that can be inserted.

    Attributes:
        noun: The kind of name, such as "predicate", which also determines the icon.
        rank: Sort key; lower ranks come first.
    """

    name: str
    noun: str
    detail: str = ""
    rank: int = 0


def proposals(models: Models, file: str, line: int, column: int) -> list[Proposal]:
    """Return the names that can be inserted at a position, best matches first."""
    names = models.names(file)
    tree = names.tree
    path = tree.path(line, column)
    if isinstance(names, PlanSymbols):
        return list(_in_plan(models, file, path, line, column))
    if not path:
        return [Proposal("define", "keyword")]
    before = _items_before(path[-1], line, column)
    last = before[-1].text if before and isinstance(before[-1], Leaf) else ""
    word = _prefix(tree.lines[line], column)
    found = list(_for_list(models, file, path, before, last, word))
    unique = {(one.name, one.noun): one for one in reversed(found)}
    return sorted(unique.values(), key=lambda one: (one.rank, one.name))


def _for_list(
    models: Models,
    file: str,
    path: Sequence[List],
    before: Sequence[Leaf | List],
    last: str,
    word: str,
) -> Iterator[Proposal]:
    inner, section = path[-1], _section(path)
    if inner.head == "define" or (len(path) == 2 and not before and path[0].head == "define"):
        names = models.names(file)
        problem = isinstance(names, Symbols) and names.kind is Kind.PROBLEM
        keys = _PROBLEM if problem else _DOMAIN
        yield from (Proposal(key, "keyword") for key in keys)
    elif section == ":requirements":
        present = {item.text for item in inner.items if isinstance(item, Leaf)}
        yield from (Proposal(flag, "keyword") for flag in _FLAGS if flag not in present)
    elif inner.head == ":domain":
        for model in models.all(file):
            names = models.names(model.domain)
            if isinstance(names, Symbols):
                yield Proposal(names.name, "domain", model.domain)
    elif last == "-" or (inner.head == "either" and before):
        for _, one in models.declared(file, Kind.TYPE):
            yield Proposal(one.occurrence.name, "type", " ".join(one.types))
        yield Proposal("object", "type", rank=1)
    elif inner.head in (*SCHEMAS, ":htn") and (word.startswith(":") or inner is path[-1]):
        keys = _KEYS[inner.head].split()
        present = {item.text for item in inner.items if isinstance(item, Leaf)}
        yield from (Proposal(key, "keyword") for key in keys if key not in present)
    elif section in (":types", ":predicates", ":functions", ":objects", ":constants"):
        return
    elif not before:
        yield from _heads(models, file, path, section)
    else:
        yield from _arguments(models, file, path, before)


def _heads(models: Models, file: str, path: Sequence[List], section: str) -> Iterator[Proposal]:
    if section in _NETWORKS:
        for _, one in models.declared(file, Kind.SCHEMA):
            if one.noun in ("task", "action") or section != ":task":
                yield Proposal(one.occurrence.name, one.noun, signature(one))
        return
    effect = section == ":effect"
    for _, one in models.declared(file, Kind.RELATION):
        yield Proposal(one.occurrence.name, one.noun, signature(one))
    if section == ":init":
        yield Proposal("=", "keyword", rank=1)
        return
    schema = path[1].head if len(path) > 1 else ""
    if schema == ":durative-action":
        yield from (Proposal(when, "keyword", rank=1) for when in _TIMES)
    for word in _EFFECT if effect else _CONDITION:
        yield Proposal(word, "keyword", rank=1)


def _arguments(
    models: Models, file: str, path: Sequence[List], before: Sequence[Leaf | List]
) -> Iterator[Proposal]:
    # Names of the expected type come first.
    head = path[-1].head
    expected = _expected(models, file, head, len(before) - 1)
    supertypes = models.supertypes(file)
    names = models.names(file)
    assert isinstance(names, Symbols)
    for name, types in _variables(path):
        yield Proposal(name, "parameter", " ".join(types), _rank(types, expected, supertypes))
    for _, one in models.declared(file, Kind.OBJECT):
        rank = _rank(one.types, expected, supertypes)
        yield Proposal(one.occurrence.name, one.noun, " ".join(one.types), rank)


def _in_plan(
    models: Models, file: str, path: Sequence[List], line: int, column: int
) -> Iterator[Proposal]:
    before = _items_before(path[-1], line, column) if path else []
    if not before:
        for _, one in models.declared(file, Kind.SCHEMA):
            if one.noun in ("action", "durative action"):
                yield Proposal(one.occurrence.name, one.noun, signature(one))
        return
    expected = _expected(models, file, path[-1].head, len(before) - 1)
    supertypes = models.supertypes(file)
    for _, one in models.declared(file, Kind.OBJECT):
        rank = _rank(one.types, expected, supertypes)
        if rank == 0 or expected is None:
            yield Proposal(one.occurrence.name, one.noun, " ".join(one.types), rank)


def signature(one: Declaration) -> str:
    """Return the parameters of a declaration as in PDDL, such as `?x - block ?y - block`."""
    parts = []
    for name, types in one.parameters:
        of = f"(either {' '.join(types)})" if len(types) > 1 else "".join(types)
        parts.append(f"{name} - {of}" if of else name)
    return " ".join(parts)


def _expected(models: Models, file: str, head: str, number: int) -> tuple[str, ...] | None:
    for kind in (Kind.RELATION, Kind.SCHEMA):
        for _, one in models.declared(file, kind):
            if one.occurrence.name == head and number < len(one.parameters):
                return one.parameters[number][1]
    return None


def _rank(
    types: Iterable[str], expected: tuple[str, ...] | None, supertypes: dict[str, set[str]]
) -> int:
    if not expected or "object" in expected:
        return 0
    fits = any(set(expected) & supertypes.get(name, {name}) for name in types)
    return 0 if fits else 2


def _variables(path: Sequence[List]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in path:
        lists = [item for item in node.items if isinstance(item, List)]
        if node.head in ("exists", "forall"):
            declaring = lists[:1]
        else:
            declaring = [
                value
                for key, value in zip(node.items, node.items[1:], strict=False)
                if isinstance(key, Leaf) and key.text == ":parameters" and isinstance(value, List)
            ]
            if node.head == ":derived":
                declaring = lists[:1]
        for one in declaring:
            yield from _typed(one)


def _typed(node: List) -> Iterator[tuple[str, tuple[str, ...]]]:
    pending: list[str] = []
    items = iter(node.items)
    for item in items:
        if not isinstance(item, Leaf):
            continue
        if item.text == "-":
            of = next(items, None)
            types: tuple[str, ...] = ()
            if isinstance(of, Leaf):
                types = (of.text,)
            elif isinstance(of, List):
                types = tuple([w.text for w in of.items[1:] if isinstance(w, Leaf)])
            yield from ((name, types) for name in pending)
            pending = []
        elif item.text.startswith("?"):
            pending.append(item.text)
    yield from ((name, ()) for name in pending)


def _section(path: Sequence[List]) -> str:
    for node, inner in zip(reversed(path[:-1]), reversed(path[1:]), strict=False):
        if node.head in (*SCHEMAS, ":htn"):
            place = node.items.index(inner)
            key = node.items[place - 1]
            return key.text if isinstance(key, Leaf) and place else ""
        if node.head == "define":
            return inner.head
    return path[-1].head


def _items_before(node: List, line: int, column: int) -> list[Leaf | List]:
    found: list[Leaf | List] = []
    for item in node.items:
        where = (item.line, item.end) if isinstance(item, Leaf) else (item.end_line, item.end)
        if where < (line, column) or (isinstance(item, List) and where == (line, column)):
            found.append(item)
    return found


def _prefix(line: str, column: int) -> str:
    start = column
    while start > 0 and line[start - 1] not in " \t()":
        start -= 1
    return line[start:column]


# Hover --------------------------------------------------------------------------------------------
# Hover texts contain a name's types, the actions that add, delete and read it, and action costs.

_MOST = 12
_USES = (
    (Role.ADDED, "Added by"),
    (Role.DELETED, "Deleted by"),
    (Role.CHANGED, "Changed by"),
    (Role.READ, "Read by"),
)


def describe(models: Models, file: str, found: Occurrence) -> str:
    """Describe a name in Markdown; empty if the name is not declared."""
    place = models.declaration(file, found)
    if place is None:
        return ""
    where, declared = place
    parts = [f"**{declared.noun}** `{_code(_head(declared))}`"]
    comment = models.names(where).tree.comment_above(_first_line(declared))
    if comment:
        parts.append("\n".join(map(_text, comment.splitlines())))
    parts += _facts(models, file, found, declared)
    return "\n\n".join(parts)


def _head(one: Declaration) -> str:
    name, more = one.occurrence.name, signature(one)
    if one.noun in ("predicate", "function"):
        return f"({name} {more})" if more else f"({name})"
    if one.types:
        return f"{name} - {' '.join(one.types)}"
    return f"{name} {more}".strip()


def _first_line(one: Declaration) -> int:
    # Objects and types share a list, so the comment above their own line describes them.
    listed = one.occurrence.kind in (Kind.OBJECT, Kind.TYPE)
    return one.occurrence.line if one.node is None or listed else one.node.line


def _facts(models: Models, file: str, found: Occurrence, declared: Declaration) -> Iterator[str]:
    if found.kind is Kind.RELATION:
        places = list(models.places(file, found))
        for role, title in _USES:
            users = [
                p.found.schema or ("the goal" if role is Role.READ else "")
                for p in places
                if p.found.role is role
            ]
            if shown := _listed(users):
                yield f"{title}: {shown}"
        if not any(p.found.role in (Role.ADDED, Role.DELETED, Role.CHANGED) for p in places):
            yield "No action changes it."
    elif found.kind is Kind.TYPE:
        supertypes = models.supertypes(file)
        objects = [
            d.occurrence.name
            for _, d in models.declared(file, Kind.OBJECT)
            if any(found.name in supertypes.get(of, {of}) for of in d.types)
        ]
        subtypes = [n for n, above in supertypes.items() if found.name in above and n != found.name]
        if shown := _listed(subtypes):
            yield f"Subtypes: {shown}"
        if shown := _listed(objects):
            yield f"Objects: {shown}"
    elif found.kind is Kind.SCHEMA and declared.node is not None:
        costs = [_source(cost) for cost in _costs(declared.node)]
        if costs:
            yield f"Cost: `{_code(' + '.join(costs))}`"
        methods = [
            d.occurrence.name
            for _, d in models.declared(file, Kind.METHOD)
            if d.node is not None and _task_of(d.node) == found.name
        ]
        if shown := _listed(methods):
            yield f"Methods: {shown}"


def _listed(names: Iterable[str]) -> str:
    unique = [f"`{_code(name)}`" for name in dict.fromkeys(names) if name]
    more = f" and {len(unique) - _MOST} more" if len(unique) > _MOST else ""
    return ", ".join(unique[:_MOST]) + more


def _costs(node: List) -> Iterator[Item]:
    stack: list[Item] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, List):
            target = item.items[1] if len(item.items) == 3 else None
            if item.head == "increase" and isinstance(target, List):
                if target.head == "total-cost":
                    yield item.items[2]
            else:
                stack.extend(reversed(item.items))


def _task_of(node: List) -> str:
    for key, value in zip(node.items, node.items[1:], strict=False):
        if isinstance(key, Leaf) and key.text == ":task" and isinstance(value, List):
            return value.head
    return ""


def _source(item: Item) -> str:
    # Lists are nested no deeper than numeric expressions.
    if isinstance(item, Leaf):
        return item.text
    return f"({' '.join(map(_source, _shallow(item.items)))})"


def _shallow(items: Sequence[Item]) -> Sequence[Item]:
    return [item for item in items if isinstance(item, Leaf) or len(item.items) < _MOST]


def _code(text: str) -> str:
    return one_line(text).replace("`", "'")


def _text(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|" else c for c in one_line(text))
