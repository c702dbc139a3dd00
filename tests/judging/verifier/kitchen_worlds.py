"""A kitchen with few objects, whose causal links can be checked by hand."""

from __future__ import annotations

from functools import cache

from hvr.base.files import data_path
from hvr.pddl import Domain, GroundAction, Task, parse_domain, parse_problem

GOAL = "(exists (?o - apple ?r - plate) (and (chilled ?o) (on ?o ?r)))"

PROBLEM = """
(define (problem small) (:domain kitchen)
  (:objects apple-1 - apple tomato-1 - tomato plate-1 - plate bowl-1 - bowl
            countertop-1 - countertop fridge-1 - fridge)
  (:init (hand_empty)
    (pickupable apple-1) (pickupable tomato-1) (pickupable plate-1) (pickupable bowl-1)
    (present apple-1) (present tomato-1) (present plate-1) (present bowl-1)
    (present countertop-1) (present fridge-1)
    (surface countertop-1) (surface plate-1) (container bowl-1) (container fridge-1)
    (openable fridge-1) (cools fridge-1)
    (fits apple-1 fridge-1) (fits tomato-1 fridge-1) (fits apple-1 plate-1) (fits tomato-1 plate-1)
    (fits apple-1 bowl-1) (fits apple-1 countertop-1) (fits tomato-1 countertop-1)
    (on apple-1 countertop-1) (on tomato-1 countertop-1) (on plate-1 countertop-1)
    (on bowl-1 countertop-1) ALSO)
  (:goal GOAL))
"""

CHILLED = (
    "navigate_to_obj fridge-1",
    "open_obj fridge-1",
    "navigate_to_obj apple-1",
    "pick_up apple-1",
    "navigate_to_obj fridge-1",
    "put_in apple-1 fridge-1",
    "close_obj fridge-1",
    "open_obj fridge-1",
    "pick_up apple-1",
    "navigate_to_obj plate-1",
    "put_on apple-1 plate-1",
)
"""Puts a chilled apple on the plate."""


@cache
def domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


def kitchen(goal: str = GOAL, also: str = "") -> Task:
    text = PROBLEM.replace("GOAL", goal).replace("ALSO", also)
    return Task(domain(), parse_problem(text, domain()))


def steps(*lines: str) -> tuple[GroundAction, ...]:
    return tuple(GroundAction(w[0], tuple(w[1:])) for w in (line.split() for line in lines))
