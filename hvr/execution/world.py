"""The robot's world: an environment, its names, and its knowledge graph."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.execution.belief import Revision, Sight, contradicted
from hvr.execution.deviations import PLACE_PREDICATES, Deviation, DeviationKind
from hvr.execution.monitor import SceneMonitor
from hvr.execution.observation import Observed, Truth, sorts_of
from hvr.execution.perception import AROUND, Percept, Perception, Sensors
from hvr.execution.recovery import Impasse, crowded_place, replaceable
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.graph_reader import PredicateRule, predicate_rules
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory, take_inventory
from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.triples import ActionEvent, Change, FailureNote, Statement, cleared_marks, marks
from hvr.pddl import Task
from hvr.pddl.formulas import Atom, Exists, Forall, FunctionTerm, walk
from hvr.pddl.model import GroundAction
from hvr.pddl.state import State
from hvr.planning.plans import Planned, Policy
from hvr.validation.trajectory import ConstraintMonitor
from hvr.values import cached_property
from hvr.worlds.environment import Environment
from hvr.worlds.scenes import VISIBILITY_DISTANCE, PlaceCounts, place_counts
from hvr.worlds.thor.observe import Names
from hvr.worlds.thor.skills import GRID, NEAR, SHUFFLE, SkillResult, perform

if TYPE_CHECKING:
    from hvr.knowledge.sparql_server import SharedGraph


MOST_WATCHED = 1_000
"""Maximum number of instances of a quantifier up to which objects outside a plan are monitored."""


# Looking ------------------------------------------------------------------------------------------
# The search for objects whose place is unknown: the places to look at, in order.


def missing_objects(needed: Iterable[str], inventory: Inventory) -> tuple[str, ...]:
    """Return the needed objects of unknown place, unless another of their class has a known one."""
    lost = inventory.unplaced
    return tuple(
        name
        for name in dict.fromkeys(needed)
        if name in lost and lost.issuperset(inventory.of(inventory.classes[name]))
    )


def place_chances(
    thing: str, places: Collection[str], inventory: Inventory, counts: PlaceCounts
) -> Mapping[str, float]:
    """Return the probability that each place contains an object, except for places too small.

    The probability of a class of places is estimated by Laplace's rule of succession, from
    frequencies in other scenes (`counts`) and in this scene. If the object is not in `counts`, the
    classes in the ontology's annotation `keptIn` share half of the probability. The places of a
    class are equally likely.
    """
    classes = inventory.classes
    fitting = [p for p in places if Atom("fits", (thing, p)) in inventory.facts]
    sizes = Counter(classes[p] for p in fitting)
    counted = counts.get(classes[thing], {})
    weights = {c: 1.0 + counted.get(c, 0) for c in sizes}
    for other in inventory.of(classes[thing]):
        place = inventory.parents.get(other)
        if place is not None and classes[place] in weights:
            weights[classes[place]] += 1.0
    if not counted:
        kept = _usual_classes(thing, inventory) & sizes.keys()
        elsewhere = sum(weight for c, weight in weights.items() if c not in kept)
        weights |= {c: max(weights[c], elsewhere / len(kept)) for c in kept}
    total = sum(weights.values())
    return {p: weights[classes[p]] / sizes[classes[p]] / total for p in fitting}


def _usual_classes(thing: str, inventory: Inventory) -> frozenset[str]:
    ontology = inventory.ontology
    return frozenset(
        str(kind).removeprefix("k:")
        for above in ontology.superclasses(inventory.classes[thing], reflexive=True)
        for kind in ontology.annotation(above, "keptIn")
    )


def search_order(
    objects: Sequence[str],
    spots: Mapping[str, Sequence[str]],
    left: Collection[str],
    chances: Callable[[str], Mapping[str, float]],
    cost: Callable[[str], float],
    beside: Callable[[str], Iterable[str]],
) -> tuple[str, ...]:
    """Return the spots from which to search for any of the objects, best spot first.

    Spots are ranked by probability per cost, which minimises the expected cost of a search if the
    costs are independent.

    Args:
        spots: For each place, including searched ones, the objects to approach for a view of it,
            all equally likely to show the object.
        chances: Returns the probability that each place contains an object.
        cost: Returns the cost of going to a spot and looking around.
        beside: Returns the other spots that are visible from a spot.
    """
    own: dict[str, float] = {}
    for thing in objects:
        for place, chance in chances(thing).items():
            for spot in spots[place]:
                if spot in left:
                    own[spot] = own.get(spot, 0.0) + chance / len(spots[place])
    worth = {spot: sum(own.get(s, 0.0) for s in {spot, *beside(spot)}) for spot in own}
    return tuple(sorted(worth, key=lambda spot: (-worth[spot] / cost(spot), spot)))


# Atoms --------------------------------------------------------------------------------------------
# Changes of the graph as PDDL atoms, found without reading the whole graph.


class ChangeReader:
    """Converts changes of RDF statements to PDDL atoms, using the ontology's annotations."""

    def __init__(self, ontology: Ontology) -> None:
        self._rules: dict[str, PredicateRule] = {}
        self._values: dict[tuple[str, str], str] = {}
        for rule in predicate_rules(ontology).values():
            if rule.kind in ("flag", "relation"):
                self._rules[rule.term] = rule
            elif rule.kind == "value":
                self._values[rule.prop, rule.term] = rule.predicate
        self._constants: Mapping[str, str] = {
            n: str(ontology.annotation(n, "pddlName")[0]) for n in ontology.subjects("pddlName")
        }

    def atoms(self, change: Change) -> tuple[frozenset[Atom], frozenset[Atom]]:
        """Return the atoms that became true, and the atoms that became false."""
        return self._read(change.added), self._read(change.removed)

    def _read(self, statements: Iterable[Statement]) -> frozenset[Atom]:
        atoms = (self._atom(statement) for statement in statements)
        return frozenset(atom for atom in atoms if atom is not None)

    def _atom(self, statement: Statement) -> Atom | None:
        subject, prop, value = statement
        if (prop, str(value)) in self._values:
            return Atom(self._values[prop, str(value)], (subject,))
        rule = self._rules.get(prop)
        if rule is None or (rule.kind == "flag" and value is not True):
            return None
        ends = {"subject": subject, "object": self._constants.get(str(value), str(value))}
        return Atom(rule.predicate, tuple(ends[a] for a in rule.arguments))


