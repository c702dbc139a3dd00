"""`hvr plan --resume`: a run goes on with the request and the options that it began with."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.model_options import given_model_options, model_choice, refuse_model_options
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.runs import Run
    from hvr.runs.recorder import Listener

_ANEW = ("base_url", "timeout", "max_calls", "max_tokens", "max_dollars")
"""Options of a model that may be others than when the run began."""


def check_resumed(args: argparse.Namespace, given: Mapping[str, Any]) -> None:
    """Raise if an option contradicts what a run began with.

    Args:
        args: what was read.
        given: the options that were given, by the fields of `Options`.

    Raises:
        UsageError: an option does.
        DataFileError: the run cannot be read.
    """
    from hvr.runs.report.run_page.state import RunState, read_account
    from hvr.runs.request import read_request, request_from_json

    about, state = read_account(args.resume)
    if "llm" not in about or state is RunState.FINISHED:
        return  # nothing to go on with, as will be said
    began = request_from_json(about, args.resume, _named(given))
    if not began.policy.asks_model:
        refuse_model_options(args, "the run asks none: leave it out")
    model = {name: v for name, v in given_model_options(args).items() if name not in _ANEW}
    own = {name: value for name, value in given.items() if name not in ("save", "env_options")}
    options = replace(began.options, **own, model=replace(began.options.model, **model))
    text = args.text if args.text or args.task else about["request"]
    task = args.task if args.text or args.task else about["task"]
    now = read_request(None if task and not args.text else text, task, options).to_json()
    _compare({"text": "request", "task": "task"}, args, now, about)
    _compare({name: name for name in own}, args, now, about)
    _compare({name: name for name in model}, args, now["llm"] or {}, about["llm"] or {})
    _check_places(args.resume, given, about)


def resumed(args: argparse.Namespace, given: Mapping[str, Any], listen: Listener | None) -> Run:
    """Go on with a run.

    Args:
        args: what was read.
        given: the options that were given, by the fields of `Options`.
        listen: called with each event as it happens.

    Raises:
        HvrError: see `hvr.runs.resume`.
    """
    from hvr.runs import resume
    from hvr.worlds.registry import names_program

    anew = model_choice(args)
    return resume(
        args.resume,
        base_url=anew.base_url,
        trust_project=anew.trust_project,
        timeout=anew.timeout,
        limits=anew.limits,
        env_options=tuple(filter(names_program, given.get("env_options", ()))),
        named=_named(given),
        listen=listen,
    )


def _named(given: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(given[key] for key in ("policy", "planner", "env") if given.get(key) is not None)


def _compare(
    keys: Mapping[str, str],
    args: argparse.Namespace,
    now: Mapping[str, Any],
    then: Mapping[str, Any],
) -> None:
    """Raise if an option that was given differs from that of the run; keys are by option."""
    for name, key in keys.items():
        given = vars(args).get("dry_run" if name == "execute" else name)
        if given is not None and now.get(key) != then.get(key):
            _refuse("dry_run" if name == "execute" else name, now.get(key), then.get(key))


def _check_places(folder: Path, given: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    from hvr.worlds.registry import names_program

    save = given.get("save")
    if save is not None and save.resolve() != folder.resolve():
        _refuse("save", str(save), str(folder))
    for text in given.get("env_options", ()):
        if not names_program(text) and text not in about["env_options"]:
            _refuse("env_options", text, " ".join(about["env_options"]) or None)


def _refuse(name: str, now: object, then: object) -> None:
    if name == "dry_run":
        now, then = not now, not then
    raise UsageError(
        f"{name} is now {now!r} and was {then!r} when the run began: leave it out, or begin a new "
        "run",
        field=name,
    )
