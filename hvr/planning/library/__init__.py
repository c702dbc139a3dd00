"""The library of macro actions: what was learnt from successful plans, for any robot.

`learn` lifts the blocks of a plan to variables, a `Library` holds them as a value, `retrieve`
finds one for a new macro action and proves that it works from the present state, and
`update_library` keeps them in a file that several runs may write at once. See docs/library.md.
"""

from hvr.planning.library.candidates import Query
from hvr.planning.library.entry import Entry, Origin, Parameter, Use
from hvr.planning.library.library import (
    Library,
    default_path,
    read_library,
    update_library,
    write_library,
)
from hvr.planning.library.lift import learn, lift
from hvr.planning.library.retrieve import MacroMatch, retrieve

__all__ = [
    "Entry",
    "Library",
    "MacroMatch",
    "Origin",
    "Parameter",
    "Query",
    "Use",
    "default_path",
    "learn",
    "lift",
    "read_library",
    "retrieve",
    "update_library",
    "write_library",
]
