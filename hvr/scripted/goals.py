"""Goals of the simulated model: that of the task, as the policy `goal` asks for it, with errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

from hvr.knowledge.ontology import load_ontology
from hvr.llm.errors import ModelError
from hvr.llm.model import Request
from hvr.pddl import Atom, Expression
from hvr.pddl.model import And, Equal, Exists, Forall, Not
from hvr.scripted.error_model import CONDITION_KINDS, ErrorModel
from hvr.scripted.script import Script
from hvr.scripted.step_errors import Streams

GOAL_PURPOSES = frozenset(("goal", "correct_goal"))

_KIND = re.compile(r"^([A-Z]\w+): ", re.MULTILINE)
_WRITTEN = re.compile(r"^Goal that was written:\s*(\{.*\})\s*$", re.MULTILINE)
_NO_PREDICATES = ("placed_at", "is_ready", "heated_up", "prepared")

_Json = dict[str, Any]


def goal_answer(script: Script, errors: ErrorModel, request: Request, streams: Streams) -> str:
    """Return the goal of a script as JSON, as the simulated model writes it.

    Raises:
        ModelError: the script has no goal, or one that the model cannot write.
    """
    if script.goal is None:
        raise ModelError("the simulated model knows no goal", kind="request")
    prompt = request.messages[-1].text
    true = _written(script.goal)
    if request.purpose == "goal":
        kinds = list(dict.fromkeys(_KIND.findall(prompt.partition("\nKinds:\n")[2])))
        return json.dumps(_corrupted(true, errors, kinds, streams))
    before = _WRITTEN.search(prompt)
    if before is not None and streams("feedback").random() >= errors.improve:
        return before[1]
    return json.dumps(true)


def _written(goal: Expression) -> _Json:
    things: list[_Json] = []
    stage = [
        {"predicate": atom.predicate, "args": [a.lstrip("?") for a in atom.args], "holds": holds}
        for atom, holds in _literals(goal, True, things)
    ]
    return {"things": things, "stages": [stage]}


def _literals(
    formula: Expression, positive: bool, things: list[_Json]
) -> Iterator[tuple[Atom, bool]]:
    """Yield the literals of a formula; its variables join the things."""
    match formula:
        case Atom():
            yield formula, positive
        case Not(Equal()):
            pass
        case Not(operand):
            yield from _literals(operand, not positive, things)
        case And(operands) if positive:
            for operand in operands:
                yield from _literals(operand, positive, things)
        case Exists(variables, body) | Forall(variables, body):
            every = isinstance(formula, Forall) == positive
            for variable in variables:
                kinds = [load_ontology().class_of_pddl_type(t) or t for t in variable.types]
                thing: _Json = {"name": variable.name.lstrip("?"), "kinds": kinds}
                things.append({**thing, "every": True} if every else thing)
            yield from _literals(body, positive, things)
        case _:
            raise ModelError(
                f"the simulated model cannot write this as literals: {formula}", kind="request"
            )


def _corrupted(true: _Json, errors: ErrorModel, kinds: list[str], streams: Streams) -> _Json:
    stage: list[_Json] = []
    things = [dict(thing) for thing in true["things"]]
    for number, literal in enumerate(true["stages"][0]):
        rng = streams(f"literal {number}")
        wrong = rng.random() < errors.error * errors.conditions
        kind = errors.kind(CONDITION_KINDS, rng) if wrong else None
        stage += _one(literal, kind, kinds, rng)
    if not stage:  # a model that says anything says something
        stage = true["stages"][0][:1]
    spoken = {arg for literal in stage for arg in literal["args"]}
    return {"things": [t for t in things if t["name"] in spoken], "stages": [stage]}


def _one(literal: _Json, kind: str | None, kinds: list[str], rng: Random) -> list[_Json]:
    match kind:
        case "literal_dropped":
            return []
        case "literal_negated":
            return [{**literal, "holds": not literal["holds"]}]
        case "literal_unknown_predicate":
            return [{**literal, "predicate": rng.choice(_NO_PREDICATES)}]
        case "literal_wrong_object" if kinds and literal["args"]:
            return [{**literal, "args": [*literal["args"][:-1], rng.choice(kinds)]}]
        case _:
            return [literal]
