"""Goals in PDDL: conditions and constraints on the chosen objects, in stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from hvr.errors import AlreadyThereError, ImpossibleGoalError, MissingObjectError
from hvr.knowledge.ontology import AGENT, CARRIER, CONTAINS, FILLED, OPEN, RUNNING, SLOT, Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.meaning import Meaning
from hvr.language.negation import constraints
from hvr.language.object_choice import MANY, ObjectChoice, check
from hvr.language.taxonomy import Taxonomy, asks, literals
from hvr.pddl.model import Domain
from hvr.values import Value


def at_origin(choice: ObjectChoice, number: int) -> str:
    """Return the PDDL condition that `?x` is at its initial place.

    A piece without a place belongs at the place of the object from which it was cut.

    Raises:
        ImpossibleGoalError: The initial place is unknown.
    """
    inventory = choice.inventory
    sources = dict(inventory.pairs(choice.taxonomy.piece_of))
    places: dict[str, list[str]] = {}
    for name in choice.pool(number):
        place = inventory.parents.get(name) or inventory.parents.get(sources.get(name, ""))
        if place is None:
            raise ImpossibleGoalError(
                f"the original place of the {choice.label(number)} is unknown: say where to put it"
            )
        relation = choice.taxonomy.relation(inventory.classes[place])
        places.setdefault(f"({relation} ?x {place})", []).append(name)
    if len(places) == 1:
        return next(iter(places))
    each = [f"(and (= ?x {name}) {at})" for at, names in places.items() for name in names]
    return f"(or {' '.join(each)})"


def _in_place_of(choice: ObjectChoice, number: int, other: int) -> str:
    parents = choice.inventory.parents
    own, place = (parents.get(choice.pool(n)[0]) for n in (number, other))
    if place is None or own == place:
        raise ImpossibleGoalError(
            f"the {choice.label(number)} and the {choice.label(other)} cannot change places: "
            + (f"both are at {place}" if place else "it is not known where both are")
        )
    if place not in choice.inventory.of(choice.inventory.classes[place]) or not choice.fits(
        choice.classes[number][0], choice.inventory.classes[place]
    ):
        raise ImpossibleGoalError(f"the {choice.label(number)} cannot be put on or in {place}")
    return f"({choice.taxonomy.relation(choice.inventory.classes[place])} ?x {place})"


# Demands ------------------------------------------------------------------------------------------
# A goal is one condition, which leaves the order to the planner. Only if a later demand makes an
# earlier one false ('open the fridge and then close it') does the earlier one get a stage of its
# own.

HELD = "(holding ?x)"


class Demand(Value):
    """One conjunct of the goal.

    Args:
        moment: Twice the index of the clause, plus one for placements, since 'put a hot potato in
            the fridge' heats first.
        entity: Index of the entity.
        key: `place`, `liquid`, `used`, `open` or the text itself. A later demand on the same entity
            with the key `place` or `liquid` replaces an earlier one.
        text: PDDL over `?x`; empty if the entity must be at `outer`.
        outer: Index of the entity in or on which this one must be, if any.
    """

    moment: int
    entity: int
    key: str
    text: str
    outer: int | None = None

    @property
    def passing(self) -> bool:
        """Whether the demand only prepares for later demands."""
        return self.text == "(near ?x)"

    @property
    def holds(self) -> bool:
        return self.text == HELD


def collect(choice: ObjectChoice) -> list[Demand]:
    """Return all demands of a request, in the order of its entities."""
    demands: list[Demand] = []
    for number in choice.numbers:
        demands += _of_entity(choice, number, demands)
    return list(dict.fromkeys(demands))


def _of_entity(choice: ObjectChoice, number: int, before: list[Demand]) -> list[Demand]:
    entity = choice.entities[number]
    demands = []
    for condition in entity.conditions:
        text = condition.template
        if text == choice.taxonomy.there and not choice.is_piece(number):
            continue  # trivially true unless cutting creates it
        # Places count half a clause later than states.
        placing = text == HELD or "(on ?x" in text
        demands.append(
            Demand(2 * condition.clause + placing, number, "place" if placing else text, text)
        )
    if entity.used:  # to include it in the problem
        demands.append(Demand(0, number, "used", choice.taxonomy.there))
    if entity.liquid:
        holds = choice.taxonomy.state(CONTAINS).replace("?x", f"?x {entity.liquid}")
        demands.append(Demand(2 * entity.liquid_clause, number, "liquid", holds))
    places = [r for r in choice.relations if r.inner == number and choice.entities[r.outer].classes]
    demands += [Demand(2 * r.clause + 1, number, "place", "", r.outer) for r in places]
    if entity.returns is not None:
        other = number if entity.swapped is None else entity.swapped
        text = at_origin(choice, other) if other == number else _in_place_of(choice, number, other)
        demands.append(Demand(2 * entity.returns + 1, number, "place", text))
    # Serving and resting come after all other demands on the entity.
    asked = [d.moment for d in (*before, *demands) if d.entity == number]
    filled = [2 * r.clause + 1 for r in choice.relations if r.outer == number]
    last = max((*asked, *filled), default=0)
    held = any(d.holds for d in demands)
    if entity.serve or (entity.rests and not held):
        demands.append(Demand(last, number, "place", _resting(choice, number)))
    elif not places and choice.taxonomy.any_plays(choice.classes[number], CARRIER):
        filled = [
            2 * r.clause + 1
            for r in choice.relations
            if r.outer == number and choice.entities[r.inner].classes
        ]
        if filled and not held:
            demands += [Demand(max(filled), number, "open", text) for text in _in_the_open(choice)]
    return demands


def _in_the_open(choice: ObjectChoice) -> list[str]:
    ontology = choice.taxonomy.ontology
    preferences = ontology.preferences("put on a dish")
    return [str(ontology.annotation(name, "condition")[0]) for name in preferences]


def _resting(choice: ObjectChoice, number: int) -> str:
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
    """Split demands into stages where one undoes an earlier one or the request gives the order.

    A stage contains the demands up to its moment that are not yet undone. Picking up an object that
    is then put at a named place needs no stage, since placing it includes picking it up.
    """
    last = max((d.moment for d in demands), default=0)
    # Being near something is a goal only if nothing is requested afterwards.
    demands = [d for d in demands if not d.passing or d.moment // 2 == last // 2]
    undone: dict[Demand, int] = {}
    for demand in demands:
        when = [
            d.moment
            for d in demands
            if d.moment > demand.moment
            and (_undoes(choice, d, demand) or _taken_out(choice, d, demand, demands))
        ]
        if when:
            undone[demand] = min(when)
    moments = {m for d, m in undone.items() if not _on_the_way(choice, d, demands)}
    explicit = {
        m for m in (2 * clause for clause in choice.ordered) if not _comes_last(choice, m, demands)
    }
    explicit.update(_washing_first(choice, demands))
    split: list[list[Demand]] = []
    for moment in sorted(moments | explicit):
        stage = [d for d in demands if d.moment < moment and undone.get(d, moment) >= moment]
        if moment not in moments:  # this stage comes from the word order alone
            stage = [d for d in stage if not (d.holds and _on_the_way(choice, d, demands))]
        hand = [d for d in stage if d.holds][-1:]  # one hand: it holds the latest thing
        stage = [d for d in stage if not d.holds or d in hand]
        if stage and stage not in split:
            split.append(stage)
    kept = [d for d in demands if d not in undone]
    return [*split, kept] if kept and kept not in split else split


def _comes_last(choice: ObjectChoice, moment: int, demands: list[Demand]) -> bool:
    following = min((2 * c for c in choice.ordered if 2 * c > moment), default=None)
    later = [
        d for d in demands if d.moment >= moment and (following is None or d.moment < following)
    ]
    earlier = [d for d in demands if d.moment < moment]
    return all(
        d.key == "place"
        and any(_about(choice, d, e.entity) or _about(choice, e, d.entity) for e in earlier)
        for d in later
    )


def _washing_first(choice: ObjectChoice, demands: list[Demand]) -> Iterator[int]:
    # A full cup cannot be washed. A liquid that washing itself leaves behind needs no such moment.
    for liquid in demands:
        if liquid.key != "liquid":
            continue
        name = choice.entities[liquid.entity].liquid
        others = [p for p, left in choice.taxonomy.methods.floods.items() if left != name]
        if any(
            d.entity == liquid.entity
            and d.moment < liquid.moment
            and any(asks(d.text, p) for p in others)
            for d in demands
        ):
            yield liquid.moment


def _on_the_way(choice: ObjectChoice, demand: Demand, demands: list[Demand]) -> bool:
    # 'Pick it up and put it down' names no place, so there holding it is a stage.
    return demand.holds and any(
        d.moment > demand.moment
        and _about(choice, d, demand.entity)
        and (d.outer is None or not choice.entities[d.outer].group)
        for d in demands
    )


def _about(choice: ObjectChoice, demand: Demand, entity: int) -> bool:
    cut_from = choice.entities[demand.entity].cut_from
    return entity in (demand.entity, demand.outer, cut_from)


def _taken_out(choice: ObjectChoice, later: Demand, running: Demand, demands: list[Demand]) -> bool:
    # A door is closed while its appliance runs: 'put the cup in the microwave, turn it on and take
    # it out'.
    appliance, taxonomy = running.entity, choice.taxonomy
    classes, opens = choice.classes[appliance], taxonomy.roles.bearer(OPEN) or ""
    return (
        running.text == f"({taxonomy.roles.predicate(RUNNING)} ?x)"
        and (choice.taxonomy.any_plays(classes, SLOT) or choice.any_is(classes, opens))
        and not any(choice.any_is(classes, c) for c in taxonomy.switched)
        and (later.key == "place" or later.holds)
        and later.outer != appliance
        and any(
            d.outer == appliance and d.entity == later.entity and d.moment <= running.moment
            for d in demands
        )
    )


def _covers(choice: ObjectChoice, later: int, earlier: int) -> bool:
    # 'Open every drawer, then close every drawer'
    if choice.entities[later].count:
        return False
    now, before = set(choice.pool(later)), set(choice.pool(earlier))
    return bool(before) and before <= now and choice.copies(earlier) == len(before)


def _undoes(choice: ObjectChoice, later: Demand, earlier: Demand) -> bool:
    # Any further use of a held thing takes it out of the hand first.
    if earlier.holds and _about(choice, later, earlier.entity):
        return later.text != earlier.text
    # Different things share only the hand.
    if later.entity != earlier.entity and not _covers(choice, later.entity, earlier.entity):
        return later.holds and earlier.holds
    methods = choice.taxonomy.methods
    # Things grow cold in the fridge, although no demand says so.
    outer = choice.classes[later.outer] if later.outer is not None else ()
    if kept := {p for c in outer for p in methods.kept_by(c)}:
        return any(methods.opposed(earlier.text, f"({p} ?x)") for p in kept) or (
            later.key == earlier.key and later != earlier
        )
    if earlier.key == "place" and choice.taxonomy.cuts(later.text):
        return True  # the whole no longer exists once it is cut
    if later.key == earlier.key and later != earlier:
        return later.key in {"place", "liquid"} and (later.text, later.outer) != (
            earlier.text,
            earlier.outer,
        )
    if earlier.key == "liquid" and any(asks(later.text, p) for p in methods.floods):
        return True
    # Emptying and filling exclude each other, but their literals have different predicates.
    filled = choice.taxonomy.roles.predicate(FILLED)
    if earlier.key == "liquid":
        return (filled, False) in literals(later.text)
    if later.key == "liquid":
        return (filled, False) in literals(earlier.text)
    return methods.opposed(later.text, earlier.text)


# Formula ------------------------------------------------------------------------------------------


class Formula:
    """The PDDL condition of one stage; each entity is a variable or one or more objects.

    The entities in `bound` are replaced by their preferred objects, so that other stages refer to
    the same objects. Only the first `most` objects of each entity are used.
    """

    def __init__(
        self, choice: ObjectChoice, demands: list[Demand], bound: Collection[int], most: int
    ) -> None:
        self.choice = choice
        self.most = most
        self.demands = demands
        self.bound = bound
        self.variables: dict[int, list[str]] = {}
        self.declared: list[str] = []
        self.conjuncts: list[str] = []
        self._bind()

    def text(self) -> str:
        """Return the condition: `(exists (variables) (and …))`, or only `(and …)`."""
        conjuncts = [*self.conjuncts, *self._distinctions()]
        for demand in self.demands:
            conjuncts += self._conjunct(demand)
        body = f"(and {' '.join(dict.fromkeys(conjuncts))})"
        return f"(exists ({' '.join(self.declared)}) {body})" if self.declared else body

    def _bind(self) -> None:
        used = {d.entity for d in self.demands}
        used |= {d.outer for d in self.demands if d.outer is not None}
        self.anywhere = {n for n in used if self._each_in_some(n)}
        used -= self.anywhere
        # Two entities of one class get different objects as long as there are enough.
        taken: set[str] = set()
        for number in sorted(used):
            entity = self.choice.entities[number]
            sole = 0 < len(self.choice.names(number)) <= self.choice.copies(number)
            if entity.name or entity.count == 0 or sole or number in self.bound:
                pool = self.choice.pool(number)
                pool = tuple(n for n in pool if n not in taken) or pool
                self.variables[number] = list(pool[: min(self.most, self.choice.copies(number))])
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
        asked = any(d.entity == number for d in self.demands)
        return self._is_vague(number) and not asked and not self.choice.names(number)

    def _is_vague(self, number: int) -> bool:
        entity = self.choice.entities[number]
        return entity.count < 0 and not entity.apart

    def _type(self, number: int) -> str:
        types = [self.choice.taxonomy.pddl_type(c) for c in self.choice.classes[number]]
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    def _distinctions(self) -> list[str]:
        # Other entities may be the same object: 'take a mug, then wash the mug'.
        inequalities = []
        for number, names in self.variables.items():
            # Things 'in drawers' may share one; if nothing is put there, 'drawers' are several.
            if not (self._is_vague(number) and self.choice.inside(number)):
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
        assert demand.outer is not None
        if not self.choice.shares(demand.outer):
            return 0
        inside = self.choice.inside(demand.outer)
        return sum(self.choice.copies(n) for n in inside[: inside.index(demand.entity)])

    def _at(self, inner: str, outer: int, places: list[str]) -> str:
        taxonomy, classes = self.choice.taxonomy, self.choice.classes[outer]
        relations = sorted({taxonomy.relation(c) for c in classes})
        texts = [f"({relation} {inner} {place})" for relation in relations for place in places]
        return texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"


# Goals --------------------------------------------------------------------------------------------


class Stage(Value):
    """One condition to reach, as PDDL text.

    Args:
        wanted: The requested condition.
        ends: End-state preferences of the scene.
        constraints: PDDL trajectory constraints, such as `(always (not (opened fridge-1)))`.
    """

    wanted: str
    ends: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"(and {' '.join((self.wanted, *self.ends))})"


def lasting_constraints(stages: Sequence[Stage]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the constraints that all stages share, and those that only some stages have."""
    texts = dict.fromkeys(text for stage in stages for text in stage.constraints)
    whole = tuple(t for t in texts if all(t in stage.constraints for stage in stages))
    return whole, tuple(t for t in texts if t not in whole)


