"""Lift blocks of a successful plan to library entries, with conditions derived from execution.

The *support* of a literal or formula is a set of literals that together make it true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hvr.errors import UsageError
from hvr.knowledge.ontology import Ontology, load_ontology
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
    State,
    Task,
    TypedName,
    When,
)
from hvr.pddl.facts import Facts, bindings, necessary_literals
from hvr.planning.library.candidates import (
    Mention,
    NameReading,
    natural_key,
    object_types,
    read_words,
)
from hvr.planning.library.entry import (
    Entry,
    Literal,
    Origin,
    Parameter,
    bind_literal,
    bind_step,
    literal_text,
    make,
)
from hvr.planning.library.library import Library
from hvr.planning.plans import AABlock, Plan

# Causal explanation -------------------------------------------------------------------------------
# A causal explanation of a block: why its conditions hold and its effects occur.
#
# Compiled operators have no static facts, which makes them fast. A reusable macro action needs
# them: for example, facts that assign faucets to basins tie its parameters together.

Support = frozenset[Literal]
"""Literals that together make something true."""

_NONE: Support = frozenset()
Binding = Mapping[str, str]


class Situation:
    """A state of a task as a set of facts, including static facts."""

    def __init__(self, task: Task, facts: frozenset[Atom]) -> None:
        self.task = task
        self.facts = facts
        self._index = Facts(facts)

    def support_of(
        self, formula: Expression, binding: Binding, value: bool = True
    ) -> Support | None:
        """Return literals that explain why a formula has the value `value`, or None if it has not.

        A negation inverts `value`, which turns a conjunction into a disjunction and vice versa. A
        disjunction is explained by its first true part, and an existential quantifier by its first
        instance. Numeric conditions are skipped, because the validator checks them.
        """
        match formula:
            case Atom(predicate, args):
                atom = Atom(predicate, tuple(binding.get(a, a) for a in args))
                return frozenset({(atom, value)}) if (atom in self.facts) == value else None
            case Equal(left, right):
                same = binding.get(left, left) == binding.get(right, right)
                return _NONE if same == value else None
            case Not(operand):
                return self.support_of(operand, binding, not value)
            case And(operands):
                return self._all_or_first(operands, binding, value, every=value)
            case Or(operands):
                return self._all_or_first(operands, binding, value, every=not value)
            case Imply(left, right):
                return self.support_of(Or((Not(left), right)), binding, value)
            case Exists(variables, body):
                return self._quantified(variables, body, binding, value, every=not value)
            case Forall(variables, body):
                return self._quantified(variables, body, binding, value, every=value)
            case _:
                return _NONE

    def effects(self, effect: Expression, binding: Binding) -> Iterator[tuple[Literal, Support]]:
        """Yield the literals that an effect makes true, each with the support of its condition."""
        match effect:
            case Atom(predicate, args):
                yield (Atom(predicate, tuple(binding.get(a, a) for a in args)), True), _NONE
            case Not(Atom(predicate, args)):
                yield (Atom(predicate, tuple(binding.get(a, a) for a in args)), False), _NONE
            case And(operands):
                for operand in operands:
                    yield from self.effects(operand, binding)
            case When(condition, body):
                support = self.support_of(condition, binding)
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
        self, operands: tuple[Expression, ...], binding: Binding, value: bool, *, every: bool
    ) -> Support | None:
        literals: set[Literal] = set()
        for operand in operands:
            support = self.support_of(operand, binding, value)
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
        value: bool,
        *,
        every: bool,
    ) -> Support | None:
        if not every:
            for candidate in self._candidates(variables, body, binding, value):
                support = self.support_of(body, candidate, value)
                if support is not None:
                    return support
            return None
        literals: set[Literal] = set()
        for row in product(*(self.task.members(v.types) for v in variables)):
            names = dict(zip((v.name for v in variables), row, strict=True))
            support = self.support_of(body, {**binding, **names}, value)
            if support is None:
                return None
            literals |= support
        return frozenset(literals)

    def _candidates(
        self, variables: tuple[TypedName, ...], body: Expression, binding: Binding, value: bool
    ) -> Iterator[dict[str, str]]:
        literals = necessary_literals(body, value)
        return bindings(variables, literals, binding, self._index.relation, self.task.members)


class BlockTrace:
    """An executed block with the facts before each action, including static facts."""

    def __init__(
        self, task: Task, facts: frozenset[Atom], actions: tuple[GroundAction, ...]
    ) -> None:
        self.task = task
        self.before = facts
        self._steps: list[_Step] = []
        for number, action in enumerate(actions, 1):
            task.ground(action)  # This raises if the action does not belong to the task.
            schema = task.domain.actions[action.name]
            binding = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
            situation = Situation(task, facts)
            needs = situation.support_of(schema.precondition, binding)
            if needs is None:
                raise UsageError(f"step {number}, {action}, is not applicable at this point")
            does: dict[Literal, Support] = {}
            for literal, support in situation.effects(schema.effect, binding):
                known = does.get(literal)
                # Of several reasons, the one with the fewest conditions is the most general.
                if known is None or len(support) < len(known):
                    does[literal] = support
            self._steps.append(_Step(facts, needs, does))
            # An atom that an action both deletes and adds is true.
            facts = facts - {a for a, v in does if not v} | {a for a, v in does if v}
        self.after = facts

    def needs(self) -> Support:
        """Return the literals that the actions need but do not achieve themselves."""
        return self._regress(_NONE, preconditions=True)

    def causes(self, literal: Literal) -> Support:
        """Return the literals, other than `needs`, from which the block derives a literal."""
        return self._regress(frozenset({literal}), preconditions=False)

    def _regress(self, goal: Support, *, preconditions: bool) -> Support:
        goals = set(goal)
        for step in reversed(self._steps):
            # Effects before preconditions: an action's own precondition must hold before it, even
            # if the action achieves the same literal.
            for literal in tuple(goals):
                support = step.brings_about(literal)
                if support is not None:
                    goals.discard(literal)
                    goals |= support
            if preconditions:
                goals |= step.needs
        return frozenset(goals)


@dataclass(frozen=True)
class _Step:
    """An executed action.

    Attributes:
        facts: The true facts before the action.
        needs: The literals that satisfy the precondition.
        does: The literals that the action makes true, each with the support of its condition.
    """

    facts: frozenset[Atom]
    needs: Support
    does: Mapping[Literal, Support]

    def brings_about(self, literal: Literal) -> Support | None:
        atom, positive = literal
        support = self.does.get(literal)
        # A deletion is ineffective if the action also adds the atom.
        if support is None or (not positive and (atom, True) in self.does):
            return None
        # A conditional effect that only confirms an existing literal would add its condition
        # needlessly: require the literal itself instead.
        stays = (atom in self.facts) == positive and (atom, not positive) not in self.does
        return None if support and stays else support


# Conditions ---------------------------------------------------------------------------------------
# The precondition of a block contains the literals that its actions need but do not achieve
# themselves, and the causes of its effects. The postcondition contains its lasting changes. Side
# effects on other objects are omitted: closing the fridge chills everything inside, but that is not
# the purpose of a block.

NEAR_PREDICATE = "near"
"""The predicate that is never the purpose of a block, because the next navigation makes it false.
"""


@dataclass(frozen=True)
class BlockConditions:
    """The ground conditions of a block.

    Args:
        needs: Literals that must hold before the block, including static literals.
        effects: Literals that the block makes true permanently.
        objects: The objects in the block's steps, then the other objects in its conditions.
        fluent: The predicates that can change.
    """

    needs: tuple[Literal, ...]
    effects: tuple[Literal, ...]
    objects: tuple[str, ...]
    fluent: frozenset[str]

    def precondition(self) -> tuple[str, ...]:
        """Return the precondition as PDDL, without static literals."""
        return tuple(literal_text(n) for n in self.needs if n[0].predicate in self.fluent)

    def postcondition(self) -> tuple[str, ...]:
        return tuple(literal_text(e) for e in self.effects)


def conditions_of(
    task: Task, facts: frozenset[Atom], actions: Sequence[GroundAction], named: Iterable[str] = ()
) -> BlockConditions:
    """Return the conditions of a block, derived from its execution in a state.

    Args:
        facts: The facts before the block, including static facts.
        actions: The block, which must be applicable.
        named: Objects that the block concerns although no step mentions them, such as the food in a
            microwave that is switched on.
    """
    run = BlockTrace(task, facts, tuple(actions))
    constants = {c.name for c in task.domain.constants}
    core = dict.fromkeys(a for action in actions for a in action.args)
    changed = {a for atom in run.after ^ run.before for a in atom.args}
    core.update(dict.fromkeys(n for n in named if n in changed))
    needs = set(run.needs())
    linked = {a for atom, positive in needs if positive for a in atom.args}
    changes = [
        *((atom, True) for atom in run.after - run.before),
        *((atom, False) for atom in run.before - run.after),
    ]
    changes = sorted((c for c in changes if c[0].predicate != NEAR_PREDICATE), key=_order)
    causes = {c: run.causes(c) for c in changes}
    about = {*core, *linked, *constants}
    tied = _representatives(task, _tied(task, changes, causes, about), changes, about)
    about |= tied
    kept = [c for c in changes if about.issuperset(c[0].args)]
    for change in kept:
        needs |= causes[change]
    positive = {a for atom, sign in needs if sign for a in atom.args}
    objects = (about & {a for atom, _ in kept for a in atom.args}) | positive | set(core)
    needs = {n for n in needs if n[1] or _is_relevant(n, set(core), objects | constants)}
    rest = sorted(objects - set(core) - constants, key=natural_key)
    return BlockConditions(
        tuple(sorted(needs, key=_order)),
        tuple(kept),
        (*(c for c in core if c not in constants), *rest),
        frozenset(task.fluent_predicates),
    )


def _is_relevant(literal: Literal, core: set[str], known: set[str]) -> bool:
    args = literal[0].args
    if len(args) < 2:
        return known.issuperset(args)
    return core.issuperset(args) and len(set(args)) == len(args)


def _tied(
    task: Task, changes: Iterable[Literal], causes: dict[Literal, Support], about: set[str]
) -> set[str]:
    """Return objects that static facts tie to the block's objects, like pieces to a tomato."""
    tied: set[str] = set()
    for change in changes:
        for other in set(change[0].args) - about:
            if any(
                positive
                and task.is_static(atom.predicate)
                and other in atom.args
                and not about.isdisjoint(atom.args)
                and about.issuperset(set(atom.args) - {other})
                for atom, positive in causes[change]
            ):
                tied.add(other)
    return tied


