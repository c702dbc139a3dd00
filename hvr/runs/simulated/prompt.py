"""Parsing of prompts, and the objects that the simulated model learns from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from hvr.knowledge.wording import load_action_annotations
from hvr.models.errors import ModelError
from hvr.models.model import Request
from hvr.pddl import GroundAction
from hvr.policies.llm.answers import read_actions

# Parsed prompt ------------------------------------------------------------------------------------

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
    """An object listed in the section `Objects:`, with its uses, such as `picked up`."""

    name: str
    uses: frozenset[str] = frozenset()
    held: bool = False
    kind: str = ""

    @property
    def cls(self) -> str:
        """The class in the object's name, such as `mug`, or else the class in the prompt."""
        named = class_of(self.name)
        return named if named != self.name or not self.kind else self.kind


@dataclass(frozen=True)
class ParsedPrompt:
    """A parsed prompt: its sections by label, and the objects in the section `Objects:`."""

    sections: dict[str, str]
    listed: tuple[ListedObject, ...]

    @property
    def mentioned(self) -> frozenset[str]:
        """All object names in the section `Objects:`; the line `mug-1: on countertop-1` has two."""
        return frozenset(_NAME.findall(self.sections.get("Objects", "")))

    def __getitem__(self, label: str) -> str:
        """Return the text of a section; raise ModelError if the prompt has no such section."""
        if label not in self.sections:
            raise ModelError(
                f"the simulated model cannot find '{label}:' in the prompt; it only reads "
                "prompts with the labels of hvr's own prompts",
                kind="request",
            )
        return self.sections[label]

    @property
    def macro(self) -> str | None:
        return self.sections.get("Macro action")

    @property
    def kinds(self) -> tuple[str, ...]:
        text = self["Kinds of objects"]
        return tuple(dict.fromkeys(re.findall(r"[A-Za-z][\w-]*", text)))

    def macros(self, label: str) -> tuple[str, ...]:
        return tuple(_NUMBERED.findall(self[label]))

    @property
    def written(self) -> tuple[GroundAction, ...]:
        """The actions of the block that the prompt asks to correct."""
        actions = read_actions(f"Actions:\n{self['Actions that were written']}").actions
        return tuple(GroundAction(a.name, a.args) for a in actions)


def read_prompt(request: Request) -> ParsedPrompt:
    """Parse the last user message of a request."""
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
        # Task and objects come first in a prompt; of any other section, the last one counts.
        if label not in {"Objects", "Task"} or label not in sections:
            sections[label] = body.strip()
    return ParsedPrompt(sections, _objects(sections.get("Objects", "").splitlines()))


def class_of(name: str) -> str:
    """Return the class in a name, such as `mug` for `mug-1`."""
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
            uses.add(load_action_annotations().needs["on", 1])
        elif part.startswith("switched by "):
            uses.add("switched")
        uses.update(w for w in words if w in load_action_annotations().sorts)
    return frozenset(uses)


# Prompt objects -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PromptObjects:
    """The objects that the simulated model knows by name, and the candidates for confusion.

    Args:
        mentioned: All names in the section `Objects:`, also of places.
    """

    listed: tuple[ListedObject, ...]
    meant: frozenset[str]
    mentioned: frozenset[str] = frozenset()

    def knows(self, name: str) -> bool:
        """Return whether the prompt mentions an object; True for names that are not objects."""
        return (
            not self._is_object(name)
            or name in self.mentioned
            or any(o.name == name for o in self.listed)
        )

    def name_of(self, name: str) -> str:
        """Return the name that the model writes for an object of the ground truth."""
        if self.knows(name):
            return name
        same = [o.name for o in self.listed if o.cls == self._class(name)]
        spare = [n for n in same if n not in self.meant]
        return next(iter([*spare, *same]), f"{class_of(name)}-1")

    def names_of(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.name_of, names))

    def confused(self, name: str, what: str, place: int, rng: Random) -> str:
        """Draw an object to replace one at 0-based `place` of an action or predicate `what`.

        The object itself is among the candidates.
        """
        if not self._is_object(name):
            return name
        others = [o for o in self.listed if o.name != name]
        same = [o.name for o in others if o.cls == self._class(name)]
        mine = next((o.uses for o in self.listed if o.name == name), frozenset[str]())
        need = load_action_annotations().needs.get((what, place))
        fits = [o.name for o in others if (need in o.uses if need else mine & o.uses)]
        return rng.choice([name, *(same or fits)])

    def invented(self, name: str, rng: Random) -> str:
        """Draw the name of an object that does not exist, of the same or another class."""
        known = {o.name for o in self.listed} | self.mentioned | self.meant
        classes = {class_of(n) for n in known}
        numbers = [n for n in range(2, 100) if f"{class_of(name)}-{n}" not in known]
        things = [t for t in load_action_annotations().invented if t not in classes]
        same = f"{class_of(name)}-{rng.choice(numbers[:8])}"
        other = f"{rng.choice(things)}-{rng.randint(1, 3)}" if things else same
        return rng.choice((same, other)) if self._is_object(name) else other

    def _is_object(self, name: str) -> bool:
        return name.rsplit("-", 1)[-1].isdigit() or any(o.name == name for o in self.listed)

    def _class(self, name: str) -> str:
        return next((o.cls for o in self.listed if o.name == name), class_of(name))