class Contingency(Value):
    """A condition that decides between two goals and can be decided only by observation.

    Args:
        condition: The condition in the user's words.
        statement: The condition as a `SceneStatement`.
        looks: Closed places to look into, in this order, until the condition is decided.
        then: Goal if the condition holds.
        otherwise: Goal if it does not.
        request: The request, to be read again after the look if a branch is `deferred`.
    """

    condition: str
    statement: object
    looks: tuple[str, ...]
    then: Goal
    otherwise: Goal
    request: str = ""


class Goal(Value):
    """The goal of a request.

    Args:
        stages: Conditions to reach in this order; usually one.
        notes: Assumptions, one sentence each.
        unread: Content words of the request that the goal does not cover, in order.
        paraphrase: Paraphrase of each stage, generated from its PDDL (`hvr.language.paraphrase`).
        reader: "grammar", or `learnt` with the digest of its head.
        contingency: The condition that decides between two goals; `stages` then allow either.
        deferred: Why the goal is known only after a look, such as 'take out what is in it'; empty
            if the goal is known now.
    """

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    paraphrase: tuple[str, ...] = ()
    reader: str = "grammar"
    contingency: Contingency | None = None
    deferred: str = ""


def goal_of(meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory, domain: Domain) -> Goal:
    choice = ObjectChoice(meaning, taxonomy, inventory, domain)
    check(choice)
    demands = collect(choice)
    if not demands and choice.already_satisfied:
        # 'close all open drawers' where none is open: the goal holds already and needs no plan.
        kept = constraints(choice, meaning.bans)
        return Goal((Stage("(and)", constraints=kept),), tuple(choice.notes), meaning.unread)
    if not demands:
        raise ImpossibleGoalError(f"there is nothing to do: {'; '.join(choice.notes) or 'no goal'}")
    split = stages(choice, demands)
    if len(split) == 1:
        _check_moved(choice, demands, meaning)
    # Each stage is a separate problem: only object names mean the same in several of them.
    stages_of = Counter(number for stage in split for number in _entities(stage))
    bound = {
        number
        for number, count in stages_of.items()
        if count > 1 or (len(split) > 1 and len(choice.classes[number]) > 1)
    }
    kept = constraints(choice, meaning.bans)
    goal_stages = tuple(
        Stage(
            Formula(choice, stage, bound, most).text(),
            tuple(_ends(choice, stage, last=number == len(split))),
            kept,
        )
        for number, stage in enumerate(split, start=1)
        for most in _portions(choice, stage)
    )
    for stage in split:
        held = {d.entity for d in stage if d.holds}
        if sum(choice.copies(number) for number in held) > 1:
            raise ImpossibleGoalError(
                "the robot has one arm and can hold one thing at a time: "
                "say where to put the others"
            )
    return Goal(goal_stages, tuple(choice.notes), meaning.unread)


