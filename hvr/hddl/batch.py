"""The domain and the problem of `hvr validate`: hierarchical ones are read here."""

from __future__ import annotations

import re
from pathlib import Path

from hvr.errors import DataFileError, HvrError, UsageError
from hvr.pddl import Diagnostic, Location
from hvr.pddl.lexer import decode
from hvr.texts import read_bytes
from hvr.validation import batch
from hvr.validation.batch import BatchOptions, LoadedModel, PlanJudge, UnusableModelError, unusable

_COMMENT = re.compile(r";[^\r\n]*")
_HIERARCHY = re.compile(r":hierarchy\b|\(\s*:(?:task|method|htn)\b", re.IGNORECASE)


def load_model(domain: str, problem: str, options: BatchOptions) -> LoadedModel:
    """Read a domain and a problem of PDDL or HDDL.

    Raises:
        UnusableModelError: one of the files cannot be read or used.
        UsageError: something is asked for that is not known of hierarchical plans.
    """
    if not is_hierarchical(domain):
        return batch.load_model(domain, problem, options)
    if options.needs_steps:
        raise UsageError(
            "advice, minimal plans, states and happenings are not to be had of hierarchical plans"
        )
    from hvr.hddl.parse import parse_hddl_domain, parse_hddl_problem
    from hvr.hddl.verifier import DecompositionVerifier
    from hvr.validation.findings import warning_finding

    warnings: list[Diagnostic] = []
    file, lenient = domain, options.lenient
    try:
        lifted = parse_hddl_domain(Path(domain), file=domain, lenient=lenient, warnings=warnings)
        file = problem
        task = parse_hddl_problem(
            Path(problem), lifted, file=problem, lenient=lenient, warnings=warnings
        )
        verifier = DecompositionVerifier(
            lifted,
            task,
            any_order=options.any_order,
            numeric_tolerance=options.numeric_tolerance,
        )
    except (HvrError, RecursionError, MemoryError) as error:
        result = unusable("", domain, problem, error, place=Location(file, 1, 1))
        raise UnusableModelError(error, result) from error
    findings = tuple(map(warning_finding, warnings))
    judge: PlanJudge = verifier
    if options.no_decomposition:
        from hvr.hddl.recover import ActionsJudge

        judge = ActionsJudge(verifier)
    return LoadedModel(domain, problem, judge, findings, options, load_model)


def is_hierarchical(domain: str) -> bool:
    """Say whether the file of a domain has tasks or methods; one that cannot be read has not."""
    try:
        text = decode(read_bytes(Path(domain)), domain)
    except (HvrError, DataFileError):
        return False
    # Comments are taken out only where something is there to be found in them.
    return bool(_HIERARCHY.search(text) and _HIERARCHY.search(_COMMENT.sub("", text)))
