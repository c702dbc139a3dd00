"""Baselines: findings that a project has accepted for now, so that CI fails only for new ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from hvr.base.texts import read_json
from hvr.errors import DataFileError
from hvr.validation.findings import Finding, findings
from hvr.validation.judged import Judged
from hvr.validation.report import Outcome
from hvr.validation.reporters import relative_path
from hvr.validation.rules import Level

_VERSION = 1


def fingerprint(finding: Finding, base: str, seen: Counter[str]) -> str:
    """Return what a finding is recognised by when lines are inserted before it.

    Args:
        finding: The finding.
        base: The folder that the path of its file is relative to.
        seen: Counts equal findings, which are told apart by their order.
    """
    key = "\n".join((finding.rule.id, relative_path(finding.file, base), finding.subject))
    seen[key] += 1
    text = f"{key}\n{seen[key]}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Baseline:
    """The findings in a file, and those of a run.

    Args:
        file: The file; paths of findings are relative to its folder.
        known: Fingerprints of the accepted findings.

    Attributes:
        met: The number of accepted findings that the run has, too.
    """

    def __init__(self, file: Path, known: Iterable[str] = ()) -> None:
        self.file = file
        self.met = 0
        self._base = str(file.absolute().parent)
        self._known = frozenset(known)
        self._found: dict[str, Finding] = {}

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """Read a baseline.

        Raises:
            DataFileError: The file cannot be read, or is not a baseline.
        """
        content = read_json(file)
        listed = content.get("findings") if isinstance(content, dict) else None
        if not isinstance(listed, list) or content.get("version") != _VERSION:
            raise DataFileError(f"{file}: this is not a baseline: --update-baseline writes one")
        if not all(isinstance(f, dict) and isinstance(f.get("fingerprint"), str) for f in listed):
            raise DataFileError(f"{file}: a finding has no fingerprint")
        return cls(file, (f["fingerprint"] for f in listed))

    @property
    def gone(self) -> int:
        """The number of accepted findings that the run does not have any more."""
        return len(self._known) - self.met

    def unknown(self, results: Iterable[Judged]) -> Iterator[Judged]:
        """Yield the results that are valid or have a finding that is not accepted."""
        seen: Counter[str] = Counter()
        for result in results:
            if result.report.outcome is Outcome.VALID:
                yield result
                continue
            errors = [f for f in findings(result) if f.level is Level.ERROR]
            prints = {fingerprint(f, self._base, seen): f for f in errors}
            self._found |= prints
            self.met += len(self._known & prints.keys())
            if not prints or not prints.keys() <= self._known:
                yield result

    def text(self) -> str:
        """Return the file for the findings of the run, which has to be over."""
        found = [
            {"rule": f.rule.id, "file": relative_path(f.file, self._base), "fingerprint": mark}
            for mark, f in self._found.items()
        ]
        return json.dumps({"version": _VERSION, "findings": found}, indent=1) + "\n"
