"""Worlds that reveal their objects during a run: belief, search and goals by description.

The environment lists the objects seen so far and supposed objects: places to explore, and objects
that may exist. Plans may use both, so the search is part of a plan and of its proof. New facts are
not deviations. They lead to a new plan only if the current plan relied on a refuted supposition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from hvr.errors import (
    AmbiguousError,
    ImpossibleGoalError,
    LanguageError,
    SimulatorError,
    UsageError,
)
from hvr.execution.events import Event, Finished
from hvr.execution.facts.acting import FactMonitor, FactPolicy, FactWorld
from hvr.execution.facts.planning import CheapPlanner
from hvr.execution.facts.running import WorldRun, run_in_world
from hvr.knowledge.ontology import ADJOINS, DEED, PORTABLE, roles_of
from hvr.knowledge.wording import Wording, wording_of
from hvr.language.grammar import Reader, readings
from hvr.language.lexicon import Adjective
from hvr.language.meaning import NEXT_TO, Condition, Entity, Meaning, SpatialRelation
from hvr.pddl import Atom, Domain, Exists, Expression, GroundAction, Problem, State, Task, TypedName
from hvr.pddl import parse_formula as parse_formula_pddl
from hvr.pddl.problem_parser import parse_formula
from hvr.planning.plans import Planned
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator
from hvr.values import Value
from hvr.worlds.facts.environment import (
    Observation,
    PosingEnvironment,
    base_atoms,
    read_observation,
)
from hvr.worlds.facts.folder import WorldFolder

# Described ----------------------------------------------------------------------------------------
# Goals by description, for worlds whose objects are discovered during the run.
#
# Elsewhere the objects of a request are chosen before planning (`object_choice`). Where some of
# them have not been seen, the goal keeps the descriptions: `(exists (?x1 - ball) (and (red ?x1)
# …))`.


class DescribedStage(Value):
    """A part of a request that must be completed before the next part begins.

    Args:
        text: The condition in PDDL; variables stand for the objects.
        said: The condition in words.
    """

    text: str
    said: str


def described_stages(
    request: str, reader: Reader, reading: int | None = None
) -> tuple[DescribedStage, ...]:
    """Return the stages of a request, in which variables with conditions stand for objects.

    Args:
        reading: 1-based number of the reading to use if the request is ambiguous; if there are
            fewer, the last one is used.

    Raises:
        LanguageError: The request was not understood, or it requires all objects to be known.
        AmbiguousError: The request is ambiguous, and `reading` is None.
        ImpossibleGoalError: No object of the requested kind can fulfil the request.
    """
    found: dict[tuple[DescribedStage, ...], None] = {}
    for choices in readings(request, reader.lexicon, reader.taxonomy):
        for meaning in choices:
            found[tuple(_Description(meaning, reader).stages())] = None
    if len(found) > 1 and reading is None:
        raise AmbiguousError(tuple(", then ".join(s.said for s in stages) for stages in found))
    return list(found)[min(reading or 1, len(found)) - 1]


class _Description:
    def __init__(self, meaning: Meaning, reader: Reader) -> None:
        self.meaning = meaning
        self.reader = reader
        self.taxonomy = reader.taxonomy
        self.wording: Wording = wording_of(reader.ontology)
        self._words: dict[str, str] = {}
        for entries in reader.lexicon.entries.values():
            for entry in entries:
                if isinstance(entry, Adjective) and entry.selects:
                    self._words.setdefault(entry.condition, entry.word)

    def stages(self) -> Iterator[DescribedStage]:
        if self.meaning.bans:
            raise self._unsupported("a prohibition")
        begins = (0, *self.meaning.ordered, self.meaning.clauses)
        for begin, end in pairwise(begins):
            asked = list(self._asked(begin, end))
            if asked:
                texts = [text for text, _ in asked]
                text = texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"
                yield DescribedStage(text, " and ".join(said for _, said in asked))

    def _asked(self, begin: int, end: int) -> Iterator[tuple[str, str]]:
        """Yield a condition and its paraphrase for each group of related entities."""
        relations = [r for r in self.meaning.relations if begin <= r.clause < end]
        wanted = {
            number: [c for c in entity.conditions if begin <= c.clause < end]
            for number, entity in enumerate(self.meaning.entities)
        }
        left = [n for n, conditions in wanted.items() if conditions]
        left += [n for r in relations for n in (r.inner, r.outer) if n not in left]
        while left:
            group, related = [left.pop(0)], []
            while joined := [r for r in relations if {r.inner, r.outer} & {*group}]:
                related += joined
                relations = [r for r in relations if r not in joined]
                group += [n for r in joined for n in (r.inner, r.outer)]
            group = list(dict.fromkeys(group))
            left = [n for n in left if n not in group]
            yield self._condition(group, wanted, related)

    def _condition(
        self,
        group: Sequence[int],
        wanted: dict[int, list[Condition]],
        related: Iterable[SpatialRelation],
    ) -> tuple[str, str]:
        variables = {number: f"?x{place}" for place, number in enumerate(group, 1)}
        moved = {relation.inner for relation in related}
        parts: list[str] = []
        goals: list[str] = []
        for number in group:
            entity = self.meaning.entities[number]
            self._check(entity)
            parts += [s.replace("?x", variables[number]) for s in entity.selectors]
            goals += [c.template.replace("?x", variables[number]) for c in wanted[number]]
        for relation in related:
            predicate = self.taxonomy.roles.predicate(ADJOINS)
            if relation.word != NEXT_TO or predicate is None:
                raise self._unsupported(f"{relation.word!r} as a place")
            goals.append(f"({predicate} {variables[relation.inner]} {variables[relation.outer]})")
        declared = [f"{variables[n]} - {self._type(n, wanted[n], n in moved)}" for n in group]
        text = f"(exists ({' '.join(declared)}) (and {' '.join([*parts, *goals])}))"
        names = {variables[n]: self._said(self.meaning.entities[n]) for n in group}
        return text, " and ".join(self._clause(goal, declared, names) for goal in goals)

    def _check(self, entity: Entity) -> None:
        if entity.count != 1:
            raise self._unsupported(f"{entity.text!r} (several things)")
        if entity.name is not None:
            raise self._unsupported(f"the name {entity.name!r}")
        more = (entity.liquid, entity.place_from, entity.near, entity.besides, entity.distinct)
        if any(more) or entity.returns is not None:
            raise self._unsupported(f"the place or contents of {entity.text!r}")

    def _unsupported(self, what: str) -> LanguageError:
        return LanguageError(
            f"{self.meaning.text.strip()!r}: hvr does not understand {what} in a world whose "
            "objects are discovered during the run; describe one thing at a time"
        )

    def _type(self, number: int, conditions: Iterable[Condition], moved: bool) -> str:
        """Return the PDDL type of the entity's classes that allow the requested actions."""
        entity = self.meaning.entities[number]
        needed = [(c.word, c.requires) for c in conditions]
        needed += [("put", self.taxonomy.roles.class_of(PORTABLE))] if moved else []
        classes = entity.classes
        for word, needs in needed:
            classes = tuple(c for c in classes if not needs or self.taxonomy.is_a(c, needs))
            if not classes:
                raise ImpossibleGoalError(f"the robot cannot {word} {self._said(entity)}")
        types = list(dict.fromkeys(self.taxonomy.pddl_type(c) for c in classes))
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    def _said(self, entity: Entity) -> str:
        words = [self._words.get(s, s) for s in entity.selectors]
        before = [word for word in words if " " not in word]
        after = [word for word in words if " " in word]
        first = (before or [entity.text])[0]
        article = "an" if first[0] in "aeiou" else "a"
        return " ".join([article, *before, entity.text, *after])

    def _clause(self, goal: str, declared: Iterable[str], names: dict[str, str]) -> str:
        formula: Expression = parse_formula(
            f"(exists ({' '.join(declared)}) {goal})", self.reader.domain, ()
        )
        while isinstance(formula, Exists):
            formula = formula.body
        if not isinstance(formula, Atom):
            return goal
        return self.wording.clause(formula.predicate, [names[a] for a in formula.args]) or goal


