"""Editor actions: edits that fix a finding, and commands that run hvr."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hvr.base.files import temporary_folder
from hvr.base.processes import supervised
from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import Kind, Leaf, List, Symbols, Tree, line_tokens, split_lines

# Commands -----------------------------------------------------------------------------------------
# Commands of the editor that take time: validate, plan, show states. Each runs `hvr` once.

VALIDATE = "hvr.validate"
PLAN = "hvr.plan"
SHOW_STATES = "hvr.showStates"

_SECONDS = 300.0
_MEMORY = 4 << 30


class Done(NamedTuple):
    """The result of an hvr command.

    Attributes:
        plan: The plan found, in the format of a plan file.
    """

    code: int
    text: str
    plan: str = ""


async def run(models: Models, command: str, file: str) -> Done:
    """Run a command on a problem or plan, as it is in the editor.

    Args:
        file: A problem for `PLAN`; a problem or a plan for `VALIDATE`; a plan for `SHOW_STATES`.
    """
    model = models.of(file)
    plan = models.problem_of(file)
    if model is None or (file == model.domain):
        return Done(2, f"{Path(file).name} has no domain, or several could be its domain")
    problem = file if plan is None else plan[1]
    plans = list(model.problems.get(problem, ())) if plan is None else [file]
    if command != PLAN and not plans:
        return Done(2, f"found no plan beside {Path(problem).name}")
    with temporary_folder("hvr-edit-") as folder:
        names = _copies(models, [model.domain, problem, *plans], Path(folder))
        if command == PLAN:
            arguments = ["solve", *names[:2], "--save", "solved"]
        elif command == SHOW_STATES:
            arguments = ["validate", *names, "--happenings"]
        else:
            arguments = ["validate", *names, "--advise"]
        done = await run_hvr(arguments, folder)
        found = Path(folder, "solved", "plan.pddl")
        plan_text = found.read_text(encoding="utf-8") if found.is_file() else ""
        return done._replace(plan=plan_text)


def _copies(models: Models, files: Sequence[str], folder: Path) -> list[str]:
    names: list[str] = []
    for number, file in enumerate(files):
        name = Path(file).name
        if name in names:
            name = f"{number}-{name}"
        (folder / name).write_text(models.text(file), encoding="utf-8")
        names.append(name)
    return names


async def run_hvr(arguments: Sequence[str], folder: str, seconds: float = _SECONDS) -> Done:
    """Run an hvr command in a folder; a command that exceeds `seconds` is stopped with code 4."""
    process = await asyncio.create_subprocess_exec(
        *supervised([sys.executable, "-m", "hvr", *arguments], memory=_MEMORY),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(seconds):
            output, messages = await process.communicate()
    except TimeoutError:
        return Done(4, f"stopped after {seconds:g} s")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
    parts = [part.decode(errors="replace").rstrip() for part in (output, messages)]
    return Done(process.returncode or 0, "\n".join(filter(None, parts)))


# Analyst ------------------------------------------------------------------------------------------
# `analysis.py` runs in a process that ends with the server.

_MEMORY_analyst = 2 << 30
_ANSWER_LIMIT = 1 << 26


class NoAnalysisError(Exception):
    """The analysis failed or took too long, or its process ended."""


class Analyst:
    """The process that answers analysis requests, one at a time and each within a time limit."""

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._one = asyncio.Lock()

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises:
            NoAnalysisError: The request failed or took too long, or the process ended.
        """
        async with self._one:
            process = await self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                async with asyncio.timeout(self._seconds):
                    await process.stdin.drain()
                    line = await process.stdout.readline()
                answer: dict[str, Any] = json.loads(line)
            except (TimeoutError, ConnectionError, ValueError) as error:
                await self.end()
                took = f"the analysis took more than {self._seconds:g} s"
                late = isinstance(error, TimeoutError)
                raise NoAnalysisError(took if late else "the analysis ended unexpectedly") from None
            except asyncio.CancelledError:
                # Its answer to this request would be mistaken for the answer to the next one.
                await self.end()
                raise
        if "error" in answer:
            raise NoAnalysisError(answer["error"])
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *supervised(
                    [sys.executable, "-m", "hvr.doors.lsp.analysis"], memory=_MEMORY_analyst
                ),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_ANSWER_LIMIT,
            )
        return self._process

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


# Edits --------------------------------------------------------------------------------------------
# Edits that remove the cause of a finding.

_SUGGESTION = re.compile(r"did you mean '([^']+)'\?")
_FLAG = re.compile(r":[a-z][a-z-]*")
_DECLARED = {
    "HVR301": Kind.RELATION,
    "HVR304": Kind.RELATION,
    "HVR305": Kind.TYPE,
    "HVR306": Kind.OBJECT,
    "HVR316": Kind.OBJECT,
}


class Edit(NamedTuple):
    line: int
    start: int
    end_line: int
    end: int
    text: str


class Fix(NamedTuple):
    """A titled edit; `preferred` marks the fix that an editor applies by default."""

    title: str
    edits: tuple[Edit, ...]
    preferred: bool = False


