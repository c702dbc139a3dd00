"""Settings by name."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.policies.llm.settings import NAMED_SETTINGS, PolicySettings, settings_named

SWITCHES = (
    "hierarchical",
    "verification",
    "retrieval",
    "expansion",
    "planner_repair",
    "elimination",
    "library",
    "knowledge",
    "direct",
    "batching",
)
EXTRAS = SWITCHES[3:]


@pytest.mark.parametrize(
    ("name", "on"),
    [("HVR", "HVR"), ("HV", "HV"), ("HR", "HR"), ("VR", "VR"), ("R", "R"), ("LLM", "")],
)
def test_the_papers_settings_are_their_letters_and_nothing_of_hvrs_own(name: str, on: str) -> None:
    settings = settings_named(name)
    assert settings.hierarchical == ("H" in on)
    assert settings.verification == ("V" in on)
    assert settings.retrieval == ("R" in on)
    assert not any(getattr(settings, extra) for extra in EXTRAS)


def test_hvr_plus_has_everything_on() -> None:
    assert all(getattr(settings_named("HVR+"), switch) for switch in SWITCHES)
    assert settings_named("HVR+") == PolicySettings()


def test_the_bounds_are_those_of_the_paper_in_every_setting() -> None:
    for settings in NAMED_SETTINGS.values():
        assert (settings.block_limit, settings.tries_per_step) == (50, 2)


@pytest.mark.slow
@given(
    st.sampled_from(sorted(NAMED_SETTINGS)),
    st.lists(st.tuples(st.sampled_from(SWITCHES), st.booleans()), max_size=6),
    st.booleans(),
)
def test_the_last_of_each_switch_counts_and_all_else_stays(
    name: str, switches: list[tuple[str, bool]], lower: bool
) -> None:
    text = name + "".join(f"{'+' if on else '-'}{switch}" for switch, on in switches)
    settings = settings_named(text.lower() if lower else text)
    wanted = {**NAMED_SETTINGS[name].to_json(), **dict(switches)}
    assert settings.to_json() == wanted


def test_hvr_with_a_switch_is_not_hvr_plus() -> None:
    assert settings_named("HVR+planner_repair").planner_repair
    assert not settings_named("HVR+planner_repair").library
    assert settings_named("HVR++planner_repair") == settings_named("HVR+")
    assert not settings_named("HVR+-library").library


@pytest.mark.parametrize("text", ["", " ", "X", "GPT", "+library", "V", "H", "plus"])
def test_an_unknown_name_is_refused_with_the_names_there_are(text: str) -> None:
    with pytest.raises(UsageError, match="unknown setting") as error:
        settings_named(text)
    assert all(name in str(error.value) for name in NAMED_SETTINGS)


@pytest.mark.parametrize(
    "text",
    ["HVR+foo", "HVR-", "LLM+", "HVR library", "HVR+planner-repair", "HVR+librarys", "HVRX",
     "HVR+block_limit", "HVR+-", "HVR+library=1"],
)  # fmt: skip
def test_an_unknown_switch_is_refused_with_the_switches_there_are(text: str) -> None:
    with pytest.raises(UsageError) as error:
        settings_named(text)
    assert text in str(error.value)
    assert all(switch in str(error.value) for switch in SWITCHES)


@pytest.mark.slow
@given(st.text(max_size=30))
def test_any_other_text_is_a_setting_or_a_usage_error(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert isinstance(settings_named(text), PolicySettings)
