"""The policy `agent`: a language model plans by calling hvr's tools."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from hvr.errors import UsageError
from hvr.models.choice import ModelChoice
from hvr.planning.plans import PolicyContext
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.settings import AGENT, is_agent


class AgentPolicy(LLMPolicy):
    """The policy of `hvr.policies.llm`, with a plan made by tool calls."""

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """Open the policy; see `open_equipment`."""
        setting = context.model.setting
        if not is_agent(setting) and setting != ModelChoice.setting:
            raise UsageError(
                f"the policy agent supports only the setting {AGENT}, not {setting}",
                field="setting",
            )
        # The recorded setting must be the one that repeats the run.
        setting = setting if is_agent(setting) else AGENT
        return super().open(replace(context, model=replace(context.model, setting=setting)))
