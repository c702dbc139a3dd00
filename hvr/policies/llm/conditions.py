"""Conditions of macro actions: written by the model and checked by the validator."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from hvr.pddl import TRUE, ActionSchema, And, Atom, GroundAction, Not, State, Task, parse_formula
from hvr.planning.plans import MacroAction
from hvr.policies.llm.answers import LiteralText, MacroConditions
from hvr.policies.llm.mapper import Mapper
from hvr.policies.llm.record import MacroCheck
from hvr.validation.report import explain_literal
from hvr.validation.validator import Validator

MAX_PROBLEMS = 5
"""Maximum number of macro actions whose errors one prompt contains."""

MAX_LITERALS = 30
"""Maximum number of literals read per condition; hvr's own conditions have at most a dozen."""

_MOST_REMARKS = 10
"""Maximum number of reported problems per macro action."""

_UNCHANGED = "at first, and no macro action before it changes that"


def literal(task: Task, text: str) -> Atom | Not:
    """Parse a literal over the objects of a task."""
    formula = parse_formula(text, task.domain, task.problem.objects, file="<condition>")
    assert isinstance(formula, Atom | Not), text
    return formula


def conjunction(task: Task, texts: Sequence[str]) -> And:
    return And(tuple(literal(task, text) for text in texts))


def with_conditions(
    names: Sequence[str],
    written: Sequence[MacroConditions],
    mapper: Mapper,
    nearness: frozenset[str],
    earlier: Sequence[MacroAction] = (),
) -> tuple[tuple[MacroAction, ...], tuple[str, ...]]:
    """Return macro actions with the usable conditions of an answer.

    Macro actions that a correction does not mention keep their `earlier` conditions. `nearness`
    predicates are dropped because the next move changes them, and so are postconditions that no
    action can change.

    Returns:
        The macro actions, and the dropped conditions with reasons.
    """
    dropped: list[str] = []
    macros = []
    for number, (name, conditions) in enumerate(zip(names, written, strict=True)):
        if earlier and not (
            conditions.precondition or conditions.postcondition or conditions.problems
        ):
            macros.append(earlier[number])
            continue
        dropped += [f"{name}: {problem}" for problem in conditions.problems[:_MOST_REMARKS]]
        before = _usable(conditions.precondition, mapper, nearness, dropped, effect=False)
        after = _usable(conditions.postcondition, mapper, nearness, dropped, effect=True)
        macros.append(MacroAction(name, before, after))
    return tuple(macros), tuple(dropped)


def without_nearness(macro: MacroAction, nearness: frozenset[str]) -> MacroAction:
    """Remove a macro action's `nearness` conditions, since hvr inserts moves by itself."""
    before, after = (
        tuple(t for t in texts if _predicate(t) not in nearness)
        for texts in (macro.precondition, macro.postcondition)
    )
    return macro.replace(precondition=before, postcondition=after)


def _predicate(text: str) -> str:
    return text.removeprefix("(not ").strip("()").split()[0]


def _usable(
    texts: Sequence[LiteralText],
    mapper: Mapper,
    nearness: frozenset[str],
    dropped: list[str],
    *,
    effect: bool,
) -> tuple[str, ...]:
    usable: dict[str, None] = {}
    if len(texts) > MAX_LITERALS:
        dropped.append(f"a condition has {len(texts)} literals: the first {MAX_LITERALS} are read")
    for text in texts[:MAX_LITERALS]:
        mapped, note = mapper.map_literal(text)
        if mapped is None:
            dropped.append(note)
            continue
        predicate = _predicate(mapped)
        if predicate in nearness:
            continue
        if effect and mapper.task.is_static(predicate):
            dropped.append(f"{mapped}: no action changes this, so it is no postcondition")
            continue
        usable.setdefault(mapped)
    return tuple(usable)


