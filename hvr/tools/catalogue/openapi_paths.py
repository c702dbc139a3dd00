"""What the parameters of a path name: `issue_number` in `/issues/{issue_number}` an issue."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hvr.tools.catalogue.naming import BARE, thing_of, words_of

_SLOT = re.compile(r"\{[^{}]*\}")


class PathResources:
    """The kinds of things that the paths of a document lead to.

    A parameter that ends a segment stands for one thing of the collection before it. Its kind is
    what reading that path returns, else what the collection lists, else the collection's name if
    the parameter's name fits it: `id` or `petId` below `pets`.

    Args:
        returned: Schema name of the object that reading a path returns, by path template.
        listed: Schema name of the objects that a path lists, by path template.
    """

    def __init__(self, returned: Mapping[str, str], listed: Mapping[str, str]) -> None:
        self._returned = {_template(path): name for path, name in returned.items() if name}
        self._listed = {_template(path): name for path, name in listed.items() if name}

    def of(self, path: str, parameter: str) -> str:
        """Return the kind of thing that a parameter of a path stands for; empty if unknown."""
        before, mark, _ = path.partition("{" + parameter + "}")
        if not mark:
            return ""
        here, above = _template(f"{before}{mark}"), _template(before)
        if here in self._returned:
            return self._returned[here]
        if above in self._listed:
            return self._listed[above]
        segment = above.rpartition("/")[2]
        thing, said = thing_of(segment), words_of(parameter)
        named = set(said) <= BARE or thing[-1:] == said[: len(said) - 1][-1:]
        return segment if named and "{" not in segment else ""


def _template(path: str) -> str:
    """Return a path without the names of its parameters, a final slash and a file's ending."""
    return re.sub(r"\.(json|xml)$", "", _SLOT.sub("{}", path).rstrip("/"))
