"""JSON schemas of answers, built from the names that exist in a world, and the answers as text.

If the server enforces a schema, the model can name only existing kinds, objects, actions and
predicates. The parsers read answers as text, which models also write without schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from hvr.pddl import And, Atom, Expression, Forall, GroundAction, Predicate, State, Task
from hvr.pddl.task import binding_of
from hvr.planning.search.navigation import Navigation
from hvr.policies.llm.mapper import ActionSet
from hvr.policies.llm.prediction import count_applicable, is_propositional, run_actions
from hvr.values import cached_property

Schema = dict[str, Any]

MAX_TITLE = 200
"""Maximum number of characters in a macro action's title."""

_MOST_PAIRS = 4_000
"""Maximum number of argument combinations that a schema lists; if there are more, only the types
are given.
"""

_MOST_FACTS = 12
"""Maximum number of facts in a condition."""


@dataclass(frozen=True)
class AnswerForm:
    """The form of an answer: its JSON schema, and its conversion to text for the parsers."""

    schema: Mapping[str, Any]
    text: Callable[[Any], str]

    @property
    def accept(self) -> Mapping[str, Any]:
        """The schema of accepted answers, in which names may be arbitrary.

        Some servers do not enforce names; similar names are mapped, and unknown ones are reported.
        """
        accepted: Mapping[str, Any] = _any_names(self.schema)
        return accepted