def _representatives(
    task: Task, tied: set[str], changes: Sequence[Literal], about: set[str]
) -> set[str]:
    """Return one tied object per kind of change that none of the objects in `about` undergoes."""

    # Slicing creates all pieces of a tomato. The block needs one of them, and their number differs
    # between kitchens.
    def shape(name: str) -> tuple[object, ...]:
        mine = [
            (atom.predicate, tuple("*" if a == name else a for a in atom.args), positive)
            for atom, positive in changes
            if name in atom.args
        ]
        return task.objects[name], tuple(sorted(mine))

    seen = {shape(name) for name in about if name in task.objects}
    kept = set()
    for name in sorted(tied, key=natural_key):
        key = shape(name)
        if key not in seen:
            seen.add(key)
            kept.add(name)
    return kept


def _order(literal: Literal) -> tuple[str, tuple[tuple[str, int, str], ...], bool]:
    atom, positive = literal
    return atom.predicate, tuple(natural_key(a) for a in atom.args), not positive


# Lifting ------------------------------------------------------------------------------------------
# Lifting replaces the objects of a block by variables.

_MOST_TIED = 4
"""Maximum number of indistinguishable objects for which all orders are tried. There are factorially
many orders, and a wrong one only turns equal blocks into two entries.
"""


def lift(
    block: AABlock,
    task: Task,
    state: State,
    *,
    agent: str,
    origin: Origin | None = None,
    ontology: Ontology | None = None,
) -> Entry:
    """Lift a block to variables.

    The conditions are derived from the block's execution in the state, including static facts:
    facts such as `faucet_of` or `piece_of` relate the parameters, and determine them in other
    scenes. Variables are named by PDDL type in the order of the steps, so that blocks which differ
    only in object names become the same entry.

    Raises:
        UsageError: An action is not applicable in the state, or there are no actions.
        UnknownObjectError, PddlSemanticError: An action does not belong to the task.
    """
    ontology = ontology or load_ontology()
    types = object_types(task)
    words = read_words(block.macro.name, ontology, types)
    facts = state.atoms(static=True)
    named = _named(words, block.actions, types, ontology)
    conditions = conditions_of(task, facts, block.actions, named)
    binding = _variables(conditions, block.actions, types)
    return make(
        Entry(
            names=(_lifted_name(words, binding, block.actions, types, ontology),),
            parameters=tuple(Parameter(v, types[o]) for o, v in binding.items()),
            precondition=_texts(conditions.needs, binding),
            postcondition=_texts(conditions.effects, binding),
            steps=tuple(bind_step(a, binding) for a in block.actions),
            agent=agent,
            origins=() if origin is None else (origin,),
        )
    )


