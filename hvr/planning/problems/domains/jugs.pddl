; Water is poured between jugs without marks, until one of them has the amount that is wanted.
(define (domain jugs)
  (:requirements :typing :fluents)
  (:types jug)
  (:functions (amount ?j - jug) (capacity ?j - jug))
  (:action fill
    :parameters (?j - jug)
    :precondition (< (amount ?j) (capacity ?j))
    :effect (assign (amount ?j) (capacity ?j)))
  (:action empty
    :parameters (?j - jug)
    :precondition (> (amount ?j) 0)
    :effect (assign (amount ?j) 0))
  (:action pour-all
    :parameters (?from ?to - jug)
    :precondition (and (> (amount ?from) 0)
                       (<= (+ (amount ?from) (amount ?to)) (capacity ?to)))
    :effect (and (increase (amount ?to) (amount ?from)) (assign (amount ?from) 0)))
  (:action pour-to-the-brim
    :parameters (?from ?to - jug)
    :precondition (and (< (amount ?to) (capacity ?to))
                       (> (+ (amount ?from) (amount ?to)) (capacity ?to)))
    :effect (and (decrease (amount ?from) (- (capacity ?to) (amount ?to)))
                 (assign (amount ?to) (capacity ?to)))))
