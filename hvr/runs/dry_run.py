"""Judge a plan that is not carried out, by the end state that the validator computes."""

from __future__ import annotations

from typing import Any

from hvr.execution.world import World
from hvr.pddl import And, Domain, TypedName, parse_constraint, parse_formula
from hvr.pddl.frozen import holds_at_start
from hvr.planning.plans import Judgement, Planned, Understanding
from hvr.validation import Validator


def foreseen(
    planned: Planned,
    understanding: Understanding[Any],
    world: World,
    domain: Domain,
    *,
    asks_model: bool,
) -> Judgement:
    """Return whether a valid plan for the first stage reaches the goal that hvr reads.

    Args:
        planned: The plan, which is valid for the problem that it was made for.
        understanding: The goal that the policy plans for.
        world: The world that the plan begins in.
        domain: The actions.
        asks_model: Whether a language model wrote the goal or the plan.
    """
    if not understanding.judged_only:
        stages = len(understanding.stages)
        if stages == 1:
            whose = "by the model's reading; hvr's own was not compared" if asks_model else ""
            return Judgement(True, whose)
        return Judgement(
            None, f"only the first of {stages} stages was planned and checked, not the others"
        )
    if understanding.impossible:
        return Judgement(
            False, f"by hvr's own reading, this is impossible here: {understanding.impossible}"
        )
    if understanding.goal is None:
        if not planned.plan.actions:
            return Judgement(False, "the plan has no steps")
        return Judgement(
            None,
            "every step can be done; hvr cannot read this request itself, so whether the plan "
            "does what was asked for was not checked",
        )
    stages_read = understanding.goal.stages
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
    wanted = parse_formula(stages_read[-1].wanted, domain, objects, file="<goal>")
    texts = dict.fromkeys(text for stage in stages_read for text in stage.constraints)
    kept = [parse_constraint(text, domain, objects) for text in texts]
    problem = world.graph.problem(domain, "foreseen").replace(constraints=And(tuple(kept)))
    # The goal is looked up in the end state, as after a run: written out it may be too large.
    validator, actions = Validator(domain, problem), planned.plan.actions
    report = validator.check(actions)
    if not report.valid:
        if report.failure is None:
            return Judgement(None, f"the plan cannot be checked: {report.reason}")
        why = " ".join(report.explain().split())
        return Judgement(False, f"by hvr's own reading, {why}")
    end = validator.state_after(actions, len(actions)).atoms(static=True)
    if holds_at_start(domain, problem.replace(init=end), wanted):
        last = " (the last of its stages)" if len(stages_read) > 1 else ""
        return Judgement(True, f"hvr's own reading of the request holds in the end{last}")
    return Judgement(
        False,
        f"by hvr's own reading, this was asked for and does not hold in the end: {wanted}",
    )
