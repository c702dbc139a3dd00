"""Chat examples for language models: prompts of the pipeline with answers from proven plans.

Begin with `lessons` (requests with proven plans), then read `examples` (the prompts and answers).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from hvr.errors import ImpossibleGoalError, UsageError
from hvr.execution.facts.planning import plan_blocks, problem_at
from hvr.execution.world import open_world
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.selection import expand
from hvr.knowledge.wording import Wording, load_wording
from hvr.knowledge.world_file import find_world, is_trusted, shipped_worlds
from hvr.language.goal_builder import Stage
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Message, Request
from hvr.pddl import And, Atom, Domain, GroundAction, Problem, State, Task, parse_problem
from hvr.pddl.model import print_domain, print_problem
from hvr.pddl.state import Operator
from hvr.pddl.task import ground_all
from hvr.planning.problems.generator import shortest
from hvr.planning.search.navigation import find_navigation
from hvr.planning.search.planners import FastDownward
from hvr.policies.llm.answers import read_actions
from hvr.policies.llm.prediction import PredictedFacts, PredictedWorld, run_actions
from hvr.policies.llm.prompts import DEFAULT_PROMPTS, load_prompts
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.settings import is_goal, settings_named
from hvr.policies.llm.writing import Equipment, Writing
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.simulated import ErrorModel, Script, Scripted
from hvr.runs.simulated.script import script_in_scene, script_of_plan
from hvr.runs.tasks import PaperTask, load_task
from hvr.values import cached_property
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.kitchen import Kitchen

# Halves -------------------------------------------------------------------------------------------
# Lessons: requests in worlds with proven plans, in a training half and a held-out half.
#
# A lesson belongs to a half only if its task, its scene and its wording all do, so the halves share
# none of the three. In a PDDL world, the task is the goal and the scene is the initial state, both
# drawn by random walks. In a world with scenes, the tasks are those of the world and drawn ones.

TRAIN, HELD_OUT = "train", "held-out"

_FRAMES: Mapping[str, tuple[str, ...]] = {
    TRAIN: ("{0}", "make sure that {0}", "I want this: {0}", "in the end, {0}"),
    HELD_OUT: ("see to it that {0}", "bring it about that {0}"),
}
"""Sentence patterns for goals that were drawn at random, by split."""

_MOST_STATES = 20_000
"""Maximum number of states in the search for a shortest plan; larger tasks are rejected."""

_MOST_WALKED = 40
"""Maximum number of steps of a random walk."""

_MOST_WALKED_OBJECTS = 8
"""Initial number of objects in a scene for a random walk."""

_MOST_GOALS = 3
"""Maximum number of facts in a goal drawn at random."""

_MOST_CHOICE = 4
"""Maximum number of goals drawn per lesson; the one with the longest plan is used."""

_MOST_DRAWS = 4_000
"""Maximum number of consecutive goals that are rejected."""

_MOST_STEPS = 20
"""Maximum number of steps in a plan for one of the world's own tasks."""

_PROOF_S = 60.0
"""Time limit in seconds for proving that a plan is shortest; 0.2 s is typical."""


@dataclass(frozen=True)
class Lesson:
    """A request with its scene and a shortest plan.

    Args:
        half: The split, `train` or `held-out`.
        number: 0-based number in the split.
        task, scene, wording: Names, none of which occurs in both splits.
        needed: Objects that the proof of the plan needs.
        best: Number of steps of the plan.
        predict: Creates the predicted world that the prompts describe.
        prompts: Folder of the world's prompt templates; None for the kitchen's.
    """

    world: str
    half: str
    number: int
    task: str
    scene: str
    wording: str
    request: str
    domain: Domain
    problem: Problem
    needed: frozenset[str]
    script: Script
    best: int
    predict: Callable[[], PredictedWorld]
    ontology: Ontology
    prompts: Path | None

    @property
    def id(self) -> str:
        return f"{self.world}-{self.half}-{self.number}"


def half_of(kind: str, key: str, share: float) -> str:
    """Return the split of a task or scene by its key; `share` of all keys are held out."""
    digest = hashlib.sha256(f"{kind}\0{key}".encode()).digest()
    return HELD_OUT if int.from_bytes(digest[:8]) < share * 2**64 else TRAIN


