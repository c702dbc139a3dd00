"""`hvr plan` in a world whose environment poses its own requests and reveals its objects."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole
from hvr.base.printable import one_line
from hvr.doors.cli.arguments import given_model_options
from hvr.doors.cli.display import display
from hvr.doors.cli.output import check_page, print_json
from hvr.doors.cli.solve_execution import summary
from hvr.errors import SimulatorError, UsageError
from hvr.execution.events import PlanReady, Understood
from hvr.execution.facts.revealing import MAX_REPLANS, PosedRun
from hvr.execution.facts.running import WorldRun, save_run
from hvr.knowledge.world_file import WorldFile
from hvr.planning.plans import Planned
from hvr.runs.folder import RunFolder
from hvr.validation.report import count
from hvr.validation.validator import Validator
from hvr.worlds.facts.environment import close_environment
from hvr.worlds.facts.folder import WorldFolder

_OPTIONS = frozenset(
    {"world", "scene", "seed", "budget", "max_replans", "save", "execute", "reading"}
)


def run_posed_plan(args: argparse.Namespace, world: WorldFile, options: Mapping[str, Any]) -> int:
    """Run `hvr plan` in a world whose environment poses the requests; return the exit code."""
    _refuse_others(args, world, options)
    if args.html is not None:
        check_page(args.html)
    scene, seed = options.get("scene", world.first_scene), options.get("seed", 0)
    folder = WorldFolder(world.folder, trusted=world.trusted)
    run_folder = RunFolder.create(options.get("save"), args.text or scene, datetime.now())
    try:
        with _opened(folder, scene, seed) as env:
            posed = PosedRun(folder, env, scene, args.text, options.get("reading"))
            about = {"world": world.name, "scene": scene, "seed": seed, "env": folder.environment}
            if options.get("execute", True):
                return _executed(args, posed, options, run_folder.path, about)
            return _planned(args, posed, options, run_folder.path, about)
    except BaseException:
        run_folder.discard()
        raise
    finally:
        run_folder.close()


def _refuse_others(args: argparse.Namespace, world: WorldFile, options: Mapping[str, Any]) -> None:
    others = {name for name in options if name not in _OPTIONS}
    others |= {"task"} if args.task is not None else set()
    others |= {name for name in given_model_options(args) if name != "spec" or args.spec}
    if others:
        raise UsageError(
            f"the world {world.name} generates its own requests, which hvr plans without a model:"
            " omit this option",
            field=min(others),
        )


@contextmanager
def _opened(folder: WorldFolder, scene: str, seed: int) -> Iterator[Any]:
    env = folder.open(folder.posed_problem(scene), seed, scene=scene)
    try:
        yield env
    except SimulatorError as error:
        place = f"{folder.file}: {folder.environment}"
        raise SimulatorError(f"{place}: {error}", exit_code=error.exit_code) from error
    finally:
        if trouble := close_environment(env):
            print(f"note: {one_line(trouble)}", file=sys.stderr)


def _executed(
    args: argparse.Namespace,
    posed: PosedRun,
    options: Mapping[str, Any],
    path: Path,
    about: Mapping[str, Any],
) -> int:
    live = sys.stdout.isatty() and not args.json
    with display("none" if args.json or args.quiet else "live" if live else "lines") as listen:
        if listen is not None:
            listen(_understood(posed))
        run = posed.run(
            seconds=options.get("budget", 10.0),
            max_replans=options.get("max_replans", MAX_REPLANS),
            listen=listen,
        )
    _save(args, posed, run, path, about)
    reached = run.finished.reached and (not run.unseen or args.text is not None)
    if args.json:
        print_json(
            {
                "request": posed.request,
                **about,
                "reading": [stage.said for stage in posed.stages],
                "folder": str(path),
                **run.to_json(),
                "reached": reached,
            }
        )
    else:
        print(f"{_verdict(run, own=args.text is not None)} · saved in {path}")
    return 0 if reached else 1


def _verdict(run: WorldRun, *, own: bool) -> str:
    if not run.finished.reached:
        return summary(run)
    facts = f"{count(run.finished.steps, 'step')}, {count(run.finished.replans, 'new plan')}"
    if not run.unseen:
        return f"goal reached, by the environment's own judgement: {facts}"
    if own:
        return f"done as far as hvr knows; the environment does not judge this request: {facts}"
    return f"done as hvr reads the request, but the environment does not count it: {facts}"


def _planned(
    args: argparse.Namespace,
    posed: PosedRun,
    options: Mapping[str, Any],
    path: Path,
    about: Mapping[str, Any],
) -> int:
    plans: list[Planned] = []
    with display("none" if args.json or args.quiet else "lines") as listen:
        if listen is not None:
            listen(_understood(posed))
        first = 1
        for planned in posed.plans(options.get("budget", 10.0)):
            report = Validator(planned.task).check(planned.plan.actions)
            plans.append(planned)
            if listen is not None:
                names = planned.relevant.names
                listen(PlanReady(planned.plan, report, names, first, planned.plan.seconds or 0.0))
            first += len(planned.plan.actions)
    run = posed.unexecuted(plans)
    _save(args, posed, run, path, about)
    assumed = posed.assumed(plans)
    steps = [str(action) for planned in plans for action in planned.plan.actions]
    if args.json:
        stages = [[str(action) for action in planned.plan.actions] for planned in plans]
        print_json(
            {
                "request": posed.request,
                **about,
                "reading": [stage.said for stage in posed.stages],
                "folder": str(path),
                "reached": None,
                "plans": stages,
                "assumes": list(assumed),
            }
        )
        return 0
    if not args.quiet:
        print("\n".join(f"  {number:>3} {step}" for number, step in enumerate(steps, 1)))
    counts = f"; it relies on unseen objects: {', '.join(assumed)}" if assumed else ""
    print(
        f"planned, not executed: {count(len(steps), 'step')}, valid, goal reached{counts} · "
        f"saved in {path}"
    )
    return 0


def _understood(posed: PosedRun) -> Understood:
    stages = tuple(stage.text for stage in posed.stages)
    said = tuple(stage.said for stage in posed.stages)
    return Understood(stages, (), (f"the request is {posed.request!r}",), said)


def _save(
    args: argparse.Namespace, posed: PosedRun, run: WorldRun, path: Path, about: Mapping[str, Any]
) -> None:
    from hvr.doors.studio.documents import shared_run

    problem = run.plans[0].task.problem if run.plans else posed.problem
    save_run(path, posed.domain, problem, run, request=posed.request, about=about)
    page = shared_run(path)
    write_whole(path / "run.html", page)
    if args.html is not None:
        write_whole(args.html, page)
