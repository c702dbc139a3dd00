"""The user's choice of a language model and its settings, in a module that is cheap to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.texts import check_real

if TYPE_CHECKING:
    from hvr.models.limits import Limits

_MAX_TEMPERATURE = 100.0
"""No provider accepts more than 2, but a custom server may."""


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A language model and the settings to plan with.

    Args:
        spec: Specification such as `openai:gpt-4o-mini`, `replay:runs/…` or `scripted:error=0.1`;
            None for the model named in the environment or in pyproject.toml.
        base_url: Base URL of the server; None for the provider's default.
        setting: Name of the combination of enabled features, such as `HVR+` or `HVR+-library`; see
            `hvr.policies.llm.settings`.
        embedder: Specification of the embedder that maps names to objects and actions.
        prompts: Folder of the user's prompt templates.
        library: File of macro actions to use and to extend.
        cache: SQLite file of answers to reuse; None for no cache.
        limits: Maximum usage (in a bench, of all plans together); None for no limit.
        calls_per_plan: Maximum number of requests per plan; None for the configured limit, or 100.
            A single plan follows `limits.calls` instead, if set.
        timeout: Timeout per request in seconds; None for the configured timeout, or 60.
        recorded_url: Whether the base URL was read from a run folder; then no provider's key is
            sent to it.
        trust_project: Whether pyproject.toml may name the model and its base URL.

    Raises:
        UsageError: The temperature is invalid.
    """

    spec: str | None = None
    base_url: str | None = None
    setting: str = "HVR+"
    embedder: str = "lexical"
    prompts: Path | None = None
    library: Path | None = None
    cache: Path | None = None
    limits: Limits | None = None
    calls_per_plan: int | None = None
    timeout: float | None = None
    temperature: float = 0.0
    recorded_url: bool = False
    trust_project: bool = False

    def __post_init__(self) -> None:
        check_real("temperature", self.temperature, most=_MAX_TEMPERATURE)