def lessons(world: str, count: int, share: float, seed: int) -> Iterator[Lesson]:
    """Yield the lessons of a world; equal arguments give equal lessons.

    Args:
        world: Name or folder of a world with PDDL actions.
        count: Number of lessons.
        share: Share of held-out lessons, from 0 to 1.

    Raises:
        UsageError: The world has neither scenes nor problems for lessons, or no lessons can be
            drawn.
        DataFileError, PddlError: The world cannot be read.
        PlannerError: The proof for a scene took too long.
    """
    if not 0 <= share <= 1:
        raise UsageError(f"the held-out share must be from 0 to 1, got {share:g}")
    folder = WorldFolder(find_world(world), trusted=is_trusted(world))
    held = round(count * share)
    numbers = [*[(TRAIN, n) for n in range(count - held)], *[(HELD_OUT, n) for n in range(held)]]
    if folder.scenes:
        yield from _in_scenes(folder, numbers, share, seed)
    elif folder.problem_files and not folder.domain.durative_actions:
        yield from _of_facts(folder, numbers, share, seed)
    else:
        raise UsageError(
            f"hvr finds no examples in the world {folder.name}: it needs scenes, or problems in a "
            "domain without durative actions",
            field="worlds",
        )


# Drawing ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Walker:
    """Draws states and goals by random walks.

    Each step of a walk draws an action name before its arguments, so that actions with many
    instances, such as moves, are not preferred.
    """

    task: Task

    @cached_property
    def _operators(self) -> Mapping[str, Sequence[Operator]]:
        by_name: dict[str, list[Operator]] = {}
        for action in ground_all(self.task):
            operator = self.task.try_ground(action)
            if isinstance(operator, Operator):
                by_name.setdefault(action.name, []).append(operator)
        return by_name

    def walk(self, state: State, rng: Random) -> State:
        for _ in range(rng.randint(1, _MOST_WALKED)):
            for name in rng.sample(sorted(self._operators), len(self._operators)):
                able = [o for o in self._operators[name] if o.applicable(state.bits, state.values)]
                if able:
                    state = run_actions(self.task, state, (rng.choice(able).action,))
                    break
        return state

    def goal(self, before: State, wording: Wording, rng: Random) -> tuple[Atom, ...]:
        navigation = find_navigation(self.task.domain)
        fleeting = navigation.predicates if navigation else frozenset[str]()
        made = sorted(self.walk(before, rng).atoms() - before.atoms(), key=str)
        said = [
            a for a in made if a.predicate not in fleeting and wording.clause(a.predicate, a.args)
        ]
        return tuple(rng.sample(said, min(len(said), rng.randint(1, _MOST_GOALS))))


def _request(goal: Sequence[Atom], wording: Wording, half: str, rng: Random) -> tuple[str, str]:
    frame = rng.choice(_FRAMES[half])
    clauses = [wording.clause(atom.predicate, atom.args) for atom in goal]
    return frame, frame.format(" and ".join(clauses))


def _key(atoms: Sequence[Atom]) -> str:
    return " ".join(sorted(map(str, atoms)))


def _undrawn(world: str) -> UsageError:
    return UsageError(
        f"no further lessons could be drawn in the world {world} in {_MOST_DRAWS} attempts: "
        "reduce the count",
        field="count",
    )


# Worlds of facts ----------------------------------------------------------------------------------


def _of_facts(
    folder: WorldFolder, numbers: Sequence[tuple[str, int]], share: float, seed: int
) -> Iterator[Lesson]:
    problems = [parse_problem(path, folder.domain) for path in folder.problem_files]
    walkers = [_Walker(Task(folder.domain, problem)) for problem in problems]
    for half, number in numbers:
        rng = Random(f"{seed} {folder.name} {half} {number}")
        draws = (_drawn(folder, rng.choice(walkers), half, share, rng) for _ in range(_MOST_DRAWS))
        usable = (draw for draw in draws if draw is not None)
        # Short plans are the most frequent, so take the longest of a few draws to spread the
        # lengths.
        few = list(islice(usable, rng.randint(1, _MOST_CHOICE)))
        if not few:
            raise _undrawn(folder.name)
        yield _posed_lesson(folder, max(few, key=lambda draw: len(draw.steps)), half, number, rng)


@dataclass(frozen=True)
class _Draw:
    task: Task
    scene: str
    goal: tuple[Atom, ...]
    steps: tuple[GroundAction, ...]


def _drawn(
    folder: WorldFolder, walker: _Walker, half: str, share: float, rng: Random
) -> _Draw | None:
    start = walker.task.initial
    state = walker.walk(start, rng)
    scene = _key(tuple(state.atoms()))
    if half_of("scene", scene, share) != half:
        return None
    goal = walker.goal(state, folder.words.wording, rng)
    if not goal or half_of("task", _key(goal), share) != half:
        return None
    problem = problem_at(walker.task.problem, state).replace(goal=And(goal), metric=None)
    task = Task(folder.domain, problem)
    proven = shortest(task, _MOST_STATES)
    if proven is None or not proven.plan:
        return None
    return _Draw(task, scene, goal, tuple(map(_action, proven.plan)))


