"""What judged dialogues teach of the next move, as a file: the dialogues, and how well they teach.

The file holds the dialogues themselves, and what is learnt is learnt anew when it is read: nothing
of it is executed or unpacked.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.extras import load
from hvr.base.files import write_whole
from hvr.base.texts import read_json
from hvr.errors import DataFileError, UsageError
from hvr.tools.catalogue.schema import Catalogue
from hvr.tools.navigation.decision import NextMove
from hvr.tools.navigation.turns.dialogues import Dialogue, judged_turns
from hvr.tools.navigation.turns.judge import FOLDS, TurnDecision, TurnJudge
from hvr.tools.navigation.turns.needs import Encoder
from hvr.tools.navigation.turns.turn import MOVES, JudgedTurn, Turn, offered

FORM = "hvr judged dialogues 1"
LEAST = 20
"""Dialogues that it takes to learn anything, and to say how well."""
SURE = 0.05
"""The chance at most that what is learnt is no better than the commonest move (sign test)."""


@dataclass(frozen=True)
class LearntMoves:
    """Judged dialogues, and how well the next move is told of those that were held out.

    Args:
        dialogues: they.
        encoder: name of the encoder of texts.
        seed: of what is drawn.
        figures: measured by cross-validation over dialogues.
    """

    dialogues: tuple[Dialogue, ...]
    encoder: str
    seed: int
    figures: Mapping[str, float]

    @property
    def better(self) -> bool:
        """Whether it was surely better than always making the commonest move."""
        return self.figures["by_chance"] <= SURE

    def decide(self, turn: Turn, catalogue: Catalogue, encode: Encoder) -> TurnDecision:
        """Return what to do next in a turn with the tools of a catalogue.

        Dialogues with tools that are no longer there are left out.

        Raises:
            UsageError: too few are left.
            MissingExtraError: scikit-learn is not installed.
        """
        tools = {tool.schema.name: tool for tool in offered(catalogue.tools)}
        turns: list[JudgedTurn] = []
        for number, dialogue in enumerate(self.dialogues, 1):
            try:
                turns += judged_turns(dialogue, tools, f"dialogue {number}")
            except DataFileError:
                continue
        with one_thread():
            return fitted(turns, encode, self.seed).decide(turn)


def learn_moves(
    dialogues: Sequence[Dialogue], catalogue: Catalogue, encoder: str, encode: Encoder,
    seed: int = 0, place: str = "",
) -> LearntMoves:  # fmt: skip
    """Return what dialogues teach, and how well it tells the moves in some that it has not seen.

    Args:
        dialogues: to learn from.
        catalogue: the tools.
        encoder: its name, to learn with the same again.
        encode: texts to vectors.
        seed: of what is drawn.
        place: of the dialogues, for messages.

    Raises:
        DataFileError: one is wrong, or names a tool that is not there.
        UsageError: there are too few.
        MissingExtraError: scikit-learn is not installed.
    """
    tools = {tool.schema.name: tool for tool in offered(catalogue.tools)}
    turns = [
        turn for number, one in enumerate(dialogues, 1)
        for turn in judged_turns(one, tools, f"{place}: dialogue {number}")
    ]  # fmt: skip
    names = list(dict.fromkeys(turn.dialogue for turn in turns))
    _enough(turns)
    decided: list[tuple[NextMove, NextMove]] = []
    for part in range(FOLDS):
        held = set(names[part::FOLDS])
        asked = [turn for turn in turns if turn.dialogue in held]
        with one_thread():
            judge = fitted([t for t in turns if t.dialogue not in held], encode, seed)
            found = judge.decide_all([turn.turn for turn in asked])
        decided += [(one.move, d.move) for one, d in zip(asked, found, strict=True)]
    return LearntMoves(tuple(dialogues), encoder, seed, figures_of(decided))


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which numbers are computed by one thread.

    The models are small: on a machine with other work threads mostly wait for each other.

    Raises:
        MissingExtraError: scikit-learn is not installed, which brings threadpoolctl.
    """
    # Only what is loaded already is limited.
    load("sklearn.ensemble", "scikit-learn", "embeddings")
    limits: Any = load("threadpoolctl", "scikit-learn", "embeddings").threadpool_limits
    limited: AbstractContextManager[Any] = limits(limits=1)
    return limited


def fitted(turns: Sequence[JudgedTurn], encode: Encoder, seed: int) -> TurnJudge:
    """Return a judge that has learnt from turns.

    Raises:
        UsageError: they are too few, or too much alike.
        MissingExtraError: scikit-learn is not installed.
    """
    try:
        return TurnJudge(turns, encode, seed)
    except ValueError as error:
        raise UsageError(
            f"nothing can be learnt from these judged dialogues: {str(error).splitlines()[0]}; "
            "give more, with calls and with other moves"
        ) from None


def figures_of(decided: Sequence[tuple[NextMove, NextMove]]) -> dict[str, float]:
    """Return how well moves were told: of pairs of what was right and what was decided."""
    right = Counter(truth for truth, _ in decided)
    commonest = max(MOVES, key=lambda move: right[move])
    scores = []
    for move in (move for move in MOVES if right[move]):
        both = right[move] + sum(said is move for _, said in decided)
        scores.append(2 * sum(t is said is move for t, said in decided) / both)
    gained = sum(truth is said is not commonest for truth, said in decided)
    lost = sum(truth is commonest is not said for truth, said in decided)
    return {
        "turns": len(decided),
        "accuracy": sum(truth is said for truth, said in decided) / len(decided),
        "macro_f1": sum(scores) / len(scores),
        "commonest": right[commonest] / len(decided),
        "by_chance": _sign_test(gained, lost),
    }


def write_moves(path: Path, learnt: LearntMoves) -> None:
    """Write what was learnt.

    Raises:
        DataFileError: the file cannot be written.
    """
    record = {
        "form": FORM, "encoder": learnt.encoder, "seed": learnt.seed,
        "figures": dict(learnt.figures), "dialogues": list(learnt.dialogues),
    }  # fmt: skip
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def read_moves(path: Path) -> LearntMoves:
    """Return what a file holds that `write_moves` wrote.

    Raises:
        DataFileError: it cannot be read, or is no such file.
    """
    record: Any = read_json(path)
    try:
        if record["form"] != FORM:
            raise ValueError(f"its form is {record['form']!r}")
        figures = {str(name): float(value) for name, value in record["figures"].items()}
        dialogues = [dict(one) for one in record["dialogues"]]
        learnt = LearntMoves(tuple(dialogues), str(record["encoder"]), int(record["seed"]), figures)
        _ = learnt.better
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(
            f"{path}: is not what `hvr tools learn --turns … --out` writes: "
            f"{type(error).__name__} {error}"
        ) from None
    return learnt


def _enough(turns: Sequence[JudgedTurn]) -> None:
    dialogues = {turn.dialogue for turn in turns}
    calls = {turn.dialogue for turn in turns if turn.move is NextMove.CALL}
    if len(dialogues) < LEAST or len(calls) < LEAST // 2 or len(calls) == len(turns):
        raise UsageError(
            f"it takes at least {LEAST} judged dialogues, {LEAST // 2} of them with calls, and "
            f"some turns with other moves; these are {len(dialogues)}, {len(calls)} with calls"
        )


def _sign_test(gained: int, lost: int) -> float:
    """Return the chance of as many gains or more, if gains and losses were equally likely."""
    both = gained + lost
    return sum(math.comb(both, n) for n in range(gained, both + 1)) / 2**both if both else 1.0
