"""MkDocs hooks: generate the reference pages, and rewrite links that leave docs/.

The repository's own pages (such as CONTRIBUTING.md) become pages of the site. Links to other files
of the repository point to `repo_url`. Without it, only their text remains.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import hvr
from hvr.doors.cli.main import HVR, Call, Command, Group, command_parser

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # `mkdocs` does not look for modules in the checkout

from tools import write_schemas  # noqa: E402

PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
PAGES |= {"CHANGELOG.md": "changelog.md", "README.md": "readme.md"}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Build the navigation from the shelves in docs/README.md."""
    nav: list[Any] = [{"Home": "README.md"}]
    for line in (ROOT / "docs/README.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            nav.append({line[3:]: []})
        elif item := re.match(r"- \[([^\]]+)\]\(([^)]+)\)", line):
            nav[-1][next(iter(nav[-1]))].append({item[1]: item[2]})
    for shelf in nav[1:]:
        for name, pages in shelf.items():
            if name == "Reference":
                pages += [{"Command line": "reference/cli.md"}, {"Signatures": "reference/api.md"}]
            elif name == "Results":
                pages += [*_below("results")]
    nav.append({"Project": [{Path(n).stem.capitalize(): p} for n, p in PAGES.items()]})
    config.nav = nav
    return config


def _below(folder: str) -> list[str]:
    found = sorted((ROOT / "docs" / folder).glob("*.md"))
    return [f"{folder}/{path.name}" for path in found if path.name != "README.md"]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    made = {"reference/cli.md": _command_line(), "reference/api.md": _python()}
    made |= {page: (ROOT / name).read_text("utf-8") for name, page in PAGES.items()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Rewrite the links that leave docs/, and complete the page about operations."""
    if page.file.src_uri == "reference/operations.md":
        markdown = write_schemas.page(members_too=True)
    source = next((n for n, p in PAGES.items() if p == page.file.src_uri), "")
    here = Path("docs", page.file.src_uri).parent if not source else Path()

    def redirected(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return link[0]
        path = os.path.normpath(here / target)
        base = page.file.src_uri
        if path in PAGES:
            return f"[{text}]({os.path.relpath(PAGES[path], Path(base).parent)}{anchor})"
        if path.startswith("docs/"):
            return f"[{text}]({os.path.relpath(path[5:], Path(base).parent)}{anchor})"
        return f"[{text}]({config.repo_url}/blob/main/{path})" if config.repo_url else text

    return _LINK.sub(redirected, markdown)


def _commands(group: Group, *words: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    for one in group.commands:
        if isinstance(one, Command):
            yield (*words, one.name), one
        else:
            yield from _commands(one, *words, one.name)


def _command_line() -> str:
    parts = ["# Command line\n", "`hvr COMMAND --help` prints the same on the terminal.\n", _EXITS]
    for words, command in _commands(HVR):
        parser = command_parser(Call(("hvr", *words), command, ()), command)
        parts += [f"## hvr {' '.join(words)}\n", f"{command.help}\n"]
        rows = [_row(action) for action in parser._actions if action.help != argparse.SUPPRESS]
        parts += ["| argument | meaning |\n| --- | --- |\n" + "\n".join(rows) + "\n"]
        examples = re.findall(r"^  (hvr .+)$", parser.epilog or "", re.MULTILINE)
        if examples:
            parts += ["```sh\n" + "\n".join(examples) + "\n```\n"]
    return "\n".join(parts)


_EXITS = """
| exit code | meaning |
| --- | --- |
| 0 | good |
| 1 | the answer is no: an invalid plan, a goal not reached, an impossible request |
| 2 | the question was unusable: a bad file, a bad option, a wrong key, a sentence not understood |
| 3 | hvr failed for an unexpected reason |
| 4 | not answered: a model, budget, simulator or planner did not deliver; asking again may help |
| 130, 143 | interrupted, terminated |
"""


def _row(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.dest}`"
    if action.option_strings and action.nargs != 0:
        names += f" `{action.metavar or action.dest.upper()}`"
    help_text = re.sub(r"([|<*])", r"\\\1", " ".join((action.help or "").split()))
    return f"| {names} | {help_text.replace('%%', '%')} |"


def _python() -> str:
    """Return a page with a mkdocstrings entry for every public name."""
    places: dict[str, Any] = hvr._WHERE
    parts = ["# Python API in detail\n", "[Overview](python.md) lists the names by topic.\n"]
    for name, where in sorted(places.items(), key=lambda item: item[0].lower()):
        parts += [f"## hvr.{name}\n", f"::: {where.replace(':', '.')}\n"]
    return "\n".join(parts)
