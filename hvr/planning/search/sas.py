"""The SAS+ file format of Fast Downward: a search problem as text.

Format: https://www.fast-downward.org/latest/documentation/translator-output-format/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hvr.planning.search.ground import SearchProblem
from hvr.planning.search.operators import GroundOperator, Literals, bits

GOAL_OPERATOR = "reach-goal"
"""Name of the free operators that lead from one of several goal alternatives to the goal."""

Facts = Mapping[int, int]
"""Values of variables."""

Effect = tuple[Facts, int, int]
"""(conditions, variable, new value)."""


def to_sas(problem: SearchProblem) -> str:
    """Write a search problem.

    Operators are named by their number in `problem.operators` and cost what they say;
    reaching one of several goals costs nothing.
    """
    return "\n".join(_Writer(problem).lines()) + "\n"


class _Writer:
    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        # A goal is one conjunction in this format. For alternatives there is a further variable,
        # set by a free operator for each of them.
        self.goal_variable = len(problem.variables) if len(problem.goals) != 1 else None
        self.value = {
            bit: (number, value)
            for number, group in enumerate(problem.variables)
            for value, bit in enumerate(group)
        }

    def lines(self) -> Iterator[str]:
        yield from ("begin_version", "3", "end_version", "begin_metric", "1", "end_metric")
        yield from self._variables()
        # No mutex groups beyond the variables: the search is correct without them.
        yield "0"
        yield from ("begin_state", *map(str, self._start()), "end_state")
        goal = self._goal()
        yield from ("begin_goal", str(len(goal)), *self._pairs(goal), "end_goal")
        operators = list(self._operators())
        yield str(len(operators))
        for operator in operators:
            yield from operator
        yield "0"

    def _variables(self) -> Iterator[str]:
        several = self.goal_variable is not None
        yield str(len(self.problem.variables) + several)
        for number, group in enumerate(self.problem.variables):
            yield from self._variable(number, [self._name(bit) for bit in group])
        if self.goal_variable is not None:
            yield from self._variable(self.goal_variable, ["goal()"])

    def _variable(self, number: int, atoms: list[str]) -> Iterator[str]:
        yield from ("begin_variable", f"var{number}", "-1", str(len(atoms) + 1))
        yield from (f"Atom {atom}" for atom in atoms)
        yield from ("<none of those>", "end_variable")

    def _name(self, bit: int) -> str:
        atom = self.problem.task.fluent(bit)
        return f"{atom.predicate}({', '.join(atom.args)})"

    def _start(self) -> Iterator[int]:
        for group in self.problem.variables:
            true = (value for value, bit in enumerate(group) if self.problem.initial >> bit & 1)
            yield next(true, len(group))
        if self.goal_variable is not None:
            yield 1

    def _goal(self) -> Facts:
        if self.goal_variable is not None:
            return {self.goal_variable: 0}
        goal = self._facts(self.problem.goals[0])
        assert goal is not None, "goals that contradict themselves are left out before"
        return goal

    def _facts(self, literals: Literals) -> dict[int, int] | None:
        """Return the values of variables that make a conjunction true; None if none do."""
        facts: dict[int, int] = {}
        for bit in bits(literals.true):
            variable, value = self.value[bit]
            if facts.setdefault(variable, value) != value:
                return None
        for bit in bits(literals.false):
            # Such fluents are alone in their variable.
            variable, value = self.value[bit]
            if facts.setdefault(variable, 1 - value) == value:
                return None
        return facts

    def _operators(self) -> Iterator[list[str]]:
        for number, operator in enumerate(self.problem.operators):
            needs = self._facts(operator.precondition)
            if needs is not None:
                effects = self._effects(operator, needs)
                yield self._operator(str(number), needs, effects, operator.cost)
        if self.goal_variable is not None:
            for goal in self.problem.goals:
                needs = self._facts(goal)
                if needs is not None:
                    effect: Effect = {}, self.goal_variable, 0
                    yield self._operator(GOAL_OPERATOR, needs, [effect], 0)

    def _effects(self, operator: GroundOperator, needs: Facts) -> list[Effect]:
        """Return the effects of an operator on the variables."""
        # Deletes before adds: Fast Downward lets effects take place in the order of the file, and
        # a fluent that is both deleted and added is true.
        adds: list[Effect] = []
        deletes: list[Effect] = []
        for literals, add, delete in ((Literals(), operator.add, operator.delete),
                                      *operator.conditional):  # fmt: skip
            facts = self._facts(literals)
            if facts is None or any(needs.get(v, value) != value for v, value in facts.items()):
                continue
            condition = {v: value for v, value in facts.items() if v not in needs}
            known = {**needs, **facts}
            adds += ((condition, *self.value[bit]) for bit in bits(add))
            deletes += self._deletes(condition, known, delete, add)
        return deletes + adds

    def _deletes(self, condition: Facts, known: Facts, delete: int, add: int) -> Iterator[Effect]:
        by_variable: dict[int, set[int]] = {}
        for bit in bits(delete):
            variable, value = self.value[bit]
            by_variable.setdefault(variable, set()).add(value)
        # What is added excludes the other values of its variable anyway.
        for bit in bits(add):
            by_variable.pop(self.value[bit][0], None)
        for variable, values in by_variable.items():
            # A delete sets "none of those", but only where the variable has the deleted value:
            # if that is not known, it becomes a condition of the effect, for each value.
            none = len(self.problem.variables[variable])
            if known.get(variable) in values or len(values) == none:
                yield condition, variable, none
            elif variable not in known:
                for value in sorted(values):
                    yield {**condition, variable: value}, variable, none

    def _operator(self, name: str, needs: Facts, effects: list[Effect], cost: int) -> list[str]:
        changed = {variable for _, variable, _ in effects}
        prevail = {v: value for v, value in needs.items() if v not in changed}
        lines = ["begin_operator", name, str(len(prevail)), *self._pairs(prevail)]
        lines.append(str(len(effects)))
        for condition, variable, value in effects:
            before = needs.get(variable, -1)
            pairs = self._pairs(condition)
            lines.append(" ".join((str(len(condition)), *pairs, f"{variable} {before} {value}")))
        return [*lines, str(cost), "end_operator"]

    def _pairs(self, facts: Facts) -> list[str]:
        return [f"{variable} {value}" for variable, value in facts.items()]
