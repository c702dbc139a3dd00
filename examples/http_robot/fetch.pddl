(define (problem fetch-cup) (:domain fetch)
  (:objects kitchen office - room cup - item)
  (:init (robot-at office) (lies-in cup kitchen) (hand-free))
  (:goal (lies-in cup office)))
