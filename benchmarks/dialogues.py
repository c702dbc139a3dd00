"""Check the end states of dialogues and of contingent requests.

    python benchmarks/dialogues.py [--every N]
    python benchmarks/dialogues.py --conditions [--sight visible|doors] [--every N]

`dialogues.txt` and `contingent.txt` contain the required end of each. The exit status is always 0;
the last line counts the failures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.runs.conversation import Conversation
from hvr.runs.request import Options

HERE = Path(__file__).parent


def lines_of(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [[part.strip() for part in x.split("|")] for x in lines if not x.startswith("#")]


def holds(fact: str, inventory: Inventory) -> bool:
    """Return whether a fact over names or types holds, such as `in apple fridge`."""
    predicate, *args = fact.split()

    def fits(arg: str, name: str) -> bool:
        return arg in {name, name.rpartition("-")[0]}

    return any(
        a.predicate == predicate and all(map(fits, args, a.args[: len(args)]))
        for a in inventory.facts
    )


def unmet(ends: str, last: str, inventory: Inventory) -> list[str]:
    """Return the expected facts that do not hold, and the expected text if it was not said."""
    found = []
    for end in filter(None, ends.split("; ")):
        if end.startswith("= "):
            found += [end] if end[2:] not in last else []
        elif holds(end.removeprefix("!"), inventory) is end.startswith("!"):
            found.append(end)
    return found


def failed_dialogues(save: Path, every: int = 1) -> list[str]:
    """Run dialogues, and return those that end wrongly or ask unnecessary questions."""
    found = []
    for number, (scene, turns, ends, open_) in enumerate(lines_of("dialogues.txt")[::every]):
        options = Options(scene=scene, reader="grammar", save=save / str(number))
        with Conversation(options) as robot:
            replies = [robot.say(turn) for turn in turns.split(" / ")]
            wrong = unmet(ends, replies[-1].text, robot.inventory())
        asked = sum(reply.kind == "question" for reply in replies)
        if wrong or asked > int(open_):
            found.append(f"{turns}: {wrong}, {asked} questions, {[r.text for r in replies]}")
    return found


def failed_conditions(save: Path, sight: str, every: int = 1) -> list[str]:
    """Run contingent requests, and return those that end or decide wrongly."""
    found = []
    for number, (scene, text, answer, ends) in enumerate(lines_of("contingent.txt")[::every]):
        options = Options(scene=scene, sight=sight, reader="grammar", save=save / str(number))
        with Conversation(options) as robot:
            reply = robot.say(text)
            wrong = unmet(ends, reply.text, robot.inventory())
        verdict = reply.run.verdict if reply.run else reply.text
        looked = "proven before the look" in verdict
        decided = f": {answer}; proven before the look" in verdict
        right = {"refused": reply.run is None, "known": not looked}.get(answer, decided)
        if wrong or not right:
            found.append(f"{text}: {wrong}, {reply.kind} {verdict}")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conditions", action="store_true", help="contingent requests instead")
    parser.add_argument("--sight", default="visible", help="of the contingent requests")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth line")
    args = parser.parse_args(arguments)
    print(conditions())
    name = "contingent.txt" if args.conditions else "dialogues.txt"
    count = len(lines_of(name)[:: args.every])
    with tempfile.TemporaryDirectory() as folder:
        if args.conditions:
            failed = failed_conditions(Path(folder), args.sight, args.every)
        else:
            failed = failed_dialogues(Path(folder), args.every)
    print("\n".join([*failed, f"{count - len(failed)} of {count} as they should"]))


if __name__ == "__main__":
    main()
