"""Which reading of a request counts: the grammar's, the learnt reader's, or neither.

    both want the same end                         it is done
    the learnt one says by what a thing is heated
    or chilled, too, and is sure                   its reading is done, and said
    only the grammar has a reading                 it is done
    only the learnt reader has one, and is sure    it is done, and said
    they end differently, and the latter is sure   the question which one is meant, if a frame could
                                                   say what the grammar read; else the grammar's
    neither                                        the grammar's refusal

Nothing is guessed in silence: a learnt reading carries a note, its probability and its head.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hvr.errors import HvrError, LanguageError, MissingObjectError
from hvr.language.goals import Goal
from hvr.language.learnt.end_state import EndStates
from hvr.language.learnt.reader import Reading
from hvr.language.saying import in_order

_PLACES = frozenset({"on", "in"})
_WARMTH = frozenset({"hot", "microwaved", "cold", "chilled", "cooked"})
_FRAMES = _PLACES | _WARMTH | {"washed", "dirty", "="}
"""The predicates of which frames can speak."""


@dataclass(frozen=True)
class Thresholds:
    """How sure the learnt reader must be.

    Args:
        alone: for a reading where the grammar has none.
        against: to be heard where the grammar reads otherwise.
        near: to be named in a refusal.
    """

    alone: float = 0.7
    against: float = 0.5
    near: float = 0.2


def agreed(
    grammar: Goal | HvrError, reading: Reading, ends: EndStates, thresholds: Thresholds, head: str
) -> tuple[Goal, ...]:
    """Return the goal that counts; or both, where they end differently.

    Args:
        grammar: the grammar's goal, or why it has none.
        reading: the learnt reader's.
        ends: compares goals.
        thresholds: how sure it must be.
        head: digest of the learnt reader's head.

    Raises:
        HvrError: the grammar's, where the learnt reader does not know better.
    """
    learnt = reading.goal
    if isinstance(grammar, HvrError):
        if learnt is None or not isinstance(grammar, LanguageError | MissingObjectError):
            raise grammar
        if reading.p >= thresholds.alone:
            return (marked(learnt, reading.p, head),)
        raise _with_nearest(grammar, reading, thresholds)
    if learnt is None or reading.p < thresholds.against:
        return (grammar,)
    said, heard = ends.predicates(grammar), ends.predicates(learnt)
    more = len(grammar.stages) > len(learnt.stages) or ends.things(grammar) > ends.things(learnt)
    if more or not _could_be_a_frame(said, heard) or ends.entails(grammar, learnt):
        return (grammar,)
    other = marked(learnt, reading.p, head)
    if ends.entails(learnt, grammar):
        return (other,) if heard - said <= _WARMTH else (grammar,)
    return grammar, other


def _could_be_a_frame(said: frozenset[str], heard: frozenset[str]) -> bool:
    """Return whether what the grammar read is no more than the learnt reader can say.

    Otherwise the learnt reader has left something out, and is no witness: "fill the mug and put it
    on the table" is not the request to put it there.
    """
    return said <= _FRAMES and not (said & _PLACES and not heard & _PLACES)


def marked(goal: Goal, p: float, head: str) -> Goal:
    """Return a goal that says that it was read by the learnt reader."""
    note = f"read by the learnt reader, {100 * p:.0f} % sure"
    return replace(goal, notes=(note, *goal.notes), reader=f"learnt {head}")


def _with_nearest(error: HvrError, reading: Reading, thresholds: Thresholds) -> HvrError:
    """Return the grammar's refusal with what the learnt reader would have read."""
    if reading.goal is None or reading.p < thresholds.near or type(error) is not LanguageError:
        return error
    return LanguageError(f"{error}; did you mean: {in_order(reading.goal.said)}?")
