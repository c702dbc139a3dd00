"""The equipment of an LLM policy: model, prompts, library, embedder and planner."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hvr
from hvr.base.files import commit
from hvr.knowledge.retrieval.embedders import make_embedder
from hvr.models import transcript
from hvr.models.choice import ModelChoice
from hvr.models.config import read_config
from hvr.models.connect import (
    RecordedRun,
    connect,
    embedder_options,
    is_simulation,
    recorded_run,
    replayed,
)
from hvr.models.meter import Meter
from hvr.models.recording import has_header
from hvr.planning.library import Library, Origin, learn, read_library, update_library, write_library
from hvr.planning.plans import Planned, PolicyContext
from hvr.planning.search.planners import NAME as PLANNER
from hvr.planning.search.planners import Planner, RecordedPlanner
from hvr.policies.llm.prompts import Prompts, load_prompts
from hvr.policies.llm.settings import PolicySettings, decided, settings_named
from hvr.policies.llm.writing import Equipment

LIBRARY_FILE = "library.ttl"
"""File in a run folder with the macro actions available to the run."""

PROMPTS_FOLDER = "prompts"
"""Subfolder of a run folder with the user's own templates."""


STRUCTURED = "structured"
"""Field in a transcript's header: whether the answers are structured."""

LEDGER_FILE = "ledger.sqlite"
"""File in a run folder with the charges of all attempts."""


def open_equipment(context: PolicyContext) -> tuple[Equipment, Meter, Path | None]:
    """Return the equipment, the usage meter, and the library to add to.

    A repeated run uses the recorded run's library, prompts and planner results and adds to no
    library. A resumed run uses its own.

    Raises:
        UsageError: No model is named, or an option is invalid.
        LLMError: A key is missing.
        MissingExtraError: A package that the model needs is not installed.
        DataFileError: A file is unusable.
    """
    choice, folder = context.model, context.folder
    recorded = recorded_run(choice)
    source = recorded.folder if recorded is not None else _resumed_folder(context)
    own_prompts = choice.prompts
    settings_named(choice.setting)  # an unknown setting is reported as the user wrote it
    choice = replace(choice, setting=decided(choice.setting, _structured(choice, context)))
    settings = settings_named(choice.setting)
    # A resumed run keeps its templates; a repeated one may get new ones.
    if (own_prompts is None or source == folder) and source and (source / PROMPTS_FOLDER).is_dir():
        own_prompts = source / PROMPTS_FOLDER
    prompts = load_prompts(own_prompts, world=context.prompts, structured=settings.structured)
    embedder = context.embedder or make_embedder(choice.embedder, embedder_options(choice))
    library = _library(choice, settings, source)
    # Before the transcript, whose existence marks these inputs as complete.
    if folder is not None and source != folder:
        if library is not None:
            write_library(library, folder / LIBRARY_FILE)
        if own_prompts is not None:
            prompts.save(folder / PROMPTS_FOLDER)
    header = context.header or _header(context, settings, prompts)
    meter = connect(
        choice,
        about=context.about,
        transcript=context.transcript,
        header={**header, STRUCTURED: True} if settings.structured else header,
        ledger=context.ledger or (folder / LEDGER_FILE if folder is not None else None),
        plans=1 if context.ledger is None else None,
    )
    equipment = Equipment(
        ontology=context.ontology,
        domain=context.domain,
        model=meter,
        settings=settings,
        embedder=embedder,
        planner=_planner(context, recorded),
        prompts=prompts,
        library=library,
        agent=context.agent,
        listen=context.listen or (lambda _: None),
        temperature=choice.temperature,
        compile_task=context.compile_task,
    )
    return equipment, meter, None if recorded else choice.library


def _structured(choice: ModelChoice, context: PolicyContext) -> bool:
    """Return whether answers are structured if the setting leaves it open.

    A replayed or resumed run keeps its form. The simulated model and a user's own templates use
    text; other models get schemas.
    """
    spec = read_config(choice).spec or ""
    earlier = replayed(spec) or context.transcript
    if earlier is not None and has_header(transcript.file_of(earlier)):
        return bool(transcript.read(earlier)[0].get(STRUCTURED))
    return choice.prompts is None and not is_simulation(spec) and replayed(spec) is None


def _resumed_folder(context: PolicyContext) -> Path | None:
    if context.folder is None or context.transcript is None or not has_header(context.transcript):
        return None
    return context.folder


def _header(
    context: PolicyContext, settings: PolicySettings, prompts: Prompts
) -> Mapping[str, Any]:
    """Return the first record of a transcript: everything needed to repeat the run."""
    choice = context.model
    return {
        "run": {
            **context.about,
            "setting": choice.setting,
            "embedder": choice.embedder,
            "temperature": choice.temperature,
        },
        "settings": settings.to_json(),
        "prompts": prompts.digests,
        "commit": commit(),
    }


def _planner(context: PolicyContext, recorded: RecordedRun | None) -> Planner:
    if context.folder is None:
        return context.planner
    earlier = recorded.folder / PLANNER if recorded else None
    return RecordedPlanner(context.planner, context.folder / PLANNER, earlier)


def _library(choice: ModelChoice, settings: PolicySettings, source: Path | None) -> Library | None:
    """Return the available macro actions; a recorded run's library takes precedence."""
    if not settings.library:
        return None
    if source is not None:
        path = source / LIBRARY_FILE
        return read_library(path) if path.exists() else None
    return read_library(choice.library, missing_ok=True) if choice.library else None


def learn_macros(
    path: Path,
    equipment: Equipment,
    planned: Planned,
    *,
    about: Mapping[str, Any],
    run: str,
    used: Collection[str],
) -> None:
    """Add the macro actions of a successful plan to a library.

    Args:
        about: The request and the scene.
        used: IDs of the library entries used in the plan.
    """
    origin = Origin(
        request=str(about.get("request", "")),
        scene=str(about.get("scene", "")),
        model=equipment.model.name,
        simulated=equipment.model.simulated,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        version=hvr.__version__,
        run=run,
    )
    entries = learn(
        planned.plan, planned.task, equipment.agent, origin, ontology=equipment.ontology
    )
    known = (equipment.library or Library()).entries
    again = [entry.with_use(run) for entry in known if entry.id in used]
    update_library(path, Library(entries).merge(Library(again)))
