"""Requests with verbs in PDDL worlds, such as "freeze two tubes and put them in the rack".

If the world's ontology says which objects are portable and what the verbs bring about, the grammar
of `hvr.language` reads the requests. docs/reference/language.md describes the annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from hvr.errors import AmbiguousError, LanguageError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.language.paraphrase import in_order
from hvr.language.taxonomy import squeezed_type
from hvr.pddl import And, Atom, Domain, Not, Problem, parse_constraint, parse_formula
from hvr.planning.search.constraints import with_stages
from hvr.worlds.facts.lexicon import object_phrases

_NAME = re.compile(r"(?<![\w?-])[a-z]+-\d+(?![\w-])")
"""Object names that the grammar accepts: a word and a number, as in `tube-1`."""


@dataclass(frozen=True)
class RequestedProblem:
    """A problem whose goal was read from a sentence; `said` is the paraphrase of the goal."""

    domain: Domain
    problem: Problem
    said: str
    notes: tuple[str, ...] = ()


class GrammarRequests:
    """Parses requests about objects with arbitrary names.

    The grammar only accepts names such as `tube-1`, so other objects are renamed for parsing.
    """

    def __init__(self, domain: Domain, problem: Problem, ontology: Ontology) -> None:
        self.domain = domain
        self.problem = problem
        self.reader = Reader(ontology, domain)
        self._classes: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for name, object_class in self._known(ontology):
            kind = squeezed_type(self.reader.taxonomy.pddl_type(object_class))
            number = 1 + sum(c == object_class for c in self._classes.values())
            plain = name if re.fullmatch(rf"{kind}-\d+", name) else f"{kind}-{number}"
            while plain in self._own:
                number += 1
                plain = f"{kind}-{number}"
            self._own[plain] = name
            self._classes[plain] = object_class

    def _known(self, ontology: Ontology) -> Iterator[tuple[str, str]]:
        objects = {o.name: o.types for o in (*self.domain.constants, *self.problem.objects)}
        for name in sorted(objects, key=lambda n: _NAME.fullmatch(n) is None):
            known = (ontology.class_of_pddl_type(t) for t in objects[name])
            object_class = next((c for c in known if c), None)
            if object_class is not None:
                yield name, object_class

    @property
    def inventory(self) -> Inventory:
        """The objects and facts of the problem, under the names that the grammar accepts."""
        grammar = {own: plain for plain, own in self._own.items()}
        facts = frozenset(
            Atom(a.predicate, tuple(grammar.get(n, n) for n in a.args)) for a in self.problem.init
        )
        return Inventory(self.problem.name, self.reader.ontology, self._classes, facts, {})

    def apply(self, text: str) -> RequestedProblem:
        try:
            goal = self.reader.goal(self._with_grammar_names(text), self.inventory)
        except AmbiguousError as error:
            raise AmbiguousError(tuple(map(self._with_own_names, error.readings))) from error
        except LanguageError as error:
            raise LanguageError(self._with_own_names(str(error))) from error
        return self._with_goal(goal)

    def _with_goal(self, goal: Goal) -> RequestedProblem:
        objects = self.problem.objects
        texts = [self._with_own_names(stage.wanted) for stage in goal.stages]
        stages = [parse_formula(wanted, self.domain, objects, file="<goal>") for wanted in texts]
        # Each stage holds at some time before the next one does.
        earlier = [And((one, Not(later))) for one, later in pairwise(stages)]
        last = self._with_own_names(goal.stages[-1].text)
        wanted = parse_formula(last, self.domain, objects, file="<goal>")
        kept = dict.fromkeys(text for stage in goal.stages for text in stage.constraints)
        constraints = [
            parse_constraint(self._with_own_names(t), self.domain, objects) for t in kept
        ]
        problem = self.problem.replace(goal=wanted)
        if constraints:
            problem = problem.replace(constraints=And((problem.constraints, *constraints)))
        domain = self.domain
        if earlier:
            domain, problem = with_stages(*with_constants(domain, problem, texts), earlier)
        said = self._with_own_names(in_order(goal.paraphrase))
        return RequestedProblem(domain, problem, said, tuple(map(self._with_own_names, goal.notes)))

    def _with_grammar_names(self, text: str) -> str:
        called: Mapping[str, str] = {
            phrase.lower(): plain
            for plain, own in self._own.items()
            for phrase in object_phrases(own)
            if not self.reader.lexicon.lookup(phrase.lower())
        }
        if not called:
            return text
        longest = sorted(called, key=lambda phrase: (-len(phrase), phrase))
        any_of = "|".join(map(re.escape, longest))
        pattern = re.compile(rf"(?<![\w-])(?:the )?({any_of})(?![\w-])", re.IGNORECASE)
        return pattern.sub(lambda match: called[match[1].lower()], text)

    def _with_own_names(self, text: str) -> str:
        return _NAME.sub(lambda match: self._own.get(match[0], match[0]), text)


def with_constants(
    domain: Domain, problem: Problem, texts: Iterable[str]
) -> tuple[Domain, Problem]:
    """Turn the objects that the conditions in `texts` mention into constants of the domain."""
    # Actions can then refer to them.
    named = {name for text in texts for name in re.findall(r"[^\s()]+", text)}
    constants = tuple(o for o in problem.objects if o.name in named)
    objects = tuple(o for o in problem.objects if o not in constants)
    return (
        domain.replace(constants=(*domain.constants, *constants)),
        problem.replace(objects=objects),
    )
