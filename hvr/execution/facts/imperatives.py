"""Requests in worlds whose verbs have no annotations: the imperatives of their actions.

    put red on green              the effect of the action 'put {0} on {1}' bring parcel1 to the
        market   a clause of the world: parcel1 is at the market pick red up, then put it on green
        two stages

An imperative requests one effect of its action: the effect that mentions most of the given
arguments and, among these, the one that fewest actions have. Every word must belong to a clause,
except for courtesies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from hvr.knowledge.wording import ActionWording, Template
from hvr.language.function_words import FUNCTION_WORDS, NUMBERS
from hvr.pddl import And, Atom, Domain, Expression, Forall, Not, Number, TypedName, When
from hvr.pddl.formulas import NumericEffect
from hvr.values import Value
from hvr.worlds.facts.lexicon import imperative_of

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
"""Prepositions after a verb of motion, and the prepositions of the clauses that they can mean."""

_WHERE = "|".join(sorted(_PLACES, key=len, reverse=True))
PLACING = tuple(
    "put place set lay stack bring take move carry deliver send get transport ship transfer leave "
    "have drop return relocate haul pass".split()
)
"""Verbs that request that an object be at a place."""

_PLACING = re.compile(rf"(?:{'|'.join(PLACING)}) ")
_ORIGIN = re.compile(r" (?:from|off|out of) (?P<origin>.+?)(?= (?:to|into|onto|on|in|at) |$)")
_STATE = re.compile(r"(?:make|keep|get|turn|set) (?P<thing>.+) (?P<state>\S+)")
_SHOULD = re.compile(
    r" (?:(?:should|must|may|shall|can|(?:have|has|need|needs|ought) to|to)(?P<denied> not)? "
    r"(?:be|stay|remain|end up|go|lie|stand|sit)|goes|belongs|ends up|end up|belong)(?= )"
)
_OVER = re.compile(r" (?:over|back|up|down|on|off|out)(?= (?:to|at|in|into|onto|on) )")
"""Adverbs of direction before a place: 'over to the harbour', 'back in the shed'."""

_UNDER = re.compile(r"(?P<thing>.+?) (?:under|underneath|beneath|below) (?P<place>.+)")
_HOLDING = frozenset({"hold", "grasp", "carry", "grab", "take"})
_GOING = re.compile(
    r"(?:go|walk|move|head|travel|come|return|drive) (?:over |back )?(?:to|into) (?P<place>.+)"
)
_THEN = re.compile(r"[,;.]? (?:and then|then|after that|afterwards|and after that|finally) |[.;] ")

PARTICLES = frozenset({"on", "off", "up", "down", "out", "away"})
_ORIGINS = ("from", "off", "out of")

_PARTICLES = frozenset({"have", "keep", "there", "you", "go", "up", "out", "in here"})
_ROLES = ("filler", "goal", "ensure", "courtesy")
_COURTESIES = {phrase for role in _ROLES for phrase in FUNCTION_WORDS[role]} - _PARTICLES
_COURTESY = "|".join(map(re.escape, sorted(_COURTESIES, key=len, reverse=True)))
_BEFORE = re.compile(rf"(?:(?:{_COURTESY})(?![\w'])[ ,]*)+")
_AFTER = re.compile(rf"(?:[ ,]+(?!(?:can|could|would|will)$)(?:{_COURTESY})(?![\w']))+$")


class Imperative(Value):
    """An imperative sentence pattern, and the effect that it requests.

    Args:
        pattern: The sentence pattern; the groups `p0`, `p1` … are arguments.
        asked: Atom of the requested literal, or the requested change of a number.
        positive: Whether the atom becomes true.
        needs: Atoms of the action's precondition.
    """

    pattern: re.Pattern[str]
    asked: Atom | NumericEffect
    positive: bool
    parameters: tuple[TypedName, ...]
    needs: tuple[Atom, ...] = ()

    @property
    def args(self) -> tuple[str, ...]:
        asked = self.asked
        return asked.args if isinstance(asked, Atom) else asked.fluent.args


def bare(text: str) -> str:
    """Return a request without courtesies such as 'please'."""
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
        for change, positive in literals_of(action.effect)
        if positive
    )
    for name, order in orders:
        action = domain.actions.get(name)
        if action is None or not order:
            continue
        parameters = [p.name for p in action.parameters]
        literals = list(literals_of(action.effect))
        needs = tuple(
            atom for atom, positive in literals_of(action.precondition) if positive and atom.args
        )
        gone = {a for atom, made in literals if not made for a in atom.args[1:]}
        left = frozenset(n for n, p in enumerate(parameters) if p in gone)
        for pattern, groups in _forms(order.text.lower(), left):
            named = [parameters[g] for g in groups if g < len(parameters)]
            placing = _PLACING.match(order.text.lower()) is not None
            asked: tuple[Atom | NumericEffect, bool] | None
            asked = _asked(literals, named, added, placing)
            if asked is None and (change := _changed(action.effect, named)) is not None:
                asked = change, True
            if asked is not None:
                yield Imperative(pattern, asked[0], asked[1], action.parameters, needs)


def orders_of(wording: Mapping[str, ActionWording], domain: Domain) -> list[tuple[str, Template]]:
    """Return the imperative of each action, either given or derived from the action's name."""
    given = [(name, said.imperative) for name, said in wording.items()]
    own = [
        (name, Template(imperative_of(action), len(action.parameters)))
        for name, action in domain.actions.items()
    ]
    return [*given, *own]


