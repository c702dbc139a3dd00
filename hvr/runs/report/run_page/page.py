"""A run as a self-contained HTML page: plan, scene, route and observations."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Sequence

from hvr.runs.report.charts import (
    asset,
    bullets,
    definitions,
    details,
    element,
    escaped,
    fill,
    legend,
    page,
    paragraph,
    table,
)
from hvr.runs.report.floor_plan.drawing import Drawing, css, draw_floor_plan, svg
from hvr.runs.report.floor_plan.plan import (
    DESCRIPTIONS,
    FloorPlan,
    ObjectKind,
    Pose,
    Shape,
    Stop,
    stops,
)
from hvr.runs.report.run_page.story import Remark, Story, StoryBlock, StoryPlan, StoryStep, dialogue
from hvr.validation.report import count

# Pictures -----------------------------------------------------------------------------------------

_LINES = (
    "Dotted outlines: overhead or enclosed objects. Solid lines: the robot's route; dashed: a jump "
    "(Teleport). Dots: walkable points."
)


def way_figure(story: Story) -> str:
    """Return the initial scene with the robot's route and a caption."""
    if story.before is None:
        return _scenes(element("p", escaped(story.note)))
    drawing = draw_floor_plan(story.before, story.route, labels=_named(story))
    caption = "Before the run" + (", with the robot's route" if story.steps else "")
    below = _words(story) + paragraph(story.note, "note")
    kinds = legend(((kind.value, DESCRIPTIONS[kind]) for kind in ObjectKind), style="hvr-plan")
    figure = _figure("way", caption, drawing, story.before, below)
    return _scenes(figure, kinds, paragraph(_LINES, "note"))


def after_figure(story: Story) -> str:
    """Return the final scene, if recorded."""
    if story.after is None:
        return ""
    drawing = draw_floor_plan(story.after, labels=_named(story))
    return _scenes(_figure("after", "After the run", drawing, story.after, ""))


def _scenes(*markup: str) -> str:
    return element("div", *markup, class_="scenes")


def _named(story: Story) -> Collection[str]:
    return {name for step in story.steps for name in step.objects} or "main"


def _figure(name: str, caption: str, drawing: Drawing, plan: FloorPlan, below: str) -> str:
    """Return a picture with the coordinates that the scrubber needs to move the robot."""
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
    if story.route is None or not story.steps:
        return ""
    return details("The route in words", bullets(map(_stop, stops(story.route))))


def _stop(stop: Stop) -> str:
    text = f"steps {stop.text} at x {stop.x:.2f} m, z {stop.z:.2f} m"
    failed = ", ".join(map(str, stop.failed))
    return escaped(f"{text}; not as expected: {failed}" if failed else text)


def objects_table(story: Story) -> str:
    """Return all objects of the last recorded scene."""
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
    return details(
        "All objects", table(f"{count(len(rows), 'object')} {when} the run", header, rows)
    )


# Timeline -----------------------------------------------------------------------------------------


def timeline(story: Story) -> str:
    """Return the steps as an ordered list with anchors `#step-N`."""
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


# Tree ---------------------------------------------------------------------------------------------

_MARKS = {"good": ("✓", "as expected"), "bad": ("✗", "not as expected"), "open": ("·", "not done")}


def plan_tree(story: Story) -> str:
    """Return all plans as trees; each action links to the steps that tried it."""
    if not story.plans:
        return "<p>No plan was made.</p>"
    parts = []
    for index, plan in enumerate(story.plans):
        steps = [step for step in story.steps if step.plan == index]
        parts.append(_plan(index + 1, plan, steps, len(story.plans) > 1))
    return "".join(parts)


def _plan(number: int, plan: StoryPlan, steps: Sequence[StoryStep], several: bool) -> str:
    length = sum(len(block.actions) for block in plan.blocks)
    about = f"{count(length, 'step')} in {count(len(plan.blocks), 'macro action')}"
    about += f"; validator: {plan.validator}" if plan.validator else ""
    about += f"; made by {plan.planner}" if plan.planner else ""
    reason = f"A new plan, because {plan.reason}" if plan.reason else ""
    attempts = iter(attempts_of(plan, steps))
    blocks = [_block(block, [next(attempts) for _ in block.actions]) for block in plan.blocks]
    return "".join(
        (
            f"<h3>Plan {number}</h3>" if several else "",
            paragraph(about, "note"),
            paragraph(reason, "reason"),
            element("ol", *blocks, class_="plan"),
        )
    )


def _block(block: StoryBlock, attempts: Sequence[Sequence[StoryStep]]) -> str:
    state = _state([steps[-1] if steps else None for steps in attempts])
    actions = map(_action, block.actions, attempts)
    return (
        f'<li class="block"><details open><summary>{_mark(state)} {escaped(block.name)}</summary>'
        f"<ol>{''.join(actions)}</ol>{_conditions('before', block.precondition)}"
        f"{_conditions('after', block.postcondition)}</details></li>"
    )


def attempts_of(plan: StoryPlan, steps: Sequence[StoryStep]) -> list[list[StoryStep]]:
    """Return, for each action of a plan, the steps that tried it; recovery steps belong to none."""
    actions = [action for block in plan.blocks for action in block.actions]
    tried: list[list[StoryStep]] = [[] for _ in actions]
    at = 0
    for step in steps:
        if at < len(actions) and step.action == actions[at]:
            tried[at].append(step)
            at += 1
        elif 0 < at <= len(actions) and step.action == actions[at - 1]:
            tried[at - 1].append(step)
    return tried


