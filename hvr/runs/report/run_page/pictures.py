"""The scene before and after a run, with the robot's way, as parts of its page."""

from __future__ import annotations

from collections.abc import Collection

from hvr.runs.report.floor_plan.drawing import Drawing, draw
from hvr.runs.report.floor_plan.kinds import DESCRIPTIONS, Kind
from hvr.runs.report.floor_plan.plan import FloorPlan
from hvr.runs.report.floor_plan.stops import Stop, stops
from hvr.runs.report.floor_plan.svg import svg
from hvr.runs.report.markup import bullets, details, element, escaped, legend, paragraph, table
from hvr.runs.report.run_page.story import Story

_LINES = (
    "Dotted: overhead, or in something closed. A solid line is a way that the robot went, a "
    "dashed one a jump (Teleport). Dots: where it can stand."
)


def way_figure(story: Story) -> str:
    """Return the scene before, with the way of the robot, and in words what it shows."""
    if story.before is None:
        return _scenes(element("p", escaped(story.note)))
    drawing = draw(story.before, story.route, labels=_named(story))
    caption = "Before the run" + (", with the robot's way" if story.steps else "")
    below = _words(story) + paragraph(story.note, "note")
    kinds = legend(((kind.value, DESCRIPTIONS[kind]) for kind in Kind), style="hvr-plan")
    figure = _figure("way", caption, drawing, story.before, below)
    return _scenes(figure, kinds, paragraph(_LINES, "note"))


def after_figure(story: Story) -> str:
    """Return the scene after."""
    if story.after is None:
        return ""
    drawing = draw(story.after, labels=_named(story))
    return _scenes(_figure("after", "After the run", drawing, story.after, ""))


def _scenes(*markup: str) -> str:
    return element("div", *markup, class_="scenes")


def _named(story: Story) -> Collection[str]:
    """Return what is written on the pictures: what the steps are about."""
    return {name for step in story.steps for name in step.objects} or "main"


def _figure(name: str, caption: str, drawing: Drawing, plan: FloorPlan, below: str) -> str:
    """Return a picture with the figures that the scrubber needs to move the robot on it."""
    x, y = drawing.place(plan.agent.x, plan.agent.z)
    return element(
        "figure",
        element("figcaption", escaped(caption)),
        svg(drawing, standalone=False),
        below,
        class_="scene",
        id=f"picture-{name}",
        data_left=f"{drawing.left:.4f}",
        data_top=f"{drawing.top:.4f}",
        data_scale=f"{drawing.scale:g}",
        data_agent_x=x,
        data_agent_y=y,
        data_agent_yaw=plan.agent.yaw,
    )


def _words(story: Story) -> str:
    """Return the way for those who do not see the picture."""
    if story.route is None or not story.steps:
        return ""
    return details("The way in words", bullets(map(_stop, stops(story.route))))


def _stop(stop: Stop) -> str:
    text = f"steps {stop.text} at x {stop.x:.2f} m, z {stop.z:.2f} m"
    failed = ", ".join(map(str, stop.failed))
    return escaped(f"{text}; not as expected: {failed}" if failed else text)


def objects_table(story: Story) -> str:
    """Return all objects of the last scene known."""
    plan = story.after or story.before
    if plan is None:
        return "<p>No scene is recorded.</p>"
    rows = [
        (
            shape.name,
            shape.object_type,
            shape.kind.value,
            shape.place,
            ", ".join(shape.state),
            ", ".join(f"{length:.2f}" for length in shape.box.center),
        )
        for shape in plan.shapes
    ]
    when = "after" if story.after is not None else "before"
    header = ("object", "type", "kind", "on or in", "state", "middle x, y, z (m)")
    return details("All objects", table(f"{len(rows)} objects {when} the run", header, rows))
