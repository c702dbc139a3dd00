"""Goals of a world of facts that a language model writes from a request: LLM+P (Liu et al. 2023).

The model says what shall be true, as PDDL; a planner finds the plan and hvr's validator proves it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvr.errors import HvrError
from hvr.models.errors import ModelError
from hvr.pddl import Domain, Expression, Problem, Task, parse_formula
from hvr.planning.search.planners import Planner
from hvr.policies.llm.answers.text import clean
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.prompts import ANY_WORLD
from hvr.worlds.facts.words import WorldWords

GOALS = ANY_WORLD / "facts"
"""The templates for goals in PDDL, which suit any world of facts."""

TRIES = 3
"""Goals that a model may write, the first included."""

_BEGINS = re.compile(r"\(\s*(?:and|or|not|imply|forall|exists|[A-Za-z]|[<>=])")


@dataclass(frozen=True)
class GoalWriter:
    """Asks a model for a goal until it can be used.

    Args:
        dialogue: with the model.
        domain, problem: the world; the problem's own goal is not told.
        words: what predicates and things are called.
        planner: tells of a goal that no plan reaches.
    """

    dialogue: Dialogue
    domain: Domain
    problem: Problem
    words: WorldWords
    planner: Planner

    def write(self, request: str) -> Expression:
        """Return the goal of a request.

        Raises:
            ModelError: none that was written can be used.
            LLMError: the model did not answer.
        """
        told = {"request": request, "predicates": self._predicates(), "kinds": self._kinds()}
        written, problem = "", ""
        for number in range(TRIES):
            more = {"goal": written, "problem": problem} if number else {}
            answer = self.dialogue.ask("correct_goal" if number else "goal", **told, **more)
            written = _formula(answer)
            try:
                goal = parse_formula(written, self.domain, self.problem.objects, file="<goal>")
            except HvrError as error:
                problem = str(error)
                continue
            problem = self._impossible(goal)
            if not problem:
                return goal
        raise ModelError(
            f"{self.dialogue.model.name}: the goal cannot be used after {TRIES} tries: {problem}",
            kind="garbled",
        )

    def _impossible(self, goal: Expression) -> str:
        try:
            result = self.planner.solve(Task(self.domain, self.problem.replace(goal=goal)))
        except HvrError:
            return ""  # not decided: the plan itself is looked for without this hurry
        proven = result.plan is None and result.optimal
        return "it is proven that no plan reaches this goal" if proven else ""

    def _predicates(self) -> str:
        lines = []
        domain = self.domain
        schemas = {name: predicate.parameters for name, predicate in domain.predicates.items()}
        schemas |= {name: function.parameters for name, function in domain.functions.items()}
        for name, parameters in schemas.items():
            typed = [f"{p.name} - {' '.join(p.types) or 'object'}" for p in parameters]
            said = self.words.wording.clause(name, [p.name for p in parameters])
            lines.append(f"({' '.join((name, *typed))})" + (f": {said}" if said else ""))
        return "\n".join(lines)

    def _kinds(self) -> str:
        of_type: dict[str, list[str]] = {}
        for o in (*self.domain.constants, *self.problem.objects):
            of_type.setdefault(" ".join(o.types) or "object", []).append(o.name)
        return "\n".join(f"{kind}: {' '.join(names)}" for kind, names in of_type.items())


def _formula(answer: str) -> str:
    """Return the first formula of an answer; the whole answer where there is none."""
    text = clean(answer)
    begins = _BEGINS.search(text)
    if begins is None:
        return text.strip()
    depth = 0
    for end in range(begins.start(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return " ".join(text[begins.start() : end + 1].split())
    return " ".join(text[begins.start() :].split())
