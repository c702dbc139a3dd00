"""Requests in worlds whose verbs have no annotations: the imperatives of their actions.

    put red on green              the effect of the action 'put {0} on {1}'
    bring parcel1 to the market   a clause of the world: parcel1 is at the market
    pick red up, then put it on green    two stages

An imperative requests one effect of its action: the effect that mentions most of the given
arguments and, among these, the one that fewest actions have. Every word must belong to a clause,
except for courtesies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations

from hvr.knowledge.wording import ActionWording, Template
from hvr.language.function_words import FUNCTION_WORDS, NUMBERS
from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    Domain,
    Expression,
    Forall,
    Not,
    Number,
    TypedName,
    When,
)
from hvr.pddl.formulas import NumericEffect, changes_of
from hvr.values import Value, cached_property
from hvr.worlds.facts.lexicon import imperative_of

PLACES = {
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

WHERE = "|".join(sorted(PLACES, key=len, reverse=True))
PLACING = tuple(
    "put place set lay stack bring take move carry deliver send get transport ship transfer leave "
    "have drop return relocate haul pass give hand push".split()
)
"""Verbs that request that an object be at a place."""

_ORIGINS = ("from", "off", "out of")
_TOWARDS = frozenset({"to", "into", "onto", "on to"})
_BETWEEN = sorted((*PLACES, *_ORIGINS, "with", "using", "by", "via", "through", "for"), key=len)
_BETWEEN_ARGUMENTS = re.compile(rf",? (?P<mark>{'|'.join(reversed(_BETWEEN))}) |, ")
_THEN = re.compile(
    r"[,;.]? (?:and then|then|after that|afterwards|and after that|and finally|finally) |[.;] "
)

PARTICLES = frozenset({"on", "off", "up", "down", "out", "away", "in"})
_KEPT_WORDS = frozenset(
    "have keep there you go up out exactly only together separately instead again".split()
) | {"in here", "there should be", "there is", "there are", "there must be"}
_ROLES = ("filler", "goal", "ensure", "courtesy")
_COURTESIES = {phrase for role in _ROLES for phrase in FUNCTION_WORDS[role]} - _KEPT_WORDS
_COURTESY = "|".join(map(re.escape, sorted(_COURTESIES, key=len, reverse=True)))
_AMOUNT = rf"(?! (?:{'|'.join(NUMBERS)}|\d+)\b)"
_BEFORE = re.compile(rf"(?:(?:{_COURTESY})(?![\w']){_AMOUNT}[ ,]*)+")
_AFTER = re.compile(
    rf"(?:[ ,]+(?!(?:can|could|would|will)$)(?:{_COURTESY}|(?:at|in) the end|again)(?![\w']))+$"
)


class Imperative(Value):
    """An action as an order: 'put {0} on {1}'.

    Args:
        head: The words before the first argument, as a pattern; a particle is its group.
        slots: The parameters in the order of the words, each preceded by its preposition, or by
            "," if any preposition is possible.
        ends: Particles that may stand after the first argument or at the end.
        strict: Whether a particle must occur because other actions have the same verb.
        left: The parameters for places that the action's object leaves.
    """

    action: ActionSchema
    verb: str
    head: re.Pattern[str]
    slots: tuple[tuple[str, int], ...]
    ends: tuple[str, ...] = ()
    strict: bool = False
    left: frozenset[int] = frozenset()

    @cached_property
    def origins(self) -> frozenset[int]:
        """The parameters for places that the action's object leaves for another: `?from`."""
        changes = list(literals_of(self.action.effect))
        gone, new = ([a for a, made in changes if made is kind] for kind in (False, True))
        pairs = [(a, b) for a in gone for b in new if a.predicate == b.predicate]
        pairs = [(a, b) for a, b in pairs if a.args[:1] == b.args[:1]]
        left = {x for a, b in pairs for x, y in zip(a.args, b.args, strict=True) if x != y}
        return frozenset(n for n, p in enumerate(self.action.parameters) if p.name in left)

    @cached_property
    def made(self) -> frozenset[str]:
        """The parameters of facts that the action makes true."""
        literals = literals_of(self.action.effect)
        changed = (
            c.fluent.args for c in changes_of(self.action.effect) if isinstance(c, NumericEffect)
        )
        facts = (atom.args for atom, positive in literals if positive)
        return frozenset(x for args in (*changed, *facts) for x in args)

    def arguments(self, text: str) -> Iterator[tuple[tuple[str, str], ...]]:
        """Yield the ways to split an order into arguments with prepositions, fewest first."""
        match = self.head.match(text)
        if match is None:
            return
        rest, found = text[match.end() :], match["particle"]
        for end in self.ends:
            bare_rest = re.sub(rf" {end}(?= (?:{'|'.join(_BETWEEN)}) |$)", "", rest, count=1)
            rest, found = bare_rest, found or (end if bare_rest != rest else None)
        if self.strict and not found:
            return
        if not rest:
            yield ()
            return
        joints = list(_BETWEEN_ARGUMENTS.finditer(rest))[:_MOST_JOINTS]
        for size in range(min(len(joints), len(self.slots)) + 1):
            for cut in combinations(joints, size):
                starts = [0, *(joint.end() for joint in cut)]
                ends = [*(joint.start() for joint in cut), len(rest)]
                marks = ["", *(joint["mark"] or "," for joint in cut)]
                parts = [rest[one:other].strip() for one, other in zip(starts, ends, strict=True)]
                pairs = tuple(zip(marks, parts, strict=True))
                pairs = pairs if parts[0] else pairs[1:]
                if all(part for _, part in pairs):
                    yield pairs

    def assignments(
        self, pairs: Sequence[tuple[str, str]], fits: Callable[[str, TypedName], bool]
    ) -> Iterator[dict[int, str]]:
        """Yield the possible assignments of the arguments to parameters.

        Args:
            pairs: Pairs (preposition, argument).
            fits: Returns whether a phrase can be an argument for a parameter.
        """
        if not pairs:
            yield {}
            return
        (mark, text), *others = pairs
        order = sorted(self.slots, key=lambda s: (s[1] in self.origins, s[1] in self.left))
        for before, number in order:
            parameter = self.action.parameters[number]
            towards = mark in _TOWARDS and parameter.name not in self.made
            if (
                not towards
                and _goes_with(mark, before, number in self.left)
                and fits(text, parameter)
            ):
                for found in self.assignments(others, fits):
                    if number not in found:
                        yield {number: text, **found}

    def asked(
        self, named: Sequence[str], added: Counter[str], *, counts: bool
    ) -> tuple[Atom | NumericEffect, bool] | None:
        """Return the effect that the order requests and whether it makes its fact true, or None.

        Args:
            named: The given parameters of the action.
            added: Number of actions that make each predicate true.
            counts: Whether the order can only ask for a numeric change: 'water the rose twice'.
        """
        literals = [] if counts else list(literals_of(self.action.effect))
        literal = _asked(literals, named, added, self.verb in PLACING)
        if literal is not None:
            return literal
        change = _changed(self.action.effect, named)
        return None if change is None or (literals and not change.fluent.args) else (change, True)


