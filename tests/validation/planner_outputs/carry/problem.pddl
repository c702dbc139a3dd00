(define (problem swap) (:domain carry)
  (:objects robot helper - agent shop depot yard - place)
  (:init (is_at robot shop) (is_at helper depot)) (:goal (and (is_at robot yard) (is_at helper shop))))