def _posed_lesson(folder: WorldFolder, draw: _Draw, half: str, number: int, rng: Random) -> Lesson:
    words = folder.words
    frame, request = _request(draw.goal, words.wording, half, rng)
    return Lesson(
        world=folder.name,
        half=half,
        number=number,
        task=_key(draw.goal),
        scene=draw.scene,
        wording=frame,
        request=request,
        domain=folder.domain,
        problem=draw.task.problem,
        needed=frozenset(draw.task.objects),
        script=script_of_plan(draw.task, plan_blocks(draw.task, draw.steps)),
        best=len(draw.steps),
        predict=partial(PredictedFacts, draw.task, words.wording, words.types),
        ontology=folder.ontology or load_ontology(),
        prompts=folder.prompts or DEFAULT_PROMPTS,
    )


def _action(text: str) -> GroundAction:
    name, *args = text.strip("()").split()
    return GroundAction(name, tuple(args))


# Worlds with scenes -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Posed:
    """A request in a scene; if `task` is None, its goal is drawn later."""

    half: str
    number: int
    scene: str
    task: PaperTask | None = None
    sentence: str = ""


def _in_scenes(
    folder: WorldFolder, numbers: Sequence[tuple[str, int]], share: float, seed: int
) -> Iterator[Lesson]:
    # Go scene by scene, because opening a scene takes long.
    posed = _posed(folder, numbers, share, seed)
    for scene in sorted({one.scene for one in posed}):
        world = open_world(Kitchen(scene), ontology=folder.scene_ontology)
        with world.graph as graph:
            place = _Place(folder, scene, graph, world.inventory(), folder.agent.domain())
            for one in (one for one in posed if one.scene == scene):
                rng = Random(f"{seed} {folder.name} {one.half} {one.number}")
                found = (place.lesson(one, share, rng) for _ in range(_MOST_DRAWS))
                lesson = next((lesson for lesson in found if lesson is not None), None)
                if lesson is None:
                    raise _undrawn(folder.name)
                yield lesson


@dataclass(frozen=True)
class _Place:
    folder: WorldFolder
    scene: str
    graph: KnowledgeGraph
    inventory: Inventory
    domain: Domain

    @cached_property
    def whole(self) -> Task:
        return Task(self.domain, self.graph.problem(self.domain, "plan"))

    def walker(self, rng: Random) -> _Walker:
        # A scene's objects have so many ground actions that a walk over all of them would take
        # seconds.
        some = rng.sample(sorted(self.inventory.classes), _MOST_WALKED_OBJECTS)
        names = dict.fromkeys((*some, *expand(some, self.inventory)))
        return _Walker(Task(self.domain, self.graph.problem(self.domain, "walk", names)))

    @cached_property
    def policy(self) -> SymbolicPolicy:
        planner = FastDownward(seconds=_PROOF_S, prove=True)
        return SymbolicPolicy(self.folder.scene_ontology, self.domain, planner)

    def lesson(self, posed: _Posed, share: float, rng: Random) -> Lesson | None:
        goal, key, request, wording = self._wanted(posed, share, rng)
        if not goal:
            return None
        try:
            planned = self.policy.plan(Stage(goal), self.graph, self.inventory)
        except ImpossibleGoalError:
            return None
        steps = planned.plan.actions
        if not steps or not planned.plan.optimal:
            return None
        parts = [block.actions for block in planned.plan.blocks]
        script = script_in_scene(self.graph, self.inventory, self.domain, parts, goal)
        assert script.goal is not None
        return Lesson(
            world=self.folder.name,
            half=posed.half,
            number=posed.number,
            task=key,
            scene=self.scene,
            wording=wording,
            request=request,
            domain=self.domain,
            problem=self.whole.problem.replace(goal=script.goal),
            needed=frozenset(o.name for o in planned.problem.objects),
            script=script,
            best=len(steps),
            predict=self.predict,
            ontology=self.folder.scene_ontology,
            prompts=self.folder.prompts,
        )

    def _wanted(self, posed: _Posed, share: float, rng: Random) -> tuple[str, str, str, str]:
        """Return (goal, task name, request, pattern); all are '' for a goal of the other split."""
        if posed.task is not None:
            return posed.task.goal.strip(), posed.task.id, posed.sentence, posed.sentence
        wording, walker = load_wording(), self.walker(rng)
        goal = walker.goal(walker.task.initial, wording, rng)
        if half_of("task", _key(goal), share) != posed.half:
            return "", "", "", ""
        frame, request = _request(goal, wording, posed.half, rng)
        return str(And(goal)) if goal else "", _key(goal), request, frame

    def predict(self) -> PredictedWorld:
        return PredictedScene(self.graph, self.domain, self.inventory, lambda *_: self.whole)


