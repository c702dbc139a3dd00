"""Draw a saved run as an animated SVG: its steps as they happen, next to the robot's path.

    hvr plan "make coffee" --faults faults.json --save runs/coffee
    python tools/animate_run.py runs/coffee docs/coffee.svg

The SVG contains no script, so the animation also plays in a README.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hvr.runs.report.charts import SVG, element, escaped
from hvr.runs.report.floor_plan.drawing import Drawing, css, draw_floor_plan, svg
from hvr.runs.report.run_page.reading import read_story
from hvr.runs.report.run_page.story import Story

SECONDS = 0.9
"""Duration of a step in seconds."""
PAUSE = 4.0
"""Pause at the end, in seconds, before the animation restarts."""
WIDTH, LINE, TOP, PLAN = 900, 21, 66, 440
STYLE = """
text{white-space:pre;font:14px ui-monospace,SFMono-Regular,Menlo,monospace;fill:#24292f}
.title{font-weight:600}.ok{fill:#1a7f37}.bad{fill:#b3261e}.quiet{fill:#6e7781}
.frame{fill:#ffffff;stroke:#d0d7de}
"""


def animate(story: Story) -> str:
    rows = list(_rows(story))
    length = len(rows) * SECONDS + PAUSE
    height = max(TOP + LINE * len(rows), PLAN + 16) + 8
    assert story.before is not None and story.route is not None
    handled = {name for step in story.steps for name in step.objects}
    drawing = draw_floor_plan(story.before, labels=handled)
    scale = PLAN / drawing.height
    still = replace(
        drawing, marks=tuple((name, marks) for name, marks in drawing.marks if name != "agent")
    )
    plan = svg(still, standalone=False).replace(
        "<svg ", f'<svg x="{WIDTH - 340}" y="16" width="{drawing.width * scale:.0f}" '
        f'height="{drawing.height * scale:.0f}" ', 1,
    ).replace("</svg>", _robot(story, drawing, length) + "</svg>")  # fmt: skip
    words = [
        element("text", escaped(f'$ hvr plan "{story.request}"'), x=20, y=32, class_="title"),
        *(
            element("text", escaped(text), _appears(number, length), x=20, y=TOP + LINE * number,
                    class_=look)
            for number, (text, look, _) in enumerate(rows)
        ),
    ]  # fmt: skip
    return element(
        "svg",
        element("style", STYLE + css()),
        element("rect", x=1, y=1, width=WIDTH - 2, height=height - 2, rx=10, class_="frame"),
        *words,
        plan,
        xmlns=SVG,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=f"hvr plans and carries out: {story.request}",
    )


def _rows(story: Story) -> Iterator[tuple[str, str, int]]:
    """Yield the terminal lines as text, style, and number of steps completed by then."""
    planned = story.plans[0]
    length = sum(len(block.actions) for block in planned.blocks)
    yield f"plan: {length} steps by {planned.planner}; validator: {planned.validator}", "quiet", 0
    for done, step in enumerate(story.steps, 1):
        wrong = any(remark.event == "failure" for remark in step.remarks)
        yield f"{'!!' if wrong else 'ok'} {done:3} {step.action}", "bad" if wrong else "ok", done
        for remark in step.remarks:
            what = remark.title if remark.event == "recovery" else remark.text.partition(" (")[0]
            if remark.event != "replanning":
                yield f"       {what}", "quiet", done
    yield story.outcome, "title", len(story.steps)


def _appears(number: int, length: float) -> str:
    at = number * SECONDS / length
    return element(
        "animate",
        attributeName="opacity",
        values="0;0;1;1",
        keyTimes=f"0;{at:.4f};{min(at + 0.002, 1):.4f};1",
        dur=f"{length:.1f}s",
        repeatCount="indefinite",
    )


def _robot(story: Story, drawing: Drawing, length: float) -> str:
    assert story.route is not None
    poses = [story.route.start, *(visit.pose for visit in story.route.visits)]
    times, places = [0.0], [drawing.place(poses[0].x, poses[0].z)]
    for number, (_, _, done) in enumerate(_rows(story)):
        pose = poses[min(done, len(poses) - 1)]
        times.append(min((number + 0.5) * SECONDS / length, 1))
        places.append(drawing.place(pose.x, pose.z))
    times.append(1.0)
    places.append(places[-1])
    return element(
        "circle",
        *(_moves(name, [place[axis] for place in places], times, length)
          for axis, name in enumerate(("cx", "cy"))),
        r=9, fill="#b3261e", stroke="#ffffff", stroke_width=2,
    )  # fmt: skip


def _moves(name: str, values: Sequence[float], times: Sequence[float], length: float) -> str:
    return element(
        "animate",
        attributeName=name,
        values=";".join(f"{value:.1f}" for value in values),
        keyTimes=";".join(f"{time:.4f}" for time in times),
        dur=f"{length:.1f}s",
        repeatCount="indefinite",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("output", type=Path, help="SVG file to write")
    given = parser.parse_args()
    given.output.write_text(animate(read_story(given.run)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
