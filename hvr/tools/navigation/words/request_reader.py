"""A reader of requests that needs no language model.

Each order or question leads to at most one goal call. A writing call requires a matching verb, a
clear lead over all other tools, and a reading that explains every word of the clause. Otherwise,
hvr asks the user.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hvr.base.printable import one_line, short
from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema, quoted
from hvr.tools.catalogue.schema_matching import ParameterMeaning
from hvr.tools.navigation.binding import QuestionKind, UserQuestion
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.entity_linking import names_entity
from hvr.tools.navigation.request import (
    Argument,
    EntityQuery,
    GoalCall,
    NamedValue,
    ToolRequest,
    open_argument,
)
from hvr.tools.navigation.words.arguments import (
    MIN_FORM_SCORE,
    REASON_STEMS,
    ReadCall,
    RequestContext,
)
from hvr.tools.navigation.words.clauses import (
    Mood,
    RequestClause,
    clauses_of,
    each_part,
    each_value,
)
from hvr.tools.navigation.words.english import (
    ADVERBS,
    DETERMINERS,
    ORDINALS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    RESTRICTIONS,
    stem,
    stems_of,
)
from hvr.tools.navigation.words.kinds import ValueKind, kind_of, value_compatibility
from hvr.tools.navigation.words.lexer import Token, ValueForm, ValueSpan
from hvr.tools.navigation.words.reading import ReadRequest, ReadValue
from hvr.tools.navigation.words.references import reference_of, refers_back
from hvr.tools.navigation.words.tool_choice import (
    MIN_COSINE,
    ClauseVerb,
    Encoder,
    ToolChooser,
    ToolEvidence,
    verb_of,
)
from hvr.tools.navigation.words.value_names import ValueNames
from hvr.tools.navigation.words.vocabulary import (
    SAME_VERB,
    SIMILAR_VERB,
    is_content,
    is_known,
    verbs_of_tools,
)

# Request reader -----------------------------------------------------------------------------------

MARGIN = 0.3
"""Lead in score (at most 6.5) that a writing tool needs over every other tool."""
_LIKELY = 12
"""Number of best tools whose calls may be completed from other clauses."""
MIN_COVERED_SHARE = 0.5
"""Share of covered words above which a call that takes every value counts as likely."""
MAX_CHOICES = 4
"""Maximum number of tools offered in a question."""


@dataclass
class _ClauseGoal:
    """The goal call of a clause, or a question; `spans` are values that the call does not take."""

    clause: RequestClause
    tools: tuple[ToolSchema, ...] = ()
    call: ReadCall | None = None
    queries: dict[str, EntityQuery] = field(default_factory=dict)
    question: UserQuestion | None = None
    unread: tuple[str, ...] = ()
    spans: tuple[ValueSpan, ...] = ()


class RequestReader:
    def __init__(
        self, catalogue: Catalogue, meanings: Sequence[ParameterMeaning], encode: Encoder
    ) -> None:
        self._catalogue = catalogue
        self._chooser = ToolChooser(catalogue, encode)
        self._verbs = verbs_of_tools(catalogue)
        self._names = ValueNames(catalogue, meanings)
        self._readers = [tool for tool in catalogue.tools if tool.effect is Effect.READS]

    def read(self, text: str, tool: str = "") -> ReadRequest:
        clauses = clauses_of(text, self._verbs)
        goals: list[_ClauseGoal] = []
        facts = [span for c in clauses if c.mood is Mood.STATEMENT for span in c.spans]
        reasons = [c for c in clauses if c.mood is Mood.STATEMENT]
        for number, said in enumerate(clauses):
            if said.mood in (Mood.ORDER, Mood.QUESTION, Mood.CONDITIONAL):
                clause = _resolved(said, clauses[:number])
                goal = self._goal(clause, text, tool, goals, facts, reasons)
                shares = self._shares(clause, goal)
                each = [self._goal(one, text, tool, goals, facts, reasons) for one in shares]
                calls = [one.call for one in each if one.call is not None and not one.question]
                same = len({call.tool.name for call in calls}) == 1
                goals += each if same and len(calls) == len(each) else [goal]
        if not goals:
            forbidden = any(clause.mood is Mood.FORBIDDEN for clause in clauses)
            why = (
                "The request only forbids something."
                if forbidden
                else "The request contains no order or question."
            )
            return ReadRequest(None, why, move=NextMove.ANSWER)
        return self._composed(_merged(goals), text, facts, _afterthoughts(clauses))

    def _shares(self, clause: RequestClause, goal: _ClauseGoal) -> list[RequestClause]:
        """Return one clause per value if a clause lists several values, and none if it does not."""
        takes = {p.name: p for p in goal.call.tool.takes} if goal.call is not None else {}
        for value in goal.call.values if goal.call is not None else ():
            parameter = takes[value.name]
            single = kind_of(parameter) is not ValueKind.TEXT and not parameter.is_list
            worded = single and value.form == ValueForm.PHRASE.value
            parts = each_part(clause, value.text) if worded else []
            if len(parts) > 1:
                return parts
        said = [json.loads(c) for tool in goal.tools[:1] for p in tool.takes for c in p.choices]
        choices = {stem(word) for word in said if isinstance(word, str)}
        open_ = goal.question is not None or goal.spans or (goal.call and goal.call.open())
        return each_value(clause, choices) if open_ else []

    def _goal(
        self,
        clause: RequestClause,
        text: str,
        only: str,
        before: Sequence[_ClauseGoal],
        facts: Sequence[ValueSpan],
        reasons: Sequence[RequestClause],
    ) -> _ClauseGoal:
        verb = verb_of(clause)
        about = () if before else tuple(token for one in reasons for token in one.tokens)
        ranked = self._chooser.rank(clause, verb, RequestContext(text, tuple(facts), about))
        ranked = [one for one in ranked if only in ("", one.tool.name)]
        for one in ranked[:_LIKELY]:
            self._complete(one.call, clause, before, facts, reasons)
        ranked = sorted(
            ranked[:_LIKELY], key=lambda one: -(one.score + _completed(one.call, clause))
        )
        related = [one for one in ranked if only or self._related(one, clause, verb)]
        related = _best_suited(related, clause) or self._only_reader(ranked, clause)
        # Without a related tool, the clause has no goal, and FIND or a question follows.
        if not related:
            return _ClauseGoal(clause, unread=_words(clause))
        best = related[0]
        near = [one for one in related[1:] if _score(one, clause) + MARGIN > _score(best, clause)]
        tools = tuple(one.tool for one in [best, *near][:MAX_CHOICES])
        goal = _ClauseGoal(clause, tools, best.call)
        goal.queries, used, unknown = self._references(best, clause)
        best.call.used |= used
        goal.unread = self._unread(best, clause, verb)
        goal.spans = tuple(
            span
            for span in clause.spans
            if span.start not in best.call.used and span.start not in clause.borrowed
        )
        goal.question = self._doubt(goal, best, verb, tuple(near), unknown, only=bool(only))
        if goal.question is not None:
            goal.call = None
        return goal

    def _only_reader(
        self, ranked: Sequence[ToolEvidence], clause: RequestClause
    ) -> list[ToolEvidence]:
        """Return the only query that takes all values of a question, such as "is db-1 running?"."""
        if clause.mood is not Mood.QUESTION or clause.fragment or not clause.spans:
            return []
        takes = [
            one
            for one in ranked
            if one.call.arguments
            and not one.call.open()
            and all(span.start in one.call.used for span in clause.spans)
        ]
        if all(span.form in (ValueForm.NAME, ValueForm.NUMBER) for span in clause.spans):
            takes = [one for one in takes if one.nouns >= MIN_COVERED_SHARE]
        return takes if len(takes) == 1 else []

    def _doubt(
        self,
        goal: _ClauseGoal,
        best: ToolEvidence,
        verb: ClauseVerb,
        near: Sequence[ToolEvidence],
        unknown: str,
        *,
        only: bool,
    ) -> UserQuestion | None:
        clause, writes = goal.clause, best.tool.effect is not Effect.READS
        # An order with an unknown verb may ask for anything.
        unsure = best.verb < SIMILAR_VERB and not only and (writes or bool(verb.stem))
        # "Delete O-11" does not ask to delete the customer of this order.
        other = writes and bool(goal.queries) and bool(goal.spans) and not best.nouns
        ignored = not writes and not only and (self._unknown_verb(clause, best) or _quotes(goal))
        if unsure or (writes and near) or (other and clause.mood is Mood.ORDER) or ignored:
            return _which(goal.tools, f"it is unclear which tool {_cited(clause)} asks for")
        if clause.mood is Mood.CONDITIONAL and writes:
            why = f"{_cited(clause)} depends on a condition or is one of several alternatives"
        elif writes and (lost := self._lost(goal)):
            why = f"{', '.join(map(quoted, lost))} of the request could not be understood"
        elif unknown:
            why = f"no result is known to have a property for {quoted(unknown)}"
            return UserQuestion(QuestionKind.MISSING, 0, unknown, why)
        else:
            return None
        return UserQuestion(QuestionKind.CONFIRM, 0, "tool", why, _listed(goal.tools[:1]))

    def _unknown_verb(self, clause: RequestClause, best: ToolEvidence) -> bool:
        first = clause.tokens[0]
        if clause.mood is not Mood.QUESTION or not clause.fragment or not is_content(first):
            return False
        follows = clause.tokens[1] if len(clause.tokens) > 1 else None
        thing = follows is not None and (
            follows.span is not None or follows.is_word or follows.text == "-"
        )
        known = self._chooser.vocabulary.of[best.tool.name].all
        return thing and first.lower not in ORDINALS and stem(first.lower) not in known

    def _lost(self, goal: _ClauseGoal) -> tuple[str, ...]:
        return (*goal.unread, *(() if goal.queries else (span.text for span in goal.spans)))

    def _complete(
        self,
        call: ReadCall,
        clause: RequestClause,
        before: Sequence[_ClauseGoal],
        facts: Sequence[ValueSpan],
        reasons: Sequence[RequestClause],
    ) -> None:
        _same_as_before(call, clause, before)
        nouns = stems_of(call.tool.name)
        for parameter in call.open():
            back = refers_back(clause, parameter)
            reads = call.tool.effect is Effect.READS
            context = not stems_of(parameter.name) & nouns
            if back or reads or context:
                value, text = _from_calls(parameter, before)
                if value is None and (back or reads):
                    value, text = _from_spans(parameter, [s for g in before for s in g.spans])
                if value is not None:
                    call.put(parameter, value, text, "said before")
                    continue
            value, text = self._named(parameter, call.tool, facts, reasons)
            if value is None:
                value, text = _from_spans(parameter, facts)
            if value is None and reads:
                value, text = _in_order(parameter, call, facts)
            if value is not None:
                call.put(parameter, value, text, "said beside")
            elif stems_of(parameter.name) & REASON_STEMS:
                self._reason(call, parameter, reasons)

    def _related(self, one: ToolEvidence, clause: RequestClause, verb: ClauseVerb) -> bool:
        if verb.stem and is_known(verb.stem) and one.verb < SIMILAR_VERB:
            return False
        words = [t for t in _content(clause, verb) if t.start not in one.call.used]
        own = self._chooser.vocabulary.of[one.tool.name]
        shared = [t for t in words if own.has(stem(t.lower))]
        named = one.nouns > 0 or not words
        if shared and len(shared) < len(words):
            # "Who wrote it?" does not ask for a tool merely because the tool has a "name"
            # parameter.
            named = any(t.lower not in QUESTION_WORDS - {"where", "when"} for t in shared)
        loose = [span for span in clause.spans if span.start not in one.call.used]
        valued = bool(one.call.arguments) and not one.call.open() and not loose
        likely = (
            one.verb >= SIMILAR_VERB
            or one.meaning >= MIN_COSINE
            or (valued and one.nouns >= MIN_COVERED_SHARE)
        )
        if any(s.form is ValueForm.ID and one.call.quality.get(s.start) == 1 for s in clause.spans):
            named = named or (valued and clause.mood is Mood.QUESTION)
            likely = likely or valued
        return likely and (
            named or (one.verb >= SAME_VERB and (valued or one.meaning >= MIN_COSINE))
        )

    def _named(
        self,
        parameter: ToolParameter,
        tool: ToolSchema,
        facts: Sequence[ValueSpan],
        statements: Sequence[RequestClause],
    ) -> tuple[Json, str]:
        called = self._names.of(tool.name, parameter.name)
        found = {}
        for clause in statements:
            for span in clause.spans:
                one = self._names.named(span, clause) if span in facts else None
                if (
                    one is not None
                    and one.name == called
                    and value_compatibility(span, parameter)[0]
                ):
                    found[json.dumps(one.value)] = (
                        value_compatibility(span, parameter)[1],
                        span.text,
                    )
        return next(iter(found.values())) if len(found) == 1 else (None, "")

    def _reason(
        self, call: ReadCall, parameter: ToolParameter, reasons: Sequence[RequestClause]
    ) -> None:
        said = [clause.text for clause in reasons if clause.opener in ("because", "since", "as")]
        if len(said) == 1:
            call.put(parameter, said[0], said[0], "reason")

    def _references(
        self, best: ToolEvidence, clause: RequestClause
    ) -> tuple[dict[str, EntityQuery], set[int], str]:
        queries: dict[str, EntityQuery] = {}
        used: set[int] = set()
        for parameter in best.call.open():
            if names_entity(parameter.name, parameter, self._readers):
                reference = reference_of(clause, parameter, self._catalogue)
                queries[parameter.name] = reference.query
                used |= reference.used
                if reference.unknown:
                    return queries, used, reference.unknown
        return queries, used, ""

    def _unread(
        self, best: ToolEvidence, clause: RequestClause, verb: ClauseVerb
    ) -> tuple[str, ...]:
        own = self._chooser.vocabulary.of[best.tool.name]
        plural = any(p.is_list for p in best.tool.takes)
        found = []
        for index, token in enumerate(clause.tokens):
            if _qualifies(clause.tokens, index):
                found.append(token.text)
                continue
            if not token.is_word or token.start in best.call.used | verb.places:
                continue
            word = token.lower
            before = clause.tokens[index - 1] if index else None
            if word == "s" and before is not None and before.span is not None:
                continue  # "today's"
            if word in ("and", "or") and _joins_noun(clause.tokens[index + 1 :]):
                found.append(" ".join(t.text for t in clause.tokens[index : index + 3]))
            if (word in ("all", "every", "each", "both") and not plural) or word in RESTRICTIONS:
                found.append(token.text)
            elif is_content(token) and not own.has(stem(word)):
                beside = clause.tokens[max(0, index - 2) : index + 3]
                named = any(other.span is not None for other in beside)
                if not (named and stem(word) in self._chooser.vocabulary.all):
                    found.append(token.text)
        return tuple(found)

    def _composed(
        self,
        goals: Sequence[_ClauseGoal],
        text: str,
        facts: Sequence[ValueSpan],
        doubtful: Sequence[RequestClause],
    ) -> ReadRequest:
        tools = tuple(dict.fromkeys(tool.name for goal in goals for tool in goal.tools))
        unread = tuple(dict.fromkeys(word for goal in goals for word in goal.unread))
        questions = [goal.question for goal in goals if goal.question is not None]
        served = [goal for goal in goals if goal.call is not None]
        lost = [goal for goal in goals if goal.call is None and goal.question is None]
        if not served and not questions:
            said = ", ".join(map(quoted, unread))
            why = f"No tool fits the request{f' (not understood: {said})' if said else ''}."
            return ReadRequest(None, why, move=NextMove.FIND, unread=unread)
        writes = any(goal.call.tool.effect is not Effect.READS for goal in served if goal.call)
        orders = [
            goal.clause for goal in lost if goal.clause.mood is Mood.ORDER or goal.clause.spans
        ]
        if writes and (unclear := [*orders, *doubtful]):
            why = f"{_cited(unclear[0])} is not understood"
            names = tuple(goal.call.tool for goal in served if goal.call)
            questions.append(UserQuestion(QuestionKind.CONFIRM, 0, "tool", why, _listed(names)))
        values = tuple(value for goal in served if goal.call for value in goal.call.values)
        if questions:
            why = f"{'; '.join(question.why for question in questions)}."
            return ReadRequest(
                None,
                f"{why[0].upper()}{why[1:]}",
                tools,
                NextMove.ASK,
                tuple(questions),
                values,
                unread,
            )
        return self._request(served, text, facts, tools, unread)

    def _request(
        self,
        served: Sequence[_ClauseGoal],
        text: str,
        facts: Sequence[ValueSpan],
        tools: tuple[str, ...],
        unread: tuple[str, ...],
    ) -> ReadRequest:
        calls: list[GoalCall] = []
        values: list[ReadValue] = []
        said: dict[int, ReadValue] = {}
        questions: list[UserQuestion] = []
        several = len(served) > 1
        used = {start for goal in served if goal.call for start in goal.call.used}
        taken = {value.text for goal in served if goal.call for value in goal.call.values}
        loose = [span for span in facts if span.start not in used and span.text not in taken]
        for number, goal in enumerate(served):
            assert goal.call is not None
            beside = [self._names.named(span, goal.clause) for span in goal.spans]
            named = [one for one in beside if one is not None]
            constraints = tuple(NamedValue(one.name, one.value) for one in named)
            order = [p.name for p in goal.call.tool.takes]
            arguments: dict[str, Argument] = {
                name: goal.call.arguments[name] for name in order if name in goal.call.arguments
            }
            for parameter in goal.call.open():
                query = goal.queries.get(parameter.name, EntityQuery())
                if several and parameter.name in goal.queries:
                    query = EntityQuery(constraints, query.selection, query.every)
                arguments[parameter.name] = open_argument(parameter, query)
                found = parameter.name in goal.queries and (
                    constraints or loose or query.every or query.selection
                )
                if not found:
                    tool = quoted(goal.call.tool.name)
                    why = f"{tool} needs it, but the request does not state it"
                    questions.append(
                        UserQuestion(QuestionKind.MISSING, number, parameter.name, why)
                    )
            calls.append(GoalCall(goal.call.tool.name, arguments))
            values += [*goal.call.values, *named]
            if not several or not goal.queries:
                said |= {
                    span.start: one
                    for span, one in zip(goal.spans, beside, strict=True)
                    if one is not None
                }
        bound = {value for goal in served if goal.call for value in goal.call.values}
        alone = _stated_once(values) if several else []
        said |= {-1 - n: one for n, one in enumerate(alone) if one not in bound}
        for span in loose:
            if (one := self._names.named(span, None)) is not None and one.name:
                said[span.start] = one
                values.append(one)
        facts_said = tuple(NamedValue(one.name, one.value) for one in said.values())
        request = ToolRequest(tuple(calls), facts_said, ordered=True, text=text)
        why = _explained(calls, values, unread)
        return ReadRequest(request, why, tools, None, tuple(questions), tuple(values), unread)


def _stated_once(values: Iterable[ReadValue]) -> list[ReadValue]:
    stated: dict[str, dict[str, ReadValue]] = {}
    for one in values:
        stated.setdefault(one.name, {})[json.dumps(one.value)] = one
    return [next(iter(ones.values())) for name, ones in stated.items() if name and len(ones) == 1]


def _afterthoughts(clauses: Sequence[RequestClause]) -> list[RequestClause]:
    first = next((n for n, one in enumerate(clauses) if one.mood is Mood.ORDER), len(clauses))
    return [clause for clause in clauses[first:] if clause.fragment]


def _score(one: ToolEvidence, clause: RequestClause) -> float:
    return one.score + _completed(one.call, clause)


def _best_suited(related: Sequence[ToolEvidence], clause: RequestClause) -> list[ToolEvidence]:
    named = [o for o in related if o.verb >= SAME_VERB and o.tool.effect is not Effect.READS]
    if named:
        # "Return Emma" returns a book, even if a query "returns" results.
        fit = max(one.fit for one in named)
        related = [
            one
            for one in related
            if one.verb >= SAME_VERB or (one.tool.effect is not Effect.READS and one.fit > fit)
        ]
    # Prefer a tool that takes the stated values.
    takes = [one for one in related if any(s.start in one.call.used for s in clause.spans)]
    most = max((one.verb for one in takes), default=0.0)
    return [one for one in related if one in takes or one.verb > most]


def _completed(call: ReadCall, clause: RequestClause) -> float:
    needed = [p for p in call.tool.takes if p.required]
    later = sum(value.form in ("said before", "said beside", "reason") for value in call.values)
    weight = 1.0 if any(token.lower in PRONOUNS for token in clause.tokens) else 0.5
    return weight * later / len(needed) if needed else 0.0


def _same_as_before(call: ReadCall, clause: RequestClause, before: Sequence[_ClauseGoal]) -> None:
    lent = {t.text for t in clause.tokens if t.start in clause.borrowed}
    for number, said in enumerate(call.values):
        parameter = next(p for p in call.tool.takes if p.name == said.name)
        value, text = _from_calls(parameter, before) if said.text in lent else (None, "")
        if value is not None and not parameter.is_list:
            call.arguments[said.name] = value
            call.values[number] = ReadValue(said.name, value, text, "said before")


def _from_calls(parameter: ToolParameter, before: Sequence[_ClauseGoal]) -> tuple[Json, str]:
    for goal in reversed(before):
        if goal.call is not None and parameter.name in goal.call.arguments:
            value = goal.call.arguments[parameter.name]
            return value, json.dumps(value, ensure_ascii=False)
    return None, ""


def _from_spans(parameter: ToolParameter, spans: Iterable[ValueSpan]) -> tuple[Json, str]:
    if kind_of(parameter) in (ValueKind.NUMBER, ValueKind.TEXT, ValueKind.ANY):
        return None, ""
    found = {}
    for span in spans:
        fits, value = value_compatibility(span, parameter)
        if fits >= MIN_FORM_SCORE:
            found[json.dumps(value)] = value, span.text
    if len(found) != 1:
        return None, ""
    return next(iter(found.values()))


def _resolved(clause: RequestClause, before: Sequence[RequestClause]) -> RequestClause:
    """Replace "it", or complete "its", by the only value of the last clause that states a value."""
    said = next((one.spans for one in reversed(before) if one.spans), ())
    if len(said) == 1 and any(t.lower in ("its", "his", "her", "their") for t in clause.tokens):
        # "Show its status" asks for the status of the value named earlier.
        end = clause.tokens[-1].start + len(clause.tokens[-1].text)
        owner = Token(said[0].text, end + 1, replace(said[0], start=end + 1))
        owned = (*clause.tokens, Token("of", end), owner)
        return replace(clause, tokens=owned, borrowed=frozenset([end + 1]))
    if len(said) != 1 or (clause.spans and not _object_pronoun(clause)):
        return clause
    tokens = [
        replace(token, text=said[0].text, span=replace(said[0], start=token.start))
        if token.lower in _BACK and _alone(clause.tokens, index)
        else token
        for index, token in enumerate(clause.tokens)
    ]
    borrowed = frozenset(t.start for t in tokens if t.span is not None) - {
        t.start for t in clause.tokens if t.span is not None
    }
    return replace(clause, tokens=tuple(tokens), borrowed=borrowed)


_BACK = frozenset(["it", "that", "this", "them", "those", "these"])


def _quotes(goal: _ClauseGoal) -> bool:
    left = any(span.form is ValueForm.QUOTED for span in goal.spans)
    return left and not goal.queries and (goal.clause.mood is Mood.ORDER or goal.clause.fragment)


def _object_pronoun(clause: RequestClause) -> bool:
    return any(
        token.lower in _BACK and _alone(clause.tokens, index)
        for index, token in enumerate(clause.tokens)
    )


def _alone(tokens: Sequence[Token], index: int) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return index > 0 and (
        following is None or not following.is_word or following.lower in PREPOSITIONS | ADVERBS
    )


_BOUNDS = frozenset("about around over under above below near up".split())


def _qualifies(tokens: Sequence[Token], index: int) -> bool:
    word, before = tokens[index].lower, tokens[index - 1].lower if index else ""
    after = tokens[index + 1 :]
    if word in ADVERBS:
        other = before in DETERMINERS and bool(after) and is_content(after[0])
        return (other and word not in ORDINALS) or (word == "so" and before == "or")
    if word == "up":
        after = after[1:] if after and after[0].lower == "to" else ()
    span = after[0].span if after else None
    return word in _BOUNDS and span is not None and span.form is ValueForm.NUMBER


def _joins_noun(after: Sequence[Token]) -> bool:
    named = len(after) > 1 and after[0].lower in DETERMINERS and is_content(after[1])
    return named and not any(token.span is not None for token in after[1:4])


def _in_order(
    parameter: ToolParameter, call: ReadCall, spans: Sequence[ValueSpan]
) -> tuple[Json, str]:
    kind = kind_of(parameter)
    alike = [p for p in call.tool.takes if p.required and kind_of(p) is kind]
    fitting = [span for span in spans if value_compatibility(span, parameter)[0] >= MIN_FORM_SCORE]
    if len(fitting) != len(alike):
        return None, ""
    span = fitting[alike.index(parameter)]
    return value_compatibility(span, parameter)[1], span.text


def _content(clause: RequestClause, verb: ClauseVerb) -> list[Token]:
    return [
        t
        for t in clause.tokens
        if is_content(t) and t.start not in verb.places and t.lower not in RESTRICTIONS
    ]


def _words(clause: RequestClause) -> tuple[str, ...]:
    return tuple(token.text for token in clause.tokens if is_content(token))


def _merged(goals: Sequence[_ClauseGoal]) -> list[_ClauseGoal]:
    found: list[_ClauseGoal] = []
    for goal in goals:
        same = next(
            (
                one
                for one in found
                if goal.call is not None
                and one.call is not None
                and one.call.tool == goal.call.tool
                and _agree(one.call, goal.call)
            ),
            None,
        )
        if same is None or same.call is None or goal.call is None:
            found.append(goal)
            continue
        same.call.arguments = {**same.call.arguments, **goal.call.arguments}
        same.call.values = list(dict.fromkeys([*same.call.values, *goal.call.values]))
        same.call.used |= goal.call.used
        same.spans = (*same.spans, *goal.spans)
        same.unread = (*same.unread, *goal.unread)
    return found


def _agree(one: ReadCall, other: ReadCall) -> bool:
    if one.tool.effect is not Effect.READS:
        return False
    shared = one.arguments.keys() & other.arguments.keys()
    return all(one.arguments[name] == other.arguments[name] for name in shared)


def _listed(tools: Iterable[ToolSchema]) -> tuple[tuple[Json, str], ...]:
    return tuple((tool.name, short(one_line(tool.description), 80)) for tool in tools)


def _which(tools: Sequence[ToolSchema], why: str) -> UserQuestion:
    kind = QuestionKind.SEVERAL if len(tools) > 1 else QuestionKind.CONFIRM
    return UserQuestion(kind, 0, "tool", why, _listed(tools))


def _cited(clause: RequestClause) -> str:
    return quoted(clause.text)


def _explained(
    calls: Sequence[GoalCall], values: Sequence[ReadValue], unread: Sequence[str]
) -> str:
    read = ", then ".join(quoted(call.tool) for call in calls)
    stated = "; ".join(
        f"{value.name or 'a value'} = {json.dumps(value.value, ensure_ascii=False)} ({value.form})"
        for value in dict.fromkeys(values)
    )
    why = f"hvr reads the request as: {read}{f' with {stated}' if stated else ''}."
    if unread:
        why += f" Not understood: {', '.join(map(quoted, unread))}."
    return why
