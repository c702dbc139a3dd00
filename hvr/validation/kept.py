"""Models that were read from texts, kept while they are in use."""

from __future__ import annotations

from hvr.validation.batch import BatchOptions, LoadedModel, ModelReader, UnusableModelError

_MOST_MODELS = 16
_MOST_CHARACTERS = 10_000_000
"""Bounds of memory: models that are kept, and the length of their texts together."""


class KeptModels:
    """Reads each model once while it is in use; one that cannot be used is remembered as such.

    A model is known by its names and by what its texts say.

    Args:
        options: what to find out about its plans.
    """

    def __init__(self, options: BatchOptions) -> None:
        self._reader = ModelReader(options)
        self._models: dict[tuple[str, str, str, str], LoadedModel | UnusableModelError] = {}

    def __len__(self) -> int:
        """How many models are kept."""
        return len(self._models)

    def model(self, names: tuple[str, str], texts: tuple[str, str]) -> LoadedModel:
        """Return the model of a domain and a problem.

        Args:
            names: what results call the two.
            texts: what they say.

        Raises:
            UnusableModelError: one of them cannot be used.
        """
        key = *names, *texts
        model = self._models.pop(key, None)
        if model is None:
            try:
                model = self._reader.read(*names, texts=texts)
            except UnusableModelError as error:
                if isinstance(error.__cause__, MemoryError):
                    raise  # there may be more memory the next time
                model = error.with_traceback(None)
                # What it came from holds the frames of reading, and with them what was read.
                model.__cause__ = model.__context__ = None
        # The one used last is the last to go.
        self._models[key] = model
        while len(self._models) > 1 and self._too_many:
            del self._models[next(iter(self._models))]
        if isinstance(model, UnusableModelError):
            raise UnusableModelError(model, model.result)
        return model

    @property
    def _too_many(self) -> bool:
        size = sum(len(text) for _, _, *texts in self._models for text in texts)
        return len(self._models) > _MOST_MODELS or size > _MOST_CHARACTERS