# --------------------------------------------------------------------------------------------------

MAX_REPLANS = 10_000
"""Maximum number of new plans. It is practically unlimited, because each discovery may need a new
plan and the environment ends runs that take too long.
"""


class RevealingWorld(FactWorld):
    """An environment that reveals its objects during the run, and the belief about it.

    Args:
        deeds: Predicates that record the actions of the current stage.
        judged: Whether the environment judges the run; True only if it set the request.

    Attributes:
        supposed: Objects that have not been seen.
        estimates: Predicates whose facts may be revised without any change in the world.
    """

    env: PosingEnvironment

    def __init__(
        self,
        env: PosingEnvironment,
        domain: Domain,
        problem: Problem,
        wording: Wording,
        *,
        deeds: Collection[str],
        judged: bool = True,
    ) -> None:
        self.deeds = frozenset(deeds)
        self._judged = judged
        self.supposed: frozenset[str] = frozenset()
        self.estimates: frozenset[str] = frozenset()
        self._stage: Problem | None = None
        self._planned_from: object = None
        self._empty = problem
        super().__init__(env, domain, problem, wording)

    def outcome(self) -> bool | None:
        outcome = self._ask("outcome", self.env.outcome)
        return None if outcome and not self._judged else outcome

    def do(self, action: GroundAction) -> str:
        """See `FactWorld.do`; an action that ends the run does not count as refused."""
        error = super().do(action)
        return "" if error and self.outcome() is not None else error

    def request(self) -> str:
        return self._ask("request", self.env.request)

    def look(self, believed: State) -> State:
        """Return the observation as a state of a task with the objects known now."""
        seen = self._ask("observe", self.env.observe)
        if not isinstance(seen, Observation) or seen.objects is None:
            raise SimulatorError(
                f"expected an Observation with objects from the environment, found {seen!r:.80}",
                exit_code=2,
            )
        for name, kind in seen.objects.items():
            if kind not in self.domain.types:
                raise SimulatorError(
                    f"the environment shows {name!r} of the type {kind!r}, which the domain lacks",
                    exit_code=2,
                )
        self.hidden = self.deeds.union(seen.hidden)
        self.supposed, self.estimates = frozenset(seen.supposed), frozenset(seen.estimates)
        objects = tuple(TypedName(name, (kind,)) for name, kind in seen.objects.items())
        problem = self._empty.replace(objects=objects)
        atoms, numbers = read_observation(Task(self.domain, problem), seen, static=True)
        atoms |= {
            atom
            for atom in base_atoms(believed)
            if atom.predicate in self.hidden and seen.objects.keys() >= {*atom.args}
        }
        values = {t: Decimal(v.numerator) / Decimal(v.denominator) for t, v in numbers.items()}
        values = {**self._empty.numeric_init, **values}
        return self._state_of(problem.replace(init=frozenset(atoms), numeric_init=values))

    def suppose(self, state: State) -> None:
        """Adopt a predicted state as the believed one."""
        problem = self.task.problem
        static = {a for a in problem.init if self.task.is_static(a.predicate)}
        self.state = self._state_of(problem.replace(init=frozenset(static | base_atoms(state))))

    def _state_of(self, problem: Problem) -> State:
        self.task = Task(self.domain, problem)
        return self.task.initial

    def plan(
        self, policy: FactPolicy, stage: Problem, avoid: frozenset[str], reason: str
    ) -> Planned:
        del avoid, reason
        # The same plan is not a repetition if anything was seen or done since.
        seen = self.task.problem.init, self.task.problem.numeric_init
        self.may_repeat, self._planned_from = seen != self._planned_from, seen
        if stage is not self._stage:
            self._stage = stage
            problem = self.task.problem
            init = frozenset(a for a in problem.init if a.predicate not in self.deeds)
            self.state = self._state_of(problem.replace(init=init))
        try:
            return self.planned(policy, stage)
        except ImpossibleGoalError as error:
            raise ImpossibleGoalError(
                "no plan reaches the goal with the objects seen so far or those that may be found"
                if self.supposed
                else "no plan reaches the goal, although every reachable place was observed"
            ) from error

    def planned(self, policy: FactPolicy, stage: Problem) -> Planned:
        problem = self.task.problem.replace(goal=stage.goal)
        return policy.planner.plan(Task(self.domain, problem))

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> RevealingMonitor:
        return RevealingMonitor(self, planned.task, constraints, aside=aside)

    def look_around(self, step: int, everything: bool = False) -> tuple[str, ...]:
        del step, everything
        return ()


