"""Creation of language models from specs, with their settings and layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hvr.base.declared import decode
from hvr.base.registry import Registry
from hvr.errors import DataFileError, PlanBudgetError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.config import ConfiguredModel, ModelOptions, read_config, read_embedder_config
from hvr.models.layers import Cache, Guarded, Meter, Retry, RetryLimits, RetryPolicy
from hvr.models.limits import Budget, Budgeted, Limits, Load, PerMinute, RateLimit, SharedWindow
from hvr.models.model import Model
from hvr.models.recording import RecordingModel, Replay, count_exchanges

# Factory ------------------------------------------------------------------------------------------

PROVIDERS = Registry(
    "model",
    "models",
    {
        "openai": "hvr.models.openai_model:OpenAIModel",
        "responses": "hvr.models.openai_model:ResponsesModel",
        "anthropic": "hvr.models.anthropic_model:AnthropicModel",
        "gemini": "hvr.models.gemini:GeminiModel",
        "hf": "hvr.models.huggingface:HuggingFaceModel",
        "replay": "hvr.models.recording:open_replay",
        "scripted": "hvr.runs.simulated:open_scripted",
    },
    "hvr.providers",
    ("name", "simulated", "answer"),
)
"""Each entry takes the part of a spec after the colon (possibly empty) and the `ModelOptions`, and
returns a `Model`.
"""

_FORMS = {
    "openai": "openai:MODEL",
    "responses": "responses:MODEL",
    "anthropic": "anthropic:MODEL",
    "gemini": "gemini:MODEL",
    "hf": "hf:NAME_OR_FOLDER",
    "replay": "replay:PATH",
    "scripted": "scripted",
}


def make_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return the model that a spec names, wrapped only in the guard that redacts secrets.

    A replay is returned without the guard.
    """
    options = options or ModelOptions()
    model = make_provider(spec, options)
    # Recorded answers passed the guard when they were recorded.
    return model if isinstance(model, Replay) else Guarded(model, options)


def make_provider(spec: str, options: ModelOptions) -> Model:
    """Return the bare model that a spec names, without retries, caching or other layers.

    Args:
        spec: `openai:MODEL`, `responses:MODEL`, `anthropic:MODEL`, `gemini:MODEL`,
            `hf:NAME_OR_FOLDER`, `replay:PATH` (a transcript or run folder), `scripted` with
            optional parameters, or the name of a provider in another package with its argument.

    Raises:
        UsageError: The spec is invalid, or a key is missing.
        DataFileError: A transcript or a local model cannot be read.
    """
    provider, _, rest = spec.partition(":")
    known = provider in PROVIDERS.entries or provider in PROVIDERS.names()
    if not known or (":" in _FORMS.get(provider, "") and not rest):
        forms = (_FORMS.get(name, f"{name}:…") for name in PROVIDERS.names())
        raise UsageError(f"unknown model {spec!r}: use one of {', '.join(forms)}")
    model: Model = PROVIDERS.make(provider, rest, options)
    return model


def loads_weights(spec: str) -> bool:
    """Return whether the model of a spec loads weights into memory, which is slow."""
    return spec.partition(":")[0] == "hf"


def is_simulation(spec: str) -> bool:
    return spec.partition(":")[0] == "scripted"


def replayed(spec: str) -> Path | None:
    """Return the transcript or run folder that a spec replays; None for any other spec."""
    provider, _, rest = spec.partition(":")
    return Path(rest) if provider == "replay" and rest else None


@dataclass(frozen=True)
class SharedLimits:
    """Limits shared by several models or processes; `sent` records the last minute's requests."""

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
) -> Model:
    """Put the layers around a model, outermost first:

    recording   sees each question once, with its final answer or error
    cache       a known answer is free, so it bypasses budgets and waits
    retry       repeats a request through the layers below after a temporary failure
    budgets     below the retries, because each attempt may be billed
    rate limit  counts requests at the moment they are sent
    the model   with its guard (see `make_model`)

    A replay sends nothing, so it gets only the recording.

    Raises:
        UsageError: A budget is in dollars, but the model's price is unknown.
    """
    options = options or ModelOptions()
    top = (
        model
        if isinstance(model, Replay)
        else _layers(model, options, cache, shared or SharedLimits())
    )
    if record is None:
        return top
    return RecordingModel(
        top, record, header, scrubber=options.scrubber, concurrency=options.concurrency
    )


def _layers(model: Model, options: ModelOptions, cache: Path | None, shared: SharedLimits) -> Model:
    top = model
    rate = PerMinute(options.requests_per_minute, options.tokens_per_minute)
    if rate != PerMinute():
        sent = None if shared.sent is None else SharedWindow(shared.sent, model.name)
        top = RateLimit(top, rate, window=sent)
    for budget in shared.budgets:
        top = Budgeted(top, budget, options.price(model.name.partition(":")[2]))
    retries = RetryLimits(attempts=options.attempts, seconds=options.seconds)
    top = Retry(top, RetryPolicy(retries))
    return top if cache is None else Cache(top, cache, options.base_url or "")


# Connect ------------------------------------------------------------------------------------------

