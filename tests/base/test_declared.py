"""JSON by declared types can be read back, fits its schema, and has its faults located."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.declared import Between, decode, json_schema
from hvr.errors import DataFileError, UsageError
from hvr.values import JsonObject, Value


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(Value):
    name: str
    size: Annotated[int, Between(0, 9)] = 1


class Outer(Value):
    """An example.

    Attributes:
        inner: The parts.
        share: The share, or None if it is unknown.
    """

    inner: tuple[Inner, ...]
    colour: Colour = Colour.RED
    share: float | None = None
    ratio: Fraction = Fraction(1, 2)
    free: Mapping[str, Any] = {}
    mode: Literal["fast", "slow"] = "fast"
    pair: tuple[int, str] = (1, "a")


class Wider(Outer):
    more: bool = False


@dataclass(frozen=True)
class Table(JsonObject):
    command: tuple[str, ...] = ()
    folder: Path = Path()
    env: Mapping[str, str] = field(default_factory=dict)


_SCHEMA = jsonschema.Draft202012Validator(json_schema(Wider))
_INNER = st.fixed_dictionaries({"name": st.text()}, optional={"size": st.integers(0, 9)})
_OUTER = st.fixed_dictionaries(
    {"inner": st.lists(_INNER, max_size=3)},
    optional={
        "colour": st.sampled_from(["red", "blue"]),
        "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "ratio": st.integers() | st.sampled_from([0.5, 2.25]),
        "free": st.dictionaries(st.text(), st.integers() | st.none(), max_size=2),
        "mode": st.sampled_from(["fast", "slow"]),
        "pair": st.tuples(st.integers(), st.text()).map(list),
        "more": st.booleans(),
    },
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(_OUTER)
def test_a_decoded_value_encodes_to_its_document_and_fits_the_schema(data: dict[str, Any]) -> None:
    value = decode(Wider, data)
    written = value.to_json()
    assert {name: written[name] for name in data if name != "inner"} == {
        name: item for name, item in data.items() if name != "inner"
    }
    assert decode(Wider, {**written, "inner": data["inner"]}) == value
    _SCHEMA.validate(data)


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(st.dictionaries(st.sampled_from(["inner", "share", "mode", "pair", "x"]), _JSON))
def test_decoding_accepts_what_the_schema_accepts(data: dict[str, Any]) -> None:
    good = _SCHEMA.is_valid(data)
    try:
        decode(Wider, data)
    except UsageError as error:
        assert str(error)
        # JSON Schema also takes 1.0 for an integer; hvr does not.
        assert not good or ".0" in str(data)
    else:
        assert good


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"inner": [{"name": 3}]}, r"plan\.inner\[0\]\.name must be a string, got a number \(3\)"),
        ({"inner": [{"name": "a", "size": 12}]}, r"plan\.inner\[0\]\.size must be at least 0"),
        ({"inner": [{}]}, r"plan\.inner\[0\]: name is missing"),
        ({}, "plan: inner is missing"),
        ({"inner": [], "colr": 1}, r"plan: unknown key 'colr'; did you mean 'colour'\?"),
        ({"inner": [], "colour": "green"}, r"plan\.colour must be one of red, blue"),
        ({"inner": [], "pair": [1]}, r"plan\.pair: expected 2 items, found 1"),
        ({"inner": [], "share": float("inf")}, r"plan\.share must be a number"),
        ({"inner": [], "more": 1}, r"plan\.more must be true or false"),
        ([], "plan must be an object, got an array"),
    ],
)
def test_a_fault_is_reported_with_its_place(data: object, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        decode(Wider, data, "plan", DataFileError)


def test_a_dataclass_with_default_factories_can_be_decoded() -> None:
    assert decode(Table, {"command": ["a"]}) == Table(("a",))


def test_the_schema_describes_fields_defaults_and_limits() -> None:
    schema = json_schema(Outer)
    assert schema["required"] == ["inner"]
    assert schema["properties"]["mode"]["default"] == "fast"
    assert schema["properties"]["share"]["description"] == "The share, or null if it is unknown."
    assert schema["$defs"]["Inner"]["required"] == ["name"]
