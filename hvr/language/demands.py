"""What a request asks for, conjunct by conjunct, and in which stages."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.errors import MissingObjectError
from hvr.language.choice import ObjectChoice
from hvr.language.literals import asks, literals, opposed

HELD = "(holding ?x)"


@dataclass(frozen=True)
class Demand:
    """One conjunct of the goal.

    Args:
        moment: when it is asked for: twice the number of the clause, and one more for where
            things go, since 'put a hot potato in the fridge' heats first.
        entity: number of the entity that it is about.
        key: demands of one entity with one key, `place` or `liquid`, replace each other.
        text: PDDL over `?x`, or empty if the entity shall be at `outer`.
        outer: number of the entity where it shall be.
    """

    moment: int
    entity: int
    key: str
    text: str
    outer: int | None = None

    @property
    def passing(self) -> bool:
        """It is only on the way to what comes after."""
        return self.text == "(near ?x)"

    @property
    def holds(self) -> bool:
        """It is to be in the hand."""
        return self.text == HELD


def collect(choice: ObjectChoice) -> list[Demand]:
    """Return all demands of a request, in the order of its entities.

    Raises:
        MissingObjectError: there is nowhere to serve.
    """
    found: list[Demand] = []
    for number in choice.numbers:
        found += _of_entity(choice, number, found)
    return list(dict.fromkeys(found))


def _of_entity(choice: ObjectChoice, number: int, before: list[Demand]) -> list[Demand]:
    entity = choice.entities[number]
    found = []
    for condition in entity.conditions:
        text = condition.template
        if text == "(present ?x)" and not choice.is_piece(number):
            continue
        placing = text == HELD or "(on ?x" in text
        found.append(
            Demand(2 * condition.clause + placing, number, "place" if placing else text, text)
        )
    if entity.liquid:
        found.append(
            Demand(2 * entity.liquid_clause, number, "liquid", f"(contains ?x {entity.liquid})")
        )
    places = [r for r in choice.relations
              if r.inner == number and choice.entities[r.outer].classes]  # fmt: skip
    found += [Demand(2 * r.clause + 1, number, "place", "", r.outer) for r in places]
    last = max((d.moment for d in (*before, *found) if d.entity == number), default=0)
    held = any(d.holds for d in found)
    if entity.serve or (entity.rests and not held):
        found.append(Demand(last, number, "place", _resting(choice, number)))
    elif not places and choice.any_is(choice.classes[number], "PortableReceptacle"):
        filled = [2 * r.clause for r in choice.relations
                  if r.outer == number and choice.entities[r.inner].classes]  # fmt: skip
        if filled and not held:
            found += [Demand(max(filled), number, "open", text) for text in _in_the_open(choice)]
    return found


def _in_the_open(choice: ObjectChoice) -> list[str]:
    """Return where dishes with something on them shall not be left."""
    ontology = choice.taxonomy.ontology
    return [
        str(ontology.annotation(name, "condition")[0])
        for name in sorted(ontology.instances("Preference"))
        if ontology.annotation(name, "context") == ("put on a dish",)
    ]


def _resting(choice: ObjectChoice, number: int) -> str:
    """On a serving surface: the preferred one to serve, any where things are to rest."""
    ranked = choice.taxonomy.preferred("serving")
    places = [c for c in ranked if choice.inventory.of(c)]
    places = [p for p in places if choice.fits(choice.classes[number][0], p)] or places
    if not places:
        raise MissingObjectError(choice.inventory.scene, ranked, "serving surface")
    if choice.entities[number].serve:
        if places[0] != ranked[0]:
            choice.note(
                f"no {choice.taxonomy.label(ranked[0])} here: serving on the "
                f"{choice.taxonomy.label(places[0])}"
            )
        places = places[:1]
    types = " ".join(choice.taxonomy.pddl_type(c) for c in places)
    kind = types if len(places) == 1 else f"(either {types})"
    return f"(exists (?s - {kind}) (on ?x ?s))"


def stages(choice: ObjectChoice, demands: list[Demand]) -> list[list[Demand]]:
    """Split where something later undoes something earlier.

    A stage has what was asked for up to its moment and is not yet undone. Picking up what is
    then put at a named place makes no stage: it happens on the way.
    """
    last = max((d.moment for d in demands), default=0)
    demands = [d for d in demands if not d.passing or d.moment // 2 == last // 2]
    undone: dict[Demand, int] = {}
    for demand in demands:
        moments = [
            d.moment for d in demands if d.moment > demand.moment and _undoes(choice, d, demand)
        ]
        if moments:
            undone[demand] = min(moments)
    found: list[list[Demand]] = []
    for moment in sorted({m for d, m in undone.items() if not _on_the_way(choice, d, demands)}):
        stage = [d for d in demands if d.moment < moment and undone.get(d, moment) >= moment]
        hand = [d for d in stage if d.holds][-1:]
        found.append([d for d in stage if not d.holds or d in hand])
    kept = [d for d in demands if d not in undone]
    return [*found, kept] if kept else found


def _on_the_way(choice: ObjectChoice, demand: Demand, demands: list[Demand]) -> bool:
    """Held for what is done with it next; 'pick it up and put it down' wants both."""
    return demand.holds and any(
        d.moment > demand.moment
        and _about(choice, d, demand.entity)
        and (d.outer is None or not choice.entities[d.outer].group)
        for d in demands
    )


def _about(choice: ObjectChoice, demand: Demand, entity: int) -> bool:
    """Return whether a demand is about an entity, about pieces of it or what is put on it."""
    cut_from = choice.entities[demand.entity].cut_from
    return entity in (demand.entity, demand.outer, cut_from)


def _undoes(choice: ObjectChoice, later: Demand, earlier: Demand) -> bool:
    """Return whether one demand makes another untrue."""
    if earlier.holds and _about(choice, later, earlier.entity):
        return later.text != earlier.text
    if later.entity != earlier.entity:
        return later.holds and earlier.holds
    if later.outer is not None and choice.any_is(choice.classes[later.outer], "Fridge"):
        return (
            asks(earlier.text, "hot")
            or asks(earlier.text, "warm_liquid")
            or (later.key == earlier.key and later != earlier)
        )
    if later.key == earlier.key and later != earlier:
        return later.key in {"place", "liquid"} and (later.text, later.outer) != (
            earlier.text, earlier.outer,
        )  # fmt: skip
    if earlier.key == "liquid":
        return ("filled", False) in literals(later.text)
    if later.key == "liquid":
        return ("filled", False) in literals(earlier.text)
    return opposed(later.text, earlier.text)
