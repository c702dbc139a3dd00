"""Formats of a plan in models' answers, and surrounding prose."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

Plan = Sequence[str]
"""Steps such as "(stack a b)"."""


def _lines(form: str) -> Callable[[Plan], str]:
    """Return a line-by-line formatter: `{n}` is the number, `{s}` the step, `{w}` its words."""
    return lambda plan: "\n".join(
        form.format(n=n, s=s, w=s[1:-1], call=_call(s)) for n, s in enumerate(plan, 1)
    )


def _call(step: str) -> str:
    name, *args = step[1:-1].split()
    return f"{name}({', '.join(args)})"


def _fence(plan: Plan, language: str = "") -> str:
    return f"```{language}\n" + "\n".join(plan) + "\n```"


def _objects(plan: Plan) -> str:
    parts = [step[1:-1].split() for step in plan]
    return json.dumps({"plan": [{"action": p[0], "args": p[1:]} for p in parts]}, indent=1)


FORMS: dict[str, Callable[[Plan], str]] = {
    "one step a line": _lines("{s}"),
    "a fence": _fence,
    "a fence with its language, and prose": lambda p: f"Sure.\n\n{_fence(p, 'pddl')}\nDone.",
    "numbers": _lines("{n}. {s}"),
    "bullets in backticks": _lines("- `{s}`"),
    "`Step 1:` before the step": _lines("Step {n}: {s}"),
    "headings": _lines("### Step {n}\n{s}\n"),
    "calls": _lines("{n}) {call}"),
    "words in a list": _lines("{n}. {w}"),
    "capitals without parentheses": lambda p: _lines("{w}")(p).upper(),
    "one line": " ".join,
    "one line with commas and a full stop": lambda p: f"Plan: {', '.join(p)}.",
    "one line with arrows": " -> ".join,
    "JSON texts": lambda p: json.dumps(list(p)),
    "JSON objects in prose": lambda p: f"My plan:\n{_objects(p)}\nIt reaches the goal.",
    "a tag around the plan": lambda p: f"<plan>{_lines('{s}')(p)}</plan>",
    "a label before each step": _lines("Action: {s}"),
    "a remark behind each step": _lines("{s} ; this is step {n}"),
    "a remark in words behind each step": _lines("{n}. {s} - moves on"),
    "a sentence below each step": _lines("{n}. {s}\n   With this we are nearer to the goal.\n"),
    "a step mentioned below": lambda p: f"{_lines('{s}')(p)}\nHere {p[-1]} reaches the goal.",
    "a step mentioned above": lambda p: f"We must end with {p[-1]}.\n\n{_lines('{s}')(p)}",
    "prose with the steps in it": lambda p: (
        f"First {p[0]}, then " + ", then ".join(p[1:-1]) + f", and at last {p[-1]}."
    ),
    "a table": lambda p: "| step | action |\n|---|---|\n" + _lines("| {n} | {s} |")(p),
    "thoughts before it": lambda p: f"<think>Try\n{p[1]}\n{p[0]}\nNo.</think>\n{_fence(p)}",
}  # fmt: skip
"""The 25 forms of the table in docs/how-to/rewards.md."""

PROSE: tuple[str, ...] = (
    "{plan}",
    "I thought about it.\n\n{plan}",
    "{plan}\n\nThis reaches the goal.",
    "The last step is {step}, as the goal needs it.\n\n{plan}",
    "{plan}\n\nHere {step} makes the goal true.",
    "Note: we cannot start with {step}.\n\n{plan}\n\nSo the answer is above.",
    "**Answer**\n\n{plan}\n\nNote that {step} comes when nothing is in the way.",
    "# Plan\n\n{plan}\n\n(This is the shortest plan that I found.)",
)
"""Prose around a plan that mentions `{step}`."""
