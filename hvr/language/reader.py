"""The reader of requests: from a sentence to a goal in a scene."""

from __future__ import annotations

from hvr.errors import AmbiguousError, ImpossibleGoalError, UsageError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.choosing import one_of
from hvr.language.goals import Goal, Stage, goal_of
from hvr.language.grammar import readings
from hvr.language.lexicon import Lexicon
from hvr.language.meaning import Meaning
from hvr.language.saying import in_order, said
from hvr.language.taxonomy import Taxonomy
from hvr.language.vocabulary import load_lexicon
from hvr.pddl import Domain
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

    def goal(self, request: str, inventory: Inventory, reading: int | None = None) -> Goal:
        """Return the goal of a request in a scene.

        Args:
            request: the sentence.
            inventory: what there is.
            reading: which of several readings is meant, from 1; None for the only one.

        Raises:
            LanguageError: it was not understood.
            AmbiguousError: it can be read in ways that end differently, and none was chosen.
            ImpossibleGoalError: it cannot be met in this scene.
        """
        goals = self.goals(request, inventory)
        if reading is not None and not 1 <= reading <= len(goals):
            raise UsageError(f"there is no reading {reading} of this: it has {len(goals)}")
        if len(goals) > 1 and reading is None:
            raise AmbiguousError(tuple(in_order(goal.said) for goal in goals))
        return goals[(reading or 1) - 1]

    def goals(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        """Return the goals that a request can mean in a scene, which all differ.

        Raises:
            LanguageError: it was not understood.
            ImpossibleGoalError: it cannot be met in this scene.
        """
        found: dict[tuple[Stage, ...], Goal] = {}
        refusals: list[ImpossibleGoalError] = []
        for choices in readings(request, self.lexicon, self.taxonomy):
            try:
                goal = one_of([self._in_scene(meaning, inventory) for meaning in choices])
            except ImpossibleGoalError as error:
                refusals.append(error)
                continue
            found.setdefault(goal.stages, goal)
        if not found:
            raise refusals[0]
        return tuple(
            goal.replace(said=said(goal.stages, self.taxonomy, inventory, self.domain))
            for goal in found.values()
        )

    def _in_scene(self, meaning: Meaning, inventory: Inventory) -> Goal | ImpossibleGoalError:
        """Return the goal of a meaning, or why it is impossible."""
        try:
            return goal_of(meaning, self.taxonomy, inventory, self.domain)
        except ImpossibleGoalError as error:
            return error
