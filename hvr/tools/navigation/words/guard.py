"""What a request in words does not order is not written, whoever read it.

A goal call that may write is kept only where a clause orders it. A question, a negation, a mere
statement leads to none, and what is ordered under a condition is confirmed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, quoted
from hvr.tools.navigation.binding import QuestionKind, UserQuestion
from hvr.tools.navigation.decision import NextMove
from hvr.tools.navigation.request import GoalCall
from hvr.tools.navigation.words.clauses import clauses_of
from hvr.tools.navigation.words.moods import Mood, RequestClause
from hvr.tools.navigation.words.read_request import ReadRequest
from hvr.tools.navigation.words.stems import stem, stems_of
from hvr.tools.navigation.words.verbs import action_match, verbs_of_tools


def guarded(read: ReadRequest, text: str, catalogue: Catalogue) -> ReadRequest:
    """Return a reading without the goal calls that may write and that no clause orders.

    Args:
        read: The reading of the request, by rules or by a model.
        text: The request.
        catalogue: The tools.
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
            questions.append(UserQuestion(QuestionKind.CONFIRM, len(kept), "tool", reasons[-1],
                                          ((tool.name, tool.description),)))  # fmt: skip
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
    Mood.CONDITIONAL: "{} may write, and the request orders it on a condition or as an alternative",
}


def mood_of(tool: ToolSchema, clauses: Sequence[RequestClause]) -> Mood:
    """Return the mood of the clause that is about a tool; not ORDER where that is in doubt."""
    about = [(_about(tool, clause), clause.mood) for clause in clauses]
    most = max((score for score, _ in about), default=0.0)
    moods = {mood for score, mood in about if score == most}
    for mood in (Mood.FORBIDDEN, Mood.CONDITIONAL, Mood.ORDER, Mood.QUESTION):
        if mood in moods and (most > 0 or mood is not Mood.FORBIDDEN):
            return mood
    return Mood.STATEMENT


def _about(tool: ToolSchema, clause: RequestClause) -> float:
    """Return how much a clause is about a tool: its verb first, then its other words."""
    words = [stem(token.lower) for token in clause.tokens if token.is_word]
    names = stems_of(f"{tool.name} {tool.description}")
    shared = len(names & set(words)) / (len(set(words)) or 1)
    return max((action_match(tool, word) for word in words), default=0.0) + 0.5 * shared
