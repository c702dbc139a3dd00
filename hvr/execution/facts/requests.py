"""Goals of a world of facts in sentences: simple clauses, or requests where its ontology has verbs.

`hvr.execution.facts.sentences` reads what the wording of facts can say. An ontology that says more,
which things can be carried and what verbs bring about, switches on the grammar of requests
(`hvr.language`): "freeze two tubes and put them in the rack". docs/language.md says which
annotation switches on what.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from hvr.errors import LanguageError
from hvr.execution.facts.sentences import read_goal
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goals import Goal
from hvr.language.reader import Reader
from hvr.language.saying import in_order
from hvr.language.taxonomy import squeezed_type
from hvr.pddl import And, Atom, Domain, Not, Problem, parse_constraint, parse_formula
from hvr.planning.solving.stages import remembering
from hvr.worlds.facts.words import WorldWords, object_words

_NAME = re.compile(r"(?<![\w?-])[a-z]+-\d+(?![\w-])")
"""A name as the grammar knows them: letters, and a number."""


@dataclass(frozen=True)
class PosedGoal:
    """A problem with the goal that was given in words.

    Args:
        domain: the actions; where things are asked for one after the other, they remember what
            was reached.
        problem: the problem with the goal.
        said: the goal in words.
        notes: what was assumed.
    """

    domain: Domain
    problem: Problem
    said: str
    notes: tuple[str, ...] = ()


def reads_requests(ontology: Ontology | None) -> bool:
    """Return whether an ontology says enough for the grammar of requests: what verbs mean."""
    return ontology is not None and bool(ontology.instances("Verb"))


def pose(
    text: str,
    domain: Domain,
    problem: Problem,
    words: WorldWords,
    ontology: Ontology | None = None,
) -> PosedGoal:
    """Return a problem with another goal: PDDL in parentheses, a simple sentence, or a request.

    Args:
        text: the goal.
        domain: the actions.
        problem: where it begins.
        words: of the world.
        ontology: of the world; None for what is derived from the domain alone.

    Raises:
        LanguageError: the sentence was not understood.
        AmbiguousError: it can be read in ways that end differently.
        ImpossibleGoalError: what it asks for is not there, or cannot be so.
        PddlError: the PDDL cannot be used.
    """
    try:
        read = read_goal(text, domain, problem, words)
    except LanguageError:
        if ontology is None or not reads_requests(ontology):
            raise
        return _Requests(domain, problem, ontology).pose(text)
    return PosedGoal(domain, problem.replace(goal=read.formula), read.said)


class _Requests:
    """Reads requests about the objects of a problem, which may have any names.

    The grammar knows objects by names such as `tube-1`, so each gets one for the reading.
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
        """Yield the objects of which the ontology knows the class, with it; names such as `tube-1`
        come first, to stay as they are.
        """
        objects = {o.name: o.types for o in (*self.domain.constants, *self.problem.objects)}
        for name in sorted(objects, key=lambda n: _NAME.fullmatch(n) is None):
            known = (ontology.class_of_pddl_type(t) for t in objects[name])
            object_class = next((c for c in known if c), None)
            if object_class is not None:
                yield name, object_class

    @property
    def inventory(self) -> Inventory:
        """The objects and facts, under the names that the grammar knows."""
        grammar = {own: plain for plain, own in self._own.items()}
        facts = frozenset(
            Atom(a.predicate, tuple(grammar.get(n, n) for n in a.args)) for a in self.problem.init
        )
        return Inventory(self.problem.name, self.reader.ontology, self._classes, facts, {})

    def pose(self, text: str) -> PosedGoal:
        """Return the problem with the goal of a request."""
        try:
            goal = self.reader.goal(self._with_names(text), self.inventory)
        except LanguageError as error:
            raise LanguageError(self._with_own(str(error))) from error
        return self._posed(goal)

    def _posed(self, goal: Goal) -> PosedGoal:
        objects = self.problem.objects
        texts = [self._with_own(stage.wanted) for stage in goal.stages]
        stages = [parse_formula(wanted, self.domain, objects, file="<goal>") for wanted in texts]
        # There is a moment at which each is reached, and what comes after it is not yet.
        earlier = [And((one, Not(later))) for one, later in pairwise(stages)]
        last = self._with_own(goal.stages[-1].text)
        wanted = parse_formula(last, self.domain, objects, file="<goal>")
        kept = dict.fromkeys(text for stage in goal.stages for text in stage.constraints)
        constraints = [parse_constraint(self._with_own(t), self.domain, objects) for t in kept]
        problem = self.problem.replace(goal=wanted)
        if constraints:
            problem = problem.replace(constraints=And((problem.constraints, *constraints)))
        domain = self.domain
        if earlier:
            domain, problem = remembering(*_with_constants(domain, problem, texts), earlier)
        said = self._with_own(in_order(goal.said))
        return PosedGoal(domain, problem, said, tuple(map(self._with_own, goal.notes)))

    def _with_names(self, text: str) -> str:
        """Return a request with the names that the grammar knows."""
        called: Mapping[str, str] = {
            phrase.lower(): plain
            for plain, own in self._own.items()
            for phrase in object_words(own)
            if not self.reader.lexicon.lookup(phrase.lower())
        }
        if not called:
            return text
        longest = sorted(called, key=lambda phrase: (-len(phrase), phrase))
        any_of = "|".join(map(re.escape, longest))
        pattern = re.compile(rf"(?<![\w-])(?:the )?({any_of})(?![\w-])", re.IGNORECASE)
        return pattern.sub(lambda match: called[match[1].lower()], text)

    def _with_own(self, text: str) -> str:
        """Return a text with the objects' own names."""
        return _NAME.sub(lambda match: self._own.get(match[0], match[0]), text)


def _with_constants(
    domain: Domain, problem: Problem, texts: Iterable[str]
) -> tuple[Domain, Problem]:
    """Return a domain that declares the objects that some conditions name, for its actions to speak
    of, and the problem without them.
    """
    named = {name for text in texts for name in re.findall(r"[^\s()]+", text)}
    constants = tuple(o for o in problem.objects if o.name in named)
    objects = tuple(o for o in problem.objects if o not in constants)
    return (
        domain.replace(constants=(*domain.constants, *constants)),
        problem.replace(objects=objects),
    )
