"""The kitchen itself: `step` in, event out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hvr.errors import UsageError
from hvr.worlds.environment import Event
from hvr.worlds.kitchen.action_context import ActionFailedError, Context
from hvr.worlds.kitchen.actions import BadRequestError, find_action
from hvr.worlds.kitchen.metadata import ActionReply, MetadataBuilder
from hvr.worlds.kitchen.scene_setup import CAMERA_PLANES
from hvr.worlds.kitchen.state import KitchenSettings, KitchenState, profile_named
from hvr.worlds.kitchen.state_changes import settle
from hvr.worlds.kitchen.visibility import Room
from hvr.worlds.scenes import Scene, load_scene


@dataclass(frozen=True)
class Snapshot:
    """A moment of a kitchen, for `Kitchen.restore`. Its fields are not for reading."""

    scene: Scene
    world: KitchenState
    answer: ActionReply


class Kitchen:
    """A kitchen that speaks AI2-THOR: same actions, arguments, metadata and failure texts.

    It is deterministic: the same scene, seed and actions give the same metadata.

    Args:
        scene: a scene or the name of a packaged one.
        seed: for where a thrown thing lands.
        placement_table: PutObject refuses what AI2-THOR's placement table does not list,
            unless forced.
        profile: the version of AI2-THOR to play: `5` or `2.1.0`.
        settings: grid, reach and the other arguments of AI2-THOR's `Initialize`.

    Raises:
        SceneError: the scene is unknown or cannot be loaded.
        UsageError: there is no such profile.
    """

    def __init__(
        self,
        scene: Scene | str = "FloorPlan1",
        seed: int = 0,
        *,
        placement_table: bool = True,
        profile: str = "5",
        settings: KitchenSettings | None = None,
    ) -> None:
        self._scene = load_scene(scene) if isinstance(scene, str) else scene
        self._seed = seed
        self._placement_table = placement_table
        self._profile = profile_named(profile)
        self._settings = settings or KitchenSettings()
        self.reset()

    @property
    def profile(self) -> str:
        """Name of the version of AI2-THOR that is played."""
        return self._profile.name

    @property
    def world(self) -> KitchenState:
        """The present state: hvr's own value, without AI2-THOR's names and dicts."""
        return self._world

    @property
    def scene(self) -> Scene:
        """The scene as it started."""
        return self._scene

    @property
    def last_event(self) -> Event:
        """The event of the latest action or reset."""
        return self._event

    def reset(self, scene: Scene | str | None = None) -> Event:
        """Put a scene into its first state; None means the present scene again.

        Raises:
            SceneError: the scene is unknown or cannot be loaded.
        """
        if scene is not None:
            self._scene = load_scene(scene) if isinstance(scene, str) else scene
        self._room = Room(self._scene)
        self._context = Context(self._room, self._placement_table, self._seed, self._profile)
        self._builder = MetadataBuilder(self._room)
        self._world = settle(KitchenState.initial(self._scene, self._settings), self._room)
        return self._tell(ActionReply("Initialize", True, result=CAMERA_PLANES))

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Do one action, given by name and arguments or as one dict with `action`.

        Returns:
            the event; it is false when the action failed, with `errorMessage` saying why.

        Raises:
            ValueError: unknown action, or unknown or missing argument, as the Python
                client of AI2-THOR does; the event is made all the same.
        """
        if isinstance(action, dict):
            kwargs = {**action, **kwargs}
            action = kwargs.pop("action", None)
        name = str(action)
        try:
            spec = find_action(name, kwargs, self._profile)
        except BadRequestError as error:
            self._world = settle(self._world, self._room)
            self._tell(ActionReply(name, False, error.message, error.code))
            raise ValueError(error.message) from None
        try:
            world, result = spec.run(self._world, self._context, kwargs)
        except ActionFailedError as error:
            self._world = settle(self._world, self._room)
            return self._tell(ActionReply(name, False, error.message, error.code))
        self._world = settle(world, self._room, spec.seconds)
        return self._tell(ActionReply(name, True, "", None, result))

    def snapshot(self) -> Snapshot:
        """Return the present moment."""
        return Snapshot(self._scene, self._world, self._answer)

    def restore(self, snapshot: Snapshot) -> Event:
        """Go back to a snapshot of this or of another kitchen in the same scene.

        Raises:
            UsageError: the snapshot is of another scene.
        """
        if snapshot.scene is not self._scene and snapshot.scene != self._scene:
            raise UsageError(
                f"the snapshot is of {snapshot.scene.name}, the kitchen is {self._scene.name}: "
                "reset it to that scene first"
            )
        self._world = snapshot.world
        return self._tell(snapshot.answer)

    def stop(self) -> None:
        """Do nothing: AI2-THOR's controller has this method, and here nothing runs."""

    def _tell(self, answer: ActionReply) -> Event:
        self._answer = answer
        self._event = Event(self._builder.later(self._world, answer), answer.success)
        return self._event
