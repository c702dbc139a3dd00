"""Measure the time and size of a bare hvr install: python benchmarks/install_size.py

The script builds the wheel of this checkout, installs it in a new virtual environment, and
validates a plan there. Build time does not count, since users download a wheel. `--extras plan`
adds extras.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conditions import conditions

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = ROOT / "examples" / "blocks"


def megabytes(folder: Path, pattern: str = "*") -> float:
    return sum(file.stat().st_size for file in folder.rglob(pattern) if file.is_file()) / 1e6


def installed(wheel: Path, extras: str, folder: Path) -> tuple[float, float, str]:
    """Install a wheel; return the seconds, the megabytes, and a breakdown of hvr's own files."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    before = megabytes(packages)
    name = f"{wheel}[{extras}]" if extras else str(wheel)
    begin = time.perf_counter()
    subprocess.run([folder / "bin" / "pip", "install", "-q", name], check=True)
    seconds = time.perf_counter() - begin
    files = [BLOCKS / "domain.pddl", BLOCKS / "problem.pddl", BLOCKS / "plans" / "short.txt"]
    subprocess.run([folder / "bin" / "hvr", "validate", *files], check=True)
    own = packages / "hvr"
    sources, bytecode = megabytes(own, "*.py"), megabytes(own, "*.pyc")
    data = megabytes(own) - sources - bytecode
    parts = f"sources {sources:.1f} MB, bytecode {bytecode:.1f} MB, data {data:.1f} MB"
    return seconds, megabytes(packages) - before, parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="extras to install, such as plan")
    extras = parser.parse_args().extras
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
        subprocess.run(build, check=True)
        (wheel,) = folder.glob("hvr-*.whl")
        seconds, size, parts = installed(wheel, extras, folder / "venv")
        shown = wheel.stat().st_size / 1e6
    print(conditions())
    print(f"wheel {shown:.1f} MB; installed {size:.1f} MB in {seconds:.1f} s")
    print(f"hvr itself: {parts}")


if __name__ == "__main__":
    main()
