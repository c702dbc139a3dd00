"""`hvr tools run`: executes a request by calling tools, with monitoring and repair."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import append_json_line, write_whole, writing
from hvr.base.printable import one_line, short
from hvr.base.secrets import without_keys
from hvr.doors.cli.arguments import add_path, whole_number
from hvr.doors.cli.output import check_page, on_terminal, print_json
from hvr.doors.cli.tools.guard import (
    approvals,
    ask_effects,
    ledger_path,
    proposal_text,
    warn_malformed_tools,
    warn_unknown_effects,
)
from hvr.doors.cli.tools.plan import (
    OpenedRequest,
    add_reader,
    add_request_arguments,
    connect_model,
    given_values,
    load_experience,
    model_json,
    open_request,
    question_json,
    read_request_in_words,
    report_without_calls,
    values_text,
)
from hvr.errors import HvrError, UsageError
from hvr.tools.catalogue.schema import Effect

if TYPE_CHECKING:
    from hvr.execution.events import Event
    from hvr.models.layers import Meter
    from hvr.tools.calling.guard import ProposedCall
    from hvr.tools.calling.log import LedgerEntry
    from hvr.tools.navigation.binding import UserQuestion
    from hvr.tools.navigation.execution import ToolRun
    from hvr.tools.navigation.request import ToolRequest
    from hvr.tools.navigation.tasks import Learnt
    from hvr.tools.navigation.turn_judge import WeighedRequest


# Run folder ---------------------------------------------------------------------------------------

_TRACE = "trace.jsonl"


@dataclass(frozen=True)
class ToolRunFolder:
    """A folder that records a run of `hvr tools run` while it happens.

    Args:
        about: Facts about the run to record, such as its world.
    """

    folder: Path
    about: Mapping[str, Any]

    def begin(self) -> None:
        """Record the start of the run, and remove the events of an earlier run."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / _TRACE).unlink(missing_ok=True)
        self._tell(state="started")

    def heard(self, listen: Callable[[Event], None] | None) -> Callable[[Event], None]:
        """Return a listener that records each event before passing it on."""

        def hear(event: Event) -> None:
            append_json_line(self.folder / _TRACE, event.to_json())
            if listen is not None:
                listen(event)

        return hear

    def break_off(self, error: BaseException) -> None:
        """Record why the run was aborted, and write its page."""
        name = type(error).__name__
        said = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else name)
        self._tell(state="broken off", error=name, message=said)
        from hvr.doors.studio.documents import shared_run

        write_whole(self.folder / "run.html", shared_run(self.folder))

    def _tell(self, **more: str) -> None:
        text = json.dumps({**more, **self.about}, indent=2, ensure_ascii=False)
        write_whole(self.folder / "task.json", f"{text}\n")


@contextmanager
def keep_run(folder: Path | None, about: Mapping[str, Any]) -> Iterator[ToolRunFolder | None]:
    """Record a run in a folder, even if it is aborted; yield None if no folder is given."""
    if folder is None:
        yield None
        return
    run = ToolRunFolder(folder, about)
    run.begin()
    try:
        yield run
    except BaseException as error:
        # Errors during recording must not hide the original error.
        with suppress(HvrError):
            run.break_off(error)
        raise


_DESCRIPTION = """\
Carry out a request in a tool world: plan the cheapest proven chain of calls, make the calls,
compare results with expectations, and replan after failures. Arguments are checked and traced to
their source. A writing call is never repeated by accident and never made with a guessed value. It
is shown with the source of each argument and must be confirmed. It is recorded in a ledger before
it is made, so that a second run does not repeat it silently.
"""

_EPILOG = """\
examples:
  hvr tools run parcels pick-up --yes
  hvr tools run parcels --goal get_parcel --given parcel_id=P-1002
  hvr tools run parcels claim --dry-run --json
  hvr tools run parcels redirect --yes --save runs/redirect --html redirect.html
  hvr tools run parcels "where is P-1001?" --llm openai:MODEL --base-url http://127.0.0.1:8000/v1

with --llm:
  The model reads a request in words and decides on calls, on a question, on an answer without
  calls, or that no tool serves the request. It never sees a result. A value that the request does
  not state is dropped and asked for, and a writing call is kept only if the request orders it.

exit codes:
  0  the goal is reached
  1  impossible: neither calls nor questions lead to the goal, or no tool serves the request
  2  a question or a confirmation is needed, or the request is unusable
  4  not reached: the call budget is spent, this is a dry run, or the model gives no usable answer
  5  uncertain: a writing call may have taken effect, and nothing shows whether it did
"""


