"""What a literal costs and takes, found backwards from it through the lifted actions.

The costs are those of relaxed plans (what is true stays true; Bonet and Geffner's h_add, 2001),
computed for the literals that are asked for and what they lead to: an action that achieves a
literal is bound by facts that never change, the cheaper of its bindings are looked at first, and a
binding that lacks more than the best one costs is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from hvr.pddl.facts import Facts, Literal, Relation, Row, bindings, match_row
from hvr.pddl.model import Atom, Equal, Expression, Not, TypedName, is_variable, substitute
from hvr.retrieval.achievers import (
    Achiever,
    Conjunction,
    LiftedActions,
    Test,
    Universal,
    conjunctions,
    free_variables,
)
from hvr.retrieval.setting import Setting

NEVER = 10**6
"""The cost of what cannot be achieved."""
UNKNOWN = 20
"""The cost of what an object takes of which nobody knows where it is: more than ways around it."""
MOST_BINDINGS = 4_000
"""Bindings of an action that are looked at for one literal."""


@dataclass(frozen=True)
class Support:
    """What a literal takes.

    Args:
        cost: actions, as if none undid what another needs.
        objects: that take part.
        steps: the actions.
    """

    cost: int
    objects: frozenset[str] = frozenset()
    steps: frozenset[tuple[str, ...]] = frozenset()

    def with_(self, other: Support) -> Support:
        """Return both together."""
        return Support(
            self.cost + other.cost, self.objects | other.objects, self.steps | other.steps
        )


OUT_OF_REACH = Support(NEVER)


@dataclass(frozen=True)
class Way:
    """One way to achieve a literal.

    Args:
        step: the action with its arguments.
        condition: the literals, beside its precondition, on which its effect depends.
        support: what the whole takes.
    """

    step: tuple[str, ...]
    condition: frozenset[Literal]
    support: Support

    @property
    def named(self) -> frozenset[str]:
        """The objects that its actions and the condition of its effect name.

        Not where things happen to be: that is no part of what is done with them.
        """
        atoms = (atom.args for atom, _ in self.condition if isinstance(atom, Atom))
        return frozenset(self.step[1:]).union(*atoms, *(s[1:] for s in self.support.steps))


_Trial = tuple[int, tuple[int, ...], int, Achiever, Mapping[str, str], list[Literal]]
"""A binding of an effect that may be worth a look: what it costs at least, and how it is liked."""


class Backward:
    """Searches backwards from literals.

    Args:
        actions: what can be done.
        setting: what there is.
        order: the place of an object in the order of preference where it serves some predicates:
            those of an action's condition and effect.
    """

    def __init__(
        self,
        actions: LiftedActions,
        setting: Setting,
        order: Callable[[frozenset[str], str], tuple[int, ...]],
    ) -> None:
        self.actions = actions
        self._members = setting.members
        self._order = order
        self._unknown = setting.unknown
        facts = setting.facts
        self.facts = Facts(facts)
        self._true = {(atom.predicate, atom.args) for atom in facts}
        self._steps: dict[tuple[str, ...], Support] = {}
        self._supports: dict[Literal, Support] = {}
        self._least = least_costs(actions, frozenset(predicate for predicate, _ in self._true))
        self._allows: dict[Atom, bool] = {}
        self._passing: set[Literal] = set()  # seem out of reach on the way of another
        self._open: set[Literal] = set()
        self._cut = 0  # how often a cycle was cut
        self._possible: dict[tuple[str, Row | tuple[str | None, ...]], list[Row]] = {}

    # --- supports -------------------------------------------------------------------------

    def holds(self, literal: Literal) -> bool:
        """Say whether a ground literal holds at the start."""
        atom, positive = literal
        if isinstance(atom, Equal):
            return (atom.left == atom.right) is positive
        return ((atom.predicate, atom.args) in self._true) is positive

    def support(self, literal: Literal) -> Support:
        """Return what a ground literal takes at least, as far as this search sees."""
        atom = literal[0]
        if self.holds(literal):
            return Support(0, frozenset(atom.args) if isinstance(atom, Atom) else frozenset())
        known = self._supports.get(literal)
        if known is not None:
            return known
        if literal in self._open or isinstance(atom, Equal):
            self._cut += 1
            return OUT_OF_REACH
        cut, outermost = self._cut, not self._open
        self._open.add(literal)
        best = self._cheapest(literal)
        self._open.discard(literal)
        if best is OUT_OF_REACH and not self._unknown.isdisjoint(atom.args):
            best = Support(UNKNOWN, frozenset(atom.args))
        self._supports[literal] = best
        if best is OUT_OF_REACH and cut != self._cut:
            self._passing.add(literal)
        if outermost:
            # What was cut off only because it led back to what is now done may be tried anew.
            for one in self._passing:
                self._supports.pop(one, None)
            self._passing.clear()
            self._steps = {k: v for k, v in self._steps.items() if v is not OUT_OF_REACH}
        return best

    def _cheapest(self, literal: Literal) -> Support:
        best = OUT_OF_REACH

        def cost() -> int:
            return best.cost

        for way in self._ways(literal, cost):
            best = way.support
        return best

    def ways(self, literal: Literal, slack: int) -> list[Way]:
        """Return the ways to achieve a literal, the cheapest first; none if it cannot be.

        Args:
            literal: a ground literal that does not hold.
            slack: what a way may cost more than the best.
        """
        best = self.support(literal)
        if best is OUT_OF_REACH:
            return []
        # Relaxed costs count twice what two conditions share: the dearer, the wider is looked.
        limit = 2 * best.cost + slack + 1
        self._open.add(literal)
        found = list(self._ways(literal, lambda: limit, direct=True))
        self._open.discard(literal)
        if not found:  # nobody knows where it is
            found = [*self._ways(literal, lambda: limit)] or [Way(("",), frozenset(), best)]
        return sorted(found, key=lambda way: way.support.cost)

    def least(self, literal: Literal) -> int:
        """Return a lower bound of the cost of a literal."""
        atom, positive = literal
        if self.holds(literal):
            return 0
        known = self._supports.get(literal)
        if known is not None:
            return known.cost
        if isinstance(atom, Equal) or (positive and not self._allowed_at_all(atom)):
            return NEVER
        return self._least.get((atom.predicate, positive), NEVER)

    def _allowed_at_all(self, atom: Atom) -> bool:
        """Return whether fixed facts allow that some action makes an atom true."""
        known = self._allows.get(atom)
        if known is None:
            self._allows[atom] = True  # for what leads back here
            known = self._allows[atom] = any(
                True
                for achiever in self.actions.achievers.get((atom.predicate, True), ())
                for _ in self._allowed(achiever, atom.args)
            ) or not self._unknown.isdisjoint(atom.args)
        return known

    def restoring(self, lost: Atom, gained: Atom) -> list[Way]:
        """Return the ways to make an atom true again that make use of what took its place.

        Args:
            lost: the atom, such as `(hand_empty)`.
            gained: what holds instead, such as `(holding mug-1)`.
        """
        found: list[Way] = []
        steps, self._steps = self._steps, {}
        for achiever in self.actions.achievers.get((lost.predicate, True), ()):
            for atom in self.actions.requires[achiever.action]:
                if atom.predicate != gained.predicate:
                    continue
                own = match_row(achiever.atom, lost.args)
                more = match_row(atom, gained.args)
                if own is None or more is None or any(own.get(k, v) != v for k, v in more.items()):
                    continue
                given = {**own, **more}
                if self._typed(achiever, given):
                    self._supports[gained, True] = Support(0, frozenset(gained.args))
                    trials: list[_Trial] = []
                    self._try(achiever, given, trials)
                    found += self._tried(trials, lambda: NEVER)
                    del self._supports[gained, True]
        self._steps = steps
        return sorted(found, key=lambda way: way.support.cost)

    def reconsider(self, literals: Iterable[Literal]) -> None:
        """Find out anew what literals take, with what has been granted."""
        for literal in literals:
            self._supports.pop(literal, None)

    def grant(self, way: Way, subject: str) -> None:
        """Count what a way brings about for an object besides as there, since it will be."""
        for (predicate, positive), achievers in self.actions.achievers.items():
            for achiever in achievers:
                if positive and achiever.action == way.step[0]:
                    atom = self._brought(achiever, way, subject)
                    if atom is not None and not self.holds((atom, True)):
                        objects = way.support.objects
                        self._supports[Atom(predicate, atom.args), True] = Support(0, objects)

    def _brought(self, achiever: Achiever, way: Way, subject: str) -> Atom | None:
        """Return what an effect makes true for an object in the last step of a way."""
        if not achiever.atom.args:
            return None
        pairs = zip(achiever.parameters, way.step[1:], strict=True)
        binding = {p.name: a for p, a in pairs}
        first = achiever.atom.args[0]
        if binding.setdefault(first, subject) != subject or not self._typed(achiever, binding):
            return None
        for atom, positive in achiever.condition.literals:
            ground, _ = _ground((atom, positive), binding)
            if (ground, positive) in way.condition or self.holds((ground, positive)):
                continue
            matches = (
                match_row(ground, other.args)
                for other, sign in way.condition
                if isinstance(ground, Atom)
                and isinstance(other, Atom)
                and (other.predicate, sign) == (ground.predicate, positive)
            )
            more = next((match for match in matches if match is not None), None)
            if more is None:
                return None
            binding.update(more)
        args = tuple([binding.get(a, a) for a in achiever.atom.args])
        return None if any(map(is_variable, args)) else Atom(achiever.atom.predicate, args)

    def formula(self, formula: Expression) -> Support:
        """Return what a formula takes that has no free variables."""
        best = OUT_OF_REACH
        for conjunction in conjunctions(formula):
            best = self._best(conjunction, {}, best)
        return best

    def _ways(
        self, literal: Literal, best: Callable[[], int], *, direct: bool = False
    ) -> Iterator[Way]:
        """Yield ways that cost less than the best so far, those first that seem cheapest.

        Args:
            literal: what is to be achieved.
            best: the cost below which ways are wanted.
            direct: none that needs the same of something else first: those need all that another
                way needs.
        """
        atom, positive = literal
        assert isinstance(atom, Atom)
        trials: list[_Trial] = []
        for achiever in self.actions.achievers.get((atom.predicate, positive), ()):
            given = match_row(achiever.atom, atom.args)
            if given is not None and self._typed(achiever, given):
                self._try(achiever, given, trials)
        if direct:
            own = atom.predicate, positive
            trials = [t for t in trials if all(
                (one[0].predicate, one[1]) != own or self.holds(one)
                for one in t[-1] if isinstance(one[0], Atom)
            )]  # fmt: skip
        return self._tried(trials, best)

    def _try(self, achiever: Achiever, given: Mapping[str, str], trials: list[_Trial]) -> None:
        variables = (*achiever.parameters, *achiever.variables)
        served = frozenset((achiever.atom.predicate, *_predicates(achiever.tests)))
        least = self.actions.costs[achiever.action]
        required = self.actions.requires[achiever.action]
        for binding in self._bindings(variables, achiever.tests, given):
            ground = [_ground(one, binding) for one in achiever.condition.literals]
            bound = least + sum(map(self.least, ground))
            for atom in required:
                bound += self.least(_ground((atom, True), binding))
            if bound < NEVER:
                rank = self._rank(served, binding, given)
                trials.append((bound, rank, len(trials), achiever, binding, ground))

    def _tried(self, trials: list[_Trial], best: Callable[[], int]) -> Iterator[Way]:
        trials.sort(key=lambda trial: trial[:3])
        for bound, _, _, achiever, binding, ground in trials:
            if bound >= best():
                return
            step = (achiever.action, *(binding[p.name] for p in achiever.parameters))
            support = self._all(ground, OUT_OF_REACH.cost)
            if support.cost < best():
                support = support.with_(self._step(step))
            if support.cost < best():
                support = self._universals(achiever.condition.universals, binding, support)
            if support.cost < min(best(), NEVER):
                objects = support.objects.union(binding.values())
                yield Way(step, frozenset(ground), Support(support.cost, objects, support.steps))

    def _step(self, step: tuple[str, ...]) -> Support:
        """Return what it takes to carry out an action."""
        best = self._steps.get(step)
        if best is None:
            name, *args = step
            pairs = zip(self.actions.parameters[name], args, strict=True)
            binding = {p.name: a for p, a in pairs}
            best = OUT_OF_REACH
            for conjunction in self.actions.preconditions[name]:
                best = self._best(conjunction, binding, best)
                if not best.cost:
                    break
            if best is not OUT_OF_REACH:
                cost = best.cost + self.actions.costs[name]
                best = Support(cost, best.objects.union(args), best.steps | {step})
            self._steps[step] = best
        return best

    def _best(self, conjunction: Conjunction, given: Mapping[str, str], best: Support) -> Support:
        """Return the better of a support and that of a conjunction in its best binding."""
        opening = self._opening(conjunction, given)
        if opening:
            # With what is true already before what would have to be made true.
            best = self._best_of(conjunction, given, best, true=True)
            if best.cost <= min(opening):
                return best
        return self._best_of(conjunction, given, best, true=False)

    def _opening(self, conjunction: Conjunction, given: Mapping[str, str]) -> list[int]:
        """Return what changing atoms cost at least that say what variables may stand for."""
        return [
            self._least.get((atom.predicate, True), NEVER)
            for atom, positive, names in conjunction.tests
            if positive
            and isinstance(atom, Atom)
            and atom.predicate not in self.actions.fixed
            and not names <= given.keys()
        ]

    def _best_of(
        self, conjunction: Conjunction, given: Mapping[str, str], best: Support, *, true: bool
    ) -> Support:
        served = frozenset(_predicates(conjunction.tests))
        ranked: list[tuple[int, tuple[int, ...], int, Mapping[str, str], list[Literal]]] = []
        for binding in self._bindings(conjunction.variables, conjunction.tests, given, true=true):
            ground = [_ground(one, binding) for one in conjunction.literals]
            bound = sum(map(self.least, ground))
            if bound < best.cost:
                rank = self._rank(served, binding, given)
                ranked.append((bound, rank, len(ranked), binding, ground))
        ranked.sort(key=lambda entry: entry[:3])
        for bound, _, _, binding, ground in ranked:
            if bound >= best.cost:
                break
            support = self._all(ground, best.cost)
            if support.cost < best.cost:
                support = self._universals(conjunction.universals, binding, support)
            if support.cost < best.cost:
                objects = support.objects.union(binding.values())
                best = Support(support.cost, objects, support.steps)
        return best

    def _all(self, literals: Iterable[Literal], limit: int) -> Support:
        support = Support(0)
        for one in literals:
            support = support.with_(self.support(one))
            if support.cost >= limit:
                return OUT_OF_REACH
        return support

    def _universals(
        self, universals: tuple[Universal, ...], binding: Mapping[str, str], support: Support
    ) -> Support:
        """Add what it takes to make conditions on all things hold where they do not."""
        for variables, body in universals:
            ground = substitute(body, binding)
            for one in self.violations(variables, ground):
                support = support.with_(self.formula(substitute(ground, one)))
        return support if support.cost < NEVER else OUT_OF_REACH

    # --- bindings -------------------------------------------------------------------------

    def violations(
        self, variables: tuple[TypedName, ...], body: Expression
    ) -> Iterator[dict[str, str]]:
        """Yield the values of variables for which a formula does not hold at the start."""
        for conjunction in conjunctions(Not(body)):
            some = (*variables, *conjunction.variables)
            seen = set()
            found = bindings(some, conjunction.literals, {}, self.facts.relation, self._members)
            for binding in islice(found, MOST_BINDINGS):
                one = {v.name: binding[v.name] for v in variables}
                if tuple(one.values()) not in seen and all(
                    not list(islice(self.violations(more, substitute(inner, binding)), 1))
                    for more, inner in conjunction.universals
                ):
                    seen.add(tuple(one.values()))
                    yield one

    def _rank(
        self, served: frozenset[str], binding: Mapping[str, str], given: Mapping[str, str]
    ) -> tuple[int, ...]:
        ranks = [self._order(served, value) for name, value in binding.items() if name not in given]
        return tuple(map(sum, zip(*ranks, strict=True))) if ranks else ()

    def _typed(self, achiever: Achiever, given: Mapping[str, str]) -> bool:
        return all(
            given[v.name] in self._members(v.types)
            for v in (*achiever.parameters, *achiever.variables)
            if v.name in given
        )

    def _bindings(
        self,
        variables: tuple[TypedName, ...],
        tests: tuple[Test, ...],
        given: Mapping[str, str],
        *,
        true: bool = False,
    ) -> Iterable[Mapping[str, str]]:
        """Return bindings under which fixed literals hold and others may come to hold.

        Args:
            variables: to be bound.
            tests: what is to hold.
            given: what is bound already.
            true: only with changing atoms that hold already, as far as they bind variables.
        """
        fixed = self.actions.fixed
        useful: list[Literal] = []
        for atom, positive, names in tests:
            settled = isinstance(atom, Equal) or atom.predicate in fixed
            if names <= given.keys():
                if settled and not self.holds(_ground((atom, positive), given)):
                    return ()
            elif settled or positive:
                # A changing atom restricts nothing, but says for which values it can come true.
                useful.append((atom, positive))
        unbound = tuple([v for v in variables if v.name not in given])
        if not unbound:
            return (given,)
        relation = self.facts.relation if true else self._relation
        found = bindings(unbound, useful, given, relation, self._members)
        return islice(found, MOST_BINDINGS)

    def _relation(self, predicate: str) -> Relation:
        if predicate in self.actions.fixed:
            return self.facts.relation(predicate)
        return _Possible(self, predicate)

    def may_change(self, predicate: str, name: str) -> bool:
        """Return whether some action can make a predicate true of an object and another."""
        return any(
            True
            for achiever in self.actions.achievers.get((predicate, True), ())
            for _ in self._allowed(achiever, (name, None))
        )

    def possible(self, predicate: str, pattern: tuple[str | None, ...]) -> list[Row]:
        """Return the rows of a changing predicate that are true or that fixed facts allow."""
        known = self._possible.get((predicate, pattern))
        if known is not None:
            return known
        rows = dict.fromkeys(self.facts.relation(predicate).rows(pattern))
        self._possible[predicate, pattern] = list(rows)  # for rules that lead back here
        for achiever in self.actions.achievers.get((predicate, True), ()):
            for row in self._allowed(achiever, pattern):
                rows[row] = None
        self._possible[predicate, pattern] = list(rows)
        return self._possible[predicate, pattern]

    def _allowed(self, achiever: Achiever, pattern: tuple[str | None, ...]) -> Iterator[Row]:
        given: dict[str, str] = {}
        for arg, value in zip(achiever.atom.args, pattern, strict=True):
            if value is None:
                continue
            if (arg if not is_variable(arg) else given.setdefault(arg, value)) != value:
                return
        if not self._typed(achiever, given):
            return
        asked = {a for a in achiever.atom.args if is_variable(a)}
        useful = [*self.actions.needed[achiever.action]]
        covered = set().union(*map(free_variables, useful)) | given.keys() if useful else {*given}
        for one in achiever.condition.literals:
            if isinstance(one[0], Equal) or one[0].predicate in self.actions.fixed:
                useful.append(one)
                covered |= free_variables(one)
        for one in achiever.condition.literals:
            if one[1] and free_variables(one) & asked - covered:
                useful.append(one)
        used = asked.union(*map(free_variables, useful))
        variables = tuple(
            v for v in (*achiever.parameters, *achiever.variables)
            if v.name in used and v.name not in given
        )  # fmt: skip
        required = self.actions.requires[achiever.action]
        found = bindings(variables, useful, given, self._relation, self._members)
        for binding in islice(found, MOST_BINDINGS):
            if all(self._can_hold(atom, binding) for atom in required):
                yield tuple([binding.get(a, a) for a in achiever.atom.args])

    def _can_hold(self, atom: Atom, binding: Mapping[str, str]) -> bool:
        """Return whether an atom can be true, as far as it is bound."""
        args = tuple([binding.get(a, a) for a in atom.args])
        if any(map(is_variable, args)):
            return True
        ground = Atom(atom.predicate, args)
        return self.holds((ground, True)) or self._allowed_at_all(ground)


class _Possible(Relation):
    """The rows of a changing predicate that may come true, looked up by pattern."""

    __slots__ = ("_backward", "_predicate")

    def __init__(self, backward: Backward, predicate: str) -> None:
        super().__init__()
        self._backward = backward
        self._predicate = predicate

    def __contains__(self, row: Row) -> bool:
        return True  # whether it can be achieved, its cost says

    def rows(self, pattern: Iterable[str | None]) -> list[Row]:
        """See `Relation`."""
        return self._backward.possible(self._predicate, tuple(pattern))


def _ground(literal: Literal, binding: Mapping[str, str]) -> Literal:
    atom, positive = literal
    if isinstance(atom, Equal):
        left, right = binding.get(atom.left, atom.left), binding.get(atom.right, atom.right)
        return Equal(left, right), positive
    return Atom(atom.predicate, tuple([binding.get(a, a) for a in atom.args])), positive


def _predicates(tests: Iterable[Test]) -> Iterator[str]:
    return (atom.predicate for atom, _, _ in tests if isinstance(atom, Atom))


@lru_cache(maxsize=32)
def least_costs(actions: LiftedActions, true: frozenset[str]) -> Mapping[tuple[str, bool], int]:
    """Return lower bounds of what literals cost that do not hold, by predicate and sign.

    Args:
        actions: what can be done.
        true: the predicates of which something is true at the start: what is needed of these may
            be so already, and then costs nothing.
    """
    costs: dict[tuple[str, bool], int] = {}

    def cost(conjunction: Conjunction) -> int:
        total = 0
        for atom, positive in conjunction.literals:
            if isinstance(atom, Equal) or not positive or atom.predicate in true:
                continue  # whether something is false depends on which
            total += costs.get((atom.predicate, True), NEVER)
        return total

    while True:
        before = dict(costs)
        before_step = {
            name: min(map(cost, alternatives), default=NEVER)
            for name, alternatives in actions.preconditions.items()
        }
        for key, achievers in actions.achievers.items():
            best = min(
                actions.costs[a.action] + before_step[a.action] + cost(a.condition)
                for a in achievers
            )
            costs[key] = min(best, NEVER)
        if costs == before:
            return costs
