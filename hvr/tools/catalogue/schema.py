"""Tool schemas: parameters, results, effects and descriptions of tools."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING, Any

from hvr.base.printable import one_line, short
from hvr.base.texts import singular
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema_matching import ParameterMeaning


# Schema -------------------------------------------------------------------------------------------


class Effect(Enum):
    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"
    """It writes, and existing data is lost."""
    UNKNOWN = "unknown"
    """The effect is unknown; the call counts as writing and possibly destructive."""


@dataclass(frozen=True)
class ToolParameter:
    """A parameter or result value of a tool.

    Args:
        name: Name in the schema. The name of a nested result value is its path, with dots, and with
            `[]` after the name of each list: `flights[].id`.
        type: JSON Schema types joined by `|`; empty if unknown.
        required: Whether every call needs the parameter, or every result contains the value.
        choices: Permitted values as JSON; empty if not restricted.
        or_null: Whether a call must send the parameter but may send null.
        items: JSON Schema type of a list's items; empty if unknown.
        resource: Kind of entity with this property, from a `$ref`, class or path collection.
            Alternatives are joined by `|`; empty if unknown.
    """

    name: str
    type: str = ""
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    or_null: bool = False
    resource: str = ""
    items: str = ""

    @property
    def is_list(self) -> bool:
        return "array" in self.type.split("|")

    @property
    def leaf(self) -> str:
        """The last component of the name, without list markers."""
        return self.name.rpartition(".")[2].replace("[]", "")


@dataclass(frozen=True)
class ToolSchema:
    """A tool as described by its schema.

    Args:
        takes: Parameters, in the order of the schema.
        gives: Values of the result; empty if unknown.
        idempotent: Whether repeating a call has no further effect; None if unknown.
    """

    name: str
    description: str = ""
    takes: tuple[ToolParameter, ...] = ()
    gives: tuple[ToolParameter, ...] = ()
    effect: Effect = Effect.UNKNOWN
    idempotent: bool | None = None


@dataclass(frozen=True)
class Catalogue:
    """A set of tools; `left_out` has one error message per tool with an invalid description.

    Raises:
        UsageError: Two tools have the same name.
    """

    tools: tuple[ToolSchema, ...]
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        counts = Counter(tool.name for tool in self.tools)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise UsageError(
                f"tool {quoted(twice[0])} is duplicated: each tool needs a unique name"
            )


def quoted(name: object) -> str:
    """Return a name for a message: quoted, on one line and shortened."""
    return f"'{short(one_line(str(name)), 80)}'"


# Effects ------------------------------------------------------------------------------------------
# Names and descriptions can only raise the danger level: no tool counts as read-only because of its
# name.

_DESTROYING = frozenset(
    (
        "abort cancel clear delete deprovision destroy discard drop erase evict expunge kill "
        "overwrite purge remove reset revoke rollback terminate trash truncate undo uninstall "
        "wipe withdraw"
    ).split()
)
"""Verbs of destructive calls."""

_WRITING = frozenset(
    (
        "accept add apply approve append assign book borrow buy change close commit copy create "
        "deploy disable edit enable execute grant insert install invite issue launch lend lock "
        "merge modify move open order patch pay place post publish push put redirect refund "
        "register rename renew replace reply reserve restart return run save schedule sell send "
        "set share sign start stop submit subscribe transfer unlock update upgrade upload write"
    ).split()
)
"""Verbs of calls that write without losing data."""

_ALSO = re.compile(
    r"(?:(?:^|[.;:!]\s+|,\s+|\b(?:and|then|which|that|also|it|this)\s+)(?:\w+ly\s+|also\s+)*"
    r"|\b\w+ly\s+)(?<!never )(?<!not )([a-z]{3,}s)\b(?!\s+(?:no|nothing|none)\b)",
    re.IGNORECASE,
)
"""Verbs of what a tool does besides, in the present tense: "internally purges older entries"."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def effect_of_hints(hints: Mapping[str, Any], *, trusted: bool) -> Effect:
    """Return the effect that a tool's MCP annotations state; UNKNOWN if they state none.

    If the server is not `trusted`, only a true `destructiveHint` counts.
    """
    if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True:
        return Effect.READS if trusted else Effect.UNKNOWN
    if hints.get("destructiveHint") is True:
        return Effect.DESTROYS
    if hints.get("destructiveHint") is False and trusted:
        return Effect.WRITES
    return Effect.UNKNOWN


