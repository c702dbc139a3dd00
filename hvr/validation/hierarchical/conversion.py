"""Recover the decomposition of a plan, export plans in blocks, and draw decompositions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast
from xml.sax.saxutils import escape

from hvr.errors import GroundingLimitError, NumberTooLargeError, PddlError
from hvr.pddl import (
    TRUE,
    And,
    Domain,
    Formula,
    GroundAction,
    Misfit,
    Problem,
    TypedName,
    parse_formula,
)
from hvr.pddl.formulas import substitute
from hvr.pddl.hierarchy.model import (
    ROOT,
    CompoundTask,
    HierarchicalDomain,
    HierarchicalProblem,
    Method,
    Subtask,
    TaskNetwork,
)
from hvr.pddl.hierarchy.plan import (
    START,
    DecompositionTree,
    HierarchicalPlan,
    PlanLine,
    read_hierarchical_plan,
)
from hvr.pddl.reader import SourceText
from hvr.validation.hierarchical.decomposition_search import Chart, Progression
from hvr.validation.hierarchical.matching import names_in
from hvr.validation.hierarchical.verifier import DecompositionVerifier, Reasons
from hvr.validation.report import Failure, FailureKind, OnFailure, Outcome, ValidationReport
from hvr.values import Value

# Recovery of decompositions -----------------------------------------------------------------------

_STEP = re.compile(r"\(([^()]*)\)")
_COMMENT = re.compile(r";[^\r\n]*")


class ActionsJudge:
    """Judges plans by their actions alone, ignoring any decomposition in the text."""

    def __init__(self, verifier: DecompositionVerifier) -> None:
        self._verifier = verifier

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read the actions of a plan and check whether some decomposition produces them.

        `on_failure` and `lenient` have no effect.

        Raises:
            DataFileError: The file cannot be read.
            PddlSyntaxError: The actions cannot be read.
        """
        del on_failure, lenient
        report, _ = self.decompose(read_actions(source, file=file))
        return report

    def decompose(self, plan: HierarchicalPlan) -> tuple[ValidationReport, HierarchicalPlan | None]:
        count = len(plan.actions)
        try:
            return self._decompose(plan)
        except (GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, count, 0, reason=str(error)), None

    def _decompose(
        self, plan: HierarchicalPlan
    ) -> tuple[ValidationReport, HierarchicalPlan | None]:
        verifier = self._verifier
        count = len(plan.actions)
        reasons = Reasons(verifier.domain, verifier.problem, verifier.task, DecompositionTree(plan))
        for node, line in enumerate(plan.actions):
            found = verifier.operator(line)
            if isinstance(found, Misfit):
                return _invalid(reasons.misfit(node, found), count, node), None
        states = verifier.states(plan.actions)
        done = len(states) - 1
        if done < count:
            return _invalid(reasons.step(done), count, done), None
        if not verifier.task.goal.holds(*states[-1]):
            return _invalid(reasons.goal(), count, count), None
        networks = (verifier.problem.root, *verifier.domain.methods.values())
        total = all(method.network.sequence is not None for method in networks)
        parser = (Chart if total else Progression)(
            verifier.domain,
            verifier.problem.root,
            verifier.task,
            verifier.preconditions,
            plan.actions,
            states,
        )
        found_plan = parser.parse()
        if found_plan is not None:
            report = verifier.check(found_plan)
            if report.valid:
                return report, found_plan
        if found_plan is not None or not parser.exhausted:
            reason = "no decomposition was found, but not all were tried"
            return ValidationReport(Outcome.UNKNOWN, count, count, reason=reason), None
        return _invalid(_no_decomposition(plan, parser.furthest), count, count), None


def read_actions(source: str | Path, *, file: str | None = None) -> HierarchicalPlan:
    """Read the actions of a plan: steps in parentheses, or the actions of a decomposed plan.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError: The text is neither of the two.
    """
    text = SourceText.read(source, file=file, default="<plan>")
    if any(line.strip() == START for line in text.text.splitlines()):
        whole = read_hierarchical_plan(text.text, file=text.file)
        if not whole.closed and whole.root is None:
            # Actions precede the line with the initial tasks.
            end = len(text.text.rstrip())
            text.syntax_error(end, "the text ends within the plan", expected="'root …' and '<=='")
        return HierarchicalPlan(whole.actions, None, file=whole.file, end=whole.end)
    body = _COMMENT.sub(lambda match: " " * len(match.group()), text.text)
    actions: list[PlanLine] = []
    end = 0
    before = Fraction(0)
    for match in _STEP.finditer(body):
        _between(text, body, end, match.start())
        stamp = _STAMP.search(body, end, match.start())
        if stamp is not None:
            if (time := Fraction(stamp[1])) < before:
                text.syntax_error(stamp.start(), "the steps are not in the order of their numbers")
            before = time
        end = match.end()
        words = match.group(1).split()
        if not words:
            text.syntax_error(match.start(), "an empty step", expected="(action object …)")
        number = text.location(match.start()).line
        actions.append(PlanLine(len(actions), words[0], tuple(words[1:]), "", (), number))
    _between(text, body, end, len(body))
    return HierarchicalPlan(tuple(actions), None, file=text.file, end=body.count("\n") + 1)


