"""Images of events, where pictures can be drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from hvr.errors import MissingExtraError

Draw = Callable[[Mapping[str, Any], int, int], bytes]
"""Metadata, width and height in pixels to RGB bytes, bottom row first."""


class SceneRenderer:
    """Draws a scene, and only again when something in it has changed.

    Args:
        draw: what draws; by default hvr's top view. Without numpy and Pillow there are no
            images; a line on standard error says so once.
    """

    def __init__(self, draw: Draw | None = None) -> None:
        self._draw = draw
        self._missing = False
        self._last: tuple[list[dict[str, Any]], object, bytes] | None = None

    def picture(self, metadata: Mapping[str, Any], width: int, height: int) -> bytes | None:
        """Return RGB bytes of the scene, or None when pictures cannot be drawn."""
        if self._missing:
            return None
        objects, view = metadata["objects"], (metadata["agent"], width, height)
        if self._last is not None:
            known, known_view, image = self._last
            if view == known_view and _same(known, objects):
                return image
        try:
            if self._draw is None:
                from hvr.runs.report.floor_plan.frame import frame

                self._draw = frame
            image = self._draw(metadata, width, height)
        except MissingExtraError as error:
            print(f"no images are sent: {error}", file=sys.stderr, flush=True)
            self._missing = True
            return None
        self._last = (objects, view, image)
        return image


def _same(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))
