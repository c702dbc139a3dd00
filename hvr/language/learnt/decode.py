"""From scores of slots to frames, the likeliest first, with a calibrated probability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.base.extras import load
from hvr.knowledge.roles import CARRIER, PORTABLE
from hvr.language.learnt.encoder import EXTRA, Array
from hvr.language.learnt.frames import KINDS, ONLY_PLACING, OTHER, PLACING, Frame
from hvr.language.learnt.head import POINTERS, FrameScores
from hvr.language.taxonomy import Taxonomy

_BEAM = 5
"""Classes of each slot that are combined with those of the others."""

_NONE = -1e4


@dataclass(frozen=True)
class Calibration:
    """How probabilities of slots make that of a frame: a logistic function of their logarithms.

    Args:
        here: weight of the logarithm among what the scene has.
        anywhere: weight of the logarithm among everything known.
        shift: what is added.
    """

    here: float = 1.0
    anywhere: float = 0.0
    shift: float = 0.0

    def probability(self, here: float, anywhere: float) -> float:
        """Return how probable it is that a frame is right."""
        z = self.here * here + self.anywhere * anywhere + self.shift
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, z))))


@dataclass(frozen=True)
class ScoredFrame:
    """A frame with the logarithms of its probability."""

    frame: Frame
    here: float
    anywhere: float


class Space:
    """The frames that can be said with the classes of a head.

    Args:
        classes: of the head, in their order.
        taxonomy: knows which of them can be carried, or carry, or be cut.
        restricted: only classes of the scene are compared.
    """

    def __init__(
        self, classes: tuple[str, ...], taxonomy: Taxonomy, *, restricted: bool = True
    ) -> None:
        self._np = load("numpy", "numpy", EXTRA)
        self._classes = classes
        self._restricted = restricted
        known = [taxonomy.ontology.has_class(c) for c in classes]
        pairs = list(zip(classes, known, strict=True))
        placed = {p for c in taxonomy.portable for p in taxonomy.places(c)}
        self._suited: Mapping[str, tuple[bool, ...]] = {
            "thing": tuple(k and taxonomy.plays(c, PORTABLE) for c, k in pairs),
            "place": tuple(k and c in placed for c, k in pairs),
            "carrier": tuple(k and taxonomy.plays(c, CARRIER) for c, k in pairs),
        }
        self._cut = frozenset(c for c, k in pairs if k and taxonomy.pieces(c))

    def ranked(self, scores: FrameScores, here: frozenset[str]) -> list[ScoredFrame]:
        """Return the frames that a scene's classes can fill, the likeliest first."""
        if not self._restricted:
            here = frozenset(self._classes)
        fills = {slot: list(self._filled(scores.pointers[slot], slot, here)) for slot in POINTERS}
        candidates = [
            candidate
            for kind, log in zip(KINDS, scores.kind, strict=True)
            for candidate in self._of_kind(kind, float(log), scores, fills)
        ]
        return sorted(candidates, key=lambda c: -round(c.here, 6))

    def _filled(
        self, pointers: Array, slot: str, here: frozenset[str]
    ) -> Iterator[tuple[str | None, float, float]]:
        """Yield the likeliest classes of a slot with their logarithms here and anywhere."""
        np = self._np
        able = [s and c in here for c, s in zip(self._classes, self._suited[slot], strict=True)]
        able.append(slot == "place")  # the last one is no class
        if not any(able):
            return
        anywhere = _log_softmax(np, pointers)
        in_scene = _log_softmax(np, np.where(able, pointers, _NONE))
        for i in np.argsort(-in_scene, kind="stable")[:_BEAM]:
            if able[i]:
                name = self._classes[i] if i < len(self._classes) else None
                yield name, float(in_scene[i]), float(anywhere[i])

    def _of_kind(
        self,
        kind: str,
        log: float,
        scores: FrameScores,
        fills: Mapping[str, list[tuple[str | None, float, float]]],
    ) -> Iterator[ScoredFrame]:
        if kind == OTHER:
            yield ScoredFrame(Frame(OTHER, ""), log, log)
            return
        nothing: list[tuple[str | None, float, float]] = [(None, 0.0, 0.0)]
        places = fills["place"] if kind in PLACING else nothing
        carriers = fills["carrier"] if kind == "stack" else nothing
        for thing, *logs in fills["thing"]:
            assert thing is not None
            for sliced in (False, True):
                if sliced and (kind == "slice" or thing not in self._cut):
                    continue
                cut = scores.sliced[sliced] if thing in self._cut and kind != "slice" else 0.0
                for place, *at in places:
                    if place is None and kind in ONLY_PLACING:
                        continue
                    for carrier, *on in carriers:
                        here, anywhere = (
                            log + cut + a + b + c for a, b, c in zip(logs, at, on, strict=True)
                        )
                        yield ScoredFrame(
                            Frame(kind, thing, place, carrier, sliced), here, anywhere
                        )


def _log_softmax(np: Any, scores: Array) -> Array:
    top = scores.max()
    return scores - top - np.log(np.exp(scores - top).sum())
