"""Requests in words: rules or a model read them, and the commands report the reading."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import one_line
from hvr.doors.cli.model_options import add_model_options, model_choice, refuse_model_options
from hvr.doors.cli.output import print_json
from hvr.doors.cli.tools.approving import warn_left_out
from hvr.doors.cli.tools.errand import AskedTools, explained, given
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.models.meter import Meter
    from hvr.tools.navigation.binding import UserQuestion
    from hvr.tools.navigation.opinion import WeighedRequest
    from hvr.tools.navigation.turns.judge import TurnDecision
    from hvr.tools.navigation.words.read_request import ReadRequest


def add_reader(parser: argparse.ArgumentParser) -> None:
    """Add the options of the model that reads requests."""
    add_model_options(parser, ("spec", "base_url", "cache", "temperature", "timeout", "max_calls",
                               "max_tokens", "max_dollars"))  # fmt: skip


def connected(args: argparse.Namespace, transcript: Path | None = None) -> Meter | None:
    """Return the model that the options name, if they name one.

    Raises:
        UsageError: There are options of a model, but no model.
        LLMError: A key is missing.
    """
    if not hasattr(args, "spec"):
        refuse_model_options(args, "none is asked: name one with --llm")
        return None
    from hvr.models.connect import connect

    return connect(model_choice(args), transcript=transcript)


def read_in_words(
    args: argparse.Namespace, asked: AskedTools, model: Meter | None
) -> WeighedRequest:
    """Return the reading of a request in words.

    Args:
        args: The options, with the values that the user gives beside the words.
        asked: The world and the request.
        model: The model that reads it; None to read it by rules.

    Raises:
        UsageError: It is not clear.
        DataFileError: The file of judged dialogues cannot be read.
        LLMError: The model gives no usable answer.
    """
    from hvr.tools.navigation.model_reading import ModelRequestReader
    from hvr.tools.navigation.opinion import WeighedRequest, weighed

    beside = given(args.given, asked.meanings)
    if model is not None:
        reader = ModelRequestReader(model, asked.tools.catalogue, asked.meanings)
        return WeighedRequest(reader.read(asked.request, beside))
    found = weighed(
        _by_rules(asked, beside), _opinion(asked, args.decisions),
        lambda tool: _by_rules(asked, beside, tool),
    )  # fmt: skip
    if found.read.request is None and found.read.move is None:
        raise UsageError(found.read.why, field="goal")
    return found


def told_without_calls(
    args: argparse.Namespace, asked: AskedTools, read: ReadRequest, more: Mapping[str, Any]
) -> int:
    """Say why nothing is called, and return the exit code.

    Args:
        args: The options.
        asked: The world and the request.
        read: The reading, which has no request.
        more: Further entries of the command's document.
    """
    from hvr.tools.navigation.decision import NextMove

    assert read.move is not None
    if args.json:
        print_json({
            "request": asked.request, "decision": read.move.value, "why": read.why,
            "ask": [one.name for one in read.questions],
            "questions": [question_json(one) for one in read.questions],
            "left_out": list(asked.tools.catalogue.left_out), "calls": [], **more,
        })  # fmt: skip
    else:
        warn_left_out(asked.tools.catalogue.left_out)
        print(one_line(f"{read.move.value}: {read.why}"))
        for question in read.questions:
            print(one_line(f"  {question.name}: {question.why}"))
            for value, told in question.choices:
                print(one_line(f"    {explained({question.name: value})}{told and f': {told}'}"))
    return 2 if read.move is NextMove.ASK else 1


def of_model(model: Meter | None) -> dict[str, Any]:
    """Return the entries of a document about the model."""
    if model is None:
        return {"model": None, "simulated": False}
    return {"model": model.name, "simulated": model.simulated}


def question_json(one: UserQuestion) -> dict[str, Any]:
    """Return a question to the user as plain JSON values, without what looks like a key."""
    from hvr.tools.calling.log import redacted

    choices = [{"value": redacted(value), "told": told} for value, told in one.choices]
    return {"kind": one.kind.value, "name": one.name, "why": one.why, "choices": choices}


def _by_rules(asked: AskedTools, beside: Mapping[str, Any], tool: str = "") -> ReadRequest:
    """Return the reading without a model, with the values that the user gives beside the words."""
    from hvr.tools.navigation.asked import answered
    from hvr.tools.navigation.words.request_reader import RequestReader

    reader = RequestReader(asked.tools.catalogue, asked.meanings, asked.encoder.encode)
    read = reader.read(asked.request, tool)
    if read.request is None or not beside:
        return read
    return replace(read, request=answered(read.request, beside, asked.suits))


def _opinion(asked: AskedTools, decisions: Path | None) -> TurnDecision | None:
    """Return the opinion of judged dialogues; None without a file that is better than chance."""
    named = asked.world.tools.get("decisions")
    path = asked.world.folder / named if decisions is None and named else decisions
    if path is None:
        return None
    from hvr.knowledge.retrieval.text_vectors import TextVectors
    from hvr.tools.navigation.turns.learnt_moves import read_moves
    from hvr.tools.navigation.turns.turn import Turn, offered

    learnt = read_moves(path)
    if not learnt.better:
        print(f"{path}: not surely better than always the same move: not used", file=sys.stderr)
        return None
    catalogue = asked.tools.catalogue
    turn = Turn(asked.request, tuple(offered(catalogue.tools)), ())
    return learnt.decide(turn, catalogue, TextVectors(learnt.encoder).encode)