_NUMBER = re.compile(r"[\s\d.:,]*")
_STAMP = re.compile(r"([0-9]{1,300}(?:\.[0-9]{1,300})?)\s*[.:]?\s*\Z")


def _between(text: SourceText, body: str, start: int, end: int) -> None:
    match = _NUMBER.match(body, start, end)
    assert match is not None
    if match.end() < end:
        text.syntax_error(
            match.end(), "this is not part of a plan", expected="a step: (action object …)"
        )


def _no_decomposition(plan: HierarchicalPlan, furthest: int) -> Failure:
    count = len(plan.actions)
    message = "No decomposition of the initial network leads to these actions"
    if furthest >= count or not plan.actions:
        message += ": they begin one, but more actions must follow."
        return Failure(FailureKind.NO_DECOMPOSITION, message, location=plan.place(plan.end))
    line = plan.actions[furthest]
    message += f": those before {line} begin one, but {line} cannot follow them."
    step = plan.step(line)
    return Failure(
        FailureKind.NO_DECOMPOSITION, message, furthest + 1, step, location=step.location
    )


def _invalid(failure: Failure, count: int, executed: int) -> ValidationReport:
    return ValidationReport(Outcome.INVALID, count, executed, (failure,))


# Export -------------------------------------------------------------------------------------------
# Plans in blocks as hierarchical plans: each block is a task with one totally ordered method.

_NO_NAME = re.compile(r"[^a-z0-9_-]+")


class Block(Value):
    """A subsequence of a plan with its name and the literals that must hold before it."""

    name: str
    actions: tuple[GroundAction, ...]
    precondition: tuple[str, ...] = ()


def export_blocks(
    domain: Domain, problem: Problem, blocks: Sequence[Block]
) -> tuple[HierarchicalDomain, HierarchicalProblem, HierarchicalPlan]:
    """Return a plan in blocks as a hierarchical domain, problem and plan.

    The objects of a block become parameters of its method, so the method applies to other objects.
    """
    objects = {o.name: o for o in (*domain.constants, *problem.objects)}
    tasks: dict[str, CompoundTask] = {}
    methods: dict[str, Method] = {}
    subtasks: list[Subtask] = []
    count = sum(len(block.actions) for block in blocks)
    actions: list[PlanLine] = []
    lines: list[PlanLine] = []
    for number, block in enumerate(blocks):
        name = _fresh(block.name, {*tasks, *domain.actions})
        condition = _condition(domain, problem, block.precondition)
        used = dict.fromkeys(arg for action in block.actions for arg in action.args)
        used |= dict.fromkeys(sorted(names_in(condition) & objects.keys()))
        variables = {arg: f"?{arg}" for arg in used}
        parameters = tuple([TypedName(variables[arg], objects[arg].types) for arg in used])
        network = TaskNetwork(
            tuple([_subtask(i, action, variables) for i, action in enumerate(block.actions, 1)]),
            tuple([(i, i + 1) for i in range(len(block.actions) - 1)]),
        )
        method = f"do-{name}"
        args = tuple(p.name for p in parameters)
        tasks[name] = CompoundTask(name, parameters)
        lifted = cast("Formula", substitute(condition, variables))
        methods[method] = Method(method, parameters, name, args, lifted, network)
        subtasks.append(Subtask(f"b{number + 1}", name, tuple(used)))
        first = len(actions)
        actions += [PlanLine(first + i, a.name, a.args) for i, a in enumerate(block.actions)]
        below = tuple(range(first, len(actions)))
        lines.append(PlanLine(count + number, name, tuple(used), method, below))
    order = tuple([(i, i + 1) for i in range(len(subtasks) - 1)])
    root = Method(ROOT, network=TaskNetwork(tuple(subtasks), order))
    flags = domain.requirements | {":hierarchy", ":method-preconditions"}
    return (
        HierarchicalDomain(domain.replace(requirements=flags), tasks, methods),
        HierarchicalProblem(problem, root),
        HierarchicalPlan(tuple(actions), tuple(line.identifier for line in lines), tuple(lines)),
    )


def _subtask(number: int, action: GroundAction, variables: dict[str, str]) -> Subtask:
    return Subtask(f"s{number}", action.name, tuple([variables[arg] for arg in action.args]))


def _condition(domain: Domain, problem: Problem, literals: Iterable[str]) -> Formula:
    # Literals of a model that cannot be parsed are skipped.
    parts = []
    for text in literals:
        try:
            parts.append(parse_formula(text, domain, problem.objects))
        except PddlError:
            continue
    return And(tuple(parts)) if parts else TRUE


