"""The predicted world of a scene, described by its knowledge graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from hvr.base.texts import singular, squeezed, words
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.graph_reader import predicate_rules
from hvr.knowledge.hypothetical import assume_atoms, hypothetical_copy
from hvr.knowledge.retrieval.context import (
    class_context,
    default_end_states,
    dishes,
    ingredients,
    notes,
    object_context,
    preferences,
)
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import forbid_untidy_places, relevant_objects
from hvr.knowledge.retrieval.selection import expand, mentioned, select
from hvr.knowledge.wording import Wording, load_wording
from hvr.language.function_words import NUMBERS
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Formula,
    GroundAction,
    Problem,
    State,
    Task,
    Trajectory,
    TypedName,
)
from hvr.policies.llm.dialogue import signatures
from hvr.policies.llm.prediction import PickedObjects, PredictedWorld
from hvr.values import cached_property

MAX_PLANNER_OBJECTS = 40
"""Maximum number of objects in a planner task; grounding a larger task takes half a minute."""

_MOST_PLACES = 10
"""Maximum number of places in a prompt for a plural such as "drawers"."""

_A_FEW = 3
"""Number of objects assumed for a plural without a number."""

_BEFORE = 3
"""Maximum distance in words between a number and its noun, as in "two of the red mugs"."""


class PredictedScene(PredictedWorld):
    """The predicted state of a scene, as a PDDL state and as a graph for retrieval.

    Args:
        compile_task: Compiles tasks. A cached function saves time if the same world is used often.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        domain: Domain,
        inventory: Inventory,
        compile_task: Callable[[Domain, Problem], Task] = Task,
    ) -> None:
        super().__init__(compile_task(domain, graph.problem(domain, "plan")))
        self._source = graph
        self._inventory = inventory
        self._shown: int | None = None

    @property
    def graph(self) -> KnowledgeGraph:
        graph = self._imagined
        # Prompts read the graph several times per block, so write only a new state to it.
        if self._shown != self.state.bits:
            known = self.task.fluent_predicates & predicate_rules(graph.ontology).keys()
            assume_atoms(graph, self.state.atoms(), known)
            self._shown = self.state.bits
        return graph

    @property
    def inventory(self) -> Inventory:
        return self._inventory_in(self.state)

    def _inventory_in(self, state: State) -> Inventory:
        # A state contains only fluents; static facts come from the current world.
        fluents = self.task.fluent_predicates
        fixed = frozenset(a for a in self._inventory.facts if a.predicate not in fluents)
        return replace(self._inventory, facts=fixed | state.atoms())

    @cached_property
    def _imagined(self) -> KnowledgeGraph:
        return hypothetical_copy(self._source)

    # Prompt texts -------------------------------------------------------------------------

    @property
    def wording(self) -> Wording:
        return load_wording()

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted(set(self._inventory.classes.values())))

    def actions(self) -> str:
        return signatures(self.task)

    def classes(self, names: Iterable[str]) -> str:
        return class_context(self.graph, names)

    def objects(
        self, names: Iterable[str], *, contents: bool = False, surfaces: bool = False
    ) -> str:
        return object_context(self.graph, names, contents=contents, surfaces=surfaces)

    def places(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(_with_places(names, self.inventory)))

    def usual(self, request: str, names: Iterable[str]) -> tuple[str, ...]:
        """Return knowledge about the dishes in the request, and the default end states."""
        ontology = self._source.ontology
        usual = (*preferences(self._classes(names), ontology), *default_end_states(ontology))
        return (*dishes(request, ontology), f"unless something else is asked, {', '.join(usual)}")

    def notes(self, reader: str, names: Iterable[str] = ()) -> tuple[str, ...]:
        steps = reader == "steps"
        predicates = self.nearness if steps else self.task.fluent_predicates - self.nearness
        return notes(
            self._source.ontology,
            reader=reader,
            predicates=predicates,
            classes=sorted(self._classes(names)) if steps else (),
        )

    def _classes(self, names: Iterable[str]) -> set[str]:
        return {self._source.object_class(name) for name in names}

    # Object selection ---------------------------------------------------------------------

    def held(self, state: State) -> tuple[str, ...]:
        return self._inventory_in(state).held

    def pick(
        self,
        answered: Sequence[str],
        request: str,
        embedder: Embedder,
        *,
        knowledge: bool,
        expansion: bool,
    ) -> PickedObjects:
        inventory = self.inventory
        chosen = select(answered, inventory, embedder)
        reasons = dict(chosen.reasons)
        if knowledge:
            reasons |= _mentioned_objects(request, inventory, reasons, embedder)
        if expansion:
            reasons |= expand(chosen.names, inventory)
        return reasons, chosen.unmatched

    def named_in(
        self, text: str, known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """Return the named objects, and the `known` objects that are furniture or of a named type.

        If `expansion`, objects on which the named ones depend are added. The result is empty if no
        portable object is named.
        """
        inventory = self.inventory
        names = mentioned(text, inventory)
        chosen = select(names, inventory, embedder)
        classes = {inventory.classes[name] for name in chosen.names}
        # If only furniture is named, the objects to handle are unknown, so let the model select.
        if not any(_portable(inventory, name) for name in chosen.names):
            return ()
        picked = [n for n in known if inventory.classes[n] in classes]
        picked += chosen.names
        if expansion:
            picked += expand(dict.fromkeys(picked), inventory)
        picked += [n for n in known if not _portable(inventory, n)]
        return tuple(dict.fromkeys(picked))

    def with_named(
        self, texts: Iterable[str], known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        inventory = self.inventory
        names = dict.fromkeys(name for text in texts for name in mentioned(text, inventory))
        missing = [
            n for n in names if not select([n], inventory, embedder).reasons.keys() & set(known)
        ]
        more = dict(select(missing, inventory, embedder, per_class=1).reasons)
        there = inventory.classes
        numbered = ("-".join(name.rsplit(" ", 1)) for name in names)
        more |= dict.fromkeys((n for n in numbered if n in there), "named")
        if expansion and more:
            more |= expand((*known, *more), inventory)
        return tuple(dict.fromkeys((*known, *(n for n in more if n in there))))

    # Planner tasks ------------------------------------------------------------------------

    def planner_task(
        self,
        state: State,
        goal: Formula,
        objects: Collection[str],
        relevant: Formula,
        kept: tuple[Trajectory, ...],
    ) -> Task | None:
        domain, now = self.task.domain, self._inventory_in(state)
        needed = relevant_objects([relevant], now, kept, self.task.fluent_predicates)
        names = {*needed.names, *_with_places(objects, now)}
        if len(names) > MAX_PLANNER_OBJECTS:
            return None
        there = [o for o in state.task.problem.objects if o.name in names]
        known = {o.name for o in (*there, *domain.constants)}
        problem = Problem(
            "bridge",
            domain.name,
            tuple(TypedName(o.name, o.types) for o in there),
            frozenset(
                a
                for a in now.facts
                if a.predicate in domain.predicates and known.issuperset(a.args)
            ),
            goal,
        )
        problem = forbid_untidy_places(problem, goal, now)
        return Task(domain, problem.replace(constraints=And(kept)))

    def reduced(self, problem: Problem, actions: Iterable[GroundAction]) -> Problem:
        named = dict.fromkeys(name for action in actions for name in action.args)
        inventory = self._inventory
        used = And(tuple([Atom("present", (n,)) for n in named if n in inventory.classes]))
        names = set(relevant_objects([problem.goal, used], inventory).names)
        objects = tuple([o for o in problem.objects if o.name in names])
        known = {o.name for o in objects} | {c.name for c in self.task.domain.constants}
        init = frozenset(atom for atom in problem.init if known.issuperset(atom.args))
        return problem.replace(objects=objects, init=init)


def _mentioned_objects(
    request: str, inventory: Inventory, chosen: Mapping[str, str], embedder: Embedder
) -> dict[str, str]:
    classes = {inventory.classes[name] for name in chosen}
    wanted = (*mentioned(request, inventory), *ingredients(request, inventory.ontology))
    missing = [
        name
        for name in dict.fromkeys(wanted)
        if classes.isdisjoint(
            inventory.classes[n] for n in select([name], inventory, embedder).names
        )
    ]
    more = [*select(missing, inventory, embedder).names, *_several(request, inventory)]
    return dict.fromkeys(more, "the request speaks of it")


def _several(request: str, inventory: Inventory) -> list[str]:
    # Portable objects are limited to the stated number, or to a few. Places are hardly limited,
    # since any of them may be meant.
    names = []
    request_words = words(request)
    for phrase in mentioned(request, inventory):
        *_, last = phrase.split()
        if singular(last) != last:
            kind = " ".join([*phrase.split()[:-1], singular(last)])
            same = [n for n, c in inventory.classes.items() if c.lower() == squeezed(kind)]
            rank = [n for n in inventory.of("PhysicalObject") if n in same]
            places = [n for n in rank if not _portable(inventory, n)]
            things = [n for n in rank if _portable(inventory, n)]
            names += [*places[:_MOST_PLACES], *things[: _number(request_words, words(phrase)[0])]]
    return names


def _number(request_words: Sequence[str], first: str) -> int:
    before = (
        request_words[: request_words.index(first)][-_BEFORE:] if first in request_words else ()
    )
    numbers = (NUMBERS.get(w) or (int(w) if w.isdecimal() else 0) for w in reversed(before))
    return min(next((n for n in numbers if n), _A_FEW), _MOST_PLACES)


def _portable(inventory: Inventory, name: str) -> bool:
    return any(inventory.true(p, name) for p in inventory.ontology.predicates("Pickupable"))


def _with_places(names: Iterable[str], inventory: Inventory) -> set[str]:
    objects = set(names)
    for _ in range(2):
        objects |= {inventory.parents[n] for n in objects if n in inventory.parents}
    return objects
