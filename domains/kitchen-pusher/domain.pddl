; The kitchen as a robot without an arm should find it: what each atomic action needs and does.
; It goes to things, pushes them from surface to surface, opens, closes and switches. Facts are
; those of domains/kitchen; it has no hand, so there is nothing about hands.
; Names of actions follow the HVR paper (section 2 and appendix B). The facts come from the
; knowledge graph: ontology/ says which class or field stands behind each predicate.
(define (domain kitchen-pusher)
  (:requirements :adl)

  (:types
    item liquid - object
    dish - item                       ; what can be carried with things on or in it
    ; AI2-THOR's object types of kitchens, in lower case
    bowl cup mug pan plate pot - dish
    aluminumfoil apple applesliced blinds book bottle bread breadsliced butterknife cabinet
    cellphone chair coffeemachine countertop creditcard curtains diningtable dishsponge
    drawer egg eggcracked faucet floor fork fridge garbagebag garbagecan houseplant kettle
    knife ladle lettuce lettucesliced lightswitch microwave mirror papertowelroll pen pencil
    peppershaker potato potatosliced safe saltshaker shelf shelvingunit sidetable sink
    sinkbasin soapbottle spatula spoon spraybottle statue stool stoveburner stoveknob
    toaster tomato tomatosliced vase window winebottle - item)

  (:constants water coffee wine - liquid)

  (:predicates
    ; what a thing is good for; these never change
    (pickupable ?o - item)            ; small enough to be pushed about
    (surface ?r - item)               ; things are put on it
    (container ?r - item)             ; things are put in it
    (large ?r - item)                 ; too long to reach every part from one place
    (holds_one ?r - item)             ; takes one thing at a time
    (fits ?o ?r - item)               ; o may be placed on or in r
    (openable ?o - item)
    (toggleable ?o - item)
    (sliceable ?o - item)
    (crackable ?o - item)
    (fillable ?o - item)
    (dirtyable ?o - item)
    (breakable ?o - item)
    (brews ?a - item)                 ; a coffee machine
    (heats ?a - item)                 ; makes hot what stands in or on it while it is on
    (cooks ?a ?o - item)              ; and cooks this
    (cools ?r - item)                 ; a fridge
    (knob_of ?k ?b - item)            ; the knob turns the burner on and off
    (faucet_of ?f ?b - item)          ; the faucet runs into the basin
    (beside ?a ?b - item)             ; whoever stands at a can also reach b
    (piece_of ?p ?o - item)           ; slicing or cracking o makes p
    ; what changes
    (near ?o - item)
    (present ?o - item)               ; false for pieces not yet made and for what was cut up
    (on ?o ?r - item)
    (in ?o ?r - item)
    (opened ?o - item)
    (toggled ?o - item)
    (sliced ?o - item)
    (cracked ?o - item)
    (cooked ?o - item)
    (hot ?o - item)
    (cold ?o - item)
    (dirty ?o - item)
    (filled ?o - item)
    (contains ?o - item ?l - liquid)
    ; what has happened to a thing; remembered, since it cannot be seen
    (washed ?o - item)                ; was in the basin while the faucet ran
    (microwaved ?o - item)            ; was in the microwave while it ran
    (stove_heated ?o - item)          ; was on a lit burner, or in a dish on one
    (toasted ?o - item)               ; was in the toaster while it ran
    (chilled ?o - item)               ; was in the fridge when it was closed
    (warm_liquid ?o - item))          ; what it is filled with was heated, or poured in hot

  ; Furniture stands in the open; other things must not be behind a closed door.
  (:action navigate_to_obj
    :parameters (?o - item)
    :precondition (and
      (present ?o)
      (or (not (pickupable ?o))
          (exists (?r - item)
            (and (or (on ?o ?r) (in ?o ?r))
                 (or (not (openable ?r)) (opened ?r))
                 (not (pickupable ?r))))
          (exists (?d - dish ?r - item)
            (and (or (on ?o ?d) (in ?o ?d))
                 (or (on ?d ?r) (in ?d ?r))
                 (or (not (openable ?r)) (opened ?r))))))
    :effect (and
      (forall (?x - item) (not (near ?x)))
      (near ?o)
      (forall (?x - item) (when (beside ?o ?x) (near ?x)))))

  ; From the surface that it is on to one beside it, or along that surface: onto something that
  ; stands there, or off what stands there. Never to the floor: it would fall.
  (:action push_to
    :parameters (?o ?r - item)
    :precondition (and
      (pickupable ?o) (present ?o) (surface ?r) (fits ?o ?r) (present ?r) (not (= ?o ?r))
      (near ?o) (not (on ?o ?r))
      (exists (?s - item)
        (and (on ?o ?s)
             (forall (?f - floor) (and (not (= ?f ?s)) (not (= ?f ?r))))
             (or (beside ?s ?r) (on ?r ?s) (on ?s ?r)
                 (exists (?q - item)
                   (and (on ?s ?q) (on ?r ?q) (forall (?f - floor) (not (= ?f ?q))))))))
      (or (not (holds_one ?r)) (forall (?x - item) (not (on ?x ?r)))))
    :effect (and
      (forall (?s - item) (when (not (= ?s ?r)) (not (on ?o ?s))))
      (on ?o ?r) (near ?r)
      ; onto something in the cold
      (forall (?c - fridge)
        (when (in ?r ?c) (and (cold ?o) (not (hot ?o)) (not (warm_liquid ?o)))))
      (forall (?c - fridge ?x - item)
        (when (and (in ?r ?c) (or (on ?x ?o) (in ?x ?o)))
          (and (cold ?x) (not (hot ?x)) (not (warm_liquid ?x)))))
      ; onto something that is on
      (when (and (toggled ?r) (heats ?r)) (and (hot ?o) (not (cold ?o))))
      (forall (?x - item)
        (when (and (toggled ?r) (heats ?r) (or (on ?x ?o) (in ?x ?o)))
          (and (hot ?x) (not (cold ?x)))))
      (when (and (toggled ?r) (cooks ?r ?o)) (cooked ?o))
      (forall (?x - item)
        (when (and (toggled ?r) (cooks ?r ?x) (or (on ?x ?o) (in ?x ?o))) (cooked ?x)))
      (forall (?b - stoveburner) (when (and (= ?b ?r) (toggled ?b)) (stove_heated ?o)))
      (forall (?b - stoveburner ?x - item)
        (when (and (= ?b ?r) (toggled ?b) (or (on ?x ?o) (in ?x ?o))) (stove_heated ?x)))
      (when (and (toggled ?r) (heats ?r) (filled ?o)) (warm_liquid ?o))
      (forall (?t - toaster) (when (and (= ?t ?r) (toggled ?t)) (toasted ?o)))
      (when (and (toggled ?r) (brews ?r) (fillable ?o) (not (filled ?o)))
        (and (filled ?o) (contains ?o coffee) (warm_liquid ?o) (hot ?o) (not (cold ?o))))))

  (:action open_obj
    :parameters (?o - item)
    :precondition (and
      (openable ?o) (present ?o) (not (opened ?o)) (not (toggled ?o)) (near ?o))
    :effect (opened ?o))

  (:action close_obj
    :parameters (?o - item)
    :precondition (and
      (openable ?o) (present ?o) (opened ?o) (near ?o))
    :effect (and
      (not (opened ?o))
      (forall (?x - item) (when (in ?x ?o) (not (near ?x))))
      (forall (?x - item ?d - dish)
        (when (and (in ?d ?o) (or (on ?x ?d) (in ?x ?d))) (not (near ?x))))
      (forall (?x - item) (when (and (cools ?o) (in ?x ?o)) (chilled ?x)))
      (forall (?x - item ?d - dish)
        (when (and (cools ?o) (in ?d ?o) (or (on ?x ?d) (in ?x ?d))) (chilled ?x)))))

  ; A burner is switched by its knob, and either may be named.
  (:action toggle_on
    :parameters (?o - item)
    :precondition (and
      (or (toggleable ?o) (exists (?k - stoveknob) (knob_of ?k ?o)))
      (near ?o) (not (toggled ?o))
      (or (not (openable ?o)) (not (opened ?o))))
    :effect (and
      (toggled ?o)
      (forall (?b - item) (when (or (knob_of ?o ?b) (knob_of ?b ?o)) (toggled ?b)))
      ; a burner heats and cooks what stands on it and what is in that
      (forall (?b - stoveburner ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (on ?x ?b))
          (and (hot ?x) (not (cold ?x)) (stove_heated ?x))))
      (forall (?b - stoveburner ?d - dish ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (on ?d ?b) (or (on ?x ?d) (in ?x ?d)))
          (and (hot ?x) (not (cold ?x)) (stove_heated ?x))))
      (forall (?b - stoveburner ?d - dish ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (cooks ?b ?x)
                   (on ?d ?b) (or (on ?x ?d) (in ?x ?d)))
          (cooked ?x)))
      (forall (?b - stoveburner ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (on ?x ?b) (filled ?x)) (warm_liquid ?x)))
      ; a microwave likewise
      (forall (?m - microwave ?x - item)
        (when (and (= ?m ?o) (in ?x ?m)) (and (hot ?x) (not (cold ?x)) (microwaved ?x))))
      (forall (?m - microwave ?x - item)
        (when (and (= ?m ?o) (cooks ?m ?x) (in ?x ?m)) (cooked ?x)))
      (forall (?m - microwave ?d - dish ?x - item)
        (when (and (= ?m ?o) (in ?d ?m) (or (on ?x ?d) (in ?x ?d)))
          (and (hot ?x) (not (cold ?x)) (microwaved ?x))))
      (forall (?m - microwave ?d - dish ?x - item)
        (when (and (= ?m ?o) (cooks ?m ?x) (in ?d ?m) (or (on ?x ?d) (in ?x ?d))) (cooked ?x)))
      (forall (?m - microwave ?x - item)
        (when (and (= ?m ?o) (in ?x ?m) (filled ?x)) (warm_liquid ?x)))
      (forall (?m - microwave ?d - dish ?x - item)
        (when (and (= ?m ?o) (in ?d ?m) (on ?x ?d) (filled ?x)) (warm_liquid ?x)))
      (forall (?t - toaster ?x - item)
        (when (and (= ?t ?o) (on ?x ?t)) (and (hot ?x) (not (cold ?x)) (toasted ?x))))
      (forall (?t - toaster ?x - item)
        (when (and (= ?t ?o) (cooks ?t ?x) (on ?x ?t)) (cooked ?x)))
      (forall (?x - item)
        (when (and (brews ?o) (on ?x ?o) (fillable ?x) (not (filled ?x)))
          (and (filled ?x) (contains ?x coffee) (warm_liquid ?x) (hot ?x) (not (cold ?x)))))
      ; a faucet washes and fills
      (forall (?b - sinkbasin ?x - item)
        (when (and (faucet_of ?o ?b) (in ?x ?b)) (and (washed ?x) (not (dirty ?x)))))
      (forall (?b - sinkbasin ?x - item)
        (when (and (faucet_of ?o ?b) (in ?x ?b) (fillable ?x) (not (filled ?x)))
          (and (filled ?x) (contains ?x water))))
      (forall (?b - sinkbasin ?d - dish ?x - item)
        (when (and (faucet_of ?o ?b) (in ?d ?b) (or (on ?x ?d) (in ?x ?d)))
          (and (washed ?x) (not (dirty ?x)))))))

  (:action toggle_off
    :parameters (?o - item)
    :precondition (and
      (or (toggleable ?o) (exists (?k - stoveknob) (knob_of ?k ?o)))
      (near ?o) (toggled ?o))
    :effect (and
      (not (toggled ?o))
      (forall (?b - item) (when (or (knob_of ?o ?b) (knob_of ?b ?o)) (not (toggled ?b)))))))
