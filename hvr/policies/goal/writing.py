"""Ask a model for a goal, check it, and send back what is wrong.

request ─▶ predicates, kinds, knowledge ─▶ goal ─▶ words, types, affordances
    ─▶ already so? ─▶ a plan? ─▶ the goal said back in words
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hvr.errors import GroundingLimitError, ImpossibleGoalError, PddlError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.language.goals import Goal, Stage, end_conditions, end_predicates
from hvr.language.saying import said
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Task, TypedName, parse_formula
from hvr.policies.goal.answer import SCHEMA, GoalAnswer, read_goal
from hvr.policies.goal.checking import CheckedGoal, check_goal
from hvr.policies.goal.forgotten import forgotten
from hvr.policies.goal.formula import constraints, stage_conditions
from hvr.policies.goal.prompt import values, written
from hvr.policies.goal.words import GoalWords
from hvr.policies.llm.dialogue import Dialogue

CORRECTIONS = 2
"""Most corrections of a goal: a request costs 1 to 3 calls."""

ALREADY = (
    "all of this is so already, so that nothing would be done: say what else the request asks for, "
    "or write the same goal again if it asks for nothing else"
)

FORGOTTEN = "the request names what the goal does not speak of,"
IF_RIGHT = "say of it what is asked, or write the same goal again if nothing is missing"

TOO_MANY = (
    "there are too many ways to choose these things together: name the objects themselves "
    "where it does not matter which is meant, or write fewer things into a stage"
)


@dataclass(frozen=True)
class GoalDraft:
    """An answer of the model and what became of it.

    Args:
        answer: as the model wrote it.
        problem: what is wrong with it, as it was sent back; empty when nothing is.
        goal: the goal that it makes; None where its words make none.
    """

    answer: GoalAnswer
    problem: str
    goal: Goal | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "answer": written(self.answer),
            "problem": self.problem,
            "goal": [stage.wanted for stage in self.goal.stages] if self.goal else None,
            "said": list(self.goal.said) if self.goal else [],
        }


class GoalWriting:
    """The writing of one goal.

    Args:
        dialogue: asks the model.
        request: the request in words.
        graph: the world.
        taxonomy: the classes.
        inventory: the objects and facts of the world.
        words: the words of goals in it.
        reachable: raises an `ImpossibleGoalError` where it is proven that a goal has no plan.
    """

    def __init__(
        self,
        dialogue: Dialogue,
        request: str,
        graph: KnowledgeGraph,
        words: GoalWords,
        reachable: Callable[[Goal], None],
    ) -> None:
        self._dialogue = dialogue
        self._request = request
        self._graph = graph
        self._words = words
        self._reachable = reachable
        self.drafts: list[GoalDraft] = []
        """What the model answered, in order."""

    def write(self) -> Goal:
        """Return the goal.

        Raises:
            ImpossibleGoalError: the model says so, or its goal is still wrong after corrections.
            LLMError: the model did not answer.
        """
        told = values(self._request, self._graph, self._words)
        answer = read_goal(self._dialogue.ask_json("goal", SCHEMA, **told))
        while True:
            draft = self._judged(answer)
            self.drafts.append(draft)
            if draft.goal is not None and not draft.problem:
                return draft.goal
            if len(self.drafts) > CORRECTIONS or self._final(draft):
                raise ImpossibleGoalError(self._refusal(draft))
            data = self._dialogue.ask_json(
                "correct_goal", SCHEMA, **told, goal=written(answer), problem=draft.problem
            )
            answer = read_goal(data)

    def _final(self, draft: GoalDraft) -> bool:
        """Whether there is nothing to correct: the model gives a reason why there is no goal."""
        return bool(draft.answer.cannot and not draft.answer.stages)

    def _refusal(self, draft: GoalDraft) -> str:
        if self._final(draft):
            return f"the model finds no goal in this request: {draft.answer.cannot}"
        times = len(self.drafts)
        return f"the model's goal is still wrong after {times - 1} corrections: {draft.problem}"

    def _judged(self, answer: GoalAnswer) -> GoalDraft:
        if answer.cannot and not answer.stages:
            return GoalDraft(answer, answer.cannot)
        checked = check_goal(answer, self._words)
        if checked.problems:
            return GoalDraft(answer, "\n".join(checked.problems))
        try:
            goal = self._goal(answer, checked)
        except PddlError as error:
            return GoalDraft(answer, f"the goal is no condition that this world knows: {error}")
        again = any(draft.problem == ALREADY for draft in self.drafts)
        if not again and all(self._holds(stage) for stage in goal.stages):
            return GoalDraft(answer, ALREADY, goal)
        names = forgotten(self._request, answer, self._words)
        asked = any(draft.problem.startswith(FORGOTTEN) for draft in self.drafts)
        if names and not asked and len(self.drafts) < CORRECTIONS:
            return GoalDraft(answer, f"{FORGOTTEN} {', '.join(names)}: {IF_RIGHT}", goal)
        try:
            self._reachable(goal)
        except ImpossibleGoalError as error:
            return GoalDraft(answer, str(error), goal)
        except GroundingLimitError:
            return GoalDraft(answer, TOO_MANY, goal)
        return GoalDraft(answer, "", goal)

    def _goal(self, answer: GoalAnswer, checked: CheckedGoal) -> Goal:
        taxonomy, inventory = self._words.taxonomy, self._words.inventory
        throughout = constraints(checked, taxonomy, inventory)
        stages = tuple(
            Stage(text, tuple(_ends(checked, number, taxonomy)), throughout)
            for number, text in enumerate(stage_conditions(checked, taxonomy, inventory))
        )
        told = said(stages, taxonomy, inventory, self._words.domain)
        return Goal(stages, (), answer.left_out, told)

    def _holds(self, stage: Stage) -> bool:
        domain, inventory = self._words.domain, self._words.inventory
        objects = [TypedName(n, (self._graph.pddl_type(n),)) for n in inventory.classes]
        wanted = parse_formula(stage.wanted, domain, objects, file="<goal>")
        try:
            return bool(Task(domain, self._graph.problem(domain, "goal")).initial.holds(wanted))
        except GroundingLimitError:  # of so much that is asked, something will be to do
            return False


def _ends(checked: CheckedGoal, number: int, taxonomy: Taxonomy) -> list[str]:
    """Return how things are left after a stage, except where the goal says otherwise."""
    holding, exempt, left = False, set[str](), end_predicates(taxonomy)
    for literal in checked.stages[number]:
        holding = holding or (literal.predicate == "holding" and literal.holds)
        if literal.holds and literal.args and literal.predicate in left:
            exempt |= set(checked.things[literal.args[0]].classes)
    return end_conditions(taxonomy, taxonomy.with_controls(exempt), holding=holding)
