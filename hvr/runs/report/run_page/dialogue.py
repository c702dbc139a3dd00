"""The dialogue that made a plan: what the model wrote, what the validator and planner did to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.texts import read_log
from hvr.models.transcript import NAME
from hvr.runs.report.markup import bullets, details, element, escaped, paragraph

_SPEAKERS = {
    "model": ("Model", "writes a block"),
    "correction": ("Model", "corrects the block"),
    "library": ("Library", "has a block that worked before"),
    "navigation": ("Navigation", "inserts missing moves"),
    "planner": ("Planner", "repairs the block"),
    "best": ("hvr", "goes back to the best block: the tries are spent"),
}
_MOST = 20_000
"""Characters of a prompt or an answer that the page shows."""


@dataclass(frozen=True)
class DialogueTurn:
    """A turn of the dialogue.

    Args:
        speaker: Who speaks or acts: the model, the validator, the planner, the library.
        title: What happens, in a few words.
        lines: What was written, a line each.
        problem: What is wrong; empty where nothing is.
        good: Whether a check passed; None for what is no check.
    """

    speaker: str
    title: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    good: bool | None = None


@dataclass(frozen=True)
class AskedModel:
    """A request to the model and its answer.

    Args:
        purpose: What the model was asked for.
        prompt: The messages.
        answer: Its answer; empty where it gave none.
        error: Why there is no answer.
    """

    purpose: str
    prompt: str
    answer: str
    error: str = ""


def turns_of(events: Iterable[Mapping[str, Any]]) -> tuple[DialogueTurn, ...]:
    """Return the turns of a trace, in order."""
    return tuple(turn for event in events for turn in _turns(event))


def _turns(event: Mapping[str, Any]) -> Iterator[DialogueTurn]:
    match event.get("event"):
        case "objects":
            unmatched = _texts(event.get("unmatched"))
            problem = f"nothing in the scene is called {', '.join(unmatched)}" if unmatched else ""
            names = (", ".join(_texts(event.get("names"))),)
            yield DialogueTurn("Model", "chooses objects", names, problem)
        case "macro-plan":
            yield DialogueTurn("Model", "writes macro actions", _texts(event.get("names")))
        case "conditions":
            yield DialogueTurn(
                "Model",
                "gives the macro actions conditions",
                tuple([_conditions(macro) for macro in event.get("macros") or ()]),
                "; ".join(_texts(event.get("dropped"))),
            )
        case "macro-check":
            yield _check(
                f"checks the macro actions: {event.get('verified')} of {event.get('total')} "
                "have preconditions that hold",
                event,
            )
        case "block":
            speaker, title = _SPEAKERS.get(str(event.get("source")), ("hvr", "changes the block"))
            unread = "; ".join(_texts(event.get("unmapped")))
            name = f"{title} for “{event.get('name')}”"
            yield DialogueTurn(speaker, name, _texts(event.get("actions")), unread)
        case "block-check":
            tries = f" (correction {event.get('attempt')} of {event.get('attempts')} at most)"
            yield _check(f"checks the block{tries if event.get('attempt') else ''}", event)
        case "left-out":
            yield DialogueTurn(
                "Validator", "leaves out needless steps", _texts(event.get("actions"))
            )
        case "judged":
            changed = [f"without {a}" for a in _texts(event.get("removed"))]
            changed += [f"with {a}" for a in _texts(event.get("inserted"))]
            yield DialogueTurn(
                "Judge", "judges the plan", tuple(changed), str(event.get("unmended") or "")
            )
        case "plan":
            validation = event.get("validation") or {}
            outcome = str(validation.get("outcome") or "not validated")
            yield DialogueTurn(
                "Validator", f"checks the whole plan: {outcome}", good=outcome == "valid"
            )


def _check(title: str, event: Mapping[str, Any]) -> DialogueTurn:
    problem = str(event.get("problem") or "")
    return DialogueTurn("Validator", title, (), problem, not problem)


def _conditions(macro: Mapping[str, Any]) -> str:
    before, after = (" ".join(_texts(macro.get(f"{when}condition"))) for when in ("pre", "post"))
    return f"{macro.get('name')}: before {before or 'nothing'}; after {after or 'nothing'}"


def asked_of(folder: Path) -> tuple[AskedModel, ...]:
    """Return what a run asked its model, as its transcript has it; none without a transcript.

    Raises:
        DataFileError: The transcript is damaged.
    """
    path = folder / NAME
    if not path.is_file():
        return ()
    return tuple(
        AskedModel(
            str(value["purpose"]),
            "\n\n".join(
                f"[{message.get('role')}]\n{message.get('text')}"
                for message in value.get("messages") or ()
                if isinstance(message, Mapping)
            ),
            _text_of(value.get("answer")),
            _text_of(value.get("error")),
        )
        for _, value in read_log(path)
        if isinstance(value, Mapping) and "purpose" in value
    )


def _text_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("text") or value.get("message") or "")
    return str(value or "")


def dialogue(turns: Iterable[DialogueTurn], asked: Iterable[AskedModel]) -> str:
    """Return the dialogue as markup; nothing where no model was asked."""
    asked = tuple(asked)
    if not asked:
        return ""
    items = (_item(turn) for turn in turns)
    exchanges = (
        details(
            f"{number}. {one.purpose.replace('_', ' ')}" + (": no answer" if one.error else ""),
            _whole("asked", one.prompt),
            _whole("answered", one.answer or one.error),
        )
        for number, one in enumerate(asked, 1)
    )
    return (
        element("ol", *items, class_="dialogue")
        + element("h3", escaped(f"All {len(asked)} prompts and answers, word for word"))
        + "".join(exchanges)
    )


def _item(turn: DialogueTurn) -> str:
    kind = {True: "good", False: "bad", None: "open"}[turn.good]
    mark = {True: " ✓", False: " ✗", None: ""}[turn.good]
    head = element(
        "p", element("strong", escaped(turn.speaker)), " ", escaped(turn.title),
        element("span", mark, class_="mark"), class_="title",
    )  # fmt: skip
    lines = [element("code", escaped(line)) for line in turn.lines if line]
    body = bullets(lines) if lines else ""
    problem = paragraph(turn.problem, "problem")
    return element("li", head, body, problem, class_=f"{kind} {turn.speaker.lower()}")


def _whole(title: str, text: str) -> str:
    shown = text if len(text) <= _MOST else f"{text[:_MOST]}\n… ({len(text)} characters)"
    return element("p", escaped(title), class_="note") + element("pre", escaped(shown))


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, values or ()))
