"""The options of a run, and the request that they describe."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.texts import MAX_INTEGER, as_float, brief, check_integer, check_positive
from hvr.errors import DataFileError, ImpossibleGoalError, UsageError
from hvr.execution.belief import Sight
from hvr.execution.perception import Sensors
from hvr.knowledge.world_file import WorldFile, load_world, world_of_scene, world_of_types
from hvr.language.grammar import check_reader
from hvr.models.choice import ModelChoice
from hvr.planning.plans import Policy
from hvr.planning.search.planners import DEFAULT, PLANNERS, Planner, make_planner
from hvr.policies import POLICIES, policy_class
from hvr.runs.tasks import PaperTask, load_task
from hvr.worlds.environment import ENVIRONMENTS, names_executable
from hvr.worlds.scenes import is_recorded, load_scene

if TYPE_CHECKING:
    from hvr.models.connect import RecordedRun
    from hvr.worlds.faults import Schedule


# Options ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a run.

    Args:
        world: World with scenes, by name or folder; None for the world of the scene.
        scene: Name of a packaged scene, or path of a .json file with the metadata of an AI2-THOR
            event. None means the scene of a task's ground truth, or else the world's first scene.
        policy: Name of the policy in `hvr.policies.POLICIES`. None means `symbolic` if there is no
            model, `goal` for the setting LLM+P, `agent` for AGENT, and otherwise `llm`.
        planner: Classical planner used by the symbolic policy and for repair.
        budget: Time limit of each planner call in seconds.
        seed: Random seed of the environment and of a simulated model.
        max_replans: Maximum number of new plans after deviations.
        execute: Whether to execute the plan; otherwise it is only validated.
        save: The run folder; None for a new one below ./runs.
        model: The language model, for policies that use one.
        env: Name of the environment in `hvr.worlds.environment.ENVIRONMENTS`; None for the world's
            default.
        env_options: Options of the environment, as `name=value`.
        sight: Visibility: `omniscient` for all metadata, `doors` for everything that is not behind
            closed doors, or `visible`. None means `doors` if the task hides objects, otherwise
            `omniscient`.
        error_rate: Error rate that the robot assumes for its sensor, from 0 to below 0.5.
        faults: File of faults to inject (docs/how-to/faults.md).
        reader: Name of the symbolic policy's reader in `hvr.language.grammar.READERS`. None means
            both readers if the extra `language` is installed, otherwise the grammar.
        store: URL of a SPARQL server that mirrors the run's graph (docs/explanation/knowledge.md).
        reading: 1-based index of the intended reading of an ambiguous request.
    """

    world: str | None = None
    scene: str | None = None
    policy: str | None = None
    planner: str = DEFAULT
    budget: float = 10.0
    seed: int = 0
    max_replans: int = 3
    execute: bool = True
    save: Path | None = None
    model: ModelChoice = field(default_factory=ModelChoice)
    env: str | None = None
    env_options: tuple[str, ...] = ()
    sight: str | None = None
    error_rate: float = 0.0
    faults: Path | None = None
    reader: str | None = None
    reading: int | None = None
    store: str | None = None

    def __post_init__(self) -> None:
        for name in ("save", "faults"):
            if not isinstance(path := getattr(self, name), Path | None):
                raise UsageError(f"{name} must be a pathlib.Path, got {brief(path)}", field=name)
        check_positive("budget", self.budget)
        check_integer("seed", self.seed, least=-MAX_INTEGER)
        check_integer("max_replans", self.max_replans)
        if self.reading is not None:
            check_integer("reading", self.reading, least=1)
        if self.sight is not None and self.sight not in set(Sight):
            raise UsageError(
                f"unknown sight {self.sight!r} (sights: {', '.join(Sight)})", field="sight"
            )
        check_reader(self.reader)
        if self.store is not None:
            from hvr.knowledge.sparql_server import ServerAddress

            ServerAddress.read(self.store, {})
        if not 0 <= as_float(self.error_rate) < 0.5:
            raise UsageError(
                f"error_rate must be at least 0 and below 0.5, got {brief(self.error_rate)}",
                field="error_rate",
            )

    @property
    def policy_name(self) -> str:
        """Name of the policy, explicit or by default."""
        if self.policy is not None:
            return self.policy
        if self.model.spec is None:
            return "symbolic"
        from hvr.policies.llm.settings import is_agent, is_goal

        setting = self.model.setting
        return "goal" if is_goal(setting) else "agent" if is_agent(setting) else "llm"

    @property
    def sensors(self) -> Sensors:
        """The robot's sensors."""
        return Sensors(Sight(self.sight or Sight.OMNISCIENT), self.error_rate)