def fixes(
    models: Models, file: str, rule: str, message: str, line: int, column: int, about: str = ""
) -> Iterator[Fix]:
    """Yield the fixes for a finding at a 0-based position; `about` is the name that it concerns."""
    names = models.names(file)
    tree = names.tree
    word = _word_at(tree, line, column)
    suggested = _SUGGESTION.search(message)
    if suggested is not None and word is not None:
        edit = Edit(word.line, word.start, word.line, word.end, suggested[1])
        yield Fix(f"Replace with {suggested[1]!r}", (edit,), preferred=True)
    if rule == "HVR202" and isinstance(names, Symbols):
        yield from _missing_flag(tree, message)
    elif rule == "HVR308" and (flag := _FLAG.search(about or message)) is not None:
        yield from _flag_removed(tree, flag[0])
    elif rule in _DECLARED and isinstance(names, Symbols):
        yield from _declaration_removed(names, _DECLARED[rule], about)
    if not rule.startswith("HVR0") and isinstance(names, Symbols):
        indent = re.match(r"\s*", tree.lines[line])
        assert indent is not None
        comment = f"{indent.group()}; hvr: ignore {rule}\n"
        yield Fix(f"Ignore {rule} here", (Edit(line, 0, line, 0, comment),))


def _missing_flag(tree: Tree, message: str) -> Iterator[Fix]:
    flags = _FLAG.findall(message)
    if not flags:
        return
    flag = flags[0]
    node = _find(tree, ":requirements")
    if node is not None and node.closed:
        place = Edit(node.end_line, node.end - 1, node.end_line, node.end - 1, f" {flag}")
    else:
        head = _find(tree, "domain")
        if head is None or not head.closed:
            return
        text = f"\n  (:requirements {flag})"
        place = Edit(head.end_line, head.end, head.end_line, head.end, text)
    yield Fix(f"Add {flag} to :requirements", (place,), preferred=True)


def _flag_removed(tree: Tree, flag: str) -> Iterator[Fix]:
    node = _find(tree, ":requirements")
    for item in node.items if node is not None else []:
        if isinstance(item, Leaf) and item.text == flag:
            yield Fix(f"Remove {flag}", (_cut(tree, item.line, item.start, item.line, item.end),))
            return


def _declaration_removed(names: Symbols, kind: Kind, name: str) -> Iterator[Fix]:
    declared = names.declarations.get((kind, name.lower(), 0))
    if declared is None:
        return
    uses = [o for o in names.occurrences if o.identity == declared.occurrence.identity]
    if len(uses) > 1:
        return  # it is used in a place that the finding does not count
    if kind is Kind.RELATION and declared.node is not None:
        node = declared.node
        edit = _cut(names.tree, node.line, node.start, node.end_line, node.end)
    else:
        one = declared.occurrence
        if not _keeps_types(declared.node, one.line, one.start):
            return
        edit = _cut(names.tree, one.line, one.start, one.line, one.end)
    yield Fix(f"Remove the {declared.noun} {name}", (edit,))


def _keeps_types(node: List | None, line: int, start: int) -> bool:
    """Return whether removing a name from a typed list keeps the types of the other names."""
    items = [] if node is None else node.items
    for number, item in enumerate(items):
        if isinstance(item, Leaf) and (item.line, item.start) == (line, start):
            following = items[number + 1] if number + 1 < len(items) else None
            before = items[number - 1]
            typed = isinstance(following, Leaf) and following.text == "-"
            named = isinstance(before, Leaf) and not before.text.startswith(":")
            after_type = number >= 2 and getattr(items[number - 2], "text", "") == "-"
            # Cutting the only name before a type would leave the type without a name.
            return not typed or (named and not after_type)
    return False


def _cut(tree: Tree, line: int, start: int, end_line: int, end: int) -> Edit:
    before, after = tree.lines[line][:start], tree.lines[end_line][end:]
    if not before.strip() and not after.strip() and end_line + 1 < len(tree.lines):
        return Edit(line, 0, end_line + 1, 0, "")
    blanks = len(before) - len(before.rstrip())
    return Edit(line, start - blanks, end_line, end, "")


def _find(tree: Tree, head: str) -> List | None:
    for item in tree.items:
        if isinstance(item, List):
            for node in [item, *item.items]:
                if isinstance(node, List) and node.head == head:
                    return node
    return None


def _word_at(tree: Tree, line: int, column: int) -> Leaf | None:
    items = list(tree.items)
    path = tree.path(line, column + 1)
    if path:
        items = path[-1].items
        if (path[-1].line, path[-1].start) == (line, column) and items:
            return items[0] if isinstance(items[0], Leaf) else None
    for item in items:
        if isinstance(item, Leaf) and item.line == line and item.start <= column <= item.end:
            return item
    return None


# Formatting ---------------------------------------------------------------------------------------
# Formatting indents by nesting, without moving a word to another line.

_INDENT = 2
_COMMENT = re.compile(r"[^;]*")
_BLANKS = re.compile(r"[ \t]+")


def formatted(text: str, *, indent: int = _INDENT) -> str:
    """Return the text with each line indented by `indent` blanks per level of nesting.

    Only blanks and blank lines change, so words and comments keep their order. Formatting twice
    has no further effect.
    """
    lines: list[str] = []
    depth = 0
    for line in split_lines(text):
        tokens = [token for token, _, _ in line_tokens(line)]
        closing = 0
        while closing < len(tokens) and tokens[closing] == ")":
            closing += 1
        level = max(0, depth - closing)
        lines.append((" " * (indent * level) + _tidy(line)).rstrip())
        depth = max(0, depth + tokens.count("(") - tokens.count(")"))
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return "\n".join(_few_blank(lines)) + "\n" if any(lines) else ""


def _tidy(line: str) -> str:
    code = _COMMENT.match(line)
    assert code is not None
    words = _BLANKS.sub(" ", code.group().strip())
    words = re.sub(r"\( +", "(", words)
    words = re.sub(r" +\)", ")", words)
    comment = line[code.end() :].rstrip()
    return f"{words}  {comment}" if words and comment else words or comment


def _few_blank(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept
