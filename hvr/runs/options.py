"""The options of a run, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hvr.base.numbers import MAX_INTEGER, as_float, brief, check_integer, check_positive
from hvr.errors import UsageError
from hvr.execution.belief import Sight
from hvr.execution.perception import Sensors
from hvr.language.readers import check_reader
from hvr.models.choice import ModelChoice
from hvr.planning.search.planners import DEFAULT


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a run.

    Args:
        world: a world with scenes, by name or folder; None for that of the scene.
        scene: name of a packaged scene, or the path of a .json file with the metadata of an
            AI2-THOR event; None for that of a task's ground truth, and for the first scene of the
            world with any other request.
        policy: the policy, one of `hvr.policies.registry.POLICIES`; None for `symbolic` when no
            model is named, for `goal` with the setting LLM+P, and for `llm` otherwise.
        planner: the classical planner of the symbolic policy, and for repair.
        budget: most seconds for one planner call.
        seed: seed of the environment.
        max_replans: most new plans when something differs from what was expected.
        execute: False to plan and validate only.
        save: the run folder; None makes one under ./runs.
        model: the language model, for policies that ask one.
        env: the environment to execute in, one of `hvr.worlds.environment.ENVIRONMENTS`; None for
            the usual one of the world.
        env_options: options of the environment, as texts `name=value`.
        sight: what the robot sees: `omniscient`, all of the metadata; `doors`, all but what is
            behind closed doors; or `visible`. None for `doors` with a task whose things have to be
            looked for, and for `omniscient` otherwise.
        error_rate: share of wrong readings that the robot assumes its sensor to have.
        faults: file of faults to play (docs/faults.md); None for none.
        reader: who reads the request for the symbolic policy, one of
            `hvr.language.readers.READERS`; None for both where the extra `language` is installed,
            and for the grammar elsewhere.
        store: address of a SPARQL server that gets the graph of the run, too, change by change
            (docs/knowledge.md); None for none.
        reading: which reading of a request is meant that can be read in several ways, from 1.
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
                f"error_rate must be from 0 to below 0.5, not {brief(self.error_rate)}",
                field="error_rate",
            )

    @property
    def policy_name(self) -> str:
        """The name of the policy."""
        if self.policy is not None:
            return self.policy
        if self.model.spec is None:
            return "symbolic"
        from hvr.policies.llm.settings import is_goal

        return "goal" if is_goal(self.model.setting) else "llm"

    @property
    def senses(self) -> Sensors:
        """How the robot perceives."""
        return Sensors(Sight(self.sight or Sight.OMNISCIENT), self.error_rate)