_ENDED = {0: "goal reached", 1: "impossible", 2: "asked", 4: "not reached", 5: "uncertain"}
"""Outcomes by exit code."""


@dataclass(frozen=True)
class RequestOutcome:
    """The result of a request, and the writing calls whose outcome is open.

    Args:
        waiting: Calls that the user has not approved yet.
        uncertain: Calls that may or may not have taken effect.
    """

    run: ToolRun
    waiting: tuple[ProposedCall, ...] = ()
    uncertain: tuple[LedgerEntry, ...] = ()

    @property
    def exit_code(self) -> int:
        if self.uncertain:
            return 5
        return 2 if self.waiting else self.run.exit_code

    @property
    def why(self) -> str:
        """Why the run ended, as a sentence."""
        if self.uncertain:
            return "A call may have been made: check, and use --repeat to make it again."
        if not self.waiting:
            return self.run.decision.why
        options = {_option(one) for one in self.waiting}
        return f"Confirm the call with {' and '.join(sorted(options))}."


def _option(proposed: ProposedCall) -> str:
    if proposed.before is not None:
        return "--repeat"
    return "--yes" if proposed.effect is Effect.WRITES else "--yes-destructive"


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_request_arguments(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="call only tools known to be read-only"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="make writing calls without asking, and accept a doubtful reading",
    )
    parser.add_argument(
        "--yes-destructive",
        action="store_true",
        help="like --yes, also for destructive calls and calls of unknown effect",
    )
    parser.add_argument(
        "--repeat",
        action="store_true",
        help="repeat calls that the ledger lists as done or possibly done",
    )
    add_path(
        parser,
        "--ledger",
        "file that records each writing call before it is made (default: ledger.jsonl beside "
        "the world's file, or in the run folder if the world is reset each time)",
    )
    parser.add_argument(
        "--budget",
        metavar="CALLS",
        type=whole_number,
        default=30,
        help="maximum number of calls to tools (default: 30)",
    )
    add_path(
        parser,
        "--save",
        "folder for plans, events, the log of calls, and the page; new or empty",
        metavar="FOLDER",
    )
    add_path(parser, "--html", "write the page of the run")
    parser.add_argument(
        "--log-secrets", action="store_true", help="do not redact secrets in the log"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="print only the result")
    add_reader(parser)


def run_run(args: argparse.Namespace) -> int:
    if (
        args.save is not None
        and args.save.exists()
        and (not args.save.is_dir() or any(args.save.iterdir()))
    ):
        raise UsageError(
            f"{args.save} exists and is not an empty folder: name a new one", field="save"
        )
    if args.html is not None:
        check_page(args.html)
    opened = open_request(args)
    if not args.json and on_terminal() and ask_effects(opened.world, opened.tools.catalogue.tools):
        opened.tools.close()
        opened = open_request(args)
    try:
        if args.save is not None:
            with writing(args.save):
                args.save.mkdir(parents=True, exist_ok=True)
        model = connect_model(args, args.save / "llm.jsonl" if args.save is not None else None)
        wanted = opened.wanted
        if wanted is None:
            found = read_request_in_words(args, opened, model)
            wanted = found.read.request
            if wanted is None:
                more = {"world": opened.world.name, "reached": False, **model_json(model)}
                return report_without_calls(args, opened, found.read, more)
            _confirmed(args, found)
        carried = _carried(args, opened, wanted)
    finally:
        opened.tools.close()
    _report(args, opened, wanted, carried, model)
    return carried.exit_code


