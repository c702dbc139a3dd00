(define (problem packing-1) (:domain packing)
  (:objects cup lid book - item brown clear-tape - tape small large - parcel)
  (:init (on-belt cup small) (on-belt book large) (shelved lid) (wants small cup) (wants large lid))
  (:goal (and (sent small) (sent large))))
