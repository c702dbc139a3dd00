"""The settings of the LLM policy: the paper's and hvr's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hvr.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """Settings of the LLM policy; the first three are the paper's H, V and R.

    Args:
        hierarchical: H: write macro actions first, then a block of atomic actions for each.
            Without it, the model writes the whole plan at once.
        verification: V: insert moves, check each step, and backprompt.
        retrieval: R: prompts describe only the objects that the model selects. Without it, they
            describe all objects.
        expansion: With R: add objects that the selected ones depend on.
        planner_repair: With V: when the model's tries are spent, a classical planner bridges to the
            block's postcondition, or to the next step that can be kept.
        elimination: Remove redundant steps from the finished plan.
        judge: Before elimination, judge the plan: remove redundant steps and insert missing ones.
        library: Use macro actions of the library instead of asking the model.
        knowledge: Prompts include background knowledge on dishes and common mistakes, the
            postcondition of a block, and the contents of objects.
        direct: With R: skip the selection of objects if a macro action names them.
        batching: With H: ask for the blocks of several macro actions at once.
        constraints: With V: blocks must keep the constraints that hvr reads in the request.
        block_limit: Maximum steps that the model may write per block; planner repair may add more.
        plan_limit: Without H: maximum steps that the model may write for the plan.
        tries_per_step: Maximum corrections of a block, per step.
        block_tries: Absolute maximum of corrections of a block; None for no such limit. With
            planner repair, bridging is cheaper than a third correction.
        macro_tries: Maximum corrections of the macro actions' conditions.
        macro_limit: Maximum number of macro actions.
    """

    hierarchical: bool = True
    verification: bool = True
    retrieval: bool = True
    expansion: bool = True
    planner_repair: bool = True
    elimination: bool = True
    library: bool = True
    knowledge: bool = True
    direct: bool = True
    batching: bool = True
    constraints: bool = True
    judge: bool = False
    block_limit: int = 50
    plan_limit: int = 200
    tries_per_step: int = 2
    block_tries: int | None = 2
    macro_tries: int = 2
    macro_limit: int = 30

    def to_json(self) -> dict[str, Any]:
        """Return the settings; `judge` only if it is on, since recorded runs predate it."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.judge:
            del values["judge"]
        return values


_PAPER = PolicySettings(
    expansion=False,
    planner_repair=False,
    elimination=False,
    library=False,
    knowledge=False,
    direct=False,
    batching=False,
    constraints=False,
    block_tries=None,
    macro_tries=5,
)

NAMED_SETTINGS: Mapping[str, PolicySettings] = {
    "HVR+": PolicySettings(),
    "HVR": _PAPER,
    "HV": replace(_PAPER, retrieval=False),
    "HR": replace(_PAPER, verification=False),
    "VR": replace(_PAPER, hierarchical=False),
    "R": replace(_PAPER, hierarchical=False, verification=False),
    "LLM": replace(_PAPER, hierarchical=False, verification=False, retrieval=False),
}
"""The paper's method and its baselines, and `HVR+` with all of hvr's additions."""

GOAL = "LLM+P"
"""Setting of the policy `goal`: the model writes only the goal, a classical planner plans."""

SETTINGS: tuple[str, ...] = (*NAMED_SETTINGS, GOAL)
"""All setting names, in the order of tables."""

_GOAL = replace(_PAPER, hierarchical=False, verification=False)


def is_goal(text: str) -> bool:
    """Return whether a setting belongs to the policy `goal`."""
    return text.upper() == GOAL


def settings_named(text: str) -> PolicySettings:
    """Return settings by name, optionally followed by switches.

    A switch is `+name` (on) or `-name` (off), as in `HVR+planner_repair` or
    `HVR+-library-expansion`.

    Raises:
        UsageError: No such setting or switch exists.
    """
    if is_goal(text):
        return _GOAL
    name = max((n for n in NAMED_SETTINGS if text.upper().startswith(n)), key=len, default="")
    if not name:
        raise UsageError(f"unknown setting {text!r} (settings: {', '.join(SETTINGS)})")
    switches = [f.name for f in fields(PolicySettings) if f.type == "bool"]
    settings, rest = NAMED_SETTINGS[name], text[len(name) :]
    # "HVR+planner_repair" is HVR with a switch, not HVR+ followed by a word.
    if name.endswith("+") and rest and rest[0] not in "+-":
        settings, rest = NAMED_SETTINGS[name[:-1]], "+" + rest
    while rest:
        sign, rest = rest[0], rest[1:]
        switch = next((s for s in switches if rest.lower().startswith(s)), None)
        if sign not in "+-" or switch is None:
            raise UsageError(
                f"setting {text!r}: expected a switch such as +planner_repair or -library after "
                f"{name} (switches: {', '.join(switches)})"
            )
        settings = replace(settings, **{switch: sign == "+"})
        rest = rest[len(switch) :]
    return settings
