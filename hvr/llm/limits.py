"""Rate limits: no more requests and tokens a minute than the provider allows."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from hvr.llm.cancel import Cancellation
from hvr.llm.errors import ModelError
from hvr.llm.layer import Layer
from hvr.llm.model import Answer, Model, Request
from hvr.llm.tokens import count_tokens

_MINUTE = 60.0
_TOLD_S = 5.0
"""Seconds of a wait from which it is announced in the log."""

_log = logging.getLogger(__name__)


class RateLimit(Layer):
    """A model that waits until another request fits into the last minute.

    Threads may share it. A request counts with the estimate of its prompt and its `max_tokens`.

    Args:
        model: whom to ask.
        requests: at most in any 60 seconds; None for no limit.
        tokens: at most in any 60 seconds; None for no limit.
        cancel: ends a wait.
        sleep: waits for some seconds; by default it can be cancelled.
        clock: seconds that pass.
    """

    def __init__(
        self,
        model: Model,
        *,
        requests: int | None = None,
        tokens: int | None = None,
        cancel: Cancellation | None = None,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._requests = requests
        self._tokens = tokens
        self._sleep = sleep or (cancel or Cancellation()).wait
        self._clock = clock
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: the request alone is more than a minute allows, or there is no room for it
                in the time that it may take.
            LLMError: what the model raises.
        """
        tokens = count_tokens(request.messages) + request.max_tokens
        if self._tokens is not None and tokens > self._tokens:
            raise ModelError(
                f"a prompt with its answer may take {tokens} tokens, more than the limit of "
                f"{self._tokens} a minute: raise the limit, or lower max_tokens",
                kind="request",
            )
        start = self._clock()
        # Waiting is outside the lock, so other threads with smaller requests may go first.
        while (wait := self._enter(tokens)) > 0:
            waited = self._clock() - start
            if request.seconds is not None and waited + wait >= request.seconds:
                raise ModelError(
                    f"the limit of {self._limit()} a minute has no room for another request "
                    f"within {request.seconds:.3g} s; raise the limit or the seconds for an answer",
                    kind="request",
                )
            if wait >= _TOLD_S:
                _log.info("waiting %.3g s for the limit of %s a minute", wait, self._limit())
            self._sleep(wait)
        if request.seconds is not None:
            request = replace(request, seconds=request.seconds - (self._clock() - start))
        return self._model.answer(request)

    def _limit(self) -> str:
        limits = ((self._requests, "requests"), (self._tokens, "tokens"))
        return " and ".join(f"{number} {what}" for number, what in limits if number is not None)

    def _enter(self, tokens: int) -> float:
        """Count the request and return 0, or return the seconds until there may be room."""
        with self._lock:
            now = self._clock()
            while self._sent and self._sent[0][0] <= now - _MINUTE:
                self._sent.popleft()
            full = self._requests is not None and len(self._sent) >= self._requests
            if self._tokens is not None:
                full = full or sum(t for _, t in self._sent) + tokens > self._tokens
            if full:
                # Until the oldest request leaves the window; that may not be enough, so the
                # caller asks again. Never 0, which would mean that the request was counted.
                return max(self._sent[0][0] + _MINUTE - now, 1e-3)
            self._sent.append((now, tokens))
            return 0.0
