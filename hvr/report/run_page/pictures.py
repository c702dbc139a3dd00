"""The scene before and after a run, with the robot's way, as parts of its page."""

from __future__ import annotations

from collections.abc import Collection

from hvr.report.floor_plan.drawing import Drawing, draw
from hvr.report.floor_plan.kinds import DESCRIPTIONS, Kind
from hvr.report.floor_plan.plan import FloorPlan
from hvr.report.floor_plan.stops import stops
from hvr.report.floor_plan.svg import quoted, svg
from hvr.report.markup import table
from hvr.report.run_page.story import Story


def way_figure(story: Story) -> str:
    """Return the scene before, with the way of the robot, and in words what it shows."""
    if story.before is None:
        return f"<div class='scenes'><p>{quoted(story.note)}</p></div>"
    drawing = draw(story.before, story.route, labels=_named(story))
    caption = "Before the run" + (", with the robot's way" if story.steps else "")
    way = _figure("way", caption, drawing, story.before, _words(story) + _note(story.note))
    return f"<div class='scenes'>{way}{_legend()}</div>"


def after_figure(story: Story) -> str:
    """Return the scene after."""
    if story.after is None:
        return ""
    drawing = draw(story.after, labels=_named(story))
    after = _figure("after", "After the run", drawing, story.after, "")
    return f"<div class='scenes'>{after}</div>"


def _named(story: Story) -> Collection[str]:
    """Return what is written on the pictures: what the steps are about."""
    return {name for step in story.steps for name in step.objects} or "main"


def _figure(name: str, caption: str, drawing: Drawing, plan: FloorPlan, below: str) -> str:
    x, y = drawing.place(plan.agent.x, plan.agent.z)
    data = (
        f"data-left='{drawing.left:.4f}' data-top='{drawing.top:.4f}' "
        f"data-scale='{drawing.scale:g}' data-agent-x='{x:.1f}' data-agent-y='{y:.1f}' "
        f"data-agent-yaw='{plan.agent.yaw:.1f}'"
    )
    return (
        f"<figure class='scene' id='picture-{name}' {data}><figcaption>{quoted(caption)}"
        f"</figcaption>{svg(drawing, standalone=False)}{below}</figure>"
    )


def _words(story: Story) -> str:
    """Return the way for those who do not see the picture."""
    if story.route is None or not story.steps:
        return ""
    items = "".join(
        f"<li>steps {halt.text} at x {halt.x:.2f} m, z {halt.z:.2f} m"
        + (f"; not as expected: {', '.join(map(str, halt.failed))}" if halt.failed else "")
        + "</li>"
        for halt in stops(story.route)
    )
    return f"<details><summary>The way in words</summary><ul>{items}</ul></details>"


def _note(note: str) -> str:
    return f"<p class='note'>{quoted(note)}</p>" if note else ""


def _legend() -> str:
    items = "".join(
        f"<span><svg class='hvr-plan' width='14' height='14' aria-hidden='true'>"
        f"<rect class='{kind.value}' x='1' y='1' width='12' height='12'/></svg> "
        f"{quoted(DESCRIPTIONS[kind])}</span> "
        for kind in Kind
    )
    more = (
        "Dotted: overhead, or in something closed. A solid line is a way that the robot went, a "
        "dashed one a jump (Teleport). Dots: where it can stand."
    )
    return f"<p class='legend'>{items}</p><p class='note'>{more}</p>"


def objects_table(story: Story) -> str:
    """Return all objects of the last scene known."""
    plan = story.after or story.before
    if plan is None:
        return "<p>No scene is recorded.</p>"
    rows = [
        (s.name, s.object_type, s.kind.value, s.place, ", ".join(s.state),
         f"{s.box.center[0]:.2f}, {s.box.center[1]:.2f}, {s.box.center[2]:.2f}")
        for s in plan.shapes
    ]  # fmt: skip
    when = "after" if story.after is not None else "before"
    header = ("object", "type", "kind", "on or in", "state", "middle x, y, z (m)")
    listed = table(f"{len(rows)} objects {when} the run", header, rows)
    return f"<details><summary>All objects</summary>{listed}</details>"
