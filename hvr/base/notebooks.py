"""HTML for notebooks: `_repr_html_` of runs, plans and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MAX_TABLE_ROWS = 200
"""Most rows of a table that a notebook shows."""


def html_card(
    title: str,
    sentences: Iterable[str] = (),
    header: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    markup: str = "",
) -> str:
    """Return a title, paragraphs and a table of at most `MAX_TABLE_ROWS` rows as HTML."""
    parts = [f"<p><b>{escape(title)}</b></p>"]
    parts += [f"<p>{escape(text).replace(chr(10), '<br>')}</p>" for text in sentences if text]
    if rows:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:MAX_TABLE_ROWS])
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if len(rows) > MAX_TABLE_ROWS:
        parts.append(f"<p>and {len(rows) - MAX_TABLE_ROWS} more</p>")
    return f"<div>{''.join(parts)}{markup}</div>"


def _cells(row: Iterable[str]) -> str:
    return "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row)