def _confirmed(args: argparse.Namespace, found: WeighedRequest) -> None:
    # writing calls are confirmed one by one
    if not args.json and not args.quiet:
        print(one_line(found.read.why))
    if args.yes or args.yes_destructive or not found.doubted:
        return
    if args.json or not sys.stdin.isatty():
        raise UsageError(
            f"{one_line(found.read.why)} This reading is doubtful: confirm it with --yes, or name "
            "the goal with --goal",
            field="yes",
        )
    if input("Is that what you want? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UsageError("name the goal with --goal")


def _carried(
    args: argparse.Namespace, opened: OpenedRequest, wanted: ToolRequest
) -> RequestOutcome:
    from hvr.doors.cli.display import display
    from hvr.tools.calling.guard import CallPolicy, GuardedTools
    from hvr.tools.calling.log import CallLedger
    from hvr.tools.navigation.execution import carry_out
    from hvr.tools.navigation.preconditions import conditions_path, write_conditions
    from hvr.tools.navigation.tasks import goal_call, values_of, with_answers

    log = args.save / "calls.jsonl" if args.save is not None else None
    graph = args.graph or (args.save / "graph.jsonl" if args.save is not None else None)
    policy = CallPolicy(args.budget, args.dry_run, log, args.log_secrets)
    approve = approvals(
        writes=args.yes, destroys=args.yes_destructive, repeats=args.repeat, silent=args.json
    )
    path = ledger_path(opened.world, opened.tools, args.ledger, args.save)
    what = f"{wanted.text} ({values_text(values_of(wanted, opened.matcher))})"
    ledger = CallLedger(path, what, secrets=args.log_secrets)
    guarded = GuardedTools(opened.tools, opened.world.name, policy, ledger, approve)
    # A live display leaves no room for questions.
    live = sys.stdout.isatty() and not args.json and not approve.terminal
    kind = "none" if args.json or args.quiet else "live" if live else "lines"
    about = {"request": without_keys(wanted.text), "env": f"tools of {opened.world.name}"}
    while True:
        guarded.reset()
        with keep_run(args.save, about) as run, display(kind) as listen:
            hear = listen if run is None else run.heard(listen)
            learnt = load_experience(opened, graph, write=True)
            done = carry_out(guarded, wanted, learnt, listen=hear)
        if graph is not None:
            write_conditions(conditions_path(graph), learnt.conditions)
        done, first = _proposing(opened, wanted, done, learnt)
        wrote = any(outcome.ok for outcome in done.outcomes if _writes(opened, outcome.call.tool))
        carried = RequestOutcome(done, guarded.waiting, guarded.uncertain)
        if not (done.decision.ask or first) or wrote or args.json or not sys.stdin.isatty():
            return carried
        print(one_line(done.decision.why))
        if first:
            if input("Call it first? [y/N] ").strip().lower() not in ("y", "yes"):
                return carried
            schemas = {tool.name: tool for tool in opened.tools.catalogue.tools}
            said = values_of(wanted, opened.matcher)
            calls = [goal_call(schemas[name], said, opened.matcher) for name in first]
            wanted = replace(wanted, goals=(*calls, *wanted.goals))
            continue
        values: dict[str, Any] = {}
        for name in done.decision.ask:
            choices = [value for one in _about(done, name) for value, _ in one.choices]
            shown = f" ({values_text({name: choices})})" if choices else ""
            values |= given_values(
                [f"{name}={input(one_line(f'{name}{shown}: '))}"], opened.meanings
            )
        wanted = with_answers(wanted, values, opened.matcher)


def _about(done: ToolRun, name: str) -> list[UserQuestion]:
    return [q for q, n in zip(done.questions, done.decision.ask, strict=False) if n == name]


def _unknown(opened: OpenedRequest) -> list[str]:
    tools = opened.tools.catalogue.tools
    return [tool.name for tool in tools if tool.effect is Effect.UNKNOWN]


def _proposing(
    opened: OpenedRequest, wanted: ToolRequest, done: ToolRun, learnt: Learnt
) -> tuple[ToolRun, tuple[str, ...]]:
    from hvr.tools.navigation.chains import NextMove
    from hvr.tools.navigation.execution import proposal, proposed_calls
    from hvr.tools.navigation.tasks import values_of

    if done.decision.move is not NextMove.STOP:
        return done, ()
    goals = [goal.tool for goal in wanted.goals if goal.tool]
    calls = proposed_calls(
        goals,
        values_of(wanted, opened.matcher).keys(),
        done.outcomes,
        learnt.conditions.enabling,
        opened.tools.catalogue,
        opened.meanings,
    )
    if not calls:
        return done, ()
    why = f"{done.decision.why.rstrip('.')}. {proposal(calls, goals)}"
    return replace(done, decision=replace(done.decision, move=NextMove.ASK, why=why)), calls


def _writes(opened: OpenedRequest, name: str) -> bool:
    return any(
        tool.name == name and tool.effect is not Effect.READS
        for tool in opened.tools.catalogue.tools
    )


def _report(
    args: argparse.Namespace,
    opened: OpenedRequest,
    wanted: ToolRequest,
    carried: RequestOutcome,
    model: Meter | None,
) -> None:
    done = carried.run
    if args.save is not None:
        _save(args.save, opened, wanted, done)
    if args.html is not None:
        _write_page(args, opened, wanted, done)
    if args.json:
        print_json(_document(opened, wanted, carried, model))
        return
    from hvr.tools.calling.calls import CallFailure
    from hvr.tools.calling.log import error_text
    from hvr.validation.report import count

    goal_values = done.steps.answers
    if not args.quiet:
        for outcome in done.outcomes:
            if outcome.failure is not None:
                said = short(error_text(outcome), 200)
                print(one_line(f"{outcome.call.tool} {outcome.failure}: {said}"))
    for question in done.questions:
        for value, told in question.choices:
            print(one_line(f"  {values_text({question.name: value})}{told and f': {told}'}"))
    for proposed in carried.waiting:
        print(f"to be confirmed: {proposal_text(proposed)}")
    for entry in carried.uncertain:
        print(
            one_line(
                f"may have been done at {entry.time}: {entry.tool} "
                f"{values_text(entry.arguments)} {entry.error}"
            )
        )
    made = sum(outcome.failure is not CallFailure.NOT_ALLOWED for outcome in done.outcomes)
    calls = count(made, "call")
    print(one_line(f"{_ENDED[carried.exit_code]}: {calls}; {carried.why}"))
    warn_malformed_tools(opened.tools.catalogue.left_out)
    if carried.exit_code:
        warn_unknown_effects(_unknown(opened))
    if goal_values:
        print(short(one_line(values_text(goal_values)), 500))
    for name, result in _results(opened, wanted, done).items():
        print(short(one_line(values_text({name: result})), 500))
    if model is not None and model.simulated:
        print("the model was SIMULATED")


def _results(opened: OpenedRequest, wanted: ToolRequest, done: ToolRun) -> dict[str, Any]:
    from hvr.tools.calling.log import excerpt, redacted

    names = [goal.tool for goal in wanted.goals if goal.tool and not _writes(opened, goal.tool)]
    given = {o.call.tool: o.result for o in done.outcomes if o.ok}
    return {name: redacted(excerpt(given[name], 500)) for name in names if name in given}


def _save(folder: Path, opened: OpenedRequest, wanted: ToolRequest, done: ToolRun) -> None:
    from hvr.doors.studio.documents import shared_run
    from hvr.execution.events import Finished
    from hvr.execution.facts.running import WorldRun, save_run

    world = done.world
    if world is None:
        # If there were no calls, the decision is the whole run.
        finished = Finished(done.exit_code == 0, 0, 0, done.decision.why)
        world = WorldRun(finished, done.exit_code == 1, (), (finished,))
    about = {
        "env": f"tools of {opened.world.name}",
        "decision": done.decision.move.value,
        "verdict": done.decision.why,
    }
    domain = done.domain
    save_run(
        folder, domain.domain, domain.problem, world, request=without_keys(wanted.text), about=about
    )
    write_whole(folder / "run.html", shared_run(folder))


def _write_page(
    args: argparse.Namespace, opened: OpenedRequest, wanted: ToolRequest, done: ToolRun
) -> None:
    from hvr.base.files import temporary_folder

    if args.save is not None:
        write_whole(args.html, (args.save / "run.html").read_bytes())
        return
    with temporary_folder("hvr-tools-") as folder:
        _save(Path(folder), opened, wanted, done)
        write_whole(args.html, (Path(folder) / "run.html").read_bytes())


def _document(
    opened: OpenedRequest, wanted: ToolRequest, carried: RequestOutcome, model: Meter | None
) -> Mapping[str, Any]:
    done = carried.run
    from hvr.tools.calling.calls import sources_json
    from hvr.tools.calling.log import error_text, redacted

    calls = [
        {
            "tool": outcome.call.tool,
            "arguments": redacted(dict(outcome.call.arguments)),
            "sources": redacted(sources_json(outcome.call, outcome.sources)),
            "failure": None if outcome.failure is None else outcome.failure.value,
            "error": error_text(outcome),
            "seconds": round(outcome.seconds, 6),
        }
        for outcome in done.outcomes
    ]
    return {
        "world": opened.world.name,
        "request": wanted.text,
        "reached": carried.exit_code == 0,
        "outcome": _ENDED[carried.exit_code],
        "decision": done.decision.move.value,
        "why": carried.why,
        "confirm": [proposed.to_json() for proposed in carried.waiting],
        "uncertain": [entry.to_json() for entry in carried.uncertain],
        "unknown_effects": _unknown(opened),
        "left_out": list(opened.tools.catalogue.left_out),
        "ask": list(done.decision.ask),
        "questions": [question_json(one) for one in done.questions],
        "values": redacted(dict(done.steps.answers)),
        "results": _results(opened, wanted, done),
        "calls": calls,
        "run": done.world.to_json() if done.world is not None else None,
        **model_json(model),
    }
