"""Which language model is to be asked, and how: a value that costs nothing to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.numbers import check_real

if TYPE_CHECKING:
    from hvr.models.limits import Limits

_HOTTEST = 100.0
"""No provider takes more than 2; a server of one's own may."""


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """Which language model plans, and how.

    Args:
        spec: such as `openai:gpt-4o-mini`, `replay:runs/…` or `scripted:error=0.1`; None for
            the one of environment or pyproject.toml.
        base_url: address of the server; None for the provider's own.
        setting: which parts are on, such as `HVR+` or `HVR+-library`; see `settings.named`.
        embedder: maps names to objects and actions.
        prompts: folder of the user's own templates.
        library: file of macro actions to use and to add to; None for none.
        cache: file of answers that were paid for; None for none.
        limits: what may be used at most, of a bench by all its plans together; None for no limit.
        calls_per_plan: requests for one plan at most; None for the settings' limit, or 100. For a
            single plan `limits` may say otherwise.
        timeout: seconds for a request at most; None for the settings' time-out, or 60.
        temperature: of the model's sampling.
        recorded_url: a run folder named the address, which may be anybody's: no provider's own key
            is sent there.
        trust_project: Whether pyproject.toml may name the model and its address.

    Raises:
        UsageError: the temperature cannot be used.
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
        check_real("temperature", self.temperature, most=_HOTTEST)
