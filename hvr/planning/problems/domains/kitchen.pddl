; A robot with one hand fetches, washes, heats and cools things; cupboards have doors.
(define (domain small-kitchen)
  (:requirements :strips :typing)
  (:types place thing)
  (:predicates
    (near ?p - place) (in ?x - thing ?p - place) (holding ?x - thing) (hand-empty)
    (closed ?p - place) (open ?p - place)
    (washes ?p - place) (heats ?p - place) (cools ?p - place)
    (clean ?x - thing) (hot ?x - thing) (cold ?x - thing))
  (:action go
    :parameters (?from ?to - place)
    :precondition (near ?from)
    :effect (and (near ?to) (not (near ?from))))
  (:action open-door
    :parameters (?p - place)
    :precondition (and (near ?p) (closed ?p) (hand-empty))
    :effect (and (open ?p) (not (closed ?p))))
  (:action close-door
    :parameters (?p - place)
    :precondition (and (near ?p) (open ?p) (hand-empty))
    :effect (and (closed ?p) (not (open ?p))))
  (:action take
    :parameters (?x - thing ?p - place)
    :precondition (and (near ?p) (in ?x ?p) (open ?p) (hand-empty))
    :effect (and (holding ?x) (not (in ?x ?p)) (not (hand-empty))))
  (:action put
    :parameters (?x - thing ?p - place)
    :precondition (and (near ?p) (holding ?x) (open ?p))
    :effect (and (in ?x ?p) (hand-empty) (not (holding ?x))))
  (:action wash
    :parameters (?x - thing ?p - place)
    :precondition (and (near ?p) (holding ?x) (washes ?p))
    :effect (clean ?x))
  (:action heat
    :parameters (?x - thing ?p - place)
    :precondition (and (near ?p) (in ?x ?p) (closed ?p) (heats ?p))
    :effect (and (hot ?x) (not (cold ?x))))
  (:action cool
    :parameters (?x - thing ?p - place)
    :precondition (and (near ?p) (in ?x ?p) (closed ?p) (cools ?p))
    :effect (and (cold ?x) (not (hot ?x)))))
