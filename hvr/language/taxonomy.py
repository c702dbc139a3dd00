"""Questions about classes that the grammar asks the ontology."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from hvr.errors import LanguageError
from hvr.knowledge.ontology import (
    CONTAINER,
    DIVIDED,
    GROUND,
    PIECE_OF,
    PLACE,
    PORTABLE,
    PRESENT,
    SLICE,
    SLICED,
    SLOT,
    SWITCHES,
    Ontology,
    Roles,
    roles_of,
)
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.lexicon import plurals
from hvr.values import Value, cached_property

# Literals -----------------------------------------------------------------------------------------
# The literals of a condition on `?x`, without the distinction of disjunction and conjunction:
# 'hot or warm' counts as both.

_LITERAL = re.compile(r"(\(not )?\(([\w-]+) \?x\b")
_PART = re.compile(r"\(not \([\w-]+ \?x\)\)|\([\w-]+ \?x\)")

Literal = tuple[str, bool]


@lru_cache(maxsize=1024)
def literals(condition: str) -> frozenset[Literal]:
    """Return the predicates of a condition, each paired with whether it must hold.

    Examples:
        >>> sorted(literals("(and (washed ?x) (not (dirty ?x)))"))
        [('dirty', False), ('washed', True)]
    """
    return frozenset((name, not negated) for negated, name in _LITERAL.findall(condition))


def asks(condition: str, predicate: str) -> bool:
    """Return whether a condition requires a predicate to hold."""
    return (predicate, True) in literals(condition)


def negated(condition: str) -> str:
    """Negate a condition.

    Examples:
        >>> negated("(not (opened ?x))"), negated("(dirty ?x)")
        ('(opened ?x)', '(not (dirty ?x))')
    """
    if condition.startswith("(not "):
        return condition.removeprefix("(not ").removesuffix(")")
    parts = _PART.findall(condition)
    if condition.startswith(("(or ", "(and ")) and len(parts) > 1:
        word = "and" if condition.startswith("(or ") else "or"
        return f"({word} {' '.join(map(negated, parts))})"
    return f"(not {condition})"


def characteristic_literal(condition: str) -> str:
    """Return the last positive literal of a conjunction, or the condition itself if there is none.

    Examples:
        >>> characteristic_literal("(and (washed ?x) (not (dirty ?x)))")
        '(washed ?x)'
    """
    if not condition.startswith("(and "):
        return condition
    positive = [part for part in _PART.findall(condition) if not part.startswith("(not ")]
    return positive[-1] if positive else condition


# State changes ------------------------------------------------------------------------------------
# How states are achieved, according to the ontology; `ontology/grammar.ttl` documents its
# annotations.


class Manner(Value):
    """A way to achieve a state or provide a liquid.

    Args:
        achieves: Predicate that becomes true.
        needs: Classes; at least one object of them must be available.
        asked_by: Classes of means, such as microwaves, that imply the state if a request names
            them.
        goes_into: Classes; at least one of them must accept the object in or on it.
        why_not: Message if an object, {0}, does not fit; empty for the default message.
        in_contents: Condition that becomes true of a dish with liquid in which objects are treated.
    """

    achieves: str
    needs: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    goes_into: tuple[str, ...] = ()
    why_not: str = ""
    in_contents: str = ""

    @property
    def mark(self) -> str:
        """The condition that holds after the means has been used."""
        return f"({self.achieves} ?x)"


class Methods:
    """The state changes that an ontology describes."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._inherited: dict[str, dict[str, frozenset[str]]] = {}

    # --- means ---------------------------------------------------------------------------

    @cached_property
    def means(self) -> tuple[Manner, ...]:
        return tuple(self._by_name.values())

    @cached_property
    def _by_name(self) -> dict[str, Manner]:
        return {
            name: Manner(
                self._text(name, "achieves"),
                self._listed(name, "needs"),
                self._listed(name, "askedBy"),
                self._listed(name, "goesInto"),
                self._text(name, "whyNot"),
                self._text(name, "inContents"),
            )
            for name in self._ontology.instances("Means")
        }

    def sources(self, achieved: str) -> tuple[str, ...]:
        return tuple(c for m in self.means if m.achieves == achieved for c in m.needs)

    def used_with(self, classes: Iterable[str]) -> Manner | None:
        """Return the way in which objects are treated in dishes of some classes, or None."""
        known = self._listed_of("usedWith")
        names = (name for c in classes for name in sorted(known.get(c, ())))
        return next((self._by_name[name] for name in names if name in self._by_name), None)

    def made_by(self, object_class: str) -> frozenset[str]:
        """Return the predicates that objects of a class, such as a microwave, can make true."""
        return self._listed_of("makes").get(object_class, frozenset())

    def kept_by(self, object_class: str) -> frozenset[str]:
        """Return the predicates that become true of objects put in a class, such as a fridge."""
        return self._listed_of("keeps").get(object_class, frozenset())

    def asked_of(self, condition: str, classes: Iterable[str]) -> bool:
        """Return whether a condition requires a state that one of the classes can achieve."""
        return any(asks(condition, p) for c in classes for p in self.made_by(c))

    def vessels_for(self, liquid: str | None, condition: str) -> tuple[str, ...]:
        """Return the vessel classes in which a liquid reaches a state, preferred classes first."""
        wanted = literals(condition)
        found = [
            (len(literals(c)), classes)
            for of, c, classes in self._vessels
            if of == liquid and literals(c) <= wanted
        ]
        return max(found, default=(0, ()))[1]

    def vessels_with(self, means: Manner) -> frozenset[str]:
        return frozenset(
            c
            for _, condition, classes in self._vessels
            if asks(condition, means.achieves)
            for c in classes
        )

    @cached_property
    def _vessels(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        return tuple(
            (self._text(n, "liquid"), self._text(n, "condition"), self._listed(n, "vesselOrder"))
            for n in self._ontology.instances("VesselFor")
        )

    # --- states --------------------------------------------------------------------------

    @cached_property
    def excluding(self) -> frozenset[frozenset[str]]:
        """Pairs of mutually exclusive predicates."""
        return frozenset(frozenset(pair) for pair in self._of_states("excludes"))

    def opposed(self, one: str, other: str) -> bool:
        return any(
            (a == b and wanted != also) or (wanted and also and frozenset({a, b}) in self.excluding)
            for a, wanted in literals(one)
            for b, also in literals(other)
        )

    @cached_property
    def requirements(self) -> Mapping[str, str]:
        """The affordance class that each predicate requires of its object."""
        return {p: c for p, c in sorted(self._pairs("requires")) if self._ontology.has_class(c)}

    @cached_property
    def floods(self) -> Mapping[str, str]:
        """The liquid that vessels contain after a predicate becomes true."""
        return dict(self._pairs("fillsWith"))

    @cached_property
    def lasting(self) -> frozenset[str]:
        return frozenset(predicate for predicate, _ in self._pairs("lasting"))

    @cached_property
    def entailed(self) -> tuple[tuple[str, str, str], ...]:
        """(predicate, entailed predicate, relation) triples.

        If the relation is not '', the entailment applies only to objects that it links to a means
        of the state.
        """
        where = dict(self._pairs("where"))
        relations = {p: self._predicate(name) for p, name in where.items()}
        return tuple((p, q, relations.get(p, "")) for p, q in self._of_states("entails"))

    @cached_property
    def contents(self) -> tuple[tuple[str, str], ...]:
        """Pairs (predicate of an object, resulting predicate of the vessel that contains it)."""
        return tuple(self._of_states("ofContents"))

    def of_contents(self, condition: str) -> str:
        """Rewrite a condition on a liquid as a condition on its vessel."""
        for state, of_vessel in self.contents:
            either = rf"\(or \({state} \?x\) \({of_vessel} \?x\)\)|\({state} \?x\)"
            condition = re.sub(either, f"({of_vessel} ?x)", condition)
        return condition

    @cached_property
    def _also(self) -> Mapping[str, str]:
        ontology = self._ontology
        return {self._text(v, "condition"): str(also) for v, also in ontology.pairs("also")}

    def also(self, condition: str) -> str:
        """Return the condition that a verb's condition entails for suitable objects, or ''."""
        return self._also.get(condition, "")

    # --- reading -------------------------------------------------------------------------

    def _text(self, name: str, prop: str) -> str:
        values = self._ontology.annotation(name, prop)
        return str(values[0]) if values else ""

    def _listed(self, name: str, prop: str) -> tuple[str, ...]:
        return tuple(self._text(name, prop).split())

    def _listed_of(self, prop: str) -> dict[str, frozenset[str]]:
        if prop not in self._inherited:
            words: dict[str, set[str]] = {}
            for name, text in self._ontology.pairs(prop):
                for c in self._ontology.subclasses(name, reflexive=True):
                    words.setdefault(c, set()).update(text.split())
            self._inherited[prop] = {c: frozenset(w) for c, w in words.items()}
        return self._inherited[prop]

    def _predicate(self, name: str) -> str:
        return self._text(name, "pddlPredicate")

    def _pairs(self, prop: str) -> list[tuple[str, str]]:
        pairs = ((self._predicate(name), value) for name, value in self._ontology.pairs(prop))
        return [(predicate, value) for predicate, value in pairs if predicate]

    def _of_states(self, prop: str) -> list[tuple[str, str]]:
        return [(p, q) for p, name in self._pairs(prop) if (q := self._predicate(name))]


# Taxonomy -----------------------------------------------------------------------------------------


class Taxonomy:
    """The ontology as the grammar sees it.

    If `any_place`, portable objects may be put in or on every receptacle for several objects.
    """

    def __init__(self, ontology: Ontology, *, any_place: bool = False) -> None:
        self.ontology = ontology
        self.roles: Roles = roles_of(ontology)
        self.methods = Methods(ontology)
        self._any_place = any_place

    @cached_property
    def portable(self) -> tuple[str, ...]:
        return tuple(sorted(c for c in self._types if self.plays(c, PORTABLE)))

    @cached_property
    def standing(self) -> tuple[str, ...]:
        """The immovable receptacles for several objects, except floors, ordered by name."""
        return tuple(sorted(c for c in self._roomy if not self.plays(c, PORTABLE, GROUND)))

    def is_a(self, object_class: str, ancestor: str) -> bool:
        """Return whether a class equals or is a subclass of another; False for unknown names."""
        return self.ontology.is_a(object_class, ancestor)

    def plays(self, object_class: str, *roles: str) -> bool:
        return self.roles.plays(object_class, *roles)

    def any_plays(self, classes: Iterable[str], *roles: str) -> bool:
        return any(self.plays(c, *roles) for c in classes)

    def wants(self, condition: str, role: str) -> bool:
        return any(asks(condition, predicate) for predicate in self.roles.predicates(role))

    def cuts(self, condition: str) -> bool:
        """Return whether a condition requires an object to be in pieces."""
        return self.wants(condition, DIVIDED)

    def slices_it(self, condition: str) -> bool:
        return self.wants(condition, SLICED)

    def state(self, role: str) -> str:
        """Return the condition on `?x` for the state with a role, or raise LanguageError."""
        predicate = self.roles.predicate(role)
        if predicate is None:
            raise LanguageError(f"this world has no predicate for {role!r}")
        return f"({predicate} ?x)"

    @cached_property
    def there(self) -> str:
        """The condition on `?x` that it exists."""
        predicate = self.roles.predicate(PRESENT)
        return f"({predicate} ?x)" if predicate else "(= ?x ?x)"

    def is_there(self, inventory: Inventory, name: str) -> bool:
        predicate = self.roles.predicate(PRESENT)
        return predicate is None or inventory.true(predicate, name)

    @cached_property
    def piece_of(self) -> str:
        """The predicate that relates a piece to its source, or ''."""
        return self.roles.predicate(PIECE_OF) or ""

    @cached_property
    def switched(self) -> frozenset[str]:
        """The classes that are switched by separate controls, such as burners."""
        return frozenset(
            name for prop in self.roles.players(SWITCHES) if (name := self.ontology.range_of(prop))
        )

    def with_controls(self, classes: set[str]) -> set[str]:
        """Return the classes with all classes that control them or are controlled by them."""
        ontology, more = self.ontology, set(classes)
        for prop in self.roles.players(SWITCHES):
            ends = set(filter(None, (ontology.domain_of(prop), ontology.range_of(prop))))
            more |= ends if ends & classes else set()
        return more

    def under(self, object_class: str) -> str:
        """Return the noun for the place under a class ('the sink' for 'under the tap'), or ''."""
        above = sorted(self.ontology.superclasses(object_class, reflexive=True))
        return next((str(w) for c in above for w in self.ontology.annotation(c, "under")), "")

    def example(self, of: str, before: str = "") -> str:
        """Return an example for an error message, as ', for example …', or '' if there is none.

        Args:
            of: Kind of example in the ontology, such as 'request'.
            before: Words to put before the example.
        """
        names = (name for name, refused in self.ontology.pairs("exampleOf") if refused == of)
        found = next(names, None)
        return f", for example '{before}{self.ontology.label(found)}'" if found else ""

    def label(self, object_class: str) -> str:
        return self.ontology.label(object_class)

    def a_label(self, object_class: str) -> str:
        """Return the label with its article, if any: 'an apple', 'bread'."""
        label = self.label(object_class)
        if not self._countable(object_class):
            return label
        return f"{'an' if label[0] in 'aeiou' else 'a'} {label}"

    def counted(self, count: int, classes: Iterable[str]) -> str:
        """Return a number of objects in words: '1 fork', '2 apples or tomatoes'."""
        labels = [
            plurals(self.label(c))[0] if count != 1 and self._countable(c) else self.label(c)
            for c in classes
        ]
        return f"{count} {' or '.join(labels)}"

    def _countable(self, object_class: str) -> bool:
        label = self.label(object_class)
        mass = self.ontology.annotation(object_class, "mass") == (True,)
        return not mass and (not label.endswith("s") or label.endswith("ss"))

    def liquid(self, object_class: str) -> str | None:
        liquids = self.ontology.annotation(object_class, "defaultLiquid")
        return str(liquids[0]).removeprefix("k:") if liquids else None

    def preferred(self, context: str) -> tuple[str, ...]:
        """Return the preferred classes in a context such as 'serving', most preferred first."""
        ontology = self.ontology
        names = ontology.preferences(context)
        names.sort(key=lambda n: (int(str(ontology.annotation(n, "rank")[0])), n))
        classes = [
            str(ontology.annotation(n, side)[0]).removeprefix("k:")
            for n in names
            for side in ("prefers", "over")
        ]
        return tuple(dict.fromkeys(classes))

    @cached_property
    def _types(self) -> frozenset[str]:
        return frozenset(self.ontology.object_types)

    def concrete(self, object_class: str) -> tuple[str, ...]:
        """Return the object types that a class includes, ordered by name."""
        below = self.ontology.subclasses(object_class, reflexive=True)
        return tuple(sorted(below & self._types))

    def concrete_of(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the object types that some classes include, without duplicates."""
        return tuple(dict.fromkeys(t for c in classes for t in self.concrete(c)))

    def with_role(self, role: str) -> tuple[str, ...]:
        return tuple(sorted(c for c in self._types if self.plays(c, role)))

    def rims(self, classes: Collection[str]) -> tuple[str, ...]:
        """Return the classes that are named as parts of the given ones: 'edge of the bathtub'."""
        ends = tuple(f" of the {self.label(c)}" for c in classes)
        return tuple(sorted(c for c in self._types if self.label(c).endswith(ends)))

    def class_of_type(self, name: str) -> str | None:
        """Return the class of a PDDL type such as `mug`, or None.

        Object names have no hyphens before the number, so `storage-rack` is also found as
        `storagerack`.
        """
        return self.ontology.class_of_pddl_type(name) or self._squeezed.get(name)

    @cached_property
    def _squeezed(self) -> dict[str, str]:
        return {squeezed_type(self.pddl_type(c)): c for c in sorted(self._types)}

    def pddl_type(self, object_class: str) -> str:
        name = self.ontology.pddl_type(object_class)
        return name if name is not None else object_class.lower()

    def pieces(self, object_class: str) -> str | None:
        """Return the class of the pieces of an object that can be cut, or None."""
        classes = sorted(self.ontology.related("slicesInto", object_class))
        return classes[0] if classes else None

    def slices(self, object_class: str) -> tuple[str, ...]:
        """Return the classes of slices that the object types below a class can be cut into."""
        parts = map(self.pieces, self.concrete(object_class))
        return tuple(part for part in parts if part and self.plays(part, SLICE))

    def source(self, piece_class: str) -> str | None:
        return self._sources.get(piece_class)

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {p: c for c in sorted(self._types) if (p := self.pieces(c)) is not None}

    def more_exact(self, object_class: str) -> tuple[str, ...]:
        """Return the portable classes with a more specific name: 'butter knife' for 'knife'."""
        label = f" {self.label(object_class)}"
        return tuple(c for c in self.portable if self.label(c).endswith(label))

    def usual_places(self, object_class: str) -> frozenset[str]:
        """Return the object types in or on which the ontology allows a class to be put."""
        return self.ontology.related("placeableIn", object_class)

    def places(self, object_class: str) -> frozenset[str]:
        """Return the object types in or on which a class may be put."""
        places = self.usual_places(object_class)
        if self._any_place and self.plays(object_class, PORTABLE):
            return places | (self._roomy - {object_class})
        return places

    @cached_property
    def _roomy(self) -> frozenset[str]:
        return frozenset(c for c in self.with_role(PLACE) if not self.plays(c, SLOT))

    def relation(self, receptacle_class: str) -> str:
        return "in" if self.plays(receptacle_class, CONTAINER) else "on"


def squeezed_type(name: str) -> str:
    """Return the letters of a type name in lower case."""
    return "".join(filter(str.isalpha, name.lower()))
