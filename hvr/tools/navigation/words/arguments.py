"""The arguments that a clause states, bound to the parameters of a tool.

A value's form, neighbouring words and position determine its parameter. Each value is bound to one
parameter, the most certain pairs first. A value without a recognisable form, such as "milk" in
"search for milk", is bound only if exactly one parameter and one run of words remain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema
from hvr.tools.navigation.words.clauses import RequestClause
from hvr.tools.navigation.words.english import (
    AUXILIARIES,
    DETERMINERS,
    END_NAMES,
    FROM_WORDS,
    NAMING,
    ORDINALS,
    PREPOSITIONS,
    PRONOUNS,
    RESTRICTIONS,
    START_NAMES,
    TO_WORDS,
    stem,
    stems_of,
    words_in,
)
from hvr.tools.navigation.words.kinds import ValueKind, kind_of, value_compatibility
from hvr.tools.navigation.words.lexer import Token, ValueForm, ValueSpan
from hvr.tools.navigation.words.reading import ReadValue
from hvr.tools.navigation.words.vocabulary import ToolVocabulary, are_similar_verbs, is_content

MIN_FORM_SCORE = 0.9
"""Minimum score at which the form of a value alone determines its parameter."""

NAMED_PARAMETER_SCORE = 0.6
"""Score for a parameter's name beside a value."""

MIN_BINDING_SCORE = 0.5
"""Minimum score at which a value is bound to a parameter."""

REASON_STEMS = frozenset(map(stem, ("reason", "why", "cause", "note", "comment")))
"""Stems in the names of parameters that take a reason, as stated after "because"."""

_NEAR = 3
"""Number of words before a value that may describe it."""


@dataclass
class ReadCall:
    """The part of a call that a clause states.

    Args:
        used: Positions of the words and values that the call explains.
        quality: How well each value matches its parameter, from 0 to 1, by the value's position.
    """

    tool: ToolSchema
    arguments: dict[str, Json] = field(default_factory=dict)
    values: list[ReadValue] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    quality: dict[int, float] = field(default_factory=dict)

    def open(self) -> list[ToolParameter]:
        return [p for p in self.tool.takes if p.required and p.name not in self.arguments]

    def put(self, parameter: ToolParameter, value: Json, text: str, form: str) -> None:
        """Set a parameter to a value, or append the value if the parameter takes a list.

        `text` states the value in the request; `form` is its recognised form.
        """
        if parameter.is_list:
            listed = self.arguments.setdefault(parameter.name, [])
            assert isinstance(listed, list)
            listed.append(value)
        else:
            self.arguments[parameter.name] = value
        self.values.append(ReadValue(parameter.name, value, text, form))


@dataclass(frozen=True)
class _Pair:
    score: float
    index: int
    parameter: ToolParameter
    value: Json


@dataclass(frozen=True)
class RequestContext:
    """The request around a clause.

    Args:
        text: The whole request.
        facts: Values in the request's statements.
        about: Words of the request's statements, if the clause is its first order or question;
            otherwise empty.
    """

    text: str
    facts: tuple[ValueSpan, ...] = ()
    about: tuple[Token, ...] = ()


def read_call(
    tool: ToolSchema,
    words: ToolVocabulary,
    clause: RequestClause,
    verb: str,
    context: RequestContext,
) -> ReadCall:
    call = ReadCall(tool)
    _choices(call, clause, verb)
    _flags(call, clause)
    _switch(call, clause)
    order: dict[str, list[tuple[int, Json]]] = {}
    # Greedy assignment: the most certain pair first; ties go to the earlier value.
    pairs = sorted(_pairs(call, words, clause), key=lambda one: (-one.score, one.index))
    taken: set[int] = set()
    for pair in pairs:
        free = pair.parameter.is_list or pair.parameter.name not in call.arguments
        if pair.index in taken or not free:
            continue
        token = clause.tokens[pair.index]
        assert token.span is not None
        taken.add(pair.index)
        call.used |= {token.start, *_naming_words(clause.tokens, pair.index, pair.parameter)}
        call.quality[token.start] = min(1.0, pair.score / 1.2)
        call.put(pair.parameter, pair.value, token.text, token.span.form.value)
        order.setdefault(pair.parameter.name, []).append((pair.index, pair.value))
    for name, values in order.items():
        if len(values) == 1 and isinstance(call.arguments[name], list):
            # Prefer a tool that takes a single value to one that takes a one-element list.
            call.quality[clause.tokens[values[0][0]].start] *= 0.7
        if len(values) > 1:
            call.arguments[name] = [value for _, value in sorted(values, key=lambda one: one[0])]
    _phrase(call, words, clause, verb, context)
    return call


