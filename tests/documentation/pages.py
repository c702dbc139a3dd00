"""Commands and code blocks of hvr's pages, in the order of the page.

A page is a script: its shell lines and Python blocks run from top to bottom in one folder, and the
output shown below each must match. A page may carry these marks:

    <!-- extras: gnn, llm -->       anywhere: the page needs these extras of hvr
    <!-- needs: WHAT -->            above a block: it cannot run in a test, which lacks WHAT
    <!-- file: NAME -->             above a block: it is the file NAME
    <!-- command: test -->          above a block: .ci/run runs it
    hvr … # …; needs WHAT           the same for one shell line, visible to readers
    hvr … # …; exit code 1          the line ends with this code instead of 0

    python -m tests.documentation.pages      prints which parts run and which do not
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
         ROOT / "SECURITY.md",
         *sorted((ROOT / "docs").rglob("*.md")))  # fmt: skip
SHELL = ("sh", "console")

_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (extras|needs|file|command): (.+?) -->")
_NEEDS = re.compile(r"#(?: |.*; )needs ([^;]+)$")
_CODE = re.compile(r"#(?: |.*; )exit code (\d+)$")
_HERE = re.compile(r"<<-?\s*['\"]?(\w+)")
_BENCHMARK = re.compile(r"\b(?:benchmarks|tools|tests)/\w+(?:/\w+)*\.py\b")


@dataclass(frozen=True)
class Command:
    """A shell command.

    Args:
        place: Page and line.
        text: The command with its comment.
        needs: Requirement that a test lacks, or "" if it can run.
        code: Expected exit code.
        shown: Output shown on the page, if any.
    """

    place: str
    text: str
    needs: str
    code: int
    shown: str | None

    @property
    def measures(self) -> bool:
        """Whether the command calls a script that measures or prepares something."""
        return _BENCHMARK.search(self.text) is not None


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Args:
        place: Page and line.
        kind: Language of the fence.
        code: Text of the block.
        needs: Requirement that a test lacks, or "" if it can run.
        file: Name of the file that the block shows, or "".
    """

    place: str
    kind: str
    code: str
    needs: str = ""
    file: str = ""

    @property
    def commands(self) -> Sequence[Command]:
        """The commands of a shell block."""
        if self.kind not in SHELL:
            return ()
        page, _, first = self.place.rpartition(":")
        found = []
        for offset, text, shown in _split(self.code, self.kind):
            line = text.partition("\n")[0]
            needs, code = _NEEDS.search(line), _CODE.search(line)
            found.append(
                Command(
                    f"{page}:{int(first) + offset}",
                    text,
                    needs[1].strip() if needs else self.needs,
                    int(code[1]) if code else 0,
                    shown,
                )
            )
        return found


@dataclass(frozen=True)
class Page:
    """A page with its blocks in order.

    Args:
        name: Path from the top of the repository.
        extras: Required extras of hvr.
        blocks: Fenced blocks.
    """

    name: str
    extras: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def commands(self) -> Sequence[Command]:
        return [command for block in self.blocks for command in block.commands]

    @property
    def python(self) -> Sequence[Block]:
        return [block for block in self.blocks if block.kind == "python"]

    @property
    def runs(self) -> bool:
        """Whether any part of the page runs."""
        return any(can(one.needs) for one in (*self.commands, *self.python))


def can(needs: str) -> bool:
    """Return whether this machine meets a line's requirement."""
    return not needs or (needs == "Java" and shutil.which("java") is not None)


def read_page(path: Path, root: Path = ROOT) -> Page:
    """Read a page; its name is relative to `root`."""
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(root))
    extras = [mark[2] for mark in _MARK.finditer(text) if mark[1] == "extras"]
    blocks = []
    for match in _FENCED.finditer(text):
        marks = dict(_marks_above(text[: match.start()]))
        place = f"{name}:{text.count(chr(10), 0, match.start()) + 2}"
        code = re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE)
        blocks.append(Block(place, match[2], code, marks.get("needs", ""), marks.get("file", "")))
    return Page(name, tuple(re.findall(r"\w+", " ".join(extras))), tuple(blocks))


def _marks_above(text: str) -> Iterator[tuple[str, str]]:
    for line in reversed(text.rstrip().splitlines()):
        mark = _MARK.fullmatch(line.strip())
        if mark is None:
            return
        yield mark[1], mark[2]


def _split(code: str, kind: str) -> Iterator[tuple[int, str, str | None]]:
    """Yield the commands of a block: line number, text, and shown output."""
    lines = code.splitlines()
    at = 0
    while at < len(lines):
        begin, text = at, lines[at]
        at += 1
        if kind == "console":
            assert text.startswith("$ "), text
            text = text.removeprefix("$ ")
        elif not text.strip() or text.startswith("#"):
            continue
        while not _complete(text):
            text, at = f"{text}\n{lines[at]}", at + 1
        shown = None
        if kind == "console":
            below = at
            while at < len(lines) and not lines[at].startswith("$ "):
                at += 1
            shown = "\n".join(lines[below:at]) if at > below else None
        yield begin, text, shown


def _complete(text: str) -> bool:
    """Return whether a shell would accept the text without another line."""
    here = _HERE.search(text)
    if here is not None:
        return text.endswith(f"\n{here[1]}")
    if text.endswith("\\"):
        return False
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def main() -> None:
    """Print the numbers of commands and Python blocks, and the unmet requirements."""
    pages = [read_page(path) for path in PAGES]
    commands = [command for page in pages for command in page.commands]
    python = [block for page in pages for block in page.python]
    for title, some in (
        ("shell commands", [c for c in commands if not c.measures]),
        ("calls of scripts that measure or prepare", [c for c in commands if c.measures]),
        ("Python blocks", python),
    ):
        missing = Counter(one.needs for one in some if not can(one.needs))
        print(f"{len(some)} {title}: {len(some) - missing.total()} run, {missing.total()} marked")
        for what, count in sorted(missing.items(), key=lambda pair: (-pair[1], pair[0])):
            print(f"    {count} {'needs' if count == 1 else 'need'} {what}")


if __name__ == "__main__":
    main()
