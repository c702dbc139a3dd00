"""How states are brought about, by the ontology: means, places that act, what comes with a state.

Every word here is the ontology's; `ontology/grammar.ttl` says what its annotations mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hvr.knowledge.ontology import Ontology
from hvr.language.literals import asks, literals
from hvr.values import Value, cached_property


class Manner(Value):
    """How a state or a liquid is brought about.

    Args:
        achieves: the PDDL predicate, or the liquid.
        needs: classes of which one must be at hand.
        asked_by: classes; naming one as a means asks for what it achieves.
        goes_into: classes on or in one of which a thing must fit.
        why_not: what is said of a thing, {0}, that does not; empty for the usual words.
        in_contents: what is then so of a dish with a liquid in which things are treated.
    """

    achieves: str
    needs: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    goes_into: tuple[str, ...] = ()
    why_not: str = ""
    in_contents: str = ""

    @property
    def mark(self) -> str:
        """The condition that shows that it was used."""
        return f"({self.achieves} ?x)"


class Methods:
    """What an ontology says of how states are brought about.

    Args:
        ontology: the ontology.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._inherited: dict[str, dict[str, frozenset[str]]] = {}

    # --- means ---------------------------------------------------------------------------

    @cached_property
    def means(self) -> tuple[Manner, ...]:
        """The means, in the order of their names."""
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
        """Return the classes of which one is needed for a predicate or liquid."""
        return tuple(c for m in self.means if m.achieves == achieved for c in m.needs)

    def used_with(self, classes: Iterable[str]) -> Manner | None:
        """Return the means with which things are treated in dishes of some classes, or None."""
        known = self._listed_of("usedWith")
        names = (name for c in classes for name in sorted(known.get(c, ())))
        return next((self._by_name[name] for name in names if name in self._by_name), None)

    def made_by(self, object_class: str) -> frozenset[str]:
        """Return the predicates that things of a class bring about."""
        return self._listed_of("makes").get(object_class, frozenset())

    def kept_by(self, object_class: str) -> frozenset[str]:
        """Return the predicates that become true of whatever is put in things of a class."""
        return self._listed_of("keeps").get(object_class, frozenset())

    def asked_of(self, condition: str, classes: Iterable[str]) -> bool:
        """Return whether a condition asks for something that things of some classes make."""
        return any(asks(condition, p) for c in classes for p in self.made_by(c))

    def vessels_for(self, liquid: str | None, condition: str) -> tuple[str, ...]:
        """Return the classes in which a liquid is brought to a state, preferred first; none if the
        ontology says nothing of it.
        """
        wanted = literals(condition)
        found = [(len(literals(c)), classes) for of, c, classes in self._vessels
                 if of == liquid and literals(c) <= wanted]  # fmt: skip
        return max(found, default=(0, ()))[1]

    def vessels_with(self, means: Manner) -> frozenset[str]:
        """Return the classes in which liquids are treated by a means."""
        return frozenset(c for _, condition, classes in self._vessels
                         if asks(condition, means.achieves) for c in classes)  # fmt: skip

    @cached_property
    def _vessels(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        return tuple(
            (self._text(n, "liquid"), self._text(n, "condition"), self._listed(n, "vesselOrder"))
            for n in self._ontology.instances("VesselFor")
        )

    # --- states --------------------------------------------------------------------------

    @cached_property
    def excluding(self) -> frozenset[frozenset[str]]:
        """Pairs of predicates that do not hold of one thing at once."""
        return frozenset(frozenset(pair) for pair in self._of_states("excludes"))

    def opposed(self, one: str, other: str) -> bool:
        """Return whether two conditions cannot hold of one thing at once."""
        return any(
            (a == b and wanted != also) or (wanted and also and frozenset({a, b}) in self.excluding)
            for a, wanted in literals(one)
            for b, also in literals(other)
        )

    @cached_property
    def requirements(self) -> Mapping[str, str]:
        """Predicates with the affordance class that what is so must have, in order of name."""
        return {p: c for p, c in sorted(self._pairs("requires")) if self._ontology.has_class(c)}

    @cached_property
    def floods(self) -> Mapping[str, str]:
        """Predicates with the liquid that vessels are left with when they come true."""
        return dict(self._pairs("fillsWith"))

    @cached_property
    def lasting(self) -> frozenset[str]:
        """Predicates that never cease to hold."""
        return frozenset(predicate for predicate, _ in self._pairs("lasting"))

    @cached_property
    def entailed(self) -> tuple[tuple[str, str, str], ...]:
        """Predicates, what comes with each, and the relation that says of which things."""
        where = dict(self._pairs("where"))
        relations = {p: self._predicate(name) for p, name in where.items()}
        return tuple((p, q, relations.get(p, "")) for p, q in self._of_states("entails"))

    @cached_property
    def contents(self) -> tuple[tuple[str, str], ...]:
        """The predicates that say how a thing is, with those that say so of what a vessel holds."""
        return tuple(self._of_states("ofContents"))

    def of_contents(self, condition: str) -> str:
        """Return a condition on a liquid as one on its vessel, the only object that there is."""
        for state, of_vessel in self.contents:
            either = rf"\(or \({state} \?x\) \({of_vessel} \?x\)\)|\({state} \?x\)"
            condition = re.sub(either, f"({of_vessel} ?x)", condition)
        return condition

    @cached_property
    def _also(self) -> Mapping[str, str]:
        ontology = self._ontology
        return {self._text(v, "condition"): str(also) for v, also in ontology.pairs("also")}

    def also(self, condition: str) -> str:
        """Return what holds besides a condition of things that can be so; mostly empty."""
        return self._also.get(condition, "")

    # --- reading -------------------------------------------------------------------------

    def _text(self, name: str, prop: str) -> str:
        values = self._ontology.annotation(name, prop)
        return str(values[0]) if values else ""

    def _listed(self, name: str, prop: str) -> tuple[str, ...]:
        return tuple(self._text(name, prop).split())

    def _listed_of(self, prop: str) -> dict[str, frozenset[str]]:
        """Return the words of a property for every class that has it or lies below one."""
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
        """Return predicates with the values of a property of what stands for them."""
        pairs = ((self._predicate(name), value) for name, value in self._ontology.pairs(prop))
        return [(predicate, value) for predicate, value in pairs if predicate]

    def _of_states(self, prop: str) -> list[tuple[str, str]]:
        """Return pairs of predicates that a property joins."""
        return [(p, q) for p, name in self._pairs(prop) if (q := self._predicate(name))]
