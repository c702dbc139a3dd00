"""The page of a run: well formed, complete, safe to open, explicit about unknowns."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.files import data_path, try_lock
from hvr.doors.cli.main import main
from hvr.doors.cli.plan import write_page
from hvr.doors.studio.documents import shared_page, shared_run
from hvr.errors import DataFileError
from hvr.execution.executor import Executor
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.pddl import parse_domain, print_problem
from hvr.planning.plans import Planned
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.folder import AFTER, BEFORE, LOCK_FILE, RunFolder, RunState
from hvr.runs.report.charts import data_table, report, section
from hvr.runs.report.run_page import Story, read_story
from hvr.worlds.kitchen import Kitchen
from tests.execution.execution_worlds import Tampered, drop, just_before

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Parses a page and rejects tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.data: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> outside SVG closes nothing"
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)
        elif self.tags[-1][1].get("id") == "document":
            self.data.append(data)

    @property
    def document(self) -> dict[str, Any]:
        """What the page shows, as JSON."""
        found: dict[str, Any] = json.loads("".join(self.data))
        return found

    def having(self, name: str) -> list[dict[str, str | None]]:
        return [a for _, a in self.tags if name in a]

    def said(self) -> str:
        return " ".join("".join(self.text).split())


@pytest.fixture(scope="module")
def clumsy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with a dropped object and a new plan."""
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    domain = data_path("domains") / "kitchen" / "domain.pddl"
    policy = SymbolicPolicy(load_ontology(), parse_domain(domain), FastDownward(seconds=600))
    # The robot drops its object once, just before putting it down.
    env = Tampered(Kitchen("FloorPlan16"), just_before("PutObject", drop))
    world = World(env, KnowledgeGraph.create(None, policy.ontology))
    folder.write("domain.pddl", domain.read_text(encoding="utf-8"))
    folder.write_scene(BEFORE, world.env.last_event.metadata, world.names)
    count = 0

    def planned(found: Planned) -> None:
        nonlocal count
        count += 1
        suffix = "" if count == 1 else f"-{count}"
        folder.write(f"problem{suffix}.pddl", print_problem(found.problem))

    request = "put the spoon on the dining table"
    goal = policy.reader.goal(request, world.inventory())
    finished = Executor(
        world, policy, lambda e: folder.append("trace.jsonl", e.to_json()), planned
    ).run(goal.stages)
    folder.write_scene(AFTER, world.env.last_event.metadata, world.names)
    folder.write_json("task.json", {"request": request, "scene": "FloorPlan16", "seed": 0,
                                    "reached": finished.reached, "verdict": ""})  # fmt: skip
    return folder.path


@pytest.fixture(scope="module")
def story(clumsy_run: Path) -> Story:
    return read_story(clumsy_run)


@pytest.mark.slow
def test_the_page_is_well_formed_and_needs_nothing_else(clumsy_run: Path) -> None:
    text = shared_run(clumsy_run)
    page = Page(text)
    assert not page.having("src")
    assert [a["href"] for a in page.having("href")] == ["data:,"]
    assert "default-src 'none'" in text
    assert ("html", {"lang": "en"}) in page.tags


def test_the_page_holds_what_was_read(clumsy_run: Path, story: Story) -> None:
    page = Page(shared_run(clumsy_run))
    told = page.document["story"]
    assert [step["action"] for step in told["steps"]] == [step.action for step in story.steps]
    for step, read in zip(told["steps"], story.steps, strict=True):
        assert step["missing"] == list(read.missing)
        assert step["pose"] == (read.pose and read.pose._asdict())
    assert [plan["reason"] for plan in told["plans"]] == [plan.reason for plan in story.plans]
    for when, plan in (("before", story.before), ("after", story.after)):
        assert plan is not None
        assert {one["name"] for one in page.document[when]["objects"]} == {
            shape.name for shape in plan.shapes
        }
    assert all(step.action in page.said() for step in story.steps)  # without JavaScript


def test_what_went_wrong_is_marked_and_why_a_new_plan_was_made_is_said(story: Story) -> None:
    wrong = [s for s in story.steps if not s.as_expected]
    assert wrong
    assert len(story.plans) == 2 or wrong[0].remarks
    assert all(plan.reason for plan in story.plans[1:])


def test_expected_changes_are_those_of_the_domain(story: Story) -> None:
    first = next(s for s in story.steps if s.action.startswith("(pick_up spoon-1"))
    assert first.expected is not None
    added, removed = first.expected
    assert "(holding spoon-1)" in added
    assert "(hand_empty)" in removed
    assert all(s.expected is not None for s in story.steps if s.plan == 0)


def test_the_robot_ends_where_the_picture_after_has_it(story: Story) -> None:
    assert story.route is not None
    assert story.after is not None
    last = story.route.visits[-1].pose
    assert last == pytest.approx(story.after.agent, abs=1e-3)


