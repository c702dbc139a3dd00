"""Measure the accuracy of each request reader on held-out sentences.

    python benchmarks/learnt_reader.py --data FILE --starts FILE [--part kept]

The sentences describe ALFRED's kitchen demonstrations. Each is read in the kitchen at the start of
its demonstration; nothing is executed. A reading is right if meeting it meets the demonstration's
goal (`as ALFRED`), possibly with another way to make objects clean, hot or cold (`any way`).
`asked` counts sentences with two candidate readings; `right with the answer` also counts sentences
with one right candidate, any way. The last lines show the learnt reader alone at rising thresholds.
They also show how often all sentences of a demonstration, or all understood ones, were read as
goals with the same end state.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeGuard

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from alfred_goals import goal_of, kitchen_ontology
from alfred_judge import DATA as STARTS
from alfred_judge import TASK_TYPES, Wanted
from conditions import conditions
from inputs import measured

from hvr.errors import HvrError
from hvr.execution.world import open_world
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Goal, Stage
from hvr.language.grammar import Reader, is_plain
from hvr.language.learnt.agreement import EndStates, ReaderThresholds, agreed
from hvr.language.learnt.reader import LearntReader, Reading
from hvr.worlds.kitchen import Kitchen
from studies.alfred import scene_from_alfred
from studies.human_language import PARTS, Demonstration, demonstrations

DATA = STARTS.parents[1] / "alfred_language" / STARTS.name
"""Default path of the sentences, beside the hvr checkout."""

Outcome = tuple[Goal, ...] | HvrError
"""A reader's result for a sentence: a goal, several alternatives, or none."""

READERS = ("grammar", "learnt", "both")
_ANY = "learnt, however unsure"
_OTHER_WAYS = {"(washed ?o)": "(not (dirty ?o))", "(microwaved ?o)": "(hot ?o)",
               "(chilled ?o)": "(cold ?o)"}  # fmt: skip


@dataclass
class Result:
    """A reader's result for a sentence.

    Args:
        read: Whether the reader returned a goal.
        asked: Whether it returned two alternatives instead.
        strict: Whether the goal is right by ALFRED's conditions.
        right: Whether the goal is right, in any way of cleaning, heating or cooling.
        named: Whether the goal or one of the two alternatives is right.
        said: Goal in words, or the reason why there is none.
    """

    read: bool = False
    asked: bool = False
    strict: bool = False
    right: bool = False
    named: bool = False
    said: str = ""


@dataclass
class Sentence:
    """A sentence with its readings.

    Args:
        demonstration: Id of the demonstration.
        p: Confidence of the learnt reader.
        frame: Frame of the learnt reading.
        seconds: Reading time of the learnt reader.
        results: Result by reader.
    """

    text: str
    demonstration: str
    task_type: str
    p: float = 0.0
    frame: str = ""
    seconds: float = 0.0
    results: dict[str, Result] = field(default_factory=dict)


@dataclass
class Described:
    """The sentences of a demonstration, and each reader's consistency on them.

    Args:
        equal: Whether each reader read all sentences as the same end state.
        equal_read: Whether each reader read all sentences that it understood as the same end state;
            None if they are fewer than two.
    """

    sentences: list[Sentence]
    equal: dict[str, bool]
    equal_read: dict[str, bool | None]


class Bench:
    """Reads sentences with every reader.

    Args:
        restricted: Whether the learnt reader considers only classes in the scene.
        thresholds: Confidence thresholds of the learnt reader to report.
    """

    def __init__(self, *, restricted: bool, thresholds: ReaderThresholds) -> None:
        ontology, domain = load_ontology(), load_world().agent.domain()
        self.grammar = Reader(ontology, domain, any_place=True)
        self.learnt = LearntReader(
            ontology, domain, self.grammar.lexicon, self.grammar.taxonomy, restricted=restricted
        )
        self.thresholds = thresholds

    def read(self, demonstration: Demonstration) -> Described:
        world = open_world(Kitchen(scene_from_alfred(demonstration.start)))
        inventory = world.inventory()
        ends = EndStates(self.grammar.taxonomy, inventory, self.grammar.domain)
        goals: dict[str, list[Goal | None]] = {reader: [] for reader in (*READERS, _ANY)}
        sentences = []
        for text in demonstration.sentences:
            sentence = Sentence(text, demonstration.id, demonstration.wanted.task_type)
            for reader, outcome in self._outcomes(sentence, inventory, ends).items():
                goals[reader].append(outcome[0] if _is_read(outcome) else None)
                sentence.results[reader] = _judged(outcome, demonstration.wanted, ends)
            sentences.append(sentence)
        equal = {reader: _all_equal(found, ends) for reader, found in goals.items()}
        read = {reader: [g for g in found if g is not None] for reader, found in goals.items()}
        equal_read = {
            reader: _all_equal(found, ends) if len(found) > 1 else None
            for reader, found in read.items()
        }
        return Described(sentences, equal, equal_read)

    def _outcomes(
        self, sentence: Sentence, inventory: Inventory, ends: EndStates
    ) -> dict[str, Outcome]:
        started = time.perf_counter()
        reading = self.learnt.read(sentence.text, inventory)
        sentence.seconds = time.perf_counter() - started
        sentence.p, sentence.frame = reading.p, str(reading.frame)
        grammar = _attempt(lambda: self.grammar.goals(sentence.text, inventory))
        alone: Outcome = HvrError("not sure")
        if reading.goal is not None and reading.p >= self.thresholds.alone:
            alone = (reading.goal,)
        both = _attempt(lambda: self._both(grammar, sentence.text, reading, ends))
        anyhow: Outcome = (reading.goal,) if reading.goal else HvrError("no reading")
        return {"grammar": grammar, "learnt": alone, "both": both, _ANY: anyhow}

    def _both(
        self, grammar: Outcome, text: str, reading: Reading, ends: EndStates
    ) -> tuple[Goal, ...]:
        """Return the goals of both readers combined, as in `Agreement`."""
        if isinstance(grammar, HvrError):
            return (agreed(grammar, reading, ends, self.thresholds, ""),)
        if len(grammar) > 1 or is_plain(text, grammar[0]):
            return grammar
        return (agreed(grammar[0], reading, ends, self.thresholds, ""),)


