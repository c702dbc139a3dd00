"""The base of everything that is put around a model: it is named like the model."""

from __future__ import annotations

from hvr.models.model import Model


class Layer:
    """A model around a model.

    Args:
        model: whom to ask.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """See `Model`."""
        return self._model.name

    @property
    def simulated(self) -> bool:
        """See `Model`."""
        return self._model.simulated