def _changed(effect: Expression, named: Sequence[str]) -> NumericEffect | None:
    """Return the change of a number, by a constant amount, that an imperative requests."""
    effects = effect.operands if isinstance(effect, And) else (effect,)
    changes = [
        one
        for one in effects
        if isinstance(one, NumericEffect)
        and isinstance(one.amount, Number)
        and one.operator in {"increase", "decrease", "assign"}
        and one.fluent.args[:1] == tuple(named[:1])
        and set(one.fluent.args) <= set(named)
    ]
    return min(changes, key=lambda one: one.operator == "decrease", default=None)


def exclusive(domain: Domain) -> frozenset[tuple[str, str]]:
    """Return the pairs of predicates that cannot both hold for the same object.

    Two predicates exclude each other if an action makes one true and the other false. A predicate
    paired with itself allows one second argument at a time, such as an object's place.
    """
    pairs: set[tuple[str, str]] = set()
    for action in domain.actions.values():
        changes = list(literals_of(action.effect))
        for gone, kept in changes:
            if kept or not gone.args:
                continue
            pairs.add((gone.predicate, gone.predicate))
            added = (a.predicate for a, made in changes if made and a.args[:1] == gone.args[:1])
            pairs |= {pair for name in added for pair in _both(gone.predicate, name)}
    return frozenset(pairs)


def _both(one: str, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other), (other, one)


