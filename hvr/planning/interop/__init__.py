"""Other planning libraries: problems and plans to and from unified-planning, hvr as its engine.

Nothing else of hvr imports this room, so that unified-planning is loaded only for those who ask.
"""

from __future__ import annotations

from typing import Any

from hvr.planning.interop.names import InteropError

__all__ = ["InteropError", "register"]


def register(environment: Any = None) -> None:
    """Make hvr known to unified-planning as the engine `hvr`, a plan validator.

    Afterwards `PlanValidator(name="hvr")` gives it. unified-planning finds no engines by itself
    (it has no entry points); a file `up.ini` can do the same, with

        [engine hvr]
        module_name: hvr.planning.interop.engine
        class_name: HvrPlanValidator

    Args:
        environment: the environment of unified-planning; the global one if None.
    """
    from unified_planning.environment import get_environment

    factory = get_environment(environment).factory
    if "hvr" not in factory.engines:
        factory.add_engine("hvr", "hvr.planning.interop.engine", "HvrPlanValidator")
