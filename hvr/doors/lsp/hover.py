"""Hover texts: a name's types, the actions that add, delete and read it, and action costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hvr.base.printable import one_line
from hvr.doors.lsp.completion import signature
from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import Declaration, Kind, Occurrence, Role
from hvr.doors.lsp.syntax import Item, Leaf, List

_MOST = 12
_USES = (
    (Role.ADDED, "Added by"),
    (Role.DELETED, "Deleted by"),
    (Role.CHANGED, "Changed by"),
    (Role.READ, "Read by"),
)


def describe(models: Models, file: str, found: Occurrence) -> str:
    """Return the description of a name as Markdown; empty if it is not declared."""
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
    # Objects and types share a list: the comment above their own line describes them.
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
    """Return an item as text; lists are nested no deeper than numeric expressions are."""
    if isinstance(item, Leaf):
        return item.text
    return f"({' '.join(map(_source, _shallow(item.items)))})"


def _shallow(items: Sequence[Item]) -> Sequence[Item]:
    return [item for item in items if isinstance(item, Leaf) or len(item.items) < _MOST]


def _code(text: str) -> str:
    return one_line(text).replace("`", "'")


def _text(text: str) -> str:
    """Return a text from a file as plain text in Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|" else c for c in one_line(text))