def literals_of(effect: Expression, *, positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    """Yield each atom of an effect, and whether the effect makes it true."""
    match effect:
        case Atom():
            yield effect, positive
        case Not(operand):
            yield from literals_of(operand, positive=not positive)
        case And(operands):
            for operand in operands:
                yield from literals_of(operand, positive=positive)
        case Forall(_, body) | When(_, body):
            yield from literals_of(body, positive=positive)


def _asked(
    literals: Sequence[tuple[Atom, bool]], named: Sequence[str], added: Counter[str], placing: bool
) -> tuple[Atom, bool] | None:
    """Return the literal that an imperative with the arguments `named` requests, or None."""
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


def _forms(
    order: str, left: Set[int] = frozenset()
) -> Iterator[tuple[re.Pattern[str], tuple[int, ...]]]:
    """Yield the patterns of an imperative with all or only some of its phrases."""
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
            text += f"{_place(word, int(number) in left)}(?P<p{number}>.+?)"
            groups.append(int(number))
        yield re.compile(text + re.escape(last)), tuple(groups)
        if last.strip() and not kept:  # 'pick red up', 'pick up red'
            yield re.compile(f"{re.escape(head)}{last.strip()} (?P<p{first}>.+?)"), (int(first),)
        particle = phrases[0][0].strip() if phrases else ""
        if particle in PARTICLES and not kept:  # 'take red off'
            yield re.compile(f"{re.escape(head)}(?P<p{first}>.+?) {particle}"), (int(first),)
        verb, _, end = head.strip().partition(" ")
        if end in PARTICLES:  # 'switch on the lamp', 'switch the lamp on'
            text = text.replace(f"{re.escape(head)}(?P<p{first}>.+?)", "", 1)
            moved = f"{re.escape(verb)} (?P<p{first}>.+?) {end}{text}{re.escape(last)}"
            yield re.compile(moved), tuple(groups)


def _kept(count: int) -> Iterator[tuple[int, ...]]:
    for bits in range(2**count - 1, -1, -1):
        yield tuple(i for i in range(count) if bits >> i & 1)


def _place(words: str, left: bool) -> str:
    """Return a pattern for the preposition before an argument, such as 'on' or 'onto' for 'on'."""
    word = words.strip()
    if word == ",":
        forms = _ORIGINS if left else ("with", "using", *_PLACES)
        return rf"(?:,| (?:{'|'.join(sorted(forms, key=len, reverse=True))})) "
    alike = [w for w, meant in _PLACES.items() if word in (w, *meant)] or [word]
    return f" (?:{'|'.join(map(re.escape, sorted({*alike, word}, key=len, reverse=True)))}) "


def as_clauses(text: str, *, ordered: bool) -> Iterator[str]:
    """Yield the clauses that a request can mean, such as 'X is at Y' for 'bring X to Y'.

    If `ordered`, the verb may be missing, as in 'X to Y'.
    """
    verb = _PLACING.match(text)
    text = _SHOULD.sub(lambda match: f" is{match['denied'] or ''}", text)
    yield text
    if (going := _GOING.fullmatch(text)) is not None:
        yield from (f"the robot is {p} {going['place']}" for p in ("at", "in"))
    rest = _OVER.sub("", text[verb.end() :]) if verb else text
    for origin in (None, _ORIGIN.search(rest)):
        said = rest if origin is None else rest[: origin.start()] + rest[origin.end() :]
        for match in re.finditer(rf" (?P<place>{_WHERE}) ", said):
            thing, place = said[: match.start()], said[match.end() :]
            if thing and place and (verb or ordered or _LIST.search(thing) is None):
                for preposition in _PLACES[match["place"]]:
                    yield f"{thing} is {preposition} {place}"
    if (under := _UNDER.fullmatch(rest)) is not None:
        yield f"{under['place']} is on {under['thing']}"
    word, _, thing = text.partition(" ")
    if thing and word in _HOLDING:
        yield from (
            f"{thing} is in the hand",
            f"{thing} is held",
            f"holding {thing}",
            f"carrying {thing}",
        )
    if thing:  # 'clear the red block'
        yield f"{thing} is {word}"
    state = _STATE.fullmatch(text)
    if state is not None:
        yield f"{state['thing']} is {state['state']}"


_LIST = re.compile(r", and |, | and ")
_GERUND = re.compile(r"(?P<verb>[a-z]{2,})ing\b")
_AFTER_DOING = re.compile(
    r"(?P<later>.+?),? after (?P<first>[a-z]+ing .+)|after (?P<one>[a-z]+ing [^,]+), (?P<then>.+)"
)
_BEFORE_DOING = re.compile(r"(?P<first>.+?),? before (?P<later>[a-z]+ing .+)")


def in_order_of(text: str, verbs: Collection[str]) -> str:
    """Turn 'B after doing A' and 'A before doing B' into 'A then B'."""
    if (after := _AFTER_DOING.fullmatch(text)) is not None:
        first, later = after["first"] or after["one"], after["later"] or after["then"]
        return f"{_plain_verb(first, verbs)}, then {later}"
    if (before := _BEFORE_DOING.fullmatch(text)) is not None:
        return f"{before['first']}, then {_plain_verb(before['later'], verbs)}"
    return text


def _plain_verb(text: str, verbs: Collection[str]) -> str:
    def plain(match: re.Match[str]) -> str:
        stem = match["verb"]
        doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        return next((w for w in (stem, f"{stem}e", doubled) if w in verbs), match[0])

    return _GERUND.sub(plain, text, count=1)


_TIMES = re.compile(r"(?P<order>.+?) (?:(?P<word>once|twice|thrice)|(?P<number>\w+) times)")
_ONCE = {"once": 1, "twice": 2, "thrice": 3}


def repeated(text: str) -> tuple[str, int]:
    """Split 'water the rose twice' into 'water the rose' and 2, or return 0 without a number."""
    match = _TIMES.fullmatch(text)
    if match is None:
        return text, 0
    number = match["number"] or ""
    times = _ONCE.get(match["word"] or "") or NUMBERS.get(number, 0)
    times = times or (int(number) if number.isdecimal() else 0)
    return (match["order"], times) if times else (text, 0)


_TURN = re.compile(r"(turn|switch)(?= )")


def variants(text: str, types: Mapping[str, str]) -> Iterator[str]:
    """Yield rewordings of an imperative.

    Args:
        types: For verbs whose first argument can only be one object: this object.
    """
    yield text
    if (turn := _TURN.match(text)) is not None:
        yield f"{'switch' if turn[0] == 'turn' else 'turn'}{text[turn.end() :]}"
    verb, _, rest = text.partition(" ")
    if verb in types and rest.startswith(("to ", "into ", "from ")):  # 'fly to airport2'
        yield f"{verb} {types[verb]} {rest}"


def things_of(text: str) -> list[str]:
    return [part for part in _LIST.split(text) if part]
