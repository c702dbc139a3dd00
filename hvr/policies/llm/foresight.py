"""The predicted world: what holds after the steps that have been planned so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.imagined import imagine, suppose
from hvr.knowledge.mapping import predicate_rules
from hvr.pddl import Domain, GroundAction, Problem, State, Task, Trajectory
from hvr.pddl.conditions import Operator
from hvr.retrieval.inventory import Inventory
from hvr.search.navigation import find_navigation
from hvr.validation.promises import Promises
from hvr.values import cached_property


class Foresight:
    """The state after the steps planned so far, as PDDL and as a graph for retrieval.

    Args:
        graph: the world as it is; it is not changed.
        domain: the actions.
        inventory: the objects and facts of the graph.
        compile_task: makes a task of a domain and a problem; one that caches saves time when
            plans are made for the same world again and again.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        domain: Domain,
        inventory: Inventory,
        compile_task: Callable[[Domain, Problem], Task] = Task,
    ) -> None:
        self.task = compile_task(domain, graph.problem(domain, "plan"))
        self.navigation = find_navigation(domain)
        self.state: State = self.task.initial
        self._source = graph
        self._inventory = inventory
        self._shown: int | None = None
        self._promises = Promises()

    def keep(self, constraints: Iterable[Trajectory]) -> None:
        """Watch ground constraints from now on."""
        self._promises = Promises(constraints)
        self._promises.observe(self.state)

    @property
    def kept(self) -> tuple[Trajectory, ...]:
        """What must not happen from now on, as the constraints are that are not broken yet."""
        return self._promises.prohibitions

    def advance(self, actions: Iterable[GroundAction]) -> None:
        """Apply actions to the state; those that are not applicable are skipped."""
        for action in actions:
            self.state = run(self.task, self.state, (action,))
            if self._promises.left:
                self._promises.observe(self.state)

    @property
    def graph(self) -> KnowledgeGraph:
        """The predicted state as a graph."""
        graph = self._imagined
        # Prompts ask for it several times between two blocks: only a new state is written again.
        if self._shown != self.state.bits:
            known = self.task.fluent_predicates & predicate_rules(graph.ontology).keys()
            suppose(graph, self.state.atoms(), known)
            self._shown = self.state.bits
        return graph

    @property
    def inventory(self) -> Inventory:
        """The objects and facts of the predicted state."""
        # A state has fluents alone: facts that never change are those of the world as it is.
        fluents = self.task.fluent_predicates
        fixed = frozenset(a for a in self._inventory.facts if a.predicate not in fluents)
        return replace(self._inventory, facts=fixed | self.state.atoms())

    @property
    def nearness(self) -> frozenset[str]:
        """The predicates of nearness, which change with every move: no condition uses them."""
        return self.navigation.predicates if self.navigation else frozenset()

    @cached_property
    def _imagined(self) -> KnowledgeGraph:
        return imagine(self._source)


def run(task: Task, state: State, actions: Iterable[GroundAction]) -> State:
    """Return the state after some actions; those that are not applicable are skipped."""
    bits, _ = _walk(task, state, actions)
    return State(task, bits, state.values)


def doable(task: Task, state: State, actions: Iterable[GroundAction]) -> int:
    """Return how many of the actions can be carried out, the others being skipped."""
    _, done = _walk(task, state, actions)
    return done


def _walk(task: Task, state: State, actions: Iterable[GroundAction]) -> tuple[int, int]:
    bits, done = state.bits, 0
    for action in actions:
        operator = task.try_ground(action)
        if isinstance(operator, Operator) and operator.applicable(bits):
            bits = operator.apply(bits)
            done += 1
    return bits, done


def applicable(task: Task, state: State, actions: Sequence[GroundAction]) -> int:
    """Return how many of the actions, from the first on, can be carried out one after the other."""
    bits = state.bits
    for number, action in enumerate(actions):
        operator = task.try_ground(action)
        if not isinstance(operator, Operator) or not operator.applicable(bits):
            return number
        bits = operator.apply(bits)
    return len(actions)