_MOST_JOINTS = 6


def _goes_with(mark: str, before: str, left: bool) -> bool:
    """Return whether an order's preposition can stand where the wording has `before`.

    "," in the wording allows any preposition; `left` says that the object leaves this place.
    """
    if mark in ("", ","):
        return before in ("", ",")
    if before in ("", ","):
        return left if mark in _ORIGINS else True
    return mark == before or mark in _alike(before)


def _alike(word: str) -> Sequence[str]:
    return [w for w, meant in PLACES.items() if word in (w, *meant)]


def bare(text: str) -> str:
    """Return a request without courtesies such as 'please'."""
    text = re.sub(r"\s+", " ", text.strip().rstrip(".!?").lower())
    before = _BEFORE.match(text)
    rest = text[before.end() :] if before else text
    return _AFTER.sub("", rest).strip(" ,") or text


def stages_of(text: str) -> list[str]:
    """Split a request at 'then' and full stops."""
    return [part.strip(" .,;") for part in _THEN.split(text) if part and part.strip(" .,;")]


def imperatives(
    domain: Domain, orders: Sequence[tuple[str, Template]], nouns: Collection[str]
) -> Iterator[Imperative]:
    """Yield the imperative of each action.

    Args:
        nouns: Nouns of types, which may be left out: 'open {0}' for 'open gate {0}'.
    """
    said = [(domain.actions[name], order) for name, order in orders if name in domain.actions]
    verbs = [(action.name, order.text.lower().split()[0]) for action, order in said if order]
    for action, order in said:
        if not order:
            continue
        verb, words, slots, marks = _parts(order.text.lower())
        alone = len({name for name, other in verbs if other == verb}) == 1
        ends = [word for word in words if word in PARTICLES]
        some = "|".join((*ends, *marks) or (("up", "down", "out", "over") if alone else ()))
        pattern = re.escape(verb) + (rf"(?: (?P<particle>{some}))?" if some else "(?P<particle>)")
        for word in words:
            if word not in PARTICLES:
                after = "of|for|into|in|on|to|at"
                said_noun = rf" (?:(?:the|some) )?{re.escape(word)}s?(?: (?:{after}))?(?= |$)"
                pattern += rf"(?: {re.escape(word)})?" if word in nouns else said_noun
        gone = _left(list(literals_of(action.effect)))
        left = frozenset(n for n, p in enumerate(action.parameters) if p.name in gone)
        head = re.compile(rf"{pattern}(?= |$)")
        yield Imperative(action, verb, head, slots, (*ends, *marks), bool(ends) and not alone, left)


