"""The kit for HTML and SVG: escaping, elements, tables, whole pages.

Everything that comes from outside (requests, names, messages) passes through `escaped`, `element`
(attributes) or one of the functions here that say "text"; arguments called markup are taken as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

SVG = "http://www.w3.org/2000/svg"

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids even as references."""

_SHAPES = frozenset({"circle", "line", "path", "polygon", "polyline", "rect"})


def escaped(text: str) -> str:
    """Return text that may stand anywhere in HTML and XML, without what XML forbids."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def element(name: str, *markup: str, **attributes: str | float | None) -> str:
    """Return an element.

    Args:
        name: of the element.
        markup: what stands in it.
        attributes: text, escaped here, or numbers, floats with one decimal. `text_anchor` stands
            for `text-anchor`, `class_` for `class`; None leaves an attribute out.
    """
    start = " ".join([name, *_attributes(attributes)])
    # HTML knows the short form in SVG only: `<p/>` would open a paragraph and not close it.
    if name in _SHAPES and not markup:
        return f"<{start}/>"
    return f"<{start}>{''.join(markup)}</{name}>"


def _attributes(attributes: dict[str, str | float | None]) -> Iterable[str]:
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.1f}" if isinstance(value, float) else escaped(str(value))
            yield f'{name.rstrip("_").replace("_", "-")}="{text}"'


def tooltip(text: str) -> str:
    """Return what browsers show of an SVG element when one points at it."""
    return element("title", escaped(text))


def paragraph(text: str, kind: str) -> str:
    """Return a paragraph of a class that `page.css` knows, as `note` or `warning`; '' for none."""
    return element("p", escaped(text), class_=kind) if text else ""


def bullets(items: Iterable[str]) -> str:
    """Return a list of markup."""
    return element("ul", *(element("li", item) for item in items))


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of titles with what they stand for, both text."""
    return element(
        "dl",
        *(element("dt", escaped(term)) + element("dd", escaped(text)) for term, text in pairs),
    )


def details(summary: str, *markup: str, kind: str | None = None) -> str:
    """Return markup that shows only its summary, a text, until it is opened."""
    return element("details", element("summary", escaped(summary)), *markup, class_=kind)


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
) -> str:
    """Return a table of texts; the first cell of each row is its head."""
    head = (element("th", escaped(cell), scope="col") for cell in header)
    lines = (
        element(
            "tr",
            element("th", escaped(first), scope="row"),
            *(element("td", escaped(cell)) for cell in rest),
        )
        for first, *rest in rows
    )
    whole = element(
        "table",
        element("caption", escaped(caption)),
        element("thead", element("tr", *head)),
        element("tbody", *lines),
    )
    return element("figure", whole, paragraph(note, "note"), class_="table")


def side_by_side(*markup: str) -> str:
    """Return parts beside each other where there is room."""
    return element("div", *markup, class_="beside")


def legend(entries: Iterable[tuple[str, str]], style: str | None = None) -> str:
    """Return what colours stand for.

    Args:
        entries: the class of a coloured square, and its meaning as text.
        style: class of the picture in which the colours have these classes.
    """
    items = (
        element("span", _square(colour, style), " ", escaped(meaning))
        for colour, meaning in entries
    )
    return element("p", "\n".join(items), class_="legend")


def _square(colour: str, style: str | None) -> str:
    square = element("rect", class_=colour, x=1, y=1, width=12, height=12)
    return element("svg", square, class_=style, width=14, height=14, aria_hidden="true")


def page(title: str, body: str, *, styles: Sequence[str] = (), script: str = "") -> str:
    """Return a whole HTML page that needs nothing else and fetches nothing.

    Args:
        title: text.
        body: markup.
        styles: CSS beyond `page.css`.
        script: JavaScript; it must not contain `</script`.
    """
    return fill(
        "hvr.runs.report",
        "page.html",
        title=escaped(title),
        style="\n".join((asset("hvr.runs.report", "page.css"), *styles)),
        body=body,
        script=element("script", "\n", script) if script else "",
    )


def fill(package: str, name: str, **markup: str) -> str:
    """Return a skeleton with markup in place of its `$names`.

    What is put in is not looked through again, so a `$` in it is a dollar sign.
    """
    return Template(asset(package, name)).substitute(markup)


@cache
def asset(package: str, name: str) -> str:
    """Return the text of a file that lies beside the modules of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
