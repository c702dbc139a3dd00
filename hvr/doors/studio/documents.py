"""Documents of the studio: runs, plans, benches and tool graphs, also as single offline files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import is_locked
from hvr.base.texts import read_text
from hvr.errors import DataFileError, HvrError
from hvr.values import SCHEMA_VERSION

if TYPE_CHECKING:
    from hvr.bench.cells import CellResult
    from hvr.doors.service import ServedFolder
    from hvr.judging.verdict import PlanVerdict
    from hvr.runs.report.run_page import Story


# Documents ----------------------------------------------------------------------------------------
# Documents that the studio shows, as JSON: runs, plans and judged plans.
#
# The server sends a run's document to the page; a shared file embeds any of them.

Document = dict[str, Any]

_LONGEST = 20_000
"""Maximum number of characters of a prompt or answer in a document."""


# Runs ---------------------------------------------------------------------------------------------


def run_document(folder: Path) -> Document:
    """Return the document of a run, which may be in progress or interrupted."""
    from hvr.runs.folder import read_status
    from hvr.runs.report.run_page import read_story

    story = read_story(folder)
    sight = str(read_status(folder)[0].get("sight") or "")
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "run",
        "name": folder.name,
        "sight": sight,
        "before": None if story.before is None else story.before.to_json(),
        "after": None if story.after is None else story.after.to_json(),
        "story": _told(story),
    }


def _told(story: Story) -> Document:
    told = asdict(replace(story, before=None, after=None, route=None, steps=(), asked=()))
    for name in ("before", "after", "route"):
        del told[name]
    steps = []
    for step in story.steps:
        pose = None if step.pose is None else step.pose._asdict()
        steps.append({**asdict(replace(step, pose=None)), "pose": pose})
    asked = [
        {**asdict(one), "prompt": _cut(one.prompt), "answer": _cut(one.answer)}
        for one in story.asked
    ]
    return {**told, "steps": steps, "asked": asked}


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n… ({len(text)} characters)"


# Plans --------------------------------------------------------------------------------------------


def plan_document(
    domain: Path, problem: Path, plan: Path | str, *, side: str = "steps"
) -> Document:
    """Return the document of a plan: its PDDL text, and each change of the state.

    Args:
        plan: The plan's file, or its text.
        side: The view to show first: `steps`, `picture`, `tasks`, `numbers` or `drawing`.
    """
    from hvr.doors.operations import answer
    from hvr.doors.schema import PlanTextRequest
    from hvr.worlds.facts.drawing import drawing_of

    texts = {
        "domain": read_text(domain),
        "problem": read_text(problem),
        "plan": plan if isinstance(plan, str) else read_text(plan),
    }
    drawing = drawing_of(domain, texts["domain"])
    request = PlanTextRequest(domain=texts["domain"], problem=texts["problem"], plan=texts["plan"])
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "plan",
        "name": problem.name if isinstance(plan, str) else plan.name,
        "side": side,
        "texts": texts,
        "trace": answer("trace_plan", request),
        "drawing": drawing and drawing.to_json(),
    }


# Reports ------------------------------------------------------------------------------------------


def judged_document(judged: Iterable[tuple[str, str, PlanVerdict]]) -> Document:
    """Return a document with the results of `hvr judge`, given as names, goals and verdicts."""
    from hvr.judging.reports import suggestion, summary
    from hvr.runs.report.charts import data_table, report, section

    sections = []
    for name, goal, verdict in judged:
        parts = [
            data_table("The plan", ("step", "action", "finding", "reason"), _judged_rows(verdict))
        ]
        evidence = list(_evidence(verdict))
        if evidence:
            header = ("step", "effect", "needed by", "undone by")
            parts.append(data_table("Effects of these steps", header, evidence))
        said = (goal, summary(verdict), *suggestion(verdict))
        sections.append(section(name, *parts, text=[line for line in said if line]))
    return report("Judged plan", sections)


def _judged_rows(verdict: PlanVerdict) -> Iterator[Sequence[str]]:
    from hvr.judging.verdict import CritiqueKind

    missing = CritiqueKind.MISSING
    for number in range(1, len(verdict.plan) + 2):
        here = [critique for critique in verdict.critiques if critique.index == number]
        for critique in here:
            if critique.kind is missing:
                names = " ".join(map(str, critique.actions)) or "?"
                yield "+", names, critique.kind.value, critique.reason
        if number <= len(verdict.plan):
            found = [critique for critique in here if critique.kind is not missing]
            mark, why = (found[-1].kind.value, found[-1].reason) if found else ("", "")
            yield str(number), str(verdict.plan[number - 1]), mark, why


def _evidence(verdict: PlanVerdict) -> Iterator[Sequence[str]]:
    for critique in verdict.critiques:
        for link in critique.links:
            readers = ", ".join(
                "the goal" if reader > len(verdict.plan) else str(reader) for reader in link.readers
            )
            undone = "" if link.undone_by is None else str(link.undone_by)
            yield str(critique.index), link.literal, readers or "nothing", undone


def outline(document: Mapping[str, Any]) -> str:
    """Return a document as plain text, for browsers without JavaScript; a report becomes tables."""
    if document["kind"] == "run":
        story = document["story"]
        marks = {True: "ok", False: "!!"}
        steps = (
            f"{marks[one['as_expected']]} {one['number']:>3} {one['action']}"
            for one in story["steps"]
        )
        return "\n".join((story["request"], story["outcome"], *steps))
    if document["kind"] == "plan":
        found = document["trace"]["report"]
        return "\n".join((found["outcome"], document["texts"]["plan"]))
    if document["kind"] == "pair":
        both = ((document[side]["title"], *document[side]["steps"]) for side in ("left", "right"))
        return "\n\n".join("\n".join(lines) for lines in both)
    return "\n".join(
        "\t".join(row)
        for section in document["sections"]
        for part in section["parts"]
        if part["kind"] == "table"
        for row in (part["header"], *part["rows"])
    )


# Benches ------------------------------------------------------------------------------------------
# Benches in a folder, as reports of tables and charts.

_MOST = 200
_MOST_CAUSES = 12


def find_benches(folder: ServedFolder) -> list[str]:
    """Return the names of at most 200 bench folders in a folder, up to two levels deep."""
    found = [
        path.relative_to(folder.path).as_posix()
        for path in _folders(folder.path)
        if (path / "manifest.json").is_file() and (path / "cells").is_dir()
    ]
    return sorted(found)[:_MOST]


def bench_document(folder: ServedFolder, name: str, earlier: str = "") -> dict[str, Any]:
    """Return the report of a bench, even one in progress, and its differences from `earlier`."""
    from hvr.bench.export import bench_report
    from hvr.bench.folder import BenchFolder
    from hvr.bench.tables import compare, summarise
    from hvr.runs.report.charts import report

    bench = BenchFolder(_bench(folder, name))
    manifest, results = bench.manifest(), bench.results()
    if results:
        other = BenchFolder(_bench(folder, earlier)).results() if earlier else None
        deltas = None if other is None else compare(other, results)
        document = bench_report(manifest, results, summarise(results), deltas)
    else:
        document = report(f"hvr bench: {name}", ())
    return {**document, "board": _board(bench.path, manifest, results)}


def _board(
    folder: Path, manifest: Mapping[str, Any], results: Sequence[CellResult]
) -> dict[str, Any]:
    start = manifest["starts"][-1] if manifest["starts"] else {}
    total = start.get("cells")
    running = is_locked(folder / "bench.lock")
    scores = [result.scores for result in results if result.scores is not None]
    causes = Counter(result.error_kind for result in results if not result.finished)
    for one in scores:
        causes.update(one.failures)
    costs = [one.spent.cost for one in scores if one.spent.cost is not None]
    left = None
    if running and isinstance(total, int):
        left = _seconds_left(folder, str(start.get("time")), total - len(scores))
    return {
        "running": running,
        "done": len(scores),
        "errors": len(results) - len(scores),
        "total": total,
        "reached": sum(bool(one.success) for one in scores),
        "cost": sum(costs) if costs else None,
        "seconds_left": left,
        "causes": causes.most_common(_MOST_CAUSES),
    }


def _seconds_left(folder: Path, began: str, cells: int) -> float | None:
    try:
        start = datetime.fromisoformat(began).timestamp()
    except ValueError:
        return None
    times = [path.stat().st_mtime for path in (folder / "cells").glob("*.json")]
    done = sum(time >= start for time in times)
    return cells * (datetime.now(UTC).timestamp() - start) / done if done else None


def _bench(folder: ServedFolder, name: str) -> Path:
    if name not in find_benches(folder):
        raise DataFileError(f"{name or 'this'} is not a bench in this folder")
    inside = folder.path / folder.resolved(name)
    for path in (inside / "manifest.json", *(inside / "cells").iterdir()):
        folder.resolved(str(path))  # a link may lead elsewhere
    return inside


def _folders(root: Path) -> Iterator[Path]:
    with suppress(OSError):
        for path in root.iterdir():
            if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                yield path
                with suppress(OSError):
                    inner = (one for one in path.iterdir() if not one.is_symlink())
                    yield from (one for one in inner if one.is_dir())


# Tool files ---------------------------------------------------------------------------------------
# Tool graphs in a folder: the files that `hvr tools graph` and `hvr tools run` write.

_FIRST = 65_536
_EVENTS = ("tool", "call", "gone", "look")
_MEMBERS = ("tools", "calls", "passes", "absent", "inputs", "outputs")


def find_graphs(folder: ServedFolder) -> list[str]:
    """Return the names of at most 200 files with a tool graph in a folder and its subfolders."""
    found: list[str] = []
    for path in _candidates(folder.path):
        with suppress(OSError):
            with path.open("rb") as file:
                start = file.read(_FIRST).lstrip()
            if _is_graph(start) if path.suffix == ".json" else _is_log(start):
                found.append(path.relative_to(folder.path).as_posix())
        if len(found) == _MOST:
            break
    return found


def read_graph(folder: ServedFolder, name: str) -> dict[str, Any]:
    """Return a tool graph as JSON, from a log of its events or from the graph itself.

    Raises:
        DataFileError: The file cannot be read, or contains no tool graph.
    """
    text = folder.read(name)
    if name.endswith(".json"):
        with suppress(ValueError, RecursionError):
            graph = json.loads(text)
            if isinstance(graph, dict) and all(isinstance(graph.get(m), list) for m in _MEMBERS):
                return graph
        raise DataFileError(f"{name} is not a tool graph; `hvr tools graph --json` writes one")
    from hvr.tools.navigation.graph_log import event_of, graph_record, rebuilt

    lines = text[: text.rfind("\n") + 1].splitlines()
    records = ((number, _record(line, name, number)) for number, line in enumerate(lines, 1))
    try:
        return graph_record(rebuilt(event_of(one, f"{name}: line {n}") for n, one in records))
    except HvrError:
        raise
    except (ValueError, KeyError, RecursionError) as error:
        raise DataFileError(f"{name} is not the log of a tool graph: {error}") from error


def _record(line: str, name: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise DataFileError(f"{name}: line {number} is not JSON") from None


def _candidates(root: Path) -> Iterator[Path]:
    folders = [root]
    for parent in (root, root / "runs"):
        with suppress(OSError):
            inner = (path for path in parent.iterdir() if path.is_dir())
            folders += sorted(path for path in inner if not path.name.startswith("."))
    for folder in dict.fromkeys(folders):
        with suppress(OSError):
            files = (path for path in folder.iterdir() if path.suffix in (".json", ".jsonl"))
            yield from sorted(path for path in files if not path.is_symlink() and path.is_file())


def _is_graph(start: bytes) -> bool:
    return start.startswith(b"{") and start[1:].lstrip().startswith(b'"tools"')


def _is_log(start: bytes) -> bool:
    try:
        event = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(event, dict) and event.get("event") in _EVENTS and "tool" in event


# Sharing ------------------------------------------------------------------------------------------
# The studio's views of one document as a single file that works offline.

# Nothing is loaded, because the file may come from a stranger and is opened from a disk.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="studio"></div>
<noscript><pre>{outline}</pre></noscript>
<script type="application/json" id="document">{document}</script>
{scripts}
</body>
</html>
"""


