"""Goals of the simulated model: that of the task, as the policy `goal` asks for it, with errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from hvr.knowledge.ontology import load_ontology
from hvr.models.errors import ModelError
from hvr.models.model import Request
from hvr.pddl import Atom, Expression
from hvr.pddl.model import And, Equal, Exists, Forall, Not
from hvr.runs.simulated.error_model import CONDITION_KINDS, ErrorModel
from hvr.runs.simulated.script import Script
from hvr.runs.simulated.step_errors import Streams

GOAL_PURPOSES = frozenset(("goal", "correct_goal"))

_KIND = re.compile(r"[A-Z]\w+(?=[,:]| \(\d)")
_ALWAYS = re.compile(r"\(always \(forall \(\?(\w+) - (\w+)\) \(not \((\w+) \?\1\)\)\)\)")
_ONCE = re.compile(r"\(forall \(\?(\w+) - (\w+)\) \(at-most-once \((\w+) \?\1\)\)\)")
_NEVER_TWO = re.compile(
    r"\(always \(not \(exists \(\?(\w+) \?(\w+) - item\) \(and \(not \(= \?\1 \?\2\)\)"
    r" \((\w+) \?\1\) \(\3 \?\2\)\)\)\)\)"
)
_WRITTEN = re.compile(r"^Goal that was written:\s*(\{.*\})\s*$", re.MULTILINE)
_WRITTEN_PDDL = re.compile(r"^Goal that was written:\s*(\(.*\))\s*$", re.MULTILINE)
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
    if request.schema is None:
        return _formula(script.goal, errors, request, streams)
    true = {**_written(script.goal), **_throughout(script.constraints)}
    if request.purpose == "goal":
        listed = prompt.partition("\nKinds:\n")[2].partition("\nRequest:")[0]
        kinds = list(dict.fromkeys(_KIND.findall(listed)))
        return json.dumps(_corrupted(true, errors, kinds, streams))
    before = _WRITTEN.search(prompt)
    if before is not None and streams("feedback").random() >= errors.improve:
        return before[1]
    return json.dumps(true)


def _formula(goal: Expression, errors: ErrorModel, request: Request, streams: Streams) -> str:
    """Return a goal as PDDL, in the first answer with errors in its parts."""
    if request.purpose != "goal":
        before = _WRITTEN_PDDL.search(request.messages[-1].text)
        kept = before is not None and streams("feedback").random() >= errors.improve
        return before[1] if before is not None and kept else str(goal)
    parts = list(goal.operands) if isinstance(goal, And) else [goal]
    written: list[str] = []
    for number, part in enumerate(parts):
        rng = streams(f"literal {number}")
        wrong = rng.random() < errors.error * errors.conditions
        kind = errors.kind(CONDITION_KINDS, rng) if wrong else None
        if kind == "literal_negated":
            written.append(str(part.operand) if isinstance(part, Not) else f"(not {part})")
        elif kind == "literal_unknown_predicate":
            written.append(f"({rng.choice(_NO_PREDICATES)})")
        elif kind != "literal_dropped":
            written.append(str(part))
    return f"(and {' '.join(written or [str(parts[0])])})"


def _written(goal: Expression) -> _Json:
    things: list[_Json] = []
    literals = list(_literals(goal, True, things, {}))
    apart = {a for atom, _ in literals if atom.predicate == "=" for a in atom.args}
    stage = [
        {"predicate": atom.predicate, "args": list(atom.args), "holds": holds}
        for atom, holds in literals
        if atom.predicate != "="
    ]
    told = [{**thing, "apart": True} if thing["name"] in apart else thing for thing in things]
    return {"things": told, "stages": [stage]}


def _throughout(constraints: tuple[str, ...]) -> _Json:
    """Return trajectory constraints as the answer has them.

    Raises:
        ModelError: there is no form for one of them.
    """
    written: dict[str, list[Any]] = {}
    for text in constraints:
        plain = " ".join(text.split())
        if match := _NEVER_TWO.fullmatch(plain):
            written.setdefault("never_two", []).append(match[3])
            continue
        match = _ALWAYS.fullmatch(plain) or _ONCE.fullmatch(plain)
        if match is None:
            raise ModelError(
                f"the simulated model cannot write this constraint: {plain}", kind="request"
            )
        kind = load_ontology().class_of_pddl_type(match[2]) or match[2]
        literal = {"predicate": match[3], "args": [kind]}
        if plain.startswith("(always"):
            written.setdefault("always", []).append({**literal, "holds": False})
        else:
            written.setdefault("once", []).append(literal)
    return written


def _literals(
    formula: Expression, positive: bool, things: list[_Json], names: Mapping[str, str]
) -> Iterator[tuple[Atom, bool]]:
    """Yield the literals of a formula, with names of things for its variables.

    That two things are not the same comes as a literal of `=`.
    """
    match formula:
        case Atom(predicate, args):
            yield Atom(predicate, tuple(names.get(a, a) for a in args)), positive
        case Not(Equal(left, right)) if positive:
            yield Atom("=", (names[left], names[right])), False
        case Not(operand):
            yield from _literals(operand, not positive, things, names)
        case And(operands) if positive:
            for operand in operands:
                yield from _literals(operand, positive, things, names)
        case Exists(variables, body) | Forall(variables, body):
            every = isinstance(formula, Forall) == positive
            known = dict(names)
            for variable in variables:
                # Variables of one name in two places are two things.
                known[variable.name] = f"{variable.name.lstrip('?')}{len(things) + 1}"
                kinds = [load_ontology().class_of_pddl_type(t) or t for t in variable.types]
                thing: _Json = {"name": known[variable.name], "kinds": kinds}
                things.append({**thing, "every": True} if every else thing)
            yield from _literals(body, positive, things, known)
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
    return {**true, "things": [t for t in things if t["name"] in spoken], "stages": [stage]}


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
