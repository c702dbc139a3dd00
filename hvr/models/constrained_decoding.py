"""Decoding of local models that keeps to a JSON schema, through lm-format-enforcer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hvr.base.extras import load

Allowed = Callable[[int, Any], list[int]]
"""transformers' `prefix_allowed_tokens_fn`."""


class SchemaDecoding:
    """Prefix functions for one tokenizer.

    The package's own integration does not know every release of transformers, so hvr reads the
    vocabulary itself.

    Raises:
        MissingExtraError: lm-format-enforcer is not installed.
    """

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        self._core = load("lmformatenforcer", "lm-format-enforcer", "local")
        enforcer = load("lmformatenforcer.tokenenforcer", "lm-format-enforcer", "local")
        self._enforcer = enforcer.TokenEnforcer
        zero = tokenizer.encode("0")[-1]
        special = set(tokenizer.all_special_ids)
        tokens = []
        for token in range(len(tokenizer)):
            if token in special:
                continue
            # After another token, the text of a token shows the space that it begins with.
            text = str(tokenizer.decode([zero, token]))[1:]
            tokens.append((token, text, len(text) > len(tokenizer.decode([token]))))

        def decode(sequence: list[int]) -> str:
            return str(tokenizer.decode(sequence)).rstrip("\ufffd")

        self._ends = list(dict.fromkeys(ends))
        data = enforcer.TokenEnforcerTokenizerData
        self._data = data(tokens, decode, self._ends, False, len(tokenizer))

    def allowed(self, schema: Mapping[str, Any]) -> Allowed:
        """Return the function that yields the possible next tokens of an answer by a schema."""
        parser = self._core.JsonSchemaParser(dict(schema))
        enforcer = self._enforcer(self._data, parser)

        def tokens(_batch: int, sequence: Any) -> list[int]:
            possible = enforcer.get_allowed_tokens(sequence.tolist()).allowed_tokens
            # A vocabulary that cannot spell the answer ends it.
            return list(possible) or self._ends

        return tokens
