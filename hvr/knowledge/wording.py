"""What actions, facts and things are called in English, as the ontology's annotations say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter

from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.terms import HIDDEN_LABEL
from hvr.values import Value


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
