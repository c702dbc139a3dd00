"""The connection to a language model: its settings read, its layers around it, its use counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from hvr.base.registry import Registry
from hvr.base.texts import check_fields
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.config import ConfiguredModel, ModelOptions, read_config, read_embedder_config
from hvr.models.errors import Cancellation
from hvr.models.layers import Cache, Guarded, Retry, RetryLimits, RetryPolicy
from hvr.models.limits import Budget, Budgeted, Limits, Load, PerMinute, RateLimit, SharedWindow
from hvr.models.meter import Meter
from hvr.models.model import Model
from hvr.models.recording import RecordingModel, times_asked
from hvr.models.transcript import Replay

# Factory ------------------------------------------------------------------------------------------
# Models from their specs, and the layers around them.

PROVIDERS = Registry(
    "model",
    "models",
    {
        "openai": "hvr.models.openai_model:OpenAIModel",
        "gemini": "hvr.models.gemini:GeminiModel",
        "hf": "hvr.models.huggingface:HuggingFaceModel",
        "replay": "hvr.models.transcript:open_replay",
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
    return top if record is None else RecordingModel(top, record, header, scrubber=options.scrubber)


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
    patience = RetryLimits(attempts=options.attempts, seconds=options.seconds)
    top = Retry(top, RetryPolicy(patience, cancel=cancel))
    return top if cache is None else Cache(top, cache, options.base_url or "")


# Connect ------------------------------------------------------------------------------------------
# The one way to a language model: its settings read, its layers around it, its use counted.

CALLS_PER_PLAN = 100
"""Requests for a plan at most if nobody says otherwise; plans of hvr's tasks take 1 to 70."""


SENT = "sent.sqlite"
"""The file beside a shared ledger that counts what is sent within a minute."""


def reach(choice: ModelChoice, about: Mapping[str, Any] | None = None) -> ConfiguredModel:
    """Return which model is meant and how to reach it: choice, environment, pyproject.toml.

    Args:
        choice: which model, and how.
        about: task, scene and seed, for a simulated model.

    Raises:
        UsageError: no model is named, or a setting cannot be used.
        DataFileError: pyproject.toml cannot be read.
    """
    chosen = read_config(
        choice.spec,
        base_url=choice.base_url,
        recorded_url=choice.recorded_url,
        trust_project=choice.trust_project,
        timeout=choice.timeout,
        calls_per_plan=choice.calls_per_plan,
    ).trusted()
    if chosen.spec is None:
        raise UsageError(
            "no model is named: give openai:MODEL, gemini:MODEL, hf:NAME or replay:FOLDER, "
            "or set HVR_LLM",
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
    """Return a model that is counted, with the layers of `stack` around it.

    Args:
        choice: which model, and how: key, address and limits come from here or from where
            `read_config` finds them.
        about: task, scene and seed, for a simulated model.
        transcript: file for all that is asked and answered; one that is there is gone on with.
        header: what else goes into the transcript's first line.
        ledger: file of what was charged, which a later try or other processes go on with.
        plans: how many plans the model is connected for, and the limits are for; None where the
            limits are for all who share the ledger, and the model for one plan.

    Raises:
        UsageError: no model is named, or an option cannot be used.
        LLMError: a key is missing.
        MissingExtraError: a package that the model needs is not installed.
        DataFileError: a file cannot be used.
    """
    chosen = reach(choice, about)
    assert chosen.spec is not None
    model = make_model(chosen.spec, chosen.options)
    calls = (plans or 1) * (chosen.options.calls_per_plan or CALLS_PER_PLAN)
    limits = choice.limits or Limits()
    budgets: tuple[Budget, ...]
    sent = ledger.with_name(SENT) if ledger is not None and plans is None else None
    if isinstance(model, Replay):  # which asks nobody
        budgets = ()
    elif plans is None:
        # The ledger counts what is asked without a limit, too: a later start may set one. It does
        # not tell plans apart; for that, an exchange counts as a request.
        asked = Load(calls=times_asked(transcript) if transcript is not None else 0)
        budgets = (Budget(limits, ledger), Budget(Limits(calls=calls), charged=asked))
    else:
        own = limits if limits.calls is not None else replace(limits, calls=calls)
        budgets = (Budget(own, ledger),)
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
    """Return how to reach the embedder of a choice: as the model, if both have one provider.

    Another provider must not get the model's key; it finds its own in the environment.

    Raises:
        UsageError: no model is named, or a setting cannot be used.
        DataFileError: pyproject.toml cannot be read.
    """
    chosen = reach(choice)
    if str(chosen.spec).partition(":")[0] == choice.embedder.partition(":")[0]:
        return chosen.options
    return read_embedder_config(choice.embedder)


# Recorded runs ------------------------------------------------------------------------------------
# Runs that were recorded: `replay:FOLDER` repeats request, scene, seed and settings.


@dataclass(frozen=True)
class RecordedRun:
    """What is known of a run from its transcript, to repeat it.

    Args:
        folder: of the run.
        run: request, task, scene, seed and settings as they were.
    """

    folder: Path
    run: Mapping[str, Any]


@dataclass(frozen=True)
class _Run:
    """What the header of a transcript must say of its run."""

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
    """Return the run that a `replay:FOLDER` repeats; None for anything else.

    Raises:
        DataFileError: the transcript cannot be read, or does not say what to repeat.
    """
    spec = read_config(choice.spec, trust_project=choice.trust_project).spec
    path = replayed(spec) if spec is not None else None
    if path is None:
        return None
    run = Replay(path).header.get("run")
    if not isinstance(run, dict):
        return None
    try:
        check_fields(_Run, run)
        if missing := {f.name for f in fields(_Run) if f.default is MISSING} - run.keys():
            raise TypeError(f"{min(missing)!r} is missing")
    except TypeError as error:
        raise DataFileError(f"{path}: its first line cannot be repeated: {error}") from None
    return RecordedRun(path if path.is_dir() else path.parent, run)


def with_recorded_settings(choice: ModelChoice, recorded: RecordedRun) -> ModelChoice:
    """Return the choice with the settings of the run that is repeated."""
    run = recorded.run
    return replace(
        choice,
        setting=str(run.get("setting", choice.setting)),
        embedder=str(run.get("embedder", choice.embedder)),
        temperature=float(run.get("temperature", choice.temperature)),
    )
