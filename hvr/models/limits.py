"""PerMinute limits: no more requests and tokens a minute than the provider allows."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from hvr.models.cancel import Cancellation
from hvr.models.errors import ModelError
from hvr.models.layer import Layer
from hvr.models.model import Answer, Model, Request
from hvr.models.tokens import count_tokens
from hvr.models.window import OwnWindow, PerMinute, Window

_TOLD_S = 5.0
"""Seconds of a wait from which it is announced in the log."""

_log = logging.getLogger(__name__)


class RateLimit(Layer):
    """A model that waits until another request fits into the last minute.

    Threads may share it. A request counts with the estimate of its prompt and its `max_tokens`.

    Args:
        model: whom to ask.
        rate: the most within any 60 seconds.
        window: counts what was sent; what this object sends if None.
        cancel: ends a wait.
        sleep: waits for some seconds; by default it can be cancelled.
        clock: seconds that pass.
    """

    def __init__(
        self,
        model: Model,
        rate: PerMinute,
        *,
        window: Window | None = None,
        cancel: Cancellation | None = None,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._rate = rate
        self._window = window or OwnWindow(clock)
        self._sleep = sleep or (cancel or Cancellation()).wait
        self._clock = clock

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: the request alone is more than a minute allows, or there is no room for it
                in the time that it may take.
            LLMError: what the model raises.
            DataFileError: the file cannot be used that counts what was sent.
        """
        tokens = count_tokens(request.messages) + request.max_tokens
        most = self._rate.tokens
        if most is not None and tokens > most:
            raise ModelError(
                f"a prompt with its answer may take {tokens} tokens, more than the limit of "
                f"{most} a minute: raise the limit, or lower max_tokens",
                kind="request",
            )
        start = self._clock()
        # Nobody is kept out while one waits, so others with smaller requests may go first.
        while (wait := self._window.enter(self._rate, tokens)) > 0:
            waited = self._clock() - start
            if request.seconds is not None and waited + wait >= request.seconds:
                raise ModelError(
                    f"the limit of {self._rate} a minute has no room for another request "
                    f"within {request.seconds:.3g} s; raise the limit or the seconds for an answer",
                    kind="request",
                )
            if wait >= _TOLD_S:
                _log.info("waiting %.3g s for the limit of %s a minute", wait, self._rate)
            self._sleep(wait)
        if request.seconds is not None:
            request = replace(request, seconds=request.seconds - (self._clock() - start))
        return self._model.answer(request)
