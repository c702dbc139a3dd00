"""Choice among several objects of a class.

close the cabinet          the open one: closing another would change nothing
put the fork in the open drawer    the open one, if any
wash the mug               the dirty one, if they differ
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from hvr.errors import ImpossibleGoalError, LackingError, MissingObjectError, PddlError
from hvr.knowledge.ontology import CARRIER, PORTABLE, VESSEL
from hvr.knowledge.retrieval.inventory import PLACEHOLDER, Inventory, number_of
from hvr.knowledge.wording import wording_of
from hvr.language.class_choice import ClassChoice, possible
from hvr.language.meaning import PORTION, Condition, Entity, Meaning, SpatialRelation
from hvr.language.spatial import is_part, narrowed
from hvr.language.taxonomy import Manner, Taxonomy, asks, literals
from hvr.pddl.formulas import TypedName
from hvr.pddl.model import Domain
from hvr.pddl.problem_parser import parse_formula


def most_plausible(
    entity: Entity, things: Sequence[str], inventory: Inventory, holds: Callable[[str, str], bool]
) -> tuple[str, ...]:
    """Return the objects that an entity most plausibly means, or all if none is more plausible.

    Args:
        things: The candidates.
        holds: Returns whether a condition on `?x` holds for an object at the start.
    """
    chosen = tuple(things)
    for template in entity.likely:
        chosen = tuple(n for n in chosen if holds(template, n)) or chosen
    if entity.turns and entity.count > 0:
        chosen = _most(chosen, lambda name: _unmet(entity.turns, name, inventory, holds))
    return chosen


def _most(things: tuple[str, ...], rank: Callable[[str], int]) -> tuple[str, ...]:
    most = max(map(rank, things), default=0)
    return tuple(n for n in things if rank(n) == most)


def _unmet(
    template: str, name: str, inventory: Inventory, holds: Callable[[str, str], bool]
) -> int:
    parts = literals(template)
    if not parts:
        return int(not holds(template, name))
    return sum(inventory.true(predicate, name) != wanted for predicate, wanted in parts)


def stands_at(inventory: Inventory, name: str, entity: Entity, piece_of: str) -> bool:
    """Return whether an object is at the initial place of an entity.

    Contents and pieces of objects at this place count, but contents do not for 'everything'.

    Args:
        piece_of: The predicate that relates a piece to its source.
    """
    parent = inventory.parents.get(name)
    while parent is not None:
        if entity.from_name == parent or (
            entity.from_name is None and inventory.classes.get(parent) in entity.place_from
        ):
            return True
        if entity.group and entity.count == 0:
            # 'everything on the table' covers the dishes; their contents go along with them.
            return False
        parent = inventory.parents.get(parent)
    source = next((b for a, b in inventory.pairs(piece_of) if a == name), None)
    return source is not None and stands_at(inventory, source, entity, piece_of)


# Choice -------------------------------------------------------------------------------------------

MANY = 10
"""Maximum number of objects that one stage of a goal moves.

