"""The learnt reader: the likeliest frame that a scene allows, with its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hvr.base.extras import load
from hvr.errors import ImpossibleGoalError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal, goal_of
from hvr.language.learnt.decode import Calibration, Space
from hvr.language.learnt.encoder import EXTRA, SentenceEncoder
from hvr.language.learnt.frames import OTHER, Frame, beyond, meaning_of
from hvr.language.learnt.head import Head, Labels, labels_of
from hvr.language.lexicon import Lexicon
from hvr.language.paraphrase import said
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Domain
from hvr.values import cached_property

_TRIED = 6
"""Frames that are tried before it is given up: those below are never likely."""

_LEAST = 0.02
"""A frame less likely than this is not worth the try."""


@dataclass(frozen=True)
class Reading:
    """What the learnt reader makes of a request.

    Args:
        frame: what it means; of the kind `OTHER` where no frame says it.
        goal: in the scene; None where no likely frame can be met there.
        p: how probable it is that the frame is right.
        refusal: why the likeliest frame cannot be met here; empty where it can.
    """

    frame: Frame
    goal: Goal | None
    p: float
    refusal: str = ""


class LearntReader:
    """Reads requests by the encoder and its head.

    Args:
        ontology: the classes and their labels.
        domain: the actions.
        lexicon: knows what verbs bring about.
        taxonomy: the classes as language sees them.
        restricted: only classes of the scene are compared.

    Raises:
        MissingExtraError: the extra `language` is not installed.
        DataFileError: the encoder or the head cannot be read.
    """

    def __init__(
        self,
        ontology: Ontology,
        domain: Domain,
        lexicon: Lexicon,
        taxonomy: Taxonomy,
        *,
        restricted: bool = True,
    ) -> None:
        self.ontology = ontology
        self.domain = domain
        self.lexicon = lexicon
        self.taxonomy = taxonomy
        self.head = Head(SentenceEncoder())
        self._space = Space(self.head.classes, taxonomy, restricted=restricted)
        self._calibration = Calibration(**self.head.about.get("calibration", {}))

    @cached_property
    def _labels(self) -> Labels:
        return labels_of(self.head, self.ontology)

    @cached_property
    def _limits(self) -> Any:
        return load("threadpoolctl", "threadpoolctl", EXTRA).ThreadpoolController()

    def read(self, request: str, inventory: Inventory) -> Reading:
        """Return the likeliest reading of a request in a scene.

        Raises:
            LanguageError: the request is empty or far too long.
        """
        if beyond(request):
            return Reading(Frame(OTHER, ""), None, 0.0)
        with self._limits.limit(limits=1):
            scores = self.head.scores(request, self._labels)
        candidates = self._space.ranked(scores, frozenset(inventory.classes.values()))
        refusal = ""
        for candidate in candidates[:_TRIED]:
            frame = candidate.frame
            p = round(self._calibration.probability(candidate.here, candidate.anywhere), 3)
            if frame.kind == OTHER or p < _LEAST:
                return Reading(frame, None, p, refusal)
            try:
                return Reading(frame, self._goal(frame, request, inventory), p, refusal)
            except ImpossibleGoalError as error:
                refusal = refusal or str(error)
        return Reading(candidates[0].frame, None, 0.0, refusal)

    def _goal(self, frame: Frame, request: str, inventory: Inventory) -> Goal:
        meaning = meaning_of(frame, request, self.taxonomy)
        goal = goal_of(meaning, self.taxonomy, inventory, self.domain)
        return goal.replace(said=said(goal.stages, self.taxonomy, inventory, self.domain))
