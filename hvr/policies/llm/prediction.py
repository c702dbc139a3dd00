"""The predicted world: the state after the planned steps, and its description in prompts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from hvr.base.texts import singular, squeezed, words
from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.wording import Wording
from hvr.pddl import (
    OBJECT,
    TRUE,
    And,
    Atom,
    Formula,
    FunctionTerm,
    GroundAction,
    Not,
    Problem,
    State,
    Task,
    Trajectory,
)
from hvr.pddl.plan import decimal_text
from hvr.pddl.state import Operator
from hvr.planning.search.navigation import find_navigation
from hvr.validation.stepper import Stepper
from hvr.validation.trajectory import ConstraintMonitor
from hvr.values import cached_property

# Predicted world ----------------------------------------------------------------------------------

PickedObjects = tuple[dict[str, str], tuple[str, ...]]
"""The selected objects, each with the reason, and the names that match no object."""


class PredictedWorld(ABC):
    """The predicted state after the planned steps, and its description for a policy.

    `hvr.policies.llm.scene_prediction` implements it for scene graphs, and `PredictedFacts` for any
    PDDL problem.

    Attributes:
        goal: Literals of the goal; empty if only the request is known.
    """

    goal: tuple[str, ...] = ()

    def __init__(self, task: Task) -> None:
        self.task = task
        self.navigation = find_navigation(task.domain)
        self.state: State = self.task.initial
        self._constraints = ConstraintMonitor()

    # State --------------------------------------------------------------------------------

    def keep(self, constraints: Iterable[Trajectory]) -> None:
        self._constraints = ConstraintMonitor(constraints)
        self._constraints.observe(self.state)

    @property
    def kept(self) -> tuple[Trajectory, ...]:
        """The prohibitions that later states must still satisfy."""
        return self._constraints.prohibitions

    def advance(self, actions: Iterable[GroundAction]) -> None:
        """Apply actions to the state; inapplicable ones are skipped."""
        for action in actions:
            self.state = run_actions(self.task, self.state, (action,))
            if self._constraints.left:
                self._constraints.observe(self.state)

    @property
    def nearness(self) -> frozenset[str]:
        """The predicates about nearness; conditions omit them because every move changes them."""
        return self.navigation.predicates if self.navigation else frozenset()

    @cached_property
    def arities(self) -> Mapping[str, int]:
        return {name: len(s.parameters) for name, s in self.task.domain.actions.items()}

    # Prompt texts -------------------------------------------------------------------------

    @property
    @abstractmethod
    def wording(self) -> Wording:
        """Words for actions, predicates and objects."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]: ...

    @abstractmethod
    def actions(self) -> str:
        """Return all actions with their parameters, in the format that answers use."""

    @abstractmethod
    def classes(self, names: Iterable[str]) -> str: ...

    @abstractmethod
    def objects(
        self, names: Iterable[str], *, contents: bool = False, surfaces: bool = False
    ) -> str:
        """Return one line per object.

        Args:
            contents: Whether to list the contents of closed places.
            surfaces: Whether to list the objects on each surface, which distinguish it from others.
        """

    def places(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the places of objects, including outer places (the table under the egg's bowl)."""
        del names
        return ()

    def usual(self, request: str, names: Iterable[str]) -> tuple[str, ...]:
        """Return background knowledge about a request, and the usual states of objects."""
        del request, names
        return ()

    def notes(self, reader: str, names: Iterable[str] = ()) -> tuple[str, ...]:
        """Return notes on common mistakes; `reader` is `conditions` or `steps`."""
        del reader, names
        return ()

    # Object selection ---------------------------------------------------------------------

    def held(self, state: State) -> tuple[str, ...]:
        """Return the held objects, which the model may omit as arguments."""
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
    ) -> PickedObjects:
        """Return the objects of the selected kinds (`answered`), and related objects.

        Args:
            knowledge: Whether to add the objects named in the request.
            expansion: Whether to add the objects on which the selected ones depend.
        """

    def named_in(
        self, text: str, known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """Return the objects for a macro action that names some; empty if it names none.

        Args:
            known: Objects of the whole task, from which others may be added.
            expansion: Whether to add the objects on which the named ones depend.
        """
        del text, known, embedder, expansion
        return ()

    @abstractmethod
    def with_named(
        self, texts: Iterable[str], known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """Return the known objects and the objects named in `texts`.

        If `expansion`, the objects on which the latter depend are added.
        """

    # Planner tasks ------------------------------------------------------------------------

    @abstractmethod
    def planner_task(
        self,
        state: State,
        goal: Formula,
        objects: Collection[str],
        relevant: Formula,
        kept: tuple[Trajectory, ...],
    ) -> Task | None:
        """Return the task of reaching a goal from a state, or None if the task is too large.

        Args:
            relevant: Part of the goal that determines the relevant objects.
        """

    def reduced(self, problem: Problem, actions: Iterable[GroundAction]) -> Problem:
        """Return a problem with only the objects that are relevant to its goal and to a plan."""
        del actions
        return problem


def run_actions(task: Task, state: State, actions: Iterable[GroundAction]) -> State:
    """Return the state after some actions; inapplicable ones are skipped."""
    return _walk(task, state, actions)[0]


def count_executable(task: Task, state: State, actions: Iterable[GroundAction]) -> int:
    """Return how many actions are applicable in sequence; inapplicable ones are skipped."""
    return _walk(task, state, actions)[1]


def count_applicable(task: Task, state: State, actions: Sequence[GroundAction]) -> int:
    """Return the number of actions before the first inapplicable one."""
    return _walk(task, state, actions, skip=False)[1]


def is_propositional(task: Task) -> bool:
    """Return whether a task has no derived predicates and no numeric fluents except the cost."""
    return not (task.fluent_functions - {"total-cost"} or task.derived_predicates)


def _walk(
    task: Task, state: State, actions: Iterable[GroundAction], *, skip: bool = True
) -> tuple[State, int]:
    done = 0
    if not is_propositional(task):
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


# Facts --------------------------------------------------------------------------------------------

MAX_DESCRIBED_OBJECTS = 80
"""Maximum number of objects in a prompt, unless the request names more."""

_MOST_FACTS = 40
"""Maximum number of facts per object in a prompt."""

_NAME = re.compile(r"[\w-]+")


class PredictedFacts(PredictedWorld):
    """The predicted state of any PDDL problem, described by its facts.

    `types` maps each type to its nouns. Raises `UsageError` for domains with durative actions or
    without actions.
    """

    def __init__(self, task: Task, wording: Wording, types: Mapping[str, Sequence[str]]) -> None:
        _check(task)
        super().__init__(task)
        self._wording = wording
        self._types = types
        self._kinds = {name: types[0] for name, types in task.objects.items()}
        self.goal = tuple(map(str, _literals(task.problem.goal)))

    # Prompt texts -------------------------------------------------------------------------

    @property
    def wording(self) -> Wording:
        return self._wording

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._kinds.values()))

    def actions(self) -> str:
        return "\n".join(self._action_lines())

    def _action_lines(self) -> Iterator[str]:
        for name, schema in self.task.domain.actions.items():
            given = [p.name for p in schema.parameters]
            words_of = self._wording.actions[name].imperative.fill(given)
            needs = "nothing" if schema.precondition == TRUE else str(schema.precondition)
            kinds = ", ".join(f"{p.name} is a {' or '.join(p.types)}" for p in schema.parameters)
            yield (
                f"({', '.join((name, *given))}): {words_of}; {kinds + '; ' if kinds else ''}"
                f"needs {needs}; makes {schema.effect}"
            )

    def classes(self, names: Iterable[str]) -> str:
        facts = self._facts_of(names)
        members: dict[str, list[str]] = defaultdict(list)
        for name in facts:
            members[self._kinds[name]].append(name)
        lines = [
            f"{kind}: {', '.join(same)}; {' '.join(f for n in same for f in facts[n])}".rstrip("; ")
            for kind, same in members.items()
        ]
        return "\n".join([*lines, *self._besides()])

    def objects(
        self, names: Iterable[str], *, contents: bool = False, surfaces: bool = False
    ) -> str:
        del contents, surfaces
        lines = [
            f"{name} ({self._kinds[name]}): {' '.join(facts)}".removesuffix(": ")
            for name, facts in self._facts_of(names).items()
        ]
        return "\n".join([*lines, *self._besides()])

    def _facts_of(self, names: Iterable[str]) -> dict[str, list[str]]:
        facts_of: dict[str, list[str]] = {name: [] for name in names if name in self._kinds}
        for atom in sorted(self.state.atoms(static=True), key=str):
            owner = next((name for name in atom.args if name in facts_of), None)
            if owner is not None and len(facts_of[owner]) < _MOST_FACTS:
                facts_of[owner].append(str(atom))
        for term, value in self._numbers(self.state).items():
            owner = next((name for name in term.args if name in facts_of), None)
            if owner is not None and len(facts_of[owner]) < _MOST_FACTS:
                facts_of[owner].append(f"(= {term} {decimal_text(value)})")
        return facts_of

    def _besides(self) -> list[str]:
        facts = sorted(str(a) for a in self.state.atoms(static=True) if not a.args)
        numbers = self._numbers(self.state).items()
        facts += [f"(= {term} {decimal_text(value)})" for term, value in numbers if not term.args]
        return [f"Besides: {' '.join(facts)}"] if facts else []

    def _numbers(self, state: State) -> dict[FunctionTerm, Fraction]:
        given = {term: Fraction(value) for term, value in self.task.problem.numeric_init.items()}
        known = {**given, **state.numbers()}
        return {term: value for term, value in known.items() if term.function != "total-cost"}

    def usual(self, request: str, names: Iterable[str]) -> tuple[str, ...]:
        """Return a line with the goal as PDDL, if the goal is known."""
        del request, names
        return (f"the goal as PDDL: {' '.join(self.goal)}",) if self.goal else ()

    # Object selection ---------------------------------------------------------------------

    def pick(
        self,
        answered: Sequence[str],
        request: str,
        embedder: Embedder,
        *,
        knowledge: bool,
        expansion: bool,
    ) -> PickedObjects:
        """Return the objects of the selected kinds.

        If there are too many, those most closely linked to named objects by facts are kept.

        Args:
            knowledge: Whether to add the objects named in the request.
            expansion: Whether to add further objects that facts link to the selected ones.
        """
        del embedder  # all names of types are known
        named = dict.fromkeys(self._named((request,)), "the request speaks of it")
        reasons, unmatched = dict[str, str](named if knowledge else {}), list[str]()
        of_kind: dict[str, str] = {}
        for name in answered:
            own = name.strip().lower()
            kinds = self._kinds_called(name)
            if own in self._kinds:
                reasons.setdefault(own, "named by the model")
            elif kinds:
                same = (n for n, kind in self._kinds.items() if kind in kinds)
                of_kind |= dict.fromkeys(same, f"the model named {name!r}")
            else:
                unmatched.append(name)
        if len(of_kind) + len(reasons) <= MAX_DESCRIBED_OBJECTS:
            reasons = {**reasons, **of_kind}
        else:
            # With too many objects for a prompt, facts about the named objects decide.
            reasons = {**named, **reasons}
            for name in self._touching(reasons, of_kind):
                if len(reasons) >= MAX_DESCRIBED_OBJECTS:
                    break
                reasons.setdefault(name, of_kind[name])
        if expansion:
            near = [n for n in self._touching(reasons, self._kinds) if n not in reasons]
            room = max(0, MAX_DESCRIBED_OBJECTS - len(reasons))
            reasons |= dict.fromkeys(near[:room], "what is chosen has to do with it")
        return reasons, tuple(unmatched)

    def named_in(
        self, text: str, known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        """Return the named objects and then the `known` ones; empty if no object is named."""
        del embedder, expansion
        named = self._named((text,))
        return tuple(dict.fromkeys((*named, *known))) if named else ()

    def with_named(
        self, texts: Iterable[str], known: Sequence[str], embedder: Embedder, *, expansion: bool
    ) -> tuple[str, ...]:
        del embedder, expansion
        return tuple(dict.fromkeys((*known, *self._named(texts))))

    def _named(self, texts: Iterable[str]) -> tuple[str, ...]:
        named = (word for text in texts for word in _NAME.findall(text.lower()))
        return tuple(dict.fromkeys(word for word in named if word in self._kinds))

    def _kinds_called(self, name: str) -> set[str]:
        wanted = {squeezed(name), squeezed(" ".join(map(singular, words(name))))}
        domain, there = self.task.domain, set(self._kinds.values())
        called = [
            kind
            for kind in {OBJECT, *domain.types, *there}
            if wanted & {squeezed(one) for one in (kind, *self._types.get(kind, ()))}
        ]
        return {kind for kind in there if any(domain.is_subtype(kind, above) for above in called)}

    def _touching(self, names: Collection[str], among: Collection[str]) -> Iterator[str]:
        ties: dict[str, set[str]] = defaultdict(set)
        for atom in self.state.atoms(static=True):
            for name in atom.args:
                ties[name].update(atom.args)
        seen = dict.fromkeys(names)
        edge = list(seen)
        while edge:
            near = sorted({other for name in edge for other in ties[name]} - seen.keys())
            seen |= dict.fromkeys(near)
            yield from (name for name in near if name in among)
            edge = near

    def planner_task(
        self,
        state: State,
        goal: Formula,
        objects: Collection[str],
        relevant: Formula,
        kept: tuple[Trajectory, ...],
    ) -> Task | None:
        del objects, relevant
        # Derived facts follow from the others, so they do not belong in an initial state.
        rules = self.task.derived_predicates
        problem = self.task.problem.replace(
            init=frozenset(a for a in state.atoms(static=True) if a.predicate not in rules),
            numeric_init={
                term: Decimal(value.numerator) / Decimal(value.denominator)
                for term, value in self._numbers(state).items()
            },
            goal=goal,
            constraints=And(kept),
            metric=None,
        )
        return Task(self.task.domain, problem)


def _check(task: Task) -> None:
    domain = task.domain
    wrong = (
        "with durative actions"
        if domain.durative_actions
        else ""
        if domain.actions
        else "without actions"
    )
    if wrong:
        raise UsageError(f"language models cannot plan for a domain {wrong}", field="llm")


def _literals(goal: Formula) -> Iterator[Atom | Not]:
    parts = goal.operands if isinstance(goal, And) else (goal,)
    for part in parts:
        match part:
            case And():
                yield from _literals(part)
            case Atom() | Not(Atom()):
                yield part
