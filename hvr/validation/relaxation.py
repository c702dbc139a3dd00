"""What could become true if nothing that once was true ever ceased to be: relaxed reachability.

The ground actions that a short search may need are found layer by layer, by joining what the
layers before made reachable; with them an estimate of how many steps a condition is away: the
length of a relaxed plan (Hoffmann & Nebel 2001, "The FF planning system"). A literal may be
positive or negative, numeric comparisons count as reachable, rules of derived predicates as
actions that cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias

from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    DerivedPredicate,
    Equal,
    Forall,
    GroundAction,
    Not,
    State,
    Task,
    When,
)
from hvr.pddl.compiler import Compiler
from hvr.pddl.facts import Literal, Relation, bindings, match_row, necessary_literals
from hvr.pddl.state import Conjunction, Operator

MOST_ACTIONS = 20_000
"""How many ground actions are looked at."""
EXTRA_LAYERS = 2
"""How many layers are looked at behind that in which a condition is reachable."""
_NONE = Relation()

Binding: TypeAlias = dict[str, str]
_Masks: TypeAlias = tuple[int, int]
"""Bits that are to be true, and bits that are to be false."""


class Deadline:
    """A time limit.

    Args:
        seconds: how long it runs, from now on.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    @property
    def expired(self) -> bool:
        """Whether the time is up."""
        return monotonic() > self._end

    @property
    def left(self) -> float:
        """How many seconds are left, at least 0."""
        return max(0.0, self._end - monotonic())


@dataclass(frozen=True, slots=True)
class _Need:
    """A condition, relaxed; each clause needs one of some bits or parts."""

    true: int = 0
    false: int = 0
    clauses: tuple[tuple[int, int, tuple[_Masks, ...]], ...] = ()

    @classmethod
    def of(cls, condition: Conjunction) -> _Need:
        clauses = []
        for clause in condition.clauses:
            parts = tuple([(part.positive, part.negative) for part in clause.parts])
            clauses.append((clause.positive, clause.negative, parts))
        return cls(condition.positive, condition.negative, tuple(clauses))

    def with_(self, other: _Need) -> _Need:
        """Return what both need."""
        clauses = self.clauses + other.clauses
        return _Need(self.true | other.true, self.false | other.false, clauses)


@dataclass(frozen=True, slots=True)
class _Unit:
    """Something that makes literals reachable; `operator` is None for a rule."""

    operator: int | None
    need: _Need
    true: int
    false: int


@dataclass(frozen=True, slots=True)
class _Packed:
    """A unit over literals as bits of one integer: the false ones follow the true ones.

    The estimate is made for thousands of states. With both signs in one integer each test of it is
    one operation, and it need not tell positive from negative.
    """

    operator: int | None
    need: int
    clauses: tuple[tuple[int, tuple[int, ...]], ...]
    gives: int


class _Schema:
    """A lifted action or rule and the literals that its instances are joined from."""

    def __init__(self, task: Task, source: ActionSchema | DerivedPredicate) -> None:
        self.source = source
        condition = source.precondition if isinstance(source, ActionSchema) else source.body
        self.joined: list[Atom] = []
        self.literals: list[Literal] = []
        for literal, positive in necessary_literals(condition):
            fluent = isinstance(literal, Atom) and not task.is_static(literal.predicate)
            # Joins find rows that are true; a negative literal is tested once an instance is made.
            if fluent and not positive:
                continue
            if fluent and isinstance(literal, Atom):
                self.joined.append(literal)
            self.literals.append((literal, positive))