def shared_page(document: Mapping[str, Any], title: str) -> str:
    """Return a self-contained page that shows a document.

    Args:
        document: A result of `hvr.doors.studio.documents` or of `hvr.runs.report.charts.report`.
    """
    # The room's library is as large as everything else together, and only scenes need it.
    names = ["room.js"] if document.get("before") is not None else []
    scripts = "\n".join(f"<script>{_script(name)}</script>" for name in (*names, "share.js"))
    return _PAGE.format(
        policy=_POLICY,
        title=_plain(title),
        style=_asset("studio.css"),
        outline=_plain(outline(document)),
        document=_data(document),
        scripts=scripts,
    )


def shared_run(folder: Path) -> str:
    """Return the page of a run folder."""

    document = run_document(folder)
    return shared_page(document, f"hvr: {document['story']['request']}")


def _data(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(text: str) -> str:
    # Lone surrogates cannot be encoded in UTF-8, and NUL is not allowed in HTML.
    known = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return escape(known, quote=True)


@cache
def _asset(name: str) -> str:
    return resources.files("hvr.doors.studio").joinpath("assets", name).read_text("utf-8")


def _script(name: str) -> str:
    text = _asset(name)
    # The build checks that no script contains an end tag or the start of a comment.
    assert "</script" not in text.lower() and "<!--" not in text
    return text
