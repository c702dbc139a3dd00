; A robot with two grippers carries balls through doors.
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball gripper)
  (:predicates
    (door ?from ?to - room) (robot-in ?r - room) (in ?b - ball ?r - room)
    (free ?g - gripper) (carries ?g - gripper ?b - ball))
  (:action move
    :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (door ?from ?to))
    :effect (and (robot-in ?to) (not (robot-in ?from))))
  (:action pick
    :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (in ?b ?r) (robot-in ?r) (free ?g))
    :effect (and (carries ?g ?b) (not (in ?b ?r)) (not (free ?g))))
  (:action drop
    :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (carries ?g ?b) (robot-in ?r))
    :effect (and (in ?b ?r) (free ?g) (not (carries ?g ?b)))))