def check_macros(task: Task, state: State, macros: Sequence[MacroAction]) -> MacroCheck:
    """Check that each macro action is applicable after the preceding ones.

    Macro actions become PDDL actions without parameters, and the validator checks their sequence.
    To find later errors as well, the precondition of an inapplicable one is then ignored.
    """
    domain, problem = task.domain, task.problem
    schemas = {}
    for number, macro in enumerate(macros, start=1):
        effect = conjunction(task, macro.postcondition)
        needs = conjunction(task, macro.precondition)
        schemas[_id(number)] = ActionSchema(_id(number), (), needs, effect)
        schemas[_anyway(number)] = ActionSchema(_anyway(number), (), TRUE, effect)
    # Parameterless actions name objects directly, which PDDL allows only for constants.
    macro_domain = domain.replace(actions=schemas, constants=(*domain.constants, *problem.objects))
    macro_task = Task(
        macro_domain, problem.replace(objects=(), init=state.atoms(static=True), goal=TRUE)
    )
    validator = Validator(macro_task)
    problems: list[str] = []
    verified = len(macros)
    for number, macro in enumerate(macros, start=1):
        why = _contradiction(macro)
        failure = validator.apply(GroundAction(_id(number))).failure
        if failure is not None:
            validator.apply(GroundAction(_anyway(number)))
            literals = [explain_literal(x, _UNCHANGED) for x in failure.literals]
            why = why or f"cannot follow: {' '.join(literals)}"
        if why:
            # The validator numbers its own steps, but the model counts macro actions.
            for other in range(number, 0, -1):
                for name in (_id(other), _anyway(other)):
                    why = re.sub(rf"step \d+ \({name}\)", f"macro action {other}", why)
            verified = min(verified, number - 1)
            problems.append(f"macro action {number} ({macro.name}) {why}")
    return MacroCheck(verified, len(macros), "\n".join(problems[:MAX_PROBLEMS]))


def _contradiction(macro: MacroAction) -> str:
    for kind, texts in (("pre", macro.precondition), ("post", macro.postcondition)):
        both = next((t for t in texts if f"(not {t})" in texts), None)
        if both is not None:
            return f"contradicts itself: {both} is both true and false in its {kind}condition"
    return ""


def describe_macros(macros: Sequence[MacroAction], shown: Collection[int] | None = None) -> str:
    """Return macro actions as prompt text.

    Conditions are given for those whose 1-based numbers are in `shown`, or for all if it is None.
    """
    lines = []
    for number, macro in enumerate(macros, start=1):
        lines.append(f"{number}. {macro.name}")
        if shown is not None and number not in shown:
            continue
        lines += [
            f"Preconditions: {' '.join(macro.precondition) or 'none'}",
            f"Postconditions: {' '.join(macro.postcondition) or 'none'}",
        ]
    return "\n".join(lines)


def _id(number: int) -> str:
    return f"macro-{number}"


def _anyway(number: int) -> str:
    return f"macro-{number}-anyway"


# Corrections --------------------------------------------------------------------------------------
# Correction prompts are shortened until they fit the smallest context. First they contain fewer
# problems (the others are reported in the next round), then fewer objects, and finally only the
# conditions of the faulty macro actions.

_BEFORE = 2
"""Number of macro actions before the faulty one that a prompt describes."""

_NUMBER = re.compile(r"macro action (\d+)")
_NAME = re.compile(r"[\w-]+")

Values = dict[str, str]


def correction_values(
    values: Mapping[str, str],
    macros: Sequence[MacroAction],
    problem: str,
    number: int,
    *,
    objects: Callable[[Iterable[str]], str],
    fits: Callable[[Values], bool],
) -> Values:
    """Return the placeholder values of the longest correction prompt that fits, else the shortest.

    Args:
        problem: Error messages about the macro actions, one per line.
        number: Number of the correction, which the prompt mentions.
        objects: Returns the prompt text about some objects.
        fits: Returns whether the prompt with some values fits.
    """
    shortest: Values = {}
    for candidate in _shorter(values, macros, problem.splitlines(), objects):
        shortest = {**candidate, "problem": f"{candidate['problem']}\n(correction {number})"}
        if fits(shortest):
            break
    return shortest


def _shorter(
    values: Mapping[str, str],
    macros: Sequence[MacroAction],
    problems: Sequence[str],
    objects: Callable[[Iterable[str]], str],
) -> Iterator[Values]:
    full = {**values, "conditions": describe_macros(macros)}
    for count in range(len(problems), 0, -1):
        full["problem"] = "\n".join(problems[:count])
        yield full
    named = _NAME.findall(full["conditions"] + full["problem"])
    yield {**full, "objects": objects(named)}
    numbers = [int(n) for n in _NUMBER.findall(full["problem"])]
    wrong = numbers[0] if numbers else 1
    shown = {*numbers, *range(wrong - _BEFORE, wrong)}
    few = describe_macros(macros, shown)
    yield {**full, "conditions": few, "objects": objects(_NAME.findall(few + full["problem"]))}
