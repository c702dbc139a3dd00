"""The steps of a run in order: what was expected, what was observed, what was done about it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hvr.runs.report.floor_plan.plan import Pose
from hvr.runs.report.markup import bullets, details, element, escaped
from hvr.runs.report.run_page.story import Remark, Story, StoryStep


def timeline(story: Story) -> str:
    """Return the steps as an ordered list; each can be named by `#step-N`."""
    if not story.steps:
        return "<p>The plan was not executed.</p>"
    items, plan = [], story.steps[0].plan
    for step in story.steps:
        if step.plan != plan:
            plan = step.plan
            items.append(element("li", f"New plan (plan {plan + 1})", class_="turn"))
        items.append(_step(step))
    return element("ol", *items, class_="timeline")


def _step(step: StoryStep) -> str:
    state = "good" if step.as_expected else "bad"
    verdict = "as expected" if step.as_expected else "not as expected"
    title = (
        f'<a href="#step-{step.number}">{step.number}</a> <code>{escaped(step.action)}</code> '
        f'<span class="verdict">{verdict}</span>'
    )
    return element(
        "li",
        element("p", title, class_="title"),
        element("dl", _expected(step), _observed(step)),
        *map(_remark, step.remarks),
        _sent(step.sent),
        id=f"step-{step.number}",
        class_=f"step {state}",
        data_step=step.number,
        data_objects=json.dumps(step.objects),
        **_pose(step.pose),
    )


def _pose(pose: Pose | None) -> dict[str, str]:
    """Return the figures that the scrubber needs to put the robot on the picture."""
    if pose is None:
        return {}
    return {"data_x": f"{pose.x:.4f}", "data_z": f"{pose.z:.4f}", "data_yaw": f"{pose.yaw:.1f}"}


def _expected(step: StoryStep) -> str:
    if step.expected is None:
        return ""
    added, removed = step.expected
    changes = [_change(text, "plus", "+", "becomes true") for text in added]
    changes += [_change(text, "minus", "−", "ceases to hold") for text in removed]
    return f"<dt>expected</dt><dd>{' '.join(changes) or 'nothing changes'}</dd>"


def _observed(step: StoryStep) -> str:
    parts = [element("strong", escaped(step.error))] if step.error else []
    if not step.success and not step.error:
        parts.append("<strong>the environment reported a failure</strong>")
    parts += [_fact(text, "lost", "does not hold:") for text in step.missing]
    parts += [_fact(text, "odd", "holds instead:") for text in step.unexpected]
    parts += [_fact(text, "unseen", "not in view:") for text in step.unseen]
    heard = f"<dt>heard</dt><dd>{escaped(', '.join(step.heard))}</dd>" if step.heard else ""
    return f"<dt>observed</dt><dd>{' '.join(parts) or 'as expected'}</dd>{heard}"


def _change(text: str, kind: str, sign: str, meaning: str) -> str:
    return _fact(text, kind, element("span", sign, role="img", aria_label=f"{meaning}:"))


def _fact(text: str, kind: str, markup: str) -> str:
    return element("span", f"{markup} <code>{escaped(text)}</code>", class_=f"fact {kind}")


def _remark(remark: Remark) -> str:
    kind = remark.event if remark.event in ("failure", "recovery", "replanning") else "other"
    text = f": {escaped(remark.text)}" if remark.text else ""
    title = element("strong", escaped(remark.title))
    return element("p", title, text, class_=f"remark {kind}")


def _sent(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    items = (element("code", escaped(line)) for line in lines)
    return details("sent to the environment", bullets(items), kind="sent")
