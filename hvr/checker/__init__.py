"""Check certificates: proofs that a plan is valid or invalid (docs/certificates.md).

Nothing is shared with hvr but the readers of texts, and nothing is believed but what they read.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from hvr.checker.hierarchy import check_decomposition
from hvr.checker.trial import MisfitError, RefusedError, Trial
from hvr.errors import DataFileError, PddlError
from hvr.hddl.parse import parse_hddl_domain, parse_hddl_problem
from hvr.hddl.plan import read_hierarchical_plan
from hvr.pddl.lexer import decode
from hvr.pddl.model import GroundAction
from hvr.pddl.parser import parse_domain, parse_problem
from hvr.pddl.plan import read_plan

__all__ = ["RefusedError", "check"]

_FILES = ("domain", "problem", "plan")
_FAULTY = (
    PddlError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


def check(certificate: Path, domain: Path, problem: Path, plan: Path) -> str:
    """Return what a certificate proves of a plan.

    Raises:
        RefusedError: It does not prove its verdict, or not to this checker.
        DataFileError: A file cannot be read, or is not a certificate.
    """
    try:
        data = [path.read_bytes() for path in (domain, problem, plan)]
        told = json.loads(certificate.read_bytes())
        if told["format"] != "hvr certificate 1":
            raise ValueError("this is not a certificate of format 1")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DataFileError(f"cannot read {certificate} and its files: {error}") from error
    try:
        return proof(told, data)
    except _FAULTY as error:
        raise RefusedError(f"the certificate does not fit the files: {error!r}") from error


def proof(told: Any, data: list[bytes]) -> str:
    if told["digests"] != [sha256(each).hexdigest() for each in data]:
        raise RefusedError("the certificate is about other files")
    options, fault = told["options"], told["fault"]
    texts = [decode(each, name) for name, each in zip(_FILES, data, strict=True)]
    if told["language"] == "hddl":
        tasks = parse_hddl_domain(texts[0])
        network = parse_hddl_problem(texts[1], tasks)
        lines = read_hierarchical_plan(texts[2])
        domain, problem = tasks.domain, network.problem
        plan: list[Any] = [GroundAction(line.name, line.args) for line in lines.actions]
    else:
        domain = parse_domain(texts[0], lenient=options["lenient"])
        problem = parse_problem(texts[1], domain, lenient=options["lenient"])
        plan = [*read_plan(texts[2], lenient=options["lenient"]).steps]
    trial = Trial(domain, problem, options)
    try:
        faults = trial.execute(plan, told["happenings"])
    except MisfitError as error:
        faults = [({"kind": "step", "step": str(error)}, None)]
    if told["verdict"] == "invalid":
        literals = fault.pop("falsifier")
        if not any(claim == fault and trial.falsifies(literals, item) for claim, item in faults):
            raise RefusedError(f"the plan does not fail as the certificate says: {faults[:1]}")
        return f"invalid: {fault}"
    if told["verdict"] != "valid" or faults:
        raise RefusedError(f"the plan is not valid: {faults[0][0]}")
    if told["language"] == "hddl":
        check_decomposition(tasks, network, lines, told, trial)
    return f"valid ({len(plan)} steps)"
