"""Causal explanation of a block: why conditions hold and effects come about.

The compiled operators of `hvr.pddl.Task` have static facts folded in, which is what makes
them fast. A macro action that is to be used elsewhere must know them: which faucet belongs to
which basin is what ties its parameters together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from hvr.errors import UsageError
from hvr.pddl import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    GroundAction,
    Imply,
    Not,
    Or,
    Task,
    TypedName,
    When,
)
from hvr.pddl.facts import Facts, bindings, necessary_literals
from hvr.planning.library.literals import Literal

Support = frozenset[Literal]
"""Literals that together make something true."""

_NONE: Support = frozenset()
Binding = Mapping[str, str]


class Situation:
    """The facts in a state of a task, static ones included."""

    def __init__(self, task: Task, facts: frozenset[Atom]) -> None:
        self.task = task
        self.facts = facts
        self._index = Facts(facts)

    def why(self, formula: Expression, binding: Binding, wanted: bool = True) -> Support | None:
        """Return literals that make a formula true (false if not `wanted`), or None.

        A negation turns `wanted` round, which makes a conjunction a disjunction and the other
        way round. Of a disjunction the first part that is true counts, of an existential
        quantifier the first object. Numeric conditions are passed over: the validator judges
        them.
        """
        match formula:
            case Atom(predicate, args):
                atom = Atom(predicate, tuple(binding.get(a, a) for a in args))
                return frozenset({(atom, wanted)}) if (atom in self.facts) == wanted else None
            case Equal(left, right):
                same = binding.get(left, left) == binding.get(right, right)
                return _NONE if same == wanted else None
            case Not(operand):
                return self.why(operand, binding, not wanted)
            case And(operands):
                return self._all_or_first(operands, binding, wanted, every=wanted)
            case Or(operands):
                return self._all_or_first(operands, binding, wanted, every=not wanted)
            case Imply(left, right):
                return self.why(Or((Not(left), right)), binding, wanted)
            case Exists(variables, body):
                return self._quantified(variables, body, binding, wanted, every=not wanted)
            case Forall(variables, body):
                return self._quantified(variables, body, binding, wanted, every=wanted)
            case _:
                return _NONE

    def effects(self, effect: Expression, binding: Binding) -> Iterator[tuple[Literal, Support]]:
        """Yield the literals that an effect brings about here, each with the support of its
        condition.
        """
        match effect:
            case Atom(predicate, args):
                yield (Atom(predicate, tuple(binding.get(a, a) for a in args)), True), _NONE
            case Not(Atom(predicate, args)):
                yield (Atom(predicate, tuple(binding.get(a, a) for a in args)), False), _NONE
            case And(operands):
                for operand in operands:
                    yield from self.effects(operand, binding)
            case When(condition, body):
                support = self.why(condition, binding)
                if support is not None:
                    for literal, more in self.effects(body, binding):
                        yield literal, support | more
            case Forall(variables, body):
                condition = body.condition if isinstance(body, When) else And(())
                for instance in self._candidates(variables, condition, binding, True):
                    yield from self.effects(body, instance)
            case _:
                return

    def _all_or_first(
        self, operands: tuple[Expression, ...], binding: Binding, wanted: bool, *, every: bool
    ) -> Support | None:
        literals: set[Literal] = set()
        for operand in operands:
            support = self.why(operand, binding, wanted)
            if support is None:
                if every:
                    return None
            elif not every:
                return support
            else:
                literals |= support
        return frozenset(literals) if every else None

    def _quantified(
        self,
        variables: tuple[TypedName, ...],
        body: Expression,
        binding: Binding,
        wanted: bool,
        *,
        every: bool,
    ) -> Support | None:
        if not every:
            for candidate in self._candidates(variables, body, binding, wanted):
                support = self.why(body, candidate, wanted)
                if support is not None:
                    return support
            return None
        literals: set[Literal] = set()
        for row in product(*(self.task.members(v.types) for v in variables)):
            names = dict(zip((v.name for v in variables), row, strict=True))
            support = self.why(body, {**binding, **names}, wanted)
            if support is None:
                return None
            literals |= support
        return frozenset(literals)

    def _candidates(
        self, variables: tuple[TypedName, ...], body: Expression, binding: Binding, wanted: bool
    ) -> Iterator[dict[str, str]]:
        """Yield bindings under which a formula may hold.

        By a join over the literals that it cannot do without, since all tuples of objects would
        be far too many.
        """
        literals = necessary_literals(body, wanted)
        return bindings(variables, literals, binding, self._index.relation, self.task.members)


class BlockTrace:
    """A block carried out, with the situations that it passed through.

    Args:
        task: the task.
        facts: what is true before it, static facts included.
        actions: the block.

    Raises:
        UsageError: an action cannot be executed.
        UnknownObjectError, PddlSemanticError: an action does not fit the task.
    """

    def __init__(
        self, task: Task, facts: frozenset[Atom], actions: tuple[GroundAction, ...]
    ) -> None:
        self.task = task
        self.before = facts
        self._steps: list[_Step] = []
        for number, action in enumerate(actions, 1):
            task.ground(action)  # raises if it does not fit
            schema = task.domain.actions[action.name]
            binding = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
            situation = Situation(task, facts)
            needs = situation.why(schema.precondition, binding)
            if needs is None:
                raise UsageError(f"step {number}, {action}, cannot be executed here")
            does: dict[Literal, Support] = {}
            for literal, support in situation.effects(schema.effect, binding):
                known = does.get(literal)
                # Of several reasons the one with fewest conditions carries furthest.
                if known is None or len(support) < len(known):
                    does[literal] = support
            self._steps.append(_Step(facts, needs, does))
            # What is both deleted and added is true.
            facts = facts - {a for a, v in does if not v} | {a for a, v in does if v}
        self.after = facts

    def needs(self) -> Support:
        """Return the literals that the actions need and do not bring about themselves."""
        return self._regress(_NONE, preconditions=True)

    def causes(self, literal: Literal) -> Support:
        """Return the literals that must hold before the block for it to make another one true,
        apart from `needs`.
        """
        return self._regress(frozenset({literal}), preconditions=False)

    def _regress(self, goal: Support, *, preconditions: bool) -> Support:
        """Return the literals before the block from which the goal follows.

        Args:
            goal: literals after the block.
            preconditions: those of the actions are wanted, too.
        """
        wanted = set(goal)
        for step in reversed(self._steps):
            # Effects before preconditions: what an action needs must hold before it, also if
            # it brings the same about.
            for literal in tuple(wanted):
                support = step.brings_about(literal)
                if support is not None:
                    wanted.discard(literal)
                    wanted |= support
            if preconditions:
                wanted |= step.needs
        return frozenset(wanted)


@dataclass(frozen=True)
class _Step:
    """An action in its situation: what it needs, and what it does with what made it do so."""

    facts: frozenset[Atom]
    needs: Support
    does: Mapping[Literal, Support]

    def brings_about(self, literal: Literal) -> Support | None:
        """Return the support of the effect that brings a literal about; None if the literal has
        to hold before the action.
        """
        atom, positive = literal
        support = self.does.get(literal)
        # What is both deleted and added is true, so such a deletion brings nothing about.
        if support is None or (not positive and (atom, True) in self.does):
            return None
        # A conditional effect that only confirms what holds anyway would add its condition for
        # nothing: it is enough that the literal held.
        stays = (atom in self.facts) == positive and (atom, not positive) not in self.does
        return None if support and stays else support
