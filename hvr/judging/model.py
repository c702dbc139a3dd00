"""What a language model says of a plan, in the answer format of the paper on plan verification.

Each step is copied after `ACTION:` and judged after `ANNOTATION:`; `#REMOVE: reason` stands where
it should go, and `#MISSING: steps` after the last one. Models keep to that loosely, so the reader
takes steps with or without numbers and parentheses, marks in any case, and `#MISSING` anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hvr.models.model import Message, Model, Request
from hvr.pddl import GroundAction

_MOST_TOKENS = 4096

_SYSTEM = """\
You check plans of a household robot. For each step decide whether the goal needs it. A step is
superfluous if it repeats another one, if a later step takes it back before anything needed it,
if it deals with things that the goal does not need, or if it contradicts an earlier step or the
goal. Steps that only prepare others are needed, and so is the same step on a second object that
the goal needs. Also say what is missing."""

_FORMAT = """\
GOAL: {goal}
STEPS:
{steps}

Answer with two lines for each step, in order:
ACTION: the step, copied
ANNOTATION: what it is for; add "#REMOVE: reason" if it should go
After the last step, one line for each thing that is missing:
#MISSING: (action object ...) before step N
"""

_ACTION = re.compile(r"^\W*action\b\W*?:\s*(.*)$", re.IGNORECASE)
_REMOVE = re.compile(r"#\s*remove\b\W*(.*)$", re.IGNORECASE)
_MISSING = re.compile(r"#\s*missing\b\W*?[:\s]\s*(.*)$", re.IGNORECASE)
_NUMBER = re.compile(r"^\W*(?:step\s*)?(\d+)\s*[.):]\s*", re.IGNORECASE)
_CALL = re.compile(r"\(\s*([^()]+?)\s*\)")
_PLACE = re.compile(r"\b(before|after)\s+(?:step\s*)?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Wish:
    """Steps that a model misses.

    Args:
        text: what it says.
        actions: the steps that it names; none where it only describes them.
        index: the number of the step that they belong before; None where it does not say.
    """

    text: str
    actions: tuple[GroundAction, ...] = ()
    index: int | None = None


@dataclass(frozen=True)
class Opinion:
    """What a model says of a plan; nothing of it is proven.

    Args:
        remove: numbers of the steps that should go, from 1, with the reasons.
        missing: what is missing.
    """

    remove: tuple[tuple[int, str], ...] = ()
    missing: tuple[Wish, ...] = ()


def ask(model: Model, goal: str, plan: Sequence[GroundAction]) -> Opinion:
    """Ask a model for its opinion of a plan.

    Raises:
        LLMError: the model did not answer.
    """
    steps = "\n".join(f"{number}. {action}" for number, action in enumerate(plan, 1))
    text = _FORMAT.format(goal=goal, steps=steps)
    messages = Message("system", _SYSTEM), Message("user", text)
    request = Request(messages=messages, purpose="judge", max_tokens=_MOST_TOKENS)
    return read_opinion(model.answer(request).text, plan)


def read_opinion(text: str, plan: Sequence[GroundAction]) -> Opinion:
    """Read an answer; what cannot be told apart is left out."""
    remove: dict[int, str] = {}
    missing: list[Wish] = []
    current = 0
    for line in text.splitlines():
        action = _ACTION.match(line)
        if action is not None:
            current = _step(action[1], plan, current)
        removed = _REMOVE.search(line)
        if removed is not None and 1 <= current <= len(plan):
            remove.setdefault(current, removed[1].strip())
        lacking = _MISSING.search(line)
        if lacking is not None:
            wish = _wish(lacking[1].strip(), len(plan))
            if wish is not None:
                missing.append(wish)
    return Opinion(tuple(sorted(remove.items())), tuple(missing))


def _step(text: str, plan: Sequence[GroundAction], current: int) -> int:
    """Return the number of a copied step: the next one that looks like it."""
    number = _NUMBER.match(text)
    words = _words(_NUMBER.sub("", text))
    order = (*range(current, len(plan)), *range(current))
    for index in order:
        named = [plan[index].name, *plan[index].args]
        if words[: len(named)] == named:
            place: int = index + 1
            return place
    if number is not None and 1 <= int(number[1]) <= len(plan):
        return int(number[1])
    return current + 1


def _words(text: str) -> list[str]:
    plain: str = re.sub(r"[(),\[\]`*\"']", " ", text.split("#")[0])
    return plain.lower().split()


def _wish(text: str, count: int) -> Wish | None:
    if not text or text.lower().rstrip(".") in ("none", "nothing", "n/a", "no", "-"):
        return None
    calls = []
    for call in _CALL.findall(text):
        words = _words(call)
        if words and re.fullmatch(r"[a-z][\w-]*", words[0]):
            calls.append(GroundAction(words[0], tuple(words[1:])))
    place = _PLACE.search(text)
    index = None
    if place is not None:
        index = min(int(place[2]) + (place[1].lower() == "after"), count + 1)
        index = max(index, 1)
    return Wish(text, tuple(calls), index)
