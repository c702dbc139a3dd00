"""The language model of a run: chosen by options, recorded in the run's folder.

A recorded run is repeated with `replay:FOLDER`: request, scene, seed and settings come from
the folder, and so does the library as it was then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hvr.agents import DEFAULT_AGENT
from hvr.errors import UsageError
from hvr.files import commit
from hvr.knowledge.ontology import Ontology
from hvr.library import Library, Origin, learn, read_library, update_library, write_library
from hvr.llm.budget import Budget
from hvr.llm.config import read_config
from hvr.llm.factory import make_model, stack
from hvr.llm.meter import Meter
from hvr.llm.model import Model
from hvr.llm.options import ModelOptions
from hvr.llm.replay import Replay
from hvr.llm.transcript import NAME as TRANSCRIPT
from hvr.pddl import Domain
from hvr.policies.llm.events import PolicyEvent
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.settings import PolicySettings, named
from hvr.policies.symbolic import Planned
from hvr.retrieval.embedders import make_embedder
from hvr.run.model_choice import ModelChoice
from hvr.search.planners import Planner
from hvr.search.recorded import NAME as PLANNER
from hvr.search.recorded import RecordedPlanner
from hvr.tasks import load_task

LIBRARY = "library.ttl"
"""The macro actions that a run could use, in its folder."""


PROMPTS = "prompts"
"""The user's own templates, in the folder of a run."""


@dataclass(frozen=True)
class Recorded:
    """What is known of a run from its transcript, to repeat it.

    Args:
        folder: of the run.
        run: request, task, scene, seed and settings as they were.
    """

    folder: Path
    run: Mapping[str, Any]


def recorded_run(choice: ModelChoice) -> Recorded | None:
    """Return the run that a `replay:FOLDER` repeats; None for anything else.

    Raises:
        DataFileError: the transcript cannot be read.
    """
    spec = read_config(choice.spec, base_url=choice.base_url).spec
    if spec is None or not spec.startswith("replay:"):
        return None
    path = Path(spec.removeprefix("replay:"))
    header = Replay(path).header
    run = header.get("run")
    if not isinstance(run, dict):
        return None
    return Recorded(path if path.is_dir() else path.parent, run)


@dataclass(frozen=True)
class ModelRun:
    """A model at work on one request.

    Args:
        policy: plans with it.
        meter: counts what it uses.
        library: file of macro actions to add to after success, or None.
    """

    policy: LLMPolicy
    meter: Meter
    library: Path | None

    @property
    def simulated(self) -> bool:
        """The answers come from a simulation."""
        return self.meter.simulated

    def keep(self, planned: Planned, origin: Origin) -> int:
        """Add the macro actions of a plan that was carried out to the library.

        Returns:
            how many entries the plan gave.

        Raises:
            DataFileError: the library cannot be written.
        """
        if self.library is None:
            return 0
        policy = self.policy
        entries = learn(planned.plan, planned.task, policy.agent, origin, ontology=policy.ontology)
        used = [
            entry.with_use(origin.run)
            for entry in (policy.library or Library()).entries
            if entry.id in policy.library_uses
        ]
        update_library(self.library, Library(entries).merge(Library(used)))
        return len(entries)


def open_model(
    choice: ModelChoice,
    run: Mapping[str, Any],
    folder: Path,
    *,
    ontology: Ontology,
    domain: Domain,
    planner: Planner,
    listen: Callable[[PolicyEvent], None],
) -> ModelRun:
    """Make the model and the policy that plans with it.

    Args:
        choice: which model, and how.
        run: request, task, scene, seed and the like, for the transcript.
        folder: of the run; the transcript is written into it as the model answers.
        ontology: classes and their names.
        domain: the actions.
        planner: for planner-assisted repair.
        listen: is told what happens.

    Raises:
        UsageError: no model is named, or an option cannot be used.
        LLMError: a key is missing.
        MissingExtraError: a package that the model needs is not installed.
        DataFileError: a file cannot be used.
    """
    config = read_config(choice.spec, base_url=choice.base_url)
    if config.spec is None:
        raise UsageError(
            "no model is named: give openai:MODEL, gemini:MODEL, hf:NAME or replay:FOLDER, or set "
            "HVR_LLM",
            field="spec",
        )
    settings = named(choice.setting)
    again = recorded_run(choice)
    own = choice.prompts
    if own is None and again is not None and (again.folder / PROMPTS).is_dir():
        own = again.folder / PROMPTS
    prompts = load_prompts(own)
    embedder = make_embedder(
        choice.embedder, base_url=config.options.base_url, api_key=config.options.api_key
    )
    library = _library(choice, settings, again)
    model = make_model(config.spec, config.options, {"scripted": _scripted(run)})
    details = {
        "run": {
            **run,
            "setting": choice.setting,
            "embedder": choice.embedder,
            "temperature": choice.temperature,
        },
        "settings": settings.to_json(),
        "prompts": prompts.digests,
        "commit": commit(),
    }
    limits = choice.limits
    # A limit of 0 is a limit, too.
    limited = limits is not None and any(v is not None for v in asdict(limits).values())
    budget = Budget(limits) if limits is not None and limited else None
    top = stack(
        model, config.options, record=folder / TRANSCRIPT, header=details, cache=choice.cache,
        budget=budget,
    )  # fmt: skip
    if library is not None:
        write_library(library, folder / LIBRARY)
    if own is not None:
        prompts.save(folder / PROMPTS)
    meter = Meter(top)
    planner = RecordedPlanner(planner, folder / PLANNER, again.folder / PLANNER if again else None)
    policy = LLMPolicy(
        ontology, domain, meter, settings, embedder=embedder, planner=planner, prompts=prompts,
        library=library, agent=DEFAULT_AGENT, listen=listen, temperature=choice.temperature,
    )  # fmt: skip
    return ModelRun(policy, meter, None if again else choice.library)


def repeated(choice: ModelChoice, again: Recorded) -> ModelChoice:
    """Return the choice with the settings of the run that is repeated."""
    return replace(
        choice,
        setting=str(again.run.get("setting", choice.setting)),
        embedder=str(again.run.get("embedder", choice.embedder)),
        temperature=float(again.run.get("temperature", choice.temperature)),
    )


def _library(
    choice: ModelChoice, settings: PolicySettings, again: Recorded | None
) -> Library | None:
    """Return the macro actions to use: of a repeated run, those that it had."""
    if not settings.library:
        return None
    if again is not None:
        path = again.folder / LIBRARY
        return read_library(path) if path.exists() else None
    return read_library(choice.library, missing_ok=True) if choice.library else None


def _scripted(run: Mapping[str, Any]) -> Callable[[str, ModelOptions], Model]:
    def make(rest: str, options: ModelOptions) -> Model:
        del options
        from hvr.scripted import make_scripted

        if run["task"] is None:
            raise UsageError(
                "a scripted model answers from the ground truth of one of the paper's tasks: "
                "give a task",
                field="task",
            )
        spec = f"scripted:{rest}" if rest else "scripted"
        return make_scripted(spec, load_task(str(run["task"])), str(run["scene"]), int(run["seed"]))

    return make