def test_the_page_is_written_whole(clumsy_run: Path, tmp_path: Path) -> None:
    write_page(clumsy_run, tmp_path / "page.html")
    assert Page((tmp_path / "page.html").read_text(encoding="utf-8")).tags
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(DataFileError, match="does not exist"):
        write_page(clumsy_run, tmp_path / "none" / "page.html")


def copied(run: Path, target: Path, *names: str) -> Path:
    target.mkdir()
    for name in names:
        (target / name).write_bytes((run / name).read_bytes())
    return target


def test_a_run_without_recorded_scenes_says_so(clumsy_run: Path, tmp_path: Path) -> None:
    story = read_story(copied(clumsy_run, tmp_path / "old", "trace.jsonl", "task.json"))
    assert story.before is not None
    assert story.after is None
    assert all(s.expected is None for s in story.steps)
    assert story.note == "Not recorded in this run: this is how FloorPlan16 starts."


def test_a_run_that_broke_off_is_told_as_far_as_it_went(clumsy_run: Path, tmp_path: Path) -> None:
    folder = copied(clumsy_run, tmp_path / "broken", "trace.jsonl")
    text = (folder / "trace.jsonl").read_text(encoding="utf-8")
    lines = text.splitlines()
    kept = next(i for i, line in enumerate(lines) if '"event": "step"' in line) + 2
    (folder / "trace.jsonl").write_text("\n".join([*lines[:kept], lines[kept][:20]]))
    broken = {"state": "broken off", "error": "X", "message": "no <power>"}
    (folder / "task.json").write_text(json.dumps(broken))
    story = read_story(folder)
    assert [s.number for s in story.steps] == [1, 2]
    assert story.outcome == "The run broke off after 2 steps: no <power>"
    assert story.before is None
    page = Page(shared_run(folder))
    assert story.outcome in page.said()
    assert not any(tag == "power" for tag, _ in page.tags)


@pytest.mark.parametrize(
    ("account", "words"),
    [
        ({"state": "started"}, "The run broke off after 2 steps, without a recorded reason"),
        ({"state": "broken off", "error": "X", "message": "full"}, "after 2 steps: full"),
        ({"state": "finished", "reached": False}, "The goal is not reached."),
        ({"state": "finished", "reached": None}, "Carried out."),
        # Earlier versions wrote a status at the end only.
        ({"reached": False}, "The goal is not reached."),
        (None, "The run broke off after 2 steps, without a recorded reason"),
    ],
)
def test_the_state_of_a_run_is_told(
    account: dict[str, object] | None, words: str, clumsy_run: Path, tmp_path: Path
) -> None:
    folder = copied(clumsy_run, tmp_path / "run", "trace.jsonl")
    lines = (folder / "trace.jsonl").read_bytes().split(b"\n")
    kept = next(i for i, line in enumerate(lines) if b'"event": "step"' in line) + 2
    # a kill may cut a character in two
    torn = '{"event": "step", "action": "ü'.encode()[:-1]
    (folder / "trace.jsonl").write_bytes(b"\n".join([*lines[:kept], torn]))
    if account is not None:
        (folder / "task.json").write_text(json.dumps(account))
    story = read_story(folder)
    assert words in story.outcome and len(story.steps) == 2
    finished = words in ("The goal is not reached.", "Carried out.")
    assert (story.state is RunState.FINISHED) == finished
    assert story.reached is (False if "reached" in words else None)
    assert story.outcome in Page(shared_run(folder)).said()