def _posed(
    folder: WorldFolder, numbers: Sequence[tuple[str, int]], share: float, seed: int
) -> list[_Posed]:
    tasks = [load_task(str(path)) for path in folder.task_files]
    halves = {task.id: half_of("task", task.id, share) for task in tasks}
    taught = {s for task in tasks if halves[task.id] == TRAIN for s in task.sentences}
    posed: list[_Posed] = []
    for half in (TRAIN, HELD_OUT):
        scenes = [s for s in sorted(folder.scenes) if half_of("scene", s, share) == half]
        wanted = [number for of, number in numbers if of == half]
        if wanted and not scenes:
            raise UsageError(
                f"no scene of the world {folder.name} belongs to the {half} split: "
                "change the share",
                field="held_out",
            )
        own = [
            (scene, task, sentence)
            for task in tasks
            if halves[task.id] == half and not task.constraints and not task.unseen
            for scene in scenes
            if scene in task.optimum
            and task.optimum[scene].proven
            and task.optimum[scene].steps <= _MOST_STEPS
            for sentence in task.sentences
            if half == TRAIN or sentence not in taught
        ]
        rng = Random(f"{seed} {folder.name} {half}")
        rng.shuffle(own)
        for number in wanted:
            if number % 2 and own:
                scene, task, sentence = own.pop()
                posed.append(_Posed(half, number, scene, task, sentence))
            else:
                posed.append(_Posed(half, number, rng.choice(scenes)))
    return posed


# Examples -----------------------------------------------------------------------------------------
# Examples are the exchanges of a pipeline that a teacher answers, with the correct answers.
#
# The teacher is the simulated model (`hvr.runs.simulated`). Its first answers contain errors at a
# set rate, so that the pipeline asks for corrections in the validator's words. An example never
# contains these errors: its answer is the ground truth for the prompt.

_NAME = re.compile(r"[\w-]+")

_FIRST = {"correct_block": "block", "correct_plan": "plan"}
"""For each correction prompt, the prompt that asks for the same steps at first."""

_LICENCE = "Apache-2.0"
_SCENES = (
    "Apache-2.0; scenes from Kajiih/rl_ai2thor (MIT), ALFRED (MIT) and AI2-THOR (Apache-2.0), see "
    "hvr/worlds/data/README.md"
)
_OWN = "the licence of the world's own files; prompts and answers: Apache-2.0"


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """Options for exporting lessons.

    Args:
        count: Number of lessons per world.
        held_out: Share of lessons in the held-out split.
        setting: Setting of the pipeline, such as `VR` or `HVR`.
        error: Error rate of the simulated model's first answers.
    """

    worlds: Sequence[str]
    count: int = 100
    held_out: float = 0.2
    setting: str = "VR"
    error: float = 0.1
    seed: int = 0


class Teacher:
    """A simulated model that makes errors at first and records the correct answers."""

    simulated = True
    name = "teacher"

    def __init__(self, script: Script, error: float, seed: int) -> None:
        self.exchanges: list[tuple[Request, Answer]] = []
        self._right = Scripted(script, ErrorModel(error=0.0, improve=1.0), seed)
        # Wrong objects in a prompt would make the correct plan impossible to write.
        self._erring = Scripted(script, ErrorModel(error=error, macros=0.0, choices=0.0), seed)

    def answer(self, request: Request) -> Answer:
        right = self._right_answer(request)
        self.exchanges.append((request, right))
        corrects = request.purpose.startswith("correct_")
        return right if corrects else self._erring.answer(request)

    def _right_answer(self, request: Request) -> Answer:
        first = _FIRST.get(request.purpose)
        purposes = [earlier.purpose for earlier, _ in self.exchanges]
        if request.purpose == "correct_conditions" and "block" not in purposes:
            return self.exchanges[purposes.index("conditions")][1]
        if first is None:
            return self._right.answer(request)
        # The simulated model undoes one error per correction, but the true answer has none.
        answer = self._right.answer(replace(request, purpose=first))
        if request.schema is not None:
            return answer
        return replace(answer, text="".join(answer.text.partition("Actions:")[1:]))


