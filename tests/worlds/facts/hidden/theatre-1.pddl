(define (problem theatre-1) (:domain theatre)
  (:objects tree throne - prop one two - cue jo al - hand)
  (:init (free jo) (trained al) (packed tree) (packed throne) (broken throne) (heavy tree) (needs one tree) (needs two throne) (before one two))
  (:goal (and (played one) (played two) (not (curtain)))))
