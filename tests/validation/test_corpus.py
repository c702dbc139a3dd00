"""Agreement with the recorded verdicts of a reference validator, where the corpus is at hand."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import HvrError, PddlError, PddlSyntaxError
from hvr.pddl import Task, UnsupportedPddlError, parse_domain, parse_plan, parse_problem
from hvr.validation import Validator

ROOT = Path(__file__).parents[2]
FOLDERS = [base / "shared" / "data" / "pddl" for base in (ROOT, ROOT.parent)]
CORPUS = next((f for f in FOLDERS if (f / "manifest.jsonl").exists()), None)

pytestmark = pytest.mark.skipif(
    CORPUS is None, reason=f"no corpus of plans: {FOLDERS[1]} does not exist"
)

# The reference validator skips over these; here a text that is not a plan is an error.
NOT_PLANS = {
    "no_parens",
    "trailing_garbage",
    "leading_prose",
    "markdown_fence",
    "commas",
    "function_style",
    "extra_close",
    "nul_byte",
    "bare_words",
}


def cases(name: str) -> list[dict[str, Any]]:
    assert CORPUS is not None
    with (CORPUS / "manifest.jsonl").open(encoding="utf-8") as lines:
        return [case for line in lines if (case := json.loads(line))["set"] == name]


@cache
def task(domain: str, problem: str) -> Task | HvrError:
    assert CORPUS is not None
    try:
        parsed = parse_domain(CORPUS / domain)
        return Task(parsed, parse_problem(CORPUS / problem, parsed))
    except HvrError as error:
        return error


def verdict(case: dict[str, Any]) -> str:
    """Return valid, invalid, "unsupported", "bad domain" or "bad plan"."""
    assert CORPUS is not None
    found = task(case["domain"], case["problem"])
    if isinstance(found, UnsupportedPddlError):
        return "unsupported"
    if isinstance(found, HvrError):
        return "bad domain"
    try:
        plan = parse_plan(CORPUS / case["plan"])
    except UnsupportedPddlError:
        return "unsupported"
    except PddlSyntaxError:
        return "bad plan"
    report = Validator(found).check(plan)
    assert report.valid or report.failure
    value = case.get("val_value")
    if report.valid and value is not None:
        assert report.cost == value, case["id"]
    return report.outcome.value


@pytest.mark.parametrize(
    ("name", "every", "least"),
    [("ipc", 2, 700), ("hand", 1, 30), ("long", 1, 50), ("planbench", 4, 600)],
)
def test_verdicts_agree(name: str, every: int, least: int) -> None:
    assert CORPUS is not None
    counts: Counter[str] = Counter()
    for case in cases(name)[::every]:
        if case["steps"] > 10_000:
            continue  # seconds each
        expected = case.get("expected") or case["val"]
        if expected not in ("valid", "invalid"):
            continue
        got = verdict(case)
        commas = "," in (CORPUS / case["plan"]).read_text(encoding="latin-1")
        if got != "unsupported" and (case["mutation"] in NOT_PLANS or commas):
            expected = "bad plan"
        counts[got] += 1
        assert got in (expected, "unsupported"), case["id"]
    assert counts["valid"] + counts["invalid"] >= least, counts


def test_malformed_input_ends_in_an_error_with_a_place_or_in_a_verdict() -> None:
    assert CORPUS is not None
    # Legal, or harmless: the reference validator has its own reasons to refuse these.
    accepted = {"domain_utf16", "domain_missing_effect", "plan_long_token"}
    for case in cases("malformed"):
        found = task(case["domain"], case["problem"])
        if isinstance(found, HvrError):
            assert isinstance(found, PddlError)
            assert str(found).startswith(str(CORPUS)), case["id"]
            continue
        if case["val_class"] in ("bad_domain", "bad_problem"):
            assert case["mutation"] in accepted, case["id"]
        try:
            Validator(found).check(parse_plan(CORPUS / case["plan"]))
        except HvrError as error:
            assert str(CORPUS) in str(error)
