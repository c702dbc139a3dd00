"""Faults: an environment in which things go wrong, by schedule or by seed, and a log of it."""

from hvr.worlds.faults.fault import Fault, FaultEffect, FaultKind, FaultTiming, Schedule, noise
from hvr.worlds.faults.injector import FaultyEnvironment, Injection, Statement, statements
from hvr.worlds.faults.perception import NoisySensor

__all__ = [
    "Fault",
    "FaultEffect",
    "FaultKind",
    "FaultTiming",
    "FaultyEnvironment",
    "Injection",
    "NoisySensor",
    "Schedule",
    "Statement",
    "noise",
    "statements",
]
