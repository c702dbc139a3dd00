"""Conditions over time in scenes: the grammar reads their parts as conditions on objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hvr.errors import AmbiguousError, LanguageError, PddlError
from hvr.knowledge.ontology import CONTAINS, FILLED, PLACE, RUNNING, VESSEL
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.antecedents import mentions
from hvr.language.assertions import read_statement
from hvr.language.cursor import Cursor
from hvr.language.goal_builder import HELD, Contingency, Goal, Stage, end_conditions
from hvr.language.grammar import Reader
from hvr.language.lexicon import Adjective, Dish, tokenize
from hvr.language.meaning import MeaningDraft
from hvr.language.negation import Forbidding, read_prohibition
from hvr.language.noun_phrases import read_thing
from hvr.language.paraphrase import paraphrase
from hvr.language.spelling import corrections
from hvr.language.syntax import Adjunct, Predication, Prohibition
from hvr.language.taxonomy import literals
from hvr.language.temporal import TimedCondition, TimedRequest, timed_request
from hvr.language.truth import SceneStatement, SceneView, Statement, StatementJudge
from hvr.language.verb_phrases import Interpreter
from hvr.pddl import And, Exists, Expression, Formula, Problem, TypedName, parse_formula, substitute
from hvr.pddl.task import holds_initially


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split("|"))


_AWAY = _phrases(
    "leave|leaving|go away from|are away from|move away from|step away from|walk away from|"
    "away from|not at|not near"
)
_NEAR = _phrases(
    "at|near|by|next to|close to|standing at|standing near|beside|in front of|go near|approach|"
    "come near|get near|be near|move near"
)
_KEEP_AWAY = _phrases(
    "keep away from|stay away from|keep off|keep clear of|stay clear of|stay off|remain away from"
)
_KEEP_NEAR = _phrases(
    "stay at|stay near|stay by|remain at|stay close to|stay next to|stay beside|keep near"
)
_SUBJECT = 2
"""Number of words at the beginning of a condition in which a pronoun is the subject."""

_RUNS = frozenset({"running", "run", "flowing", "flow", "on"})


def timed_goals(request: str, reader: Reader, inventory: Inventory) -> tuple[Goal, ...] | None:
    """Return the goals of a request with conditions over time, or None if it has none.

    Raises:
        LanguageError: A condition was not understood, or the request contains nothing to do.
    """
    words = SceneWords(reader, inventory)
    timed = timed_request(request, words)
    if timed is None:
        return None
    if timed.main:
        goals = reader.goals(timed.main, inventory)
    elif timed.first or timed.due:
        ends = end_conditions(reader.taxonomy, set(), holding=HELD[:9] in " ".join(timed.first))
        goals = (Goal((Stage("(and)", tuple(ends)),)),)
    else:
        raise LanguageError(
            "hvr carries out a request once and does not wait for events: say what to do meanwhile"
        )
    return tuple(_kept_to(goal, timed, words) for goal in goals)


def _kept_to(goal: Goal, timed: TimedRequest, words: SceneWords) -> Goal:
    """Add the constraints of a request to a goal, and to both branches of a contingent goal."""
    reader, inventory = words.reader, words.inventory
    contingency = goal.contingency
    if contingency is not None:
        contingency = Contingency(
            contingency.condition,
            contingency.statement,
            contingency.looks,
            _kept_to(contingency.then, timed, words),
            _kept_to(contingency.otherwise, timed, words),
        )
    more = (*timed.constraints, *timed.lasting)
    stages = [
        stage.replace(constraints=tuple(dict.fromkeys((*stage.constraints, *more))))
        for stage in goal.stages
    ]
    if timed.held and HELD.partition(" ")[0] in timed.held:
        busy, free = (
            end_conditions(reader.taxonomy, set(), holding=holding) for holding in (True, False)
        )
        ends = tuple(end for end in stages[-1].ends if end in busy or end not in free)
        wanted = f"(and {stages[-1].wanted} {timed.held})"
        stages[-1] = stages[-1].replace(wanted=wanted, ends=ends)
    if timed.first:
        first = timed.first[0] if len(timed.first) == 1 else f"(and {' '.join(timed.first)})"
        stages.insert(0, Stage(first, (), timed.constraints))
    goal = goal.replace(
        stages=tuple(stages),
        notes=tuple(dict.fromkeys((*words.notes, *goal.notes))),
        unread=tuple(dict.fromkeys((*words.unread, *goal.unread))),
        contingency=contingency,
    )
    if contingency is not None:
        return goal
    said = paraphrase(goal.stages, reader.taxonomy, inventory, reader.domain)
    return goal.replace(paraphrase=said)


class SceneWords:
    """Reads the parts of a request with conditions over time; see `TimedWords`."""

    def __init__(self, reader: Reader, inventory: Inventory) -> None:
        self.reader = reader
        self.inventory = inventory
        self.notes: list[str] = []
        self.unread: list[str] = []
        self._view = SceneView(inventory, inventory.unseen)
        self._judge = StatementJudge(reader, self._view)
        taxonomy, classes = reader.taxonomy, inventory.classes
        self._objects = [TypedName(n, (taxonomy.pddl_type(c),)) for n, c in classes.items()]

    def tokens(self, request: str) -> tuple[str, ...]:
        (spelt, *_) = corrections(tokenize(request), self.reader.lexicon)
        self.notes += spelt.notes
        return spelt.tokens

    def starts(self, tokens: Sequence[str]) -> bool:
        cursor = Cursor(" ".join(tokens), tuple(tokens), self.reader.lexicon)
        return bool(cursor.verb(0) or cursor.split_verb(0))

    def standing_alone(self, condition: str, clause: str) -> str:
        words = condition.split()
        at = next((n for n, word in enumerate(words) if word in {"it", "they", "them"}), None)
        named = (
            []
            if at is None
            else [m.names[0] for m in mentions(clause, self.reader, self.inventory)]
        )
        if at is None or not named:
            return condition
        return " ".join((*words[:at], named[0 if at < _SUBJECT else -1], *words[at + 1 :]))

    def state(self, text: str) -> TimedCondition:
        statement = read_statement(text, self.reader, self._view)
        each: tuple[tuple[str, str], ...] = ()
        if isinstance(statement, SceneStatement) and len(statement.things) > 1:
            some = not (statement.every or statement.denied) and statement.least == 1
            each = tuple((n, self._about(statement, (n,))) for n in statement.things if some)
        return TimedCondition(self._formula(statement), statement.mentioned, each, _as_wish(text))

    def activity(self, text: str) -> TimedCondition:
        tokens = tuple(text.split())
        if not tokens:
            raise LanguageError("the condition has no words: say when it holds")
        if (thing := self._after(tokens, _AWAY)) is not None:
            return TimedCondition(f"(not {self._near(thing)})", thing)
        if (thing := self._after(tokens, _NEAR)) is not None:
            return TimedCondition(self._near(thing), thing)
        try:
            wanted = self._wanted(text)
        except LanguageError:
            acts = self.forbidden(text)
            whole = acts[0] if len(acts) == 1 else f"(or {' '.join(acts)})"
            return TimedCondition(whole, self._named_in(whole))
        held = HELD.partition(" ")[0]
        lasts = wanted.count("(") == wanted.count(held) + wanted.count("(exists") * 2
        return TimedCondition(wanted, self._named_in(wanted), wish=text, lasts=lasts)

    def kept(self, text: str) -> TimedCondition:
        tokens = self._running(tuple(text.split()))
        if (thing := self._after(tokens, _KEEP_AWAY)) is not None:
            return TimedCondition(f"(not {self._near(thing)})", thing)
        if (thing := self._after(tokens, _KEEP_NEAR)) is not None:
            return TimedCondition(self._near(thing), thing)
        if tokens[0] in {"let", "holding", "carrying"}:
            tokens = ({"let": "keep"}.get(tokens[0], "hold"), *tokens[1:])
        wanted = self._wanted(" ".join(tokens))
        return TimedCondition(wanted, self._named_in(wanted), wish=" ".join(tokens))

    def wished(self, text: str) -> TimedCondition:
        wanted = self._wanted(text, staged=True)
        return TimedCondition(wanted, self._named_in(wanted), wish=text)

    def forbidden(self, text: str) -> tuple[str, ...]:
        tokens = tuple(text.split())
        if (thing := self._after(tokens, _NEAR)) is not None:
            return (self._near(thing),)
        if tokens[0] in {"keep", "leave", "let"}:
            return (self.kept(text).text,)
        taxonomy, lexicon = self.reader.taxonomy, self.reader.lexicon
        cursor = Cursor(text, ("never", *tokens), lexicon)
        draft = MeaningDraft(text, taxonomy)
        read = read_prohibition(cursor)
        if not isinstance(read, Prohibition) or not cursor.done:
            raise LanguageError(f"hvr does not understand the prohibition {text!r}")
        Forbidding(draft, Interpreter(draft, lexicon).adjuncts).take(read)
        self.unread += cursor.unread
        if any(ban.most or ban.again for ban in draft.bans) or not draft.bans:
            raise LanguageError(f"hvr cannot forbid this for a limited time: {text!r}")
        found = []
        for ban in draft.bans:
            names = [n for c in ban.classes for n in self.inventory.of(c)]
            names = [ban.name] if ban.name else names
            if ban.classes and not names:
                raise LanguageError(f"nothing here matches {text!r}")
            if len(names) == 1:
                found.append(ban.condition.replace("?x", names[0]))
                continue
            kinds = dict.fromkeys(self._type(name) for name in names)
            kind = " ".join(kinds) or taxonomy.roles.thing_type
            kind = f"(either {kind})" if len(kinds) > 1 else kind
            found.append(f"(exists (?x - {kind}) {ban.condition})")
        return tuple(found)

    def holds(self, text: str) -> bool:
        problem = Problem(
            "now", self.reader.domain.name, tuple(self._objects), self.inventory.facts
        )
        return holds_initially(self.reader.domain, problem, self._parsed(text))

    def over_all(self, texts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        names = [name for name, _ in texts]
        kinds = {self._type(name) for name in names if name}
        if len(texts) == 1 or len(kinds) != 1:
            return tuple(text for _, text in texts)
        (kind,) = kinds
        lifted = {_replaced(text, name, "?x") for name, text in texts}
        alike = {n for n in self.inventory.classes if self._type(n) == kind}
        if len(lifted) != 1 or alike != set(names):
            return tuple(text for _, text in texts)
        return (f"(forall (?x - {kind}) {lifted.pop()})",)

    # --- parts ---------------------------------------------------------------------------

    def _type(self, name: str) -> str:
        return self.reader.taxonomy.pddl_type(self.inventory.classes[name])

    def _parsed(self, text: str) -> Formula:
        return parse_formula(text, self.reader.domain, self._objects, file="<condition>")

    def _wanted(self, text: str, *, staged: bool = False) -> str:
        """Return the state that a clause requests; several stages are an error unless `staged`."""
        goals = self.reader.goals(text, self.inventory)
        if len(goals) > 1:
            raise AmbiguousError(tuple("; then ".join(goal.paraphrase) for goal in goals))
        (goal,) = goals
        if (len(goal.stages) > 1 and not staged) or goal.contingency is not None:
            raise LanguageError(
                f"a condition over time applies to one step, but {text!r} has several"
            )
        self.notes += goal.notes
        self.unread += goal.unread
        return str(self._grounded(self._parsed(goal.stages[-1].wanted)))

    def _grounded(self, formula: Expression) -> Expression:
        match formula:
            case And((one,)):
                return self._grounded(one)
            case And(operands):
                return And(tuple(map(self._grounded, operands)))
            case Exists(variables, body):
                only, left = {}, []
                for variable in variables:
                    fits = [o.name for o in self._objects if o.types[0] in variable.types]
                    if len(fits) == 1:
                        only[variable.name] = fits[0]
                    else:
                        left.append(variable)
                body = self._grounded(substitute(body, only))
                return Exists(tuple(left), body) if left else body
        return formula

    def _named_in(self, text: str) -> tuple[str, ...]:
        words = text.replace("(", " ").replace(")", " ").split()
        return tuple(dict.fromkeys(w for w in words if w in self.inventory.classes))

    def _near(self, names: tuple[str, ...]) -> str:
        (near,) = self.reader.ontology.predicates("near") or ("",)
        if not near:
            raise LanguageError("this world has no distances: name a place on or in something")
        texts = [f"({near} {name})" for name in names]
        return texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"

    def _after(
        self, tokens: tuple[str, ...], openings: Iterable[tuple[str, ...]]
    ) -> tuple[str, ...] | None:
        for opening in openings:
            if tokens[: len(opening)] != opening or len(tokens) == len(opening):
                continue
            cursor = Cursor(" ".join(tokens), tokens, self.reader.lexicon)
            cursor.at = len(opening)
            if not cursor.starts_thing():
                continue
            thing = read_thing(cursor, " ".join(opening))
            if cursor.done and (names := self._judge.things(thing)):
                return names
        return None

    def _running(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        taxonomy = self.reader.taxonomy
        cursor = Cursor(" ".join(tokens), tokens, self.reader.lexicon)
        runs = taxonomy.roles.bearer(RUNNING)
        for at, follows in enumerate(tokens[1:]):
            liquids = [d.liquid for _, d in cursor.entries(Dish, at) if d.liquid]
            if follows not in _RUNS or not liquids or runs is None:
                continue
            sources = [c for c in taxonomy.methods.sources(liquids[0]) if taxonomy.is_a(c, runs)]
            names = [n for c in sources for n in self.inventory.of(c)]
            if names:
                return (*tokens[:at], names[0], "on", *tokens[at + 2 :])
        return tokens

    # --- statements ----------------------------------------------------------------------

    def _formula(self, statement: Statement) -> str:
        if isinstance(statement, SceneStatement):
            return self._statement(statement)
        word = "or" if statement.either else "and"
        return f"({word} {' '.join(map(self._formula, statement.statements))})"

    def _statement(self, statement: SceneStatement) -> str:
        names = statement.things
        if statement.least != 1 or statement.most is not None or not names:
            raise LanguageError("hvr cannot count things in a condition over time: name them")
        kinds = {self._type(name) for name in names}
        alike = [n for n in self.inventory.classes if self._type(n) in kinds]
        if len(kinds) == 1 and set(alike) == set(names) and len(names) > 1:
            word = "forall" if statement.every else "exists"
            body = _replaced(self._about(statement, names[:1]), names[0], "?x")
            text = f"({word} (?x - {kinds.pop()}) {body})"
        else:
            text = self._about(statement, names)
        return f"(not {text})" if statement.denied else text

    def _about(self, statement: SceneStatement, names: Sequence[str]) -> str:
        if statement.predicate is None:
            raise LanguageError("expected a state or a place in the condition, found only a thing")
        texts = []
        for name in names:
            parts = list(self._predicated(name, statement.predicate))
            text = parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"
            text = text if statement.positive else f"(not {text})"
            if statement.where is not None:
                where = " ".join(self._predicated(name, statement.where))
                text = f"({'imply' if statement.every else 'and'} (and {where}) {text})"
            texts.append(text)
        word = "and" if statement.every else "or"
        return texts[0] if len(texts) == 1 else f"({word} {' '.join(texts)})"

    def _predicated(self, name: str, predicate: Predication) -> Iterator[str]:
        for adjective in predicate.adjectives:
            yield self._adjective(name, adjective)
        for adjunct in predicate.adjuncts:
            yield self._placed(name, adjunct)

    def _adjective(self, name: str, adjective: Adjective) -> str:
        taxonomy = self.reader.taxonomy
        asked = literals(adjective.condition)
        kind = self.inventory.classes[name]
        full = {p for p, _ in asked} == {taxonomy.roles.predicate(FILLED)}
        if full and taxonomy.plays(kind, PLACE) and not taxonomy.plays(kind, VESSEL):
            inside = f"({taxonomy.relation(kind)} ?inside {name})"
            text = f"(exists (?inside - {taxonomy.roles.thing_type}) {inside})"
            return text if next(iter(asked))[1] else f"(not {text})"
        text = adjective.condition.replace("?x", name)
        try:
            self._parsed(text)
        except PddlError as error:
            raise LanguageError(f"{name} cannot be {adjective.word}") from error
        return text

    def _placed(self, name: str, adjunct: Adjunct) -> str:
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        if adjunct.kind == "hand":
            return HELD.replace("?x", name)
        if adjunct.kind not in {"place", "with"}:
            raise LanguageError(
                f"hvr cannot use {adjunct.word!r} in a condition on the scene: name a place, "
                "contents or the hand"
            )
        texts = []
        for thing in adjunct.things:
            liquid = thing.dish.liquid if thing.dish else None
            if adjunct.kind == "with" and liquid:
                texts.append(
                    taxonomy.state(CONTAINS).replace("?x", f"?x {liquid}").replace("?x", name)
                )
                continue
            others = self._judge.things(thing)
            if not others:
                raise LanguageError(f"there is no {thing.text} here")
            pairs = [(name, o) if adjunct.kind == "place" else (o, name) for o in others]
            either = [f"({taxonomy.relation(classes[o])} {i} {o})" for i, o in pairs]
            texts.append(either[0] if len(either) == 1 else f"(or {' '.join(either)})")
        return texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"


def _replaced(text: str, name: str, other: str) -> str:
    words = text.replace("(", "( ").replace(")", " )").split(" ")
    return " ".join(other if w == name else w for w in words).replace("( ", "(").replace(" )", ")")


def _as_wish(text: str) -> str:
    """Turn 'the cup is full' into 'the cup should be full'; return '' for any other text."""
    words = text.split()
    at = next((n for n, word in enumerate(words) if word in {"is", "are"}), None)
    return " ".join((*words[:at], "should", "be", *words[at + 1 :])) if at else ""
