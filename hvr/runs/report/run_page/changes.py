"""The objects that a run changed, by place and state."""

from __future__ import annotations

import math

from hvr.runs.report.floor_plan.plan import FloorPlan, Shape
from hvr.runs.report.markup import table
from hvr.runs.report.run_page.story import Story

_MOVED = 0.05
"""Metres; what is put down elsewhere lies further away than that."""


def changes(before: FloorPlan, after: FloorPlan) -> list[tuple[str, str, str]]:
    """Return name, state before and state after of each object that changed, came or went.

    An object has changed when its place or state is another, or when it moved by more than 5 cm.
    """
    old = {shape.name: shape for shape in before.shapes}
    new = {shape.name: shape for shape in after.shapes}
    rows = []
    for name in [*old, *(n for n in new if n not in old)]:
        a, b = old.get(name), new.get(name)
        if a is None or b is None or (a.place, a.state) != (b.place, b.state):
            rows.append((name, _described(a), _described(b)))
        elif (by := math.dist(a.box.center, b.box.center)) > _MOVED:
            rows.append((name, _described(a), f"{_described(b)}, moved by {by:.2f} m"))
    return rows


def _described(shape: Shape | None) -> str:
    if shape is None:
        return "not there"
    place = f"at {shape.place}" if shape.place else "by itself"
    return ", ".join((place, *shape.state))


def changes_table(story: Story) -> str:
    """Return the changes as a table."""
    if story.before is None or story.after is None:
        return "<p>The scene after the run is not recorded.</p>"
    rows = changes(story.before, story.after)
    if not rows:
        return "<p>Nothing but the robot's own place.</p>"
    caption = "1 object" if len(rows) == 1 else f"{len(rows)} objects"
    return table(caption, ("object", "before", "after"), rows)
