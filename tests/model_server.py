"""A scripted model for a local server: it makes coffee.

    with OpenAIServer(Behaviour(make_coffee)) as server:
        ...  # hvr plan "make coffee" --scene FloorPlan1 --base-url server.url

The model sees only HTTP requests, and recognises their purpose by the system message.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hvr.policies.llm.prompts import NAMES, STRUCTURED_NAMES, load_prompts
from hvr.runs.simulated.answers import as_json
from tests.models.servers import Received, Reply


@dataclass(frozen=True)
class Question:
    """The question of a prompt.

    Args:
        purpose: Name of the prompt's template.
        text: Last turn of the user.
    """

    purpose: str
    text: str

    @property
    def macro(self) -> str:
        """The macro action of a block prompt; empty in other prompts."""
        found = re.search(r"^Macro action: (.*)$", self.text, re.MULTILINE)
        return found.group(1) if found else ""


Answering = Callable[[Question], str]


def question(asked: Received) -> Question:
    """Return the question of a request in either protocol."""
    system, user = _spoken(asked.body)
    fitting = {name for name in NAMES if _pattern(name, False).fullmatch(system)}
    fitting |= {name for name in STRUCTURED_NAMES if _pattern(name, True).fullmatch(system)}
    assert len(fitting) == 1, f"{fitting} fit this system message: {system}"
    return Question(fitting.pop(), user)


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema that a request prescribes for its answer, if any."""
    form = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return form or body.get("generationConfig", {}).get("responseJsonSchema")


def in_form(asked: Question, text: str, body: Mapping[str, Any]) -> str:
    """Return an answer in the requested form; goals are always JSON."""
    schema = schema_of(body)
    if schema is None or "goal" in asked.purpose:
        return text
    return as_json(asked.purpose, text, schema)


def _spoken(body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the system message and the last turn of the user."""
    if "messages" in body:
        return body["messages"][0]["content"], body["messages"][-1]["content"]
    parts = body["systemInstruction"]["parts"], body["contents"][-1]["parts"]
    system, user = ("".join(p["text"] for p in some) for some in parts)
    return system, user


@cache
def _pattern(name: str, structured: bool) -> re.Pattern[str]:
    role, text = load_prompts(structured=structured)[name].turns[0]
    assert role == "system"
    fixed = re.split(r"\$\w+", text)
    return re.compile(".*".join(map(re.escape, fixed)), re.DOTALL)


class Behaviour:
    """A server's behaviour: a model answers, and some requests fail.

    Args:
        model: Function that answers.
        faults: Replies by 1-based request number, in place of the model's.
        after: Reply to request `since` and all later requests, for a permanent outage.
        since: Number of the first request that gets `after`.
    """

    def __init__(
        self,
        model: Answering,
        faults: Mapping[int, Reply] | None = None,
        *,
        after: Reply | None = None,
        since: int = 1,
    ) -> None:
        self.purposes: list[str] = []
        """The received requests."""
        self._model = model
        self._faults = dict(faults or {})
        self._after = after
        self._since = since
        self._lock = threading.Lock()

    def __call__(self, asked: Received) -> Reply:
        found = question(asked)
        with self._lock:
            self.purposes.append(found.purpose)
            number = len(self.purposes)
        if number in self._faults:
            return self._faults[number]
        if self._after is not None and number >= self._since:
            return self._after
        return Reply(in_form(found, self._model(found), asked.body))


MACROS = ("Brew coffee in the mug with the coffee machine", "Put the mug on the counter top")
_CONDITIONS = f"""1. {MACROS[0]}
Preconditions: (hand_empty) (not (filled mug-1))
Postconditions: (filled mug-1) (contains mug-1 coffee) (on mug-1 coffeemachine-1)
2. {MACROS[1]}
Preconditions: (hand_empty) (contains mug-1 coffee)
Postconditions: (on mug-1 countertop-2) (not (on mug-1 coffeemachine-1))
"""
_BREW = """(navigate_to_obj, mug-1)
(pick_up, mug-1)
(navigate_to_obj, coffeemachine-1)
(put_on, mug-1, coffeemachine-1)
(toggle_on, coffeemachine-1)
(toggle_off, coffeemachine-1)"""
_SERVE = """(navigate_to_obj, mug-1)
(pick_up, mug-1)
(navigate_to_obj, countertop-2)
(put_on, mug-1, countertop-2)"""
_GOAL = """{"stages": [[{"predicate": "contains", "args": ["Mug", "coffee"]},
                        {"predicate": "on", "args": ["Mug", "CounterTop"]}]]}"""
PICKING = "(pick_up, mug-1)\n"
"""The step missing from the first version of the first block."""


def make_coffee(asked: Question) -> str:
    """Answer for "make coffee" in FloorPlan1; the first block initially lacks a step."""
    match asked.purpose:
        case "select":
            return "Mug, CoffeeMachine, CounterTop"
        case "macro_plan":
            return "\n".join(f"{i}. {name}" for i, name in enumerate(MACROS, start=1))
        case "conditions" | "correct_conditions":
            return _CONDITIONS
        case "goal" | "correct_goal":
            return _GOAL
        case "blocks":
            return (
                f"Macro action 1: {MACROS[0]}\n{_actions(_BREW.replace(PICKING, '', 1))}\n"
                f"Macro action 2: {MACROS[1]}\n{_actions(_SERVE)}"
            )
        case "block" if asked.macro == MACROS[0]:
            return _block(_BREW.replace(PICKING, "", 1))
        case "correct_block" if asked.macro == MACROS[0]:
            return _actions(_BREW)
        case "block" | "correct_block":
            return _block(_SERVE)
        case _:
            return _block(f"{_BREW}\n{_SERVE}")


def _block(actions: str) -> str:
    return f"Description: This is what has to be done with the mug.\n{_actions(actions)}"


def _actions(actions: str) -> str:
    lines = [f"{i}. {line}" for i, line in enumerate(actions.splitlines(), start=1)]
    return "\n".join(["Actions:", *lines])
