"""Faults: an environment in which things go wrong, by schedule or by seed, and a log of it."""

from hvr.envs.faults.fault import Fault, FaultKind, FaultTiming, What
from hvr.envs.faults.injector import FaultyEnvironment
from hvr.envs.faults.log import Injection
from hvr.envs.faults.schedule import Schedule, noise
from hvr.envs.faults.sense import NoisySense
from hvr.envs.faults.statements import Statement, statements

__all__ = [
    "Fault",
    "FaultKind",
    "FaultTiming",
    "FaultyEnvironment",
    "Injection",
    "NoisySense",
    "Schedule",
    "Statement",
    "What",
    "noise",
    "statements",
]
