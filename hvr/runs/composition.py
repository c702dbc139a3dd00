"""The composition root: folder, environment, graph, world, policy and executor of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hvr.execution.executor import Executor
from hvr.execution.world import World, open_world
from hvr.planning.plans import Policy, PolicyContext
from hvr.runs.folder import AFTER, BEFORE, RunFolder
from hvr.runs.recording import Listener, Recorder, shared_graph
from hvr.runs.request import RunRequest
from hvr.worlds.environment import EnvironmentSetup, OpenEnvironment, open_environment


@dataclass(frozen=True)
class RunComponents:
    """A run that is ready to begin."""

    request: RunRequest
    folder: RunFolder
    recorder: Recorder
    env: OpenEnvironment
    world: World
    policy: Policy[Any]
    executor: Executor[Any]


@contextmanager
def open_run(
    request: RunRequest, folder: RunFolder, listen: Listener | None
) -> Iterator[RunComponents]:
    """Open all that a run needs, and close it at the end, whatever happens in between.

    Raises:
        HvrError: something cannot be opened.
    """
    options = request.options
    recorder = Recorder(folder, listen)
    env: OpenEnvironment | None = None
    world: World | None = None
    try:
        setup = EnvironmentSetup(
            scene=request.scene,
            seed=options.seed,
            options=options.env_options,
            folder=folder.path,
        )
        env = open_environment(request.environment, setup, request.faults)
        ontology, agent = request.world.scene_ontology, request.world.agent
        shared = shared_graph(request, folder)
        world = open_world(
            env, folder.path / "graph", ontology=ontology, senses=options.senses, shared=shared
        )
        folder.write_scene(BEFORE, env.last_event.metadata, world.names)
        folder.write("domain.pddl", agent.path.read_text(encoding="utf-8"))
        policy = request.policy.open(
            PolicyContext(
                ontology=ontology,
                domain=agent.domain(),
                agent=agent.name,
                planner=request.planner,
                model=options.model,
                prompts=request.world.prompts,
                about=request.about(),
                folder=folder.path,
                transcript=folder.path / RunFolder.TRANSCRIPT,
                listen=recorder,
                reader=options.reader,
                reading=options.reading,
            )
        )
        executor = Executor(world, policy, recorder, recorder.plan_made, options.max_replans)
        yield RunComponents(request, folder, recorder, env, world, policy, executor)
        if request.faults is not None:
            folder.write_json("faults.json", _injected(env))
        if recorder.steps:
            folder.write_scene(AFTER, env.last_event.metadata, world.names)
        world.graph.export(folder.path / "graph.ttl")
    finally:
        if world is not None:
            world.graph.close()
        if env is not None:
            env.stop()


def _injected(env: OpenEnvironment) -> list[dict[str, Any]]:
    from hvr.worlds.faults import FaultyEnvironment

    assert isinstance(env, FaultyEnvironment)
    return [injection.to_json() for injection in env.log]
