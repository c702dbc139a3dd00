"""Demands as PDDL: every entity is a variable or one or more objects."""

from __future__ import annotations

from hvr.language.choice import ObjectChoice
from hvr.language.demands import Demand


class Formula:
    """The condition for one stage.

    Args:
        choice: what the entities can be.
        demands: of the stage.
        bound: every entity is the object that is preferred now, so that later stages speak of
            the same things.
    """

    def __init__(self, choice: ObjectChoice, demands: list[Demand], *, bound: bool) -> None:
        self.choice = choice
        self.demands = demands
        self.bound = bound
        self.variables: dict[int, list[str]] = {}
        self.declared: list[str] = []
        self.conjuncts: list[str] = []
        self._bind()

    def text(self) -> str:
        """Return the condition: `(exists (variables) (and …))`."""
        conjuncts = [*self.conjuncts, *self._distinctions()]
        for demand in self.demands:
            conjuncts += self._conjunct(demand)
        body = f"(and {' '.join(dict.fromkeys(conjuncts))})"
        return f"(exists ({' '.join(self.declared)}) {body})" if self.declared else body

    def _bind(self) -> None:
        """Choose a variable or an object for each entity of the stage."""
        used = {d.entity for d in self.demands}
        used |= {d.outer for d in self.demands if d.outer is not None}
        self.anywhere = {n for n in used if self._each_in_some(n)}
        used -= self.anywhere
        # Two entities of one class get different objects as long as there are enough.
        taken: set[str] = set()
        for number in sorted(used):
            entity = self.choice.entities[number]
            sole = 0 < len(self.choice.names(number)) <= self.choice.copies(number)
            if entity.name or entity.count == 0 or sole or self.bound:
                pool = self.choice.pool(number)
                pool = tuple(n for n in pool if n not in taken) or pool
                self.variables[number] = list(pool[: self.choice.copies(number)])
                taken.update(self.variables[number])
                continue
            kind = self.choice.taxonomy.pddl_type(self.choice.classes[number][0])
            self.variables[number] = [
                f"?{kind}{number}{chr(97 + copy)}" for copy in range(self.choice.copies(number))
            ]
            for variable in self.variables[number]:
                self.declared.append(f"{variable} - {self._type(number)}")
                if names := self.choice.names(number):
                    options = " ".join(f"(= {variable} {n})" for n in names)
                    self.conjuncts.append(f"(or {options})")

    def _each_in_some(self, number: int) -> bool:
        """Return whether things shall each be in some place of a kind, whichever: 'in drawers'."""
        entity = self.choice.entities[number]
        asked = any(d.entity == number for d in self.demands)
        return entity.count < 0 and not entity.apart and not asked and not self.choice.names(number)

    def _type(self, number: int) -> str:
        types = [self.choice.taxonomy.pddl_type(c) for c in self.choice.classes[number]]
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    def _distinctions(self) -> list[str]:
        """Return the inequalities that keep two of a kind, and 'another' one, apart.

        Other entities may turn out to be the same thing: 'take a mug, then wash the mug'.
        """
        inequalities = []
        for number, names in self.variables.items():
            for i, one in enumerate(names):
                inequalities += [f"(not (= {one} {other}))" for other in names[:i]]
            for earlier, others in self.variables.items():
                same = set(self.choice.classes[earlier]) & set(self.choice.classes[number])
                entities = self.choice.entities
                apart = entities[earlier].distinct or entities[number].distinct
                if earlier < number and same and apart:
                    inequalities += [f"(not (= {a} {b}))" for a in others for b in names]
        return [text for text in inequalities if "?" in text]

    def _conjunct(self, demand: Demand) -> list[str]:
        literals = []
        for index, name in enumerate(self.variables[demand.entity]):
            if demand.outer is None:
                literals.append(demand.text.replace("?x", name))
            elif demand.outer in self.anywhere:
                place = f"?some{demand.outer}for{demand.entity}{chr(97 + index)}"
                body = self._at(name, demand.outer, [place])
                literals.append(f"(exists ({place} - {self._type(demand.outer)}) {body})")
            else:
                places = self.variables.get(demand.outer, [])
                own = index + self._before(demand)
                literals.append(self._at(name, demand.outer, places[own % len(places) :][:1]))
        return literals

    def _before(self, demand: Demand) -> int:
        """Return how many places of their own the things named before have: 'in different
        drawers'.
        """
        assert demand.outer is not None
        if not self.choice.entities[demand.outer].apart:
            return 0
        inside = self.choice.inside(demand.outer)
        return sum(self.choice.copies(n) for n in inside[: inside.index(demand.entity)])

    def _at(self, inner: str, outer: int, places: list[str]) -> str:
        """Return `(on inner place)` or `(in inner place)`, whichever the kind of place has."""
        taxonomy, classes = self.choice.taxonomy, self.choice.classes[outer]
        relations = sorted({taxonomy.relation(c) for c in classes})
        texts = [f"({relation} {inner} {place})" for relation in relations for place in places]
        return texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"