class RevealingMonitor(FactMonitor):
    """Tracks the believed state while a plan runs and objects are discovered."""

    world: RevealingWorld

    def compared(self, before: State, expected: State, seen: State) -> tuple[State, State, State]:
        """Return the states without vanished objects, and with the latest estimates."""
        if self.world.outcome() is not None:
            here = self._in_task(seen)  # the environment may end within a step
            return here, here, here
        names, estimates = seen.task.objects.keys(), self.world.estimates
        observed = self._in_task(seen)
        latest = {a for a in base_atoms(observed) if a.predicate in estimates}

        def settled(state: State) -> State:
            kept = {
                a for a in base_atoms(state) if a.predicate not in estimates and names >= {*a.args}
            }
            return self.task.state_with(kept | latest, state.numbers())

        return settled(before), settled(expected), observed

    def outdated(self, rest: Sequence[GroundAction]) -> str:
        """See `BeliefMonitor.outdated`: a discovery may require a new plan."""
        if not rest:
            return ""
        new = self.world.task.objects.keys() - self.task.objects.keys() - self.world.supposed
        if new:
            return f"Seen now: {', '.join(sorted(new))}."
        # The world's task also has the latest estimates that no action changes.
        task, state = self.world.task, self.world.state
        task = task.with_problem(task.problem.replace(goal=self.task.problem.goal))
        now = task.state_with(base_atoms(state), state.numbers())
        if Validator(task, state=now).check(rest).valid:
            return ""
        return "The plan cannot continue after this observation."

    def _in_task(self, state: State) -> State:
        if state.task is self.task:
            return state
        names = self.task.objects.keys()
        atoms: set[Atom] = {a for a in base_atoms(state) if names >= {*a.args}}
        return self.task.state_with(atoms, state.numbers())


