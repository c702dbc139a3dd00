; A keeper pushes crates over the cells of a storehouse, one at a time.
(define (domain sokoban)
  (:requirements :strips :typing)
  (:types cell crate direction)
  (:predicates
    (next ?from ?to - cell ?way - direction)
    (keeper-at ?cell - cell)
    (crate-at ?crate - crate ?cell - cell)
    (empty ?cell - cell)
    (storage ?cell - cell)
    (stored ?crate - crate))
  (:action walk
    :parameters (?from ?to - cell ?way - direction)
    :precondition (and (keeper-at ?from) (next ?from ?to ?way) (empty ?to))
    :effect (and (keeper-at ?to) (empty ?from) (not (keeper-at ?from)) (not (empty ?to))))
  (:action push
    :parameters (?crate - crate ?from ?at ?to - cell ?way - direction)
    :precondition (and (keeper-at ?from) (next ?from ?at ?way) (crate-at ?crate ?at)
                       (next ?at ?to ?way) (empty ?to))
    :effect (and (keeper-at ?at) (crate-at ?crate ?to) (empty ?from)
                 (not (keeper-at ?from)) (not (crate-at ?crate ?at)) (not (empty ?to))
                 (not (stored ?crate))))
  (:action store
    :parameters (?crate - crate ?cell - cell)
    :precondition (and (crate-at ?crate ?cell) (storage ?cell))
    :effect (stored ?crate)))
