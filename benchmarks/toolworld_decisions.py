"""Test next-move decisions in BFCL's dialogues: call, find tools, ask or answer.

No model is larger than MiniLM.

    python benchmarks/toolworld_decisions.py [--data DIR] [--folds N] [--encoder NAME] [--seed N]
        [--no-services] [--part development|kept] [--test-base FILE --test-missing-function FILE
        --test-missing-parameter FILE --test-irrelevance FILE]

The data are turns of the development half of BFCL's multi-turn dialogues (base, missing function,
missing parameter) and its irrelevance requests. The right move is to call if correct calls are
recorded, to find tools if a required function is withheld, to ask if a parameter is missing, and to
answer if none of the offered functions is useful. Cross-validation keeps the dialogues of one
number (all three variants) together. With `--part kept`, training uses the whole development half,
and the test set is the rest of the package bfcl-eval: for a final report, never to choose anything.
The `--test-…` options judge other files in the format of the shared data.

A decision sees the user's words in this and earlier turns, the available and the unavailable tools,
and whether the previous turn ended without a call. Unavailable are the other tools of BFCL's eight
classes, shown with their class unless `--no-services` is given. It sees neither the variant of the
dialogue nor later turns. A turn that only adds withheld functions is judged by the words of the
previous turn.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured
from toolworlds import DATA, read_rows

from hvr.base.registry import load_apart
from hvr.errors import DataFileError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.turn_judge import TurnDecision, TurnJudge, one_thread
from hvr.tools.navigation.turns import MOVES, JudgedTurn, OfferedTool, Turn, judged_turns, offered

VARIANTS = {
    "base": ("multi_turn_base.jsonl.gz", NextMove.ANSWER),
    "missing-function": ("multi_turn_miss_func.jsonl.gz", NextMove.FIND),
    "missing-parameter": ("multi_turn_miss_param.jsonl.gz", NextMove.ASK),
}
"""Variants of dialogues: their file, and the right move in a turn without calls."""

PACKAGE = {
    "base": "BFCL_v4_multi_turn_base.json",
    "missing-function": "BFCL_v4_multi_turn_miss_func.json",
    "missing-parameter": "BFCL_v4_multi_turn_miss_param.json",
    "irrelevance": "BFCL_v4_irrelevance.json",
}
"""Files of the package bfcl-eval."""

_CALLED = re.compile(r"\s*(?:\w+\.)?(\w+)\(")


def main() -> None:
    options = _options()
    with one_thread():
        _judge_all(options)


def _judge_all(options: argparse.Namespace) -> None:
    print(conditions(options.seed))
    tools = _tools(options.data / "bfcl" / "tools.json", services=not options.no_services)
    folder = options.data / "bfcl"
    turns = _all_turns(tools, {v: folder / name for v, (name, _) in VARIANTS.items()},
                       folder / "irrelevance.jsonl.gz")  # fmt: skip
    encode = TextVectors(options.encoder).encode
    tested = {v: getattr(options, f"test_{v.replace('-', '_')}") for v in VARIANTS}
    if options.part == "kept":
        judge = TurnJudge(turns, encode, options.seed)
        test = _kept(tools, {one.dialogue for one in turns})
        decided = _judged(judge, test)
        print(f"trained on {len(turns)} turns of the development half, judged on the kept half")
    elif any(tested.values()) or options.test_irrelevance:
        test = _all_turns(tools, {v: f for v, f in tested.items() if f}, options.test_irrelevance)
        judge = TurnJudge(turns, encode, options.seed)
        decided = _judged(judge, test)
        print(f"trained on {len(turns)} turns of the development half, judged on other files")
    else:
        decided = _cross_validated(turns, encode, options)
        print(f"{options.folds} folds over dialogue numbers of the development half")
    _print(decided)


def _cross_validated(
    turns: Sequence[JudgedTurn], encode: Any, options: argparse.Namespace
) -> list[tuple[JudgedTurn, TurnDecision]]:
    names = sorted({one.dialogue for one in turns})
    random.Random(options.seed).shuffle(names)
    fold = {name: number % options.folds for number, name in enumerate(names)}
    decided = []
    for part in range(options.folds):
        judge = TurnJudge([t for t in turns if fold[t.dialogue] != part], encode, options.seed)
        decided += _judged(judge, [t for t in turns if fold[t.dialogue] == part])
    return decided


def _judged(judge: TurnJudge, turns: Sequence[JudgedTurn]) -> list[tuple[JudgedTurn, TurnDecision]]:
    return list(zip(turns, judge.decide_all([one.turn for one in turns]), strict=True))


def _print(decided: Sequence[tuple[JudgedTurn, TurnDecision]]) -> None:
    counts = {(a, b): 0 for a in MOVES for b in MOVES}
    for one, decision in decided:
        counts[one.move, decision.move] += 1
    print("right \\ decided | " + " | ".join(move.value for move in MOVES) + " | F1")
    scores = []
    for move in MOVES:
        row = [counts[move, other] for other in MOVES]
        column = sum(counts[other, move] for other in MOVES)
        both = sum(row) + column
        if sum(row):
            scores.append(2 * counts[move, move] / both if both else 0.0)
        print(f"{move.value} | " + " | ".join(map(str, row)) +
              (f" | {scores[-1]:.3f}" if sum(row) else " | -"))  # fmt: skip
    right = sum(counts[move, move] for move in MOVES)
    calls = sum(counts[NextMove.CALL, move] for move in MOVES)
    print(
        f"{len(decided)} turns: accuracy {right / len(decided):.4f}, macro F1 "
        f"{sum(scores) / len(scores):.3f}; always calling is right in {calls / len(decided):.4f}"
    )
    allowed = sum(one.move in decision.admissible for one, decision in decided)
    print(f"the right move is admissible in {allowed / len(decided):.4f}")


def _tools(file: Path, *, services: bool) -> dict[str, tuple[str, OfferedTool]]:
    records = json.loads(file.read_text(encoding="utf-8"))
    classes = [record["class"] for record in records]
    tools = offered([read_tool(record, str(file)) for record in records],
                    classes if services else ())  # fmt: skip
    return {t.schema.name: (name, t) for name, t in zip(classes, tools, strict=True)}


def _kept(
    tools: Mapping[str, tuple[str, OfferedTool]], learnt: Collection[str]
) -> list[JudgedTurn]:
    """Return the turns of the package's dialogues and requests that are not training data."""
    package: Any = load_apart("bfcl_eval")
    data = Path(package.__file__).parent / "data"
    turns: list[JudgedTurn] = []
    for variant, name in PACKAGE.items():
        for row in package_rows(data, name):
            number = row["id"] if variant == "irrelevance" else row["id"].rpartition("_")[2]
            if number in learnt:
                continue
            turns += (
                [_irrelevant(row, tools)] if variant == "irrelevance"
                else _dialogue(row, tools, VARIANTS[variant][1])
            )  # fmt: skip
    return turns