def effect_of_method(method: str) -> Effect:
    if method.lower() in ("get", "head", "options", "trace"):
        return Effect.READS
    return Effect.DESTROYS if method.lower() == "delete" else Effect.WRITES


def escalated_effect(effect: Effect, name: str, description: str = "") -> Effect:
    """Return `DESTROYS` if verbs in a tool's name or description say so, otherwise `effect`."""
    words = _words(name)
    first_words = _words(" ".join(description.split()[:2]))
    if any(_infinitive(verb.lower()) in _DESTROYING for verb in _ALSO.findall(description)):
        return Effect.DESTROYS
    if effect is Effect.READS:
        # Read-only tools may mention deleted objects, as `list_deleted_files` does, so only the
        # verb counts.
        words, first_words = words[:1], first_words[:1]
    return Effect.DESTROYS if {*words, *first_words} & _DESTROYING else effect


def guessed_effect(name: str, description: str = "") -> Effect:
    """Guess a tool's effect from its name and description; READS if no verb suggests another."""
    worst = escalated_effect(Effect.UNKNOWN, name, description)
    if worst is not Effect.UNKNOWN:
        return worst
    verbs = {*_words(name)[:1], *_words(" ".join(description.split()[:1]))}
    return Effect.WRITES if verbs & _WRITING else Effect.READS


def _words(text: str) -> list[str]:
    return [_infinitive(word) for word in map(str.lower, _WORD.findall(text))]


def _infinitive(word: str) -> str:
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((form for form in forms if form in _DESTROYING | _WRITING), word)


# Descriptions -------------------------------------------------------------------------------------

MIN_SHARED_DESCRIPTIONS = 3
"""A sentence shared by at least this many descriptions is dropped as generic."""

_ENDS = re.compile(r"(?<=[.!?:;])\s+")


def own_descriptions(descriptions: Sequence[str]) -> list[str]:
    """Return descriptions without sentences that `MIN_SHARED_DESCRIPTIONS` or more of them share.

    Schema generators often repeat a sentence about the whole service. A description that consists
    only of shared sentences stays unchanged.
    """
    parts = [_ENDS.split(text.strip()) for text in descriptions]
    counts = Counter(part for some in parts for part in set(some))
    own = [
        " ".join(part for part in some if counts[part] < MIN_SHARED_DESCRIPTIONS) for some in parts
    ]
    return [short or text for short, text in zip(own, descriptions, strict=True)]


# Words of names -----------------------------------------------------------------------------------
# Derive from names which property of which kind of entity each parameter holds.

BARE_NAMES = frozenset(
    (
        "id ids name names value values result results status type types data message key code "
        "number date time text content title description url list item items query count amount"
    ).split()
)
"""Names that mean nothing without the name of an entity."""


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case: "new", "item", "ids" for `newItemIDs[]`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", name)
    return tuple(re.findall(r"[^\W_]+", apart.lower()))


def entity_words(name: str) -> tuple[str, ...]:
    """Return the words of an entity's name, the last of them in the singular."""
    found = name_words(name)
    return (*found[:-1], singular(found[-1])) if found else ()


# Subjects -----------------------------------------------------------------------------------------
# `issue_number` is the number of an issue. The kinds of entities come from schemas (`$ref`,
# classes, path collections, nesting), then from parameter names (`pet_id`, `petId`), and finally
# from the tool's name (the `id` of `get_order` belongs to an order).

IDENTIFIERS = frozenset(("id", "uuid", "guid", "sid", "number", "key", "code", "slug", "login"))
"""Names of properties that identify an entity."""

_PLURALS = {f"{word}s": word for word in IDENTIFIERS}
_SURROGATES = frozenset(("id", "uuid", "guid", "sid"))
"""Names that are always identifiers; the words before one name a kind of entity."""
_LABELS = frozenset(("name", "title"))
"""Names of properties by which entities are commonly looked up."""
_JOINTS = frozenset(
    ("by", "for", "of", "from", "to", "in", "into", "with", "on", "at", "and", "as", "using")
)
"""Words that end the entity name in a tool's name, as in `find_user_by_email`."""

Words = tuple[str, ...]


