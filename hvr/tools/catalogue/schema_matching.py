"""Schema matching: finds results and parameters that have the same meaning."""

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
from hvr.tools.catalogue.schema import (
    BARE_NAMES,
    Catalogue,
    ParameterSubject,
    Slot,
    ToolParameter,
    ToolSchema,
    name_words,
    quoted,
    slots_of,
    subjects_of,
)
from hvr.tools.tool_plans import Tool, ToolGraph

if TYPE_CHECKING:
    from hvr.knowledge.retrieval.embedders import TextVectors


# Complete-linkage clustering ----------------------------------------------------------------------
# The nearest-neighbour chain finds the same clusters as repeatedly merging the most similar pair,
# unless similarities tie at four decimals, but in quadratic instead of cubic time. F. Murtagh, "A
# Survey of Recent Advances in Hierarchical Clustering Algorithms", The Computer Journal 26(4),
# 1983.

Vectors = NDArray[np.float32]
Similarities = NDArray[np.int16]
LeastCosine = Callable[[slice, slice], NDArray[np.float32]]
"""Returns the minimum cosine at which two rows may join a cluster, for blocks of rows."""

MAX_ROWS = 6_000
"""Maximum number of rows clustered together; their similarities take 72 MB at 2 bytes per pair."""

_SCALE = 10_000
"""Similarities are stored as integers in units of 1/10,000."""

_BLOCK = 512
"""Number of rows whose similarities are computed at once."""


def complete_linkage(vectors: Vectors, least: LeastCosine) -> list[tuple[list[int], float]]:
    """Return clusters of rows whose pairwise cosines are all high enough.

    More than `MAX_ROWS` rows are clustered in consecutive parts, so related rows should be
    adjacent.

    Args:
        vectors: Unit vectors, shape (n, dimension).
        least: Callback that returns, for two slices of rows, the minimum cosine at which each pair
            may share a cluster; above 1, the pair never does.

    Returns:
        For each cluster, its row indexes in ascending order and their minimum pairwise cosine (1
        for a single row). The clusters are ordered by their first row.
    """
    clusters = [
        cluster
        for start in range(0, len(vectors), MAX_ROWS)
        for cluster in _chain(_similarities(vectors, least, start), start)
    ]
    return sorted(clusters)


def _similarities(vectors: Vectors, least: LeastCosine, start: int) -> Similarities:
    part = vectors[start : start + MAX_ROWS]
    found = np.zeros((len(part), len(part)), dtype=np.int16)
    for first in range(0, len(part), _BLOCK):
        end = min(first + _BLOCK, len(part))
        cosines = part[first:end] @ part.T
        minimum = least(slice(start + first, start + end), slice(start, start + len(part)))
        cosines[cosines < minimum] = 0.0
        found[first:end] = np.rint(np.clip(cosines, 0.0, 1.0) * _SCALE)
    np.fill_diagonal(found, 0)
    return found


def _chain(similar: Similarities, start: int) -> Iterator[tuple[list[int], float]]:
    """Yield the rows and minimum similarity of each cluster in a block, overwriting `similar`."""
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
        if best == 0:  # the cluster is final: merging others cannot make them more similar to it
            yield [start + row for row in sorted(members.pop(tip))], lowest[tip] / _SCALE
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            del chain[-2:]
            kept, removed = sorted((tip, nearest))
            _merge(similar, kept, removed)
            members[kept] += members.pop(removed)
            lowest[kept] = min(lowest[kept], lowest[removed], int(best))
            if not chain:
                chain.append(kept)
        else:
            chain.append(nearest)


def _merge(similar: Similarities, kept: int, removed: int) -> None:
    joined = np.minimum(similar[kept], similar[removed])
    joined[[kept, removed]] = 0
    similar[kept], similar[:, kept] = joined, joined
    similar[removed], similar[:, removed] = 0, 0


# Meanings -----------------------------------------------------------------------------------------
# Types and the similarity of descriptions distinguish parameters. The user's file can override both
# decisions, and each group records the similarity behind it for inspection.

MIN_DESCRIPTION_COSINE = 0.8
"""Minimum cosine of two descriptions with the same meaning."""

MIN_SAME_NAME_COSINE = 0.6
"""The minimum cosine if both parameters also have the same informative name."""


@dataclass(frozen=True)
class ParameterMeaning:
    """Slots (parameters and result values) that hold the same kind of value.

    Args:
        min_cosine: Minimum cosine between the slots' descriptions; 1 if they are equal.
        by_user: Whether the user defined the meaning in a file of overrides.
        subject: Property that all slots hold, such as "id of pet"; empty if they are only similar.
    """

    name: str
    slots: tuple[Slot, ...]
    min_cosine: float = 1.0
    by_user: bool = False
    subject: str = ""


@dataclass(frozen=True)
class Overrides:
    """The user's decisions about slots, which are written as `tool.parameter`.

    Args:
        same: Slots that share a meaning, by its name.
        apart: Groups of slots, no two of which may share a meaning.
    """

    same: Mapping[str, tuple[str, ...]]
    apart: tuple[tuple[str, ...], ...] = ()


