"""The calls in a log, their tools, and the values passed between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hvr.tools.catalogue.reading import read_catalogue
from hvr.tools.catalogue.schema import Effect, ToolSchema, guessed_effect
from hvr.tools.datasets import read_graph
from hvr.tools.tool_plans import LoggedCall, ToolGraph, ToolPlan
from hvr.values import cached_property

# Value flow ---------------------------------------------------------------------------------------
# An argument's value may come from the user's messages, from an earlier result, or from nowhere. A
# text or result explains a value if it contains all its words and numbers. This is lenient on
# purpose: `notes.txt` counts as known after "notes" and "txt". Only identifiers count as evidence,
# since numbers may be computed and sentences composed.

Leaf = tuple[str, str | int | float]
"""Nearest enclosing key of a value, and the value."""

_WORD = re.compile(r"[^\W_]+")
_DATE = re.compile(r"\d{4}-\d\d|\d{1,2}[:/]\d{1,2}")
_IDENTIFYING = 4
"""Minimum length of a text with a digit that counts as an identifier."""
_IDENTIFYING_NUMBER = 100_000
"""Smaller integers may be counts, sizes or defaults."""


def json_scalars(value: Any, name: str = "") -> Iterator[Leaf]:
    """Yield (nearest object key, value) for each string and number in a JSON value.

    The keys of objects are yielded as values too. `name` is the key of the value itself.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield name, str(key)
            yield from json_scalars(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from json_scalars(inner, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield name, value


def argument_scalars(arguments: Mapping[str, Any]) -> Iterator[Leaf]:
    for name, value in arguments.items():
        if isinstance(value, dict):
            yield from argument_scalars(value)
        elif isinstance(value, list):
            for inner in value:
                yield from argument_scalars({name: inner})
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield name, value


def value_words(value: str | float) -> frozenset[str]:
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return frozenset(word.lower() for word in _WORD.findall(text))


def identifies(value: str | float) -> bool:
    """Return whether a value looks like an identifier, which no agent could guess or compute.

    Identifiers are large integers, and strings with digits and without spaces that are neither
    numbers nor dates.
    """
    if isinstance(value, str):
        has_digit = any(character.isdigit() for character in value)
        plain = has_digit and " " not in value.strip() and len(value) >= _IDENTIFYING
        return plain and not _DATE.search(value) and not _is_number(value)
    return isinstance(value, int) and abs(value) >= _IDENTIFYING_NUMBER


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < _IDENTIFYING_NUMBER and len(text) <= _IDENTIFYING
    except ValueError:
        return False


@dataclass(frozen=True)
class KnownWords:
    words: frozenset[str]

    @classmethod
    def of(cls, value: Any) -> KnownWords:
        return cls(frozenset().union(*(value_words(leaf) for _, leaf in json_scalars(value))))

    def has(self, value: str | float) -> bool:
        """Return whether all words of a value are known; `ORD1234` is known if `1234` is."""
        return all(word in self.words or self._prefixed(word) for word in value_words(value))

    def _prefixed(self, word: str) -> bool:
        bare = word.lstrip("abcdefghijklmnopqrstuvwxyz")
        return len(bare) > _IDENTIFYING and bare in self.words

    def __or__(self, other: KnownWords) -> KnownWords:
        return KnownWords(self.words | other.words)


@dataclass(frozen=True)
class CallValues:
    """The origins of the values of one call that look like identifiers.

    Args:
        unknown: (parameter, value) for each value that does not occur before the call.
        echoed: Unknown values that the call's own result contains.
        later: For each unknown value, the index of the first later call, if any, that returns the
            value without taking it.
        readers: Indexes of later calls that use a value from this call's result.
    """

    unknown: tuple[Leaf, ...]
    echoed: frozenset[Leaf]
    later: Mapping[Leaf, int]
    readers: frozenset[int]


def call_values(said: tuple[str, ...], calls: tuple[LoggedCall, ...]) -> tuple[CallValues, ...]:
    """Return the origins of the values of each call, given the user's messages (`said`)."""
    results = [KnownWords.of(call.result) for call in calls]
    inputs = [tuple(argument_scalars(named_arguments(call))) for call in calls]
    found = []
    before = KnownWords(frozenset())
    for at, call in enumerate(calls):
        known = before | KnownWords.of(list(said[: call.turn]))
        unknown = tuple(
            leaf for leaf in inputs[at] if identifies(leaf[1]) and not known.has(leaf[1])
        )
        echoed = frozenset(leaf for leaf in unknown if results[at].has(leaf[1]))
        later = {
            leaf: place
            for leaf in unknown
            for place in reversed(range(at + 1, len(calls)))
            if results[place].has(leaf[1]) and leaf not in inputs[place]
        }
        readers = frozenset(
            place
            for place in range(at + 1, len(calls))
            if _uses(inputs[place], call.result, results[at])
        )
        found.append(CallValues(unknown, echoed, later, readers))
        before = before | results[at] | KnownWords.of([value for _, value in inputs[at]])
    return tuple(found)


def named_arguments(call: LoggedCall) -> Mapping[str, Any]:
    return {**(call.arguments or {}), **{str(n): v for n, v in enumerate(call.unnamed)}}


def _uses(inputs: Iterable[Leaf], result: Any, source: KnownWords) -> bool:
    for _, value in inputs:
        words = value_words(value)
        if _is_distinctive(value) and words and words <= source.words:
            return True
        if isinstance(value, str) and len(words) > 1:
            for _, leaf in json_scalars(result):
                if _is_distinctive(leaf) and (some := value_words(leaf)) and some <= words:
                    return True
    return False


def _is_distinctive(value: str | float) -> bool:
    return len(value.strip()) > 2 if isinstance(value, str) else abs(value) > 9


# Tool names in requests ---------------------------------------------------------------------------

_LATIN_WORD = re.compile(r"[a-z]+")
_ENDINGS = tuple("ations ation ings ing ions ion ies ers er es ed s e y".split())
_SHORTEST = 3
_EMPTY = frozenset(
    """
    a an the of to in on at by for from with and or not is are be been was were it its this that
    these those as if then than into out up down over per via any all each every some no only also
    can could will would should may must do does did done has have had i me my you your he she his
    her they them their we our us who whom whose which what when where why how there here get gets
    set use used using user users tool tools function call calls return returns returned given based
    provide provided provides following such new one two other system description
    """.split()
)
"""Words that carry no information about a tool's purpose."""


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text, with identifiers split into words."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return frozenset(
        _stem(word)
        for word in _LATIN_WORD.findall(apart.lower())
        if word not in _EMPTY and len(word) > 1
    )


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word


class ToolWords:
    """The words by which the tools of a catalogue differ from each other."""

    def __init__(self, tools: Iterable[tuple[str, str]]) -> None:
        listed = list(tools)
        self._names = {name: stems(name) for name, _ in listed}
        texts = {name: stems(f"{name} {text}") for name, text in listed}
        counts = Counter(stem for some in texts.values() for stem in some)
        most = max(1, len(listed) // 10)
        self._distinctive = {
            name: frozenset(stem for stem in some if counts[stem] <= most)
            for name, some in texts.items()
        }

    def mentions(self, request: frozenset[str], tool: str) -> bool:
        """Return whether a request, given as word stems (see `stems`), mentions a tool.

        It contains at least half of the words of the tool's name, or a word of the tool's name or
        description that few other tools share.
        """
        name = self._names.get(tool, stems(tool))
        if name and 2 * len(name & request) >= len(name):
            return True
        return bool(self._distinctive.get(tool, frozenset()) & request)


# Known tools --------------------------------------------------------------------------------------

_READING = frozenset(
    """
    get find search list show view check read fetch query lookup look retrieve display describe
    count calculate compute compare estimate convert validate verify tell track browse inspect
    ls cat grep wc diff tail head pwd du
    """.split()
)
"""Verbs that mark a tool as read-only unless its schema states its effect."""


@dataclass(frozen=True)
class KnownTools:
    """The tools of a file.

    Args:
        schemas: Schemas by tool name; empty if the file lists only types.
        linked: Whether the links come from a file; if not, they are derived from the schemas.
    """

    graph: ToolGraph
    schemas: Mapping[str, ToolSchema] = field(default_factory=dict)
    linked: bool = False

    @cached_property
    def vocabulary(self) -> ToolWords:
        return ToolWords((tool.id, tool.description) for tool in self.graph.tools)

    def effect(self, tool: str) -> Effect:
        return effect_of(tool, self.schemas.get(tool))

    def givers(self, parameter: str) -> tuple[str, ...]:
        """Return the tools that may give a value for a parameter, by their schemas or names."""
        wanted = stems(parameter)
        if not wanted:
            return ()
        found = []
        for tool in self.graph.tools:
            schema = self.schemas.get(tool.id)
            given = any(wanted == stems(p.leaf) for p in schema.gives) if schema else False
            named = wanted < stems(tool.id) and len(wanted) > 1
            if given or (named and self.effect(tool.id) is Effect.READS):
                found.append(tool.id)
        return tuple(found)


def effect_of(tool: str, schema: ToolSchema | None = None) -> Effect:
    """Return the effect that a tool's schema states, or else the one that its verbs suggest.

    Verbs are read from the name and the description. If no verb is known, the effect is UNKNOWN.
    """
    if schema is not None and schema.effect is not Effect.UNKNOWN:
        return schema.effect
    suggested = guessed_effect(
        tool.rpartition(".")[2], schema.description if schema is not None else ""
    )
    if suggested is not Effect.READS:
        return suggested
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", tool.rpartition(".")[2])
    verbs = [words[0].lower()] if words else []
    if schema is not None:
        # Descriptions begin with the verb: "Convert litres to gallons".
        starts = re.findall(r"(?:^|[.:])\s+([A-Z][a-z]+)", f" {schema.description}")
        verbs += [
            form for word in starts for form in (word.lower(), word.lower().removesuffix("s"))
        ]
    return Effect.READS if _READING & set(verbs) else Effect.UNKNOWN


def read_known_tools(tools: Path, graph: Path | None = None) -> KnownTools:
    """Read a file of tools and, optionally, a file of links.

    Raises:
        DataFileError: A file cannot be read, or has no valid tool.
        UsageError: Two tools have the same name, or a link names an unknown tool.
    """
    read = read_graph(tools, graph)
    schemas = {tool.name: tool for tool in read_catalogue([tools]).tools}
    # Plain lists of ids and types have no descriptions.
    typed = any(p.type or p.description for tool in schemas.values() for p in tool.takes)
    listed = bool(read.links) and (graph is not None or not typed)
    return KnownTools(read, schemas if typed else {}, listed)


# Call log -----------------------------------------------------------------------------------------


class CallLog:
    """The calls of a plan with messages, passed values and known tools; `at` is a call's index."""

    def __init__(self, plan: ToolPlan, known: KnownTools | None) -> None:
        self.calls = tuple(self._with_names(call, known) for call in plan.calls)
        self.said = plan.said or ((plan.request,) if plan.request else ())
        self.known = known
        self.values: Sequence[CallValues] = call_values(self.said, self.calls)
        self._turns = any(call.turn for call in self.calls)

    @staticmethod
    def _with_names(call: LoggedCall, known: KnownTools | None) -> LoggedCall:
        schema = known.schemas.get(call.tool) if known is not None else None
        if not call.unnamed or schema is None or len(call.unnamed) > len(schema.takes):
            return call
        by_place = {p.name: v for p, v in zip(schema.takes, call.unnamed, strict=False)}
        return replace(call, arguments=by_place | dict(call.arguments or {}), unnamed=())

    def schema(self, at: int) -> ToolSchema | None:
        return self.known.schemas.get(self.calls[at].tool) if self.known is not None else None

    def effect(self, at: int) -> Effect:
        return effect_of(self.calls[at].tool, self.schema(at))

    def reads(self, at: int) -> bool:
        return self.effect(at) is Effect.READS

    def messages_before(self, at: int) -> tuple[str, ...]:
        return self.said[: self.calls[at].turn] if self._turns else self.said

    def inputs(self, at: int) -> tuple[Leaf, ...]:
        return tuple(
            leaf
            for leaf in argument_scalars(named_arguments(self.calls[at]))
            if value_words(leaf[1])
        )

    def before(self, at: int) -> KnownWords:
        """Return the words of all messages, arguments and results before a call."""
        words = KnownWords.of(list(self.messages_before(at)))
        for call in self.calls[:at]:
            words = words | KnownWords.of(call.result) | KnownWords.of(named_arguments(call))
        return words

    def retried(self, at: int) -> bool:
        """Return whether an earlier call of the same tool failed, so this one may correct it."""
        tool = self.calls[at].tool
        return any(other.failed and other.tool == tool for other in self.calls[:at])

    def mentions_tool(self, messages: Sequence[str], at: int) -> bool:
        request = stems(" ".join(messages))
        tool = self.calls[at].tool
        if self.known is None:
            return bool(stems(tool) & request)
        return self.known.vocabulary.mentions(request, tool)

    def mentions_call(self, messages: Sequence[str], at: int) -> bool:
        """Return whether the messages mention a call's tool or one of its argument values."""
        words = KnownWords.of(list(messages))
        return self.mentions_tool(messages, at) or any(words.has(v) for _, v in self.inputs(at))