def _portions(choice: ObjectChoice, demands: list[Demand]) -> Iterator[int]:
    largest = max(choice.copies(d.entity) for d in demands)
    if max(_changes(choice, d) for d in demands) > MANY:
        yield from range(MANY, largest, MANY)
    yield largest


def _changes(choice: ObjectChoice, demand: Demand) -> int:
    names = choice.pool(demand.entity)[: choice.copies(demand.entity)]
    if demand.outer is None:
        return sum(not choice.holds(demand.text, name) for name in names)
    places = set(choice.available(demand.outer))
    return sum(choice.inventory.parents.get(name) not in places for name in names)


def _entities(demands: Iterable[Demand]) -> set[int]:
    return {n for d in demands for n in (d.entity, d.outer) if n is not None}


def _check_moved(choice: ObjectChoice, demands: list[Demand], meaning: Meaning) -> None:
    if not {d.moment // 2 for d in demands} <= set(meaning.moves):
        return
    for demand in demands:
        moved = choice.entities[demand.entity]
        if demand.outer is None and moved.returns is not None and moved.swapped is None:
            continue  # 'put the mug back', which nothing has moved
        if demand.outer is None or choice.entities[demand.outer].apart:
            return
        places = set(choice.pool(demand.outer))
        there = [n for n in choice.pool(demand.entity) if choice.inventory.parents.get(n) in places]
        if len(there) < choice.copies(demand.entity):
            return
        filled = {choice.inventory.parents.get(n) for n in there}
        if choice.entities[demand.outer].each and filled < places:  # 'a pillow on each bed'
            return
    first, outer = demands[0], demands[0].outer
    name = choice.pool(first.entity)[0]
    advice = "; say where to put it" if outer is None else ""
    if outer is not None and len(choice.pool(outer)) > 1:
        advice = f"; say which other {choice.entities[outer].text} is meant"
    raise AlreadyThereError(
        f"the {choice.label(first.entity)} is there already: {name} is at "
        f"{choice.inventory.parents.get(name, 'its place')}{advice}"
    )


def _ends(choice: ObjectChoice, demands: list[Demand], *, last: bool) -> list[str]:
    # Before the last stage the hand may hold an object that the next stage needs. Classes are
    # exempt, not objects: with one burner on, no burner is checked.
    states = {f"({predicate} ?x)" for predicate in end_predicates(choice.taxonomy)}
    exempt = {c for d in demands for c in choice.classes[d.entity] if d.text in states}
    exempt = choice.taxonomy.with_controls(exempt)
    holding = not last or any(d.text == HELD for d in demands)
    return end_conditions(choice.taxonomy, exempt, holding=holding)


def end_conditions(taxonomy: Taxonomy, exempt: set[str], *, holding: bool) -> list[str]:
    """Return the end-state preferences of a scene as PDDL, from the ontology.

    Args:
        exempt: Classes for which the request specifies another state.
        holding: Whether the request ends with an object in the hand.
    """
    ontology = taxonomy.ontology
    conditions = []
    for name, prop in _end_preferences(ontology):
        target = str(ontology.annotation(name, "appliesTo")[0]).removeprefix("k:")
        wanted = str(ontology.annotation(name, "value")[0]).lower() == "true"
        predicate = str(ontology.annotation(prop, "pddlPredicate")[0])
        if taxonomy.plays(target, AGENT):
            if not holding:
                conditions.append(f"({predicate})" if wanted else f"(not ({predicate}))")
            continue
        able = ontology.domain_of(prop)
        for object_class in taxonomy.concrete(target):
            if object_class in exempt or (able and not taxonomy.is_a(object_class, able)):
                continue
            kind = taxonomy.pddl_type(object_class)
            text = f"({predicate} ?{kind})"
            conditions.append(f"(forall (?{kind} - {kind}) {text if wanted else f'(not {text})'})")
    return conditions


def end_predicates(taxonomy: Taxonomy) -> frozenset[str]:
    """Return the predicates in the end-state preferences."""
    ontology = taxonomy.ontology
    return frozenset(
        str(predicate)
        for _, prop in _end_preferences(ontology)
        for predicate in ontology.annotation(prop, "pddlPredicate")
    )


def _end_preferences(ontology: Ontology) -> list[tuple[str, str]]:
    return [
        (name, str(ontology.annotation(name, "property")[0]).removeprefix("k:"))
        for name in ontology.preferences("end of task")
    ]


# Choices ------------------------------------------------------------------------------------------


def one_of(goals: Sequence[Goal | ImpossibleGoalError]) -> Goal:
    """Combine alternative goals into one goal that is reached by reaching any of them.

    Each alternative is a goal, or the error that rules it out. If an alternative has several
    stages, or their constraints differ, only the first possible one is used, with a note.

    Raises:
        ImpossibleGoalError: All alternatives are ruled out.
    """
    possible = [goal for goal in goals if isinstance(goal, Goal)]
    refused = [goal for goal in goals if isinstance(goal, ImpossibleGoalError)]
    if not possible:
        raise refused[0]
    first = possible[0]
    reasons = tuple(f"one choice is impossible: {error}" for error in refused)
    notes = tuple(dict.fromkeys(note for goal in possible for note in goal.notes)) + reasons
    if len(possible) == 1:
        return Goal(first.stages, notes, first.unread)
    same = {goal.stages[0].constraints for goal in possible}
    if len(same) > 1 or any(len(goal.stages) > 1 for goal in possible):
        return Goal(first.stages, (*notes, "taking the first of the choices"), first.unread)
    wanted = dict.fromkeys(goal.stages[0].wanted for goal in possible)
    ends = [
        end for end in first.stages[0].ends if all(end in goal.stages[0].ends for goal in possible)
    ]
    text = next(iter(wanted)) if len(wanted) == 1 else f"(or {' '.join(wanted)})"
    stage = Stage(text, tuple(ends), first.stages[0].constraints)
    return Goal((stage,), notes, first.unread)
