"""Fill in a prompt and ask the model."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hvr.models.model import Answer, Model, Request
from hvr.models.tokens import count_tokens
from hvr.policies.llm.answers.text import MOST_CHARACTERS
from hvr.policies.llm.prompts import Prompts

CONTEXT = 4096
"""Tokens of the smallest context that prompts are made for."""

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
}
"""Tokens of an answer, by prompt: few enough for every prompt to fit `CONTEXT`."""

MOST_TOKENS: Mapping[str, int] = {
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
"""The same where the prompt leaves room for it: a plan of 110 steps takes 2,300."""


@dataclass(frozen=True)
class Dialogue:
    """A model and the prompts to ask it with.

    Args:
        model: the language model.
        prompts: the templates.
        temperature: temperature of sampling.
        seed: seed of sampling, where the provider takes one.
    """

    model: Model
    prompts: Prompts
    temperature: float = 0.0
    seed: int | None = None

    def ask(self, prompt: str, **values: str) -> str:
        """Ask the model and return the text of its answer, as much of it as anybody reads.

        Args:
            prompt: name of the template.
            values: values for the template.

        Raises:
            LLMError: there is no usable answer.
        """
        if values.get("knowledge") and not self.fits(prompt, **values):
            values["knowledge"] = ""  # what is merely useful gives way
        return _printable(self._answer(prompt, values).text[:MOST_CHARACTERS])

    def ask_json(self, prompt: str, schema: Mapping[str, Any], **values: str) -> Any:
        """Ask the model for a JSON value and return it.

        Args:
            prompt: name of the template.
            schema: JSON schema that the value satisfies.
            values: values for the template.

        Raises:
            LLMError: there is no usable answer.
        """
        return _clean(self._answer(prompt, values, schema).data)

    def fits(self, prompt: str, **values: str) -> bool:
        """Return whether a prompt and its answer fit the smallest context."""
        tokens = count_tokens(self.prompts[prompt].fill(values))
        return tokens + MAX_TOKENS[prompt] <= CONTEXT

    def _answer(
        self, prompt: str, values: Mapping[str, str], schema: Mapping[str, Any] | None = None
    ) -> Answer:
        messages = self.prompts[prompt].fill(values)
        room = CONTEXT - count_tokens(messages)
        request = Request(
            messages=messages,
            purpose=prompt,
            schema=schema,
            temperature=self.temperature,
            max_tokens=max(MAX_TOKENS[prompt], min(MOST_TOKENS[prompt], room)),
            seed=self.seed,
        )
        return self.model.answer(request)


def _clean(value: Any) -> Any:
    """Return a JSON value with the texts in it made printable."""
    if isinstance(value, str):
        return _printable(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {k: _clean(v) for k, v in value.items()} if isinstance(value, dict) else value


def _printable(text: str) -> str:
    """Replace characters that would command a terminal or fit no file by �."""
    return "".join(
        c if c in "\n\t\r" or unicodedata.category(c) not in {"Cc", "Cs"} else "\ufffd"
        for c in text
    )