def _any_names(part: Any) -> Any:
    if isinstance(part, list):
        return [_any_names(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    if "$ref" in part:
        return {"type": "string"}
    if "anyOf" in part:
        named = {key for one in part["anyOf"] for key in one.get("required", ())}
        shared = [k for k in (ACTION, FACT, HOLDS) if k in named]
        if not shared:
            return {"anyOf": _any_names(part["anyOf"])}
        booleans = {HOLDS: {"type": "boolean"}} if HOLDS in named else {}
        return {
            "type": "object",
            "properties": booleans,
            "required": shared,
            "additionalProperties": {"type": "string"},
        }
    left_out = {"enum", "$defs", "minLength", "maxLength"}
    if part.get("minItems") != part.get("maxItems"):
        left_out.add("minItems")
    values = {k: v for k, v in part.items() if k not in left_out}
    return {
        k: _each(v, _any_names) if k == "properties" else _any_names(v) for k, v in values.items()
    }


def _each(properties: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: change(schema) for name, schema in properties.items()}


# Values -------------------------------------------------------------------------------------------


def record(properties: Mapping[str, Any]) -> Schema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def choice(values: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(dict.fromkeys(values))}


def phrase(most: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": most}


def array(items: Schema, most: int, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


class _Definitions:
    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], str] = {}

    def of(self, values: Iterable[str]) -> Schema:
        key = tuple(values)
        name = self._names.setdefault(key, f"names{len(self._names) + 1}")
        return {"$ref": f"#/$defs/{name}"}

    def close(self, schema: Schema) -> Schema:
        if not self._names:
            return schema
        return {**schema, "$defs": {name: choice(key) for key, name in self._names.items()}}


def _keys(parameters: Sequence[str], *taken: str) -> tuple[str, ...]:
    plain = [name.lstrip("?") for name in parameters]
    return tuple(f"{name}_" if name in taken else name for name in plain)


# Refusals -----------------------------------------------------------------------------------------
# An empty goal would hold everywhere, so a model that gives no goal must say why.

_CANNOT = "cannot"

REFUSAL = "cannot: "
"""Beginning of an answer without a goal; the reason follows."""


def goal_or_reason(goal: Schema, most: int) -> Schema:
    """Return the schema of a goal, or of the reason for not giving one: `{"cannot": "reason"}`.

    `most` is the maximum length of the reason.
    """
    return {"anyOf": [goal, record({_CANNOT: phrase(most)})]}


def reason_in(goal: Any) -> str:
    """Return the reason in an answer that follows `goal_or_reason`; empty for a goal."""
    return one_line(str(goal.get(_CANNOT, ""))) if isinstance(goal, Mapping) else ""


# Actions ------------------------------------------------------------------------------------------

ACTION = "do"
"""Key of an action's name."""

FACT = "fact"
"""Key of a fact's predicate."""

HOLDS = "holds"
"""Key for the truth value of a fact."""

_Keys = Mapping[str, Sequence[str]]
"""The argument keys of each action or predicate, in order."""


def call_text(value: Mapping[str, Any], keys: _Keys) -> str:
    return f"({', '.join((str(value[ACTION]), *_arguments(value, ACTION, keys)))})"


def call_line(action: GroundAction) -> str:
    return f"({', '.join((action.name, *action.args))})"


def fact_text(value: Mapping[str, Any], keys: _Keys) -> str:
    atom = f"({' '.join((str(value[FACT]), *_arguments(value, FACT, keys)))})"
    return atom if value[HOLDS] else f"(not {atom})"


def _arguments(value: Mapping[str, Any], name: str, keys: _Keys) -> list[str]:
    given = {key: str(part) for key, part in value.items() if key not in (name, HOLDS)}
    declared = keys.get(str(value[name]), ())
    return [given[key] for key in (declared if set(declared) == set(given) else given)]


def kinds_form(kinds: Sequence[str]) -> AnswerForm:
    schema = record({"kinds": array(choice(kinds), len(kinds), min(1, len(kinds)))})
    return AnswerForm(schema, lambda data: ", ".join(dict.fromkeys(data["kinds"])))


def titles_form(most: int) -> AnswerForm:
    """Return the form of a macro plan with at most `most` macro actions; the text lists them."""
    schema = record({"steps": array(phrase(MAX_TITLE), most, 1)})

    def lines(data: Any) -> str:
        return "\n".join(title for title in map(one_line, data["steps"]) if title)

    return AnswerForm(schema, lines)


class WorldForms:
    """The forms of answers for one world; facts with `ignored` predicates are not allowed."""

    def __init__(self, actions: ActionSet, ignored: Collection[str] = ()) -> None:
        self._actions = actions
        self._ignored = frozenset(ignored)

    def steps(self, names: Collection[str], most: int) -> AnswerForm:
        """Return the form of a block or plan of at most `most` actions on the objects `names`."""
        definitions = _Definitions()
        schema = record({"steps": array(self._action(names, definitions), most)})
        return AnswerForm(
            definitions.close(schema), lambda data: f"Actions:\n{self._lines(data['steps'])}"
        )

    def blocks(self, names: Collection[str], count: int, most: int) -> AnswerForm:
        """Return the form of blocks for `count` macro actions, each with at most `most` steps."""
        definitions = _Definitions()
        action = self._action(names, definitions)
        blocks = array(array(action, most), count, count)
        schema = record({"blocks": blocks})

        def written(data: Any) -> str:
            parts = enumerate(data["blocks"], start=1)
            return "\n".join(f"Macro action {n}:\n{self._lines(block)}" for n, block in parts)

        return AnswerForm(definitions.close(schema), written)

    def next_step(self, actions: Iterable[GroundAction]) -> AnswerForm:
        """Return the form of a choice among some ground actions and the end of the block."""
        schema = record({"next": choice([*map(call_line, actions), END])})
        return AnswerForm(schema, lambda data: str(data["next"]))

    def conditions(self, titles: Sequence[str], names: Collection[str]) -> AnswerForm:
        """Return the form of the pre- and postconditions of macro actions."""
        definitions = _Definitions()
        fact = self._fact(names, definitions)
        # Without a postcondition, the planner would have no goal for the block.
        entry = record({"before": array(fact, _MOST_FACTS), "after": array(fact, _MOST_FACTS, 1)})
        schema = record({"macros": array(entry, len(titles), len(titles))})

        def written(data: Any) -> str:
            lines = []
            for number, (title, one) in enumerate(zip(titles, data["macros"], strict=True), 1):
                before, after = (self._facts(one[k]) for k in ("before", "after"))
                lines.append(f"{number}. {title}")
                lines.append(f"Preconditions: {before or 'none'}")
                lines.append(f"Postconditions: {after or 'none'}")
            return "\n".join(lines)

        return AnswerForm(definitions.close(schema), written)

    def goal(self, names: Collection[str]) -> AnswerForm:
        """Return the form of a goal (a conjunction of facts) or of a reason for giving none."""
        definitions = _Definitions()
        facts = array(self._fact(names, definitions), 4 * _MOST_FACTS, 1)
        schema = record({"goal": goal_or_reason(facts, MAX_TITLE)})

        def written(data: Any) -> str:
            reason = reason_in(data["goal"])
            return f"{REFUSAL}{reason}" if reason else f"(and {self._facts(data['goal'])})"

        return AnswerForm(definitions.close(schema), written)

    def fact_names(self, names: Collection[str]) -> list[str]:
        """Return the predicates that can hold for the objects."""
        return [p.name for p in self._fluents if self._rows(p, names) is not None]

    def ways(
        self,
        state: State,
        names: Collection[str],
        navigation: Navigation | None,
        seen: Collection[int] = (),
    ) -> dict[GroundAction, tuple[GroundAction, ...]]:
        """Return the actions, other than moves, that are applicable now or after one move.

        The value of each action is the move, if one is required, followed by the action.

        Args:
            names: Objects that the actions may use.
            seen: States, as bit sets, to which no action may lead.
        """
        task, known = self._actions.task, frozenset(names)
        moves = navigation.actions if navigation else frozenset()
        ways = {}
        for action in self._actions:
            if action.name in moves or not known.issuperset(action.args):
                continue
            for way in ((action,), *((m, action) for m in _moves_to(action, moves))):
                after = _after(task, state, way)
                if after is not None:
                    if after not in seen:
                        ways[action] = way
                    break
        return ways

    # Parts --------------------------------------------------------------------------------

    def _lines(self, steps: Sequence[Mapping[str, Any]]) -> str:
        calls = [call_text(step, self._action_keys) for step in steps if step[ACTION] != "none"]
        return numbered(calls) if calls else "none"

    def _facts(self, facts: Sequence[Mapping[str, Any]]) -> str:
        return " ".join(fact_text(fact, self._fact_keys) for fact in facts)

    @cached_property
    def _action_keys(self) -> _Keys:
        actions = self._actions.task.domain.actions
        return {n: _keys([p.name for p in a.parameters], ACTION) for n, a in actions.items()}

    @cached_property
    def _fact_keys(self) -> _Keys:
        predicates = self._actions.task.domain.predicates
        return {
            n: _keys([p.name for p in q.parameters], FACT, HOLDS) for n, q in predicates.items()
        }

    def _action(self, names: Collection[str], definitions: _Definitions) -> Schema:
        known = frozenset(names)
        forms = []
        for name in self._actions.task.domain.actions:
            rows = [a.args for a in self._actions.of(name) if known.issuperset(a.args)]
            if not rows:
                continue
            keys = self._action_keys[name]
            columns = [definitions.of(sorted(set(column))) for column in zip(*rows, strict=True)]
            forms.append(record({ACTION: choice([name]), **dict(zip(keys, columns, strict=True))}))
        return {"anyOf": forms} if forms else record({ACTION: choice(["none"])})

    def _fact(self, names: Collection[str], definitions: _Definitions) -> Schema:
        forms = []
        for predicate in self._fluents:
            rows = self._rows(predicate, names)
            if rows is None:
                continue
            keys = self._fact_keys[predicate.name]
            columns = [definitions.of(column) for column in rows]
            args = dict(zip(keys, columns, strict=True))
            forms.append(
                record({FACT: choice([predicate.name]), **args, HOLDS: {"type": "boolean"}})
            )
        return {"anyOf": forms}

    @cached_property
    def _fluents(self) -> tuple[Predicate, ...]:
        task = self._actions.task
        return tuple(
            predicate
            for name, predicate in task.domain.predicates.items()
            if name in task.fluent_predicates
            and name not in self._ignored
            and name not in task.derived_predicates
        )

    def _rows(self, predicate: Predicate, names: Collection[str]) -> list[tuple[str, ...]] | None:
        task = self._actions.task
        known = {*names, *(c.name for c in task.domain.constants)}
        direct = self._direct.get(predicate.name)
        if direct is not None:
            rows = [row for row in direct if known.issuperset(row)]
        else:
            members = [
                [o for o in task.members(p.types) if o in known] for p in predicate.parameters
            ]
            if prod(map(len, members)) > _MOST_PAIRS:
                return [tuple(sorted(values)) for values in members]
            possible = self._actions.can_become_true
            rows = [row for row in product(*members) if possible(Atom(predicate.name, row))]
        return [tuple(sorted(set(column))) for column in zip(*rows, strict=True)] if rows else None

    @cached_property
    def _direct(self) -> Mapping[str, set[tuple[str, ...]]]:
        # Describe a predicate that some action adds unconditionally, such as a place, by these
        # facts. Pieces of a cut thing only inherit its place, and would blur which places exist.
        rows: dict[str, set[tuple[str, ...]]] = {}
        task = self._actions.task
        for action in self._actions:
            schema = task.domain.actions[action.name]
            for atom in _added(schema.effect, binding_of(schema, action), task):
                rows.setdefault(atom.predicate, set()).add(atom.args)
        for atom in task.initial.atoms():
            if atom.predicate in rows:
                rows[atom.predicate].add(atom.args)
        return rows


def _added(effect: Expression, binding: Mapping[str, str], task: Task) -> Iterator[Atom]:
    match effect:
        case Atom():
            yield Atom(effect.predicate, tuple([binding.get(a, a) for a in effect.args]))
        case And(operands):
            for operand in operands:
                yield from _added(operand, binding, task)
        case Forall(variables, body) if _adds(body):
            for row in product(*(task.members(v.types) for v in variables)):
                inner = {v.name: o for v, o in zip(variables, row, strict=True)}
                yield from _added(body, {**binding, **inner}, task)
        case _:
            pass


def _adds(effect: Expression) -> bool:
    match effect:
        case Atom():
            return True
        case And(operands):
            return any(map(_adds, operands))
        case Forall(_, body):
            return _adds(body)
        case _:
            return False


def _moves_to(action: GroundAction, moves: Collection[str]) -> Iterator[GroundAction]:
    # the last argument usually names the place
    for name in reversed(action.args):
        for move in sorted(moves):
            yield GroundAction(move, (name,))


def _after(task: Task, state: State, way: Sequence[GroundAction]) -> int | None:
    if not is_propositional(task):
        possible = count_applicable(task, state, way) == len(way)
        return run_actions(task, state, way).bits if possible else None
    bits = state.bits
    for action in way:
        # Few actions are applicable, and compiling effects is costly.
        if task.misfit(action) is not None or not task.precondition(action).holds(bits, ()):
            return None
        bits = task.ground(action).apply(bits)
    return bits


END = "done"
"""The answer that ends a block if each action is chosen by a separate answer."""


def numbered(lines: Iterable[str]) -> str:
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, start=1))


def one_line(text: str) -> str:
    return " ".join(text.split())
