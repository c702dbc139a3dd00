"""Orders that arrange several things: exchanges, towers and contrasts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Protocol

from hvr.pddl import Atom, Domain, Formula, Not

_SWAP = re.compile(
    r"(?:swap|exchange|switch|interchange) (?:the places of |the positions of )?(?P<what>.+?)"
    r"(?: around| over)?|(?P<who>.+?) (?:should|must|have to|need to) "
    r"(?:swap|exchange|switch|trade)(?: \w+)?"
)
_SWAPPED = re.compile(r" and | with | for ")
_TOWER = re.compile(
    r"(?:(?:build|make|form|create) )?(?:me )?(?:a|one|the) (?:tower|stack|pile|column) "
    r"(?:(?:out )?of |from |with )?(?P<how>.+)|(?:stack|put|pile|place) (?P<chain>.+)"
)
_TOP = re.compile(r"(?P<what>.+?),? with (?P<end>[^,]+?) (?:on|at the) (?P<where>top|bottom)")
_LAYERS = re.compile(
    r"(?P<low>.+?) at the bottom,? (?:(?P<middle>.+?) in the middle,? )?(?:and )?"
    r"(?P<top>.+?) (?:on|at the) top"
)
_ITEMS = re.compile(r", and |, | and ")
_CONTRAST = re.compile(
    r"(?P<order>.+?),? (?:(?:and |but )?not|instead of|rather than) "
    r"(?:(?:to|into|onto|in|on|at) )?(?P<other>.+)"
)


class OrderReader(Protocol):
    """The parser of a world's orders; None means that the parser does not understand a text."""

    domain: Domain
    objects: dict[str, tuple[str, ...]]

    def object_of(self, text: str) -> str | None: ...

    def objects_of(self, text: str) -> tuple[str, ...]: ...

    def places_now(self, name: str) -> list[Atom]: ...

    def order(self, text: str) -> list[Formula] | None: ...


def exchange(reader: OrderReader, text: str) -> list[Formula] | None:
    """Parse 'swap red and green': each takes the other one's place.

    The result is None for any other text, and for objects that have no place or are at each other's
    place.
    """
    match = _SWAP.fullmatch(text)
    what = (match["what"] or match["who"]) if match is not None else ""
    groups = [[name] for name in reader.objects_of(what)] if what else []
    for joint in _SWAPPED.finditer(what):
        pair = [reader.objects_of(p) for p in (what[: joint.start()], what[joint.end() :])]
        if all(pair):
            groups = [list(names) for names in pair]
    if len(groups) != 2:
        return None
    found: list[Formula] = []
    for other, group in (groups, groups[::-1]):
        places = {(a.predicate, *a.args[1:]) for name in other for a in reader.places_now(name)}
        if len(places) != 1 or {*group} & {x for place in places for x in place}:
            return None
        predicate, *rest = next(iter(places))
        found += [Atom(predicate, (name, *rest)) for name in group]
    return found


def tower(reader: OrderReader, text: str) -> list[Formula] | None:
    """Parse 'stack red on green on blue', 'build a tower of red and green with red on top'."""
    match = _TOWER.fullmatch(text)
    if match is None:
        return None
    how = match["how"] or match["chain"]
    chain = re.split(r" on (?:top of )?", how)
    if (layers := _LAYERS.fullmatch(how)) is not None:
        chain = [part for part in (layers["top"], layers["middle"], layers["low"]) if part]
    elif match["how"] and (end := _TOP.fullmatch(how)) is not None:
        chain = _ITEMS.split(end["what"])
        ends = [reader.object_of(chain[n]) for n in (0, -1)]
        top = end["where"] == "top"
        if reader.object_of(end["end"].removeprefix("with ")) == ends[top]:
            chain = chain[::-1]
        elif reader.object_of(end["end"].removeprefix("with ")) != ends[not top]:
            return None
    elif len(chain) < 3:
        return None
    if any(reader.object_of(one) is None for one in chain):
        return None
    pairs = [reader.order(f"put {one} on {other}") for one, other in pairwise(chain)]
    known = [pair for pair in pairs if pair is not None]
    return [formula for pair in known for formula in pair] if len(known) == len(pairs) else None


def contrast(reader: OrderReader, text: str) -> list[Formula] | None:
    """Parse 'put red on green, not blue': blue must not be on green."""
    match = _CONTRAST.fullmatch(text)
    other = reader.object_of(match["other"]) if match else None
    found = reader.order(match["order"]) if match and other else None
    if found is None or not isinstance(atom := found[-1], Atom) or other is None:
        return None
    for at in reversed(range(len(atom.args))):
        parameter = reader.domain.predicates[atom.predicate].parameters[at]
        if reader.domain.has_type(reader.objects[other], parameter.types):
            denied = (*atom.args[:at], other, *atom.args[at + 1 :])
            return [*found, Not(Atom(atom.predicate, denied))]
    return None
