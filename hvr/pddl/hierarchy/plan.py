"""Hierarchical plans in the competition format, as lines and as a decomposition tree."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from hvr.pddl import GroundAction, Location
from hvr.pddl.reader import SourceText
from hvr.values import Compact, Value, set_field

# Lines --------------------------------------------------------------------------------------------
# Hundreds of thousands of lines are stored in columns.

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_LINE = re.compile(f"[^{_BREAKS}]*(?:\r\n|[{_BREAKS}]|\\Z)")


class PlanLine(Compact):
    """A line of a plan: an action, or a task with its method and subtasks.

    `number` is the line number.
    """

    __slots__ = ("args", "identifier", "method", "name", "number", "subtasks")

    identifier: int
    name: str
    args: tuple[str, ...]
    method: str
    subtasks: tuple[int, ...]
    number: int

    def __init__(
        self,
        identifier: int,
        name: str,
        args: tuple[str, ...] = (),
        method: str = "",
        subtasks: tuple[int, ...] = (),
        number: int = 0,
    ) -> None:
        set_field(self, "identifier", identifier)
        set_field(self, "name", name)
        set_field(self, "args", args)
        set_field(self, "method", method)
        set_field(self, "subtasks", subtasks)
        set_field(self, "number", number)

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


class PlanLines(Sequence[PlanLine]):
    """The lines of a plan, created on access, which needs a tenth of the memory."""

    def __init__(self) -> None:
        self._identifiers = array("q")
        self._numbers = array("q")
        self._calls: list[tuple[str, ...]] = []
        self._methods: list[str] = []
        self._below = array("q")
        self._ends = array("q")
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(
        self, call: Sequence[str], method: str, identifiers: tuple[int, ...], number: int
    ) -> None:
        """Append a line; `identifiers` lists its identifier, then its subtasks' identifiers."""
        key = tuple(call)
        self._calls.append(self._shared.setdefault(key, key))
        key = (method,)
        self._methods.append(self._shared.setdefault(key, key)[0])
        self._identifiers.append(identifiers[0])
        self._below.extend(identifiers[1:])
        self._ends.append(len(self._below))
        self._numbers.append(number)

    def close(self) -> None:
        """Free the memory that only `add` needs."""
        self._shared = {}

    def __len__(self) -> int:
        return len(self._calls)

    @overload
    def __getitem__(self, index: int) -> PlanLine: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PlanLine, ...]: ...
    def __getitem__(self, index: int | slice) -> PlanLine | tuple[PlanLine, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        call = self._calls[index]
        if index < 0:
            index += len(self._calls)
        begin = self._ends[index - 1] if index else 0
        return PlanLine(
            self._identifiers[index],
            call[0],
            call[1:],
            self._methods[index],
            tuple(self._below[begin : self._ends[index]]),
            self._numbers[index],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(PlanLine.__eq__, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    number = 0
    for match in _LINE.finditer(text):
        if match.start() < len(text):
            number += 1
            yield number, match.group()


# Plan ---------------------------------------------------------------------------------------------
# Plans with their decomposition in the competition format, read and printed.

START, END, ROOT_WORD, ARROW = "==>", "<==", "root", "->"
_LONGEST_NUMBER = 18


class HierarchicalPlan(Value):
    """A plan with its decomposition.

    Attributes:
        root: The identifiers of the initial tasks, or None if no line lists them.
        root_line, end: The numbers of the line that lists them, and of the last line.
        closed: Whether the text marks the end of the plan.
        ignored: The number of nonempty lines before `==>` and after `<==`.
    """

    actions: Sequence[PlanLine]
    root: tuple[int, ...] | None
    tasks: Sequence[PlanLine] = ()
    file: str = "<plan>"
    root_line: int = 0
    end: int = 0
    closed: bool = True
    ignored: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on unusual features of the text, one sentence each."""
        notes = []
        if self.ignored:
            others = "1 other line was" if self.ignored == 1 else f"{self.ignored} other lines were"
            end = repr(END) if self.closed else "the end"
            notes.append(
                f"the lines from {START!r} to {end} were read as the plan; {others} ignored"
            )
        if not self.closed:
            notes.append(f"the text has no {END!r} and was read to its end")
        return tuple(notes)

    def place(self, number: int) -> Location:
        return Location(self.file, max(number, 1), 1)

    def step(self, line: PlanLine) -> GroundAction:
        return GroundAction(line.name, line.args, self.place(line.number))


def read_hierarchical_plan(source: str | Path, *, file: str | None = None) -> HierarchicalPlan:
    """Read a plan from `==>` to `<==`; `ignored` of the result counts the other lines.

    A text without `<==`, as pandaPIparser writes it, is read to its end.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError: The plan is missing, a line is malformed, a line outside belongs to a
            plan, an identifier is repeated, or the plan is unconverted output of pandaPIengine.
    """
    return _PlanReader(SourceText.read(source, file=file, default="<plan>")).read()


def print_hierarchical_plan(plan: HierarchicalPlan) -> str:
    """Format a plan in the competition format."""
    lines = [START]
    lines += [" ".join((str(a.identifier), a.name, *a.args)) for a in plan.actions]
    if plan.root is not None:
        lines.append(" ".join((ROOT_WORD, *map(str, plan.root))))
    for task in plan.tasks:
        words = (str(task.identifier), task.name, *task.args, ARROW, task.method)
        lines.append(" ".join((*words, *map(str, task.subtasks))))
    return "\n".join((*lines, END, ""))


class _PlanReader:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.actions = PlanLines()
        self.tasks = PlanLines()
        self.root: tuple[int, ...] | None = None
        self.root_line = 0
        self.given: dict[int, int] = {}
        self.ignored = 0

    def read(self) -> HierarchicalPlan:
        lines = numbered_lines(self.source.text)
        number = self._find(START, lines)
        if not number:
            message = f"found no plan with a decomposition: no line is {START!r}"
            self._fail(1, message, f"{START!r}, the plan, {END!r}")
        closed = False
        for number, text in lines:
            words = text.split()
            if not words or words[0][0] == ";":
                continue
            if words == [END]:
                closed = True
                break
            self._line(words, number)
        again = self._find(START, lines)
        if again:
            self._fail(again, "a second plan begins here", "one plan in a text")
        self.actions.close()
        self.tasks.close()
        return HierarchicalPlan(
            self.actions,
            self.root,
            self.tasks,
            self.source.file,
            self.root_line,
            number,
            closed,
            self.ignored,
        )

    def _find(self, marker: str, lines: Iterator[tuple[int, str]]) -> int:
        for number, text in lines:
            stripped = text.strip()
            if stripped == marker:
                return number
            if stripped[:1] in ("", ";"):
                continue
            self.ignored += 1
            words = stripped.split(maxsplit=2)
            if words[0].isdigit() and f" {ARROW} " in stripped:
                message = f"the line {_short(words)} is outside the plan"
                self._fail(number, message, f"every line of the plan between {START!r} and {END!r}")
        return 0

    def _line(self, words: list[str], number: int) -> None:
        if words[0] == ROOT_WORD:
            if self.root is not None:
                self._fail(number, "a second line with the initial tasks", "one line 'root …'")
            self.root = self._identifiers(words[1:], number)
            self.root_line = number
            return
        if len(words) < 2 or words[1] == ARROW:
            self._fail(
                number, f"the line {_short(words)} has no task", "identifier task argument …"
            )
        if "[" in words[1]:
            message = "this is output of pandaPIengine for the model that pandaPIgrounder made"
            expected = "the plan for your model, written by pandaPIparser -c PRINTED CONVERTED"
            self._fail(number, message, expected)
        (identifier,) = self._identifiers(words[:1], number)
        if identifier in self.given:
            message = (
                f"the identifier {identifier} is already used in line {self.given[identifier]}"
            )
            self._fail(number, message, "a unique identifier for each task")
        self.given[identifier] = number
        if ARROW not in words:
            if self.root is not None:
                message = f"the task {_short(words)} has no decomposition"
                self._fail(
                    number, message, f"identifier task argument … {ARROW} method identifier …"
                )
            self.actions.add(words[1:], "", (identifier,), number)
            return
        at = words.index(ARROW)
        if at + 1 == len(words):
            self._fail(number, f"there is no method after {ARROW!r}", "a method")
        subtasks = self._identifiers(words[at + 2 :], number)
        self.tasks.add(words[1:at], words[at + 1], (identifier, *subtasks), number)

    def _identifiers(self, words: Iterable[str], number: int) -> tuple[int, ...]:
        result = []
        for word in words:
            # int() also accepts "+1", "1_0" and digits of other scripts.
            if not (word.isascii() and word.isdigit()) or len(word) > _LONGEST_NUMBER:
                self._fail(number, f"{_short([word])} is not an identifier", "a natural number")
            result.append(int(word))
        return tuple(result)

    def _fail(self, number: int, message: str, expected: str) -> None:
        offset = sum(len(line) for line in self.source.text.splitlines(keepends=True)[: number - 1])
        self.source.syntax_error(offset, message, expected=expected)


def _short(words: list[str]) -> str:
    text = " ".join(words[:8])
    return repr(text if len(text) <= 60 else text[:60] + "…")


# Tree ---------------------------------------------------------------------------------------------
# The decomposition tree of a plan, and whether the lines form a tree at all.

PANDA_ROOT = "__top"
"""The name of the task that pandaPI adds above the initial network, and of its method."""

SMALL_TREE = 2_000
"""Trees with fewer nodes cache results that are slow to compute; larger trees save memory."""


class DecompositionTree:
    """The nodes of a plan, numbered: actions in order, decomposed tasks, the root.

    Attributes:
        parent: The first node that refers to each node, or -1.
        missing: Undefined identifiers, each with the node that refers to it.
        first: The first action at or below each node, or the number of actions if the node has
            none.
        last: The last action at or below each node, or -1.
        order: All nodes below the root, parents before children, if this is a tree.
    """

    def __init__(self, plan: HierarchicalPlan) -> None:
        root, tasks = plan.root or (), plan.tasks
        if len(root) == 1:
            at = next((i for i, line in enumerate(tasks) if line.identifier == root[0]), None)
            if at is not None:
                top = tasks[at]
                if top.name == top.method.removesuffix("_method") == PANDA_ROOT:
                    tasks = (*tasks[:at], *tasks[at + 1 :])
                    root = top.subtasks
        self.plan = plan
        self._tasks: Sequence[PlanLine] = tasks
        self._top = PlanLine(-1, "", (), "", root, plan.root_line)
        self.actions = len(plan.actions)
        self.root = self.actions + len(tasks)
        kept = [*plan.actions, *tasks, self._top] if self.root < SMALL_TREE else None
        self._lines: list[PlanLine] | None = kept
        self.missing: list[tuple[int, int]] = []
        self.children: list[tuple[int, ...]] = []
        self.parent = array("q", [-1]) * len(self)
        self._more: dict[int, list[int]] = {}
        self._connect()
        self.order = array("q")
        self.first = array("q")
        self.last = array("q")

    def __len__(self) -> int:
        return self.root + 1

    def line(self, node: int) -> PlanLine:
        """Return the line of a node; the root's line has no name."""
        if self._lines is not None:
            return self._lines[node]
        if node < self.actions:
            return self.plan.actions[node]
        return self._top if node == self.root else self._tasks[node - self.actions]

    def lines(self) -> Iterator[PlanLine]:
        return map(self.line, range(len(self)))

    def parents(self, node: int) -> list[int]:
        """Return all nodes that refer to a node, with repetitions."""
        first = self.parent[node]
        return self._more.get(node) or ([] if first < 0 else [first])

    def measure(self) -> None:
        """Compute `order`, `first` and `last`; the nodes must form a tree."""
        order = self.order
        open_ = array("q", [self.root])
        while open_:
            node = open_.pop()
            order.append(node)
            open_.extend(self.children[node])
        count = self.actions
        below = len(self) - count
        self.first = array("q", range(count)) + array("q", [count]) * below
        self.last = array("q", range(count)) + array("q", [-1]) * below
        for node in reversed(order):
            if node >= count:
                for child in self.children[node]:
                    self.first[node] = min(self.first[node], self.first[child])
                    self.last[node] = max(self.last[node], self.last[child])

    def unreached(self) -> list[int]:
        seen = bytearray(len(self))
        seen[self.root] = True
        open_ = array("q", [self.root])
        while open_:
            for child in self.children[open_.pop()]:
                if not seen[child]:
                    seen[child] = True
                    open_.append(child)
        return [node for node, reached in enumerate(seen) if not reached]

    def _connect(self) -> None:
        node_of = {line.identifier: node for node, line in enumerate(self.lines())}
        for node, line in enumerate(self.lines()):
            below: list[int] = []
            for identifier in line.subtasks:
                child = node_of.get(identifier)
                if child is None or identifier < 0:
                    self.missing.append((identifier, node))
                    continue
                below.append(child)
                if self.parent[child] < 0:
                    self.parent[child] = node
                else:
                    self._more.setdefault(child, [self.parent[child]]).append(node)
            self.children.append(tuple(below))
