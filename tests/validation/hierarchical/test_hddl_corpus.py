"""Agreement with recorded verdicts on hierarchical plans, if the corpus is available."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from hvr.errors import PddlSyntaxError
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.validation.hierarchical.verifier import DecompositionVerifier

SHARED = os.environ.get("HVR_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data")
CORPUS = Path(SHARED) / "hddl"

pytestmark = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(),
    reason=f"the corpus of hierarchical plans is not at {CORPUS} (set HVR_SHARED_DATA)",
)

# The recording validator does not check that every subtask is present.
ARGUED = {("to-Transport-pfile01--wrong_method", True): "invalid"}


@cache
def verifier(domain: str, problem: str, any_order: bool) -> DecompositionVerifier:
    lifted = parse_hddl_domain(CORPUS / domain)
    return DecompositionVerifier(
        lifted, parse_hddl_problem(CORPUS / problem, lifted), any_order=any_order
    )


@pytest.mark.parametrize("any_order", [False, True])
def test_verdicts_are_the_expected_ones(any_order: bool) -> None:
    wrong = []
    for line in (CORPUS / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        judge = verifier(case["domain"], case["problem"], any_order)
        try:
            found = str(judge.check_file(CORPUS / case["plan"]).outcome)
        except PddlSyntaxError:
            found = "unreadable"
        expected = case["expected_any_order" if any_order else "expected"]
        if found != ARGUED.get((case["id"], any_order), expected):
            wrong.append((case["id"], found, expected))
    assert wrong == []
