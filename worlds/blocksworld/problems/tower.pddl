; Two small towers become one.
(define (problem tower)
  (:domain blocksworld)
  (:objects red green blue yellow white - block)
  (:init (on-table red) (on green red) (clear green)
         (on-table blue) (on yellow blue) (on white yellow) (clear white)
         (hand-empty))
  (:goal (and (on red blue) (on blue green) (on green white))))
