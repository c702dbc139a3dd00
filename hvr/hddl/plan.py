"""Plans with their decomposition, in the format of the competitions, from text and to text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hvr.pddl import GroundAction, Location
from hvr.pddl.lexer import Source
from hvr.values import Compact, Value, set_field

START, END, ROOT_WORD, ARROW = "==>", "<==", "root", "->"
_LONGEST_NUMBER = 18


class PlanLine(Compact):
    """A line of a plan: an action, or a task with the method and the tasks that replace it.

    Attributes:
        identifier: its number.
        name: the name of the action or task.
        args: its arguments.
        method: the method; "" for an action.
        subtasks: the identifiers of what the method leads to.
        number: the number of the line in the text.
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


class HierarchicalPlan(Value):
    """A plan with its decomposition.

    Attributes:
        actions: the actions, in the order of execution.
        root: the identifiers of the tasks of the initial network; None where no line has them.
        tasks: the decomposed tasks.
        file: the name of the text.
        root_line: the number of the line of the initial network.
        end: the number of the last line.
        closed: whether the text says where the plan ends.
    """

    actions: tuple[PlanLine, ...]
    root: tuple[int, ...] | None
    tasks: tuple[PlanLine, ...] = ()
    file: str = "<plan>"
    root_line: int = 0
    end: int = 0
    closed: bool = True

    def place(self, number: int) -> Location:
        """Return the place of a line."""
        return Location(self.file, max(number, 1), 1)

    def step(self, line: PlanLine) -> GroundAction:
        """Return an action or a task as a step with its place."""
        return GroundAction(line.name, line.args, self.place(line.number))


def read_hierarchical_plan(source: str | Path, *, file: str | None = None) -> HierarchicalPlan:
    """Read a plan from `==>` to `<==`; what a planner prints around it is passed over.

    A text without `<==` ends with the plan.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError: there is no such plan, a line of it is malformed, or an identifier is
            given twice.
    """
    return _PlanReader(Source.read(source, file=file, default="<plan>")).read()


def print_hierarchical_plan(plan: HierarchicalPlan) -> str:
    """Print a plan in the format of the competitions."""
    lines = [START]
    lines += [" ".join((str(a.identifier), a.name, *a.args)) for a in plan.actions]
    if plan.root is not None:
        lines.append(" ".join((ROOT_WORD, *map(str, plan.root))))
    for task in plan.tasks:
        words = (str(task.identifier), task.name, *task.args, ARROW, task.method)
        lines.append(" ".join((*words, *map(str, task.subtasks))))
    return "\n".join((*lines, END, ""))


class _PlanReader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.text.splitlines()
        self.actions: list[PlanLine] = []
        self.tasks: list[PlanLine] = []
        self.root: tuple[int, ...] | None = None
        self.root_line = 0
        self.given: dict[int, int] = {}

    def read(self) -> HierarchicalPlan:
        start = self._start()
        number, closed = start, False
        for number, text in enumerate(self.lines[start:], start + 1):
            words = text.split()
            if not words or words[0][0] == ";":
                continue
            if words == [END]:
                closed = True
                break
            self._line(words, number)
        if closed and any(line.strip() == START for line in self.lines[number:]):
            again = self._find(START, number)
            self._fail(again + 1, "a second plan begins here", "one plan in a text")
        return HierarchicalPlan(
            tuple(self.actions),
            self.root,
            tuple(self.tasks),
            self.source.file,
            self.root_line,
            number,
            closed,
        )

    def _start(self) -> int:
        start = self._find(START, 0)
        if start < 0:
            message = f"there is no plan with a decomposition: no line is {START!r}"
            self._fail(1, message, f"{START!r}, the plan, {END!r}")
        return start + 1

    def _find(self, marker: str, begin: int) -> int:
        for index in range(begin, len(self.lines)):
            if self.lines[index].strip() == marker:
                return index
        return -1

    def _line(self, words: list[str], number: int) -> None:
        if words[0] == ROOT_WORD:
            if self.root is not None:
                self._fail(number, "a second line with the initial tasks", "one line 'root …'")
            self.root = self._identifiers(words[1:], number)
            self.root_line = number
            return
        if len(words) < 2 or words[1] == ARROW:
            self._fail(
                number, f"the line {_short(words)} names no task", "identifier task argument …"
            )
        (identifier,) = self._identifiers(words[:1], number)
        if identifier in self.given:
            message = f"the identifier {identifier} was given in line {self.given[identifier]}"
            self._fail(number, message, "an identifier of its own for each task")
        self.given[identifier] = number
        if ARROW not in words:
            if self.root is not None:
                message = f"the task {_short(words)} has no decomposition"
                self._fail(
                    number, message, f"identifier task argument … {ARROW} method identifier …"
                )
            self.actions.append(PlanLine(identifier, words[1], tuple(words[2:]), "", (), number))
            return
        at = words.index(ARROW)
        if at + 1 == len(words):
            self._fail(number, f"there is no method after {ARROW!r}", "a method")
        subtasks = self._identifiers(words[at + 2 :], number)
        args = tuple(words[2:at])
        self.tasks.append(PlanLine(identifier, words[1], args, words[at + 1], subtasks, number))

    def _identifiers(self, words: Iterable[str], number: int) -> tuple[int, ...]:
        result = []
        for word in words:
            # int() would also take "+1", "1_0" and digits of other scripts.
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
