"""KG-RAG in the loop: the model picks kinds of objects, the graph supplies the facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hvr.policies.llm.answers import read_objects
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.events import ObjectsChosen, PolicyEvent
from hvr.policies.llm.foresight import Foresight
from hvr.policies.llm.settings import PolicySettings
from hvr.retrieval.embedders import Embedder
from hvr.retrieval.expansion import expand
from hvr.retrieval.selection import select


@dataclass(frozen=True)
class Retrieval:
    """The choice of objects for a prompt (paper, sections 2.2 and 3.3).

    Args:
        dialogue: asks the model to pick; it is not used without R.
        settings: whether to retrieve, and whether to expand.
        embedder: maps the names that the model gives to objects.
        listen: called with each choice.
    """

    dialogue: Dialogue
    settings: PolicySettings
    embedder: Embedder
    listen: Callable[[PolicyEvent], None]

    def choose(
        self, request: str, foresight: Foresight, otherwise: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Return the objects for a request in the predicted state; without R, all of them.

        Args:
            request: the task, or a macro action of it.
            foresight: the predicted state.
            otherwise: the objects if nothing that the model names exists; all if empty.

        Raises:
            LLMError: the model did not answer.
        """
        everything = tuple(foresight.task.problem.objects)
        names = tuple(o.name for o in everything)
        if not self.settings.retrieval:
            return names
        inventory = foresight.inventory
        classes = ", ".join(sorted(set(inventory.classes.values())))
        answer = self.dialogue.ask("select", request=request, classes=classes)
        chosen = select(read_objects(answer), inventory, self.embedder)
        reasons = dict(chosen.reasons)
        if self.settings.expansion:
            reasons |= expand(chosen.names, inventory)
        picked = tuple(n for n in reasons if n in foresight.task.objects)
        picked = picked or otherwise or names
        self.listen(ObjectsChosen(request, picked, chosen.unmatched))
        return picked