def _pairs(call: ReadCall, words: ToolVocabulary, clause: RequestClause) -> Iterator[_Pair]:
    indices = [i for i, token in enumerate(clause.tokens) if token.span is not None]
    for order, index in enumerate(indices):
        span = clause.tokens[index].span
        assert span is not None
        if clause.tokens[index].start in call.used:
            continue
        owned = _owned(clause.tokens, index)
        if span.form is ValueForm.NUMBER and span.value == len(indices) - order - 1 > 1:
            call.used.add(span.start)  # "the three files a, b and c"
            continue
        for place, parameter in enumerate(call.tool.takes):
            if parameter.name in call.arguments:
                continue
            fits, value = value_compatibility(span, parameter)
            if not fits or owned & stems_of(parameter.name):
                continue
            if span.form is ValueForm.PATH and not _fits_subject(span.text, call.tool, parameter):
                continue
            if span.form is ValueForm.ID and _of_other(span.text, parameter.name, words.things):
                continue
            cue = cue_of(clause.tokens, index, parameter)
            if not parameter.required and cue <= 0 and fits < 1:
                continue
            score = fits + cue - (0 if parameter.required else 0.3) - 0.1 * parameter.is_list
            score -= 0.01 * abs(order - place)  # a tie-breaker: values often come in schema order
            if score >= MIN_BINDING_SCORE:
                yield _Pair(score, index, parameter, value)


_FILE = frozenset(map(stem, ("file", "filename")))
_FOLDER = frozenset(map(stem, ("directory", "folder", "repo", "root", "workspace", "project")))


def _owned(tokens: Sequence[Token], index: int) -> frozenset[str]:
    """Return the stem of the noun owned by a value: "account" in "Ann Miller's account"."""
    mark, *owned = [token.lower for token in tokens[index + 1 : index + 3]] or [""]
    return frozenset(map(stem, owned)) if mark in ("s", "'s") else frozenset()


def _fits_subject(path: str, tool: ToolSchema, parameter: ToolParameter) -> bool:
    is_file = bool(re.search(r"\w\.[A-Za-z]\w{0,4}$", path))
    names, about = stems_of(parameter.name), stems_of(tool.name)
    if bool(names & _FILE) != bool(names & _FOLDER):
        return not (is_file and names & _FOLDER)
    return not (is_file and about & _FOLDER and not about & _FILE)


def _before(tokens: Sequence[Token], index: int) -> list[Token]:
    found: list[Token] = []
    for token in reversed(tokens[:index]):
        if token.span is not None or len(found) == _NEAR:
            break
        if token.is_word:
            found.append(token)
        elif token.text in ",;:" and token.text != ":":
            break
    return found


