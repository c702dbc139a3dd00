"""A record of AI2-THOR's actions and camera images, kept in a folder.

thor/steps.jsonl        one line an action: as sent, whether it succeeded, why not, its picture
thor/0001-PickupObject.png   the camera image after it; 0000-… is the one before the first
thor/top-first.png      from above, before the first action
thor/top-last.png       from above, after the last one
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvr.base.files import append_json_line, unwritable

FOLDER = "thor"


class Pictures:
    """Keeps lines and pictures. Nothing is written before the first action.

    Args:
        folder: of the run; a folder `thor` is made in it.
        first: camera image before the first action, height x width x 3 bytes; or None.
        top: picture from above, likewise.
    """

    def __init__(self, folder: Path, first: Any = None, top: Any = None) -> None:
        self._folder = folder / FOLDER
        self._first, self._top = first, top
        self._count = 0

    def keep(
        self, action: Mapping[str, Any], success: bool, error: str, frame: Any, top: Any
    ) -> None:
        """Keep one action and the images after it.

        Raises:
            DataFileError: a file cannot be written.
        """
        try:
            if self._count == 0:
                self._folder.mkdir(parents=True, exist_ok=True)
                _write(self._folder / "0000-before.png", self._first)
                _write(self._folder / "top-first.png", self._top)
            self._count += 1
            name = f"{self._count:04}-{_plain(action['action'])}.png"
            shown = _write(self._folder / name, frame)
            line = {
                "step": self._count,
                "action": dict(action),
                "success": success,
                "error": error,
                "picture": name if shown else None,
            }
            append_json_line(self._folder / "steps.jsonl", line, default=str)
        except OSError as problem:
            raise unwritable(self._folder, problem) from problem
        self._top = top

    def close(self) -> None:
        """Write the last picture from above.

        Raises:
            DataFileError: it cannot be written.
        """
        if self._count:
            try:
                _write(self._folder / "top-last.png", self._top)
            except OSError as problem:
                raise unwritable(self._folder, problem) from problem


def _write(path: Path, frame: Any) -> bool:
    """Write an image as PNG; return whether there is one."""
    if frame is None:
        return False
    from PIL import Image

    Image.fromarray(frame[..., :3].copy()).save(path, format="PNG")
    return True


def _plain(action: object) -> str:
    return "".join(c for c in str(action) if c.isalnum())[:40] or "action"
