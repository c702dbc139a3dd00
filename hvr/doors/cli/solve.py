"""`hvr solve`: finds a proven plan for any PDDL domain and problem."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.files import writing
from hvr.doors.cli.arguments import (
    add_json,
    add_model_options,
    add_path,
    add_trust,
    gibibytes,
    jobs,
    refuse_model_options,
    seconds,
    whole_number,
)
from hvr.doors.cli.output import check_apart, check_page, print_json, write_whole
from hvr.errors import DataFileError, LanguageError, UsageError
from hvr.values import answer_json

if TYPE_CHECKING:
    from hvr.pddl import Domain, Problem
    from hvr.planning.solving.race import FoundPlan
    from hvr.planning.solving.solve import Solution
    from hvr.worlds.facts.folder import WorldFolder
    from hvr.worlds.facts.lexicon import WorldLexicon


# Problem ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PosedProblem:
    """A problem to solve.

    Args:
        problem: The parsed problem, with the goal from the command line if there is one.
        words: Wording of the world, or one derived from the domain.
        world: The world; None if domain and problem are given as files.
        request: The goal on the command line; empty if there is none.
        known: Whether the goal is known; False if a model must read it.
    """

    domain: Domain
    problem: Problem
    words: WorldLexicon
    world: WorldFolder | None
    request: str = ""
    known: bool = True


@contextmanager
def posed_files(args: argparse.Namespace) -> Iterator[tuple[Path, Path]]:
    """Yield the domain and problem files: temporary ones if a world or a goal is given."""
    if args.world is None and args.goal is None:
        yield _two_files(args)
        return
    with problem_files(posed_problem(args)) as files:
        yield files


@contextmanager
def problem_files(asked: PosedProblem) -> Iterator[tuple[Path, Path]]:
    """Yield temporary files with the domain and the problem."""
    from hvr.base.files import temporary_folder, write_whole
    from hvr.pddl.model import print_domain, print_problem

    with temporary_folder("hvr-world-") as folder:
        domain, problem = Path(folder) / "domain.pddl", Path(folder) / "problem.pddl"
        write_whole(domain, print_domain(asked.domain))
        write_whole(problem, print_problem(asked.problem))
        yield domain, problem


def posed_problem(args: argparse.Namespace, *, by_model: bool = False) -> PosedProblem:
    """Return the problem with its goal.

    A goal in words is read, and the reading printed. If `by_model`, nothing is printed, and a goal
    that hvr does not understand is left to the model.

    Raises:
        LanguageError: The goal is empty, or hvr does not understand it (unless `by_model`).
        UsageError: The world's own environment cannot pursue several goals.
    """
    from hvr.execution.facts.sentences import problem_for
    from hvr.knowledge.world_file import find_world, is_trusted
    from hvr.pddl import parse_domain, parse_problem
    from hvr.worlds.facts.folder import WorldFolder
    from hvr.worlds.facts.lexicon import lexicon_for

    goal = args.goal
    if goal is not None and not goal.strip():
        raise LanguageError("--goal is empty: write a goal in PDDL or in words, or leave it out")
    world: WorldFolder | None = None
    if args.world is not None:
        trusted = args.trust_project or is_trusted(args.world)
        world = WorldFolder(find_world(args.world), trusted=trusted)
        domain, words = world.domain, world.words
        problem, of_task = world.problem(_task_of(args))
        goal = goal or of_task
    else:
        domain_file, problem_file = _two_files(args)
        domain = parse_domain(domain_file)
        problem, words = parse_problem(problem_file, domain), lexicon_for(domain)
    known = True
    if goal:
        try:
            read = problem_for(goal, domain, problem, words, world.ontology if world else None)
        except LanguageError:
            if not by_model:
                raise
            known = False
        else:
            if world is not None and world.environment and read.domain is not domain:
                raise UsageError(
                    f"{world.environment} cannot pursue several goals: request them one by one",
                    field="goal",
                )
            domain, problem = read.domain, read.problem
            if not args.quiet and not by_model:
                told = "; ".join((read.said, *read.notes))
                print(f"goal: {told}", file=sys.stderr if args.json else sys.stdout)
    return PosedProblem(domain, problem, words, world, goal or "", known)


def _task_of(args: argparse.Namespace) -> str | None:
    named = [str(one) for one in (args.problem, args.domain, args.file) if one is not None]
    if len(named) > 1:
        raise UsageError(
            f"expected one task or problem of the world, found {' and '.join(named)}", field="world"
        )
    return named[0] if named else None


def _two_files(args: argparse.Namespace) -> tuple[Path, Path]:
    if args.domain is None or args.file is None:
        raise UsageError("give a DOMAIN and a PROBLEM, or a --world")
    if args.problem is not None:
        raise UsageError("this option requires --world", field="problem")
    return args.domain, args.file


_DESCRIPTION = """\
Find a plan for a PDDL domain and problem, prove it with hvr's validator, and show it as macro
actions: blocks that are split at the plan's landmarks.
"""

_EPILOG = """\
examples:
  hvr solve domain.pddl problem.pddl
  hvr solve domain.pddl problem.pddl --optimal --budget 300
  hvr solve domain.pddl problem.pddl --save solved && hvr validate solved/{domain,problem,plan}.pddl
  hvr solve domain.pddl problem.pddl --planner up:enhsp --json
  hvr solve domain.pddl problem.pddl --anytime --budget 300
  hvr solve domain.pddl problem.pddl --alias lama-first
  hvr solve problems/ --budget 10 --jobs 2 --save solved        (every problem of a folder)
  hvr solve domain.pddl problem.pddl --execute --faults lost-effect:0.1 --seed 1
  hvr solve --world logistics --goal "parcel1 is at harbour" --execute
  hvr solve domain.pddl problem.pddl --llm openai:MODEL --setting HVR+
  hvr solve --world blocksworld --llm scripted:error=0.2 --execute     (a simulated model)

