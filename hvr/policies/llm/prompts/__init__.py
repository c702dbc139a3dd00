"""Prompt templates, one per file, which users can copy and change.

Each file contains a conversation: a line `[system]`, `[user]` or `[assistant]` begins a message,
and `$name` is a placeholder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import cast

from hvr.base.files import write_whole, writing
from hvr.base.texts import decode, read_bytes
from hvr.errors import DataFileError
from hvr.knowledge.world_file import load_world
from hvr.models.model import Message, Role

_STEPS = "request objects knowledge actions history"
_CORRECTION = "block problem attempt attempts"
_GOAL = "request predicates kinds knowledge liquids ends"
_VALUES = {
    "select": "request classes",
    "macro_plan": "request objects knowledge",
    "conditions": "request objects knowledge macros predicates",
    "correct_conditions": "request objects knowledge conditions predicates problem",
    "block": f"{_STEPS} macro wanted",
    "blocks": f"{_STEPS} macros",
    "correct_block": f"{_STEPS} macro wanted {_CORRECTION}",
    "plan": _STEPS,
    "correct_plan": f"{_STEPS} {_CORRECTION}",
    "goal": _GOAL,
    "correct_goal": f"{_GOAL} goal problem",
}
_MORE_VALUES = {
    "step": f"{_STEPS} macro wanted block",
    "agent": "request objects knowledge actions predicates",
}
NAMES: Mapping[str, frozenset[str]] = {
    name: frozenset(values.split()) for name, values in _VALUES.items()
}
"""The placeholders that each template can use."""

STRUCTURED_NAMES: Mapping[str, frozenset[str]] = {
    **NAMES,
    **{name: frozenset(values.split()) for name, values in _MORE_VALUES.items()},
}
"""As `NAMES`, with the templates that exist only for structured answers."""

DEFAULT_PROMPTS = Path(__file__).parent
"""Folder of the templates for any world, except for goals in JSON, which use a world's words."""

STRUCTURED = "structured"
"""Subfolder of shorter templates for answers in JSON."""

_TURN = re.compile(r"^\[(system|user|assistant)\][ \t]*\n", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """A template of a conversation with `$name` placeholders, and the SHA-256 of its file."""

    name: str
    turns: tuple[tuple[Role, str], ...]
    digest: str
    source: bytes

    def fill(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the conversation with all placeholders replaced."""
        return tuple(Message(role, Template(text).substitute(values)) for role, text in self.turns)


@dataclass(frozen=True)
class Prompts:
    """The prompt templates by name."""

    by_name: Mapping[str, Prompt]

    def __getitem__(self, name: str) -> Prompt:
        return self.by_name[name]

    @property
    def digests(self) -> dict[str, str]:
        return {name: prompt.digest for name, prompt in sorted(self.by_name.items())}

    def save(self, folder: Path) -> None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        for name, prompt in self.by_name.items():
            write_whole(folder / f"{name}.txt", prompt.source)


def load_prompts(
    folder: Path | None = None, *, world: Path | None = None, structured: bool = False
) -> Prompts:
    """Read the prompt templates: the user's, or else the world's, or else the default ones.

    Args:
        folder: Folder with the user's templates, if any.
        world: Folder with the world's templates; None for the default world.
        structured: Whether to read the templates for answers in JSON.

    Raises:
        DataFileError: A file cannot be read, has no messages, or uses an unknown placeholder.
    """
    of_world = load_world().prompts if world is None else world
    own = [of_world, DEFAULT_PROMPTS]
    if structured:
        own = [sub for one in own if one is not None and (sub := one / STRUCTURED).is_dir()]
    folders = [one for one in (folder, *own) if one is not None]
    for one in folders:
        _check_folder(one)
    by_name = {}
    for name in STRUCTURED_NAMES if structured else NAMES:
        paths = [path for one in folders if (path := one / f"{name}.txt").exists()]
        if paths:
            by_name[name] = _read(name, paths[0])
    return Prompts(by_name)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise DataFileError(f"no such prompt folder: {folder}")
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in STRUCTURED_NAMES:
            known = ", ".join(STRUCTURED_NAMES)
            raise DataFileError(f"{path}: no prompt has this name (names: {known})")


def _read(name: str, path: Path) -> Prompt:
    data = read_bytes(path)
    text = decode(data, str(path))
    parts = _TURN.split(text)
    turns = tuple(
        (cast(Role, role), body.strip("\n"))
        for role, body in zip(parts[1::2], parts[2::2], strict=True)
    )
    if parts[0].strip() or not turns or turns[-1][0] != "user":
        raise DataFileError(
            f"{path}: a prompt must begin with a line [system] or [user] and end with a [user] turn"
        )
    for _, body in turns:
        template = Template(body)
        unknown = set(template.get_identifiers()) - STRUCTURED_NAMES[name]
        if not template.is_valid() or unknown:
            what = f"'${min(unknown)}'" if unknown else "a '$' without a name ('$$' is a dollar)"
            raise DataFileError(
                f"{path}: {what} is not a placeholder (placeholders: "
                f"{', '.join('$' + n for n in sorted(STRUCTURED_NAMES[name]))})"
            )
    return Prompt(name, turns, hashlib.sha256(data).hexdigest(), data)
