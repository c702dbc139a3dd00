; A robot carries one key at a time and opens the doors of its shape.
(define (domain grid)
  (:requirements :strips :typing)
  (:types cell key shape)
  (:predicates
    (next ?from ?to - cell) (robot-at ?c - cell) (lies ?k - key ?c - cell)
    (holds ?k - key) (free) (locked ?c - cell) (open ?c - cell)
    (lock-shape ?c - cell ?s - shape) (key-shape ?k - key ?s - shape))
  (:action move
    :parameters (?from ?to - cell)
    :precondition (and (robot-at ?from) (next ?from ?to) (open ?to))
    :effect (and (robot-at ?to) (not (robot-at ?from))))
  (:action take
    :parameters (?k - key ?c - cell)
    :precondition (and (robot-at ?c) (lies ?k ?c) (free))
    :effect (and (holds ?k) (not (lies ?k ?c)) (not (free))))
  (:action leave
    :parameters (?k - key ?c - cell)
    :precondition (and (robot-at ?c) (holds ?k))
    :effect (and (lies ?k ?c) (free) (not (holds ?k))))
  (:action unlock
    :parameters (?from ?to - cell ?k - key ?s - shape)
    :precondition (and (robot-at ?from) (next ?from ?to) (locked ?to) (holds ?k)
                       (lock-shape ?to ?s) (key-shape ?k ?s))
    :effect (and (open ?to) (not (locked ?to)))))
