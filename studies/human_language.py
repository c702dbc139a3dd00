"""Evaluate hvr on the sentences in which people described ALFRED's demonstrations.

Each demonstration has a start, a goal, and descriptions by three or more people. hvr reads each
sentence in the start scene and executes the goal that it understands. ALFRED's own goal condition,
which the reader never sees, judges the final state. Demonstrations are split by task folder (goal
and kitchen), so that held-out sentences have combinations of goal and kitchen unseen during tuning.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.alfred_judge import Judge, Wanted
from hvr.base.texts import unreadable
from hvr.errors import DataFileError, HvrError
from hvr.execution.executor import Executor
from hvr.execution.world import World, open_world
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal, Stage
from hvr.pddl import Domain, Task, TypedName, parse_formula
from hvr.pddl.formulas import And, Atom, Exists, Expression, Forall, Imply, Not, Or
from hvr.policies.symbolic import SymbolicPolicy
from hvr.validation import Validator
from hvr.worlds.environment import Event
from hvr.worlds.kitchen import Kitchen
from studies.alfred import scene_from_alfred

Part = Literal["tuning", "kept"]
PARTS: tuple[Part, ...] = ("tuning", "kept")
_EVERY = 5
"""Hold out one task folder in this many."""

ReadSentence = Callable[[str, Inventory], Goal]
"""Reads a sentence in a scene; raises an `HvrError` if it cannot be understood."""


def part_of(demonstration: str) -> Part:
    folder = demonstration.partition("/")[0]
    return "kept" if zlib.crc32(folder.encode()) % _EVERY == 0 else "tuning"


@dataclass(frozen=True)
class Demonstration:
    """A demonstration with its human descriptions.

    Args:
        id: Task folder and trial.
        sentences: One sentence per annotator, except for omitted sentences.
    """

    id: str
    wanted: Wanted
    start: Mapping[str, Any]
    sentences: tuple[str, ...]


def demonstrations(
    sentences: Path, starts: Path, part: Part | None = None
) -> Iterator[Demonstration]:
    """Yield the demonstrations with both sentences and a start record.

    Sentences that occur verbatim in both parts are omitted from both.

    Args:
        sentences: Gzipped JSON lines with `id` and `annotations`, each with a `task_desc`.
        starts: Gzipped JSON lines of records for `scene_from_alfred`.
        part: Part to yield; by default both.
    """
    said = {str(r["id"]): tuple(_sentences(r)) for r in _records(sentences)}
    in_parts: dict[str, set[Part]] = defaultdict(set)
    for name, texts in said.items():
        for text in texts:
            in_parts[_plain(text)].add(part_of(name))
    for record in _records(starts):
        name, wanted = str(record["id"]), Wanted.of(record)
        if wanted is None or (part is not None and part_of(name) != part):
            continue
        alone = tuple(t for t in said.get(name, ()) if len(in_parts[_plain(t)]) == 1)
        if alone:
            yield Demonstration(name, wanted, record, alone)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = list(file)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    for number, line in enumerate(lines, 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise DataFileError(f"{path}:{number}: invalid JSON: {error}") from error


def _sentences(record: Mapping[str, Any]) -> Iterator[str]:
    for annotation in record["annotations"]:
        text = str(annotation["task_desc"]).strip()
        if text:
            yield text


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(" .!").split())


@dataclass
class Outcome:
    """The result for one sentence.

    Args:
        goal: Goal that hvr read, one PDDL condition per stage; empty if it understood none.
        refusal: Kind of error with which hvr refused the sentence; empty if it did not.
        message: Reason for the refusal, or for missing the goal.
        met: Whether ALFRED's condition holds at the end.
        met_by_any: Whether it holds if any heating appliance may replace a microwave.
        lacking: Unmet parts of ALFRED's condition.
        flagged: Whether hvr reported success with notes or with unread words.
    """

    demonstration: str
    task_type: str
    text: str
    goal: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    refusal: str = ""
    message: str = ""
    claimed: bool = False
    met: bool = False
    met_by_any: bool = False
    lacking: str = ""
    steps: int = 0
    flagged: bool = False

    @property
    def understood(self) -> bool:
        return bool(self.goal)

    @property
    def wrong(self) -> bool:
        """Whether hvr reports success although no plausible reading of the sentence holds."""
        return self.claimed and not (self.met or self.met_by_any)


@dataclass
class Described:
    """A demonstration with the results for its sentences.

    Args:
        equal: Whether all sentences were read as the same goal; None if there are fewer than two.
        equal_read: The same for only the sentences that were understood.
    """

    id: str
    outcomes: list[Outcome] = field(default_factory=list)
    equal: bool | None = None
    equal_read: bool | None = None


class AnyAppliance(Judge):
    """ALFRED's judge, except that any appliance that heats or cooks an object is accepted."""

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        event = super().step(action, **kwargs)
        if event:
            self.hot |= {o["objectId"] for o in event.metadata["objects"]
                         if o.get("temperature") == "Hot" or o.get("isCooked")}  # fmt: skip
        return event

    def __init__(self, kitchen: Kitchen) -> None:
        super().__init__(kitchen)
        self.hot: set[str] = set()

    def lacks(self, wanted: Wanted) -> tuple[str, str]:
        """Return the unmet parts of ALFRED's condition, strictly and with any appliance."""
        strict = self.missing(wanted)
        microwaved = self.history["microwaved"]
        self.history["microwaved"] = microwaved | self.hot
        lenient = self.missing(wanted)
        self.history["microwaved"] = microwaved
        return strict, lenient


