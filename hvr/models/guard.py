"""A guard around a model of whatever provider: what gets in is clean and can be used."""

from __future__ import annotations

from dataclasses import replace

from hvr.errors import LLMError
from hvr.models import failures, schema
from hvr.models.layer import Layer
from hvr.models.model import Answer, Model, Request
from hvr.models.options import ModelOptions


class Guarded(Layer):
    """A model without keys in its answers and errors, and without answers that are none.

    It stands next to the model, so that nothing else ever sees a key that a server repeats: no
    cache, no transcript, no plan.

    Args:
        model: whom to ask.
        options: how it is reached; they know the keys.
    """

    def __init__(self, model: Model, options: ModelOptions) -> None:
        super().__init__(model)
        self._options = options

    def __repr__(self) -> str:
        return repr(self._model)

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: what the model raises, without keys; of kind `refused` when the answer is
                withheld; of kind `empty` or `schema` when it cannot be used.
        """
        scrubber = self._options.scrubber
        try:
            answer = self._model.answer(request)
        except LLMError as error:
            error.args = (scrubber.text(str(error)),)
            raise
        clean = replace(
            answer,
            text=scrubber.text(answer.text),
            data=scrubber.value(answer.data),
            model=scrubber.text(answer.model),
        )
        if clean.finish == "filter":
            raise failures.withheld(
                self.name, self._options, "no reason is given", clean.usage, clean.text
            )
        return clean if clean.data is not None else schema.checked(clean, request)
