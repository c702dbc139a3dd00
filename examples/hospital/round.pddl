(define (problem round)
  (:domain hospital)
  (:objects ward corridor lab - room
            labdoor - door
            blood urine - sample)
  (:init (robot-at corridor) (dock corridor) (clean) (tray-free)
         (beside ward corridor) (beside corridor ward)
         (leads labdoor corridor lab) (leads labdoor lab corridor)
         (lies-in blood ward) (lies-in urine ward)
         (= (battery) 3) (= (capacity) 8))
  (:goal (and (lies-in blood lab) (lies-in urine lab))))