class Relaxation:
    """The actions that may help to reach a condition from a state, and how far it is.

    Args:
        state: the state.
        target: the condition.
        numeric: the functions whose values matter.
        clock: when to stop looking for actions.
        beyond: how many layers of actions to look at after the one that makes the target
            reachable; None for all.

    Attributes:
        operators: the actions found that may help, in a fixed order.
        rules: instances of the rules of derived predicates, each a body and the bit it derives.
        reachable: whether the target is reachable by them, relaxed.
        complete: whether no action was left out that could help.
    """

    def __init__(
        self,
        state: State,
        target: Conjunction,
        numeric: frozenset[str],
        clock: Deadline,
        *,
        beyond: int | None = EXTRA_LAYERS,
    ) -> None:
        self.task = state.task
        self.operators: list[Operator] = []
        self.rules: list[tuple[Conjunction, int]] = []
        self._target = _Need.of(target)
        self._start = state.bits
        self._numeric = numeric
        self._clock = clock
        self._units: list[_Unit] = []
        self._pending: list[tuple[GroundAction, _Need]] = []
        self._true = state.bits
        self._false = 0
        self._relations: dict[str, Relation] = {}
        self._known: set[object] = set()
        self.complete = self._ground(beyond)
        self.reachable = self._holds(self._target)
        self._pack(target)

    # Grounding ------------------------------------------------------------------------------

    def _ground(self, beyond: int | None) -> bool:
        """Find actions until the target is reachable, and some more; say whether these are all."""
        task = self.task
        for atom in task.atoms_in(self._start):
            self._relations.setdefault(atom.predicate, Relation()).add(atom.args)
        schemas = [_Schema(task, action) for action in task.domain.actions.values()]
        schemas += [_Schema(task, rule) for rule in task.domain.derived]
        by_predicate: dict[str, list[tuple[_Schema, Atom]]] = {}
        for schema in schemas:
            for literal in schema.joined:
                by_predicate.setdefault(literal.predicate, []).append((schema, literal))
        waiting: list[_Unit] = []
        for schema in schemas:
            if not self._instantiate(schema, {}, waiting):
                return False
        # What a layer makes true counts from the next one on, so that each layer is whole and
        # `beyond` has a meaning.
        while True:
            true, false = self._true, self._false
            pending, self._pending = self._pending, []
            for action, need in pending:
                if self._holds(need):
                    self._add(task.ground(action), waiting)
                else:
                    self._pending.append((action, need))
            still: list[_Unit] = []
            for unit in waiting:
                if self._holds(unit.need):
                    self._units.append(unit)
                    true |= unit.true
                    false |= unit.false
                else:
                    still.append(unit)
            waiting = still
            new = true & ~self._true
            if not new and false == self._false:
                return True
            self._true, self._false = true, false
            if beyond is not None and self._holds(self._target):
                if beyond == 0:
                    return False
                beyond -= 1
            atoms = list(task.atoms_in(new))
            for atom in atoms:
                self._relations.setdefault(atom.predicate, Relation()).add(atom.args)
            for atom in atoms:
                for schema, literal in by_predicate.get(atom.predicate, ()):
                    seed = match_row(literal, atom.args)
                    if seed is not None and not self._instantiate(schema, seed, waiting):
                        return False

    def _instantiate(self, schema: _Schema, seed: Binding, waiting: list[_Unit]) -> bool:
        """Add the instances of a schema; say whether that was all of them."""
        source, task = schema.source, self.task
        parameters = source.parameters
        if any(p.name in seed and seed[p.name] not in task.members(p.types) for p in parameters):
            return True
        if self._clock.expired:
            return False
        open_ = [p for p in parameters if p.name not in seed]
        # The relations must not grow under the join.
        matches = bindings(open_, schema.literals, seed, self._relation, task.members)
        for number, binding in enumerate(matches):
            row = tuple([binding[p.name] for p in parameters])
            key = id(source), row
            if key in self._known:
                continue
            self._known.add(key)
            if isinstance(source, DerivedPredicate):
                condition = Compiler(task).condition(source.body, binding)
                bit = 1 << task.index_of(source.predicate, row)
                self.rules.append((condition, bit))
                waiting.append(_Unit(None, _Need.of(condition), bit, 0))
            else:
                # Its effects are made once its precondition is reachable, which few become.
                action = GroundAction(source.name, row)
                self._pending.append((action, _Need.of(task.precondition(action))))
            if len(self._known) >= MOST_ACTIONS or (number % 64 == 63 and self._clock.expired):
                return False
        return True

    def _add(self, operator: Operator, waiting: list[_Unit]) -> None:
        number = len(self.operators)
        self.operators.append(operator)
        need = _Need.of(operator.precondition)
        waiting.append(_Unit(number, need, operator.add, operator.delete & ~operator.add))
        for condition, add, delete in operator.conditional:
            both = need.with_(_Need.of(condition))
            waiting.append(_Unit(number, both, add, delete & ~add))

    def _relation(self, predicate: str) -> Relation:
        if self.task.is_static(predicate):
            return self.task.static_facts.relation(predicate)
        return self._relations.get(predicate, _NONE)

    def _holds(self, need: _Need) -> bool:
        true = self._true
        # What follows by rules may become false in ways that are not looked into.
        false = ~self._start | self._false | self.task.derived_bits
        if need.true & ~true or need.false & ~false:
            return False
        return all(
            positive & true
            or negative & false
            or any(not (one & ~true or two & ~false) for one, two in parts)
            for positive, negative, parts in need.clauses
        )

    # Relevance ------------------------------------------------------------------------------

    def _pack(self, target: Conjunction) -> None:
        """Keep what helps, and make masks of it that are fast to work with."""
        mentioned = target.mentioned() | self._start | self._true | self._false
        counting = {i for i, operator in enumerate(self.operators) if self._counts(operator)}
        guards = [guard for i in counting for guard, _ in self.operators[i].numeric]
        for guard in guards:
            mentioned |= guard.mentioned()
        for unit in self._units:
            mentioned |= unit.need.true | unit.need.false | unit.true | unit.false
            for positive, negative, parts in unit.need.clauses:
                mentioned |= positive | negative
                for one, two in parts:
                    mentioned |= one | two
        self._width = mentioned.bit_length()
        self._all = (1 << self._width) - 1
        self._derived = self.task.derived_bits << self._width
        packed = [self._packed(unit) for unit in self._units]
        goal = self._packed(_Unit(None, self._target, 0, 0))
        self._goal = goal
        # What makes a derived atom false is not looked into, so that all may be of use there.
        relevant = set(range(len(packed))) if self.task.derived_predicates else set()
        relevant |= self._supporting(packed, goal, counting, guards)
        self._helping = [packed[place] for place in sorted(relevant)]
        used = sorted({u.operator for u in self._helping if u.operator is not None})
        renumbered = {old: new for new, old in enumerate(used)}
        self.operators = [self.operators[old] for old in used]
        self._gives = [0] * len(used)
        for index, item in enumerate(self._helping):
            if item.operator is not None:
                number = renumbered[item.operator]
                self._gives[number] |= item.gives
                self._helping[index] = _Packed(number, item.need, item.clauses, item.gives)

    def _supporting(
        self,
        packed: Sequence[_Packed],
        goal: _Packed,
        counting: Set[int],
        guards: Iterable[Conjunction],
    ) -> set[int]:
        """Go back from the target to what supplies something needed, and what that needs in turn.

        Args:
            packed: The effects of the actions, an unconditional one before the conditional ones.
            goal: The target.
            counting: Actions with effects on numbers that matter.
            guards: Conditions of these effects.

        Returns:
            Indexes of the effects.
        """
        needed = _reads(goal)
        for guard in guards:
            reads = _reads(self._packed(_Unit(None, _Need.of(guard), 0, 0)))
            needed |= reads | self._opposite(reads)
        first: dict[int | None, int] = {}
        conditional = [
            place
            for place, item in enumerate(packed)
            if first.setdefault(item.operator, place) != place
        ]
        relevant: set[int] = set()
        useful = set(counting)
        before = None
        while needed != before:
            before = needed
            for place, item in enumerate(packed):
                if place not in relevant and (item.gives & needed or item.operator in counting):
                    relevant.add(place)
                    needed |= _reads(item)
                    if item.operator is not None:
                        useful.add(item.operator)
            # An effect that undoes something needed must be kept from happening, so whatever makes
            # its condition false is needed, too.
            for place in conditional:
                item = packed[place]
                if item.operator in useful and self._opposite(item.gives) & needed:
                    needed |= self._opposite(_reads(item))
        return relevant

    def _opposite(self, literals: int) -> int:
        return literals >> self._width | (literals & self._all) << self._width

    def _packed(self, unit: _Unit) -> _Packed:
        def both(true: int, false: int) -> int:
            return true | (false & self._all) << self._width

        clauses = tuple(
            [
                (both(positive, negative), tuple([both(one, two) for one, two in parts]))
                for positive, negative, parts in unit.need.clauses
            ]
        )
        need = both(unit.need.true, unit.need.false)
        return _Packed(unit.operator, need, clauses, both(unit.true, unit.false))

    def _counts(self, operator: Operator) -> bool:
        indexes = (change[1] for _, change in operator.numeric)
        return any(self.task.term(index).function in self._numeric for index in indexes)

    # The estimate ---------------------------------------------------------------------------

    def estimate(self, bits: int) -> tuple[int, list[int]] | None:
        """Estimate how many steps the target is away from a state.

        Returns:
            the number of actions of a relaxed plan and the actions that may begin it, None when
            the target is out of reach.
        """
        relaxed = self.relaxed_plan(bits)
        return None if relaxed is None else (len(relaxed[0]), relaxed[1])

    def relaxed_plan(self, bits: int) -> tuple[set[int], list[int]] | None:
        """Return the actions of a relaxed plan and those that may begin it, by their numbers."""
        # Forwards: in each layer every unit whose needs are met, kept with what it was the first
        # to give. Derived atoms count as false if that is wanted.
        bits &= self._all
        start = bits | (~bits & self._all) << self._width | self._derived
        reached = start
        remaining: Iterable[_Packed] = self._helping
        achieved: list[tuple[int, int, _Packed, int]] = []
        layer = 0
        goal = self._chosen(self._goal, reached)
        while goal is None:
            layer += 1
            new = 0
            rest: list[_Packed] = []
            for unit in remaining:
                if unit.need & ~reached:
                    rest.append(unit)
                    continue
                needs = self._chosen(unit, reached) if unit.clauses else unit.need
                if needs is None:
                    rest.append(unit)
                    continue
                gain = unit.gives & ~reached & ~new
                if gain:
                    new |= gain
                    achieved.append((layer, gain, unit, needs))
            if not new:
                return None
            reached |= new
            remaining = rest
            goal = self._chosen(self._goal, reached)
        # Backwards: each needed literal has one unit that gave it first, so that a single pass from
        # the last layer to the first extracts the relaxed plan. Literals needed of the first layer
        # show which actions are worth trying (FF's helpful actions).
        needed = goal & ~start
        first = 0
        plan: set[int] = set()
        for layer, gain, unit, needs in reversed(achieved):
            used = needed & gain
            if used:
                needed = needed & ~used | needs & ~start
                if unit.operator is not None:
                    plan.add(unit.operator)
                if layer == 1:
                    first |= used
        beginning = [i for i, gives in enumerate(self._gives) if gives & first]
        return plan, beginning

    def _chosen(self, unit: _Packed, reached: int) -> int | None:
        """Return literals that make a condition true, None if those reached do not suffice."""
        needs = unit.need
        if needs & ~reached:
            return None
        # The lowest literal, the first part: any will do, but always the same one.
        for any_of, parts in unit.clauses:
            usable = any_of & reached
            if usable:
                needs |= usable & -usable
                continue
            for part in parts:
                if not part & ~reached:
                    needs |= part
                    break
            else:
                return None
        return needs


