"""Certificates of random plans, and damaged ones with false claims."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from hvr.pddl import (
    GroundAction,
    Step,
    parse_domain,
    parse_problem,
    print_domain,
    print_problem,
    read_plan,
)
from hvr.pddl.reader import decode
from hvr.validation import ValidationReport, Validator
from hvr.validation.certificate import CertifiedTask, certificate_of, certificate_text

Files = tuple[bytes, bytes, bytes]


def files_of(domain: object, problem: object, plan: object) -> Files:
    """Return a task and a plan as file contents."""
    told = print_domain(domain), print_problem(problem), "\n".join(map(str, plan)) + "\n"  # type: ignore[arg-type,call-overload]
    return told[0].encode(), told[1].encode(), told[2].encode()


def certified(files: Files, *, lenient: bool = False) -> tuple[dict[str, Any], ValidationReport]:
    """Return the certificate of a plan after a JSON round trip, and the verdict.

    Raises:
        NoCertificateError: The plan has no certificate.
    """
    texts = [decode(file, "") for file in files]
    domain = parse_domain(texts[0], lenient=lenient)
    problem = parse_problem(texts[1], domain, lenient=lenient)
    steps: tuple[Step, ...] = read_plan(texts[2], lenient=lenient).steps
    validator = Validator(domain, problem)
    report = validator.check(steps)
    certificate = certificate_of(CertifiedTask(files, lenient=lenient), validator, steps, report)
    return json.loads(certificate_text(certificate)), report


def certified_hierarchy(files: Files) -> tuple[dict[str, Any], ValidationReport]:
    """Return the certificate of a hierarchical plan, and the verdict; see `certified`."""
    from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
    from hvr.pddl.hierarchy.plan import read_hierarchical_plan
    from hvr.validation.hierarchical.verifier import DecompositionVerifier

    texts = [decode(file, "") for file in files]
    domain = parse_hddl_domain(texts[0])
    verifier = DecompositionVerifier(domain, parse_hddl_problem(texts[1], domain))
    plan = read_hierarchical_plan(texts[2])
    report = verifier.check(plan)
    steps = [GroundAction(line.name, line.args) for line in plan.actions]
    subject = CertifiedTask(files, language="hddl")
    certificate = certificate_of(subject, Validator(verifier.task), steps, report)
    return json.loads(certificate_text(certificate)), report


def damaged(certificate: dict[str, Any], chance: Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each kind of damage with a damaged certificate that makes a false claim."""

    def copy() -> dict[str, Any]:
        return json.loads(json.dumps(certificate))  # type: ignore[no-any-return]

    happenings, fault = certificate["happenings"], certificate["fault"]
    told = copy()
    digest = told["digests"][chance.randrange(3)]
    told["digests"][told["digests"].index(digest)] = digest[1:] + ("0" if digest[0] != "0" else "1")
    yield "edit a digest", told
    if fault is None:
        told = copy() | {"verdict": "invalid", "fault": {"kind": "goal", "falsifier": {}}}
        yield "call a valid plan invalid", told
    else:
        yield "call an invalid plan valid", copy() | {"verdict": "valid", "fault": None}
        yield from _other_faults(copy, fault, chance)
    if happenings:
        at = chance.randrange(len(happenings))
        told = copy()
        told["happenings"][at]["time"] += "1"
        yield "change a time", told
        told = copy()
        del told["happenings"][at]
        yield "drop a happening", told
        told = copy()
        told["happenings"].insert(at, told["happenings"][at])
        yield "double a happening", told
        told = copy()
        told["happenings"][at]["events"][0][0] += "0"
        yield "name another step", told
        told = copy()
        told["happenings"][at]["changes"]["(no such atom)"] = True
        yield "add a difference", told
    changing = [at for at, one in enumerate(happenings) if one["changes"]]
    if changing:
        at = chance.choice(changing)
        key = chance.choice([*happenings[at]["changes"]])
        told = copy()
        del told["happenings"][at]["changes"][key]
        yield "drop a difference", told
        told = copy()
        told["happenings"][at]["changes"][key] = _other(happenings[at]["changes"][key])
        yield "alter a difference", told
    yield from _other_decompositions(copy, certificate["decomposition"], chance)


def _other_faults(copy: Any, fault: dict[str, Any], chance: Random) -> Iterator[tuple[str, Any]]:
    told = copy()
    kind = "condition" if fault["kind"] == "goal" else "goal"
    told["fault"] = {"kind": kind, "falsifier": fault["falsifier"]}
    if kind == "condition":
        told["fault"] |= {"step": "1", "at": "start"}
    yield "claim another kind of fault", told
    if "step" in fault:
        told = copy()
        told["fault"]["step"] += "0000"
        yield "claim another step", told
    if "over" in fault:
        told = copy()
        told["fault"]["over"] = "(no such atom)"
        yield "claim another contention", told
    if fault["falsifier"]:
        key = chance.choice([*fault["falsifier"]])
        told = copy()
        told["fault"]["falsifier"][key] = _other(fault["falsifier"][key])
        yield "alter the falsifier", told


def _other_decompositions(
    copy: Any, decomposition: list[dict[str, Any]], chance: Random
) -> Iterator[tuple[str, Any]]:
    if not decomposition:
        return
    at = chance.randrange(len(decomposition))
    told = copy()
    del told["decomposition"][at]
    yield "drop a decomposed task", told
    told = copy()
    told["decomposition"][at]["position"] = 1_000_000
    yield "move the precondition of a method", told
    told = copy()
    told["decomposition"][at]["subtasks"].append(1_000_000)
    yield "name another subtask", told
    bound = [at for at, one in enumerate(decomposition) if one["parameters"]]
    if bound:
        at = chance.choice(bound)
        key = chance.choice([*decomposition[at]["parameters"]])
        told = copy()
        told["decomposition"][at]["parameters"][key] = "no-such-object"
        yield "change a binding", told


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return "1" if value is None else value + "1"
