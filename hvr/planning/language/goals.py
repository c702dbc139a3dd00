"""Meaning to goal: entities become variables of one PDDL condition on the world.

Words that contradict each other over time ("open the fridge and then close it") make
stages, reached one after the other; everything else is one condition, which leaves the
planner the order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from hvr.errors import ImpossibleGoalError
from hvr.pddl.model import Domain, TypedName
from hvr.pddl.parser import parse_formula
from hvr.planning.language.meaning import Condition, Entity, Meaning, Relation
from hvr.planning.language.taxonomy import Taxonomy
from hvr.retrieval.inventory import PLACEHOLDER, Inventory

SERVING = ("DiningTable", "CounterTop", "SideTable")
"""Where things are served, most preferred first."""

_OPPOSITES = (
    ("(opened ?x)", "(not (opened ?x))"),
    ("(toggled ?x)", "(not (toggled ?x))"),
    ("(hot ?x)", "(cold ?x)"),
    ("(warm_liquid ?x)", "(cold ?x)"),
    ("(dirty ?x)", "(not (dirty ?x))"),
)
_HOT = re.compile(r"\(or \(hot \?x\) \(warm_liquid \?x\)\)|\(hot \?x\)")


@dataclass(frozen=True)
class Stage:
    """One condition to reach, as PDDL text.

    Args:
        wanted: what was asked for.
        ends: how things shall be left besides, by preference.
    """

    wanted: str
    ends: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole condition."""
        return f"(and {' '.join((self.wanted, *self.ends))})"


@dataclass(frozen=True)
class Goal:
    """What is to be reached.

    Args:
        stages: conditions to be reached in this order; mostly one.
        notes: what was assumed, one sentence each.
    """

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Demand:
    """One conjunct of the goal."""

    clause: int
    entity: int
    key: str
    text: str


def goal_of(
    meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory, domain: Domain
) -> Goal:
    """The goal of a request in a scene.

    Raises:
        ImpossibleGoalError: the scene lacks something, or a thing cannot be what is asked.
    """
    return _Writer(meaning, taxonomy, inventory, domain).goal()


