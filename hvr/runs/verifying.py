"""Verification that a plan plausibly does what was requested."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import DataFileError, UsageError
from hvr.knowledge.world_file import load_world
from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
from hvr.pddl.plan import parse_plan
from hvr.runs.folder import STATUS_FILE, read_status
from hvr.runs.report.run_page import read_trace
from hvr.runs.result import Run

if TYPE_CHECKING:
    from hvr.judging.verifier.verdict import Verdict

Part = tuple[Task, Sequence[GroundAction]]


def verify(
    plan: Run | Path | str,
    request: str | None = None,
    *,
    model: Path | str | None = None,
    domain: Path | str | None = None,
    problem: Path | str | None = None,
) -> Verdict:
    """Return the verifier's estimate of whether a plan does what was requested.

    Args:
        plan: A run, its folder, or a PDDL plan file.
        request: The request; None for the request of the run.
        model: Folder of a verifier; None for the one included in hvr.
        domain: Domain of a PDDL plan file; None for hvr's kitchen.
        problem: Problem of a PDDL plan file, which needs one.

    Raises:
        MissingExtraError: The extra `gnn` is not installed.
        UsageError: The problem or the request is missing, or a step is not executable.
        DataFileError: A file is missing or damaged.
        PddlError: A PDDL file is invalid.
    """
    from hvr.base.registry import need_gnn

    need_gnn()
    from hvr.judging.verifier.kitchen.kitchen_verifier import judge, load_kitchen_verifier
    from hvr.judging.verifier.kitchen.linked_plan import causal_links
    from hvr.judging.verifier.verifier import Verifier

    path = plan.folder if isinstance(plan, Run) else Path(plan)
    if path.is_dir():
        parts, asked = _parts_and_request(path)
    elif not path.exists():
        raise DataFileError(f"no such file or folder: {path}")
    elif problem is None:
        raise UsageError(
            f"{path}: a PDDL plan needs its problem (or give the folder of a run)", field="problem"
        )
    else:
        known = domain or load_world().agent.path
        parts, asked = [_part(Path(known), Path(problem), path)], None
    asked = request or asked
    if not asked:
        raise UsageError(
            f"{path}: no request given; add the sentence that the plan is to satisfy",
            field="request",
        )
    verifier = load_kitchen_verifier() if model is None else Verifier.load(Path(model))
    return judge(verifier, causal_links(*parts), asked)


def _parts_and_request(folder: Path) -> tuple[list[Part], str | None]:
    # After replanning, only the first plan counts. Plans that search for objects are excluded.
    if not (folder / STATUS_FILE).exists():
        raise DataFileError(f"{folder} is not a run folder: {STATUS_FILE} is missing")
    run, state = read_status(folder)
    if not (folder / "plan.pddl").exists():
        raise DataFileError(f"{folder}: the run has no plan to score; its state is {state.value}")
    trace = read_trace(folder, run, state)
    looking = [bool(event.get("looking_for")) for event in trace if event.get("event") == "plan"]
    count = 1
    while (folder / f"plan-{count + 1}.pddl").exists():
        count += 1
    numbers = [n for n in range(1, count + 1) if n > len(looking) or not looking[n - 1]] or [1]
    # after replanning, later plans continue interrupted ones
    if any(event.get("event") == "replanning" for event in trace):
        numbers = numbers[:1]
    parts = [
        _part(folder / "domain.pddl", folder / f"problem{n}.pddl", folder / f"plan{n}.pddl")
        for n in ("" if number == 1 else f"-{number}" for number in numbers)
    ]
    asked = run.get("request")
    return parts, asked if isinstance(asked, str) else None


def _part(domain: Path, problem: Path, plan: Path) -> Part:
    for path in (domain, problem, plan):
        if not path.is_file():
            raise DataFileError(f"no such file: {path}")
    known = parse_domain(domain)
    return Task(known, parse_problem(problem, known)), parse_plan(plan)
