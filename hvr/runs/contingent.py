"""Contingent runs: both branches are proven first; then an observation selects one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hvr.errors import ImpossibleGoalError, PlannerError
from hvr.execution.events import Finished
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.hypothetical import assume_atoms, hypothetical_copy
from hvr.knowledge.retrieval.inventory import take_inventory
from hvr.language.goal_builder import Contingency, Goal
from hvr.language.truth import CompoundStatement, SceneStatement, SceneView, StatementJudge
from hvr.pddl import Atom, print_plan
from hvr.pddl.model import print_problem
from hvr.planning.plans import Judgement
from hvr.policies.symbolic import SymbolicPolicy
from hvr.validation.report import count
from hvr.validation.validator import Validator
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.planning.plans import Planned
    from hvr.runs.spine import RunComponents

BRANCHES = "branches.json"
"""File in the run folder with the condition, the places to look, and the plan of each branch."""


class ProvenBranch(Value):
    """A branch of a contingent request, with the plan that was proven before the observation.

    Args:
        name: `yes` or `no`, the answer to the condition.
        steps: Number of steps after the observation; None if no plan was proven.
        why: Why no plan was proven before the observation; empty if one was.
    """

    name: str
    goal: Goal
    steps: int | None
    why: str = ""

    def __str__(self) -> str:
        if self.steps is None:
            return f"{self.name}: not proven before the look ({self.why})"
        return f"{self.name}: {count(self.steps, 'step')}, valid"


def prove_branches(run: RunComponents, contingency: Contingency) -> tuple[ProvenBranch, ...]:
    """Plan the observation and both branches, validate the plans, and save the proofs.

    Each branch starts from the state after the observation, in which the condition has the branch's
    truth value.
    """
    look = _opening(run, contingency, contingency.looks[0])
    run.folder.write("look-problem.pddl", print_problem(look.problem))
    run.folder.write("look-plan.pddl", print_plan(look.plan.actions))
    found = []
    for name, goal, truth in (
        ("yes", contingency.then, True),
        ("no", contingency.otherwise, False),
    ):
        found.append(_proven(run, contingency, look, name, goal, truth))
    run.folder.write_json(
        BRANCHES,
        {
            "condition": contingency.condition,
            "looks": list(contingency.looks),
            "branches": [
                {
                    "answer": branch.name,
                    "reading": list(branch.goal.paraphrase),
                    "goal": [stage.text for stage in branch.goal.stages],
                    "steps": branch.steps,
                    "why": branch.why or None,
                }
                for branch in found
            ],
        },
    )
    return tuple(found)


def show_look(run: RunComponents, contingency: Contingency) -> None:
    """Show the plan for the first observation, in a dry run."""
    place = contingency.looks[0]
    run.executor.show_look(
        _opening(run, contingency, place), (f"whether {contingency.condition}",), place
    )


def judged(run: RunComponents, judgement: Judgement) -> Judgement:
    """Add the branches and the answer to the condition to a judgement.

    If there is no answer, as in a dry run, the goal counts as reached if all branches are proven,
    and otherwise as undecided.
    """
    if not run.branches:
        return judgement
    proofs = f"proven before the look: {'; '.join(map(str, run.branches))}"
    if run.answer:
        return judgement.noting(f"{run.answer}; {proofs}")
    if judgement.reached is False:
        return judgement
    proven = all(branch.steps is not None for branch in run.branches)
    return Judgement(True if proven else None, proofs)


def decide(run: RunComponents, contingency: Contingency) -> tuple[bool | None, Finished | None]:
    """Observe until the condition is decided; return (truth, None), or (None, end) on a failure."""
    for place in contingency.looks:
        truth = _truth(run, contingency)
        if truth is not None:
            return truth, None
        try:
            planned = _opening(run, contingency, place)
        except (ImpossibleGoalError, PlannerError):
            continue
        run.executor.look_into(planned, (f"whether {contingency.condition}",), place)
    truth = _truth(run, contingency)
    if truth is None:
        steps, replans = run.executor.steps, run.executor.replans
        return None, Finished(
            False, steps, replans, f"hvr could not find out whether {contingency.condition}"
        )
    return truth, None


def _truth(run: RunComponents, contingency: Contingency) -> bool | None:
    statement = contingency.statement
    assert isinstance(statement, SceneStatement | CompoundStatement)
    return _judge(run).truth(statement)


def settled(run: RunComponents, contingency: Contingency, goal: Goal) -> Goal:
    """Return the goal of the branch that an observation selected, now that it can be read.

    Raises:
        ImpossibleGoalError: The goal cannot be achieved in this scene.
        LanguageError: The meaning of the request is still unclear after the observation.
    """
    if not goal.deferred:
        return goal
    return _judge(run).reader.goal(contingency.request, run.world.inventory())


def _judge(run: RunComponents) -> StatementJudge:
    assert isinstance(run.policy, SymbolicPolicy), "only its goals have branches"
    inventory = run.world.inventory()
    return StatementJudge(run.policy.reader, SceneView(inventory, inventory.unseen))


def _opening(run: RunComponents, contingency: Contingency, place: str) -> Planned:
    return run.world.opening(run.policy, place, (), contingency.then.stages[0])


def _proven(
    run: RunComponents, contingency: Contingency, look: Planned, name: str, goal: Goal, truth: bool
) -> ProvenBranch:
    if goal.contingency is not None:
        return ProvenBranch(name, goal, None, "it has a condition that needs another look")
    if goal.deferred:
        return ProvenBranch(name, goal, None, goal.deferred)
    policy, inventory, steps = run.policy, run.world.inventory(), 0
    try:
        graph = _after(run.world.graph, look, _assumed(run, contingency, truth))
        for number, stage in enumerate(goal.stages, 1):
            if stage.wanted == "(and)":
                continue
            believed = take_inventory(graph, inventory.scene, inventory.positions)
            planned = policy.plan(stage, graph, believed, "")
            report = Validator(planned.task).check(planned.plan.actions)
            if not report.valid:
                return ProvenBranch(name, goal, None, " ".join(report.explain().split()))
            file = f"branch-{name}{f'-{number}' if len(goal.stages) > 1 else ''}"
            run.folder.write(f"{file}-problem.pddl", print_problem(planned.problem))
            run.folder.write(f"{file}-plan.pddl", print_plan(planned.plan.actions))
            steps += len(planned.plan.actions)
            graph = _after(graph, planned)
    except (ImpossibleGoalError, PlannerError) as error:
        return ProvenBranch(name, goal, None, str(error))
    return ProvenBranch(name, goal, steps)


def _after(graph: KnowledgeGraph, planned: Planned, also: Iterable[Atom] = ()) -> KnowledgeGraph:
    end = Validator(planned.task).state_after(planned.plan.actions, len(planned.plan.actions))
    known = set(planned.task.objects)
    atoms = {a for a in graph.facts() if not known.issuperset(a.args)}
    atoms |= {a for a in end.atoms(static=True) if a.predicate != "="} | set(also)
    copy = hypothetical_copy(graph)
    assume_atoms(copy, atoms, _changing(planned))
    return copy


def _changing(planned: Planned) -> frozenset[str]:
    from hvr.language.own_words import effects_of

    derived = {rule.predicate for rule in planned.task.domain.derived}
    return frozenset(name for name, _ in effects_of(planned.task.domain)) - derived


def _assumed(run: RunComponents, contingency: Contingency, truth: bool) -> Iterable[Atom]:
    """Yield places of unseen objects, as facts that give the condition the truth value `truth`."""
    statement = contingency.statement
    assert isinstance(statement, SceneStatement | CompoundStatement)
    judge = _judge(run)
    for part in statement.parts:
        if part.predicate is None or truth is part.denied or not part.positive:
            continue
        for adjunct in part.predicate.adjuncts:
            if adjunct.kind not in {"place", "with"}:
                continue
            others = [name for thing in adjunct.things for name in judge.things(thing)]
            for one, other in zip(part.things, others, strict=False):
                inner, outer = (one, other) if adjunct.kind == "place" else (other, one)
                if inner in judge.inventory.unplaced:
                    relation = judge.taxonomy.relation(judge.inventory.classes[outer])
                    yield Atom(relation, (inner, outer))
