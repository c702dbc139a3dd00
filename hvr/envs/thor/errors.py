"""Errors between hvr and a simulator process."""

from __future__ import annotations

from hvr.errors import HvrError


class SimulatorError(HvrError):
    """The simulator cannot be started, did not answer in time, or has ended.

    The world it had is lost; the message says what was going on and what to do.
    """
