"""The demands of a request, conjunct by conjunct, and the stages in which to meet them.

A goal is one condition, which leaves the order to the planner. Only where a later demand makes an
earlier one untrue ('open the fridge and then close it') must there be a moment between the two
at which the earlier one holds: a stage of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from hvr.errors import MissingObjectError
from hvr.knowledge.roles import CARRIER, CONTAINS, FILLED, OPEN, RUNNING, SLOT
from hvr.language.choice import ObjectChoice
from hvr.language.literals import asks, literals
from hvr.language.origin import at_origin
from hvr.values import Value

HELD = "(holding ?x)"


class Demand(Value):
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
        """Whether it matters only on the way to what comes after."""
        return self.text == "(near ?x)"

    @property
    def holds(self) -> bool:
        """Whether it asks for something in the hand."""
        return self.text == HELD


def collect(choice: ObjectChoice) -> list[Demand]:
    """Return all demands of a request, in the order of its entities.

    Raises:
        MissingObjectError: there is nowhere to serve.
    """
    demands: list[Demand] = []
    for number in choice.numbers:
        demands += _of_entity(choice, number, demands)
    return list(dict.fromkeys(demands))


def _of_entity(choice: ObjectChoice, number: int, before: list[Demand]) -> list[Demand]:
    """Return the demands about one entity.

    Args:
        choice: the entities.
        number: which one.
        before: the demands about the entities before it.
    """
    entity = choice.entities[number]
    demands = []
    for condition in entity.conditions:
        text = condition.template
        if text == choice.taxonomy.there and not choice.is_piece(number):
            continue  # always true of what is not made by cutting
        # Where things are counts as half a clause later than what state they are in.
        placing = text == HELD or "(on ?x" in text
        demands.append(
            Demand(2 * condition.clause + placing, number, "place" if placing else text, text)
        )
    if entity.used:  # so that it enters the problem
        demands.append(Demand(0, number, "used", choice.taxonomy.there))
    if entity.liquid:
        holds = choice.taxonomy.state(CONTAINS).replace("?x", f"?x {entity.liquid}")
        demands.append(Demand(2 * entity.liquid_clause, number, "liquid", holds))
    places = [r for r in choice.relations
              if r.inner == number and choice.entities[r.outer].classes]  # fmt: skip
    demands += [Demand(2 * r.clause + 1, number, "place", "", r.outer) for r in places]
    if entity.returns is not None:
        demands.append(Demand(2 * entity.returns + 1, number, "place", at_origin(choice, number)))
    # Serving and resting come after everything else that is asked of the entity.
    asked = [d.moment for d in (*before, *demands) if d.entity == number]
    filled = [2 * r.clause + 1 for r in choice.relations if r.outer == number]
    last = max((*asked, *filled), default=0)
    held = any(d.holds for d in demands)
    if entity.serve or (entity.rests and not held):
        demands.append(Demand(last, number, "place", _resting(choice, number)))
    elif not places and choice.any_plays(choice.classes[number], CARRIER):
        filled = [2 * r.clause + 1 for r in choice.relations
                  if r.outer == number and choice.entities[r.inner].classes]  # fmt: skip
        if filled and not held:
            demands += [Demand(max(filled), number, "open", text) for text in _in_the_open(choice)]
    return demands


def _in_the_open(choice: ObjectChoice) -> list[str]:
    """Return conditions that dishes with something on them shall fulfil, by preference."""
    ontology = choice.taxonomy.ontology
    return [
        str(ontology.annotation(name, "condition")[0])
        for name in sorted(ontology.instances("Preference"))
        if ontology.annotation(name, "context") == ("put on a dish",)
    ]


def _resting(choice: ObjectChoice, number: int) -> str:
    """Return the condition of being on a serving surface: the preferred one for serving, any one
    for things that shall only rest.

    Raises:
        MissingObjectError: the scene has no such surface.
    """
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
    # Going somewhere is a goal only if nothing is asked for afterwards.
    demands = [d for d in demands if not d.passing or d.moment // 2 == last // 2]
    undone: dict[Demand, int] = {}
    for demand in demands:
        when = [
            d.moment for d in demands
            if d.moment > demand.moment
            and (_undoes(choice, d, demand) or _taken_out(choice, d, demand, demands))
        ]  # fmt: skip
        if when:
            undone[demand] = min(when)
    moments = {m for d, m in undone.items() if not _on_the_way(choice, d, demands)}
    told = {m for m in (2 * clause for clause in choice.ordered)
            if not _comes_last(choice, m, demands)}  # fmt: skip
    told.update(_washing_first(choice, demands))
    split: list[list[Demand]] = []
    for moment in sorted(moments | told):
        stage = [d for d in demands if d.moment < moment and undone.get(d, moment) >= moment]
        if moment not in moments:  # only the order of words makes this stage
            stage = [d for d in stage if not (d.holds and _on_the_way(choice, d, demands))]
        hand = [d for d in stage if d.holds][-1:]  # one hand: the latest thing is in it
        stage = [d for d in stage if not d.holds or d in hand]
        if stage and stage not in split:
            split.append(stage)
    kept = [d for d in demands if d not in undone]
    return [*split, kept] if kept and kept not in split else split


def _comes_last(choice: ObjectChoice, moment: int, demands: list[Demand]) -> bool:
    """Return whether what is asked for from a moment on comes last anyway: things of which more
    was asked before are only put where they end.
    """
    following = min((2 * c for c in choice.ordered if 2 * c > moment), default=None)
    later = [d for d in demands
             if d.moment >= moment and (following is None or d.moment < following)]  # fmt: skip
    earlier = [d for d in demands if d.moment < moment]
    return all(
        d.key == "place" and any(_about(choice, d, e.entity) or _about(choice, e, d.entity)
                                 for e in earlier)
        for d in later
    )  # fmt: skip


def _washing_first(choice: ObjectChoice, demands: list[Demand]) -> Iterator[int]:
    """Yield the moments at which something washed before is filled: a full cup is not washed.

    What washing fills with is no matter.
    """
    for liquid in demands:
        if liquid.key != "liquid":
            continue
        name = choice.entities[liquid.entity].liquid
        others = [p for p, left in choice.taxonomy.methods.floods.items() if left != name]
        if any(d.entity == liquid.entity and d.moment < liquid.moment
               and any(asks(d.text, p) for p in others) for d in demands):  # fmt: skip
            yield liquid.moment


def _on_the_way(choice: ObjectChoice, demand: Demand, demands: list[Demand]) -> bool:
    """Return whether a thing is held only for what is done with it next.

    'Pick it up and put it down' names no place: there the hand counts as a stage.
    """
    return demand.holds and any(
        d.moment > demand.moment
        and _about(choice, d, demand.entity)
        and (d.outer is None or not choice.entities[d.outer].group)
        for d in demands
    )


def _about(choice: ObjectChoice, demand: Demand, entity: int) -> bool:
    """Return whether a demand is about an entity, pieces of it, or what is put on or in it."""
    cut_from = choice.entities[demand.entity].cut_from
    return entity in (demand.entity, demand.outer, cut_from)


def _taken_out(choice: ObjectChoice, later: Demand, running: Demand, demands: list[Demand]) -> bool:
    """Return whether what was put into an appliance that runs with the door closed goes elsewhere:
    'put the cup in the microwave, turn it on and take it out'.
    """
    appliance, taxonomy = running.entity, choice.taxonomy
    classes, opens = choice.classes[appliance], taxonomy.roles.bearer(OPEN) or ""
    return (
        running.text == f"({taxonomy.roles.predicate(RUNNING)} ?x)"
        and (choice.any_plays(classes, SLOT) or choice.any_is(classes, opens))
        and not any(choice.any_is(classes, c) for c in taxonomy.switched)
        and (later.key == "place" or later.holds)
        and later.outer != appliance
        and any(d.outer == appliance and d.entity == later.entity and d.moment <= running.moment
                for d in demands)
    )  # fmt: skip


def _undoes(choice: ObjectChoice, later: Demand, earlier: Demand) -> bool:
    """Return whether one demand makes another untrue."""
    # Whatever is done with what is in the hand takes it out of the hand first.
    if earlier.holds and _about(choice, later, earlier.entity):
        return later.text != earlier.text
    # Of different things only the hand is shared.
    if later.entity != earlier.entity:
        return later.holds and earlier.holds
    methods = choice.taxonomy.methods
    # In the fridge things grow cold, although no demand says so.
    outer = choice.classes[later.outer] if later.outer is not None else ()
    if kept := {p for c in outer for p in methods.kept_by(c)}:
        return any(methods.opposed(earlier.text, f"({p} ?x)") for p in kept) or (
            later.key == earlier.key and later != earlier
        )
    if earlier.key == "place" and choice.taxonomy.cuts(later.text):
        return True  # what is cut up is nowhere: its pieces are
    if later.key == earlier.key and later != earlier:
        return later.key in {"place", "liquid"} and (later.text, later.outer) != (
            earlier.text, earlier.outer,
        )  # fmt: skip
    if earlier.key == "liquid" and any(asks(later.text, p) for p in methods.floods):
        return True
    # Emptying and filling exclude each other, and are not literals of one predicate.
    filled = choice.taxonomy.roles.predicate(FILLED)
    if earlier.key == "liquid":
        return (filled, False) in literals(later.text)
    if later.key == "liquid":
        return (filled, False) in literals(earlier.text)
    return methods.opposed(later.text, earlier.text)
