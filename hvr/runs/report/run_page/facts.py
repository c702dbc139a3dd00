"""What a run in a world of facts changed, step by step and in all, in place of a scene."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.runs.report.markup import table
from hvr.runs.report.run_page.story import Story


def has_facts(story: Story) -> bool:
    """Return whether the run says which facts its steps changed, as in a world of facts."""
    return story.before is None and any(step.changed for step in story.steps)


def facts_by_step(story: Story) -> str:
    """Return a table of the facts that each step was seen to change."""
    rows = (
        (str(step.number), step.action, _listed(step.changed, held=True),
         _listed(step.changed, held=False))
        for step in story.steps
    )  # fmt: skip
    return table("What each step changed", ("step", "action", "holds now", "no longer holds"), rows)


def net_changes(story: Story) -> str:
    """Return a table of the facts that are otherwise after the run than before it."""
    last: dict[str, str] = {}
    first: dict[str, str] = {}
    for step in story.steps:
        for text in step.changed:
            about = _about(text)
            first.setdefault(about, text)
            last[about] = text
    # A fact that first ceased to hold and holds in the end, or the other way round, is as it was.
    kept = [
        text for about, text in sorted(last.items())
        if text.startswith("(= ") or _denied(text) == _denied(first[about])
    ]  # fmt: skip
    if not kept:
        return "<p>Nothing that stayed so.</p>"
    rows = ((about, "does not hold" if _denied(text) else _value(text)) for about, text in (
        (_about(text), text) for text in kept
    ))  # fmt: skip
    return table("1 fact" if len(kept) == 1 else f"{len(kept)} facts", ("fact", "after"), rows)


def _denied(text: str) -> bool:
    return text.startswith("(not ")


def _about(text: str) -> str:
    """Return the fact or number that a literal is about: `(= (fuel t1) 3)` is about `(fuel t1)`."""
    if _denied(text):
        return text[len("(not ") : -1]
    return text[len("(= ") : text.rindex(" ")] if text.startswith("(= ") else text


def _value(text: str) -> str:
    return text[text.rindex(" ") + 1 : -1] if text.startswith("(= ") else "holds"


def _listed(texts: Iterable[str], *, held: bool) -> str:
    return " ".join(
        _about(text) if _denied(text) else text for text in texts if _denied(text) is not held
    )
