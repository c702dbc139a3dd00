"""`hvr tools plan`: the next move for a request, and the cheapest proven chain of tool calls."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import nearest, one_line
from hvr.doors.cli.arguments import (
    add_json,
    add_model_options,
    add_path,
    add_trust,
    model_choice,
    refuse_model_options,
)
from hvr.doors.cli.output import print_json
from hvr.doors.cli.tools.guard import warn_malformed_tools
from hvr.errors import UsageError
from hvr.tools.catalogue.schema import Catalogue, meaning_of, quoted
from hvr.values import SCHEMA_VERSION

if TYPE_CHECKING:
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.knowledge.world_file import ToolTask, WorldFile
    from hvr.models.layers import Meter
    from hvr.tools.calling.calls import ToolEnvironment
    from hvr.tools.catalogue.schema_matching import ParameterMeaning
    from hvr.tools.navigation.binding import UserQuestion
    from hvr.tools.navigation.known_values import ParameterMatcher
    from hvr.tools.navigation.request import ToolRequest
    from hvr.tools.navigation.tasks import Learnt
    from hvr.tools.navigation.turn_judge import TurnDecision, WeighedRequest
    from hvr.tools.navigation.words.reading import ReadRequest


# Request ------------------------------------------------------------------------------------------
# The request of `hvr tools plan` and `run`: a tool world, a goal or words, known values.


@dataclass(frozen=True)
class OpenedRequest:
    """A request to an open tool world.

    Args:
        tools: The open tools; the caller closes them.
        wanted: The goal calls and stated values; None if options and tasks do not specify them.
    """

    world: WorldFile
    tools: ToolEnvironment
    meanings: tuple[ParameterMeaning, ...]
    wanted: ToolRequest | None
    request: str
    encoder: TextVectors

    @property
    def matcher(self) -> ParameterMatcher:
        """Matches parameters by meaning and name, without flows of values learnt from logs."""
        from hvr.tools.navigation.known_values import ParameterMatcher

        return ParameterMatcher(None, self.meanings)


def add_request_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "world",
        metavar="WORLD",
        help=(
            "a folder whose world.toml has [tools], written as ./FOLDER since its code runs, or a "
            "world that comes with hvr"
        ),
    )
    add_trust(parser)
    parser.add_argument(
        "request",
        metavar="REQUEST",
        nargs="?",
        help=(
            "the name of a task of the world, or a request in words, whose goal --goal names or "
            "--llm reads; not needed if the world has one task"
        ),
    )
    parser.add_argument(
        "--goal",
        metavar="WHAT",
        action="append",
        default=[],
        help="a tool to call, or a parameter whose value is to be found; may be repeated",
    )
    parser.add_argument(
        "--given",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a known value, as JSON or text; may be repeated",
    )
    _add_learnt_options(parser)
    add_json(parser, "print one JSON document")


def _add_learnt_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoder",
        default="lexical-hash",
        help=(
            "encoder for matching parameters: lexical-hash, minilm or st:NAME "
            "(default: %(default)s)"
        ),
    )
    add_path(
        parser,
        "--graph",
        "log of the graph learnt from calls (hvr tools graph --log), which determines costs "
        "and links; `run` appends its calls; created if missing",
    )
    add_path(
        parser,
        "--decisions",
        "file written by `hvr tools learn --turns`, which predicts whether a request in words "
        "needs a tool, and which one (default: the world's own)",
    )


def open_request(args: argparse.Namespace) -> OpenedRequest:
    """Open the world, and read the goals from the options."""
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.knowledge.world_file import load_world
    from hvr.tools.calling.worlds import meanings_file, open_tools
    from hvr.tools.catalogue.schema_matching import NO_OVERRIDES, meanings, read_overrides
    from hvr.tools.navigation.tasks import ToolGoals, tool_request

    world = load_world(args.world, trust=args.trust_project)
    task = _task(world, args)
    tools = open_tools(world)
    try:
        file = meanings_file(world)
        overrides = NO_OVERRIDES if file is None else read_overrides(file)
        encoder = TextVectors(args.encoder)
        found = meanings(tools.catalogue, encoder, overrides=overrides)
        done, known = _goal(args.goal, tools.catalogue, found)
        said = dict(task.values) if task is not None else {}
        values = {meaning_of(name, found, args.goal): value for name, value in said.items()}
        values |= given_values(args.given, found, args.goal)
        if task is not None and not args.goal:
            done, known = _goal([*task.done, *task.known], tools.catalogue, found)
    except BaseException:
        tools.close()
        raise
    request = task.request if task is not None else args.request or ", ".join(args.goal)
    opened = OpenedRequest(world, tools, found, None, request, encoder)
    if not done and not known:
        return opened
    goals = ToolGoals(tuple(done), tuple(known), values, request)
    return replace(opened, wanted=tool_request(goals, tools.catalogue, opened.matcher))


def load_experience(opened: OpenedRequest, graph: Path | None, *, write: bool = False) -> Learnt:
    """Return the calls and the learnt conditions of earlier runs.

    Args:
        graph: Log of a tool graph, if any.
        write: Whether to append this run to the log.
    """
    from hvr.tools.navigation.experience import opened_experience
    from hvr.tools.navigation.preconditions import conditions_path, read_conditions
    from hvr.tools.navigation.tasks import Learnt

    experience = opened_experience(graph, opened.tools.catalogue, write=write)
    learnt = Learnt(experience, meanings=opened.meanings)
    if graph is not None:
        learnt = replace(learnt, conditions=read_conditions(conditions_path(graph)))
    return learnt


def given_values(
    texts: Sequence[str], found: Sequence[ParameterMeaning], goals: Collection[str] = ()
) -> dict[str, Any]:
    """Return the values of options by meaning; see `meaning_of` for `goals`.

    Raises:
        UsageError: A text does not have the form NAME=VALUE, or its name is ambiguous or misspelt.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"expected NAME=VALUE, got {quoted(text)}", field="given")
        values[meaning_of(name, found, goals)] = _value(value)
    return values


