"""The next move in a turn, judged by what was right in others: with its chances and the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hvr.base.extras import load
from hvr.tools.catalogue.schema import quoted
from hvr.tools.navigation.decision import NextMove
from hvr.tools.navigation.turns.needs import Chances, Encoder, ToolNeeds, Vectors
from hvr.tools.navigation.turns.signs import (
    KINDS,
    kind_of,
    left_open,
    manner,
    masked,
    nouns,
    required,
    spans,
)  # fmt: skip
from hvr.tools.navigation.turns.turn import MOVES, JudgedTurn, OfferedTool, Turn

ADMISSIBLE = 0.1
"""The chance from which a move is admissible: a language model may choose among such moves."""

FOLDS = 5
"""Parts of the dialogues; what is told of a part's texts is learnt from the others."""


@dataclass(frozen=True)
class TurnDecision:
    """What to do next in a turn.

    Args:
        move: the likeliest of the moves.
        why: a sentence for people.
        chances: of each move.
        needed: the tools that are needed most likely, with their chances.
    """

    move: NextMove
    why: str
    chances: Mapping[NextMove, float]
    needed: tuple[tuple[str, float], ...] = ()

    @property
    def admissible(self) -> tuple[NextMove, ...]:
        """The moves that may be chosen, the likeliest first."""
        ranked = sorted(self.chances, key=lambda move: -self.chances[move])
        return tuple(m for m in ranked if m is self.move or self.chances[m] >= ADMISSIBLE)


class TurnJudge:
    """Learns from judged turns, and judges others.

    Args:
        turns: to learn from; turns of one dialogue stay together.
        encode: texts to vectors, such as `TextVectors().encode`.
        seed: of what is drawn.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """

    def __init__(self, turns: Sequence[JudgedTurn], encode: Encoder, seed: int = 0) -> None:
        self._encode = encode
        self._needs = ToolNeeds(turns, encode, seed)
        labels = np.array([MOVES.index(one.move) for one in turns])
        asks = labels == MOVES.index(NextMove.ASK)
        dialogues = sorted({one.dialogue for one in turns})
        fold = {name: number % FOLDS for number, name in enumerate(dialogues)}
        parts = np.array([fold[one.dialogue] for one in turns])
        told = np.zeros((len(turns), 2))
        requests = [one.turn.request for one in turns]
        for part in sorted(set(parts)):
            inside = parts == part
            rest = _Wording([r for r, i in zip(requests, inside, strict=True) if not i],
                            asks[~inside], encode)  # fmt: skip
            told[inside] = rest.told([r for r, i in zip(requests, inside, strict=True) if i])
        self._wording = _Wording(requests, asks, encode)
        held = self._needs.held_out(parts.tolist())
        rows = np.array([
            self._row(one.turn, held[part], one.dialogue)[0]
            for one, part in zip(turns, parts.tolist(), strict=True)
        ])  # fmt: skip
        self._models = [model.fit(np.hstack([rows, told]), labels) for model in _models(seed)]

    def decide(self, turn: Turn) -> TurnDecision:
        """Return what to do next, the chances, and why."""
        return self.decide_all([turn])[0]

    def decide_all(self, turns: Sequence[Turn]) -> list[TurnDecision]:
        """Return the decisions in several turns; less work than one by one."""
        if not turns:
            return []
        seen = [self._row(turn, self._needs.chances) for turn in turns]
        told = self._wording.told([turn.request for turn in turns])
        full = np.hstack([np.array([row for row, _, _ in seen]), told])
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
        needed = _best(turn.outside, outside) if move is NextMove.FIND else _best(
            turn.at_hand, at_hand)  # fmt: skip
        return TurnDecision(move, _why(move, turn, needed), by_move, needed)

    def _row(
        self, turn: Turn, chances: Chances, dialogue: str = ""
    ) -> tuple[Vectors, Vectors, Vectors]:
        """Return the features of a turn, and the chances that tools at hand and outside serve."""
        # Together, since some of the features compare a tool with all others.
        found = chances(self._needs.features(turn, (*turn.at_hand, *turn.outside), dialogue))
        at_hand, outside = found[: len(turn.at_hand)], found[len(turn.at_hand) :]
        services = {tool.service for tool in turn.at_hand if tool.service}
        same = np.array([tool.service in services for tool in turn.outside], dtype=bool)
        beside = outside[same] if len(outside) else outside
        takes = np.array([required(tool.schema) for tool in turn.at_hand]).reshape(-1, len(KINDS))
        asked = (takes * at_hand[:, None]).sum(axis=0) if len(takes) else np.zeros(len(KINDS))
        stated, before = spans(turn.request), spans(" ".join(turn.earlier))
        row = [
            *_top(at_hand), *_top(outside), *_top(beside),
            _logit(_most(outside)) - _logit(_most(at_hand)),
            _logit(_most(beside)) - _logit(_most(at_hand)),
            float(turn.idle), float(not turn.text), min(len(turn.earlier), 5),
            *asked, *stated, *before[:3], *manner(turn.request),
            *left_open(turn.request, frozenset().union(*(nouns(t.schema) for t in turn.at_hand))),
            asked[KINDS.index("number")] - stated[1],
            asked[KINDS.index("file")] - stated[2] - stated[0],
            asked[KINDS.index("text")] - stated[0],
            asked[KINDS.index("name")] - stated[4] - stated[5] - stated[0],
        ]  # fmt: skip
        return np.array(row, dtype=np.float64), at_hand, outside


