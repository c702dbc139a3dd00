"""Imperatives in PDDL worlds, such as 'bring … to …', read as effects of actions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial

from hvr.errors import LanguageError
from hvr.execution.facts.clauses import RELATED, FactClauses, all_of, atom_of
from hvr.execution.facts.imperatives import (
    PLACING,
    Imperative,
    Repetition,
    as_clauses,
    balanced,
    bare,
    effects_of,
    given,
    imperatives,
    in_order_of,
    orders_of,
    repeated,
    stages_of,
    things_of,
    variants,
)
from hvr.execution.facts.things import NONE, SOME, Thing
from hvr.language.lexicon import Lexicon, Verb, build_lexicon
from hvr.pddl import (
    Atom,
    Comparison,
    Domain,
    Exists,
    Formula,
    FunctionTerm,
    Not,
    Number,
    Problem,
    TypedName,
)
from hvr.pddl.formulas import NumericEffect, atoms_of, changes_of
from hvr.worlds.facts.lexicon import WorldLexicon, words_of

_FIRST = re.compile(r"^(?:first|firstly|first of all),? ")
_SWAP = re.compile(
    r"(?:swap|exchange|switch) (?:(?P<one>.+?) (?:and|with|for) (?P<other>.+)|(?P<two>.+))"
)
_MEANS = re.compile(
    r" (?:with|using|by means of|by|via|on|in|aboard) (?P<means>[^,]+?)"
    r"(?= (?:to|into|onto|from|at) |$)"
)


_OFF = re.compile(r"(?:turn|switch|put) (?:(?:off|out) (?P<what>.+)|(?P<thing>.+) off)")
_IT = re.compile(r"\b(?:it|them|her|him)\b")
_THERE = re.compile(r"\b(?:over )?there\b(?! (?:is|are|be)\b)")
_FURTHER = re.compile(r"(?:back )?(?P<place>(?:to|into|onto|on|in|at) .+)")
_CONTRAST = re.compile(
    r"(?P<order>.+?),? (?:(?:and |but )?not|instead of|rather than) "
    r"(?:(?:to|into|onto|in|on|at) )?(?P<other>.+)"
)


class FactOrders(FactClauses):
    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        super().__init__(domain, problem, words)
        said = orders_of(words.wording.actions, domain)
        nouns = {noun for names in words.types.values() for noun in names}
        self._imperatives = list(imperatives(domain, said, nouns))
        self._added = effects_of(domain)
        self._one_place = balanced(domain)
        self.verbs = {*PLACING, *(order.text.lower().split()[0] for _, order in said if order)}
        self._mentions: list[str] = []  # things that 'it' and 'there' can mean
        self._last = ""  # the last verb and its object

    @property
    def lexicon(self) -> Lexicon:
        """The words for actions and objects, to find a request in a sentence."""
        nouns = [(phrase, phrase) for phrase in self._things.phrases if phrase.isascii()]
        verbs = [(verb, Verb(verb, "state")) for verb in sorted(self.verbs)]
        return build_lexicon(nouns, verbs, (), ())

    def read(self, text: str, *, orders: bool) -> list[Formula]:
        words = re.sub(r"\s+", " ", text.strip().rstrip(".!").lower())
        clauses = self._conjunction(words, self._single)
        if clauses is not None:
            return [all_of(clauses)]
        if not orders:
            raise self._rejected(words)
        stages: list[list[Formula]] = []
        for part in stages_of(in_order_of(words, self.verbs)):
            plain = _FIRST.sub("", part)
            self._ordered = bool(stages) or plain != part
            found = self._conjunction(plain, self._order)
            if found is None:
                raise self._rejected(part)
            for number, order in enumerate(found):
                before = stages[-1] if stages else []
                kept = [f for f in before if not self._undoes(order, f)]
                if number and kept == before:
                    stages[-1].append(order)
                else:
                    stages.append([*kept, order])
        if not stages:
            raise self._rejected(words)
        return [all_of(stage) for stage in stages]

    def reads(self, text: str) -> bool:
        """Return whether a text is a request."""
        try:
            return bool(self.read(text, orders=True))
        except LanguageError:
            return False

    def _undoes(self, later: Formula, earlier: Formula) -> bool:
        """Return whether the later condition makes the earlier one false."""
        if Not(later) == earlier or later == Not(earlier):
            return True
        if later == earlier or isinstance(later, Not) or isinstance(earlier, Not):
            return False
        one, other = (next((a for a in atoms_of(f) if a.args), None) for f in (later, earlier))
        if one is None or other is None:
            return False
        if one.predicate == other.predicate in self._one_place:
            return one.args != other.args
        if one.args[0] != other.args[0]:
            return False
        return (one.predicate, other.predicate) in self._exclusive

    def orders(self, text: str) -> Formula | None:
        self._ordered = False
        found = self._conjunction(text, self._order)
        return None if found is None else all_of(found)

    def _order(self, text: str) -> list[Formula] | None:
        for said in self._standing_alone(bare(text)):
            found = self._ordered_clause(said) or self._either(said, self._order)
            if found is not None:
                return found
        return None

    def _standing_alone(self, text: str) -> Iterator[str]:
        """Yield an order with its pronoun replaced by each mentioned thing, most recent first."""
        pronoun = _IT if _IT.search(text) else _THERE
        if text == "back" and self._last:  # 'drive truck1 to the harbour and back'
            name = self.object_of(self._last.partition(" ")[2])
            now = (a for a in self.problem.init if len(a.args) == 2 and a.args[0] == name)
            places = [a.args[1] for a in now if self.one_at_a_time(a.predicate)]
            yield from (f"{self._last} to {place}" for place in places)
        if pronoun.search(text) is None:
            yield text
            if (further := _FURTHER.fullmatch(text)) is not None and self._last:
                yield f"{self._last} {further['place']}"
            return
        for mention in reversed(self._mentions):
            thing = mention if pronoun is _IT else f"to {mention}"
            yield from self._standing_alone(pronoun.sub(thing, text))

    def _ordered_clause(self, text: str) -> list[Formula] | None:
        """Parse an imperative of an action, or a clause after a verb such as 'put' or 'bring'."""
        if (said := given(text)) != text:
            found = self._conjunction(said, self._order)
            if found is not None:
                return found
        plain, times = repeated(self._without_amount(text))
        found = self._by_action(plain, times)
        if found is None and not times.times:
            found = self._exchange(plain) or self._by_means(plain) or self._as_clause(plain)
        for said in variants(plain) if found is None else ():
            found = found or self._by_action(said, times)
        if found is None and (off := _OFF.fullmatch(text)) is not None:  # 'light' without 'put out'
            lit = self._order(f"turn on {off['what'] or off['thing']}")
            found = [Not(lit[0])] if lit is not None and isinstance(lit[0], Atom) else None
        return found or self._contrast(text)

    def _without_amount(self, text: str) -> str:
        """Drop 'with water' where the order changes the water anyway: 'fill the tun with water'."""
        head, _, last = text.rpartition(" with ")
        changes = (c for a in self.domain.actions.values() for c in changes_of(a.effect))
        numbers = (c.fluent.function for c in changes if isinstance(c, NumericEffect))
        return head if head and last in map(words_of, numbers) else text

    def _by_action(self, text: str, times: Repetition) -> list[Formula] | None:
        for order in self._imperatives:
            for pairs in order.arguments(text):
                for known in order.assignments(pairs, self._fits):
                    direct = bool(pairs) and not pairs[0][0]
                    read = self._imperative(order, known, times, direct=direct)
                    if read is not None:
                        self._ordered = True
                        return read
        return None

    def _fits(self, text: str, parameter: TypedName) -> bool:
        return all(self._thing(one, parameter) for one in self._items(text, parameter))

    def _items(self, text: str, parameter: TypedName) -> list[str]:
        items = things_of(text)
        return items if len(items) < 2 or self._thing(text, parameter) is None else [text]

    def _as_clause(self, text: str) -> list[Formula] | None:
        verb = text.partition(" ")[0]
        placing = any(
            f"{verb}{end}" in self._predicate_words for end in ("ed", "d", verb[-1:] + "ed")
        )
        said = list(as_clauses(text, ordered=self._ordered, placing=placing))
        for read in (self._worded, self._placed):
            for clause in said:
                at = clause.rfind(" is ") if " is " in clause else len(clause)
                things, rest = clause[:at], clause[at:]
                clauses = [read(f"{thing}{rest}") for thing in things_of(things)]
                found = [one for one in clauses if one is not None]
                if found and len(found) == len(clauses):
                    place = RELATED.fullmatch(f"x{rest}")
                    self._mentions += [*([place["place"]] if place else []), things]
                    self._ordered, self._last = True, f"move {things}"
                    return found
        return None

    def _contrast(self, text: str) -> list[Formula] | None:
        """Parse 'put red on green, not blue': blue must not be on green."""
        match = _CONTRAST.fullmatch(text)
        other = self.object_of(match["other"]) if match else None
        found = self._order(match["order"]) if match and other else None
        if found is None or not isinstance(atom := found[-1], Atom) or other is None:
            return None
        for at in reversed(range(len(atom.args))):
            parameter = self.domain.predicates[atom.predicate].parameters[at]
            if self.domain.has_type(self.objects[other], parameter.types):
                denied = (*atom.args[:at], other, *atom.args[at + 1 :])
                return [*found, Not(Atom(atom.predicate, denied))]
        return None

    def _exchange(self, text: str) -> list[Formula] | None:
        """Parse 'swap red and green': each object takes the other one's place."""
        match = _SWAP.fullmatch(text)
        two = (
            self._things.read(match["two"], TypedName("?x", ("object",)))
            if match and match["two"]
            else None
        )
        pair = [self.object_of(match[name] or "") for name in ("one", "other")] if match else []
        pair = list(self._things.named(two)) if two is not None else pair
        if len(pair) != 2 or None in pair or pair[0] == pair[1]:
            return None
        found = []
        for one, other in (pair, pair[::-1]):
            places = [
                a
                for a in sorted(self.problem.init, key=str)
                if len(a.args) == 2 and a.args[0] == one and self.one_at_a_time(a.predicate)
            ]
            if not places or any(other in a.args for a in places):
                return None
            found += [Atom(a.predicate, (str(other), a.args[1])) for a in places]
        return list(found)

    def _by_means(self, text: str) -> list[Formula] | None:
        """Parse 'take parcel1 to the harbour with truck1': parcel1 must first be in truck1."""
        for match in _MEANS.finditer(text):
            rest = text[: match.start()] + text[match.end() :]
            orders = self._order(rest)
            first = None if orders is None else next(iter(atoms_of(orders[0])), None)
            if orders is None or first is None or not {*first.args[:1]} & {*self.objects}:
                continue
            about = Thing(first.args[0])
            for name, predicate in self.domain.predicates.items():
                if len(predicate.parameters) != 2 or not self.one_at_a_time(name):
                    continue
                means = next(
                    filter(
                        None,
                        (
                            self._thing(f"{article}{match['means']}", predicate.parameters[1])
                            for article in ("", "a ")
                        ),
                    ),
                    None,
                )
                kind = self.domain.has_type(self.objects[about.name], predicate.parameters[0].types)
                if means is not None and kind:
                    used = self._formula(partial(atom_of, name), True, [about, means])
                    return [used, *orders]
        return None

    def _imperative(
        self, order: Imperative, known: Mapping[int, str], times: Repetition, *, direct: bool
    ) -> list[Formula] | None:
        """Return the conditions that an imperative requests, or None if it requests none."""
        parameters = order.action.parameters
        index = {p.name: i for i, p in enumerate(parameters)}
        asked = self._asked(order, [parameters[n].name for n in known], times)
        if asked is None:
            return None
        effect, positive = asked
        named = effect.args if isinstance(effect, Atom) else effect.fluent.args
        main = next(iter(known), None)
        found = []
        for one in self._items(known[main], parameters[main]) if main is not None else [""]:
            things = {n: self._thing(text, parameters[n]) for n, text in known.items()}
            if main is not None:
                things[main] = self._thing(one, parameters[main])
            given = {n: thing for n, thing in things.items() if thing is not None}
            args = [given.get(index[a]) or self._any(parameters[index[a]]) for a in named]
            if args and args[0].quantifier and index[named[0]] not in known and not direct:
                return None  # 'drive to the harbour' does not say which truck
            plain = [t.name for t in args if not t.quantifier]
            if len({*plain}) < len(plain):
                raise LanguageError(
                    f"{order.verb!r} names {one!r} twice: name two different things"
                )
            needs = self._first(order, given, named)
            if needs is None:
                return None
            found += needs
            if isinstance(effect, NumericEffect):
                found.append(self._changed(effect, args, times))
            else:
                left_out = {n for n, a in enumerate(named) if index[a] not in known}
                found.append(self._effect(effect, positive, args, left_out))
                if not positive and len(effect.args) > 1 and self._holds(found[-1]):
                    raise LanguageError(f"cannot {order.verb} {one!r}: it is not there now")
                if left_out and positive and self._holds(found[-1]):
                    return None  # 'drive truck1' does not say where to
        self._mentions += [*list(known.values())[1:], *list(known.values())[:1]]
        self._last = f"{order.verb} {known[main]}" if direct and main is not None else order.verb
        return found

    def _asked(
        self, order: Imperative, names: Sequence[str], times: Repetition
    ) -> tuple[Atom | NumericEffect, bool] | None:
        asked = order.asked(names, self._added, counts=times.times > 1)
        asked = asked or order.asked(names, self._added, counts=False)
        if times.times > 1 and asked is not None and isinstance(asked[0], Atom):
            raise LanguageError(f"hvr cannot repeat {order.verb!r}: the action changes no number")
        return asked

    def _any(self, parameter: TypedName) -> Thing:
        members = list(self.domain.members(self.objects, parameter.types))
        return Thing(members[0]) if len(members) == 1 else Thing(parameter.types[0], SOME)

    def _first(
        self, order: Imperative, things: Mapping[int, Thing], named: Sequence[str]
    ) -> list[Formula] | None:
        """Return the preconditions that relate the remaining arguments to the effect, or None."""
        parameters = {p.name: p for p in order.action.parameters}
        names = list(parameters)
        said = {names[n]: t.name for n, t in things.items() if not t.quantifier}
        linked = open_ = {names[n] for n in things} - {*named}
        atoms: list[Atom] = []
        while more := [a for a in order.needs if a not in atoms and linked & {*a.args}]:
            atoms += more
            linked = linked | ({x for a in more for x in a.args if x in parameters} - {*said})
        used = {x for a in atoms for x in a.args}
        if not open_ <= used or any(names[n] in used and names[n] not in said for n in things):
            return None
        free = [parameters[x] for x in names if x in used and x not in said]
        ground = [Atom(a.predicate, tuple(said.get(x, x) for x in a.args)) for a in atoms]
        apart: list[Formula] = [a for a in ground if not {p.name for p in free} & {*a.args}]
        together = [a for a in ground if a not in apart]
        if together:
            apart.append(Exists(tuple(free), all_of(together)))
        return [need for need in apart if not self._holds(need)]

    def _changed(self, change: NumericEffect, args: Sequence[Thing], times: Repetition) -> Formula:
        """Return the goal for a number: its current value after the requested change."""
        assert isinstance(change.amount, Number)
        amount = change.amount.value
        whole = times.times if times.total else amount * (times.times or 1)

        def make(names: Sequence[str]) -> Formula:
            fluent = FunctionTerm(change.fluent.function, tuple(names))
            if change.operator == "assign":
                return Comparison("=", fluent, Number(amount))
            now = self.problem.numeric_init.get(fluent)
            if now is None:
                raise LanguageError(f"the number {fluent} has no value now, so it cannot change")
            if change.operator == "increase":
                return Comparison(">=", fluent, Number(now + whole))
            return Comparison("<=", fluent, Number(now - whole))

        def members(thing: Thing) -> Thing:
            if not thing.quantifier or thing.members is not None:
                return thing
            all_ = tuple(self.domain.members(self.objects, (thing.name,)))
            return Thing(thing.name, thing.quantifier, all_)

        return self._formula(make, True, list(map(members, args)))

    def _effect(
        self, asked: Atom, positive: bool, args: Sequence[Thing], left_out: Set[int]
    ) -> Formula:
        """Return the requested fact; `left_out` are arguments that the imperative leaves out."""
        make = partial(atom_of, asked.predicate)
        # 'take red off' denies every place; 'switch a lamp off' is about a lamp that is on.
        if not positive and left_out:
            none = [
                Thing(t.name, NONE) if n in left_out and t.quantifier else t
                for n, t in enumerate(args)
            ]
            return self._formula(make, any(t.quantifier == NONE for t in none), none)
        new = [self._new(make, args, n, positive) for n in range(len(args))]
        return self._formula(make, positive, new)

    def _new(
        self,
        make: Callable[[Sequence[str]], Formula],
        args: Sequence[Thing],
        at: int,
        positive: bool = True,
    ) -> Thing:
        """Restrict 'a block' to the blocks that do not yet satisfy the request, if any."""
        thing = args[at]
        if thing.quantifier != SOME or thing.members is not None or thing.count_all or at:
            return thing
        members = self.domain.members(self.objects, (thing.name,))
        left = [
            m
            for m in members
            if not self._holds(self._formula(make, positive, [Thing(m), *args[1:]]))
        ]
        return Thing(thing.name, SOME, tuple(left)) if 0 < len(left) < len(members) else thing
