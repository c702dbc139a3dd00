"""Charts of numbers over time."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

from hvr.runs.report.plan_timelines import draw_curves
from hvr.validation.timeline import Curve, CurvePiece

SVG = "{http://www.w3.org/2000/svg}"


def piece(start: int, end: int, *coefficients: int) -> CurvePiece:
    return CurvePiece(Fraction(start), Fraction(end), coefficients)


LEVEL = Curve("(level)", (piece(0, 4, 0, 0, 1), piece(4, 8, 2), piece(8, 8, 0)))
STILL = Curve("(size <a>)", (piece(0, 8, 3),))


def test_what_changes_is_drawn_with_its_jumps() -> None:
    root = ElementTree.fromstring(draw_curves([LEVEL, STILL], "a & b"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[:4] == ["a & b", "(level)", "0", "16"]
    assert "(size <a>)" not in texts
    curves = [line for line in root.iter(f"{SVG}polyline") if line.get("class") == "curve"]
    assert [len((line.get("points") or "").split()) for line in curves] == [33, 2]
    assert sum(line.get("class") == "jump" for line in root.iter(f"{SVG}line")) == 2


def test_the_curve_runs_from_the_lowest_to_the_highest_value() -> None:
    root = ElementTree.fromstring(draw_curves([LEVEL], "t"))
    line = next(root.iter(f"{SVG}polyline"))
    points = [tuple(map(float, p.split(","))) for p in (line.get("points") or "").split()]
    left, right = points[0][0], points[-1][0]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert right - left == 320  # 4 of 8 units of time
    # A parabola: half the time is a quarter of the height.
    height = points[0][1] - points[-1][1]
    assert abs((points[0][1] - points[16][1]) - height / 4) < 0.2


def test_where_nothing_changes_all_is_drawn() -> None:
    assert "(size &lt;a&gt;)" in draw_curves([STILL], "t")
    ElementTree.fromstring(draw_curves([], "nothing"))


def test_many_curves_are_cut() -> None:
    curves = [LEVEL.replace(fluent=f"(f{i})") for i in range(62)]
    assert "2 more change" in draw_curves(curves, "t")
