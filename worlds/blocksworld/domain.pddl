; Blocks on a table, and one hand that moves the topmost ones.
(define (domain blocksworld)
  (:requirements :strips :typing)
  (:types block)
  (:predicates
    (on ?upper ?lower - block)
    (on-table ?block - block)
    (clear ?block - block)
    (holding ?block - block)
    (hand-empty))
  (:action pick-up
    :parameters (?block - block)
    :precondition (and (on-table ?block) (clear ?block) (hand-empty))
    :effect (and (holding ?block) (not (on-table ?block)) (not (clear ?block)) (not (hand-empty))))
  (:action put-down
    :parameters (?block - block)
    :precondition (holding ?block)
    :effect (and (on-table ?block) (clear ?block) (hand-empty) (not (holding ?block))))
  (:action stack
    :parameters (?upper ?lower - block)
    :precondition (and (holding ?upper) (clear ?lower))
    :effect (and (on ?upper ?lower) (clear ?upper) (hand-empty)
                 (not (holding ?upper)) (not (clear ?lower))))
  (:action unstack
    :parameters (?upper ?lower - block)
    :precondition (and (on ?upper ?lower) (clear ?upper) (hand-empty))
    :effect (and (holding ?upper) (clear ?lower)
                 (not (on ?upper ?lower)) (not (clear ?upper)) (not (hand-empty)))))
