"""Options of AI2-THOR: accepted texts, and refusals."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.worlds.thor.installation import (
    PLATFORMS,
    QUALITIES,
    ThorOptions,
    option_texts,
    read_options,
)

_word = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=20).filter(
    lambda text: text == text.strip()
)
_positive = st.floats(min_value=1e-3, max_value=1e6)
options = st.builds(
    ThorOptions,
    executable=_word, platform=st.sampled_from(("", *PLATFORMS)), display=_word,
    width=st.integers(1, 4000), height=st.integers(1, 4000), quality=st.sampled_from(QUALITIES),
    headless=st.booleans(), server=st.sampled_from(("fifo", "http")), port=st.integers(0, 65535),
    grid_size=_positive, visibility_distance=_positive, timeout=_positive, start_timeout=_positive,
    force_action=st.booleans(), tries=st.integers(1, 9), pictures=st.booleans(),
    top_view=st.booleans(),
)  # fmt: skip


@pytest.mark.slow
@given(options)
def test_options_survive_being_written_as_text(wanted: ThorOptions) -> None:
    values = dataclasses.asdict(wanted)
    assert read_options([f"{name}={value}" for name, value in values.items()], {}) == wanted


def test_the_command_line_wins_over_the_environment() -> None:
    environment = {"HVR_THOR": "width=600, headless=yes,", "HVR_THOR_EXECUTABLE": "theirs"}
    usual = read_options((), environment)
    assert (usual.width, usual.headless, usual.executable) == (600, True, "theirs")
    options = read_options(option_texts("mine --flag=1", ["width=200"]), environment)
    assert (options.width, options.headless, options.executable) == (200, True, "mine --flag=1")
    assert read_options(option_texts(None, None), {}) == ThorOptions()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("width", ["width", "name=value"]),
        ("widht=3", ["widht", "width"]),
        ("nothing-like-it=3", ["nothing_like_it", "grid_size"]),
        ("width=wide", ["width", "whole number", "wide"]),
        ("width=0", ["width", "from 1"]),
        ("tries=0", ["tries", "from 1"]),
        ("port=-1", ["port", "from 0"]),
        ("headless=perhaps", ["headless", "true or false"]),
        ("timeout=inf", ["timeout", "a number"]),
        ("timeout=nan", ["timeout", "a number"]),
        ("grid_size=-0.25", ["grid_size", "positive"]),
        ("platform=WebGL", ["WebGL", "CloudRendering"]),
        ("quality=Best", ["Best", "Ultra"]),
        ("server=carrier-pigeon", ["carrier-pigeon", "fifo"]),
    ],
)
def test_what_cannot_be_used_is_named(text: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        read_options([text], {})
    assert all(word in str(refused.value) for word in words)
