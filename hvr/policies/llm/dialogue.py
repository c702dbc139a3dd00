"""The dialogue with the model: prompts, and the texts for their placeholders."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hvr.base.texts import words
from hvr.errors import LLMError
from hvr.knowledge.wording import load_wording
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Model, Request, answer_all, count_tokens
from hvr.pddl import GroundAction, State, Task
from hvr.planning.plans import AABlock, MacroAction
from hvr.policies.llm.answers.text import MAX_ANSWER_CHARACTERS
from hvr.policies.llm.conditions import conjunction
from hvr.policies.llm.prediction import PredictedWorld
from hvr.policies.llm.prompts import Prompts
from hvr.policies.llm.schemas import AnswerForm
from hvr.policies.llm.settings import PolicySettings

# Dialogue -----------------------------------------------------------------------------------------

MIN_CONTEXT = 4096
"""Smallest supported context length of a model, in tokens."""

MAX_TOKENS: Mapping[str, int] = {
    "select": 256,
    "macro_plan": 512,
    "conditions": 1024,
    "correct_conditions": 1024,
    "block": 640,
    "blocks": 1280,
    "correct_block": 640,
    "plan": 1280,
    "correct_plan": 1280,
    "goal": 1024,
    "correct_goal": 1024,
    "step": 64,
    "agent": 512,
}
"""Token limit of each answer, such that every prompt with its answer fits into `MIN_CONTEXT`."""

MAX_ROOMY_TOKENS: Mapping[str, int] = {
    **MAX_TOKENS,
    "macro_plan": 1024,
    "conditions": 2048,
    "correct_conditions": 2048,
    "blocks": 2048,
    "plan": 2560,
    "correct_plan": 2560,
    "goal": 2048,
    "correct_goal": 2048,
}
"""Token limits for prompts that leave more room; a plan of 110 steps needs 2,300 tokens."""

_JSON = 2
"""Factor by which JSON increases the number of tokens in an answer."""


@dataclass
class Tally:
    """Counts of unusable answers in a dialogue.

    Args:
        unreadable: Number of answers in which nothing could be read.
        repeated: Number of corrections that repeated the previous answer.
    """

    unreadable: int = 0
    repeated: int = 0


@dataclass(frozen=True)
class Dialogue:
    """A language model with its prompts; if `structured`, the prompts ask for JSON."""

    model: Model
    prompts: Prompts
    temperature: float = 0.0
    seed: int | None = None
    structured: bool = False
    tally: Tally = field(default_factory=Tally)

    def ask(self, prompt: str, form: AnswerForm | None = None, **values: str) -> str:
        """Ask the model and return the text of its answer, at most `MAX_ANSWER_CHARACTERS`.

        Args:
            form: Form of a structured answer; ignored if answers are not structured.

        Returns:
            The text; empty if the model twice gave no structured answer that follows the schema.

        Raises:
            LLMError: The model gave no usable answer.
        """
        if not self.structured or form is None:
            answer = self.model.answer(self.request(prompt, None, **values))
            return _printable(answer.text[:MAX_ANSWER_CHARACTERS])
        try:
            answer = self.model.answer(self.request(prompt, form, **values))
        except ModelError as error:
            if not _is_unreadable(error):
                raise
            self.tally.unreadable += 1
            return ""
        return form.text(_clean(answer.data))[:MAX_ANSWER_CHARACTERS]

    def ask_all(
        self, prompt: str, form: AnswerForm, values: Sequence[Mapping[str, str]]
    ) -> list[str]:
        """Ask for several structured answers at once, and return the text of each.

        The text is empty if an answer does not follow the schema.

        Raises:
            LLMError: The model gave no usable answer.
        """
        requests = [self.request(prompt, form, **given) for given in values]
        texts = []
        for outcome in answer_all(self.model, requests):
            if isinstance(outcome, LLMError) and not _is_unreadable(outcome):
                raise outcome
            readable = isinstance(outcome, Answer)
            self.tally.unreadable += not readable
            texts.append(form.text(_clean(outcome.data)) if isinstance(outcome, Answer) else "")
        return texts

    def request(self, prompt: str, form: AnswerForm | None = None, **values: str) -> Request:
        """Return the request for a prompt; the value `knowledge` is dropped if it does not fit."""
        if values.get("knowledge") and not self.fits(prompt, **values):
            values["knowledge"] = ""
        if form is None:
            return self._request(prompt, values, None)
        return replace(self._request(prompt, values, form.schema), accept=form.accept)

    def ask_json(
        self,
        prompt: str,
        schema: Mapping[str, Any],
        accept: Mapping[str, Any] | None = None,
        **values: str,
    ) -> Any:
        """Ask the model for a JSON value and return it; see `Request` about `accept`.

        Raises:
            LLMError: The model gave no usable answer.
        """
        request = replace(self._request(prompt, values, schema), accept=accept)
        return _clean(self.model.answer(request).data)

    def fits(self, prompt: str, **values: str) -> bool:
        """Return whether a prompt and its longest answer fit into `MIN_CONTEXT` tokens."""
        tokens = count_tokens(self.prompts[prompt].fill(values))
        return tokens + MAX_TOKENS[prompt] <= MIN_CONTEXT

    def _request(
        self, prompt: str, values: Mapping[str, str], schema: Mapping[str, Any] | None
    ) -> Request:
        messages = self.prompts[prompt].fill(values)
        room = MIN_CONTEXT - count_tokens(messages)
        roomy = MAX_ROOMY_TOKENS[prompt] * (_JSON if self.structured else 1)
        return Request(
            messages=messages,
            purpose=prompt,
            schema=schema,
            temperature=self.temperature,
            max_tokens=max(MAX_TOKENS[prompt], min(roomy, room)),
            seed=self.seed,
        )


def _is_unreadable(error: LLMError) -> bool:
    return isinstance(error, ModelError) and error.kind == "schema"


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _printable(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {k: _clean(v) for k, v in value.items()} if isinstance(value, dict) else value


def _printable(text: str) -> str:
    return "".join(
        c if c in "\n\t\r" or unicodedata.category(c) not in {"Cc", "Cs"} else "\ufffd"
        for c in text
    )


# Prompt texts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PromptWords:
    """Texts for the placeholders in the prompts for one request.

    If the setting `knowledge` is off, they contain only what the paper's prompts contain.
    """

    settings: PolicySettings
    request: str

    def objects(self, predicted: PredictedWorld, names: Iterable[str]) -> str:
        structured = self.settings.structured
        contents = self.settings.knowledge or structured
        return predicted.objects(names, contents=contents, surfaces=structured)

    def task(self, predicted: PredictedWorld, names: Iterable[str]) -> str:
        """Return background knowledge about the request, and the usual states of objects."""
        return self._listed(predicted.usual(self.request, names))

    def conditions(self, predicted: PredictedWorld, names: Iterable[str]) -> str:
        """Return the text of `task`, with notes on predicates that are easily confused."""
        return self._listed([*predicted.usual(self.request, names), *predicted.notes("conditions")])

    def steps(self, predicted: PredictedWorld, names: Iterable[str], *, whole: bool = False) -> str:
        """Return background knowledge about actions and, if `whole`, about the request."""
        names = tuple(names)
        usual = predicted.usual(self.request, names) if whole else ()
        return self._listed([*usual, *predicted.notes("steps", names)])

    def wanted(self, macro: MacroAction, task: Task, state: State) -> str:
        """Return the objects and the postcondition of a macro action as prompt lines."""
        if not (self.settings.knowledge or self.settings.structured):
            return ""
        return "".join(f"\n{line}" for line in self._judged_by(macro, task, state))

    def listed(self, macros: Sequence[MacroAction], task: Task, state: State) -> str:
        """Return numbered macro actions with their objects and postconditions."""
        lines = []
        for number, macro in enumerate(macros, start=1):
            lines.append(f"{number}. {macro.name}")
            if self.settings.knowledge or self.settings.structured:
                # only the first macro action can rely on the current state
                judged = self._judged_by(macro, task, state if number == 1 else None)
                lines += [f"   {line}" for line in judged]
        return "\n".join(lines)

    def _judged_by(self, macro: MacroAction, task: Task, state: State | None) -> list[str]:
        lines = []
        if meant := _meant(macro, task):
            lines.append(f"Meant are: {', '.join(meant)}")
        if macro.postcondition:
            wanted = f"At the end: {' '.join(macro.postcondition)}"
            if state is not None and state.holds(conjunction(task, macro.postcondition)):
                wanted += " (this holds already: write none if there is nothing to do)"
            lines.append(wanted)
        return lines

    def _listed(self, notes: Iterable[str]) -> str:
        if not self.settings.knowledge or not (lines := list(dict.fromkeys(notes))):
            return ""
        return "\n".join(["", "What is known here:", *(f"- {line}" for line in lines), ""])


def _meant(macro: MacroAction, task: Task) -> tuple[str, ...]:
    """Return the objects in a macro action's conditions whose type its name mentions."""
    sentence = "".join(words(macro.name))
    objects = {o.name for o in task.problem.objects}
    texts = (*macro.postcondition, *macro.precondition)
    named = dict.fromkeys(
        word
        for text in texts
        for word in text.replace("(", " ").replace(")", " ").split()
        if word in objects
    )
    return tuple(name for name in named if _named(name.rsplit("-", 1)[0], sentence))


def _named(kind: str, sentence: str) -> bool:
    whole = load_wording().wholes.get(kind)
    if whole is not None and kind.startswith(whole):
        # a piece such as `tomatosliced` is named by its whole and its verb
        made = kind.removeprefix(whole).removesuffix("ed")
        return whole in sentence and made in sentence
    return kind in sentence


def numbered_steps(block: Sequence[GroundAction]) -> str:
    lines = [f"{i}. {_written(a)}" for i, a in enumerate(block, start=1)]
    return "\n".join(lines) or "none"


def planned_steps(blocks: Sequence[AABlock]) -> str:
    """Return the planned steps by macro action as prompt text, or `nothing` if there are none."""
    lines = [
        f"{i}. {b.macro.name}: {' '.join(map(_written, b.actions))}"
        for i, b in enumerate(blocks, start=1)
    ]
    return "\n".join(lines) or "nothing"


def signatures(task: Task) -> str:
    """Return all actions with their parameters, in the format that answers use."""
    return ", ".join(
        f"({', '.join((s.name, *(p.name.lstrip('?') for p in s.parameters)))})"
        for s in task.domain.actions.values()
    )


def _written(action: GroundAction) -> str:
    return f"({', '.join((action.name, *action.args))})"
