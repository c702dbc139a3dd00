"""Local language models through the package transformers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal

from hvr.base.registry import load
from hvr.errors import DataFileError
from hvr.models import replies
from hvr.models.config import ModelOptions, priced
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Message, Request, Usage
from hvr.models.replies import with_calls, without_tools
from hvr.values import cached_property

# Constrained decoding -----------------------------------------------------------------------------
# Constrained decoding of local models by a JSON schema, through lm-format-enforcer.

Allowed = Callable[[int, Any], list[int]]
"""The function that transformers takes as `prefix_allowed_tokens_fn`."""


class SchemaDecoding:
    """Token filters that force a tokenizer's output to follow a JSON schema.

    lm-format-enforcer's own integration does not support every release of transformers, so hvr
    reads the vocabulary itself.
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
            # Only after another token does a token's text show its leading space.
            text = str(tokenizer.decode([zero, token]))[1:]
            tokens.append((token, text, len(text) > len(tokenizer.decode([token]))))

        def decode(sequence: list[int]) -> str:
            return str(tokenizer.decode(sequence)).rstrip("\ufffd")

        self._ends = list(dict.fromkeys(ends))
        data = enforcer.TokenEnforcerTokenizerData
        self._data = data(tokens, decode, self._ends, False, len(tokenizer))

    def allowed(self, schema: Mapping[str, Any]) -> Allowed:
        """Return a prefix function for transformers, which yields the tokens allowed next."""
        parser = self._core.JsonSchemaParser(dict(schema))
        enforcer = self._enforcer(self._data, parser)

        def tokens(_batch: int, sequence: Any) -> list[int]:
            possible = enforcer.get_allowed_tokens(sequence.tolist()).allowed_tokens
            # A vocabulary that cannot spell the answer ends it.
            return list(possible) or self._ends

        return tokens


# --------------------------------------------------------------------------------------------------


class HuggingFaceModel:
    """A causal language model that runs in this process, such as Phi-3-mini-4k-instruct.

    Decoding is greedy at temperature 0, and follows the request's schema, if any. Requests are
    processed one at a time.
    """

    simulated = False

    def __init__(self, model: str, options: ModelOptions) -> None:
        self._torch = load("torch", "torch", "local")
        self._transformers = transformers = load("transformers", "transformers", "local")
        self._name = model
        self._options = options
        self._price = options.prices.get(model)
        self._lock = threading.Lock()
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(model)
            self._model = transformers.AutoModelForCausalLM.from_pretrained(model)
        except (OSError, ValueError, KeyError) as error:
            reason = options.scrubber.text(str(error)).strip().split("\n")[0]
            raise DataFileError(
                f"the model {model!r} cannot be loaded: {reason}; give the name of a model on "
                "the Hugging Face hub, or a folder that contains one"
            ) from None
        device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = self._model.to(device).eval()

    @property
    def name(self) -> str:
        return f"hf:{self._name}"

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: The prompt and answer do not fit in the context, generation took too long,
                or the answer is not the requested tool call.
        """
        # Concurrent answers would share memory and random state.
        original, request = request, without_tools(request)
        with self._lock:
            tokens = self._tokens(replies.with_instruction(request))
            self._check_fits(len(tokens), request.max_tokens)
            generated = self._generate(tokens, request)
        usage = Usage(input=len(tokens), output=len(generated.tokens), cached=0, reasoning=0)
        usage = priced(usage, self._price)
        if generated.late:
            seconds = self._options.within(request.seconds)
            raise ModelError(
                f"{self.name}: the answer was not complete within {seconds:.3g} s; "
                "raise the timeout, or use a smaller model",
                usage=usage,
            )
        answer = Answer(text=generated.text, model=self._name, finish=generated.finish, usage=usage)
        if original.tools:
            called = replies.checked(answer, request)
            return with_calls(called, called.data)
        return answer

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        return len(self._tokens(messages))

    def _tokens(self, messages: tuple[Message, ...]) -> list[int]:
        if self._tokenizer.chat_template is None:
            text = "".join(f"{m.role}: {m.text}\n" for m in messages) + "assistant:"
            return list(self._tokenizer(text)["input_ids"])
        try:
            text = self._template(messages)
        except Exception as error:
            # Templates raise errors of Jinja2; some do not support system messages.
            if type(error).__module__.split(".")[0] != "jinja2":
                raise
            text = self._template(_without_system(messages))
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _template(self, messages: tuple[Message, ...]) -> str:
        turns = [{"role": m.role, "content": m.text} for m in messages]
        return str(
            self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        )

    def _check_fits(self, prompt: int, answer: int) -> None:
        context = getattr(self._model.config, "max_position_embeddings", None)
        if context is not None and prompt + answer > context:
            raise ModelError(
                f"{self.name}: the prompt ({prompt} tokens) and the answer (up to {answer}) exceed "
                f"the model's context of {context} by {prompt + answer - context}: shorten the "
                "prompt, or lower max_tokens",
                kind="overflow",
            )

    def _generate(self, tokens: list[int], request: Request) -> _Generated:
        torch = self._torch
        given: dict[str, Any] = {"do_sample": request.temperature > 0}
        if request.temperature > 0:
            given |= {"temperature": request.temperature, "top_k": 0, "top_p": 1.0}
        if request.stop:
            given["stopping_criteria"] = self._criteria(len(tokens), request.stop)
        if choices := finite_answers(request.schema):
            constraint = LineConstraint(self._tokenizer, lambda lines: ("",) if lines else choices)

            def allowed(_: int, produced: Any) -> list[int]:
                return constraint(produced[len(tokens) :].tolist())

            given["prefix_allowed_tokens_fn"] = allowed
        elif request.schema is not None:
            given["prefix_allowed_tokens_fn"] = self._decoding.allowed(request.schema)
        prompt = torch.tensor([tokens], device=self._model.device)
        seconds = self._options.within(request.seconds)
        start = time.monotonic()
        # The seed must not affect other random numbers in this process.
        with torch.random.fork_rng(), torch.inference_mode():
            if request.seed is not None:
                torch.manual_seed(request.seed)
            produced = self._model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=request.max_tokens,
                max_time=seconds,
                pad_token_id=self._pad(),
                **given,
            )
        # `max_time` ends generation without reporting that it did.
        late = time.monotonic() - start >= seconds
        return self._read(produced[0][len(tokens) :].tolist(), request, late)

    @cached_property
    def _decoding(self) -> SchemaDecoding:
        return SchemaDecoding(self._tokenizer, [t for t in self._ends() if t is not None])

    def _criteria(self, prompt: int, stop: tuple[str, ...]) -> Any:
        # The library's `stop_strings` does not work with every vocabulary.
        torch, tokenizer = self._torch, self._tokenizer

        def ended(produced: Any, _scores: Any, **_: Any) -> Any:
            text = tokenizer.decode(produced[0][prompt:], skip_special_tokens=True)
            done = any(s in text for s in stop if s)
            return torch.tensor([done], device=produced.device)

        return self._transformers.StoppingCriteriaList([ended])

    def _read(self, tokens: list[int], request: Request, late: bool) -> _Generated:
        text = str(self._tokenizer.decode(tokens, skip_special_tokens=True)).strip()
        cut = replies.cut_at(text, request.stop)
        complete = cut != text or (bool(tokens) and tokens[-1] in self._ends())
        finish: Literal["stop", "length"] = "stop" if complete else "length"
        return _Generated(cut, tuple(tokens), finish, late and not complete)

    def _ends(self) -> tuple[int, ...]:
        ends = self._model.generation_config.eos_token_id
        listed = tuple(ends) if isinstance(ends, list | tuple) else (ends,)
        return (*listed, self._tokenizer.eos_token_id)

    def _pad(self) -> int:
        pad = self._tokenizer.pad_token_id
        return int(pad if pad is not None else self._tokenizer.eos_token_id or 0)


MAX_FINITE_ANSWERS = 5_000
"""Maximum number of answers for which a schema is enforced by a list rather than token by token."""


def finite_answers(schema: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return all JSON strings that a schema allows.

    The result is empty unless the schema is an enumeration, or a closed object that combines
    enumerations in at most `MAX_FINITE_ANSWERS` ways.
    """
    values = None if schema is None else _values(schema)
    return () if values is None else tuple(json.dumps(value) for value in values)


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    if "enum" in schema:
        return list(schema["enum"])
    properties = schema.get("properties", {})
    closed = schema.get("type") == "object" and schema.get("additionalProperties") is False
    if not closed or {*properties} != {*schema.get("required", ())}:
        return None
    columns = [_values(part) for part in properties.values()]
    some = [column for column in columns if column is not None]
    if len(some) < len(columns) or prod(map(len, some)) > MAX_FINITE_ANSWERS:
        return None
    return [dict(zip(properties, row, strict=True)) for row in product(*some)]


