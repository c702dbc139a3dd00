"""The plan verifier applied to the plan of a run, or to a PDDL plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import DataFileError, UsageError
from hvr.knowledge.world_file import load_world
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.pddl.model import GroundAction
from hvr.pddl.plan import parse_plan
from hvr.runs.folder import STATUS_FILE, read_status
from hvr.runs.report.run_page.reading import read_trace
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
    """Return how plausible it is that a plan does what was asked.

    Args:
        plan: a run, its folder, or the file of a PDDL plan.
        request: the request; None for that of the run.
        model: folder of a verifier; None for the one that comes with hvr.
        domain: domain of a PDDL plan; None for hvr's kitchen.
        problem: problem of a PDDL plan.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: the problem or the request is missing, or a step cannot be executed.
        DataFileError: a file is missing or damaged.
        PddlError: a PDDL file is wrong.
    """
    from hvr.base.extras import need_gnn

    need_gnn()
    from hvr.judging.verifier.kitchen.kitchen_verifier import judge, load_kitchen_verifier
    from hvr.judging.verifier.kitchen.linked_plan import causal_links
    from hvr.judging.verifier.verifier import Verifier

    path = plan.folder if isinstance(plan, Run) else Path(plan)
    if path.is_dir():
        parts, asked = _of_run(path)
    elif not path.exists():
        raise DataFileError(f"{path}: there is no such file or folder")
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
            f"what was asked? Give the request, the sentence that the plan is for ({path})",
            field="request",
        )
    verifier = load_kitchen_verifier() if model is None else Verifier.load(Path(model))
    return judge(verifier, causal_links(*parts), asked)


def _of_run(folder: Path) -> tuple[list[Part], str | None]:
    """Return the plans of a run, one for each stage, and its request.

    After a replanning that is only the first plan. Plans to look for things are no part of it.
    """
    if not (folder / STATUS_FILE).exists():
        raise DataFileError(f"{folder} is no folder of a run: it has no {STATUS_FILE}")
    run, state = read_status(folder)
    if not (folder / "plan.pddl").exists():
        raise DataFileError(f"{folder}: there is no plan to score: the run is {state.value}")
    trace = read_trace(folder, run, state)
    looking = [bool(event.get("looking_for")) for event in trace if event.get("event") == "plan"]
    count = 1
    while (folder / f"plan-{count + 1}.pddl").exists():
        count += 1
    numbers = [n for n in range(1, count + 1) if n > len(looking) or not looking[n - 1]] or [1]
    # After a replanning, the later plans go on where an earlier one broke off.
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
            raise DataFileError(f"{path}: there is no such file")
    known = parse_domain(domain)
    return Task(known, parse_problem(problem, known)), parse_plan(plan)
