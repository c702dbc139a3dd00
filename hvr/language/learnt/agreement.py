"""Which reading of a request counts: the grammar's, the learnt reader's, or neither.

    both want the same end                         it is done
    the learnt one adds by what a thing is heated
    or chilled, or that a clean one is washed,
    and is sure                                    its reading is done, and said: it meets both
    only the grammar has a reading                 it is done
    only the learnt reader has one, and is sure    it is done, and said; surer still where the
                                                   grammar's is impossible
    they want different ends of the same things,
    and the learnt one is sure                     its reading is done, and said
    they want different things, or it is not sure  the question which one is meant
    a frame cannot say what the grammar read       the grammar's is done
    neither                                        the grammar's refusal

Nothing is guessed in silence: a learnt reading carries a note, its probability and its head.
"""

from __future__ import annotations

from dataclasses import dataclass

from hvr.errors import HvrError, LanguageError, MissingObjectError
from hvr.language.goals import Goal
from hvr.language.learnt.end_state import EndStates
from hvr.language.learnt.reader import Reading
from hvr.language.saying import in_order

_PLACES = frozenset({"on", "in"})


@dataclass(frozen=True)
class Thresholds:
    """How sure the learnt reader must be.

    Chosen on demonstrations that are not kept apart, by a head that had not seen them, and on
    `benchmarks/sentences.txt`: see docs/results/learnt_reader.md.

    Args:
        alone: for a reading where the grammar has none.
        against: for its reading of the same things where the grammar reads otherwise.
        heard: to be named beside the grammar's in a question.
        instead: for a reading where the grammar's is impossible in the scene: people call a mug
            a cup.
        near: to be named in a refusal.
    """

    alone: float = 0.8
    against: float = 0.7
    heard: float = 0.5
    instead: float = 0.85
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
        if learnt is None:
            raise grammar
        refused = isinstance(grammar, LanguageError | MissingObjectError)
        if reading.p >= (thresholds.alone if refused else thresholds.instead):
            return (marked(learnt, reading.p, head),)
        raise _with_nearest(grammar, reading, thresholds)
    if learnt is None or reading.p < thresholds.heard:
        return (grammar,)
    said, heard = ends.predicates(grammar), ends.predicates(learnt)
    more = len(grammar.stages) > len(learnt.stages) or ends.things(grammar) > ends.things(learnt)
    if more or not _could_be_a_frame(said, heard, ends.states) or ends.entails(grammar, learnt):
        return (grammar,)
    other = marked(learnt, reading.p, head)
    sure = reading.p >= thresholds.against
    if ends.entails(learnt, grammar):
        # How a thing comes to its state may be added; a state that nobody spoke of may not.
        added = heard - said <= ends.states and said & ends.states
        return (other,) if sure and added else (grammar,)
    if sure and ends.kinds(learnt) <= ends.kinds(grammar):
        return (other,)
    return grammar, other


def _could_be_a_frame(said: frozenset[str], heard: frozenset[str], states: frozenset[str]) -> bool:
    """Return whether what the grammar read is no more than the learnt reader can say.

    Otherwise the learnt reader has left something out, and is no witness: "fill the mug and put it
    on the table" is not the request to put it there.
    """
    frames = _PLACES | states | {"="}
    return said <= frames and not (said & _PLACES and not heard & _PLACES)


def marked(goal: Goal, p: float, head: str) -> Goal:
    """Return a goal that says that it was read by the learnt reader."""
    note = f"read by the learnt reader, {100 * p:.0f} % sure"
    return goal.replace(notes=(note, *goal.notes), reader=f"learnt {head}")


def _with_nearest(error: HvrError, reading: Reading, thresholds: Thresholds) -> HvrError:
    """Return the grammar's refusal with what the learnt reader would have read."""
    if reading.goal is None or reading.p < thresholds.near or type(error) is not LanguageError:
        return error
    return LanguageError(f"{error}; did you mean: {in_order(reading.goal.said)}?")
