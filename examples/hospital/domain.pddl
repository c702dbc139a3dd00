(define (domain hospital)
  (:requirements :typing :negative-preconditions :numeric-fluents)
  (:types
    room door item - object
    sample linen - item)
  (:predicates
    (robot-at ?room - room)
    (beside ?one ?other - room)
    (leads ?door - door ?one ?other - room)
    (open ?door - door)
    (lies-in ?item - item ?room - room)
    (carried ?item - item)
    (tray-free)
    (clean)
    (dock ?room - room))
  (:functions (battery) (capacity))
  (:action drive
    :parameters (?from ?to - room)
    :precondition (and (robot-at ?from) (beside ?from ?to) (>= (battery) 1))
    :effect (and (not (robot-at ?from)) (robot-at ?to) (decrease (battery) 1)))
  (:action go-through
    :parameters (?door - door ?from ?to - room)
    :precondition (and (robot-at ?from) (leads ?door ?from ?to) (open ?door) (>= (battery) 2))
    :effect (and (not (robot-at ?from)) (robot-at ?to) (decrease (battery) 2)))
  (:action open-door
    :parameters (?door - door ?here ?there - room)
    :precondition (and (robot-at ?here) (leads ?door ?here ?there) (not (open ?door)))
    :effect (open ?door))
  (:action close-door
    :parameters (?door - door ?here ?there - room)
    :precondition (and (robot-at ?here) (leads ?door ?here ?there) (open ?door))
    :effect (not (open ?door)))
  (:action take
    :parameters (?item - item ?room - room)
    :precondition (and (robot-at ?room) (lies-in ?item ?room) (tray-free) (clean))
    :effect (and (carried ?item) (not (lies-in ?item ?room)) (not (tray-free))))
  (:action put
    :parameters (?item - item ?room - room)
    :precondition (and (robot-at ?room) (carried ?item))
    :effect (and (lies-in ?item ?room) (tray-free) (not (carried ?item)) (not (clean))))
  (:action disinfect
    :parameters (?room - room)
    :precondition (and (robot-at ?room) (dock ?room) (tray-free))
    :effect (clean))
  (:action charge
    :parameters (?room - room)
    :precondition (and (robot-at ?room) (dock ?room))
    :effect (assign (battery) (capacity))))
