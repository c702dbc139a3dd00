"""The plans of `hvr verify` where they are plans over tools, and what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import DataFileError, UsageError

if TYPE_CHECKING:
    from hvr.judging.verifier.judgement.judge import Judge
    from hvr.judging.verifier.verdict import NoVerdict, Verdict
    from hvr.tools.logs.reading import ReadPlan
    from hvr.tools.tool_graph import ToolGraph
    from hvr.tools.tool_plan import ToolPlan


def is_json(plan: Path) -> bool:
    """Return whether a file holds tool plans or logs of agents, by its name or its beginning."""
    if not plan.is_file():
        return False
    if plan.suffix in (".json", ".jsonl", ".ndjson"):
        return True
    with plan.open("rb") as file:
        return file.read(64).lstrip()[:1] in (b"{", b"[")


def tool_verdicts(
    path: Path,
    request: str | None,
    model: Path | None,
    tools: Path | None,
    graph: Path | None,
) -> Sequence[Verdict | NoVerdict]:
    """Return the verdicts on tool plans, one a record; a plan that cannot be judged says why.

    Args:
        path: the plans.
        request: what was asked; None for what the plans say.
        model: folder of a verifier.
        tools: the tools that it is to know; None if that is not to be checked.
        graph: their links, where they are in another file.

    Raises:
        UsageError: there is no verifier, or it is for other tools.
        DataFileError: a file is missing or damaged.
    """
    from hvr.judging.verifier.verdict import NoVerdict

    judge = _tool_judge(model, tools, graph)
    found = read_tool_logs(path)
    plans = [r.plan if request is None else replace(r.plan, request=request) for r in found]
    refused = [r.fault or _refused(judge, p) for r, p in zip(found, plans, strict=True)]
    asked = [p for p, why in zip(plans, refused, strict=True) if not why]
    scores = iter(judge.judge(asked))
    return tuple(
        NoVerdict(plan.id, plan.request, why, str(read))
        if why
        else replace(next(scores), read=str(read))
        for read, plan, why in zip(found, plans, refused, strict=True)
    )


def _refused(judge: Judge, plan: ToolPlan) -> str:
    """Return why a plan has no graph; empty if it has one."""
    from hvr.judging.verifier.graph import plan_graph

    try:
        plan_graph(plan, judge.embeddings.tools)
    except UsageError as error:
        return str(error)
    return ""


def read_tool_logs(path: Path) -> Sequence[ReadPlan]:
    """Return the records of a file with their plans, in any known format.

    Raises:
        DataFileError: There are none, or the file cannot be read.
    """
    from hvr.tools.logs.reading import read_log

    found = read_log(path)
    if not found:
        raise DataFileError(f"{path}: has no plan")
    return found


def read_tool_plans(path: Path) -> Sequence[ToolPlan]:
    """Return the plans of a file.

    Raises:
        DataFileError: there are none, or they cannot be read.
    """
    from hvr.tools.plan_files import read_plans

    plans = read_plans(path)
    if not plans:
        raise DataFileError(f"{path}: has no plan")
    return plans


def read_tool_graph(tools: Path, graph: Path | None) -> ToolGraph:
    """Return tools with their links; those that follow from the tools if no file has them.

    Raises:
        DataFileError: a file cannot be read.
    """
    from hvr.tools.datasets import read_graph

    return read_graph(tools, graph)


def _tool_judge(model: Path | None, tools: Path | None, graph: Path | None) -> Judge:
    from hvr.judging.verifier.checkpoint import tools_fingerprint
    from hvr.judging.verifier.judgement.judge_file import load_judge

    if model is None:
        raise UsageError(
            "a tool plan needs --model: train a verifier on plans over your tools with "
            "hvr verify train"
        )
    if graph is not None and tools is None:
        raise UsageError("--graph has the links of the tools: give these with --tools")
    judge = load_judge(model)
    if tools is not None:
        mine, given = (
            tools_fingerprint(judge.embeddings.tools),
            tools_fingerprint(read_tool_graph(tools, graph)),
        )
        if mine != given:
            files = f"{tools} and {graph} have" if graph else f"{tools} has"
            raise UsageError(
                f"{model} was trained for other tools than {files} "
                f"({mine} and {given}): train one for these with hvr verify train"
            )
    return judge
