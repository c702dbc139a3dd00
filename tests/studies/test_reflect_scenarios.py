"""REFLECT's scenarios: detected at their failure, and silent without their fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.pddl import Domain, parse_domain
from hvr.worlds.faults import FaultKind
from studies.detection_scoring import RIGHT
from studies.reflect import Scenario, load_scenarios, play, score

SCENARIOS = load_scenarios()


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    return load_ontology()


@pytest.fixture(scope="module")
def domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.id)
def test_noticed_at_the_right_step_as_the_right_kind(
    scenario: Scenario, ontology: Ontology, domain: Domain
) -> None:
    played = play(scenario, ontology, domain)
    found = score(played)
    assert found.right_step and found.right_kind, found
    assert not played.reached
    assert bool(played.injected) == (scenario.fault is not None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario", [s for s in SCENARIOS if s.fault is not None and s.at is None], ids=lambda s: s.id
)
def test_without_its_fault_the_plan_reaches_its_goal(
    scenario: Scenario, ontology: Ontology, domain: Domain
) -> None:
    played = play(scenario, ontology, domain, faults=False)
    assert played.reached and not played.injected
    assert [s for s in played.steps if s.failures] == []
    assert score(played).noticed is None


def test_every_kind_has_its_right_answers() -> None:
    assert set(FaultKind) <= set(RIGHT)
    assert all(RIGHT[s.scored_as] for s in SCENARIOS)


def test_the_scenarios_are_those_of_the_extracted_data(shared: Path) -> None:
    path = shared / "failures" / "reflect_scenarios.json"
    if not path.is_file():
        pytest.skip(f"REFLECT's scenarios are not at {path} (set HVR_SHARED_DATA)")
    theirs = {s["id"]: s for s in json.loads(path.read_text(encoding="utf-8"))["scenarios"]}
    ours = {f"Task {s.id.split('-')[1]}" for s in SCENARIOS}
    assert ours == set(theirs)
    for scenario in SCENARIOS:
        source = theirs[f"Task {scenario.id.split('-')[1]}"]
        actions = tuple((a["action"], *a["args"]) for a in source["actions"])
        assert (scenario.scene, scenario.actions) == (source["scene"], actions)
        assert scenario.kind == source["failure"]["kind"]
        if source["failing_action_index"] is not None:
            assert scenario.failing == source["failing_action_index"]
