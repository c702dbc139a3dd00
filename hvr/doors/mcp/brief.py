"""Answers as a few lines of text, for agents that do not read structured content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from hvr.base.printable import printable
from hvr.validation.report import count

MOST = 2000
"""Maximum number of characters in a text."""
_SHOWN = 30

_Json: TypeAlias = Mapping[str, Any]


def brief(name: str, answer: _Json) -> str:
    """Return an answer as text of at most `MOST` characters, with the most important part first."""
    text = "\n".join(_LINES[name](answer))
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def brief_error(error: _Json) -> str:
    """Return an error as text: what is wrong, where, and the most similar known name."""
    rule = f" [{error['rule']}]" if error["rule"] else ""
    place = f"{error['file']}:{error['line']}:{error['column']}" if error["line"] else ""
    message = str(error["message"])
    at = f"{place}: " if place and place not in message else ""
    hint = error["suggestion"]
    near = f" Did you mean {hint!r}?" if hint and hint not in message else ""
    return printable(f"{error['error']}{rule}: {at}{message}{near}")[:MOST]


def _verdict(answer: _Json) -> Iterator[str]:
    yield from _report(answer)
    if (repair := answer["repair"]) is not None:
        yield f"Repair: {_repair(repair)}"
    elif answer["repair_note"]:
        yield f"No repair: {answer['repair_note']}"
    if (shorter := answer["minimised"]) is not None and shorter["removed"]:
        yield f"Redundant steps: {_listed(shorter['removed'])}"
    if "state" in answer:
        state = answer["state"]
        yield f"State after step {state['after_step']}: {_listed(state['atoms'])}"


def _report(report: _Json) -> Iterator[str]:
    cost = "" if report["cost"] is None else f", cost {report['cost']}"
    yield f"{report['outcome']}: {report['executed']} of {report['steps']} steps executed{cost}"
    if report["reason"]:
        yield report["reason"]
    for failure in report["failures"]:
        yield from _failure(failure)
    broken = [name for name, times in report["violated_preferences"].items() if times]
    if broken:
        yield f"Violated preferences: {_listed(broken)}"
    yield from report["notes"]


def _failure(failure: _Json) -> Iterator[str]:
    hint = failure["suggestion"]
    near = f" Did you mean {hint!r}?" if hint else ""
    yield f"{failure['message']}{near}{_at(failure['location'])}"
    for literal in failure["literals"]:
        by = literal["changed_by"]
        cause = "since the initial state"
        if literal["numbers"]:
            cause = ", ".join(f"{term} is {value}" for term, value in literal["numbers"].items())
        elif literal["fixed"]:
            cause = "and no action can change it"
        elif by is not None:
            cause = f"made so by step {by['number']} {by['action']}"
        needed, actual = ("true", "false") if literal["wanted"] else ("false", "true")
        place = _at(literal["location"])
        yield f"- {literal['formula']} must be {needed}; it is {actual}, {cause}{place}"


def _repair(repair: _Json) -> str:
    if repair["change"]:
        return str(repair["change"])
    where = f"before step {repair['before_step']}" if repair["before_step"] else "at the end"
    end = "the plan is then valid" if repair["completes"] else "this repairs only the first failure"
    return f"insert {' '.join(repair['insert'])} {where}; {end}"


def _explanation(answer: _Json) -> Iterator[str]:
    state = "can be executed" if answer["ok"] else "cannot be executed"
    yield f"Step {answer['step']} {answer['action']} {state}."
    if answer["failure"]:
        yield from _failure(answer["failure"])
    for one in answer["conditions"]:
        by = one["made_true_by"]
        maker = {None: "", 0: ", true from the beginning"}.get(by, f", by step {by}")
        yield f"needs {one['condition']}: {'holds' if one['holds'] else 'does not hold'}{maker}"
    for link in answer["links"]:
        needed = f"needed by step {_listed(link['needed_by'])}" if link["needed_by"] else "not used"
        undone = f", undone by step {link['undone_by']}" if link["undone_by"] else ""
        yield f"makes {link['literal']}: {needed}{undone}"


def _traced(answer: _Json) -> Iterator[str]:
    yield from _report(answer["report"])
    for one in answer["steps"]:
        time = "" if one["time"] is None else f" at {one['time']}"
        yield f"step {one['step']}{time} {one['action']}: {_changes(one) or 'no change'}"


def _findings(answer: _Json) -> Iterator[str]:
    yield count(len(answer["findings"]), "finding") if answer["findings"] else "nothing found"
    for one in answer["findings"]:
        yield f"{one['level']}: {one['message']} [{one['rule']}]{_at(one['location'])}"


def _solution(answer: _Json) -> Iterator[str]:
    if not answer["solved"]:
        yield f"No plan exists: proven by {answer['planner']}."
        return
    optimal = "proven optimal" if answer["proven"] else "not proven optimal"
    yield f"Valid plan of {count(len(answer['steps']), 'step')}, cost {answer['cost']}, {optimal}:"
    yield from answer["steps"]


def _repaired(answer: _Json) -> Iterator[str]:
    yield f"{answer['outcome']}: {answer['note'] or 'see the plan'}"
    if answer["repair"]:
        yield f"Repair: {_repair(answer['repair'])}"
    if answer["outcome"] in ("unrepaired", "partial"):
        yield from _report(answer["before"])
    yield from answer["plan"] or ()


def _shortened(answer: _Json) -> Iterator[str]:
    if answer["steps"] is None:
        yield "Only valid plans are shortened."
        yield from _report(answer["before"])
        return
    removed = answer["removed"]
    yield f"{count(len(removed), 'redundant step')}: {_listed(removed) or 'none'}"
    yield from answer["steps"]


def _critique(answer: _Json) -> Iterator[str]:
    proof = "proven" if answer["proven"] else "not proven"
    yield f"{answer['outcome']} ({proof}): {answer['unknown'] or ''}".rstrip(": ")
    for one in answer["critiques"]:
        yield f"step {one['step']}: {one['kind']} {_listed(one['actions'])}: {one['reason']}"
    if answer["repaired"] is not None:
        yield f"Repaired plan: {_listed(answer['repaired'])}"


def _run(answer: _Json) -> Iterator[str]:
    reached = answer["would_reach"] if answer["finished"] is None else answer["reached"]
    state = {True: "reaches the goal", False: "does not reach the goal", None: "was not judged"}
    yield f"The plan {state[reached]}. {answer['verdict']}".strip()
    yield f"Run: {answer['folder']}"
    yield f"Read as: {'; '.join(answer['reading'])}"
    for ready in answer["plans"][-1:]:
        for block in ready["plan"]["blocks"]:
            for one in block["actions"]:
                yield f"({' '.join((one['action'], *one['args']))})"


def _tools(answer: _Json) -> Iterator[str]:
    yield f"{answer['decision']}: {answer['why']}"
    if answer["ask"]:
        yield f"Ask the user for: {_listed(answer['ask'])}"
    if answer["calls"]:
        yield f"Calls: {_listed(answer['calls'])}"
    yield from (f"left out: {one}" for one in answer["left_out"])


def _session(answer: _Json) -> Iterator[str]:
    report = answer["report"]
    if report is not None and report["failure"]:
        yield from _failure(report["failure"])
    elif report is not None:
        yield f"Executed {report['action']}: {_changes(report) or 'no change'}"
    yield f"Session {answer['session']}, {count(len(answer['steps']), 'step')} so far."
    if answer["goal_reached"]:
        yield "The goal is reached."
    else:
        yield f"Unmet parts of the goal: {_listed(answer['missing'])}"


def _changes(report: _Json) -> str:
    return " ".join([f"+{a}" for a in report["added"]] + [f"-{a}" for a in report["deleted"]])


def _applicable(answer: _Json) -> Iterator[str]:
    yield f"{count(len(answer['actions']), 'action')}{'' if answer['complete'] else ', and more'}:"
    yield from answer["actions"]


def _closed(answer: _Json) -> Iterator[str]:
    yield f"Session {answer['session']} is closed."


def _at(place: _Json | None) -> str:
    return f" [{place['file']}:{place['line']}:{place['column']}]" if place else ""


def _listed(items: Any) -> str:
    shown = ", ".join(map(str, items[:_SHOWN]))
    return f"{shown}, and {len(items) - _SHOWN} more" if len(items) > _SHOWN else shown


_LINES: Mapping[str, Callable[[_Json], Iterator[str]]] = {
    "validate_plan": _verdict,
    "explain_step": _explanation,
    "trace_plan": _traced,
    "lint_model": _findings,
    "find_plan": _solution,
    "repair_plan": _repaired,
    "minimise_plan": _shortened,
    "judge_plan": _critique,
    "validate_decomposition": _verdict,
    "plan_request": _run,
    "plan_tools": _tools,
    "open_session": _session,
    "applicable_actions": _applicable,
    "apply_action": _session,
    "fork_session": _session,
    "close_session": _closed,
}
