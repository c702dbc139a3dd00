; A ferry takes one car at a time along its lines.
(define (domain ferry)
  (:requirements :strips :typing)
  (:types port car)
  (:predicates
    (line ?from ?to - port) (ferry-at ?p - port) (at ?c - car ?p - port)
    (aboard ?c - car) (empty))
  (:action sail
    :parameters (?from ?to - port)
    :precondition (and (ferry-at ?from) (line ?from ?to))
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action board
    :parameters (?c - car ?p - port)
    :precondition (and (at ?c ?p) (ferry-at ?p) (empty))
    :effect (and (aboard ?c) (not (at ?c ?p)) (not (empty))))
  (:action debark
    :parameters (?c - car ?p - port)
    :precondition (and (aboard ?c) (ferry-at ?p))
    :effect (and (at ?c ?p) (empty) (not (aboard ?c)))))
