"""Imperatives in PDDL worlds, such as 'bring … to …', read as effects of actions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import partial
from itertools import product

from hvr.errors import LanguageError
from hvr.execution.facts.clauses import FactClauses, all_of, atom_of
from hvr.execution.facts.imperatives import (
    PLACING,
    Imperative,
    as_clauses,
    bare,
    imperatives,
    in_order_of,
    orders_of,
    repeated,
    stages_of,
    things_of,
    variants,
)
from hvr.execution.facts.things import NONE, SOME, Thing
from hvr.knowledge.wording import Template
from hvr.pddl import Atom, Comparison, Domain, Formula, FunctionTerm, Not, Number, Problem
from hvr.pddl.formulas import NumericEffect, atoms_of
from hvr.values import cached_property
from hvr.worlds.facts.lexicon import WorldLexicon

_FIRST = re.compile(r"^(?:first|firstly|first of all),? ")
_SWAP = re.compile(r"(?:swap|exchange|switch) (?P<one>.+?) (?:and|with|for) (?P<other>.+)")
_MEANS = re.compile(
    r" (?:with|using|by means of|by|via) (?P<means>[^,]+?)(?= (?:to|into|onto|from|at) |$)"
)


class FactOrders(FactClauses):
    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        super().__init__(domain, problem, words)
        said = orders_of(words.wording.actions, domain)
        self._imperatives = list(imperatives(domain, said))
        self._verbs = {*PLACING, *(order.text.lower().split()[0] for _, order in said)}
        self._single_agents = dict(self._agents(said))
        self._spoken = ""  # the thing that 'it' refers to

    def read(self, text: str, *, orders: bool) -> list[Formula]:
        words = re.sub(r"\s+", " ", text.strip().rstrip(".!").lower())
        clauses = self._conjunction(words, self._single)
        if clauses is not None:
            return [all_of(clauses)]
        if not orders:
            raise self._rejected(words)
        stages: list[list[Formula]] = []
        for part in stages_of(in_order_of(words, self._verbs)):
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

    def _undoes(self, later: Formula, earlier: Formula) -> bool:
        """Return whether the later condition makes the earlier one false."""
        if later == earlier or isinstance(earlier, Not):
            return False
        one, other = (next((a for a in atoms_of(f) if a.args), None) for f in (later, earlier))
        if one is None or other is None or one.args[0] != other.args[0]:
            return False
        return (one.predicate, other.predicate) in self._exclusive

    def orders(self, text: str) -> Formula | None:
        self._ordered = False
        found = self._conjunction(text, self._order)
        return None if found is None else all_of(found)

    def _order(self, text: str) -> list[Formula] | None:
        found = self._ordered_clause(text)
        return self._either(bare(text), self._order) if found is None else found

    def _ordered_clause(self, text: str) -> list[Formula] | None:
        """Parse an imperative of an action, or a clause after a verb such as 'put' or 'bring'."""
        text = re.sub(r"\b(it|them)\b", self._spoken or "it", bare(text))
        plain, times = repeated(text)
        matches = [
            (form, match)
            for said, form in product(variants(plain, self._single_agents), self._imperatives)
            if (match := form.pattern.fullmatch(said)) is not None
        ]
        # 'prune all plants in the orchard' is about some of the plants, not about a place to prune.
        for form, match in sorted(matches, key=lambda one: not self._describes(*one)):
            read = self._imperative(form, match, times)
            if read is not None:
                self._ordered = True
                return read
        if times:
            return None
        if (other := self._exchange(text) or self._by_means(text)) is not None:
            return other
        for clause in self._with_relations(as_clauses(text, ordered=self._ordered)):
            at = clause.rfind(" is ") if " is " in clause else len(clause)
            things, verb, rest = clause[:at], clause[at : at + 4], clause[at + 4 :]
            clauses = [self._clause(f"{thing}{verb}{rest}") for thing in things_of(things)]
            found = [one for one in clauses if one is not None]
            if found and len(found) == len(clauses):
                self._ordered, self._spoken = True, things
                return found
        return None

    def _describes(self, form: Imperative, match: re.Match[str]) -> bool:
        """Return whether the only argument of an imperative is a description, not a name."""
        ((group, text), *others) = match.groupdict().items()
        plain = others or text in self._things.phrases
        return not plain and self._thing(text, form.parameters[int(group[1:])]) is not None

    def _with_relations(self, clauses: Iterable[str]) -> Iterator[str]:
        """Yield the clauses, then variants with a world's relation: 'is stored in' for 'is in'."""
        known = list(clauses)
        yield from known
        for relation in self._relations:
            last = relation.split()[-1]
            yield from (
                c.replace(f" is {last} ", f" {relation} ", 1) for c in known if f" is {last} " in c
            )

    @cached_property
    def _relations(self) -> tuple[str, ...]:
        found = []
        for name, said in self.words.wording.predicates.items():
            match = re.fullmatch(r"\{0\} (.+) \{1\}", said.true.text.lower())
            if match is not None and self.one_at_a_time(name) and " " in match[1]:
                found.append(match[1])
        return tuple(found)

    def _agents(self, orders: Sequence[tuple[str, Template]]) -> Iterator[tuple[str, str]]:
        """Yield each verb whose first argument can only be one object, with this object."""
        for name, order in orders:
            action = self.domain.actions.get(name)
            if action is not None and action.parameters and order:
                members = self.domain.members(self.objects, action.parameters[0].types)
                if len(members) == 1:
                    yield order.text.lower().split()[0], next(iter(members))

    def _exchange(self, text: str) -> list[Formula] | None:
        """Parse 'swap red and green': each object takes the other one's place."""
        match = _SWAP.fullmatch(text)
        pair = [self.object_of(match[name]) for name in ("one", "other")] if match else []
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
            if orders is None or first is None or first.args[0] not in self.objects:
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
        self, form: Imperative, match: re.Match[str], times: int
    ) -> list[Formula] | None:
        said = {int(name[1:]): text for name, text in match.groupdict().items()}
        index = {p.name: i for i, p in enumerate(form.parameters)}
        first = index[form.args[0]]
        change = form.asked if isinstance(form.asked, NumericEffect) else None
        if times > 1 and change is None:
            raise LanguageError(f"hvr does an action only once: {match[0]!r} increases no number")
        found = []
        for one in things_of(said[first]):
            things = []
            for place, text in {**said, first: one}.items():
                thing = self._thing(text, form.parameters[place])
                if thing is None:
                    return None
                things.append((place, thing))
            known = dict(things)
            args = [
                known.get(index[a], Thing(form.parameters[index[a]].types[0], SOME))
                for a in form.args
            ]
            if len({t.name for t in args if not t.quantifier}) < sum(
                not t.quantifier for t in args
            ):
                raise LanguageError(f"{one!r} cannot be put on or in itself: {match[0]!r}")
            found += self._first(form, known)
            if change is not None:
                found.append(self._changed(change, args, times or 1))
            else:
                found.append(self._effect(form, args, {index[a] for a in form.args} - set(known)))
        self._spoken = said[first]
        return found

    def _first(self, form: Imperative, known: Mapping[int, Thing]) -> list[Formula]:
        """Return unmet preconditions about arguments that the requested effect does not mention."""
        index = {p.name: i for i, p in enumerate(form.parameters)}
        open_ = {a for a, i in index.items() if i in known and a not in form.args}
        said = {a: t.name for a, i in index.items() if (t := known.get(i)) and not t.quantifier}
        needs: list[Formula] = [
            Atom(atom.predicate, tuple(said[a] for a in atom.args))
            for atom in form.needs
            if set(atom.args) & open_ and set(atom.args) <= set(said)
        ]
        return [need for need in needs if not self._holds(need)]

    def _changed(self, change: NumericEffect, args: Sequence[Thing], times: int) -> Formula:
        """Return the goal value of a number: its current value after the requested change."""
        assert isinstance(change.amount, Number)
        amount = change.amount.value

        def make(names: Sequence[str]) -> Formula:
            fluent = FunctionTerm(change.fluent.function, tuple(names))
            now = self.problem.numeric_init.get(fluent, Decimal(0))
            match change.operator:
                case "increase":
                    return Comparison(">=", fluent, Number(now + times * amount))
                case "decrease":
                    return Comparison("<=", fluent, Number(now - times * amount))
            return Comparison("=", fluent, Number(amount))

        def members(thing: Thing) -> Thing:
            if not thing.quantifier or thing.members is not None:
                return thing
            all_ = tuple(self.domain.members(self.objects, (thing.name,)))
            return Thing(thing.name, thing.quantifier, all_)

        return self._formula(make, True, list(map(members, args)))

    def _effect(self, form: Imperative, args: Sequence[Thing], left_out: Set[int]) -> Formula:
        assert isinstance(form.asked, Atom)
        make, positive = partial(atom_of, form.asked.predicate), form.positive
        if positive:
            return self._formula(
                make, positive, [self._new(make, args, n) for n in range(len(args))]
            )
        # 'take red off' denies every place; 'switch a lamp off' is about a lamp that is on.
        index = {p.name: i for i, p in enumerate(form.parameters)}
        places = [index[a] for a in form.args]
        if any(place in left_out for place in places):
            none = [
                Thing(t.name, NONE) if place in left_out else t
                for place, t in zip(places, args, strict=True)
            ]
            return self._formula(make, True, none)
        return self._formula(
            make, False, [self._new(make, args, n, False) for n in range(len(args))]
        )

    def _new(
        self,
        make: Callable[[Sequence[str]], Formula],
        args: Sequence[Thing],
        at: int,
        positive: bool = True,
    ) -> Thing:
        """Read 'a block' as one of the blocks that do not yet fulfil the request."""
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
