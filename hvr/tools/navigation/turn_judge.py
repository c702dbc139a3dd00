"""Prediction of the next move in a turn of a dialogue, learnt from judged dialogues."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hvr.base.files import write_whole
from hvr.base.registry import load
from hvr.base.texts import read_json
from hvr.errors import DataFileError, UsageError
from hvr.tools.catalogue.schema import Catalogue, quoted
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.turns import (
    KINDS,
    MOVES,
    Chances,
    Dialogue,
    Encoder,
    JudgedTurn,
    OfferedTool,
    ToolNeeds,
    Turn,
    Vectors,
    judged_turns,
    kind_of,
    left_open,
    manner,
    masked,
    nouns,
    offered,
    required,
    spans,
)
from hvr.tools.navigation.words.reading import ReadRequest

ADMISSIBLE = 0.1
"""Minimum probability at which a language model may choose a move."""

FOLDS = 5
"""Number of folds; features of the texts in a fold are learnt from the other folds."""


@dataclass(frozen=True)
class TurnDecision:
    """The predicted next move, with a probability for each move.

    Args:
        why: Reason, as a sentence.
        needed: The three most likely tools with their probabilities, among the tools at hand or, if
            the move is FIND, among the others.
    """

    move: NextMove
    why: str
    chances: Mapping[NextMove, float]
    needed: tuple[tuple[str, float], ...] = ()

    @property
    def admissible(self) -> tuple[NextMove, ...]:
        """The moves from which a language model may choose, most likely first."""
        ranked = sorted(self.chances, key=lambda move: -self.chances[move])
        return tuple(m for m in ranked if m is self.move or self.chances[m] >= ADMISSIBLE)


class TurnJudge:
    """A classifier of the next move, trained on judged turns.

    Args:
        turns: Training turns. Features are cross-validated, with each dialogue in one fold.
        encode: Function that encodes texts as vectors, such as `TextVectors().encode`.
    """

    def __init__(self, turns: Sequence[JudgedTurn], encode: Encoder, seed: int = 0) -> None:
        self._encode = encode
        self._needs = ToolNeeds(turns, encode, seed)
        labels = np.array([MOVES.index(one.move) for one in turns])
        asks = labels == MOVES.index(NextMove.ASK)
        dialogues = sorted({one.dialogue for one in turns})
        fold = {name: number % FOLDS for number, name in enumerate(dialogues)}
        parts = np.array([fold[one.dialogue] for one in turns])
        wording = np.zeros((len(turns), 2))
        requests = [one.turn.request for one in turns]
        for part in sorted(set(parts)):
            inside = parts == part
            rest = _Wording(
                [r for r, i in zip(requests, inside, strict=True) if not i], asks[~inside], encode
            )
            wording[inside] = rest.scores([r for r, i in zip(requests, inside, strict=True) if i])
        self._wording = _Wording(requests, asks, encode)
        # Features from models trained on the same dialogue would be overconfident.
        held = self._needs.held_out(parts.tolist())
        rows = np.array(
            [
                self._row(one.turn, held[part], one.dialogue)[0]
                for one, part in zip(turns, parts.tolist(), strict=True)
            ]
        )
        self._models = [model.fit(np.hstack([rows, wording]), labels) for model in _models(seed)]

    def decide(self, turn: Turn) -> TurnDecision:
        return self.decide_all([turn])[0]

    def decide_all(self, turns: Sequence[Turn]) -> list[TurnDecision]:
        if not turns:
            return []
        seen = [self._row(turn, self._needs.chances) for turn in turns]
        wording = self._wording.scores([turn.request for turn in turns])
        full = np.hstack([np.array([row for row, _, _ in seen]), wording])
        chances = np.mean([model.predict_proba(full) for model in self._models], axis=0)
        return [
            self._decision(turn, some, at_hand, outside)
            for turn, some, (_, at_hand, outside) in zip(turns, chances, seen, strict=True)
        ]

    def _decision(
        self, turn: Turn, chances: Vectors, at_hand: Vectors, outside: Vectors
    ) -> TurnDecision:
        classes = self._models[0].classes_
        by_move = {MOVES[int(c)]: float(p) for c, p in zip(classes, chances, strict=True)}
        move = max(by_move, key=lambda one: by_move[one])
        needed = (
            _best(turn.outside, outside) if move is NextMove.FIND else _best(turn.at_hand, at_hand)
        )
        return TurnDecision(move, _why(move, turn, needed), by_move, needed)

    def _row(
        self, turn: Turn, chances: Chances, dialogue: str = ""
    ) -> tuple[Vectors, Vectors, Vectors]:
        # Compute the features of all tools together, since some compare a tool with all others.
        found = chances(self._needs.features(turn, (*turn.at_hand, *turn.outside), dialogue))
        at_hand, outside = found[: len(turn.at_hand)], found[len(turn.at_hand) :]
        services = {tool.service for tool in turn.at_hand if tool.service}
        same = np.array([tool.service in services for tool in turn.outside], dtype=bool)
        beside = outside[same] if len(outside) else outside
        takes = np.array([required(tool.schema) for tool in turn.at_hand]).reshape(-1, len(KINDS))
        asked = (takes * at_hand[:, None]).sum(axis=0) if len(takes) else np.zeros(len(KINDS))
        stated, before = spans(turn.request), spans(" ".join(turn.earlier))
        row = [
            *_top(at_hand),
            *_top(outside),
            *_top(beside),
            _logit(_most(outside)) - _logit(_most(at_hand)),
            _logit(_most(beside)) - _logit(_most(at_hand)),
            float(turn.idle),
            float(not turn.text),
            min(len(turn.earlier), 5),
            *asked,
            *stated,
            *before[:3],
            *manner(turn.request),
            *left_open(turn.request, frozenset().union(*(nouns(t.schema) for t in turn.at_hand))),
            asked[KINDS.index("number")] - stated[1],
            asked[KINDS.index("file")] - stated[2] - stated[0],
            asked[KINDS.index("text")] - stated[0],
            asked[KINDS.index("name")] - stated[4] - stated[5] - stated[0],
        ]
        return np.array(row, dtype=np.float64), at_hand, outside


class _Wording:
    """Predicts from similar requests whether a request lacks a value that the user must supply."""

    def __init__(self, requests: Sequence[str], asks: Vectors, encode: Encoder) -> None:
        text: Any = load("sklearn.feature_extraction.text", "scikit-learn", "embeddings")
        linear: Any = load("sklearn.linear_model", "scikit-learn", "embeddings")
        self._encode = encode
        self._words = text.TfidfVectorizer(
            ngram_range=(1, 3), min_df=2, sublinear_tf=True, token_pattern=r"\b\w+\b"
        )
        # If no turn or every turn needed a question, wording carries no information.
        self._informative = 0 < int(np.sum(asks)) < len(requests)
        if not self._informative:
            return
        counted = self._words.fit_transform([masked(request) for request in requests])
        balanced = {"class_weight": "balanced", "max_iter": 400}
        self._by_words = linear.LogisticRegression(C=20, **balanced).fit(counted, asks)
        self._by_vector = linear.LogisticRegression(C=5, **balanced).fit(encode(requests), asks)

    def scores(self, requests: Sequence[str]) -> Vectors:
        """Return two scores per request, lexical and semantic; positive if a value is missing."""
        if not self._informative:
            return np.zeros((len(requests), 2))
        counted = self._words.transform([masked(request) for request in requests])
        return np.stack(
            [
                self._by_words.decision_function(counted),
                self._by_vector.decision_function(self._encode(requests)),
            ],
            axis=1,
        )


def _models(seed: int) -> list[Any]:
    ensemble = load("sklearn.ensemble", "scikit-learn", "embeddings")
    return [
        ensemble.HistGradientBoostingClassifier(
            max_iter=120,
            learning_rate=0.06,
            max_leaf_nodes=8,
            l2_regularization=2.0,
            min_samples_leaf=10,
            random_state=seed,
        ),
        ensemble.ExtraTreesClassifier(400, min_samples_leaf=2, random_state=seed),
    ]


def _top(chances: Vectors) -> list[float]:
    ranked = [*sorted(chances, reverse=True), 0.0, 0.0, 0.0]
    return [*map(_logit, ranked[:3]), float(np.sum(chances))]


def _most(chances: Vectors) -> float:
    return float(chances.max()) if len(chances) else 0.0


def _logit(chance: float) -> float:
    chance = min(max(float(chance), 1e-5), 1 - 1e-5)
    return float(np.log(chance / (1 - chance)))


def _best(tools: Sequence[OfferedTool], chances: Vectors) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-chances)[:3]
    return tuple((tools[int(n)].schema.name, float(chances[n])) for n in order)


def _why(move: NextMove, turn: Turn, needed: Sequence[tuple[str, float]]) -> str:
    if not needed or move is NextMove.ANSWER:
        return "Probably no tool is needed."
    name, chance = needed[0]
    which = f"{quoted(name)} is most likely needed ({chance:.0%})"
    if move is NextMove.FIND:
        return f"{which}, but it is not at hand."
    if move is NextMove.ASK:
        tool = next(one.schema for one in turn.at_hand if one.schema.name == name)
        kinds = sorted({kind_of(p) for p in tool.takes if p.required})
        takes = f" (it takes: {', '.join(kinds)})" if kinds else ""
        return f"{which}{takes}, but the request does not state its inputs."
    return f"{which}, it is at hand, and its inputs are stated."


# Opinion on a reading -----------------------------------------------------------------------------
# Judged dialogues give an opinion on a request that was read without a language model.
#
# Only calls of a proven plan are made. The opinion can hold back calls, report that no tool serves
# the request, or pick one of the candidate tools. It adds neither tools nor values.

MIN_TOOL_PROBABILITY = 0.5
"""Minimum probability of a tool that counts as needed."""
MIN_PROBABILITY_RATIO = 1.25
"""Minimum ratio of the probabilities of the best and the second-best tool."""


@dataclass(frozen=True)
class WeighedRequest:
    """A reading of a request, combined with the prediction learnt from judged dialogues.

    Args:
        read: Reading of the request; if its words leave the move open, the prediction decides.
        doubted: Whether the user must confirm the reading before any call is made.
        opinion: The prediction, if any.
    """

    read: ReadRequest
    doubted: bool = False
    opinion: TurnDecision | None = None


def with_dialogue_opinion(
    read: ReadRequest, opinion: TurnDecision | None, for_tool: Callable[[str], ReadRequest]
) -> WeighedRequest:
    """Combine a reading with the prediction learnt from judged dialogues.

    The prediction chooses the move if the reading has no request; otherwise, it can only put the
    reading in doubt. `for_tool` reads the request again for a given tool.
    """
    if opinion is None or read.move in (NextMove.ANSWER, NextMove.FIND):
        return WeighedRequest(read)
    chances = ", ".join(f"{move.value} {opinion.chances[move]:.0%}" for move in opinion.admissible)
    text = f"Judged dialogues say: {chances}. {opinion.why}"
    if read.request is not None:
        # The plan decides between CALL and ASK; if both are unlikely, the reading is in doubt.
        doubted = not {NextMove.CALL, NextMove.ASK} & set(opinion.admissible)
        return WeighedRequest(replace(read, why=f"{read.why} {text}"), doubted, opinion)
    if opinion.move in (NextMove.ANSWER, NextMove.FIND):
        held = replace(read, why=text, move=opinion.move, questions=())
        return WeighedRequest(held, opinion=opinion)
    meant = _meant(opinion)
    found = for_tool(meant) if meant in read.tools else read
    return WeighedRequest(replace(found, why=f"{found.why} {text}"), opinion=opinion)


def _meant(opinion: TurnDecision) -> str:
    if not opinion.needed:
        return ""
    (first, chance), *others = opinion.needed
    clear = all(other * MIN_PROBABILITY_RATIO <= chance for _, other in others)
    return first if chance >= MIN_TOOL_PROBABILITY and clear else ""


# Learnt moves -------------------------------------------------------------------------------------
# The file contains the judged dialogues and their scores. The classifier is retrained when the file
# is read, so nothing in the file is executed or unpickled.

FORM = "hvr judged dialogues 1"
MIN_DIALOGUES = 20
"""Minimum number of dialogues for training and cross-validation."""
MAX_P_VALUE = 0.05
"""Maximum p-value of the sign test against the most common move."""


@dataclass(frozen=True)
class LearntMoves:
    """Judged dialogues; `figures` has the cross-validated measures of `figures_of`."""

    dialogues: tuple[Dialogue, ...]
    encoder: str
    seed: int
    figures: Mapping[str, float]

    @property
    def better(self) -> bool:
        """Whether predictions are significantly better than the most common move (sign test)."""
        return self.figures["by_chance"] <= MAX_P_VALUE

    def decide(self, turn: Turn, catalogue: Catalogue, encode: Encoder) -> TurnDecision:
        """Train the classifier and return its decision for a turn.

        Only judged dialogues whose tools are all in the catalogue are used.

        Raises:
            UsageError: Too few judged dialogues can be used.
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
    dialogues: Sequence[Dialogue],
    catalogue: Catalogue,
    encoder: str,
    encode: Encoder,
    seed: int = 0,
    place: str = "",
) -> LearntMoves:
    """Learn from judged dialogues, and measure the accuracy by cross-validation.

    Args:
        encoder: Name of the encoder, which is recorded.
        place: Source of the dialogues, for error messages.

    Raises:
        UsageError: There are too few dialogues, or all turns have the same move.
        DataFileError: A dialogue is invalid.
    """
    tools = {tool.schema.name: tool for tool in offered(catalogue.tools)}
    turns = [
        turn
        for number, one in enumerate(dialogues, 1)
        for turn in judged_turns(one, tools, f"{place}: dialogue {number}")
    ]
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
    """Return a context that limits numerical libraries to one thread.

    The models are so small that, on a busy machine, threads mostly wait for each other.
    """
    # threadpoolctl limits only libraries that are already loaded.
    load("sklearn.ensemble", "scikit-learn", "embeddings")
    limits: Any = load("threadpoolctl", "scikit-learn", "embeddings").threadpool_limits
    limited: AbstractContextManager[Any] = limits(limits=1)
    return limited


