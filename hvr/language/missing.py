"""The error for things that a scene lacks."""

from __future__ import annotations

from hvr.errors import ImpossibleGoalError


class MissingObjectError(ImpossibleGoalError):
    """The scene has no object of the wanted classes.

    Args:
        scene: name of the scene.
        classes: the classes, any of which would do.
        text: what was asked for, for the message.
    """

    def __init__(self, scene: str, classes: tuple[str, ...], text: str) -> None:
        self.scene = scene
        self.classes = classes
        self.text = text
        super().__init__(f"{scene} has no {text}")
