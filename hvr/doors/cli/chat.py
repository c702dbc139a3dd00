"""`hvr chat`: a dialogue with the robot in one scene."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json, add_path, whole_number
from hvr.doors.cli.output import print_json
from hvr.doors.cli.plan import given_options

if TYPE_CHECKING:
    from hvr.runs.conversation import Conversation, ConversationReply

_EPILOG = """\
examples:
  hvr chat --scene FloorPlan1
  printf 'open the fridge\\nis it open?\\nundo\\n' | hvr chat --quiet

Say what to do ("put the apple in the fridge"), ask ("where is the mug?", "why did you open the
fridge?"), correct ("no, the cup"), refer back ("and now the other one", "put it back"), and undo
("undo"). An empty line or "bye" ends the dialogue.

exit codes:
  0  the dialogue ended; with --json, each reply gives the outcome of its turn
  2  an option is invalid
"""

_ENDS = frozenset({"", "bye", "goodbye", "quit", "exit", "q"})


def add_chat_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    group = parser.add_argument_group("environment", argument_default=argparse.SUPPRESS)
    group.add_argument("--scene", help="a scene, such as FloorPlan1 (`hvr scenes` lists them)")
    group.add_argument("--world", help="a world with scenes, by name or folder")
    group.add_argument(
        "--sight",
        help=(
            "what the robot sees: omniscient (everything, the default), doors (nothing behind "
            "closed doors), or visible (only objects in view)"
        ),
    )
    group.add_argument("--seed", type=whole_number, help="seed of the environment (default: 0)")
    group.add_argument("--reader", help="the reader of requests: grammar, learnt, or both")
    add_path(parser, "--save", "folder, new or empty (default: one under ./runs)", metavar="FOLDER")
    add_json(parser, "print one JSON object per reply")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="print only the replies, not the steps"
    )


def run_chat(args: argparse.Namespace) -> int:
    from hvr.doors.cli.display import display
    from hvr.runs.conversation import Conversation
    from hvr.runs.request import Options

    options = Options(**given_options(args))
    shown = "none" if args.json or args.quiet else "lines"
    with display(shown) as listen, Conversation(options, listen) as robot:
        for text in _said(robot):
            reply = robot.say(text)
            if args.json:
                print_json(reply.to_json())
            else:
                print(_lines(reply), flush=True)
        if not (args.json or args.quiet):
            print(f"saved in {robot.folder}")
    return 0


def _said(robot: Conversation) -> Iterator[str]:
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    while True:
        try:
            # input() would write a prompt, even an empty one, in the encoding of the locale.
            text = input("? " if robot.question else "> ") if asks else next(sys.stdin).rstrip("\n")
        except (EOFError, StopIteration):
            return
        if text.strip().lower().rstrip(".!") in _ENDS:
            if asks or text.strip():
                return
            continue
        yield text


def _lines(reply: ConversationReply) -> str:
    numbered = (f"  {n}  {words}" for n, words in enumerate(reply.choices, start=1))
    return "\n".join((reply.text, *numbered))
