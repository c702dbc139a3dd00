"""A run as one HTML page that needs nothing else: plan, scene, way, and what was observed."""

from __future__ import annotations

from hvr.runs.report.floor_plan.looks import css
from hvr.runs.report.markup import (
    asset,
    bullets,
    definitions,
    details,
    element,
    escaped,
    fill,
    page,
    paragraph,
)
from hvr.runs.report.run_page.changes import changes_table
from hvr.runs.report.run_page.dialogue import dialogue
from hvr.runs.report.run_page.facts import facts_by_step, has_facts, net_changes
from hvr.runs.report.run_page.pictures import after_figure, objects_table, way_figure
from hvr.runs.report.run_page.story import Story
from hvr.runs.report.run_page.timeline import timeline
from hvr.runs.report.run_page.tree import plan_tree

_PACKAGE = "hvr.runs.report.run_page"
_SIMULATED = "A simulated model made this plan; no language model was asked."


def render(story: Story) -> str:
    """Return the page."""
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
    count = f"{len(story.steps)} steps carried out"
    if story.steps:
        count += f", {wrong} of them not as expected" if wrong else ", all as expected"
    return definitions(fact for fact in (*story.facts, ("steps", count)) if fact[0] != "goal")


def _dialogue(story: Story) -> str:
    """Return the section with the dialogue of model, validator and planner, if there was one."""
    spoken = dialogue(story.turns, story.asked)
    if not spoken:
        return ""
    head = element("h2", "How the plan was made", id="dialogue")
    return element("section", head, spoken, aria_labelledby="dialogue")


def _goal(story: Story) -> str:
    stages = [element("code", escaped(text)) for title, text in story.facts if title == "goal"]
    return details("The goal as PDDL", bullets(stages)) if stages else ""
