"""Wording of actions and facts, and the block structure of plans, from ontology annotations."""

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


class Template(Value):
    """A string with placeholders `{0}` and `{1}` for arguments; if empty, it produces no output."""

    text: str = ""
    arity: int = 0

    def __bool__(self) -> bool:
        return bool(self.text)

    def fill(self, args: Sequence[str]) -> str:
        """Return the template with the arguments filled in, or "" if there are too few."""
        return self.text.format(*args) if self.arity <= len(args) else ""


class ActionWording(Value):
    """English wording of an action.

    Args:
        title: Title of a block of steps that ends with the action.
        step: The action in the words of the kitchen verifier.
        written: Names that language models use for the action.
    """

    imperative: Template
    title: Template
    step: Template
    purpose: str
    written: tuple[str, ...]


class PredicateWording(Value):
    """English wording of a predicate.

    Args:
        true, false: Clauses that affirm and deny the predicate.
        end: The affirming clause in the words of the kitchen verifier.
        written, negation: Names that language models use for the predicate and for its negation.
        loose: Single words by which people request the predicate.
    """

    true: Template
    false: Template
    end: Template
    written: tuple[str, ...]
    negation: tuple[str, ...]
    loose: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Wording:
    """English wording of a world.

    Args:
        actions: Wordings of the actions by PDDL name, in the order of the ontology.
        predicates: Wordings of the predicates by PDDL name, in the order of the ontology.
        types: Names that language models use for the class of each PDDL type.
        partners: For each PDDL type, the PDDL types of other parts of the same object.
        nouns: Inexact names, each with the class that people mean by it.
        confused: Pairs of classes whose names people confuse.
        wholes: PDDL types of pieces, each with the type from which it is cut.
        pieces: Names that language models use for the PDDL type of a piece.
        order_verbs: Verbs with which an order to a kitchen robot may start.
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
        """Return a literal as a clause, or "" if it has no wording or too few arguments."""
        known = self.predicates.get(predicate)
        if known is None:
            return ""
        return (known.true if positive else known.false).fill(args)


def load_wording() -> Wording:
    return wording_of(load_ontology())


@lru_cache(maxsize=8)
def wording_of(ontology: Ontology) -> Wording:
    """Return the wording of an ontology.

    Raises:
        DataFileError: A wording is malformed.
    """
    wholes = {
        piece: whole
        for one, made in ontology.pairs("slicesInto")
        if (piece := ontology.pddl_type(made)) and (whole := ontology.pddl_type(one))
    }
    return Wording(
        # In file order, on which the kitchen verifier's list of tools depends.
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
    """Return a template from the ontology; it is empty if the term has none.

    Raises:
        DataFileError: The template is malformed.
    """
    text = next(iter(_texts(ontology, term, prop)), "")
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
        return Template(text, max((int(field) + 1 for field in fields), default=0))
    except ValueError as error:
        raise DataFileError(
            f"ontology: k:{term} has the k:{prop} {text!r}: its arguments must be written {{0}} "
            "and {1}"
        ) from error


# Action annotations -------------------------------------------------------------------------------


class BlockTitle(Value):
    """The title of a plan block in which something is used.

    Args:
        predicate: The predicate that became true.
        rest: The arguments of the predicate after its subject.
        title: Title with `{0}` for the subject of the predicate and `{1}` for the object used.
        sentence: The title in the imperative, if it differs.
    """

    predicate: str
    rest: tuple[str, ...]
    title: Template
    sentence: Template


@dataclass(frozen=True, eq=False)
class ActionAnnotations:
    """The annotations of a world's actions; actions are given by PDDL name.

    Args:
        ends: Actions that end a block: consecutive steps under one title.
        continued: The next actions that do not start a new block, by action in `ends`.
        used: Actions of appliances; their block is titled by its effect ("heat the mug").
        both: Actions that the title names together with the last action if their block continues.
        late: Actions to postpone for as long as the plan stays valid.
        walks: Actions that only move the robot to an object.
        idle: Redundant steps that the simulated model may write, each with the affordance that
            it requires.
        uses: Titles of the blocks in which appliances are used, by effect.
        needs: Required affordance by action or predicate and argument index.
        sorts: Names of groups of classes in prompts.
        invented: Names of nonexistent objects that the simulated model may use.
        contents_verbs: Verbs whose object is the contents of a container.
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
    return action_annotations_of(load_ontology())


@lru_cache(maxsize=8)
def action_annotations_of(ontology: Ontology) -> ActionAnnotations:
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
    """Return an affordance as listed in prompts: "picked up" for objects that can be picked up."""
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
