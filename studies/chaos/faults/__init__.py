"""Server faults with their replies and acceptable exit codes."""

from studies.chaos.faults import answers, bodies, echoes, statuses, transport
from studies.chaos.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *statuses.FAULTS,
    *transport.FAULTS,
    *bodies.FAULTS,
    *answers.FAULTS,
    *echoes.FAULTS,
)

__all__ = ["FAULTS", "Fault"]
