"""A world of tools as a PDDL domain and problem: for the executor, its watch and its page.

`(known m)`: a value of this meaning is at hand. `(done t)`: the tool has answered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from hvr.pddl import Domain, Problem, parse_domain, parse_problem
from hvr.tools.navigation.chains import CallFacts, NavigationTool


@dataclass(frozen=True)
class ToolDomain:
    """What stands for what.

    Args:
        domain: the tools as actions without parameters.
        problem: from what is known now to what is wanted.
        meanings: the PDDL name of each meaning.
        tools: the PDDL name of each tool; its action is `call-` and this.
    """

    domain: Domain
    problem: Problem
    meanings: Mapping[str, str]
    tools: Mapping[str, str]

    def action(self, tool: str) -> str:
        """Return the name of a tool's action."""
        return f"call-{self.tools[tool]}"

    def problem_of(self, facts: CallFacts, goal: CallFacts) -> Problem:
        """Return the problem from some facts to others, as far as the domain knows them."""
        return parse_problem(
            f"(define (problem request) (:domain tools) (:init {self._listed(facts)}) "
            f"(:goal (and {self._listed(goal)})))", self.domain,
        )  # fmt: skip

    def _listed(self, some: CallFacts) -> str:
        known = [f"(known {self.meanings[m]})" for m in sorted(some.known) if m in self.meanings]
        done = [f"(done {self.tools[t]})" for t in sorted(some.done) if t in self.tools]
        return " ".join([*known, *done])


def tool_domain(tools: Collection[NavigationTool], facts: CallFacts, goal: CallFacts) -> ToolDomain:
    """Return the domain and the problem of a request.

    Names from elsewhere become PDDL names of letters, digits and `_`, each its own: none can
    become part of the problem.

    Args:
        tools: those that there are.
        facts: what is so now.
        goal: what is to be so.
    """
    every = set(facts.known | goal.known).union(*(t.needs | t.gives for t in tools))
    meanings = pddl_names(sorted(every))
    names = pddl_names(sorted({t.name for t in tools} | facts.done | goal.done))
    constants = [*meanings.values(), "- meaning"] if meanings else []
    constants += [*names.values(), "- tool"] if names else []

    def listed(some: CallFacts) -> str:
        known = [f"(known {meanings[m]})" for m in sorted(some.known)]
        return " ".join([*known, *(f"(done {names[t]})" for t in sorted(some.done))])

    actions = []
    for tool in tools:
        needs = CallFacts(tool.needs)
        gives = CallFacts(tool.gives, frozenset({tool.name}))
        actions.append(
            f"(:action call-{names[tool.name]} :parameters ()\n"
            f"  :precondition (and {listed(needs)})\n"
            f"  :effect (and {listed(gives)}))"
        )
    domain = parse_domain(
        "(define (domain tools) (:requirements :strips :typing)\n"
        f"(:types meaning tool - object) (:constants {' '.join(constants)})\n"
        "(:predicates (known ?m - meaning) (done ?t - tool))\n" + "\n".join(actions) + ")"
    )
    problem = parse_problem(
        f"(define (problem request) (:domain tools) (:init {listed(facts)}) "
        f"(:goal (and {listed(goal)})))", domain,
    )  # fmt: skip
    return ToolDomain(domain, problem, meanings, names)


def pddl_names(names: Iterable[str]) -> dict[str, str]:
    """Return a PDDL name for each name, no two the same."""
    found: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        base = re.sub(r"[^a-z0-9_]+", "_", name.lower())[:60].strip("_") or "x"
        base = base if base[0].isalpha() else f"x{base}"
        made, number = base, 2
        while made in used:
            made, number = f"{base}-{number}", number + 1
        used.add(made)
        found[name] = made
    return found
