(define (domain fetch)
  (:requirements :typing)
  (:types room item)
  (:predicates (robot-at ?room - room) (lies-in ?item - item ?room - room)
               (holding ?item - item) (hand-free))
  (:action drive
    :parameters (?from ?to - room)
    :precondition (robot-at ?from)
    :effect (and (not (robot-at ?from)) (robot-at ?to)))
  (:action grasp
    :parameters (?item - item ?room - room)
    :precondition (and (robot-at ?room) (lies-in ?item ?room) (hand-free))
    :effect (and (holding ?item) (not (lies-in ?item ?room)) (not (hand-free))))
  (:action put
    :parameters (?item - item ?room - room)
    :precondition (and (robot-at ?room) (holding ?item))
    :effect (and (lies-in ?item ?room) (hand-free) (not (holding ?item)))))
