(define (domain carry) (:requirements :strips :typing)
  (:types agent place) (:predicates (is_at ?a - agent ?p - place))
  (:action move :parameters (?a - agent ?from ?to - place)
    :precondition (is_at ?a ?from) :effect (and (not (is_at ?a ?from)) (is_at ?a ?to))))