class Trial:
    """Reads the sentences of one demonstration, and executes each distinct goal once.

    With `any_place`, puts are forced as in ALFRED.
    """

    def __init__(
        self, demonstration: Demonstration, policy: SymbolicPolicy, read: ReadSentence, *,
        execute: bool,
    ) -> None:  # fmt: skip
        self.demonstration = demonstration
        self.policy = policy
        self.read = read
        self.execute = execute
        self._scene = scene_from_alfred(demonstration.start)
        ontology = policy.ontology
        self._start = open_world(Kitchen(self._scene), ontology=ontology).inventory()
        self._runs: dict[tuple[Stage, ...], tuple[Outcome, World]] = {}

    def run(self) -> Described:
        described = Described(self.demonstration.id)
        goals = []
        for text in self.demonstration.sentences:
            outcome, goal = self._try(text)
            described.outcomes.append(outcome)
            goals.append(goal)
        if len(goals) > 1:
            described.equal = self._all_equal(goals)
        read = [goal for goal in goals if goal is not None]
        if len(read) > 1:
            described.equal_read = self._all_equal(read)
        return described

    def _try(self, text: str) -> tuple[Outcome, Goal | None]:
        outcome = Outcome(self.demonstration.id, self.demonstration.wanted.task_type, text)
        try:
            goal = self.read(text, self._start)
        except HvrError as error:
            outcome.refusal, outcome.message = type(error).__name__, str(error)
            return outcome, None
        outcome.goal = tuple(stage.wanted for stage in goal.stages)
        outcome.said, outcome.flagged = goal.paraphrase, bool(goal.notes or goal.unread)
        if self.execute:
            done, _ = self._run(goal)
            for name in ("claimed", "met", "met_by_any", "lacking", "steps", "message"):
                setattr(outcome, name, getattr(done, name))
        return outcome, goal

    def _run(self, goal: Goal) -> tuple[Outcome, World]:
        known = self._runs.get(goal.stages)
        if known is not None:
            return known
        forced = self.policy.any_place
        judge = AnyAppliance(Kitchen(self._scene, placement_table=not forced))
        world = World(judge, KnowledgeGraph.create(ontology=self.policy.ontology), force_put=forced)
        wanted = self.demonstration.wanted
        done = Outcome(self.demonstration.id, wanted.task_type, "")
        executor = Executor(world, self.policy, lambda _event: None, lambda _planned: None)
        try:
            finished = executor.run(goal.stages)
            done.claimed, done.message = finished.reached, finished.reason
        except HvrError as error:
            done.message = str(error)
        done.steps = executor.steps
        done.lacking, lenient = judge.lacks(wanted)
        done.met, done.met_by_any = not done.lacking, not lenient
        self._runs[goal.stages] = (done, world)
        return done, world

    def _all_equal(self, goals: Sequence[Goal | None]) -> bool:
        """Return whether all goals were read, and each run's end state satisfies all goals.

        Without runs, goals are equal if they require the same facts about the same types.
        """
        read = [goal for goal in goals if goal is not None]
        if len(read) < len(goals):
            return False
        distinct = list({goal.stages: goal for goal in read}.values())
        if not self.execute:
            domain = self.policy.domain
            objects = [TypedName(n, (self.policy.reader.taxonomy.pddl_type(c),))
                       for n, c in self._start.classes.items()]  # fmt: skip
            return len({wants(goal, domain, objects) for goal in distinct}) == 1
        ends = [self._run(goal) for goal in distinct]
        return all(
            done.claimed and self._holds(other, world)
            for number, (done, world) in enumerate(ends)
            for place, other in enumerate(distinct)
            if place != number
        )

    def _holds(self, goal: Goal, world: World) -> bool:
        domain = self.policy.domain
        objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
        formula = parse_formula(goal.stages[-1].wanted, domain, objects, file="<goal>")
        task = Task(domain, world.graph.problem(domain, "end", goal=formula))
        return bool(Validator(task).check(()).valid)


def wants(goal: Goal, domain: Domain, objects: Sequence[TypedName]) -> frozenset[tuple[str, int]]:
    """Return the conditions of a goal over object types, with their counts.

    Object names are replaced by types, so that goals over interchangeable objects compare equal.
    """
    kinds = {o.name: "/".join(o.types) for o in objects}
    counts: dict[str, int] = defaultdict(int)
    for number, stage in enumerate(goal.stages):
        formula = parse_formula(stage.wanted, domain, list(objects), file="<goal>")
        _collect(formula, kinds, f"{number}:", counts)
    return frozenset(counts.items())


def _collect(
    formula: Expression, kinds: Mapping[str, str], sign: str, counts: dict[str, int]
) -> None:
    match formula:
        case Atom(predicate, args):
            counts[" ".join([sign, predicate, *(kinds.get(a, a) for a in args)])] += 1
        case Not(operand):
            _collect(operand, kinds, f"{sign} not", counts)
        case And(operands) | Or(operands):
            for operand in operands:
                _collect(operand, kinds, sign, counts)
        case Exists(variables, body) | Forall(variables, body):
            types = {v.name: "/".join(sorted(v.types)) for v in variables}
            _collect(body, {**kinds, **types}, sign, counts)
        case Imply(left, right):
            _collect(left, kinds, f"{sign} if", counts)
            _collect(right, kinds, sign, counts)