def _left(effects: Sequence[tuple[Atom, bool]]) -> set[str]:
    """Return the places that an action's object leaves, such as `?from`."""
    kept = {a for atom, made in effects if made for a in atom.args}
    gone = {a for atom, made in effects if not made for a in atom.args[1:]}
    gone |= {a for atom, made in effects if not made for a in atom.args if a not in kept}
    for atom, made in effects:
        others = [o for o, new in effects if new and not made and o.predicate == atom.predicate]
        gone |= {a for o in others for a, b in zip(atom.args, o.args, strict=True) if a != b}
    return gone


def _parts(text: str) -> tuple[str, list[str], tuple[tuple[str, int], ...], list[str]]:
    """Split 'pick {0} up in {1}' into its verb, its other words, its slots, and their particles."""
    head, *parts = re.split(r"\{(\d+)\}", text)
    verb, *words = head.split()
    first = words.pop() if words[-1:] and words[-1] in {*_BETWEEN} - PARTICLES else ""
    slots, marks = [], []
    for number, after in zip(parts[::2], parts[1::2], strict=True):
        slots.append((first, int(number)))
        first = after.strip() if after.strip() != "," else ","
        particle, _, rest = first.partition(" ")
        if particle in PARTICLES and number == parts[0] and rest:
            words, first = [*words, particle], rest
        elif particle in PARTICLES and number == parts[-2]:
            words, first = [*words, *first.split()], ""
        elif particle in PARTICLES:
            marks.append(particle)
    return verb, words, tuple(slots), marks


def effects_of(domain: Domain) -> Counter[str]:
    """Return the number of actions that make each predicate true."""
    return Counter(
        change.predicate
        for action in domain.actions.values()
        for change, positive in literals_of(action.effect)
        if positive
    )


def orders_of(wording: Mapping[str, ActionWording], domain: Domain) -> list[tuple[str, Template]]:
    """Return the given imperatives of actions, then those derived from the names of all actions."""
    given = [(name, said.imperative) for name, said in wording.items()]
    own = [
        (name, Template(imperative_of(action), len(action.parameters)))
        for name, action in domain.actions.items()
    ]
    return [*given, *own]


