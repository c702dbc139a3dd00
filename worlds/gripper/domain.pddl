; A robot with two grippers carries balls from room to room.
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball gripper)
  (:predicates
    (robot-in ?room - room)
    (lies-in ?ball - ball ?room - room)
    (free ?gripper - gripper)
    (carried ?ball - ball ?gripper - gripper))
  (:action move
    :parameters (?from ?to - room)
    :precondition (robot-in ?from)
    :effect (and (robot-in ?to) (not (robot-in ?from))))
  (:action pick
    :parameters (?ball - ball ?room - room ?gripper - gripper)
    :precondition (and (lies-in ?ball ?room) (robot-in ?room) (free ?gripper))
    :effect (and (carried ?ball ?gripper) (not (lies-in ?ball ?room)) (not (free ?gripper))))
  (:action drop
    :parameters (?ball - ball ?room - room ?gripper - gripper)
    :precondition (and (carried ?ball ?gripper) (robot-in ?room))
    :effect (and (lies-in ?ball ?room) (free ?gripper) (not (carried ?ball ?gripper)))))
