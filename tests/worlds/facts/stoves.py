"""A stove, as a domain with durative actions and as an environment with a clock."""

from __future__ import annotations

from hvr.worlds.facts.environment import Observation

STOVE = """
(define (domain stove)
  (:types pot)
  (:predicates (on) (hot ?p - pot) (full ?p - pot) (hands-free) (outside ?p - pot))
  (:durative-action fill :parameters (?p - pot) :duration (= ?duration 3)
    :condition (at start (hands-free))
    :effect (and (at start (not (hands-free))) (at end (hands-free)) (at end (full ?p))))
  (:durative-action heat :parameters (?p - pot) :duration (= ?duration 10)
    :condition (and (over all (on)) (at start (full ?p)) (at end (full ?p)))
    :effect (at end (hot ?p)))
  (:action switch-on :parameters () :precondition (hands-free) :effect (on)))
"""
TEA = """
(define (problem tea) (:domain stove) (:objects a b - pot) (:init (hands-free))
  (:goal (and (hot a) (hot b))))
"""


class Kitchen:
    """A stove with a clock: heating and filling finish by themselves."""

    def __init__(self, off_at: float = -1, no_heat_before: int = 0, spilt_at: float = -1) -> None:
        self.off_at, self.spilt_at, self.refusals = off_at, spilt_at, no_heat_before
        self.calls: list[str] = []

    def reset(self) -> None:
        self.now, self.on, self.filling = 0.0, False, ""
        self.full: set[str] = set()
        self.hot: set[str] = set()
        self.heating: dict[str, float] = {}

    def step(self, name: str, args: tuple[str, ...]) -> str:
        del args
        self.calls.append(name)
        self.on = True
        return ""

    def start(self, name: str, args: tuple[str, ...], duration: float) -> str:
        self.calls.append(f"start {name} {args[0]} {duration:g}")
        if name == "fill":
            self.filling = args[0]
        elif self.refusals:
            self.refusals -= 1
            return "the plate is stuck"
        else:
            self.heating[args[0]] = self.now + duration
        return ""

    def end(self, name: str, args: tuple[str, ...]) -> str:
        self.calls.append(f"end {name} {args[0]}")
        if name == "fill":
            self.filling = ""
            self.full.add(args[0])
        else:
            del self.heating[args[0]]
            self.hot.add(args[0])
        return ""

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        self.calls.append(f"stop {name} {args[0]}")
        del self.heating[args[0]]

    def wait(self, seconds: float) -> None:
        then = self.now + seconds
        if self.now < self.off_at <= then:
            self.on = False
        if self.now < self.spilt_at <= then:
            self.full.discard("a")
        self.now = then

    def observe(self) -> Observation:
        facts: list[tuple[str, ...]] = [("on",)] * self.on
        facts += [("hands-free",)] * (not self.filling)
        facts += [("full", p) for p in sorted(self.full)] + [("hot", p) for p in sorted(self.hot)]
        return Observation(facts)