# World --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ActionOutcome:
    result: SkillResult
    change: Change
    look: Percept
    gained: frozenset[Atom] = frozenset()
    lost: frozenset[Atom] = frozenset()

    @property
    def scene(self) -> SceneGraph:
        return self.look.scene


class World:
    """A kitchen environment, and a knowledge graph that is updated by observation.

    Args:
        graph: A graph that contains only the ontology; the scene is added to it.
        force_put: Whether AI2-THOR's `forceAction` overrides its placement table when objects are
            put down.
    """

    def __init__(
        self,
        env: Environment,
        graph: KnowledgeGraph,
        *,
        force_put: bool = False,
        sensors: Sensors | None = None,
    ) -> None:
        self.env = env
        self.graph = graph
        self.force_put = force_put
        self.sensors = sensors or Sensors()
        self.names = Names.from_metadata(env.last_event.metadata)
        self.perception = Perception(env, self.names, sensors or Sensors(), graph.ontology)
        self._near: frozenset[str] = frozenset()
        self._used: set[str] = set()  # objects named by actions
        self._marks: set[tuple[str, str]] = set()
        self._retractions: Counter[Revision] = Counter()
        self._changes = ChangeReader(graph.ontology)
        pieces = {name: parts for name in self.scene.objects if (parts := self.names.pieces(name))}
        graph.add_scene(self.scene, pieces)
        if self.perception.sensors.sight is Sight.VISIBLE:
            facts = graph.facts()
            large = graph.ontology.predicates("LargeSurface")
            self.perception.large = frozenset(a.args[0] for a in facts if a.predicate in large)

    @property
    def scene(self) -> SceneGraph:
        return self.perception.scene

    def inventory(self) -> Inventory:
        """Return the known objects and facts, nearest to the robot first."""
        lost = set(self.perception.lost)
        positions = {n: o.position for n, o in self.scene.objects.items() if n not in lost}
        inventory = take_inventory(
            self.graph,
            self.scene.scene,
            positions,
            self.perception.stands_at,
            {n: o.extent for n, o in self.scene.objects.items() if o.extent is not None},
        )
        unseen = frozenset(self.perception.inside_unseen)
        used, doubted = frozenset(self._used), self.perception.doubted
        return replace(inventory, used=used, unseen=unseen, doubted=doubted)

    wording = None
    """None: literals use hvr's own templates."""
    may_repeat = False

    @property
    def limited(self) -> bool:
        return self.perception.sensors.sight is not Sight.OMNISCIENT

    @cached_property
    def place_counts(self) -> PlaceCounts:
        """How often each class of object was found in each class of place; used for searches."""
        return place_counts()

    def plan(self, policy: Policy[Any], stage: Any, avoid: frozenset[str], reason: str) -> Planned:
        inventory = self.inventory()
        if avoid:
            inventory = inventory.without(avoid)
        return policy.plan(stage, self.graph, inventory, reason)

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> SceneMonitor:
        return SceneMonitor(self, planned, constraints, aside=aside)

    def scope(self, planned: Planned) -> Task:
        """See `ExecutionWorld.scope`: all objects of the types that constraints quantify over.

        If these are too many to watch, the plan's task is returned.
        """
        task, kept = planned.task, planned.problem.constraints
        quantified = [p for p in walk(kept) if isinstance(p, Exists | Forall)]
        kinds = {kind for part in quantified for v in part.variables for kind in v.types}
        known = set(planned.relevant.names)
        types = {n: self.graph.pddl_type(n) for n in self.inventory().classes} if kinds else {}
        names = {n for n, t in types.items() if task.domain.has_type((t,), tuple(kinds))}
        most = max((len(part.variables) for part in quantified), default=0)
        if not names - known or len(names) ** most > MOST_WATCHED:
            return task
        problem = self.graph.problem(task.domain, "scope", names | known)
        return Task(task.domain, problem.replace(constraints=kept))

    def crowding(
        self, impasse: Impasse, relevant: Collection[str], *, new: bool
    ) -> tuple[str, tuple[str, ...]]:
        return crowded_place(impasse, relevant, self.scene, new=new)

    def replaceable(self, impasse: Impasse, avoid: frozenset[str]) -> str | None:
        return replaceable(impasse, self.graph, self.inventory(), avoid)

    def missing(self, policy: Policy[Any], stage: Any, *, spare: bool = False) -> tuple[str, ...]:
        inventory = self.inventory()
        if not inventory.unplaced:
            return ()
        needed = policy.needs(stage, self.graph, inventory)
        if spare:
            return tuple(sorted(inventory.unplaced.intersection(needed)))
        return missing_objects(needed, inventory)

    def untidy(self, policy: Policy[Any], stage: Any) -> tuple[str, ...]:
        return policy.untidy(stage, self.graph, self.inventory())

    def unplaced(self) -> frozenset[str]:
        return self.inventory().unplaced

    def search_order(self, objects: Sequence[str], searched: Collection[str]) -> tuple[str, ...]:
        inventory, history = self.inventory(), self.perception.history
        spots = {place: self._spots(place) for place in self._receptacles()}
        # Objects never seen may be where the robot has not looked yet; others may be anywhere.
        known = {name: history.looks for name in objects if name in history.seen} | history.lost
        since = max((known.get(name, 0) for name in objects), default=0)
        left = set()
        for place, around in spots.items():
            # A compact place is seen as a whole, a large one from the spots on it.
            views = history.whole if place not in self.perception.large else history.seen
            left |= {s for s in around if views.get(s, -1) < since and s not in searched}
        return search_order(
            objects,
            spots,
            left,
            lambda thing: self.chances(thing, spots, inventory),
            self._looking_cost,
            lambda spot: self._beside(spot, left),
        )

    def chances(
        self, thing: str, places: Collection[str], inventory: Inventory
    ) -> Mapping[str, float]:
        return place_chances(thing, places, inventory, self.place_counts)

    def _beside(self, spot: str, others: Iterable[str]) -> list[str]:
        """Return the open places in `others` that are visible from every position near a spot."""
        at = self.scene.objects[spot].position
        return [
            other
            for other in others
            if not self._is_closed(other)
            and math.dist(at, self.scene.objects[other].position) <= VISIBILITY_DISTANCE - NEAR
        ]

    def _receptacles(self) -> list[str]:
        objects = self.scene.objects.values()
        return [
            o.name
            for o in objects
            if o.attributes.get("receptacle") and not o.attributes.get("pickupable")
        ]

    def _spots(self, place: str) -> tuple[str, ...]:
        if place not in self.perception.large:
            return (place,)
        objects = self.scene.objects.values()
        upon = [
            o.name
            for o in objects
            if place in o.parents
            and not o.attributes.get("openable")
            and o.name in self.perception.history.seen
        ]
        return (place, *upon)

    def _looking_cost(self, place: str) -> float:
        x, _, z = self.perception.stands_at
        at = self.scene.objects[place]
        moves = 1 + math.hypot(at.position[0] - x, at.position[2] - z) / GRID
        door = 2 if self._is_closed(place) else 0
        return moves + door + (len(AROUND) if self.perception.sensors.sight is Sight.VISIBLE else 0)

    def opening(
        self, policy: Policy[Any], place: str, closing: tuple[str, ...], stage: Any
    ) -> Planned:
        return policy.opening(place, closing, stage, self.graph, self.inventory())

    def unseen(self, watch: SceneMonitor, step: int) -> tuple[str, ...]:
        sorts = sorts_of(self.graph.ontology)
        felt = {"near", "holding", *sorts.remembered}
        atoms = (a for a in watch.goal_support() if a.args and a.predicate not in felt)
        names = dict.fromkeys(a.args[0] for a in atoms if a.args[0] in self.scene.objects)
        return self._nearest_first(n for n in names if not self.perception.is_fresh(n, step))

    def visiting(
        self, policy: Policy[Any], thing: str, closing: tuple[str, ...], stage: Any
    ) -> tuple[Planned, tuple[str, ...]]:
        door = self.perception.shut_in(thing)
        if door is not None:
            return self.opening(policy, door, closing, stage), (door,)
        return policy.visiting(thing, closing, stage, self.graph, self.inventory()), ()

    def doubt(self, thing: str) -> None:
        o, (x, _, z) = self.scene.objects[thing], self.perception.stands_at
        away = math.hypot(o.position[0] - x, o.position[2] - z) > VISIBILITY_DISTANCE
        if away or not o.attributes.get("pickupable") or self.perception.shut_in(thing):
            return
        places = [Atom(kind, (thing, p)) for p in o.parents for kind in PLACE_PREDICATES]
        self.perception.revise((), places)
        self.graph.update(self.scene)

    def unopened(self) -> tuple[str, ...]:
        """Return the closed places into which the robot has never looked, nearest first."""
        return self._nearest_first(self.perception.unopened)

    def _is_closed(self, place: str) -> bool:
        attributes = self.scene.objects[place].attributes
        return bool(attributes.get("openable")) and not attributes.get("isOpen")

    def _nearest_first(self, places: Iterable[str]) -> tuple[str, ...]:
        x, _, z = self.perception.stands_at

        def way(name: str) -> float:
            at = self.scene.objects[name].position
            return round(math.hypot(at[0] - x, at[2] - z), 2)

        return tuple(sorted(places, key=lambda name: (way(name), name)))

    def facts(self, objects: Iterable[str]) -> frozenset[Atom]:
        """Return the PDDL atoms about some objects, as last observed."""
        return self.graph.facts(objects)

    def act(self, step: int, action: GroundAction, near: Iterable[str]) -> ActionOutcome:
        """Execute an action, observe its outcome, and record both in the graph."""
        outcome = self.do(step, action, near)
        self.record(step, action, outcome)
        return outcome

    def do(
        self,
        step: int,
        action: GroundAction,
        near: Iterable[str],
        added: Iterable[Atom] = (),
        deleted: Iterable[Atom] = (),
    ) -> ActionOutcome:
        """Execute an action, observe its outcome, and update the belief and the graph."""
        before = self.scene
        self._used.update(action.args)
        result = perform(self.env, self.names, action.name, action.args, force_put=self.force_put)
        look = self.perception.look(step, result.success, added, deleted)
        change = self.graph.update(self.scene)
        was_near = self._near
        self._near = frozenset(
            n for n in (near if result.success else was_near) if self._is_near(n)
        )
        if self._near != was_near:
            self.graph.set_near(self._near)
        remembered = self._remember(result, before)
        gained, lost = self._changes.atoms(change)
        more, less = self._changes.atoms(remembered)
        gained |= more | {Atom("near", (n,)) for n in self._near - was_near}
        lost |= less | {Atom("near", (n,)) for n in was_near - self._near}
        return ActionOutcome(result, change, look, gained, lost)

    def retract(
        self, action: GroundAction, state: State, observed: Observed, *, again: bool
    ) -> Revision | None:
        """Retract the cheapest beliefs that contradict a refusal, and return them; None if none do.

        `near` facts are retracted first: they are only inferred from distances, and cheap to
        restore. Other beliefs are retracted only after a second refusal (`again`), since the first
        may be a transient fault.
        """

        def is_believed(what: Atom | FunctionTerm) -> bool:
            if not isinstance(what, Atom) or not what.args:
                return False
            if what.predicate == "near":
                there = self.scene.objects.get(what.args[0])
                return there is None or not there.in_reach
            return (
                again
                and observed.value(what) is Truth.NOT_SEEN
                and self.perception.can_revise(what)
            )

        def cost(revision: Revision) -> tuple[int, int, list[str]]:
            atoms = [what for what, _ in revision if isinstance(what, Atom)]
            others = sum(atom.predicate != "near" for atom in atoms)
            return others, self._retractions[revision], sorted(map(str, revision))

        best = min(contradicted(state, (action,), is_believed), key=cost, default=None)
        if best is None:
            return None
        self._retractions[best] += 1
        true = [a for a, value in best if isinstance(a, Atom) and value]
        false = [a for a, value in best if isinstance(a, Atom) and not value]
        self.perception.revise(true, false)
        self.graph.update(self.scene)
        self._near -= {a.args[0] for a in false if a.predicate == "near"}
        self.graph.set_near(self._near)
        return best

    def record(
        self,
        step: int,
        action: GroundAction,
        outcome: ActionOutcome,
        failures: Sequence[Deviation] = (),
    ) -> None:
        """Add an action, its changes and its deviations to the graph's event log."""
        for failure in failures:
            if failure.kind is DeviationKind.WRONG_OBJECT:
                self._used.update(failure.objects)
        result = outcome.result
        self.graph.record(
            ActionEvent(
                step,
                action.name,
                action.args,
                result.success,
                result.error,
                change=outcome.change,
                failures=_notes(failures),
            )
        )

    def notice(self, step: int, failures: Iterable[Deviation]) -> None:
        self.graph.notice(step, _notes(failures))

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        """Look around for lost objects; return those found.

        Args:
            everything: Look even if nothing is lost, and also return the objects that differ from
                the belief.
        """
        if not self.perception.lost and not everything:
            return ()
        things = self.perception.look_around(step)
        change = self.graph.update(self.scene)
        if not everything:
            return things
        named = (s[0] for s in (*change.added, *change.removed) if s[0] in self.scene.objects)
        return tuple(sorted({*things, *named}))

    def _is_near(self, name: str) -> bool:
        there = self.scene.objects.get(name)
        if there is None or self.scene.shut_in(name):
            return False
        return there.in_reach or there.distance <= SHUFFLE or name == self.scene.held

    def _remember(self, result: SkillResult, before: SceneGraph) -> Change:
        added: set[tuple[str, str]] = set()
        removed: set[tuple[str, str]] = set()
        ontology = self.graph.ontology
        for step in result.steps:
            if step.success:
                named = self._named(step.action)
                added |= marks(named, before, self.scene, self._marks, ontology)
                removed |= cleared_marks(named, before, self.scene, ontology)
        if not added and not removed:
            return Change()
        self._marks = (self._marks | added) - removed
        return self.graph.set_marks(added, removed)

    def _named(self, action: Mapping[str, Any]) -> dict[str, Any]:
        named = dict(action)
        for key in ("objectId", "receptacleObjectId"):
            if key in named:
                named[key] = self.names.name(named[key])
        return named


def _notes(failures: Iterable[Deviation]) -> tuple[FailureNote, ...]:
    return tuple(
        FailureNote(
            f.kind.value, f.side.value, tuple(map(str, f.literals)), f.explanation, f.objects
        )
        for f in failures
    )


def open_world(
    env: Environment,
    folder: Path | None = None,
    *,
    ontology: Ontology | None = None,
    sensors: Sensors | None = None,
    shared: SharedGraph | None = None,
) -> World:
    """Create a world with a new knowledge graph.

    Raises:
        StoreError: The folder cannot hold a graph, or the server does not respond.
    """
    graph = KnowledgeGraph.create(folder, ontology, shared)
    try:
        return World(env, graph, sensors=sensors)
    except BaseException:
        graph.close()
        raise
