"""The words of prompts: actions, what was planned, and what the ontology knows.

Without the switch `knowledge` a `Telling` says nothing that the paper's prompts do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hvr.knowledge.retrieval.words import words
from hvr.knowledge.wording import load_wording
from hvr.pddl import GroundAction, State, Task
from hvr.planning.plans import AABlock, MacroAction
from hvr.policies.llm.conditions import conjunction
from hvr.policies.llm.foresight import Foresight
from hvr.policies.llm.settings import PolicySettings


@dataclass(frozen=True)
class Telling:
    """The words of prompts about one request.

    Args:
        settings: whether to tell.
        request: the request.
    """

    settings: PolicySettings
    request: str

    def objects(self, foresight: Foresight, names: Iterable[str]) -> str:
        """Return the lines of objects."""
        return foresight.objects(names, contents=self.settings.knowledge)

    def task(self, foresight: Foresight, names: Iterable[str]) -> str:
        """Return what is known of the request, and what is usual with some objects."""
        return self._listed(foresight.usual(self.request, names))

    def conditions(self, foresight: Foresight, names: Iterable[str]) -> str:
        """Return the same, and how predicates that overlap differ."""
        return self._listed([*foresight.usual(self.request, names), *foresight.notes("conditions")])

    def steps(self, foresight: Foresight, names: Iterable[str], *, whole: bool = False) -> str:
        """Return what is known of actions on some objects.

        Args:
            foresight: the predicted world.
            names: the objects.
            whole: the steps are those of the whole task: of what it asks for, too.
        """
        names = tuple(names)
        usual = foresight.usual(self.request, names) if whole else ()
        return self._listed([*usual, *foresight.notes("steps", names)])

    def wanted(self, macro: MacroAction, task: Task, state: State) -> str:
        """Return what a block is judged by and which objects are meant, as lines of its prompt."""
        if not self.settings.knowledge:
            return ""
        return "".join(f"\n{line}" for line in self._judged_by(macro, task, state))

    def listed(self, macros: Sequence[MacroAction], task: Task, state: State) -> str:
        """Return macro actions with what each is judged by, numbered from 1."""
        lines = []
        for number, macro in enumerate(macros, start=1):
            lines.append(f"{number}. {macro.name}")
            if self.settings.knowledge:
                # What holds now may not hold any more when the turn of a later one comes.
                judged = self._judged_by(macro, task, state if number == 1 else None)
                lines += [f"   {line}" for line in judged]
        return "\n".join(lines)

    def _judged_by(self, macro: MacroAction, task: Task, state: State | None) -> list[str]:
        lines = []
        if meant := _meant(macro, task):
            lines.append(f"Meant are: {', '.join(meant)}")
        if macro.postcondition:
            wanted = f"At the end: {' '.join(macro.postcondition)}"
            if state is not None and state.holds(conjunction(task, macro.postcondition)):
                wanted += " (this holds already: write none if there is nothing to do)"
            lines.append(wanted)
        return lines

    def _listed(self, told: Iterable[str]) -> str:
        if not self.settings.knowledge or not (lines := list(dict.fromkeys(told))):
            return ""
        return "\n".join(["", "What is known here:", *(f"- {line}" for line in lines), ""])


def _meant(macro: MacroAction, task: Task) -> tuple[str, ...]:
    """Return the objects of a macro action's conditions whose kinds its sentence names."""
    spoken = "".join(words(macro.name))
    objects = {o.name for o in task.problem.objects}
    texts = (*macro.postcondition, *macro.precondition)
    named = dict.fromkeys(
        word for text in texts for word in text.replace("(", " ").replace(")", " ").split()
        if word in objects
    )  # fmt: skip
    return tuple(name for name in named if _named(name.rsplit("-", 1)[0], spoken))


def _named(kind: str, spoken: str) -> bool:
    """Return whether a sentence without spaces names a kind: "tomato slice" is tomatosliced."""
    whole = load_wording().wholes.get(kind)
    if whole is not None and kind.startswith(whole):
        made = kind.removeprefix(whole).removesuffix("ed")
        return whole in spoken and made in spoken
    return kind in spoken


def numbered(block: Sequence[GroundAction]) -> str:
    """Return a block as the prompts show it."""
    lines = [f"{i}. {_written(a)}" for i, a in enumerate(block, start=1)]
    return "\n".join(lines) or "none"


def history(blocks: Sequence[AABlock]) -> str:
    """Return what was planned, grouped by macro action, as the prompts show it."""
    lines = [
        f"{i}. {b.macro.name}: {' '.join(map(_written, b.actions))}"
        for i, b in enumerate(blocks, start=1)
    ]
    return "\n".join(lines) or "nothing"


def signatures(task: Task) -> str:
    """Return all actions with their parameters, in the form of the answers."""
    return ", ".join(
        f"({', '.join((s.name, *(p.name.lstrip('?') for p in s.parameters)))})"
        for s in task.domain.actions.values()
    )


def _written(action: GroundAction) -> str:
    return f"({', '.join((action.name, *action.args))})"