Each object is a separate goal for the planner, and planning time grows with each of them.
"""


class ObjectChoice(ClassChoice):
    """The entities of a request with the classes and objects that they can be in a scene.

    Classes are chosen first (`class_choice`). Descriptions such as 'the dirty one in the sink',
    initial places and exceptions then restrict the objects.
    """

    def __init__(
        self, meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory, domain: Domain
    ) -> None:
        super().__init__(meaning, taxonomy, inventory)
        self.domain = domain
        self.already_satisfied = False
        """Whether the request covers all objects in a state that none is in."""
        for number in self.numbers:
            among = partial(self._among, self.available(number))
            self.entities[number], notes = possible(
                self.entities[number], self.classes[number], self.taxonomy, among
            )
            self.notes += [note for note in notes if note not in self.notes]
        self._names: dict[int, tuple[str, ...]] = {}
        # Entities that exclude others come last, when the objects of the others are known.
        for number in sorted(self.numbers, key=lambda n: bool(self.entities[n].besides)):
            self._names[number] = self._select(number)
            self._bind_source(number)

    def names(self, number: int) -> tuple[str, ...]:
        """Return the objects that an entity is restricted to; empty if it is unrestricted."""
        return self._names.get(number, ())

    def pool(self, number: int) -> tuple[str, ...]:
        """Return the objects that an entity can stand for, preferred objects first."""
        return self.names(number) or self.available(number)

    def copies(self, number: int) -> int:
        """Return how many objects an entity means; all candidates if its count is 0.

        A destination in the plural, as in 'in drawers', means one object for each object put there.

        Raises:
            ImpossibleGoalError: The scene has fewer objects.
        """
        wanted, every = self.entities[number].count, len(self.pool(number))
        inside = sum(self.copies(n) for n in self.inside(number)) if self.shares(number) else 0
        if inside and wanted < 0 and not self.entities[number].apart:
            return min(inside, every)
        wanted = inside or wanted
        if wanted == 0 and self.entities[number].half:
            return self._half(number, every)
        if wanted == 0:
            return every
        if wanted < 0:  # 'some': a plural needs at least two
            return min(2, every)
        places = [
            len(self.pool(r.outer))
            for r in self.relations
            if r.inner == number and self.entities[r.outer].each
        ]
        count = wanted * max(places, default=1)  # 'a fork in each drawer'
        here, least = len(self.available(number)), max(count, self.entities[number].nth)
        if least > here:
            things = self.taxonomy.counted(here, self.classes[number])
            raise ImpossibleGoalError(f"{self.inventory.scene} has only {things}, not {least}")
        return count

    def _half(self, number: int, every: int) -> int:
        if every % 2:
            things = self.taxonomy.counted(every, self.classes[number])
            raise ImpossibleGoalError(f"half of {things} is not a whole number: say how many")
        return every // 2

    def shares(self, number: int) -> bool:
        """Return whether objects put into an entity are spread over its objects: 'in drawers'."""
        return self.entities[number].apart or self.entities[number].count < 0

    def inside(self, number: int) -> list[int]:
        """Return the entities that must be in or on another one, in the order of the request."""
        inner = (r.inner for r in self.relations if r.outer == number)
        return [n for n in dict.fromkeys(inner) if self.entities[n].classes]

    # --- objects -------------------------------------------------------------------------

    def _select(self, number: int) -> tuple[str, ...]:
        # A description that fits nothing is dropped with a note, not refused: 'the dirty mug' still
        # means a mug if all are clean.
        entity = self.entities[number]
        everything = self.available(number)
        chosen = self._own_name(number) or self._pieces(number) or everything
        every = entity.count == 0
        if every and entity.cut_from is None and (entity.group or not self.is_piece(number)):
            chosen = tuple(n for n in chosen if self.taxonomy.is_there(self.inventory, n))
        if entity.everything:  # 'put everything in the box' does not put the box in itself
            places = {n for r in self.relations if r.inner == number for n in self.pool(r.outer)}
            chosen = tuple(n for n in chosen if n not in places)
        for template in entity.selectors:
            fitting = tuple(n for n in chosen if self.holds(template, n))
            none = "" if fitting else self._describe_none(number, template)
            if none and entity.every and chosen:
                self.note(none)
                self.already_satisfied = True
                self.entities[number] = entity.replace(classes=())
                return ()
            if none:
                self.note(f"{none}: taking any")
            chosen = fitting or chosen
        if entity.holding:
            holding = tuple(n for n in chosen if self._holds_one_of(n, entity.holding))
            if not (holding or entity.source):
                what = self.taxonomy.a_label(entity.holding[0])
                self.note(f"no {self.label(number)} here holds {what}: taking any")
            chosen = holding or chosen
        if entity.place_from:
            chosen = self._at_origin(number, chosen)
            if not chosen:
                return ()
        if entity.near:
            chosen, notes = narrowed(self.inventory, entity, chosen)
            self.notes += [note for note in notes if note not in self.notes]
            kinds = {self.inventory.classes[name] for name in chosen}
            self.classes[number] = tuple(c for c in self.classes[number] if c in kinds)
        chosen = self._elsewhere_than_before(number, self._left(number, chosen))
        chosen = self._not_yet_there(number, chosen)
        chosen = most_plausible(entity, chosen, self.inventory, self.holds)
        if entity.returns is not None and entity.count > 0:
            chosen = chosen[: entity.count]  # the initial place depends on which object it is
        if every:
            chosen = self._portion(number, chosen)
            self.classes[number] = tuple(
                c for c in self.classes[number] if set(self.inventory.of(c)) & set(chosen)
            )
            return chosen
        return () if chosen == everything else chosen

    def _at_origin(self, number: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        entity = self.entities[number]
        fitting = tuple(
            n for n in chosen if stands_at(self.inventory, n, entity, self.taxonomy.piece_of)
        ) or self._in_part_of_origin(entity, chosen)
        if not fitting and entity.soft and not entity.group:
            return chosen
        if not fitting and entity.group and entity.count == 0:
            place = entity.from_name or self.taxonomy.label(entity.place_from[0])
            self.note(f"nothing on or in the {place} can be moved")
            self.entities[number] = entity.replace(classes=())
            return ()
        if not fitting and chosen and not self._brought_there(number):
            advice = (
                "name one place, or say 'then' between two"
                if entity.firm
                else f"say which {self.label(number)} is meant"
            )
            raise ImpossibleGoalError(f"{self._elsewhere(number, chosen)}; {advice}")
        return fitting or chosen

    def _in_part_of_origin(self, entity: Entity, chosen: tuple[str, ...]) -> tuple[str, ...]:
        if not entity.from_parts or (entity.group and entity.count == 0):
            return ()
        wholes = [entity.from_name] if entity.from_name else []
        wholes += [n for c in entity.place_from if not wholes for n in self.inventory.of(c)]
        fitting = []
        for name in chosen:
            part = self.inventory.parents.get(name)
            whole = next((w for w in wholes if part and is_part(self.inventory, part, w)), part)
            if whole != part:
                fitting.append(name)
                self.note(f"{name} is in {part}, which is a part of {whole}")
        return tuple(fitting)

    def _brought_there(self, number: int) -> bool:
        entity = self.entities[number]
        things = {number, entity.cut_from}
        return any(
            r.inner in things
            and r.clause < (entity.from_clause or 0)
            and set(self.entities[r.outer].classes) & set(entity.place_from)
            for r in self.relations
        )

    def _describe_none(self, number: int, template: str) -> str:
        entity = self.entities[number]
        if entity.everything:
            subject = "nothing here"
        elif entity.group or entity.every:
            subject = f"none of the {entity.text} here"
        else:
            subject = f"no {self.label(number)} here"
        wording = wording_of(self.taxonomy.ontology)
        clauses = [
            wording.clause(name, [subject], positive=wanted)
            for name, wanted in sorted(literals(template))
        ]
        rest = [text.removeprefix(f"{subject} ") for text in clauses[1:]]
        return " and ".join([*clauses[:1], *rest])

    def _holds_one_of(self, place: str, classes: tuple[str, ...]) -> bool:
        return any(
            self.inventory.parents.get(n) == place for c in classes for n in self.inventory.of(c)
        )

    def _left(self, number: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        entity = self.entities[number]
        taken: set[str] = set()
        if entity.distinct and not self._alike_before(number):
            # 'to the other table': not where it stands now
            taken.update(
                filter(
                    None,
                    (
                        self.inventory.parents.get(n)
                        for i in self.inside(number)
                        for n in self.pool(i)[: self.copies(i)]
                    ),
                )
            )
            if not taken & set(chosen):
                # 'the second drawer': hvr does not number objects.
                self.note(f"no other {entity.text} was named before: taking any")
        for other in entity.besides:
            names = self.pool(other)
            if entity.rest and self.entities[other].classes:
                near = tuple(n for n in names if n in chosen) or names
                names = self._names[other] = near[: self.copies(other)]
            taken.update(names)
        left = tuple(n for n in chosen if n not in taken)
        left = left[: len(left) - entity.spare] if entity.spare else left
        if not left and (taken or entity.spare):
            raise ImpossibleGoalError(f"{self.inventory.scene} has no other {self.label(number)}")
        return left

    def _elsewhere_than_before(self, place: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        left: set[str | None] = set()
        for relation in self.relations:
            inner = self.entities[relation.inner]
            if relation.outer == place and inner.from_clause == relation.clause:
                moved = self.pool(relation.inner)[: self.copies(relation.inner)]
                left |= {
                    self.inventory.parents.get(name)
                    for name in moved
                    if stands_at(self.inventory, name, inner, self.taxonomy.piece_of)
                }
        if chosen and left.issuperset(chosen):
            raise ImpossibleGoalError(
                f"{self.inventory.scene} has no {self.label(place)} other than "
                f"{chosen[0]}, where the object to move already is"
            )
        return tuple(name for name in chosen if name not in left)

    def _not_yet_there(self, number: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        entity = self.entities[number]
        places = [r for r in self.relations if r.inner == number]
        only_moved = len(places) == 1 and places[0].clause in self.moves
        if entity.count != 1 or entity.conditions or not only_moved:
            return chosen
        there = set(self.available(places[0].outer))
        left = tuple(n for n in chosen if self.inventory.parents.get(n) not in there)
        return left if len(left) >= entity.count else chosen

    def _alike_before(self, number: int) -> bool:
        kinds = set(self.classes[number])
        return any(kinds & set(self.classes[n]) for n in self.numbers if n < number)

    def _portion(self, number: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        dishes = [
            r.outer
            for r in self.relations
            if r.inner == number
            and self.taxonomy.any_plays(self.entities[r.outer].classes, CARRIER)
        ]
        if not dishes or not self.is_piece(number):
            return chosen
        portion = min(PORTION, *(self._share(dish) for dish in dishes))
        if len(chosen) <= portion:
            return chosen
        self.note(f"a dish takes only {portion} of the {len(chosen)} pieces ({self.label(number)})")
        return chosen[:portion]

    def _share(self, dish: int) -> int:
        kinds = [n for n in self.inside(dish) if self.is_piece(n) and self.entities[n].count == 0]
        limits = [
            most
            for name in self.available(dish)[:1]
            if (most := self.inventory.most_things(name)) is not None
        ]
        return max(1, min(limits, default=PORTION * len(kinds)) // max(1, len(kinds)))

    def _own_name(self, number: int) -> tuple[str, ...]:
        entity = self.entities[number]
        if entity.name is None:
            return ()
        # `_adapt` has changed the classes if and only if the request means the pieces.
        if entity.classes == self._asked[number].classes:
            return (entity.name,)
        return tuple(p for p, s in self.inventory.pairs(self.taxonomy.piece_of) if s == entity.name)

    def _pieces(self, number: int) -> tuple[str, ...]:
        entity = self.entities[number]
        if (entity.group and entity.cut_from is None) or not self.is_piece(number):
            return ()
        pairs = [
            (p, s)
            for p, s in self.inventory.pairs(self.taxonomy.piece_of)
            if self.inventory.classes[p] in self.classes[number]
        ]
        pairs.sort(key=lambda pair: number_of(pair[0]))
        if entity.cut_from is not None:
            sources = self.pool(entity.cut_from)
            if entity.count == 0:  # 'slice a tomato and fry the slices': those of one tomato
                sources = sources[: self.copies(entity.cut_from)]
            return tuple(p for p, s in pairs if s in sources)
        if entity.count != 0:
            return ()
        present = tuple(p for p, _ in pairs if self.taxonomy.is_there(self.inventory, p))
        if present:
            return present
        owners = {s for _, s in pairs}
        nearest = next(
            (
                s
                for c in sorted({self.inventory.classes[s] for s in owners})
                for s in self.inventory.of(c)
                if s in owners
            ),
            None,
        )
        return tuple(p for p, s in pairs if s == nearest)

    def _bind_source(self, number: int) -> None:
        # Otherwise the planner could cut another object, whose slices were not requested.
        entity = self.entities[number]
        if (
            entity.cut_from is not None
            and entity.count == 0
            and len(self.pool(entity.cut_from)) > 1
        ):
            sources = self.pool(entity.cut_from)[: self.copies(entity.cut_from)]
            self._names[entity.cut_from] = sources

    def _among(self, names: Iterable[str], template: str) -> str:
        held = {self.holds(template, name) for name in names}
        return "some" if len(held) > 1 else "all" if held == {True} else "none"

    def holds(self, template: str, name: str) -> bool:
        """Return whether a condition on `?x` holds at the start; False if it is not applicable."""
        kind = self.taxonomy.pddl_type(self.inventory.classes[name])
        thing = TypedName(PLACEHOLDER, (kind,))
        try:
            formula = parse_formula(template.replace("?x", PLACEHOLDER), self.domain, [thing])
        except PddlError:
            return False  # the predicate does not apply to this type
        return self.inventory.holds(formula, name)

    def _elsewhere(self, number: int, chosen: tuple[str, ...]) -> str:
        entity = self.entities[number]
        place = entity.from_name or self.taxonomy.a_label(entity.place_from[0])
        where = self.inventory.parents.get(chosen[0], "elsewhere")
        return f"no {self.label(number)} is on or in {place}: {chosen[0]} is at {where}"


# Checks -------------------------------------------------------------------------------------------
# Refusal of impossible requests with the reason, which a failing planner cannot give.

_MOST_NAMED = 8


def check(choice: ObjectChoice) -> None:
    """Raise ImpossibleGoalError if the ontology or the number of objects rules out a goal."""
    for number in choice.numbers:
        _check_entity(choice, number)
    for relation in choice.relations:
        moved = choice.entities[relation.inner].classes  # none if there is nothing to move
        if moved and choice.classes[relation.inner] and choice.classes[relation.outer]:
            _check_place(choice, relation)
    _check_means(choice)
    for number in choice.numbers:
        _check_enough(choice, number)


def _check_enough(choice: ObjectChoice, number: int) -> None:
    if not choice.entities[number].distinct:
        return
    things = choice.available(number)
    some = [n for n in choice.numbers if choice.entities[n].count != 0]
    alike = [n for n in some if set(choice.available(n)) & set(things)]
    wanted = sum(choice.copies(n) for n in alike)
    if wanted > len(things) and all(choice.available(n) == things for n in alike):
        raise ImpossibleGoalError(
            f"{choice.inventory.scene} has only "
            f"{choice.taxonomy.counted(len(things), choice.classes[number][:1])}, not {wanted}"
        )


def _check_entity(choice: ObjectChoice, number: int) -> None:
    entity, taxonomy = choice.entities[number], choice.taxonomy
    classes = choice.classes[number]
    for object_class in classes if entity.count == 0 else classes[:1]:
        for condition in entity.conditions:
            wanted = condition.requires
            if wanted and not taxonomy.is_a(object_class, wanted):
                raise _lacking(choice, condition.word, object_class, wanted)
            _check_states(choice, condition, object_class)
            _check_method(choice, condition, object_class)
        if entity.liquid and not taxonomy.plays(object_class, VESSEL):
            vessel = taxonomy.roles.class_of(VESSEL) or VESSEL
            raise LackingError(
                f"{taxonomy.a_label(object_class)} cannot hold {entity.liquid}: it lacks the "
                f"affordance {vessel}; these have it: {_able(choice, vessel)}"
            )


def _check_states(choice: ObjectChoice, condition: Condition, object_class: str) -> None:
    methods = choice.taxonomy.methods
    placed = {m.achieves for m in methods.means if m.goes_into}
    for predicate, affordance in methods.requirements.items():
        wanted = predicate not in placed and asks(condition.template, predicate)
        if wanted and not choice.taxonomy.is_a(object_class, affordance):
            raise _lacking(choice, condition.word, object_class, affordance)


def _lacking(choice: ObjectChoice, word: str, object_class: str, affordance: str) -> LackingError:
    taxonomy = choice.taxonomy
    return LackingError(
        f"{_cannot(word, taxonomy.label(object_class))}: {taxonomy.a_label(object_class)} lacks "
        f"the affordance {affordance} ({taxonomy.label(affordance)}); these have it: "
        f"{_able(choice, affordance)}"
    )


def _cannot(word: str, label: str) -> str:
    return f"the {label} cannot {word}" if word.startswith("be ") else f"cannot {word} the {label}"


def _able(choice: ObjectChoice, affordance: str) -> str:
    known = choice.taxonomy.ontology.has_class(affordance)
    able = choice.taxonomy.concrete(affordance) if known else ()
    classes = [c for c in able if choice.inventory.of(c)]
    labels = [choice.taxonomy.label(c) for c in classes]
    more = ", …" if len(labels) > _MOST_NAMED else ""
    return (", ".join(labels[:_MOST_NAMED]) + more) or "nothing here"


def _check_method(choice: ObjectChoice, condition: Condition, object_class: str) -> None:
    taxonomy = choice.taxonomy
    places = taxonomy.places(object_class)
    label, a_label = taxonomy.label(object_class), taxonomy.a_label(object_class)
    for means in taxonomy.methods.means:
        if not means.goes_into or not asks(condition.template, means.achieves):
            continue
        if not places & set(means.goes_into) and not _is_liquid(choice, object_class, means):
            into = " or ".join(taxonomy.a_label(c) for c in means.goes_into)
            usual = f"this way: {a_label} does not go into {into}"
            why = means.why_not.format(a_label) if means.why_not else usual
            raise ImpossibleGoalError(f"{_cannot(condition.word, label)} {why}")


def _is_liquid(choice: ObjectChoice, object_class: str, means: Manner) -> bool:
    vessels = choice.taxonomy.methods.vessels_with(means)
    return any(
        e.liquid and object_class in choice.classes[n] and vessels & set(e.classes)
        for n, e in enumerate(choice.entities)
    )


def _check_place(choice: ObjectChoice, relation: SpatialRelation) -> None:
    taxonomy = choice.taxonomy
    inner, outer = choice.classes[relation.inner], choice.classes[relation.outer]
    # For 'all', every class must fit; otherwise one that fits is enough and is chosen.
    every = choice.entities[relation.inner].count == 0
    misfits = [i for i in inner if not any(choice.fits(i, o) for o in outer)]
    if not misfits or (not every and len(misfits) < len(inner)):
        return
    label, a_label = taxonomy.label(misfits[0]), taxonomy.a_label(misfits[0])
    portable = taxonomy.roles.class_of(PORTABLE)
    if portable is None or not taxonomy.is_a(misfits[0], portable):
        needed = f"{portable} ({taxonomy.label(portable)})" if portable else PORTABLE
        raise LackingError(f"cannot move the {label}: {a_label} lacks the affordance {needed}")
    places = sorted(
        taxonomy.label(p) for p in taxonomy.places(misfits[0]) if choice.inventory.of(p)
    )
    raise ImpossibleGoalError(
        f"{a_label} cannot be put on or in {taxonomy.a_label(outer[0])}; it can be put on or in: "
        f"{', '.join(dict.fromkeys(places)) or 'nothing here'}"
    )


def _subject(entity: Entity, name: str) -> str:
    return name if entity.liquid == name else repr(entity.text)


def _check_means(choice: ObjectChoice) -> None:
    needs = {m.achieves: m.needs for m in choice.taxonomy.methods.means if m.needs}
    for number in choice.numbers:
        entity = choice.entities[number]
        wanted = {name for c in entity.conditions for name, holds in literals(c.template) if holds}
        if entity.liquid:
            wanted.add(entity.liquid)
        for name in sorted(wanted & set(needs)):
            if not any(choice.inventory.of(c) for c in needs[name]):
                labels = " or ".join(choice.taxonomy.label(c) for c in needs[name])
                raise MissingObjectError(
                    choice.inventory.scene,
                    needs[name],
                    f"{labels}, needed for {_subject(entity, name)}",
                )
