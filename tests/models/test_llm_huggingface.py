"""A tiny model with random weights, through the real code path of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hvr.errors import DataFileError
from hvr.models.config import ModelOptions
from hvr.models.connect import make_model
from hvr.models.errors import ModelError
from hvr.models.huggingface import HuggingFaceModel, LineConstraint, finite_answers
from hvr.models.model import Message, Model, Request
from tests.extras import needs

torch = pytest.importorskip("torch")
needs("transformers")
pytestmark = [
    # The library itself causes these, at import and when saving.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

WORDS = "mug pan knife slice the tomato put on in open close fridge 1 2 3 . ( ) , user assistant"
TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'system' %}"
    "{{ raise_exception('no system role') }}{% endif %}"
    "{{ m.role }} {{ m.content }} {% endfor %}assistant"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    path = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[EOS]", *WORDS.split()]
    plain = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, unk_token="[UNK]", eos_token="[EOS]", pad_token="[PAD]"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(path)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        eos_token_id=2,
        bos_token_id=None,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        transformers.LlamaForCausalLM(config).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return make_model(f"hf:{folder}")


def ask(text: str = "slice the tomato", **settings: Any) -> Request:
    messages = (Message("system", "the pan ."), Message("user", text))
    return Request(messages=messages, **{"max_tokens": 12, **settings})


@pytest.mark.slow
def test_a_greedy_answer_is_the_same_each_time_and_counted(model: Model) -> None:
    answers = [model.answer(ask()) for _ in range(2)]
    assert answers[0] == answers[1]
    usage = answers[0].usage
    # user the pan . slice the tomato assistant
    assert usage.input == 8 and usage.output is not None and 0 < usage.output <= 12
    assert usage.cost is None and answers[0].text


def test_an_answer_at_the_limit_is_cut_off(model: Model) -> None:
    answer = model.answer(ask(max_tokens=1))
    assert answer.usage.output == 1
    assert answer.finish == "length" and answer.text in WORDS.split()


def test_sampling_follows_its_seed_and_disturbs_nobody(model: Model) -> None:
    state = torch.random.get_rng_state()
    one, two, other = (
        model.answer(ask(temperature=1.5, seed=s, max_tokens=30)).text for s in (1, 1, 2)
    )
    assert one == two != other
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_text_ends_the_answer(model: Model) -> None:
    whole = model.answer(ask(max_tokens=8)).text.split()
    stop = next(w for w in whole[1:] if w != whole[0])
    cut = model.answer(ask(max_tokens=8, stop=(stop,)))
    assert cut.text.split() == whole[: whole.index(stop)] and cut.finish == "stop"


def test_a_prompt_that_does_not_fit_says_by_how_much(model: Model) -> None:
    with pytest.raises(ModelError, match=r"65 tokens.*up to 12.* of 64 by 13") as caught:
        model.answer(ask("mug " * 60))
    assert caught.value.kind == "overflow"


def test_an_answer_that_takes_too_long_is_told(folder: Path) -> None:
    slow = make_model(f"hf:{folder}", ModelOptions(timeout=1e-9))
    with pytest.raises(ModelError, match="not complete within"):
        slow.answer(ask(max_tokens=30))


def test_an_answer_that_is_no_json_is_told(model: Model) -> None:
    request = Request(messages=(Message("user", "mug"),), max_tokens=4, schema={"type": "object"})
    with pytest.raises(ModelError, match="answer is empty"):  # its vocabulary has no brackets
        model.answer(request)


def test_a_model_without_a_template_gets_plain_turns(folder: Path, tmp_path: Path) -> None:
    import shutil

    plain = tmp_path / "plain"
    shutil.copytree(folder, plain)
    (plain / "chat_template.jinja").unlink()
    assert make_model(f"hf:{plain}").answer(ask()).usage.input


def test_a_folder_without_a_model_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataFileError, match="cannot be loaded"):
        make_model(f"hf:{tmp_path}")


# Constraints --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_finite_schema_leaves_no_other_answer(folder: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"type": "string", "enum": ["slice", "put"]}},
        "required": ["next"],
        "additionalProperties": False,
    }
    assert finite_answers(schema) == ('{"next": "slice"}', '{"next": "put"}')
    model = HuggingFaceModel(str(folder), ModelOptions())
    allowed = LineConstraint(model._tokenizer, lambda lines: ("",) if lines else ("slice", "put"))
    (first, second) = allowed([])
    assert {model._tokenizer.decode([token]) for token in (first, second)} == {"slice", "put"}
    assert allowed([first]) == [model._tokenizer.eos_token_id]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "string"},
        {"type": "array", "items": {"enum": ["a"]}},
        {"type": "object", "properties": {"a": {"enum": ["b"]}}, "required": []},
        {
            "type": "object",
            "properties": {name: {"enum": list(range(100))} for name in "abc"},
            "required": ["a", "b", "c"],
            "additionalProperties": False,
        },
    ],
)
def test_other_schemas_are_not_enumerated(schema: dict[str, Any] | None) -> None:
    assert finite_answers(schema) == ()


@pytest.mark.slow
def test_an_answer_keeps_to_its_schema(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("lmformatenforcer")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(["[EOS]", *letters])}
    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="[EOS]")
    tokenizer.save_pretrained(tmp_path)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=4096, eos_token_id=0, bos_token_id=None,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    names = {"$ref": "#/$defs/names"}
    step = {
        "type": "object",
        "properties": {"do": {"type": "string", "enum": ["pick_up"]}, "o": names},
        "required": ["do", "o"],
        "additionalProperties": False,
    }
    steps = {"type": "array", "items": {"anyOf": [step]}, "minItems": 1, "maxItems": 2}
    schema = {
        "type": "object",
        "properties": {"steps": steps},
        "required": ["steps"],
        "additionalProperties": False,
        "$defs": {"names": {"type": "string", "enum": ["mug-1", "cup-2"]}},
    }
    request = Request(messages=(Message("user", "mug"),), max_tokens=400, schema=schema)
    data = make_model(f"hf:{tmp_path}").answer(request).data
    assert 1 <= len(data["steps"]) <= 2
    assert {s["o"] for s in data["steps"]} <= {"mug-1", "cup-2"}