CALLS_PER_PLAN = 100
"""Default maximum number of requests per plan; hvr's own tasks take 1 to 70."""


def calls_per_plan(options: ModelOptions) -> int:
    return options.calls_per_plan or CALLS_PER_PLAN


SENT = "sent.sqlite"
"""Name of the file, beside a shared ledger, that counts requests per minute."""


def reach(choice: ModelChoice, about: Mapping[str, Any] | None = None) -> ConfiguredModel:
    """Return the model and options that follow from a choice, the environment and pyproject.toml.

    `about` has the task, scene and seed of the plan, for simulated models.

    Raises:
        UsageError: No model is named, or a setting is invalid.
    """
    chosen = read_config(choice).trusted()
    if chosen.spec is None:
        raise UsageError(
            "no model given: pass openai:MODEL, anthropic:MODEL, gemini:MODEL, hf:NAME or "
            "replay:FOLDER, or set HVR_LLM",
            field="spec",
        )
    return replace(chosen, options=replace(chosen.options, about=dict(about or {})))


def connect(
    choice: ModelChoice,
    *,
    about: Mapping[str, Any] | None = None,
    transcript: Path | None = None,
    header: Mapping[str, Any] | None = None,
    ledger: Path | None = None,
    plans: int | None = 1,
) -> Meter:
    """Return the chosen model with the layers of `stack` and a usage meter.

    Args:
        choice: The model and its settings; `read_config` fills in unset ones.
        transcript: File to record all requests and answers in; an existing file is continued.
        header: Additional fields for the first line of the transcript.
        ledger: File that records the charges, shared with other processes and later attempts.
        plans: Number of plans that the limits cover; None if the model serves one plan and the
            limits cover all users of the ledger.

    Raises:
        UsageError: No model is named, an option is invalid, or a key is missing.
        DataFileError: A transcript or a local model cannot be read.
    """
    chosen = reach(choice, about)
    assert chosen.spec is not None
    model = make_model(chosen.spec, chosen.options)
    calls = (plans or 1) * calls_per_plan(chosen.options)
    limits = choice.limits or Limits()
    budgets: tuple[Budget, ...]
    sent = ledger.with_name(SENT) if ledger is not None and plans is None else None
    if isinstance(model, Replay):  # a replay sends nothing
        budgets = ()
    elif plans is None:
        # The shared ledger counts even without a limit, since a later start may set one. It does
        # not distinguish plans, so a second budget counts only this plan, starting from its
        # recorded exchanges.
        earlier = Load(calls=count_exchanges(transcript) if transcript is not None else 0)
        own = Budget(Limits(calls=calls), charged=earlier, refusal=PlanBudgetError)
        budgets = (Budget(limits, ledger), own)
    else:
        whole = limits if limits.calls is not None else replace(limits, calls=calls)
        budgets = (Budget(whole, ledger),)
    top = stack(
        model,
        chosen.options,
        record=transcript,
        header=header,
        cache=choice.cache,
        shared=SharedLimits(budgets, sent),
    )
    return Meter(top, top.aside) if isinstance(top, RecordingModel) else Meter(top)


def embedder_options(choice: ModelChoice) -> ModelOptions:
    """Return the options for the embedder of a choice.

    An embedder from the language model's provider shares the model's options. Any other embedder
    must not receive the model's key; its own is read from the environment.

    Raises:
        UsageError: No model is named, or a setting is invalid.
    """
    chosen = reach(choice)
    if str(chosen.spec).partition(":")[0] == choice.embedder.partition(":")[0]:
        return chosen.options
    return read_embedder_config(choice.embedder)


# Recorded runs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedRun:
    """A recorded run to repeat; `run` is the entry `run` of its transcript's header."""

    folder: Path
    run: Mapping[str, Any]


@dataclass(frozen=True)
class _Run:
    request: str
    task: str | None
    scene: str
    seed: int
    planner: str
    budget: float
    max_replans: int
    execute: bool
    sight: str = ""
    error_rate: float = 0.0
    setting: str = ""
    embedder: str = ""
    temperature: float = 0.0


def recorded_run(choice: ModelChoice) -> RecordedRun | None:
    """Return the run that the spec `replay:FOLDER` repeats.

    For any other spec, or a transcript that does not describe a run, return None.

    Raises:
        DataFileError: The transcript cannot be read, or its run cannot be repeated.
    """
    spec = read_config(choice).spec
    path = replayed(spec) if spec is not None else None
    if path is None:
        return None
    run = Replay(path).header.get("run")
    if not isinstance(run, dict):
        return None
    try:
        decode(_Run, {name: run[name] for name in run if name in _Run.__match_args__})
    except UsageError as error:
        raise DataFileError(
            f"{path}: the run described by its first line cannot be repeated: {error}"
        ) from None
    return RecordedRun(path if path.is_dir() else path.parent, run)


def with_recorded_settings(choice: ModelChoice, recorded: RecordedRun) -> ModelChoice:
    run = recorded.run
    return replace(
        choice,
        setting=str(run.get("setting", choice.setting)),
        embedder=str(run.get("embedder", choice.embedder)),
        temperature=float(run.get("temperature", choice.temperature)),
    )
