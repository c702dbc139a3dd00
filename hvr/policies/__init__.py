"""Policies: components that plan for a request, from classical search to language models.

Each policy is a class with the methods of `hvr.planning.plans.Policy`, listed by name in
`POLICIES`. It turns a request into goals (`understand`) and plans for them (`plan`), and never
sees a task's ground truth.

Begin with `SymbolicPolicy` in `symbolic.py`, where grammar and ontology produce the goal, and
search finds the plan. In `llm/`, the paper's policy, a language model writes macro actions and
blocks. In `goal/`, a model writes the goal and search finds the plan. `facts.py` lets models plan
in PDDL worlds, and `world_checks.py` checks a world's folder for mismatches.
"""

from __future__ import annotations

from typing import Any

from hvr.base.registry import Registry
from hvr.errors import UsageError
from hvr.planning.plans import Policy

POLICIES = Registry(
    "policy",
    "policies",
    {
        "symbolic": "hvr.policies.symbolic:SymbolicPolicy",
        "llm": "hvr.policies.llm.policy:LLMPolicy",
        "goal": "hvr.policies.goal.policy:GoalPolicy",
        "agent": "hvr.policies.llm.policy:AgentPolicy",
    },
    "hvr.policies",
)
"""Classes with the methods of `hvr.planning.plans.Policy`, by name."""

_MEMBERS = (
    "open",
    "understand",
    "plan",
    "clearing",
    "judge",
    "records",
    "keep",
    "recovery_strategies",
    "asks_model",
    "meter",
)

_OWN = ("open", "understand", "plan", "clearing")


def _body(policy: Any, member: str) -> Any:
    method = getattr(policy, member)
    return getattr(method, "__func__", method)


def policy_class(name: str) -> type[Policy[Any]]:
    """Return the class of a policy.

    Raises:
        UsageError: No such policy exists, or it cannot be imported.
        MissingExtraError: A package that the policy needs is not installed.
    """
    policy = POLICIES.load(name)
    lacking = [member for member in _MEMBERS if not hasattr(policy, member)]
    # Methods that a class inherits from the protocol itself have no body.
    lacking += [m for m in _OWN if m not in lacking and _body(policy, m) is _body(Policy, m)]
    if not isinstance(policy, type) or lacking:
        what = f"missing {', '.join(lacking)}" if lacking else "expected a class"
        raise UsageError(f"{name!r} is not a policy: {what}")
    return policy
