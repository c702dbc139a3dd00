"""Live display of a run: a tree on a terminal, otherwise plain lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from hvr.base.printable import console
from hvr.execution.events import (
    Event,
    Finished,
    Noticed,
    PlanReady,
    Recovery,
    Replanning,
    StepDone,
    Understood,
)
from hvr.language.paraphrase import in_order
from hvr.pddl.plan import decimal_text
from hvr.policies.llm.record import (
    BlockChecked,
    BlockWritten,
    ConditionsWritten,
    MacroPlanChecked,
    MacroPlanWritten,
    ObjectsChosen,
    PlanJudged,
    PolicyEvent,
    StepsLeftOut,
)
from hvr.validation.report import count


@contextmanager
def display(kind: str) -> Iterator[Callable[[Event | PolicyEvent], None] | None]:
    """Yield a listener that shows events as a `live` tree or as `lines`, or None for `none`."""
    if kind == "live":
        view = LiveTree()
        with Live(view.render(), console=console(), refresh_per_second=20, transient=False) as live:

            def show(event: Event | PolicyEvent) -> None:
                # Model output scrolls by above the tree, which may fill the screen.
                if line := policy_line(event):
                    live.console.print(Text(line, style=policy_style(event)))
                view.take(event)
                live.update(view.render())

            yield show
    elif kind == "lines":
        yield Lines(
            console(soft_wrap=True, highlight=False, no_color=True, markup=False, emoji=False)
        ).take
    else:
        yield None


class Lines:
    """Prints events as plain lines."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.blocks: tuple[str, ...] = ()
        self.block = -1

    def take(self, event: Event | PolicyEvent) -> None:
        write = self.console.print
        match event:
            case Understood(stages, _, notes):
                for line in reading_lines(event):
                    write(line)
                for stage in stages:
                    write(f"goal: {stage}")
                for note in notes:
                    write(f"note: {note}")
            case PlanReady():
                write(describe_plan(event))
                self.blocks = tuple(b.macro.name for b in event.plan.blocks)
                self.block = -1
            case StepDone():
                if event.block != self.block:
                    self.block = event.block
                    write(f"- {self.blocks[event.block]}")
                mark = "ok " if event.as_expected else "!! "
                write(f"  {mark}{event.number:>3} {timed_step(event)}{deviations(event)}")
            case Replanning(reason, attempt):
                write(f"new plan {attempt}: {reason}")
            case Noticed(failures):
                for failure in failures:
                    write(f"  !!     {failure.kind.value}: {failure.explanation}")
            case Recovery(strategy, _, outcome):
                write(f"  ->     {strategy}: {outcome}")
            case Finished() if not event.reached and event.unmet:
                write(f"unmet: {' '.join(event.unmet)}")
                for sentence in event.remains:
                    write(f"  {sentence}")
            case _ if line := policy_line(event):
                write(line)
            case _:
                pass


def reading_lines(event: Understood) -> Iterator[str]:
    """Yield lines that show how a request was understood and which words were ignored."""
    if event.said:
        yield f"read as: {in_order(event.said)}"
    if event.reader != "grammar":
        yield f"read by: {event.reader}"
    if event.unread:
        yield f"not read: {', '.join(event.unread)}"


def policy_line(event: Event | PolicyEvent) -> str:
    match event:
        case ObjectsChosen(request, names, unmatched):
            what = request.rpartition("Macro action: ")[2]
            lost = f" (not here: {', '.join(unmatched)})" if unmatched else ""
            return f"objects for {what!r}: {', '.join(names)}{lost}"
        case MacroPlanWritten(names):
            return "\n".join(["macro plan:", *(f"{i:>3}. {n}" for i, n in enumerate(names, 1))])
        case ConditionsWritten(macros, dropped):
            lines = [f"conditions of {count(len(macros), 'macro action')} written"]
            return "\n".join([*lines, *(f"   left out: {note}" for note in dropped)])
        case MacroPlanChecked(check, attempt):
            tried = f" after {count(attempt, 'correction')}" if attempt else ""
            verified = f"macro plan: {check.verified} of {check.total} verified{tried}"
            return f"{verified}: {check.problem}" if check.problem else verified
        case BlockWritten(number, name, actions, source, unmapped):
            steps = " ".join(map(str, actions)) or "no steps"
            lines = [f"{number}. {name} [{source}]: {steps}"]
            return "\n".join([*lines, *(f"   not understood: {note}" for note in unmapped)])
        case BlockChecked(number, problem, attempt, attempts):
            if not problem:
                return f"   check of {number}: valid"
            return f"   check of {number} (correction {attempt} of {attempts}): {problem}"
        case StepsLeftOut(actions):
            return f"left out as redundant: {' '.join(map(str, actions))}"
        case PlanJudged(removed, inserted, unmended):
            parts = ["redundant: " + " ".join(map(str, removed))] * bool(removed)
            parts += ["inserted: " + " ".join(map(str, inserted))] * bool(inserted)
            parts += [f"not repaired: {unmended}"] * bool(unmended)
            return f"judged: {'; '.join(parts)}"
        case _:
            return ""


