"""How plans are cut into blocks, told and played, as the ontology's annotations of actions say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.wording import Template, template_of
from hvr.values import Value


class UseName(Value):
    """What a block is called in which something was used.

    Args:
        predicate: of what became true.
        rest: its further arguments.
        title: with `{0}` for what it is true of and `{1}` for what was used.
        sentence: the same as an order, where it is another one.
    """

    predicate: str
    rest: tuple[str, ...]
    title: Template
    sentence: Template


@dataclass(frozen=True, eq=False)
class Conduct:
    """What is particular about the actions of a world. All are PDDL names of actions.

    Args:
        ends: actions that end a block.
        continued: unless one of these follows.
        used: actions whose block is named by what they have done.
        both: actions that are named, too, where their block goes on.
        late: actions that are moved back as far as a plan stays valid.
        walks: actions that lead to their object and do nothing else.
        idle: superfluous steps of a careless model, with what their object has to be good for.
        uses: names of uses, the most telling first.
        needs: what an argument of an action or predicate has to be good for, by its place.
        sorts: what prompts call things of some classes.
        invented: names of things that a careless model invents.
        contents_verbs: verbs whose object is what a thing holds.
    """

    ends: frozenset[str]
    continued: Mapping[str, frozenset[str]]
    used: frozenset[str]
    both: frozenset[str]
    late: frozenset[str]
    walks: frozenset[str]
    idle: tuple[tuple[str, str], ...]
    uses: tuple[UseName, ...]
    needs: Mapping[tuple[str, int], str]
    sorts: frozenset[str]
    invented: tuple[str, ...]
    contents_verbs: frozenset[str]


def load_conduct() -> Conduct:
    """Return what hvr's own ontology says.

    Raises:
        DataFileError: the ontology is unreadable.
    """
    return conduct_of(load_ontology())


@lru_cache(maxsize=8)
def conduct_of(ontology: Ontology) -> Conduct:
    """Return what an ontology says of its actions."""
    actions = dict(ontology.pairs("pddlAction"))

    def having(prop: str, *values: str) -> frozenset[str]:
        return frozenset(
            name
            for term, name in actions.items()
            if (given := ontology.annotation(term, prop))
            and (not values or set(values) & set(map(str, given)))
        )

    needs = dict(_needs(ontology))
    return Conduct(
        ends=having("endsBlock"),
        continued={
            name: frozenset(actions[str(v)] for v in ontology.annotation(term, "continuedBy"))
            for term, name in actions.items()
        },
        used=having("namedBy", "use"),
        both=having("namedBy", "both"),
        late=having("asLateAsPossible"),
        walks=having("goes"),
        idle=tuple(
            (actions[t], needs.get((actions[t], 0), "")) for t in ontology.subjects("doneIdly")
        ),
        uses=_uses(ontology),
        needs=needs,
        sorts=frozenset(note for _, note in ontology.pairs("notedAs")),
        invented=tuple(name for _, name in ontology.pairs("inventedName")),
        contents_verbs=frozenset(verb for _, verb in ontology.pairs("contentsVerb")),
    )


def good_for(ontology: Ontology, affordance: str) -> str:
    """Return an affordance as prompts list it: "picked up" of what can be picked up."""
    return ontology.label(affordance).removeprefix("can be ")


def _needs(ontology: Ontology) -> list[tuple[tuple[str, int], str]]:
    needs = []
    for term, kinds in ontology.pairs("argumentKinds"):
        names = (*ontology.annotation(term, "pddlAction"), *ontology.predicates(term))
        for place, kind in enumerate(kinds.split()):
            needs += [((str(name), place), good_for(ontology, kind)) for name in names]
    return needs


def _uses(ontology: Ontology) -> tuple[UseName, ...]:
    uses = []
    for name in ontology.instances("UseName"):
        rest = [
            str(v)
            for value in ontology.annotation(name, "withValue")
            for v in ontology.annotation(str(value), "pddlName")
        ]
        rank = min((int(str(v)) for v in ontology.annotation(name, "rank")), default=0)
        for changed in ontology.annotation(name, "changed"):
            for predicate in ontology.predicates(str(changed)):
                title = template_of(ontology, name, "title")
                sentence = template_of(ontology, name, "sentence")
                uses.append((rank, name, UseName(predicate, tuple(rest), title, sentence)))
    return tuple(use for _, _, use in sorted(uses, key=lambda item: item[:2]))
