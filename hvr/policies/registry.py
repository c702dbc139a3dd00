"""Policies by name."""

from __future__ import annotations

from typing import Any

from hvr.plans import Policy
from hvr.registry import Registry

POLICIES = Registry(
    "policy",
    "policies",
    {
        "symbolic": "hvr.policies.symbolic:SymbolicPolicy",
        "llm": "hvr.policies.llm.policy:LLMPolicy",
    },
    "hvr.policies",
)
"""Each entry is a class with the methods of `hvr.plans.Policy`."""


def policy_class(name: str) -> type[Policy[Any]]:
    """Return the class of a policy by name.

    Raises:
        UsageError: there is no such policy, or it cannot be imported.
        MissingExtraError: a package that it needs is not installed.
    """
    policy: type[Policy[Any]] = POLICIES.load(name)
    return policy
