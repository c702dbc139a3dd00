"""Results as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import hvr
from hvr.pddl import Location
from hvr.validation.baseline import fingerprint
from hvr.validation.findings import Finding, findings
from hvr.validation.judged import Judged
from hvr.validation.reporters import ReportOptions, relative_path
from hvr.validation.rules import RULES, Rule, help_url
from hvr.validation.sources import SourceLines

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give the log, in one chunk; a valid plan has no result in it."""
    writer = _Writer(options)
    for warning in options.warnings:
        writer.add(warning)
    for result in results:
        for warning in result.warnings:
            writer.add(warning)
        for finding in findings(result, limit=options.limit):
            writer.add(finding)
    yield json.dumps(writer.log(), ensure_ascii=False, indent=1) + "\n"


class _Writer:
    def __init__(self, options: ReportOptions) -> None:
        self._options = options
        self._sources = SourceLines()
        self._results: list[dict[str, Any]] = []
        self._seen: Counter[str] = Counter()
        self._places = {rule: index for index, rule in enumerate(RULES)}

    def add(self, finding: Finding) -> None:
        result: dict[str, Any] = {
            "ruleId": finding.rule.id,
            "ruleIndex": self._places[finding.rule.id],
            "level": finding.level.value,
            "message": {"text": finding.message},
            "locations": [self._location(finding.location, finding.file)],
            "partialFingerprints": {
                "hvrFinding/v1": fingerprint(finding, self._options.base, self._seen)
            },
        }
        if finding.related:
            result["relatedLocations"] = [
                {
                    "id": number,
                    **self._location(related.location, related.location.file),
                    "message": {"text": related.message},
                }
                for number, related in enumerate(finding.related, 1)
            ]
        self._results.append(result)

    def log(self) -> dict[str, Any]:
        driver = {
            "name": "hvr",
            "semanticVersion": hvr.__version__,
            "rules": [self._rule(rule) for rule in RULES.values()],
        }
        run = {
            "tool": {"driver": driver},
            # hvr counts characters, SARIF would count UTF-16 units.
            "columnKind": "unicodeCodePoints",
            "results": self._results,
        }
        return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}

    def _rule(self, rule: Rule) -> dict[str, Any]:
        page = help_url(rule, self._options.rules_url) if self._options.rules_url else ""
        words = rule.name.split("-")
        described: dict[str, Any] = {
            "id": rule.id,
            "name": "".join(word.capitalize() for word in words),
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": rule.summary},
            "help": {"text": f"{rule.summary} More: {page or help_url(rule)}"},
            "defaultConfiguration": {"level": rule.level.value},
        }
        if page:
            described["helpUri"] = page
        return described

    def _location(self, place: Location | None, file: str) -> dict[str, Any]:
        # Viewers want a region; what is about the file as a whole is shown at its beginning.
        region = {"startLine": 1}
        if place is not None:
            region = {"startLine": place.line, "startColumn": place.column}
            end = self._sources.end_column(place)
            if end is not None:
                region["endColumn"] = end
        return {
            "physicalLocation": {
                "artifactLocation": {"uri": self._uri(file)},
                "region": region,
            }
        }

    def _uri(self, file: str) -> str:
        path = relative_path(file, self._options.base)
        if path.startswith("/"):
            return "file://" + quote(path, errors="surrogateescape")
        if path[1:2] == ":":
            return "file:///" + quote(path, safe="/:")
        return quote(path, errors="surrogateescape")
