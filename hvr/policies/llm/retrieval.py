"""KG-RAG in the loop: the model picks kinds of objects, the graph supplies the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hvr.policies.llm.answers import read_objects
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.events import ObjectsChosen, PolicyEvent
from hvr.policies.llm.foresight import Foresight
from hvr.policies.llm.settings import PolicySettings
from hvr.retrieval.embedders import Embedder
from hvr.retrieval.expansion import expand
from hvr.retrieval.inventory import Inventory
from hvr.retrieval.knowledge import ingredients
from hvr.retrieval.selection import mentioned, select
from hvr.retrieval.words import singular, squeezed

_MOST_PLACES = 10
"""Most places of a kind that are told of, where a request names the kind in the plural."""


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
        everything = tuple(foresight.task.problem.objects)
        names = tuple(o.name for o in everything)
        if not self.settings.retrieval:
            return names
        inventory = foresight.inventory
        if self.settings.direct and otherwise:
            named = self._named(request, inventory, otherwise)
            if named:
                picked = tuple(n for n in named if n in foresight.task.objects)
                self.listen(ObjectsChosen(request, picked))
                return picked
        classes = ", ".join(sorted(set(inventory.classes.values())))
        answer = self.dialogue.ask("select", request=request, classes=classes)
        chosen = select(read_objects(answer), inventory, self.embedder)
        reasons = dict(chosen.reasons)
        if self.settings.knowledge:
            reasons |= self._spoken_of(request, inventory, reasons)
        if self.settings.expansion:
            reasons |= expand(chosen.names, inventory)
        picked = tuple(n for n in reasons if n in foresight.task.objects)
        picked = picked or otherwise or names
        self.listen(ObjectsChosen(request, picked, chosen.unmatched))
        return picked

    def _spoken_of(
        self, request: str, inventory: Inventory, chosen: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the objects that a request names, itself or by a dish, and no pick stands for."""
        classes = {inventory.classes[name] for name in chosen}
        wanted = (*mentioned(request, inventory), *ingredients(request, inventory.ontology))
        missing = [
            name for name in dict.fromkeys(wanted)
            if classes.isdisjoint(
                inventory.classes[n] for n in select([name], inventory, self.embedder).names
            )
        ]  # fmt: skip
        more = [*select(missing, inventory, self.embedder).names, *_several(request, inventory)]
        return dict.fromkeys(more, "the request speaks of it")

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
        inventory = foresight.inventory
        names = dict.fromkeys(name for text in texts for name in mentioned(text, inventory))
        missing = [n for n in names if not select([n], inventory, self.embedder).reasons.keys()
                   & set(known)]  # fmt: skip
        more = dict(select(missing, inventory, self.embedder, per_class=1).reasons)
        there = inventory.classes
        more |= dict.fromkeys((n for n in map(_object, names) if n in there), "named")
        if self.settings.expansion and more:
            more |= expand((*known, *more), inventory)
        return tuple(dict.fromkeys((*known, *(n for n in more if n in there))))

    def _named(self, request: str, inventory: Inventory, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the objects for a macro action that names them itself; nothing for another one.

        What stands in the room is useful whatever is done: of the objects of the task, places and
        appliances come along.
        """
        names = mentioned(request.rsplit("\n", 1)[-1], inventory)
        chosen = select(names, inventory, self.embedder)
        classes = {inventory.classes[name] for name in chosen.names}
        if not any(inventory.true("pickupable", name) for name in chosen.names):
            return ()
        picked = [n for n in known if inventory.classes[n] in classes]
        picked += chosen.names
        if self.settings.expansion:
            picked += expand(dict.fromkeys(picked), inventory)
        picked += [n for n in known if not inventory.true("pickupable", n)]
        return tuple(dict.fromkeys(picked))


def _several(request: str, inventory: Inventory) -> list[str]:
    """Return the places that a request names in the plural: "drawers" are more than two."""
    names = []
    for phrase in mentioned(request, inventory):
        *_, last = phrase.split()
        if singular(last) != last:
            kind = " ".join([*phrase.split()[:-1], singular(last)])
            same = [n for n, c in inventory.classes.items() if c.lower() == squeezed(kind)]
            rank = [n for n in inventory.of("PhysicalObject") if n in same]
            names += [n for n in rank if not inventory.true("pickupable", n)][:_MOST_PLACES]
    return names


def _object(phrase: str) -> str:
    """Return a phrase as an object would be named: "mug 1" as `mug-1`."""
    return "-".join(phrase.rsplit(" ", 1))