# Request ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """A request that was checked, with its options.

    Args:
        task: The task chosen by ID or file; None if the request was given as text.
        scene: Name of the scene, or path of a recorded scene.
        environment: Name of the environment that executes the plan.
        faults: Faults to inject, if any.
    """

    text: str
    task: PaperTask | None
    world: WorldFile
    scene: str
    environment: str
    options: Options
    policy: type[Policy[Any]]
    planner: Planner
    faults: Schedule | None

    @property
    def name(self) -> str:
        """The task's ID or the request, which becomes part of the run folder's name."""
        return self.task.id if self.task else self.text

    def about(self) -> Mapping[str, Any]:
        """Return everything needed to repeat the run, under the names used in transcripts."""
        options = self.options
        return {
            "request": self.text,
            "task": self.task.reference if self.task else None,
            "scene": self.scene,
            "seed": options.seed,
            "planner": options.planner,
            "budget": options.budget,
            "max_replans": options.max_replans,
            "execute": options.execute,
            "sight": options.sight,
            "error_rate": options.error_rate,
            "faults": self.faults.to_json() if self.faults is not None else None,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the request and all options except keys and programs; see `request_from_json`."""
        options = self.options
        own = {f.name: getattr(options, f.name) for f in fields(options) if f.name in _OWN}
        model = options.model if self.policy.asks_model else None
        return {
            **self.about(),
            **own,
            "scene": self.scene,
            "world": self.options.world or self.world.name,
            "env": self.environment,
            "policy": options.policy_name,
            "env_options": [text for text in options.env_options if not names_executable(text)],
            "setting": model.setting if model else None,
            "llm": _choice_json(model) if model else None,
        }


_OWN = frozenset(f.name for f in fields(Options)) - {"save", "model", "faults"}
"""Options stored as plain values in a run's status."""

_PATHS = ("prompts", "library", "cache")
_CREDENTIALS = re.compile(r"://[^/?#]*@")


def request_from_json(
    values: Mapping[str, Any], folder: Path, named: Collection[str] = ()
) -> RunRequest:
    """Return the request of a started run, read from its status.

    Args:
        named: Code that the caller allows the status to name, as `module:attribute`.

    Raises:
        UsageError: The status names other code.
        DataFileError: The status is incomplete or damaged.
        HvrError: See `read_request`.
    """
    try:
        choice = _choice_from_json(values["llm"]) if values["llm"] else ModelChoice()
        # Missing options were introduced after the run was recorded.
        own = {name: values[name] for name in _OWN if name in values}
        own["env_options"] = tuple(map(str, own["env_options"]))
        own["env"] = str(own["env"])
        options = Options(**own, model=choice, save=folder)
        task, text = values["task"], str(values["request"])
        faults = values["faults"]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(
            f"{folder}: the status of the run is damaged ({type(error).__name__}: {error})"
        ) from error
    POLICIES.check_from_file(options.policy_name, folder, named)
    PLANNERS.check_from_file(options.planner, folder, named)
    ENVIRONMENTS.check_from_file(own["env"], folder, named)
    request = read_request(None if task else text, task, options)
    if faults is None:
        return request
    from hvr.worlds.faults import Schedule

    return replace(request, faults=Schedule.from_json(faults))


_CHANGEABLE = ("base_url", "trust_project", "timeout", "limits")


def resumed(
    about: Mapping[str, Any],
    folder: Path,
    changes: ModelChoice,
    env_options: Sequence[str],
    named: Collection[str] = (),
) -> RunRequest:
    """Return the request of a resumed run.

    Args:
        changes: New base URL, trust, timeout and limits; None keeps the recorded value.
        env_options: Environment options that name a program, which are not recorded.
        named: See `request_from_json`.

    Raises:
        UsageError: An option cannot be changed, or the status names code outside `named`.
        DataFileError: The status is damaged.
    """
    others = [text for text in env_options if not names_executable(text)]
    if others:
        raise UsageError(
            f"{others[0]}: a resumed run keeps its environment options", field="env_options"
        )
    request = request_from_json(about, folder, named)
    options, model = request.options, request.options.model
    given = {n: v for n in _CHANGEABLE if (v := getattr(changes, n)) is not None}
    if "base_url" in given:
        given["recorded_url"] = False
    if "limits" in given:
        limits = {name: v for name, v in asdict(given["limits"]).items() if v is not None}
        given["limits"] = replace(model.limits or given["limits"], **limits)
    model = replace(model, **given)
    options = replace(options, model=model, env_options=(*options.env_options, *env_options))
    return replace(request, options=options)


def _choice_json(choice: ModelChoice) -> dict[str, Any]:
    values = asdict(choice)
    del values["recorded_url"], values["trust_project"]
    for name in _PATHS:
        # The run may be resumed from another working directory.
        values[name] = str(values[name].absolute()) if values[name] is not None else None
    if choice.base_url is not None:
        values["base_url"] = _CREDENTIALS.sub("://", choice.base_url)
    return values