@dataclass(frozen=True, order=True)
class Slot:
    """A parameter of a tool or, if `gives` is true, a value in its result."""

    tool: str
    name: str
    gives: bool = False

    def __str__(self) -> str:
        return f"{self.tool}{' -> ' if self.gives else ' <- '}{self.name}"


@dataclass(frozen=True)
class ParameterSubject:
    """The entity and property that a parameter refers to, such as the id of an account.

    Args:
        resource: Kind of entity, in words; empty if unknown.
        property: Property of the entity, in words.
        role: Words that distinguish entities of the same kind: "from" in `from_account_id`.
        stated: Whether the schema or the parameter's own name states the entity. If not, it follows
            from the tool's name.
    """

    resource: str
    property: str
    role: str = ""
    stated: bool = False

    def identifies(self) -> bool:
        return bool(self.resource) and self.property in IDENTIFIERS


def slots_of(catalogue: Catalogue) -> Iterator[tuple[ToolSchema, ToolParameter, Slot]]:
    """Yield (tool, parameter, slot) for each parameter and each result value in a catalogue."""
    for tool in catalogue.tools:
        for parameter in tool.takes:
            yield tool, parameter, Slot(tool.name, parameter.name)
        for parameter in tool.gives:
            yield tool, parameter, Slot(tool.name, parameter.name, gives=True)


def subjects_of(catalogue: Catalogue) -> dict[Slot, ParameterSubject]:
    entities = _Entities(catalogue)
    return {slot: entities.subject(tool, one, slot) for tool, one, slot in slots_of(catalogue)}


class _Entities:
    def __init__(self, catalogue: Catalogue) -> None:
        slots = list(slots_of(catalogue))
        stated = {name for _, one, _ in slots for name in one.resource.split("|") if name}
        prefixes = {
            _after_joint(words[:-1])
            for _, one, _ in slots
            if len(words := _leaf(one)) > 1 and words[-1] in _SURROGATES
        }
        # A word that is itself an entity distinguishes kinds ("issue comment"). Any other word only
        # describes the level of detail ("simple user", "full repository").
        whole = {entity_words(name) for name in stated}
        self._nouns = {name[0] for name in whole if len(name) == 1}
        self._nouns |= {name[-1] for name in prefixes}
        self._nouns |= {noun[-1] for tool in catalogue.tools if (noun := _noun(tool.name))}
        self._cached = {name: self._canonical(name) for name in stated}
        self._kinds = {kind for kind in self._cached.values() if kind}
        self._ending: dict[Words, set[Words]] = defaultdict(set)
        for kind in self._kinds:
            for start in range(len(kind)):
                self._ending[kind[start:]].add(kind)
        for kind in sorted((_singular(name) for name in prefixes), key=len):
            # Other words before a known kind only describe a role: "source account".
            role = kind[1:] in self._ending and kind[0] not in self._nouns
            if kind not in self._ending and not role:
                self._kinds.add(kind)
                self._ending[kind].add(kind)
        self._properties: dict[Words, set[Words]] = defaultdict(set)
        for _, one, slot in slots:
            if slot.gives and (kind := self._named(one.resource) or self._of_tool(slot.tool)):
                self._properties[self._resolved(kind)].add(_leaf(one))

    def subject(self, tool: ToolSchema, one: ToolParameter, slot: Slot) -> ParameterSubject:
        leaf = _leaf(one)
        own = self._resolved(self._named(one.resource))
        found = self._by_name(leaf, own)
        if found is not None:
            return found
        if own:
            return _subject(own, leaf, stated=True)
        entity = self._of_tool(tool.name)
        if slot.gives and leaf == ("result",):  # `find_user_id_by_email` returns the id of a user
            return self._by_name(entity, (), stated=False) or _subject(entity, leaf)
        if entity and (slot.gives or self._describes(leaf, entity)):
            return _subject(entity, leaf)
        return ParameterSubject("", " ".join(leaf))

    def _describes(self, leaf: Words, entity: Words) -> bool:
        return leaf in self._properties.get(entity, ()) or (
            len(leaf) == 1 and leaf[0] in IDENTIFIERS | _LABELS
        )

    def _by_name(self, leaf: Words, own: Words, *, stated: bool = True) -> ParameterSubject | None:
        """Return the entity kind and property that a parameter's name states, or None."""
        for start in range(len(leaf) - 1):
            for end in range(len(leaf) - 1, start, -1):
                name, rest = _singular(leaf[start:end]), leaf[end:]
                if own and own[-len(name) :] == name:
                    kind = own
                elif name in self._ending:
                    kind = self._resolved(name)
                else:
                    continue
                known = rest in self._properties.get(kind, ())
                if known or (len(rest) == 1 and rest[0] in IDENTIFIERS):
                    role = " ".join(leaf[:start])
                    return ParameterSubject(" ".join(kind), " ".join(rest), role, stated=stated)
        return None

    def _named(self, resource: str) -> Words:
        kinds = {self._cached[name] for name in resource.split("|") if name}
        return next(iter(kinds)) if len(kinds) == 1 else ()

    def _canonical(self, name: str) -> Words:
        words = entity_words(name)
        return tuple(word for word in words if _singular((word,))[0] in self._nouns) or words

    def _resolved(self, name: Words) -> Words:
        if name in self._kinds:
            return name
        ending = sorted(self._ending.get(name, {name}), key=len)
        return name if len(ending) > 1 and len(ending[0]) == len(ending[1]) else ending[0]

    def _of_tool(self, name: str) -> Words:
        # A tool's name is usually a verb, then an entity.
        words = _phrase(name)
        # In `user_get` and `calendar_event_create` the verb comes last.
        for end in range(len(words) - 1, 0, -1):
            if _singular(words[:end]) in self._kinds and _singular(words[1:]) not in self._ending:
                return self._resolved(_singular(words[:end]))
        noun = _noun(name)
        return next((noun[n:] for n in range(len(noun)) if noun[n:] in self._kinds), noun)


