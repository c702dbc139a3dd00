"""Read names, variables, numbers and typed lists, which all parts of PDDL share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import islice, repeat
from typing import NoReturn

from hvr.base.printable import nearest
from hvr.pddl.formulas import OBJECT, TypedName
from hvr.pddl.reader import Group, Node, SourceText, Word, first_of, head_of, same_words
from hvr.pddl.state import MAX_DIGITS

Types = tuple[str, ...]

NAME = re.compile(r"[^\W\d_][\w\-.'/@+#&%!*~$|]*")
ANY_NAME = re.compile(r"[^\W_][\w\-.'/@+#&%!*~$|]*")
"""Names as planners accept them: they may begin with a digit."""
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
RESERVED = frozenset(
    {"and", "or", "not", "imply", "forall", "exists", "when", "either", "define", "="}
)


class ListReader:
    """A reader of names, typed lists and keywords; messages name the construct being read."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.context = ""
        # Share equal numbers: there may be hundreds of thousands of initial values.
        self._numbers: dict[str, Decimal] = {}
        self._variables: dict[str, tuple[TypedName, ...]] = {}

    # Errors ---------------------------------------------------------------------------------

    def syntax(self, node: Node, message: str, expected: str = "") -> NoReturn:
        self.source.syntax_error(
            node.offset, message, expected=expected, found=describe(node), context=self.context
        )

    def semantic(self, node: Node, message: str, **details: str) -> NoReturn:
        self.source.semantic_error(node.offset, message, context=self.context, **details)

    def overlook(self, node: Node, message: str, expected: str = "") -> None:
        self.source.overlook(node.offset, message, context=self.context, expected=expected)

    def declared_again(self, node: Node, message: str, *, same: bool) -> None:
        """Reject a second declaration, except that a lenient reader only warns if it is `same`."""
        if same:
            self.overlook(node, message)
        else:
            self.semantic(node, f"{message}, with different contents", expected="one declaration")

    def written_again(self, node: Node, message: str, first: Group, second: Group) -> None:
        """Reject a second declaration; a lenient reader accepts one with the same words."""
        self.declared_again(node, message, same=same_words(first, second))

    def undeclared(self, node: Word, what: str, known: Iterable[str]) -> NoReturn:
        names = list(known)
        self.semantic(
            node,
            f"the {what} {node.text!r} is not declared",
            expected=choices(what, names),
            suggestion=nearest(node.text, names),
        )

    def unsupported(self, node: Node, feature: str) -> NoReturn:
        self.source.unsupported(node.offset, feature, context=self.context)

    # Pieces ---------------------------------------------------------------------------------

    def group(self, node: Node, expected: str) -> Group:
        if not isinstance(node, Group):
            self.syntax(node, f"this must be a list, not {describe(node)}", expected)
        return node

    def word(self, node: Node, expected: str) -> Word:
        if not isinstance(node, Word):
            self.syntax(node, f"this must be {expected}, not a list", expected)
        return node

    def head(self, group: Group, expected: str) -> Word:
        first = first_of(group)
        if first is None:
            self.syntax(group, "an empty list", expected)
        return self.word(first, expected)

    def name(self, node: Node, what: str) -> Word:
        """Read a new or known name, which messages call `what` ("object", "action")."""
        word = self.word(node, f"{article(what)} name")
        text = word.text
        if not ANY_NAME.fullmatch(text):
            expected = f"{article(what)} name: a letter, then letters, digits, '-' and '_'"
            if text.startswith("-") and len(text) > 1:
                expected += f"; or '- {text[1:]}' with a space, if this is a type"
            self.syntax(word, f"{text!r} cannot be {article(what)} name", expected)
        if text in RESERVED:
            self.syntax(
                word,
                f"{text!r} is a reserved word and cannot be {article(what)} name",
                f"another {what} name",
            )
        if not NAME.match(text):
            self.source.note_digit(word.offset, text)
        return word

    def variable(self, node: Node) -> Word:
        word = self.word(node, "a ?variable")
        if not word.text.startswith("?") or not ANY_NAME.fullmatch(word.text[1:]):
            self.syntax(word, f"{word.text!r} cannot be a variable", "a ?variable")
        if not NAME.match(word.text, 1):
            self.source.note_digit(word.offset, word.text)
        return word

    def typed_list(
        self, items: list[Node], what: str, *, types: Iterable[str] | None
    ) -> list[tuple[TypedName, Word]]:
        """Read a typed list such as `a b - t c - (either u v) d`; return each name with its token.

        Args:
            what: Noun for an item in messages. "variable" requires ?variables instead of names.
            types: The declared types, or None to accept any type name.
        """
        read = self.variable if what == "variable" else (lambda node: self.name(node, what))
        known = None if types is None else {OBJECT, *types}
        result: list[tuple[TypedName, Word]] = []
        waiting: list[Word] = []
        index = 0
        items = self._split_dashes(items)
        while index < len(items):
            node = items[index]
            if not (isinstance(node, Word) and node.text == "-"):
                waiting.append(read(node))
                index += 1
                continue
            if not waiting:
                self.syntax(node, "a type without a name before it", f"{article(what)} before '-'")
            if index + 1 == len(items):
                self.syntax(node, "the type after '-' is missing", "a type")
            of = self._types(items[index + 1], known)
            result += [(TypedName(w.text, of), w) for w in waiting]
            waiting = []
            index += 2
        result += [(TypedName(w.text), w) for w in waiting]
        return result

    def _split_dashes(self, items: list[Node]) -> list[Node]:
        """Split `-type` into `- type`, because some competition domains omit the space."""
        glued = [n for n in items if isinstance(n, Word) and n.text[0] == "-" and n.text != "-"]
        if not glued:
            return items
        result: list[Node] = []
        for node in items:
            if isinstance(node, Word) and NAME.fullmatch(node.text[1:]) and node.text[0] == "-":
                message = "a '-' without a space after it"
                self.source.warn(node.offset, message, expected=f"- {node.text[1:]}")
                result += [Word("-", node.offset), Word(node.text[1:], node.offset + 1)]
            else:
                result.append(node)
        return result

    def variables(self, group: Group, what: str, types: Iterable[str]) -> tuple[TypedName, ...]:
        plain = None if group.text is None else self.plain_variables(group.text, types)
        if plain is not None:
            return plain
        return self.distinct(self.typed_list(group.items, "variable", types=types), what)

    def plain_variables(self, text: str, types: Iterable[str]) -> tuple[TypedName, ...] | None:
        """Read a typed list of variables; return None if it is not well-formed."""
        known = self._variables.get(text)
        if known is not None:
            return known
        names = self._plain_list(text.split(), types)
        if names is None:
            return None
        for name in names:
            if name[0] != "?" or not NAME.fullmatch(name, 1):
                return None
        # Many actions and predicates share their parameter lists.
        read = self._variables[text] = tuple([TypedName(n, of) for n, of in names.items()])
        return read

    def plain_names(self, group: Group, types: Iterable[str]) -> dict[str, Types] | None:
        """Return the types by name from a keyword and a typed list, or None if malformed."""
        text = group.text
        names = None if text is None else self._plain_list(text.split()[1:], types)
        if text is None or names is None or not RESERVED.isdisjoint(names):
            return None
        if all(map(NAME.fullmatch, names)):
            return names
        if not all(map(ANY_NAME.fullmatch, names)):
            return None
        first = next(name for name in names if not NAME.match(name))
        place = re.search(rf"(?<!\S){re.escape(first)}(?!\S)", text)
        assert place is not None
        self.source.note_digit(group.offset + 1 + place.start(), first)
        return names

    def _plain_list(self, items: list[str], types: Iterable[str]) -> dict[str, Types] | None:
        known = {OBJECT, *types}
        result: dict[str, Types] = {}
        count = place = 0
        while place < len(items):
            try:
                dash = items.index("-", place)
                kind = items[dash + 1]
            except ValueError:
                dash, kind = len(items), OBJECT
            except IndexError:
                return None
            if dash == place or kind not in known:
                return None
            result.update(zip(islice(items, place, dash), repeat((kind,))))
            count += dash - place
            place = dash + 2
        return None if len(result) < count else result

    def distinct(self, names: list[tuple[TypedName, Word]], what: str) -> tuple[TypedName, ...]:
        """Merge repeated names, with a warning, into one name with all their types.

        Some competition problems declare the types of an object one by one. Repeated parameters are
        errors; so are repeated variables unless the reader is lenient.
        """
        by_name: dict[str, TypedName] = {}
        for item, word in names:
            types = item.types
            if (other := by_name.get(item.name)) is not None:
                message = f"the {what} {item.name!r} is declared twice"
                if what == "parameter":
                    # Merging parameters would change the arity.
                    self.semantic(word, message, expected="parameters that differ")
                if word.text.startswith("?"):
                    self.overlook(word, message)
                else:
                    self.source.warn(word.offset, message)
                types = tuple(dict.fromkeys((*other.types, *types)))
            by_name[item.name] = TypedName(item.name, types)
        return tuple(by_name.values())

    def number(self, node: Node) -> Decimal:
        word = self.word(node, "a number")
        if not NUMBER.fullmatch(word.text):
            shown = word.text if len(word.text) <= 40 else word.text[:40] + "…"
            self.syntax(word, f"{shown!r} is not a number", "a number")
        if len(word.text) > MAX_DIGITS:
            self.syntax(word, f"a number with more than {MAX_DIGITS} digits", "a shorter number")
        return self.known_number(word.text)

    def known_number(self, text: str) -> Decimal:
        """Return the value of a well-formed number; equal numbers share one value."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = Decimal(text)
        return number

    def _types(self, node: Node, known: set[str] | None) -> Types:
        if isinstance(node, Word):
            names = [self.name(node, "type")]
        else:
            head = self.head(node, "a type or (either type …)")
            if head.text != "either" or len(node.items) < 2:
                self.syntax(head, "this is not a type", "a type or (either type …)")
            names = [self.name(n, "type") for n in node.items[1:]]
        for word in names:
            if known is not None and word.text not in known:
                self.undeclared(word, "type", known)
        return tuple([w.text for w in names])


def describe(node: Node) -> str:
    if isinstance(node, Word):
        text = node.text if len(node.text) <= 40 else node.text[:40] + "…"
        return repr(text)
    if not node.items:
        return "'()'"
    first = node.items[0]
    return f"a list '({first.text[:40]} …)'" if isinstance(first, Word) else "a list of lists"


def choices(what: str, names: list[str]) -> str:
    if not names:
        return f"{article(what)}; none is declared"
    shown = sorted(names)
    more = ", …" if len(shown) > 8 else ""
    return f"one of {', '.join(shown[:8])}{more}"


def article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def arguments_text(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


# Flattening ---------------------------------------------------------------------------------------
# Iterative flattening of deeply nested lists where it does not change their meaning.

_MERGED = ("and", "or", "+", "*")
"""Associative operators: `(f … (f a b) …)` equals `(f … a b …)`."""


def flatten(top: list[Node]) -> None:
    """Flatten nested lists in place.

    * `(and (and a b) c)` becomes `(and a b c)`, also for `or`, `+` and `*`; `(and a)` becomes `a`;
    * `(not (not a))` becomes `a`;
    * `(imply a (imply b c))` becomes `(imply (and a b) c)`, also for `when`;
    * `(forall (?a) (forall (?b) c))` becomes `(forall (?a ?b) c)`, also for `exists`.
    """
    order = [node for node in top if isinstance(node, Group)]
    for group in order:
        order += [item for item in group.items if isinstance(item, Group)]
    # Innermost first: a collapsed list must not hide its parent from the next pass.
    absorbed: set[int] = set()
    for group in reversed(order):
        absorbed.update(map(id, _collapse(group)))
    # Outermost first, so that each chain is traversed once.
    for group in order:
        head = head_of(group)
        if id(group) in absorbed:
            continue
        if head in _MERGED:
            absorbed.update(map(id, _merge(group, head)))
        elif head in ("imply", "when"):
            absorbed.update(map(id, _conditions(group, head)))
        elif head in ("forall", "exists"):
            absorbed.update(map(id, _variables(group, head)))


def _collapse(group: Group) -> list[Group]:
    # Returns the lists that were absorbed.
    taken: list[Group] = []
    while len(group.items) == 2 and head_of(group) in ("and", "or", "not"):
        inner = group.items[1]
        if head_of(group) == "not" and isinstance(inner, Group):
            if head_of(inner) != "not" or len(inner.items) != 2:
                break
            inner = inner.items[1]
        if not isinstance(inner, Group) or not inner.items:
            break
        taken.append(inner)
        group.items = inner.items
    return taken


def _merge(group: Group, head: str) -> list[Group]:
    flat: list[Node] = []
    merged: list[Group] = []
    # The items still to copy; the last one is next.
    waiting = group.items[:0:-1]
    while waiting:
        item = waiting.pop()
        # Keep `(+ 1)` as it is: a sum needs two operands, and the reader must report it.
        least = 3 if head in "+*" else 1
        if isinstance(item, Group) and head_of(item) == head and len(item.items) >= least:
            merged.append(item)
            waiting += item.items[:0:-1]
        else:
            flat.append(item)
    group.items = [group.items[0], *flat]
    return merged


def _conditions(group: Group, head: str) -> list[Group]:
    chain = _chain(group, head, lambda _: True)
    if len(chain) > 1:
        conditions = [link.items[1] for link in chain]
        both = Group(group.offset)
        both.items = [Word("and", group.offset), *conditions]
        group.items = [group.items[0], both, chain[-1].items[2]]
        return [*chain[1:], *_merge(both, "and")]
    return []


def _variables(group: Group, head: str) -> list[Group]:
    lists: list[list[Node]] = []
    seen: set[tuple[str, ...]] = set()
    names: set[str] = set()

    def fits(link: Group) -> bool:
        listed = link.items[1]
        if not isinstance(listed, Group):
            return False
        own = _untyped(listed)
        # Only an identical list may hide an outer variable: otherwise the types may differ.
        if own is None or not names.isdisjoint(own):
            return tuple(_texts(listed.items)) in seen
        names.update(own)
        seen.add(tuple(_texts(listed.items)))
        lists.append(listed.items)
        return True

    if len(group.items) != 3 or not fits(group):
        return []
    chain = _chain(group, head, fits)
    if len(chain) > 1:
        both = Group(group.items[1].offset)
        both.items = [word for words in lists for word in _typed(words)]
        group.items = [group.items[0], both, chain[-1].items[2]]
    return chain[1:]


def _chain(group: Group, head: str, fits: Callable[[Group], bool]) -> list[Group]:
    chain = [group] if len(group.items) == 3 else []
    while chain:
        inner = chain[-1].items[2]
        if not isinstance(inner, Group) or head_of(inner) != head or len(inner.items) != 3:
            break
        if not fits(inner):
            break
        chain.append(inner)
    return chain


def _texts(words: list[Node]) -> list[str]:
    return [word.text for word in words if isinstance(word, Word)]


def _untyped(listed: Group) -> list[str] | None:
    texts = _texts(listed.items)
    if len(texts) < len(listed.items):
        return None
    names = [text for text in texts if text[0] == "?"]
    return names if len(set(names)) == len(names) else None


def _typed(words: list[Node]) -> list[Node]:
    """Append "- object" to a typed list that ends with names without a type."""
    if len(words) >= 3 and isinstance(words[-2], Word) and words[-2].text == "-":
        return words
    if not words:
        return words
    place = words[-1].offset
    return [*words, Word("-", place), Word("object", place)]
