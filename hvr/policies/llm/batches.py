"""Blocks of several macro actions from one prompt: a call for each would cost more than they need.

Each block is then checked and corrected as if it had been asked for alone. What an answer lacks is
asked for alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hvr.planning.plans import MacroAction
from hvr.policies.llm.answers import read_blocks
from hvr.policies.llm.answers.exact import marked
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.foresight import Foresight
from hvr.policies.llm.telling import Telling

MOST = 8
"""Most macro actions of a prompt: what they do to the world must still be followed."""


@dataclass
class Batches:
    """The blocks that were written ahead.

    Args:
        dialogue: asks the model.
        telling: the words of the prompts.
        names: returns the objects that macro actions are about.
    """

    dialogue: Dialogue
    telling: Telling
    names: Callable[[Sequence[MacroAction]], tuple[str, ...]]
    _drafts: list[str | None] = field(default_factory=list, init=False)

    @property
    def empty(self) -> bool:
        """Whether the next block has to be asked for."""
        return not self._drafts

    def skip(self) -> None:
        """Leave out the next block: the library has it."""
        del self._drafts[:1]

    def next(self, macros: Sequence[MacroAction], foresight: Foresight, done: str) -> str | None:
        """Return the answer for the first of some macro actions; None where it is to be asked for
        alone.

        Args:
            macros: those that are left.
            foresight: the predicted world.
            done: what was planned before, as prompts show it.

        Raises:
            LLMError: the model did not answer.
        """
        if self._drafts:
            return self._drafts.pop(0)
        batch = tuple(macros[:MOST])
        while len(batch) > 1:
            values = self._values(batch, foresight, done)
            if self.dialogue.fits("blocks", **values):
                answer = self.dialogue.ask("blocks", **values)
                plain = marked(answer, foresight.arities, foresight.task.objects)
                self._drafts = list(read_blocks(plain, len(batch)))
                return self._drafts.pop(0)
            batch = batch[:-1]
        return None

    def _values(
        self, batch: Sequence[MacroAction], foresight: Foresight, done: str
    ) -> dict[str, str]:
        names = self.names(batch)
        return {
            "request": self.telling.request,
            "objects": self.telling.objects(foresight, names),
            "knowledge": self.telling.steps(foresight, names),
            "actions": foresight.actions(),
            "history": done,
            "macros": self.telling.listed(batch, foresight.task, foresight.state),
        }
