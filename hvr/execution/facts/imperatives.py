"""Requests in worlds without annotated verbs: the imperatives of their actions.

put red on green              the effect of the action 'put {0} on {1}'
bring parcel1 to the market   a clause of the world: parcel1 is at the market
pick red up, then put it on green    two stages

An imperative requests one effect of its action: the effect with most of the imperative's arguments
and, among these, the rarest one. Every word must belong to a clause; courtesies are skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hvr.knowledge.wording import Template
from hvr.language.function_words import FUNCTION_WORDS
from hvr.pddl import And, Atom, Domain, Expression, Forall, Not, TypedName, When
from hvr.values import Value

_PLACES = {
    "at": ("at", "in", "on"),
    "to": ("at", "in", "on"),
    "in": ("in", "at"),
    "into": ("in",),
    "inside": ("in",),
    "on": ("on",),
    "onto": ("on",),
    "on top of": ("on",),
    "on to": ("on",),
}
"""Prepositions of destinations, and the prepositions of clauses that they can mean."""

_WHERE = "|".join(sorted(_PLACES, key=len, reverse=True))
_PLACE = re.compile(rf"(?P<thing>.+?) (?P<place>{_WHERE}) (?P<rest>.+)")
PLACING = tuple(
    "put place set lay stack bring take move carry deliver send get transport ship transfer leave "
    "have drop return relocate haul pass".split()
)
"""Verbs that ask for a thing to be at a place."""

_PLACING = re.compile(rf"(?:{'|'.join(PLACING)}) ")
_ORIGIN = re.compile(r" (?:from|off|out of) (?P<origin>.+?)(?= (?:to|into|onto|on|in|at) |$)")
_STATE = re.compile(r"(?:make|keep|get|turn|set) (?P<thing>.+) (?P<state>\S+)")
_SHOULD = re.compile(r" (?:should be|to be|must be|shall be|has to be|needs to be|ought to be) ")
_THEN = re.compile(r"[,;.]? (?:and then|then|after that|afterwards|and after that|finally) |[.;] ")

_PARTICLES = frozenset({"have", "keep", "there", "you", "go", "up", "out", "in here"})
_ROLES = ("filler", "goal", "ensure", "courtesy")
_COURTESIES = {phrase for role in _ROLES for phrase in FUNCTION_WORDS[role]} - _PARTICLES
_COURTESY = "|".join(map(re.escape, sorted(_COURTESIES, key=len, reverse=True)))
_BEFORE = re.compile(rf"(?:(?:{_COURTESY})(?![\w'])[ ,]*)+")
_AFTER = re.compile(rf"(?:[ ,]+(?:{_COURTESY})(?![\w']))+$")


class Imperative(Value):
    """A pattern of an order in words, whose groups `p0`, `p1` … are arguments, and its literal."""

    pattern: re.Pattern[str]
    atom: Atom
    positive: bool
    parameters: tuple[TypedName, ...]


def bare(text: str) -> str:
    """Return a request without the courtesies around it."""
    text = re.sub(r"\s+", " ", text.strip().rstrip(".!?").lower())
    before = _BEFORE.match(text)
    rest = text[before.end() :] if before else text
    return _AFTER.sub("", rest).strip(" ,") or text


def stages_of(text: str) -> list[str]:
    """Split a request at 'then' and full stops."""
    return [bare(part) for part in _THEN.split(text) if part and part.strip(" .,;")]


def imperatives(domain: Domain, orders: Sequence[tuple[str, Template]]) -> Iterator[Imperative]:
    """Yield the imperative patterns of the actions, longest first."""
    added = Counter(
        change.predicate
        for action in domain.actions.values()
        for change, positive in _literals(action.effect)
        if positive
    )
    for name, order in orders:
        action = domain.actions.get(name)
        if action is None or not order:
            continue
        parameters = [p.name for p in action.parameters]
        for pattern, groups in _forms(order.text.lower()):
            named = [parameters[g] for g in groups if g < len(parameters)]
            placing = _PLACING.match(order.text.lower()) is not None
            asked = _asked(list(_literals(action.effect)), named, added, placing)
            if asked is not None:
                yield Imperative(pattern, *asked, action.parameters)


def exclusive(domain: Domain) -> frozenset[tuple[str, str]]:
    """Return the pairs of predicates that cannot both hold for an object.

    An action that makes one true for an object makes the other false. A predicate that actions
    make false has one further argument at a time: an object is at one place.
    """
    pairs: set[tuple[str, str]] = set()
    for action in domain.actions.values():
        changes = list(_literals(action.effect))
        for gone, kept in changes:
            if kept or not gone.args:
                continue
            pairs.add((gone.predicate, gone.predicate))
            added = (a.predicate for a, made in changes if made and a.args[:1] == gone.args[:1])
            pairs |= {pair for name in added for pair in _both(gone.predicate, name)}
    return frozenset(pairs)


def _both(one: str, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other), (other, one)


def _literals(effect: Expression, *, positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    match effect:
        case Atom():
            yield effect, positive
        case Not(operand):
            yield from _literals(operand, positive=not positive)
        case And(operands):
            for operand in operands:
                yield from _literals(operand, positive=positive)
        case Forall(_, body) | When(_, body):
            yield from _literals(body, positive=positive)


def _asked(
    literals: Sequence[tuple[Atom, bool]], named: Sequence[str], added: Counter[str], placing: bool
) -> tuple[Atom, bool] | None:
    """Return the literal that an order with some arguments asks for, or None."""
    # An order to put something needs its place; other orders may leave out arguments.
    about = [one for one in literals if named and one[0].args[:1] == (named[0],)]
    possible = [one for one in about if set(one[0].args) <= set(named)]
    most = max((len(atom.args) for atom, _ in about), default=0)
    if not placing and all(len(atom.args) < most for atom, _ in possible):
        possible = about
    if placing and any(len(atom.args) > len(named) for atom, _ in about):
        return None
    return min(
        possible,
        key=lambda one: (-len(one[0].args), not one[1], added[one[0].predicate]),
        default=None,
    )


def _forms(order: str) -> Iterator[tuple[re.Pattern[str], tuple[int, ...]]]:
    """Yield the patterns of an order, with and without its last phrases."""
    parts = re.split(r"\{(\d+)\}", order)
    head, first, *rest = [*parts, "", ""][:2] + list(parts[2:])
    if len(parts) < 3:
        return
    phrases = [(rest[i], rest[i + 1]) for i in range(0, len(rest) - 1, 2)]
    last = rest[-1]
    for kept in _kept(len(phrases)):
        text, groups = f"{re.escape(head)}(?P<p{first}>.+?)", [int(first)]
        for index in kept:
            word, number = phrases[index]
            text += f"{_place(word)}(?P<p{number}>.+?)"
            groups.append(int(number))
        yield re.compile(text + re.escape(last)), tuple(groups)
        if last.strip() and not kept:  # 'pick red up', 'pick up red'
            yield re.compile(f"{re.escape(head)}{last.strip()} (?P<p{first}>.+?)"), (int(first),)


def _kept(count: int) -> Iterator[tuple[int, ...]]:
    for bits in range(2**count - 1, -1, -1):
        yield tuple(i for i in range(count) if bits >> i & 1)


def _place(words: str) -> str:
    """Return a pattern for the words before an argument; 'onto' is a form of 'on'."""
    word = words.strip()
    alike = [w for w, meant in _PLACES.items() if word in (w, *meant)] or [word]
    return f" (?:{'|'.join(map(re.escape, sorted({*alike, word}, key=len, reverse=True)))}) "


def as_clauses(text: str, *, ordered: bool) -> Iterator[str]:
    """Yield the clauses that a request can mean: 'bring X to Y', after an order also 'X to Y'."""
    verb = _PLACING.match(text)
    text = _SHOULD.sub(" is ", text)
    yield text
    rest = text[verb.end() :] if verb else text
    for origin in (None, _ORIGIN.search(rest)):
        said = rest if origin is None else rest[: origin.start()] + rest[origin.end() :]
        match = _PLACE.fullmatch(said)
        if match is not None and (verb or ordered or _LIST.search(match["thing"]) is None):
            for preposition in _PLACES[match["place"]]:
                yield f"{match['thing']} is {preposition} {match['rest']}"
    state = _STATE.fullmatch(text)
    if state is not None:
        yield f"{state['thing']} is {state['state']}"


_LIST = re.compile(r", and |, | and ")


def things_of(text: str) -> list[str]:
    """Return the items of a list: 'red, green and blue'."""
    return [part for part in _LIST.split(text) if part]
