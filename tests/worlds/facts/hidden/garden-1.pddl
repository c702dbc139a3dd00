(define (problem garden-1) (:domain garden)
  (:objects a b c - bed t u - tank rose leek - plant)
  (:init (near a) (path a b) (path b c) (pipe t b) (pipe u c) (pest b) (in rose a) (in leek c) (hand) (full u))
  (:goal (and (in rose b) (in leek b) (ripe rose) (ripe leek))))
