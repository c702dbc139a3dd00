"""The library of macro actions learnt from successful plans of any robot.

`learn` lifts the blocks of a plan to variables; a `Library` is an immutable set of them. `retrieve`
finds a block for a new macro action and proves that it works in the current state. `update_library`
stores blocks in a file that several runs may write concurrently. See docs/explanation/library.md.
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
