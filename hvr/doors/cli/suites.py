"""Which suite a command line and the settings of `hvr validate` mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hvr.errors import UsageError
from hvr.validation.findings import STDIN
from hvr.validation.suites import FIELDS, MANIFEST_ENDING, Suite
from hvr.validation.suites.collection import collect, is_folder, is_pattern, plans_of
from hvr.validation.suites.files import FileKind, definition


def find_suite(
    given: Sequence[str], settings: dict[str, Any], skip: Sequence[str], *, extract: bool = False
) -> Suite:
    """Return the suite that files and settings stand for.

    Where the domain is configured, the first file is still taken for the domain if it defines
    one, so that a complete command line means the same everywhere; likewise the problem.

    Raises:
        UsageError: a file is missing, or nothing is there to be validated.
        DataFileError: a folder or a manifest cannot be read.
    """
    if not given and settings.get("suites"):
        return collect(settings["suites"], skip, doubtful=extract)
    if not given and not any(name in settings for name in ("domain", "problem", "plans")):
        return collect(["."], skip, doubtful=extract)
    names = given or _list(settings.get("plans"))
    if names and all(name.endswith(MANIFEST_ENDING) and not is_folder(name) for name in names):
        from hvr.validation.suites.collection import read_manifest

        return _merged([read_manifest(name, skip) for name in names])
    if given and "domain" not in settings and _is_many(given[:2]):
        return collect(given, skip, doubtful=extract)
    domain, problem, plans = _files(given, settings)
    if _has_fields(domain, problem, *plans):
        from hvr.validation.suites.collection import expand_patterns

        return expand_patterns(domain, problem, plans, skip)
    if _is_many((domain, problem)) or _has_models(plans):
        return collect([domain, problem, *plans], skip, doubtful=extract)
    return plans_of(domain, problem, plans, skip, doubtful=extract)


def _defines(file: str, kind: FileKind) -> bool:
    model = definition(file)
    return model is not None and model.kind is kind


def _has_fields(*patterns: str) -> bool:
    return any(f"{{{field}}}" in pattern for pattern in patterns for field in FIELDS)


def _list(value: Any) -> list[str]:
    return list(value) if value else []


def _merged(suites: Sequence[Suite]) -> Suite:
    return Suite(
        tuple([job for suite in suites for job in suite.jobs]),
        skipped=tuple([file for suite in suites for file in suite.skipped]),
    )


def _is_many(names: Sequence[str]) -> bool:
    return any(is_folder(name) or (is_pattern(name) and not _has_fields(name)) for name in names)


def _has_models(names: Sequence[str]) -> bool:
    files = [n for n in names if n != STDIN and not is_folder(n) and not is_pattern(n)]
    if any(name.endswith(".pddl") and is_pattern(name) for name in names):
        return True
    return any(definition(file) is not None for file in files)


def _files(given: Sequence[str], settings: dict[str, Any]) -> tuple[str, str, list[str]]:
    """Tell the domain, the problem and the plans apart."""
    rest = list(given)
    models = []
    for kind in (FileKind.DOMAIN, FileKind.PROBLEM):
        configured = settings.get(kind)
        if configured is not None and not (rest and _defines(rest[0], kind)):
            models.append(configured)
        elif rest:
            models.append(rest.pop(0))
        else:
            raise UsageError(
                f"there is no {kind} file: hvr validate DOMAIN PROBLEM PLAN..., or a folder with "
                f"all of them, or set {str(kind)!r} under [tool.hvr.validate] in pyproject.toml"
            )
    plans = rest or _list(settings.get("plans"))
    if not plans:
        raise UsageError(
            "there is no plan: name plan files after the problem, or - for standard input"
        )
    return models[0], models[1], plans
