"""How the simulated model says things: plainly in the form that was asked for, or chatty."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hvr.knowledge.wording import load_wording
from hvr.pddl import GroundAction
from hvr.runs.simulated.literals import Literal, Sides

_OPENINGS = (
    "Sure! Here is my answer.",
    "Certainly, let me think about this carefully.",
    "Okay, I have looked at the kitchen.",
)
_CLOSINGS = (
    "Let me know if you need anything else!",
    "I hope this helps.",
    "This should do it.",
)
_STRAIGHT = "{name}({args})", "({name}, {args})", "({name} {spaced})"


class Plain:
    """Answers in the form that the prompts ask for."""

    def actions(self, steps: Sequence[GroundAction], description: str = "") -> str:
        """Return a block or a plan, with a description in front if there is one."""
        lines = [f"{i}. {_paper(step)}" for i, step in enumerate(steps, start=1)] or ["none"]
        head = [f"Description: {description}"] if description else []
        return "\n".join([*head, "Actions:", *lines])

    def blocks(self, names: Sequence[str], blocks: Sequence[Sequence[GroundAction]]) -> str:
        """Return the blocks of several macro actions."""
        lines: list[str] = []
        for number, (name, steps) in enumerate(zip(names, blocks, strict=True), start=1):
            lines += [
                f"Macro action {number}: {name}",
                *(map(_paper, steps) if steps else ["none"]),
            ]
        return "\n".join(lines)

    def macros(self, names: Sequence[str]) -> str:
        """Return a macro plan."""
        return "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1))

    def conditions(self, names: Sequence[str], sides: Sequence[Sides]) -> str:
        """Return conditions of macro actions."""
        lines = []
        for number, (name, (before, after)) in enumerate(zip(names, sides, strict=True), start=1):
            lines += [
                f"{number}. {name}",
                f"Preconditions: {' '.join(map(str, before)) or 'none'}",
                f"Postconditions: {' '.join(map(str, after)) or 'none'}",
            ]
        return "\n".join(lines)

    def classes(self, names: Sequence[str]) -> str:
        """Return the chosen classes."""
        return ", ".join(names) or "none"


class Chatty(Plain):
    """Answers with chat around them and in layouts that a tolerant reader has to undo.

    Args:
        rng: draws the layout.
    """

    def __init__(self, rng: Random) -> None:
        self._opening = rng.choice(_OPENINGS)
        self._closing = rng.choice((*_CLOSINGS, ""))
        self._marker = rng.choice(("{}. ", "{}) ", "- ", "* ", "Step {}: "))
        self._call = rng.choice(_STRAIGHT)
        self._fence = rng.choice(("", "```", "```text"))
        self._bold = rng.random() < 0.5

    def actions(self, steps: Sequence[GroundAction], description: str = "") -> str:
        """Return the same as `Plain.actions`."""
        lines = [self._item(i, self._called(step)) for i, step in enumerate(steps, start=1)]
        head = [self._label("Description") + f" {description}", ""] if description else []
        return self._around([*head, self._label("Actions"), *self._fenced(lines or ["none"])])

    def blocks(self, names: Sequence[str], blocks: Sequence[Sequence[GroundAction]]) -> str:
        """Return the same as `Plain.blocks`."""
        lines: list[str] = []
        for number, (name, steps) in enumerate(zip(names, blocks, strict=True), start=1):
            items = [self._item(i, self._called(step)) for i, step in enumerate(steps, start=1)]
            lines += [self._label(f"Macro action {number}"), name, *self._fenced(items or ["none"])]
        return self._around(lines)

    def macros(self, names: Sequence[str]) -> str:
        """Return the same as `Plain.macros`."""
        marker = self._marker if "{}" in self._marker else "{}. "
        lines = [
            marker.format(i) + (f"**{name}**" if self._bold else name)
            for i, name in enumerate(names, start=1)
        ]
        return self._around([*lines])

    def conditions(self, names: Sequence[str], sides: Sequence[Sides]) -> str:
        """Return the same as `Plain.conditions`."""
        lines = []
        for number, (name, pair) in enumerate(zip(names, sides, strict=True), start=1):
            lines.append(f"{number}. **{name}**" if self._bold else f"{number}. {name}")
            for label, side in zip(("Preconditions", "Postconditions"), pair, strict=True):
                literals = ", ".join(map(self._literal, side)) or "none"
                lines.append(f"   {self._label(label)} {literals}")
        return self._around(self._fenced(lines))

    def classes(self, names: Sequence[str]) -> str:
        """Return the same as `Plain.classes`."""
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


def describe(steps: Sequence[GroundAction]) -> str:
    """Return what some steps do, as a sentence."""
    text = ", ".join(map(_order, steps)) or "nothing has to be done"
    return f"{text[:1].upper()}{text[1:]}."


def _order(step: GroundAction) -> str:
    things = [f"the {name.rsplit('-', 1)[0]}" for name in step.args]
    known = load_wording().actions.get(step.name)
    if known is not None and known.imperative.arity == len(things):
        return known.imperative.fill(things)
    # A model has words for an action that it makes up, too.
    return " ".join([step.name.replace("_", " "), *things])


def _paper(step: GroundAction) -> str:
    return f"({', '.join((step.name, *step.args))})"
