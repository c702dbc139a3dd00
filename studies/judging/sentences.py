"""Judgement of a demonstration against the goal that hvr reads in its human description."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hvr.errors import HvrError
from hvr.execution.world import World
from hvr.judging.repair import MAX_CONDITION_TESTS
from hvr.judging.verdict import PlanVerdict
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.language.goal_builder import Stage
from hvr.language.grammar import Reader, make_reader
from hvr.pddl import GroundAction, Problem
from hvr.runs.judging import judge_by_goals
from hvr.worlds.kitchen import Kitchen
from studies.alfred import scene_from_alfred
from studies.judging.corpus import Case
from studies.judging.demonstrations import domain, problem_of


def judge_by_sentence(
    case: Case, plan: Sequence[GroundAction], records: Mapping[str, Mapping[str, Any]]
) -> PlanVerdict:
    """Return the verdict on a plan whose goal is read from the first sentence of its case."""

    def undecided(why: str) -> PlanVerdict:
        return PlanVerdict(tuple(plan), unknown=why)

    record = records.get(case.record)
    if record is None:
        return undecided("the demonstration is not there")
    world = World(Kitchen(scene_from_alfred(record)), KnowledgeGraph.create(), force_put=True)
    inventory = world.inventory()
    named = [name for action in plan for name in action.args]

    def problem(stages: Sequence[Stage]) -> Problem:
        return problem_of(world, inventory, stages, named)

    try:
        goals = _reader().goals(case.sentences[0], inventory)
        return judge_by_goals(goals, problem, domain(), plan, work=MAX_CONDITION_TESTS).verdict
    except HvrError as error:
        return undecided(f"{case.sentences[0]!r}: {error}")


@lru_cache(maxsize=1)
def _reader() -> Reader:
    return make_reader(None, load_ontology(), domain(), any_place=True)


@lru_cache(maxsize=1)
def records_of(path: Path) -> Mapping[str, Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return {str(record["id"]): record for record in records}