def _attempt(read: Callable[[], tuple[Goal, ...]]) -> Outcome:
    try:
        return read()
    except HvrError as error:
        return error


def _is_read(outcome: Outcome) -> TypeGuard[tuple[Goal]]:
    return not isinstance(outcome, HvrError) and len(outcome) == 1


def _judged(outcome: Outcome, wanted: Wanted, ends: EndStates) -> Result:
    if isinstance(outcome, HvrError):
        return Result(said=str(outcome))
    text = goal_of(wanted, kitchen_ontology())
    strict = [ends.entails(goal, Goal((Stage(text),))) for goal in outcome]
    for mark, state in _OTHER_WAYS.items():
        text = text.replace(mark, state)
    right = [ends.entails(goal, Goal((Stage(text),))) for goal in outcome]
    named = any((*strict, *right))
    said = " / ".join("; then ".join(goal.paraphrase) for goal in outcome)
    if len(outcome) > 1:
        return Result(asked=True, named=named, said=said)
    return Result(True, False, strict[0], strict[0] or right[0], named, said)


def _all_equal(goals: Sequence[Goal | None], ends: EndStates) -> bool:
    first = goals[0]
    return first is not None and all(
        g is not None and ends.entails(g, first) and ends.entails(first, g) for g in goals
    )


def show(described: Sequence[Described]) -> None:
    sentences = [s for d in described for s in d.sentences]
    print(
        "| reader | task type | sentences | read | asked | right, as ALFRED | right, any way | "
        "wrong of read | right with the answer |\n|---|---|---|---|---|---|---|---|---|"
    )
    for reader in READERS:
        for name in (*TASK_TYPES, "all"):
            some = [s.results[reader] for s in sentences if name in (s.task_type, "all")]
            if some:
                print(f"| {reader} | {name} | {len(some)} | {' | '.join(_shares(some))} |")
    several = [d for d in described if len(d.sentences) > 1]
    for reader in READERS:
        equal = sum(d.equal[reader] for d in several)
        print(f"equal ends within a demonstration, {reader}: {equal} of {len(several)} "
              f"({_percent(equal, len(several))})", end="")  # fmt: skip
        compared = [d.equal_read[reader] for d in described]
        compared = [same for same in compared if same is not None]
        print(f"; of the understood ones: {sum(compared)} of {len(compared)} "
              f"({_percent(sum(compared), len(compared))})")  # fmt: skip
    print("\n| learnt alone, p at least | answered | right of answered |\n|---|---|---|")
    for p in (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        sure = [s.results[_ANY] for s in sentences if s.p >= p and s.results[_ANY].read]
        right = sum(result.right for result in sure)
        print(f"| {p} | {_percent(len(sure), len(sentences))} | {_percent(right, len(sure))} |")
    times = sorted(1000 * s.seconds for s in sentences[1:]) or [0.0]
    print(f"\nlearnt reader: median {statistics.median(times):.0f} ms per sentence, "
          f"95 % below {times[int(0.95 * len(times))]:.0f} ms")  # fmt: skip


def _shares(some: Sequence[Result]) -> Iterator[str]:
    read = sum(r.read for r in some)
    yield _percent(read, len(some))
    yield _percent(sum(r.asked for r in some), len(some))
    yield _percent(sum(r.strict for r in some), len(some))
    yield _percent(sum(r.right for r in some), len(some))
    yield _percent(sum(r.read and not r.right for r in some), read)
    yield _percent(sum(r.named for r in some), len(some))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the sentences, .jsonl.gz")
    parser.add_argument("--starts", type=Path, default=STARTS, help="the start states, .jsonl.gz")
    parser.add_argument("--part", choices=PARTS, default="kept", help="these task folders")
    parser.add_argument("--limit", type=int, help="only N demonstrations, spread evenly")
    parser.add_argument(
        "--no-scene", action="store_true", help="consider the classes of all scenes"
    )
    parser.add_argument(
        "--alone", type=float, default=ReaderThresholds.alone, help="see Thresholds"
    )
    parser.add_argument("--more", type=float, default=ReaderThresholds.more, help="see Thresholds")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write every reading to this file"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 2 if the data are missing."""
    options = parse_arguments(arguments)
    for path, option in ((options.data, "--data"), (options.starts, "--starts")):
        if not path.is_file():
            print(f"{path} does not exist; give the file with {option}", file=sys.stderr)
            return 2
    chosen = list(demonstrations(options.data, options.starts, options.part))
    if options.limit is not None and options.limit < len(chosen):
        chosen = [chosen[i * len(chosen) // options.limit] for i in range(options.limit)]
    bench = Bench(
        restricted=not options.no_scene,
        thresholds=ReaderThresholds(alone=options.alone, more=options.more),
    )
    print(f"{conditions()} · part {options.part} · {len(chosen)} demonstrations · "
          f"head {bench.learnt.head.digest}")  # fmt: skip
    described = [bench.read(demonstration) for demonstration in chosen]
    show(described)
    if options.json:
        report = [asdict(d) for d in described]
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
