"""`hvr show`: look at a saved run again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hvr.runs.report.run_page.story import Story

_DESCRIPTION = """\
Show a saved run: its plans, its steps, and what went otherwise than expected.
"""

_EPILOG = """\
examples:
  hvr show runs/boil
  hvr show runs/boil --html boil.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of a run, as runs/boil")
    parser.add_argument(
        "--html", metavar="FILE", type=Path,
        help="write one self-contained page instead of printing",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    if args.html is not None:
        write_page(args.run, args.html)
        print(f"wrote {args.html}")
        return 0
    from hvr.base.printable import one_line
    from hvr.runs.report.run_page.reading import read_story

    print("\n".join(map(one_line, _lines(read_story(args.run)))))
    return 0


def write_page(run: Path, html: Path) -> None:
    """Write the page of a run folder.

    Raises:
        DataFileError: it is no run folder, a file in it is damaged, or the page cannot be written.
    """
    from hvr.doors.cli.output import check_writable, write_whole
    from hvr.runs.report.run_page.page import render
    from hvr.runs.report.run_page.reading import read_story

    check_writable(html)
    write_whole(html, render(read_story(run)))


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
