"""Deeply nested lists, written flat where that leaves the meaning alone; without recursion."""

from __future__ import annotations

from collections.abc import Callable

from hvr.pddl.lexer import Word
from hvr.pddl.reader import Group, Node, head_of

_MERGED = ("and", "or", "+", "*")
"""What `(f … (f a b) …)` and `(f … a b …)` mean the same for."""


def flatten(top: list[Node]) -> None:
    """Write what is nested in its own kind as one list.

    * `(and (and a b) c)`, so for `or`, `+` and `*`, as `(and a b c)`; `(and a)` as `a`;
    * `(not (not a))` as `a`;
    * `(imply a (imply b c))` as `(imply (and a b) c)`, so for `when`;
    * `(forall (?a) (forall (?b) c))`, so for `exists`, as `(forall (?a ?b) c)`.
    """
    order = [node for node in top if isinstance(node, Group)]
    for group in order:
        order += [item for item in group.items if isinstance(item, Group)]
    # From the innermost on, so that what stands alone is gone before it hides what is around it.
    gone: set[int] = set()
    for group in reversed(order):
        gone.update(map(id, _alone(group)))
    # From the outermost on, so that each chain is gone through once.
    for group in order:
        head = head_of(group)
        if id(group) in gone:
            continue
        if head in _MERGED:
            gone.update(map(id, _merge(group, head)))
        elif head in ("imply", "when"):
            gone.update(map(id, _conditions(group, head)))
        elif head in ("forall", "exists"):
            gone.update(map(id, _variables(group, head)))


def _alone(group: Group) -> list[Group]:
    """Write a double negation, and a conjunction or disjunction of one, as what is in it.

    Return the lists whose place it has taken.
    """
    taken: list[Group] = []
    while len(group.items) == 2 and head_of(group) in ("and", "or", "not"):
        inner = group.items[1]
        if head_of(group) == "not" and isinstance(inner, Group):
            if head_of(inner) != "not" or len(inner.items) != 2:
                break
            inner = inner.items[1]
        if not isinstance(inner, Group) or not inner.items:
            break
        taken.append(inner)
        group.items = inner.items
    return taken


def _merge(group: Group, head: str) -> list[Group]:
    """Return the lists that have been merged into one."""
    flat: list[Node] = []
    merged: list[Group] = []
    # What is still to be written down, the next last.
    waiting = group.items[:0:-1]
    while waiting:
        item = waiting.pop()
        # A sum needs two operands, and `(+ 1)` is to be refused for what it is.
        least = 3 if head in "+*" else 1
        if isinstance(item, Group) and head_of(item) == head and len(item.items) >= least:
            merged.append(item)
            waiting += item.items[:0:-1]
        else:
            flat.append(item)
    group.items = [group.items[0], *flat]
    return merged


def _conditions(group: Group, head: str) -> list[Group]:
    chain = _chain(group, head, lambda _: True)
    if len(chain) > 1:
        conditions = [link.items[1] for link in chain]
        both = Group(group.offset)
        both.items = [Word("and", group.offset), *conditions]
        group.items = [group.items[0], both, chain[-1].items[2]]
        return [*chain[1:], *_merge(both, "and")]
    return []


def _variables(group: Group, head: str) -> list[Group]:
    lists: list[list[Node]] = []
    seen: set[tuple[str, ...]] = set()
    names: set[str] = set()

    def fits(link: Group) -> bool:
        listed = link.items[1]
        if not isinstance(listed, Group):
            return False
        own = _untyped(listed)
        # A variable that hides another of its name: their types may differ.
        if own is None or not names.isdisjoint(own):
            return tuple(_texts(listed.items)) in seen
        names.update(own)
        seen.add(tuple(_texts(listed.items)))
        lists.append(listed.items)
        return True

    if len(group.items) != 3 or not fits(group):
        return []
    chain = _chain(group, head, fits)
    if len(chain) > 1:
        both = Group(group.items[1].offset)
        both.items = [word for words in lists for word in _typed(words)]
        group.items = [group.items[0], both, chain[-1].items[2]]
    return chain[1:]


def _chain(group: Group, head: str, fits: Callable[[Group], bool]) -> list[Group]:
    """Return a list of three with the lists of its kind that stand last in one another."""
    chain = [group] if len(group.items) == 3 else []
    while chain:
        inner = chain[-1].items[2]
        if not isinstance(inner, Group) or head_of(inner) != head or len(inner.items) != 3:
            break
        if not fits(inner):
            break
        chain.append(inner)
    return chain


def _texts(words: list[Node]) -> list[str]:
    return [word.text for word in words if isinstance(word, Word)]


def _untyped(listed: Group) -> list[str] | None:
    """Return the names in a list of variables; None if it is not a plain one."""
    texts = _texts(listed.items)
    if len(texts) < len(listed.items):
        return None
    names = [text for text in texts if text[0] == "?"]
    return names if len(set(names)) == len(names) else None


def _typed(words: list[Node]) -> list[Node]:
    """Write a type behind names that have none, so that they can stand before others."""
    if len(words) >= 3 and isinstance(words[-2], Word) and words[-2].text == "-":
        return words
    if not words:
        return words
    place = words[-1].offset
    return [*words, Word("-", place), Word("object", place)]
