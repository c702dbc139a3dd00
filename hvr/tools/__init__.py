"""Tools as values: tool graphs, plans over tools, their files and metrics.

`open` is the door to worlds of tools, which other rooms hold; see
`hvr.tools.navigation.tool_world`.
"""

from importlib import import_module
from typing import Any

_WHERE = {"open": ("hvr.tools.navigation.tool_world", "open_world")}
"""Names that are imported on first use, like the names of `hvr`."""


def __getattr__(name: str) -> Any:
    """Return a name of the door.

    Raises:
        AttributeError: There is no such name.
    """
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _WHERE[name]
    return getattr(import_module(module), attribute)
