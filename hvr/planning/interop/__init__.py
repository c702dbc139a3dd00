"""Conversion of problems and plans to and from unified-planning, and hvr as its engine.

Nothing else in hvr imports this package, so that unified-planning is loaded only on demand.
"""

from __future__ import annotations

from typing import Any

from hvr.planning.interop.names import InteropError

__all__ = ["InteropError", "register"]


def register(environment: Any = None) -> None:
    """Register hvr in an environment of unified-planning (by default the global one) as `hvr`.

    Afterwards, `PlanValidator(name="hvr")` of unified-planning is hvr's validator. unified-planning
    does not discover engines (it has no entry points), but a file `up.ini` has the same effect:

        [engine hvr]
        module_name: hvr.planning.interop.engine
        class_name: HvrPlanValidator
    """
    from unified_planning.environment import get_environment

    factory = get_environment(environment).factory
    if "hvr" not in factory.engines:
        factory.add_engine("hvr", "hvr.planning.interop.engine", "HvrPlanValidator")
