"""A library entry: a macro action lifted to variables, with its block and origins."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hvr.errors import DataFileError, HvrError, PddlError, PddlSyntaxError
from hvr.pddl import Atom, Equal, GroundAction, is_variable
from hvr.values import JsonObject, Value, cached_property

# Literals -----------------------------------------------------------------------------------------
# Literals as PDDL text and as values, the only PDDL that library entries use.

Literal = tuple[Atom, bool]
"""An atom and its truth value."""

_CALL = re.compile(r"\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)")
_NOT = re.compile(r"\(\s*not\s+(\(.*\))\s*\)", re.DOTALL)


def parse_literal(text: str) -> Literal:
    """Read `(on ?mug1 ?plate1)` or `(not (on ?mug1 ?plate1))`, or raise a PddlSyntaxError."""
    stripped = text.strip().lower()
    negated = _NOT.fullmatch(stripped)
    name, args = _call(negated[1] if negated else stripped, text, "a literal such as (on ?a ?b)")
    if name in {"not", "and", "or", "imply", "forall", "exists", "="}:
        raise PddlSyntaxError(f"{text!r}: expected a literal such as (on ?a ?b)")
    return Atom(name, args), negated is None


def is_literal(text: str) -> bool:
    try:
        parse_literal(text)
    except PddlSyntaxError:
        return False
    return True


def parse_step(text: str) -> GroundAction:
    """Read an action such as `(pick_up ?mug1)`, or raise a PddlSyntaxError."""
    return GroundAction(*_call(text.strip().lower(), text, "an action such as (move ?a)"))


def _call(text: str, shown: str, expected: str) -> tuple[str, tuple[str, ...]]:
    call = _CALL.fullmatch(text)
    if call is None:
        raise PddlSyntaxError(f"{shown!r}: expected {expected}")
    return call[1], tuple(call[2].split())


def literal_text(literal: Literal) -> str:
    atom, positive = literal
    return str(atom) if positive else f"(not {atom})"


def bind_literal(literal: Literal, binding: Mapping[str, str]) -> Literal:
    atom, positive = literal
    return Atom(atom.predicate, tuple(binding.get(a, a) for a in atom.args)), positive


def bind_step(step: GroundAction, binding: Mapping[str, str]) -> GroundAction:
    return GroundAction(step.name, tuple(binding.get(a, a) for a in step.args))


def variables_of(literals: Iterable[Literal]) -> set[str]:
    return {a for atom, _ in literals for a in atom.args if is_variable(a)}


def joinable(literals: Iterable[Literal]) -> list[tuple[Atom | Equal, bool]]:
    """Return literals in the form that `hvr.pddl.facts.bindings` requires."""
    return list(literals)


# --------------------------------------------------------------------------------------------------

_VARIABLE = re.compile(r"\?[\w-]+")


@dataclass(frozen=True, order=True)
class Parameter:
    """A variable of a macro action with its PDDL type."""

    variable: str
    type: str

    def __str__(self) -> str:
        return f"{self.variable} - {self.type}"


@dataclass(frozen=True, order=True, kw_only=True)
class Origin(JsonObject):
    """The circumstances in which a macro action was learnt.

    Args:
        request: The id of the task, or the request in words.
        model: The language model or policy that wrote the macro action.
        simulated: Whether the model was simulated.
        date: The date as ISO 8601.
        version: The version of hvr.
        run: The id of the run.
    """

    request: str = ""
    scene: str = ""
    model: str = ""
    simulated: bool = False
    date: str = ""
    version: str = ""
    run: str = ""

    json_shape = "*"


@dataclass(frozen=True, order=True)
class Use(JsonObject):
    """The number of times that a macro action was used in a run, and how often it proved valid.

    Counts are kept per run, so that merging two libraries does not count a run twice.
    """

    run: str
    used: int
    validated: int

    json_shape = "*"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A macro action of the library; `make` creates it in canonical form.

    Args:
        names: Names of the macro action, with variables for objects: `put ?mug1 on ?plate1`.
        parameters: The variables; variables in the steps come first.
        precondition: PDDL literals that must hold before the steps, including static literals.
        uses: How often each run used it.
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    steps: tuple[GroundAction, ...]
    agent: str
    origins: tuple[Origin, ...] = ()
    uses: tuple[Use, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0] if self.names else ""

    @cached_property
    def id(self) -> str:
        """A digest of the agent, parameters, conditions and steps, but not of names and origins."""
        parts = [
            self.agent,
            [str(p) for p in self.parameters],
            list(self.precondition),
            list(self.postcondition),
            [str(s) for s in self.steps],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    @cached_property
    def needs(self) -> tuple[Literal, ...]:
        return tuple(parse_literal(t) for t in self.precondition)

    @cached_property
    def effects(self) -> tuple[Literal, ...]:
        return tuple(parse_literal(t) for t in self.postcondition)

    @cached_property
    def types(self) -> dict[str, str]:
        return {p.variable: p.type for p in self.parameters}

    @property
    def used(self) -> int:
        return sum(u.used for u in self.uses)

    @property
    def validated(self) -> int:
        return sum(u.validated for u in self.uses)

    def merge(self, other: Entry) -> Entry:
        """Merge names, origins and uses; raise a ValueError if the entries differ otherwise."""
        if other.id != self.id:
            raise ValueError(f"{self.id} and {other.id} are different macro actions")
        # Take the larger count of a run, not the sum: both may come from the same file.
        counts: dict[str, Use] = {}
        for use in (*self.uses, *other.uses):
            known = counts.get(use.run, use)
            counts[use.run] = Use(
                use.run, max(use.used, known.used), max(use.validated, known.validated)
            )
        return make(
            replace(
                self,
                names=(*self.names, *other.names),
                origins=(*self.origins, *other.origins),
                uses=tuple(counts.values()),
            )
        )

    def with_use(self, run: str, *, validated: bool = True) -> Entry:
        """Return the entry with one more use in a run; `validated` says whether it was valid."""
        known = next((u for u in self.uses if u.run == run), Use(run, 0, 0))
        more = Use(run, known.used + 1, known.validated + int(validated))
        return make(replace(self, uses=(*(u for u in self.uses if u.run != run), more)))

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "names": list(self.names),
            "agent": self.agent,
            "parameters": [[p.variable, p.type] for p in self.parameters],
            "precondition": list(self.precondition),
            "postcondition": list(self.postcondition),
            "steps": [str(s) for s in self.steps],
            "origins": [o.to_json() for o in self.origins],
            "uses": [u.to_json() for u in self.uses],
        }


def make(entry: Entry) -> Entry:
    """Return an entry in canonical form: sorted, without duplicates.

    Raises:
        DataFileError: The entry has no name or no step, a literal or count is malformed, or a
            variable is not a parameter.
    """
    made = replace(
        entry,
        names=tuple(sorted(set(entry.names), key=lambda n: (-len(_VARIABLE.findall(n)), n))),
        precondition=tuple(sorted(set(entry.precondition))),
        postcondition=tuple(sorted(set(entry.postcondition))),
        origins=tuple(sorted(set(entry.origins))),
        uses=tuple(sorted(set(entry.uses))),
    )
    problem = _problem(made)
    if problem:
        raise DataFileError(f"macro action {made.name or made.id!r}: {problem}")
    return made


def _problem(entry: Entry) -> str:
    if not entry.names or not all(n.strip() for n in entry.names):
        return "it has no name"
    if any(len(name.splitlines()) > 1 for name in entry.names):
        return "its name has several lines"
    if not entry.steps:
        return "it has no steps"
    if not entry.agent:
        return "it has no agent"
    try:
        used = variables_of((*entry.needs, *entry.effects))
    except HvrError as error:
        return str(error)
    used |= {a for step in entry.steps for a in step.args if is_variable(a)}
    used |= {v for name in entry.names for v in _VARIABLE.findall(name)}
    known = {p.variable for p in entry.parameters}
    if len(known) < len(entry.parameters):
        return "a parameter occurs twice"
    if not all(is_variable(p.variable) and p.type for p in entry.parameters):
        return "a parameter lacks its variable or its type"
    if not used <= known:
        return f"it uses variables that are not parameters: {', '.join(sorted(used - known))}"
    if any(u.used < u.validated or u.validated < 0 for u in entry.uses):
        return "a count of uses is negative or exceeds the total"
    return ""


class EntryRecord(Value):
    """An entry as a library file contains it."""

    id: str
    names: tuple[str, ...]
    agent: str
    parameters: tuple[tuple[str, str], ...]
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    steps: tuple[str, ...]
    origins: tuple[Origin, ...]
    uses: tuple[Use, ...]

    def entry(self) -> Entry:
        """Convert the record; raise a DataFileError if a field is malformed or the id is wrong."""
        name = f"macro action {self.id}"
        try:
            entry = make(
                Entry(
                    names=self.names,
                    parameters=tuple(Parameter(*parameter) for parameter in self.parameters),
                    precondition=self.precondition,
                    postcondition=self.postcondition,
                    steps=tuple(map(parse_step, self.steps)),
                    agent=self.agent,
                    origins=self.origins,
                    uses=self.uses,
                )
            )
        except PddlError as error:
            raise DataFileError(f"{name}: {error}") from error
        if self.id != entry.id:
            raise DataFileError(
                f"{name}: its content has the id {entry.id}; was it changed by hand?"
            )
        return entry
