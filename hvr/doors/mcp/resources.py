"""Resources of the MCP server: rule pages, the PDDL table, scenes, saved runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from hvr.base.files import data_path
from hvr.base.printable import nearest, one_line, printable, short
from hvr.doors.files import ServedFolder
from hvr.errors import DataFileError, UsageError
from hvr.values import Value

SCHEME = "hvr://"
_MOST_RUNS = 100
_RUN_FILES = (".json", ".jsonl", ".pddl", ".ttl", ".txt", ".svg", ".html")


class ListedResource(Value):
    """A resource that can be read."""

    uri: str
    name: str
    description: str
    kind: str


_PAGE, _DATA = "text/markdown", "application/json"

TEMPLATES = (
    ListedResource(f"{SCHEME}rules/{{rule}}", "rule", "A rule of hvr, such as HVR101", _PAGE),
    ListedResource(f"{SCHEME}scenes/{{scene}}", "scene", "The objects of a scene", _DATA),
    ListedResource(f"{SCHEME}runs/{{run}}/{{file}}", "run", "A file of a saved run", "text/plain"),
)


class Resources:
    """The resources of the server; runs are below `runs` of the served folder."""

    def __init__(self, folder: ServedFolder) -> None:
        self._folder = folder

    def listed(self) -> Iterator[ListedResource]:
        """Yield the resources, the saved runs last."""
        yield ListedResource(f"{SCHEME}pddl", "pddl", "The parts of PDDL that hvr reads", _PAGE)
        yield ListedResource(f"{SCHEME}rules", "rules", "All rules of hvr", _PAGE)
        yield ListedResource(f"{SCHEME}scenes", "scenes", "Names of the household scenes", _DATA)
        for name in self._runs():
            yield ListedResource(
                f"{SCHEME}runs/{name}", f"run {printable(name)}", "Files of a saved run", _DATA
            )

    def read(self, uri: str) -> tuple[str, str]:
        """Return the text of a resource and its media type.

        Raises:
            DataFileError: The resource does not exist.
        """
        kind, *rest = uri.removeprefix(SCHEME).split("/")
        try:
            match kind, rest:
                case "pddl", []:
                    return _page("pddl.md"), _PAGE
                case "rules", []:
                    return _page("rules/README.md"), _PAGE
                case "rules", [rule]:
                    return _rule(rule), _PAGE
                case "scenes", []:
                    return json.dumps(list(_scenes())), _DATA
                case "scenes", [scene]:
                    return _scene(scene), _DATA
                case "runs", [run]:
                    return self._files(run), _DATA
                case "runs", [run, *path] if path:
                    return self._file(run, "/".join(path)), "text/plain"
        except OSError as error:
            raise DataFileError(f"cannot read {one_line(uri)}: {error.strerror}") from error
        known = ", ".join([one.uri for one in TEMPLATES] + [f"{SCHEME}pddl"])
        raise DataFileError(f"no resource {short(one_line(uri))}; expected one of {known}")

    def _runs(self) -> list[str]:
        runs = self._folder.path / "runs"
        if runs.is_symlink() or not runs.is_dir():
            return []
        names = [one.name for one in runs.iterdir() if one.is_dir() and not one.is_symlink()]
        return sorted(names, reverse=True)[:_MOST_RUNS]

    def _run(self, name: str) -> Path:
        if name not in self._runs():
            near = nearest(name, self._runs())
            hint = f"; did you mean {near!r}?" if near else ""
            raise DataFileError(f"no saved run {short(one_line(name), 60)!r}{hint}")
        return self._folder.path / "runs" / name

    def _files(self, run: str) -> str:
        folder = self._run(run)
        files = (path for path in folder.rglob("*") if path.suffix in _RUN_FILES)
        return json.dumps(sorted(str(path.relative_to(folder)) for path in files))

    def _file(self, run: str, name: str) -> str:
        self._run(run)
        if Path(name).suffix not in _RUN_FILES:
            raise DataFileError(f"expected a file that ends in {', '.join(_RUN_FILES)}")
        if self._folder.resolved(f"runs/{run}/{name}").parts[:2] != ("runs", run):
            raise DataFileError(f"{short(one_line(name))} is outside the run")
        return printable(self._folder.read(f"runs/{run}/{name}"))


def _page(name: str) -> str:
    return (data_path("docs/reference") / name).read_text(encoding="utf-8")


def _rule(name: str) -> str:
    from hvr.validation.findings import RULES

    if name not in RULES:
        near = nearest(name, RULES)
        hint = f"; did you mean {near!r}?" if near else ""
        raise DataFileError(f"no rule {short(one_line(name), 60)!r}{hint}")
    return _page(f"rules/{name}.md")


def _scenes() -> tuple[str, ...]:
    from hvr.worlds.scenes import scene_names

    return scene_names()


def _scene(name: str) -> str:
    from hvr.worlds.scenes import load_scene

    if name not in _scenes():
        near = nearest(name, _scenes())
        hint = f"; did you mean {near!r}?" if near else ""
        raise DataFileError(f"no scene {short(one_line(name), 60)!r}{hint}")
    kinds = sorted(one.object_type for one in load_scene(name).objects)
    return json.dumps({"scene": name, "objects": kinds})


# Prompts ------------------------------------------------------------------------------------------
# Prompts of the MCP server: workflows that end with a proof.


class PromptText(Value):
    """A prompt with its arguments: name and meaning of each."""

    name: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        """Return the prompt with its arguments, each marked as data.

        Raises:
            UsageError: An argument is missing or unknown.
        """
        for name in given:
            if name not in self.arguments:
                near = nearest(name, self.arguments)
                hint = f"; did you mean {near!r}?" if near else ""
                raise UsageError(f"{self.name} has no argument {name!r}{hint}")
        if missing := [name for name in self.arguments if not given.get(name, "").strip()]:
            raise UsageError(f"{self.name} needs the argument {missing[0]}")
        parts = [f"<{name}>\n{given[name]}\n</{name}>" for name in self.arguments]
        return "\n\n".join([self.text, *parts])


_MODEL = {
    "domain": "PDDL text of the domain, or the path of its file",
    "problem": "PDDL text of the problem, or the path of its file",
    "plan": "The plan, or the path of its file",
}

PROMPTS: Mapping[str, PromptText] = {
    one.name: one
    for one in (
        PromptText(
            "write_pddl",
            "Write a PDDL domain and problem for a description, checked and solved.",
            {"description": "What to plan, in words"},
            "Write a PDDL domain and problem for the description below. Read hvr://pddl for what "
            "is supported. Check both with lint_model and remove every error and warning that "
            "points at a mistake. Then call find_plan. If it proves that there is no plan, say "
            "which part of the model forbids one. Show the domain, the problem, and the plan "
            "with the words 'proven valid' only if find_plan returned one.",
        ),
        PromptText(
            "repair_loop",
            "Repair a plan until it is proven valid.",
            _MODEL,
            "Call validate_plan for the plan below. While it is invalid: read the first failure "
            "and who falsified its conditions, apply the suggested repair or one of your own, "
            "and validate again. repair_plan gives a repair with its proof. Stop after ten rounds "
            "and say what is still wrong. Show the final plan and its verdict.",
        ),
        PromptText(
            "critique",
            "Criticise a plan: wrong, redundant and missing steps, each with its evidence.",
            _MODEL,
            "Criticise the plan below. Call validate_plan, then judge_plan, then explain_step for "
            "each step that they criticise. For each criticism give the step, the reason and the "
            "evidence from the tools. Say which statements are proven and which are your opinion.",
        ),
    )
}
"""All prompts, by name."""
