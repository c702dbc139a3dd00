"""The robot's world: an environment, the names in it, and the knowledge graph of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.envs.base import Environment
from hvr.envs.naming import Names
from hvr.envs.observe import scene_graph
from hvr.envs.skills import SkillResult, perform
from hvr.knowledge.events import ActionEvent, Change
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.history import cleared_marks, marks
from hvr.pddl.model import Atom, GroundAction
from hvr.retrieval.inventory import Inventory, take_inventory
from hvr.scene_graph import SceneGraph


@dataclass(frozen=True)
class Outcome:
    """What became of one action.

    Args:
        result: what the skill did.
        change: what was seen to change.
        scene: the scene after it.
    """

    result: SkillResult
    change: Change
    scene: SceneGraph


class World:
    """Acts in an environment and keeps the graph in step with what is seen.

    Args:
        env: the environment, reset to its scene.
        graph: a graph that has only the ontology; the scene is added.
        force_put: put things down without asking AI2-THOR's placement table.
    """

    def __init__(self, env: Environment, graph: KnowledgeGraph, *, force_put: bool = False) -> None:
        self.env = env
        self.graph = graph
        self.force_put = force_put
        metadata = env.last_event.metadata
        self.names = Names.from_metadata(metadata)
        self.scene = scene_graph(metadata, self.names)
        self._near: frozenset[str] = frozenset()
        self._marks: set[tuple[str, str]] = set()
        pieces = {name: found for name in self.scene.objects
                  if (found := self.names.pieces(name))}  # fmt: skip
        graph.add_scene(self.scene, pieces)

    def inventory(self) -> Inventory:
        """What there is now, nearest to the robot first."""
        agent = self.env.last_event.metadata["agent"]["position"]
        positions = {name: o.position for name, o in self.scene.objects.items()}
        return take_inventory(
            self.graph, self.scene.scene, positions, (agent["x"], agent["y"], agent["z"])
        )

    def facts(self, objects: Iterable[str]) -> frozenset[Atom]:
        """The PDDL atoms that hold over some objects, as last observed."""
        return self.graph.facts(objects)

    def act(self, step: int, action: GroundAction, near: Iterable[str]) -> Outcome:
        """Do one action, look, and write both into the graph.

        Args:
            step: its number.
            action: what to do.
            near: the objects that the robot then means to be near, if it succeeds.
        """
        before = self.scene
        result = perform(self.env, self.names, action.name, action.args, force_put=self.force_put)
        self.scene = scene_graph(self.env.last_event.metadata, self.names)
        change = self.graph.update(self.scene)
        if result.success:
            self._near = frozenset(near)
        known = [n for n in self._near if n in self.scene.objects]
        self.graph.set_near(known)
        self._remember(result, before)
        self.graph.record(
            ActionEvent(step, action.name, action.args, result.success, result.error,
                        change=change)
        )  # fmt: skip
        return Outcome(result, change, self.scene)

    def _remember(self, result: SkillResult, before: SceneGraph) -> None:
        """Keep what no camera shows: that something was washed, heated, cooled."""
        added: set[tuple[str, str]] = set()
        removed: set[tuple[str, str]] = set()
        for step in result.steps:
            if step.success:
                named = self._named(step.action)
                added |= marks(named, before, self.scene, self._marks)
                removed |= cleared_marks(named, before, self.scene)
        if added or removed:
            self._marks = (self._marks | added) - removed
            self.graph.set_marks(added, removed)

    def _named(self, action: Mapping[str, Any]) -> dict[str, Any]:
        named = dict(action)
        for key in ("objectId", "receptacleObjectId"):
            if key in named:
                named[key] = self.names.name(named[key])
        return named


def open_world(env: Environment, folder: Path | None = None) -> World:
    """A world with a new graph.

    Args:
        env: the environment, reset to its scene.
        folder: where the graph is kept; in memory without one.

    Raises:
        StoreError: the folder cannot hold a graph.
    """
    return World(env, KnowledgeGraph.create(folder))
