"""The settings of the policy `llm`: the paper's and hvr's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hvr.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """Settings of the LLM policy; the first three are the paper's H, V and R.

    Args:
        hierarchical: H: whether to write macro actions first, then a block of atomic actions for
            each. If not, the model writes the whole plan at once.
        verification: V: whether to insert moves, check each step, and send errors back to the
            model.
        retrieval: R: whether prompts describe only the objects that the model selects. If not, they
            describe all objects.
        expansion: With R: whether to add the objects on which the selected ones depend.
        planner_repair: With V: whether a classical planner takes over when the model's tries are
            used up. It plans to the block's postcondition, or to the next step that can be kept.
        elimination: Whether to remove redundant steps from the finished plan.
        judge: Whether to judge the plan before elimination, removing redundant steps and inserting
            missing ones.
        structured: Whether answers are JSON that follows a schema of the names in the world.
        constrained: With `structured`: whether blocks are written action by action. The schema of
            each answer then contains only actions that are applicable, after a move if necessary.
        agent: Whether the model plans by calling hvr's tools.
        library: Whether to use macro actions of the library instead of asking the model.
        knowledge: Whether prompts include background knowledge on dishes and common mistakes, the
            postcondition of a block, and the contents of objects.
        direct: With R: whether to skip the selection of objects if a macro action names them.
        batching: With H: whether to ask for the blocks of several macro actions at once.
        constraints: With V: whether blocks must keep the constraints that hvr reads in the request.
        block_limit: Maximum number of steps that the model may write per block; planner repair may
            add more.
        plan_limit: Without H: maximum number of steps that the model may write for the plan.
        tries_per_step: Maximum number of corrections of a block, per step.
        block_tries: Absolute maximum number of corrections of a block; None for no limit. With
            planner repair, bridging is cheaper than a third correction.
        macro_tries: Maximum number of corrections of the macro actions' conditions.
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
    structured: bool = False
    constrained: bool = False
    agent: bool = False
    block_limit: int = 50
    plan_limit: int = 200
    tries_per_step: int = 2
    block_tries: int | None = 2
    macro_tries: int = 2
    macro_limit: int = 30

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON.

        Settings added in later versions appear only if they are on, because older runs lack them.
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if value or name not in _LATER}


_LATER = frozenset(("judge", "structured", "constrained", "agent"))


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
"""The paper's method and its baselines, and `HVR+`, which has all of hvr's additions."""

GOAL = "LLM+P"
"""Setting of the policy `goal`: the model writes only the goal, and a classical planner plans."""

AGENT = "AGENT"
"""Setting of the policy `agent`: the model plans by calling hvr's tools."""

SETTINGS: tuple[str, ...] = (*NAMED_SETTINGS, GOAL, AGENT)
"""All names of settings, in the order of tables."""

CONSTRAINED = "HVR++constrained"
"""`HVR+` in which the model writes a block by choosing one applicable action after another."""

_WHOLE = replace(_PAPER, hierarchical=False, verification=False)
_BASES: Mapping[str, PolicySettings] = {
    **NAMED_SETTINGS,
    GOAL: _WHOLE,
    AGENT: replace(_WHOLE, structured=True, agent=True, knowledge=True, constraints=True),
}


def is_goal(text: str) -> bool:
    return _base(text) == GOAL


def is_agent(text: str) -> bool:
    return _base(text) == AGENT


def _base(text: str) -> str:
    names = [n for n in _BASES if text.upper().startswith(n)]
    # "LLM+planner_repair" is LLM with a switch, not LLM+P followed by a word.
    whole = [n for n in names if n.endswith("+") or text[len(n) : len(n) + 1] in ("", "+", "-")]
    return max(whole or names, key=len, default="")


def decided(text: str, structured: bool) -> str:
    """Add `+structured` to a setting if `structured`, unless it names the form or is `AGENT`."""
    open_ = "structured" not in text.lower() and "constrained" not in text.lower()
    return f"{text}+structured" if open_ and structured and not is_agent(text) else text


def settings_named(text: str) -> PolicySettings:
    """Return settings by name, optionally followed by switches.

    A switch is `+name` (on) or `-name` (off), as in `HVR+planner_repair` or
    `HVR+-library-expansion`. `constrained` implies `structured`.

    Raises:
        UsageError: The setting or a switch is unknown.
    """
    name = _base(text)
    if not name:
        raise UsageError(f"unknown setting {text!r} (settings: {', '.join(SETTINGS)})")
    switches = [f.name for f in fields(PolicySettings) if f.type == "bool"]
    settings, rest = _BASES[name], text[len(name) :]
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
    return replace(settings, structured=True) if settings.constrained else settings
