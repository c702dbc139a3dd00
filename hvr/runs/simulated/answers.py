"""Answers of the simulated model: steps and conditions, formatted or chatty, and goals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.wording import load_wording
from hvr.models.errors import ModelError
from hvr.models.model import Request
from hvr.pddl import Atom, Expression, GroundAction
from hvr.pddl.formulas import And, Equal, Exists, Forall, Not
from hvr.policies.llm.answers import (
    read_actions,
    read_blocks,
    read_conditions,
    read_macro_plan,
    read_objects,
)
from hvr.runs.simulated.script import Script
from hvr.runs.simulated.step_errors import CONDITION_KINDS, ErrorModel, Literal, Sides, Streams

# Wording ------------------------------------------------------------------------------------------

_OPENINGS = (
    "Sure! Here is my answer.",
    "Certainly, let me think about this carefully.",
    "Okay, I have looked at the kitchen.",
)
_CLOSINGS = ("Let me know if you need anything else!", "I hope this helps.", "This should do it.")
_STRAIGHT = "{name}({args})", "({name}, {args})", "({name} {spaced})"


class Plain:
    """Writes answers in the requested format."""

    def actions(self, steps: Sequence[GroundAction], description: str = "") -> str:
        """Return a block or plan, preceded by its description if it has one."""
        lines = [f"{i}. {_paper(step)}" for i, step in enumerate(steps, start=1)] or ["none"]
        head = [f"Description: {description}"] if description else []
        return "\n".join([*head, "Actions:", *lines])

    def blocks(self, names: Sequence[str], blocks: Sequence[Sequence[GroundAction]]) -> str:
        """Format the blocks of several macro actions as one answer."""
        lines: list[str] = []
        for number, (name, steps) in enumerate(zip(names, blocks, strict=True), start=1):
            lines += [
                f"Macro action {number}: {name}",
                *(map(_paper, steps) if steps else ["none"]),
            ]
        return "\n".join(lines)

    def macros(self, names: Sequence[str]) -> str:
        return "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1))

    def conditions(self, names: Sequence[str], sides: Sequence[Sides]) -> str:
        lines = []
        for number, (name, (before, after)) in enumerate(zip(names, sides, strict=True), start=1):
            lines += [
                f"{number}. {name}",
                f"Preconditions: {' '.join(map(str, before)) or 'none'}",
                f"Postconditions: {' '.join(map(str, after)) or 'none'}",
            ]
        return "\n".join(lines)

    def classes(self, names: Sequence[str]) -> str:
        return ", ".join(names) or "none"


class Chatty(Plain):
    """Writes answers with chat and unusual layouts, which test the tolerance of the parsers."""

    def __init__(self, rng: Random) -> None:
        self._opening = rng.choice(_OPENINGS)
        self._closing = rng.choice((*_CLOSINGS, ""))
        self._marker = rng.choice(("{}. ", "{}) ", "- ", "* ", "Step {}: "))
        self._call = rng.choice(_STRAIGHT)
        self._fence = rng.choice(("", "```", "```text"))
        self._bold = rng.random() < 0.5

    def actions(self, steps: Sequence[GroundAction], description: str = "") -> str:
        lines = [self._item(i, self._called(step)) for i, step in enumerate(steps, start=1)]
        head = [self._label("Description") + f" {description}", ""] if description else []
        return self._around([*head, self._label("Actions"), *self._fenced(lines or ["none"])])

    def blocks(self, names: Sequence[str], blocks: Sequence[Sequence[GroundAction]]) -> str:
        lines: list[str] = []
        for number, (name, steps) in enumerate(zip(names, blocks, strict=True), start=1):
            items = [self._item(i, self._called(step)) for i, step in enumerate(steps, start=1)]
            lines += [self._label(f"Macro action {number}"), name, *self._fenced(items or ["none"])]
        return self._around(lines)

    def macros(self, names: Sequence[str]) -> str:
        marker = self._marker if "{}" in self._marker else "{}. "
        lines = [
            marker.format(i) + (f"**{name}**" if self._bold else name)
            for i, name in enumerate(names, start=1)
        ]
        return self._around([*lines])

    def conditions(self, names: Sequence[str], sides: Sequence[Sides]) -> str:
        lines = []
        for number, (name, pair) in enumerate(zip(names, sides, strict=True), start=1):
            lines.append(f"{number}. **{name}**" if self._bold else f"{number}. {name}")
            for label, side in zip(("Preconditions", "Postconditions"), pair, strict=True):
                literals = ", ".join(map(self._literal, side)) or "none"
                lines.append(f"   {self._label(label)} {literals}")
        return self._around(self._fenced(lines))

    def classes(self, names: Sequence[str]) -> str:
        if not names:
            return super().classes(names)
        shown = [f"**{name}**" if self._bold else name for name in names]
        return self._around(
            ["The robot needs these objects:", "", *(f"- {name}" for name in shown)]
        )

    def _around(self, lines: Sequence[str]) -> str:
        closing = ["", self._closing] if self._closing else []
        return "\n".join([self._opening, "", *lines, *closing])

    def _fenced(self, lines: Sequence[str]) -> list[str]:
        return [self._fence, *lines, "```"] if self._fence else list(lines)

    def _label(self, text: str) -> str:
        return f"**{text}:**" if self._bold else f"{text}:"

    def _item(self, number: int, text: str) -> str:
        return self._marker.format(number) + text

    def _called(self, step: GroundAction) -> str:
        if not step.args:
            return f"({step.name})"
        args, spaced = ", ".join(step.args), " ".join(step.args)
        return self._call.format(name=step.name, args=args, spaced=spaced)

    def _literal(self, literal: Literal) -> str:
        if not literal.args or self._call != _STRAIGHT[0]:
            return str(literal)
        text = f"{literal.predicate}({', '.join(literal.args)})"
        return text if literal.positive else f"(not {text})"


def steps_sentence(steps: Sequence[GroundAction]) -> str:
    text = ", ".join(map(_order, steps)) or "nothing has to be done"
    return f"{text[:1].upper()}{text[1:]}."


def _order(step: GroundAction) -> str:
    things = [f"the {name.rsplit('-', 1)[0]}" for name in step.args]
    known = load_wording().actions.get(step.name)
    if known is not None and known.imperative.arity == len(things):
        return known.imperative.fill(things)
    # an invented action has no wording
    return " ".join([step.name.replace("_", " "), *things])


def _paper(step: GroundAction) -> str:
    return f"({', '.join((step.name, *step.args))})"


# Goals --------------------------------------------------------------------------------------------

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
    """Return the goal of a script, with errors, as JSON (as PDDL if the request has no schema).

    Raises:
        ModelError: The script has no goal, or the goal cannot be expressed in JSON.
    """
    if script.goal is None:
        raise ModelError("the simulated model needs a goal", kind="request")
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
    declared = [{**thing, "apart": True} if thing["name"] in apart else thing for thing in things]
    return {"things": declared, "stages": [stage]}


def _throughout(constraints: tuple[str, ...]) -> _Json:
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
    # Inequalities become literals of `=`.
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
                # equal variable names in two quantifiers denote two things
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
    if not stage:  # an answer must not be empty
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


# Structured answers -------------------------------------------------------------------------------


def as_json(purpose: str, text: str, schema: Mapping[str, Any]) -> str:
    """Convert a text answer to JSON that matches a schema; parts that do not match are dropped."""
    allowed = _Allowed(schema)
    match purpose:
        case "select":
            kinds = allowed.choice(schema["properties"]["kinds"]["items"])
            value: Any = {"kinds": [name for name in read_objects(text) if name in kinds]}
        case "macro_plan":
            value = {"steps": list(read_macro_plan(text))}
        case "conditions" | "correct_conditions":
            count = schema["properties"]["macros"]["minItems"]
            facts = schema["properties"]["macros"]["items"]["properties"]["before"]["items"]
            value = {
                "macros": [
                    {
                        "before": allowed.facts(one.precondition, facts),
                        "after": allowed.facts(one.postcondition, facts),
                    }
                    for one in read_conditions(text, count)
                ]
            }
        case "blocks":
            blocks = schema["properties"]["blocks"]
            parts = read_blocks(text, blocks["minItems"])
            steps = blocks["items"]["items"]
            value = {"blocks": [allowed.actions(part or "", steps) for part in parts]}
        case _:
            value = {"steps": allowed.actions(text, schema["properties"]["steps"]["items"])}
    return json.dumps(value)


class _Allowed:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = schema.get("$defs", {})

    def choice(self, schema: Mapping[str, Any]) -> Sequence[str]:
        if "$ref" in schema:
            schema = self._definitions[str(schema["$ref"]).rpartition("/")[2]]
        return tuple(schema.get("enum", ()))

    def actions(self, text: str, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
        read = read_actions(text).actions
        return [v for a in read if (v := self._value(a.name, a.args, schema)) is not None]

    def facts(self, literals: Sequence[Any], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
        values = [(x, self._value(x.predicate, x.args, schema)) for x in literals]
        return [{**v, "holds": x.positive} for x, v in values if v is not None]

    def _value(
        self, name: str, args: Sequence[str], schema: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        for form in schema.get("anyOf", ()):
            (key, named), *rest = form["properties"].items()
            rest = [(k, part) for k, part in rest if part.get("type") != "boolean"]
            if self.choice(named) == (name,) and len(rest) == len(args):
                pairs = zip(rest, args, strict=True)
                if all(arg in self.choice(part) for (_, part), arg in pairs):
                    return {key: name, **dict(zip((k for k, _ in rest), args, strict=True))}
        return None
