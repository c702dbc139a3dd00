"""An observation as facts and numbers of a task, checked: environments are anybody's code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from hvr.errors import SimulatorError
from hvr.pddl import Atom, FunctionTerm, Task
from hvr.worlds.facts.environment import Observation


def read_observation(
    task: Task, seen: Observation
) -> tuple[set[Atom], dict[FunctionTerm, Fraction]]:
    """Return the facts and numbers of an observation that can change, checked.

    Raises:
        SimulatorError: one is none of the domain and the objects.
    """
    atoms: set[Atom] = set()
    for fact in seen.facts:
        predicate, *args = _names(fact)
        declared = task.domain.predicates.get(predicate)
        arity = None if declared is None else len(declared.parameters)
        _check(task, f"({' '.join((predicate, *args))})", "predicate", predicate, args, arity)
        if predicate in task.fluent_predicates - task.derived_predicates:
            atoms.add(Atom(predicate, tuple(args)))
    values: dict[FunctionTerm, Fraction] = {}
    numbers: Mapping[tuple[str, ...], object] = seen.numbers
    for term, value in numbers.items():
        function, *args = _names(term)
        known = task.domain.functions.get(function)
        arity = None if known is None else len(known.parameters)
        text = f"({' '.join((function, *args))})"
        _check(task, text, "function", function, args, arity)
        try:
            number = Fraction(str(value))
        except ValueError:
            raise SimulatorError(
                f"the environment shows {value!r} as {text}, which is no number", exit_code=2
            ) from None
        values[FunctionTerm(function, tuple(args))] = number
    return atoms, values


def _names(fact: object) -> tuple[str, ...]:
    """Return the names of a fact.

    Raises:
        SimulatorError: it is no tuple of texts.
    """
    if isinstance(fact, tuple) and fact and all(isinstance(name, str) for name in fact):
        return fact
    raise SimulatorError(
        f'the environment shows {fact!r}; a fact is a tuple of names, such as ("at", "truck")',
        exit_code=2,
    )


def _check(
    task: Task, text: str, kind: str, name: str, args: Sequence[str], arity: int | None
) -> None:
    if arity is None:
        trouble = f"the domain has no {kind} {name!r}"
    elif arity != len(args):
        trouble = f"{name} takes {arity} objects"
    else:
        unknown = [one for one in args if one not in task.objects]
        if not unknown:
            return
        trouble = f"the problem has no object {unknown[0]!r}"
    raise SimulatorError(f"the environment shows {text}: {trouble}", exit_code=2)
