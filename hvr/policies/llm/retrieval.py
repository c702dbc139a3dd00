"""KG-RAG in the loop: the model picks kinds of objects, the world tells the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hvr.knowledge.retrieval.embedders import Embedder
from hvr.policies.llm.answers import read_objects
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.events import ObjectsChosen, PolicyEvent
from hvr.policies.llm.foresight import Foresight
from hvr.policies.llm.settings import PolicySettings


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
            otherwise: the objects of the task, for a macro action of it: if nothing that the
                model names exists, and for `direct`.

        Raises:
            LLMError: the model did not answer.
        """
        names = tuple(o.name for o in foresight.task.problem.objects)
        settings, there = self.settings, foresight.task.objects
        if not settings.retrieval:
            return names
        if settings.direct and otherwise:
            # A macro action follows the task that it is a part of.
            named = foresight.named_in(
                request.rsplit("\n", 1)[-1], otherwise, self.embedder, expansion=settings.expansion
            )
            if named:
                picked = tuple(n for n in named if n in there)
                self.listen(ObjectsChosen(request, picked))
                return picked
        answer = self.dialogue.ask("select", request=request, classes=", ".join(foresight.kinds))
        reasons, unmatched = foresight.pick(
            read_objects(answer), request, self.embedder,
            knowledge=settings.knowledge, expansion=settings.expansion,
        )  # fmt: skip
        picked = tuple(n for n in reasons if n in there) or otherwise or names
        self.listen(ObjectsChosen(request, picked, unmatched))
        return picked

    def with_named(
        self, texts: Iterable[str], foresight: Foresight, known: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return objects, and those that some texts name besides, with what these depend on.

        Args:
            texts: macro actions and their conditions.
            foresight: the predicted state.
            known: the objects of the task; without R all there are.
        """
        if not self.settings.retrieval:
            return known
        return foresight.with_named(texts, known, self.embedder, expansion=self.settings.expansion)
