"""The environment interface, and the registry of environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hvr.base.registry import Registry

if TYPE_CHECKING:
    from hvr.worlds.faults import Schedule


# Environment --------------------------------------------------------------------------------------
# The interface shared by AI2-THOR and the embedded kitchen.


class Event:
    """The result of one action, like `ai2thor.server.Event` without images.

    As a condition, an event is true if the action succeeded.

    Args:
        metadata: AI2-THOR's metadata, or a function that builds it on first access.
        success: `lastActionSuccess`, if it is known without the metadata.
    """

    __slots__ = ("_build", "_metadata", "_success")

    def __init__(
        self, metadata: dict[str, Any] | Callable[[], dict[str, Any]], success: bool | None = None
    ) -> None:
        self._metadata: dict[str, Any] | None = None
        self._build: Callable[[], dict[str, Any]] | None = None
        if callable(metadata):
            self._build = metadata
        else:
            self._metadata = metadata
        self._success = success

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata in AI2-THOR's schema. Do not modify it, because events share parts of it."""
        if self._metadata is None:
            assert self._build is not None
            self._metadata = self._build()
            self._build = None
        return self._metadata

    @property
    def success(self) -> bool:
        if self._success is None:
            self._success = bool(self.metadata["lastActionSuccess"])
        return self._success

    def __bool__(self) -> bool:
        return self.success

    def get_object(self, object_id: str) -> dict[str, Any] | None:
        for entry in self.metadata["objects"]:
            if entry["objectId"] == object_id:
                return dict(entry)
        return None

    def objects_by_type(self, object_type: str) -> list[dict[str, Any]]:
        return [o for o in self.metadata["objects"] if o["objectType"] == object_type]

    def __repr__(self) -> str:
        return (
            f"<Event {self.metadata['lastAction']} "
            f"{'succeeded' if self else 'failed: ' + self.metadata['errorMessage']}>"
        )


@runtime_checkable
class Environment(Protocol):
    """An environment that accepts AI2-THOR actions and returns AI2-THOR events."""

    @property
    def last_event(self) -> Event:
        """The event of the latest action or reset."""
        ...

    def reset(self, scene: Any = None) -> Event:
        """Reset to the initial state of a scene; None means the current scene."""
        ...

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Execute an action, given by its name and arguments or as a dict that includes `action`.

        Raises:
            ValueError: The action or an argument is unknown, or an argument is missing.
        """
        ...


# Registry -----------------------------------------------------------------------------------------

ENVIRONMENTS = Registry(
    "environment",
    "environments",
    {
        "kitchen": "hvr.worlds.kitchen.kitchen:open_kitchen",
        "thor": "hvr.worlds.thor.environment:open_thor",
    },
    "hvr.environments",
    ("reset", "step", "stop", "last_event"),
)
"""Functions that open an environment, by its name: from an `EnvironmentSetup` to an
`OpenEnvironment`.
"""


class OpenEnvironment(Environment, Protocol):
    """An environment that must be stopped after use."""

    def stop(self) -> None:
        """Free all resources. Idempotent."""
        ...


@dataclass(frozen=True, kw_only=True)
class EnvironmentSetup:
    """The arguments for opening an environment.

    Args:
        options: Options of the environment, as `name=value` strings.
        folder: Folder for pictures and logs; None to save nothing.
    """

    scene: str
    seed: int = 0
    options: tuple[str, ...] = ()
    folder: Path | None = None


def names_executable(option: str) -> bool:
    """Return whether an environment option, `name=value`, names a program to start.

    Such an option is never read from a file, since a run folder may come from anyone.
    """
    return option.partition("=")[0].strip() == "executable"


def open_environment(
    name: str, setup: EnvironmentSetup, faults: Schedule | None = None
) -> OpenEnvironment:
    """Open an environment in the initial state of a scene. The caller must stop it.

    Raises:
        UsageError: The environment or an option does not exist.
        MissingExtraError: A required package is not installed.
        SimulatorError: The environment cannot be started.
    """
    env: OpenEnvironment = ENVIRONMENTS.make(name, setup)
    if faults is None:
        return env
    from hvr.worlds.faults import FaultyEnvironment

    return FaultyEnvironment(env, faults)
