"""Models from their specs, and the layers around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.registry import Registry
from hvr.errors import UsageError
from hvr.models.budget import Budget, Budgeted
from hvr.models.cache import Cache
from hvr.models.cancel import Cancellation
from hvr.models.guard import Guarded
from hvr.models.limits import RateLimit
from hvr.models.model import Model
from hvr.models.options import ModelOptions
from hvr.models.record import Recording
from hvr.models.replay import Replay
from hvr.models.retry import Patience, Persistence, Retry
from hvr.models.window import PerMinute, SharedWindow

PROVIDERS = Registry(
    "model",
    "models",
    {
        "openai": "hvr.models.openai_model:OpenAIModel",
        "gemini": "hvr.models.gemini:GeminiModel",
        "hf": "hvr.models.huggingface:HuggingFaceModel",
        "replay": "hvr.models.replay:open_replay",
        "scripted": "hvr.runs.simulated:open_scripted",
    },
    "hvr.providers",
    ("name", "simulated", "answer"),
)
"""Each entry is called with what follows the colon of a spec (empty without one) and the
`ModelOptions`, and returns a `Model`."""

_FORMS = {
    "openai": "openai:MODEL",
    "gemini": "gemini:MODEL",
    "hf": "hf:NAME_OR_FOLDER",
    "replay": "replay:PATH",
    "scripted": "scripted",
}
_LOAD_WEIGHTS = frozenset({"hf"})
_SIMULATIONS = frozenset({"scripted"})


def make_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return the model of a spec, with the guard around it and no other layer.

    Args:
        spec: as `make_provider` takes it.
        options: how to reach it.

    Raises:
        HvrError: see `make_provider`.
    """
    options = options or ModelOptions()
    model = make_provider(spec, options)
    # A replay has nothing that a guard has not seen.
    return model if isinstance(model, Replay) else Guarded(model, options)


def make_provider(spec: str, options: ModelOptions) -> Model:
    """Return what a provider makes of a spec, with nothing around it.

    Args:
        spec: `openai:MODEL`, `gemini:MODEL`, `hf:NAME_OR_FOLDER`, `replay:PATH` with a
            transcript or the folder of a run, `scripted` with or without parameters, or the name
            of another package's provider with what it takes.
        options: how to reach it.

    Raises:
        UsageError: the spec is none of these.
        MissingExtraError: a package that it needs is not installed.
        DataFileError: a file or folder that it names cannot be read.
    """
    provider, _, rest = spec.partition(":")
    known = provider in PROVIDERS.entries or provider in PROVIDERS.names()
    if not known or (":" in _FORMS.get(provider, "") and not rest):
        forms = (_FORMS.get(name, f"{name}:…") for name in PROVIDERS.names())
        raise UsageError(f"unknown model {spec!r}: use one of {', '.join(forms)}")
    model: Model = PROVIDERS.make(provider, rest, options)
    return model


def loads_weights(spec: str) -> bool:
    """Return whether making the model of a spec takes long, because it is loaded into memory."""
    return spec.partition(":")[0] in _LOAD_WEIGHTS


def is_simulation(spec: str) -> bool:
    """Return whether a spec, by its name alone, stands for a simulation of a model."""
    return spec.partition(":")[0] in _SIMULATIONS


def replayed(spec: str) -> Path | None:
    """Return the transcript or run folder that a spec replays; None for any other spec."""
    provider, _, rest = spec.partition(":")
    return Path(rest) if provider == "replay" and rest else None


@dataclass(frozen=True)
class SharedLimits:
    """What several models, threads or processes have in common.

    Args:
        budgets: what may be used.
        sent: file in which it is counted what is sent within a minute; None where each model
            counts for itself.
    """

    budgets: tuple[Budget, ...] = ()
    sent: Path | None = None


def stack(
    model: Model,
    options: ModelOptions | None = None,
    *,
    record: Path | None = None,
    header: Mapping[str, Any] | None = None,
    cache: Path | None = None,
    shared: SharedLimits | None = None,
    cancel: Cancellation | None = None,
) -> Model:
    """Put the layers around a model, outermost first:

    recording   sees what the caller sees: each question once, with its last answer or error
    cache       a known answer costs nothing, so no budget may refuse it and nothing waits
    retry       each attempt passes what is below, one after the other
    budgets     each attempt may be billed, so each has to be allowed, below retries
    rate limit  counts what is sent, when it is sent
    the model, with its guard (see `make_model`)

    A replay asks nobody: it gets only the recording.

    Args:
        model: the model itself.
        options: how it is reached.
        record: file for a transcript.
        header: what else goes into the transcript's first line.
        cache: file of a cache, which may be shared.
        shared: budgets, and where it is counted what is sent.
        cancel: calls everything off.

    Raises:
        DataFileError: a file cannot be used.
        UsageError: the budget is in dollars and the model's price is not known.
    """
    options = options or ModelOptions()
    top = (
        model
        if isinstance(model, Replay)
        else _layers(model, options, cache, shared or SharedLimits(), cancel)
    )
    return top if record is None else Recording(top, record, header, scrubber=options.scrubber)


def _layers(
    model: Model,
    options: ModelOptions,
    cache: Path | None,
    shared: SharedLimits,
    cancel: Cancellation | None,
) -> Model:
    top = model
    rate = PerMinute(options.requests_per_minute, options.tokens_per_minute)
    if rate != PerMinute():
        sent = None if shared.sent is None else SharedWindow(shared.sent, model.name)
        top = RateLimit(top, rate, window=sent, cancel=cancel)
    for budget in shared.budgets:
        top = Budgeted(top, budget, options.price(model.name.partition(":")[2]))
    patience = Patience(attempts=options.attempts, seconds=options.seconds)
    top = Retry(top, Persistence(patience, cancel=cancel))
    return top if cache is None else Cache(top, cache, options.base_url or "")
