"""hvr: household robot plans, proven before they run and watched while they run.

>>> from hvr import plan, validate
>>> plan("make coffee").reached
True
>>> validate("domain.pddl", "problem.pddl", "plan.txt").valid
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hvr.run import plan as plan
    from hvr.validation import validate as validate

__version__ = "0.1.0"
__all__ = ["__version__", "plan", "validate"]

_WHERE = {"plan": "hvr.run", "validate": "hvr.validation"}


def __getattr__(name: str) -> Any:
    # Imported when used, so that `import hvr` and `hvr --help` start in a blink.
    if name in _WHERE:
        from importlib import import_module

        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'hvr' has no attribute {name!r}")
