"""`hvr tools plan`: what to do next with a request to tools, and the cheapest proven chain."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hvr.cli.tools.approving import warn_left_out
from hvr.cli.tools.errand import (
    AskedTools,
    add_errand,
    asked_tools,
    errand_and_past,
    given,
    read_in_words,
)

if TYPE_CHECKING:
    from hvr.navigation.opinion import WeighedRequest

_DESCRIPTION = """\
Say what comes next with a request to a world of tools: answer, ask, call, or stop, why, and the
cheapest chain of calls that leads to the goal, proven by hvr's validator. Nothing is called.
"""

_EPILOG = """\
examples:
  hvr tools plan parcels pick-up
  hvr tools plan parcels --goal get_parcel --given parcel_id=P-1001
  hvr tools plan parcels --goal slot_id --given email=bob@example.org --json

exit codes:
  0  the goal can be reached with what is known, or holds already
  1  neither calls nor questions lead to it, or no tool is of use
  2  something has to be asked first, or the question cannot be used
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_errand(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: the world cannot be opened, or speaks of what is not there.
    """
    from hvr.calling.guard import GuardedTools
    from hvr.cli.output import print_json
    from hvr.navigation.acting import decision_of
    from hvr.navigation.decision import NextMove
    from hvr.navigation.errands import ErrandSteps
    from hvr.navigation.steps import ErrandChain
    from hvr.printable import one_line

    asked = asked_tools(args)
    try:
        read = None
        if asked.errand is None:
            read = read_in_words(asked, given(args.given, asked.meanings), args.decisions)
            if read.errand is None:
                return _without_calls(args, asked, read)
            asked = replace(asked, errand=read.errand)
        guarded = GuardedTools(asked.tools, asked.world.name)
        errand, learnt = errand_and_past(asked, args.graph)
        steps = ErrandSteps(guarded, errand, learnt)
        found = ErrandChain(steps, asked.tools.catalogue.tools)
        decision = decision_of(found)
    finally:
        asked.tools.close()
    chain = decision.chain
    goals = [goal.tool for goal in errand.goals]
    result: dict[str, Any] = {
        "request": asked.request,
        "read": read.why if read is not None else "",
        "doubted": read is not None and read.doubted,
        "decision": decision.move.value,
        "why": decision.why,
        "ask": list(decision.ask),
        "calls": list(chain.calls) if chain is not None else [],
        "cost": chain.cost if chain is not None else None,
        "left_out": list(asked.tools.catalogue.left_out),
        "conditions": [said for goal in goals for said in learnt.conditions.confirmed(goal)],
    }
    if args.json:
        print_json(result)
    else:
        warn_left_out(asked.tools.catalogue.left_out)
        if read is not None:
            print(one_line(read.why))
        if result["doubted"]:
            print("doubted: it is to be confirmed before anything is called (--yes, or --goal)")
        print(one_line(f"{decision.move.value}: {decision.why}"))
        effects = {tool.name: tool.effect.value for tool in asked.tools.catalogue.tools}
        for number, name in enumerate(result["calls"], 1):
            print(f"{number:5}  {one_line(name)}  ({effects[found.tool(name)]})")
        for said in result["conditions"]:
            print(f"learnt: {one_line(said)}")
    code = {NextMove.STOP: 1, NextMove.ASK: 2}.get(decision.move, 0)
    return 2 if result["doubted"] and not code else code


def _without_calls(args: argparse.Namespace, asked: AskedTools, read: WeighedRequest) -> int:
    """Say that no tool is of use, and return the exit code."""
    from hvr.cli.output import print_json
    from hvr.printable import one_line

    assert read.move is not None
    if args.json:
        print_json({"request": asked.request, "read": read.why, "doubted": False,
                    "decision": read.move.value, "why": read.why, "ask": [], "calls": [],
                    "cost": None, "left_out": list(asked.tools.catalogue.left_out),
                    "conditions": []})  # fmt: skip
    else:
        warn_left_out(asked.tools.catalogue.left_out)
        print(one_line(f"{read.move.value}: {read.why}"))
    return 1
