"""What a whole request shows of its parts, once all clauses are read.

A thing that is put somewhere and cut is there in pieces; the pan in which an egg is fried before it
goes on a plate is only used; what potatoes are boiled in holds hot water.
"""

from __future__ import annotations

from hvr.language.draft import MeaningDraft
from hvr.language.literals import asks
from hvr.language.meaning import SpatialRelation


def adapt(draft: MeaningDraft) -> None:
    """Adapt relations and conditions to what the other clauses say of the same things."""
    for relation in draft.heated_in:
        _heat_in(draft, relation)
    for relation in tuple(draft.relations):
        _move_pieces(draft, relation)


def _heat_in(draft: MeaningDraft, relation: SpatialRelation) -> None:
    """Use the vessel that was named, and leave there what goes nowhere else.

    Pieces of a thing need not all fit in.
    """
    vessel, inner = draft.entities[relation.outer], draft.entities[relation.inner]
    means = draft.taxonomy.methods.used_with(vessel.classes)
    treated = [c for c in inner.conditions if means and asks(c.template, means.achieves)]
    if means and means.in_contents and vessel.liquid and treated:
        warm = treated[0].replace(template=means.in_contents, requires=None)
        draft.change(relation.outer, conditions=(*vessel.conditions, warm))
    if draft.placed(relation.inner) or inner.serve or inner.cut_from is not None:
        draft.change(relation.outer, used=True)
    else:
        draft.relations.append(relation)


def _move_pieces(draft: MeaningDraft, relation: SpatialRelation) -> None:
    """Let the pieces be where a thing was to be that is cut up there.

    Where it is put first and then somewhere else, only the last place counts.
    """
    entity = draft.entities[relation.inner]
    cut = next((c for c in entity.conditions if draft.taxonomy.cuts(c.template)), None)
    last = max((r.clause for r in draft.relations if r.inner == relation.inner), default=0)
    if cut is None or relation.clause != last or cut.clause < relation.clause:
        return
    pieces = draft.pieces(relation.inner, 0)
    draft.relations.remove(relation)
    moved = relation.replace(inner=pieces, clause=cut.clause)
    if moved not in draft.relations:
        draft.relations.append(moved)