class _Writer:
    def __init__(
        self, meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory, domain: Domain
    ) -> None:
        self.meaning = meaning
        self.taxonomy = taxonomy
        self.inventory = inventory
        self.domain = domain
        self.notes: list[str] = list(meaning.notes)
        self.relations: list[Relation] = list(meaning.relations)
        self.entities: list[Entity] = [self.adapt(e) for e in meaning.entities]
        self.classes: list[tuple[str, ...]] = []
        self.names: list[tuple[str, ...]] = []
        self.demands: list[_Demand] = []

    # --- choosing ------------------------------------------------------------------------

    def adapt(self, entity: Entity) -> Entity:
        """Ask of the pieces what the whole cannot be: eggs are cooked cracked, bread toasted
        in slices; and of a liquid that it is warm, not of its vessel."""
        conditions = entity.conditions
        if entity.liquid:
            conditions = tuple(
                replace(c, template=_HOT.sub("(warm_liquid ?x)", c.template)) for c in conditions
            )
            return replace(entity, conditions=conditions)
        classes = entity.classes
        for condition in conditions:
            if condition.requires and not self.any_is(classes, condition.requires):
                pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c)))
                if pieces and self.any_is(pieces, condition.requires):
                    classes = pieces
        if any("(cooked" in c.template for c in conditions):
            cookable = tuple(c for c in classes if self.taxonomy.is_a(c, "Cookable"))
            if not cookable:
                pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c)))
                cookable = tuple(p for p in pieces if self.taxonomy.is_a(p, "Cookable"))
            classes = cookable or classes
        if "boil" in {c.word for c in conditions} and self.any_is(classes, "Cookable"):
            conditions = (*conditions, Condition("(cooked ?x)", conditions[0].clause, "boil"))
        if any("(toasted" in c.template for c in conditions):
            pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c)))
            classes = classes if self.any_is(classes, "Toastable") else pieces or classes
        name = entity.name if classes == entity.classes else None
        return replace(entity, classes=classes, conditions=conditions, name=name)

    def any_is(self, classes: Iterable[str], wanted: str) -> bool:
        return any(self.taxonomy.is_a(c, wanted) for c in classes)

    def choose(self, number: int) -> tuple[str, ...]:
        """The classes an entity is taken from in this scene."""
        entity = self.entities[number]
        if not entity.classes:
            return ()
        if entity.name and entity.name not in self.inventory.classes:
            known = self.inventory.of(entity.classes[0])
            raise ImpossibleGoalError(
                f"{self.inventory.scene} has no {entity.name}"
                + (f"; it has {', '.join(known)}" if known else "")
            )
        fitting = [c for c in entity.classes if self.suits(number, c)] or list(entity.classes)
        present = [c for c in fitting if self.inventory.of(c)]
        if not present:
            raise MissingObjectError(self.inventory.scene, tuple(fitting), entity.text)
        if entity.group:
            return tuple(present)
        if len(entity.classes) > 1 and present[0] != fitting[0]:
            missing = self.taxonomy.label(fitting[0])
            self.note(f"no {missing} here: using the {self.taxonomy.label(present[0])}")
        return (present[0],)

    def suits(self, number: int, object_class: str) -> bool:
        """Whether things of a class can be what the conditions and places ask."""
        entity = self.entities[number]
        if entity.liquid and not self.taxonomy.is_a(object_class, "Fillable"):
            return False
        for condition in entity.conditions:
            if condition.requires and not self.taxonomy.is_a(object_class, condition.requires):
                return False
        return all(
            any(self.fits(object_class, outer) for outer in self.entities[r.outer].classes)
            for r in self.relations
            if r.inner == number and self.entities[r.outer].classes
        )

    def fits(self, inner: str, outer: str) -> bool:
        return outer in self.taxonomy.places(inner)

    def candidates(self, number: int) -> tuple[str, ...]:
        """The objects an entity may be; empty means any of its classes."""
        entity = self.entities[number]
        names = [n for c in self.classes[number] for n in self.inventory.of(c)]
        if entity.name:
            return (entity.name,)
        chosen = names
        for template in entity.selectors:
            placeholder = TypedName(PLACEHOLDER, ("item",))
            formula = parse_formula(
                template.replace("?x", PLACEHOLDER), self.domain, [placeholder]
            )
            found = [n for n in chosen if self.inventory.holds(formula, n)]
            if not found:
                word = re.findall(r"\w+", template)[-2 if "not" in template else 0]
                self.note(f"no {self.label(number)} here is {word}: taking any")
            chosen = found or chosen
        if entity.place_from:
            found = [n for n in chosen if self.stands_at(n, entity.place_from)]
            if not found:
                place = self.taxonomy.label(entity.place_from[0])
                where = self.inventory.parents.get(chosen[0], "elsewhere")
                self.note(f"no {self.label(number)} is at a {place}: {chosen[0]} is at {where}")
            chosen = found or chosen
        return () if chosen == names else tuple(chosen)

    def stands_at(self, name: str, classes: tuple[str, ...]) -> bool:
        parent = self.inventory.parents.get(name)
        while parent is not None:
            if self.inventory.classes.get(parent) in classes:
                return True
            parent = self.inventory.parents.get(parent)
        source = next((b for a, b in self.inventory.pairs("piece_of") if a == name), None)
        return source is not None and self.stands_at(source, classes)

    def label(self, number: int) -> str:
        classes = self.classes[number] or self.entities[number].classes
        return self.taxonomy.label(classes[0])

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # --- checking ------------------------------------------------------------------------

    def check(self, number: int) -> None:
        """Say which affordance is missing, before a planner fails to say why."""
        entity = self.entities[number]
        for object_class in self.classes[number][:1]:
            label = self.taxonomy.label(object_class)
            for condition in entity.conditions:
                wanted = condition.requires
                if wanted and not self.taxonomy.is_a(object_class, wanted):
                    able = self.able(wanted)
                    raise ImpossibleGoalError(
                        f"cannot {condition.word} the {label}: a {label} lacks the affordance "
                        f"{wanted} ({self.taxonomy.label(wanted)}); what has it: {able}"
                    )
                if "(cooked" in condition.template and not self.taxonomy.is_a(
                    object_class, "Cookable"
                ):
                    raise ImpossibleGoalError(
                        f"cannot {condition.word} the {label}: a {label} lacks the affordance "
                        f"Cookable; what has it: {self.able('Cookable')}"
                    )
                self.check_method(condition, object_class, label)
            if entity.liquid and not self.taxonomy.is_a(object_class, "Fillable"):
                raise ImpossibleGoalError(
                    f"a {label} cannot hold {entity.liquid}: it lacks the affordance Fillable; "
                    f"what has it: {self.able('Fillable')}"
                )

    def check_method(self, condition: Condition, object_class: str, label: str) -> None:
        places = self.taxonomy.places(object_class)
        for mark, appliance in (
            ("(microwaved", "Microwave"), ("(toasted", "Toaster"), ("(chilled", "Fridge"),
        ):  # fmt: skip
            if mark in condition.template and appliance not in places:
                raise ImpossibleGoalError(
                    f"cannot {condition.word} the {label} so: a {label} does not go into a "
                    f"{self.taxonomy.label(appliance)}"
                )
        if "(cooked" in condition.template:
            by = self.taxonomy.cooked_by(object_class)
            if "(microwaved" in condition.template and "Microwave" not in by:
                raise ImpossibleGoalError(f"a microwave does not cook a {label}")
        if "(stove_heated" in condition.template and not places & {
            "StoveBurner", "Pan", "Pot",
        }:  # fmt: skip
            raise ImpossibleGoalError(
                f"cannot {condition.word} the {label} on the stove: a {label} goes neither on a "
                "burner nor into a pan or pot"
            )

    def able(self, affordance: str) -> str:
        if not self.taxonomy.ontology.has_class(affordance):
            return "nothing"
        labels = [self.taxonomy.label(c) for c in self.taxonomy.concrete(affordance)]
        return ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "") or "nothing"

    def check_place(self, relation: Relation) -> None:
        inner, outer = self.classes[relation.inner], self.classes[relation.outer]
        if any(self.fits(i, o) for i in inner for o in outer):
            return
        label, place = self.label(relation.inner), self.label(relation.outer)
        if not self.any_is(inner, "Pickupable"):
            raise ImpossibleGoalError(
                f"cannot move the {label}: a {label} lacks the affordance Pickupable"
            )
        places = sorted(self.taxonomy.label(p) for i in inner for p in self.taxonomy.places(i)
                        if self.inventory.of(p))  # fmt: skip
        raise ImpossibleGoalError(
            f"a {label} cannot be put on or in a {place}; it can be put on or in: "
            f"{', '.join(dict.fromkeys(places))}"
        )

    # --- writing -------------------------------------------------------------------------

    def goal(self) -> Goal:
        self.classes = [()] * len(self.entities)
        for number in range(len(self.entities)):
            self.classes[number] = self.choose(number)
        for number, entity in enumerate(self.entities):
            if entity.classes:
                self.check(number)
        for relation in self.relations:
            if self.classes[relation.inner] and self.classes[relation.outer]:
                self.check_place(relation)
        self.names = [
            self.candidates(n) if e.classes else () for n, e in enumerate(self.entities)
        ]
        for number in range(len(self.entities)):
            self.demand_all(number)
        held = [d for d in self.demands if d.key == "place" and "(holding" in d.text]
        stages = self.stages()
        bound = len(stages) > 1
        texts = [
            Stage(self.formula(stage, bound), tuple(self.end_conditions(stage)))
            for stage in stages
        ]
        final_held = {d.entity for d in stages[-1] if d in held}
        copies = sum(max(self.entities[n].count, 1) for n in final_held)
        if copies > 1:
            raise ImpossibleGoalError(
                "the robot has one arm and can hold one thing at a time: "
                "say where the others shall be put"
            )
        return Goal(tuple(texts), tuple(self.notes))

    def demand_all(self, number: int) -> None:
        entity = self.entities[number]
        if not entity.classes:
            return
        for condition in entity.conditions:
            if condition.template == "(present ?x)" and not self.is_piece(number):
                continue
            key = "place" if "(holding" in condition.template else condition.template
            self.add(condition.clause, number, key, condition.template)
        if entity.liquid:
            self.add(entity.liquid_clause, number, "liquid", f"(contains ?x {entity.liquid})")
        for relation in self.relations:
            if relation.inner == number:
                self.add(relation.clause, number, "place", f"@{relation.outer}")
        if entity.serve or entity.rests:
            places = [c for c in SERVING if self.inventory.of(c)]
            if not places:
                raise MissingObjectError(self.inventory.scene, SERVING, "serving surface")
            if entity.serve:
                if places[0] != SERVING[0]:
                    self.note(
                        f"no {self.taxonomy.label(SERVING[0])} here: serving on the "
                        f"{self.taxonomy.label(places[0])}"
                    )
                places = places[:1]
            places = [p for p in places if self.fits(self.classes[number][0], p)] or places
            last = max((d.clause for d in self.demands if d.entity == number), default=0)
            self.add(last, number, "place", self.somewhere(places))

    def somewhere(self, places: list[str]) -> str:
        types = " ".join(self.taxonomy.pddl_type(c) for c in places)
        kind = types if len(places) == 1 else f"(either {types})"
        return f"(exists (?s - {kind}) (on ?x ?s))"

    def add(self, clause: int, entity: int, key: str, text: str) -> None:
        demand = _Demand(clause, entity, key, text)
        if demand not in self.demands:
            self.demands.append(demand)

    def is_piece(self, number: int) -> bool:
        return any(self.taxonomy.source(c) for c in self.classes[number])

    def stages(self) -> list[list[_Demand]]:
        """Split where something later undoes something earlier."""
        overridden: dict[_Demand, int] = {}
        for demand in self.demands:
            for later in self.demands:
                if later.clause > demand.clause and self.undoes(later, demand):
                    overridden.setdefault(demand, later.clause)
        kept = [d for d in self.demands if d not in overridden]
        moments = sorted(
            {clause for d, clause in overridden.items() if "(holding" not in d.text}
        )
        stages = []
        for moment in moments:
            stage = [d for d in self.demands if d.clause < moment
                     and overridden.get(d, moment) >= moment]  # fmt: skip
            held = {d for d in stage if d.key == "place" and "(holding" in d.text}
            stages.append([d for d in stage if d not in held] or stage)
        return [*stages, kept]

    def undoes(self, later: _Demand, earlier: _Demand) -> bool:
        if later.entity != earlier.entity:
            both_held = "(holding" in later.text and "(holding" in earlier.text
            return both_held and later.key == earlier.key == "place"
        if later.key == earlier.key and later.text != earlier.text:
            return later.key in {"place", "liquid"}
        pair = (earlier.text, later.text)
        for one, other in _OPPOSITES:
            if (one in pair[0] and other in pair[1] and one not in pair[1]) or (
                other in pair[0] and one in pair[1] and other not in pair[1]
            ):
                return not (one in pair[0] and other in pair[0])
        return earlier.key == "liquid" and later.text == "(not (filled ?x))"

    def formula(self, demands: list[_Demand], bound: bool) -> str:
        """`(exists (variables) (and …))` for the demands of one stage.

        With `bound`, every entity is the object that is preferred now, so that later stages
        speak of the same things.
        """
        used = {d.entity for d in demands} | {
            int(d.text[1:]) for d in demands if d.text.startswith("@")
        }
        variables: dict[int, list[str]] = {}
        declared: list[str] = []
        conjuncts: list[str] = []
        taken: set[str] = set()
        for number in sorted(used):
            entity = self.entities[number]
            if entity.count == 0 and not bound:
                continue
            if entity.name or bound:
                pool = self.names[number] or tuple(
                    n for c in self.classes[number] for n in self.inventory.of(c)
                )
                pool = tuple(n for n in pool if n not in taken) or pool
                wanted = len(pool) if entity.count == 0 else self.copies(number)
                variables[number] = list(pool[:wanted])
                taken.update(pool[:wanted])
                continue
            variables[number] = [
                f"?{self.taxonomy.pddl_type(self.classes[number][0])}{number}{chr(97 + copy)}"
                for copy in range(self.copies(number))
            ]
            for variable in variables[number]:
                declared.append(f"{variable} - {self.type_of(number)}")
                if self.names[number]:
                    options = " ".join(f"(= {variable} {n})" for n in self.names[number])
                    conjuncts.append(f"(or {options})")
        conjuncts += self.distinctions(variables)
        for demand in demands:
            conjuncts += self.conjunct(demand, variables)
        body = f"(and {' '.join(dict.fromkeys(conjuncts))})"
        if declared:
            body = f"(exists ({' '.join(declared)}) {body})"
        return body

    def copies(self, number: int) -> int:
        count = self.entities[number].count
        if count >= 1:
            available = [n for c in self.classes[number] for n in self.inventory.of(c)]
            if count > len(available):
                raise ImpossibleGoalError(
                    f"{self.inventory.scene} has {len(available)} of {self.label(number)}, "
                    f"not {count}"
                )
            return count
        available = [n for c in self.classes[number] for n in self.inventory.of(c)]
        return min(2, len(available))

    def type_of(self, number: int) -> str:
        types = [self.taxonomy.pddl_type(c) for c in self.classes[number]]
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    def distinctions(self, variables: dict[int, list[str]]) -> list[str]:
        found = []
        for number, names in variables.items():
            for i, one in enumerate(names):
                found += [f"(not (= {one} {other}))" for other in names[:i]]
            for earlier, others in variables.items():
                same = set(self.classes[earlier]) & set(self.classes[number])
                if earlier < number and same and self.apart(earlier, number):
                    found += [f"(not (= {a} {b}))" for a in others for b in names]
        return [text for text in found if "?" in text]

    def apart(self, one: int, other: int) -> bool:
        return self.entities[one].distinct or self.entities[other].distinct

    def conjunct(self, demand: _Demand, variables: dict[int, list[str]]) -> list[str]:
        def fill(text: str, name: str) -> str:
            return text.replace("?x", name)

        if demand.entity not in variables:
            return [self.for_all(demand, variables)]
        found = []
        for index, name in enumerate(variables[demand.entity]):
            if demand.text.startswith("@"):
                outer = int(demand.text[1:])
                places = variables.get(outer, [])
                place = places[index % len(places)] if places else ""
                found.append(self.at(name, place, outer))
            else:
                found.append(fill(demand.text, name))
        return found

    def at(self, inner: str, place: str, outer: int) -> str:
        relations = {self.taxonomy.relation(c) for c in self.classes[outer]}
        texts = [f"({relation} {inner} {place})" for relation in sorted(relations)]
        return texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"

    def for_all(self, demand: _Demand, variables: dict[int, list[str]]) -> str:
        """'all the mugs': every one that is there."""
        number = demand.entity
        if demand.text.startswith("@"):
            outer = int(demand.text[1:])
            text = self.at("?x", variables[outer][0], outer)
        else:
            text = demand.text
        names = self.names[number]
        if names:
            return f"(and {' '.join(text.replace('?x', n) for n in names)})"
        variable = f"?all{number}"
        body = text.replace("?x", variable)
        guard: Callable[[str], str] = lambda b: b  # noqa: E731
        if not self.is_piece(number) and "(sliced" not in text and "(cracked" not in text:
            guard = lambda b: f"(imply (present {variable}) {b})"  # noqa: E731
        return f"(forall ({variable} - {self.type_of(number)}) {guard(body)})"

    # --- how things are left -------------------------------------------------------------

    def end_conditions(self, demands: list[_Demand]) -> list[str]:
        """The preferences for the end of a task, except where the request says otherwise."""
        asked = " ".join(d.text for d in demands)
        exempt = {c for d in demands for c in self.classes[d.entity]
                  if d.text in {"(toggled ?x)", "(opened ?x)"}}  # fmt: skip
        if exempt & {"StoveBurner", "StoveKnob"}:
            exempt |= {"StoveBurner", "StoveKnob"}
        return end_conditions(self.taxonomy, exempt, holding="(holding" in asked)


