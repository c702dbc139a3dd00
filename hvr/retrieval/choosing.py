"""The objects that goals need in any domain, chosen from what its actions say.

1. Objects that a goal speaks of: those it names, and for each of its variables the best of every
   situation. Objects of a type with the same facts are as good as each other, so that only as many
   of them are taken as there are variables, those that come first in the order of preference.
2. What its literals take: the ways to achieve them that cost about as little as the best
   (`hvr.retrieval.backward`), but none that needs all that another does and more.
3. What these depend on: a place for what fills the hand, where things are, what is in the way.

Each part looks at what the parts before it have chosen, so that a pan which is wanted anyway is the
one to fry in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product

from hvr.pddl.facts import Literal, match_row
from hvr.pddl.model import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    TypedName,
    is_variable,
    substitute,
)
from hvr.retrieval.achievers import Conjunction, free_variables, lifted_actions
from hvr.retrieval.backward import NEVER, Backward, Way
from hvr.retrieval.setting import Setting
from hvr.values import cached_property

SLACK = 6
"""Actions that a way may cost more than the best and still be chosen: relaxed costs count twice
what two literals share, and do not count what an action undoes."""
SITUATION_SLACK = 3
"""Likewise for objects in other situations: a door to open on the way."""
MOST_SITUATIONS = 4
"""Situations of which objects of a type are chosen for a variable, the cheapest first."""
MOST_ASSIGNMENTS = 24
"""Combinations of values for the variables of a literal that are looked at."""


_Kind = tuple[tuple[str, ...], frozenset[str]]
"""What variables are to be: of some types, and among some objects, if there are any."""


class Chooser:
    """Chooses objects for goals.

    Args:
        setting: what there is to choose from.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.reasons: dict[str, str] = {}
        self.steps: dict[tuple[str, ...], None] = {}
        self.actions = lifted_actions(setting.domain)
        self._universal: set[str] = set()  # types of which the goals want something of all
        self._constants = {c.name for c in setting.domain.constants}
        self._movables: dict[str, bool] = {}
        self._signatures: dict[str, tuple[object, ...]] = {}
        self.whole = Backward(self.actions, setting, self._order)
        self.backward = self.whole

    def add(self, name: str, reason: str) -> None:
        """Add an object; the first reason stays."""
        if name not in self._constants and name in self.setting.objects:
            self.reasons.setdefault(name, reason)

    def _order(self, served: frozenset[str], name: str) -> tuple[int, ...]:
        likings = self.setting.likings
        liking = sum(likings[p].get(name, 1) for p in served if p in likings)
        return liking, name not in self.reasons, self.setting.ranks.get(name, 0)

    # --- 1: what a goal speaks of -----------------------------------------------------------

    def choose(self, goal: Expression) -> None:
        """Choose what a goal speaks of, and what its literals take."""
        spoken = Spoken.of(goal)
        for name in spoken.names:
            self.add(name, "named in the goal")
        values: dict[str, tuple[str, ...]] = {}
        self.backward = self.whole
        for variable, body in spoken.universals:
            values[variable.name] = self._all_of(variable, body)
        # Variables of the same types may mean different things: that many objects are chosen.
        kinds: dict[_Kind, list[str]] = {}
        for variable in spoken.variables:
            among = spoken.among.get(variable.name, frozenset())
            kinds.setdefault((variable.types, among), []).append(variable.name)
        pools = {key: self._pool(*key) for key in kinds}
        self._narrow(pools, {key: len(names) for key, names in kinds.items()})
        ordered = sorted(kinds, key=lambda key: not any(map(self._movable, pools[key][:1])))
        first = {name: pools[key][:2] for key, names in kinds.items() for name in names}
        for key in ordered:
            names = kinds[key]
            mine = [one for one in spoken.literals if free_variables(one) & {*names}]
            known = {**first, **values}
            chosen = self._pick(pools[key], len(names), names[0], mine, known)
            for name in chosen:
                self.add(name, "wanted")
            values.update(dict.fromkeys(names, chosen))
        self._achieve(spoken.literals, values)

    def _narrow(self, pools: Mapping[_Kind, tuple[str, ...]], counts: Mapping[_Kind, int]) -> None:
        """Search among as few objects as can be: of objects that are alike only the first ones."""
        most = max(counts.values(), default=1)
        alike: dict[object, list[str]] = {}
        for name in self.setting.objects:
            alike.setdefault(self._likeness(name), []).append(name)
        taken = dict.fromkeys(self._constants)
        taken.update(dict.fromkeys(n for names in alike.values() for n in names[:most]))
        taken.update(dict.fromkeys(self.reasons))
        for key, pool in pools.items():
            groups: dict[object, int] = {}
            for name in pool:
                here = self._situation(name)
                groups[here] = groups.get(here, 0) + 1
                if groups[here] <= counts[key]:
                    taken[name] = None
        waiting = list(taken)
        while waiting:
            for atom in self.setting.about.get(waiting.pop(), ()):
                for other in self._tied(atom):
                    if other not in taken:
                        taken[other] = None
                        waiting.append(other)
        self.backward = Backward(self.actions, self.setting.among(taken), self._order)

    def _tied(self, atom: Atom) -> tuple[str, ...]:
        """Return the objects that belong to one that is looked at: its place, its only partner."""
        if len(atom.args) != 2:
            return ()
        if self._placing(atom):
            return atom.args[1:]
        relation = self.whole.facts.relation(atom.predicate)
        if atom.predicate in self._joining:
            return atom.args if len(relation.rows((None, atom.args[1]))) == 1 else atom.args[1:]
        return ()

    @cached_property
    def _joining(self) -> frozenset[str]:
        """Fixed predicates that join every first object to one other alone."""
        partners: dict[str, dict[str, int]] = {}
        for atom in self.setting.facts:
            if len(atom.args) == 2 and atom.predicate in self.actions.fixed:
                own = partners.setdefault(atom.predicate, {})
                own[atom.args[0]] = own.get(atom.args[0], 0) + 1
        return frozenset(p for p, own in partners.items() if max(own.values()) == 1)

    def _likeness(self, name: str) -> object:
        """Return what two objects have in common that serve equally well as means."""
        objects = self.setting.objects
        fixed = frozenset(
            (a.predicate, a.args.index(name), objects.get(a.args[1 - a.args.index(name)]))
            for a in self.setting.about[name]
            if len(a.args) == 2 and a.predicate in self.actions.fixed
        )
        return self._situation(name)[:3], fixed

    def _all_of(self, variable: TypedName, body: Expression) -> tuple[str, ...]:
        """Return the objects of which something is wanted of all, where it does not hold yet."""
        self._universal.update(variable.types)
        found = dict.fromkeys(
            one[variable.name] for one in self.whole.violations((variable,), body)
        )
        for name in found:
            self.add(name, "all of them are wanted")
        return tuple(found)

    def _pool(self, types: tuple[str, ...], among: frozenset[str]) -> tuple[str, ...]:
        # The types of `either` are in order of preference.
        names = dict.fromkeys(n for t in types for n in self.setting.members((t,)))
        avoided = self.setting.avoided
        return tuple(n for n in names if n not in avoided and (not among or n in among))

    def _movable(self, name: str) -> bool:
        """Return whether an action can change what an object is on, in or at."""
        known = self._movables.get(name)
        if known is None:
            known = self._movables[name] = self._moves(name)
        return known

    def _moves(self, name: str) -> bool:
        return any(
            self.whole.may_change(predicate, name)
            for predicate, declared in self.setting.domain.predicates.items()
            if predicate not in self.actions.fixed and len(declared.parameters) == 2
        )

    def _pick(
        self,
        pool: tuple[str, ...],
        count: int,
        variable: str,
        literals: list[Literal],
        values: Mapping[str, tuple[str, ...]],
    ) -> tuple[str, ...]:
        """Return the best objects of every situation for a variable."""
        groups: dict[object, list[str]] = {}
        movable = bool(pool) and self._movable(pool[0])
        for name in pool:
            groups.setdefault(self._situation(name), []).append(name)
        ranked = sorted(
            (self._cost(members[0], variable, literals, values), number, members)
            for number, members in enumerate(groups.values())
        )
        if not ranked:
            return ()
        best = ranked[0][0]
        if not movable:  # it stays where it is: what costs more there costs more in any plan
            alike = [n for cost, _, members in ranked if cost == best for n in members]
            more = [n for cost, _, members in ranked if cost > best for n in members]
            return tuple([*sorted(alike, key=pool.index), *more][:count])
        picked: list[str] = []
        for number, (cost, _, members) in enumerate(ranked):
            near = cost <= best + SITUATION_SLACK and number < MOST_SITUATIONS
            if near or len(picked) < count:
                picked += members[:count]
        return tuple(picked)

    def _cost(
        self,
        name: str,
        variable: str,
        literals: list[Literal],
        values: Mapping[str, tuple[str, ...]],
    ) -> int:
        """Return what the literals of a variable cost for an object."""
        cost = 0
        for literal in literals:
            own = {variable: (name,)}
            costs = [
                self.backward.support(one).cost
                for one in self._assigned(literal, {**values, **own})
            ]
            cost += min(costs, default=0)
        return min(cost, NEVER)

    def _situation(self, name: str) -> tuple[object, ...]:
        """Return what makes a difference between objects of a type: the facts about them.

        Of what an object is on or in it is the place's own facts that count, not which one it is.
        """
        known = self._signatures.get(name)
        if known is None:
            place = [
                (atom.predicate, self._own(atom.args[1]))
                for atom in self.setting.about[name]
                if self._placing(atom) and atom.args[0] == name
            ]
            holds = any(self._placing(a) and a.args[0] != name for a in self.setting.about[name])
            fixed = frozenset(
                (atom.predicate, tuple(a if a != name else "" for a in atom.args))
                for atom in self.setting.about[name]
                if atom.predicate in self.actions.fixed and len(atom.args) > 1
            )
            known = (self._own(name), frozenset(place), holds, fixed)
            self._signatures[name] = known
        return known

    def _own(self, name: str) -> object:
        """Return the types of an object and the predicates that are true of it alone."""
        alone = frozenset(
            atom.predicate for atom in self.setting.about.get(name, ()) if len(atom.args) == 1
        )
        return self.setting.objects.get(name), alone

    def _placing(self, atom: Atom) -> bool:
        return len(atom.args) == 2 and atom.predicate not in self.actions.fixed

    # --- 2: what literals take --------------------------------------------------------------

    def _assigned(
        self, literal: Literal, values: Mapping[str, tuple[str, ...]]
    ) -> Iterator[Literal]:
        """Yield a literal with values for its variables."""
        atom, positive = literal
        names = sorted(free_variables(literal))
        if any(name not in values for name in names):
            return
        combinations = product(*(values[name] for name in names))
        for row in islice(combinations, MOST_ASSIGNMENTS):
            if len(set(row)) == len(row):
                ground = substitute(atom, dict(zip(names, row, strict=True)))
                assert isinstance(ground, Atom | Equal)
                yield ground, positive

    def _achieve(self, literals: Iterable[Literal], values: Mapping[str, tuple[str, ...]]) -> None:
        """Choose what it takes to achieve literals, with what leaves least to choose first."""
        wanted: dict[Literal, list[Way]] = {}
        for literal in literals:
            for one in self._assigned(literal, values):
                if not self.backward.holds(one) and one not in wanted:
                    wanted[one] = self.backward.ways(one, SLACK)
        kept: list[list[Way]] = []
        for literal, _ in sorted(wanted.items(), key=lambda item: len(_steps_of(item[1]))):
            ways = self.backward.ways(literal, SLACK)
            # What every chosen way to something else brings about as well needs no means.
            if any(all(any(_together(a, b) for a in ways) for b in other) for other in kept):
                continue
            atom = literal[0]
            assert isinstance(atom, Atom)
            best = self._worthwhile(ways, atom.predicate)
            subject = next(iter(atom.args), "")
            if best:
                kept.append(best)
            for way in best:
                for name in sorted(way.support.objects, key=lambda n: self.setting.ranks.get(n, 0)):
                    self.add(name, f"for ({_said(literal)})")
                self.steps.update(dict.fromkeys(sorted(way.support.steps)))
                if subject:
                    self.backward.grant(way, subject)
            self.backward.reconsider(wanted)

    def _worthwhile(self, ways: list[Way], predicate: str) -> list[Way]:
        """Return the ways of about the least cost that differ in what stays where it is.

        Another pan makes no other way of a stove, and what needs a stove and a microwave is no
        other way than the microwave.
        """
        liked = self.setting.likings.get(predicate, {})
        kept: list[tuple[frozenset[object], int]] = []
        best: list[Way] = []

        def new(way: Way) -> frozenset[str]:
            return way.support.objects - self.reasons.keys() - self._constants

        def key(way: Way) -> tuple[int, int, int, int]:
            more = new(way)
            liking = sum(liked.get(name, 1) for name in way.named)
            ranks = sum(map(self.setting.ranks.__getitem__, more))
            return way.support.cost, liking, len(more), ranks

        for way in sorted(ways, key=key):
            if way.support.cost > ways[0].support.cost + SLACK:
                break
            more = new(way)
            fixtures = frozenset(
                self.setting.objects[n] for n in more & way.named if not self._movable(n)
            )
            if not any(other <= fixtures and count <= len(more) for other, count in kept):
                kept.append((fixtures, len(more)))
                best.append(way)
        return best

    # --- 3: what these depend on ------------------------------------------------------------

    def complete(self) -> None:
        """Choose what the choice depends on."""
        self._brought_about()
        self._room()
        waiting = list(self.reasons)
        while waiting:
            name = waiting.pop()
            before = len(self.reasons)
            for atom in self.setting.about.get(name, ()):
                if self._placing(atom) and atom.args[0] == name and self._movable(name):
                    self.add(atom.args[1], f"where {name} is")
            for other in self._in_the_way(name):
                self.add(other, f"in the way at {name}")
            waiting += list(self.reasons)[before:]

    def _brought_about(self) -> None:
        """Choose one of the things that chosen actions make something of, beside their arguments.

        Without any the problem would not know that something comes of it; more than one would be as
        good as each other, unless all of them are wanted.
        """
        for name, *args in tuple(self.steps):
            parameters = self.actions.parameters[name]
            binding = {p.name: a for p, a in zip(parameters, args, strict=True)}
            for variable, literal in self._linked(name):
                atom = literal[0]
                assert isinstance(atom, Atom)
                rows = self.backward.facts.relation(atom.predicate).rows(
                    [binding.get(a) for a in atom.args]
                )
                ground = substitute(atom, binding)
                assert isinstance(ground, Atom)
                matches = [m for row in rows if (m := match_row(ground, row))]
                found = [m[variable.name] for m in matches]
                found.sort(key=lambda n: self.setting.ranks.get(n, 0))
                every = self.setting.domain.has_type(
                    [t for n in found for t in self.setting.objects.get(n, ())], self._universal
                ) if self._universal else False  # fmt: skip
                if every or not self.reasons.keys() & set(found):
                    for one in found if every else found[:1]:
                        self.add(one, f"made by ({name} {' '.join(args)})")

    def _linked(self, action: str) -> list[tuple[TypedName, Literal]]:
        """Return the variables of an action's effects that fixed facts tie to its parameters."""
        linked: dict[tuple[str, str], tuple[TypedName, Literal]] = {}
        for achievers in self.actions.achievers.values():
            for achiever in achievers:
                if achiever.action != action or not achiever.positive:
                    continue
                for variable in achiever.variables:
                    if variable.name not in achiever.atom.args or len(achiever.atom.args) != 1:
                        continue
                    for literal in achiever.condition.literals:
                        atom, positive = literal
                        if (
                            positive and isinstance(atom, Atom)
                            and atom.predicate in self.actions.fixed
                            and len(achiever.condition.literals) == 1
                            and variable.name in atom.args
                        ):  # fmt: skip
                            linked.setdefault((atom.predicate, atom.args[0].split("#")[0]),
                                              (variable, literal))  # fmt: skip
        return list(linked.values())

    def _room(self) -> None:
        """Choose what restores what chosen actions use up: a place for what fills the hand."""
        for name, *args in tuple(self.steps):
            parameters = self.actions.parameters[name]
            binding = {p.name: a for p, a in zip(parameters, args, strict=True)}
            for used, made in self.actions.uses[name]:
                lost, gained = substitute(used, binding), substitute(made, binding)
                assert isinstance(lost, Atom) and isinstance(gained, Atom)
                self._restore(lost, gained)

    def _restore(self, lost: Atom, gained: Atom) -> None:
        ways = self.backward.restoring(lost, gained)
        if not ways:
            return

        def key(way: Way) -> tuple[int, int, int, int]:
            likings = self.setting.likings.get(lost.predicate, {})
            places = set(way.step[1:]) - set(gained.args)
            liking = max((likings.get(n, 1) for n in places), default=1) if likings else 1
            new = len(way.support.objects - self.reasons.keys())
            rank = sum(self.setting.ranks.get(n, 0) for n in places)
            return liking, way.support.cost, new, rank

        least = min(key(way)[0] for way in ways)
        if any(key(w)[0] == least and way_chosen(w, self.reasons) for w in ways):
            return
        best = min(ways, key=key)
        for one in sorted(best.support.objects):
            self.add(one, f"for ({lost}) after ({gained})".replace("((", "(").replace("))", ")"))

    def _in_the_way(self, name: str) -> Iterator[str]:
        """Yield objects for which a condition on all things fails at an object.

        They belong to the problem: a plan that did not know of them could not be carried out.
        """
        for condition in self._universal_conditions:
            if name not in self.setting.members(condition.types) or condition.escapes(
                name, self.whole.holds
            ):
                continue
            body = substitute(condition.body, {condition.place: name})
            for one in self.whole.violations(condition.variables, body):
                yield from one.values()

    @cached_property
    def _universal_conditions(self) -> tuple[UniversalCondition, ...]:
        found: dict[str, UniversalCondition] = {}
        alternatives = [(self.actions.parameters[n], a) for n, a in
                        self.actions.preconditions.items()]  # fmt: skip
        for some in self.actions.achievers.values():
            alternatives += [((*a.parameters, *a.variables), (a.condition,)) for a in some]
        for parameters, conjunctions in alternatives:
            for one in conjunctions:
                for variables, body in one.universals:
                    free = _names_in(body) - {v.name for v in variables}
                    typed = [v for v in (*parameters, *one.variables) if v.name in free]
                    if len(free) == 1 == len(typed):
                        condition = UniversalCondition(
                            typed[0].name, typed[0].types, variables, body,
                            self._escapes(typed[0].name, one, conjunctions),
                        )  # fmt: skip
                        found.setdefault(str(condition), condition)
        return tuple(found.values())

    def _escapes(
        self, place: str, one: Conjunction, others: Iterable[Conjunction]
    ) -> tuple[frozenset[Literal], ...]:
        """Return fixed literals about a place alone, any of which makes a condition needless."""

        def own(conjunction: Conjunction) -> frozenset[Literal]:
            return frozenset(
                (atom, positive) for atom, positive in conjunction.literals
                if isinstance(atom, Atom) and atom.predicate in self.actions.fixed
                and atom.args == (place,)
            )  # fmt: skip

        unmet = tuple(frozenset({(atom, not positive)}) for atom, positive in own(one))
        instead = tuple(
            own(other) - own(one) for other in others
            if not other.universals and set(other.literals) - own(other) <= set(one.literals)
        )  # fmt: skip
        return (*unmet, *instead)


