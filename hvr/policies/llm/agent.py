"""Planning by tool calls: the model looks and acts in a predicted world until it ends the plan.

Nothing is executed and no file is written, because the tools work on the predicted world. The
model's budget of requests stops a model that never ends the plan.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hvr.errors import HvrError
from hvr.models.errors import ModelError
from hvr.models.model import Message, ModelTool, ModelToolCall, Request, count_tokens
from hvr.pddl import GroundAction
from hvr.planning.plans import AABlock, MacroAction, Plan
from hvr.planning.search.navigation import repair_navigation
from hvr.policies.llm.conditions import conjunction
from hvr.policies.llm.dialogue import MAX_TOKENS, numbered_steps
from hvr.policies.llm.mapper import ActionSet
from hvr.policies.llm.prediction import PredictedWorld, count_applicable
from hvr.policies.llm.record import BlockRecord, BlockWritten, PlanningRecord, Stopped
from hvr.policies.llm.repair import PlannerRepair, broken_constraints, constraints_in
from hvr.policies.llm.schemas import WorldForms, array, call_line, choice, phrase, record
from hvr.policies.llm.writing import Equipment, Writing, predicate_lines
from hvr.validation.report import explain_literal
from hvr.validation.validator import Validator

_log = logging.getLogger("hvr.models")  # whose notices reach the user

_MOST_LISTED = 40
"""Maximum number of actions, objects or facts in the result of a tool."""

_MOST_ACTIONS = 20
"""Maximum number of actions per call."""

_MOST_UNREADABLE = 3
"""Number of consecutive unreadable answers after which planning ends."""

_MOST_ALIKE = 3
"""Number of identical calls without a new step after which planning ends."""

_UNUSABLE = (HvrError, LookupError, TypeError, ValueError, AttributeError, OverflowError)
"""Errors caused by malformed arguments, which occur with servers that do not enforce schemas."""

_DO_ELSE = "Do something else, or call finish or give_up: the same call once more ends the plan."

MAX_PROMPT = 6_000
"""Estimated number of prompt tokens above which the oldest tool results are left out."""

_KEPT = 6
"""Number of latest turns that are always kept."""


class AgentWriting:
    """Writes one plan through tool calls; replaces `Writing` in the setting `AGENT`."""

    def __init__(
        self,
        equipment: Equipment,
        request: str,
        predicted: PredictedWorld,
        constraints: Sequence[str] = (),
    ) -> None:
        self.equipment = equipment
        self.request = request
        self.library_uses: list[str] = []
        self._predicted = predicted
        if constraints:
            predicted.keep(constraints_in(predicted.task, constraints))
        self._kept = predicted.kept
        self._start = predicted.state
        self._names = tuple(o.name for o in predicted.task.problem.objects)
        self._forms = WorldForms(ActionSet(predicted.task), predicted.nearness)
        self._bridge = PlannerRepair(equipment.planner)
        self._steps: tuple[GroundAction, ...] = ()
        self._from_planner = False
        self._ended = False
        self._warned = False
        self._unreadable = 0
        self._made: Counter[tuple[str, str, tuple[GroundAction, ...]]] = Counter()
        self._repeated = 0
        self._stopped: Stopped | None = None

    def write(self) -> PlanningRecord:
        """Return the plan with its record, which gives the reason if planning ended early."""
        started = time.perf_counter()
        messages = list(self._opening())
        missed = 0
        while not self._ended and missed < _MOST_UNREADABLE:
            request = self._request(messages)
            try:
                answer = self.equipment.model.answer(request)
            except ModelError as error:
                if error.kind != "schema":
                    raise
                missed += 1
                self._unreadable += 1
                continue
            if not answer.calls and answer.finish == "length":
                # The answer ended before its calls.
                missed += 1
                self._unreadable += 1
                continue
            missed = 0
            if not answer.calls:
                break
            messages.append(Message("assistant", answer.text, answer.calls))
            messages += self._results(answer.calls)
        if missed:
            self._stop("unreadable answer", f"{missed} answers of the model could not be read")
        self._predicted.state = self._start
        self.equipment.listen(BlockWritten(1, self.request, self._steps, "model"))
        return self._record(time.perf_counter() - started)

    def _record(self, seconds: float) -> PlanningRecord:
        macro = MacroAction(self.request)
        block = BlockRecord(
            macro=macro,
            written=self._steps,
            actions=self._steps,
            verified_before=True,
            verified_after=True,
            repaired=self._from_planner,
        )
        plan = Plan(
            (AABlock(macro, self._steps),), planner=self.equipment.model.name, seconds=seconds
        )
        return PlanningRecord(
            plan=plan,
            blocks=(block,),
            hierarchical=False,
            planner_calls=self._bridge.calls,
            planners=tuple(self._bridge.planners),
            unreadable=self._unreadable,
            repeated=self._repeated,
            stopped=self._stopped,
        )

    def _stop(self, kind: str, reason: str) -> None:
        self._ended, self._stopped = True, Stopped(kind, reason)
        _log.warning("the plan ends early: %s", reason)

    # Conversation -------------------------------------------------------------------------

    def _results(self, calls: Sequence[ModelToolCall]) -> Iterator[Message]:
        earlier = self._made.copy()
        for call in calls:
            if self._ended:
                break  # calls after `finish` must not change the plan
            made = (call.name, json.dumps(call.arguments, sort_keys=True), self._steps)
            # Count the calls of one answer once, since the model has not yet seen their results.
            times = self._made[made] = earlier[made] + 1
            result = self._result(call)
            if times > 1 and not self._ended:
                self._repeated += 1
                if times == _MOST_ALIKE:
                    again = f"the model repeated the call {call.name} without any effect"
                    self._stop("repeated call", again)
                result += f"\nThis call and this plan are as before. {_DO_ELSE}"
            yield Message("tool", result, call_id=call.id)

    def _opening(self) -> tuple[Message, ...]:
        predicted = self._predicted
        values = {
            "request": self.request,
            "objects": predicted.classes(self._names),
            "knowledge": "\n".join(predicted.usual(self.request, ())),
            "actions": predicted.actions(),
            "predicates": predicate_lines(predicted),
        }
        return self.equipment.prompts["agent"].fill(values)

    def _request(self, messages: Sequence[Message]) -> Request:
        request = Request(
            messages=tuple(messages),
            purpose="agent",
            tools=self._tools,
            temperature=self.equipment.temperature,
            max_tokens=MAX_TOKENS["agent"],
        )
        first = 2 if len(messages) > 1 and messages[0].role == "system" else 1
        dropped = first
        while count_tokens(request.messages) > MAX_PROMPT and len(messages) - dropped > _KEPT:
            dropped += 1
            # A result must follow its call.
            while len(messages) - dropped > _KEPT and messages[dropped].role == "tool":
                dropped += 1
            note = f"(Earlier calls are left out. The plan so far:\n{numbered_steps(self._steps)})"
            opening = (*messages[: first - 1], _with_note(messages[first - 1], note))
            request = replace(request, messages=(*opening, *messages[dropped:]))
        return request

    def _result(self, call: ModelToolCall) -> str:
        known = self._handlers.get(call.name)
        if known is None:
            return f"no tool named {call.name!r}; tools: {', '.join(self._handlers)}"
        try:
            return known(call.arguments)
        except _UNUSABLE as error:
            return f"{call.name}: the arguments cannot be used ({type(error).__name__}: {error})"

    # Tools --------------------------------------------------------------------------------

    @property
    def _tools(self) -> tuple[ModelTool, ...]:
        predicted = self._predicted
        objects = choice(sorted(self._names))
        domain = predicted.task.domain
        widest = max((len(a.parameters) for a in domain.actions.values()), default=0)
        longest = max((len(p.parameters) for p in domain.predicates.values()), default=0)
        listed = array(choice([*predicted.kinds, *sorted(self._names)]), 20, 1)
        call = record({"do": choice(domain.actions), "args": array(objects, widest)})
        fact = record(
            {
                "fact": choice(self._forms.fact_names(self._names)),
                "args": array(choice([*self._names, *self._constants]), longest),
                "holds": {"type": "boolean"},
            }
        )
        one_to_all = record({"count": {"type": "integer", "minimum": 1, "maximum": 200}})
        return (
            ModelTool(
                "look", "Describe objects, or all objects of a kind.", record({"names": listed})
            ),
            ModelTool(
                "actions", "List the possible actions that use an object.", record({"on": objects})
            ),
            ModelTool(
                "apply",
                "Add actions to the plan; missing moves are inserted. Stops at the first "
                "impossible action and says why.",
                record({"steps": array(call, _MOST_ACTIONS, 1)}),
            ),
            ModelTool("undo", "Remove the last actions of the plan.", one_to_all),
            ModelTool("validate", "Show the plan, and what it breaks.", record({})),
            ModelTool(
                "plan",
                "Let a planner add the shortest actions that make facts true or false.",
                record({"facts": array(fact, 8, 1)}),
            ),
            ModelTool("finish", "End: the plan carries out the task.", record({})),
            ModelTool(
                "give_up",
                "End: the task cannot be carried out here.",
                record({"reason": phrase(200)}),
            ),
        )

    @property
    def _constants(self) -> tuple[str, ...]:
        return tuple(c.name for c in self._predicted.task.domain.constants)

    @property
    def _handlers(self) -> Mapping[str, Callable[[Mapping[str, Any]], str]]:
        return {
            "look": self._look,
            "actions": self._possible,
            "apply": self._apply,
            "undo": self._undo,
            "validate": self._validate,
            "plan": self._plan,
            "finish": self._finish,
            "give_up": self._give_up,
        }

    def _look(self, given: Mapping[str, Any]) -> str:
        names = _of_kinds(self._predicted, [str(name) for name in given["names"]])
        shown = names[:_MOST_LISTED]
        text = self._predicted.objects(shown, contents=True, surfaces=True)
        return text + (f"\n… and {len(names) - len(shown)} more" if len(names) > len(shown) else "")

    def _possible(self, given: Mapping[str, Any]) -> str:
        predicted, name = self._predicted, str(given["on"])
        ways = self._forms.ways(predicted.state, self._names, predicted.navigation)
        calls = [call_line(action) for action in ways if name in action.args]
        more = f" … and {len(calls) - _MOST_LISTED} more" if len(calls) > _MOST_LISTED else ""
        return (
            " ".join(calls[:_MOST_LISTED]) + more if calls else f"no action is possible on {name}"
        )

    def _apply(self, given: Mapping[str, Any]) -> str:
        predicted = self._predicted
        done = 0
        # Read all steps before applying the first, so that an error means that none was applied.
        actions = [
            GroundAction(str(s["do"]), tuple(map(str, s.get("args", ())))) for s in given["steps"]
        ]
        for action in actions:
            way = repair_navigation(
                predicted.task, predicted.state, (action,), predicted.navigation
            )
            if count_applicable(predicted.task, predicted.state, way) < len(way):
                return f"{done} done. {call_line(action)} is impossible: {self._why(way)}"
            broken = broken_constraints(predicted.state, way, predicted.kept)
            if broken:
                return f"{done} done. {call_line(action)} breaks {broken[0][1]}"
            self._extend(way)
            done += 1
        return f"{done} done. The plan has {len(self._steps)} steps."

    def _why(self, way: Sequence[GroundAction]) -> str:
        validator = Validator(self._predicted.task, state=self._predicted.state)
        for action in way:
            failure = validator.apply(action).failure
            if failure is not None:
                literals = " ".join(explain_literal(x, "now") for x in failure.literals)
                return literals or failure.message
        return "it cannot follow the plan"

    def _undo(self, given: Mapping[str, Any]) -> str:
        count = max(1, int(given["count"]))
        self._replay(self._steps[:-count])
        return f"The plan has {len(self._steps)} steps."

    def _validate(self, given: Mapping[str, Any]) -> str:
        del given
        broken = broken_constraints(self._start, self._steps, self._kept)
        lines = [numbered_steps(self._steps)]
        lines += [f"step {number} breaks {constraint}" for number, constraint in broken]
        lines.append(self._changes())
        return "\n".join(lines)

    def _changes(self) -> str:
        before, after = self._start.atoms(), self._predicted.state.atoms()
        nearness = self._predicted.nearness
        now = sorted(str(a) for a in after - before if a.predicate not in nearness)
        gone = sorted(str(a) for a in before - after if a.predicate not in nearness)
        parts = [f"became true: {' '.join(now[:_MOST_LISTED])}"] if now else []
        parts += [f"became false: {' '.join(gone[:_MOST_LISTED])}"] if gone else []
        return "; ".join(parts) or "nothing has changed"

    def _plan(self, given: Mapping[str, Any]) -> str:
        predicted = self._predicted
        texts = []
        for fact in given["facts"]:
            atom = f"({' '.join([str(fact['fact']), *map(str, fact.get('args', ()))])})"
            texts.append(atom if fact.get("holds", True) else f"(not {atom})")
        goal = conjunction(predicted.task, texts)
        way = self._bridge.to(predicted.state, goal, predicted, kept=predicted.kept)
        if way is None:
            return "no plan was found for these facts"
        self._extend(way)
        self._from_planner = self._from_planner or bool(way)
        return f"Added:\n{numbered_steps(way)}" if way else "these facts hold already"

    def _finish(self, given: Mapping[str, Any]) -> str:
        del given
        if not self._steps and not self._warned:
            self._warned = True
            return "The plan is empty. Add actions, or call finish again if nothing is to be done."
        self._ended = True
        return "ended"

    def _give_up(self, given: Mapping[str, Any]) -> str:
        self._replay(())
        self._stop("gave up", f"the model gives up: {given.get('reason') or 'no reason given'}")
        return "ended"

    def _extend(self, way: Sequence[GroundAction]) -> None:
        self._predicted.advance(way)
        self._steps = (*self._steps, *way)

    def _replay(self, steps: Sequence[GroundAction]) -> None:
        predicted = self._predicted
        predicted.state = self._start
        predicted.keep(self._kept)
        self._steps = ()
        self._extend(steps)


def make_writing(
    equipment: Equipment, request: str, predicted: PredictedWorld, constraints: Sequence[str] = ()
) -> Writing | AgentWriting:
    """Return a plan writer for the equipment's settings; it respects the PDDL `constraints`."""
    kind = AgentWriting if equipment.settings.agent else Writing
    return kind(equipment, request, predicted, constraints)


def _with_note(message: Message, note: str) -> Message:
    return replace(message, text=f"{message.text}\n\n{note}")


def _of_kinds(predicted: PredictedWorld, names: Collection[str]) -> list[str]:
    chosen: dict[str, None] = {}
    kinds = {kind.lower() for kind in names if kind in predicted.kinds}
    for item in predicted.task.problem.objects:
        if item.name in names or item.types[0].lower() in kinds:
            chosen[item.name] = None
    return list(chosen)