def values_text(values: Mapping[str, Any]) -> str:
    from hvr.tools.calling.log import redacted

    plain: Any = redacted(dict(values))
    return ", ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in plain.items())


def _task(world: WorldFile, args: argparse.Namespace) -> ToolTask | None:
    tasks = world.tool_tasks
    if args.request in tasks:
        return tasks[args.request]
    if args.request is None and not args.goal:
        if len(tasks) == 1:
            return next(iter(tasks.values()))
        listed = f" ({', '.join(tasks)})" if tasks else ""
        raise UsageError(f"name a task{listed}, or give a goal with --goal", field="request")
    return None


def _goal(
    texts: Sequence[str], catalogue: Catalogue, found: Sequence[ParameterMeaning]
) -> tuple[list[str], list[str]]:
    tools = {tool.name for tool in catalogue.tools}
    done = [text for text in texts if text in tools]
    known = []
    for text in texts:
        if text not in tools:
            if near := nearest(text, tools):
                raise UsageError(
                    f"no tool named {quoted(text)}; did you mean {near!r}?", field="goal"
                )
            known.append(meaning_of(text, found))
    return done, known


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# Requests in words --------------------------------------------------------------------------------


def add_reader(parser: argparse.ArgumentParser) -> None:
    add_model_options(
        parser,
        (
            "spec",
            "base_url",
            "cache",
            "temperature",
            "timeout",
            "max_calls",
            "max_tokens",
            "max_dollars",
        ),
    )


def connect_model(args: argparse.Namespace, transcript: Path | None = None) -> Meter | None:
    """Return the model that the options name, or None; `transcript` records its exchanges.

    Raises:
        UsageError: A model option is given, but no model.
    """
    if not hasattr(args, "spec"):
        refuse_model_options(args, "none is used: name one with --llm")
        return None
    from hvr.models.connect import connect

    return connect(model_choice(args), transcript=transcript)


