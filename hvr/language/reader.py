"""The reader of requests: from a sentence to a goal in a scene."""

from __future__ import annotations

from dataclasses import replace

from hvr.knowledge.ontology import Ontology
from hvr.language.goals import Goal, goal_of
from hvr.language.grammar import read
from hvr.language.lexicon import Lexicon
from hvr.language.saying import said
from hvr.language.taxonomy import Taxonomy
from hvr.language.vocabulary import load_lexicon
from hvr.pddl import Domain
from hvr.retrieval.inventory import Inventory
from hvr.values import cached_property


class Reader:
    """Reads requests by grammar and ontology.

    Args:
        ontology: words, task knowledge and preferences.
        domain: the actions.
        any_place: take it that everything that fits the hand can be put everywhere.
    """

    def __init__(self, ontology: Ontology, domain: Domain, *, any_place: bool = False) -> None:
        self.ontology = ontology
        self.domain = domain
        self._any_place = any_place

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The class hierarchy as language sees it."""
        return Taxonomy(self.ontology, any_place=self._any_place)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words."""
        return load_lexicon(self.ontology)

    def goal(self, request: str, inventory: Inventory) -> Goal:
        """Return the goal of a request in a scene.

        Raises:
            LanguageError: it was not understood.
            ImpossibleGoalError: it cannot be met in this scene.
        """
        meaning = read(request, self.lexicon, self.taxonomy)
        goal = goal_of(meaning, self.taxonomy, inventory, self.domain)
        return replace(goal, said=said(goal.stages, self.taxonomy, inventory, self.domain))