def _fresh(words: str, taken: set[str]) -> str:
    name = _NO_NAME.sub("-", words.lower()).strip("-_") or "block"
    if not name[0].isalpha():
        name = f"block-{name}"
    result, number = name, 1
    while result in taken:
        number += 1
        result = f"{name}-{number}"
    return result


# Output -------------------------------------------------------------------------------------------
# Hierarchical plans as text, SVG and JSON, without recursion: recursive tasks make trees as deep as
# the plan is long.

_MOST_LEVELS = 40
_ROW, _COLUMN, _MARGIN = 22, 20, 14


def missing_from_drawing(plan: HierarchicalPlan) -> tuple[str, ...]:
    """Return a sentence for each kind of plan line that a drawing cannot show."""
    tree = DecompositionTree(plan)
    drawn = {node for node, _, _ in _rows(tree)}
    lost = [tree.line(node) for node in range(tree.root) if node not in drawn]
    notes = []
    if lost:
        names = ", ".join(f"{line.identifier} {line.name}" for line in lost[:3])
        more = ", …" * (len(lost) > 3)
        notes.append(f"lines not below an initial task ({len(lost)}): {names}{more}")
    if tree.missing:
        unknown = ", ".join(str(identifier) for identifier, _ in tree.missing[:3])
        notes.append(f"no line has the identifier {unknown}")
    return tuple(notes)


def draw_tree(plan: HierarchicalPlan) -> str:
    """Draw a plan as text: tasks with their methods, actions with their positions in the plan."""
    tree = DecompositionTree(plan)
    return "".join(f"{_branch(lasts)}{_words(tree, node)}\n" for node, lasts, _ in _rows(tree))


def draw_svg(plan: HierarchicalPlan) -> str:
    """Draw a plan as SVG, with one row per task or action, each below its parent."""
    tree = DecompositionTree(plan)
    lines: list[str] = []
    place: dict[int, int] = {}
    widest = 0
    row = 0
    for row, (node, lasts, parent) in enumerate(_rows(tree), 1):
        x, y = _MARGIN + _COLUMN * min(len(lasts), _MOST_LEVELS), _ROW * row
        place[row] = y
        text = _words(tree, node)
        widest = max(widest, x + 8 * len(text))
        if parent:
            left = x - _COLUMN + 4
            lines.append(f'<path d="M{left} {place[parent] + 5}V{y - 4}H{x - 4}"/>')
        kind = "action" if node < tree.actions else "task"
        lines.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>')
    size = f'width="{widest + _MARGIN}" height="{_ROW * row + _MARGIN}"'
    style = (
        "text{font:13px sans-serif;fill:#222}.action{fill:#0b5394;font-weight:bold}"
        "path{fill:none;stroke:#999}"
    )
    title = f"<title>{escape(plan.file)}</title>"
    body = "\n".join((title, f"<style>{style}</style>", *lines))
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>\n{body}\n</svg>\n'


def plan_to_values(plan: HierarchicalPlan) -> dict[str, Any]:
    """Return a plan as JSON values, in which tasks refer to their subtasks by identifier."""
    tree = DecompositionTree(plan)
    return {
        "root": [tree.line(child).identifier for child in tree.children[tree.root]],
        "actions": [{"id": line.identifier, "action": str(line)} for line in plan.actions],
        "tasks": [
            {
                "id": line.identifier,
                "task": str(line),
                "method": line.method,
                "subtasks": list(line.subtasks),
            }
            for line in map(tree.line, range(tree.actions, tree.root))
        ],
    }


def _rows(tree: DecompositionTree) -> Iterator[tuple[int, tuple[bool, ...], int]]:
    # In a plan that is not a tree, a node that occurs twice is expanded once.
    seen: set[int] = set()
    top = tree.children[tree.root]
    open_: list[tuple[int, tuple[bool, ...], int]] = []
    for i in range(len(top) - 1, -1, -1):
        open_.append((top[i], (i == len(top) - 1,), 0))
    row = 0
    while open_:
        node, lasts, parent = open_.pop()
        row += 1
        yield node, lasts[1:], parent
        if node in seen:
            continue
        seen.add(node)
        below = tree.children[node]
        for i in range(len(below) - 1, -1, -1):
            # Keep only the last levels of very deep trees.
            deeper = (*lasts[-_MOST_LEVELS:], i == len(below) - 1)
            open_.append((below[i], deeper, row))


def _branch(lasts: tuple[bool, ...]) -> str:
    if not lasts:
        return ""
    bars = "".join("   " if last else "│  " for last in lasts[:-1])
    return f"{bars}{'└─ ' if lasts[-1] else '├─ '}"


def _words(tree: DecompositionTree, node: int) -> str:
    line = tree.line(node)
    if node < tree.actions:
        return f"{node + 1}. {line}"
    return f"{line} by {line.method}"
