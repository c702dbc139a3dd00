(define (problem four)
  (:domain gripper)
  (:objects
    study hall - room
    ball1 ball2 ball3 ball4 - ball
    left right - gripper)
  (:init
    (robot-in study) (free left) (free right)
    (lies-in ball1 study) (lies-in ball2 study) (lies-in ball3 study) (lies-in ball4 study))
  (:goal (and (lies-in ball1 hall) (lies-in ball2 hall) (lies-in ball3 hall) (lies-in ball4 hall))))
