"""A fault-tolerant parser of PDDL texts: where each name is declared, read and changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

# Syntax -------------------------------------------------------------------------------------------
# A fault-tolerant reader of PDDL texts: words and lists with their positions.
#
# Lines and columns are 0-based; columns count characters. Tokens never cross a line, so an
# unchanged line needs no second pass.

# Texts --------------------------------------------------------------------------------------------
# Positions in texts in terms of the language server protocol, and the changes that an editor sends.

_LINE_END = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """Split text at any of the three line endings that the protocol allows."""
    return _LINE_END.split(text)


def units(text: str, encoding: str) -> int:
    """Return the length of a string in code units of `utf-8`, `utf-16` or `utf-32`."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    width = 1 if encoding == "utf-8" else 2
    # an editor may split a surrogate pair
    return len(text.encode(f"{encoding}-le" if width == 2 else encoding, "surrogatepass")) // width


def column(line: str, position: int, encoding: str) -> int:
    """Convert a position in code units to characters, at most the line's length."""
    if encoding == "utf-32" or line.isascii():
        return min(position, len(line))
    passed = count = 0
    for character in line:
        if passed >= position:
            break
        passed += units(character, encoding)
        count += 1
    return count


def offset(text: str, line: int, position: int, encoding: str) -> int:
    """Return the index of a position in the text; a position after the last line means the end."""
    start = 0
    for _ in range(line):
        end = _LINE_END.search(text, start)
        if end is None:
            return len(text)
        start = end.end()
    end = _LINE_END.search(text, start)
    last = len(text) if end is None else end.start()
    return start + column(text[start:last], position, encoding)


def changed(
    text: str, start: tuple[int, int], end: tuple[int, int], new: str, encoding: str
) -> str:
    """Return the text with the range between two positions replaced by `new`."""
    first, last = offset(text, *start, encoding), offset(text, *end, encoding)
    return text[:first] + new + text[max(first, last) :]


# --------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r";.*|[()]|[^\s();]+")


class Leaf:
    """A word in lower case, with the positions of its start and end."""

    __slots__ = ("end", "line", "start", "text")

    def __init__(self, text: str, line: int, start: int, end: int) -> None:
        self.text = text
        self.line = line
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Leaf({self.text!r}, {self.line}:{self.start})"


