"""Examples: the exchanges of a pipeline that a teacher answers, with the right answers.

The teacher is the simulated model (`hvr.runs.simulated`). Its first answers contain errors at a set
rate, so that the pipeline asks for corrections, in the words of the validator. An example never
contains these errors: its answer is the ground truth for the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.world_file import find_world, shipped_worlds
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Message, Request
from hvr.pddl import Problem
from hvr.pddl.printer import print_domain, print_problem
from hvr.planning.search.planners import FastDownward
from hvr.policies.llm.answers import read_actions
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.settings import is_goal, settings_named
from hvr.policies.llm.writing import Equipment, Writing
from hvr.runs.simulated import ErrorModel, Script, Scripted
from hvr.runs.teaching.lessons import Lesson, lessons

_NAME = re.compile(r"[\w-]+")

_FIRST = {"correct_block": "block", "correct_plan": "plan"}
"""The prompts that ask for the same steps as these corrections."""

_LICENCE = "Apache-2.0"
_SCENES = (
    "Apache-2.0; scenes from Kajiih/rl_ai2thor (MIT), ALFRED (MIT) and AI2-THOR (Apache-2.0), see "
    "hvr/worlds/data/README.md"
)
_OWN = "that of the world's own files; prompts and answers: Apache-2.0"


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """Options of an export.

    Args:
        worlds: Names or folders of worlds.
        count: Number of lessons per world.
        held_out: Share of lessons in the held-out half.
        setting: Setting of the pipeline, such as `VR` or `HVR`.
        error: Error rate of the teacher's first answers.
        seed: Random seed.
    """

    worlds: Sequence[str]
    count: int = 100
    held_out: float = 0.2
    setting: str = "VR"
    error: float = 0.1
    seed: int = 0


class Teacher:
    """A model that answers with errors at first, and remembers the right answers.

    Attributes:
        exchanges: The requests with their right answers.
    """

    simulated = True
    name = "teacher"

    def __init__(self, script: Script, error: float, seed: int) -> None:
        self.exchanges: list[tuple[Request, Answer]] = []
        self._right = Scripted(script, ErrorModel(error=0.0, improve=1.0), seed)
        # Wrong objects in a prompt would make the right plan impossible to write.
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
        # The simulated model undoes one error per correction; the truth has none.
        answer = self._right.answer(replace(request, purpose=first))
        if request.schema is not None:
            return answer
        return replace(answer, text="".join(answer.text.partition("Actions:")[1:]))


def examples(teaching: Teaching) -> Iterator[dict[str, Any]]:
    """Yield chat examples as JSON values, each prompt once.

    The same arguments give the same examples.

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
            f"the setting {teaching.setting} asks for no plans in one answer, which the examples "
            "have: choose VR or HVR, with or without +structured",
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
    """Yield the prompts of a lesson with their examples."""
    # Undetected errors make the later prompts of a plan differ from the ground truth's.
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
    """Return the problem restricted to the objects of the prompt or the proof.

    A plan cannot name other objects, and a whole scene takes seconds to compile.
    """
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
    """Return the exchanges of a lesson; None if an answer may be wrong for its prompt."""
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