def _phrase_of(before: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    at = next((i for i, token in enumerate(before) if token.lower in PREPOSITIONS), len(before))
    return before[:at], before[at + 1 :]


def _after(tokens: Sequence[Token], index: int) -> list[Token]:
    found = []
    for token in tokens[index + 1 : index + 2]:
        if not token.is_word:
            break
        found.append(token)
    return found


def cue_of(tokens: Sequence[Token], index: int, parameter: ToolParameter) -> float:
    """Return how strongly words near `index` indicate a parameter; negative if they deny it."""
    names = stems_of(parameter.name)
    described = stems_of(parameter.description)
    before, after = _before(tokens, index), _after(tokens, index)
    own, other = _phrase_of(before)
    near = {stem(token.lower) for token in (*own, *after) if token.lower not in DETERMINERS}
    cue = 0.6 * len(near & names) / max(1, min(2, len(names))) + 0.2 * min(
        3, len((near & described) - names)
    )
    # In "the file in /tmp", the noun before the preposition is weaker evidence.
    cue += 0.2 * bool({stem(token.lower) for token in other[:1]} & names)
    nearest = next((t.lower for t in before if t.lower not in DETERMINERS), "")
    preposition = next((t.lower for t in before if t.lower in TO_WORDS | FROM_WORDS), "")
    if preposition in TO_WORDS:
        cue += 0.5 * bool(names & _ENDS) - 0.5 * bool(names & _STARTS)
    if preposition in FROM_WORDS:
        cue += 0.5 * bool(names & _STARTS) - 0.5 * bool(names & _ENDS)
    if nearest in ("in", "at") and names & _PLACES:
        cue += 0.3
    if nearest in NAMING and kind_of(parameter) in _NAMEABLE:
        cue += 0.6 if names & {"name", "titl"} else 0.4
    person = names & _PEOPLE or parameter.description.lower().startswith("who ")
    span = tokens[index].span
    if person and span is not None and span.form is ValueForm.NAME and nearest in ("for", "to"):
        cue += 0.5
    if nearest in _SAYING and kind_of(parameter) is ValueKind.TEXT:
        cue += 0.4
    if span is not None and span.form is ValueForm.ID:
        cue += 0.4 * _prefix(span.text, parameter.name)
    return cue


_NAMEABLE = frozenset([ValueKind.NAME, ValueKind.PATH, ValueKind.ID, ValueKind.ANY])
_PEOPLE = frozenset(
    map(stem, "assignee owner user guest customer person recipient employee member client".split())
)
_ENDS = frozenset(map(stem, END_NAMES))
_STARTS = frozenset(map(stem, START_NAMES))
_PLACES = frozenset(map(stem, ("city", "town", "country", "place", "location", "region", "zone")))
_SAYING = frozenset(["with", "saying", "says", "say", "content", "message", "text", "about", "for"])


def _prefix(text: str, name: str) -> bool:
    letters = re.match(r"#?([A-Za-z]{1,4})-?\d", text)
    first = words_in(name)[:1]
    return bool(
        letters and first and len(words_in(name)) > 1 and first[0].startswith(letters[1].lower())
    )


def _of_other(text: str, name: str, things: Collection[str]) -> bool:
    own = any(_prefix(text, f"{word}_id") for word in words_in(name))
    return not own and any(_prefix(text, f"{thing}_id") for thing in things)


def _naming_words(tokens: Sequence[Token], index: int, parameter: ToolParameter) -> Iterator[int]:
    names = stems_of(parameter.name) | stems_of(parameter.description)
    for token in (*_before(tokens, index), *_after(tokens, index)):
        if stem(token.lower) in names or token.lower in NAMING | _SAYING:
            yield token.start


def _choices(call: ReadCall, clause: RequestClause, verb: str) -> None:
    for parameter in call.tool.takes:
        options = [json.loads(choice) for choice in parameter.choices]
        soft = not options and "string" in parameter.type.split("|")
        if soft:
            options = options_in(parameter.description)
        found: dict[str, tuple[Any, list[Token]]] = {}
        for option in options:
            if isinstance(option, str) and (tokens := _named(option, clause)):
                found[option] = option, tokens
        longest = max((len(one[1]) for one in found.values()), default=0)
        found = {name: one for name, one in found.items() if len(one[1]) == longest}
        if not found and not soft:
            same = [
                o
                for o in options
                if isinstance(o, str) and verb and are_similar_verbs(verb, stem(o))
            ]
            if len(same) == 1:
                call.put(parameter, same[0], same[0], ValueForm.CHOICE.value)
            continue
        if len(found) == 1:
            option, tokens = next(iter(found.values()))
            call.put(parameter, option, " ".join(t.text for t in tokens), ValueForm.CHOICE.value)
            call.used |= {token.start for token in tokens}


_QUOTED = re.compile(r"['\"]([A-Za-z]\w*)['\"]")
_LISTED = re.compile(
    r"(?:options?(?: are)?|one of|either|\[Enum\]|values?(?: are)?)\W+"
    r"((?:\w+\W{1,4}){1,8}\w+)"
)


def options_in(description: str) -> list[str]:
    """Return the values that a description lists; empty if there are fewer than two."""
    found = _QUOTED.findall(description)
    if len(set(found)) < 2 and (listed := _LISTED.search(description)):
        found = re.findall(r"\w+", listed[1]) if "," in listed[1] or " or " in listed[1] else []
        found = [word for word in found if word.lower() not in ("or", "and", "the")]
    return list(dict.fromkeys(found)) if len(set(found)) > 1 else []


def _named(option: str, clause: RequestClause) -> list[Token]:
    wanted = [stem(w) for w in re.findall(r"[a-z]+|\d+", option.replace("_", " ").lower())]
    tokens = list(clause.tokens)
    for index, token in enumerate(tokens):
        if token.span is not None and str(token.span.value).lower() == option.lower():
            return [token]
        part = [t for t in tokens[index:] if t.is_word or t.span is not None][: len(wanted)]
        if wanted and [stem(t.text.lower()) for t in part] == wanted:
            return part
    return []


_SWITCHES = frozenset(map(stem, ("on", "enabled", "active", "enable", "power")))


def _switch(call: ReadCall, clause: RequestClause) -> None:
    said = [t for t in clause.tokens if t.lower in ("on", "off")]
    flags = [p for p in call.tool.takes if kind_of(p) is ValueKind.FLAG and p.required]
    flags = [p for p in flags if stems_of(p.name) & _SWITCHES]
    if len(flags) == 1 and len(said) == 1:
        call.put(flags[0], said[0].lower == "on", said[0].text, ValueForm.CHOICE.value)
        call.used.add(said[0].start)


def switches(call: ReadCall) -> bool:
    """Return whether a call states that something is to be on or off."""
    return any(
        v.form == ValueForm.CHOICE.value and v.text.lower() in ("on", "off") for v in call.values
    )


def _flags(call: ReadCall, clause: RequestClause) -> None:
    others = [p for p in call.tool.takes if kind_of(p) is not ValueKind.FLAG]
    plain = stems_of(f"{call.tool.name} {' '.join(p.name for p in others)}")
    said = [t for t in clause.tokens if is_content(t)]
    for parameter in call.tool.takes:
        if kind_of(parameter) is not ValueKind.FLAG or parameter.required:
            continue
        own = (stems_of(f"{parameter.name} {parameter.description}") - plain) & {
            stem(word)
            for word in words_in(f"{parameter.name} {parameter.description}")
            if len(word) > 3 and word not in _FLAG_WORDS
        }
        tokens = [t for t in said if stem(t.lower) in own]
        if tokens and not any(t.lower in ("not", "no", "don't") for t in clause.tokens):
            call.put(parameter, True, " ".join(t.text for t in tokens), ValueForm.CHOICE.value)
            call.used |= {token.start for token in tokens}


_FLAG_WORDS = frozenset(
    """whether true false show display default defaults return print include including optional
    should will when only must file files directory directories with list item items given each
    result results information""".split()
)


def _phrase(
    call: ReadCall, words: ToolVocabulary, clause: RequestClause, verb: str, context: RequestContext
) -> None:
    """Bind remaining runs of words to text parameters that have no value yet."""
    worded = [
        p
        for p in call.tool.takes
        if kind_of(p) in _WORDED and "string" in p.type.split("|") and p.name not in call.arguments
    ]
    open_ = [
        p
        for p in worded
        if p.required
        and not any(value_compatibility(span, p)[0] >= MIN_FORM_SCORE for span in context.facts)
    ]
    if not open_ and not call.arguments and len(worded) == 1 and not call.open():
        open_ = worded  # a search with a single searchable parameter
    if not open_:
        return
    runs = _after_colon(call, clause) or [
        run for run in _runs(call, words, clause, verb) if _plain(run)
    ]
    if not runs and len(open_) == 1 and kind_of(open_[0]) is ValueKind.TEXT:
        runs = [run for run in _remainder(clause, open_[0], verb) if _plain(run)]
    for parameter in open_:
        fitting = [run for run in runs if _introduced(clause, run, parameter, verb, words)]
        named = [run for run in fitting if _named_by(clause, run, parameter)]
        if len(named) == 1 or (len(fitting) == 1 and len(open_) == 1):
            run = (named or fitting)[0]
            _take(call, parameter, run, context.text)
            runs = [one for one in runs if one is not run]


_WORDED = frozenset([ValueKind.TEXT, ValueKind.NAME, ValueKind.ANY])


def _take(call: ReadCall, parameter: ToolParameter, run: Sequence[Token], text: str) -> None:
    last = run[-1]
    end = last.span.end if last.span is not None else last.start + len(last.text)
    said = text[run[0].start : end]
    call.put(parameter, said, said, ValueForm.PHRASE.value)
    call.used |= {token.start for token in run}


def _after_colon(call: ReadCall, clause: RequestClause) -> list[list[Token]]:
    at = next((i for i, t in enumerate(clause.tokens) if t.span is None and t.text == ":"), None)
    run = [] if at is None else list(clause.tokens[at + 1 :])
    return [run] if run and all(t.start not in call.used for t in run) else []


def _remainder(clause: RequestClause, parameter: ToolParameter, verb: str) -> list[list[Token]]:
    names = stems_of(parameter.name)
    rest = list(clause.tokens[_verb_length(clause, verb) :])
    while rest and (rest[0].lower in DETERMINERS or stem(rest[0].lower or "x") in names):
        rest.pop(0)
    plain = rest and all(t.span is None and t.is_word for t in rest)
    return [rest] if plain and rest[0].lower not in PREPOSITIONS | PRONOUNS else []


def _plain(run: Sequence[Token]) -> bool:
    return not any(token.lower in _NOT_IN_PHRASES | RESTRICTIONS for token in run)


_PLACING = frozenset("in at to from of into near via on onto".split())
_NOT_IN_PHRASES = frozenset("do does did have has had can could will would shall should i".split())


def _named_by(clause: RequestClause, run: Sequence[Token], parameter: ToolParameter) -> bool:
    index = clause.tokens.index(run[0])
    names = stems_of(parameter.name)
    return any(stem(token.lower) in names for token in _before(clause.tokens, index)[:2])


def _introduced(
    clause: RequestClause,
    run: Sequence[Token],
    parameter: ToolParameter,
    verb: str,
    words: ToolVocabulary,
) -> bool:
    # Free text is the object of the verb, or follows "about", "saying" or a colon; a name follows a
    # preposition.
    if _named_by(clause, run, parameter):
        return True
    if all(stem(token.lower or "x") in words.around for token in run):
        return False  # words that tools use for things are not values
    index = clause.tokens.index(run[0])
    before = [t for t in clause.tokens[:index] if t.lower not in DETERMINERS - {"that"}]
    last = before[-1] if before else None
    if last is None:
        return False
    if kind_of(parameter) is ValueKind.NAME:
        finite = any(token.lower in AUXILIARIES for token in run)
        # "Deploy shop 1.4" names the app beside another value.
        beside = index > 0 and len(run) == 1 and stem(clause.tokens[index - 1].lower) == verb
        beside = beside and any(t.span is not None for t in clause.tokens[index + 1 : index + 2])
        return (last.lower in _PLACING or beside) and not finite
    if stems_of(parameter.name) & REASON_STEMS:
        return last.lower in ("for", ":")
    placed = kind_of(parameter) is ValueKind.ANY and last.lower in _PLACING
    return placed or last.lower in _SAYING | {":", "that", "on"} or stem(last.lower or "x") == verb


def _runs(
    call: ReadCall, words: ToolVocabulary, clause: RequestClause, verb: str
) -> Iterator[list[Token]]:
    run: list[Token] = []
    pending: list[Token] = []
    for token in (*clause.tokens[_verb_length(clause, verb) :], None):
        rest = (
            token is not None
            and token.start not in call.used
            and (
                (token.span is not None and token.span.form is ValueForm.NAME)
                or (
                    is_content(token)
                    and not words.has(stem(token.lower))
                    and token.lower not in ORDINALS
                )
            )
        )
        if token is not None and rest:
            run += [*pending, token] if run else [token]
            pending = []
        elif (
            token is not None
            and run
            and token.start not in call.used
            and not token.span
            and (token.is_word or token.text == "'")
            and stem(token.lower) not in words.name
        ):
            pending.append(token)
        else:
            if any(token.span is None for token in run):
                yield run
            run, pending = [], []


def _verb_length(clause: RequestClause, verb: str) -> int:
    first = clause.tokens[0].lower if clause.tokens else ""
    return int(stem(first or "x") == verb or (first == "tell" and verb == stem("notify")))
