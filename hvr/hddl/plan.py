"""Plans with their decomposition, in the format of the competitions, from text and to text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hvr.hddl.lines import PlanLine as PlanLine
from hvr.hddl.lines import PlanLines, numbered_lines
from hvr.pddl import GroundAction, Location
from hvr.pddl.lexer import Source
from hvr.values import Value

START, END, ROOT_WORD, ARROW = "==>", "<==", "root", "->"
_LONGEST_NUMBER = 18


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

    actions: Sequence[PlanLine]
    root: tuple[int, ...] | None
    tasks: Sequence[PlanLine] = ()
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
        self.actions = PlanLines()
        self.tasks = PlanLines()
        self.root: tuple[int, ...] | None = None
        self.root_line = 0
        self.given: dict[int, int] = {}

    def read(self) -> HierarchicalPlan:
        lines = numbered_lines(self.source.text)
        number = self._find(START, lines)
        if not number:
            message = f"there is no plan with a decomposition: no line is {START!r}"
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
        )

    def _find(self, marker: str, lines: Iterator[tuple[int, str]]) -> int:
        """Go on to a line that is a marker; return its number, 0 without one."""
        return next((number for number, text in lines if text.strip() == marker), 0)

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
