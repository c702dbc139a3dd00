"""The structured questions of the pipeline in a state of the world, and the right answers as JSON.

Each function returns the request that the policy sends in this state: its messages, and the JSON
schema of the answer. Training data is made of them (`hvr export sft`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.models.errors import ModelError
from hvr.models.model import Answer, Request
from hvr.pddl import Atom, GroundAction, Not, Task
from hvr.planning.plans import MacroAction
from hvr.policies.llm.action_set import ActionSet
from hvr.policies.llm.blocks import check_block
from hvr.policies.llm.dialogue import Dialogue, PromptWords, numbered_steps
from hvr.policies.llm.prediction import PredictedWorld
from hvr.policies.llm.prompts import Prompts
from hvr.policies.llm.schemas import WorldForms, action_json, fact_json, kinds_form, titles_form
from hvr.policies.llm.settings import PolicySettings

_SETTINGS = PolicySettings(structured=True)


class _NoModel:
    """A model that is never asked: the questions are only written."""

    name = "none"
    simulated = True

    def answer(self, request: Request) -> Answer:
        raise ModelError(f"no model answers {request.purpose}")


@dataclass(frozen=True)
class Questions:
    """The questions about one request in the current state of a predicted world.

    Args:
        prompts: Templates for structured answers: `load_prompts(world=…, structured=True)`.
        settings: Settings that decide about background knowledge and limits.
    """

    predicted: PredictedWorld
    request: str
    prompts: Prompts
    settings: PolicySettings = _SETTINGS

    def select(self) -> Request:
        """Ask for the kinds of objects that the request needs."""
        kinds = self.predicted.kinds
        return self._dialogue.request(
            "select", kinds_form(kinds), request=self.request, classes=", ".join(kinds)
        )

    def macro_plan(self, names: Sequence[str]) -> Request:
        """Ask for the macro actions, given the chosen objects."""
        return self._dialogue.request(
            "macro_plan",
            titles_form(self.settings.macro_limit),
            request=self.request,
            objects=self.predicted.classes(names),
            knowledge=self._words.task(self.predicted, names),
        )

    def block(self, macro: MacroAction, names: Sequence[str], done: str = "nothing") -> Request:
        """Ask for the actions of one macro action.

        Args:
            names: Objects that the prompt describes.
            done: Earlier steps as text; see `planned_steps`.
        """
        form = self._forms.steps(names, self.settings.block_limit)
        return self._dialogue.request("block", form, **self._block_values(macro, names, done))

    def correct_block(
        self,
        macro: MacroAction,
        names: Sequence[str],
        written: Sequence[GroundAction],
        done: str = "nothing",
    ) -> Request | None:
        """Ask for the correction of a block; None if the block is correct."""
        problem = self._problem(written, macro.postcondition)
        if problem is None:
            return None
        form = self._forms.steps(names, self.settings.block_limit)
        values = self._block_values(macro, names, done)
        return self._dialogue.request(
            "correct_block", form, **values, **self._correction(written, problem)
        )

    def plan(self, names: Sequence[str] | None = None) -> Request:
        """Ask for the whole plan; without names, the prompt describes all objects."""
        names = self._all if names is None else names
        form = self._forms.steps(names, self.settings.plan_limit)
        return self._dialogue.request("plan", form, **self._values(names, "nothing", whole=True))

    def correct_plan(
        self, written: Sequence[GroundAction], names: Sequence[str] | None = None
    ) -> Request | None:
        """Ask for the correction of a whole plan; None if the plan is correct."""
        names = self._all if names is None else names
        problem = self._problem(written, self.predicted.goal)
        if problem is None:
            return None
        form = self._forms.steps(names, self.settings.plan_limit)
        values = self._values(names, "nothing", whole=True)
        return self._dialogue.request(
            "correct_plan", form, **values, **self._correction(written, problem)
        )

    # Values ---------------------------------------------------------------------------------

    @property
    def _dialogue(self) -> Dialogue:
        return Dialogue(_NoModel(), self.prompts, structured=True)

    @property
    def _words(self) -> PromptWords:
        return PromptWords(self.settings, self.request)

    @property
    def _forms(self) -> WorldForms:
        return WorldForms(ActionSet(self.predicted.task), self.predicted.nearness)

    @property
    def _all(self) -> tuple[str, ...]:
        return tuple(o.name for o in self.predicted.task.problem.objects)

    def _values(self, names: Sequence[str], done: str, *, whole: bool) -> dict[str, str]:
        return {
            "request": self.request,
            "objects": self._words.objects(self.predicted, names),
            "knowledge": self._words.steps(self.predicted, names, whole=whole),
            "actions": self.predicted.actions(),
            "history": done,
        }

    def _block_values(self, macro: MacroAction, names: Sequence[str], done: str) -> dict[str, str]:
        wanted = self._words.wanted(macro, self.predicted.task, self.predicted.state)
        return {**self._values(names, done, whole=False), "macro": macro.name, "wanted": wanted}

    def _problem(self, written: Sequence[GroundAction], wanted: Sequence[str]) -> str | None:
        predicted = self.predicted
        error = check_block(predicted.task, predicted.state, tuple(written), wanted, predicted.kept)
        return None if error is None else error.text

    def _correction(self, written: Sequence[GroundAction], problem: str) -> dict[str, str]:
        most = str(self.settings.block_tries or 1)
        return {
            "block": numbered_steps(written),
            "problem": problem,
            "attempt": "1",
            "attempts": most,
        }


# Answers ------------------------------------------------------------------------------------------


def steps_answer(task: Task, actions: Sequence[GroundAction]) -> str:
    """Return the answer to `block`, `plan` and their corrections."""
    return json.dumps({"steps": [_action(task, action) for action in actions]})


def kinds_answer(kinds: Sequence[str]) -> str:
    """Return the answer to `select`."""
    return json.dumps({"kinds": list(kinds)})


def titles_answer(titles: Sequence[str]) -> str:
    """Return the answer to `macro_plan`."""
    return json.dumps({"steps": list(titles)})


def conditions_answer(
    task: Task, sides: Sequence[tuple[Sequence[Atom | Not], Sequence[Atom | Not]]]
) -> str:
    """Return the answer to `conditions`: the facts before and after each macro action."""
    macros = [
        {"before": [_fact(task, x) for x in before], "after": [_fact(task, x) for x in after]}
        for before, after in sides
    ]
    return json.dumps({"macros": macros})


def _action(task: Task, action: GroundAction) -> Mapping[str, Any]:
    return action_json(action, [p.name for p in task.domain.actions[action.name].parameters])


def _fact(task: Task, literal: Atom | Not) -> Mapping[str, Any]:
    atom = literal if isinstance(literal, Atom) else literal.operand
    assert isinstance(atom, Atom)
    return fact_json(literal, [p.name for p in task.domain.predicates[atom.predicate].parameters])