def _changed(effect: Expression, named: Sequence[str]) -> NumericEffect | None:
    """Return the numeric change by a constant amount that an imperative requests, or None."""
    effects = effect.operands if isinstance(effect, And) else (effect,)
    changes = [
        one
        for one in effects
        if isinstance(one, NumericEffect)
        and isinstance(one.amount, Number)
        and one.operator in {"increase", "decrease", "assign"}
        and one.fluent.args[:1] in ((), tuple(named[:1]))
        and set(one.fluent.args) <= set(named)
    ]
    return min(changes, key=lambda one: one.operator == "decrease", default=None)


def exclusive(domain: Domain) -> frozenset[tuple[str, str]]:
    """Return the pairs of predicates that hvr takes to exclude each other for an object.

    In each pair, an action makes one predicate true and the other false. A predicate
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
            names = {(gone.predicate, name) for name in added}
            pairs |= names | {(other, name) for name, other in names}
    return frozenset(pairs)


def place_predicates(domain: Domain) -> frozenset[str]:
    """Return the predicates that hvr takes to say where their first argument is.

    Every action that makes such a fact false makes another fact about the same object true.
    """
    found: dict[str, bool] = {}
    for action in domain.actions.values():
        changes = list(literals_of(action.effect))
        owners = {atom.args[0] for atom, made in changes if made and atom.args}
        others = {arg for atom, made in changes if made for arg in atom.args}
        for gone, kept in changes:
            if not kept and gone.args:
                moved = gone.args[0] in (owners if len(gone.args) == 1 else others)
                found[gone.predicate] = found.get(gone.predicate, True) and moved
    return frozenset(name for name, moves in found.items() if moves)


def balanced(domain: Domain) -> frozenset[str]:
    """Return the unary predicates that each action adds as often as it deletes, such as `robot-at`.

    hvr assumes that such a predicate holds for one object at a time.
    """
    changes = [list(literals_of(action.effect)) for action in domain.actions.values()]
    found = {atom.predicate for literals in changes for atom, _ in literals if len(atom.args) == 1}
    for literals in changes:
        count = Counter((atom.predicate, made) for atom, made in literals)
        found = {name for name in found if count[name, True] == count[name, False]}
    return frozenset(found)


def literals_of(effect: Expression, *, positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    """Yield each atom of an effect (negated unless `positive`), and whether it becomes true."""
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
    """Return the literal that an imperative with the arguments `named` requests, or None.

    `added` counts the actions that make each predicate true.
    """
    about = [one for one in literals if named and named[0] in one[0].args]
    about = about or [one for one in literals if not one[0].args]
    # The one that most of the arguments are about; an effect before the end of another state.
    found = min(
        about,
        key=lambda one: (
            -len({*named} & {*one[0].args}),
            not one[1],
            one[0].args[:1] != tuple(named[:1]),
            -len(one[0].args),
            added[one[0].predicate],
        ),
        default=None,
    )
    # An order to put something needs its place; other orders may leave out arguments.
    needs_place = found is not None and found[1] and not {*found[0].args} <= {*named}
    return None if placing and needs_place else found


_TIMES = re.compile(
    r"(?P<order>.+?) (?:(?P<word>once|twice|thrice)|(?P<number>\w+) times|by (?P<by>\w+))"
)
_ONCE = {"once": 1, "twice": 2, "thrice": 3}


class Repetition(Value):
    """A number of repetitions or, if `total`, the total change of a number; 0 if not stated."""

    times: int = 0
    total: bool = False


def repeated(text: str) -> tuple[str, Repetition]:
    """Split 'water the rose twice' into the order and the number of times."""
    match = _TIMES.fullmatch(text)
    if match is None:
        return text, Repetition()
    number = match["number"] or match["by"] or ""
    times = _ONCE.get(match["word"] or "") or NUMBERS.get(number, 0)
    times = times or (int(number) if number.isdecimal() else 0)
    return (match["order"], Repetition(times, bool(match["by"]))) if times else (text, Repetition())


_GERUND = re.compile(r"(?P<verb>[a-z]{2,})ing\b")
_AFTER_DOING = re.compile(r"(?P<later>.+?),? after (?P<first>[a-z]+ing .+)")
_BEFORE_DOING = re.compile(r"(?P<first>.+?),? before (?P<later>(?:you )?[a-z]+ .+)")


def in_order_of(text: str, verbs: Collection[str]) -> str:
    """Turn 'B after doing A' and 'A before doing B' into 'A then B'."""
    verb = "|".join(map(re.escape, sorted(verbs)))
    after = re.fullmatch(
        rf"after (?P<first>(?:you )?[a-z]+ .+?)(?:, | (?=(?:{verb}) ))(?P<later>.+)", text
    ) or _AFTER_DOING.fullmatch(text)
    if after is not None:
        first = plain_verb(after["first"].removeprefix("you "), verbs)
        if first.split()[0] in verbs:
            return f"{first}, then {after['later']}"
    if (before := _BEFORE_DOING.fullmatch(text)) is not None:
        later = plain_verb(before["later"].removeprefix("you "), verbs)
        if later.split()[0] in verbs:
            return f"{before['first']}, then {later}"
    return text


def plain_verb(text: str, verbs: Collection[str]) -> str:
    """Turn a gerund into an imperative: 'opening the gate' becomes 'open the gate'."""

    def plain(match: re.Match[str]) -> str:
        stem = match["verb"]
        doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        return next((w for w in (stem, f"{stem}e", doubled) if w in verbs), match[0])

    return _GERUND.sub(plain, text, count=1)


def participles(verb: str) -> tuple[str, ...]:
    """Return the forms of a verb that can describe an object: 'parked', 'parking'."""
    stem = verb.removesuffix("e")
    double = verb + verb[-1] if re.fullmatch(r"[a-z]*[^aeiou][aeiou][bdgkmnprt]", verb) else verb
    past = f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{stem}ed"
    return tuple(dict.fromkeys((past, f"{double}ed", f"{stem}ing", f"{double}ing")))


_ALIKE = (
    (
        "take",
        "get",
        "grab",
        "fetch",
        "pick up",
        "pick",
        "lift",
        "collect",
        "hold",
        "carry",
        "grasp",
    ),
    ("turn on", "switch on", "start", "light", "activate"),
    ("turn off", "switch off", "stop", "put out", "extinguish", "deactivate"),
    ("go", "walk", "move", "travel", "head", "drive", "roll", "run", "come", "return"),
    ("give", "hand", "pass", "deliver"),
)
"""Groups of verbs that can mean the same action if the world has only one of them."""

HOLDING = _ALIKE[0]
_SPLIT = re.compile(
    r"(?P<verb>turn|switch|put|take) (?P<rest>(?:the )?\w+) (?P<particle>on|off|up|down|out)"
    r"(?P<place> (?:in|at|of|for|on) .+)?"
)


def variants(text: str) -> Iterator[str]:
    """Yield an order with other verbs that can mean the same action."""
    if (split := _SPLIT.fullmatch(text)) is not None:  # 'turn the lights on in the hall'
        text = f"{split['verb']} {split['particle']} {split['rest']}{split['place'] or ''}"
        yield text
    for group in _ALIKE:
        for phrase in group:
            verb, _, particle = phrase.partition(" ")
            match = re.fullmatch(rf"{verb}(?: {particle})?(?P<rest> .+)", text)
            if particle and match is not None and not text.startswith(f"{phrase} "):
                if not match["rest"].endswith(f" {particle}"):
                    continue
                match = re.fullmatch(rf"{verb}(?P<rest> .+) {particle}", text)
            if match is not None:
                yield from (f"{other}{match['rest']}" for other in group if other != phrase)
