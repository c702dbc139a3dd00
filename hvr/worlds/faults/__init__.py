"""Fault injection in AI2-THOR's environments: scheduled or random faults, and a log of them."""

from hvr.worlds.faults.effects import NoisySensor
from hvr.worlds.faults.fault import Fault, FaultEffect, FaultKind, FaultTiming, Schedule, noise
from hvr.worlds.faults.injector import FaultyEnvironment, Injection, Statement, statements

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
