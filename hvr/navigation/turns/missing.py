"""How likely a value that a turn needs is missing: neither said, nor known from calls before."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hvr.extras import load
from hvr.navigation.decision import NextMove
from hvr.navigation.turns.stated import places
from hvr.navigation.turns.turn import JudgedTurn, OfferedTool, Turn
from hvr.navigation.turns.value_reader import ValueReader, parameter_text
from hvr.tools.catalogue.schema import ToolParameter

if TYPE_CHECKING:
    from hvr.navigation.turns.value_network import ValueExample

Vectors = NDArray[Any]
Needs = Sequence[tuple[int, float, OfferedTool, ToolParameter]]
"""Required parameters: rank and chance of their tool, it, and the parameter."""

TOOLS, LEAST = 5, 0.04
"""The parameters of so many tools are looked at, if they are needed with such a chance."""

TAKEN_OUT = 2
"""Requests without a value that are made from one with it."""

COLUMNS = 3
_UNSAID = -6.0
"""The log odds that nothing states a value."""


class MissingValues:
    """A model of which values are missing, by what requests stated when tools were called.

    Args:
        turns: with their calls; those after which something had to be asked for with the answer.
        chances: of the tools at hand in each turn, learnt from turns of other parts.
        parts: of the turns, by dialogue.
        reader: tells whether texts state values; it learns further from calls, what is told of a
            part's turns from those of the others.
        seed: of what is drawn.
    """

    def __init__(
        self, turns: Sequence[JudgedTurn], chances: Sequence[Vectors], parts: Sequence[int],
        reader: ValueReader, seed: int = 0,
    ) -> None:  # fmt: skip
        readers = {
            part: reader.further(_examples(turns, parts, part), seed) for part in sorted(set(parts))
        }
        self._reader = reader.further(_examples(turns, parts, None), seed)
        self._usual = _Usual(turns, [readers[part] for part in parts])
        rows, missing, owners = [], [], []
        for number, (one, some) in enumerate(zip(turns, chances, strict=True)):
            needs = needed(one.turn, some)
            rows.append(self._rows(one.turn, needs, readers[parts[number]], one.dialogue))
            asked = _asked_for(one)
            missing += [
                (tool.schema.name, parameter.name) in asked for _, _, tool, parameter in needs
            ]
            owners += [number] * len(needs)
        pairs, labels, owner = np.concatenate(rows), np.array(missing, bool), np.array(owners, int)
        part = np.array(parts)[owner]
        told = np.zeros(len(pairs))
        for each in sorted(set(parts)):
            inside = part == each
            told[inside] = _told(_fitted(pairs[~inside], labels[~inside]), pairs[inside])
        self._model = _fitted(pairs, labels)
        self.held_out = np.array([_summed(told[owner == n]) for n in range(len(turns))])

    def told(self, turn: Turn, chances: Vectors) -> list[float]:
        """Return three numbers: of the likeliest missing value, of any, and how many.

        Args:
            turn: what is asked for.
            chances: that each tool at hand is needed.
        """
        return _summed(_told(self._model, self._rows(turn, needed(turn, chances), self._reader)))

    def _rows(self, turn: Turn, needs: Needs, reader: ValueReader, dialogue: str = "") -> Vectors:
        """Return what is known of each needed value; see the names in the code."""
        if not needs:
            return np.zeros((0, 14))
        texts = list(dict.fromkeys([turn.request, *turn.earlier]))
        stated = reader.stated(texts, [(tool, p) for _, _, tool, p in needs])
        before = stated[1:].max(axis=0) if len(texts) > 1 else np.full(len(needs), _UNSAID)
        rows = []
        for (rank, chance, tool, parameter), now, then in zip(
            needs, stated[0], before, strict=True
        ):
            share, usual = self._usual.of(tool.schema.name, parameter.name, dialogue)
            below = (float((usual < now).sum()) + 0.5) / (len(usual) + 1)
            rows.append([
                chance, rank, now, then, share, np.log1p(len(usual)), below,
                now - usual.sum() / (len(usual) + 1), chance * share / (1 + np.exp(now)),
                chance * share * (1 - below), parameter.name.lower() in turn.known,
                len(turn.earlier), turn.idle, len(turn.request.split()),
            ])  # fmt: skip
        return np.array(rows, dtype=np.float64)


class _Usual:
    """What was stated of parameters when their tools were called."""

    def __init__(self, turns: Sequence[JudgedTurn], readers: Sequence[ValueReader]) -> None:
        self._stated: dict[tuple[str, str], list[tuple[str, bool]]] = {}
        self._scores: dict[tuple[str, str], list[tuple[str, float]]] = {}
        seen: set[tuple[str, str]] = set()
        for one, reader in zip(turns, readers, strict=True):
            if one.move is not NextMove.CALL:
                continue
            used = [t for t in one.turn.at_hand if t.schema.name in one.used]
            pairs = [(tool, parameter) for tool in used for parameter in tool.schema.takes]
            scores = reader.stated([one.turn.request], pairs)[0]
            for (tool, parameter), score in zip(pairs, scores, strict=True):
                key = tool.schema.name, parameter.name
                self._scores.setdefault(key, []).append((one.dialogue, float(score)))
            if (one.dialogue, one.turn.request) in seen:
                continue  # another variant of the same dialogue
            seen.add((one.dialogue, one.turn.request))
            for key, values in _values(one):
                said = bool(places(one.turn.request, values))
                self._stated.setdefault(key, []).append((one.dialogue, said))

    def of(self, tool: str, parameter: str, dialogue: str) -> tuple[float, Vectors]:
        """Return the share of calls whose request stated it, and what the reader told of them.

        Args:
            tool: its name.
            parameter: its name.
            dialogue: whose turns are left out.
        """
        key = tool, parameter
        said = [one for name, one in self._stated.get(key, ()) if name != dialogue]
        scores = [one for name, one in self._scores.get(key, ()) if name != dialogue]
        return (sum(said) + 0.5) / (len(said) + 1), np.array(scores)


def needed(turn: Turn, chances: Vectors) -> Needs:
    """Return the required parameters of the tools at hand that are needed most likely."""
    ranked = [int(n) for n in np.argsort(-chances)[:TOOLS] if chances[n] > LEAST]
    return [
        (rank, float(chances[place]), turn.at_hand[place], parameter)
        for rank, place in enumerate(ranked)
        for parameter in turn.at_hand[place].schema.takes
        if parameter.required
    ]


def _examples(
    turns: Sequence[JudgedTurn], parts: Sequence[int], left_out: int | None
) -> list[ValueExample]:
    """Return requests with and without the values of their calls, but for those of a part."""
    from hvr.navigation.turns.value_network import ValueExample, without

    made: dict[ValueExample, None] = {}
    for one, part in zip(turns, parts, strict=True):
        if one.move is not NextMove.CALL or part == left_out or not one.turn.text:
            continue
        tools = {tool.schema.name: tool for tool in one.turn.at_hand}
        for (name, parameter), values in _values(one):
            taken = {p.name: p for p in tools[name].schema.takes} if name in tools else {}
            if parameter not in taken:
                continue
            text = one.turn.text
            about = parameter_text(parameter, taken[parameter].description)
            spans = tuple(places(text, values))
            made[ValueExample(text, tools[name].text, about, spans)] = None
            draw = random.Random(f"{name} {parameter} {text}")
            for _ in range(TAKEN_OUT if spans else 0):
                less = without(text, spans, parameter, draw)
                made[ValueExample(less, tools[name].text, about, ())] = None
    return [one for one in made if one.text]


def _values(one: JudgedTurn) -> Iterator[tuple[tuple[str, str], list[Any]]]:
    """Give each tool and parameter of a turn's calls with its values."""
    values: dict[tuple[str, str], list[Any]] = {}
    for call in one.calls:
        for name, value in call.arguments.items():
            values.setdefault((call.tool, name), []).append(value)
    yield from values.items()


