"""Plans with their decomposition, in the format of the competitions, from text and to text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hvr.pddl import GroundAction, Location
from hvr.pddl.hierarchy.lines import PlanLine as PlanLine
from hvr.pddl.hierarchy.lines import PlanLines, numbered_lines
from hvr.pddl.lexer import SourceText
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
        ignored: How many lines before `==>` and after `<==` say something.
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
        """How the text was read, in sentences, where that is worth saying."""
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
        """Return the place of a line."""
        return Location(self.file, max(number, 1), 1)

    def step(self, line: PlanLine) -> GroundAction:
        """Return an action or a task as a step with its place."""
        return GroundAction(line.name, line.args, self.place(line.number))


def read_hierarchical_plan(source: str | Path, *, file: str | None = None) -> HierarchicalPlan:
    """Read a plan from `==>` to `<==`, and count the lines that a planner prints around it.

    A text without `<==` is read to its end: pandaPIparser writes none.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError: there is no such plan, a line of it is malformed, a line outside is one of
            a plan, an identifier is given twice, or the plan is not yet converted from
            pandaPIengine's.
    """
    return _PlanReader(SourceText.read(source, file=file, default="<plan>")).read()


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
            self.ignored,
        )

    def _find(self, marker: str, lines: Iterator[tuple[int, str]]) -> int:
        """Go on to a line that is a marker; return its number, 0 without one."""
        for number, text in lines:
            stripped = text.strip()
            if stripped == marker:
                return number
            if stripped[:1] in ("", ";"):
                continue
            self.ignored += 1
            words = stripped.split(maxsplit=2)
            if words[0].isdigit() and f" {ARROW} " in stripped:
                message = f"the line {_short(words)} belongs to no plan"
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
                number, f"the line {_short(words)} names no task", "identifier task argument …"
            )
        if "[" in words[1]:
            message = "this is what pandaPIengine prints, for the model that pandaPIgrounder made"
            expected = "the plan for your model: pandaPIparser -c PRINTED CONVERTED writes it"
            self._fail(number, message, expected)
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