@dataclass(frozen=True)
class UniversalCondition:
    """A condition on all things that stands for one place in an action.

    Args:
        place: the variable of the place.
        types: of the place.
        variables: of the things.
        body: what must hold for all of them.
        without: sets of literals about the place, with each of which the condition is needless.
    """

    place: str
    types: tuple[str, ...]
    variables: tuple[TypedName, ...]
    body: Expression
    without: tuple[frozenset[Literal], ...]

    def escapes(self, name: str, holds: Callable[[Literal], bool]) -> bool:
        """Return whether the condition is needless at an object."""
        return any(
            all(holds((Atom(atom.predicate, (name,)), positive)) for atom, positive in some
                if isinstance(atom, Atom))
            for some in self.without
        )  # fmt: skip


def way_chosen(way: Way, reasons: Mapping[str, str]) -> bool:
    """Return whether all that a way takes is chosen already."""
    return all(name in reasons for name in way.support.objects)


def _steps_of(ways: Iterable[Way]) -> set[str]:
    return {way.step[0] + str(sorted(map(str, way.condition))) for way in ways}


def _together(way: Way, other: Way) -> bool:
    """Return whether whoever takes the other way can take this one in the same step."""
    return way.step == other.step and (
        way.condition <= other.condition or other.condition <= way.condition
    )


