; A tank is filled by a pump and waters a garden through a valve that opens slowly.
(define (domain garden)
  (:requirements :numeric-fluents :durative-actions :duration-inequalities :continuous-effects
    :time :negative-preconditions)
  (:predicates (watered) (flooded))
  (:functions (level) (flow) (capacity))

  (:durative-action pump
    :parameters ()
    :duration (<= ?duration 10)
    :condition (and)
    :effect (and (increase (level) (* #t 3))))

  (:durative-action water
    :parameters ()
    :duration (= ?duration 4)
    :condition (and (over all (> (level) 0)))
    :effect (and
      (increase (flow) (* #t 1))
      (at end (assign (flow) 0))
      (at end (watered))))

  (:process drain
    :parameters ()
    :precondition (and (> (flow) 0))
    :effect (and (decrease (level) (* #t (flow)))))

  (:event overflow
    :parameters ()
    :precondition (and (>= (level) (capacity)) (not (flooded)))
    :effect (and (flooded))))
