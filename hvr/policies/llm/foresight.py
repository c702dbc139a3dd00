"""The predicted world: what holds after the steps planned so far, and how prompts tell of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence

from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.wording import Wording
from hvr.pddl import Formula, GroundAction, Problem, State, Task, Trajectory
from hvr.pddl.conditions import Operator
from hvr.planning.search.navigation import find_navigation
from hvr.validation.promises import Promises
from hvr.validation.stepper import Stepper
from hvr.values import cached_property

Picked = tuple[dict[str, str], tuple[str, ...]]
"""Objects with the reasons for them, and the names that stand for none."""


class Foresight(ABC):
    """The state after the steps planned so far, and all that a policy is told of the world in it.

    `hvr.policies.llm.scene` tells of a scene with its graph, `hvr.policies.llm.facts` of any PDDL
    problem.

    Args:
        task: the objects and how the world is now.

    Attributes:
        goal: what is known to be wanted in the end, as literals; empty where only the request is
            known.
    """

    goal: tuple[str, ...] = ()

    def __init__(self, task: Task) -> None:
        self.task = task
        self.navigation = find_navigation(task.domain)
        self.state: State = self.task.initial
        self._promises = Promises()

    # What happens -------------------------------------------------------------------------

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
    def nearness(self) -> frozenset[str]:
        """The predicates of nearness, which change with every move: no condition uses them."""
        return self.navigation.predicates if self.navigation else frozenset()

    @cached_property
    def arities(self) -> Mapping[str, int]:
        """The number of arguments of each action."""
        return {name: len(s.parameters) for name, s in self.task.domain.actions.items()}

    # What prompts tell --------------------------------------------------------------------

    @property
    @abstractmethod
    def wording(self) -> Wording:
        """What actions, facts and things are called."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """The kinds of objects that there are."""

    @abstractmethod
    def actions(self) -> str:
        """Return all actions with their parameters, in the form of the answers."""

    @abstractmethod
    def classes(self, names: Iterable[str]) -> str:
        """Return one line for each kind of some objects."""

    @abstractmethod
    def objects(self, names: Iterable[str], *, contents: bool = False) -> str:
        """Return one line for each of some objects.

        Args:
            names: the objects.
            contents: tell also what is in places.
        """

    def usual(self, request: str, names: Iterable[str]) -> tuple[str, ...]:
        """Return what is known of a request, and what is usual with some objects."""
        del request, names
        return ()

    def notes(self, reader: str, names: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what is easily mistaken.

        Args:
            reader: who is told: `conditions` or `steps`.
            names: the objects in question.
        """
        del reader, names
        return ()

    # Which objects ------------------------------------------------------------------------

    def held(self, state: State) -> tuple[str, ...]:
        """Return what is carried in a state, and meant where an action leaves it out."""
        del state
        return ()

    @abstractmethod
    def pick(
        self,
        answered: Sequence[str],
        request: str,
        embedder: Embedder,
        *,
        knowledge: bool,
        expansion: bool,
    ) -> Picked:
        """Return the objects that a model chose by their kinds, and what belongs to them.

        Args:
            answered: the names that it gave.
            request: what it was asked about.
            embedder: compares names.
            knowledge: add what the request speaks of.
            expansion: add what the chosen objects depend on.
        """

    def named_in(
        self, text: str, known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """Return the objects of a macro action that names them itself; nothing for another one.

        Args:
            text: the macro action.
            known: the objects of the task.
            embedder: compares names.
            expansion: add what they depend on.
        """
        del text, known, embedder, expansion
        return ()

    @abstractmethod
    def with_named(
        self, texts: Iterable[str], known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """Return objects, and those that some texts name besides.

        Args:
            texts: macro actions and their conditions.
            known: the objects of the task.
            embedder: compares names.
            expansion: add what these depend on.
        """

    # What a planner is given --------------------------------------------------------------

    @abstractmethod
    def posed(
        self,
        state: State,
        goal: Formula,
        objects: Collection[str],
        relevant: Formula,
        kept: tuple[Trajectory, ...],
    ) -> Task | None:
        """Return the task to get from a state to a goal; None where it is too large.

        Args:
            state: where to begin; its task has all objects.
            goal: the condition.
            objects: objects that may be of use besides those that the condition needs.
            relevant: the part of the condition that objects are chosen by.
            kept: ground constraints that must not be broken.

        Raises:
            HvrError: there is no such task.
        """

    def reduced(self, problem: Problem, actions: Iterable[GroundAction]) -> Problem:
        """Return a problem with the objects alone that its goal and a plan have to do with."""
        del actions
        return problem


def run(task: Task, state: State, actions: Iterable[GroundAction]) -> State:
    """Return the state after some actions; those that are not applicable are skipped."""
    return _walk(task, state, actions)[0]


def doable(task: Task, state: State, actions: Iterable[GroundAction]) -> int:
    """Return how many of the actions can be carried out, the others being skipped."""
    return _walk(task, state, actions)[1]


def applicable(task: Task, state: State, actions: Sequence[GroundAction]) -> int:
    """Return how many of the actions, from the first on, can be carried out one after the other."""
    return _walk(task, state, actions, skip=False)[1]


def is_plain(task: Task) -> bool:
    """Return whether a state is its facts alone: no numbers but the cost, and no rules."""
    return not (task.fluent_functions - {"total-cost"} or task.derived_predicates)


def _walk(
    task: Task, state: State, actions: Iterable[GroundAction], *, skip: bool = True
) -> tuple[State, int]:
    """Return the state after some actions and how many were done, up to the first one that cannot
    be done if none is skipped.
    """
    done = 0
    if not is_plain(task):
        stepper = Stepper(task, state)
        for action in actions:
            if stepper.advance(action) is None:
                done += 1
            elif not skip:
                break
        return stepper.state, done
    bits = state.bits
    for action in actions:
        operator = task.try_ground(action)
        if isinstance(operator, Operator) and operator.applicable(bits):
            bits = operator.apply(bits)
            done += 1
        elif not skip:
            break
    return State(task, bits, state.values), done