def _texts(literals: Iterable[Literal], binding: dict[str, str]) -> tuple[str, ...]:
    return tuple(literal_text(bind_literal(item, binding)) for item in literals)


def _named(
    words: NameReading, actions: Sequence[GroundAction], types: dict[str, str], ontology: Ontology
) -> list[str]:
    used = dict.fromkeys(a for action in actions for a in action.args)
    objects: list[str] = []
    for mention in words.mentions:
        if mention.name:
            objects.append(mention.name)
        elif not any(means(mention, types[o], ontology) for o in used):
            objects += [o for o in types if means(mention, types[o], ontology)]
    return objects


def means(mention: Mention, pddl_type: str, ontology: Ontology) -> bool:
    """Return whether a mention may refer to an object of a PDDL type."""
    object_class = ontology.class_of_pddl_type(pddl_type)
    return object_class is not None and any(ontology.is_a(object_class, c) for c in mention.classes)


def _lifted_name(
    words: NameReading,
    binding: dict[str, str],
    actions: Sequence[GroundAction],
    types: dict[str, str],
    ontology: Ontology,
) -> str:
    # A mentioned class is replaced only if the object is unambiguous: one object of the steps fits,
    # or none of them and one of the others. Otherwise the word is kept.
    used = dict.fromkeys(a for action in actions for a in action.args)
    names: dict[Mention, str] = {}
    for mention in words.mentions:
        if mention.name:
            if mention.name in binding:
                names[mention] = binding[mention.name]
            continue
        for pool in (used, binding):
            fitting = [o for o in pool if o in binding and means(mention, types[o], ontology)]
            if len(fitting) == 1 and binding[fitting[0]] not in names.values():
                names[mention] = binding[fitting[0]]
            if fitting:
                break
    return words.rewritten(names)