NO_OVERRIDES = Overrides({})


def read_overrides(path: Path) -> Overrides:
    """Read the user's decisions about slots (`tool.parameter`) from a file.

    The TOML file has a table of lists, `same`, and a list of lists, `apart` (see `Overrides`).

    Raises:
        DataFileError: The file cannot be read, or has another form.
    """
    values = read_toml(path)
    same, apart = values.get("same", {}), values.get("apart", [])
    if unknown := set(values) - {"same", "apart"}:
        raise DataFileError(
            f"{path}: {quoted(sorted(unknown)[0])} is not a known key; the keys are 'same' "
            "and 'apart'"
        )
    if not isinstance(same, dict) or not isinstance(apart, list):
        raise DataFileError(f"{path}: 'same' must be a table of lists and 'apart' a list of lists")
    for slots in [*same.values(), *apart]:
        if not isinstance(slots, list) or not all(isinstance(s, str) and "." in s for s in slots):
            raise DataFileError(
                f"{path}: parameters must be lists of strings such as 'tool.parameter', "
                f"found {quoted(slots)}"
            )
    return Overrides({n: tuple(s) for n, s in same.items()}, tuple(tuple(s) for s in apart))


def meanings(
    catalogue: Catalogue,
    encoder: TextVectors,
    min_cosine: float = MIN_DESCRIPTION_COSINE,
    overrides: Overrides = NO_OVERRIDES,
) -> tuple[ParameterMeaning, ...]:
    """Return the meanings of a catalogue's slots; each slot belongs to exactly one meaning.

    Slots with the same subject (`hvr.tools.catalogue.schema`) share a meaning. Properties of
    different entities never do, if schemas or names identify the entities. The similarity of
    descriptions decides all other cases.

    Groups grow from the most similar pair (complete linkage). All members of a group must be
    similar and have compatible types, and no two of them may be parameters of the same tool: a tool
    would not ask for one value under two names.

    Args:
        encoder: Encodes the descriptions, each distinct text once.
        min_cosine: Minimum cosine within a group; a lower minimum applies to parameters with the
            same name.

    Raises:
        UsageError: The overrides mention an unknown parameter, or one under two meanings.
    """
    by_user, apart = _overridden(catalogue, overrides)
    taken = {slot for group in by_user.values() for slot in group}
    subjects = subjects_of(catalogue)
    kinds: dict[tuple[str, ...], list[Slot]] = defaultdict(list)
    times: Counter[tuple[tuple[str, ...], frozenset[tuple[str, str]]]] = Counter()
    distinct: list[_Kind] = []
    for tool, parameter, slot in slots_of(catalogue):
        if slot in taken:
            continue
        subject, family = subjects[slot], _family(parameter.type)
        text, leaf = _text(tool, parameter), _words(parameter.leaf)
        kind = _key(subject, text, leaf, family)
        # A tool with both `id` and `ID` has two distinct parameters, even if the descriptions are
        # equal.
        place = kind, _sides([slot])
        key = (*kind, str(times[place]))
        times[place] += 1
        if key not in kinds:
            distinct.append(_Kind(text, family, leaf, subject))
        kinds[key].append(slot)
    vectors = encoder.encode([one.text for one in distinct])
    members_of = list(kinds.values())
    distinct = [
        replace(one, sides=_sides(some)) for one, some in zip(distinct, members_of, strict=True)
    ]
    groups = _clusters(vectors, distinct, min_cosine)
    found = [ParameterMeaning(name, tuple(slots), by_user=True) for name, slots in by_user.items()]
    for members, least in groups:
        slots = sorted((s for m in members for s in members_of[m]), key=_order(catalogue))
        of = {_describe(distinct[m].subject) for m in members}
        held = of.pop() if len(of) == 1 else ""
        for part in _parted(slots, apart):
            found.append(ParameterMeaning("", tuple(part), least, subject=held))
    return _named(found)


def tool_graph(catalogue: Catalogue, found: Iterable[ParameterMeaning]) -> ToolGraph:
    """Return tools whose types are meanings, with a link from each meaning's giver to its takers.

    A value that a tool both takes and gives makes no link, since it is not new.
    """
    meaning = {slot: m.name for m in found for slot in m.slots}
    tools = []
    for tool in catalogue.tools:
        takes = [meaning[Slot(tool.name, p.name)] for p in tool.takes]
        gives = [meaning[Slot(tool.name, p.name, gives=True)] for p in tool.gives]
        kinds = tuple(dict.fromkeys(takes)), tuple(dict.fromkeys(gives))
        tools.append(Tool(tool.name, tool.description, *kinds))
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


