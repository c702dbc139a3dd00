; Fuses are mended in a dark cellar, one after another, each by the light of one match.
(define (domain cellar)
  (:requirements :typing :durative-actions :fluents)
  (:types match fuse)
  (:predicates (unused ?m - match) (burns ?m - match) (broken ?f - fuse) (mended ?f - fuse)
               (hand-free))
  (:functions (burning-time ?m - match) (mending-time ?f - fuse))
  (:durative-action strike
    :parameters (?m - match)
    :duration (= ?duration (burning-time ?m))
    :condition (at start (unused ?m))
    :effect (and (at start (not (unused ?m))) (at start (burns ?m)) (at end (not (burns ?m)))))
  (:durative-action mend
    :parameters (?f - fuse ?m - match)
    :duration (= ?duration (mending-time ?f))
    :condition (and (at start (broken ?f)) (at start (hand-free))
                    (at start (burns ?m)) (over all (burns ?m)) (at end (burns ?m)))
    :effect (and (at start (not (hand-free))) (at start (not (broken ?f)))
                 (at end (mended ?f)) (at end (hand-free)))))
