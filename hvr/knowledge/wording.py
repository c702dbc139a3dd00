"""The ontology's annotations: the wording of actions and facts, and how plans form blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter

from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.terms import HIDDEN_LABEL
from hvr.values import Value

# Wording ------------------------------------------------------------------------------------------
# What actions, facts and things are called in English, as the ontology's annotations say.


class Template(Value):
    """A text with `{0}` and `{1}` in place of arguments.

    Args:
        text: the text; empty when nothing is to be said.
        arity: how many arguments it needs.
    """

    text: str = ""
    arity: int = 0

    def __bool__(self) -> bool:
        return bool(self.text)

    def fill(self, args: Sequence[str]) -> str:
        """Return the text with its arguments; empty when there are too few of them."""
        return self.text.format(*args) if self.arity <= len(args) else ""


class ActionWording(Value):
    """English of an action.

    Args:
        imperative: the action as an order.
        title: the name of a block of steps that ends in it.
        step: the action for the kitchen verifier.
        purpose: what it is for, as a sentence.
        written: what language models write where they mean it.
    """

    imperative: Template
    title: Template
    step: Template
    purpose: str
    written: tuple[str, ...]


class PredicateWording(Value):
    """English of a predicate.

    Args:
        true, false: clauses that say that it holds, and that it does not.
        end: the clause for the kitchen verifier that says that it holds.
        written, negation: what language models write for it, and for its negation.
        loose: single words by which people ask for it.
    """

    true: Template
    false: Template
    end: Template
    written: tuple[str, ...]
    negation: tuple[str, ...]
    loose: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Wording:
    """English of a kitchen.

    Args:
        actions: by PDDL name, in the order of the ontology.
        predicates: by PDDL name, in the order of the ontology.
        types: what language models write for the class of a PDDL type.
        partners: PDDL types of the other parts of the same thing.
        nouns: names that people use loosely, and the class of each.
        confused: pairs of classes that people call by each other's names.
        wholes: PDDL types of pieces, and the type that each is cut from.
        pieces: what language models write for the PDDL type of a piece.
        order_verbs: verbs with which an order to a kitchen robot may begin.
    """

    actions: Mapping[str, ActionWording]
    predicates: Mapping[str, PredicateWording]
    types: Mapping[str, tuple[str, ...]]
    partners: Mapping[str, tuple[str, ...]]
    nouns: Mapping[str, str]
    confused: frozenset[frozenset[str]]
    wholes: Mapping[str, str]
    pieces: Mapping[str, tuple[str, ...]]
    order_verbs: frozenset[str]

    def clause(self, predicate: str, args: Sequence[str], *, positive: bool = True) -> str:
        """Return a literal as a clause; empty when the ontology has no words for it."""
        known = self.predicates.get(predicate)
        if known is None:
            return ""
        return (known.true if positive else known.false).fill(args)


def load_wording() -> Wording:
    """Return the wording of hvr's own ontology.

    Raises:
        DataFileError: the ontology is unreadable, or one of its wordings is malformed.
    """
    return wording_of(load_ontology())


@lru_cache(maxsize=8)
def wording_of(ontology: Ontology) -> Wording:
    """Return the wording of an ontology.

    Raises:
        DataFileError: a wording is malformed.
    """
    wholes = {
        piece: whole
        for one, made in ontology.pairs("slicesInto")
        if (piece := ontology.pddl_type(made)) and (whole := ontology.pddl_type(one))
    }
    return Wording(
        # As written: the tools of the kitchen verifier have the order of the actions.
        actions={name: _action(ontology, term) for term, name in ontology.pairs("pddlAction")},
        predicates={
            name: _predicate(ontology, term) for term, name in ontology.pairs("pddlPredicate")
        },
        types={name: _texts(ontology, c, "writtenAs") for c, name in ontology.pairs("pddlType")},
        partners=_partners(ontology),
        nouns={
            noun: c
            for c in ontology.subjects(HIDDEN_LABEL.value)
            if ontology.has_class(c)
            for noun in _texts(ontology, c, HIDDEN_LABEL.value)
        },
        confused=frozenset(map(frozenset, ontology.pairs("confusedWith"))),
        wholes=wholes,
        pieces={piece: _pieces(ontology, piece, whole) for piece, whole in wholes.items()},
        order_verbs=frozenset(_texts(ontology, "Action", "orderVerb")),
    )


def _action(ontology: Ontology, term: str) -> ActionWording:
    imperative = template_of(ontology, term, "imperative")
    return ActionWording(
        imperative=imperative,
        title=template_of(ontology, term, "title") or imperative,
        step=template_of(ontology, term, "stepText") or imperative,
        purpose=next(iter(_texts(ontology, term, "purpose")), ""),
        written=_texts(ontology, term, "writtenAs"),
    )


def _predicate(ontology: Ontology, term: str) -> PredicateWording:
    true = template_of(ontology, term, "saidTrue")
    return PredicateWording(
        true=true,
        false=template_of(ontology, term, "saidFalse"),
        end=template_of(ontology, term, "stepText") or true,
        written=_texts(ontology, term, "writtenAs"),
        negation=_texts(ontology, term, "negationWrittenAs"),
        loose=_texts(ontology, term, HIDDEN_LABEL.value),
    )


def _partners(ontology: Ontology) -> dict[str, tuple[str, ...]]:
    partners: dict[str, tuple[str, ...]] = {}
    for pair in ontology.pairs("namedFor"):
        for one, other in (pair, pair[::-1]):
            name, partner = ontology.pddl_type(one), ontology.pddl_type(other)
            if name and partner:
                partners[name] = (*partners.get(name, ()), partner)
    return partners


def _pieces(ontology: Ontology, piece: str, whole: str) -> tuple[str, ...]:
    cls = ontology.class_of_pddl_type(piece)
    kinds = ontology.superclasses(cls, reflexive=True) if cls else ()
    texts = (text for kind in sorted(kinds) for text in _texts(ontology, kind, "pieceWrittenAs"))
    return tuple(text.format(whole) for text in texts)


def _texts(ontology: Ontology, term: str, prop: str) -> tuple[str, ...]:
    return tuple(map(str, ontology.annotation(term, prop)))


def template_of(ontology: Ontology, term: str, prop: str) -> Template:
    """Return a text of the ontology with its arguments; empty if it has none.

    Raises:
        DataFileError: it is malformed.
    """
    text = next(iter(_texts(ontology, term, prop)), "")
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
        return Template(text, max((int(field) + 1 for field in fields), default=0))
    except ValueError as error:
        raise DataFileError(
            f"ontology: k:{term} has the k:{prop} {text!r}: its arguments are to be written {{0}} "
            "and {1}"
        ) from error


# Action annotations -------------------------------------------------------------------------------
# How plans are cut into blocks, reported and executed, by the ontology's annotations of actions.


class BlockTitle(Value):
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
class ActionAnnotations:
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
    uses: tuple[BlockTitle, ...]
    needs: Mapping[tuple[str, int], str]
    sorts: frozenset[str]
    invented: tuple[str, ...]
    contents_verbs: frozenset[str]


def load_action_annotations() -> ActionAnnotations:
    """Return what hvr's own ontology says.

    Raises:
        DataFileError: the ontology is unreadable.
    """
    return action_annotations_of(load_ontology())


@lru_cache(maxsize=8)
def action_annotations_of(ontology: Ontology) -> ActionAnnotations:
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
    return ActionAnnotations(
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


def affordance_text(ontology: Ontology, affordance: str) -> str:
    """Return an affordance as prompts list it: "picked up" of what can be picked up."""
    return ontology.label(affordance).removeprefix("can be ")


def _needs(ontology: Ontology) -> list[tuple[tuple[str, int], str]]:
    needs = []
    for term, kinds in ontology.pairs("argumentKinds"):
        names = (*ontology.annotation(term, "pddlAction"), *ontology.predicates(term))
        for place, kind in enumerate(kinds.split()):
            needs += [((str(name), place), affordance_text(ontology, kind)) for name in names]
    return needs


def _uses(ontology: Ontology) -> tuple[BlockTitle, ...]:
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
                uses.append((rank, name, BlockTitle(predicate, tuple(rest), title, sentence)))
    return tuple(use for _, _, use in sorted(uses, key=lambda item: item[:2]))
