"""The reading of a request in words, and checks that every reader applies."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from hvr.tools.calling.calls import Json
from hvr.tools.calling.log import same_value
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, quoted
from hvr.tools.navigation.binding import QuestionKind, UserQuestion
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.request import GoalCall, ToolRequest
from hvr.tools.navigation.words.clauses import Mood, RequestClause, clauses_of
from hvr.tools.navigation.words.english import stem, stems_of
from hvr.tools.navigation.words.lexer import ValueForm, ValueSpan, spans_of
from hvr.tools.navigation.words.vocabulary import action_match, verbs_of_tools

# Readings -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadValue:
    """A value that a request states in words.

    Args:
        name: Parameter that takes the value, or property that it constrains; empty if unknown.
        form: Recognised form, such as "file path" or "choice of the schema".
    """

    name: str
    value: Json
    text: str
    form: str


@dataclass(frozen=True)
class ReadRequest:
    """The reading of a request in words.

    Args:
        request: Goal calls and further facts; None if no call is possible yet.
        why: How the request was read, or why nothing is called, in one or two sentences.
        tools: Candidate tools, most likely first.
        move: Next move, if the words alone determine it: ASK if there are questions, FIND if no
            tool serves the request, ANSWER if there is nothing to call. None if the plan decides.
        questions: Questions that only the user can answer. A question about the choice of a tool
            has the name "tool", with tool names as choices.
        unread: Content words to which the reading gives no meaning.
    """

    request: ToolRequest | None
    why: str
    tools: tuple[str, ...] = ()
    move: NextMove | None = None
    questions: tuple[UserQuestion, ...] = ()
    values: tuple[ReadValue, ...] = ()
    unread: tuple[str, ...] = ()


# Guard --------------------------------------------------------------------------------------------
# hvr writes only what the request orders, whichever reader read it: a writing goal call is kept
# only if a clause orders it. Conditional orders must be confirmed first.


def guarded(read: ReadRequest, text: str, catalogue: Catalogue) -> ReadRequest:
    """Return a reading without the writing goal calls that the request does not order.

    A conditional order becomes a question. A reading with a question, or without goals, loses its
    request.
    """
    if read.request is None:
        return read
    schemas = {tool.name: tool for tool in catalogue.tools}
    clauses = clauses_of(text, verbs_of_tools(catalogue))
    kept: list[GoalCall] = []
    reasons: list[str] = []
    questions = list(read.questions)
    for goal in read.request.goals:
        tool = schemas.get(goal.tool)
        if tool is None or tool.effect is Effect.READS:
            kept.append(goal)
            continue
        mood = mood_of(tool, clauses)
        if mood is Mood.ORDER:
            kept.append(goal)
            continue
        reasons.append(_REASONS[mood].format(quoted(tool.name)))
        if mood is Mood.CONDITIONAL:
            questions.append(
                UserQuestion(
                    QuestionKind.CONFIRM,
                    len(kept),
                    "tool",
                    reasons[-1],
                    ((tool.name, tool.description),),
                )
            )
    if not reasons:
        return read
    why = " ".join([read.why, *(f"{reason[0].upper()}{reason[1:]}." for reason in reasons)])
    if kept and not questions:
        return replace(read, request=replace(read.request, goals=tuple(kept)), why=why)
    move = NextMove.ASK if questions else NextMove.ANSWER
    return replace(read, request=None, why=why, move=move, questions=tuple(questions))


_REASONS = {
    Mood.QUESTION: "{} may write, and the request only asks",
    Mood.FORBIDDEN: "{} may write, and the request says not to",
    Mood.STATEMENT: "{} may write, and the request does not order it",
    Mood.CONDITIONAL: "{} may write, and the request makes it conditional or an alternative",
}


def mood_of(tool: ToolSchema, clauses: Sequence[RequestClause]) -> Mood:
    """Return the mood of the clause that matches a tool best.

    If several clauses match equally, the most cautious mood counts; if there are no clauses, the
    mood is STATEMENT.
    """
    about = [(_about(tool, clause), clause.mood) for clause in clauses]
    most = max((score for score, _ in about), default=0.0)
    moods = {mood for score, mood in about if score == most}
    for mood in (Mood.FORBIDDEN, Mood.CONDITIONAL, Mood.ORDER, Mood.QUESTION):
        if mood in moods and (most > 0 or mood is not Mood.FORBIDDEN):
            return mood
    return Mood.STATEMENT


def _about(tool: ToolSchema, clause: RequestClause) -> float:
    words = [stem(token.lower) for token in clause.tokens if token.is_word]
    names = stems_of(f"{tool.name} {tool.description}")
    shared = len(names & set(words)) / (len(set(words)) or 1)
    return max((action_match(tool, word) for word in words), default=0.0) + 0.5 * shared


# Stated values ------------------------------------------------------------------------------------

_WHOLE = (
    ValueForm.EMAIL,
    ValueForm.DATE,
    ValueForm.TIME,
    ValueForm.PHONE,
    ValueForm.ID,
    ValueForm.NUMBER,
)
"""Forms whose parts are not values themselves: a stated 10 does not state a 1."""


def is_stated(value: Json, text: str, given: Collection[Json] = ()) -> bool:
    """Return whether the text states a value, or `given` contains it.

    A list or object counts as stated if all its parts are. Words never state booleans, nulls, or
    empty lists and objects.
    """
    if any(same_value(value, one) for one in given):
        return True
    if isinstance(value, (list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return bool(value) and all(is_stated(part, text, given) for part in parts)
    if value is None or isinstance(value, bool):
        return False
    spans = spans_of(text)
    if any(same_value(value, span.value) for span in spans):
        return True
    plain = str(value).strip()
    if isinstance(value, str):
        return bool(plain) and _stands_in(plain, text, spans)
    return any(span.text.lstrip("#@") == plain for span in spans)


def allowed_text(text: str, clauses: Sequence[RequestClause]) -> str:
    kept = text
    for clause in clauses:
        if clause.mood is Mood.FORBIDDEN:
            start, last = clause.tokens[0].start, clause.tokens[-1]
            end = last.start + len(last.text)
            kept = f"{kept[:start]}{' ' * (end - start)}{kept[end:]}"
    return kept


def _stands_in(plain: str, text: str, spans: Sequence[ValueSpan]) -> bool:
    for match in re.finditer(rf"(?<!\w){re.escape(plain)}(?!\w)", text, re.IGNORECASE):
        around = [span for span in spans if span.start <= match.start() and match.end() <= span.end]
        if not any(one.form in _WHOLE and one.text.lstrip("#@") != match[0] for one in around):
            return True
    return False
