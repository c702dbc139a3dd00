"""Calls that have no request and whose results are not read."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.judging.tool_calls.finding import CallFinding
from hvr.judging.verdict import Cause, CritiqueKind
from hvr.tools.call_log import CallLog
from hvr.tools.value_flow import identifies


def unasked(log: CallLog, at: int) -> CallFinding | None:
    """Return that neither the request nor another call has anything to do with a call.

    Only reading calls are judged, since writes are goals, and only calls before another one:
    the last call before the user speaks again may be the answer.
    """
    call = log.calls[at]
    if call.failed or log.known is None or log.values[at].readers or not log.reads(at):
        return None
    if at + 1 == len(log.calls) or log.calls[at + 1].turn != call.turn:
        return None
    if not any(log.ask_for(log.heard(other), other) for other in range(len(log.calls))):
        return None
    known = log.before(at)
    if any(known.has(value) for _, value in log.inputs(at)):
        return None
    if not log.speak_of(_request(log, at), at):
        reason = "the user does not speak of it, and no later call reads its result"
    elif _of_something_else(log, at):
        reason = (
            "neither the user nor an earlier result has its arguments, and no later call reads "
            "its result"
        )
    else:
        return None
    return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)


def _request(log: CallLog, at: int) -> Sequence[str]:
    """Return the messages that a call can answer.

    The last message alone, if it asks for another call that follows it; else all so far, since
    "yes" goes on with what was said before.
    """
    turn = log.calls[at].turn
    last = log.heard(at)[-1:]
    answered = (
        other for other, call in enumerate(log.calls) if call.turn == turn and other != at
    )  # fmt: skip
    return last if any(log.ask_for(last, other) for other in answered) else log.heard(at)


def _of_something_else(log: CallLog, at: int) -> bool:
    """Return whether unexplained arguments are telling, although the user speaks of the tool.

    A name may be a translation of the user's. An identifier is not, nor are the arguments beside
    another call of the tool that has the user's.
    """
    if not log.inputs(at):
        return False
    if any(identifies(value) for _, value in log.inputs(at)):
        return True
    return any(
        other != at and call.tool == log.calls[at].tool and _explained(log, other)
        for other, call in enumerate(log.calls)
    )


def _explained(log: CallLog, at: int) -> bool:
    known = log.before(at)
    return any(known.has(value) for _, value in log.inputs(at))