@pytest.mark.parametrize(
    ("trace", "account", "words"),
    [
        (0, {"reached": True}, "is missing.*only task.json says that the goal was reached"),
        (0, {"reached": False}, "is missing.*only task.json says that the goal was not reached"),
        (0, {"reached": None}, "is missing, so the steps of the run are unknown$"),
        (-1, {"reached": True}, "is cut off before the end.*only task.json"),
    ],
)
def test_a_finished_run_without_its_trace_is_refused(
    trace: int,
    account: dict[str, object],
    words: str,
    clumsy_run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = copied(clumsy_run, tmp_path / "run", "task.json")
    (folder / "task.json").write_text(json.dumps({"state": "finished", **account}))
    if trace:
        lines = (clumsy_run / "trace.jsonl").read_text(encoding="utf-8").splitlines()
        (folder / "trace.jsonl").write_text("\n".join(lines[:trace]))
    with pytest.raises(DataFileError, match=f"trace.jsonl {words}"):
        read_story(folder)
    assert main(["show", str(folder)]) == 2
    told = capsys.readouterr()
    assert not told.out and "trace.jsonl" in told.err


def test_a_run_that_goes_on_is_told_from_one_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text('{"state": "started", "request": "make coffee"}')
    lock = try_lock(tmp_path / LOCK_FILE)
    assert lock is not None
    story = read_story(tmp_path)
    assert story.outcome == "The run is in progress: there is no plan yet."
    lock.release()
    story = read_story(tmp_path)
    assert story.outcome.startswith("The run broke off before there was a plan, without")
    assert story.request == "make coffee"


def test_an_end_that_comes_while_it_is_looked_for_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run may end between reading its status and checking its lock."""
    (tmp_path / "task.json").write_text('{"state": "started"}')
    (tmp_path / "trace.jsonl").write_text('{"event": "finished", "reached": true}\n')

    def ends(_: Path) -> bool:
        (tmp_path / "task.json").write_text('{"state": "finished", "reached": true}')
        return False

    monkeypatch.setattr("hvr.runs.folder.is_locked", ends)
    assert read_story(tmp_path).outcome == "The goal is reached."


def test_the_error_of_a_run_of_an_earlier_version_is_told(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").touch()
    (tmp_path / "error.json").write_text('{"error": "X", "message": "no power"}')
    assert "before there was a plan: no power" in read_story(tmp_path).outcome


def test_traces_of_other_versions_are_understood(clumsy_run: Path, tmp_path: Path) -> None:
    """Failures inside and between steps, recoveries, and unknown events."""
    folder = copied(clumsy_run, tmp_path / "new", "task.json")
    failure = {"kind": "dropped", "side": "pre", "literals": ["(holding mug-1)"], "step": 1,
               "action": "(put_on mug-1 table-1)", "explanation": "mug-1 fell",
               "objects": ["mug-1"], "evidence": []}  # fmt: skip
    plain = {"event": "step", "action": "(pick_up mug-1)", "block": 0, "success": True,
             "error": "", "difference": {"missing": ["(a)"], "unexpected": []},
             "sent": []}  # fmt: skip
    events = [
        {**plain, "step": 1, "failures": [failure], "sounds": ["Mug dropped"],
         "not_seen": ["(clean mug-1)"]},
        {"event": "recovery", "rung": "retry", "reason": "mug-1 fell", "outcome": "worked",
         "step": 1},
        {**plain, "step": 2, "failures": []},
        {"event": "noticed", "failures": [{**failure, "kind": "goal unmet", "step": 2}]},
        {"event": "weather", "wind": 3},
        {"event": "finished", "reached": False, "steps": 2, "replans": 0, "reason": "gave up",
         "unmet": ["(b)"], "remains": ["mug-1 is not clean"], "failures": {"dropped": 1}},
    ]  # fmt: skip
    (folder / "trace.jsonl").write_text("\n".join(map(json.dumps, events)) + "\n")
    story = read_story(folder)
    assert [s.as_expected for s in story.steps] == [False, True]
    assert [r.event for r in story.steps[0].remarks] == ["failure", "recovery"]
    assert [r.event for r in story.steps[1].remarks] == ["failure", "weather"]
    said = json.dumps(Page(shared_run(folder)).document)
    for text in ("failure: dropped", "mug-1 fell", "recovery: retry", "worked", "wind: 3",
                 "Mug dropped", "(clean mug-1)", "dropped: 1"):  # fmt: skip
        assert text in said


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trace.jsonl", "{\n{}\n"),
        ("trace.jsonl", '{"event": "step", "step": "x", "action": ""}\n'),
        ("trace.jsonl", '{"event": "plan", "plan": {"blocks": [1]}}\n'),
        ("task.json", "[]"),
        ("task.json", "{"),
        (BEFORE, '{"scene": 1}'),
        (AFTER, "{"),
    ],
)
def test_damaged_files_are_named(clumsy_run: Path, tmp_path: Path, name: str, content: str) -> None:
    folder = copied(clumsy_run, tmp_path / "bad", "trace.jsonl", "task.json")
    (folder / name).write_text(content)
    with pytest.raises(DataFileError, match=re.escape(str(folder))):
        read_story(folder)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="not a run folder"):
        read_story(tmp_path)


ODD = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["</script><script>alert(1)</script>", "]]>", "<!--", "'\"", "&amp;", "a\x00b", "\ud83d\ude00",
     "<svg onload=alert(1)>", "${1}", "</title>", "{0}", "\u2028", "\ud800"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(odd=st.lists(ODD, min_size=4, max_size=4))
def test_any_text_stays_text(odd: list[str]) -> None:
    """Names, messages and facts never add an element or attribute, and are kept."""

    def page(texts: list[str]) -> Page:
        a, b, c, d = texts
        part = data_table(a, [b, c], [[c, d]], d)
        return Page(shared_page(report(a, [section(b, part, text=[c])], {d: a}, b), c))

    found, usual = page(odd), page(list("abcd"))
    assert found.tags == usual.tags
    sections = found.document["sections"]
    # Two surrogates are one character in JSON.
    assert sections[0]["parts"][0]["rows"] == json.loads(json.dumps([[odd[2], odd[3]]]))
