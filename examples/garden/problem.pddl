(define (problem summer)
  (:domain garden)
  (:init (= (level) 2) (= (flow) 0) (= (capacity) 20))
  (:goal (and (watered) (not (flooded)))))
