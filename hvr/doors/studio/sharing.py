"""The studio's views of one document as a single file that works offline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from hvr.doors.studio.documents import outline

# Nothing is loaded: the file may come from a stranger and is opened from a disk.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="studio"></div>
<noscript><pre>{outline}</pre></noscript>
<script type="application/json" id="document">{document}</script>
{scripts}
</body>
</html>
"""


def shared_page(document: Mapping[str, Any], title: str) -> str:
    """Return a page that shows a document and needs nothing else.

    Args:
        document: A result of `hvr.doors.studio.documents` or `hvr.runs.report.sections.report`.
        title: Title of the page.
    """
    # The room's library is as large as the rest together: only scenes need it.
    names = ["room.js"] if document.get("before") is not None else []
    scripts = "\n".join(f"<script>{_script(name)}</script>" for name in (*names, "share.js"))
    return _PAGE.format(
        policy=_POLICY,
        title=_plain(title),
        style=_asset("studio.css"),
        outline=_plain(outline(document)),
        document=_data(document),
        scripts=scripts,
    )


def shared_run(folder: Path) -> str:
    """Return the page of a run folder.

    Raises:
        DataFileError: The folder is not a run folder, or a file in it is damaged.
    """
    from hvr.doors.studio.documents import run_document

    document = run_document(folder)
    return shared_page(document, f"hvr: {document['story']['request']}")


def _data(document: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element around it, whatever texts it contains."""
    text = json.dumps(document, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(text: str) -> str:
    # Lone surrogates have no UTF-8, and NUL has no place in HTML.
    known = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return escape(known, quote=True)


@cache
def _asset(name: str) -> str:
    return resources.files("hvr.doors.studio").joinpath("assets", name).read_text("utf-8")


def _script(name: str) -> str:
    text = _asset(name)
    # The build checks that no script contains an end tag or the start of a comment.
    assert "</script" not in text.lower() and "<!--" not in text
    return text