planners:
  fast-downward   Fast Downward's searches on hvr's grounding
  downward        unmodified Fast Downward, with its own translator
  forward         hvr's own search: numbers and derived predicates, for small problems
  temporal        hvr's own search: durative actions and timed literals, for small problems
  up:ENGINE       an engine of unified-planning that is installed
  By default, the first two run and hvr keeps the best plan. Problems with numbers or time go to
  hvr's own search and to the installed engines of unified-planning that support them. At most
  one planner per processor runs at a time; the planners take turns.

sets:
  A folder, or JSON lines with "domain", "problem" and optionally "best" (the best known cost), in
  place of PROBLEM or both files, produces a table. With --save FOLDER, each result is written to
  FOLDER/results.jsonl at once, and the same command resumes after an interruption.
    quality   cost of the reference plan / cost of this plan, as in the satisficing tracks of the
              competitions; 1 if proven. The reference is "best", or a plan of --reference.
    agility   1 for a plan within a second, 0 at the end of the budget, 1 - log t / log budget in
              between, as in the agile tracks
  Exit code 0: each problem has a plan or is proven unsolvable; 4: some are undecided; 2: some
  cannot be used; 3: a process died.

with --llm:
  The model gets the goal in words and writes macro actions and blocks of actions, as in
  `hvr plan`: every step is checked, explained and corrected as --setting specifies. hvr's validator
  judges the whole plan. Durative actions are not supported.

with --execute:
  The plan is executed in an environment that simulates the domain. hvr observes every step,
  explains every deviation, and replans from the observed state. Durative actions start and end at
  the times of the plan, by a simulated clock. Only actions and faults change the state.
  --faults KIND:RATE injects faults at each step with this probability, --faults KIND@STEP at one
  step:
    refused       the action is refused although it is possible
    no-effect     the action is reported as done but changes nothing
    lost-effect   one of its effects is missing
    changed-fact  an unrelated fact changes
    other-agent   another agent performs a possible action
  Exit code 0: the goal is reached; 1: it is proven to be out of reach; 2: undecided.

