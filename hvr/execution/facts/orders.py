"""Orders in PDDL worlds.

An order is one of

    the imperative of an action     load parcel2 into truck1, open the gate
    a verb and a property           bring parcel1 to the market, make red clear, clean cage1
    an exchange or a tower          swap red and green, stack red on green on blue

and asks for the effect of the action, or for the property. Arguments that the effect does not
mention, such as "with truck1" or "anna should …", make the goal an occurrence of the action
(`hvr.execution.facts.occurrences`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice

from hvr.errors import LanguageError
from hvr.execution.facts.arrangements import contrast, exchange, tower
from hvr.execution.facts.clauses import FactClauses
from hvr.execution.facts.comparisons import OPERATORS
from hvr.execution.facts.frames import PREPOSITIONS, plain_text
from hvr.execution.facts.imperatives import (
    HOLDING,
    PLACING,
    Imperative,
    Repetition,
    balanced,
    bare,
    effects_of,
    imperatives,
    in_order_of,
    literals_of,
    orders_of,
    participles,
    plain_verb,
    repeated,
    stages_of,
    variants,
)
from hvr.execution.facts.occurrences import occurrence, occurrences_of
from hvr.execution.facts.properties import NamedTwiceError, all_of, first_of, parts_of
from hvr.execution.facts.things import EXCEPTION, NONE, SOME, Property, Thing
from hvr.language.lexicon import Lexicon, Verb, build_lexicon
from hvr.pddl import (
    Atom,
    Comparison,
    Domain,
    Formula,
    FunctionTerm,
    Not,
    Number,
    Or,
    Problem,
    TypedName,
)
from hvr.pddl.formulas import NumericEffect, atoms_of, changes_of
from hvr.worlds.facts.lexicon import WorldLexicon, words_of

_FIRST = re.compile(r"^(?:first|firstly|first of all|start by|begin by),? ")
_MEANS = re.compile(
    r" (?:with|using|by means of|by|via|on|in|aboard) (?P<means>[^,]+?)"
    r"(?= (?:to|into|onto|from|at|on|in) |$)"
)
_WITH = re.compile(r" (?:with|using|by|via|by means of) ")
_OFF = re.compile(r"(?:turn|switch|put) (?:(?:off|out) (?P<what>.+)|(?P<thing>.+) off)")
_IT = re.compile(r"\b(?:it|them|they|her|him|that one|all of them|both of them)\b")
_THERE = re.compile(r"\b(?:over )?there\b(?! (?:is|are|be|should|must)\b)")
_KEEPING = re.compile(r"^(?:keep|continue|go on) ([a-z]+ing)\b")
_BACK = re.compile(r" (?:over|back|all the way|straight)(?= (?:to|at|in|into|onto|on) )")
_LEVEL = re.compile(
    r"(?P<order>.+?) (?:(?:with|to) (?P<how>at least|at most|exactly)|to) (?P<number>\d+)(?: \w+)?"
)
_SHARED = re.compile(r"(?P<verbs>[a-z-]+(?:, [a-z-]+)*),? and (?P<last>[a-z-]+) (?P<rest>.+)")
_ASKING = frozenset({"have", "let", "make", "ask", "tell", "get"})
_OUGHT = re.compile(r"(?:should|must|shall|will|(?:has|have|needs?|is|are) to) (?!be\b)|, ")
_GIVING = re.compile(
    r"(?P<verb>give|hand|bring|pass|send) (?P<whom>(?:the )?[\w-]+) "
    r"(?P<what>(?:the|a|an|some|every|all|both|two) .+)"
)
_EXISTS = re.compile(r"there (?:(?:should|must|shall|has to|have to) be|is|are|be) (?P<rest>.+)")
_ADVERBS = re.compile(r"^(?:(?:over|back|up|down|away|all the way|straight|together) )+(?=\w)")
_GIVEN = frozenset({"give", "hand", "pass", "bring", "deliver"})
_TO = re.compile(r"(?:over )?to (?P<who>.+)")
_AWAY = re.compile(r"(?:out of|away from|off of|off|from|out) (?P<place>.+)")
_GENERIC = frozenset({*PLACING, "make", "keep", "turn", "set", "remove", "pull", "lift", "park"})


class FactOrders(FactClauses):
    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        super().__init__(domain, problem, words)
        self._context = ""
        domain, said = self.domain, orders_of(words.wording.actions, self.domain)
        nouns = {noun for names in self.words.types.values() for noun in names}
        self._imperatives = list(imperatives(domain, said, nouns))
        self._added = effects_of(domain)
        self._one_place = balanced(domain)
        own = {order.text.lower().split()[0] for _, order in said if order}
        self.verbs = {*_GENERIC, *own, *domain.actions}
        self._own_verbs = own
        self._participles = {form: verb for verb in sorted(own) for form in participles(verb)}
        self._mentions: list[str] = []  # things that 'it' and 'there' can mean
        self._last: tuple[str, str] = ("", "")  # the last verb and its object
        self._request = ""
        self._refused: set[str] = set()
        self._excepting = False

    @property
    def lexicon(self) -> Lexicon:
        """The words for actions and objects, to find a request in a sentence."""
        nouns = [(phrase, phrase) for phrase in self._things.phrases if phrase.isascii()]
        verbs = [(verb, Verb(verb, "state")) for verb in sorted(self.verbs)]
        return build_lexicon(nouns, verbs, (), ())

    def read(self, text: str, *, orders: bool, context: str = "") -> list[Formula]:
        """Parse a request as stages.

        Args:
            orders: Whether orders are read besides clauses.
            context: The request that contains the text.

        Raises:
            LanguageError: The request was not understood.
        """
        self._context, self._mentions, self._last, self._failure = context, [], ("", ""), None
        self._things.mentioned.clear()
        words = self._request = plain_text(text)
        self._refused.clear()
        clauses = self._conjunction(words, self._single)
        if clauses is not None:
            return [all_of(clauses)]
        if not orders:
            raise self._rejected(words)
        stages: list[list[Formula]] = []
        parts = [_FIRST.sub("", part) for part in stages_of(in_order_of(words, self.verbs))]
        for number, part in enumerate(parts):
            found = self._part(part, parts[number + 1 :])
            if found is None:
                raise self._rejected(part)
            single = [g for f in found for g in parts_of(f)]
            for place, order in enumerate(single):
                before = stages[-1] if stages else []
                kept = [f for f in before if not self._undoes(order, f)]
                stage = kept if order in kept else [*kept, order]
                if place and kept == before:
                    stages[-1] = stage
                else:
                    stages.append(stage)
        if not stages:
            raise self._rejected(words)
        return [all_of(stage) for stage in stages]

    def _part(self, part: str, later: Sequence[str]) -> list[Formula] | None:
        """Parse one stage, which may share its place with a later one: 'move a, then b to c'."""
        found = self._conjunction(part, self._order)
        for other in later if found is None else ():
            words = other.split()
            for at in (n for n, word in enumerate(words) if word in PREPOSITIONS):
                found = found or self._order(" ".join((part, *words[at:])))
        return found

    def reads(self, text: str) -> bool:
        """Return whether the text is a request."""
        try:
            return bool(self.read(text, orders=True))
        except LanguageError:
            return False

    def _undoes(self, later: Formula, earlier: Formula) -> bool:
        """Return whether the later condition makes the earlier one false."""
        if Not(later) == earlier or later == Not(earlier):
            return True
        if later == earlier or isinstance(later, Not) or isinstance(earlier, Not):
            return False
        one, other = (next((a for a in atoms_of(f) if a.args), None) for f in (later, earlier))
        if one is None or other is None:
            return False
        if one.predicate == other.predicate in self._one_place:
            return one.args != other.args
        if one.args[0] != other.args[0]:
            return False
        return (one.predicate, other.predicate) in self._exclusive

    def orders(self, text: str) -> Formula | None:
        self._request = plain_text(text)
        self._refused.clear()
        found = self._conjunction(self._request, self._order)
        return None if found is None else all_of(found)

    # --- one order -----------------------------------------------------------------------

    def _order(self, text: str) -> list[Formula] | None:
        text = text if text.split()[:1] == ["check"] else bare(text)
        versions = self._standing_alone(text) if text.strip(" ,.;") else ()
        for said in islice(versions, _MOST_VERSIONS):
            found = self.order(said)
            if found is not None:
                return found
        return None

    def _standing_alone(self, text: str) -> Iterator[str]:
        """Yield an order with its pronoun replaced by each mentioned object, most recent first."""
        pronoun = _IT if _IT.search(text) else _THERE
        if pronoun.search(text) is None:
            yield text
            verb, thing = self._last
            if text == "back" and thing:  # 'drive truck1 to the harbour and back'
                for name in self.objects_of(thing):
                    yield from (
                        f"{verb} {thing} to {a.args[1]}"
                        for a in self.places_now(name)
                        if len(a.args) == 2
                    )
            elif verb and text.removeprefix("back ").split()[0] in PREPOSITIONS:
                yield f"{verb} {thing} {text}".replace("  ", " ")
            elif verb and text.split()[0] not in self.verbs:
                yield f"{verb} {text}"
            return
        several = bool(re.search(r"\b(?:them|they)\b", text))
        words = re.findall(r"[\w'-]+", self._context or self._request)
        spans = (" ".join(words[a:b]) for a in range(len(words)) for b in (a + 2, a + 1))
        named = [span for span in spans if span in self._things.phrases][::-1]
        mentions = [
            mention
            for mention in (*dict.fromkeys(reversed(self._mentions)), *named)
            if not _IT.search(mention) and not _THERE.search(mention)
        ]
        if several and len(single := list(dict.fromkeys(map(self.object_of, mentions)))) > 1:
            mentions.append(" and ".join(name for name in single if name))
        mentions.sort(key=lambda mention: (len(self.objects_of(mention)) > 1) is not several)
        for mention in mentions:
            thing = mention if pronoun is _IT else f"to {mention}"
            yield from self._standing_alone(pronoun.sub(thing, text, count=1))

    def order(self, text: str) -> list[Formula] | None:
        """Parse an order without pronouns; return None for other texts."""
        if text in self._refused or not 0 < len(text.split()) <= _MOST_WORDS:
            return None
        self._refused.add(text)  # also while it is read, so that rewordings end
        found = self._ordered(text)
        if found is not None:
            self._refused.discard(text)
        return found

    def _ordered(self, text: str) -> list[Formula] | None:
        text = _KEEPING.sub(lambda match: plain_verb(match[1], {*self.verbs, *HOLDING}), text)
        text = _BACK.sub("", text)
        if (level := _LEVEL.fullmatch(text)) is not None:
            found = self._to_level(level["order"], level["how"], level["number"])
            if found is not None:
                return found
        times_free, times = repeated(self._without_amount(text))
        clause = self._clause(text)
        found = [clause] if clause is not None else self._by_action(times_free, times)
        if found is None and not times.times:
            for read in (
                partial(exchange, self),
                partial(tower, self),
                self._as_property,
                self._shared,
                self._by_agent,
                self._verbless,
                self._given,
                self._holding,
            ):
                found = found or read(text)
        for said in variants(times_free) if found is None else ():
            found = found or self._by_action(said, times)
        if found is None and (off := _OFF.fullmatch(text)) is not None:  # 'light' without 'put out'
            lit = self.order(f"turn on {off['what'] or off['thing']}")
            found = [Not(lit[0])] if lit is not None and isinstance(lit[0], Atom) else None
        return found or contrast(self, text) or self._except(text)

    def stated(self, subject: str, said: Property, *, deed: bool = False) -> Formula | None:
        found = super().stated(subject, said, deed=deed)
        if found is not None:
            self._mentions.append(subject)
        return found

    def _note(self, verb: str, thing: str, others: Sequence[str] = ()) -> None:
        self._mentions += [*others, thing]
        self._last = (verb, thing)
        self._things.mentioned += self.objects_of(thing)

    def _given(self, text: str) -> list[Formula] | None:
        """Parse 'give maria the letter' as 'give the letter to maria'."""
        match = _GIVING.fullmatch(text)
        return self.order(f"{match['verb']} {match['what']} to {match['whom']}") if match else None

    def _holding(self, text: str) -> list[Formula] | None:
        """Parse 'take the pail' in a world that has a hand but no action of this name."""
        word, _, thing = text.partition(" ")
        held = ("in the hand", "held", "carried") if word in HOLDING and thing else ()
        clauses = [f"{thing} is {how}" for how in held]
        clauses += [f"{how} {thing}" for how in ("holding", "carrying") if held]
        clauses += [f"{thing} has"] if held else []
        for clause in clauses:
            found = self._clause(clause)
            if found is not None:
                self._note(word, thing)
                return [found]
        return None

    def _except(self, text: str) -> list[Formula] | None:
        """Parse 'put every block on the table except red', in which red is not a block to put."""
        if self._excepting:
            return None
        match = EXCEPTION.fullmatch(text)
        words = match["head"].split() if match is not None else []
        self._excepting = bool(words)
        nouns = [n for n in range(1, len(words)) if self._things.is_noun(words[n - 1])]
        for at in nouns:
            assert match is not None
            out = re.sub(r"\bones?\b", words[at - 1], match["out"])
            found = self.order(" ".join((*words[:at], out, *words[at:])))
            if found is not None:
                break
        else:
            found = None
        self._excepting = False
        return found

    def _shared(self, text: str) -> list[Formula] | None:
        """Parse 'clean and lock cage1': several verbs with one object."""
        match = _SHARED.fullmatch(text)
        verbs = [*match["verbs"].split(", "), match["last"]] if match is not None else []
        if not verbs or not {*verbs} <= self.verbs:
            return None
        assert match is not None
        found = [self.order(f"{verb} {match['rest']}") for verb in verbs]
        known = [one for one in found if one is not None]
        return [f for one in known for f in one] if len(known) == len(found) else None

    def _by_agent(self, text: str) -> list[Formula] | None:
        """Parse 'rita should open it', 'have rita open it', 'rita, open it'."""
        words = text.split()
        if words[0] in _ASKING:
            for at in range(2, min(len(words), 6)):
                rest = words[at + 1 :] if words[at] == "to" else words[at:]
                if rest and rest[0] in self.verbs and self._thing(" ".join(words[1:at])):
                    return self._agreed(" ".join(rest), " ".join(words[1:at]))
        match = _OUGHT.search(text)
        who, order = (text[: match.start()].strip(), text[match.end() :]) if match else ("", "")
        if who and order.split()[:1] and order.split()[0] in self.verbs and self._thing(who):
            return self._agreed(order, who)
        return None

    def occurrences(self, who: str, deed: str) -> list[Atom]:
        """Return the occurrences of actions by someone with things: any action for "touch"."""
        verb, _, thing = deed.partition(" ")
        return occurrences_of(
            self.domain, self.objects, verb, (self.objects_of(who), self.objects_of(thing))
        )

    def _agreed(self, order: str, who: str) -> list[Formula] | None:
        """Parse an order together with the person or object that carries it out."""
        found = self._by_action(order, Repetition(), who)
        means = self._thing(who) or self._thing(f"a {who}")
        if found is None and means is not None:
            found = self._placed(order, means)
        return found

    # --- the world's actions -------------------------------------------------------------

    def _without_amount(self, text: str) -> str:
        """Drop 'with water' from 'fill the tun with water' if actions change the water's amount."""
        head, _, last = text.rpartition(" with ")
        amount, _, name = last.partition(" ")
        changes = (c for a in self.domain.actions.values() for c in changes_of(a.effect))
        numbers = {words_of(c.fluent.function) for c in changes if isinstance(c, NumericEffect)}
        if amount.isdecimal() and name in numbers:
            return f"{head} by {amount}"
        return head if head and last in numbers else text

    def _by_action(self, text: str, times: Repetition, who: str = "") -> list[Formula] | None:
        text = self._unhyphened(text)
        for order in self._imperatives:
            for said in order.arguments(text):
                pairs = (*said, ("with", who)) if who else said
                for known in order.assignments(pairs, self._fits):
                    direct = bool(pairs) and not pairs[0][0]
                    try:
                        found = self._action(order, known, times, direct=direct)
                    except LanguageError as error:  # another assignment may be meant
                        self._failure = self._failure or error
                        continue
                    if found is not None:
                        main, *others = known.values() or [""]
                        self._note(order.verb, main if direct else "", others)
                        return [found]
        return None

    def _unhyphened(self, text: str) -> str:
        for name in self.domain.actions:
            text = text.replace(name, words_of(name)) if "-" in name else text
        return text

    def _to_level(self, order: str, how: str | None, number: str) -> list[Formula] | None:
        """Parse 'fill the cart with at least 10 ore': a bound on the number that a verb changes."""
        failure = self._failure
        found = self._by_action(order, Repetition(2)) or self._by_action(order, Repetition())
        self._failure = failure
        changed = found[0] if found is not None else None
        if not isinstance(changed, Comparison):
            return None
        operator = OPERATORS[how] if how else changed.operator
        return [Comparison(operator, changed.left, Number(Decimal(number)))]

    def _fits(self, text: str, parameter: TypedName) -> bool:
        return text == _SUBJECT or self._thing(text, parameter) is not None

    def _participle(self, text: str) -> Property | None:
        """Parse the participle of an action with its arguments: "fed by bob"."""
        word, _, rest = text.partition(" ")
        verb = self._participles.get(word, "" if rest or word not in self._own_verbs else word)
        if not verb:
            done, _, who = text.rpartition(" by ")
            said_, means = self.property(done) if done else None, self._thing(who)
            return self._by_means(said_, means) if said_ is not None and means else None

        def said(name: str, types: tuple[str, ...]) -> Formula | None:
            for order in self._imperatives:
                for pairs in order.arguments(f"{verb} {_SUBJECT} {rest}".strip()):
                    for known in order.assignments(pairs, self._fits):
                        made = self._made(order, known, Repetition(), direct=True)
                        parameter = order.action.parameters[next(iter(known))]
                        if made is not None and self._is_a(types, parameter):
                            return made(name, types)
            return None

        return said

    def _action(
        self, order: Imperative, known: Mapping[int, str], times: Repetition, *, direct: bool
    ) -> Formula | None:
        made = self._made(order, known, times, direct=direct)
        main = next(iter(known), None)
        if made is None or main is None:
            return None if made is None else made("", ())
        thing = self._thing(known[main], order.action.parameters[main])
        return None if thing is None else self._of_all(thing, made, deed=True)

    def _made(
        self, order: Imperative, known: Mapping[int, str], times: Repetition, *, direct: bool
    ) -> Property | None:
        """Return the property that an imperative requests of its first argument, or None.

        The first argument has no preposition if `direct`; `known` holds the words of the others.
        """
        parameters = order.action.parameters
        index = {p.name: i for i, p in enumerate(parameters)}
        asked = self._asked(order, [parameters[n].name for n in known], times)
        if asked is None:
            return None
        effect, positive = asked
        named = [
            index[a] for a in (effect.args if isinstance(effect, Atom) else effect.fluent.args)
        ]
        main = next(iter(known), None)
        things: dict[int, Thing | str] = {}
        for n in known:
            thing = self._thing(known[n], parameters[n]) if n != main else None
            things[n] = thing if thing is not None else _SUBJECT
        extra = [n for n in known if n not in named and n not in order.origins]
        occurs = sorted(known) if extra else []
        absent = [n for n in named if n not in known]
        for n in absent:
            things[n] = self._any(parameters[n], positive=positive)
        first = things[named[0]] if named else ""
        vague = isinstance(first, Thing) and named[0] in absent and len(first.members) > 1
        if vague and not direct:
            return None  # 'drive to the harbour' does not say which truck
        slots = [*named, *(n for n in occurs if n not in named)]
        denies = any(isinstance(t, Thing) and t.quantifier == NONE for t in things.values())
        make = partial(self._effect, order, asked, slots, occurs, times, denies=denies)

        def said(name: str, _: tuple[str, ...]) -> Formula | None:
            if not self._leaves(order, known, name):
                return None
            args = [name if things[n] == _SUBJECT else things[n] for n in slots]
            formula = self.nested(args, make)
            if formula is None or name.startswith("?"):
                return formula
            holds = self._holds(formula) if not occurs else False
            if holds and isinstance(effect, Atom):
                if not positive and len(effect.args) > 1:
                    raise LanguageError(f"cannot {order.verb} {name!r}: it is not there now")
                if absent and positive:
                    return None  # 'drive truck1' does not say where to
            return formula

        return said

    def _effect(
        self,
        order: Imperative,
        asked: tuple[Atom | NumericEffect, bool],
        slots: Sequence[int],
        occurs: Sequence[int],
        times: Repetition,
        names: Sequence[str],
        *,
        denies: bool,
    ) -> Formula | None:
        """Return an effect on `names` in `slots`, and the occurrence of the action on `occurs`."""
        effect, positive = asked
        found = dict(zip(slots, names, strict=True))
        args = effect.args if isinstance(effect, Atom) else effect.fluent.args
        mine = list(names[: len(args)])
        if len({*mine}) < len(mine):
            raise NamedTwiceError(f"{order.verb!r} names {mine[0]!r} twice: name two things")
        made: Formula | None
        if isinstance(effect, NumericEffect):
            made = self._changed(effect, mine, times)
        else:
            atom = Atom(effect.predicate, tuple(mine))
            made = atom if positive or denies else Not(atom)
        if not occurs or made is None:
            return made
        return all_of([made, occurrence(order.action.name, {n: found[n] for n in occurs})])

    def _leaves(self, order: Imperative, known: Mapping[int, str], name: str) -> bool:
        """Check that an object is at the place that it is to leave; LanguageError if it is not."""
        names = [p.name for p in order.action.parameters]
        main = next(iter(known), None)
        args = {names[n]: name if n == main else self.object_of(t) for n, t in known.items()}
        origins = {names[n] for n in order.origins & {*known}}
        for atom, made in literals_of(order.action.effect):
            there = Atom(atom.predicate, tuple(args.get(a) or "?" for a in atom.args))
            known_all = not any(arg.startswith("?") for arg in there.args)
            if not made and origins & {*atom.args} and known_all and there not in self.problem.init:
                raise LanguageError(f"{there.args[0]} is not at {there.args[-1]} now")
        return True

    def _asked(
        self, order: Imperative, names: Sequence[str], times: Repetition
    ) -> tuple[Atom | NumericEffect, bool] | None:
        asked = order.asked(names, self._added, counts=times.times > 1)
        asked = asked or order.asked(names, self._added, counts=False)
        if times.times > 1 and asked is not None and isinstance(asked[0], Atom):
            raise LanguageError(f"hvr cannot repeat {order.verb!r}: the action changes no number")
        return asked

    def _any(self, parameter: TypedName, *, positive: bool) -> Thing:
        members = tuple(self._members(*parameter.types))
        if not positive:
            return Thing(members, NONE, parameter.types[0])
        return Thing(members, SOME if len(members) > 1 else "", parameter.types[0])

    def _changed(
        self, change: NumericEffect, args: Sequence[str], times: Repetition
    ) -> Formula | None:
        """Return the goal for a number: its current value after the requested change."""
        assert isinstance(change.amount, Number)
        amount = change.amount.value
        whole = times.times if times.total else amount * (times.times or 1)
        fluent = FunctionTerm(change.fluent.function, tuple(args))
        if any(arg.startswith("?") for arg in args):
            return None
        if change.operator == "assign":
            return Comparison("=", fluent, Number(amount))
        now = self.problem.numeric_init.get(fluent)
        if now is None:
            raise LanguageError(f"the number {fluent} has no value now, so it cannot change")
        if change.operator == "increase":
            return Comparison(">=", fluent, Number(now + whole))
        return Comparison("<=", fluent, Number(now - whole))

    # --- verbs with a property -----------------------------------------------------------

    def _as_property(self, text: str) -> list[Formula] | None:
        """Parse 'bring X to Y', 'make X clear', 'clear X', optionally with means: 'with truck1'."""
        means = [
            (text[: match.start()] + text[match.end() :], match["means"])
            for match in _MEANS.finditer(text)
        ]
        found = None
        for order, how in means if _WITH.search(text) else ():
            found = found or self._agreed(order, how)
        found = found or self._placed(text, None)
        for order, how in means if found is None else ():
            thing = self._thing(how)
            if thing is not None and not thing.quantifier and not thing.parts:
                found = found or self._placed(order, thing)
        return found

    def _placed(self, text: str, means: Thing | None) -> list[Formula] | None:
        verb, *words = text.split() or [""]
        for at in range(1, len(words) + 1):
            thing, rest = " ".join(words[:at]), _ADVERBS.sub("", " ".join(words[at:]))
            said = self._brought("bring" if means is not None and rest else verb, rest)
            if said is not None and means is not None:
                said = self._by_means(said, means)
            formula = self.stated(thing, said, deed=True) if said is not None else None
            if formula is not None:
                self._note(verb, thing, [_last_place(rest)] if rest else [])
                return [formula]
        return None

    def _brought(self, verb: str, rest: str) -> Property | None:
        """Return the property that a verb requests together with the words after its object."""
        if verb in _GENERIC:
            if not rest:
                return None
            if (away := _AWAY.fullmatch(rest)) is not None:
                place = self._thing(away["place"])
                return self._away(place) if place is not None else None
            given = _TO.fullmatch(rest) if verb in _GIVEN else None
            who = self._thing(given["who"]) if given is not None else None
            ways = [self.property(rest), self._received(who) if who is not None else None]
            return first_of([way for way in ways if way is not None])
        for form in (*(participles(verb) if verb not in self._own_verbs else ()), verb):
            found = self.property(f"{form} {rest}".strip())
            if found is not None:
                return found
        return None

    def _away(self, place: Thing) -> Property:
        def said(name: str, types: tuple[str, ...]) -> Formula | None:
            ways = [self._related(mark, place)(name, types) for mark in ("on", "in", "at")]
            known = list(dict.fromkeys(way for way in ways if way is not None))
            if not known:
                return None
            if len(known) == 1 and not name.startswith("?") and not self._holds(known[0]):
                raise LanguageError(f"{name} is not there now")
            return all_of([Not(one) for one in known])

        return said

    def _by_means(self, said: Property, means: Thing) -> Property:
        """Return a property that must be brought about by an action that uses the means."""

        def made(name: str, types: tuple[str, ...]) -> Formula | None:
            formula = said(name, types)
            if not isinstance(formula, Atom):
                return None
            ways = []
            for action in self.domain.actions.values():
                names = [p.name for p in action.parameters]
                for effect, positive in literals_of(action.effect):
                    if not positive or effect.predicate != formula.predicate:
                        continue
                    pairs = zip(effect.args, formula.args, strict=True)
                    given = {names.index(a): b for a, b in pairs if a in names}
                    for n, parameter in enumerate(action.parameters):
                        if n in given or (fit := self._fitting(means, parameter)) is None:
                            continue
                        make = partial(self._occurring, action.name, given, n)
                        done = self.nested([fit], make)
                        ways += [done] if done is not None else []
            if not ways:
                return None
            return all_of([formula, ways[0] if len(ways) == 1 else Or(tuple(ways))])

        return made

    @staticmethod
    def _occurring(
        action: str, given: Mapping[int, str], slot: int, names: Sequence[str]
    ) -> Formula | None:
        return occurrence(action, {**given, slot: names[0]})

    def _verbless(self, text: str) -> list[Formula] | None:
        """Parse a wish without a verb: 'no ball in the study', 'red on green'."""
        if (existing := _EXISTS.fullmatch(text)) is not None:
            text = existing["rest"]
        words = text.split()
        for at in range(1, len(words)):
            rest = " ".join(words[at:])
            said = self.property(rest) if words[0] not in self.verbs else None
            formula = self.stated(" ".join(words[:at]), said) if said is not None else None
            if formula is not None:
                self._note("put", " ".join(words[:at]), [_last_place(rest)])
                return [formula]
        return None


_MOST_VERSIONS = 100
"""Maximum number of ways to replace pronouns that are tried."""
_MOST_WORDS = 40
"""Maximum number of words of one order."""

_SUBJECT = "\0"
"""Placeholder for the subject of a property."""


def _last_place(text: str) -> str:
    words = text.split()
    at = max((n + 1 for n, word in enumerate(words) if word in PREPOSITIONS), default=0)
    return " ".join(words[at:])
