"""Prompts of the MCP server: workflows that end with a proof."""

from __future__ import annotations

from collections.abc import Mapping

from hvr.base.printable import nearest
from hvr.errors import UsageError
from hvr.values import Value


class PromptText(Value):
    """A prompt with its arguments: name and meaning of each."""

    name: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        """Return the prompt with its arguments, each marked as data.

        Raises:
            UsageError: An argument is missing or unknown.
        """
        for name in given:
            if name not in self.arguments:
                near = nearest(name, self.arguments)
                hint = f"; did you mean {near!r}?" if near else ""
                raise UsageError(f"{self.name} has no argument {name!r}{hint}")
        if missing := [name for name in self.arguments if not given.get(name, "").strip()]:
            raise UsageError(f"{self.name} needs the argument {missing[0]}")
        parts = [f"<{name}>\n{given[name]}\n</{name}>" for name in self.arguments]
        return "\n\n".join([self.text, *parts])


_MODEL = {
    "domain": "PDDL text of the domain, or the path of its file",
    "problem": "PDDL text of the problem, or the path of its file",
    "plan": "The plan, or the path of its file",
}

PROMPTS: Mapping[str, PromptText] = {
    one.name: one
    for one in (
        PromptText(
            "write_pddl",
            "Write a PDDL domain and problem for a description, checked and solved.",
            {"description": "What to plan, in words"},
            "Write a PDDL domain and problem for the description below. Read hvr://pddl for what "
            "is supported. Check both with lint_model and remove every error and warning that "
            "points at a mistake. Then call find_plan. If it proves that there is no plan, say "
            "which part of the model forbids one. Show the domain, the problem, and the plan "
            "with the words 'proven valid' only if find_plan returned one.",
        ),
        PromptText(
            "repair_loop",
            "Repair a plan until it is proven valid.",
            _MODEL,
            "Call validate_plan for the plan below. While it is invalid: read the first failure "
            "and who falsified its conditions, apply the suggested repair or one of your own, "
            "and validate again. repair_plan gives a repair with its proof. Stop after ten rounds "
            "and say what is still wrong. Show the final plan and its verdict.",
        ),
        PromptText(
            "critique",
            "Criticise a plan: wrong, redundant and missing steps, each with its evidence.",
            _MODEL,
            "Criticise the plan below. Call validate_plan, then judge_plan, then explain_step for "
            "each step that they criticise. For each criticism give the step, the reason and the "
            "evidence from the tools. Say which statements are proven and which are your opinion.",
        ),
    )
}
"""All prompts, by name."""
