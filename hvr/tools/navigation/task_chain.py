"""Tasks as planning operators over facts, and as PDDL domains and problems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from hvr.pddl import Domain, Problem, parse_domain, parse_problem
from hvr.tools.catalogue.schema import ToolSchema
from hvr.tools.navigation.chains import CallCounts, CallFacts, NavigationTool
from hvr.tools.navigation.known_values import Shape
from hvr.tools.navigation.queries import shape_of
from hvr.tools.navigation.request import EntityQuery, GoalCall, Place, leaves
from hvr.tools.navigation.tasks import NextCall, TaskSteps

# Task chain ---------------------------------------------------------------------------------------

_UNKNOWN_RESULT_PROBABILITY = 0.2
"""Probability that a tool with unknown results gives the value."""

Consumer = tuple[str, str]
"""A tool and one of its parameters; the tool is empty if the value is only to be found."""


@dataclass(frozen=True)
class _Slot:
    goal: int
    place: Place
    taker: Consumer
    name: str


class TaskChain:
    """The operators and facts of a task, from which the cheapest chain of calls is planned.

    A query is an operator from the values that its tool needs to the contents of its results, known
    from its schema or from earlier calls; an unknown result is assumed to contain everything. A
    goal call is an operator from the values that must be found for it. `(known m)` holds for an
    argument of a query if any known value matches it, and for an argument of a goal call if its
    value is found.
    """

    def __init__(self, steps: TaskSteps, tools: Iterable[ToolSchema]) -> None:
        self._steps = steps
        self._tools = {tool.name: tool for tool in tools}
        self._slots = tuple(self._slots_of(steps.request.goals))
        self._takers: dict[str, list[Consumer]] = {}
        self._uncertain = {t.name for t in steps.readers if shape_of(t, steps.experience) is None}
        for tool in steps.readers:
            for parameter in tool.takes:
                if parameter.required:
                    name = self._meaning(tool.name, parameter.name)
                    self._takers.setdefault(name, []).append((tool.name, parameter.name))
        self.labels = _labels(steps.request.goals, {tool.name for tool in steps.readers})
        self.tools = (*map(self._query_step, steps.readers), *self._goal_steps())
        self.goal = CallFacts(
            frozenset(slot.name for slot in self._slots if not slot.taker[0]),
            frozenset(label for n, label in self.labels.items() if steps.request.goals[n].tool),
        )

    @property
    def facts(self) -> CallFacts:
        steps = self._steps
        known = {
            name
            for name, takers in self._takers.items()
            if any(steps.found.matching(name_, tool) for tool, name_ in takers)
        }
        bound = {n: steps.bound(n) for n in {slot.goal for slot in self._slots}}
        known |= {
            slot.name
            for slot in self._slots
            if slot.place in bound[slot.goal] or slot.goal in steps.done
        }
        # Queries that are themselves goals become separate steps.
        called = Counter(outcome.call.tool for outcome in steps.outcomes if outcome.ok)
        called -= Counter(steps.request.goals[n].tool for n in steps.done)
        looked = {tool.name for tool in steps.readers if tool.name in called}
        done = {self.labels[n] for n in steps.done if steps.request.goals[n].tool}
        return CallFacts(frozenset(known), frozenset(looked | done))

    @property
    def counts(self) -> dict[str, CallCounts]:
        """Call statistics per operator; an unknown result lowers the success probability."""
        counts = {}
        experience = self._steps.experience
        for tool in self._steps.readers:
            seen = experience.counts(tool.name)
            is_uncertain = shape_of(tool, experience) is None
            link = seen.link * (_UNKNOWN_RESULT_PROBABILITY if is_uncertain else 1.0)
            counts[tool.name] = CallCounts(seen.successes, seen.failures, link)
        for n, label in self.labels.items():
            if called := self._steps.request.goals[n].tool:
                counts[label] = experience.counts(called)
        return counts

    @property
    def open(self) -> CallFacts:
        gone = self._steps.left
        out = {self.labels[n] for n in gone}
        slots = {slot.name for slot in self._slots if slot.goal in gone}
        return CallFacts(self.goal.known - slots, self.goal.done - out)

    def is_uncertain(self, label: str) -> bool:
        number = next((n for n, name in self.labels.items() if name == label), None)
        if number is not None and self._steps.continues(number):
            return True
        return self.tool(label) in self._uncertain

    def label(self, step: NextCall) -> str:
        return step.call.tool if step.goal is None else self.labels[step.goal]

    def tool(self, label: str) -> str:
        number = next((n for n, name in self.labels.items() if name == label), None)
        return label if number is None else self._steps.request.goals[number].tool

    def asked(self, name: str) -> str:
        """Return the name under which the user is asked for the missing value of a fact."""
        slot = next((slot for slot in self._slots if slot.name == name), None)
        return name if slot is None else self._meaning(*slot.taker)

    def meaning_of(self, number: int, name: str) -> str:
        """Return the meaning of a goal call's parameter or, failing that, the parameter's name."""
        return self._meaning(self._steps.request.goals[number].tool, name)

    def _slots_of(self, goals: tuple[GoalCall, ...]) -> Iterable[_Slot]:
        named = _labels(goals, {tool.name for tool in self._steps.readers})
        for number, goal in enumerate(goals):
            for place, name, value in leaves(goal.arguments):
                if isinstance(value, EntityQuery):
                    meaning = self._meaning(goal.tool, name)
                    row = "".join(f" {step + 1}" for step in place if isinstance(step, int))
                    of = f"{meaning}{row} of {named[number]}" if goal.tool else meaning
                    yield _Slot(number, place, (goal.tool, name), of)

    def _meaning(self, tool: str, parameter: str) -> str:
        found = self._steps.found.matcher.meaning(tool, parameter)
        return parameter if found is None else found.name

    def _query_step(self, tool: ToolSchema) -> NavigationTool:
        needs = [self._meaning(tool.name, p.name) for p in tool.takes if p.required]
        shape = shape_of(tool, self._steps.experience)
        given = (
            self._given(tool.name, shape)
            if shape is not None
            else (frozenset(self._takers).union(slot.name for slot in self._slots))
        )
        return NavigationTool(tool.name, frozenset(needs), given)

    def _given(self, tool: str, shape: Shape) -> frozenset[str]:
        found = self._steps.found
        known = {
            name
            for name, takers in self._takers.items()
            if any(found.gives(tool, shape, parameter, taker) for taker, parameter in takers)
        }
        slots = {
            slot.name
            for slot in self._slots
            if found.gives(tool, shape, slot.taker[1], slot.taker[0])
        }
        return frozenset(known | slots)

    def _goal_steps(self) -> Iterable[NavigationTool]:
        for number, goal in enumerate(self._steps.request.goals):
            if not goal.tool:
                continue
            needs = frozenset(slot.name for slot in self._slots if slot.goal == number)
            shape = shape_of(self._tools[goal.tool], self._steps.experience)
            given = frozenset[str]() if shape is None else self._given(goal.tool, shape)
            own = frozenset(slot.name for slot in self._slots if slot.goal == number)
            yield NavigationTool(self.labels[number], needs, given - own)


def _labels(goals: tuple[GoalCall, ...], readers: set[str]) -> Mapping[int, str]:
    times = Counter(goal.tool for goal in goals)
    labels, used = {}, Counter[str]()
    for number, goal in enumerate(goals):
        used[goal.tool] += 1
        which = f" {used[goal.tool]}" if times[goal.tool] > 1 else ""
        wanted = " (wanted)" if goal.tool in readers else ""
        labels[number] = f"{goal.tool}{which}{wanted}"
    return labels


# Tool domain --------------------------------------------------------------------------------------
# A PDDL domain for the executor, its monitor and its page.
#
# `(known m)`: a value of this meaning is known. `(done t)`: the tool was called successfully.


@dataclass(frozen=True)
class ToolDomain:
    """The PDDL domain and problem of a task.

    The action of a tool is named `call-` followed by the tool's PDDL name.

    Args:
        meanings: PDDL name of each meaning.
        tools: PDDL name of each tool.
    """

    domain: Domain
    problem: Problem
    meanings: Mapping[str, str]
    tools: Mapping[str, str]

    def action(self, tool: str) -> str:
        return f"call-{self.tools[tool]}"

    def problem_of(self, facts: CallFacts, goal: CallFacts) -> Problem:
        """Return the problem of getting from `facts` to `goal`, limited to facts of the domain."""
        return parse_problem(
            f"(define (problem request) (:domain tools) (:init {self._listed(facts)}) "
            f"(:goal (and {self._listed(goal)})))",
            self.domain,
        )

    def _listed(self, some: CallFacts) -> str:
        known = [f"(known {self.meanings[m]})" for m in sorted(some.known) if m in self.meanings]
        done = [f"(done {self.tools[t]})" for t in sorted(some.done) if t in self.tools]
        return " ".join([*known, *done])


def tool_domain(tools: Collection[NavigationTool], facts: CallFacts, goal: CallFacts) -> ToolDomain:
    """Return the PDDL domain and problem of a request.

    Names from outside are replaced by unique PDDL names of letters, digits and `_`, so that they
    cannot inject PDDL.
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
        f"(:goal (and {listed(goal)})))",
        domain,
    )
    return ToolDomain(domain, problem, meanings, names)


def pddl_names(names: Iterable[str]) -> dict[str, str]:
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