def _said(literal: Literal) -> str:
    atom, positive = literal
    text = " ".join((atom.predicate, *atom.args)) if isinstance(atom, Atom) else str(atom)
    return text if positive else f"not {text}"


def _names_in(formula: Expression) -> set[str]:
    from hvr.pddl.model import free_variables as free

    return set(free(formula))


@dataclass(frozen=True)
class Spoken:
    """What a goal speaks of.

    Args:
        names: objects.
        variables: of which there shall be one.
        universals: variables of which something is wanted of all, with what.
        literals: that shall hold, or not.
        among: the only values of some variables, as in `(or (= ?x a) (= ?x b))`.
    """

    names: tuple[str, ...]
    variables: tuple[TypedName, ...]
    universals: tuple[tuple[TypedName, Expression], ...]
    literals: tuple[Literal, ...]
    among: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, goal: Expression) -> Spoken:
        """Read a goal."""
        names: dict[str, None] = {}
        variables: list[TypedName] = []
        universals: list[tuple[TypedName, Expression]] = []
        literals: list[Literal] = []

        def read(formula: Expression, positive: bool) -> None:
            match formula:
                case Atom(_, args):
                    literals.append((formula, positive))
                    names.update(dict.fromkeys(a for a in args if not is_variable(a)))
                case Not(operand):
                    read(operand, not positive)
                case And(operands) | Or(operands):
                    for operand in operands:
                        read(operand, positive)
                case Imply(left, right):
                    read(left, not positive)
                    read(right, positive)
                case Exists(some, body) | Forall(some, body):
                    if isinstance(formula, Exists) is positive:
                        variables.extend(some)
                    else:
                        wanted = body if positive else Not(body)
                        universals.extend((variable, wanted) for variable in some)
                    read(body, positive)
                case _:
                    return

        read(goal, True)
        return cls(
            tuple(names), tuple(variables), tuple(universals), tuple(literals),
            dict(alternatives(goal)),
        )  # fmt: skip


def alternatives(formula: Expression) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the variables that are one of some objects, with these: `(or (= ?x a) (= ?x b))`."""
    match formula:
        case Or(operands) if operands and all(isinstance(o, Equal) for o in operands):
            sides = [(o.left, o.right) for o in operands if isinstance(o, Equal)]
            yield sides[0][0], frozenset(name for _, name in sides)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from alternatives(operand)
        case Equal(left, right) if left.startswith("?") and not right.startswith("?"):
            yield left, frozenset({right})
        case Exists(_, body) | Forall(_, body):
            yield from alternatives(body)
        case _:
            return