def _overridden(
    catalogue: Catalogue, overrides: Overrides
) -> tuple[dict[str, list[Slot]], list[list[set[Slot]]]]:
    called: dict[str, list[Slot]] = defaultdict(list)
    for _, _, slot in slots_of(catalogue):
        called[f"{slot.tool}.{slot.name}"].append(slot)

    def find(name: str) -> list[Slot]:
        if name not in called:
            raise UsageError(f"no parameter named {quoted(name)}, which the file of meanings lists")
        return called[name]

    same: dict[str, list[Slot]] = {}
    taken: dict[Slot, str] = {}
    for name, slots in overrides.same.items():
        same[name] = [slot for text in dict.fromkeys(slots) for slot in find(text)]
        for slot in same[name]:
            if taken.setdefault(slot, name) != name:
                raise UsageError(
                    f"{quoted(slot)} is listed under both {quoted(taken[slot])} and {quoted(name)}"
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
    text: str
    type: str
    leaf: str
    subject: ParameterSubject
    sides: frozenset[tuple[str, str]] = frozenset()


def _key(subject: ParameterSubject, text: str, leaf: str, family: str) -> tuple[str, ...]:
    if subject.resource:
        return subject.resource, subject.property, subject.role, family
    return text, leaf, family


def _describe(subject: ParameterSubject) -> str:
    return f"{subject.property} of {subject.resource}" if subject.resource else ""


def _sides(slots: Iterable[Slot]) -> frozenset[tuple[str, str]]:
    return frozenset((s.tool, s.name.rpartition(".")[0] if s.gives else "<-") for s in slots)


def _clusters(
    vectors: NDArray[np.float32], kinds: Sequence[_Kind], min_cosine: float
) -> list[tuple[list[int], float]]:
    # Sort by name, so that a limit on rows cuts between names.
    order = sorted(range(len(kinds)), key=lambda k: (kinds[k].leaf, k))
    leaves = _codes(kinds[k].leaf for k in order)
    informative = np.array(
        [bool(set(kinds[k].leaf.split()) - BARE_NAMES) for k in order], dtype=bool
    )
    types = _codes(kinds[k].type for k in order)
    untyped = np.array([not kinds[k].type for k in order], dtype=bool)
    siblings = _same_object([kinds[k].sides for k in order])
    subjects = [kinds[k].subject for k in order]
    entities = _codes(_describe(subject) for subject in subjects)
    known = np.array([bool(subject.resource) for subject in subjects], dtype=bool)
    # The entity is certain if the schema states it, or if a bare name can only refer to it.
    sure = known & (np.array([subject.stated for subject in subjects], dtype=bool) | ~informative)

    def least(rows: slice, columns: slice) -> NDArray[np.float32]:
        same_name = (leaves[rows, None] == leaves[None, columns]) & informative[rows, None]
        minimum = np.where(same_name, min(min_cosine, MIN_SAME_NAME_COSINE), min_cosine)
        same_entity = entities[rows, None] == entities[None, columns]
        minimum[same_entity & known[rows, None]] = _ANY
        minimum[~same_entity & sure[rows, None] & sure[None, columns]] = _NEVER
        same_type = types[rows, None] == types[None, columns]
        may = same_type | untyped[rows, None] | untyped[None, columns]
        minimum[~may] = _NEVER
        for number, row in enumerate(range(rows.start, rows.stop)):
            near = siblings[row]
            near = near[(near >= columns.start) & (near < columns.stop)] - columns.start
            minimum[number, near] = _NEVER
        return minimum.astype(np.float32)

    found = complete_linkage(vectors[order], least) if order else []
    return sorted((sorted(order[row] for row in rows), lowest) for rows, lowest in found)


_ANY, _NEVER = 0.001, 2.0
"""Thresholds that every pair and no pair, respectively, satisfies."""


def _codes(values: Iterable[str]) -> NDArray[np.int64]:
    known: dict[str, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _same_object(sides: Sequence[frozenset[tuple[str, str]]]) -> list[NDArray[np.int64]]:
    of: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, some in enumerate(sides):
        for side in some:
            of[side].append(number)
    return [
        np.array(sorted({other for side in some for other in of[side]}), dtype=np.int64)
        for some in sides
    ]


def _parted(slots: list[Slot], apart: list[list[set[Slot]]]) -> list[list[Slot]]:
    labels: dict[Slot, set[tuple[int, int]]] = defaultdict(set)
    for number, group in enumerate(apart):
        for member, some in enumerate(group):
            for slot in some:
                labels[slot].add((number, member))

    def clash(one: Slot, other: Slot) -> bool:
        return any(g == h and m != n for g, m in labels[one] for h, n in labels[other])

    parts: list[list[Slot]] = []
    for slot in slots:
        part = next((p for p in parts if not any(clash(slot, other) for other in p)), None)
        if part is None:
            parts.append([slot])
        else:
            part.append(slot)
    return parts


def _named(found: list[ParameterMeaning]) -> tuple[ParameterMeaning, ...]:
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
    if not bare:
        yield leaf
    yield f"{of}.{leaf}"
    for number in tried.setdefault(f"{of}.{leaf}", itertools.count(2)):
        yield f"{of}.{leaf}-{number}"


def _order(catalogue: Catalogue) -> Callable[[Slot], tuple[int, bool]]:
    at = {tool.name: i for i, tool in enumerate(catalogue.tools)}
    return lambda slot: (at[slot.tool], slot.gives)