def fitted(turns: Sequence[JudgedTurn], encode: Encoder, seed: int) -> TurnJudge:
    """Return a classifier trained on turns.

    Raises:
        UsageError: There are too few turns, or all have the same move.
    """
    try:
        return TurnJudge(turns, encode, seed)
    except ValueError as error:
        raise UsageError(
            f"cannot learn from these judged dialogues: {str(error).splitlines()[0]}; give more, "
            "with calls and with other moves"
        ) from None


def figures_of(decided: Sequence[tuple[NextMove, NextMove]]) -> dict[str, float]:
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
    record = {
        "form": FORM,
        "encoder": learnt.encoder,
        "seed": learnt.seed,
        "figures": dict(learnt.figures),
        "dialogues": list(learnt.dialogues),
    }
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def read_moves(path: Path) -> LearntMoves:
    """Read learnt moves from a file.

    Raises:
        DataFileError: The file cannot be read, or has another format.
    """
    record: Any = read_json(path)
    try:
        if record["form"] != FORM:
            raise ValueError(f"expected format {FORM!r}, found {record['form']!r}")
        figures = {str(name): float(value) for name, value in record["figures"].items()}
        dialogues = [dict(one) for one in record["dialogues"]]
        learnt = LearntMoves(tuple(dialogues), str(record["encoder"]), int(record["seed"]), figures)
        _ = learnt.better
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(
            f"{path} was not written by `hvr tools learn --turns … --out` "
            f"({type(error).__name__}: {error})"
        ) from None
    return learnt


def _enough(turns: Sequence[JudgedTurn]) -> None:
    dialogues = {turn.dialogue for turn in turns}
    calls = {turn.dialogue for turn in turns if turn.move is NextMove.CALL}
    if (
        len(dialogues) < MIN_DIALOGUES
        or len(calls) < MIN_DIALOGUES // 2
        or len(calls) == len(turns)
    ):
        raise UsageError(
            f"expected at least {MIN_DIALOGUES} judged dialogues, {MIN_DIALOGUES // 2} of them "
            "with calls, and some turns with other moves; found "
            f"{len(dialogues)}, {len(calls)} with calls"
        )


def _sign_test(gained: int, lost: int) -> float:
    both = gained + lost
    return sum(math.comb(both, n) for n in range(gained, both + 1)) / 2**both if both else 1.0
