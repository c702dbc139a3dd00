"""Agreement with a reference validator's recorded verdicts, if the corpus is available."""

import json
import os
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import HvrError, PddlError, PddlSyntaxError
from hvr.pddl import parse_domain, parse_problem
from hvr.validation import Validator

SHARED = os.environ.get("HVR_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")
CORPUS = Path(SHARED) / "pddl"

pytestmark = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(),
    reason=f"the corpus of plans is not at {CORPUS} (set HVR_SHARED_DATA)",
)

# The reference validator skips these texts; hvr reports a text that is not a plan.
NOT_PLANS = {
    "no_parens": "words without parentheses are not steps",
    "bare_words": "words without parentheses are not steps",
    "leading_prose": "prose is not a plan; the reference validator sees the empty plan",
    "trailing_garbage": "prose is not a plan; the reference validator ignores it",
    "extra_close": "a ')' too many is ignored there",
    "nul_byte": "a NUL character is ignored there",
}

# The reference validator uses the first of two differing definitions.
TWO_READINGS = ("domain_duplicate_action", "problem_two_goals")

# The language and the reference validator differ here.
ARGUED = {
    "ipc-ipc-2002-zenotravel-numeric-4-03": "invalid: 5304 is not greater than 5304",
    "hand-val-drive-1-02": "invalid: 0 is not greater than 0",
}


@cache
def cases(name: str) -> list[dict[str, Any]]:
    with (CORPUS / "manifest.jsonl").open(encoding="utf-8") as lines:
        return [case for line in lines if (case := json.loads(line))["set"] == name]


@cache
def prepared(domain: str, problem: str, tolerance: Fraction) -> Validator | HvrError:
    try:
        parsed = parse_domain(CORPUS / domain)
        task = parse_problem(CORPUS / problem, parsed)
        return Validator(parsed, task, tolerance=tolerance)
    except HvrError as error:
        return error


def verdict(case: dict[str, Any]) -> str:
    """Return valid, invalid, "bad domain" or "bad plan"."""
    args = (case.get("val_args") or "").split()
    tolerance = Fraction(args[args.index("-t") + 1]) if "-t" in args else Fraction(1, 100)
    found = prepared(case["domain"], case["problem"], tolerance)
    if isinstance(found, HvrError):
        return "bad domain"
    try:
        report = found.check_file(CORPUS / case["plan"])
    except PddlSyntaxError:
        return "bad plan"
    assert report.valid or report.failure
    value = case.get("val_value")
    # The recorded value is not the metric for preferences and the total time.
    plain = not {"durative-actions", "preferences"} & set(case["features"] or ())
    if report.valid and value is not None and plain:
        assert report.cost is not None
        assert float(report.cost) == pytest.approx(value, rel=1e-6), case["id"]
    return report.outcome.value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "every", "least"),
    [("ipc", 5, 450), ("hand", 1, 80), ("long", 3, 15), ("planbench", 8, 300)],
)
def test_verdicts_agree(name: str, every: int, least: int) -> None:
    counts: Counter[str] = Counter()
    for case in cases(name)[::every]:
        expected = case.get("expected") or case["val"]
        if expected not in ("valid", "invalid"):
            continue
        if case["mutation"] in NOT_PLANS:
            expected = "bad plan"
        elif case["id"] in ARGUED:
            expected = ARGUED[case["id"]].partition(":")[0]
        got = verdict(case)
        counts[got] += 1
        assert got == expected, case["id"]
    assert counts["valid"] + counts["invalid"] >= least, counts
    assert min(counts["valid"], counts["invalid"]) >= 4, counts


@pytest.mark.parametrize("name", sorted(ARGUED))
def test_argued_exceptions(name: str) -> None:
    (case,) = [c for kind in ("ipc", "hand") for c in cases(kind) if c["id"] == name]
    assert verdict(case) == ARGUED[name].partition(":")[0] != case["val"]


@pytest.mark.slow
def test_malformed_input_ends_in_an_error_with_a_place_or_in_a_verdict() -> None:
    # Legal or harmless: the reference validator refuses these for reasons of its own.
    accepted = {
        "domain_numeric_action_name",
        "domain_huge_nesting_10000",
        "domain_utf16",
        "domain_missing_effect",
        "domain_no_precondition_field",
    }
    for case in cases("malformed"):
        found = prepared(case["domain"], case["problem"], Fraction(1, 100))
        if isinstance(found, HvrError):
            assert isinstance(found, PddlError)
            assert str(found).startswith(str(CORPUS)), case["id"]
            continue
        if case["val_class"] in ("bad_domain", "bad_problem"):
            assert case["mutation"] in accepted, case["id"]
        try:
            found.check_file(CORPUS / case["plan"])
        except HvrError as error:
            assert str(CORPUS) in str(error)


def test_a_lenient_reading_accepts_what_the_reference_accepts_and_drops_nothing() -> None:
    for case in cases("malformed"):
        if case["val"] != "valid":
            continue
        if case["mutation"] in TWO_READINGS:
            with pytest.raises(PddlError, match="with different contents"):
                domain = parse_domain(CORPUS / case["domain"], lenient=True)
                parse_problem(CORPUS / case["problem"], domain, lenient=True)
            continue
        domain = parse_domain(CORPUS / case["domain"], lenient=True)
        problem = parse_problem(CORPUS / case["problem"], domain, lenient=True)
        report = Validator(domain, problem).check_file(CORPUS / case["plan"], lenient=True)
        assert report.valid, case["id"]
