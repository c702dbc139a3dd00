"""A run as one HTML page that needs nothing else: plan, scene, way, and what was observed."""

from __future__ import annotations

from hvr.report.floor_plan.looks import css
from hvr.report.floor_plan.svg import quoted
from hvr.report.run_page.changes import changes_table
from hvr.report.run_page.pictures import after_figure, objects_table, way_figure
from hvr.report.run_page.script import SCRIPT
from hvr.report.run_page.story import Story
from hvr.report.run_page.style import STYLE
from hvr.report.run_page.timeline import timeline
from hvr.report.run_page.tree import plan_tree
from hvr.report.style import STYLE as SHARED_STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""The page fetches nothing, whatever may have got into it."""


def render(story: Story) -> str:
    """Return the page."""
    title = f"hvr: {quoted(story.request)}"
    sections = [
        _head(story),
        f"<section aria-labelledby='plan'><h2 id='plan'>Plan</h2>{plan_tree(story)}</section>",
        "<section aria-labelledby='steps'><h2 id='steps'>Steps</h2>"
        f"<div class='beside-steps'>{way_figure(story)}{timeline(story)}</div></section>",
        "<section aria-labelledby='changed'><h2 id='changed'>What changed</h2>"
        f"<div class='beside'>{after_figure(story)}{changes_table(story)}</div></section>",
        "<section aria-labelledby='objects'><h2 id='objects'>Objects</h2>"
        f"{objects_table(story)}</section>",
    ]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{title}</title><style>{SHARED_STYLE}{css()}{STYLE}</style></head>"
        f"<body><main>{''.join(sections)}</main><script>{SCRIPT}</script></body></html>\n"
    )


def _head(story: Story) -> str:
    kind = {True: "good", False: "bad", None: "open"}[story.reached]
    wrong = sum(not step.as_expected for step in story.steps)
    count = f"{len(story.steps)} steps carried out"
    if story.steps:
        count += f", {wrong} of them not as expected" if wrong else ", all as expected"
    facts = "".join(
        f"<dt>{quoted(title)}</dt><dd>{quoted(text)}</dd>"
        for title, text in (*story.facts, ("steps", count))
        if title != "goal"
    )
    goals = "".join(f"<li><code>{quoted(t)}</code></li>" for title, t in story.facts
                    if title == "goal")  # fmt: skip
    if goals:
        goals = f"<details><summary>The goal as PDDL</summary><ul>{goals}</ul></details>"
    simulated = (
        "<p class='warning'>A simulated model made this plan; no language model was asked.</p>"
        if story.simulated else ""
    )  # fmt: skip
    return (
        f"<header><h1>{quoted(story.request)}</h1>"
        f"<p class='outcome {kind}'>{quoted(story.outcome)}</p>{simulated}"
        f"<dl>{facts}</dl>{goals}</header>"
    )
