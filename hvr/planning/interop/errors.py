"""What goes wrong at the border to another library."""

from __future__ import annotations

from hvr.errors import HvrError


class InteropError(HvrError):
    """A problem or plan says something that the other side has no words for.

    Args:
        feature: the feature, in the words of the side that has it.
        where: the action, fluent or other part that uses it, or "".
    """

    def __init__(self, feature: str, where: str = "") -> None:
        self.feature = feature
        self.where = where
        super().__init__(f"{where}: not supported: {feature}" if where else feature)
