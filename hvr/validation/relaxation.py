"""Relaxed reachability, and a distance estimate from relaxed plans.

The ground actions that a short search may need are found layer by layer, by joins with the atoms
reachable so far. They provide an estimate of the distance to a condition: the length of a relaxed
plan (Hoffmann & Nebel 2001, "The FF planning system"). Literals may be positive or negative,
numeric comparisons count as satisfiable, and rules of derived predicates as free actions.
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
EXTRA_LAYERS = 2
"""Number of layers to add after the first one in which a condition is reachable."""
_NONE = Relation()

Binding: TypeAlias = dict[str, str]
_Masks: TypeAlias = tuple[int, int]
"""Required true bits and required false bits."""


class Deadline:
    """A time limit in seconds from its creation."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    @property
    def expired(self) -> bool:
        return monotonic() > self._end

    @property
    def left(self) -> float:
        return max(0.0, self._end - monotonic())


@dataclass(frozen=True, slots=True)
class _Need:
    """A condition in the relaxed problem; of each clause, one literal or part must hold."""

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
        clauses = self.clauses + other.clauses
        return _Need(self.true | other.true, self.false | other.false, clauses)


@dataclass(frozen=True, slots=True)
class _Unit:
    """An effect or rule that makes literals reachable; `operator` is None for a rule."""

    operator: int | None
    need: _Need
    true: int
    false: int


@dataclass(frozen=True, slots=True)
class _Packed:
    """A unit whose literals are bits of one integer, false literals after true literals.

    The estimate is computed for thousands of states. One integer for both kinds of literals makes
    each test a single operation.
    """

    operator: int | None
    need: int
    clauses: tuple[tuple[int, tuple[int, ...]], ...]
    gives: int


class _Schema:
    def __init__(self, task: Task, source: ActionSchema | DerivedPredicate) -> None:
        self.source = source
        condition = source.precondition if isinstance(source, ActionSchema) else source.body
        self.joined: list[Atom] = []
        self.literals: list[Literal] = []
        for literal, positive in necessary_literals(condition):
            fluent = isinstance(literal, Atom) and not task.is_static(literal.predicate)
            # Joins enumerate true rows; negative fluents are tested on each instance instead.
            if fluent and not positive:
                continue
            if fluent and isinstance(literal, Atom):
                self.joined.append(literal)
            self.literals.append((literal, positive))


class Relaxation:
    """The actions relevant for reaching a condition from a state, and a distance estimate.

    Args:
        beyond: The number of layers to add after the layer that makes the target reachable, or None
            to add all.

    Attributes:
        rules: Instances of the rules for derived predicates, each a pair of a body and the derived
            bit.
        complete: Whether no relevant action was omitted.
        reachable: Whether the target is reachable in the relaxed problem.
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
        # Atoms that a layer adds count from the next layer on: `beyond` counts whole layers.
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
        source, task = schema.source, self.task
        parameters = source.parameters
        if any(p.name in seed and seed[p.name] not in task.members(p.types) for p in parameters):
            return True
        if self._clock.expired:
            return False
        open_ = [p for p in parameters if p.name not in seed]
        # `bindings` reads the relations lazily, so they must not grow during the join.
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
                # Effects are compiled only once the precondition is reachable, which is rare.
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
        # Derived atoms count as falsifiable: how they become false is not analysed.
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
        # How derived atoms become false is not analysed, so every unit may be relevant.
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
            # An effect that deletes something needed must be prevented, so the literals that
            # falsify its condition are also needed.
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
        """Return a relaxed plan's length and possible first actions; None if there is no plan."""
        relaxed = self.relaxed_plan(bits)
        return None if relaxed is None else (len(relaxed[0]), relaxed[1])

    def relaxed_plan(self, bits: int) -> tuple[set[int], list[int]] | None:
        """Return a relaxed plan's actions and possible first actions; None if there is no plan."""
        # Forward pass: record for each layer the applicable units with the literals they achieve
        # first. Derived atoms may be assumed false.
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
        # Backward pass: each needed literal has one first achiever, so a single pass from the last
        # layer to the first extracts the relaxed plan. The needed literals of the first layer show
        # which actions are worth trying (FF's helpful actions).
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
        needs = unit.need
        if needs & ~reached:
            return None
        # Any choice works, but it must be deterministic: the lowest literal, else the first part.
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


def achievers(state: State, literals: Mapping[Atom, bool]) -> Iterator[GroundAction]:
    """Yield actions that can make one of some literals true if their conditions hold in a state.

    Only the literals that the precondition requires in every case are tested.
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
        conditions = list(necessary_literals(schema.precondition))
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
