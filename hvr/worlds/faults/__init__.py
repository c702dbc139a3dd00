"""Faults: an environment in which things go wrong, by schedule or by seed, and a log of it."""

from hvr.worlds.faults.fault import Fault, FaultKind, FaultTiming, What
from hvr.worlds.faults.injector import FaultyEnvironment
from hvr.worlds.faults.log import Injection
from hvr.worlds.faults.schedule import Schedule, noise
from hvr.worlds.faults.sense import NoisySense
from hvr.worlds.faults.statements import Statement, statements

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
