"""Gantt charts: each step at its time and duration, with failures marked."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hvr.runs.report.plan_timelines import MAX_LANES, draw_gantt
from hvr.validation.timeline import (
    ProcessSpan,
    Timeline,
    TimelineFailure,
    TimelineMark,
    TimelineStep,
)

SVG = "{http://www.w3.org/2000/svg}"


def step(number: int, name: str, args: str, start: float, end: float) -> TimelineStep:
    return TimelineStep(number, name, tuple(args.split()), Fraction(start), Fraction(end))


def timeline(steps: list[TimelineStep], **more: object) -> Timeline:
    end = max((one.end for one in steps), default=Fraction(0))
    given = {"marks": (), "processes": (), "failures": (), "judged_until": None, **more}
    return Timeline(steps=tuple(steps), end=end, has_times=True, **given)  # type: ignore[arg-type]


def bars(svg: str) -> dict[str, tuple[float, float]]:
    """Return the horizontal extent of each bar, by its tooltip."""
    found = {}
    for rect in ET.fromstring(svg).iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None and title.text:
            x = float(rect.attrib["x"])
            found[title.text] = (x, x + float(rect.attrib["width"]))
    return found


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9), st.sampled_from("abc")), min_size=1)
)
def test_bars_are_as_long_as_steps_and_never_overlap(drawn: list[tuple[int, int, str]]) -> None:
    steps = [step(n, "go", who, at, at + long) for n, (at, long, who) in enumerate(drawn, 1)]
    svg = draw_gantt(timeline(steps), "plan")
    extents = list(bars(svg).values())
    assert len(extents) == len(steps)
    pixels = max(end for _, end in extents) - min(start for start, _ in extents)
    times = max(one.end for one in steps) - min(one.start for one in steps)
    for one, (start, end) in zip(sorted(steps, key=lambda s: s.number), ordered(svg), strict=True):
        assert abs((end - start) - pixels * float((one.end - one.start) / times)) < 0.3
    boxes: dict[float, list[tuple[float, float]]] = {}
    for rect in ET.fromstring(svg).iter(f"{SVG}rect"):
        if rect.attrib.get("class") == "bar":
            x = float(rect.attrib["x"])
            row = boxes.setdefault(float(rect.attrib["y"]), [])
            row.append((x, x + float(rect.attrib["width"])))
    for row in boxes.values():
        row.sort()
        assert all(one[1] <= two[0] + 0.2 for one, two in pairwise(row))


def ordered(svg: str) -> list[tuple[float, float]]:
    numbered = {int(text.split()[1]): extent for text, extent in bars(svg).items()}
    return [numbered[number] for number in sorted(numbered)]


def test_what_fails_and_what_was_not_judged_is_marked() -> None:
    steps = [step(1, "go", "a", 0, 2), step(2, "go", "b", 1, 3), step(3, "go", "c", 4, 5)]
    failure = TimelineFailure(Fraction(1), 2, "Step 2 (go b) fails.")
    svg = draw_gantt(timeline(steps, failures=(failure,), judged_until=Fraction(1)), "plan")
    kinds = [r.attrib["class"] for r in ET.fromstring(svg).iter(f"{SVG}rect")][1:]
    assert kinds == ["bar", "bar failed", "bar unjudged"]
    assert "Step 2 (go b) fails." in svg


def test_events_and_processes_are_drawn() -> None:
    svg = draw_gantt(
        timeline(
            [step(1, "go", "a", 0, 9), step(2, "stop", "a", 9, 9)],
            marks=(TimelineMark(Fraction(3), "3: timed initial literal: +(light)"),),
            processes=(
                ProcessSpan("(drain)", Fraction(1), Fraction(2)),
                ProcessSpan("(drain)", Fraction(2), Fraction(5)),
            ),
        ),
        "plan",
    )
    assert "(drain): 1 to 5" in svg
    assert "+(light)" in svg
    assert "step 2 (stop a): 9 to 9" in svg


def test_names_are_text_and_many_lanes_are_packed() -> None:
    evil = "<script>alert(1)</script>"
    steps = [step(n, evil, f'"{n}&<', n, n + 1) for n in range(1, MAX_LANES + 5)]
    assert "<script>alert" not in draw_gantt(timeline(steps), evil)
    rows = {r.get("y") for r in ET.fromstring(draw_gantt(timeline(steps), "")).iter(f"{SVG}rect")}
    assert len(rows) == 2  # the background, and one shared row


def test_an_empty_plan_is_drawn() -> None:
    assert ET.fromstring(draw_gantt(timeline([]), "plan")).tag == f"{SVG}svg"
