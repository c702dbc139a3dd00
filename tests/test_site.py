"""The documentation site builds without a warning: every link and anchor resolves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hvr
from hvr.doors.cli.main import Command
from tests.command_line import commands

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        check=False, cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


@pytest.mark.slow
def test_the_site_has_every_page_command_and_public_name(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("")
        folder = name.parent if name.name == "README" else name
        assert (site / folder / "index.html").exists(), name
    described = (site / "reference/cli/index.html").read_text(encoding="utf-8")
    for words, called in commands():
        if isinstance(called, Command):
            assert f"hvr {' '.join(words)}<" in described
    signatures = (site / "reference/api/index.html").read_text(encoding="utf-8")
    for name in hvr._WHERE:
        assert f"hvr.{name}<" in signatures