def examples(teaching: Teaching) -> Iterator[dict[str, Any]]:
    """Yield chat examples as JSON values, each prompt only once.

    Equal arguments give equal examples.

    Raises:
        UsageError: An option or a world is unusable.
        DataFileError, PddlError: A world cannot be read.
        PlannerError: The proof for a scene took too long.
    """
    if not teaching.worlds:
        raise UsageError("name at least one world", field="worlds")
    if teaching.count < 1:
        raise UsageError(f"the count must be at least 1, got {teaching.count}", field="count")
    settings = settings_named(teaching.setting)
    if is_goal(teaching.setting) or settings.agent or settings.constrained:
        raise UsageError(
            f"the setting {teaching.setting} does not ask for a whole plan in one answer, which "
            "the examples require: choose VR or HVR, with or without +structured",
            field="setting",
        )
    asked: set[tuple[Message, ...]] = set()
    for world in teaching.worlds:
        licence = _licence(world)
        for lesson in lessons(world, teaching.count, teaching.held_out, teaching.seed):
            for messages, row in _rows(lesson, teaching):
                if messages not in asked:
                    asked.add(messages)
                    yield {**row, "licence": licence}


def _rows(
    lesson: Lesson, teaching: Teaching
) -> Iterator[tuple[tuple[Message, ...], dict[str, Any]]]:
    # Undetected errors make the later prompts of a plan differ from those of the ground truth.
    for error in (teaching.error, 0.0):
        exchanges = _taught(lesson, teaching, error)
        if exchanges is not None:
            break
    else:
        return
    domain = print_domain(lesson.domain)
    for number, (request, answer) in enumerate(exchanges, start=1):
        turns = [{"role": m.role, "content": m.text} for m in request.messages]
        whole = request.purpose == "plan"
        yield (
            request.messages,
            {
                "id": f"{lesson.id}-{number}",
                "split": lesson.half,
                "world": lesson.world,
                "task": lesson.task,
                "scene": lesson.scene,
                "wording": lesson.wording,
                "setting": teaching.setting,
                "purpose": request.purpose,
                "messages": [*turns, {"role": "assistant", "content": answer.text}],
                "schema": None if request.schema is None else dict(request.schema),
                "domain": domain if whole else None,
                "problem": print_problem(_problem_told(lesson, request)) if whole else None,
                "best": lesson.best if whole else None,
            },
        )


def _problem_told(lesson: Lesson, request: Request) -> Problem:
    # A plan cannot name objects outside the prompt and the proof, and compiling a whole scene takes
    # seconds.
    names = {*_NAME.findall(request.messages[-1].text), *lesson.needed}
    problem = lesson.problem

    def told(args: Iterable[str]) -> bool:
        return all(arg in names or arg not in of_scene for arg in args)

    of_scene = {o.name for o in problem.objects}
    return problem.replace(
        objects=tuple(o for o in problem.objects if o.name in names),
        init=frozenset(atom for atom in problem.init if told(atom.args)),
        numeric_init={t: v for t, v in problem.numeric_init.items() if told(t.args)},
    )


def _taught(
    lesson: Lesson, teaching: Teaching, error: float
) -> list[tuple[Request, Answer]] | None:
    """Return a lesson's prompts and answers; None if an answer may be wrong for its prompt."""
    teacher = Teacher(lesson.script, error, teaching.seed)
    settings = settings_named(teaching.setting)
    equipment = Equipment(
        ontology=lesson.ontology,
        domain=lesson.domain,
        model=teacher,
        settings=settings,
        embedder=LexicalEmbedder(),
        planner=FastDownward(),
        prompts=load_prompts(world=lesson.prompts, structured=settings.structured),
    )
    try:
        record = Writing(equipment, lesson.request, lesson.predict()).write()
    except ModelError:
        return None
    steps = lesson.script.steps
    if record.hierarchical and record.plan.actions != steps:
        return None
    whole = [a for r, a in teacher.exchanges if r.purpose in ("plan", "correct_plan")]
    meant = [(step.name, *step.args) for step in steps]
    return teacher.exchanges if all(_steps(answer) == meant for answer in whole) else None


def _steps(answer: Answer) -> list[tuple[str, ...]]:
    if answer.data is not None:
        return [tuple(map(str, step.values())) for step in answer.data["steps"]]
    return [(action.name, *action.args) for action in read_actions(answer.text).actions]


def _licence(world: str) -> str:
    shipped = shipped_worlds()
    if world not in shipped:
        return _OWN
    return _SCENES if (find_world(world) / "scenes").is_dir() else _LICENCE
