"""A generated problem and what is proven of it, as values."""

from __future__ import annotations

from typing import Any

from hvr.values import Value

_PROMPT = """\
Write a plan for the planning problem below, one step a line, such as (action object object).{more}

{domain}
{problem}"""
_TIMED = " Begin each line with its start time, such as 0.0: (action object) [duration]."


class Draft(Value):
    """A problem without any proof yet.

    Attributes:
        objects: The typed objects.
        init: The facts and values at the start.
        goal: The goal.
    """

    objects: str
    init: tuple[str, ...]
    goal: tuple[str, ...]


class Proven(Value):
    """What is proven of a problem.

    Attributes:
        plan: The steps of a plan that no shorter one replaces; None if there is no plan.
        proof: The reason, in a sentence.
        states: The number of states that were looked at; 0 if the proof needs none.
    """

    plan: tuple[str, ...] | None
    proof: str
    states: int = 0


class GradedProblem(Value):
    """A generated problem.

    Attributes:
        family: The name of its family.
        level: How hard it is meant to be, from 1 to 5.
        seed: The number that it was made from.
        domain: PDDL text.
        problem: PDDL text.
        best: The number of steps of a shortest plan; None if there is no plan.
        plan: The steps of such a plan; None likewise.
        proof: Why no plan is shorter, or why there is none.
        timed: Whether the steps of its plans have times.
    """

    family: str
    level: int
    seed: int
    domain: str
    problem: str
    best: int | None
    plan: tuple[str, ...] | None
    proof: str
    timed: bool = False

    @property
    def id(self) -> str:
        """The name of the problem: family, level and seed."""
        return f"{self.family}-{self.level}-{self.seed}"

    @property
    def prompt(self) -> str:
        """A request to write a plan, with the domain and the problem."""
        more = _TIMED if self.timed else ""
        return _PROMPT.format(more=more, domain=self.domain, problem=self.problem)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, one line of a data set for trainers."""
        return {
            "id": self.id,
            "family": self.family,
            "level": self.level,
            "seed": self.seed,
            "prompt": self.prompt,
            "domain": self.domain,
            "problem": self.problem,
            "solvable": self.plan is not None,
            "best": self.best,
            "plan": None if self.plan is None else "\n".join(self.plan),
            "proof": self.proof,
        }
