"""`hvr tools plan`: the next move for a request to tools, and the cheapest proven chain."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from hvr.doors.cli.tools.approval import warn_malformed_tools
from hvr.doors.cli.tools.request import (
    OpenedRequest,
    add_reader,
    add_request_arguments,
    connect_model,
    load_experience,
    model_json,
    open_request,
    read_request_in_words,
    report_without_calls,
)
from hvr.values import SCHEMA_VERSION

_DESCRIPTION = """\
Show the next move for a request to a world of tools (answer, ask, call, or stop), the reason, and
the cheapest chain of calls to the goal, proven by hvr's validator. No tool is called.
"""

_EPILOG = """\
examples:
  hvr tools plan parcels pick-up
  hvr tools plan parcels --goal get_parcel --given parcel_id=P-1001
  hvr tools plan parcels --goal slot_id --given email=bob@example.org --given day=2026-12-01

exit codes:
  0  the goal can be reached with the known values, or already holds
  1  neither calls nor questions lead to the goal, or no tool serves the request
  2  a question must be answered first, or the request is unusable
  4  the model gives no usable answer
"""


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_request_arguments(parser)
    add_reader(parser)


def run_plan(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    from hvr.doors.cli.output import print_json
    from hvr.tools.calling.guard import GuardedTools
    from hvr.tools.navigation.chains import NextMove
    from hvr.tools.navigation.execution import decision_of
    from hvr.tools.navigation.task_chain import TaskChain
    from hvr.tools.navigation.tasks import TaskSteps

    opened = open_request(args)
    try:
        wanted, why, doubted = opened.wanted, "", False
        model = connect_model(args)
        if wanted is None:
            found = read_request_in_words(args, opened, model)
            wanted, why, doubted = found.read.request, found.read.why, found.doubted
            if wanted is None:
                more = {"read": why, "doubted": False, "cost": None, "conditions": []}
                return report_without_calls(args, opened, found.read, {**more, **model_json(model)})
        learnt = load_experience(opened, args.graph)
        steps = TaskSteps(GuardedTools(opened.tools, opened.world.name), wanted, learnt)
        steps_chain = TaskChain(steps, opened.tools.catalogue.tools)
        decision = decision_of(steps_chain)
    finally:
        opened.tools.close()
    chain = decision.chain
    goals = [goal.tool for goal in wanted.goals]
    result: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "request": opened.request,
        "read": why,
        "doubted": doubted,
        "decision": decision.move.value,
        "why": decision.why,
        "ask": list(decision.ask),
        "calls": list(chain.calls) if chain is not None else [],
        "cost": chain.cost if chain is not None else None,
        "left_out": list(opened.tools.catalogue.left_out),
        "conditions": [said for goal in goals for said in learnt.conditions.confirmed(goal)],
        **model_json(model),
    }
    if args.json:
        print_json(result)
    else:
        _print_plan(opened, result, {name: steps_chain.tool(name) for name in result["calls"]})
        if model is not None and model.simulated:
            print("the model was SIMULATED")
    code = {NextMove.STOP: 1, NextMove.ASK: 2}.get(decision.move, 0)
    return 2 if doubted and not code else code


def _print_plan(opened: OpenedRequest, result: Mapping[str, Any], tools: Mapping[str, str]) -> None:
    from hvr.base.printable import one_line

    warn_malformed_tools(opened.tools.catalogue.left_out)
    if result["read"]:
        print(one_line(result["read"]))
    if result["doubted"]:
        print("doubtful: `run` needs a confirmation before any call (--yes, or --goal)")
    print(one_line(f"{result['decision']}: {result['why']}"))
    effects = {tool.name: tool.effect.value for tool in opened.tools.catalogue.tools}
    for number, name in enumerate(result["calls"], 1):
        print(f"{number:5}  {one_line(name)}  ({effects[tools[name]]})")
    for said in result["conditions"]:
        print(f"learnt: {one_line(said)}")
