"""The parts of HVR that are on: the paper's settings and what hvr adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hvr.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """The settings of the language model's policy, the first three being the paper's H, V and R.

    Args:
        hierarchical: H: macro actions first, then a block of atomic actions for each.
            Without it the model is asked for the whole plan at once.
        verification: V: the navigation heuristic, the step-wise check and backprompting.
        retrieval: R: only the objects that the model picks go into prompts, with the facts
            that the graph has about them. Without it all objects do.
        expansion: with R: add what the picked objects depend on.
        planner_repair: with V: when the model's tries are spent, a classical planner bridges
            to the block's postcondition, or to the next step that can be saved.
        elimination: finally leave out the steps that the plan does not need.
        judge: before that, judge the plan: leave out superfluous steps, put in missing ones.
        library: use macro actions of the library instead of asking the model.
        knowledge: prompts tell what the ontology knows of the request's dishes and of what is
            easily mistaken, what a block is judged by, and what stands in what.
        direct: with R: objects are not asked for again where a macro action names them.
        batching: with H: the blocks of several macro actions are asked for at once.
        constraints: with V: blocks must keep what the request forbids on the way, as hvr reads it.
        block_limit: most steps that the model may write for a block; planner repair may add more.
        plan_limit: without H: most steps that it may write for the plan.
        tries_per_step: most corrections of a block for each of its steps.
        block_tries: most corrections of a block besides; None for no other limit. With planner
            repair, what is wrong after two is cheaper to bridge than to ask for again.
        macro_tries: most corrections of the conditions of the macro actions.
        macro_limit: most macro actions of a plan.
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
        """Return plain JSON values; without the judge where it is off, as before there was one."""
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
"""The paper's method, its baselines, and `HVR+` with everything that hvr adds."""

GOAL = "LLM+P"
"""The setting of the policy `goal`: the model writes the goal alone, a classical planner plans."""

SETTINGS: tuple[str, ...] = (*NAMED_SETTINGS, GOAL)
"""The names of all settings, as tables have them."""

_GOAL = replace(_PAPER, hierarchical=False, verification=False)


def is_goal(text: str) -> bool:
    """Return whether a setting is that of the policy `goal`."""
    return text.upper() == GOAL


def settings_named(text: str) -> PolicySettings:
    """Return settings by name, with switches: `HVR`, `HVR+planner_repair`, `HVR+-library`.

    Switches follow the name as `+name` (on) or `-name` (off), as in `HVR+elimination` or
    `HVR+-library-expansion`.

    Raises:
        UsageError: there is no such name or switch.
    """
    if is_goal(text):
        return _GOAL
    name = max((n for n in NAMED_SETTINGS if text.upper().startswith(n)), key=len, default="")
    if not name:
        raise UsageError(f"unknown setting {text!r} (settings: {', '.join(SETTINGS)})")
    switches = [f.name for f in fields(PolicySettings) if f.type == "bool"]
    settings, rest = NAMED_SETTINGS[name], text[len(name) :]
    # "HVR+planner_repair" is HVR with a switch, not HVR+ with a word behind it.
    if name.endswith("+") and rest and rest[0] not in "+-":
        settings, rest = NAMED_SETTINGS[name[:-1]], "+" + rest
    while rest:
        sign, rest = rest[0], rest[1:]
        switch = next((s for s in switches if rest.lower().startswith(s)), None)
        if sign not in "+-" or switch is None:
            raise UsageError(
                f"setting {text!r}: after {name} come switches such as +planner_repair or "
                f"-library (switches: {', '.join(switches)})"
            )
        settings = replace(settings, **{switch: sign == "+"})
        rest = rest[len(switch) :]
    return settings
