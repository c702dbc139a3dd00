"""The one way to a language model: its settings read, its layers around it, its use counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hvr.errors import UsageError
from hvr.models.budget import Budget, Limits
from hvr.models.choice import ModelChoice
from hvr.models.config import Chosen, read_config, read_embedder_config
from hvr.models.earlier import times_asked
from hvr.models.factory import SharedLimits, make_model, stack
from hvr.models.ledger import Load
from hvr.models.meter import Meter
from hvr.models.options import ModelOptions
from hvr.models.record import Recording
from hvr.models.replay import Replay

CALLS_PER_PLAN = 100
"""Requests for a plan at most if nobody says otherwise; plans of hvr's tasks take 1 to 70."""


SENT = "sent.sqlite"
"""The file beside a shared ledger that counts what is sent within a minute."""


def reach(choice: ModelChoice, about: Mapping[str, Any] | None = None) -> Chosen:
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
    return Meter(top, top.aside) if isinstance(top, Recording) else Meter(top)


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
