"""What every environment offers, AI2-THOR and the embedded kitchen alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable


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
