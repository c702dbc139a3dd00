"""Schema matching: which parameters of a catalogue mean the same, and so feed one another."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hvr.base.texts import read_toml
from hvr.errors import DataFileError, UsageError
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema, quoted
from hvr.tools.catalogue.subjects import (
    BARE_NAMES,
    ParameterSubject,
    Slot,
    name_words,
    slots_of,
    subjects_of,
)
from hvr.tools.tool_plans import Tool, ToolGraph

if TYPE_CHECKING:
    from hvr.knowledge.retrieval.text_vectors import TextVectors


# Complete-linkage clustering ----------------------------------------------------------------------
# Complete-linkage clustering of unit vectors, for thousands of rows.
#
# The nearest-neighbour chain merges the same clusters as always merging the most similar pair,
# where no two pairs are equally similar to four decimals, in quadratic instead of cubic time. F.
# Murtagh, "A Survey of Recent Advances in Hierarchical Clustering Algorithms", The Computer Journal
# 26(4), 1983.

Vectors = NDArray[np.float32]
Similarities = NDArray[np.int16]
LeastCosine = Callable[[slice, slice], NDArray[np.float32]]
"""For some rows and some others, the least cosine that lets two of them be in one cluster."""

MAX_ROWS = 6_000
"""Rows that are clustered together; their similarities take 2 bytes a pair, 72 MB."""

_SCALE = 10_000
"""Similarities are kept as whole numbers of this fraction."""

_BLOCK = 512
"""Rows whose similarities to all others are computed at once."""


def complete_linkage(vectors: Vectors, least: LeastCosine) -> list[tuple[list[int], float]]:
    """Return clusters of rows in which every two rows are similar enough.

    Rows beyond `MAX_ROWS` are clustered in parts, in their order; so put rows that may belong
    together next to each other.

    Args:
        vectors: (n, dimension), rows of length 1.
        least: The least cosine that lets two rows be in one cluster; more than 1 keeps them apart.

    Returns:
        Each cluster's rows in ascending order, with the least cosine between two of them (1 for
        a single row), ordered by their first row.
    """
    clusters = [
        cluster
        for start in range(0, len(vectors), MAX_ROWS)
        for cluster in _chain(_similarities(vectors, least, start), start)
    ]
    return sorted(clusters)


def _similarities(vectors: Vectors, least: LeastCosine, start: int) -> Similarities:
    """Return the pairwise similarities of a part; 0 where two rows must stay apart."""
    part = vectors[start : start + MAX_ROWS]
    found = np.zeros((len(part), len(part)), dtype=np.int16)
    for first in range(0, len(part), _BLOCK):
        end = min(first + _BLOCK, len(part))
        cosines = part[first:end] @ part.T
        asked = least(slice(start + first, start + end), slice(start, start + len(part)))
        cosines[cosines < asked] = 0.0
        found[first:end] = np.rint(np.clip(cosines, 0.0, 1.0) * _SCALE)
    np.fill_diagonal(found, 0)
    return found


def _chain(similar: Similarities, start: int) -> Iterator[tuple[list[int], float]]:
    """Give the clusters; the matrix is used up."""
    members = {row: [row] for row in range(len(similar))}
    lowest = dict.fromkeys(members, _SCALE)
    chain: list[int] = []
    waiting = iter(range(len(similar)))
    while True:
        if not chain:
            tip = next((row for row in waiting if row in members), None)
            if tip is None:
                return
            chain.append(tip)
        tip = chain[-1]
        nearest = int(similar[tip].argmax())
        best = similar[tip, nearest]
        if len(chain) > 1 and similar[tip, chain[-2]] == best:
            nearest = chain[-2]
        if best == 0:  # nothing can join it: merging others never makes them more similar to it
            yield [start + row for row in sorted(members.pop(tip))], lowest[tip] / _SCALE
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            del chain[-2:]
            kept, gone = sorted((tip, nearest))
            _merge(similar, kept, gone)
            members[kept] += members.pop(gone)
            lowest[kept] = min(lowest[kept], lowest[gone], int(best))
            if not chain:
                chain.append(kept)
        else:
            chain.append(nearest)


def _merge(similar: Similarities, kept: int, gone: int) -> None:
    joined = np.minimum(similar[kept], similar[gone])
    joined[[kept, gone]] = 0
    similar[kept], similar[:, kept] = joined, joined
    similar[gone], similar[:, gone] = 0, 0


# Meanings -----------------------------------------------------------------------------------------
# Which parameters of a catalogue mean the same thing, and so feed one another.
#
# Parameters are told apart by type and by the likeness of what their schema says of them; a file
# can overrule both ways. Every group can be looked at, with the likeness that made it.

MIN_DESCRIPTION_COSINE = 0.8
"""Cosine from which two descriptions mean one thing, where nothing else is asked for."""

MIN_SAME_NAME_COSINE = 0.6
"""The same where both have one name, and one that says something."""


@dataclass(frozen=True)
class ParameterMeaning:
    """Slots whose values are the same kind of thing.

    Args:
        name: what they are called together, unlike any other meaning.
        slots: in the catalogue's order.
        alike: the least cosine between two of their descriptions; 1 where these are equal.
        said: whether the user said so.
        subject: The property that all of them hold, such as "id of pet"; empty if they only look
            alike.
    """

    name: str
    slots: tuple[Slot, ...]
    alike: float = 1.0
    said: bool = False
    subject: str = ""


@dataclass(frozen=True)
class Overrides:
    """What the user says of meanings.

    Args:
        same: name of a meaning, and slots that have it, as `tool.parameter`.
        apart: groups of slots of which no two mean the same.
    """

    same: Mapping[str, tuple[str, ...]]
    apart: tuple[tuple[str, ...], ...] = ()


NO_OVERRIDES = Overrides({})


def read_overrides(path: Path) -> Overrides:
    """Return what a file says: a table `[same]` of lists, and a list of lists `apart`.

    Raises:
        DataFileError: it cannot be read, or says something else.
    """
    values = read_toml(path)
    same, apart = values.get("same", {}), values.get("apart", [])
    if unknown := set(values) - {"same", "apart"}:
        raise DataFileError(
            f"{path}: {quoted(sorted(unknown)[0])} is not known; there are 'same' and 'apart'"
        )
    if not isinstance(same, dict) or not isinstance(apart, list):
        raise DataFileError(f"{path}: 'same' is a table of lists, 'apart' a list of lists")
    for slots in [*same.values(), *apart]:
        if not isinstance(slots, list) or not all(isinstance(s, str) and "." in s for s in slots):
            raise DataFileError(
                f"{path}: parameters are lists of texts such as 'tool.parameter', "
                f"not {quoted(slots)}"
            )
    return Overrides({n: tuple(s) for n, s in same.items()}, tuple(tuple(s) for s in apart))


def meanings(
    catalogue: Catalogue,
    encoder: TextVectors,
    alike: float = MIN_DESCRIPTION_COSINE,
    overrides: Overrides = NO_OVERRIDES,
) -> tuple[ParameterMeaning, ...]:
    """Return the meanings of a catalogue's parameters; each slot has one.

    Slots of one subject (`hvr.tools.catalogue.subjects`) mean the same, and properties of different
    things never do where schemas or names tell the things. What is left is told by likeness.

    Groups grow from the likest pair on, as long as all of a group are alike (complete linkage),
    their types can be the same, and no tool takes two of them: it would not ask for one thing by
    two names.

    Args:
        catalogue: the tools.
        encoder: of the texts; each different text is encoded once.
        alike: least cosine within a group; less does where parameters have one name.
        overrides: what the user says.

    Raises:
        UsageError: the user speaks of a parameter that is not there.
    """
    said, apart = _said(catalogue, overrides)
    taken = {slot for group in said.values() for slot in group}
    subjects = subjects_of(catalogue)
    kinds: dict[tuple[str, ...], list[Slot]] = defaultdict(list)
    times: Counter[tuple[tuple[str, ...], frozenset[tuple[str, str]]]] = Counter()
    told: list[_Kind] = []
    for tool, parameter, slot in slots_of(catalogue):
        if slot in taken:
            continue
        subject, family = subjects[slot], _family(parameter.type)
        text, leaf = _text(tool, parameter), _words(parameter.leaf)
        kind = _key(subject, text, leaf, family)
        # What one tool calls `id` and `ID` is of two kinds, though the same is said of both.
        place = kind, _sides([slot])
        key = (*kind, str(times[place]))
        times[place] += 1
        if key not in kinds:
            told.append(_Kind(text, family, leaf, subject))
        kinds[key].append(slot)
    vectors = encoder.encode([one.text for one in told])
    members_of = list(kinds.values())
    told = [replace(one, sides=_sides(some)) for one, some in zip(told, members_of, strict=True)]
    groups = _clusters(vectors, told, alike)
    found = [ParameterMeaning(name, tuple(slots), said=True) for name, slots in said.items()]
    for members, least in groups:
        slots = sorted((s for m in members for s in members_of[m]), key=_order(catalogue))
        of = {_said_of(told[m].subject) for m in members}
        held = of.pop() if len(of) == 1 else ""
        for part in _parted(slots, apart):
            found.append(ParameterMeaning("", tuple(part), least, subject=held))
    return _named(found)


def tool_graph(catalogue: Catalogue, found: Iterable[ParameterMeaning]) -> ToolGraph:
    """Return the tools with meanings as types, and a link where one gives what another takes.

    A value that a tool was given itself is no news, so it makes no link.
    """
    meaning = {slot: m.name for m in found for slot in m.slots}
    tools = []
    for tool in catalogue.tools:
        takes = [meaning[Slot(tool.name, p.name)] for p in tool.takes]
        gives = [meaning[Slot(tool.name, p.name, gives=True)] for p in tool.gives]
        tools.append(
            Tool(
                tool.name,
                tool.description,
                tuple(dict.fromkeys(takes)),
                tuple(dict.fromkeys(gives)),
            )
        )
    takers: dict[str, list[str]] = defaultdict(list)
    for made in tools:
        for kind in made.inputs:
            takers[kind].append(made.id)
    links = [
        (made.id, taker)
        for made in tools
        for kind in made.outputs
        if kind not in made.inputs
        for taker in takers[kind]
        if taker != made.id
    ]
    return ToolGraph(tuple(tools), tuple(links))


def _said(
    catalogue: Catalogue, overrides: Overrides
) -> tuple[dict[str, list[Slot]], list[list[set[Slot]]]]:
    """Return the slots of what the user calls the same, and those of what is to be apart."""
    called: dict[str, list[Slot]] = defaultdict(list)
    for _, _, slot in slots_of(catalogue):
        called[f"{slot.tool}.{slot.name}"].append(slot)

    def find(name: str) -> list[Slot]:
        if name not in called:
            raise UsageError(f"no tool has the parameter {quoted(name)}, which is to be merged")
        return called[name]

    same: dict[str, list[Slot]] = {}
    taken: dict[Slot, str] = {}
    for name, slots in overrides.same.items():
        same[name] = [slot for text in dict.fromkeys(slots) for slot in find(text)]
        for slot in same[name]:
            if taken.setdefault(slot, name) != name:
                raise UsageError(
                    f"{quoted(slot)} is to be {quoted(taken[slot])} and {quoted(name)}"
                )
    return same, [[set(find(text)) for text in group] for group in overrides.apart]


def _text(tool: ToolSchema, parameter: ToolParameter) -> str:
    leaf = _words(parameter.leaf)
    if not set(leaf.split()) - BARE_NAMES:
        above = parameter.name.rpartition(".")[0].rpartition(".")[2]
        leaf = f"{_words(above) or _words(tool.name)} {leaf}"
    return f"{leaf}: {parameter.description}" if parameter.description else leaf


def _words(name: str) -> str:
    return " ".join(name_words(name))


def _family(kind: str) -> str:
    return "number" if kind == "integer" else kind


@dataclass(frozen=True)
class _Kind:
    """Slots that mean the same by what is said of them."""

    text: str
    type: str
    leaf: str
    subject: ParameterSubject
    sides: frozenset[tuple[str, str]] = frozenset()


def _key(subject: ParameterSubject, text: str, leaf: str, family: str) -> tuple[str, ...]:
    if subject.resource:
        return subject.resource, subject.property, subject.role, family
    return text, leaf, family


def _said_of(subject: ParameterSubject) -> str:
    return f"{subject.property} of {subject.resource}" if subject.resource else ""


def _sides(slots: Iterable[Slot]) -> frozenset[tuple[str, str]]:
    return frozenset((s.tool, s.name.rpartition(".")[0] if s.gives else "<-") for s in slots)


def _clusters(
    vectors: NDArray[np.float32], kinds: Sequence[_Kind], alike: float
) -> list[tuple[list[int], float]]:
    """Return groups of kinds, each with the least cosine between two of its members."""
    # Kinds of one name stand together: more than are clustered at once are cut between names.
    order = sorted(range(len(kinds)), key=lambda k: (kinds[k].leaf, k))
    leaves = _codes(kinds[k].leaf for k in order)
    telling = np.array([bool(set(kinds[k].leaf.split()) - BARE_NAMES) for k in order], dtype=bool)
    types = _codes(kinds[k].type for k in order)
    untyped = np.array([not kinds[k].type for k in order], dtype=bool)
    beside = _beside([kinds[k].sides for k in order])
    subjects = [kinds[k].subject for k in order]
    things = _codes(_said_of(subject) for subject in subjects)
    known = np.array([bool(subject.resource) for subject in subjects], dtype=bool)
    # The things are told apart by the schema, or nothing but the things tells such names apart.
    sure = known & (np.array([subject.stated for subject in subjects], dtype=bool) | ~telling)

    def least(rows: slice, columns: slice) -> NDArray[np.float32]:
        same_name = (leaves[rows, None] == leaves[None, columns]) & telling[rows, None]
        asked = np.where(same_name, min(alike, MIN_SAME_NAME_COSINE), alike)
        same_thing = things[rows, None] == things[None, columns]
        asked[same_thing & known[rows, None]] = _ANY
        asked[~same_thing & sure[rows, None] & sure[None, columns]] = _NEVER
        same_type = types[rows, None] == types[None, columns]
        may = same_type | untyped[rows, None] | untyped[None, columns]
        asked[~may] = _NEVER
        for number, row in enumerate(range(rows.start, rows.stop)):
            near = beside[row]
            near = near[(near >= columns.start) & (near < columns.stop)] - columns.start
            asked[number, near] = _NEVER
        return asked.astype(np.float32)

    found = complete_linkage(vectors[order], least) if order else []
    return sorted((sorted(order[row] for row in rows), lowest) for rows, lowest in found)


_ANY, _NEVER = 0.001, 2.0
"""Cosines that every two rows of one subject have, and that no two rows have."""


def _codes(values: Iterable[str]) -> NDArray[np.int64]:
    known: dict[str, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _beside(sides: Sequence[frozenset[tuple[str, str]]]) -> list[NDArray[np.int64]]:
    """Return for each kind those that are properties of one object with it."""
    of: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, some in enumerate(sides):
        for side in some:
            of[side].append(number)
    return [
        np.array(sorted({other for side in some for other in of[side]}), dtype=np.int64)
        for some in sides
    ]


def _parted(slots: list[Slot], apart: list[list[set[Slot]]]) -> list[list[Slot]]:
    """Return a group in parts, none of which has two slots that are to be apart."""
    parts: list[list[Slot]] = []
    for slot in slots:
        mine = [
            (g, k) for g, group in enumerate(apart) for k, some in enumerate(group) if slot in some
        ]
        for part in parts:
            theirs = [
                (g, k)
                for other in part
                for g, group in enumerate(apart)
                for k, some in enumerate(group)
                if other in some
            ]
            if not any(g == h and k != n for g, k in mine for h, n in theirs):
                part.append(slot)
                break
        else:
            parts.append([slot])
    return parts


def _named(found: list[ParameterMeaning]) -> tuple[ParameterMeaning, ...]:
    """Return meanings with names: the commonest of their slots', with the tool's where needed."""
    used: set[str] = {m.name for m in found if m.name}
    tried: dict[str, Iterator[int]] = {}
    named = []
    for meaning in found:
        name = meaning.name
        if not name:
            leaves = [_words(ToolParameter(s.name).leaf).replace(" ", "_") for s in meaning.slots]
            leaf = max(dict.fromkeys(leaves), key=leaves.count) or "value"
            thing = meaning.subject.partition(" of ")[2] or _words(meaning.slots[0].tool)
            of = "_".join(thing.split())
            names = _candidates(leaf, of, tried, bare=leaf in BARE_NAMES)
            name = next(n for n in names if n not in used)
            used.add(name)
        named.append(replace(meaning, name=name))
    return tuple(named)


def _candidates(
    leaf: str, of: str, tried: dict[str, Iterator[int]], *, bare: bool
) -> Iterator[str]:
    """Give possible names; numbered ones go on where `tried` has left off."""
    if not bare:
        yield leaf
    yield f"{of}.{leaf}"
    for number in tried.setdefault(f"{of}.{leaf}", itertools.count(2)):
        yield f"{of}.{leaf}-{number}"


def _order(catalogue: Catalogue) -> Callable[[Slot], tuple[int, bool]]:
    at = {tool.name: i for i, tool in enumerate(catalogue.tools)}
    return lambda slot: (at[slot.tool], slot.gives)
