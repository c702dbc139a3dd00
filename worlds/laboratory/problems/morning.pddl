(define (problem morning)
  (:domain laboratory)
  (:objects blood urine spare - tube saline - flask
            minus80 - freezer rotor - centrifuge
            rack1 rack2 - rack bench - bench marker - pen)
  (:init (gripper-free) (in blood rack1) (in urine rack1) (in spare minus80) (frozen spare)
         (on saline bench) (on marker bench))
  (:goal (and (in spare rack1) (frozen blood))))
