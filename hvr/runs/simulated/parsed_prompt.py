"""Parsing of prompts, from the last turn of the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hvr.knowledge.conduct import load_conduct
from hvr.models.errors import ModelError
from hvr.models.model import Request
from hvr.pddl import GroundAction
from hvr.policies.llm.answers import read_actions

_LABEL = re.compile(
    r"^(?P<label>Objects|Task|Done so far|Macro action|Macro actions|Actions that were written"
    r"|Macro actions and their conditions|What is known here|At the end|Meant are|Problem|Attempt"
    r"|Kinds of objects[^:\n]*):[ \t]*",
    re.MULTILINE,
)
_OBJECT = re.compile(r"(?P<name>[a-z0-9][\w-]*) \((?P<cls>[\w-]+)\)(?::\s*(?P<about>.*))?")
_NAME = re.compile(r"\b[a-z]\w*-\d+\b")
_HELD = re.compile(r"\b(?:held|holding|in the hand|in the robot's hand)\b")
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+(.+?)\s*$", re.MULTILINE)
_SAME = {"turned on": "switched"}


@dataclass(frozen=True)
class ListedObject:
    """A line of the section `Objects:`.

    Args:
        name: of the object.
        uses: its affordances in the words of the line: `picked up`, `opened`, `surface`.
        held: whether it is in the robot's hand.
        kind: the class as the line has it.
    """

    name: str
    uses: frozenset[str] = frozenset()
    held: bool = False
    kind: str = ""

    @property
    def cls(self) -> str:
        """The class as in names: `coffeemachine`; as the line has it where the name has none."""
        named = class_of(self.name)
        return named if named != self.name or not self.kind else self.kind


@dataclass(frozen=True)
class ParsedPrompt:
    """A parsed prompt.

    Args:
        sections: text by label.
        listed: the objects of the section `Objects:`, one a line.
    """

    sections: dict[str, str]
    listed: tuple[ListedObject, ...]

    @property
    def mentioned(self) -> frozenset[str]:
        """All names of objects in these lines: `mug-1 (Mug): on countertop-1` has two."""
        return frozenset(_NAME.findall(self.sections.get("Objects", "")))

    def __getitem__(self, label: str) -> str:
        """Return the text of a section.

        Raises:
            ModelError: the prompt has no such section.
        """
        if label not in self.sections:
            raise ModelError(
                f"the simulated model does not find '{label}:' in the prompt; it reads only "
                "prompts with the labels of hvr's own",
                kind="request",
            )
        return self.sections[label]

    @property
    def macro(self) -> str | None:
        """The macro action in question."""
        return self.sections.get("Macro action")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The classes to choose from."""
        text = self["Kinds of objects"]
        return tuple(dict.fromkeys(re.findall(r"[A-Za-z][\w-]*", text)))

    def macros(self, label: str) -> tuple[str, ...]:
        """Return the names of the numbered macro actions of a section."""
        return tuple(_NUMBERED.findall(self[label]))

    @property
    def written(self) -> tuple[GroundAction, ...]:
        """The actions that were written."""
        actions = read_actions(f"Actions:\n{self['Actions that were written']}").actions
        return tuple(GroundAction(a.name, a.args) for a in actions)


def read_prompt(request: Request) -> ParsedPrompt:
    """Read the last turn of a request."""
    text = next((m.text for m in reversed(request.messages) if m.role == "user"), "")
    marks = list(_LABEL.finditer(text))
    sections: dict[str, str] = {}
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=bool(marks)):
        label = mark["label"]
        label = "Kinds of objects" if label.startswith("Kinds") else label
        body = text[mark.end() : end].strip("\n")
        if label == "Kinds of objects":
            body = body.split("\n\n")[0]
        # Task and objects come first in a prompt; of other sections the last one counts.
        if label not in {"Objects", "Task"} or label not in sections:
            sections[label] = body.strip()
    return ParsedPrompt(sections, _objects(sections.get("Objects", "").splitlines()))


def class_of(name: str) -> str:
    """Return the class in a name: `mug` of `mug-1`."""
    return name.rsplit("-", 1)[0]


def _objects(lines: Sequence[str]) -> tuple[ListedObject, ...]:
    matches = (match for line in lines if (match := _OBJECT.fullmatch(line.strip())))
    return tuple(
        ListedObject(
            match["name"],
            _uses(match["about"] or ""),
            bool(_HELD.search(match["about"] or "")),
            match["cls"],
        )
        for match in matches
    )


def _uses(about: str) -> frozenset[str]:
    uses: set[str] = set()
    for part in (p.strip() for p in about.split(";")):
        words = [w.strip() for w in part.removeprefix("can be ").split(",")]
        words = [_SAME.get(w, w.removeprefix("a ")) for w in words]
        if part.startswith("can be "):
            uses.update(words)
        elif part.startswith("takes one "):
            uses.add(load_conduct().needs["on", 1])
        elif part.startswith("switched by "):
            uses.add("switched")
        uses.update(w for w in words if w in load_conduct().sorts)
    return frozenset(uses)
