"""Measure the speed and the correctness of the language server.

    python benchmarks/language_server.py                  # latency by size of the document
    python benchmarks/language_server.py --edits 10000    # random edits, compared with a fresh text
    python benchmarks/language_server.py --data FOLDER    # diagnostics beside lint and validate

FOLDER contains a manifest of domains, problems and plans, as JSON lines. The server is started as
by an editor; times are medians of one client in the same run, from the change to the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conditions import conditions
from lsprotocol import types as lsp

from hvr.doors.lsp.analysis import analyse
from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import changed, split_lines
from hvr.validation.batch import BatchOptions, ModelReader, UnusableModelError, judge_all
from hvr.validation.findings import Finding, findings
from hvr.validation.lint_files import LintTargets, lint_files, without_ignored
from tests.doors.lsp.editor import Editor, editor

ROOT = Path(__file__).resolve().parents[1]
SIZES = (100, 1_000, 5_000)
REPEATS = 9


def domain_of(lines: int) -> str:
    """Return a domain with about `lines` lines."""
    actions = [
        f"""  (:action move-{number}
    :parameters (?x ?y - place)
    :precondition (and (at ?x) (linked ?x ?y) (free-{number} ?y))
    :effect (and (at ?y) (not (at ?x)) (not (free-{number} ?y))))"""
        for number in range(lines // 5)
    ]
    predicates = " ".join(f"(free-{number} ?p - place)\n" for number in range(lines // 5))
    head = [
        "(define (domain d)",
        "(:requirements :strips :typing)",
        "(:types place)",
        f"(:predicates (at ?p - place) (linked ?a ?b - place) {predicates})",
    ]
    return "\n".join([*head, *actions, ")\n"])


async def latency(lines: int) -> dict[str, float]:
    """Return the milliseconds from a change to each answer, in a domain of about `lines` lines."""
    text = domain_of(lines)
    folder = Path("/nowhere")
    took: dict[str, list[float]] = {"hover": [], "completion": [], "diagnostics": []}
    async with editor() as here:
        uri = here.open(folder / "domain.pddl", text)
        await here.diagnostics(uri)
        rows = split_lines(text)
        line = next(n for n, row in enumerate(rows) if ":precondition" in row and n > len(rows) / 2)
        end = lsp.Position(line, len(rows[line]))
        where = lsp.Range(end, end)
        for number in range(REPEATS):
            begun = time.perf_counter()
            # Each text is new, because the server caches its answers about earlier texts.
            here.change(uri, f" ; {number}", where)
            await here.client.text_document_hover_async(lsp.HoverParams(**here.at(uri, line, 26)))
            took["hover"].append(time.perf_counter() - begun)
            begun = time.perf_counter()
            await here.client.text_document_completion_async(
                lsp.CompletionParams(**here.at(uri, line, 25))
            )
            took["completion"].append(time.perf_counter() - begun)
            begun = time.perf_counter()
            here.change(uri, f" ; again {number}", where)
            await here.diagnostics(uri)
            took["diagnostics"].append(time.perf_counter() - begun)
    return {name: 1000 * statistics.median(times) for name, times in took.items()}


async def edits(count: int, seed: int) -> None:
    """Edit a domain at random, and compare the server's state with a fresh copy of the text."""
    chance = random.Random(seed)
    pieces = ["", "x", "(", ")", "\n", "\r\n", "; 𝔸 é", "(p ?x)", " - t", ":action a", "?"]
    compared = differing = 0
    text = (ROOT / "examples/blocks/domain.pddl").read_text(encoding="utf-8")
    original = text
    async with editor() as here:
        uri = here.open(Path("/nowhere/domain.pddl"), text)
        for number in range(1, count + 1):
            lines = split_lines(text)
            line = chance.randrange(len(lines))
            start = chance.randrange(len(lines[line]) + 1)
            end = min(len(lines[line]), start + chance.randrange(6))
            first, last = (len(lines[line][:at].encode("utf-16-le")) // 2 for at in (start, end))
            new = chance.choice(pieces)
            where = lsp.Range(lsp.Position(line, first), lsp.Position(line, last))
            here.change(uri, new, where)
            text = changed(text, (line, first), (line, last), new, "utf-16")
            if number % 100 == 0 or number == count:
                here.versions["file:///nowhere/fresh.pddl"] = 0
                after = await _state(here, uri)
                fresh = here.open(Path(f"/nowhere/{number}/domain.pddl"), text)
                compared += 1
                differing += after != await _state(here, fresh)
                document = lsp.TextDocumentIdentifier(fresh)
                here.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
                print(
                    f"\r{number} edits, {compared} compared, {differing} differ", end="", flush=True
                )
                if len(text) > 20_000:
                    text = original
                    here.change(uri, text)
        errors = [message for message in here.messages if "rror" in message]
    print(f"; {len(errors)} server errors")


async def _state(here: Editor, uri: str) -> list[str]:
    found = [str((d.code, d.message, d.range)) for d in await here.diagnostics(uri)]
    outline = await here.client.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    )
    return [*found, *map(str, outline or ())]


def corpus(folder: Path, every: int) -> None:
    """Compare the diagnostics of a corpus with the reports of lint and validate."""
    differing = 0
    lines = (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    for cases, line in enumerate(lines[::every], 1):
        entry = json.loads(line)
        plans = [entry["plan"]] if "plan" in entry else entry["plans"]
        names = [str(folder / name) for name in (entry["domain"], entry["problem"], *plans)]
        models = Models()
        models.texts.update({name: models.text(name) for name in names})
        domain, problem, *files = names
        answer = analyse(
            {
                "pairs": [(domain, problem)],
                "plans": [(domain, problem, file) for file in files],
                "texts": models.texts,
            }
        )
        shown = {(one["file"], one["rule"], one["message"]) for one in answer["findings"]}
        expected = {(f.file, f.rule.id, f.message) for f in _expected(domain, problem, files)}
        differing += shown != expected
        if shown != expected:
            rules = sorted({rule for _, rule, _ in shown ^ expected})
            print(f"\r{entry['problem']}: {' '.join(rules)}")
        print(f"\r{cases} cases, {differing} differ", end="", flush=True)
    print()


def _expected(domain: str, problem: str, plans: list[str]) -> Iterator[Finding]:
    yield from without_ignored(lint_files(LintTargets(((domain, problem),))))
    try:
        judged = judge_all(ModelReader(BatchOptions()).read(domain, problem), plans)
        results = list(judged)
    except UnusableModelError as error:
        results = [error.result]
    for result in results:
        yield from (one for one in findings(result) if one.file in plans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--edits", type=int, default=0, help="number of random edits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="folder with manifest.jsonl")
    parser.add_argument("--every", type=int, default=1, help="use every N-th case")
    args = parser.parse_args()
    if args.data is not None:
        corpus(args.data, args.every)
    elif args.edits:
        asyncio.run(edits(args.edits, args.seed))
    else:
        print(conditions())
        print("| lines | hover after a change | completion | diagnostics |")
        print("| ---: | ---: | ---: | ---: |")
        for lines in SIZES:
            found = asyncio.run(latency(lines))
            print(f"| {lines} | " + " | ".join(f"{ms:.0f} ms" for ms in found.values()) + " |")


if __name__ == "__main__":
    main()
