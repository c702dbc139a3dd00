; What an agent in MiniGrid can do, one level above its seven actions: each action here includes the walk to its
; object, which the environment finds on its map. `way` says what has to be cleared, opened or explored before an
; object can be approached, `cuts-off` what is out of reach once something lies next to a thing; `distance` counts actions from where the agent stands.
(define (domain babyai)
  (:requirements :adl :typing :action-costs)
  (:types thing place - object
          item door - thing
          key ball box - item)
  (:predicates
    (red ?x - thing) (green ?x - thing) (blue ?x - thing)
    (purple ?x - thing) (yellow ?x - thing) (grey ?x - thing)
    (left-of-start ?x - thing) (right-of-start ?x - thing)
    (ahead-of-start ?x - thing) (behind-start ?x - thing)
    (approachable ?x - object)
    (way ?x ?obstacle - object) (may-hold ?b - box ?x - item)
    (closed ?d - door) (locked ?d - door) (fits ?k - key ?d - door)
    (sealed ?b - box) (in-place ?x - item)
    (holding ?x - item) (hand-empty)
    (drop-space) (space-by ?x - thing) (cuts-off ?y - thing ?z - object) (beside ?x - item ?y - thing)
    (visited ?x - thing) (picked-up ?x - item) (opened ?d - door) (put-next-to ?x - item ?y - thing))
  (:functions (distance ?x - object) (doubt) (total-cost))

  (:action go_to
    :parameters (?x - thing)
    :precondition (approachable ?x)
    :effect (and (visited ?x) (increase (total-cost) (distance ?x))))

  (:action pick_up
    :parameters (?x - item)
    :precondition (and (approachable ?x) (hand-empty))
    :effect (and (holding ?x) (not (hand-empty)) (not (in-place ?x)) (not (approachable ?x))
                 (visited ?x) (picked-up ?x)
                 (forall (?y - object) (when (way ?y ?x) (approachable ?y)))
                 (forall (?y - thing) (when (beside ?x ?y) (space-by ?y)))
                 (increase (total-cost) (distance ?x)) (increase (total-cost) 1)))

  (:action put_down
    :parameters (?x - item)
    :precondition (and (holding ?x) (drop-space))
    :effect (and (not (holding ?x)) (hand-empty) (in-place ?x) (approachable ?x) (increase (total-cost) 1)))

  (:action put_next_to
    :parameters (?x - item ?y - thing)
    :precondition (and (holding ?x) (approachable ?y) (space-by ?y) (not (= ?x ?y)))
    :effect (and (not (holding ?x)) (hand-empty) (in-place ?x) (put-next-to ?x ?y)
                 (forall (?z - object) (when (cuts-off ?y ?z) (not (approachable ?z)))) (approachable ?x)
                 (increase (total-cost) (distance ?y)) (increase (total-cost) 1)))

  (:action open
    :parameters (?d - door)
    :precondition (and (approachable ?d) (closed ?d) (not (locked ?d)))
    :effect (and (not (closed ?d)) (opened ?d) (visited ?d) (drop-space)
                 (forall (?y - object) (when (way ?y ?d) (approachable ?y)))
                 (increase (total-cost) (distance ?d)) (increase (total-cost) 1)))

  (:action unlock
    :parameters (?d - door ?k - key)
    :precondition (and (approachable ?d) (closed ?d) (locked ?d) (holding ?k) (fits ?k ?d))
    :effect (and (not (closed ?d)) (not (locked ?d)) (opened ?d) (visited ?d) (drop-space)
                 (forall (?y - object) (when (way ?y ?d) (approachable ?y)))
                 (increase (total-cost) (distance ?d)) (increase (total-cost) 1)))

  (:action open_again
    :parameters (?d - door)
    :precondition (and (approachable ?d) (not (closed ?d)))
    :effect (and (opened ?d) (visited ?d)
                 (increase (total-cost) (distance ?d)) (increase (total-cost) 2)))

  (:action explore
    :parameters (?p - place)
    :precondition (approachable ?p)
    :effect (and (drop-space) (forall (?y - object) (when (way ?y ?p) (approachable ?y)))
                 (increase (total-cost) (distance ?p))))

  ; The box is gone afterwards, and what was in it lies in its place.
  (:action look_into
    :parameters (?b - box)
    :precondition (and (approachable ?b) (sealed ?b))
    :effect (and (not (sealed ?b)) (not (approachable ?b))
                 (forall (?y - item) (when (may-hold ?b ?y) (approachable ?y)))
                 (increase (total-cost) (distance ?b)) (increase (total-cost) (doubt)))))