exit codes:
  0  a valid plan was found
  1  the problem is proven unsolvable
  2  a file or an option is invalid, or no planner supports the problem
  4  undecided: a larger --budget may help if a planner ran out of time
"""


def add_solve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "domain",
        metavar="DOMAIN",
        type=Path,
        nargs="?",
        help="PDDL domain, or a set: a folder, or a manifest that ends in .jsonl",
    )
    parser.add_argument(
        "file",
        metavar="PROBLEM",
        type=Path,
        nargs="?",
        help="PDDL problem, or a folder of problems",
    )
    parser.add_argument(
        "--world",
        metavar="FOLDER",
        help=(
            "a world instead of DOMAIN and PROBLEM: its folder, or a world that comes with hvr; "
            "code in a folder runs only if it is written as ./FOLDER"
        ),
    )
    add_trust(parser)
    parser.add_argument(
        "--problem",
        metavar="NAME",
        help=(
            "task or problem of the world (after --world its name alone suffices); not needed if "
            "the world has only one"
        ),
    )
    parser.add_argument(
        "--goal",
        metavar="TEXT",
        help="goal instead of the problem's: PDDL, or a simple sentence in the world's words",
    )
    _add_planner_options(parser)
    _add_set_options(parser)
    _add_execution_options(parser)
    add_model_options(parser)
    add_json(parser, "print one JSON document")
    parser.add_argument("--quiet", "-q", action="store_true", help="print only the result")


def _add_planner_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--planner",
        metavar="NAME",
        help="planner, see below (default: all that support the problem)",
    )
    parser.add_argument(
        "--optimal",
        action="store_true",
        help="search until the plan is proven optimal, or the time is up",
    )
    parser.add_argument(
        "--anytime",
        action="store_true",
        help=(
            "print each better valid plan as soon as it is found, until the time is up; with "
            "--json, one line per plan"
        ),
    )
    own = parser.add_mutually_exclusive_group()
    own.add_argument(
        "--alias",
        metavar="NAME",
        help="use only Fast Downward with one of its aliases, such as lama",
    )
    own.add_argument(
        "--search",
        metavar="TEXT",
        help="use only Fast Downward with one of its searches, such as 'lazy_greedy([ff()])'",
    )
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="maximum wall time (default: 60)",
    )
    limit = "maximum memory of a planner and its child processes, in GiB (default: no limit)"
    parser.add_argument("--memory", metavar="GIB", type=gibibytes, default=0, help=limit)
    add_path(
        parser,
        "--save",
        "folder for domain, problem, plan and solution.json; new or empty",
        metavar="FOLDER",
    )
    add_path(parser, "--html", "write the plan as one page: its steps and states")


def _add_set_options(parser: argparse.ArgumentParser) -> None:
    sets = parser.add_argument_group("sets")
    sets.add_argument(
        "--jobs",
        metavar="N",
        type=jobs,
        default=1,
        help="number of problems to solve in parallel; 0 for one per processor core (default: 1)",
    )
    add_path(sets, "--csv", "also write the table as CSV")
    add_path(
        sets,
        "--reference",
        "results of an earlier run of the set, whose costs are the reference",
        metavar="FOLDER",
    )


def _add_execution_options(parser: argparse.ArgumentParser) -> None:
    acting = parser.add_argument_group("execution")
    acting.add_argument(
        "--execute", action="store_true", help="execute the plan, and recover from deviations"
    )
    acting.add_argument(
        "--faults",
        metavar="KIND:RATE",
        action="append",
        default=[],
        help="faults to inject, see below; may be repeated",
    )
    acting.add_argument(
        "--seed",
        metavar="N",
        type=whole_number,
        default=0,
        help="seed of random faults (default: 0)",
    )
    acting.add_argument(
        "--hide",
        metavar="PREDICATE",
        action="append",
        default=[],
        help="hide facts of this predicate or function; may be repeated",
    )
    acting.add_argument(
        "--max-replans",
        metavar="N",
        type=whole_number,
        default=20,
        help="maximum number of new plans (default: 20)",
    )
    acting.add_argument(
        "--env-timeout",
        metavar="SECONDS",
        type=seconds,
        help=(
            "time limit of each call of the world's own environment (default: env_timeout in "
            "world.toml, or 60)"
        ),
    )


def run_solve(args: argparse.Namespace) -> int:
    args.downward = _own_options(args)
    outputs = [path for path in (args.html, args.csv) if path is not None]
    check_apart(outputs, [str(path) for path in (args.domain, args.file) if path is not None])
    from hvr.doors.cli.solve_sets import is_problem_set, solve_problem_set

    if is_problem_set(args):
        if args.html is not None:
            raise UsageError("this option requires one problem", field="html")
        return solve_problem_set(args)
    for name in ("csv", "reference"):
        if getattr(args, name) is not None:
            raise UsageError("this option requires a folder or a manifest", field=name)
    if (
        args.save is not None
        and args.save.exists()
        and (not args.save.is_dir() or any(args.save.iterdir()))
    ):
        raise UsageError(
            f"{args.save} exists and is not an empty folder: name a new one", field="save"
        )
    if not hasattr(args, "spec"):
        refuse_model_options(args, "none is used: name one with --llm")
    if args.html is not None:
        check_page(args.html)
    if args.execute or hasattr(args, "spec"):
        for name in ("anytime", "alias", "search", "html"):
            if getattr(args, name):
                raise UsageError(
                    "this option cannot be combined with --execute or --llm", field=name
                )
    if args.execute:
        from hvr.doors.cli.solve_execution import execute_solution

        return execute_solution(args)
    for name in ("faults", "hide", "env_timeout"):
        if getattr(args, name):
            raise UsageError("this option requires --execute", field=name)
    return _solve(args)


def _own_options(args: argparse.Namespace) -> tuple[str, ...]:
    field = "alias" if args.alias is not None else "search"
    value = getattr(args, field)
    if value is None:
        return ()
    if args.planner not in (None, "downward"):
        raise UsageError(
            f"this option requires the planner downward, got {args.planner}", field=field
        )
    if args.optimal:
        raise UsageError("a custom search is not known to be optimal: omit --optimal", field=field)
    if not value.strip() or value.startswith("-"):
        raise UsageError(
            f"--{field} needs a Fast Downward {field} that does not begin with '-', got {value!r}",
            field=field,
        )
    return f"--{field}", value


def _solve(args: argparse.Namespace) -> int:

    if hasattr(args, "spec"):
        from hvr.doors.cli.solve_execution import solve_by_model
        from hvr.policies.llm.settings import is_goal

        if is_goal(getattr(args, "setting", "")):
            return _solved_for_goal(args)
        return _print_solution(args, solve_by_model(args, posed_problem(args)))

    with posed_files(args) as (domain, problem):
        return _solved(args, domain, problem)


def _solved_for_goal(args: argparse.Namespace) -> int:
    from hvr.doors.cli.solve_execution import judged_by_own_goal, posed_with_model_goal

    asked, meant, meter = posed_with_model_goal(args)
    with problem_files(meant) as (domain, problem):
        solution = judged_by_own_goal(asked, _solution(args, domain, problem), meter)
        return _told(args, domain, problem, solution)


def _solved(args: argparse.Namespace, domain: Path, problem: Path) -> int:
    return _told(args, domain, problem, _solution(args, domain, problem))


def _told(args: argparse.Namespace, domain: Path, problem: Path, solution: Solution) -> int:
    if args.json:  # one document, which may be that of an error
        _keep(args, domain, problem, solution)
        return _print_solution(args, solution)
    # A full disk must not cost the plan.
    code = _print_solution(args, solution)
    _keep(args, domain, problem, solution)
    return code


def _keep(args: argparse.Namespace, domain: Path, problem: Path, solution: Solution) -> None:
    if args.save is not None:
        _save(args.save, domain, problem, solution)
    if args.html is None:
        return
    if solution.steps is None:
        print(f"{args.html} was not written: there is no plan to show", file=sys.stderr)
        return
    from hvr.doors.studio.documents import plan_document, shared_page
    from hvr.pddl import print_plan

    document = plan_document(domain, problem, print_plan(solution.steps))
    write_whole(args.html, shared_page(document, f"hvr: a plan for {problem.name}"))


def _solution(args: argparse.Namespace, domain: Path, problem: Path) -> Solution:
    from hvr.doors.cli.solve_sets import AnytimePrinter
    from hvr.planning.solving.solve import SolveOptions, solve

    show = not (args.json or args.quiet) and sys.stderr.isatty()
    stream = AnytimePrinter(args.save, json_lines=args.json) if args.anytime else None
    return solve(
        domain,
        problem,
        SolveOptions(args.planner, args.budget, args.optimal, args.memory, args.downward),
        anytime=args.anytime,
        listen=stream or (_found if show else None),
    )


def _print_solution(args: argparse.Namespace, solution: Solution) -> int:
    if args.json:
        last = {"event": "finished"} if args.anytime else {}
        print_json({**last, **answer_json(solution)})
    else:
        for line in _lines(solution, quiet=args.quiet):
            print(line)
    return 0 if solution.steps is not None else 1


def _found(candidate: FoundPlan) -> None:
    from hvr.validation.report import count

    print(
        f"{candidate.seconds:6.1f} s  {count(len(candidate.steps), 'step')} ({candidate.planner})",
        file=sys.stderr,
    )


def _lines(solution: Solution, *, quiet: bool) -> list[str]:
    from hvr.pddl.plan import decimal_text
    from hvr.validation.report import count

    if solution.steps is None:
        return [f"no plan exists: proven by {solution.planner} in {solution.seconds:.1f} s"]
    lines = []
    if not quiet and len(solution.blocks) > 1:
        number = 0
        for block in solution.blocks:
            lines.append(f"{block.macro.name}:")
            for action in block.actions:
                number += 1
                lines.append(f"{number:5}  {action}")
    elif not quiet:
        lines += [f"{number:5}  {step}" for number, step in enumerate(solution.steps, 1)]
    cost = ""
    if solution.cost is not None and solution.cost != len(solution.steps):
        cost = f", cost {decimal_text(solution.cost)}"
    proven = ", proven optimal" if solution.proven else ""
    # Large scenes offer a choice, so report how many objects the planner considered.
    among = "" if solution.objects is None else f"; all {count(solution.objects, 'object')}"
    lines.append(
        f"plan found: {count(len(solution.steps), 'step')}{cost}, valid{proven} "
        f"({solution.planner}, {solution.seconds:.1f} s{among})"
    )
    return [*lines, *(f"note: {note}" for note in solution.notes)]


def _save(folder: Path, domain: Path, problem: Path, solution: Solution) -> None:
    import json

    from hvr.pddl import print_plan

    contents: dict[str, str | bytes] = {}
    for name, source in (("domain.pddl", domain), ("problem.pddl", problem)):
        try:
            contents[name] = source.read_bytes()
        except OSError as error:
            raise DataFileError(f"{source} cannot be read: {error}") from error
    if solution.steps is not None:
        contents["plan.pddl"] = print_plan(solution.steps, solution.cost)
    text = json.dumps(solution.to_json(), indent=2, ensure_ascii=False)
    contents["solution.json"] = f"{text}\n"
    made = not folder.exists()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    new = [folder / name for name in contents if not (folder / name).exists()]
    try:
        for name, content in contents.items():
            write_whole(folder / name, content)
    except DataFileError:
        # The folder must be empty if the command is repeated.
        for path in new:
            path.unlink(missing_ok=True)
        if made:
            folder.rmdir()
        raise
