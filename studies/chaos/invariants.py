"""Invariants of every situation: exit codes, messages, files, memory, secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.chaos.checks import BrokeError
from studies.chaos.lab import Lab
from studies.chaos.process import Ended

GOOD, NO, UNUSABLE, FAILED, UNANSWERED = 0, 1, 2, 3, 4
INTERRUPTED, TERMINATED, KILLED = 130, 143, 137

MOST_MEMORY = 1_500_000_000
_LONGEST_ERROR = 2_000
_MAX_OUTPUT = 1_000_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CLAIMS = re.compile(
    r"The goal is reached|^Carried out|Planned and validated, not executed", re.MULTILINE
)
_ADMITS = re.compile(
    r"\b(broke|broken|interrupted|unfinished|not (yet )?finished|never finished|did not finish|"
    r"cut off|killed|terminated|under way|running|not reached|started)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Run:
    folder: Path

    @property
    def about(self) -> dict[str, Any]:
        """Content of task.json; empty if the file is missing or damaged."""
        try:
            value = json.loads((self.folder / "task.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def state(self) -> str:
        """Run status recorded in the folder; empty if there is none."""
        return str(self.about.get("state") or "")

    @property
    def complete(self) -> bool:
        state = self.state
        return state == "finished" if state else "reached" in self.about

    @property
    def answers(self) -> int:
        """Number of model answers in the transcript and in the file of exchanges moved aside."""
        counts = [0]
        for path in self.folder.rglob("llm*.jsonl"):
            lines = path.read_bytes().split(b"\n")[1:-1]
            counts.append(sum(b'"answer": {' in line for line in lines))
        return max(counts)

    @property
    def plan(self) -> list[Any]:
        value = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        return [action for block in value["blocks"] for action in block["actions"]]


def require(holds: bool, why: str) -> None:
    if not holds:
        raise BrokeError(why)


def examine(
    lab: Lab,
    ended: Ended,
    codes: Collection[int],
    *,
    run: Run | None = None,
    says: str = "",
    escapes: bool = False,
    longest: int = _LONGEST_ERROR,
) -> None:
    """Check everything that a command left behind.

    Args:
        codes: Permitted exit codes.
        run: Run folder that the command should fill.
        says: Pattern that the output must match.
        escapes: Whether terminal escapes are permitted.
        longest: Maximum length of an error message in characters.
    """
    wrong = list(_ending(ended, codes))
    wrong += _words(ended, says, escapes=escapes, longest=longest)
    wrong += _traces(lab)
    # A kill may hit between creating the folder and writing its first file.
    if not ended.late and run is not None and run.folder.is_dir() and any(run.folder.iterdir()):
        wrong += _truth(lab, run, ended)
    if wrong:
        raise BrokeError("; ".join(wrong))


def _ending(ended: Ended, codes: Collection[int]) -> Iterator[str]:
    if ended.late:
        yield f"the process did not end within {ended.seconds:.0f} s"
    elif ended.code not in codes:
        right = " or ".join(map(str, sorted(codes)))
        yield f"expected exit code {right}, found {ended.code} ({ended.last})"
    if ended.peak > MOST_MEMORY:
        yield f"the process used {ended.peak / 1e9:.1f} GB of memory"


def _words(ended: Ended, says: str, *, escapes: bool, longest: int) -> Iterator[str]:
    output = ended.output
    if "Traceback" in output or "panicked at" in output:
        yield f"a traceback was shown ({ended.last})"
    errors = [line for line in output.splitlines() if line.startswith("error:")]
    if len(errors) > 1:
        yield f"{len(errors)} lines begin with error:"
    if any(len(line) > longest for line in errors):
        yield f"an error of {max(map(len, errors))} characters was shown"
    if len(output) > _MAX_OUTPUT:
        yield "more than a million characters were printed"
    if not escapes and (found := _CONTROL.search(output)):
        yield f"the control character {found.group()!a} was printed"
    if says and not ended.late and not re.search(says, output, re.IGNORECASE):
        yield f"the output does not mention {says!r} ({ended.last})"


def _traces(lab: Lab) -> Iterator[str]:
    if secret := lab.secrets.found_under(lab.folder):
        yield secret
    yield from damaged(lab.work, orderly=not lab.killed)


def damaged(folder: Path, *, orderly: bool = True) -> Iterator[str]:
    """Yield the half-written files under a folder.

    After a kill (not `orderly`), a truncated last line and the temporary file being written are
    excused.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_symlink() or not path.is_file():
            continue
        if path.suffix == ".json":
            try:
                json.loads(path.read_bytes(), parse_constant=_not_json)
            except (ValueError, RecursionError, OSError) as error:
                yield f"{name} is no JSON ({error})"
        elif path.suffix == ".jsonl":
            yield from _bad_line(path, name, orderly=orderly)
        elif orderly and (".part" in path.name or path.name.endswith((".tmp", "~"))):
            yield f"{name} was left behind"


def _bad_line(path: Path, name: Path, *, orderly: bool) -> Iterator[str]:
    *lines, rest = path.read_bytes().split(b"\n")
    if rest and orderly:
        yield f"the last line of {name} was cut off"
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line, parse_constant=_not_json)
        except (ValueError, RecursionError) as error:
            yield f"{name}, line {number} is no JSON ({error})"
            return


def _not_json(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _truth(lab: Lab, run: Run, ended: Ended) -> Iterator[str]:
    """Yield the false statements that a run folder makes about itself."""
    shown = lab.hvr("show", run.folder)
    output = shown.out.decode("utf-8", "replace")
    if shown.code == UNUSABLE and "killed before it started" in shown.last:
        return
    if shown.code != GOOD:
        yield f"hvr show cannot report the result of the run ({shown.last})"
        return
    yield from _words(shown, "", escapes=False, longest=_LONGEST_ERROR)
    if secret := lab.secrets.found_in(shown.out + shown.err):
        yield f"hvr show prints {secret}"
    outcome = "\n".join(output.splitlines()[:3])
    if ended.code == GOOD:
        if not run.complete:
            yield f"the run succeeded, but its folder says {(run.state or 'nothing')!r}"
        spent = run.about.get("spent") or {}
        if any(isinstance(number, int | float) and number < 0 for number in spent.values()):
            yield f"negative amounts were spent: {spent}"
    elif ended.code == NO:
        if re.search("The goal is reached", outcome):
            yield f"hvr show says that the goal is reached after exit code 1 ({outcome})"
    elif ended.code <= UNANSWERED or not run.complete:
        if _CLAIMS.search(outcome) or not _ADMITS.search(outcome):
            yield f"the run was interrupted, but hvr show says: {outcome}"
        if ended.code <= UNANSWERED and run.folder.name not in ended.output:
            yield f"the message does not name the run folder ({ended.last})"
        orderly = ended.code <= UNANSWERED or ended.code in (INTERRUPTED, TERMINATED)
        # A full disk may have no room for the run status.
        full = re.search("no space|space left", ended.output, re.IGNORECASE)
        if orderly and not full and run.state.startswith(("start", "run")):
            yield f"the run has ended, but its folder says {run.state!r}"
