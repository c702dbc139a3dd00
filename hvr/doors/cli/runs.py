"""Saved runs: `hvr show` and `hvr plan --resume`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import (
    add_path,
    given_model_options,
    model_choice,
    refuse_model_options,
)
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.runs.folder import Listener
    from hvr.runs.report.run_page.story import Story
    from hvr.runs.result import Run


# Show ---------------------------------------------------------------------------------------------

_EPILOG = """\
examples:
  hvr show runs/boil
  hvr show runs/boil --html boil.html
  hvr show runs/boil --svg boil.svg --gif boil.gif
"""


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of a run, such as runs/boil")
    add_path(parser, "--html", "write one self-contained page instead of printing")
    add_path(parser, "--svg", "write an animation that also plays in a README")
    add_path(parser, "--gif", "write an animated GIF (extra pictures)")
    add_path(parser, "--apng", "write an animated PNG (extra pictures)")


def run_show(args: argparse.Namespace) -> int:
    files = [file for file in (args.html, args.svg, args.gif, args.apng) if file is not None]
    if files:
        _write_files(args)
        print("\n".join(f"wrote {file}" for file in files))
        return 0
    from hvr.base.printable import one_line
    from hvr.runs.report.run_page.reading import read_story

    print("\n".join(map(one_line, _lines(read_story(args.run)))))
    return 0


def _write_files(args: argparse.Namespace) -> None:
    from hvr.doors.cli.output import check_writable, write_whole
    from hvr.runs.report.animation import animated_picture, animated_svg
    from hvr.runs.report.run_page.reading import read_story

    for file in (args.html, args.svg, args.gif, args.apng):
        if file is not None:
            check_writable(file)
    if args.html is not None:
        write_page(args.run, args.html)
    story = read_story(args.run)
    if args.svg is not None:
        write_whole(args.svg, animated_svg(story))
    for file, form in ((args.gif, "GIF"), (args.apng, "PNG")):
        if file is not None:
            write_whole(file, animated_picture(story, form))


def write_page(run: Path, html: Path) -> None:
    """Write the page of a run folder."""
    from hvr.doors.cli.output import check_writable, write_whole
    from hvr.doors.studio.sharing import shared_run

    check_writable(html)
    write_whole(html, shared_run(run))


def _lines(story: Story) -> list[str]:
    lines = [story.request, story.outcome]
    plan = block = -1
    for step in story.steps:
        if step.plan != plan:
            plan, block = step.plan, -1
            reason = story.plans[plan].reason if 0 <= plan < len(story.plans) else ""
            lines.append(f"plan {plan + 1}: {reason}" if reason else f"plan {plan + 1}")
        if step.block != block and 0 <= plan < len(story.plans):
            block = step.block
            blocks = story.plans[plan].blocks
            if 0 <= block < len(blocks):
                lines.append(f"- {blocks[block].name}")
        lines.append(f"  {'ok ' if step.as_expected else '!! '}{step.number:>3} {step.action}")
        remarks = [step.error] if step.error else []
        remarks += [f"does not hold: {fact}" for fact in step.missing]
        remarks += [f"holds instead: {fact}" for fact in step.unexpected]
        remarks += [f"{r.title}: {r.text}" if r.text else r.title for r in step.remarks]
        lines += [f"         {text}" for text in remarks]
    return lines


# Resuming -----------------------------------------------------------------------------------------

_ANEW = ("base_url", "timeout", "max_calls", "max_tokens", "max_dollars")
"""Model options that may change when a run is resumed."""


def check_resumable(args: argparse.Namespace, given: Mapping[str, Any]) -> None:
    """Check that no option contradicts the original run."""
    from hvr.runs.folder import RunState, read_status
    from hvr.runs.request import read_request, request_from_json

    about, state = read_status(args.resume)
    if "llm" not in about or state is RunState.FINISHED:
        return  # resuming reports that there is nothing to do
    began = request_from_json(about, args.resume, _named(given))
    if not began.policy.asks_model:
        refuse_model_options(args, "the run uses none: omit the option")
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


def resume_run(args: argparse.Namespace, given: Mapping[str, Any], listen: Listener | None) -> Run:
    """Resume a run; `listen` is called with each event as it happens."""
    from hvr.runs.spine import resume
    from hvr.worlds.environment import names_executable

    return resume(
        args.resume,
        model=model_choice(args),
        env_options=tuple(filter(names_executable, given.get("env_options", ()))),
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
    """Raise an error if a given option differs from the original run's; keys are by option."""
    for name, key in keys.items():
        given = vars(args).get("dry_run" if name == "execute" else name)
        if given is not None and now.get(key) != then.get(key):
            _refuse("dry_run" if name == "execute" else name, now.get(key), then.get(key))


def _check_places(folder: Path, given: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    from hvr.worlds.environment import names_executable

    save = given.get("save")
    if save is not None and save.resolve() != folder.resolve():
        _refuse("save", str(save), str(folder))
    for text in given.get("env_options", ()):
        if not names_executable(text) and text not in about["env_options"]:
            _refuse("env_options", text, " ".join(about["env_options"]) or None)


def _refuse(name: str, now: object, then: object) -> None:
    if name == "dry_run":
        now, then = not now, not then
    raise UsageError(
        f"{name} is {now!r} but was {then!r} when the run began: omit it, or begin a new run",
        field=name,
    )