# Requests -----------------------------------------------------------------------------------------


class PosedRun:
    """A request in a world whose environment reveals its objects.

    Args:
        text: The request, or None for a mission that the environment sets and judges.
        reading: 1-based number of the reading to use if the request is ambiguous.
    """

    def __init__(
        self,
        folder: WorldFolder,
        env: PosingEnvironment,
        scene: str,
        text: str | None = None,
        reading: int | None = None,
    ) -> None:
        ontology = folder.ontology
        if ontology is None:
            raise UsageError(
                f"the world {folder.name} has no words: name an ontology in {folder.file}"
            )
        self.domain = folder.domain
        self.problem = folder.posed_problem(scene)
        self.world = RevealingWorld(
            env,
            self.domain,
            self.problem,
            folder.words.wording,
            deeds=roles_of(ontology).predicates(DEED),
            judged=text is None,
        )
        self.request = text if text is not None else self.world.request()
        reader = Reader(ontology, self.domain)
        self.stages: tuple[DescribedStage, ...] = described_stages(self.request, reader, reading)

    def goals(self) -> tuple[Problem, ...]:
        """Return the stages as problems whose goals describe objects instead of naming them."""
        return tuple(
            self.problem.replace(
                goal=parse_formula_pddl(stage.text, self.domain, (), file="<goal>")
            )
            for stage in self.stages
        )

    def run(
        self,
        *,
        seconds: float = 10.0,
        max_replans: int = MAX_REPLANS,
        listen: Callable[[Event], None] | None = None,
    ) -> WorldRun:
        """Plan and act until the request is met, proves impossible, or needs too many plans."""
        policy = FactPolicy(self.domain, CheapPlanner(seconds))
        return run_in_world(
            self.world, policy, *self.goals(), max_replans=max_replans, listen=listen
        )

    def plans(self, seconds: float = 10.0) -> Iterator[Planned]:
        """Yield a plan for each stage, from the predicted final state of the previous stage.

        Raises:
            ImpossibleGoalError: No plan exists from the believed state.
        """
        policy = FactPolicy(self.domain, CheapPlanner(seconds))
        for goal in self.goals():
            planned = self.world.plan(policy, goal, frozenset(), "")
            yield planned
            validator = Validator(planned.task)
            for action in planned.plan.actions:
                validator.apply(action)
            self.world.suppose(validator.state)

    def assumed(self, plans: Iterable[Planned]) -> tuple[str, ...]:
        """Return the objects in the plans that have not been seen."""
        named = (n for planned in plans for a in planned.plan.actions for n in a.args)
        return tuple(dict.fromkeys(n for n in named if n in self.world.supposed))

    def unexecuted(self, plans: Sequence[Planned]) -> WorldRun:
        """Return a run without executed steps, in which the plans can be saved."""
        finished = Finished(False, 0, 0, "the plan was not executed")
        return WorldRun(finished, False, tuple(plans), (finished,))