def _asked_for(one: JudgedTurn) -> frozenset[tuple[str, str]]:
    """Return tools and parameters whose values the answer states, and the request does not."""
    if one.move is not NextMove.ASK:
        return frozenset()
    return frozenset(
        key for key, values in _values(one)
        if places(one.answer, values) and not places(one.turn.request, values)
    )  # fmt: skip


def _fitted(pairs: Vectors, missing: Vectors) -> Any:
    if missing.all() or not missing.any():
        return float(missing.mean()) if len(missing) else 0.0
    linear: Any = load("sklearn.linear_model", "scikit-learn", "embeddings")
    scaling: Any = load("sklearn.preprocessing", "scikit-learn", "embeddings")
    joined: Any = load("sklearn.pipeline", "scikit-learn", "embeddings")
    model = joined.make_pipeline(
        scaling.StandardScaler(), linear.LogisticRegression(C=0.3, max_iter=500)
    )
    return model.fit(pairs, missing)


def _told(model: Any, pairs: Vectors) -> Vectors:
    if not len(pairs):
        return np.zeros(0)
    if isinstance(model, float):
        return np.full(len(pairs), model)
    return np.asarray(model.predict_proba(pairs)[:, 1])


def _summed(chances: Vectors) -> list[float]:
    if not len(chances):
        return [0.0] * COLUMNS
    return [float(chances.max()), float(1 - np.prod(1 - chances)), float(chances.sum())]
