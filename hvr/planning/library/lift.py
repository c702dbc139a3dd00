"""Lifting a block of a plan to an entry: objects become variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.pddl import GroundAction, State, Task
from hvr.planning.library.conditions import BlockConditions, conditions_of
from hvr.planning.library.entry import Entry, Origin, Parameter, make
from hvr.planning.library.literals import Literal, bind_literal, bind_step, literal_text
from hvr.planning.library.words import Mention, NameReading, natural, object_types, read_words
from hvr.planning.plans import AABlock

_MOST_ALIKE = 4
"""Most objects that look alike whose orders are all tried; of more, the first by name comes first.
The orders are factorially many, and a worse one only makes equal blocks two entries."""


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

    Its conditions are computed again from what its actions need and do in the state, static
    facts included: those that tie parameters together (`faucet_of`, `piece_of`, …) are what
    determines them elsewhere. Variables are named by PDDL type in the order of the steps, so
    that blocks which are equal up to the names of objects become the same entry.

    Args:
        block: the macro action and its actions.
        task: the task that it belongs to.
        state: the state before it, of this task.
        agent: who did it.
        origin: where it was done.
        ontology: names of classes; hvr's own if None.

    Raises:
        UsageError: an action cannot be executed in the state, or there is none.
        UnknownObjectError, PddlSemanticError: an action does not fit the task.
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
    """Return the objects that the words speak of, other than those of the steps."""
    used = dict.fromkeys(a for action in actions for a in action.args)
    objects: list[str] = []
    for mention in words.mentions:
        if mention.name:
            objects.append(mention.name)
        elif not any(means(mention, types[o], ontology) for o in used):
            objects += [o for o in types if means(mention, types[o], ontology)]
    return objects


def means(mention: Mention, pddl_type: str, ontology: Ontology) -> bool:
    """Return whether a mentioned class is that of a PDDL type, or above it."""
    object_class = ontology.class_of_pddl_type(pddl_type)
    return object_class is not None and any(ontology.is_a(object_class, c) for c in mention.classes)


def _lifted_name(
    words: NameReading,
    binding: dict[str, str],
    actions: Sequence[GroundAction],
    types: dict[str, str],
    ontology: Ontology,
) -> str:
    """Return the words with variables for the objects that they speak of.

    A class stands for an object only if there is no doubt which: one of the steps' objects
    fits it, or none of them and one of the others. Else the word stays a word.
    """
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
    """Return a variable for each object, in an order that does not depend on the objects' names."""
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
    """Give variables to the objects that only the conditions speak of, by what these say of them.

    Names of objects must not decide, else the same block learnt in two kitchens would be two
    entries. This is canonical labelling: the object whose literals, with its name masked, make
    the least text comes next; of several with the same text each is tried, and the numbering
    that makes the least text of all literals wins.
    """
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
    alike = sorted((n for n in rest if parts[n] == least), key=natural)
    if len(alike) > _MOST_ALIKE:
        alike = alike[:1]
    results = []
    for name in alike:
        more = dict(binding)
        _add(more, name, types)
        results.append(_ordered(more, tuple(n for n in rest if n != name), literals, types))
    return min(
        results, key=lambda b: sorted(literal_text(bind_literal(item, b)) for item in literals)
    )
