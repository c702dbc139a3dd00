"""Plan files: the format of the planning competitions, and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from hvr.errors import PddlSyntaxError
from hvr.pddl.expressions import describe
from hvr.pddl.lexer import Source, Word
from hvr.pddl.model import GroundAction
from hvr.pddl.reader import Group, Node, read_nodes

_STAMP = re.compile(r"\d+(\.\d*)?:|\d+\.")
_ARGUMENT = re.compile(r"[^?,:=\[\]{}\"`]+")
_STEP = "a step: (action object …)"


def parse_plan(source: str | Path, *, file: str | None = None) -> tuple[GroundAction, ...]:
    """Parse a classical plan: `(action object …)` steps, in the order of execution.

    A step may have a number or time before it (`0:`, `1.`, `0.003:`) and a cost or duration
    after it (`[1]`); numbered steps are put in the order of their numbers. `;` begins a comment.
    A text without any step is the empty plan only when it has nothing but space and comments.

    Args:
        source: the text, or the path of a file.
        file: the name that messages give the text.

    Returns:
        the steps; each knows its location.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError: anything that is not a plan.
        UnsupportedPddlError: steps at the same time.
    """
    text = Source.read(source, file=file, default="<plan>")
    return _PlanReader(text).read()


def print_plan(actions: Iterable[GroundAction], cost: float | Decimal | None = None) -> str:
    """Print a plan, with its cost in a comment on the last line.

    Args:
        actions: the steps.
        cost: the cost of the plan; None when every step costs 1.
    """
    lines = [str(action) for action in actions]
    kind = "unit" if cost is None else "general"
    lines.append(f"; cost = {len(lines) if cost is None else cost} ({kind} cost)")
    return "\n".join(lines) + "\n"


def plan_to_json(actions: Iterable[GroundAction]) -> list[dict[str, Any]]:
    """Return a plan as JSON values: a list of `{"action": name, "args": [name, …]}`."""
    return [{"action": a.name, "args": list(a.args)} for a in actions]


def plan_from_json(data: object) -> tuple[GroundAction, ...]:
    """Read what `plan_to_json` gives.

    Raises:
        PddlSyntaxError: the value is not a plan.
    """
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise PddlSyntaxError('a JSON plan is a list of {"action": name, "args": [name, …]}')
    return tuple([_step_from_json(number, item) for number, item in enumerate(data, 1)])


def _step_from_json(number: int, item: object) -> GroundAction:
    shape = 'write {"action": name, "args": [name, …]}'
    if not isinstance(item, dict):
        raise PddlSyntaxError(f"step {number} of the JSON plan is not an object; {shape}")
    if unknown := sorted(map(str, item.keys() - {"action", "args"})):
        raise PddlSyntaxError(f"step {number} of the JSON plan has the key {unknown[0]!r}; {shape}")
    name, args = item.get("action"), item.get("args", [])
    if not isinstance(name, str) or not name:
        raise PddlSyntaxError(f"step {number} of the JSON plan has no action name; {shape}")
    if not isinstance(args, list) or not all(isinstance(a, str) and a for a in args):
        raise PddlSyntaxError(f"the args of step {number} of the JSON plan are not names; {shape}")
    for text in (name, *args):
        if not _ARGUMENT.fullmatch(text) or re.search(r"[\s();]", text):
            raise PddlSyntaxError(f"{text!r} in step {number} of the JSON plan is not a name")
    return GroundAction(name.lower(), tuple(a.lower() for a in args))


class _PlanReader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.nodes = read_nodes(source)

    def read(self) -> tuple[GroundAction, ...]:
        steps: list[GroundAction] = []
        stamps: list[tuple[Decimal, int, int]] = []
        index = 0
        while index < len(self.nodes):
            node = self.nodes[index]
            if isinstance(node, Word):
                if not _STAMP.fullmatch(node.text):
                    self._not_a_step(node)
                stamps.append((Decimal(node.text.rstrip(":")), len(steps), node.offset))
                index += 1
                if index == len(self.nodes) or isinstance(self.nodes[index], Word):
                    self._fail(node, f"{node.text!r} is not followed by a step", _STEP)
                node = self.nodes[index]
            assert isinstance(node, Group)
            steps.append(self._step(node))
            index = self._skip_cost(index + 1)
        return self._ordered(steps, stamps)

    def _step(self, group: Group) -> GroundAction:
        if not group.items:
            self._fail(group, "an empty step", _STEP)
        names: list[str] = []
        for item in group.items:
            if isinstance(item, Group):
                self._fail(item, "a list inside a step", _STEP)
            if not _ARGUMENT.fullmatch(item.text):
                hint = "names separated by spaces" if "," in item.text else "a name"
                self._fail(item, f"{describe(item)} cannot stand in a step", hint)
            names.append(item.text)
        location = self.source.location(group.offset)
        return GroundAction(names[0], tuple(names[1:]), location)

    def _skip_cost(self, index: int) -> int:
        """Step over `[1]` or `[ 1 ]`."""
        if index == len(self.nodes):
            return index
        first = self.nodes[index]
        if not isinstance(first, Word) or not first.text.startswith("["):
            return index
        text = ""
        while index < len(self.nodes):
            node = self.nodes[index]
            if not isinstance(node, Word):
                break
            text += node.text
            index += 1
            if "]" in text:
                break
        if not re.fullmatch(r"\[\d+(\.\d*)?\]", text):
            self._fail(first, "this is not the cost of a step", "[number]")
        return index

    def _ordered(
        self, steps: list[GroundAction], stamps: list[tuple[Decimal, int, int]]
    ) -> tuple[GroundAction, ...]:
        if not stamps:
            return tuple(steps)
        if len(stamps) != len(steps):
            stamped = {index for _, index, _ in stamps}
            bare = next(i for i in range(len(steps)) if i not in stamped)
            location = steps[bare].location
            raise PddlSyntaxError(
                f"{location}: the step {steps[bare]} has no number, and others have one\n"
                "  expected: a number before every step, or before none"
            )
        stamps.sort(key=lambda stamp: stamp[:2])
        for (one, _, _), (two, _, offset) in pairwise(stamps):
            if one == two:
                self.source.unsupported(offset, "steps at the same time")
        return tuple(steps[index] for _, index, _ in stamps)

    def _not_a_step(self, node: Word) -> NoReturn:
        text = node.text
        if re.match(r"\[\d", text):
            self._fail(node, "a cost that follows no step", _STEP)
        if re.fullmatch(r"\d+\)?", text):
            self._fail(node, f"{text!r} is not a step number", f"'{text.rstrip(')')}:'")
        self._fail(node, f"{describe(node)} is not part of a plan", _STEP)

    def _fail(self, node: Node, message: str, expected: str) -> NoReturn:
        self.source.syntax_error(node.offset, message, expected=expected, found=describe(node))
