"""The page of a run in a world of facts: changes and unchanged facts of each step."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hvr.execution.facts.running import save_run
from hvr.runs.report.run_page.page import facts_by_step, net_changes, render
from hvr.runs.report.run_page.reading import read_story
from hvr.runs.report.run_page.story import Story, StoryStep
from hvr.worlds.facts.faults import read_faults
from tests.worlds.facts.small_worlds import acted, rooms

FACTS = ("(a)", "(b x)", "(c x y)")


def rows(markup: str) -> list[list[str]]:
    """Return the cells of a table's body."""
    body = markup[markup.index("<tbody>") :] if "<tbody>" in markup else ""
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("<tr>")[1:]]
    return [[unescape(cell) for cell in row] for row in cells]


def story(changes: list[tuple[str, ...]]) -> Story:
    """Return a run whose steps made these changes."""
    steps = tuple(
        StoryStep(n, "(go)", 0, 0, True, "", True, (), (), None, (), changed=changed)
        for n, changed in enumerate(changes, 1)
    )
    return Story("r", "", (), True, "", (), steps)


@given(st.sets(st.sampled_from(FACTS)), st.lists(st.sets(st.sampled_from(FACTS)), max_size=6))
def test_what_stayed_changed_is_the_difference_of_the_states(
    start: set[str], toggled: list[set[str]]
) -> None:
    state, changes = set(start), []
    for facts in toggled:
        changes.append(tuple(f"(not {f})" if f in state else f for f in sorted(facts)))
        state ^= facts
    shown = dict(rows(net_changes(story(changes))))
    assert shown == {f: "holds" if f in state else "does not hold" for f in start ^ state}


def test_numbers_are_shown_with_their_last_value() -> None:
    run = story([("(= (fuel t) 3)",), ("(= (fuel t) 2.5)", "(not (at t))")])
    assert rows(net_changes(run)) == [["(at t)", "does not hold"], ["(fuel t)", "2.5"]]
    assert rows(facts_by_step(run))[1] == ["2", "(go)", "(= (fuel t) 2.5)", "(at t)"]


def test_a_run_among_facts_has_a_page(tmp_path: Path) -> None:
    domain, problem = rooms()
    run, env = acted(domain, problem, read_faults(["no-effect@2"]))
    save_run(tmp_path / "run", domain, problem, run, request="deliver <both>")
    told = read_story(tmp_path / "run")
    assert told.reached is run.finished.reached is True and len(told.steps) == run.finished.steps
    assert not told.steps[1].as_expected
    shown = dict(rows(net_changes(told)))
    truth = {str(atom) for atom in env.env.state.atoms()}
    for fact, how in shown.items():
        if how in ("holds", "does not hold"):
            assert (fact in truth) == (how == "holds")
    page = render(told)
    assert "deliver &lt;both&gt;" in page and "What each step changed" in page
    assert [row[0] for row in rows(facts_by_step(told))] == [str(s.number) for s in told.steps]
