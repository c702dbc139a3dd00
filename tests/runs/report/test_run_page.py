"""The page of a run: well formed, complete, safe to open, explicit about unknowns."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.files import data_path
from hvr.base.locks import try_lock
from hvr.doors.cli.main import main
from hvr.doors.cli.runs import write_page
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
from hvr.runs.report.charts import asset
from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Pose, Route, Shape, Visit
from hvr.runs.report.run_page.page import attempts_of, changes, render
from hvr.runs.report.run_page.reading import read_story
from hvr.runs.report.run_page.story import Remark, Story, StoryBlock, StoryPlan, StoryStep
from hvr.worlds.geometry import Box
from hvr.worlds.kitchen import Kitchen
from tests.execution.execution_worlds import Tampered, drop, just_before

SCRIPT = asset("hvr.runs.report.run_page", "scrubber.js")
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Parses a page and rejects tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
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
def test_the_page_is_well_formed_and_needs_nothing_else(story: Story) -> None:
    text = render(story)
    page = Page(text)
    ids = [a["id"] for a in page.having("id")]
    assert len(ids) == len(set(ids))
    for attributes in page.having("href"):
        target = attributes["href"] or ""
        assert target.startswith("#")
        assert target[1:] in ids
    assert not page.having("src")
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_headings_pictures_and_sections_can_be_found_by_those_who_do_not_see(story: Story) -> None:
    page = Page(render(story))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or attributes.get("aria-label")
    ids = {a["id"] for a in page.having("id")}
    assert {a["aria-labelledby"] for a in page.having("aria-labelledby")} <= ids
    assert ("html", {"lang": "en"}) in page.tags


def test_the_pictures_are_svg_with_every_object_before_and_after(story: Story) -> None:
    text = render(story)
    pictures = [
        ElementTree.fromstring(found)
        for found in re.findall(r'<svg xmlns=.*?</svg>', text, re.DOTALL)
    ]  # fmt: skip
    assert len(pictures) == 2
    assert story.before is not None
    assert story.after is not None
    for picture, plan in zip(pictures, (story.before, story.after), strict=True):
        rects = list(picture.iter("{http://www.w3.org/2000/svg}rect"))
        drawn = {e.get("data-name") for e in rects if e.get("data-name")}
        assert drawn == {s.name for s in plan.shapes}
    steps = {n for e in pictures[0].iter() for n in (e.get("data-steps") or "").split()}
    assert steps == {str(s.number) for s in story.steps}


def test_every_step_and_macro_action_is_told(story: Story) -> None:
    page = Page(render(story))
    told = {a["data-step"]: a for a in page.having("data-step")}
    assert list(told) == [str(s.number) for s in story.steps]
    said = page.said()
    for step in story.steps:
        assert step.action in said
        assert json.loads(told[str(step.number)]["data-objects"] or "") == list(step.objects)
    for plan in story.plans:
        for block in plan.blocks:
            assert block.name in said
            assert all(action in said for action in block.actions)


def test_what_went_wrong_is_marked_and_why_a_new_plan_was_made_is_said(story: Story) -> None:
    wrong = [s for s in story.steps if not s.as_expected]
    assert wrong
    assert len(story.plans) == 2 or wrong[0].remarks
    text = render(story)
    page = Page(text)
    bad = {a.get("data-step") for a in page.having("class") if a["class"] == "step bad"}
    assert bad == {str(s.number) for s in wrong}
    for step in wrong:
        assert all(fact in page.said() for fact in (*step.missing, *step.unexpected))
    for plan in story.plans[1:]:
        assert plan.reason
        assert plan.reason in page.said()
    assert 'rect class="bad"' in text


def test_expected_changes_are_those_of_the_domain(story: Story) -> None:
    first = next(s for s in story.steps if s.action.startswith("(pick_up spoon-1"))
    assert first.expected is not None
    added, removed = first.expected
    assert "(holding spoon-1)" in added
    assert "(hand_empty)" in removed
    assert all(s.expected is not None for s in story.steps if s.plan == 0)


def test_what_changed_is_told(story: Story) -> None:
    assert story.before is not None
    assert story.after is not None
    rows = {name: (was, is_) for name, was, is_ in changes(story.before, story.after)}
    assert "countertop" in rows["spoon-1"][0]
    assert "diningtable-1" in rows["spoon-1"][1]
    assert changes(story.before, story.before) == []


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


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_is_javascript(tmp_path: Path) -> None:
    file = tmp_path / "script.js"
    file.write_text(SCRIPT, encoding="utf-8")
    subprocess.run(["node", "--check", str(file)], check=True, timeout=600)


def test_the_script_finds_what_it_looks_for(story: Story) -> None:
    """The page has every ID, class and data field that the script uses."""
    page = Page(render(story))
    attributes = [a for _, a in page.tags]
    classes = {c for a in attributes for c in (a.get("class") or "").split()}
    assert set(re.findall(r'getElementById\("([\w-]+)"\)', SCRIPT)) <= {
        a.get("id") for a in attributes
    }
    assert {"group-agent", "group-route", "step", "title"} <= classes
    fields = {name for a in attributes for name in a if name.startswith("data-")}
    named = set(re.findall(r"(?:dataset|given)\.(\w+)", SCRIPT))
    assert {"data-" + re.sub("([A-Z])", r"-\1", n).lower() for n in named} <= fields


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
    said = Page(render(story)).said()
    assert "Not recorded in this run: this is how FloorPlan16 starts." in said
    assert "The scene after the run is not recorded." in said


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
    page = Page(render(story))
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
    # A kill may cut a character in two.
    torn = '{"event": "step", "action": "ü'.encode()[:-1]
    (folder / "trace.jsonl").write_bytes(b"\n".join([*lines[:kept], torn]))
    if account is not None:
        (folder / "task.json").write_text(json.dumps(account))
    story = read_story(folder)
    assert words in story.outcome and len(story.steps) == 2
    finished = words in ("The goal is not reached.", "Carried out.")
    assert (story.state is RunState.FINISHED) == finished
    assert story.reached is (False if "reached" in words else None)
    assert story.outcome in Page(render(story)).said()


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
    said = Page(render(story)).said()
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
     "<svg onload=alert(1)>", "${1}", "</title>"]
)  # fmt: skip


def story_of(texts: list[str]) -> Story:
    """Return a story in which every text is one of the given ones."""
    a, b, c, d, e, f, g, h, i, j, k, m, n, o = texts
    step = StoryStep(
        1, f"({a} {b})", 0, 0, False, c, False, (d,), (e,), ((f,), (g,)), (h,),
        (i,), (j,), (Remark(k, m, n),), Pose(0.0, 0.0, 0.0),
    )  # fmt: skip
    plan = StoryPlan((StoryBlock(o, (a,), (b,), (f"({a} {b})", c)),), 1, d, e, f)
    shape = Shape(g, h, g, ObjectKind.SMALL, Box(0, 0, 0, 1, 1, 1), (i,), j)
    scene = FloorPlan(k, (shape,), (), Pose(0.0, 0.0, 0.0), d)
    way = Route(scene.agent, (Visit(1, Pose(0.0, 1.0, 0.0), True, True),))
    return Story(m, n, ((o, a), ("goal", b)), False, c, (plan,), (step,), scene,
                 scene.replace(shapes=(shape.replace(state=()),)), e, way, True)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=80)
@given(odd=st.lists(ODD, min_size=14, max_size=14))
def test_any_text_stays_text(odd: list[str]) -> None:
    """Names, messages and facts never add an element or attribute."""
    text, usual = render(story_of(odd)), Page(render(story_of([f"x{i}" for i in range(14)])))
    page = Page(text)

    def elements(read: Page) -> list[str]:
        # An object has a label only if a step concerns it.
        return [tag for tag, _ in read.tags if tag != "text"]

    assert elements(page) == elements(usual)
    allowed = {name for _, attributes in usual.tags for name in attributes}
    assert {name for _, attributes in page.tags for name in attributes} <= allowed
    for found in re.findall(r"<svg xmlns=.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(found)


def test_repeated_and_foreign_steps_find_their_place_in_the_plan() -> None:
    def step(number: int, action: str) -> StoryStep:
        return StoryStep(number, action, 0, 0, True, "", True, (), (), None, ())

    plan = StoryPlan((StoryBlock("x", (), (), ("(a)", "(b)")), StoryBlock("y", (), (), ("(c)",))),
                     1, "", "")  # fmt: skip
    steps = [step(1, "(a)"), step(2, "(b)"), step(3, "(go)"), step(4, "(b)")]
    assert [[s.number for s in tried] for tried in attempts_of(plan, steps)] == [[1], [2, 4], []]


CHROMIUM = next((p for n in ("chromium", "google-chrome") if (p := shutil.which(n))), "")


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="neither chromium nor google-chrome is installed")
@pytest.mark.parametrize(
    ("fragment", "clicks", "chosen"), [("#", 2, 2), ("#3", 0, 3), ("#3", 1, 4)]
)
def test_a_browser_shows_the_chosen_step(
    story: Story, tmp_path: Path, fragment: str, clicks: int, chosen: int
) -> None:
    """In a real browser the scrubber exists, Next advances, and links select a step."""
    text = render(story)
    ids = [
        a["id"]
        for t, a in Page(text).tags
        if t == "li" and "step" in (a.get("class") or "").split()
    ]
    number = fragment.removeprefix("#")
    anchor = f"#{ids[int(number) - 1]}" if number else ""
    press = f"""<script>for (let i = 0; i < {clicks}; i++)
        [...document.querySelectorAll("button")].find((b) => b.textContent === "Next").click();
        </script></body>"""
    page = tmp_path / "page.html"
    page.write_text(text.replace("</body>", press), encoding="utf-8")
    shown = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri() + anchor],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert "Uncaught" not in shown.stderr, shown.stderr
    assert 'id="scrubber"' in shown.stdout
    marked = re.findall(r'<li[^>]*class="step[^"]*\bchosen\b[^"]*"[^>]*>', shown.stdout)
    assert len(marked) == 1 and f'id="{ids[chosen - 1]}"' in marked[0]
