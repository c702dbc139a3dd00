"""The SAS+ file format of Fast Downward: a search problem as text.

Format: https://www.fast-downward.org/latest/documentation/translator-output-format/
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.errors import PlannerError
from hvr.planning.ground import GroundOperator, Literals, SearchProblem, bits

GOAL_OPERATOR = "reach-goal"
"""Name of the free operators that lead from one of several goal alternatives to the goal."""


def to_sas(problem: SearchProblem, *, unit_cost: bool = True) -> str:
    """Write a search problem.

    Operators are named by their number in `problem.operators`. Each costs 1; reaching one of
    several goals costs nothing.

    Raises:
        PlannerError: one operator would both add and delete a fluent under different conditions.
    """
    return _Writer(problem, unit_cost).text()


class _Writer:
    def __init__(self, problem: SearchProblem, unit_cost: bool) -> None:
        self.problem = problem
        self.cost = 1 if unit_cost else 0
        self.variable: dict[int, tuple[int, int]] = {}
        for number, group in enumerate(problem.variables):
            for value, bit in enumerate(group):
                self.variable[bit] = number, value

    def text(self) -> str:
        problem = self.problem
        several = len(problem.goals) != 1
        lines = ["begin_version", "3", "end_version", "begin_metric", "1", "end_metric"]
        count = len(problem.variables) + several
        lines.append(str(count))
        for number, group in enumerate(problem.variables):
            lines += ["begin_variable", f"var{number}", "-1", str(len(group) + 1)]
            lines += [f"Atom {self._name(bit)}" for bit in group]
            lines += ["<none of those>", "end_variable"]
        if several:
            lines += ["begin_variable", f"var{count - 1}", "-1", "2", "Atom goal()",
                      "<none of those>", "end_variable"]  # fmt: skip
        lines.append("0")
        lines.append("begin_state")
        initial = problem.task.initial.bits
        for group in problem.variables:
            true = [value for value, bit in enumerate(group) if initial >> bit & 1]
            lines.append(str(true[0] if true else len(group)))
        if several:
            lines.append("1")
        lines += ["end_state", "begin_goal"]
        if several:
            lines += ["1", f"{count - 1} 0"]
        else:
            pairs = self._facts(problem.goals[0]) or {}
            lines.append(str(len(pairs)))
            lines += [f"{variable} {value}" for variable, value in pairs.items()]
        lines.append("end_goal")
        operators = []
        for number, operator in enumerate(problem.operators):
            text = self._operator(str(number), operator)
            if text:
                operators.append(text)
        if several:
            for goal in problem.goals:
                pairs = self._facts(goal) or {}
                prevail = [f"{variable} {value}" for variable, value in pairs.items()]
                operators.append(
                    ["begin_operator", GOAL_OPERATOR, str(len(prevail)), *prevail, "1",
                     f"0 {count - 1} -1 0", "0", "end_operator"]
                )  # fmt: skip
        lines.append(str(len(operators)))
        for text in operators:
            lines += text
        lines.append("0")
        return "\n".join(lines) + "\n"

    def _name(self, bit: int) -> str:
        atom = self.problem.task.fluent(bit)
        return f"{atom.predicate}({', '.join(atom.args)})"

    def _facts(self, literals: Literals) -> dict[int, int] | None:
        """Variable values of a conjunction; None when it contradicts itself."""
        facts: dict[int, int] = {}
        for bit in bits(literals.true):
            variable, value = self.variable[bit]
            if facts.setdefault(variable, value) != value:
                return None
        for bit in bits(literals.false):
            variable, value = self.variable[bit]
            none = len(self.problem.variables[variable])
            if facts.setdefault(variable, none) != none:
                return None
        return facts

    def _operator(self, name: str, operator: GroundOperator) -> list[str] | None:
        before = self._facts(operator.precondition)
        if before is None:
            return None
        effects = self._effects(before, {}, operator.add, operator.delete & ~operator.add)
        for condition, add, delete in operator.conditional:
            facts = self._facts(condition)
            if facts is None or any(before.get(v, value) != value for v, value in facts.items()):
                continue
            if operator.delete & add & ~operator.add:
                raise PlannerError(
                    f"{operator.action} deletes and conditionally adds one fact; "
                    "this planner bridge cannot express that"
                )
            needed = {v: value for v, value in facts.items() if v not in before}
            effects += self._effects(
                before | facts, needed, add & ~operator.add, delete & ~add & ~operator.add
            )
        if not effects:
            return None
        changed = {effect[1] for effect in effects}
        prevail = [f"{v} {value}" for v, value in before.items() if v not in changed]
        lines = ["begin_operator", name, str(len(prevail)), *prevail, str(len(effects))]
        for conditions, variable, value in effects:
            pairs = "".join(f" {v} {c}" for v, c in conditions)
            lines.append(f"{len(conditions)}{pairs} {variable} {before.get(variable, -1)} {value}")
        return [*lines, str(self.cost), "end_operator"]

    def _effects(
        self, before: dict[int, int], needed: dict[int, int], add: int, delete: int
    ) -> list[tuple[Sequence[tuple[int, int]], int, int]]:
        """(conditions, variable, new value) of adds and deletes, given what holds before."""
        found: list[tuple[Sequence[tuple[int, int]], int, int]] = []
        conditions = tuple(needed.items())
        set_to: set[int] = set()
        for bit in bits(add):
            variable, value = self.variable[bit]
            set_to.add(variable)
            if before.get(variable) != value:
                found.append((conditions, variable, value))
        for bit in bits(delete):
            variable, value = self.variable[bit]
            if variable in set_to:
                continue
            none = len(self.problem.variables[variable])
            known = before.get(variable)
            if known == value or none == 1:
                if known != none:
                    found.append((conditions, variable, none))
            elif known is None:
                found.append(((*conditions, (variable, value)), variable, none))
        return found