def policy_style(event: Event | PolicyEvent) -> str:
    match event:
        case BlockChecked(_, problem):
            return "yellow" if problem else "green"
        case MacroPlanChecked(check):
            return "yellow" if check.problem else "green"
        case MacroPlanWritten():
            return "bold"
        case _:
            return ""


def describe_plan(event: PlanReady) -> str:
    """Return a plan's length, proof and planning time on one line."""
    plan = event.plan
    proven = "shortest, proven; " if plan.optimal else "not proven to be shortest; "
    looking = f"{event.purpose}: " if event.purpose else ""
    return (
        f"{looking}plan: {count(len(plan.actions), 'step')} in "
        f"{count(len(plan.blocks), 'macro action')} "
        f"({proven if event.report.valid else ''}{plan.planner}, {plan.seconds:.2f} s); "
        f"{count(len(event.objects), 'object')}; validator: {event.report.outcome}"
    )


def timed_step(event: StepDone) -> str:
    return f"{'' if event.time is None else f'{decimal_text(event.time)}: '}{event.action}"


def deviations(event: StepDone) -> str:
    """Return the deviations of a step, or its error, in parentheses; "" if there are none."""
    parts = [f"{f.kind.value}: {f.explanation}" for f in event.failures]
    if not parts and event.error:
        parts.append(event.error)
    if not parts and event.difference:
        parts.append(event.difference.explain())
    return f"  ({' '.join(parts)})" if parts else ""


class LiveTree:
    """Shows a plan as a tree, in which each step is marked as validated, executed and observed."""

    def __init__(self) -> None:
        self.head: list[Text] = []
        self.trees: list[Tree] = []
        self.plan: PlanReady | None = None
        self.done: dict[int, StepDone] = {}
        self.past: list[Tree | Text] = []

    def take(self, event: Event | PolicyEvent) -> None:
        match event:
            case Understood(_, _, notes):
                self.head += [Text(line, style="bold") for line in reading_lines(event)]
                self.head += [Text(f"note: {note}", style="yellow") for note in notes]
            case PlanReady():
                self.plan = event
                self.done = {}
            case StepDone():
                self.done[event.number] = event
            case Replanning(reason, attempt):
                if self.plan is not None:
                    self.past.append(self.tree(self.plan))
                self.past.append(Text(f"new plan {attempt}: {reason}", style="bold red"))
                self.plan = None
            case Noticed(failures):
                for failure in failures:
                    line = f"{failure.kind.value}: {failure.explanation}"
                    self.past.append(Text(line, style="bold red"))
            case Recovery(strategy, _, outcome):
                self.past.append(Text(f"{strategy}: {outcome}", style="yellow"))
            case _:
                pass

    def render(self) -> Group:
        parts: list[Tree | Text] = [*self.head, *self.past]
        if self.plan is None:
            parts.append(Text("planning …", style="dim"))
        else:
            parts.append(self.tree(self.plan))
        return Group(*parts)

    def tree(self, event: PlanReady) -> Tree:
        root = Tree(Text(describe_plan(event), style="bold"), guide_style="dim")
        number = event.first_step
        for block in event.plan.blocks:
            numbers = range(number, number + len(block.actions))
            complete = all(n in self.done and self.done[n].as_expected for n in numbers)
            style = "green" if complete else ""
            branch = root.add(Text(f"{'✓ ' if complete else '  '}{block.macro.name}", style=style))
            for n, action in zip(numbers, block.actions, strict=True):
                branch.add(self.step(n, str(action)))
            number += len(block.actions)
        return root

    def step(self, number: int, action: str) -> Text:
        """Return a step with marks for validated, executed and observed: ✓ yes, ✗ no, · not yet."""
        done = self.done.get(number)
        text = Text()
        if done is None:
            text.append("✓··", style="dim")
            return text.append(f" {number:>3} {action}", style="dim")
        text.append("✓", style="green")
        text.append("✓" if done.success else "✗", style="green" if done.success else "red")
        seen = not done.failures
        text.append("✓" if seen else "✗", style="green" if seen else "red")
        text.append(f" {number:>3} {action}")
        return text.append(deviations(done), style="red")