def _variables(
    conditions: BlockConditions, actions: Sequence[GroundAction], types: dict[str, str]
) -> dict[str, str]:
    # The order does not depend on the names of the objects.
    binding: dict[str, str] = {}
    for name in dict.fromkeys(a for action in actions for a in action.args):
        if name in conditions.objects:
            _add(binding, name, types)
    rest = tuple(o for o in conditions.objects if o not in binding)
    return _ordered(binding, rest, [*conditions.needs, *conditions.effects], types)


def _add(binding: dict[str, str], name: str, types: dict[str, str]) -> None:
    kind = types[name]
    number = 1 + sum(types[other] == kind for other in binding)
    binding[name] = f"?{kind}{number}"


def _ordered(
    binding: dict[str, str],
    rest: tuple[str, ...],
    literals: Sequence[Literal],
    types: dict[str, str],
) -> dict[str, str]:
    # Object names must not affect the order, or the same block learnt in two kitchens would become
    # two entries. This is canonical labelling: the next object is the one whose literals, with its
    # name masked, have the smallest text. Ties are all tried, and the assignment with the smallest
    # text of all literals wins.
    if not rest:
        return binding

    def part(name: str) -> tuple[str, list[str]]:
        def shown(arg: str) -> str:
            return "?" if arg == name else binding.get(arg, f"?_{types.get(arg, '')}")

        mine = [item for item in literals if name in item[0].args]
        texts = [
            literal_text(bind_literal(item, {a: shown(a) for a in item[0].args})) for item in mine
        ]
        return types[name], sorted(texts)

    parts = {name: part(name) for name in rest}
    least = min(parts.values())
    tied = sorted((n for n in rest if parts[n] == least), key=natural_key)
    if len(tied) > _MOST_TIED:
        tied = tied[:1]
    results = []
    for name in tied:
        more = dict(binding)
        _add(more, name, types)
        results.append(_ordered(more, tuple(n for n in rest if n != name), literals, types))
    return min(
        results, key=lambda b: sorted(literal_text(bind_literal(item, b)) for item in literals)
    )


# Learn --------------------------------------------------------------------------------------------


def learn(
    plan: Plan,
    task: Task,
    agent: str,
    origin: Origin,
    *,
    state: State | None = None,
    ontology: Ontology | None = None,
) -> tuple[Entry, ...]:
    """Lift the blocks of a successful plan; return the entries in order of id, without duplicates.

    Blocks without lasting changes, such as navigation, are skipped.

    Args:
        task: The problem that the plan solves, in the agent's domain.
        state: The state before the plan, by default the task's initial state.

    Raises:
        UsageError: An action of the plan is not applicable.
        UnknownObjectError, PddlSemanticError: An action does not belong to the task.
    """
    now = state or task.initial
    entries = []
    for block in plan.blocks:
        if not block.actions:
            continue
        entry = lift(block, task, now, agent=agent, origin=origin, ontology=ontology)
        if entry.postcondition:
            entries.append(entry)
        bits = now.bits
        for action in block.actions:
            bits = task.ground(action).apply(bits)
        now = State(task, bits, now.values)
    return Library(entries).entries
