(define (domain laboratory)
  (:requirements :adl)
  (:types sample machine fitting pen - object
          tube flask - sample
          freezer centrifuge - machine
          rack bench - fitting)
  (:predicates
    (in ?x ?p - object) (on ?x - object ?p - bench)
    (holding ?x - object) (gripper-free)
    (lid-up ?m - machine)
    (frozen ?s - sample) (spun ?s - sample) (labelled ?s - sample))
  (:action grasp
    :parameters (?x - object)
    :precondition (and (gripper-free)
                       (or (exists (?b - bench) (on ?x ?b))
                           (exists (?r - rack) (in ?x ?r))
                           (exists (?m - machine) (and (in ?x ?m) (lid-up ?m)))))
    :effect (and (holding ?x) (not (gripper-free))
                 (forall (?p - bench) (not (on ?x ?p)))
                 (forall (?p - object) (not (in ?x ?p)))))
  (:action lay-down
    :parameters (?x - object ?b - bench)
    :precondition (holding ?x)
    :effect (and (on ?x ?b) (gripper-free) (not (holding ?x))))
  (:action stand-in
    :parameters (?s - sample ?r - rack)
    :precondition (holding ?s)
    :effect (and (in ?s ?r) (gripper-free) (not (holding ?s))))
  (:action load
    :parameters (?s - sample ?m - machine)
    :precondition (and (holding ?s) (lid-up ?m))
    :effect (and (in ?s ?m) (gripper-free) (not (holding ?s))))
  (:action lift-lid
    :parameters (?m - machine)
    :precondition (and (gripper-free) (not (lid-up ?m)))
    :effect (lid-up ?m))
  (:action freeze
    :parameters (?f - freezer)
    :precondition (and (gripper-free) (lid-up ?f))
    :effect (and (not (lid-up ?f)) (forall (?s - sample) (when (in ?s ?f) (frozen ?s)))))
  (:action spin
    :parameters (?c - centrifuge)
    :precondition (and (gripper-free) (lid-up ?c))
    :effect (and (not (lid-up ?c))
                 (forall (?s - sample) (when (in ?s ?c) (and (spun ?s) (not (frozen ?s)))))))
  (:action label
    :parameters (?s - sample ?p - pen ?r - rack)
    :precondition (and (holding ?p) (in ?s ?r))
    :effect (labelled ?s)))