def package_rows(data: Path, name: str) -> list[dict[str, Any]]:
    """Return the records of one of the package's files, in the format of the shared data."""
    answers = data / "possible_answer" / name
    truth = (
        {row["id"]: row["ground_truth"] for row in read_rows(answers)} if answers.exists() else {}
    )
    rows = []
    for row in read_rows(data / name):
        said = [[message["content"] for message in turn] for turn in row["question"]]
        if row["id"] not in truth:
            rows.append({"id": row["id"], "user": said[0], "functions": row["function"]})
            continue
        calls = [[{"api": _called(text)} for text in turn] for turn in truth[row["id"]]]
        rows.append({
            "id": row["id"], "classes": row["involved_classes"],
            "excluded_function": row.get("excluded_function"),
            "missed_function": row.get("missed_function"),
            "turns": [{"user": u, "calls": c} for u, c in zip(said, calls, strict=True)],
        })  # fmt: skip
    return rows


def _called(text: str) -> str:
    found = _CALLED.match(text)
    if found is None:
        raise DataFileError(f"BFCL's answer {text!r} is not a call")
    return found.group(1)


def _all_turns(
    tools: Mapping[str, tuple[str, OfferedTool]],
    files: Mapping[str, Path],
    irrelevance: Path | None,
) -> list[JudgedTurn]:
    turns: list[JudgedTurn] = []
    for variant, file in files.items():
        turns += _turns(file, lambda row, v=variant: _dialogue(row, tools, VARIANTS[v][1]))  # type: ignore[misc]
    if irrelevance:
        turns += _turns(irrelevance, lambda row: [_irrelevant(row, tools)])
    return turns


def _turns(
    file: Path, read: Callable[[Mapping[str, Any]], Iterable[JudgedTurn]]
) -> Iterable[JudgedTurn]:
    """Return the turns in a file.

    Raises:
        DataFileError: A row has a different format.
    """
    for number, row in enumerate(read_rows(file), 1):
        try:
            yield from read(row)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataFileError(f"{file}: row {number} is not a dialogue: {error!r}") from None


def _irrelevant(row: Mapping[str, Any], tools: Mapping[str, tuple[str, OfferedTool]]) -> JudgedTurn:
    offered = tuple(OfferedTool(read_tool(f, row["id"])) for f in row["functions"])
    turn = Turn(" ".join(row["user"]), offered, tuple(tool for _, tool in tools.values()))
    return JudgedTurn(turn, NextMove.ANSWER, dialogue=row["id"])


def _dialogue(
    row: Mapping[str, Any], tools: Mapping[str, tuple[str, OfferedTool]], without_calls: NextMove
) -> Iterable[JudgedTurn]:
    schemas = {name: tool for name, (_, tool) in tools.items()}
    yield from judged_turns(dialogue_of(row, tools, without_calls), schemas, row["id"])


def dialogue_of(
    row: Mapping[str, Any], tools: Mapping[str, tuple[str, OfferedTool]], without_calls: NextMove
) -> dict[str, Any]:
    """Return a BFCL dialogue in the format that `hvr tools learn --turns` reads."""
    number = row["id"].rpartition("_")[2]
    never = set(row.get("excluded_function") or ())
    withheld = {int(turn): set(names) for turn, names in (row["missed_function"] or {}).items()}
    turns = []
    for place, said in enumerate(row["turns"]):
        gone = never.union(*(names for turn, names in withheld.items() if turn > place))
        move = NextMove.CALL if said["calls"] else without_calls
        turns.append({
            "user": said["user"], "calls": [call["api"] for call in said["calls"]],
            "move": move.value,
            "tools": [n for n, (c, _) in tools.items() if c in row["classes"] and n not in gone],
        })  # fmt: skip
    return {"dialogue": number, "turns": turns}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-services", action="store_true")
    parser.add_argument("--part", choices=("development", "kept"), default="development")
    for variant in (*VARIANTS, "irrelevance"):
        parser.add_argument(f"--test-{variant}", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(measured(main))
