"""HTML and SVG building blocks: escaping, elements, tables and whole pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

# Markup -------------------------------------------------------------------------------------------
# External data (requests, names, messages) passes through `escaped`, `element` (attributes) or a
# function here with a "text" parameter. Parameters named markup are inserted unchanged.

SVG = "http://www.w3.org/2000/svg"

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids even as character references."""

_SHAPES = frozenset({"circle", "line", "path", "polygon", "polyline", "rect"})


def escaped(text: str) -> str:
    """Escape text for HTML and XML, and remove characters that XML forbids."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def element(name: str, *markup: str, **attributes: str | float | None) -> str:
    """Return an HTML or SVG element.

    Args:
        attributes: Texts, which are escaped, or numbers; floats get one decimal. `text_anchor`
            becomes `text-anchor`, and `class_` becomes `class`. None omits an attribute.
    """
    start = " ".join([name, *_attributes(attributes)])
    # HTML allows self-closing tags only in SVG: `<p/>` would open a paragraph without closing it.
    if name in _SHAPES and not markup:
        return f"<{start}/>"
    return f"<{start}>{''.join(markup)}</{name}>"


def _attributes(attributes: dict[str, str | float | None]) -> Iterable[str]:
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.1f}" if isinstance(value, float) else escaped(str(value))
            yield f'{name.rstrip("_").replace("_", "-")}="{text}"'


def svg_document(
    *parts: str, width: float, height: float, left: float = 0, **attributes: str | float | None
) -> str:
    svg = element(
        "svg",
        *(f"\n{part}" for part in parts),
        "\n",
        xmlns=SVG,
        width=width,
        height=height,
        viewBox=f"{left} 0 {width} {height}",
        role="img",
        **attributes,
    )
    return svg + "\n"


def rectangle(
    x: float, y: float, width: float, height: float, *markup: str, **attributes: str | float | None
) -> str:
    return element("rect", *markup, x=x, y=y, width=width, height=height, **attributes)


def tooltip(text: str) -> str:
    return element("title", escaped(text))


def paragraph(text: str, kind: str) -> str:
    """Return a paragraph with a class of `page.css`, such as `note`; '' for an empty text."""
    return element("p", escaped(text), class_=kind) if text else ""


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
) -> str:
    """Return an HTML table; the first cell of each row is a header cell."""
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


def page(title: str, body: str, *, styles: Sequence[str] = (), script: str = "") -> str:
    """Return a self-contained HTML page that loads nothing.

    Args:
        styles: CSS in addition to `page.css`.
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
    """Replace each `$name` in a skeleton file with markup, in which `$` has no special meaning."""
    return Template(asset(package, name)).substitute(markup)


@cache
def asset(package: str, name: str) -> str:
    """Return the text of a package's data file."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