NextLines = Callable[[Sequence[str]], Sequence[str]]
"""Returns the lines that may follow the lines so far; an empty line ends the answer."""


class LineConstraint:
    """A prefix function for transformers that allows only certain lines of text.

    Args:
        tokenizer: Tokenizer that has an end token and preserves line breaks.
        next_lines: Function that returns the lines allowed after the lines so far, such as
            `hvr.policies.llm.next_steps.NextSteps`.
    """

    def __init__(self, tokenizer: Any, next_lines: NextLines) -> None:
        self._tokenizer = tokenizer
        self._next_lines = next_lines
        self._known: dict[tuple[str, ...], _Branch] = {}

    def __call__(self, produced: Sequence[int]) -> list[int]:
        """Return the tokens allowed next; an end token allows only another end token."""
        lines: tuple[str, ...] = ()
        branch = self._branch(lines)
        for token in produced:
            if token not in branch.after:
                return [self._tokenizer.eos_token_id]
            branch = branch.after[token]
            if branch.line is not None:
                lines = (*lines, branch.line)
                branch = self._branch(lines)
        return list(branch.after) or [self._tokenizer.eos_token_id]

    def _branch(self, lines: tuple[str, ...]) -> _Branch:
        if lines not in self._known:
            root = self._known[lines] = _Branch()
            for line in self._next_lines(lines):
                if not line:
                    root.after[self._tokenizer.eos_token_id] = _Branch()
                    continue
                branch = root
                for token in self._tokenizer(f"{line}\n", add_special_tokens=False)["input_ids"]:
                    branch = branch.after.setdefault(token, _Branch())
                branch.line = line
        return self._known[lines]


@dataclass
class _Branch:
    """A node in a prefix tree of tokenised lines; `line` is the line that ends here, if any."""

    after: dict[int, _Branch] = field(default_factory=dict)
    line: str | None = None


@dataclass(frozen=True)
class _Generated:
    text: str
    tokens: tuple[int, ...]
    finish: Literal["stop", "length"]
    late: bool


def _without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    system = "\n\n".join(m.text for m in messages if m.role == "system")
    rest = [m for m in messages if m.role != "system"]
    if not system or not rest:
        return tuple(rest)
    return (Message(rest[0].role, f"{system}\n\n{rest[0].text}"), *rest[1:])
