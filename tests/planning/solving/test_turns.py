"""The order of planners follows their records."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.planning.solving.portfolio import Feature, RecordedRace, read_races, recorded_races, turns

NUMERIC = frozenset({Feature.NUMERIC})
PLANNERS = ["one", "two", "three"]


def rows(*seconds: dict[str, float]) -> list[RecordedRace]:
    return [RecordedRace(f"p{n}", NUMERIC, 10, times) for n, times in enumerate(seconds)]


def first(races: list[RecordedRace], count: int) -> list[tuple[str, float]]:
    spent: dict[str, float] = {}
    found = []
    for turn in islice(turns(PLANNERS, NUMERIC, 10, races, spent), count):
        found.append((turn.planner, turn.until))
        spent[turn.planner] = turn.until
    return found


def test_who_solves_most_for_a_second_is_first_and_the_rest_follows() -> None:
    races = rows(*[{"two": 2.0, "one": 8.0}] * 6, *[{"three": 4.0, "one": 9.0}] * 3)
    assert first(races, 2) == [("two", 3.0), ("three", 6.0)]


def test_who_is_not_needed_for_the_record_comes_by_the_record_without_the_first() -> None:
    races = rows(*[{"one": 1.0, "three": 2.0}] * 5, {"one": 1.0, "two": 9.0})
    assert [name for name, _ in first(races, 3)] == ["one", "three", "two"]


def test_without_a_record_all_have_turns_that_grow() -> None:
    assert first([], 6) == [
        ("one", 2.0), ("two", 2.0), ("three", 2.0), ("one", 6.0), ("two", 6.0), ("three", 6.0),
    ]  # fmt: skip


@pytest.mark.slow
@given(
    st.lists(
        st.dictionaries(st.sampled_from(PLANNERS), st.floats(0.1, 60)), min_size=8, max_size=20
    )
)
def test_every_planner_has_turns_and_each_adds_time(times: list[dict[str, float]]) -> None:
    spent: dict[str, float] = {}
    for turn in islice(turns(PLANNERS, NUMERIC, 10, rows(*times), spent), 60):
        assert turn.until > spent.get(turn.planner, 0.0)
        spent[turn.planner] = turn.until
    assert set(spent) == set(PLANNERS)


def test_the_record_that_comes_with_hvr_can_be_read() -> None:
    races = recorded_races()
    assert all(race.features and race.objects for race in races)


def test_columns_without_a_time_are_failures() -> None:
    text = "# why\nproblem\tfeatures\tobjects\tone\ttwo\np\tNUMERIC,COSTS\t3\t1.50\t-\n"
    (race,) = read_races(text)
    assert race.features == {Feature.NUMERIC, Feature.COSTS}
    assert race.seconds == {"one": 1.5}
