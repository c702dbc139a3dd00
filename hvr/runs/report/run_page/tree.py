"""The plans of a run as trees: macro actions, their blocks, and how each step went."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.runs.report.markup import details, element, escaped, paragraph
from hvr.runs.report.run_page.story import Story, StoryBlock, StoryPlan, StoryStep

_MARKS = {"good": ("✓", "as expected"), "bad": ("✗", "not as expected"), "open": ("·", "not done")}


def plan_tree(story: Story) -> str:
    """Return all plans; each action with links to the steps in which it was tried."""
    if not story.plans:
        return "<p>No plan was made.</p>"
    parts = []
    for index, plan in enumerate(story.plans):
        steps = [step for step in story.steps if step.plan == index]
        parts.append(_plan(index + 1, plan, steps, len(story.plans) > 1))
    return "".join(parts)


def _plan(number: int, plan: StoryPlan, steps: Sequence[StoryStep], several: bool) -> str:
    length = sum(len(block.actions) for block in plan.blocks)
    about = f"{length} steps in {len(plan.blocks)} macro actions"
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
    """Return the steps in which each action of a plan was tried, in the order of its actions.

    Steps that are not of the plan, such as those of a recovery, are in none.
    """
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