def _reads(unit: _Packed) -> int:
    needs = unit.need
    for any_of, parts in unit.clauses:
        needs |= any_of
        for part in parts:
            needs |= part
    return needs


def achievers(
    state: State, literals: Mapping[Atom, bool], *, positive: bool = False
) -> Iterator[GroundAction]:
    """Yield the actions, applicable or nearly so, that can make a literal true in a state.

    Args:
        state: the state that their preconditions are joined with.
        literals: ground atoms and the value wanted.
        positive: join only what must be true. With the atoms of several states together this
            yields what is applicable in any of them, and more.
    """
    task = state.task
    relations: dict[str, Relation] = {}
    for atom in task.atoms_in(state.bits):
        relations.setdefault(atom.predicate, Relation()).add(atom.args)

    def relation(predicate: str) -> Relation:
        if task.is_static(predicate):
            return task.static_facts.relation(predicate)
        return relations.get(predicate, _NONE)

    seen: set[GroundAction] = set()
    wanted_of: dict[tuple[str, bool], list[Atom]] = {}
    for literal, wanted in literals.items():
        wanted_of.setdefault((literal.predicate, wanted), []).append(literal)
    for schema in task.domain.actions.values():
        effects = [e for e in _atoms(schema) if (e[0].predicate, e[1]) in wanted_of]
        if not effects:
            continue
        conditions = [
            (literal, sign)
            for literal, sign in necessary_literals(schema.precondition)
            if sign
            or not positive
            or isinstance(literal, Equal)
            or task.is_static(literal.predicate)
        ]
        names = {p.name: p.types for p in schema.parameters}
        for effect, value in effects:
            for literal in wanted_of[effect.predicate, value]:
                row = match_row(effect, literal.args)
                if row is None:
                    continue
                # Variables of a (forall …) are not parameters.
                seed = {name: o for name, o in row.items() if name in names}
                if any(o not in task.members(names[name]) for name, o in seed.items()):
                    continue
                open_ = [p for p in schema.parameters if p.name not in seed]
                for binding in bindings(open_, conditions, seed, relation, task.members):
                    args = tuple([binding[p.name] for p in schema.parameters])
                    action = GroundAction(schema.name, args)
                    if action not in seen:
                        seen.add(action)
                        yield action


def _atoms(schema: ActionSchema) -> Iterator[tuple[Atom, bool]]:
    """Yield the atoms that an action adds (True) or deletes."""
    stack: list[object] = [schema.effect]
    while stack:
        match stack.pop():
            case Atom() as atom:
                yield atom, True
            case Not(Atom() as atom):
                yield atom, False
            case And(operands):
                stack.extend(reversed(operands))
            case Forall(_, body) | When(_, body):
                stack.append(body)
            case _:
                pass
