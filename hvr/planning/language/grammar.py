"""Sentences to meaning: a recursive-descent reader over the lexicon.

    request   := clause ((then | and | , | .) clause)*
    clause    := verb things place* | 'I want' things [be state] | things be state
    thing     := [determiner] [number] adjective* head (place | contents | state)*

Where a word can be several things ("toast", "open", "water"), its neighbours decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hvr.errors import LanguageError
from hvr.planning.language.lexicon import (
    Adjective,
    Dish,
    Entry,
    Function,
    Lexicon,
    Noun,
    Verb,
    tokenize,
)
from hvr.planning.language.meaning import Condition, Entity, Meaning, Relation
from hvr.planning.language.taxonomy import Taxonomy

_PARTICLES = frozenset({"on", "off", "up", "down", "away", "out", "back", "in", "open"})
_NP_STARTS = frozenset({"det", "number", "pronoun", "slice"})
_PUNCTUATION = frozenset(".;,!?")
_LIQUID_DISHES = ("water", "coffee", "wine")


def read(text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> Meaning:
    """The meaning of a request.

    Args:
        text: English sentences or fragments.
        lexicon: the known words.
        taxonomy: the class hierarchy.

    Raises:
        LanguageError: nothing, or something essential, was not understood.
    """
    return _Reader(text, lexicon, taxonomy).request()


class _Reader:
    def __init__(self, text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> None:
        self.text = text
        self.lexicon = lexicon
        self.taxonomy = taxonomy
        self.tokens = tokenize(text)
        self.at = 0
        self.clause = 0
        self.entities: list[Entity] = []
        self.relations: list[Relation] = []
        self.notes: list[str] = []
        self.focus: list[int] = []
        self.born: list[int] = []
        self.alias: dict[int, int] = {}
        self.requested = False

    # --- looking at words ---------------------------------------------------------------

    def look(self, at: int | None = None) -> tuple[int, tuple[Entry, ...]]:
        return self.lexicon.match(self.tokens, self.at if at is None else at)

    def function(self, *roles: str, at: int | None = None) -> tuple[int, Function] | None:
        """The longest phrase at the position that has one of the roles."""
        start = self.at if at is None else at
        for length in range(min(self.lexicon.longest, len(self.tokens) - start), 0, -1):
            for entry in self.lexicon.entries.get(self.tokens[start : start + length], ()):
                if isinstance(entry, Function) and entry.role in roles:
                    return length, entry
        return None

    def take(self, *roles: str) -> Function | None:
        found = self.function(*roles)
        if found is None:
            return None
        self.at += found[0]
        return found[1]

    def kind(self, wanted: type[Entry], at: int | None = None) -> tuple[int, Entry] | None:
        """The longest phrase at the position that is of a kind (verb, noun, …)."""
        start = self.at if at is None else at
        for length in range(min(self.lexicon.longest, len(self.tokens) - start), 0, -1):
            for entry in self.lexicon.entries.get(self.tokens[start : start + length], ()):
                if isinstance(entry, wanted):
                    return length, entry
        return None

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def word(self) -> str:
        return self.tokens[self.at] if not self.done else "the end"

    def rest(self) -> str:
        return " ".join(self.tokens[self.at : self.at + 6])

    def skip_fillers(self) -> None:
        while not self.done:
            if self.verb_here() is not None:
                return
            if self.take("filler", "first") is None:
                return

    # --- request and clauses --------------------------------------------------------------

    def request(self) -> Meaning:
        self.check_vocabulary()
        while not self.done:
            if self.word() in _PUNCTUATION:
                self.at += 1
                continue
            if self.take("then", "and"):
                continue
            before = self.at
            self.read_clause()
            self.clause += 1
            if self.at == before:
                raise self.lost()
        if not self.requested:
            raise LanguageError(
                f"nothing to do was found in {self.text!r}: say a verb and a thing, "
                "for example 'wash the mug'"
            )
        return Meaning(
            self.text, tuple(self.entities), tuple(self.relations), self.clause, tuple(self.notes)
        )

    def check_vocabulary(self) -> None:
        """Refuse what is not understood at all; say which known words are nearest."""
        unknown = []
        position = 0
        content = 0
        while position < len(self.tokens):
            length, entries = self.look(position)
            if length == 0 and self.split_verb(position) is not None:
                content += 1
                position += 1
                continue
            if length == 0:
                token = self.tokens[position]
                if token not in _PUNCTUATION and not token.isdigit() and not _is_name(token):
                    unknown.append(token)
                content += _is_name(token)
                position += 1
                continue
            content += any(not isinstance(entry, Function) for entry in entries)
            for entry in entries:
                if isinstance(entry, Function) and entry.role in {"unsupported", "unplaced"}:
                    phrase = " ".join(self.tokens[position : position + length])
                    if entry.role == "unplaced":
                        raise LanguageError(
                            f"hvr can put things on or in something; it does not understand "
                            f"{phrase!r}"
                        )
                    raise LanguageError(
                        f"hvr does not understand conditions, choices or exceptions such as "
                        f"{phrase!r}: say only what shall be done"
                    )
            position += length
        if not content:
            raise LanguageError(
                f"no word of {self.text!r} is known{self.hints(unknown)}; "
                "`docs/language.md` lists the words"
            )
        if unknown:
            quoted = ", ".join(repr(word) for word in unknown)
            raise LanguageError(f"unknown word: {quoted}{self.hints(unknown)}")

    def hints(self, unknown: list[str]) -> str:
        near = [hint for word in unknown for hint in self.lexicon.nearest(word)]
        return f" (did you mean {', '.join(dict.fromkeys(near))}?)" if near else ""

    def lost(self) -> LanguageError:
        return LanguageError(f"hvr cannot make sense of {self.rest()!r} in {self.text!r}")

    def verb_here(self) -> tuple[int, Verb] | None:
        """The verb at the position, if it reads as one there."""
        found = self.kind(Verb)
        if found is None:
            return None
        length, verb = found
        assert isinstance(verb, Verb)
        others = [
            self.kind(wanted) for wanted in (Adjective, Noun, Dish)
        ] + [self.function("prep", "filler", "det", "of", "from", "slice")]  # fmt: skip
        longer = [other for other in others if other is not None and other[0] > length]
        if longer:
            return None
        if any(other is not None for other in others):
            following = self.at + length
            if following >= len(self.tokens):
                return None
            if not self.starts_thing(following):
                return None
        return length, verb

    def split_verb(self, at: int | None = None) -> Callable[[str], Verb | None] | None:
        """'turn … on': the first word of two-word verbs, when they are said apart."""
        said = self.tokens[self.at if at is None else at]
        word = _base(said)
        forms = {
            key[1]: entry
            for key, entries in self.lexicon.entries.items()
            if len(key) == 2 and key[0] in (said, word) and key[1] in _PARTICLES
            for entry in entries
            if isinstance(entry, Verb)
        }
        return forms.get if forms else None

    def starts_thing(self, at: int) -> bool:
        if at >= len(self.tokens):
            return False
        if self.function(*_NP_STARTS, at=at) or _is_name(self.tokens[at]):
            return True
        if self.tokens[at].isdigit() or self.function("filler", at=at):
            return True
        return any(self.kind(wanted, at=at) for wanted in (Noun, Dish, Adjective))

    def read_clause(self) -> None:
        self.skip_fillers()
        if self.done:
            return
        if self.take("ensure"):
            self.skip_fillers()
            self.goal_clause()
            return
        verb = self.verb_here()
        if verb is None and self.function("goal"):
            self.take("goal")
            if self.take("yourself"):
                self.read_clause()
                return
            self.skip_fillers()
            self.goal_clause()
            return
        split = self.split_verb()
        if verb is not None:
            self.particle_verb(verb, split)
        elif split is not None:
            self.at += 1
            self.separated(split, None)
        elif self.starts_thing(self.at):
            self.goal_clause()
        else:
            raise self.lost()

    def particle_verb(
        self, found: tuple[int, Verb], split: Callable[[str], Verb | None] | None
    ) -> None:
        length, verb = found
        self.at += length
        if split is not None and length == 1:
            self.separated(split, verb)
        else:
            self.verb_clause(verb)

    def separated(self, split: Callable[[str], Verb | None], single: Verb | None) -> None:
        """A verb whose particle may follow its object: 'turn the tap on'."""
        position = self.at
        depth = 0
        while position < len(self.tokens) and depth < 7:
            token = self.tokens[position]
            if token in _PUNCTUATION or (position > self.at and self.function("then", at=position)):
                break
            if position > self.at and token in _PARTICLES:
                verb = split(token)
                ends = position + 1 >= len(self.tokens) or not self.starts_thing(position + 1)
                if verb is not None and ends:
                    self.tokens = self.tokens[:position] + self.tokens[position + 1 :]
                    self.verb_clause(verb)
                    return
            position += 1
            depth += 1
        if single is None:
            raise self.lost()
        self.verb_clause(single)

    # --- verbs --------------------------------------------------------------------------

    def verb_clause(self, verb: Verb) -> None:
        self.requested = True
        while not self.done and self.function("filler") and not self.starts_only_thing():
            self.take("filler")
        frame = verb.frame
        if frame == "state":
            self.state_clause(verb)
        elif frame in {"put", "discard", "drop"}:
            self.put_clause(verb)
        elif frame == "hold":
            self.hold_clause(verb)
        elif frame == "fill":
            self.fill_clause(verb)
        elif frame == "pour":
            self.pour_clause(verb)
        else:
            self.make_clause(verb)

    def starts_only_thing(self) -> bool:
        found = self.function("filler")
        other = self.kind(Noun) or self.kind(Dish)
        return bool(found and other and other[0] >= found[0])

    def state_clause(self, verb: Verb) -> None:
        things = self.things(verb.word, attach_places=False)
        ends = (verb.condition or "").startswith("(not (filled")
        liquid = [index for index in things if self.entities[index].liquid]
        if ends and liquid:
            raise LanguageError(f"say which vessel to empty, not what is in it: {self.rest()!r}")
        for index in things:
            self.demand(index, verb.condition or "", verb.word, verb.requires)
            self.heat_vessel(index, verb.condition or "")
        self.adjuncts(things, verb)
        things = self.live(things)
        if (verb.condition or "").startswith("(sliced") or verb.condition == "(cracked ?x)":
            self.focus = [self.pieces_of(index) for index in things]
        else:
            self.focus = list(things)

    def heat_vessel(self, index: int, condition: str) -> None:
        """Water that is boiled or heated wants a kettle or a pot, unless a vessel was said."""
        entity = self.entities[index]
        if entity.liquid and entity.text in _LIQUID_DISHES and "hot" in condition:
            stove = "stove_heated" in condition
            classes = ("Kettle", "Pot") if stove else ("Kettle", "Mug", "Cup", "Pot")
            self.entities[index] = replace(entity, classes=classes, rests=False)

    def adjuncts(self, things: list[int], verb: Verb) -> None:
        """Places, means and tools after the objects of a verb."""
        heating = verb.condition is not None and any(
            word in verb.condition for word in ("hot", "cooked")
        )
        while not self.done:
            while self.take("filler"):
                pass
            if self.take("means") or (self.function("with") and self.with_tool()):
                for index in self.things("using", attach_places=False):
                    self.method(things, index, verb)
            elif self.take("from"):
                self.come_from(things)
            elif self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                outer = self.things(word, attach_places=not heating)
                for index in outer:
                    is_a = self.is_a(index)
                    if verb.frame == "state" and (
                        (heating and (is_a("HeatSource") or is_a("StoveKnob")))
                        or ("cold" in (verb.condition or "") and is_a("ColdSource"))
                        or ("washed" in (verb.condition or "") and is_a("SinkBasin"))
                    ):
                        self.method(things, index, verb)
                    elif heating and self.entities[self.live(things)[0]].liquid and (
                        is_a("Fillable")
                    ):
                        self.pour_into(things, index)
                    elif heating and (is_a("Pan") or is_a("Pot")):
                        self.forget(index)
                    elif verb.condition == "(sliced ?x)" and (
                        is_a("CuttingTool") or is_a("WorkSurface")
                    ):
                        self.forget(index)
                    else:
                        self.place(things, [index], word)
            else:
                return

    def with_tool(self) -> bool:
        """Take 'with' if what follows is a tool or water, not contents."""
        found = self.function("with")
        assert found is not None
        at = self.at + found[0]
        det = self.function("det", at=at)
        at += det[0] if det else 0
        noun = self.kind(Noun, at=at) or self.kind(Dish, at=at)
        if noun is None:
            return False
        self.at += found[0]
        return True

    def method(self, things: list[int], index: int, verb: Verb) -> None:
        """'in the microwave', 'on the stove', 'with a knife': how it is to be done."""
        is_a = self.is_a(index)
        mark = None
        if is_a("Microwave"):
            mark = "(microwaved ?x)"
        elif is_a("StoveBurner") or is_a("StoveKnob"):
            mark = "(stove_heated ?x)"
        elif is_a("Toaster"):
            mark = "(toasted ?x)"
        elif is_a("ColdSource"):
            mark = "(chilled ?x)"
        elif not (
            is_a("CuttingTool") or is_a("Utensil") or is_a("Cutlery") or is_a("SinkBasin")
            or is_a("Faucet") or is_a("DishSponge") or is_a("SoapBottle") or is_a("Cookware")
            or is_a("CoffeeMachine") or self.entities[index].liquid == "water"
        ):  # fmt: skip
            raise LanguageError(
                f"hvr does not know how to {verb.word} something with "
                f"{self.entities[index].text!r}"
            )
        self.forget(index)
        if mark:
            for thing in things:
                self.demand(thing, mark, verb.word, None)

    def put_clause(self, verb: Verb) -> None:
        things = self.things(verb.word, attach_places=False)
        if verb.frame == "discard":
            bin_index = self.new(Entity(("GarbageCan",), "garbage can"))
            while not self.done and self.function("prep", "from", "filler"):
                if self.take("from"):
                    self.come_from(things)
                elif self.take("prep"):
                    for index in self.things("in", attach_places=False):
                        if not self.is_a(index)("GarbageCan"):
                            raise LanguageError(
                                "things are thrown into a garbage can; to put them elsewhere "
                                "say 'put'"
                            )
                        self.forget(index)
                else:
                    self.take("filler")
            self.relate(things, bin_index, verb.word)
            self.focus = self.live(things)
            return
        if verb.frame == "drop":
            floor = self.new(Entity(("Floor",), "floor"))
            if self.function("prep"):
                self.forget(floor)
            else:
                self.relate(things, floor, verb.word)
                return
        placed = False
        while not self.done:
            if self.take("filler"):
                continue
            if self.take("from"):
                self.come_from(things)
            elif self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                target = self.things(word, attach_places=True)
                self.place(things, target[:1], word)
                placed = True
                for extra in target[1:]:
                    self.place(things, [extra], word)
            elif self.function("with") and self.take("with"):
                others = self.things("with", attach_places=False)
                things = things + others
            else:
                break
        if not placed:
            self.put_nowhere(verb, things)
        self.focus = self.live(things)

    def put_nowhere(self, verb: Verb, things: list[int]) -> None:
        entity = self.entities[things[0]]
        if verb.word in {"set", "lay", "set up"} and entity.classes == ("DiningTable",):
            self.forget(things[0])
            dish = self.kind_of("table setting")
            assert dish is not None
            self.dish(dish, None, 1)
            return
        if verb.word in {"put down", "set down", "leave", "drop off"}:
            for index in things:
                self.entities[index] = replace(self.entities[index], rests=True)
            return
        if verb.word in {"bring", "carry", "deliver"}:
            for index in things:
                self.demand(index, "(holding ?x)", verb.word, "Pickupable")
            return
        raise LanguageError(
            f"{verb.word} {entity.text} where? Say the place, for example "
            f"'{verb.word} {entity.text} on the table'"
        )

    def kind_of(self, phrase: str) -> Dish | None:
        return next((e for e in self.lexicon.lookup(phrase) if isinstance(e, Dish)), None)

    def hold_clause(self, verb: Verb) -> None:
        before = len(self.entities)
        things = self.things(verb.word, attach_places=False)
        dishes = [index for index in range(before, len(self.entities))
                  if self.entities[index].liquid or self.entities[index].conditions]  # fmt: skip
        placed = False
        while not self.done:
            if self.take("filler"):
                continue
            if self.take("from"):
                self.come_from(things)
            elif self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                self.place(things, self.things(word, attach_places=True)[:1], word)
                placed = True
            else:
                break
        if not placed and not dishes:
            for index in things:
                self.demand(index, verb.condition or "(holding ?x)", verb.word, verb.requires)
        self.focus = self.live(things)

    def fill_clause(self, verb: Verb) -> None:
        things = self.things(verb.word, attach_places=False, attach_contents=False)
        liquid = "water"
        if self.take("with") or self.take("means"):
            contents = self.things("with", attach_places=False)
            liquid = self.liquid_of(contents, verb.word)
        for index in things:
            entity = self.entities[index]
            self.entities[index] = replace(
                entity, liquid=liquid, liquid_clause=self.clause, rests=False
            )
            self.demand(index, "(present ?x)", verb.word, verb.requires)
        self.adjuncts(things, verb)
        self.focus = self.live(things)

    def liquid_of(self, contents: list[int], word: str) -> str:
        liquid = None
        for index in contents:
            liquid = self.entities[index].liquid or liquid
            self.forget(index)
        if liquid is None:
            raise LanguageError(f"hvr can {word} with water, coffee or wine only")
        return liquid

    def pour_clause(self, verb: Verb) -> None:
        while self.take("filler"):
            pass
        things = self.things(verb.word, attach_places=False)
        sources = [i for i in things if self.entities[i].liquid is None]
        while self.take("from"):
            for index in self.things("from", attach_places=False):
                self.forget(index)
        while self.take("filler"):
            pass
        if self.function("prep"):
            self.take("prep")
            target = self.things("into", attach_places=True)[0]
            if sources and self.is_a(target)("SinkBasin"):
                self.forget(target)
                for index in sources:
                    self.demand(index, "(not (filled ?x))", verb.word, "Fillable")
                return
            if sources:
                liquid = "wine" if self.is_a(sources[0])("WineBottle") else "water"
                for index in sources:
                    self.forget(index)
            else:
                liquid = self.entities[things[0]].liquid or "water"
                for index in things:
                    self.forget(index)
            entity = self.entities[target]
            self.entities[target] = replace(entity, liquid=liquid, liquid_clause=self.clause)
            self.demand(target, "(present ?x)", verb.word, "Fillable")
            self.focus = [target]
        elif sources:
            raise LanguageError(
                f"pour {self.entities[sources[0]].text} into what? "
                "Say for example 'pour the wine into a cup'"
            )
        else:
            self.focus = self.live(things)

    def make_clause(self, verb: Verb) -> None:
        before = len(self.entities)
        things = self.things(verb.word, attach_places=True)
        serving = verb.frame == "serve"
        placed = False
        while not self.done:
            if self.take("filler"):
                continue
            if self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                self.place(things, self.things(word, attach_places=True)[:1], word)
                placed = True
            elif self.take("means"):
                for index in self.things("using", attach_places=False):
                    self.method(things, index, verb)
            elif self.take("from"):
                self.come_from(things)
            else:
                break
        for index in self.live(things):
            entity = self.entities[index]
            has_place = placed or any(r.inner == index for r in self.relations)
            if serving and not has_place:
                self.entities[index] = replace(entity, serve=True, rests=False)
            elif not serving and index < before + 0 and not entity.conditions:
                continue
            plain = not (entity.conditions or entity.liquid or has_place or entity.serve)
            if plain and not self.holds_something(index) and not serving:
                pieces = self.taxonomy.pieces(entity.classes[0])
                what = f"slice the {entity.text}" if pieces else f"bring the {entity.text}"
                raise LanguageError(
                    f"hvr does not know how to make {entity.text!r}; say what to do with it, "
                    f"for example '{what}'"
                )
        self.focus = self.live(things)

    def holds_something(self, index: int) -> bool:
        return any(relation.outer == index for relation in self.relations)

    def goal_clause(self) -> None:
        """'a hot coffee on the table', 'the mug should be clean'."""
        self.requested = True
        things = self.things("want", attach_places=True)
        while not self.done:
            if self.take("be"):
                self.predicate(things)
            elif self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                self.place(things, self.things(word, attach_places=True)[:1], word)
            elif adjective := self.adjective():
                self.apply(things, adjective)
            elif not self.take("filler"):
                break
        for index in self.live(things):
            entity = self.entities[index]
            idle = not (entity.conditions or entity.liquid or entity.serve)
            related = any(index in (r.inner, r.outer) for r in self.relations)
            if idle and not related:
                if any(self.taxonomy.source(c) for c in entity.classes):
                    self.demand(index, "(present ?x)", "want", None)
                else:
                    self.demand(index, "(holding ?x)", "want", "Pickupable")
        self.focus = self.live(things)

    def predicate(self, things: list[int]) -> None:
        """What follows 'is': adjectives and places, joined by 'and'."""
        while not self.done:
            if self.take("filler"):
                continue
            if adjective := self.adjective():
                self.apply(things, adjective)
            elif self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                self.place(things, self.things(word, attach_places=True)[:1], word)
            elif self.function("with"):
                self.take("with")
                self.contents(things[0], None)
            elif self.word() in {"on", "off"} or self.lexicon.lookup(f"switched {self.word()}"):
                self.at += 1
            else:
                raise self.lost()
            found = self.function("and")
            after = self.at + found[0] if found else self.at
            if found and (
                self.kind(Adjective, at=after) or self.function("prep", at=after)
            ) and not self.clause_starts(after):  # fmt: skip
                self.at = after
                continue
            return

    def adjective(self) -> Adjective | None:
        found = self.kind(Adjective)
        if found is None:
            return None
        self.at += found[0]
        assert isinstance(found[1], Adjective)
        return found[1]

    def apply(self, things: list[int], adjective: Adjective) -> None:
        for index in things:
            if adjective.selects:
                entity = self.entities[index]
                self.entities[index] = replace(
                    entity, selectors=(*entity.selectors, adjective.condition)
                )
            else:
                self.demand(index, adjective.condition, adjective.word, adjective.requires)
                self.heat_vessel(index, adjective.condition)

    # --- things -------------------------------------------------------------------------

    def things(
        self, after: str, *, attach_places: bool, attach_contents: bool = True
    ) -> list[int]:
        """One or more things joined by 'and' or commas."""
        found = self.thing(after, attach_places, attach_contents)
        while not self.done:
            joined = self.at
            if self.tokens[joined] == ",":
                joined += 1
            linker = self.function("and", at=joined)
            if linker:
                joined += linker[0]
            if joined == self.at or joined >= len(self.tokens) or self.clause_starts(joined):
                break
            if not self.starts_thing(joined):
                break
            self.at = joined
            found += self.thing(after, attach_places, attach_contents)
        return found

    def clause_starts(self, at: int) -> bool:
        saved, self.at = self.at, at
        try:
            while self.function("then", "first", "filler") and not self.verb_here():
                self.take("then", "first", "filler")
            if self.verb_here() or self.function("goal", "ensure"):
                return True
            split = self.split_verb() if not self.done else None
            if split is not None and self.kind(Noun) is None and self.kind(Dish) is None:
                return True
            return self.copular(self.at)
        finally:
            self.at = saved

    def copular(self, at: int) -> bool:
        """'…, the fridge should be closed': a thing followed by 'is'."""
        position = at
        while position < len(self.tokens) and position < at + 6:
            if self.tokens[position] in _PUNCTUATION or self.function("and", "then", at=position):
                return False
            if position > at and self.function("be", at=position):
                return not self.tokens[position - 1] in {"that", "which"}
            position += 1
        return False

    def thing(self, after: str, attach_places: bool, attach_contents: bool) -> list[int]:
        while self.function("filler") and not self.starts_only_thing():
            self.take("filler")
        if self.done:
            raise LanguageError(f"{after} what? The request ends too early: {self.text!r}")
        if pronoun := self.take("pronoun"):
            if not self.focus:
                raise LanguageError(f"it is not clear what {pronoun.value!r} stands for")
            return self.live(self.focus)
        count, definite, other = self.determiner()
        adjectives = self.adjectives()
        start = self.at
        found = self.head(count, definite, other, adjectives, after)
        text = " ".join(self.tokens[start : self.at])
        for index in found:
            if not self.entities[index].text:
                self.entities[index] = replace(self.entities[index], text=text)
        self.post_modifiers(found, attach_places, attach_contents)
        return found

    def determiner(self) -> tuple[int | None, bool, bool]:
        """Count (None: not said), whether 'the', whether 'another'."""
        count: int | None = None
        definite = other = False
        while not self.done:
            if self.word().isdigit():
                count = int(self.word())
                self.at += 1
                self.take("of")
                continue
            found = self.function("number")
            det = self.function("det")
            if found and (det is None or found[0] >= det[0]):
                self.at += found[0]
                count = int(found[1].value)
                if self.take("of"):
                    continue
                continue
            if det is None:
                break
            noun = self.kind(Noun) or self.kind(Dish)
            if noun and noun[0] > det[0]:
                break
            self.at += det[0]
            value = det[1].value
            if value == "the":
                definite = True
            elif value == "other":
                other = True
            elif count is None:
                count = int(value)
        if count is not None and count > 20:
            raise LanguageError(f"{count} of them are more than a kitchen holds")
        return count, definite, other

    def adjectives(self) -> list[Adjective]:
        found: list[Adjective] = []
        while not self.done:
            noun = self.kind(Noun) or self.kind(Dish)
            adjective = self.kind(Adjective)
            if adjective and (noun is None or noun[0] < adjective[0] + 1):
                self.at += adjective[0]
                assert isinstance(adjective[1], Adjective)
                found.append(adjective[1])
                linker = self.function("and")
                comma = self.word() == ","
                after = self.at + (linker[0] if linker else int(comma))
                if (linker or comma) and self.kind(Adjective, at=after):
                    if self.kind(Noun, at=after) or not self.starts_thing(after):
                        continue
                    self.at = after
                continue
            if noun is None and self.take("filler"):
                continue
            return found
        return found

    def head(
        self,
        count: int | None,
        definite: bool,
        other: bool,
        adjectives: list[Adjective],
        after: str,
    ) -> list[int]:
        if _is_name(self.word()):
            name = self.word()
            self.at += 1
            return [self.named(name, adjectives)]
        if self.function("slice") and not self.kind(Dish):
            return self.slices(count, definite, adjectives)
        dish = self.kind(Dish)
        noun = self.kind(Noun)
        if dish and (noun is None or dish[0] >= noun[0]):
            compound = self.compound_slices(noun)
            if compound is None:
                self.at += dish[0]
                assert isinstance(dish[1], Dish)
                return self.dish(dish[1], adjectives, count or 1, definite=definite)
        if noun is None:
            if self.done:
                raise LanguageError(f"{after} what? The request ends too early: {self.text!r}")
            raise LanguageError(
                f"{after} what? {self.rest()!r} is not a thing that hvr knows"
            )
        assert isinstance(noun[1], Noun)
        compound = self.compound_slices(noun)
        if compound is not None:
            self.at = compound
            return [self.piece(noun[1], count, definite, adjectives)]
        start = self.at
        self.at += noun[0]
        nouns = self.nouns_at(start, noun[0])
        text = " ".join(self.tokens[start : self.at])
        if self.function("of"):
            filled = self.vessel_of(nouns, count, adjectives, text)
            if filled is not None:
                return filled
        return [self.noun(nouns, count, definite, other, adjectives, text)]

    def nouns_at(self, start: int, length: int) -> list[Noun]:
        entries = self.lexicon.entries[self.tokens[start : start + length]]
        return [entry for entry in entries if isinstance(entry, Noun)]

    def named(self, name: str, adjectives: list[Adjective]) -> int:
        object_class = self.taxonomy.class_of_type(name.rsplit("-", 1)[0])
        if object_class is None:
            raise LanguageError(f"{name!r} does not name an object: the type is not known")
        for index, entity in enumerate(self.entities):
            if entity.name == name:
                return index
        index = self.new(Entity((object_class,), name, name=name))
        self.qualify([index], adjectives)
        return index

    def compound_slices(self, noun: tuple[int, Entry] | None) -> int | None:
        """Position after 'tomato slices', if that is what stands here."""
        if noun is None or not isinstance(noun[1], Noun):
            return None
        after = self.at + noun[0]
        found = self.function("slice", at=after)
        if found and self.taxonomy.pieces(noun[1].object_class):
            return after + found[0]
        return None

    def slices(
        self, count: int | None, definite: bool, adjectives: list[Adjective]
    ) -> list[int]:
        plural = self.word().endswith("s")
        self.take("slice")
        if not self.take("of"):
            if self.focus:
                return self.live(self.focus)
            raise LanguageError("a slice of what? Say for example 'a slice of bread'")
        _, inner_definite, _ = self.determiner()
        adjectives = adjectives + self.adjectives()
        dish = self.kind(Dish)
        noun = self.kind(Noun)
        if dish and (noun is None or dish[0] > noun[0]):
            self.at += dish[0]
            assert isinstance(dish[1], Dish)
            return self.dish(dish[1], adjectives, count or 1)
        if noun is None or not isinstance(noun[1], Noun):
            raise LanguageError(f"a slice of what? {self.rest()!r} is not a thing that hvr knows")
        self.at += noun[0]
        said = Noun(noun[1].object_class, plural)
        return [self.piece(said, count, definite or inner_definite, adjectives)]

    def piece(
        self, noun: Noun, count: int | None, definite: bool, adjectives: list[Adjective]
    ) -> int:
        pieces = self.taxonomy.pieces(noun.object_class) or noun.object_class
        if not self.taxonomy.is_a(pieces, "Slice"):
            label = self.taxonomy.label(noun.object_class)
            raise LanguageError(f"a {label} cannot be cut into slices")
        plural = self.tokens[self.at - 1].endswith("s") or noun.plural
        if count is None and plural:
            count = 0 if definite else -1
        kept = [a for a in adjectives if not a.condition.startswith("(sliced")]
        return self.noun([Noun(pieces)], count, definite, False, kept, self.taxonomy.label(pieces))

    def vessel_of(
        self, nouns: list[Noun], count: int | None, adjectives: list[Adjective], text: str
    ) -> list[int] | None:
        """'a cup of coffee', 'a bowl of salad': a vessel with something in it."""
        vessels = [n for n in nouns if self.taxonomy.is_a(n.object_class, "Receptacle")
                   or self.taxonomy.is_a(n.object_class, "Fillable")]  # fmt: skip
        if not vessels:
            return None
        found = self.function("of")
        assert found is not None
        after = self.at + found[0]
        if not (self.kind(Dish, at=after) or self.starts_thing(after)):
            return None
        self.at = after
        inner_adjectives = self.adjectives()
        index = self.new(Entity((vessels[0].object_class,), text, count=count or 1))
        dish = self.kind(Dish)
        if dish:
            self.at += dish[0]
            assert isinstance(dish[1], Dish)
            self.fill_with(index, dish[1], inner_adjectives)
            self.qualify([index], adjectives)
        else:
            for inner in self.thing("of", False, True):
                self.relations.append(Relation(inner, index, self.clause, "of"))
                self.qualify([inner], inner_adjectives)
            self.qualify([index], adjectives)
        return [index]

    def fill_with(self, index: int, dish: Dish, adjectives: list[Adjective]) -> None:
        """Put a dish into the vessel `index`."""
        if dish.liquid:
            self.entities[index] = replace(
                self.entities[index], liquid=dish.liquid, liquid_clause=self.clause,
                rests=self.entities[index].rests or dish.liquid == "coffee",
            )  # fmt: skip
            self.qualify([index], adjectives)
        else:
            self.parts(dish, index, adjectives)

    def parts(self, dish: Dish, vessel: int, adjectives: list[Adjective]) -> list[int]:
        made = []
        for part in dish.parts:
            conditions = ()
            if part.condition:
                conditions = (Condition(part.condition, self.clause, dish.word),)
            inner = self.new(
                Entity((part.object_class,), self.taxonomy.label(part.object_class),
                       count=part.count, conditions=conditions)
            )  # fmt: skip
            self.relations.append(Relation(inner, vessel, self.clause, dish.word))
            self.qualify([inner], adjectives)
            made.append(inner)
        return made

    def dish(
        self,
        dish: Dish,
        adjectives: list[Adjective] | None,
        count: int,
        *,
        definite: bool = False,
    ) -> list[int]:
        """The vessels (or the places) of a dish, with the dish in them."""
        if definite and (known := self.known_dish(dish)) is not None:
            return [known]
        made = []
        if dish.at:
            place = self.new(Entity((dish.at,), self.taxonomy.label(dish.at)))
            for _ in range(count):
                self.parts(dish, place, [])
            return [place]
        copies = max(count, 1)
        for _ in range(copies):
            index = self.new(
                Entity(dish.vessels, dish.word, liquid=dish.liquid, liquid_clause=self.clause,
                       rests=dish.liquid is not None, distinct=copies > 1)
            )  # fmt: skip
            if dish.liquid:
                self.qualify([index], adjectives or [])
                if adjectives and dish.word == "water":
                    for adjective in adjectives:
                        self.heat_vessel(index, adjective.condition)
            else:
                self.parts(dish, index, adjectives or [])
            made.append(index)
        return made

    def known_dish(self, dish: Dish) -> int | None:
        """'the coffee' after 'make coffee': the same vessel."""
        for index in range(len(self.entities) - 1, -1, -1):
            entity = self.entities[index]
            if dish.liquid and entity.liquid == dish.liquid and entity.classes:
                return index
            if not dish.liquid and entity.text == dish.word and entity.classes:
                return index
        return None

    def noun(
        self,
        nouns: list[Noun],
        count: int | None,
        definite: bool,
        other: bool,
        adjectives: list[Adjective],
        text: str,
    ) -> int:
        classes: list[str] = []
        group = False
        for entry in nouns:
            concrete = self.taxonomy.concrete(entry.object_class)
            group = group or len(concrete) > 1
            classes += [c for c in concrete if c not in classes]
        if any(a.condition.startswith("(sliced") for a in adjectives):
            pieces = [p for c in classes if (p := self.taxonomy.pieces(c))]
            if pieces:
                said = Noun(classes[0], nouns[0].plural)
                return self.piece(said, count or 1, definite, adjectives)
        if not other and (definite or count is None):
            known = self.known(classes)
            if known is not None and count is None:
                self.qualify([known], adjectives)
                return known
        plural = any(entry.plural for entry in nouns)
        if count is None:
            count = (0 if definite else -1) if plural else 1
        index = self.new(
            Entity(tuple(classes), text, group=group, count=count, distinct=other)
        )
        self.qualify([index], adjectives)
        return index

    def known(self, classes: list[str]) -> int | None:
        """An entity already spoken of that 'the …' can mean; slices after slicing."""
        for index in range(len(self.entities) - 1, -1, -1):
            entity = self.entities[index]
            fresh = self.is_vessel_default(index) and self.born[index] == self.clause
            if entity.classes and set(entity.classes) & set(classes) and not fresh:
                sliced = any(c.template.startswith(("(sliced", "(cracked"))
                             and c.clause < self.clause for c in entity.conditions)  # fmt: skip
                return self.pieces_of(index) if sliced else index
        return None

    def pieces_of(self, index: int) -> int:
        """The entity for the pieces of a thing that is being cut."""
        entity = self.entities[index]
        pieces = tuple(p for c in entity.classes if (p := self.taxonomy.pieces(c)))
        if not pieces:
            return index
        for other, known in enumerate(self.entities):
            if known.classes == pieces:
                return other
        return self.new(Entity(pieces, self.taxonomy.label(pieces[0])))

    def post_modifiers(
        self, things: list[int], attach_places: bool, attach_contents: bool
    ) -> None:
        while not self.done:
            if attach_contents and self.function("with"):
                saved = self.at
                self.take("with")
                if not self.contents(things[0], things):
                    self.at = saved
                    return
            elif self.function("be") and self.word() in {"that", "which"}:
                self.take("be")
                self.relative(things, attach_places)
            elif attach_places and self.function("from"):
                self.take("from")
                self.come_from(things)
            elif attach_places and self.function("prep"):
                word = str(self.take("prep").value)  # type: ignore[union-attr]
                self.place(things, self.things_one(word), word)
            else:
                return

    def things_one(self, word: str) -> list[int]:
        return self.thing(word, True, True)[:1]

    def relative(self, things: list[int], attach_places: bool) -> None:
        """'that is in the fridge' picks out; 'that is hot' is wanted."""
        if self.function("prep"):
            self.take("prep")
            if attach_places:
                self.place(things, self.things_one("in"), "in")
            else:
                self.come_from(things)
        else:
            self.predicate(things)

    def contents(self, outer: int, things: list[int] | None) -> bool:
        """What follows 'with': a liquid, or things on or in it. False: not contents."""
        taxonomy = self.taxonomy
        at = self.at
        det = self.function("det", at=at)
        at += det[0] if det else 0
        noun = self.kind(Noun, at=at)
        tool = noun and isinstance(noun[1], Noun) and (
            taxonomy.is_a(noun[1].object_class, "CuttingTool")
            or taxonomy.is_a(noun[1].object_class, "Appliance")
        )  # fmt: skip
        outer_entity = self.entities[outer]
        receptacle = any(
            taxonomy.is_a(c, "Receptacle") or taxonomy.is_a(c, "Fillable")
            for c in outer_entity.classes
        )
        if tool or not receptacle:
            return False
        while not self.done:
            saved = self.at
            self.determiner()
            adjectives = self.adjectives()
            dish = self.kind(Dish)
            if dish and isinstance(dish[1], Dish) and dish[1].liquid:
                self.at += dish[0]
                self.fill_with(outer, dish[1], adjectives)
            else:
                self.at = saved
                for inner in self.thing("with", False, False):
                    inner = self.as_ingredient(inner, outer)
                    if inner != outer:
                        self.relations.append(Relation(inner, outer, self.clause, "with"))
            self.trailing_place()
            linker = self.function("and")
            after = self.at + (linker[0] if linker else 0)
            if linker is None and self.word() == ",":
                after = self.at + 1
            if after == self.at or self.clause_starts(after) or not self.starts_thing(after):
                break
            self.at = after
        del things
        return True

    def trailing_place(self) -> None:
        """'with an egg on it': the pronoun is the vessel itself."""
        found = self.function("prep")
        if found and self.function("pronoun", at=self.at + found[0]):
            self.at += found[0]
            self.take("pronoun")

    def as_ingredient(self, inner: int, outer: int) -> int:
        """Salad 'with tomato': slices, when the dish already has its parts."""
        entity = self.entities[inner]
        is_dish = any(r.outer == outer and r.word != "with" for r in self.relations)
        if not is_dish or not entity.classes:
            return inner
        pieces = self.taxonomy.pieces(entity.classes[0])
        wanted = pieces or entity.classes[0]
        for relation in self.relations:
            if relation.outer == outer and self.entities[relation.inner].classes == (wanted,):
                self.forget(inner)
                return outer
        if pieces:
            self.entities[inner] = replace(entity, classes=(pieces,))
        return inner

    # --- building -----------------------------------------------------------------------

    def new(self, entity: Entity) -> int:
        self.entities.append(entity)
        self.born.append(self.clause)
        return len(self.entities) - 1

    def forget(self, index: int) -> None:
        """Drop an entity that was only a means; its number stays taken."""
        self.entities[index] = Entity((), "")
        self.relations = [r for r in self.relations if index not in (r.inner, r.outer)]

    def is_a(self, index: int) -> Callable[[str], bool]:
        classes = self.entities[index].classes
        return lambda wanted: any(self.taxonomy.is_a(c, wanted) for c in classes)

    def demand(self, index: int, template: str, word: str, requires: str | None) -> None:
        entity = self.entities[index]
        condition = Condition(template, self.clause, word, requires)
        if condition not in entity.conditions:
            self.entities[index] = replace(entity, conditions=(*entity.conditions, condition))

    def qualify(self, things: list[int], adjectives: list[Adjective]) -> None:
        for adjective in adjectives:
            if not adjective.condition.startswith("(sliced"):
                self.apply(things, adjective)

    def place(self, things: list[int], outer: list[int], word: str) -> None:
        for index in outer:
            things = self.live(things)
            is_a = self.is_a(index)
            if not self.entities[index].classes:
                continue
            if not is_a("Receptacle"):
                if is_a("Fillable") and any(self.entities[i].liquid for i in things):
                    self.pour_into(things, index)
                    continue
                raise LanguageError(
                    f"things cannot be put on or in {self.entities[index].text!r}: "
                    "it is not a receptacle"
                )
            liquids = [i for i in things if self.is_vessel_default(i)]
            if liquids and is_a("Fillable"):
                self.pour_into(liquids, index)
                rest = [i for i in things if i not in liquids]
            elif any(self.entities[i].text and self.is_dish_vessel(i, index) for i in things):
                dishes = [i for i in things if self.is_dish_vessel(i, index)]
                for vessel in dishes:
                    self.replace_vessel(vessel, index)
                rest = [i for i in things if i not in dishes]
            else:
                rest = things
            self.relate(rest, index, word)

    def is_vessel_default(self, index: int) -> bool:
        """The vessel of a liquid that no one named: 'coffee', not 'a mug of coffee'."""
        entity = self.entities[index]
        return entity.liquid is not None and len(entity.classes) > 1

    def is_dish_vessel(self, vessel: int, outer: int) -> bool:
        """The default plate of a dish, when the sentence now names a vessel for it."""
        entity = self.entities[vessel]
        vessels = {"Plate", "Bowl", "Pan", "Pot", "Mug", "Cup"}
        filled = any(r.outer == vessel for r in self.relations)
        said = self.taxonomy.label(entity.classes[0]) if entity.classes else ""
        return (
            filled
            and entity.liquid is None
            and entity.text != said
            and bool(entity.classes)
            and set(entity.classes) <= vessels
            and any(c in vessels for c in self.entities[outer].classes)
        )

    def live(self, things: list[int]) -> list[int]:
        """The entities that these have become, without those that were only means."""
        found: list[int] = []
        for index in things:
            while index in self.alias:
                index = self.alias[index]
            if self.entities[index].classes and index not in found:
                found.append(index)
        return found

    def replace_vessel(self, vessel: int, outer: int) -> None:
        self.relations = [
            replace(r, outer=outer) if r.outer == vessel else r for r in self.relations
        ]
        self.forget(vessel)
        self.alias[vessel] = outer

    def pour_into(self, things: list[int], target: int) -> None:
        """'coffee in a cup': the liquid and its conditions belong to the cup."""
        for index in things:
            source = self.entities[index]
            if index == target:
                continue
            self.entities[target] = replace(
                self.entities[target],
                liquid=source.liquid,
                liquid_clause=source.liquid_clause,
                conditions=(*self.entities[target].conditions, *source.conditions),
                rests=source.rests,
            )
            self.relations = [
                replace(r, inner=target) if r.inner == index else r for r in self.relations
            ]
            self.forget(index)
            self.alias[index] = target

    def relate(self, things: list[int], outer: int, word: str) -> None:
        for index in things:
            if index == outer:
                raise LanguageError(f"{self.entities[index].text!r} cannot be put in itself")
            if not self.entities[index].classes:
                continue
            relation = Relation(index, outer, self.clause, word)
            if relation not in self.relations:
                self.relations.append(relation)
            self.entities[index] = replace(self.entities[index], rests=False, serve=False)

    def come_from(self, things: list[int]) -> None:
        for outer in self.things("from", attach_places=False):
            classes = self.entities[outer].classes
            if not self.is_spoken_of(outer):
                self.forget(outer)
            for index in things:
                self.entities[index] = replace(self.entities[index], place_from=classes)

    def is_spoken_of(self, index: int) -> bool:
        """Something is already wanted of it, so that it is not only a place to come from."""
        entity = self.entities[index]
        related = any(index in (r.inner, r.outer) for r in self.relations)
        return bool(entity.conditions) or related or entity.liquid is not None


def _is_name(token: str) -> bool:
    head, _, number = token.rpartition("-")
    return bool(head) and number.isdigit()


def _base(word: str) -> str:
    """'turning' to 'turn', 'switching' to 'switch'."""
    if word.endswith("ing"):
        stem = word[:-3]
        return stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return word