def _choice_from_json(values: Mapping[str, Any]) -> ModelChoice:
    from hvr.models.limits import Limits

    given = dict(values)
    for name in _PATHS:
        given[name] = Path(given[name]) if given[name] is not None else None
    if given["limits"] is not None:
        given["limits"] = Limits(**given["limits"])
    return ModelChoice(**given, recorded_url=given["base_url"] is not None)


def read_request(text: str | None, task: str | None, options: Options) -> RunRequest:
    """Check a request before anything is opened or written.

    Args:
        task: ID or file of a task, instead of `text`. A recorded run needs neither.

    Raises:
        UsageError, DataFileError, SceneError: An argument is invalid.
        ImpossibleGoalError: The scene lacks objects that the task needs.
        MissingExtraError: A package that the policy needs is not installed.
    """
    policy = policy_class(options.policy_name)
    if options.model.spec is not None and not policy.asks_model:
        raise UsageError(
            f"the policy {options.policy_name} uses no model: leave out the policy or the model "
            f"{options.model.spec}",
            field="spec",
        )
    recorded = None
    if policy.asks_model:
        from hvr.models.connect import recorded_run

        options = replace(options, model=_named_model(options.model))
        recorded = recorded_run(options.model)
    if recorded is not None:
        if text is None and task is None:
            task = recorded.run["task"]
            text = recorded.run["request"] if task is None else None
        options = _repeated(options, recorded)
        policy = policy_class(options.policy_name)
    if (text is None) == (task is None):
        raise UsageError("give either a request in words or a task such as T2")
    faults = _faults(options, recorded)
    planner = make_planner(options.planner, options.budget)
    chosen = load_task(task) if task is not None else None
    world, scene = _place(options, chosen)
    environment = options.env or world.environments[0]
    ENVIRONMENTS.check(environment)
    if options.env is None and not world.trusted:
        ENVIRONMENTS.check_from_file(environment, world.file)
    if chosen is not None:
        _check_scene(scene, chosen)
    if options.sight is None:
        hidden = chosen is not None and chosen.unseen
        options = replace(options, sight=str(Sight.DOORS if hidden else Sight.OMNISCIENT))
    return RunRequest(
        text=chosen.goal_oriented if chosen else text or "",
        task=chosen,
        world=world,
        scene=scene,
        environment=environment,
        options=options,
        policy=policy,
        planner=planner,
        faults=faults,
    )


def _named_model(model: ModelChoice) -> ModelChoice:
    # Imported only if a model is used, so that `hvr plan` starts fast.
    from hvr.models.config import read_config

    # Resolved now, since environment variables may differ when the run is resumed.
    return replace(model, spec=read_config(model).spec)


def _check_scene(scene: str, task: PaperTask) -> None:
    if scene not in task.scenes:
        raise ImpossibleGoalError(
            f"{scene} lacks an object that {task.id} needs ({', '.join(task.requires)}); "
            f"suitable scenes: {', '.join(task.scenes)}"
        )


def _place(options: Options, task: PaperTask | None) -> tuple[WorldFile, str]:
    named = load_world(options.world) if options.world is not None else None
    if named is not None and not named.scenes:
        raise UsageError(
            f"the world {named.name} has no scenes: solve its problems with hvr solve --world",
            field="world",
        )
    wanted = options.scene or (task.ground_truth.scene if task else None)
    if wanted is None:
        world = named or load_world()
        return world, world.first_scene
    scene = load_scene(wanted)
    world = named or world_of_scene(scene.name)
    if is_recorded(wanted):
        return named or world_of_types(o.object_type for o in scene.objects), wanted
    if scene.name not in world.scenes:
        raise UsageError(
            f"the scene {scene.name} belongs to the world {world_of_scene(scene.name).name}, not "
            f"to {world.name}",
            field="scene",
        )
    return world, scene.name


def _repeated(options: Options, recorded: RecordedRun) -> Options:
    from hvr.models.connect import with_recorded_settings

    run = recorded.run
    PLANNERS.check_from_file(str(run["planner"]), recorded.folder, (options.planner,))
    return replace(
        options,
        scene=str(run["scene"]),
        seed=int(run["seed"]),
        planner=str(run["planner"]),
        budget=float(run["budget"]),
        max_replans=int(run["max_replans"]),
        execute=bool(run["execute"]),
        sight=str(run.get("sight", Sight.OMNISCIENT)),
        error_rate=float(run.get("error_rate", options.error_rate)),
        model=with_recorded_settings(options.model, recorded),
    )


def _faults(options: Options, recorded: RecordedRun | None) -> Schedule | None:
    earlier = recorded.run.get("faults") if recorded is not None else None
    if options.faults is None and earlier is None:
        return None
    from hvr.worlds.faults import Schedule

    return Schedule.load(options.faults) if options.faults else Schedule.from_json(earlier)