class _Wording:
    """Whether a request is worded like those after which something had to be asked for."""

    def __init__(self, requests: Sequence[str], asks: Vectors, encode: Encoder) -> None:
        text: Any = load("sklearn.feature_extraction.text", "scikit-learn", "embeddings")
        linear: Any = load("sklearn.linear_model", "scikit-learn", "embeddings")
        self._encode = encode
        self._words = text.TfidfVectorizer(
            ngram_range=(1, 3), min_df=2, sublinear_tf=True, token_pattern=r"\b\w+\b"
        )
        # Where nothing was asked for, or in every turn, wording tells nothing.
        self._telling = 0 < int(np.sum(asks)) < len(requests)
        if not self._telling:
            return
        counted = self._words.fit_transform([masked(request) for request in requests])
        balanced = {"class_weight": "balanced", "max_iter": 400}
        self._by_words = linear.LogisticRegression(C=20, **balanced).fit(counted, asks)
        self._by_vector = linear.LogisticRegression(C=5, **balanced).fit(encode(requests), asks)

    def told(self, requests: Sequence[str]) -> Vectors:
        """Return (requests, 2): how surely something is missing, by words and by meaning."""
        if not self._telling:
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
            max_iter=120, learning_rate=0.06, max_leaf_nodes=8, l2_regularization=2.0,
            min_samples_leaf=10, random_state=seed,
        ),
        ensemble.ExtraTreesClassifier(400, min_samples_leaf=2, random_state=seed),
    ]  # fmt: skip


def _top(chances: Vectors) -> list[float]:
    """Return the three largest chances as logits, and how many tools are needed in all."""
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
        return "No tool is likely to be of use: it is answered as it is."
    name, chance = needed[0]
    which = f"{quoted(name)} is needed most likely ({chance:.0%})"
    if move is NextMove.FIND:
        return f"{which}, and it is not at hand."
    if move is NextMove.ASK:
        tool = next(one.schema for one in turn.at_hand if one.schema.name == name)
        kinds = sorted({kind_of(p) for p in tool.takes if p.required})
        takes = f" (it takes: {', '.join(kinds)})" if kinds else ""
        return f"{which}{takes}, and the request leaves open what it needs."
    return f"{which}, it is at hand, and what it needs is stated."
