"""Small worlds: a parcel robot with doors and a battery, and runs in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hvr.execution.facts.planning import StatePlanner
from hvr.execution.facts.running import WorldRun, run_world
from hvr.pddl import Domain, Problem, parse_domain, parse_problem
from hvr.worlds.facts.environment import FaultRule, FaultyWorld, PddlEnvironment
from hvr.worlds.facts.lexicon import lexicon_for

ROOMS = """
(define (domain rooms)
  (:types room parcel)
  (:predicates (robot-at ?r - room) (joined ?a ?b - room) (at ?p - parcel ?r - room)
               (carrying ?p - parcel) (hands-free) (lost ?p - parcel))
  (:functions (battery))
  (:action move :parameters (?a ?b - room)
    :precondition (and (robot-at ?a) (joined ?a ?b) (>= (battery) 1))
    :effect (and (not (robot-at ?a)) (robot-at ?b) (decrease (battery) 1)))
  (:action take :parameters (?p - parcel ?r - room)
    :precondition (and (robot-at ?r) (at ?p ?r) (hands-free))
    :effect (and (not (at ?p ?r)) (not (hands-free)) (carrying ?p)))
  (:action drop :parameters (?p - parcel ?r - room)
    :precondition (and (robot-at ?r) (carrying ?p))
    :effect (and (at ?p ?r) (hands-free) (not (carrying ?p))))
  (:action charge :parameters ()
    :precondition (robot-at hall) :effect (assign (battery) 4))
  (:constants hall - room))
"""
TASK = """
(define (problem two) (:domain rooms)
  (:objects kitchen store - room p1 p2 - parcel)
  (:init (robot-at hall) (joined hall kitchen) (joined kitchen hall) (joined hall store)
         (joined store hall) (at p1 kitchen) (at p2 store) (hands-free) (= (battery) 2))
  (:goal (and (at p1 store) (at p2 hall))))
"""


def rooms() -> tuple[Domain, Problem]:
    """Return a domain with numbers and a problem of about 8 steps."""
    domain = parse_domain(ROOMS)
    return domain, parse_problem(TASK, domain)


def acted(
    domain: Domain,
    problem: Problem,
    rules: Sequence[FaultRule] = (),
    *,
    seed: int = 0,
    hidden: Collection[str] = (),
) -> tuple[WorldRun, FaultyWorld]:
    """Run a problem in its own environment with faults."""
    env = FaultyWorld(PddlEnvironment(domain, problem, hidden), rules, seed)
    planner = StatePlanner("forward", 10)
    return run_world(env, domain, problem, lexicon_for(domain).wording, planner=planner), env