def read_request_in_words(
    args: argparse.Namespace, opened: OpenedRequest, model: Meter | None
) -> WeighedRequest:
    """Return the interpretation of a request in words.

    Args:
        args: The options, including values that the user gives in addition to the words.
        model: The model that reads the request; None to read it by rules.

    Raises:
        UsageError: The rules do not understand the request.
    """
    from hvr.tools.navigation.model_reader import ModelRequestReader
    from hvr.tools.navigation.turn_judge import WeighedRequest, with_dialogue_opinion

    beside = given_values(args.given, opened.meanings)
    if model is not None:
        reader = ModelRequestReader(model, opened.tools.catalogue, opened.meanings)
        return WeighedRequest(reader.read(opened.request, beside))
    found = with_dialogue_opinion(
        _by_rules(opened, beside),
        _opinion(opened, args.decisions),
        lambda tool: _by_rules(opened, beside, tool),
    )
    if found.read.request is None and found.read.move is None:
        raise UsageError(found.read.why, field="goal")
    return found


def report_without_calls(
    args: argparse.Namespace, opened: OpenedRequest, read: ReadRequest, more: Mapping[str, Any]
) -> int:
    from hvr.tools.navigation.chains import NextMove

    assert read.move is not None
    if args.json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "request": opened.request,
                "decision": read.move.value,
                "why": read.why,
                "ask": [one.name for one in read.questions],
                "questions": [question_json(one) for one in read.questions],
                "left_out": list(opened.tools.catalogue.left_out),
                "calls": [],
                **more,
            }
        )
    else:
        warn_malformed_tools(opened.tools.catalogue.left_out)
        print(one_line(f"{read.move.value}: {read.why}"))
        for question in read.questions:
            print(one_line(f"  {question.name}: {question.why}"))
            for value, told in question.choices:
                print(one_line(f"    {values_text({question.name: value})}{told and f': {told}'}"))
    return 2 if read.move is NextMove.ASK else 1


def model_json(model: Meter | None) -> dict[str, Any]:
    if model is None:
        return {"model": None, "simulated": False}
    return {"model": model.name, "simulated": model.simulated}


def question_json(one: UserQuestion) -> dict[str, Any]:
    from hvr.tools.calling.log import redacted

    choices = [{"value": redacted(value), "told": told} for value, told in one.choices]
    return {"kind": one.kind.value, "name": one.name, "why": one.why, "choices": choices}


def _by_rules(opened: OpenedRequest, beside: Mapping[str, Any], tool: str = "") -> ReadRequest:
    from hvr.tools.navigation.tasks import with_answers
    from hvr.tools.navigation.words.request_reader import RequestReader

    reader = RequestReader(opened.tools.catalogue, opened.meanings, opened.encoder.encode)
    read = reader.read(opened.request, tool)
    if read.request is None or not beside:
        return read
    return replace(read, request=with_answers(read.request, beside, opened.matcher))


def _opinion(opened: OpenedRequest, decisions: Path | None) -> TurnDecision | None:
    """Return a learnt model's decision about the next move; None if no useful model is given."""
    named = opened.world.tools.get("decisions")
    path = opened.world.folder / named if decisions is None and named else decisions
    if path is None:
        return None
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.navigation.turn_judge import read_moves
    from hvr.tools.navigation.turns import Turn, offered

    learnt = read_moves(path)
    if not learnt.better:
        print(
            f"{path} is ignored: not significantly better than always choosing the same move",
            file=sys.stderr,
        )
        return None
    catalogue = opened.tools.catalogue
    turn = Turn(opened.request, tuple(offered(catalogue.tools)), ())
    return learnt.decide(turn, catalogue, TextVectors(learnt.encoder).encode)


# --------------------------------------------------------------------------------------------------

_DESCRIPTION = """\
Show the next move for a request to a tool world (answer, ask, call, or stop), the reason, and
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
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_request_arguments(parser)
    add_reader(parser)


def run_plan(args: argparse.Namespace) -> int:
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
