"""Accuracy of an embedder on a table of names and classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.selection import Matcher, default_threshold
from hvr.pddl.formulas import Atom


@dataclass(frozen=True)
class Score:
    """Numbers of names mapped to the right class, or correctly to none."""

    right: int
    wrong: dict[str, tuple[str, ...]]


def everything() -> Inventory:
    """Return a scene with one object of every type."""
    ontology = load_ontology()
    classes = {f"{c.lower()}-1": c for c in ontology.object_types}
    facts = frozenset(Atom("present", (n,)) for n in classes)
    return Inventory("all", ontology, classes, facts, {})


def score(
    table: Iterable[tuple[str, str | None]], embedder: Embedder, threshold: float | None = None
) -> Score:
    """Map the names of a table."""
    limit = default_threshold(embedder) if threshold is None else threshold
    matcher = Matcher(everything(), embedder, limit)
    right, wrong = 0, {}
    for name, expected in table:
        _, found, _ = matcher.match(name)
        if found == (() if expected is None else (expected,)):
            right += 1
        else:
            wrong[name] = found
    return Score(right, wrong)


if __name__ == "__main__":  # the table of docs/results/retrieval.md: python retrieval_scores.py
    from hvr.knowledge.retrieval.embedders import make_embedder
    from tests.knowledge.retrieval.name_table import HELD_OUT, NAMES

    for embedder_name in ("lexical", "minilm"):
        embedder = make_embedder(embedder_name)
        for title, table in (("chosen on", NAMES), ("held out", HELD_OUT)):
            named = [r for r in table if r[1] is not None]
            absent = [r for r in table if r[1] is None]
            for limit in (0.0, 0.3, 0.38, 0.45, 0.55, 0.65, 0.75):
                a, b = (score(t, embedder, limit).right for t in (named, absent))
                print(f"{embedder_name:<8} {title:<10} {limit:.2f} "
                      f"named {a}/{len(named)} absent {b}/{len(absent)}")  # fmt: skip
