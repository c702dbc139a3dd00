"""The plan of `hvr verify` where it is a robot's: a run's folder, or PDDL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import DataFileError, UsageError
from hvr.files import data_path
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.pddl.model import GroundAction
from hvr.pddl.plan import parse_plan

if TYPE_CHECKING:
    from hvr.verifier.verdict import Verdict

Part = tuple[Task, Sequence[GroundAction]]


def kitchen_verdict(
    plan: Path, request: str | None, model: Path | None, domain: Path | None, problem: Path | None
) -> Verdict:
    """Return the verdict on a robot's plan.

    Args:
        plan: the folder of a run, or a PDDL plan.
        request: what was asked; None for what the run says.
        model: folder of a verifier; None for the one that comes with hvr.
        domain: of a PDDL plan; None for hvr's kitchen.
        problem: of a PDDL plan.

    Raises:
        UsageError: something is missing that the plan does not say, or a step cannot be executed.
        DataFileError: a file is missing or damaged.
        PddlError: a PDDL file is wrong.
    """
    from hvr.verifier.kitchen.links import causal_links
    from hvr.verifier.kitchen.shipped import judge, load_kitchen_verifier
    from hvr.verifier.verifier import Verifier

    if plan.is_dir():
        parts, asked = _of_run(plan)
    elif not plan.exists():
        raise DataFileError(f"{plan}: there is no such file or folder")
    elif problem is None:
        raise UsageError(f"{plan}: a PDDL plan needs --problem (or give the folder of a run)")
    else:
        known = domain or data_path("domains") / "kitchen" / "domain.pddl"
        parts, asked = [_part(known, problem, plan)], None
    asked = request or asked
    if not asked:
        raise UsageError(
            f"what was asked? Give --request, such as --request 'make coffee' ({plan})"
        )
    verifier = load_kitchen_verifier() if model is None else Verifier.load(model)
    return judge(verifier, causal_links(*parts), asked)


def _of_run(folder: Path) -> tuple[list[Part], str | None]:
    """Return the plans of a run, one for each stage, and its request; the first one after a
    failure.
    """
    about = folder / "task.json"
    try:
        run = json.loads(about.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataFileError(f"{folder} is no folder of a run: it has no task.json") from error
    except ValueError as error:
        raise DataFileError(f"{about}: is no JSON: {error}") from error
    if not isinstance(run, dict):
        raise DataFileError(f"{about}: is not what a run writes")
    numbers = [""]
    finished = run.get("finished")
    if not (
        isinstance(finished, dict) and finished.get("replans")
    ):  # else the later ones go on where an earlier one broke off
        while (folder / f"plan-{len(numbers) + 1}.pddl").exists():
            numbers.append(f"-{len(numbers) + 1}")
    parts = [
        _part(folder / "domain.pddl", folder / f"problem{n}.pddl", folder / f"plan{n}.pddl")
        for n in numbers
    ]
    asked = run.get("request")
    return parts, asked if isinstance(asked, str) else None


def _part(domain: Path, problem: Path, plan: Path) -> Part:
    for path in (domain, problem, plan):
        if not path.is_file():
            raise DataFileError(f"{path}: there is no such file")
    known = parse_domain(domain)
    return Task(known, parse_problem(problem, known)), parse_plan(plan)