def _phrase(name: str) -> Words:
    words = name_words(_separated(name)[-1])
    cut = next((n for n, word in enumerate(words) if word in _JOINTS), len(words))
    return tuple(word for word in words[:cut] if not word.isdigit())


def _noun(name: str) -> Words:
    return _singular(_phrase(name)[1:]) or entity_words(_separated(name)[-2])


def _separated(name: str) -> list[str]:
    return ["", *name.replace(":", ".").replace("/", ".").split(".")]


def _subject(kind: Words, leaf: Words, *, stated: bool = False) -> ParameterSubject:
    return ParameterSubject(" ".join(kind), " ".join(leaf), stated=stated)


def _leaf(one: ToolParameter) -> Words:
    words = name_words(one.leaf)
    return (*words[:-1], _PLURALS.get(words[-1], words[-1])) if words else ()


def _after_joint(words: Words) -> Words:
    return words[max((n + 1 for n, word in enumerate(words[:-1]) if word in _JOINTS), default=0) :]


def _singular(words: Words) -> Words:
    return entity_words(" ".join(words))


# Value names --------------------------------------------------------------------------------------

MIN_SPELLING_SIMILARITY = 0.8
"""Minimum `difflib` similarity for a name to count as a misspelling of a parameter."""


def meaning_of(name: str, found: Sequence[ParameterMeaning], goals: Collection[str] = ()) -> str:
    """Return the meaning called `name`, or the meaning of the parameter called `name`.

    A parameter is written as `TOOL.PARAMETER` or by its name alone; the parameters of the tools in
    `goals` take precedence. An unknown name is returned unchanged, since it may name a property
    that occurs only in results.

    Raises:
        UsageError: The name is ambiguous, or probably a misspelt parameter.
    """
    names = [meaning.name for meaning in found]
    if name in names:
        return name
    called = [
        (meaning.name, slot.tool)
        for meaning in found
        for slot in meaning.slots
        if name in (slot.name, f"{slot.tool}.{slot.name}")
    ]
    several = sorted({meaning for meaning, tool in called if tool in goals}) or sorted(
        {meaning for meaning, _ in called}
    )
    if len(several) == 1:
        return several[0]
    if several:
        raise UsageError(f"{quoted(name)} is ambiguous; it can be {', '.join(several)}")
    known = [*names, *(slot.name for meaning in found for slot in meaning.slots)]
    if near := get_close_matches(name, known, 1, MIN_SPELLING_SIMILARITY):
        raise UsageError(f"no parameter named {quoted(name)}; did you mean {near[0]!r}?")
    return name
