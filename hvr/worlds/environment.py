"""Environments: what each one offers, and a registry to open them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hvr.base.registry import Registry

if TYPE_CHECKING:
    from hvr.worlds.faults import Schedule


# Environment --------------------------------------------------------------------------------------
# What every environment offers, AI2-THOR and the embedded kitchen alike.


class Event:
    """The answer to one action; true exactly when the action succeeded.

    It has the part of `ai2thor.server.Event` that does not need images.

    Args:
        metadata: AI2-THOR's metadata, or a function that makes it. The function is
            called once, when `metadata` is first read.
        success: `lastActionSuccess`, when it is known without the metadata.
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
        """The metadata in AI2-THOR's schema. Dicts of unchanged objects are shared with
        other events: read them, do not change them."""
        if self._metadata is None:
            assert self._build is not None
            self._metadata = self._build()
            self._build = None
        return self._metadata

    @property
    def success(self) -> bool:
        """Whether the action succeeded."""
        if self._success is None:
            self._success = bool(self.metadata["lastActionSuccess"])
        return self._success

    def __bool__(self) -> bool:
        return self.success

    def get_object(self, object_id: str) -> dict[str, Any] | None:
        """Return metadata of the object with this id, or None."""
        for entry in self.metadata["objects"]:
            if entry["objectId"] == object_id:
                return dict(entry)
        return None

    def objects_by_type(self, object_type: str) -> list[dict[str, Any]]:
        """Return metadata of all objects of this type."""
        return [o for o in self.metadata["objects"] if o["objectType"] == object_type]

    def __repr__(self) -> str:
        return (
            f"<Event {self.metadata['lastAction']} "
            f"{'succeeded' if self else 'failed: ' + self.metadata['errorMessage']}>"
        )


@runtime_checkable
class Environment(Protocol):
    """Something that takes AI2-THOR actions and answers with AI2-THOR events."""

    @property
    def last_event(self) -> Event:
        """The event of the latest action or reset."""
        ...

    def reset(self, scene: Any = None) -> Event:
        """Put a scene into its first state; None means the present scene again."""
        ...

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Do one action, given by name and arguments or as one dict with `action`.

        Raises:
            ValueError: unknown action, or unknown or missing argument.
        """
        ...


# Registry -----------------------------------------------------------------------------------------
# Environments by name.

ENVIRONMENTS = Registry(
    "environment",
    "environments",
    {"kitchen": "hvr.worlds.kitchen:open_kitchen", "thor": "hvr.worlds.thor.environment:open_thor"},
    "hvr.environments",
    ("reset", "step", "stop", "last_event"),
)
"""Each entry is called with an `EnvironmentSetup` and returns an `OpenEnvironment`."""


class OpenEnvironment(Environment, Protocol):
    """An environment that has to be stopped in the end."""

    def stop(self) -> None:
        """Free what it holds. Idempotent."""
        ...


@dataclass(frozen=True, kw_only=True)
class EnvironmentSetup:
    """How an environment is opened.

    Args:
        scene: name of the scene.
        seed: of what is drawn by chance, where anything is.
        options: the environment's own options as texts `name=value`.
        folder: where it may keep pictures and logs; None keeps none.
    """

    scene: str
    seed: int = 0
    options: tuple[str, ...] = ()
    folder: Path | None = None


def names_executable(option: str) -> bool:
    """Return whether an option of an environment, `name=value`, names a program to be started.

    Such an option is never taken from a file: a run folder may come from anybody.
    """
    return option.partition("=")[0].strip() == "executable"


def open_environment(
    name: str, setup: EnvironmentSetup, faults: Schedule | None = None
) -> OpenEnvironment:
    """Return an environment in the first state of a scene. Stop it in the end.

    Args:
        name: one of `ENVIRONMENTS`.
        setup: scene and options.
        faults: to be played in it.

    Raises:
        UsageError: there is no such environment, or it has no such option.
        SceneError: it has no such scene.
        MissingExtraError: a package that it needs is not installed.
        SimulatorError: it cannot be started.
    """
    env: OpenEnvironment = ENVIRONMENTS.make(name, setup)
    if faults is None:
        return env
    from hvr.worlds.faults import FaultyEnvironment

    return FaultyEnvironment(env, faults)
