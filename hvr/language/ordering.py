"""Clauses in their order, and what one says of another: 'after washing it', 'to put it there'."""

from __future__ import annotations

from hvr.language.cursor import Cursor
from hvr.language.lexicon import verb_of
from hvr.language.syntax import IT, Adjunct, Clause, NounGroup, NounPhrase


def told(clauses: list[Clause]) -> list[Clause]:
    """Return clauses of which some say how things are; without a verb afterwards they say how
    things shall be.
    """
    last = max((n for n, clause in enumerate(clauses) if clause.verb is not None), default=-1)
    return [c.replace(given=c.given and n < last) for n, c in enumerate(clauses)]


def done_with(clause: Clause, means: Adjunct) -> Clause:
    groups = tuple(g.replace(adjuncts=(*g.adjuncts, means)) for g in clause.groups)
    return clause.replace(groups=groups)


def only_fetched(cursor: Cursor, clauses: list[Clause]) -> list[Clause]:
    """Return clauses of which the last only fetches what the next one puts somewhere: 'gather the
    forks to place them in the sink'.
    """
    if not clauses or clauses[-1].verb is None or clauses[-1].verb.frame != "put":
        return clauses
    nowhere = not any(a.kind == "place" for g in clauses[-1].groups for a in g.adjuncts)
    fetched = clauses[-1].replace(verb=verb_of(cursor.lexicon, "pick up", "hold"))
    return [*clauses[:-1], fetched] if nowhere and not clauses[-1].verb.places else clauses


def ordered(clauses: list[Clause], then: bool) -> list[Clause]:
    """Let the first of some clauses come after what stands before them."""
    return [c.replace(then=c.then or then) if n == 0 else c for n, c in enumerate(clauses)]


def earlier(early: list[Clause], before: list[Clause]) -> list[Clause]:
    """Return clauses with those that come before the last of them in their place."""
    if not (before and early):
        return [*early, *ordered(before, True)]
    # 'put the mug away after washing it': the mug is named in what then comes second, so the
    # noun and the pronoun change places.
    main = before[-1].groups[0]
    named = [c.replace(groups=tuple(naming(g, main.things) for g in c.groups)) for c in early]
    if named == early:
        return [*before[:-1], *early, *ordered(before[-1:], True)]
    late = before[-1]
    if late.verb is not None:
        late = late.replace(groups=(main.replace(things=(IT,)), *late.groups[1:]))
    return [*before[:-1], *named, *ordered([late], True)]


def pronouns(group: NounGroup) -> bool:
    return _spoken_of(group.things) or any(_spoken_of(a.things) for a in group.adjuncts)


def _spoken_of(things: tuple[NounPhrase, ...]) -> bool:
    return bool(things) and all(thing.kind == "pronoun" for thing in things)


def naming(group: NounGroup, things: tuple[NounPhrase, ...]) -> NounGroup:
    """Return a group with things in place of its pronoun."""
    if _spoken_of(group.things):
        return group.replace(things=things)
    adjuncts = tuple(a.replace(things=things) if _spoken_of(a.things) else a
                     for a in group.adjuncts)  # fmt: skip
    return group.replace(adjuncts=adjuncts)
