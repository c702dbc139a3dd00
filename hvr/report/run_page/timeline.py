"""The steps of a run in order: what was expected, what was observed, what was done about it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hvr.report.floor_plan.svg import quoted
from hvr.report.run_page.story import Remark, Story, StoryStep


def timeline(story: Story) -> str:
    """Return the steps as an ordered list; each can be named by `#step-N`."""
    if not story.steps:
        return "<p>The plan was not executed.</p>"
    items, plan = [], story.steps[0].plan
    for step in story.steps:
        if step.plan != plan:
            plan = step.plan
            items.append(f"<li class='turn'>New plan (plan {plan + 1})</li>")
        items.append(_step(step))
    return f"<ol class='timeline'>{''.join(items)}</ol>"


def _step(step: StoryStep) -> str:
    state = "good" if step.as_expected else "bad"
    said = "as expected" if step.as_expected else "not as expected"
    data = f" data-step='{step.number}' data-objects='{quoted(json.dumps(step.objects))}'"
    if step.pose is not None:
        x, z, yaw = step.pose
        data += f" data-x='{x:.4f}' data-z='{z:.4f}' data-yaw='{yaw:.1f}'"
    rows = _expected(step) + _observed(step)
    return (
        f"<li id='step-{step.number}' class='step {state}'{data}>"
        f"<p class='title'><a href='#step-{step.number}'>{step.number}</a> "
        f"<code>{quoted(step.action)}</code> <span class='said'>{said}</span></p>"
        f"<dl>{rows}</dl>{''.join(map(_remark, step.remarks))}{_sent(step.sent)}</li>"
    )


def _expected(step: StoryStep) -> str:
    if step.expected is None:
        return ""
    added, removed = step.expected
    changes = [*(_fact(text, "plus", "+") for text in added),
               *(_fact(text, "minus", "−") for text in removed)]  # fmt: skip
    return f"<dt>expected</dt><dd>{' '.join(changes) or 'nothing changes'}</dd>"


def _observed(step: StoryStep) -> str:
    parts = [f"<strong>{quoted(step.error)}</strong>"] if step.error else []
    if not step.success and not step.error:
        parts.append("<strong>the environment reported a failure</strong>")
    parts += [_fact(text, "lost", "does not hold") for text in step.missing]
    parts += [_fact(text, "odd", "holds instead") for text in step.unexpected]
    parts += [_fact(text, "unseen", "not in view") for text in step.unseen]
    heard = f"<dt>heard</dt><dd>{quoted(', '.join(step.heard))}</dd>" if step.heard else ""
    return f"<dt>observed</dt><dd>{' '.join(parts) or 'as expected'}</dd>{heard}"


def _fact(text: str, kind: str, sign: str) -> str:
    words = {"+": "becomes true", "−": "ceases to hold"}
    meaning = words.get(sign)
    shown = f"<span role='img' aria-label='{meaning}:'>{sign}</span>" if meaning else f"{sign}:"
    return f"<span class='fact {kind}'>{shown} <code>{quoted(text)}</code></span>"


def _remark(remark: Remark) -> str:
    kind = remark.event if remark.event in ("failure", "recovery", "replanning") else "other"
    text = f": {quoted(remark.text)}" if remark.text else ""
    return f"<p class='remark {kind}'><strong>{quoted(remark.title)}</strong>{text}</p>"


def _sent(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li><code>{quoted(line)}</code></li>" for line in lines)
    summary = "<summary>sent to the environment</summary>"
    return f"<details class='sent'>{summary}<ul>{items}</ul></details>"
