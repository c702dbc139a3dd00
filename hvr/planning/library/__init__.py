"""The library of macro actions learnt from successful plans, for any robot.

`learn` lifts the blocks of a plan to variables, and a `Library` holds them as a value. `retrieve`
finds one for a new macro action and proves that it works in the current state. `update_library`
stores them in a file that several runs may write at the same time. See docs/explanation/library.md.
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