def end_conditions(taxonomy: Taxonomy, exempt: set[str], *, holding: bool) -> list[str]:
    """PDDL conditions for how a kitchen is left, from the preferences in the ontology.

    Args:
        taxonomy: has the ontology.
        exempt: classes that the request wants otherwise.
        holding: the request ends with something in the hand.
    """
    ontology = taxonomy.ontology
    found = []
    for name in ontology.instances("Preference"):
        if ontology.annotation(name, "context") != ("end of task",):
            continue
        target = str(ontology.annotation(name, "appliesTo")[0]).removeprefix("k:")
        prop = str(ontology.annotation(name, "property")[0]).removeprefix("k:")
        wanted = str(ontology.annotation(name, "value")[0]).lower() == "true"
        predicate = str(ontology.annotation(prop, "pddlPredicate")[0])
        if taxonomy.is_a(target, "Agent"):
            if not holding:
                found.append(f"({predicate})" if wanted else f"(not ({predicate}))")
            continue
        for object_class in taxonomy.concrete(target):
            if object_class in exempt:
                continue
            able = "Switchable" if prop == "isToggled" else "Openable"
            if not taxonomy.is_a(object_class, able):
                continue
            kind = taxonomy.pddl_type(object_class)
            text = f"({predicate} ?{kind})"
            found.append(
                f"(forall (?{kind} - {kind}) {text if wanted else f'(not {text})'})"
            )
    return found


class MissingObjectError(ImpossibleGoalError):
    """The scene has no object of the wanted classes."""

    def __init__(self, scene: str, classes: tuple[str, ...], text: str) -> None:
        self.scene = scene
        self.classes = classes
        super().__init__(f"{scene} has no {text}")
