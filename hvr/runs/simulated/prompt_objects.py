"""The objects of a prompt: which the simulated model knows by name, and how it confuses them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from hvr.knowledge.conduct import load_conduct
from hvr.runs.simulated.parsed_prompt import ListedObject, class_of


@dataclass(frozen=True)
class PromptObjects:
    """The objects of a prompt.

    Args:
        listed: in the order of the prompt.
        meant: names of all objects of the ground truth.
        mentioned: names in the lines of others, such as the place where a thing is.
    """

    listed: tuple[ListedObject, ...]
    meant: frozenset[str]
    mentioned: frozenset[str] = frozenset()

    def knows(self, name: str) -> bool:
        """Return whether the prompt names an object; a name without a number is no object's."""
        return (
            not self._is_object(name)
            or name in self.mentioned
            or any(o.name == name for o in self.listed)
        )

    def name_of(self, name: str) -> str:
        """Return the name that the model writes for an object of the ground truth."""
        if self.knows(name):
            return name
        same = [o.name for o in self.listed if o.cls == self._class(name)]
        spare = [n for n in same if n not in self.meant]
        return next(iter([*spare, *same]), f"{class_of(name)}-1")

    def names_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that the model writes for some objects."""
        return tuple(map(self.name_of, names))

    def confused(self, name: str, what: str, place: int, rng: Random) -> str:
        """Draw an object that could be meant instead, or the object itself.

        Args:
            name: the object.
            what: the action or predicate.
            place: of the argument in it, from 0.
            rng: to draw one of what could be meant.
        """
        if not self._is_object(name):
            return name
        others = [o for o in self.listed if o.name != name]
        same = [o.name for o in others if o.cls == self._class(name)]
        mine = next((o.uses for o in self.listed if o.name == name), frozenset[str]())
        need = load_conduct().needs.get((what, place))
        fits = [o.name for o in others if (need in o.uses if need else mine & o.uses)]
        return rng.choice([name, *(same or fits)])

    def invented(self, name: str, rng: Random) -> str:
        """Draw an object that does not exist, of the same class or of another one."""
        known = {o.name for o in self.listed} | self.mentioned | self.meant
        classes = {class_of(n) for n in known}
        numbers = [n for n in range(2, 100) if f"{class_of(name)}-{n}" not in known]
        things = [t for t in load_conduct().invented if t not in classes]
        same = f"{class_of(name)}-{rng.choice(numbers[:8])}"
        other = f"{rng.choice(things)}-{rng.randint(1, 3)}" if things else same
        return rng.choice((same, other)) if self._is_object(name) else other

    def _is_object(self, name: str) -> bool:
        return name.rsplit("-", 1)[-1].isdigit() or any(o.name == name for o in self.listed)

    def _class(self, name: str) -> str:
        return next((o.cls for o in self.listed if o.name == name), class_of(name))