def _action(text: str, done: Sequence[StoryStep]) -> str:
    state = _state([done[-1] if done else None])
    links = ", ".join(f'<a href="#step-{step.number}">step {step.number}</a>' for step in done)
    return f"<li>{_mark(state)} <code>{escaped(text)}</code> <small>{links}</small></li>"


def _state(steps: Sequence[StoryStep | None]) -> str:
    if any(step is not None and not step.as_expected for step in steps):
        return "bad"
    return "good" if steps and all(step is not None for step in steps) else "open"


def _mark(state: str) -> str:
    sign, meaning = _MARKS[state]
    return element("span", sign, class_=f"mark {state}", role="img", aria_label=meaning)


def _conditions(when: str, literals: Sequence[str]) -> str:
    if not literals:
        return ""
    items = " ".join(element("code", escaped(text)) for text in literals)
    return details(f"must hold {when}", items, kind="conditions")


# Changes ------------------------------------------------------------------------------------------

_MOVED = 0.05
"""Distance in metres beyond which an object counts as moved."""


def changes(before: FloorPlan, after: FloorPlan) -> list[tuple[str, str, str]]:
    """Return name, state before and state after of each object that changed, appeared or vanished.

    An object has changed if its place or state differs, or if it moved by more than 5 cm.
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
        return "absent"
    place = f"at {shape.place}" if shape.place else "on its own"
    return ", ".join((place, *shape.state))


def changes_table(story: Story) -> str:
    """Return a table of the objects that the run changed."""
    if story.before is None or story.after is None:
        return "<p>The scene after the run is not recorded.</p>"
    rows = changes(story.before, story.after)
    if not rows:
        return "<p>Only the robot's position.</p>"
    return table(count(len(rows), "object"), ("object", "before", "after"), rows)


# Facts --------------------------------------------------------------------------------------------
# Worlds of facts have no scene: their pages show changed facts instead.


def has_facts(story: Story) -> bool:
    """Return whether the run recorded changed facts, as in a world of facts."""
    return story.before is None and any(step.changed for step in story.steps)


def facts_by_step(story: Story) -> str:
    """Return a table of the observed changes of each step."""
    rows = (
        (
            str(step.number),
            step.action,
            _listed(step.changed, held=True),
            _listed(step.changed, held=False),
        )
        for step in story.steps
    )
    return table("What each step changed", ("step", "action", "holds now", "no longer holds"), rows)


def net_changes(story: Story) -> str:
    """Return a table of the facts that differ between start and end of the run."""
    last: dict[str, str] = {}
    first: dict[str, str] = {}
    for step in story.steps:
        for text in step.changed:
            about = _about(text)
            first.setdefault(about, text)
            last[about] = text
    # A fact whose first change is undone by its last one is unchanged.
    kept = [
        text
        for about, text in sorted(last.items())
        if text.startswith("(= ") or _denied(text) == _denied(first[about])
    ]
    if not kept:
        return "<p>No lasting changes.</p>"
    rows = (
        (about, "does not hold" if _denied(text) else _value(text))
        for about, text in ((_about(text), text) for text in kept)
    )
    return table(count(len(kept), "fact"), ("fact", "after"), rows)


def _denied(text: str) -> bool:
    return text.startswith("(not ")


def _about(text: str) -> str:
    if _denied(text):
        return text[len("(not ") : -1]
    return text[len("(= ") : text.rindex(" ")] if text.startswith("(= ") else text


def _value(text: str) -> str:
    return text[text.rindex(" ") + 1 : -1] if text.startswith("(= ") else "holds"


def _listed(texts: Iterable[str], *, held: bool) -> str:
    return " ".join(
        _about(text) if _denied(text) else text for text in texts if _denied(text) is not held
    )


# Page ---------------------------------------------------------------------------------------------

_PACKAGE = "hvr.runs.report.run_page"
_SIMULATED = "A simulated model made this plan; no language model was asked."


def render(story: Story) -> str:
    """Return a run as an HTML page."""
    facts = has_facts(story)
    body = fill(
        _PACKAGE,
        "run.html",
        request=escaped(story.request),
        kind={True: "good", False: "bad", None: "open"}[story.reached],
        outcome=escaped(story.outcome),
        simulated=paragraph(_SIMULATED if story.simulated else "", "warning"),
        facts=_facts(story),
        goal=_goal(story),
        plan=plan_tree(story),
        dialogue=_dialogue(story),
        way=facts_by_step(story) if facts else way_figure(story),
        timeline=timeline(story),
        after=after_figure(story),
        changes=net_changes(story) if facts else changes_table(story),
        objects=objects_table(story),
    )
    return page(
        f"hvr: {story.request}",
        body,
        styles=(css(), asset(_PACKAGE, "run.css")),
        script=asset(_PACKAGE, "scrubber.js"),
    )


def _facts(story: Story) -> str:
    wrong = sum(not step.as_expected for step in story.steps)
    steps = f"{count(len(story.steps), 'step')} executed"
    if story.steps:
        steps += f", {wrong} not as expected" if wrong else ", all as expected"
    return definitions(fact for fact in (*story.facts, ("steps", steps)) if fact[0] != "goal")


def _dialogue(story: Story) -> str:
    markup = dialogue(story.turns, story.asked)
    if not markup:
        return ""
    head = element("h2", "How the plan was made", id="dialogue")
    return element("section", head, markup, aria_labelledby="dialogue")


def _goal(story: Story) -> str:
    stages = [element("code", escaped(text)) for title, text in story.facts if title == "goal"]
    return details("The goal as PDDL", bullets(stages)) if stages else ""