class List:
    """A list in parentheses; if it is not `closed`, it extends to the end of the text."""

    __slots__ = ("closed", "end", "end_line", "items", "line", "start")

    def __init__(self, line: int, start: int) -> None:
        self.items: list[Leaf | List] = []
        self.line = line
        self.start = start
        self.end_line = line
        self.end = start + 1
        self.closed = False

    @property
    def head(self) -> str:
        """The first word of the list; empty if the list does not begin with a word."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Leaf) else ""

    def contains(self, line: int, column: int) -> bool:
        """Return whether a position is between the parentheses."""
        inside = (self.line, self.start) < (line, column)
        return inside and (not self.closed or (line, column) < (self.end_line, self.end))

    def __repr__(self) -> str:
        return f"List({self.items!r})"


Item = Leaf | List


class Tree:
    """PDDL text as lines and as nested lists.

    Attributes:
        lines: The lines, without line endings.
        items: The words and lists at the top level.
        stray: Positions of unmatched closing parentheses.
    """

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.items: list[Item] = []
        self.stray: list[tuple[int, int]] = []
        stack: list[List] = []
        inner = self.items
        for number, line in enumerate(self.lines):
            for token, start, end in _tokens(line):
                if token == "(":
                    opened = List(number, start)
                    inner.append(opened)
                    stack.append(opened)
                    inner = opened.items
                elif token != ")":
                    inner.append(Leaf(token, number, start, end))
                elif stack:
                    closed = stack.pop()
                    closed.end_line, closed.end, closed.closed = number, end, True
                    inner = stack[-1].items if stack else self.items
                else:
                    self.stray.append((number, start))
        for left in stack:
            left.end_line, left.end = len(self.lines) - 1, len(self.lines[-1])

    def path(self, line: int, column: int) -> list[List]:
        """Return the lists that contain a position, from the outermost to the innermost."""
        path: list[List] = []
        items = self.items
        while True:
            around = [i for i in items if isinstance(i, List) and i.contains(line, column)]
            if not around:
                return path
            path.append(around[-1])
            items = around[-1].items

    def comment_above(self, line: int) -> str:
        """Return the comment directly above a line, without semicolons."""
        found: list[str] = []
        while line > 0 and (text := self.lines[line - 1].strip()).startswith(";"):
            found.append(text.lstrip("; ").rstrip("; "))
            line -= 1
        return "\n".join(text for text in reversed(found) if text.strip("-=*# "))


def line_tokens(line: str) -> Iterator[tuple[str, int, int]]:
    """Yield the parentheses and words of a line with their start and end columns; skip comments."""
    yield from _tokens(line)


@lru_cache(maxsize=50_000)
def _tokens(line: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        [
            (match.group().lower(), match.start(), match.end())
            for match in _TOKEN.finditer(line)
            if match.group()[0] != ";"
        ]
    )


# Symbols ------------------------------------------------------------------------------------------
# The names of a text: where each is declared, read and changed.


class Kind(StrEnum):
    """The kind of a name; two names of different kinds may be equal."""

    DOMAIN = "domain"
    PROBLEM = "problem"
    TYPE = "type"
    OBJECT = "object"
    RELATION = "relation"
    """A predicate or a function."""
    SCHEMA = "schema"
    """An action, a process, an event or a task."""
    METHOD = "method"
    VARIABLE = "variable"
    LABEL = "label"
    """A preference, or the id of a subtask."""


class Role(StrEnum):
    """The role of a name at one position."""

    DECLARED = "declared"
    READ = "read"
    ADDED = "added"
    DELETED = "deleted"
    CHANGED = "changed"
    """The assigned, increased or decreased function."""
    GIVEN = "given"
    """A fact or number in the initial state."""


class Occurrence(NamedTuple):
    """A name at one position.

    Attributes:
        scope: Number of the list that declares a variable or label; 0 for other kinds.
        schema: The surrounding action, method or other schema; empty if there is none.
    """

    kind: Kind
    name: str
    role: Role
    line: int
    start: int
    end: int
    scope: int = 0
    schema: str = ""

    @property
    def identity(self) -> tuple[Kind, str, int]:
        """Key shared by all occurrences of the same name."""
        return self.kind, self.name, self.scope


class Declaration(NamedTuple):
    """A declared name.

    Attributes:
        noun: The kind of name, such as "predicate" or "durative action".
        parameters: Variables with their types.
        types: For an object, its types; for a type, its supertypes.
    """

    occurrence: Occurrence
    noun: str
    parameters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    types: tuple[str, ...] = ()
    node: List | None = None


SCHEMAS = {
    ":action": "action",
    ":durative-action": "durative action",
    ":process": "process",
    ":event": "event",
    ":task": "task",
    ":method": "method",
}
CONNECTIVES = frozenset(
    "and or imply always sometime at-most-once sometime-after sometime-before within hold-during "
    "hold-after always-within".split()
)
_NUMERIC = frozenset("< > <= >= = + - * /".split())
_CHANGES = frozenset("assign increase decrease scale-up scale-down".split())
_NETWORKS = frozenset(":subtasks :ordered-subtasks :tasks :ordered-tasks".split())
_ORDERINGS = frozenset((":ordering", ":order"))


class _Scope(NamedTuple):
    """The variables or labels that a list declares, and the surrounding scope."""

    number: int
    names: frozenset[str]
    outer: _Scope | None


class Symbols:
    """All names in a domain or problem.

    Attributes:
        occurrences: All occurrences, in the order of the text.
        declarations: Declarations by kind, name and scope.
        kind: Whether the text defines a domain or a problem; None if it defines neither.
        domain: The name of the domain to which a problem refers.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.occurrences: list[Occurrence] = []
        self.declarations: dict[tuple[Kind, str, int], Declaration] = {}
        self.kind: Kind | None = None
        self.name = self.domain = ""
        self._scopes = 0
        self._schema = ""
        for item in tree.items:
            if isinstance(item, List):
                self._section(item)
        self.occurrences.sort(key=lambda found: (found.line, found.start))

    def declared(self, kind: Kind) -> list[Declaration]:
        return [found for key, found in self.declarations.items() if key[0] is kind]

    # Sections

    def _section(self, node: List) -> None:
        head, items = node.head, node.items
        if head == "define":
            for item in items[1:]:
                if isinstance(item, List):
                    self._section(item)
        elif head in ("domain", "problem"):
            self.kind = Kind.DOMAIN if head == "domain" else Kind.PROBLEM
            for word in _words(items[1:2]):
                self.name = word.text
                self._declare(self.kind, word, head, node)
        elif head == ":domain":
            for word in _words(items[1:2]):
                self.domain = word.text
                self._add(Kind.DOMAIN, word, Role.READ)
        elif head == ":types":
            self._typed(items[1:], Kind.TYPE, "type", node)
        elif head in (":constants", ":objects"):
            self._typed(items[1:], Kind.OBJECT, head[1:-1], node)
        elif head in (":predicates", ":functions"):
            for item in items[1:]:
                if isinstance(item, List):
                    self._relation(item, head[1:-1])
        elif head in SCHEMAS:
            self._schema_section(node)
        elif head == ":derived":
            self._derived(node)
        elif head == ":htn":
            self._keys(items[1:], node)
        elif head == ":init":
            for item in items[1:]:
                self._walk(item, Role.GIVEN, None)
        elif head in (":goal", ":constraints", ":metric"):
            for item in items[1:]:
                self._walk(item, Role.READ, None)

    def _relation(self, node: List, noun: str) -> None:
        first = node.items[0] if node.items else None
        if isinstance(first, Leaf):
            scope = self._new_scope(node.items[1:], None)
            parameters = self._parameters(node.items[1:], scope)
            self._declare(Kind.RELATION, first, noun, node, parameters)

    def _schema_section(self, node: List) -> None:
        items, noun = node.items, SCHEMAS[node.head]
        name = items[1] if len(items) > 1 and isinstance(items[1], Leaf) else None
        kind = Kind.METHOD if noun == "method" else Kind.SCHEMA
        self._schema = "" if name is None else name.text
        parameters = self._keys(items[1:], node)
        if name is not None and not name.text.startswith(":"):
            self._declare(kind, name, noun, node, parameters)
        self._schema = ""

    def _keys(self, items: Sequence[Item], node: List) -> tuple[tuple[str, tuple[str, ...]], ...]:
        scope: _Scope | None = None
        parameters: tuple[tuple[str, tuple[str, ...]], ...] = ()
        pairs = [
            (key.text, value)
            for key, value in pairwise(items)
            if isinstance(key, Leaf) and key.text.startswith(":")
        ]
        for key, value in pairs:
            if key == ":parameters" and isinstance(value, List):
                scope = self._new_scope(value.items, scope)
                parameters = self._parameters(value.items, scope)
        labels = [w for k, v in pairs if k in _NETWORKS for w in _labels(v)]
        if labels:
            scope = self._inner(scope, [word.text for word in labels])
            for word in labels:
                self._declare(Kind.LABEL, word, "subtask", node, scope=scope.number)
        for key, value in pairs:
            if key in _NETWORKS:
                self._network(value, scope)
            elif key == ":task":
                self._task(value, scope)
            elif key in _ORDERINGS:
                for word in _all_words(value):
                    if word.text not in ("and", "<"):
                        self._add(Kind.LABEL, word, Role.READ, _find(scope, word.text))
            elif key == ":effect":
                self._walk(value, Role.ADDED, scope)
            elif key != ":parameters":
                self._walk(value, Role.READ, scope)
        return parameters

    def _derived(self, node: List) -> None:
        head = node.items[1] if len(node.items) > 1 else None
        if isinstance(head, List) and head.items and isinstance(head.items[0], Leaf):
            scope = self._new_scope(head.items[1:], None)
            self._parameters(head.items[1:], scope)
            self._schema = f"the rule for {head.head}"
            self._add(Kind.RELATION, head.items[0], Role.ADDED)
            for item in node.items[2:]:
                self._walk(item, Role.READ, scope)
            self._schema = ""

    def _network(self, item: Item, scope: _Scope | None) -> None:
        stack: list[Item] = [item]
        while stack:
            node = stack.pop()
            if not isinstance(node, List):
                continue
            if node.head == "and" or (node.items and isinstance(node.items[0], List)):
                stack.extend(reversed(node.items))
            elif len(node.items) == 2 and isinstance(node.items[1], List):
                stack.append(node.items[1])
            else:
                self._task(node, scope)

    def _task(self, item: Item, scope: _Scope | None) -> None:
        if isinstance(item, List) and item.items and isinstance(item.items[0], Leaf):
            self._add(Kind.SCHEMA, item.items[0], Role.READ)
            self._arguments(item.items[1:], scope)

    # Declarations

    def _typed(self, items: Sequence[Item], kind: Kind, noun: str, node: List) -> None:
        for words, types in _typed_list(items):
            self._types(types)
            for word in words:
                names = tuple([t.text for t in types])
                self._declare(kind, word, noun, node, types=names)

    def _new_scope(self, items: Sequence[Item], outer: _Scope | None) -> _Scope:
        return self._inner(outer, [w.text for words, _ in _typed_list(items) for w in words])

    def _inner(self, outer: _Scope | None, names: Sequence[str]) -> _Scope:
        self._scopes += 1
        return _Scope(self._scopes, frozenset(names), outer)

    def _parameters(
        self, items: Sequence[Item], scope: _Scope
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        found = []
        for words, types in _typed_list(items):
            self._types(types)
            names = tuple([t.text for t in types])
            for word in words:
                self._declare(
                    Kind.VARIABLE, word, "parameter", None, types=names, scope=scope.number
                )
                found.append((word.text, names))
        return tuple(found)

    def _types(self, types: Sequence[Leaf]) -> None:
        for word in types:
            if word.text != "number":
                self._add(Kind.TYPE, word, Role.READ)

    # Formulas

    def _walk(self, item: Item, role: Role, scope: _Scope | None) -> None:
        stack: list[tuple[Item, Role, _Scope | None]] = [(item, role, scope)]
        while stack:
            node, role, scope = stack.pop()
            if isinstance(node, Leaf):
                self._arguments([node], scope)
                continue
            stack.extend(reversed(list(self._parts(node, role, scope))))

    def _parts(
        self, node: List, role: Role, scope: _Scope | None
    ) -> Iterator[tuple[Item, Role, _Scope | None]]:
        head, rest = node.head, node.items[1:]
        if not head:
            yield from ((item, role, scope) for item in node.items)
        elif head in CONNECTIVES or _is_timed(node):
            yield from ((item, role, scope) for item in rest if isinstance(item, List))
        elif head == "not":
            inner = {Role.ADDED: Role.DELETED, Role.DELETED: Role.ADDED}.get(role, role)
            yield from ((item, inner, scope) for item in rest)
        elif head in ("exists", "forall"):
            declared = rest[0].items if rest and isinstance(rest[0], List) else []
            scope = self._new_scope(declared, scope)
            self._parameters(declared, scope)
            yield from ((item, role, scope) for item in rest[1:])
        elif head == "when":
            yield from ((item, Role.READ, scope) for item in rest[:1])
            yield from ((item, role, scope) for item in rest[1:])
        elif head in ("preference", "is-violated"):
            labels = list(_words(rest[:1]))
            for word in labels:
                declares = Role.DECLARED if head == "preference" else Role.READ
                self._add(Kind.LABEL, word, declares)
            yield from ((item, role, scope) for item in rest[len(labels) :])
        elif head in _CHANGES:
            changed = Role.CHANGED if role is not Role.READ else Role.READ
            yield from ((item, changed, scope) for item in rest[:1])
            yield from ((item, Role.READ, scope) for item in rest[1:])
        elif head in _NUMERIC or head in ("minimize", "maximize"):
            given = role is Role.GIVEN and head == "="
            yield from ((item, Role.GIVEN if given else Role.READ, scope) for item in rest)
        else:
            first = node.items[0]
            assert isinstance(first, Leaf)
            self._add(Kind.RELATION, first, role)
            self._arguments([item for item in rest if isinstance(item, Leaf)], scope)
            yield from ((item, Role.READ, scope) for item in rest if isinstance(item, List))

    def _arguments(self, items: Sequence[Item], scope: _Scope | None) -> None:
        for word in _words(items):
            if word.text.startswith("?"):
                self._add(Kind.VARIABLE, word, Role.READ, _find(scope, word.text))
            elif not _is_number(word.text) and word.text not in ("#t", "total-time"):
                self._add(Kind.OBJECT, word, Role.READ)

    # Results

    def _declare(
        self,
        kind: Kind,
        word: Leaf,
        noun: str,
        node: List | None,
        parameters: tuple[tuple[str, tuple[str, ...]], ...] = (),
        *,
        types: tuple[str, ...] = (),
        scope: int = 0,
    ) -> None:
        found = self._add(kind, word, Role.DECLARED, scope)
        one = Declaration(found, noun, parameters, types, node)
        self.declarations.setdefault(found.identity, one)

    def _add(self, kind: Kind, word: Leaf, role: Role, scope: int = 0) -> Occurrence:
        found = Occurrence(
            kind, word.text, role, word.line, word.start, word.end, scope, self._schema
        )
        self.occurrences.append(found)
        return found


class PlanSymbols:
    """The names in a plan: actions, objects and, in a hierarchical plan, tasks and methods."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.occurrences: list[Occurrence] = []
        self.declarations: dict[tuple[Kind, str, int], Declaration] = {}
        self.steps: list[List] = []
        for item in tree.items:
            if isinstance(item, List) and item.items and isinstance(item.items[0], Leaf):
                self.steps.append(item)
                self._step(list(_words(item.items)))
        if not self.steps:
            for line in _lines_of(tree.items):
                self._line(line)
        self.occurrences.sort(key=lambda found: (found.line, found.start))

    def _step(self, words: Sequence[Leaf], kind: Kind = Kind.SCHEMA) -> None:
        for number, word in enumerate(words):
            what = Kind.OBJECT if number else kind
            self.occurrences.append(
                Occurrence(what, word.text, Role.READ, word.line, word.start, word.end)
            )

    def _line(self, words: Sequence[Leaf]) -> None:
        if len(words) < 2 or not words[0].text.isdigit():
            return
        arrow = next((n for n, word in enumerate(words) if word.text == "->"), len(words))
        self._step(words[1:arrow])
        self._step(words[arrow + 1 : arrow + 2], Kind.METHOD)


Names = Symbols | PlanSymbols


def name_at(names: Names, line: int, column: int) -> Occurrence | None:
    """Return the name at a position or directly before it, or None."""
    for found in names.occurrences:
        if found.line == line and found.start <= column <= found.end:
            return found
    return None


def _typed_list(items: Sequence[Item]) -> Iterator[tuple[list[Leaf], list[Leaf]]]:
    names: list[Leaf] = []
    rest = iter(items)
    for item in rest:
        if isinstance(item, List):
            continue
        if item.text != "-":
            names.append(item)
            continue
        of = next(rest, None)
        if isinstance(of, List):
            yield names, list(_words(of.items[1:] if of.head == "either" else of.items))
        else:
            yield names, [of] if of is not None else []
        names = []
    if names:
        yield names, []


def _labels(item: Item) -> Iterator[Leaf]:
    if not isinstance(item, List):
        return
    for node in [item, *item.items]:
        if isinstance(node, List) and len(node.items) == 2:
            first, second = node.items
            if isinstance(first, Leaf) and isinstance(second, List) and first.text != "and":
                yield first


def _words(items: Sequence[Item]) -> Iterator[Leaf]:
    return (item for item in items if isinstance(item, Leaf))


def _all_words(item: Item) -> Iterator[Leaf]:
    stack = [item]
    while stack:
        node = stack.pop()
        if isinstance(node, Leaf):
            yield node
        else:
            stack.extend(reversed(node.items))


def _lines_of(items: Sequence[Item]) -> list[list[Leaf]]:
    lines: dict[int, list[Leaf]] = {}
    for word in _words(items):
        lines.setdefault(word.line, []).append(word)
    return list(lines.values())


def _is_timed(node: List) -> bool:
    if node.head not in ("at", "over") or len(node.items) != 3:
        return False
    when, what = node.items[1:]
    return (
        isinstance(when, Leaf)
        and isinstance(what, List)
        and (when.text in ("start", "end", "all") or _is_number(when.text))
    )


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("+-").isdigit()


def _find(scope: _Scope | None, name: str) -> int:
    while scope is not None:
        if name in scope.names:
            return scope.number
        scope = scope.outer
    return 0
